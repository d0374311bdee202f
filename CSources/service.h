/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SERVICE_H
#define REACHABILITY_SERVICE_H

/* The library's one thread, "reachability": it drives a run loop for the targets that are on schedulers. */

#include "runloop.h"

struct service;

/* For one more user; the thread is started if there is none. 0 or an errno. */
int service_acquire(struct service **ret);

/* The loop that it drives. */
SCRunLoopRef service_loop(const struct service *service);

/* One user less. After the last the thread ends by itself; nobody waits for it. */
void service_release(struct service *service);

#endif
