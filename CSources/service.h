/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SERVICE_H
#define REACHABILITY_SERVICE_H

/* The library's one thread, "reachability": it drives a run loop for the targets that are on schedulers. */

#include "runloop.h"

/* The loop that it drives, for one more user; the thread is started if there is none. 0 or an errno. */
int service_acquire(SCRunLoopRef *ret);

/* One user less. After the last the thread ends by itself; nobody waits for it. */
void service_release(SCRunLoopRef loop);

#endif
