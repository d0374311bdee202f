/* SPDX-License-Identifier: MIT */
/*
 * Addresses that share a path.
 *
 * What this file must never do: give addresses an extent if the kernel chooses among several ways for each of them.
 */
#include "route/extent.h"

#include <linux/rtnetlink.h>

#include "kernel/source_routes.h"
#include "pure/path.h"

/* Whether all addresses of the route's prefix have the same path, unless a longer prefix leads to them. Out of another
 * table than "main", the rules and the order of the tables could decide for each address. A nexthop object hides the
 * interface. */
static bool route_has_one_way(const struct route *route)
{
    return route->type == RTN_UNICAST && route->table == RT_TABLE_MAIN && route->legs == NULL && route->oif != 0 &&
           route->source_length == 0;
}

/* Whether the kernel finds one route for all addresses of a prefix. Beside a source-specific IPv6 route, it can find
 * different ones. */
static bool finds_one_route(struct rtnetlink *rtnetlink, uint8_t family)
{
    if (family != AF_INET6)
        return true;
    switch (source_routes_find(rtnetlink)) {
    case SOURCE_ROUTES_NONE:
    case SOURCE_ROUTES_UNREAD:
        return true;
    default:
        return false;
    }
}

int extent_query(struct rtnetlink *rtnetlink, const struct question *question, struct extent *ret)
{
    const struct route_request request = { .destination = question->destination, .fib_match = true };
    struct route               route;
    int                        error;

    *ret = (struct extent){ .kind = EXTENT_ALONE };
    if (!finds_one_route(rtnetlink, request.destination.family))
        return 0;
    error = rtnetlink_query(rtnetlink, &request, &route);
    if (error != 0) {
        ret->kind = EXTENT_REFUSED;
        if (!path_from_error(error, false, &ret->refused))
            return error;
        ret->refused.destination = question->destination;
        return 0;
    }
    if (route_has_one_way(&route)) {
        ret->kind = EXTENT_ROUTE;
        ret->prefix = route_prefix(&route);
        ret->prefix.address = address_truncate(&request.destination, ret->prefix.length);
        ret->oif = route.oif;
        ret->has_gateway = route.has_gateway;
        dependencies_add_lifetime(&ret->dependencies, &route);
    }
    return 0;
}

bool extent_has_path(const struct extent *extent, const struct path *path)
{
    return path->index == extent->oif && (path->gateway.family != AF_UNSPEC) == extent->has_gateway;
}
