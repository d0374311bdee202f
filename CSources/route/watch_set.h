/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_WATCH_SET_H
#define REACHABILITY_WATCH_SET_H

/*
 * The watches of one monitor, their answers, and which of these are stale: must be evaluated again. The work of each
 * function depends on the number of answers that become stale, not on the number of watches.
 *
 * A stale answer is in one of the lists `stale` (for the next round), `round` and `failed`.
 *
 * Under the loop's lock.
 */

#include "route/sharing.h"

struct watch_set {
    size_t             count; /* of watches */
    struct list        answers;
    struct list        stale, round, failed;
    struct list        applying;   /* shared answers with pending watches */
    struct list        unfinished; /* answers that are evaluated again when the kernel has finished a change */
    size_t             pppd;       /* how many answers depend on pppd's database */
    struct answer     *current;    /* a step has it: see watch_steps_begin */
    struct sharing     sharing;
    struct route_index routes; /* of the answers that are not shared */
    struct link_index  links;
    bool               checks_ipv6;       /* the changed links can bring back hidden routes */
    bool               checks_ipv6_twice; /* the same, for the second evaluation */
    struct lifetimes   lifetimes;
};

void watch_set_init(struct watch_set *set);
bool watch_set_is_empty(const struct watch_set *set);
void watch_set_free(struct watch_set *set); /* the set is empty */

/* A new watch, or one with new questions, has a stale answer of its own. watch_set_add returns 0 or ENOMEM. Only a
 * watch that cannot share gets new questions. */
int  watch_set_add(struct watch_set *set, struct path_watch *watch);
void watch_set_remove(struct watch_set *set, struct path_watch *watch);
void watch_set_replace_questions(struct watch_set *set, struct path_watch *watch);

/* The watch shares no answer from now on. Returns 0 or ENOMEM. */
int watch_set_isolate(struct watch_set *set, struct path_watch *watch);

/* What has changed: each marks the affected answers stale. */
void watch_set_mark_all(struct watch_set *set, bool must_check); /* see struct shared_answer */
void watch_set_mark_pppd(struct watch_set *set);
bool watch_set_mark_route(struct watch_set *set, const struct route *route); /* false: it affects no watch */
void watch_set_mark_changed_links(struct watch_set *set);                    /* see watch_set_note_link */
void watch_set_mark_unfinished(struct watch_set *set);                       /* see watch_set_update */
void watch_set_mark_ended(struct watch_set *set, int64_t now);
/* Lifetimes must be read again. `all`: also those of routes that do not expire, so far. */
void watch_set_mark_lifetimes(struct watch_set *set, bool all);

/* Notes that a link has changed. Returns whether that affects an answer. `checks_ipv6`: IPv6 routes whose gateways did
 * not respond were hidden, and the change can bring them back. */
bool watch_set_note_link(struct watch_set *set, uint32_t link, bool checks_ipv6);

/* What an evaluation has found. */
struct evaluation {
    const struct dependencies *dependencies;
    uint32_t                   link;            /* see link_index_set */
    bool                       unfinished;      /* the kernel may not have finished a change */
    bool                       link_unfinished; /* a change of `link` */
};

/* An answer was evaluated. If a change is unfinished, watch_set_mark_unfinished will mark it for its second evaluation;
 * after that again only if it has moved to another link that has changed. */
void watch_set_update(struct watch_set *set, struct answer *answer, const struct evaluation *evaluation);

/* ---- For watch_steps.c ------------------------------------------------------------------------------------------- */

/* Adds an answer to `stale`, `round` or `failed`, unless it is in one of them. */
void watch_set_put_stale(struct answer *answer, struct list *list);

/* Adds an answer. It is zeroed, apart from what struct sharing has set. */
void watch_set_add_answer(struct watch_set *set, struct answer *answer);
void watch_set_delete_answer(struct watch_set *set, struct answer *answer);
void watch_set_delete_unused(struct watch_set *set, struct answer *answer); /* unless it has watches, or is current */

/* A watch leaves a shared answer for one of its own, which is added to a list of stale ones. Returns 0, or ENOMEM: then
 * the watch still shares its answer. */
int watch_set_leave(struct watch_set *set, struct path_watch *watch, struct list *stale);

/* The representative of a lifetime has another route now, or its evaluation has failed. So the others are evaluated in
 * this round. */
void watch_set_mark_others(struct watch_set *set, const struct answer *representative);

#endif
