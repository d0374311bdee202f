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
    struct list        applying; /* shared answers with pending watches */
    struct list        pppd;
    struct answer     *current; /* in the hands of a step: see watch_set_begin_step */
    struct sharing     sharing;
    struct route_index routes; /* of the answers that are not shared */
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
void watch_set_mark_all(struct watch_set *set);
void watch_set_mark_pppd(struct watch_set *set);
bool watch_set_mark_route(struct watch_set *set, const struct route *route); /* false: it affects no watch */
void watch_set_mark_ended(struct watch_set *set, int64_t now);
/* Lifetimes must be read again. `all`: also those of routes that do not expire, so far. */
void watch_set_mark_lifetimes(struct watch_set *set, bool all);

/* ---- Rounds ----------------------------------------------------------------------------------------------------- */

/* All stale answers are now in the list `round`. Answers that become stale later are in `stale`. */
void watch_set_begin_round(struct watch_set *set);

/* Begins the next step of the round, and takes its answer: that one is not freed before watch_set_end_step. Returns
 * NULL if no step is left. *ret_apply false: evaluate the answer by the questions of the watch. True: the watch gets
 * the path of the shared answer. */
struct path_watch *watch_set_begin_step(struct watch_set *set, bool *ret_apply);
void               watch_set_end_step(struct watch_set *set);

/* Finds the watches of the next steps, at most `limit`, if a step begins with a query for the destination of its watch.
 * Returns their number. */
size_t watch_set_peek(const struct watch_set *set, const struct path_watch **ret, size_t limit);

/* The results of a step, for its answer. */

/* It was evaluated; the path has these dependencies. */
void watch_set_update(struct watch_set *set, struct answer *answer, const struct dependencies *dependencies);

/* It must be evaluated again in this round. */
void watch_set_requeue(struct watch_set *set, struct answer *answer);

/* The step failed: it is repeated in the next round. */
void watch_set_note_failure(struct watch_set *set, struct answer *answer);

/* All watches that share it will get the path: it was evaluated by the questions of `leader`. */
void watch_set_apply(struct watch_set *set, struct shared_answer *shared, struct path_watch *leader);

/* The watch shares the answer with this extent from now on. Returns whether there was such an answer: then the watch
 * will get its path. Else *ret is a new one, with the watch, or NULL: no memory. */
bool watch_set_share(struct watch_set *set, struct path_watch *watch, const struct extent *extent,
                     struct shared_answer **ret);

/* The watch gets an answer of its own, which is evaluated in this round. Returns 0 or ENOMEM. */
int watch_set_leave(struct watch_set *set, struct path_watch *watch);

/* The watch does not get the path yet. */
void watch_set_postpone(struct watch_set *set, struct path_watch *watch);

/* The answers that are left in `round`, `failed` or `applying` are in `stale` again. Returns whether others were there
 * before. */
bool watch_set_end_round(struct watch_set *set);

#endif
