/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LIBRARY_THREAD_H
#define REACHABILITY_LIBRARY_THREAD_H

/* The library's one thread, "reachability": it runs a loop for the targets that are on schedulers. */

#include "loop/runloop.h"

struct library_thread;

/* Adds a user, and starts the thread if there is none. Returns 0 or an errno. */
int library_thread_acquire(struct library_thread **ret);

/* The loop that the thread runs. */
SCRunLoopRef library_thread_loop(const struct library_thread *thread);

/* Removes a user. After the last one the thread ends by itself; the caller does not wait for it. */
void library_thread_release(struct library_thread *thread);

#endif
