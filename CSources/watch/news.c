/* SPDX-License-Identifier: MIT */
/*
 * What the kernel's messages say of a monitor's answers: which are stale.
 *
 * What this file must never do: use the content of a message as the new state. The kernel sends the message before it
 * makes the change.
 */
#ifdef __linux__
#include "base/clock.h"
#include "watch/monitor_state.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <sys/utsname.h>

/* Routes may be gone without a message; the kernel may not have finished that. */
static void note_all(struct news *news)
{
    news->changes.all = true;
    news->changes.unfinished = true;
}

void news_note_any(struct news *news, bool unfinished)
{
    news->changes.dissolve = true;
    news->changes.unfinished = news->changes.unfinished || unfinished;
    news->changes.again_dissolve = news->changes.again_dissolve || unfinished;
}

/* Whether the buckets show which answers a link affects. */
static bool knows_links(const struct monitor *monitor)
{
    return monitor->settings_known && !monitor->settings.ignores_linkdown;
}

/* What the kernel has hidden, as its gateway does not respond, a link can bring back: one that goes down forgets the
 * gateway, for example. It can be a longer route than that of an entry. Returns whether that affects a watch. */
static bool note_hidden_routes(struct news *news)
{
    struct monitor *monitor = news->monitor;
    struct hidden_routes *hidden = &monitor->hidden_routes;
    bool affects;

    if (monitor->settings.forwards || !hidden->possible)
        return false;
    runloop_lock(monitor->service.loop);
    affects = stale_mark_ipv6_since(&monitor->store, hidden->since);
    runloop_unlock(monitor->service.loop);
    hidden_routes_note_stale(hidden);
    if (hidden->shared)
        news->changes.dissolve_ipv6 = news->changes.again_dissolve_ipv6 = true;
    return affects || hidden->shared;
}

/* The kernel may change any route over the link without a message. Of the others, it changes those that depend on any
 * link, and if it ignores the routes over links without a carrier, all. `ipv6`: and those that depend on any IPv6
 * address, or on whether gateways respond. */
static void note_link(struct news *news, uint32_t index, bool ipv6)
{
    struct monitor *monitor = news->monitor;
    bool affects;

    if (!knows_links(monitor)) {
        news_note_any(news, true);
        return;
    }
    runloop_lock(monitor->service.loop);
    affects = stale_mark_link(&monitor->store, index);
    if (ipv6)
        affects = stale_mark_ipv6(&monitor->store) || affects;
    runloop_unlock(monitor->service.loop);
    news->changes.unfinished = true;
    if (ipv6 && affects && !monitor->settings.forwards)
        news->changes.dissolve_ipv6 = news->changes.again_dissolve_ipv6 = true;
    affects = note_hidden_routes(news) || affects;
    if (affects)
        gateways_age(&monitor->gateways, index);
}

/* The kernel keeps an IPv6 route to a network after its end for a while, and an address of the network revives it,
 * without a message about the route. */
static void note_network(struct news *news, const struct message_address *address)
{
    struct monitor *monitor = news->monitor;
    const struct route route = { .family = AF_INET6,
                                 .prefix_length = address->prefix.length,
                                 .type = RTN_UNICAST,
                                 .table = RT_TABLE_MAIN,
                                 .oif = address->index,
                                 .destination = address->prefix.address };

    runloop_lock(monitor->service.loop);
    (void)stale_mark_route(&monitor->store, &route);
    runloop_unlock(monitor->service.loop);
}

/* Whether this is Linux before 6.6, or not known. */
static bool is_silent_about_sources(void)
{
    struct utsname system;
    char *end;
    unsigned long major, minor;

    if (uname(&system) != 0)
        return true;
    major = strtoul(system.release, &end, 10);
    minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    return major < 6 || (major == 6 && minor < 6);
}

/* Whether IPv6 packets over any link can have the address as their source. Only packets to the same link have a
 * link-local one. */
static bool is_ipv6_source(const struct message_address *address)
{
    return address->family != AF_INET &&
           (address->prefix.address.family != AF_INET6 || !address_is_link_local(&address->prefix.address));
}

/* With the last IPv4 address of a link, its routes vanish without a message. Before Linux 6.6, so do the routes of
 * other links that have the address as their source. */
