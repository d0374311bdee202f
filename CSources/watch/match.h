/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_MATCH_H
#define REACHABILITY_MATCH_H

/* The route that the kernel finds for a watch. */

#include "watch/monitor_state.h"

/* The route that leads to a watch, if it leads to all addresses of its prefix. */
struct match {
    enum reply_kind kind;
    struct address_prefix prefix;
    uint32_t oif;
    bool has_gateway;
    struct dependencies dependencies; /* its lifetime */
    struct path refused;              /* the path, if the kernel refuses the query */
};

/* The query for it, or for the way that a packet takes. */
struct route_request match_request(const struct question *question, bool fib_match);

/* If a sandbox refuses the query, the watch is alone (REPLY_ALONE, as *ret was): each has another way to be evaluated.
 * Returns 0 or an errno. */
int match_query(struct monitor *monitor, const struct question *question, struct match *ret);

/* Whether the path is that of the route. If it is not, the kernel has an exception for the address alone: a router has
 * redirected its packets. */
bool match_has_path(const struct match *match, const struct path *path);

#endif
