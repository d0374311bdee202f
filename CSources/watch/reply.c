/* SPDX-License-Identifier: MIT */
/*
 * What the query for one watch says of others.
 *
 * What this file must never do: give other watches a path if another route can lead to them, or name one link if the
 * kernel can change the path with another link, without a message about a route.
 */
#ifdef __linux__
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include "kernel/dumps.h"
#include "pure/next_hop.h"
#include "pure/path.h"
#include "route/full_path.h"
#include "route/route_query.h"
#include "route/shared_socket.h"
#include "watch/monitor_state.h"

/* ---- Gateways --------------------------------------------------------------------------------------------------- */

/* If a gateway fails between a query for a route and this one, the route has the failed gateway, and the message about
 * the failure shows the state that is known already: nothing would mark the route. So this query comes first. */
void reply_read_gateways(struct monitor *monitor)
{
    struct gateways *gateways = &monitor->gateways;
    uint16_t state;

    if (gateways->unread == 0 || monitor->filter.gateways != gateways->version || monitor->neighbours_withheld)
        return;
    for (unsigned i = 0; i < gateways->count; i++) {
        if (gateways->states[i].state != GATEWAY_UNREAD)
            continue;
        if (neighbours_query(&monitor->rtnetlink, gateways->items[i].index, &gateways->items[i].address, &state) == 0)
            gateways_set(gateways, i, state);
        else
            monitor->neighbours_withheld = true; /* the next message about each counts */
    }
}

/* Notes the gateway of a path, and those that the kernel can choose in its place. Returns its place. */
static unsigned note_gateways(struct monitor *monitor, const struct path *path)
{
    unsigned place;

    if (path->gateway.family == AF_UNSPEC)
        return GATEWAYS_NOWHERE;
    if (path->destination.family == AF_INET || path->gateway.family == AF_INET)
        equal_routes_read(&monitor->equal_routes, &monitor->rtnetlink);
    runloop_lock(monitor->service.loop);
    equal_routes_hold(&monitor->equal_routes, &monitor->gateways);
    place = gateways_add(&monitor->gateways, path);
    runloop_unlock(monitor->service.loop);
    return place;
}

/* Holds a gateway on which a result depends, besides that of its path. */
static void hold_gateway(struct round_cache *cache, uint32_t index, const struct address *gateway)
{
    struct monitor *monitor = container_of(cache, struct monitor, cache);

    runloop_lock(monitor->service.loop);
    gateways_hold(&monitor->gateways, index, gateway, false);
    runloop_unlock(monitor->service.loop);
}

/* ---- Next hops -------------------------------------------------------------------------------------------------- */

/* Reads whether the next hop of a watch responds, if that is not known and the filter passes the messages about it.
 * Returns 0 or an errno. */
static int read_hop(struct monitor *monitor, struct path_watch *watch)
{
    struct hops *hops = &monitor->store.hops;
    const struct hop_use *use;
    struct address address;
    struct hop *hop;
    uint32_t index = 0;
    uint16_t state;
    bool is_unreadable;
    int error;

    runloop_lock(monitor->service.loop);
    use = watch->monitor == NULL ? NULL : entry_of(watch)->hop;
    if (use != NULL && use->hop != NULL && use->hop->unread && monitor_filter_passes_all(monitor)) {
        index = use->hop->index;
        address = use->hop->address.address;
    }
    runloop_unlock(monitor->service.loop);
    if (index == 0)
        return 0;
    error = neighbours_query(&monitor->rtnetlink, index, &address, &state);
    is_unreadable = error == EOPNOTSUPP || netlink_is_withheld(error); /* a kernel before 5.0, or a sandbox */
    runloop_lock(monitor->service.loop);
    hop = hops_find(hops, index, &address);
    if (hop != NULL && error == 0)
        hops_set(hops, hop, state);
    else if (hop != NULL && is_unreadable)
        hops_believe(hops, hop);
    runloop_unlock(monitor->service.loop);
    return is_unreadable ? 0 : error;
}