static void note_address(struct news *news, const struct message_address *address)
{
    if (address->gone && address->family != AF_INET6 && is_silent_about_sources())
        note_all(news);
    else
        note_link(news, address->index, is_ipv6_source(address));
    if (!address->gone && address->prefix.address.family == AF_INET6)
        note_network(news, address);
}

static void note_netconf(struct news *news, const struct message_netconf *netconf)
{
    struct monitor *monitor = news->monitor;
    const bool switches_forwarding = netconf->has_forwarding && netconf->forwarding != monitor->settings.forwards;

    if (netconf->has_forwarding)
        monitor->settings.forwards = netconf->forwarding;
    if (netconf->ignore_linkdown)
        monitor->settings.ignores_linkdown = true;
    else if (netconf->switches_linkdown)
        monitor->settings_known = false; /* it may still be on for other links */
    if (knows_links(monitor) && !switches_forwarding)
        note_link(news, netconf->index, false);
    else
        news_note_any(news, false);
}

static void note_route(struct news *news, const struct route *route)
{
    struct monitor *monitor = news->monitor;
    bool affects = true;

    equal_routes_note(&monitor->equal_routes, route);
    route_ends_note(&monitor->route_ends, route);
    if (route_is_link_multicast(route))
        note_link(news, route->oif, false);
    runloop_lock(monitor->service.loop);
    if (!news->changes.dissolve)
        affects = stale_mark_route(&monitor->store, route);
    runloop_unlock(monitor->service.loop);
    if (!affects)
        monitor->filter.wanted = true;
    else if (!late_routes_note(&monitor->late_routes, route, clock_now()))
        news->changes.again_dissolve_ipv6 = news->changes.unfinished = true;
}

/* A router redirects an IPv6 address to a neighbour: the message about the neighbour comes before that. */
static void note_neighbour(struct news *news, const struct message_neighbour *neighbour)
{
    struct monitor *monitor = news->monitor;
    const enum gateways_effect effect = gateways_update(&monitor->gateways, neighbour);
    const bool is_ipv6 = neighbour->address.family == AF_INET6;
    const bool responds = is_ipv6 && (neighbour->state & (NUD_STALE | NUD_REACHABLE)) != 0;
    bool redirects = false, is_hop;

    runloop_lock(monitor->service.loop);
    is_hop = stale_mark_hop(&monitor->store, neighbour);
    if (effect != GATEWAYS_NOTHING && is_ipv6)
        (void)stale_mark_ipv6(&monitor->store);
    else if (effect != GATEWAYS_NOTHING)
        stale_mark_any_link(&monitor->store);
    if (responds)
        redirects = stale_mark_neighbour(&monitor->store, &neighbour->address);
    runloop_unlock(monitor->service.loop);
    news->changes.dissolve_ipv6 = news->changes.dissolve_ipv6 || effect == GATEWAYS_ANY_ROUTE;
    news->changes.unfinished = news->changes.unfinished || redirects;
    if (effect == GATEWAYS_NOTHING && !redirects && !is_hop)
        monitor->filter.wanted = true;
}

void news_note_message(void *info, const struct message *message)
{
    struct news *news = info;

    news->changes.any = news->changes.any || message->kind != MESSAGE_PREFIX;
    switch (message->kind) {
    case MESSAGE_LINK:
    case MESSAGE_LINK_GONE:
        note_link(news, message->link.index, false);
        break;
    case MESSAGE_ADDRESS:
        note_address(news, &message->address);
        break;
    case MESSAGE_NEXTHOP:
        news->monitor->equal_routes.known = false; /* a route by a nexthop's number sends no message of its own */
        note_all(news);
        break;
    case MESSAGE_PREFIX:
        news->changes.prefix = true;
        break;
    case MESSAGE_RULE:
        news->monitor->rules_known = false;
        news_note_any(news, false);
        break;
    case MESSAGE_NETCONF:
        note_netconf(news, &message->netconf);
        break;
    case MESSAGE_NEIGHBOUR:
        note_neighbour(news, &message->neighbour);
        break;
    case MESSAGE_ROUTE:
        note_route(news, &message->route);
        break;
    default:
        break;
    }
}
#endif
