/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_DEFAULTPATH_H
#define REACHABILITY_DEFAULTPATH_H

/* The default path: where packets go for which there is no better route. */

#include "search.h"

/* After search_begin. Both families, or that of the local address. Usable IPv4 first; none usable: the reason of the
 * family that has a route at all, else IPv4's. 0, or an errno: the kernel could not be asked. */
int defaultpath_find(struct search *search, struct path *ret);

/* Whether a change of this route can change it. */
bool defaultpath_hangs_on(const struct route *route);

#endif
