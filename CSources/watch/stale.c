/* SPDX-License-Identifier: MIT */
/*
 * What a change makes stale. store.c has the algorithm.
 *
 * What this file must never do: walk over all watches, or over all entries, unless all are stale.
 */
#ifdef __linux__
#include "watch/store.h"

#include <linux/rtnetlink.h>

/* ---- Routes ----------------------------------------------------------------------------------------------------- */

struct visit {
    struct store *store;
    struct address_prefix prefix;
    bool is_alike;        /* the message means the same for all members of an entry */
    struct entry *target; /* the entry of the prefix, for the last group */
    struct list found;    /* of entries, or of watches */
    size_t count;
    bool default_path; /* the message affects the default path */
};

static void mark(struct visit *visit, struct entry *entry)
{
    entry_mark(visit->store, entry);
    visit->count++;
}

static void visit_key(void *info, struct address_entry *address)
{
    struct visit *visit = info;
    struct entry *entry = container_of(address, struct entry_key, address)->entry;

    if (entry == NULL)
        visit->default_path = true;
    else
        mark(visit, entry);
}

static void visit_list(struct visit *visit, const struct list *list)
{
    list_for_each(node, list)
        mark(visit, container_of(node, struct entry, keys.node));
}

static void visit_route(void *info, struct address_entry *first)
{
    struct visit *visit = info;
    struct entry *entry = container_of(first, struct entry_key, address)->entry;

    if (entry->length < visit->prefix.length)
        return;
    list_remove(&entry->node);
    list_append(&visit->found, &entry->node);
    visit->count++;
}

/* Whether there is an entry of a prefix of which this one is a part. */
static bool is_in_larger_entry(const struct store *store, const struct address_prefix *prefix)
{
    for (uint8_t length = 0; length < prefix->length; length++) {
        const struct address_prefix larger = { address_truncate(&prefix->address, length), length };

        if (entry_exists(store, &larger))
            return true;
    }
    return false;
}

/* Returns the entry of the message's route, for members of a group that move. NULL: they must wait for their own. */
static struct entry *find_target(struct visit *visit, const struct question_group *group)
{
    struct store *store = visit->store;
    struct entry *entry = visit->target;

    if (!visit->is_alike)
        return NULL;
    if (entry != NULL && question_group_equal(&entry->route->group, group))
        return entry;
    entry = entry_find(store, group, &visit->prefix);
    if (entry == NULL)
        entry = entry_create(store);
    if (entry != NULL && entry->length == ENTRY_OWN && !entry_set_route(store, entry, group, &visit->prefix)) {
        list_remove(&entry->node);
        entry_unref(entry);
        entry = NULL;
    }
    visit->target = entry;
    return entry;
}

static void visit_member(void *info, struct address_entry *address)
{
    struct visit *visit = info;
    struct path_watch *watch = container_of(address, struct path_watch, key.address);
    struct entry *target;

    if (entry_of(watch)->length >= visit->prefix.length)
        return;
    target = find_target(visit, &entry_of(watch)->route->group);
    entry_leave(visit->store, watch);
    entry_join(visit->store, watch, target != NULL ? target : &visit->store->unfiled);
    visit->count++;
}

static void visit_routes_of(struct visit *visit)
{
    struct list *node;

    address_tree_visit(&visit->store->routes, &visit->prefix, visit_route, visit);
    while ((node = list_pop(&visit->found)) != NULL) {
        struct entry *entry = container_of(node, struct entry, node);

        if (visit->is_alike)
            entry_mark(visit->store, entry);
        else
            entry_merge(visit->store, entry, &visit->store->unfiled);
    }
}

/* The kernel takes a message's prefix as it is. */
static bool is_prefix(const struct address_prefix *prefix)
{
    return prefix->length <= 8 * address_length(&prefix->address);
}

bool stale_mark_route(struct store *store, const struct route *route)
{
    struct visit visit = { .store = store, .prefix = route_prefix(route), .is_alike = route->table == RT_TABLE_MAIN };

    list_init(&visit.found);
    address_tree_visit(&store->addresses, &visit.prefix, visit_key, &visit);
    visit_list(&visit, &store->any_route);
    if (visit.default_path)
        visit_list(&visit, &store->default_path);
    visit_routes_of(&visit);
    if (is_prefix(&visit.prefix) && is_in_larger_entry(store, &visit.prefix))
        address_tree_visit(&store->members, &visit.prefix, visit_member, &visit);
    return visit.count > 0;
}

static void dissolve_family(struct store *store, uint8_t family)
{
    struct visit visit = { .store = store, .prefix = { .address = { .family = family } } };

    list_init(&visit.found);
    visit_routes_of(&visit);
}

void stale_dissolve(struct store *store, uint8_t family)
{
    if (family != AF_INET6)
        dissolve_family(store, AF_INET);
    if (family != AF_INET)
        dissolve_family(store, AF_INET6);
}

/* ---- Neighbours ------------------------------------------------------------------------------------------------- */

