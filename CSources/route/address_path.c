/* SPDX-License-Identifier: MIT */
/*
 * From the route of an address, and what is behind its interface, to a path. pure/path.c says what a route means.
 *
 * What this file must never do: wait for RTNL (GetFlags runs here), or take a failure to query for an answer.
 */
#include "route/address_path.h"

#include <errno.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>

#include "kernel/pppd.h"

#define LOOPBACK_INDEX 1  /* of the loopback interface, in every network namespace */
#define LEG_LIMIT      16 /* legs of one route that are looked at */
#define PPP_SECONDS    2  /* until a path over a ppp link is evaluated again */

/* FIB_MATCH names the interface that has the address, but a packet to oneself goes over loopback. */
static uint32_t leaving_index(struct route_query *query, const struct route *route)
{
    return query->request.fib_match && route->type == RTN_LOCAL ? LOOPBACK_INDEX : route->oif;
}

static const struct link *leaving_link(struct route_query *query, const struct route *route)
{
    return route_query_link(query, leaving_index(query, route));
}

static void judge_route(struct route_query *query, const struct route *route, const struct link *link, struct path *ret)
{
    const bool chosen = query->question->local.family != AF_UNSPEC;

    path_evaluate(&query->request.destination, chosen, route, link, ret);
    ret->index = leaving_index(query, route);
}

static bool is_about_link(const struct path *path)
{
    return path->reason == kSCNetworkReachabilityReasonInterfaceDown ||
           path->reason == kSCNetworkReachabilityReasonNoCarrier;
}

/* ---- Legs ------------------------------------------------------------------------------------------------------- */

/* The legs of a route that are usable, or one that says why none is: the first, those that the kernel calls dead last.
 * With an interface, only legs over that one. */
struct legs {
    size_t           count;
    uint32_t         usable[LEG_LIMIT]; /* the interfaces */
    struct route_leg other;             /* its oif is 0 when there is none */
};

static bool is_usable(struct route_query *query, const struct route_leg *leg)
{
    const struct link *link = (leg->flags & RTNH_F_DEAD) == 0 ? route_query_link(query, leg->oif) : NULL;

    return link != NULL && link_is_usable(link);
}

static struct legs read_legs(struct route_query *query, struct route *route)
{
    struct legs      legs = { 0 };
    struct route_leg leg;

    while (route_next_leg(route, &leg)) {
        const bool dead = (leg.flags & RTNH_F_DEAD) != 0;

        if (query->request.oif != 0 && leg.oif != query->request.oif)
            continue;
        if (legs.count < LEG_LIMIT && is_usable(query, &leg))
            legs.usable[legs.count++] = leg.oif;
        else if (legs.other.oif == 0 || ((legs.other.flags & RTNH_F_DEAD) != 0 && !dead))
            legs.other = leg;
    }
    return legs;
}

/* A leg that is not usable says why by its link; one whose link is in order has lost its route. It is not asked about:
 * out of an interface that no route leaves, IPv4 makes an answer up. */
static struct path judge_leg(struct route_query *query, const struct route *route, const struct route_leg *leg)
{
    struct route single = *route;
    struct path  path;

    single.oif = leg->oif;
    single.has_gateway = leg->has_gateway;
    single.gateway = leg->gateway;
    judge_route(query, &single, leaving_link(query, &single), &path);
    return is_about_link(&path) ? path : path_unreachable(kSCNetworkReachabilityReasonNoRoute);
}

/* ---- What is behind an interface -------------------------------------------------------------------------------- */

/* A tunnel that says where its own packets go is as good as the way there. */
static int follow_tunnel(struct route_query *query, const struct tunnel *tunnel, struct path *path)
{
    const struct question outer = {
        .destination = tunnel->remote, .local = tunnel->local, .scope = tunnel->oif, .mark = tunnel->mark
    };
    struct route_query way = route_query_make(query->rtnetlink, &outer, query->extras & QUERY_EXPIRY);
    struct path        found;
    bool               open;
    int                error;

    way.depth = query->depth - 1;
    error = route_query_begin(&way, &open, &found);
    if (error == 0 && open)
        error = address_path_find(&way, &found);
    if (error == 0)
        error = way.link_error;
    if (error == 0)
        path_apply_outer(path, &outer.destination, &found);
    return error;
}

/* Of a ppp link only pppd knows whether it is connected. */
static int follow_ppp(const char *name, struct path *path)
{
    struct pppd pppd;
    const int   error = pppd_read(name, &pppd);

    if (error != 0)
        return error;
    if (pppd.idle)
        path->flags |= kSCNetworkReachabilityFlagsConnectionRequired | kSCNetworkReachabilityFlagsConnectionOnTraffic;
    if (pppd.modem)
        path->flags |= kSCNetworkReachabilityFlagsIsWWAN;
    if (pppd.has_database)
        route_query_recheck_after(path, PPP_SECONDS);
    return 0;
}

/* What is behind the interface counts, too. Asks further questions. */
static int judge(struct route_query *query, const struct route *route, struct path *ret)
{
    const struct link *link = leaving_link(query, route);
    struct tunnel      tunnel;

    judge_route(query, route, link, ret);
    if (link == NULL || path_rank(ret) == 0)
        return 0;
    if (link->hardware == ARPHRD_PPP)
        return follow_ppp(link->name, ret);
    if (link->tunnel.remote.family == AF_UNSPEC || query->depth == 0)
        return 0;
    tunnel = link->tunnel;
    return follow_tunnel(query, &tunnel, ret);
}

/* ---- One destination -------------------------------------------------------------------------------------------- */

