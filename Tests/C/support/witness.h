/* SPDX-License-Identifier: MIT */
#ifndef TESTS_WITNESS_H
#define TESTS_WITNESS_H

/*
 * An extra target on a scheduler, with its own changes, which come after those of the test. When its callback comes,
 * the library has also read the messages of the test's changes and has queued the work for them.
 */

#include <semaphore.h>

#include "support/expect.h"
#include "support/writer.h"

#define FAR       "198.51.100.7"
#define OTHER_FAR "198.51.100.8"

extern struct witness {
    SCNetworkReachabilityRef target;
    struct writer writer;
    unsigned index; /* of the pair's near end */
    sem_t called;
    struct unit_deferral *close;
} witness;

/* The set-up of a test: namespace_require_pair, and the witness in it, until the end of the test. */
void witness_open(void);
void witness_close(void);

/* Waits until the library has queued all work for earlier changes. */
void witness_settle(void);

/* FAR and OTHER_FAR are reachable by a gateway, directly, or not at all. With `settle` of each. */
void witness_appear(void);
void witness_attach(void);
void witness_vanish(void);

#endif
