/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_EXTENT_H
#define REACHABILITY_EXTENT_H

/* Addresses that share a path: those to which the same route leads. */

#include "kernel/rtnetlink.h"
#include "pure/question.h"

enum extent_kind {
    EXTENT_ALONE,   /* other addresses of the route's prefix can have another path */
    EXTENT_REFUSED, /* there is no route to the address, or it refuses packets */
    EXTENT_ROUTE    /* `prefix` is the route's */
};

struct extent {
    enum extent_kind      kind;
    struct address_prefix prefix;
    uint32_t              oif; /* of the route, as has_gateway is */
    bool                  has_gateway;
    struct dependencies   dependencies; /* the route's lifetime */
    struct path           refused;      /* the path, if the kernel refuses the query */
};

/* Queries the route that leads to the question's destination. The question is plain. Returns 0, or an errno if the
 * kernel could not be queried. */
int extent_query(struct rtnetlink *rtnetlink, const struct question *question, struct extent *ret);

/* Whether extent_query sends a query for an address of this family, unless it first finds source-specific routes. */
static inline bool extent_needs_query(const struct rtnetlink *rtnetlink, uint8_t family)
{
    return family != AF_INET6 || rtnetlink->source_routes != SOURCE_ROUTES_SOME;
}

/* Whether the path is that of the route. If it is not, the kernel has an exception for the address alone: a router has
 * redirected its packets. */
bool extent_has_path(const struct extent *extent, const struct path *path);

#endif
