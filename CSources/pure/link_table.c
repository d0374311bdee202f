/* SPDX-License-Identifier: MIT */
/*
 * The table of links of one network namespace.
 *
 * What this file must never do: treat an absent link like a link that is down.
 */
#ifdef __linux__
#include "pure/link_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The place of the link with this index, or the place to insert it. */
static size_t place_of_index(const struct link_table *links, uint32_t index)
{
    size_t low = 0, high = links->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (links->items[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool place_has_index(const struct link_table *links, size_t place, uint32_t index)
{
    return place < links->count && links->items[place].index == index;
}

void link_table_clear(struct link_table *links)
{
    const unsigned version = links->version + 1;

    free(links->items);
    *links = LINK_TABLE_EMPTY;
    links->version = version;
}

const struct link *link_table_find(const struct link_table *links, uint32_t index)
{
    const size_t place = place_of_index(links, index);

    return place_has_index(links, place, index) ? &links->items[place] : NULL;
}

/* 0: it does not lead to a local network. */
static int rank_as_local(const struct link *link)
{
    if (link_is_loopback(link) || link_is_point_to_point(link))
        return 0;
    return link_is_usable(link) ? 3 : link_is_up(link) ? 2 : 1;
}

const struct link *link_table_find_local(const struct link_table *links)
{
    const struct link *best = NULL;
    int best_rank = 0;

    for (size_t i = 0; i < links->count; i++) {
        const int rank = rank_as_local(&links->items[i]);

        if (rank > best_rank) {
            best = &links->items[i];
            best_rank = rank;
        }
    }
    return best;
}

static void forget_carried_devices(struct link_table *links)
{
    if (!links->any_carried)
        return;
    for (size_t i = 0; i < links->count; i++)
        if (links->items[i].carried)
            link_forget_device(&links->items[i]);
    links->any_carried = false;
}

int link_table_put(struct link_table *links, const struct link *link)
{
    const size_t place = place_of_index(links, link->index);

    if (!place_has_index(links, place, link->index)) {
        if (links->count == links->capacity) {
            const size_t capacity = links->capacity == 0 ? 16 : links->capacity * 2;
            struct link *items = realloc(links->items, capacity * sizeof *items);

            if (items == NULL)
                return ENOMEM;
            links->items = items;
            links->capacity = capacity;
        }
        memmove(&links->items[place + 1], &links->items[place], (links->count - place) * sizeof *link);
        links->count++;
    }
    links->items[place] = *link;
    link_set_type(&links->items[place]);
    links->any_carried = links->any_carried || link->carried;
    return 0;
}

void link_table_learn(struct link_table *links, const struct link *found, unsigned version)
{
    const struct link *known = link_table_find(links, found->index);
    struct link learned = *found;

    if (links->version != version || known == NULL)
        return;
    learned.learned = true;
    learned.flags = known->flags;
    learned.mtu = known->mtu;
    learned.changed = known->changed;
    learned.hardware = known->hardware;
    memcpy(learned.name, known->name, sizeof learned.name);
    (void)link_table_put(links, &learned); /* does not fail: the link is in the table */
}

/* Whether the link is the same in both tables, and its device cannot change. */
static bool has_known_device(const struct link *link, const struct link *known)
{
    return link->device == DEVICE_UNKNOWN && known->device >= DEVICE_CELLULAR && !known->carried &&
           link->hardware == known->hardware && strcmp(link->name, known->name) == 0;
}

bool link_table_take_devices(struct link_table *links, const struct link_table *other, bool takes)
{
    bool found = false;

    for (size_t i = 0; i < other->count; i++) {
        const struct link *known = &other->items[i];
        const size_t place = place_of_index(links, known->index);

        if (!place_has_index(links, place, known->index) || !has_known_device(&links->items[place], known))
            continue;
        found = true;
        if (!takes)
            break;
        links->items[place].device = known->device;
        link_set_type(&links->items[place]);
    }
    return found;
}

void link_table_note_change(struct link_table *links, uint32_t index, int64_t now)
{
    const size_t place = place_of_index(links, index);

    if (place_has_index(links, place, index))
        links->items[place].changed = now;
}

void link_table_give_up(struct link_table *links, uint32_t index)
{
    const size_t place = place_of_index(links, index);

    if (place_has_index(links, place, index))
        links->items[place].device = DEVICE_VIRTUAL;
}

static void remove_link(struct link_table *links, uint32_t index)
{
    const size_t place = place_of_index(links, index);

    if (!place_has_index(links, place, index))
        return;
    links->count--;
    memmove(&links->items[place], &links->items[place + 1], (links->count - place) * sizeof links->items[0]);
}

/* Whether the change of this link can change the device of a link on top of it. */
static bool changes_carried_devices(const struct link *before, const struct link *now)
{
    return !before->complete || link_is_running(before) != link_is_running(now) || before->master != now->master ||
           before->active != now->active || strcmp(before->name, now->name) != 0 ||
           strcmp(before->kind, now->kind) != 0;
}

int link_table_apply(struct link_table *links, const struct message *message)
{
    const struct message_link *news = &message->link;
    const struct link *known;
    struct link link = { 0 };

    links->version++;
    if (message->kind == MESSAGE_LINK_GONE) {
        forget_carried_devices(links);
        remove_link(links, news->index);
        return 0;
    }
    known = link_table_find(links, news->index);
    if (known != NULL)
        link = *known;
    link_apply(&link, news);
    if (known == NULL || changes_carried_devices(known, &link)) {
        forget_carried_devices(links);
        if (link.carried)
            link_forget_device(&link);
    }
    return link_table_put(links, &link);
}
#endif
