/* SPDX-License-Identifier: MIT */
/*
 * The evaluation of questions. The default path is found by queries for sample addresses.
 *
 * What this file must never do: lose a dependency of any path (a watch would not notice that its path is stale), or
 * report the route of a longer prefix as the default route.
 */
#ifdef __linux__
#include "route/evaluate.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>

#include "kernel/dumps.h"
#include "kernel/link_alias.h"
#include "route/address_path.h"
#include "route/flow_path.h"

/* ---- The default path: the way of packets for which only a default route matches --------------------------------- */

/* Addresses that only a default route matches, or one of its two halves. If a longer prefix matches (a blackhole for
 * 0.0.0.0/8 is common), the next sample is tried. The IPv6 samples have global scope because the kernel chooses the
 * source address by the scope of the destination. The first and the last sample are in different halves. */
#define SAMPLES       (DEFAULT_PATH_SAMPLES / 2)
#define SAMPLE_GLOBAL 1
static const struct address samples_ipv4[SAMPLES] = { { AF_INET, { 0, 0, 0, 1 } },
                                                      { AF_INET, { 1, 0, 0, 1 } },
                                                      { AF_INET, { 128, 0, 0, 1 } } };
static const struct address samples_ipv6[SAMPLES] = { { AF_INET6, { 0x40, [15] = 1 } },
                                                      { AF_INET6, { 0x20, [15] = 1 } },
                                                      { AF_INET6, { 0x80, [15] = 1 } } };

static bool is_default_route(const struct route *route)
{
    return route->prefix_length <= 1 && route->type != RTN_LOCAL;
}

/* False also if the reply names a route that cannot lead to the destination, so another one with the same way does: see
 * reach_route_may_be_another. */
static bool has_known_prefix(const struct route *route, const struct address *destination)
{
    const struct address first = reach_address_truncate(destination, route->prefix_length);

    return route->prefix_length != ROUTE_QUERY_PREFIX_UNKNOWN && !route->hides_legs &&
           (!reach_route_may_be_another(route) || reach_address_equal(&first, &route->destination));
}

/* A route to a longer prefix. While none of its gateways responds, the kernel ignores it: then a default route can lead
 * to the sample. The reply about a nexthop object has no gateway; those are followed in any case. */
static void hold_gateways(struct route_query *query, struct route route)
{
    struct route_leg leg;

    if (query->cache->hold_gateway == NULL)
        return;
    if (route.has_gateway)
        round_cache_hold_gateway(query->cache, route.oif, &route.gateway);
    while (reach_route_next_leg(&route, &leg))
        if (leg.has_gateway)
            round_cache_hold_gateway(query->cache, leg.oif, &leg.gateway);
}

/* Sets the request's destination. A returned errno can be the kernel's reply. */
static int query_sample(struct route_query *query, const struct address *sample, struct route *ret)
{
    int error;

    query->request.destination = *sample;
    error = reach_route_query_match(query, ret);
    if (error == 0 && sample->family == AF_INET6 && !is_default_route(ret))
        hold_gateways(query, *ret);
    return error;
}

/* Whether the query for another address of the same half returns a default route, or one with an unknown prefix.
 * Returns 0 or an errno. */
static int query_witness(struct route_query *query, const struct address *witness, bool *ret)
{
    const struct address sample = query->request.destination;
    struct route route;
    int error;

    error = query_sample(query, witness, &route);
    *ret = error == 0 && (!has_known_prefix(&route, witness) || is_default_route(&route));
    query->request.destination = sample;
    return reach_route_query_failure(error);
}

/* Few routes lead to the sample that is a global address, and none to the others, besides the default route or half of
 * one: that is sure enough for a route that a query returns. One that only a socket uses must lead to the other sample
 * of the first half, too. The global sample has a second witness, because a longer prefix can lead to the first one;
 * for IPv4, the last sample must do. `sample`: the number of the one that was reached. Returns 0 or an errno. */
static int confirm_default_route(struct route_query *query, size_t sample, bool by_socket, bool *ret)
{
    static const struct address second = { AF_INET6, { 0x60, [15] = 1 } };
    const size_t other = sample == SAMPLE_GLOBAL ? 0 : SAMPLE_GLOBAL;
    int error;

    *ret = !by_socket && sample != SAMPLE_GLOBAL;
    if (*ret || sample == SAMPLES - 1 || query->request.destination.family == AF_INET)
        return 0;
    error = query_witness(query, &samples_ipv6[other], ret);
    return error == 0 && !*ret && !by_socket ? query_witness(query, &second, ret) : error;
}

/* `match` is the default route that matches the sample in `query->request`. */
static int evaluate_default_route(struct route_query *query, struct route *match, struct path *ret)
{
    const uint32_t metric = match->metric; /* the next query overwrites the route's message */
    int error;

    if (query->request.destination.family == AF_INET) {
        error = reach_address_path_from_match(query, match, ret);
    } else { /* only the reply to a plain query has the IPv6 source address */
        error = reach_address_path_plain(query, ret);
        if (error == 0) {
            reach_dependencies_add_lifetime(&ret->dependencies, match);
            error = reach_address_path_try_other_legs(query, ret);
        }
    }
    ret->metric = metric;
    return error == 0 ? reach_address_path_add_source(query, ret) : error;
}

