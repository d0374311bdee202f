/* SPDX-License-Identifier: MIT */
/*
 * What the query for one watch says of others.
 *
 * What this file must never do: give other watches a path if another route can lead to them, or name one link if the
 * kernel can change the path with another link, without a message about a route.
 */
#include "watch/reply.h"

#include "kernel/neighbours.h"
#include "kernel/routing_policy.h"
#include "kernel/source_routes.h"
#include "pure/path.h"
#include "route/extent.h"
#include "route/full_path.h"

/* ---- The path --------------------------------------------------------------------------------------------------- */

static int evaluate_over_netlink(struct monitor *monitor, const struct inquiry *inquiry, unsigned extras,
                                 struct path *ret)
{
    struct path_watch *watch = inquiry->watch;

    if (watch->type->evaluate != NULL)
        return watch->type->evaluate(watch, &monitor->rtnetlink, monitor->netns, &monitor->cache, inquiry->questions,
                                     &monitor->gateways, ret);
    return full_path_evaluate(&monitor->rtnetlink, monitor->netns, &monitor->cache, inquiry->questions, extras, ret);
}

static int evaluate_without_netlink(struct monitor *monitor, const struct inquiry *inquiry, struct path *ret)
{
    struct path_watch *watch = inquiry->watch;

    if (watch->type->evaluate != NULL)
        return watch->type->evaluate(watch, NULL, monitor->netns, &monitor->cache, inquiry->questions,
                                     &monitor->gateways, ret);
    return netns_evaluate_in_round(monitor->netns, &monitor->cache, inquiry->questions, watch->extras, ret);
}

/* Whether the query for the route has shown the whole path: there is none. A source-specific route can be there in
 * spite of that. And no packet arrives at a loopback address while lo is down. */
static bool is_refusal_final(const struct monitor *monitor, const struct extent *extent)
{
    const struct address *destination = &extent->refused.destination;

    return extent->kind == EXTENT_REFUSED && !address_is_loopback(destination) &&
           (destination->family == AF_INET || monitor->rtnetlink.source_routes == SOURCE_ROUTES_NONE);
}

static int evaluate(struct monitor *monitor, const struct inquiry *inquiry, const struct extent *extent,
                    struct path *ret)
{
    const unsigned known = extent->kind == EXTENT_ROUTE ? QUERY_EXPIRY_KNOWN : 0;
    int            error = NETLINK_DENIED;

    if (is_refusal_final(monitor, extent)) {
        *ret = extent->refused;
        return 0;
    }
    if (monitor_can_query(monitor))
        error = evaluate_over_netlink(monitor, inquiry, inquiry->watch->extras | known, ret);
    if (error == NETLINK_DENIED) { /* the process may have entered a sandbox a moment ago */
        plan_begin_polling(&monitor->plan);
        error = evaluate_without_netlink(monitor, inquiry, ret);
    }
    if (error == 0 && extent->kind == EXTENT_ROUTE)
        dependencies_add(&ret->dependencies, &extent->dependencies);
    return error;
}

