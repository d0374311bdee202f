/* SPDX-License-Identifier: MIT */
/*
 * From a route and a link to flags and reason.
 *
 * What this file must never do: set a flag without evidence from the kernel.
 */
#ifdef __linux__
#include "pure/path.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>

#define ADVERTISED_SECONDS 5 /* until the path by an advertised route is stale */

struct path reach_path_unreachable(SCNetworkReachabilityReason reason)
{
    return (struct path){ .reason = reason };
}

bool reach_path_from_error(int error, bool bound, struct path *ret)
{
    switch (error) {
    case ENETUNREACH:
    case EAFNOSUPPORT: /* a kernel without IPv6 has no route either */
    case EOPNOTSUPP:
        *ret = reach_path_unreachable(kSCNetworkReachabilityReasonNoRoute);
        return true;
    case EHOSTUNREACH:
        /* With RTM_F_FIB_MATCH and an interface, this errno can also mean that no route leaves the interface. */
        *ret = reach_path_unreachable(bound ? kSCNetworkReachabilityReasonNoRoute
                                            : kSCNetworkReachabilityReasonRouteUnreachable);
        return true;
    case EACCES:
        *ret = reach_path_unreachable(kSCNetworkReachabilityReasonRouteProhibited);
        return true;
    case EINVAL:
        *ret = reach_path_unreachable(kSCNetworkReachabilityReasonRouteBlackhole);
        return true;
    case ENODEV:
        *ret = reach_path_unreachable(kSCNetworkReachabilityReasonInterfaceMissing);
        return true;
    case EADDRNOTAVAIL: /* only of connect(2) */
        *ret = reach_path_unreachable(kSCNetworkReachabilityReasonNoSourceAddress);
        return true;
    default:
        return false;
    }
}

/* For these types some kernels return the route, others an errno. */
static bool route_type_refuses(uint8_t route_type, struct path *ret)
{
    switch (route_type) {
    case RTN_UNREACHABLE:
        ret->reason = kSCNetworkReachabilityReasonRouteUnreachable;
        return true;
    case RTN_PROHIBIT:
        ret->reason = kSCNetworkReachabilityReasonRouteProhibited;
        return true;
    case RTN_BLACKHOLE:
        ret->reason = kSCNetworkReachabilityReasonRouteBlackhole;
        return true;
    case RTN_THROW:
        ret->reason = kSCNetworkReachabilityReasonNoRoute;
        return true;
    default:
        return false;
    }
}

/* The kernel returns an IPv6 route even if there is no address to send from. Then the source is ::1, or a link-local
 * address, which routers do not forward. */
static bool has_usable_source(const struct address *destination, const struct address *source)
{
    if (destination->family != AF_INET6)
        return true;
    if (reach_address_is_loopback(destination)) /* any source will do, ::1 as well */
        return source->family != AF_UNSPEC;
    if (source->family == AF_UNSPEC || reach_address_is_loopback(source))
        return false;
    return !reach_address_is_link_local(source) || reach_address_is_link_local(destination) ||
           reach_address_is_multicast(destination);
}

static SCNetworkReachabilityFlags flags_of_usable_path(const struct route *route, const struct link *link)
{
    SCNetworkReachabilityFlags flags = kSCNetworkReachabilityFlagsReachable;

    if (route->type == RTN_LOCAL)
        return flags | kSCNetworkReachabilityFlagsIsLocalAddress | kSCNetworkReachabilityFlagsIsDirect;
    if (link->type == kSCNetworkReachabilityInterfaceTypeCellular)
        return flags | kSCNetworkReachabilityFlagsIsWWAN | kSCNetworkReachabilityFlagsTransientConnection;
    if (reach_link_is_point_to_point(link))
        return flags | kSCNetworkReachabilityFlagsTransientConnection;
    if (!route->has_gateway)
        flags |= kSCNetworkReachabilityFlagsIsDirect;
    return flags;
}

/* Returns whether packets can leave over the link. If not, sets the reason. */
static bool evaluate_link(const struct link *link, struct path *ret)
{
    ret->type = link->type;
    ret->type_unknown = !reach_link_type_is_known(link);
    ret->leads_out = reach_link_leads_out(link);
    memcpy(ret->name, link->name, sizeof ret->name);
    if (ret->mtu == 0)
        ret->mtu = link->mtu;
    if (!reach_link_is_up(link))
        ret->reason = kSCNetworkReachabilityReasonInterfaceDown;
    else if (!reach_link_is_running(link))
        ret->reason = kSCNetworkReachabilityReasonNoCarrier;
    return reach_link_is_usable(link);
}

void reach_path_evaluate_local(const struct link *link, struct path *ret)
{
    *ret = (struct path){ .index = link->index };
    if (evaluate_link(link, ret))
        ret->flags = kSCNetworkReachabilityFlagsReachable | kSCNetworkReachabilityFlagsIsDirect;
}

