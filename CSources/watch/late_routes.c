/* SPDX-License-Identifier: MIT */
/*
 * New IPv6 routes that a query may not find yet.
 *
 * What this file must never do: forget a message that was read a moment ago.
 */
#ifdef __linux__
#include "watch/late_routes.h"

#include <linux/rtnetlink.h>

/* Nor is one late that replaces another one. */
static bool can_be_late(const struct route *route)
{
    return route->family == AF_INET6 && route->prefix_length > 0 && !route->gone && !route->replaces;
}

static bool is_same(const struct late_route *a, const struct late_route *b)
{
    return a->table == b->table && a->prefix.length == b->prefix.length &&
           address_equal(&a->prefix.address, &b->prefix.address);
}

bool late_routes_note(struct late_routes *routes, const struct route *route, uint64_t since)
{
    const struct late_route item = { .prefix = route_prefix(route),
                                     .table = route->table,
                                     .oif = route->type == RTN_UNICAST ? route->oif : 0,
                                     .gateway = route->gateway,
                                     .since = since };
    unsigned i = 0;

    if (!can_be_late(route))
        return true;
    while (i < routes->count && !is_same(&routes->items[i], &item))
        i++;
    if (i == LATE_ROUTES_LIMIT)
        return false;
    routes->items[i] = item;
    if (i == routes->count)
        routes->count++;
    return true;
}

static bool concerns(const struct late_route *item, const struct late_answer *answer)
{
    return answer->destination.family == AF_UNSPEC ||
           address_in_prefix(&answer->destination, &item->prefix.address, item->prefix.length);
}

static bool names(const struct late_route *item, const struct late_answer *answer)
{
    return answer->length >= (int)item->prefix.length ||
           (answer->index != 0 && answer->index == item->oif && address_equal(&answer->gateway, &item->gateway));
}

void late_routes_compare(struct late_routes *routes, const struct late_answer *answer)
{
    for (unsigned i = 0; i < routes->count; i++)
        if (concerns(&routes->items[i], answer) && !names(&routes->items[i], answer))
            routes->items[i].is_missed = true;
}

void late_routes_mark(struct late_routes *routes, struct store *store, uint64_t first)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < routes->count; i++) {
        const struct late_route *item = &routes->items[i];
        const struct route route = { .family = AF_INET6,
                                     .prefix_length = item->prefix.length,
                                     .type = RTN_UNICAST,
                                     .table = item->table,
                                     .destination = item->prefix.address };

        if (item->since >= first)
            routes->items[kept++] = *item;
        else if (item->is_missed)
            (void)stale_mark_route(store, &route);
    }
    routes->count = kept;
}
#endif
