/* SPDX-License-Identifier: MIT */
#ifndef TESTS_LISTENER_H
#define TESTS_LISTENER_H

/* A callback for tests with several threads: it counts its calls and the references to its context. What must not be is
 * a complaint (unit_complain_if): two calls at a time, or a call with a context that was released. */

#include <reachability/reachability.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "support/queue.h"
#include "support/unit.h"

/* Static, so that a call that comes when it must not is seen instead of crashing. */
struct listener {
    const struct queue        *queue;      /* calls come in its work alone; NULL: anywhere */
    SCNetworkReachabilityFlags never;      /* flags that no call has */
    sem_t                     *news;       /* posted after each call and each release; may be NULL */
    atomic_int                 references; /* those of the library */
    atomic_int                 releases, calls, inside;
};

const void *listener_retain(const void *listener);
void        listener_release(const void *listener);

/* The callback. */
void listener_called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *listener);

/* Sets it, or a callback that calls it, with both hooks. */
void listener_set(struct listener *listener, SCNetworkReachabilityRef target, SCNetworkReachabilityCallBack callback);

#endif
