/* SPDX-License-Identifier: MIT */
#ifndef TESTS_WITNESS_H
#define TESTS_WITNESS_H

/*
 * A target on a scheduler beside those of a test, which is called for changes of its own. They are made after the
 * test's, so when it is called the library has heard of those too, and has handed over what they brought about.
 */

#include <semaphore.h>

#include "support/expect.h"
#include "support/writer.h"

#define FAR       "198.51.100.7"
#define OTHER_FAR "198.51.100.8"

struct witness {
    SCNetworkReachabilityRef target;
    struct writer            writer;
    unsigned                 index; /* of the pair's near end */
    sem_t                    called;
};

/* A namespace of the test's own with a pair (namespace_add_pair), and the witness in it. Stays where it is. */
void witness_open(struct witness *witness);
void witness_close(struct witness *witness);

/* The library has handed over all that comes of what has happened so far. */
void witness_settle(struct witness *witness);

/* FAR and OTHER_FAR are reachable by a gateway, directly, or not at all. With `settle` of each. */
void witness_appear(struct witness *witness);
void witness_attach(struct witness *witness);
void witness_vanish(struct witness *witness);

#endif
