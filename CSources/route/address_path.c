/* SPDX-License-Identifier: MIT */
/*
 * The path to an address: queries for the route, and for the outer path if the route leads into a tunnel. pure/path.c
 * evaluates the route.
 *
 * What this file must never do: wait for RTNL (GetFlags runs here), or treat a failed query as a reply.
 */
#ifdef __linux__
#include "route/address_path.h"

#include <errno.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>

#define LEG_LIMIT 16 /* usable legs of one route that are tried */

/* For a local address, RTM_F_FIB_MATCH returns the interface that has the address, but packets go over loopback. */
static uint32_t outgoing_index(struct route_query *query, const struct route *route)
{
    return query->request.fib_match && route->type == RTN_LOCAL ? LINK_LOOPBACK_INDEX : route->oif;
}

/* A socket shows neither gateway nor interface, but the program may have named one. Packets to a local address go over
 * lo. */
static void evaluate_socket(struct route_query *query, const struct route *route, bool chosen, struct path *ret)
{
    const struct link *link = route->type == RTN_LOCAL ? reach_route_query_link(query, LINK_LOOPBACK_INDEX) : NULL;
    struct path over_lo;

    *ret = reach_path_from_source(&query->request.destination, chosen, &route->source);
    if (link != NULL) {
        reach_path_evaluate_local(link, &over_lo);
        if (!reach_path_is_usable(&over_lo))
            *ret = reach_path_unreachable(over_lo.reason);
        else if (reach_path_is_usable(ret))
            ret->flags |= kSCNetworkReachabilityFlagsIsLocalAddress;
    }
    link = query->request.oif == 0 ? NULL : reach_route_query_link(query, query->request.oif);
    if (link == NULL)
        return;
    ret->index = link->index;
    ret->mtu = link->mtu;
    memcpy(ret->name, link->name, sizeof ret->name);
}

static void evaluate_over_link(struct route_query *query, const struct route *route, const struct link *link,
                               struct path *ret)
{
    const bool chosen = query->question->local.family != AF_UNSPEC;

    if (rtnetlink_is_udp(query->rtnetlink)) {
        evaluate_socket(query, route, chosen, ret);
    } else {
        reach_path_evaluate(&query->request.destination, chosen, route, link, ret);
        ret->index = outgoing_index(query, route);
    }
    /* After the look-up, connect(2) of TCP refuses these. */
    if (query->request.flow.protocol == IPPROTO_TCP && (route->type == RTN_BROADCAST || route->type == RTN_MULTICAST)) {
        ret->flags = 0;
        ret->reason = kSCNetworkReachabilityReasonNoRoute;
    }
}

static bool link_is_the_reason(const struct path *path)
{
    return path->reason == kSCNetworkReachabilityReasonInterfaceDown ||
           path->reason == kSCNetworkReachabilityReasonNoCarrier;
}

/* ---- Legs ------------------------------------------------------------------------------------------------------- */

/* The usable legs of a route. If the query names an interface, only legs over this interface, or all if it is a VRF. */
struct route_legs {
    size_t count;
    struct route_leg usable[LEG_LIMIT];
    struct route_leg unusable; /* the first, if possible one that the kernel does not call dead; oif 0: none */
};

static bool leg_is_usable(struct route_query *query, const struct route_leg *leg)
{
    const struct link *link = (leg->flags & RTNH_F_DEAD) == 0 ? reach_route_query_link(query, leg->oif) : NULL;

    return link != NULL && reach_link_is_usable(link);
}

/* The interface that each leg must leave over; 0: any. A route of a VRF leaves over the ports, and never over the VRF
 * that the query names. */
static uint32_t leg_oif(const struct route_query *query, const struct route *route)
{
    struct route copy = *route;
    struct route_leg leg;

    while (query->request.oif != 0 && reach_route_next_leg(&copy, &leg))
        if (leg.oif == query->request.oif)
            return leg.oif;
    return 0;
}

static struct route_legs read_legs(struct route_query *query, struct route *route)
{
    const uint32_t oif = leg_oif(query, route);
    struct route_legs legs = { 0 };
    struct route_leg leg;

    while (legs.count < LEG_LIMIT && reach_route_next_leg(route, &leg)) {
        const bool dead = (leg.flags & RTNH_F_DEAD) != 0;

        if (oif != 0 && leg.oif != oif)
            continue;
        if (leg_is_usable(query, &leg))
            legs.usable[legs.count++] = leg;
        else if (legs.unusable.oif == 0 || ((legs.unusable.flags & RTNH_F_DEAD) != 0 && !dead))
            legs.unusable = leg;
    }
    return legs;
}

/* The reason why a leg is not usable is the state of its link. If the link is usable, the leg has lost its route. A
 * query would not show that: IPv4 would return a route that does not exist. */
