/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_DEFAULT_PATH_H
#define REACHABILITY_DEFAULT_PATH_H

/* The default path: the way of packets for which only a default route matches. */

#include "route/route_query.h"

/* Finds the default path. Call it after route_query_begin. It tries the family of the local address, or IPv4, then
 * IPv6. If neither path is usable, the result is that of IPv4, or that of IPv6 if IPv4 has no default route. Returns 0,
 * or an errno if the kernel could not be queried. */
int default_path_find(struct route_query *query, struct path *ret);

/* The addresses that are queried. A route that has none of them in its prefix does not affect the default path. */
enum { DEFAULT_PATH_SAMPLES = 6 };
const struct address *default_path_sample(size_t i);

#endif
