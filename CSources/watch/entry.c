/* SPDX-License-Identifier: MIT */
/*
 * Entries: what they depend on, their buckets and their members.
 *
 * What this file must never do: walk over the members of an entry.
 */
#ifdef __linux__
#include "watch/entry.h"

#include <stdlib.h>

#include "base/clock.h"

void entry_init(struct entry *entry)
{
    *entry = (struct entry){ .length = ENTRY_OWN, .refs = 1 };
    list_init(&entry->keys.node);
    list_init(&entry->members);
    entry->waiting = &entry->members;
    list_init(&entry->giving);
    list_init(&entry->node);
    heap_node_init(&entry->timer);
}

struct entry *entry_create(struct store *store)
{
    struct entry *entry = malloc(sizeof *entry);

    if (entry == NULL)
        return NULL;
    entry_init(entry);
    list_append(&store->due, &entry->node);
    return entry;
}

void entry_unref(struct entry *entry)
{
    while (entry != NULL && --entry->refs == 0) {
        struct entry *into = entry->into;

        free(entry->route);
        free(entry);
        entry = into;
    }
}

/* ---- Keys ------------------------------------------------------------------------------------------------------- */

static void add_key(struct store *store, struct entry_key *key, struct entry *entry, const struct address *address)
{
    key->entry = entry;
    key->address.address = *address;
    address_tree_add(&store->addresses, &key->address);
    store->edits++;
    store->additions++;
}

static void remove_key(struct store *store, struct entry_key *key)
{
    address_tree_remove(&store->addresses, &key->address);
    store->edits++;
}

static void remove_from_list(struct store *store, struct entry_keys *keys)
{
    const bool had_default_path = !list_is_empty(&store->default_path);

    store->edits += !list_is_empty(&keys->node);
    list_remove(&keys->node);
    if (had_default_path && list_is_empty(&store->default_path))
        for (size_t i = 0; i < DEFAULT_PATH_SAMPLES; i++)
            remove_key(store, &store->samples[i]);
}

static void add_to_any_route(struct store *store, struct entry_keys *keys)
{
    list_append(&store->any_route, &keys->node);
    store->edits++;
    store->additions++;
}

static void add_to_default_path(struct store *store, struct entry_keys *keys)
{
    if (list_is_empty(&store->default_path))
        for (size_t i = 0; i < DEFAULT_PATH_SAMPLES; i++)
            add_key(store, &store->samples[i], NULL, default_path_sample(i));
    list_append(&store->default_path, &keys->node);
}

/* The address of an own entry's member is either in the tree of keys or in that of members. */
static void take_member_key(struct store *store, struct entry *entry, struct path_watch *watch)
{
    entry->keys.has_member = true;
    if (watch->can_share) /* the filter passes the address already */
        address_tree_remove(&store->members, &watch->key.address);
    else
        store->edits++, store->additions++;
    address_tree_add(&store->addresses, &watch->key.address);
}

static void return_member_key(struct store *store, struct entry *entry)
{
    struct path_watch *watch = entry->queried;

    entry->keys.has_member = false;
    address_tree_remove(&store->addresses, &watch->key.address);
    if (watch->can_share)
        address_tree_add(&store->members, &watch->key.address);
    else
        store->edits++;
}

static void remove_keys(struct store *store, struct entry *entry)
{
    struct entry_keys *keys = &entry->keys;

    if (keys->has_member)
        return_member_key(store, entry);
    for (uint32_t i = 0; i < keys->count; i++)
        remove_key(store, &keys->items[i]);
    remove_from_list(store, keys);
    free(keys->items);
    keys->items = NULL;
    keys->count = 0;
    keys->has_outer = false;
}

static void add_address(struct store *store, struct entry *entry, const struct address *address)
{
    if (address->family != AF_UNSPEC)
        add_key(store, &entry->keys.items[entry->keys.count++], entry, address);
}

static size_t count_addresses(const struct questions *questions, const struct address *outer)
{
    size_t count = outer->family != AF_UNSPEC;

    for (size_t i = 0; questions != NULL && i < questions->count; i++)
        count += (size_t)(questions->items[i].destination.family != AF_UNSPEC) +
                 (questions->items[i].local.family != AF_UNSPEC);
    return count;
}

static bool has_default_path(const struct questions *questions)
{
    for (size_t i = 0; questions != NULL && i < questions->count; i++)
        if (questions->items[i].destination.family == AF_UNSPEC)
            return true;
    return false;
}

