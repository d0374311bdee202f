/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_NETWORK_WATCH_H
#define TESTS_SOAK_NETWORK_WATCH_H

/*
 * Scheduled targets with kSCNetworkReachabilityOptionNotifyNetwork. SCNetworkReachabilityGetNetwork must return the
 * same as in the last callback, the same as of a new target, and what the oracle says.
 */

#include <pthread.h>

#include "soak/executor.h"
#include "soak/text.h"

#define NETWORK_UPLINKS 32
#define NETWORK_TARGETS 3

struct network_view {
    SCNetworkReachabilityNetwork network;
    SCNetworkReachabilityUplink uplinks[NETWORK_UPLINKS];
};

struct network_target {
    SCNetworkReachabilityRef target;
    enum executor executor;
    pthread_mutex_t lock;
    struct network_view reported; /* in the last callback */
};

struct network_targets {
    struct network_target items[NETWORK_TARGETS];
};

void network_targets_open(struct network_targets *ret, struct executors *executors);
void network_targets_close(struct network_targets *targets, struct executors *executors);

/* Whether all results agree now. Writes what does not. */
bool network_targets_agree(struct network_targets *targets, struct text *ret_wrong);

#endif
