/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SOURCE_ROUTES_H
#define REACHABILITY_SOURCE_ROUTES_H

/*
 * Source-specific IPv6 routes: those for packets from a prefix only. The route says so itself ("ip -6 route add default
 * from 2001:db8::/64 ..."), or a rule does ("ip -6 rule add from 2001:db8::/64 table 100").
 *
 * A route query without a source address does not find such a route. A packet can take it: if no other route leads to
 * the destination, the kernel chooses a source address, and searches again with it.
 */

#include "kernel/rtnetlink.h"

/* Whether there are such routes. Reads it if it is not known, and may wait for RTNL then. With RTNETLINK_LINKS, it is
 * never known, and nothing is read. */
enum source_routes source_routes_find(struct rtnetlink *rtnetlink);

/* Whether there can be such a route, as far as that was read. */
static inline bool source_routes_are_possible(const struct rtnetlink *rtnetlink)
{
    return rtnetlink->source_routes != SOURCE_ROUTES_NONE;
}

/* Finds the source address of packets to a destination to which a query without a source has found no route. AF_UNSPEC:
 * connect(2) finds no route either, or a sandbox refuses it. Returns 0, or an errno for a lack of resources. */
int source_routes_choose(struct rtnetlink *rtnetlink, const struct route_request *request, struct address *ret);

#endif