/* `watch`: the only member of an own entry; NULL: it is a route's. If there is no memory, it depends on any route. */
static void set_keys(struct store *store, struct entry *entry, struct path_watch *watch, struct address outer)
{
    struct entry_keys *keys = &entry->keys;
    const bool plain = watch != NULL && watch->plain;
    const struct questions *questions = watch != NULL && !plain ? watch->questions : NULL;
    const struct address local = watch == NULL ? entry->route->group.local : (struct address){ 0 };
    const size_t count = count_addresses(questions, &outer) + (local.family != AF_UNSPEC);

    remove_keys(store, entry);
    if (plain)
        take_member_key(store, entry, watch);
    if (count > 0)
        keys->items = calloc(count, sizeof *keys->items);
    for (size_t i = 0; keys->items != NULL && questions != NULL && i < questions->count; i++) {
        add_address(store, entry, &questions->items[i].local);
        add_address(store, entry, &questions->items[i].destination);
    }
    if (keys->items != NULL)
        add_address(store, entry, &local);
    keys->has_outer = keys->items != NULL && outer.family != AF_UNSPEC;
    if (keys->has_outer)
        add_address(store, entry, &outer);
    if (keys->any_route || keys->count < count)
        add_to_any_route(store, keys);
    else if (has_default_path(questions))
        add_to_default_path(store, keys);
}

struct address entry_outer(const struct entry *entry)
{
    const struct entry_keys *keys = &entry->keys;

    return keys->has_outer ? keys->items[keys->count - 1].address.address : (struct address){ 0 };
}

void entry_set_questions(struct store *store, struct entry *entry, struct path_watch *watch)
{
    set_keys(store, entry, watch, entry_outer(entry));
}

void entry_set_dependencies(struct store *store, struct entry *entry, const struct dependencies *dependencies)
{
    struct entry_keys *keys = &entry->keys;
    const struct address outer = entry_outer(entry);

    store->pppd += (size_t)dependencies->pppd - entry->pppd;
    entry->pppd = dependencies->pppd;
    if (address_equal(&outer, &dependencies->outer) && keys->any_route == dependencies->any_route)
        return;
    keys->any_route = dependencies->any_route;
    set_keys(store, entry, entry->length == ENTRY_OWN ? entry->queried : NULL, dependencies->outer);
}

void entry_set_gateway(struct store *store, struct entry *entry, unsigned place)
{
    if (entry->gateway != 0)
        store->gateway_users[entry->gateway - 1]--;
    entry->gateway = place == GATEWAYS_NOWHERE ? 0 : (uint16_t)(place + 1);
    if (entry->gateway != 0)
        store->gateway_users[entry->gateway - 1]++;
}

/* ---- Routes ----------------------------------------------------------------------------------------------------- */

static size_t *length_count(struct store *store, const struct entry *entry)
{
    return &store->lengths[entry->route->first.address.address.family == AF_INET6][entry->length];
}

struct search {
    uint8_t length;
    const struct question_group *group; /* NULL: any */
    struct entry *found;
    size_t count; /* of entries with the prefix, for any group */
};

static bool is_in_group(const struct entry *entry, const struct question_group *group)
{
    return group == NULL || question_group_equal(&entry->route->group, group);
}

static void compare_length(void *info, struct address_entry *first)
{
    struct search *search = info;
    struct entry *entry = container_of(first, struct entry_key, address)->entry;

    if (entry->length != search->length)
        return;
    search->count++;
    if (is_in_group(entry, search->group))
        search->found = entry;
}

static struct search find(const struct store *store, const struct question_group *group,
                          const struct address_prefix *prefix)
{
    struct search search = { .length = prefix->length, .group = group };
    const struct address_prefix first = { prefix->address, (uint8_t)(8 * address_length(&prefix->address)) };

    if (store->lengths[prefix->address.family == AF_INET6][prefix->length] > 0)
        address_tree_visit(&store->routes, &first, compare_length, &search);
    return search;
}

struct entry *entry_find(const struct store *store, const struct question_group *group,
                         const struct address_prefix *prefix)
{
    return find(store, group, prefix).found;
}

/* A search visits the entries of all groups, so there may not be one for each of many local addresses. Plain watches
 * are one group, which always has room. */
static bool has_room(const struct store *store, const struct question_group *group, const struct address_prefix *prefix)
{
    return group->local.family == AF_UNSPEC || find(store, group, prefix).count < ENTRY_GROUPS;
}

bool entry_exists(const struct store *store, const struct address_prefix *prefix)
{
    return entry_find(store, NULL, prefix) != NULL;
}

static void remove_route(struct store *store, struct entry *entry)
{
    if (entry->length == ENTRY_OWN)
        return;
    --*length_count(store, entry);
    address_tree_remove(&store->routes, &entry->route->first.address);
    entry->length = ENTRY_OWN;
}

bool entry_set_route(struct store *store, struct entry *entry, const struct question_group *group,
                     const struct address_prefix *prefix)
{
    if (entry->length == ENTRY_OWN && !has_room(store, group, prefix))
        return false;
    if (entry->route == NULL)
        entry->route = calloc(1, sizeof *entry->route);
    if (entry->route == NULL)
        return false;
    remove_route(store, entry);
    entry->route->group = *group;
    set_keys(store, entry, NULL, entry_outer(entry));
    entry->length = prefix->length;
    entry->route->first.entry = entry;
    entry->route->first.address.address = prefix->address;
    address_tree_add(&store->routes, &entry->route->first.address);
    ++*length_count(store, entry);
    return true;
}

