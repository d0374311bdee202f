/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LIBRARY_THREAD_H
#define REACHABILITY_LIBRARY_THREAD_H

/* The library's one thread, "reachability": it drives a run loop for the targets that are on schedulers. */

#include "loop/runloop.h"

struct library_thread;

/* For one more user; the thread is started if there is none. 0 or an errno. */
int library_thread_acquire(struct library_thread **ret);

/* The loop that it drives. */
SCRunLoopRef library_thread_loop(const struct library_thread *service);

/* One user less. After the last the thread ends by itself; nobody waits for it. */
void library_thread_release(struct library_thread *service);

#endif
