/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LOOKUP_QUEUE_H
#define REACHABILITY_LOOKUP_QUEUE_H

/* Which look-up starts next: the accounts behind the rule in lookup.c. All functions run under process_lock. */

#include <stdbool.h>
#include <stdint.h>

#include "base/hash_tree.h"
#include "base/list.h"

#define LOOKUP_LIMIT 128 /* look-ups at once */

enum lookup_kind {
    LOOKUP_FIRST,
    LOOKUP_AGAIN,
    LOOKUP_DOUBTED, /* again, after one that failed or was slow */
};

/* The names of a domain in a namespace: those that were answered or are new, or those that failed or were slow. */
struct lookup_account {
    struct hash_node tree_node;
    struct list node, *ring; /* of queue.rings, if a look-up is queued */
    struct list queued[2];   /* look-ups: first ones, repeated ones */
    unsigned count;          /* of those that are queued */
    unsigned references;     /* of waiters, look-ups and threads that are being started */
    unsigned coming;         /* threads that are being started for it */
    unsigned running;        /* how many are under way, and `coming` */
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
    struct hash_node *accounts;
    unsigned count;  /* of look-ups under way, and of `coming` */
    unsigned coming; /* threads that are being started */
};

void lookup_queue_init(struct lookup_queue *queue);

/* Makes `fresh`, which the caller has allocated, the account with the hash, unless there is one. Returns it with a
 * reference. */
struct lookup_account *lookup_queue_account(struct lookup_queue *queue, uint64_t hash, struct lookup_account *fresh);

/* Returns the account if that was the last reference: the caller frees it without the lock. Else NULL. */
struct lookup_account *lookup_queue_release(struct lookup_queue *queue, struct lookup_account *account);

/* Adds a turn, whose account is set, or removes one that is not running. */
void lookup_queue_add(struct lookup_queue *queue, struct lookup_turn *turn);
void lookup_queue_remove(struct lookup_queue *queue, struct lookup_turn *turn);

/* Begins the next look-up that may start; NULL: there is none. */
struct lookup_turn *lookup_queue_begin(struct lookup_queue *queue);
void lookup_queue_end(struct lookup_queue *queue, struct lookup_turn *turn);

/* If a look-up may start for which no thread is coming, counts one more thread as coming, and returns the account for
 * which it comes, with a reference. Else NULL. The thread ends with lookup_queue_arrive, whether it starts or not. */
struct lookup_account *lookup_queue_call_thread(struct lookup_queue *queue);
void lookup_queue_arrive(struct lookup_queue *queue, struct lookup_account *account);

#endif