/* Whether the neighbour is on the link, and all know it. */
static bool is_direct(const struct entry *entry)
{
    return entry->length != ENTRY_OWN && entry_is_valid(entry) && entry->route->path.gateway.family == AF_UNSPEC;
}

/* A neighbour on the link responds all the time: it makes only answers with a gateway stale. */
static void visit_redirected(void *info, struct address_entry *address)
{
    struct visit *visit = info;
    struct entry *entry = container_of(address, struct entry_key, address)->entry;

    if (entry != NULL && (entry->gateway != 0 || !entry_is_valid(entry)))
        mark(visit, entry);
}

/* The watch leaves those that have the path of the route. Only a query for itself shows whether it comes back. */
static void visit_neighbour(void *info, struct address_entry *address)
{
    struct visit *visit = info;
    struct path_watch *watch = container_of(address, struct path_watch, key.address);
    struct entry *entry = entry_of(watch);

    if (entry->length == ENTRY_OWN || is_direct(entry))
        return;
    entry_leave(visit->store, watch);
    list_append(&visit->found, &watch->node);
    visit->count++;
}

bool stale_mark_neighbour(struct store *store, const struct address *address)
{
    struct visit visit = { .store = store, .prefix = { *address, (uint8_t)(8 * address_length(address)) } };
    struct list *node;

    list_init(&visit.found);
    address_tree_visit(&store->addresses, &visit.prefix, visit_redirected, &visit);
    address_tree_visit(&store->members, &visit.prefix, visit_neighbour, &visit);
    while ((node = list_pop(&visit.found)) != NULL) { /* the address moves to another tree */
        struct path_watch *watch = container_of(node, struct path_watch, node);

        if (entry_move_to_own(store, watch))
            watch->key.entry->is_exception = true;
        else
            entry_join(store, watch, &store->unfiled);
    }
    return visit.count > 0;
}

bool stale_mark_hop(struct store *store, const struct message_neighbour *neighbour)
{
    const struct hop *hop = hops_note(&store->hops, neighbour);

    if (hop == NULL)
        return false;
    list_for_each(node, &hop->users)
        entry_mark(store, container_of(node, struct hop_use, node)->entry);
    return true;
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

static bool mark_bucket(struct store *store, struct bucket *bucket)
{
    if (bucket == NULL || bucket->count == 0)
        return false;
    bucket_mark(&store->buckets, bucket, store->now);
    return true;
}

bool stale_mark_link(struct store *store, uint32_t link)
{
    bool affects;

    store->now++;
    affects = mark_bucket(store, bucket_find_link(&store->buckets, link));
    list_for_each(node, &store->buckets.any)
        affects = mark_bucket(store, container_of(node, struct bucket, any)) || affects;
    list_for_each(node, &store->buckets.ipv6) {
        struct bucket *bucket = container_of(node, struct bucket, any);

        if (bucket->link == link)
            affects = mark_bucket(store, bucket) || affects;
    }
    return affects;
}

bool stale_mark_ipv6(struct store *store)
{
    bool affects = false;

    store->now++;
    list_for_each(node, &store->buckets.any)
        affects = mark_bucket(store, container_of(node, struct bucket, any)) || affects;
    list_for_each(node, &store->buckets.ipv6)
        affects = mark_bucket(store, container_of(node, struct bucket, any)) || affects;
    return affects;
}

/* The last entry of the bucket, if its query was sent at `since` or later. */
static struct entry *last_since(const struct bucket *bucket, uint64_t since)
{
    struct entry *last = container_of(bucket->entries.previous, struct entry, node);

    return !list_is_empty(&bucket->entries) && last->stamp >= since ? last : NULL;
}

static bool mark_since(struct store *store, const struct bucket *bucket, uint64_t since)
{
    struct entry *entry;
    bool affects = false;

    while ((entry = last_since(bucket, since)) != NULL) {
        entry_mark(store, entry);
        affects = true;
    }
    return affects;
}

bool stale_mark_ipv6_since(struct store *store, uint64_t since)
{
    bool affects = false;

    list_for_each(node, &store->buckets.any)
        affects = mark_since(store, container_of(node, struct bucket, any), since) || affects;
    list_for_each(node, &store->buckets.ipv6)
        affects = mark_since(store, container_of(node, struct bucket, any), since) || affects;
    return affects;
}

void stale_mark_all(struct store *store)
{
    store->now++;
    list_for_each(node, &store->buckets.all)
        (void)mark_bucket(store, container_of(node, struct bucket, all));
}

void stale_mark_any_link(struct store *store)
{
    store->now++;
    list_for_each(node, &store->buckets.any)
        (void)mark_bucket(store, container_of(node, struct bucket, any));
}

bool stale_has_since(const struct store *store, uint64_t since)
{
    list_for_each(node, &store->buckets.all)
        if (last_since(container_of(node, struct bucket, all), since) != NULL)
            return true;
    return false;
}

void stale_mark_since(struct store *store, uint64_t since)
{
    list_for_each(node, &store->buckets.all)
        (void)mark_since(store, container_of(node, struct bucket, all), since);
}
#endif