/* ---- States ----------------------------------------------------------------------------------------------------- */

bool entry_is_valid(const struct entry *entry)
{
    return entry->bucket != NULL && entry->stamp >= entry->needed && entry->stamp >= entry->bucket->needed;
}

void entry_mark(struct store *store, struct entry *entry)
{
    entry->needed = ++store->now;
    if (entry == store->current)
        return; /* it will be due when the step ends */
    list_remove(&entry->node);
    list_append(&store->due, &entry->node);
}

void entry_announce(struct store *store, struct entry *entry)
{
    if (entry_is_valid(entry) && list_is_empty(&entry->giving))
        list_append(&store->giving, &entry->giving);
}

/* If the probe of a lifetime leaves, the answers of the others may be wrong, too. */
static void leave_bucket(struct store *store, struct entry *entry)
{
    struct bucket *bucket = entry->bucket;

    list_remove(&entry->node);
    entry->bucket = NULL;
    if (bucket == NULL)
        return;
    if (bucket->probe == entry) {
        bucket->probe = NULL;
        bucket_mark(&store->buckets, bucket, ++store->now);
    }
    if (--bucket->count == 0)
        bucket_delete(&store->buckets, bucket);
}

void entry_file(struct store *store, struct entry *entry, struct bucket *bucket)
{
    if (entry->bucket == bucket) {
        list_remove(&entry->node);
        bucket->probe = bucket->probe == entry ? NULL : bucket->probe;
    } else {
        bucket->count++;
        leave_bucket(store, entry);
        entry->bucket = bucket;
    }
    entry->stamp = store->sent; /* the highest: the list stays in order */
    list_append(&bucket->entries, &entry->node);
}

static void end_entry(struct store *store, struct entry *entry)
{
    entry->ended = true;
    store->pppd -= entry->pppd;
    entry_set_gateway(store, entry, GATEWAYS_NOWHERE);
    hops_release(&store->hops, &entry->hop);
    remove_keys(store, entry);
    remove_route(store, entry);
    leave_bucket(store, entry);
    list_remove(&entry->giving);
    heap_set(&store->timers, &entry->timer, NEVER);
    entry_unref(entry);
}

void entry_merge(struct store *store, struct entry *entry, struct entry *into)
{
    if (!entry_has_waiting(into))
        into->waiting = entry->members.next;
    list_append_all(&into->members, &entry->members);
    entry_announce(store, into);
    entry->into = into;
    into->refs++;
    end_entry(store, entry);
}

/* ---- Members ---------------------------------------------------------------------------------------------------- */

bool entry_has_others(const struct entry *entry)
{
    return entry->members.next != entry->members.previous;
}

bool entry_has_waiting(const struct entry *entry)
{
    return entry->waiting != &entry->members;
}

static void remove_member(struct entry *entry, struct path_watch *watch)
{
    if (entry->waiting == &watch->node)
        entry->waiting = watch->node.next;
    list_remove(&watch->node);
}

static void add_pending(struct entry *entry, struct path_watch *watch)
{
    list_append(&entry->members, &watch->node);
    if (!entry_has_waiting(entry))
        entry->waiting = &watch->node;
}

void entry_set_given(struct entry *entry, struct path_watch *watch)
{
    if (entry->waiting == &watch->node) {
        entry->waiting = watch->node.next;
        return;
    }
    list_remove(&watch->node);
    list_append(entry->waiting, &watch->node);
}

void entry_set_pending(struct entry *entry, struct path_watch *watch)
{
    remove_member(entry, watch);
    add_pending(entry, watch);
}

struct entry *entry_of(struct path_watch *watch)
{
    while (watch->key.entry->into != NULL) {
        struct entry *before = watch->key.entry;

        watch->key.entry = before->into;
        watch->key.entry->refs++;
        entry_unref(before);
    }
    return watch->key.entry;
}

void entry_join(struct store *store, struct path_watch *watch, struct entry *entry)
{
    entry->refs++;
    watch->key.entry = entry;
    add_pending(entry, watch);
    entry_announce(store, entry);
}

void entry_leave(struct store *store, struct path_watch *watch)
{
    struct entry *entry = entry_of(watch);

    remove_member(entry, watch);
    watch->key.entry = NULL;
    if (entry != &store->unfiled && list_is_empty(&entry->members)) {
        end_entry(store, entry);
    } else if (entry->queried == watch) {
        entry->queried = NULL;
        entry_mark(store, entry);
    }
    entry_unref(entry);
}

bool entry_move_to_own(struct store *store, struct path_watch *watch)
{
    struct entry *own = entry_create(store);

    if (own == NULL)
        return false;
    if (watch->key.entry != NULL)
        entry_leave(store, watch);
    entry_join(store, watch, own);
    own->queried = watch;
    entry_set_questions(store, own, watch);
    return true;
}
#endif
