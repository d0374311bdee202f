/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_HOPS_H
#define REACHABILITY_HOPS_H

/*
 * The next hops of watches that report whether these respond (option NotifyNextHop). A message about one makes their
 * entries stale. The kernel's filter passes only the messages that can matter: it fails, or changes after that.
 *
 * A hop that has failed counts as failed until it responds: between two attempts the kernel does not know. Under the
 * loop's lock; only the thread that drives the loop reads states.
 */

#include "base/list.h"
#include "pure/address_tree.h"
#include "pure/message.h"
#include "pure/path.h"
#include "pure/route_filter.h"

struct entry;

struct hop {
    struct address_entry address; /* in hops.tree */
    struct list node;             /* of hops.all */
    struct list users;            /* of struct hop_use */
    uint32_t index;               /* of the interface */
    bool unread;                  /* the state may have changed since it was read */
    uint16_t noted;               /* the last message's (NUD_...), until the state is read */
    enum path_hop state;
};

/* What an entry has. */
struct hop_use {
    struct list node;
    struct hop *hop;
    struct entry *entry;
    bool left_failed; /* the one before had failed, and the watch does not know yet */
};

struct hops {
    struct address_tree tree;
    struct list all;
    unsigned long version; /* counts changes after which the filter must pass more */
    unsigned long edits;   /* counts all changes of what it passes */
};

void hops_init(struct hops *hops);

/* The entry has this next hop from now on. *use: what it has; NULL: none. Returns 0 or
 * ENOMEM; then it has the one before. */
int hops_use(struct hops *hops, struct hop_use **use, struct entry *entry, uint32_t index,
             const struct address *address);

/* It has none from now on. */
void hops_release(struct hops *hops, struct hop_use **use);

struct hop *hops_find(const struct hops *hops, uint32_t index, const struct address *address);

/* The kernel's entry for a hop has this state (NUD_...); or it cannot be read, and the last message must do. */
void hops_set(struct hops *hops, struct hop *hop, uint16_t state);
void hops_believe(struct hops *hops, struct hop *hop);

/* Messages were lost, or do not come: no state is known. */
void hops_distrust(struct hops *hops);

/* Notes a message about a neighbour. Returns the hop whose entries it makes stale; NULL: none. */
const struct hop *hops_note(struct hops *hops, const struct message_neighbour *neighbour);

/* Adds the hops to the neighbours that a filter passes: `items` has room for ROUTE_FILTER_GATEWAYS, and `count` of them
 * are used. Returns how many there are then; more than ROUTE_FILTER_GATEWAYS: not all have room. */
size_t hops_list(const struct hops *hops, struct route_filter_gateway *items, size_t count);

#endif
