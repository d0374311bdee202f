/* SPDX-License-Identifier: MIT */
/*
 * The next hops of watches that report whether these respond.
 *
 * What this file must never do: let a hop that has failed count as one that responds before the kernel says so.
 */
#ifdef __linux__
#include "watch/hops.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <stdlib.h>

#include "pure/next_hop.h"

void hops_init(struct hops *hops)
{
    *hops = (struct hops){ .version = 0 };
    list_init(&hops->all);
}

/* ---- The set ---------------------------------------------------------------------------------------------------- */

struct search {
    uint32_t index;
    struct hop *found;
};

static void compare_index(void *info, struct address_entry *address)
{
    struct search *search = info;
    struct hop *hop = container_of(address, struct hop, address);

    if (hop->index == search->index)
        search->found = hop;
}

struct hop *hops_find(const struct hops *hops, uint32_t index, const struct address *address)
{
    struct search search = { .index = index };
    const struct address_prefix prefix = { *address, (uint8_t)(8 * address_length(address)) };

    address_tree_visit(&hops->tree, &prefix, compare_index, &search);
    return search.found;
}

static struct hop *create_hop(struct hops *hops, uint32_t index, const struct address *address)
{
    struct hop *hop = calloc(1, sizeof *hop);

    if (hop == NULL)
        return NULL;
    hop->address.address = *address;
    hop->index = index;
    hop->unread = true;
    hop->state = PATH_HOP_UNKNOWN;
    list_init(&hop->users);
    list_append(&hops->all, &hop->node);
    address_tree_add(&hops->tree, &hop->address);
    hops->version++;
    hops->edits++;
    return hop;
}

static void leave(struct hops *hops, struct hop_use *use)
{
    struct hop *hop = use->hop;

    list_remove(&use->node);
    use->hop = NULL;
    if (hop == NULL || !list_is_empty(&hop->users))
        return;
    list_remove(&hop->node);
    address_tree_remove(&hops->tree, &hop->address);
    hops->edits++;
    free(hop);
}

static struct hop_use *create_use(struct entry *entry)
{
    struct hop_use *use = calloc(1, sizeof *use);

    if (use != NULL) {
        list_init(&use->node);
        use->entry = entry;
    }
    return use;
}

int hops_use(struct hops *hops, struct hop_use **use, struct entry *entry, uint32_t index,
             const struct address *address)
{
    struct hop *hop = hops_find(hops, index, address);

    if (*use == NULL)
        *use = create_use(entry);
    if (*use != NULL && hop == NULL)
        hop = create_hop(hops, index, address);
    if (*use == NULL || hop == NULL)
        return ENOMEM;
    if ((*use)->hop == hop)
        return 0;
    if ((*use)->hop != NULL && (*use)->hop->state == PATH_HOP_FAILED)
        (*use)->left_failed = true;
    leave(hops, *use);
    (*use)->hop = hop;
    list_append(&hop->users, &(*use)->node);
    return 0;
}

void hops_release(struct hops *hops, struct hop_use **use)
{
    if (*use == NULL)
        return;
    leave(hops, *use);
    free(*use);
    *use = NULL;
}

/* ---- States ----------------------------------------------------------------------------------------------------- */

/* Of a hop that has not failed, only its failure matters. */
static bool needs_every_message(const struct hop *hop)
{
    return hop->unread || hop->state == PATH_HOP_FAILED;
}

static void change(struct hops *hops, struct hop *hop, bool unread, enum path_hop state)
{
    const bool passed = needs_every_message(hop);

    hop->unread = unread;
    hop->state = state;
    hops->edits += needs_every_message(hop) != passed;
    hops->version += needs_every_message(hop) && !passed;
}

/* INCOMPLETE: the kernel tries once more. Without an entry nothing is known: one that ip(8) deletes fails first. */
void hops_set(struct hops *hops, struct hop *hop, uint16_t state)
{
    const bool retries = state == NUD_INCOMPLETE && (hop->noted & NUD_FAILED) != 0;

    hop->noted = NUD_NONE;
    switch (next_hop_from_state(state)) {
    case kSCNetworkReachabilityNextHopFailed:
        change(hops, hop, false, PATH_HOP_FAILED);
        return;
    case kSCNetworkReachabilityNextHopConfirmed:
    case kSCNetworkReachabilityNextHopUnconfirmed:
        change(hops, hop, false, PATH_HOP_RESPONDS);
        return;
    default:
        change(hops, hop, false, retries || hop->state == PATH_HOP_FAILED ? PATH_HOP_FAILED : PATH_HOP_UNKNOWN);
    }
}

void hops_believe(struct hops *hops, struct hop *hop)
{
    hops_set(hops, hop, hop->noted);
}

void hops_distrust(struct hops *hops)
{
    list_for_each(node, &hops->all) {
        struct hop *hop = container_of(node, struct hop, node);

        change(hops, hop, true, hop->state);
    }
}

/* The state is read again when the filter passes all that follows: a message about a hop that responds again may have
 * been dropped. */
const struct hop *hops_note(struct hops *hops, const struct message_neighbour *neighbour)
{
    struct hop *hop = hops_find(hops, neighbour->index, &neighbour->address);

    if (hop == NULL || (!needs_every_message(hop) && (neighbour->state & NUD_FAILED) == 0))
        return NULL;
    hop->noted = neighbour->state != NUD_NONE ? neighbour->state : hop->noted;
    change(hops, hop, true, hop->state);
    return hop;
}

/* ---- The filter ------------------------------------------------------------------------------------------------- */

size_t hops_list(const struct hops *hops, struct route_filter_gateway *items, size_t count)
{
    list_for_each(node, &hops->all) {
        const struct hop *hop = container_of(node, const struct hop, node);

        if (count == ROUTE_FILTER_GATEWAYS)
            return ROUTE_FILTER_GATEWAYS + 1;
        items[count++] = (struct route_filter_gateway){ .address = hop->address.address,
                                                        .index = hop->index,
                                                        .every = needs_every_message(hop) };
    }
    return count;
}
#endif