static struct path path_of_unusable_leg(struct route_query *query, const struct route *route,
                                        const struct route_leg *leg)
{
    struct route single = *route;
    struct path path;

    single.oif = leg->oif;
    single.has_gateway = leg->has_gateway;
    single.gateway = leg->gateway;
    evaluate_over_link(query, &single, reach_route_query_link(query, outgoing_index(query, &single)), &path);
    return link_is_the_reason(&path) ? path : reach_path_unreachable(kSCNetworkReachabilityReasonNoRoute);
}

/* ---- What is behind an interface -------------------------------------------------------------------------------- */

/* A path through a tunnel with a remote address is only as good as the path to that address. */
static int follow_tunnel(struct route_query *query, const struct tunnel *tunnel, struct path *path)
{
    const struct question outer = {
        .destination = tunnel->remote, .local = tunnel->local, .scope = tunnel->oif, .mark = tunnel->mark
    };
    struct route_query outer_query = reach_route_query_make(query->rtnetlink, query->cache, &outer,
                                                            query->extras & QUERY_EXPIRY);
    struct path outer_path;
    bool open;
    int error;

    outer_query.depth = query->depth - 1;
    error = reach_route_query_begin(&outer_query, &open, &outer_path);
    if (error == 0 && open)
        error = reach_address_path_find(&outer_query, &outer_path);
    if (error == 0)
        error = reach_route_query_end(&outer_query, &outer_path);
    if (error == 0)
        reach_path_apply_outer(path, &outer.destination, &outer_path);
    return error;
}

/* Evaluates a route and what is behind its interface. Sends further queries for a tunnel. */
static int evaluate_and_follow(struct route_query *query, const struct route *route, struct path *ret)
{
    const struct link *link = reach_route_query_link(query, outgoing_index(query, route));
    struct tunnel tunnel;

    evaluate_over_link(query, route, link, ret);
    if (link == NULL || reach_path_rank(ret) == 0 || rtnetlink_is_udp(query->rtnetlink))
        return 0;
    if (link->tunnel.remote.family == AF_UNSPEC || query->depth == 0)
        return 0;
    tunnel = link->tunnel;
    return follow_tunnel(query, &tunnel, ret);
}

/* ---- One destination -------------------------------------------------------------------------------------------- */

int reach_address_path_plain(struct route_query *query, struct path *ret)
{
    struct route route;
    const int error = reach_route_query_plain(query, query->request.oif, &route);

    return error == 0 ? evaluate_and_follow(query, &route, ret) : reach_route_query_path_from_error(query, error, ret);
}

/* The reply to a plain query says more than the leg. But if a rule for the leg's interface refuses the packet, IPv4
 * returns an on-link route that does not exist. */
static int find_leg_path(struct route_query *query, const struct route_leg *leg, struct path *ret)
{
    struct route route;
    const int error = reach_route_query_plain(query, leg->oif, &route);

    if (error != 0)
        return reach_route_query_path_from_error(query, error, ret);
    if (leg->has_gateway && !route.has_gateway && !reach_address_is_multicast(&query->request.destination)) {
        route.has_gateway = true;
        route.gateway = leg->gateway;
    }
    return evaluate_and_follow(query, &route, ret);
}

/* The first usable leg with a reachable path, else the first leg. */
static int choose_leg(struct route_query *query, const struct route_legs *legs, struct path *ret)
{
    int error = find_leg_path(query, &legs->usable[0], ret);

    for (size_t i = 1; i < legs->count && error == 0 && reach_path_rank(ret) == 0; i++) {
        struct path path;

        error = find_leg_path(query, &legs->usable[i], &path);
        if (error != 0)
            return error;
        reach_dependencies_add(&path.dependencies, &ret->dependencies);
        if (reach_path_rank(&path) > 0)
            *ret = path;
        else
            ret->dependencies = path.dependencies;
    }
    return error;
}

int reach_address_path_from_match(struct route_query *query, struct route *match, struct path *ret)
{
    struct route_legs legs;

    if (match->legs == NULL && match->oif == 0 &&
        !rtnetlink_is_udp(query->rtnetlink)) /* a nexthop object hides the interface */
        return reach_address_path_plain(query, ret);
    if (match->legs == NULL)
        return evaluate_and_follow(query, match, ret);
    legs = read_legs(query, match);
    if (legs.count > 0)
        return choose_leg(query, &legs, ret);
    *ret = path_of_unusable_leg(query, match, &legs.unusable);
    return 0;
}

/* The kernel announces the end of an IPv6 route up to 30 seconds late. Only RTM_F_FIB_MATCH returns the time. */
static int query_expiry(struct route_query *query, struct path *path)
{
    struct route route;
    int error;

    if ((query->extras & (QUERY_EXPIRY | QUERY_EXPIRY_KNOWN)) != QUERY_EXPIRY ||
        query->request.destination.family != AF_INET6 || path->index == 0)
        return 0;
    error = reach_route_query_match(query, &route);
    if (error == 0)
        reach_dependencies_add_lifetime(&path->dependencies, &route);
    return reach_route_query_failure(error);
}

