/* SPDX-License-Identifier: MIT */
/*
 * The route that leads to a watch, and to others.
 *
 * What this file must never do: name a prefix if the route leads to some of its addresses by another way.
 */
#ifdef __linux__
#include "watch/monitor_state.h"

#include <linux/rtnetlink.h>

#include "kernel/dumps.h"

/* The kernel chooses a leg whose gateway responds. */
static void hold_legs(struct monitor *monitor, const struct route *route)
{
    struct route copy = *route;
    struct route_leg leg;

    while (route_next_leg(&copy, &leg)) {
        runloop_lock(monitor->service.loop);
        if (leg.has_gateway)
            gateways_hold(&monitor->gateways, leg.oif, &leg.gateway, false);
        runloop_unlock(monitor->service.loop);
    }
}

/* Whether all addresses of the route's prefix have the same path, unless a longer prefix leads to them. Out of another
 * table than "main", the rules and the order of the tables could decide for each address. A nexthop object hides the
 * interface, or the route. */
static bool route_has_one_way(const struct route *route)
{
    return route->type == RTN_UNICAST && route->table == RT_TABLE_MAIN && route->legs == NULL && route->oif != 0 &&
           route->source_length == 0 && !route_may_be_another(route);
}

/* Whether the kernel finds one route for all addresses of a prefix. Beside a source-specific IPv6 route, it can find
 * different ones. */
static bool finds_one_route(struct rtnetlink *rtnetlink, uint8_t family)
{
    enum source_routes found;

    if (family != AF_INET6)
        return true;
    found = source_routes_find(rtnetlink);
    return found == SOURCE_ROUTES_NONE || found == SOURCE_ROUTES_UNREAD;
}

struct route_request match_request(const struct question *question, bool fib_match)
{
    return (struct route_request){ .destination = question->destination,
                                   .source = question->local,
                                   .mark = question->mark,
                                   .flow = question->flow,
                                   .fib_match = fib_match };
}

int match_query(struct monitor *monitor, const struct question *question, struct match *ret)
{
    const struct address *destination = &question->destination;
    const struct route_request request = match_request(question, true);
    struct route route;
    int error;

    if (!finds_one_route(&monitor->rtnetlink, destination->family))
        return 0;
    error = rtnetlink_query(&monitor->rtnetlink, &request, &route);
    if (error == NETLINK_DENIED) {
        plan_begin_polling(&monitor->plan);
        return 0;
    }
    if (error != 0) {
        ret->kind = REPLY_REFUSED;
        if (!path_from_error(error, false, &ret->refused))
            return error;
        ret->refused.destination = *destination;
        return 0;
    }
    hold_legs(monitor, &route);
    ret->prefix = route_prefix(&route);
    if (!route_has_one_way(&route) || ret->prefix.length > 8 * address_length(destination))
        return 0;
    ret->kind = REPLY_ROUTE;
    ret->prefix.address = address_truncate(destination, ret->prefix.length);
    ret->oif = route.oif;
    ret->has_gateway = route.has_gateway;
    dependencies_add_lifetime(&ret->dependencies, &route);
    return 0;
}

bool match_has_path(const struct match *match, const struct path *path)
{
    return path->index == match->oif && (path->gateway.family != AF_UNSPEC) == match->has_gateway;
}
#endif