void reach_path_evaluate(const struct address *destination, bool source_chosen, const struct route *route,
                         const struct link *link, struct path *ret)
{
    *ret = (struct path){ .destination = *destination,
                          .source = route->source,
                          .index = route->oif,
                          .mtu = route->mtu,
                          .table = route->table,
                          .dependencies = { .expires = route->expires } };
    if (route->has_gateway)
        ret->gateway = route->gateway;
    if (route_type_refuses(route->type, ret))
        return;
    if (link == NULL) {
        ret->reason = kSCNetworkReachabilityReasonNoRoute;
        return;
    }
    ret->dependencies.unknown_link = reach_link_flags_are_known(link) ? 0 : link->index;
    ret->wireguard = reach_link_is_wireguard(link);
    ret->point_to_point = reach_link_is_point_to_point(link);
    if (!evaluate_link(link, ret))
        return;
    if (!source_chosen && route->type != RTN_LOCAL && !has_usable_source(destination, &route->source))
        ret->reason = kSCNetworkReachabilityReasonNoSourceAddress;
    else
        ret->flags = flags_of_usable_path(route, link);
}

/* 0: never. */
static uint32_t earlier(uint32_t a, uint32_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

/* A router changes such routes silently (RFC 4191). Default routes have an end, or are those of a network manager. */
void reach_dependencies_add_lifetime(struct dependencies *dependencies, const struct route *match)
{
    dependencies->expires = earlier(dependencies->expires, match->expires);
    if (match->protocol == RTPROT_RA && match->has_gateway && match->prefix_length > 0)
        dependencies->recheck = earlier(dependencies->recheck, ADVERTISED_SECONDS);
}

void reach_dependencies_add(struct dependencies *dependencies, const struct dependencies *more)
{
    dependencies->expires = earlier(dependencies->expires, more->expires);
    dependencies->recheck = earlier(dependencies->recheck, more->recheck);
    if (dependencies->unknown_link == 0)
        dependencies->unknown_link = more->unknown_link;
    dependencies->any_route = dependencies->any_route || more->any_route ||
                              (dependencies->outer.family != AF_UNSPEC && more->outer.family != AF_UNSPEC &&
                               !reach_address_equal(&dependencies->outer, &more->outer));
    if (dependencies->outer.family == AF_UNSPEC)
        dependencies->outer = more->outer;
}

void reach_path_apply_outer(struct path *path, const struct address *remote, const struct path *outer)
{
    const struct dependencies own = { .outer = *remote };

    reach_dependencies_add(&path->dependencies, &own);
    reach_dependencies_add(&path->dependencies, &outer->dependencies);
    if (reach_path_rank(outer) > 0 && outer->index != path->index) {
        path->underlay |= outer->underlay;
        if (!outer->type_unknown)
            path->underlay |= path_underlay_bits(outer->type, outer->leads_out);
        path->unknown_underlay = outer->type_unknown ? outer->index : outer->unknown_underlay;
        return;
    }
    /* The kernel drops the packets of a tunnel that would go through the tunnel itself. */
    path->flags = 0;
    path->reason = reach_path_rank(outer) > 0 ? kSCNetworkReachabilityReasonNoRoute : outer->reason;
}

struct path reach_path_from_source(const struct address *destination, bool source_chosen, const struct address *source)
{
    struct path path = { .destination = *destination, .source = *source };

    if (!source_chosen && !has_usable_source(destination, source))
        path.reason = kSCNetworkReachabilityReasonNoSourceAddress;
    else
        path.flags = kSCNetworkReachabilityFlagsReachable;
    if (path.flags != 0 && (reach_address_equal(destination, source) || reach_address_is_loopback(destination)))
        path.flags |= kSCNetworkReachabilityFlagsIsLocalAddress;
    return path;
}

bool reach_path_is_usable(const struct path *path)
{
    return reach_path_rank(path) == 2;
}

bool reach_path_is_reachable(const struct path *path)
{
    return reach_path_is_usable(path) && path->reason != kSCNetworkReachabilityReasonNamePending;
}

int reach_path_rank(const struct path *path)
{
    const SCNetworkReachabilityFlags automatic = kSCNetworkReachabilityFlagsConnectionOnTraffic |
                                                 kSCNetworkReachabilityFlagsConnectionOnDemand;

    if ((path->flags & kSCNetworkReachabilityFlagsReachable) == 0)
        return 0;
    if ((path->flags & kSCNetworkReachabilityFlagsConnectionRequired) == 0)
        return 2;
    return (path->flags & automatic) != 0 && (path->flags & kSCNetworkReachabilityFlagsInterventionRequired) == 0 ? 2
                                                                                                                  : 1;
}

bool reach_outcome_differs(const struct outcome *a, const struct outcome *b)
{
    /* A change of the interface matters only while packets leave over it. */
    const bool leaves = (a->flags & kSCNetworkReachabilityFlagsReachable) != 0;

    return a->flags != b->flags || (leaves && a->index != b->index);
}

bool reach_outcome_flow_differs(const struct outcome *a, const struct outcome *b)
{
    const bool settled = !a->flow_unsettled && !b->flow_unsettled;

    return settled && a->flow != b->flow;
}

bool reach_path_differs(const struct path *a, const struct path *b)
{
    const struct outcome first = path_outcome(a), second = path_outcome(b);

    return reach_outcome_differs(&first, &second) || a->reason != b->reason ||
           !reach_address_equal(&a->gateway, &b->gateway) || !reach_address_equal(&a->source, &b->source);
}

bool reach_details_differ(const struct outcome *from, const struct outcome *to, const struct path *a,
                          const struct path *b)
{
    return reach_outcome_flow_differs(from, to) || reach_path_differs(a, b);
}
#endif
