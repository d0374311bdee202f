/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_RESULTS_H
#define TESTS_SOAK_RESULTS_H

/* All results for a target that must agree. */

#include <netinet/in.h>

#include "soak/watched.h"

struct results {
    SCNetworkReachabilityFlags reported, cached; /* the last callback; GetFlags of the target */
    SCNetworkReachabilityFlags fresh, oracle;    /* GetFlags of a new target; the oracle */
    SCNetworkReachabilityFlags oracle_fresh;     /* what `fresh` must be */
    SCNetworkReachabilityPath last, path;        /* GetLastPath of the target; GetPath of the new one */
    struct sockaddr_storage source;              /* by the oracle; AF_UNSPEC: not known */
    SCNetworkReachabilityOption options;
};

struct results results_query(const struct watched *watched);
bool results_agree(const struct results *results);
void results_print(const struct watched *watched, const struct results *results);

/* Whether the family and the address are the same. Ports and scopes do not count. */
bool results_addresses_agree(const struct sockaddr_storage *a, const struct sockaddr_storage *b);

/* The address, or "none". Returns `text`, or a constant. */
const char *results_address_text(const struct sockaddr_storage *address, char text[INET6_ADDRSTRLEN]);

#endif
