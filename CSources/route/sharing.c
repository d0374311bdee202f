/* SPDX-License-Identifier: MIT */
/*
 * Shared answers, and the watches that have them.
 *
 * What this file must never do: leave a watch in an answer when a route to a longer prefix than the extent may lead to
 * the watch.
 */
#include "route/sharing.h"

#include <stdlib.h>

static unsigned long *length_count(struct sharing *sharing, const struct shared_answer *shared)
{
    return &sharing->lengths[shared->first.address.family == AF_INET6][shared->length];
}

/* ---- Answers ---------------------------------------------------------------------------------------------------- */

struct extent_search {
    const struct extent  *extent;
    struct shared_answer *found;
};

/* Whether all watches of the answer are about to leave it. */
static bool is_ending(const struct shared_answer *shared)
{
    return shared->mode == SHARE_LEAVE && list_is_empty(&shared->answer.stale);
}

static void compare_extent(void *info, struct address_entry *entry)
{
    struct extent_search *search = info;
    struct shared_answer *shared = container_of(entry, struct shared_answer, first);

    if (shared->length == search->extent->prefix.length && !is_ending(shared))
        search->found = shared;
}

struct shared_answer *sharing_find(const struct sharing *sharing, const struct extent *extent)
{
    struct extent_search  search = { .extent = extent };
    struct address_prefix first = extent->prefix;

    first.length = (uint8_t)(address_length(&first.address) * 8);
    address_tree_visit(&sharing->extents, &first, compare_extent, &search);
    return search.found;
}

struct shared_answer *sharing_create(struct sharing *sharing, const struct extent *extent)
{
    struct shared_answer *shared = calloc(1, sizeof *shared);

    if (shared == NULL)
        return NULL;
    shared->answer.is_shared = true;
    shared->first.address = extent->prefix.address;
    shared->length = extent->prefix.length;
    list_init(&shared->pending);
    list_init(&shared->applying);
    address_tree_add(&sharing->extents, &shared->first);
    ++*length_count(sharing, shared);
    return shared;
}

void sharing_delete(struct sharing *sharing, struct shared_answer *shared)
{
    --*length_count(sharing, shared);
    address_tree_remove(&sharing->extents, &shared->first);
    list_remove(&shared->applying);
    free(shared);
}

/* ---- Watches ---------------------------------------------------------------------------------------------------- */

void sharing_add(struct sharing *sharing, struct shared_answer *shared, struct path_watch *watch, bool pending)
{
    watch->answer = &shared->answer;
    address_tree_add(&sharing->watches, &watch->address);
    list_append(pending ? &shared->pending : &shared->answer.watches, &watch->node);
    shared->settled = shared->settled && pending;
    shared->count++;
    sharing->changes++;
}

void sharing_remove(struct sharing *sharing, struct path_watch *watch)
{
    struct shared_answer *shared = answer_shared(watch->answer);

    if (shared->leader == watch)
        shared->leader = NULL;
    address_tree_remove(&sharing->watches, &watch->address);
    list_remove(&watch->node);
    watch->answer = NULL;
    shared->count--;
    sharing->changes++;
}

/* ---- Routes ----------------------------------------------------------------------------------------------------- */

struct extent_visit {
    uint8_t length; /* the route's */
    void (*call)(void *info, struct answer *answer);
    void  *info;
    size_t count;
};

static void visit_extent(void *info, struct address_entry *entry)
{
    struct extent_visit  *visit = info;
    struct shared_answer *shared = container_of(entry, struct shared_answer, first);

    if (shared->length < visit->length)
        return; /* the route leads to a part of the extent */
    visit->call(visit->info, &shared->answer);
    visit->count++;
}

size_t sharing_visit(const struct sharing *sharing, const struct address_prefix *prefix,
                     void (*visit)(void *info, struct answer *answer), void     *info)
{
    struct extent_visit extents = { prefix->length, visit, info, 0 };

    address_tree_visit(&sharing->extents, prefix, visit_extent, &extents);
    return extents.count;
}

static void note_extent(void *info, struct address_entry *entry)
{
    struct extent_visit *visit = info;

    visit->count += container_of(entry, struct shared_answer, first)->length == visit->length;
}

/* Whether there is an extent of which the prefix is a part. */
static bool is_inside_extent(const struct sharing *sharing, const struct address_prefix *prefix)
{
    const unsigned long *lengths = sharing->lengths[prefix->address.family == AF_INET6];

    for (uint8_t length = 0; length < prefix->length; length++) {
        const struct address_prefix first = { address_truncate(&prefix->address, length),
                                              (uint8_t)(address_length(&prefix->address) * 8) };
        struct extent_visit         visit = { .length = length };

        if (lengths[length] == 0)
            continue;
        address_tree_visit(&sharing->extents, &first, note_extent, &visit);
        if (visit.count > 0)
            return true;
    }
    return false;
}

struct leaving {
    uint8_t      length; /* the route's */
    struct list *watches;
    size_t       count;
};

static void collect_watch(void *info, struct address_entry *entry)
{
    struct leaving    *leaving = info;
    struct path_watch *watch = container_of(entry, struct path_watch, address);

    if (answer_shared(watch->answer)->length >= leaving->length)
        return;
    list_remove(&watch->node);
    list_append(leaving->watches, &watch->node);
    leaving->count++;
}

size_t sharing_collect_leaving(const struct sharing *sharing, const struct address_prefix *prefix, struct list *ret)
{
    struct leaving leaving = { prefix->length, ret, 0 };

    if (prefix->length <= address_length(&prefix->address) * 8 && is_inside_extent(sharing, prefix))
        address_tree_visit(&sharing->watches, prefix, collect_watch, &leaving);
    return leaving.count;
}
