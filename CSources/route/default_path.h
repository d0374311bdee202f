/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_DEFAULT_PATH_H
#define REACHABILITY_DEFAULT_PATH_H

/* The default path: where packets go for which there is no better route. */

#include "route/route_query.h"

/* After route_query_begin. Both families, or that of the local address. Usable IPv4 first; none usable: the reason of the
 * family that has a route at all, else IPv4's. 0, or an errno: the kernel could not be asked. */
int default_path_find(struct route_query *query, struct path *ret);

/* Whether a change of this route can change it. */
bool default_path_depends_on(const struct route *route);

#endif