/* Sets the next hop of the watch's entry to that of the path. Returns 0 or ENOMEM. */
static int use_hop(struct monitor *monitor, struct path_watch *watch, const struct path *path)
{
    struct hops *hops = &monitor->store.hops;
    struct address address;
    int error = 0;

    runloop_lock(monitor->service.loop);
    if (watch->monitor != NULL && next_hop_find(path, &address))
        error = hops_use(hops, &entry_of(watch)->hop, entry_of(watch), path->index, &address);
    else if (watch->monitor != NULL)
        hops_release(hops, &entry_of(watch)->hop);
    runloop_unlock(monitor->service.loop);
    return error;
}

/* Finds out whether the next hop of the path responds, for a watch that reports it, and whether the one before had
 * failed. Returns 0 or an errno. */
static int find_hop(struct monitor *monitor, struct path_watch *watch, struct path *path)
{
    const struct hop_use *use;
    int error;

    error = read_hop(monitor, watch); /* the one before */
    if (error == 0)
        error = use_hop(monitor, watch, path);
    if (error == 0)
        error = read_hop(monitor, watch);
    if (error != 0)
        return error;
    runloop_lock(monitor->service.loop);
    use = watch->monitor == NULL ? NULL : entry_of(watch)->hop;
    path->hop = use == NULL ? PATH_HOP_UNKNOWN : use->hop->unread ? PATH_HOP_UNREAD : (uint8_t)use->hop->state;
    path->left_failed_hop = use != NULL && use->left_failed;
    runloop_unlock(monitor->service.loop);
    return 0;
}

/* Whether an IPv6 route can be part of the path: also of the default path. */
static bool can_depend_on_ipv6(const struct path *path)
{
    return path->destination.family == AF_INET6 || path->gateway.family == AF_INET6 ||
           path->destination.family == AF_UNSPEC;
}

/* ---- The path --------------------------------------------------------------------------------------------------- */

/* Whether a local address counts. */
static bool is_pair(const struct questions *questions)
{
    return questions->count > 0 && questions->items[0].local.family != AF_UNSPEC;
}

static int evaluate_over_netlink(struct monitor *monitor, const struct inquiry *inquiry, unsigned extras,
                                 struct path *ret)
{
    struct path_watch *watch = inquiry->watch;
    int error;

    monitor->cache.hold_gateway = hold_gateway;
    if (watch->type->evaluate != NULL)
        error = watch->type->evaluate(watch, &monitor->rtnetlink, monitor->service.netns, &monitor->cache,
                                      inquiry->questions, ret);
    else
        error = full_path_evaluate(&monitor->rtnetlink, monitor->service.netns, &monitor->cache, inquiry->questions,
                                   extras, ret);
    monitor->cache.hold_gateway = NULL; /* it takes the loop's lock: not under that of the namespace */
    return error;
}

static int evaluate_without_netlink(struct monitor *monitor, const struct inquiry *inquiry, struct path *ret)
{
    struct path_watch *watch = inquiry->watch;

    if (watch->type->evaluate != NULL)
        return watch->type->evaluate(watch, NULL, monitor->service.netns, &monitor->cache, inquiry->questions, ret);
    return shared_socket_evaluate_in_round(netns_socket(monitor->service.netns), &monitor->cache, inquiry->questions,
                                           watch->extras, ret);
}

/* Whether the query for the route has shown the whole path: there is none. A source-specific route can be there in
 * spite of that. No packet arrives at a loopback address while lo is down. */
static bool is_refusal_final(const struct monitor *monitor, const struct match *match)
{
    const struct address *destination = &match->refused.destination;

    return match->kind == REPLY_REFUSED && !address_is_loopback(destination) &&
           (destination->family == AF_INET || monitor->rtnetlink.source_routes == SOURCE_ROUTES_NONE);
}