/* extent_query. If a sandbox refuses the query, the watch is alone: each has another way to be evaluated. */
static int find_extent(struct monitor *monitor, const struct question *question, struct extent *ret)
{
    const int error = extent_query(&monitor->rtnetlink, question, ret);

    if (error != NETLINK_DENIED)
        return error;
    plan_begin_polling(&monitor->plan);
    ret->kind = EXTENT_ALONE;
    return 0;
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

/* Whether there is no path, and only the message about a new route can change that. A route that refuses packets is not
 * enough: the kernel can prefer it to one whose IPv6 gateway does not respond. A source-specific IPv6 route leads to
 * the destination as soon as a link has an address in the prefix. */
static bool depends_on_no_link(const struct rtnetlink *rtnetlink, const struct path *path)
{
    if (path->destination.family == AF_INET6 && source_routes_are_possible(rtnetlink))
        return false;
    return path->index == 0 && path->reason == kSCNetworkReachabilityReasonNoRoute &&
           !address_is_multicast(&path->destination) && !address_is_loopback(&path->destination);
}

/* Whether the path changes with no other link than its own, as far as no message says that a route has changed. Another
 * link can carry the path, or give it its type. IPv6 packets can have the address of another link as their source. If
 * an IPv6 gateway does not respond, the kernel prefers other routes. Its link can end that, by going down for
 * example. */
static bool depends_on_own_link(const struct link_table *links, const struct path *path)
{
    const struct dependencies *dependencies = &path->dependencies;
    const struct link         *link = link_table_find(links, path->index);

    return path->destination.family == AF_INET && path->gateway.family != AF_INET6 && link != NULL && link->complete &&
           !link->carried && !link_is_carried(link) && !path->wireguard && !dependencies->pppd &&
           dependencies->outer.family == AF_UNSPEC && !dependencies->any_route && dependencies->unknown_link == 0;
}

/* Among IPv4 default routes with the same metric, the kernel prefers one whose gateway responds. */
static bool can_have_equal_routes(const struct extent *extent)
{
    return extent->prefix.length == 0 && extent->has_gateway;
}

/* If one member of a route's entry is refused, another can have a route that is hidden. */
static uint32_t find_link(const struct rtnetlink *rtnetlink, const struct inquiry *inquiry, const struct extent *extent,
                          const struct path *path)
{
    if (extent->kind == EXTENT_REFUSED && !inquiry->for_others && depends_on_no_link(rtnetlink, path))
        return BUCKET_NO_LINK;
    if (extent->kind == EXTENT_ROUTE && extent_has_path(extent, path) && !can_have_equal_routes(extent) &&
        depends_on_own_link(&rtnetlink->links, path))
        return path->index;
    return BUCKET_ANY_LINK;
}

/* ---- Others ----------------------------------------------------------------------------------------------------- */

/* Whether there can be an IPv6 route that was not used before: one that the kernel has hidden until now, because its
 * gateway does not respond, or one for packets from a prefix. */
static bool can_have_unused_route(struct monitor *monitor)
{
    return source_routes_find(&monitor->rtnetlink) != SOURCE_ROUTES_NONE ||
           (!monitor->settings.forwards && neighbours_any_failed(&monitor->rtnetlink));
}

/* Whether no route in "main" leads to any member of the entry if none leads to one. For IPv4, such a route is in the
 * table "default". */
static bool is_last_table_empty(struct monitor *monitor, uint8_t family)
{
    return family == AF_INET ? routing_policy_default_table_is_empty(&monitor->rtnetlink)
                             : !can_have_unused_route(monitor);
}

static enum reply_kind find_kind(struct monitor *monitor, const struct inquiry *inquiry, const struct extent *extent,
                                 const struct path *path)
{
    if (path->wireguard || extent->kind == EXTENT_ALONE)
        return REPLY_ALONE;
    if (extent->kind == EXTENT_ROUTE)
        return extent_has_path(extent, path) ? REPLY_ROUTE : REPLY_EXCEPTION;
    if (path->index != 0)
        return REPLY_EXCEPTION; /* a route has come since the first query */
    if (inquiry->for_others && !is_last_table_empty(monitor, inquiry->questions->items[0].destination.family))
        return REPLY_ALONE;
    return REPLY_REFUSED;
}

static bool join(struct monitor *monitor, const struct extent *extent)
{
    bool joined;

    runloop_lock(monitor->loop);
    joined = store_join(&monitor->store, &extent->prefix);
    runloop_unlock(monitor->loop);
    return joined;
}

int reply_find(struct monitor *monitor, const struct inquiry *inquiry, bool *ret_joined, struct reply *ret)
{
    struct extent extent = { .kind = EXTENT_ALONE };
    int           error = 0;

    *ret_joined = false;
    if (inquiry->can_share)
        error = find_extent(monitor, &inquiry->questions->items[0], &extent);
    if (error == 0 && extent.kind == EXTENT_ROUTE && join(monitor, &extent)) {
        *ret_joined = true;
        return 0;
    }
    if (error == 0)
        error = evaluate(monitor, inquiry, &extent, &ret->path);
    if (error != 0)
        return error;
    gateways_add(&monitor->gateways, &ret->path);
    ret->kind = find_kind(monitor, inquiry, &extent, &ret->path);
    ret->prefix = extent.prefix;
    ret->link = find_link(&monitor->rtnetlink, inquiry, &extent, &ret->path);
    return 0;
}

bool reply_begins_with_match(const struct monitor *monitor, const struct path_watch *watch)
{
    return watch->can_share && monitor_shares(monitor) &&
           extent_needs_query(&monitor->rtnetlink, path_watch_destination(watch).family);
}
