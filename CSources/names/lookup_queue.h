/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LOOKUP_QUEUE_H
#define REACHABILITY_LOOKUP_QUEUE_H

/* Which look-up starts next: the accounts behind the rule in lookup.c. All functions run under process_lock. */

#include <stdbool.h>
#include <stdint.h>

#include "base/hash_tree.h"
#include "base/list.h"

#define LOOKUP_LIMIT 64 /* look-ups at once */

/* In the order of priority. */
enum lookup_kind {
    LOOKUP_FIRST,
    LOOKUP_AGAIN,
    LOOKUP_DOUBTED, /* again, after one that failed or was slow */
    LOOKUP_KINDS
};

/* The names that differ only in their first label, in one namespace. */
struct lookup_domain {
    struct hash_node tree_node;
    struct list node;                 /* in a ring of the queue, if a look-up is queued */
    struct list queued[LOOKUP_KINDS]; /* look-ups */
    unsigned queued_count;
    unsigned references;          /* of waiters, look-ups and threads that are being started */
    uint8_t trusted, doubtful[2]; /* how many are under way; doubtful[1]: of LOOKUP_DOUBTED */
    uint8_t coming;               /* threads that are being started for it */
    uint8_t window;               /* how many trusted ones may be under way; 0: its names are doubtful */
};

/* The place of a look-up. */
struct lookup_turn {
    struct list node; /* of the domain's queue, or of those under way */
    struct lookup_domain *domain;
    uint32_t begun; /* milliseconds of clock_now */
    uint8_t kind;
    bool running;
    bool doubtful; /* while it is under way: it counts as doubtful */
};

/* The domains whose best look-up has a kind, and is doubtful (1) or trusted (0), take turns. */
struct lookup_queue {
    struct list rings[LOOKUP_KINDS][2];
    struct list running[2]; /* the trusted and the doubtful, in the order in which they began */
    struct hash_node *domains;
    unsigned doubtful; /* how many are under way */
    unsigned coming;   /* threads that are being started */
};

void lookup_queue_init(struct lookup_queue *queue);

/* Makes `fresh`, which the caller has allocated, the domain with the hash, unless there is one. Returns it with a
 * reference. */
struct lookup_domain *lookup_queue_domain(struct lookup_queue *queue, uint64_t hash, struct lookup_domain *fresh);

/* Returns the domain if that was the last reference: the caller frees it without the lock. Else NULL. */
struct lookup_domain *lookup_queue_release(struct lookup_queue *queue, struct lookup_domain *domain);

/* Adds a turn, whose domain and kind are set, or removes one that is not running. */
void lookup_queue_add(struct lookup_queue *queue, struct lookup_turn *turn);
void lookup_queue_remove(struct lookup_queue *queue, struct lookup_turn *turn);

/* A turn that is not running gets a better kind. */
void lookup_queue_raise(struct lookup_queue *queue, struct lookup_turn *turn, enum lookup_kind kind);

/* Begins the next look-up that may start; NULL: there is none. */
struct lookup_turn *lookup_queue_begin(struct lookup_queue *queue, int64_t now);

/* It has ended. `answered`: the server has said which addresses the name has, or that it does not exist. Returns
 * whether it was slow. */
bool lookup_queue_end(struct lookup_queue *queue, struct lookup_turn *turn, bool answered, int64_t now);

/* If a look-up may start for which no thread is coming, counts one more thread as coming, and returns the domain for
 * which it comes, with a reference. Else NULL. The thread ends with lookup_queue_arrive, whether it starts or not. */
struct lookup_domain *lookup_queue_call_thread(struct lookup_queue *queue, int64_t now);
void lookup_queue_arrive(struct lookup_queue *queue, struct lookup_domain *domain);

#endif
