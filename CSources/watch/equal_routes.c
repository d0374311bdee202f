/* SPDX-License-Identifier: MIT */
/* The IPv4 default routes among which the kernel can choose. */
#ifdef __linux__
#include "watch/equal_routes.h"

#include <linux/rtnetlink.h>

#include "kernel/dumps.h"

static bool has_metric(const struct equal_route *item, const struct route *route)
{
    return item->table == route->table && item->metric == route->metric;
}

static void remove_item(struct equal_routes *routes, unsigned i)
{
    routes->items[i] = routes->items[--routes->count];
}

static void add_item(struct equal_routes *routes, const struct equal_route *added)
{
    for (unsigned i = 0; i < routes->count; i++) {
        struct equal_route *item = &routes->items[i];

        if (item->table == added->table && item->metric == added->metric && item->index == added->index &&
            address_equal(&item->gateway, &added->gateway)) {
            item->is_leg = item->is_leg || added->is_leg;
            return;
        }
    }
    if (routes->count < EQUAL_ROUTES_LIMIT)
        routes->items[routes->count++] = *added;
}

static void add_route(struct equal_routes *routes, const struct route *route)
{
    struct equal_route added = { .table = route->table, .metric = route->metric };
    struct route copy = *route;
    struct route_leg leg;

    if (route->has_gateway) {
        added.index = route->oif;
        added.gateway = route->gateway;
        add_item(routes, &added);
    }
    added.is_leg = true;
    while (route_next_leg(&copy, &leg)) {
        added.index = leg.oif;
        added.gateway = leg.gateway;
        if (leg.has_gateway)
            add_item(routes, &added);
    }
}

static bool is_default(const struct route *route)
{
    return route->family == AF_INET && route->prefix_length == 0 && route->type == RTN_UNICAST;
}

/* The dump has the routes in the order of their prefixes. */
static bool visit(void *info, const struct route *route)
{
    if (is_default(route))
        add_route(info, route);
    return route->destination.bytes[0] == 0;
}

void equal_routes_read(struct equal_routes *routes, struct rtnetlink *rtnetlink)
{
    const struct first_routes what = { .family = AF_INET, .table = RT_TABLE_MAIN, .datagrams = 1 };
    enum first_routes_end end;
    int error;

    if (routes->known || rtnetlink->netns == NULL)
        return;
    routes->count = 0;
    error = first_routes_read(rtnetlink, &what, visit, routes, &end);
    routes->known = error == 0 ? end != FIRST_ROUTES_CHANGED : netlink_is_withheld(error);
}

static bool is_of(const struct equal_route *item, const struct route *route)
{
    return !item->is_leg && route->has_gateway && item->index == route->oif &&
           address_equal(&item->gateway, &route->gateway);
}

/* `route` has gone, or replaced another one. Which of several is not sure: they are read again. A route that is not the
 * message's stays until then. */
static void forget(struct equal_routes *routes, const struct route *route)
{
    for (unsigned i = routes->count; i-- > 0;) {
        if (!has_metric(&routes->items[i], route))
            continue;
        if (is_of(&routes->items[i], route))
            remove_item(routes, i);
        else
            routes->known = false;
    }
}

void equal_routes_note(struct equal_routes *routes, const struct route *route)
{
    if (!is_default(route))
        return;
    if (route->gone || route->replaces)
        forget(routes, route);
    if (route->gone)
        return;
    if (routes->count == EQUAL_ROUTES_LIMIT)
        routes->known = false; /* some of them may be gone */
    add_route(routes, route);
}

/* Whether there is another route that is equal. The legs of one route are none. */
static bool has_equal(const struct equal_routes *routes, const struct equal_route *item)
{
    for (unsigned i = 0; i < routes->count; i++) {
        const struct equal_route *other = &routes->items[i];

        if (other != item && other->table == item->table && other->metric == item->metric &&
            !(other->is_leg && item->is_leg))
            return true;
    }
    return false;
}

static bool has_choice(const struct equal_routes *routes, const struct equal_route *item)
{
    return item->is_leg || has_equal(routes, item);
}

/* A gateway can be that of several routes, with several metrics. Which of them packets use is not known: the kernel
 * removes the routes of a link without a message. So an equal of any of them counts. */
bool equal_routes_are_possible(const struct equal_routes *routes, uint32_t index, const struct address *gateway)
{
    bool found = false;

    for (unsigned i = 0; routes->known && i < routes->count; i++) {
        const struct equal_route *item = &routes->items[i];

        if (item->table != RT_TABLE_MAIN || item->index != index || !address_equal(&item->gateway, gateway))
            continue;
        if (has_choice(routes, item))
            return true;
        found = true;
    }
    return !found;
}

void equal_routes_hold(const struct equal_routes *routes, struct gateways *gateways)
{
    for (unsigned i = 0; i < routes->count; i++)
        if (has_choice(routes, &routes->items[i]))
            gateways_hold(gateways, routes->items[i].index, &routes->items[i].gateway,
                          has_equal(routes, &routes->items[i]));
}
#endif
