/* SPDX-License-Identifier: MIT */
#ifndef TESTS_OBSERVER_H
#define TESTS_OBSERVER_H

/*
 * An extra target on a scheduler, with its own changes, which come after those of the test. When its callback comes,
 * the library has also read the messages of the test's changes and has queued the work for them.
 */

#include <semaphore.h>

#include "support/expect.h"
#include "support/writer.h"

#define FAR       "198.51.100.7"
#define OTHER_FAR "198.51.100.8"

extern struct observer {
    SCNetworkReachabilityRef target;
    struct writer writer;
    unsigned index; /* of the pair's near end */
    sem_t called;
    struct unit_deferral *close;
} observer;

/* The set-up of a test: namespace_require_pair, and the observer in it, until the end of the test. */
void observer_open(void);
void observer_close(void);

/* Waits until the library has queued all work for earlier changes. */
void observer_settle(void);

/* FAR and OTHER_FAR are reachable by a gateway, over the link, or not at all. Each ends with observer_settle. */
void observer_add_gateway_route(void);
void observer_add_link_route(void);
void observer_delete_route(void);

#endif
