/* SPDX-License-Identifier: MIT */
#ifndef TESTS_WITNESS_H
#define TESTS_WITNESS_H

/*
 * A target on a scheduler beside those of a test, which is called for changes of its own. They are made after the
 * test's: when it is called, the library has read the messages of those too, and has handed over what they cause.
 */

#include <semaphore.h>

#include "support/expect.h"
#include "support/writer.h"

#define FAR       "198.51.100.7"
#define OTHER_FAR "198.51.100.8"

extern struct witness {
    SCNetworkReachabilityRef target;
    struct writer            writer;
    unsigned                 index; /* of the pair's near end */
    sem_t                    called;
    struct unit_deferral    *close;
} witness;

/* The set-up of a test: namespace_require_pair, and the witness in it, until the end of the test. */
void witness_open(void);
void witness_close(void);

/* The library has handed over all that comes of what has happened so far. */
void witness_settle(void);

/* FAR and OTHER_FAR are reachable by a gateway, directly, or not at all. With `settle` of each. */
void witness_appear(void);
void witness_attach(void);
void witness_vanish(void);

#endif