/* The path for IPv4 out of one interface: see needs_fib_match. */
static int find_matching_path(struct route_query *query, struct path *ret)
{
    struct route route;
    const int error = reach_route_query_match(query, &route);

    if (error != 0)
        return reach_route_query_path_from_error(query, error, ret);
    /* Packets to an address of a VRF go over the VRF. The leg of an exact flow is the kernel's choice. */
    if ((route.type == RTN_LOCAL && route.table != RT_TABLE_LOCAL) || query->request.flow.protocol != 0)
        return reach_address_path_plain(query, ret);
    return reach_address_path_from_match(query, &route, ret);
}

int reach_address_path_try_other_legs(struct route_query *query, struct path *path)
{
    const bool is_tunnel = reach_path_rank(path) == 0 && path->dependencies.outer.family != AF_UNSPEC;
    struct route route;
    struct route_legs legs;
    struct path other;
    int error;

    /* With both ports, the kernel's choice of the leg is known. Without a protocol the query has none. */
    if ((!link_is_the_reason(path) && !is_tunnel) || query->request.oif != 0 ||
        (query->request.flow.protocol != 0 && query->request.flow.local_port != 0))
        return 0;
    error = reach_route_query_match(query, &route);
    if (error != 0 || route.legs == NULL)
        return reach_route_query_failure(error);
    legs = read_legs(query, &route);
    if (legs.count == 0)
        return 0;
    error = choose_leg(query, &legs, &other);
    if (error != 0)
        return error;
    reach_dependencies_add(&other.dependencies, &path->dependencies);
    *path = other;
    return 0;
}

/* RTM_F_FIB_MATCH does not return the source address of packets. A plain query does. If the kernel chooses another leg
 * for it, a second one names the path's interface. The first one does not: if a rule refuses packets out of that
 * interface, the kernel replies with an on-link route that does not exist. If a packet leaves a VRF, its source is an
 * address of the VRF, and only a query out of the VRF returns it. */
int reach_address_path_add_source(struct route_query *query, struct path *path)
{
    struct route route;
    bool is_outside;
    int error;

    if ((query->extras & QUERY_SOURCE) == 0 || path->source.family != AF_UNSPEC || !reach_path_is_usable(path) ||
        query->question->local.family != AF_UNSPEC) /* reach_evaluate_questions adds this one */
        return 0;
    is_outside = (path->flags & kSCNetworkReachabilityFlagsIsLocalAddress) == 0 &&
                 reach_route_query_is_outside(query, path->index);
    error = reach_route_query_plain(query, query->request.oif, &route);
    if (!is_outside && query->request.oif != path->index && (error != 0 || route.oif != path->index))
        error = reach_route_query_plain(query, path->index, &route);
    if (error == 0)
        path->source = route.source;
    return reach_route_query_failure(error);
}

/* While lo is down, no packet arrives at a loopback address. The kernel's reply does not show that: before lo is up for
 * the first time, the reply is the default route; later, it is a local route. */
static bool loopback_is_down(struct route_query *query)
{
    const struct link *lo = reach_address_is_loopback(&query->request.destination)
                                ? reach_route_query_link(query, LINK_LOOPBACK_INDEX)
                                : NULL;

    return lo != NULL && !reach_link_is_up(lo);
}

/* For IPv4 out of one interface, the reply to a plain query can be an on-link route that does not exist. Packets to
 * multicast and broadcast addresses leave by such a route, also where a route or a rule refuses them. */
static bool needs_fib_match(struct route_query *query)
{
    return query->request.oif != 0 && query->request.destination.family == AF_INET &&
           !reach_address_is_on_every_link(&query->request.destination);
}

/* Whether there is no interface with the index that the question names: the kernel's reply is only that there is no
 * route. The query has updated the link table. */
static bool interface_is_missing(struct route_query *query, const struct path *path)
{
    return path->reason == kSCNetworkReachabilityReasonNoRoute && query->request.oif != 0 &&
           reach_route_query_link(query, query->request.oif) == NULL;
}

int reach_address_path_find(struct route_query *query, struct path *ret)
{
    int error = needs_fib_match(query) ? find_matching_path(query, ret) : reach_address_path_plain(query, ret);

    if (error != 0)
        return error;
    if (loopback_is_down(query)) {
        *ret = reach_path_unreachable(kSCNetworkReachabilityReasonInterfaceDown);
        return 0;
    }
    if (interface_is_missing(query, ret)) {
        *ret = reach_path_unreachable(kSCNetworkReachabilityReasonInterfaceMissing);
        return 0;
    }
    error = reach_address_path_try_other_legs(query, ret);
    if (error == 0)
        error = reach_address_path_add_source(query, ret);
    return error == 0 ? query_expiry(query, ret) : error;
}
#endif
