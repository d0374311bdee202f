/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: take an answer for the default's that a longer prefix gave.
 */
#include "route/default_path.h"

#include <errno.h>
#include <linux/rtnetlink.h>

#include "route/address_path.h"

/* Addresses that nothing but a default route, or its two halves, should match. One can lie in a longer prefix that says
 * nothing about the default (a blackhole 0.0.0.0/8 is common); then the next is asked for. IPv6's are of global scope,
 * not ::, as the kernel chooses the source by the destination's scope. */
#define PROBES 3
static const struct address probes_ipv4[PROBES] = { { AF_INET, { 0, 0, 0, 1 } },
                                                    { AF_INET, { 1, 0, 0, 1 } },
                                                    { AF_INET, { 128, 0, 0, 1 } } };
static const struct address probes_ipv6[PROBES] = { { AF_INET6, { 0x40, [15] = 1 } },
                                                    { AF_INET6, { 0x20, [15] = 1 } },
                                                    { AF_INET6, { 0x80, [15] = 1 } } };

static bool is_default(const struct route *route)
{
    return route->prefix_length <= 1 && route->type != RTN_LOCAL;
}

/* The source that packets over an IPv6 default route carry: only a plain answer has it. */
static int find_ipv6(struct route_query *query, const struct route *match, struct path *ret)
{
    const struct dependencies depends_on = { .expires = match->expires };
    const int                 error = address_path_plain(query, ret);

    if (error != 0)
        return error;
    dependencies_add(&ret->depends_on, &depends_on);
    return address_path_try_other_legs(query, ret);
}

/* After the first probe matched nothing: whether there is no default at all, of either family, as is so when the
 * only one was just deleted. What is left to ask goes in one send; any other answer leaves it to the questions one
 * by one. A throw or a rule could hide a default from one probe: it takes one in each half. */
static bool has_none(const struct route_query *query)
{
    const struct address *const probes[] = { &probes_ipv4[PROBES - 1], &probes_ipv6[0], &probes_ipv6[PROBES - 1] };
    struct route_request        requests[RTNETLINK_QUERY_LIMIT];
    int                         errors[RTNETLINK_QUERY_LIMIT];

    for (size_t i = 0; i < RTNETLINK_QUERY_LIMIT; i++) {
        requests[i] = query->request;
        requests[i].destination = *probes[i];
    }
    if (rtnetlink_query_each(query->rtnetlink, requests, RTNETLINK_QUERY_LIMIT, errors) != 0)
        return false;
    for (size_t i = 0; i < RTNETLINK_QUERY_LIMIT; i++)
        if (errors[i] != ENETUNREACH)
            return false;
    return true;
}

/* One family's default path. `ret` says NoRoute when the family has none. `ret_none`, if it is not NULL: it turned out
 * that neither family has one. */
static int find_family(struct route_query *query, const struct address probes[PROBES], bool *ret_none, struct path *ret)
{
    bool         unmatched = false;
    struct route route;
    int          error;

    for (size_t i = 0; i < PROBES; i++) {
        query->request.destination = probes[i];
        error = route_query_match(query, &route);
        if (error == 0 && is_default(&route)) {
            error = probes[i].family == AF_INET6 ? find_ipv6(query, &route, ret)
                                                 : address_path_from_match(query, &route, ret);
            if (error == 0)
                error = address_path_add_source(query, ret);
            return error != 0 && path_from_error(error, query->bound, ret) ? 0 : error;
        }
        if (error != 0 && !path_from_error(error, query->bound, ret))
            return error;
        if (error == ENETUNREACH && i == 0 && ret_none != NULL) {
            *ret_none = has_none(query);
            if (*ret_none)
                return 0;
        }
        unmatched = unmatched || error == 0 || error == ENETUNREACH;
        /* Nothing matched at all, so neither did a default: a look at the other half is enough. */
        if (error == ENETUNREACH && i < PROBES - 2)
            i = PROBES - 2;
    }
    /* A default that refuses refuses every probe: what refused only some was a longer prefix. */
    if (unmatched)
        *ret = path_unreachable(kSCNetworkReachabilityReasonNoRoute);
    return 0;
}

int default_path_find(struct route_query *query, struct path *ret)
{
    const uint8_t family = query->question->local.family;
    struct path   ipv4 = path_unreachable(kSCNetworkReachabilityReasonNoRoute), ipv6 = ipv4;
    bool          none = false;
    int           error = 0;

    if (family != AF_INET6)
        error = find_family(query, probes_ipv4, family == AF_UNSPEC ? &none : NULL, &ipv4);
    if (error == 0 && family != AF_INET && !path_is_usable(&ipv4) && !none)
        error = find_family(query, probes_ipv6, NULL, &ipv6);
    if (error != 0)
        return error;
    *ret = path_is_usable(&ipv6) || ipv4.reason == kSCNetworkReachabilityReasonNoRoute ? ipv6 : ipv4;
    /* Of both, whichever is chosen: what comes after may be better. */
    dependencies_add(&ret->depends_on, &ipv4.depends_on);
    dependencies_add(&ret->depends_on, &ipv6.depends_on);
    return 0;
}

bool default_path_depends_on(const struct route *route)
{
    for (size_t i = 0; i < PROBES; i++)
        if (route_covers(route, &probes_ipv4[i]) || route_covers(route, &probes_ipv6[i]))
            return true;
    return false;
}
