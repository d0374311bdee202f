/* SPDX-License-Identifier: MIT */
/*
 * The index of a monitor's answers by the addresses on which their paths depend.
 *
 * What this file must never do: miss a dependency. An answer would not be evaluated again when its route changes.
 */
#include "route/route_index.h"

#include <stdlib.h>

void route_index_init(struct route_index *index)
{
    *index = (struct route_index){ 0 };
    list_init(&index->default_path);
    list_init(&index->any_route);
}

void route_index_member_init(struct route_index_member *member)
{
    *member = (struct route_index_member){ 0 };
    list_init(&member->default_path);
    list_init(&member->any_route);
}

/* ---- Keys ------------------------------------------------------------------------------------------------------- */

static void add_key(struct route_index *index, struct route_index_key *key, struct route_index_member *member,
                    const struct address *address)
{
    key->member = member;
    key->entry.address = *address;
    address_tree_add(&index->addresses, &key->entry);
    index->changes++;
    index->additions++;
}

static void remove_keys(struct route_index *index, struct route_index_key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        address_tree_remove(&index->addresses, &keys[i].entry);
    index->changes += count;
}

static bool address_exists(const struct address *address)
{
    return address->family != AF_UNSPEC;
}

static size_t count_keys(const struct questions *questions, const struct address *outer)
{
    size_t count = address_exists(outer);

    for (size_t i = 0; questions != NULL && i < questions->count; i++)
        count += (size_t)address_exists(&questions->items[i].destination) + address_exists(&questions->items[i].local);
    return count;
}

static void add_address(struct route_index *index, struct route_index_member *member, const struct address *address)
{
    if (address_exists(address))
        add_key(index, &member->keys[member->count++], member, address);
}

/* False: no memory. */
static bool add_addresses(struct route_index *index, struct route_index_member *member,
                          const struct questions *questions, const struct address *outer)
{
    const size_t count = count_keys(questions, outer);

    member->keys = count <= 1 ? &member->only : calloc(count, sizeof *member->keys);
    if (member->keys == NULL)
        return false;
    for (size_t i = 0; questions != NULL && i < questions->count; i++) {
        add_address(index, member, &questions->items[i].destination);
        add_address(index, member, &questions->items[i].local);
    }
    add_address(index, member, outer);
    return true;
}

/* ---- Members ---------------------------------------------------------------------------------------------------- */

static bool has_default_path(const struct questions *questions)
{
    for (size_t i = 0; questions != NULL && i < questions->count; i++)
        if (!address_exists(&questions->items[i].destination))
            return true;
    return false;
}

static void add_to_default_path(struct route_index *index, struct route_index_member *member)
{
    if (list_is_empty(&index->default_path))
        for (size_t i = 0; i < DEFAULT_PATH_SAMPLES; i++)
            add_key(index, &index->samples[i], NULL, default_path_sample(i));
    list_append(&index->default_path, &member->default_path);
}

static void add_to_any_route(struct route_index *index, struct route_index_member *member)
{
    list_append(&index->any_route, &member->any_route);
    index->changes++;
    index->additions++;
}

static void remove_from_lists(struct route_index *index, struct route_index_member *member)
{
    const bool had_default_path = !list_is_empty(&member->default_path);

    if (!list_is_empty(&member->any_route))
        index->changes++;
    list_remove(&member->any_route);
    list_remove(&member->default_path);
    if (had_default_path && list_is_empty(&index->default_path))
        remove_keys(index, index->samples, DEFAULT_PATH_SAMPLES);
}

void route_index_set(struct route_index *index, struct route_index_member *member, const struct questions *questions,
                     const struct address *outer, bool any_route)
{
    route_index_remove(index, member);
    if (has_default_path(questions))
        add_to_default_path(index, member);
    if (!add_addresses(index, member, questions, outer) || any_route)
        add_to_any_route(index, member);
}

void route_index_remove(struct route_index *index, struct route_index_member *member)
{
    remove_from_lists(index, member);
    remove_keys(index, member->keys, member->count);
    if (member->keys != &member->only)
        free(member->keys);
    member->keys = NULL;
    member->count = 0;
}

/* ---- Routes ----------------------------------------------------------------------------------------------------- */

struct route_visit {
    void (*call)(void *info, struct route_index_member *member);
    void  *info;
    size_t count;
    bool   default_path; /* the route affects the default path */
};

static void visit_member(struct route_visit *visit, struct route_index_member *member)
{
    visit->call(visit->info, member);
    visit->count++;
}

static void visit_key(void *info, struct address_entry *entry)
{
    struct route_visit           *visit = info;
    const struct route_index_key *key = container_of(entry, struct route_index_key, entry);

    if (key->member != NULL)
        visit_member(visit, key->member);
    else
        visit->default_path = true;
}

size_t route_index_visit(const struct route_index *index, const struct route                *route,
                         void (*visit)(void *info, struct route_index_member *member), void *info)
{
    const struct address_prefix prefix = route_prefix(route);
    struct route_visit          visits = { visit, info, 0, false };

    address_tree_visit(&index->addresses, &prefix, visit_key, &visits);
    if (visits.default_path)
        list_for_each(node, &index->default_path)
            visit_member(&visits, container_of(node, struct route_index_member, default_path));
    list_for_each(node, &index->any_route)
        visit_member(&visits, container_of(node, struct route_index_member, any_route));
    return visits.count;
}

bool route_index_cover(const struct route_index *index, const struct address_tree *others,
                       struct address_prefix ret[ADDRESS_TREE_PREFIXES], size_t *ret_count)
{
    if (!list_is_empty(&index->any_route))
        return false;
    *ret_count = address_tree_cover(&index->addresses, others, ret);
    return true;
}
