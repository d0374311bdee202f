/* SPDX-License-Identifier: MIT */
/*
 * When IPv6 routes end.
 *
 * What this file must never do: lose an end because of a route that has the same prefix.
 */
#ifdef __linux__
#include "watch/route_ends.h"

#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/dumps.h"

#define DATAGRAM_LIMIT 8

struct route_end {
    struct hash_node hash;
    struct heap_node end;
    struct list node;
    struct lifetime route;
    uint32_t metric;
    uint8_t type;
    bool has_source;  /* one or several, for packets from prefixes: the first end counts */
    uint64_t reading; /* the last one that has found it */
};

void route_ends_init(struct route_ends *ends)
{
    *ends = (struct route_ends){ 0 };
    list_init(&ends->all);
}

static void remove_end(struct route_ends *ends, struct route_end *end)
{
    hash_tree_remove(&ends->tree, &end->hash);
    heap_set(&ends->heap, &end->end, NEVER);
    list_remove(&end->node);
    free(end);
}

void route_ends_clear(struct route_ends *ends)
{
    while (!list_is_empty(&ends->all))
        remove_end(ends, container_of(ends->all.next, struct route_end, node));
    ends->known = false;
}

/* ---- Routes ----------------------------------------------------------------------------------------------------- */

static struct route_end make_key(const struct route *route)
{
    struct route_end key = { .metric = route->metric, .type = route->type, .has_source = route->source_length > 0 };

    (void)route_lifetime(route, &key.route);
    key.route.expires = 0;
    return key;
}

static uint64_t hash_key(const struct route_end *key)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = (key->route.table + key->metric + UINT64_C(1)) * factor;

    for (size_t i = 0; i < address_length(&key->route.prefix.address); i++)
        hash = (hash + key->route.prefix.address.bytes[i]) * factor;
    return hash + key->route.oif + key->route.prefix.length;
}

static bool has_key(const struct hash_node *node, const void *info)
{
    const struct route_end *end = container_of(node, const struct route_end, hash), *key = info;

    return end->metric == key->metric && end->type == key->type && end->has_source == key->has_source &&
           lifetime_compare(&end->route, &key->route) == 0;
}

static struct route_end *find(const struct route_ends *ends, const struct route_end *key)
{
    struct hash_node *node = hash_tree_find(ends->tree, hash_key(key), has_key, key);

    return node == NULL ? NULL : container_of(node, struct route_end, hash);
}

static struct route_end *add(struct route_ends *ends, const struct route_end *key)
{
    struct route_end *end = ends->heap.count < ROUTE_ENDS_LIMIT ? malloc(sizeof *end) : NULL;

    if (end == NULL)
        return NULL;
    *end = *key;
    heap_node_init(&end->end);
    list_init(&end->node);
    list_append(&ends->all, &end->node);
    end->hash.hash = hash_key(key);
    hash_tree_add(&ends->tree, &end->hash);
    return end;
}

/* The kernel rounds down twice. */
static int64_t end_of(const struct route *route)
{
    const int64_t tick = SECOND / sysconf(_SC_CLK_TCK);

    return clock_now() + (route->expired ? 0 : (route->expires + 2) * tick);
}

/* In its last tick, a route seems to have no end: then the one that was known is right. */
static void note_end(struct route_ends *ends, const struct route *route)
{
    const struct route_end key = make_key(route);
    struct route_end *end = find(ends, &key);
    int64_t time = end_of(route);

    if (end == NULL)
        end = add(ends, &key);
    if (end == NULL)
        return;
    if (end->has_source)
        time = clock_earlier(time, end->end.deadline);
    end->reading = ends->reading;
    heap_set(&ends->heap, &end->end, time);
}

void route_ends_note(struct route_ends *ends, const struct route *route)
{
    struct route_end key;
    struct route_end *end;

    if (route->family != AF_INET6 || !ends->known)
        return;
    if (!route->gone && route->expires != 0) {
        note_end(ends, route);
        return;
    }
    key = make_key(route);
    end = find(ends, &key);
    if (end != NULL && !end->has_source)
        remove_end(ends, end);
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

static bool visit(void *info, const struct route *route)
{
    if (route->expires != 0 || route->expired)
        note_end(info, route);
    return true;
}

static void read_routes(struct route_ends *ends, struct rtnetlink *rtnetlink)
{
    const struct first_routes what = { .family = AF_INET6, .table = RT_TABLE_UNSPEC, .datagrams = DATAGRAM_LIMIT };
    enum first_routes_end end;
    int error;

    ends->reading++;
    error = first_routes_read(rtnetlink, &what, visit, ends, &end);
    ends->known = error == 0 ? end != FIRST_ROUTES_CHANGED : netlink_is_withheld(error);
}

void route_ends_require(struct route_ends *ends, struct rtnetlink *rtnetlink)
{
    struct rules rules;

    (void)rules_read(rtnetlink, AF_INET6, &rules);
    if (rules.is_standard)
        route_ends_clear(ends);
    else if (!ends->known)
        read_routes(ends, rtnetlink);
}

void route_ends_reread(struct route_ends *ends, struct rtnetlink *rtnetlink)
{
    if (!route_ends_can_shorten(ends))
        return;
    read_routes(ends, rtnetlink);
    if (!ends->known)
        return;
    list_for_each(node, &ends->all) {
        struct route_end *end = container_of(node, struct route_end, node);

        if (end->reading != ends->reading)
            heap_set(&ends->heap, &end->end, clock_now());
    }
}

/* ---- Ends ------------------------------------------------------------------------------------------------------- */

int64_t route_ends_nearest(const struct route_ends *ends)
{
    return heap_nearest(&ends->heap);
}

bool route_ends_take(struct route_ends *ends, int64_t now, struct route *ret)
{
    struct route_end *end;

    if (heap_nearest(&ends->heap) > now)
        return false;
    end = container_of(heap_first(&ends->heap), struct route_end, end);
    *ret = (struct route){ .family = AF_INET6,
                           .prefix_length = end->route.prefix.length,
                           .destination = end->route.prefix.address,
                           .table = end->route.table };
    if (end->has_source)
        ends->known = false; /* others may be left: they are read again */
    remove_end(ends, end);
    return true;
}

bool route_ends_can_shorten(const struct route_ends *ends)
{
    return !list_is_empty(&ends->all);
}
#endif
