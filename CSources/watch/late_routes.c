/* SPDX-License-Identifier: MIT */
/*
 * New IPv6 routes that a query may not find yet.
 *
 * What this file must never do: forget a message that was read a moment ago.
 */
#ifdef __linux__
#include "watch/late_routes.h"

#include "base/clock.h"

#define LONG_ENOUGH (4 * MILLISECOND) /* less than RECHECK_AFTER in plan.c */

/* A default route for all packets is found at once, and so is a route that replaces another one. */
static bool can_be_late(const struct route *route)
{
    return route->family == AF_INET6 && (route->prefix_length > 0 || route->source_length > 0) && !route->gone &&
           !route->replaces;
}

static bool is_same(const struct late_route *a, const struct late_route *b)
{
    return a->table == b->table && a->prefix.length == b->prefix.length && a->has_source == b->has_source &&
           address_equal(&a->prefix.address, &b->prefix.address);
}

bool late_routes_note(struct late_routes *routes, const struct route *route, int64_t now)
{
    const struct late_route item = {
        .prefix = route_prefix(route), .table = route->table, .has_source = route->source_length > 0, .read = now
    };
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

static bool concerns(const struct late_route *item, const struct address *destination)
{
    return destination->family == AF_UNSPEC ||
           address_in_prefix(destination, &item->prefix.address, item->prefix.length);
}

void late_routes_compare(struct late_routes *routes, const struct address *destination, int length)
{
    for (unsigned i = 0; i < routes->count; i++) {
        struct late_route *item = &routes->items[i];

        if (concerns(item, destination) && (item->has_source || length < item->prefix.length))
            item->is_missed = true;
    }
}

void late_routes_mark(struct late_routes *routes, struct store *store, int64_t now)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < routes->count; i++) {
        const struct late_route *item = &routes->items[i];
        const struct route route = { .family = AF_INET6,
                                     .prefix_length = item->prefix.length,
                                     .table = item->table,
                                     .destination = item->prefix.address };

        if (now < item->read + LONG_ENOUGH)
            routes->items[kept++] = *item;
        else if (item->is_missed)
            (void)stale_mark_route(store, &route);
    }
    routes->count = kept;
}
#endif
