/* SPDX-License-Identifier: MIT */
#ifndef TESTS_LISTENER_H
#define TESTS_LISTENER_H

/* A callback for tests with several threads: it counts its calls and the references to its context. It makes a
 * complaint (unit_complain_if) if two calls overlap, or if a call has a released context. */

#include <reachability/reachability.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "support/queue.h"
#include "support/unit.h"

/* Keep it static: then a late call is detected and does not crash. */
struct listener {
    const struct queue *queue;        /* calls must come in its work; NULL: anywhere */
    SCNetworkReachabilityFlags never; /* flags that no call has */
    sem_t *news;                      /* posted after each call and each release; may be NULL */
    atomic_int references;            /* held by the library */
    atomic_int releases, calls, inside;
};

const void *listener_retain(const void *listener);
void listener_release(const void *listener);

/* The callback. */
void listener_called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *listener);

/* Sets it, or a callback that calls it, with both hooks. */
void listener_set(struct listener *listener, SCNetworkReachabilityRef target, SCNetworkReachabilityCallBack callback);

#endif
