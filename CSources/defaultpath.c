/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: take an answer for the default's that a longer prefix gave.
 */
#include "defaultpath.h"

#include <errno.h>
#include <linux/rtnetlink.h>

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
static int find_ipv6(struct search *search, const struct route *match, struct path *ret)
{
    const struct needs needs = { .expires = match->expires };
    const int          error = search_plain(search, ret);

    if (error != 0)
        return error;
    needs_add(&ret->needs, &needs);
    return search_other_leg(search, ret);
}

/* After the first probe matched nothing: whether there is no default at all, of either family, as is so when the
 * only one was just deleted. What is left to ask goes in one send; any other answer leaves it to the questions one
 * by one. A throw or a rule could hide a default from one probe: it takes one in each half. */
static bool has_none(const struct search *search)
{
    const struct address *const probes[] = { &probes_ipv4[PROBES - 1], &probes_ipv6[0], &probes_ipv6[PROBES - 1] };
    struct route_request        requests[VIEW_ASK_LIMIT];
    int                         errors[VIEW_ASK_LIMIT];

    for (size_t i = 0; i < VIEW_ASK_LIMIT; i++) {
        requests[i] = search->request;
        requests[i].destination = *probes[i];
    }
    if (view_ask_each(search->view, requests, VIEW_ASK_LIMIT, errors) != 0)
        return false;
    for (size_t i = 0; i < VIEW_ASK_LIMIT; i++)
        if (errors[i] != ENETUNREACH)
            return false;
    return true;
}

/* One family's default path. `ret` says NoRoute when the family has none. `ret_none`, if it is not NULL: it turned out
 * that neither family has one. */
static int find_family(struct search *search, const struct address probes[PROBES], bool *ret_none, struct path *ret)
{
    bool         unmatched = false;
    struct route route;
    int          error;

    for (size_t i = 0; i < PROBES; i++) {
        search->request.destination = probes[i];
        error = search_match(search, &route);
        if (error == 0 && is_default(&route)) {
            error = probes[i].family == AF_INET6 ? find_ipv6(search, &route, ret)
                                                 : search_judge_match(search, &route, ret);
            if (error == 0)
                error = search_note_source(search, ret);
            return error != 0 && path_from_error(error, search->bound, ret) ? 0 : error;
        }
        if (error != 0 && !path_from_error(error, search->bound, ret))
            return error;
        if (error == ENETUNREACH && i == 0 && ret_none != NULL) {
            *ret_none = has_none(search);
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
        *ret = path_without(kSCNetworkReachabilityReasonNoRoute);
    return 0;
}

int defaultpath_find(struct search *search, struct path *ret)
{
    const uint8_t family = search->question->local.family;
    struct path   ipv4 = path_without(kSCNetworkReachabilityReasonNoRoute), ipv6 = ipv4;
    bool          none = false;
    int           error = 0;

    if (family != AF_INET6)
        error = find_family(search, probes_ipv4, family == AF_UNSPEC ? &none : NULL, &ipv4);
    if (error == 0 && family != AF_INET && !path_is_usable(&ipv4) && !none)
        error = find_family(search, probes_ipv6, NULL, &ipv6);
    if (error != 0)
        return error;
    *ret = path_is_usable(&ipv6) || ipv4.reason == kSCNetworkReachabilityReasonNoRoute ? ipv6 : ipv4;
    /* Of both, whichever is chosen: what comes after may be better. */
    needs_add(&ret->needs, &ipv4.needs);
    needs_add(&ret->needs, &ipv6.needs);
    return 0;
}

bool defaultpath_hangs_on(const struct route *route)
{
    for (size_t i = 0; i < PROBES; i++)
        if (route_covers(route, &probes_ipv4[i]) || route_covers(route, &probes_ipv6[i]))
            return true;
    return false;
}