/* Finds the default path of one family. The reason is NoRoute if there is no default route. */
static int find_default_of_family(struct route_query *query, const struct address samples[SAMPLES], struct path *ret)
{
    bool unmatched = false, confirmed = false;
    struct route route;
    int error;

    for (size_t i = 0; i < SAMPLES; i++) {
        error = query_sample(query, &samples[i], &route);
        if (error == 0 && !has_known_prefix(&route, &samples[i]))
            error = confirm_default_route(query, i, route.prefix_length == ROUTE_QUERY_PREFIX_UNKNOWN, &confirmed);
        if (error == 0 && (confirmed || is_default_route(&route)))
            return evaluate_default_route(query, &route, ret);
        if (error != 0 && reach_route_query_path_from_error(query, error, ret) != 0)
            return error;
        unmatched = unmatched || error == 0 || error == ENETUNREACH;
        /* No route at all matches in this half: continue with the other half. */
        if (error == ENETUNREACH && i < SAMPLES - 2)
            i = SAMPLES - 2;
    }
    /* A default route that refuses packets refuses all samples. If only some are refused, a longer prefix does that. */
    if (unmatched)
        *ret = reach_path_unreachable(kSCNetworkReachabilityReasonNoRoute);
    return 0;
}

/* Tries the family of the local address, or IPv4, then IPv6. If neither path is usable, the result is that of IPv4, or
 * that of IPv6 if IPv4 has no default route. */
static int find_default_path(struct route_query *query, struct path *ret)
{
    const uint8_t family = question_default_family(query->question);
    struct path ipv4 = reach_path_unreachable(kSCNetworkReachabilityReasonNoRoute), ipv6 = ipv4;
    int error = 0;

    if (family != AF_INET6)
        error = find_default_of_family(query, samples_ipv4, &ipv4);
    if (error == 0 && family != AF_INET && !reach_path_is_usable(&ipv4))
        error = find_default_of_family(query, samples_ipv6, &ipv6);
    if (error != 0)
        return error;
    *ret = reach_path_is_usable(&ipv6) || ipv4.reason == kSCNetworkReachabilityReasonNoRoute ? ipv6 : ipv4;
    /* Of both: later the other family can have the better path. */
    reach_dependencies_add(&ret->dependencies, &ipv4.dependencies);
    reach_dependencies_add(&ret->dependencies, &ipv6.dependencies);
    return 0;
}

const struct address *reach_default_path_sample(size_t i)
{
    return i < SAMPLES ? &samples_ipv4[i] : &samples_ipv6[i - SAMPLES];
}

/* ---- Questions -------------------------------------------------------------------------------------------------- */

/* 169.254.0.0 stands for the local network. Links decide, not routes. `link_error` can be set. */
static void find_local_wifi(struct route_query *query, struct path *ret)
{
    const struct link *link = reach_link_table_find_local(&query->rtnetlink->links);

    if (link != NULL)
        link = reach_route_query_link(query, link->index); /* reads its device, and its flags if they may be stale */
    if (link != NULL)
        reach_path_evaluate_local(link, ret);
    else
        *ret = reach_path_unreachable(kSCNetworkReachabilityReasonNoRoute);
}

static int evaluate_question(struct route_query *query, struct path *ret)
{
    bool open;
    int error;

    if (question_is_local_wifi(query->question) && !rtnetlink_is_udp(query->rtnetlink)) {
        find_local_wifi(query, ret);
        return 0;
    }
    error = reach_route_query_begin(query, &open, ret);
    if (error != 0 || !open)
        return error;
    if (query->question->destination.family == AF_UNSPEC)
        return find_default_path(query, ret);
    error = reach_address_path_find(query, ret);
    return error == 0 && (query->extras & QUERY_FLOW) != 0 ? reach_flow_path_find(query, ret) : error;
}

bool reach_evaluate_may_wait(const struct questions *questions)
{
    for (size_t i = 0; i < questions->count; i++)
        if (question_is_local_wifi(&questions->items[i]) || link_alias_is(questions->items[i].interface))
            return true;
    return false;
}

/* A UDP socket does not show what rules say of other protocols. */
static bool is_of_another_protocol(const struct questions *questions)
{
    const uint8_t protocol = questions->count > 0 ? questions->items[0].flow.protocol : 0;

    return protocol != 0 && protocol != IPPROTO_UDP;
}

int reach_evaluate_questions(struct rtnetlink *rtnetlink, struct round_cache *cache, const struct questions *questions,
                             unsigned extras, struct path *ret)
{
    struct dependencies dependencies = { 0 };

    if (questions->count == 0)
        *ret = reach_path_unreachable(questions->reason);
    for (size_t i = 0; i < questions->count; i++) {
        const struct question *question = &questions->items[i];
        struct route_query query = reach_route_query_make(rtnetlink, cache, question,
                                                          rtnetlink_is_udp(rtnetlink) ? 0 : extras);
        struct path other, *path = i == 0 ? ret : &other;
        int error;

        error = evaluate_question(&query, path);
        if (error == 0)
            error = reach_route_query_end(&query, path);
        if (error != 0)
            return error;
        path->destination = question->destination;
        if (question->local.family != AF_UNSPEC && reach_path_rank(path) > 0)
            path->source = question->local;
        reach_dependencies_add(&dependencies, &path->dependencies);
        if (reach_path_rank(path) > reach_path_rank(ret))
            *ret = *path;
    }
    /* Of all paths: later another path can be the best. */
    ret->dependencies = dependencies;
    if (rtnetlink_is_udp(rtnetlink)) {
        ret->evidence = kSCNetworkReachabilityEvidenceSocket;
        ret->flow = is_of_another_protocol(questions) ? kSCNetworkReachabilityFlowIncomplete : 0;
    }
    reach_questions_adjust_path(questions, ret);
    return 0;
}
#endif
