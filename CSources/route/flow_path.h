/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_FLOW_PATH_H
#define REACHABILITY_FLOW_PATH_H

/* What SCNetworkReachabilityPath.flow says of packets with a given source address. */

#include "route/route_query.h"

/* Adds BetterPath and SourceForeign to the path of a question with a local address, and what they depend on. Returns 0,
 * or an errno if the kernel could not be queried. */
int reach_flow_path_find(struct route_query *query, struct path *path);

#endif