/* If netlink is denied, nothing is known of rules. */
static int settle_flow(struct rtnetlink *rtnetlink, const struct questions *questions, struct path *path)
{
    const int error = rules_find_selectors(rtnetlink);

    path->flow_unsettled = false;
    if (error == 0 && questions_are_incomplete(questions, path, rtnetlink->rules.selectors))
        path->flow |= kSCNetworkReachabilityFlowIncomplete;
    return error;
}

static int evaluate(struct monitor *monitor, const struct inquiry *inquiry, const struct match *match, struct path *ret)
{
    const unsigned known = match->kind == REPLY_ROUTE ? QUERY_EXPIRY_KNOWN : 0;
    int error = NETLINK_DENIED;

    if (is_refusal_final(monitor, match)) {
        *ret = match->refused;
        return 0;
    }
    if (monitor_can_query(monitor))
        error = evaluate_over_netlink(monitor, inquiry, inquiry->watch->extras | known, ret);
    if (error == 0 && (inquiry->watch->extras & QUERY_FLOW) != 0)
        error = settle_flow(&monitor->rtnetlink, inquiry->questions, ret);
    if (error == NETLINK_DENIED) { /* the process may have entered a sandbox a moment ago */
        plan_begin_polling(&monitor->plan);
        error = evaluate_without_netlink(monitor, inquiry, ret);
    }
    if (error == 0)
        dependencies_add(&ret->dependencies, &match->dependencies);
    return error;
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

/* Whether there is no path, and only the message about a new route can change that. A route that refuses packets is not
 * enough: the kernel can prefer it to one whose IPv6 gateway does not respond. */
static bool depends_on_no_link(const struct path *path)
{
    return path->index == 0 && path->reason == kSCNetworkReachabilityReasonNoRoute &&
           !address_is_multicast(&path->destination) && !address_is_loopback(&path->destination);
}

/* Whether the path changes with no other link than its own, as far as no message says that a route or an IPv6 address
 * has changed, and gateways respond: see bucket.h. Another link can carry the path, or give it its type. An IPv4 path
 * by an IPv6 gateway depends on both. */
static bool depends_on_own_link(const struct link_table *links, const struct path *path)
{
    const struct dependencies *dependencies = &path->dependencies;
    const struct link *link = link_table_find(links, path->index);

    return (path->destination.family == AF_INET6 || path->gateway.family != AF_INET6) && link != NULL &&
           link->complete && !link->carried && !link_is_carried(link) && !path->wireguard && !dependencies->pppd &&
           dependencies->outer.family == AF_UNSPEC && !dependencies->any_route && dependencies->unknown_link == 0;
}

/* Among IPv4 default routes with the same metric, the kernel prefers one whose gateway responds. */
static bool can_have_equal_routes(const struct monitor *monitor, const struct match *match, const struct path *path)
{
    return path->destination.family == AF_INET && match->prefix.length == 0 && match->has_gateway &&
           equal_routes_are_possible(&monitor->equal_routes, path->index, &path->gateway);
}

/* Whether the source address of packets is one of the path's own link. A link without an address has that of another
 * one. Returns 0 or an errno. */
static int query_source_link(struct monitor *monitor, const struct path *path, bool *ret)
{
    const struct route_request request = { .destination = path->source, .fib_match = true };
    struct route route;
    const int error = rtnetlink_query(&monitor->rtnetlink, &request, &route);

    *ret = error == 0 && route.type == RTN_LOCAL && route.oif == path->index;
    return route_query_failure(error);
}

/* The link of a path whose source address is one of the link's. */
static uint32_t find_own_link(const struct monitor *monitor, const struct match *match, const struct path *path)
{
    return match->kind == REPLY_ROUTE && match_has_path(match, path) && !can_have_equal_routes(monitor, match, path) &&
                   depends_on_own_link(&monitor->rtnetlink.links, path)
               ? path->index
               : BUCKET_ANY_LINK;
}

/* A pair also depends on the link that has its local address. Where IPv6 packets have the address of another link as
 * their source, the path depends on that link, too. A source-specific IPv6 route leads to the destination as soon as a
 * link has an address in the prefix. Returns 0 or an errno. */
static int find_link(struct monitor *monitor, const struct inquiry *inquiry, const struct match *match,
                     const struct path *path, uint32_t *ret)
{
    const bool is_ipv6 = path->destination.family == AF_INET6, pair = is_pair(inquiry->questions);
    bool has_source = true;
    int error = 0;

    *ret = BUCKET_ANY_LINK;
    if (!inquiry->can_share || (pair && (path->source_index == 0 || path->source_index != path->index)))
        return 0;
    if (is_ipv6 && monitor->rtnetlink.source_routes != SOURCE_ROUTES_NONE) {
        if (depends_on_no_link(path) && !pair)
            *ret = BUCKET_ADDRESS;
        return 0;
    }
    if (match->kind == REPLY_REFUSED && depends_on_no_link(path)) {
        *ret = BUCKET_NO_LINK;
        return 0;
    }
    *ret = find_own_link(monitor, match, path);
    if (*ret != BUCKET_ANY_LINK && is_ipv6 && !pair)
        error = query_source_link(monitor, path, &has_source);
    if (!has_source)
        *ret = BUCKET_ANY_LINK;
    return error;
}

/* The same for a watch that cannot share. */
static int seek_link(struct monitor *monitor, const struct inquiry *inquiry, const struct path *path, uint32_t *ret)
{
    struct match match = { .kind = REPLY_ALONE };
    bool has_source = false;
    int error = 0;

    if (!inquiry->seeks_link || path->index == 0 || path->source.family != path->destination.family ||
        (path->destination.family == AF_INET6 && source_routes_find(&monitor->rtnetlink) != SOURCE_ROUTES_NONE))
        return 0;
    error = query_source_link(monitor, path, &has_source);
    if (error == 0 && has_source)
        error = match_query(monitor, &inquiry->questions->items[0], &match);
    if (error == 0)
        *ret = find_own_link(monitor, &match, path);
    return error;
}

/* Whether time has made an answer stale, and it is as before. */
static bool is_repeated(const struct inquiry *inquiry, const struct path *path)
{
    const struct repetition *before = &inquiry->repetition;

    return before->link != 0 && before->index == path->index && address_equal(&before->gateway, &path->gateway) &&
           address_equal(&before->source, &path->source);
}

/* An answer that a hidden route could change. */
static void note_hidden_routes(struct monitor *monitor, const struct inquiry *inquiry, const struct match *match,
                               uint32_t link)
{
    if ((inquiry->can_share || link != BUCKET_ANY_LINK) && inquiry->questions->items[0].destination.family == AF_INET6)
        hidden_routes_note_answer(&monitor->hidden_routes, match->kind != REPLY_ALONE);
}

/* ---- Others ----------------------------------------------------------------------------------------------------- */

/* Whether there can be an IPv6 route that was not used before: one that the kernel has hidden until now, because its
 * gateway does not respond, or one for packets from a prefix. */
static bool can_have_unused_route(struct monitor *monitor)
{
    return source_routes_find(&monitor->rtnetlink) != SOURCE_ROUTES_NONE ||
           (!monitor->settings.forwards && neighbours_any_failed(&monitor->rtnetlink));
}

/* Whether no route leads to any of the watches if none in "main" leads to one. For IPv4, such a route is in the table
 * "default", or in one that another rule chooses. */
static bool is_last_table_empty(struct monitor *monitor, uint8_t family)
{
    if (family != AF_INET)
        return !can_have_unused_route(monitor);
    return monitor->shares == SHARING_ALL && default_table_is_empty(&monitor->rtnetlink);
}

/* The cause is the local address, which all pairs of a group have. */
static bool is_source_missing(const struct path *path)
{
    return path->reason == kSCNetworkReachabilityReasonLocalAddressNotAssigned;
}

static enum reply_kind find_kind(struct monitor *monitor, const struct inquiry *inquiry, const struct match *match,
                                 const struct path *path)
{
    if (path->wireguard || match->kind == REPLY_ALONE)
        return REPLY_ALONE;
    if (match->kind == REPLY_ROUTE)
        return match_has_path(match, path) || is_source_missing(path) ? REPLY_ROUTE : REPLY_EXCEPTION;
    if (path->index != 0)
        return REPLY_EXCEPTION; /* a route has come since the first query */
    if (inquiry->for_others && !is_last_table_empty(monitor, inquiry->questions->items[0].destination.family))
        return REPLY_ALONE;
    return REPLY_REFUSED;
}

static bool join(struct monitor *monitor, const struct match *match)
{
    bool joined;

    runloop_lock(monitor->service.loop);
    joined = store_join(&monitor->store, &match->prefix);
    runloop_unlock(monitor->service.loop);
    return joined;
}

/* A path over a tunnel also depends on the route to its other end. `path` NULL: it is that of the match. */
static void compare_late_routes(struct monitor *monitor, const struct inquiry *inquiry, const struct match *match,
                                const struct path *path)
{
    const bool is_whole = path == NULL || (path->dependencies.outer.family == AF_UNSPEC &&
                                           !path->dependencies.any_route && !path->wireguard);
    const bool is_one = inquiry->watch->type->evaluate == NULL && inquiry->questions->count == 1 && is_whole;
    const struct address unknown = { 0 };

    late_routes_compare(&monitor->late_routes, is_one ? &inquiry->questions->items[0].destination : &unknown,
                        is_one && match->kind == REPLY_ROUTE ? match->prefix.length : -1);
}

int reply_find(struct monitor *monitor, const struct inquiry *inquiry, bool *ret_joined, struct reply *ret)
{
    struct match match = { .kind = REPLY_ALONE };
    int error = 0;

    *ret_joined = false;
    reply_read_gateways(monitor);
    if (inquiry->can_share)
        error = match_query(monitor, &inquiry->questions->items[0], &match);
    if (error == 0 && match.kind == REPLY_ROUTE && join(monitor, &match)) {
        *ret_joined = true;
        compare_late_routes(monitor, inquiry, &match, NULL);
        note_hidden_routes(monitor, inquiry, &match, BUCKET_ANY_LINK);
        return 0;
    }
    if (error == 0)
        error = evaluate(monitor, inquiry, &match, &ret->path);
    if (error == 0 && (inquiry->watch->extras & QUERY_NEXT_HOP) != 0 && monitor_can_query(monitor))
        error = find_hop(monitor, inquiry->watch, &ret->path);
    if (error != 0)
        return error;
    compare_late_routes(monitor, inquiry, &match, &ret->path);
    ret->gateway = note_gateways(monitor, &ret->path);
    if (can_depend_on_ipv6(&ret->path))
        route_ends_require(&monitor->route_ends, &monitor->rtnetlink);
    ret->kind = find_kind(monitor, inquiry, &match, &ret->path);
    ret->prefix = match.prefix;
    if (is_repeated(inquiry, &ret->path)) {
        ret->link = inquiry->repetition.link;
        return 0;
    }
    error = find_link(monitor, inquiry, &match, &ret->path, &ret->link);
    if (error == 0)
        error = seek_link(monitor, inquiry, &ret->path, &ret->link);
    note_hidden_routes(monitor, inquiry, &match, ret->link);
    return error;
}

static bool begins_with_match(const struct monitor *monitor, const struct path_watch *watch)
{
    return watch->can_share && monitor_shares(monitor, watch) &&
           (watch->questions->items[0].destination.family != AF_INET6 ||
            monitor->rtnetlink.source_routes != SOURCE_ROUTES_SOME);
}

bool reply_first_request(const struct monitor *monitor, const struct path_watch *watch, struct route_request *ret)
{
    const struct questions *questions = watch->questions;

    if (!watch->can_share && (questions->count != 1 || !question_is_plain(&questions->items[0])))
        return false;
    *ret = match_request(&questions->items[0], begins_with_match(monitor, watch));
    return true;
}
#endif
