/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_NETWORK_ORACLE_H
#define TESTS_SOAK_NETWORK_ORACLE_H

/* What SCNetworkReachabilityGetNetwork must return now. Shares no code with the library; oracle.h is open. */

#include <reachability/reachability.h>
#include <stdbool.h>

#include "soak/text.h"

/* Whether the flags, uplinks and name servers are right. Adds what is wrong to the text. */
bool network_oracle_agrees(const SCNetworkReachabilityNetwork *network, const SCNetworkReachabilityUplink *uplinks,
                           struct text *ret_wrong);

#endif
