/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LOOKUP_QUEUE_H
#define REACHABILITY_LOOKUP_QUEUE_H

/* Which look-up starts next: the accounts behind the rule in lookup.c. All functions run under reach_process_lock. */

#include <stdbool.h>

#include "base/list.h"

#define LOOKUP_LIMIT 128 /* look-ups at once */

enum lookup_kind {
    LOOKUP_FIRST,
    LOOKUP_AGAIN,
    LOOKUP_DOUBTED, /* again, after one that failed or was slow */
};

struct netns;

/* The names of a domain in a namespace: those that were answered or are new, or those that failed or were slow. */
struct lookup_account {
    struct list node, *ring; /* of queue.rings, if a look-up is queued */
    struct list queued[2];   /* look-ups: first ones, repeated ones */
    unsigned count;          /* of those that are queued */
    unsigned running;        /* of those that are under way */
    const struct netns *netns;
    bool is_doubted;
    char domain[];
};

/* The place of a look-up. */
struct lookup_turn {
    struct list node; /* of the account's queue, or of those under way */
    struct lookup_account *account;
    bool is_first, running;
};

struct lookup_queue {
    struct list rings[2]; /* accounts that have queued look-ups take turns: with first ones, and without */
    struct list running;  /* look-ups */
    void *accounts;       /* of tsearch(3) */
    unsigned count;       /* of look-ups under way */
};

void reach_lookup_queue_init(struct lookup_queue *queue);

/* Adds a turn, whose other members the caller has set, to the account of the name's domain. Returns 0 or ENOMEM. */
int reach_lookup_queue_add(struct lookup_queue *queue, struct lookup_turn *turn, const struct netns *netns,
                           const char *name, bool is_doubted);

/* Removes a turn, whether it runs or not. */
void reach_lookup_queue_remove(struct lookup_queue *queue, struct lookup_turn *turn);

/* Returns the account of the next look-up that may start; NULL: there is none. */
struct lookup_account *reach_lookup_queue_next(const struct lookup_queue *queue);

/* Begins that look-up. */
struct lookup_turn *reach_lookup_queue_begin(struct lookup_queue *queue);

#endif