/* Where an interface is named, FIB_MATCH has said that a route leaves it. */
static int find_plain(struct route_query *query, uint32_t oif, struct path *ret)
{
    struct route route;
    const int    error = route_query_plain(query, oif, &route);

    return error == 0 ? judge(query, &route, ret) : error;
}

/* One that is refused leads nowhere, and says why. */
static int find_by_leg(struct route_query *query, uint32_t oif, struct path *ret)
{
    const int error = find_plain(query, oif, ret);

    return error != 0 && path_from_error(error, query->bound, ret) ? 0 : error;
}

/* The first of the usable legs that leads anywhere or, failing that, the first. The plain answer tells more of each. */
static int find_leg(struct route_query *query, const struct legs *legs, struct path *ret)
{
    int error = find_by_leg(query, legs->usable[0], ret);

    for (size_t i = 1; i < legs->count && error == 0 && path_rank(ret) == 0; i++) {
        struct path path;

        error = find_by_leg(query, legs->usable[i], &path);
        if (error != 0)
            return error;
        dependencies_add(&path.depends_on, &ret->depends_on);
        if (path_rank(&path) > 0)
            *ret = path;
        else
            ret->depends_on = path.depends_on;
    }
    return error;
}

int address_path_plain(struct route_query *query, struct path *ret)
{
    return find_plain(query, query->request.oif, ret);
}

/* Where nexthop objects hide the interface, the plain answer tells more. */
int address_path_from_match(struct route_query *query, struct route *match, struct path *ret)
{
    struct legs legs;

    if (match->legs == NULL && match->oif == 0)
        return address_path_plain(query, ret);
    if (match->legs == NULL)
        return judge(query, match, ret);
    legs = read_legs(query, match);
    if (legs.count > 0)
        return find_leg(query, &legs, ret);
    *ret = judge_leg(query, match, &legs.other);
    return 0;
}

/* The kernel expires IPv6 routes at their time but tells of it up to half a minute later. Only FIB_MATCH says when. */
static int note_expiry(struct route_query *query, struct path *path)
{
    struct route route;
    int          error;

    if ((query->extras & QUERY_EXPIRY) == 0 || query->request.destination.family != AF_INET6 || path->index == 0)
        return 0;
    error = route_query_match(query, &route);
    if (error == 0)
        dependencies_add(&path->depends_on, &(struct dependencies){ .expires = route.expires });
    return route_query_failure(error);
}

/* IPv4 out of one interface: a plain answer would be an on-link route that does not exist. */
static int find_bound_ipv4(struct route_query *query, struct path *ret)
{
    struct route route;
    const int    error = route_query_match(query, &route);

    if (error != 0)
        return error;
    /* Multicast is on-link even where its route has a gateway. */
    if (address_is_multicast(&query->request.destination))
        return address_path_plain(query, ret);
    return address_path_from_match(query, &route, ret);
}

int address_path_try_other_legs(struct route_query *query, struct path *path)
{
    const bool   is_tunnel = path_rank(path) == 0 && path->depends_on.outer.family != AF_UNSPEC;
    struct route route;
    struct legs  legs;
    struct path  other;
    int          error;

    if ((!is_about_link(path) && !is_tunnel) || query->request.oif != 0)
        return 0;
    error = route_query_match(query, &route);
    if (error != 0 || route.legs == NULL)
        return route_query_failure(error);
    legs = read_legs(query, &route);
    if (legs.count == 0)
        return 0;
    error = find_leg(query, &legs, &other);
    if (error != 0)
        return error;
    dependencies_add(&other.depends_on, &path->depends_on);
    *path = other;
    return 0;
}

/* FIB_MATCH does not say which source packets will carry. A plain query over the interface that was found does. */
int address_path_add_source(struct route_query *query, struct path *path)
{
    struct route route;
    int          error;

    if ((query->extras & QUERY_SOURCE) == 0 || path->source.family != AF_UNSPEC || !path_is_usable(path))
        return 0;
    error = route_query_plain(query, path->index, &route);
    if (error == 0)
        path->source = route.source;
    return route_query_failure(error);
}

/* While lo is down nothing reaches a loopback address, whatever the kernel says: before lo was up for the first time it
 * would send such packets out by the default route, and later it still calls the address local. */
static bool is_lost_loopback(struct route_query *query)
{
    const struct link *lo = address_is_loopback(&query->request.destination) ? route_query_link(query, LOOPBACK_INDEX)
                                                                             : NULL;

    return lo != NULL && !link_is_up(lo);
}

/* The kernel sends these out of the interface that is asked for without a look at the routes. */
static bool needs_match(struct route_query *query)
{
    return query->request.oif != 0 && query->request.destination.family == AF_INET &&
           !address_is_on_every_link(&query->request.destination);
}

/* A scope by number, of which the kernel only says that no route leaves it. What it told of links is taken in with the
 * answer. */
static bool is_missing(struct route_query *query, const struct path *path)
{
    return path->reason == kSCNetworkReachabilityReasonNoRoute && query->request.oif != 0 &&
           route_query_link(query, query->request.oif) == NULL;
}

int address_path_find(struct route_query *query, struct path *ret)
{
    int error = needs_match(query) ? find_bound_ipv4(query, ret) : address_path_plain(query, ret);

    if (error != 0 && !path_from_error(error, query->bound, ret))
        return error;
    if (is_lost_loopback(query)) {
        *ret = path_unreachable(kSCNetworkReachabilityReasonInterfaceDown);
        return 0;
    }
    if (is_missing(query, ret)) {
        *ret = path_unreachable(kSCNetworkReachabilityReasonInterfaceMissing);
        return 0;
    }
    error = address_path_try_other_legs(query, ret);
    if (error == 0)
        error = address_path_add_source(query, ret);
    return error == 0 ? note_expiry(query, ret) : error;
}
