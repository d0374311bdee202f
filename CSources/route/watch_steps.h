/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_WATCH_STEPS_H
#define REACHABILITY_WATCH_STEPS_H

/*
 * The steps of a round. In each, one answer is evaluated, or one watch gets the path of its shared answer. So a round
 * of a million watches can be made in slices.
 *
 * Under the loop's lock.
 */

#include "route/watch_set.h"

/* All stale answers are now in the list `round`. Answers that become stale later are in `stale`. */
void watch_steps_begin_round(struct watch_set *set);

/* Begins the next step of the round. The step's answer is not freed before watch_steps_end. Returns NULL if no step is
 * left. *ret_apply false: evaluate the answer by the questions of the watch. True: the watch gets the path of the
 * shared answer. */
struct path_watch *watch_steps_begin(struct watch_set *set, bool *ret_apply);
void               watch_steps_end(struct watch_set *set);

/* Begins the next steps, at most `limit`, if each is that a watch gets the path of the same shared answer, without a
 * query. Returns their number. watch_steps_end ends them. */
size_t watch_steps_begin_group(struct watch_set *set, struct path_watch **ret, size_t limit);

/* Finds the watches of the next steps, at most `limit`, if a step begins with a query for the destination of its watch.
 * Returns their number. */
size_t watch_steps_peek(const struct watch_set *set, const struct path_watch **ret, size_t limit);

/* The results of a step, for its answer. */

/* It must be evaluated again in this round. */
void watch_steps_requeue(struct watch_set *set, struct answer *answer);

/* The step failed: it is repeated in the next round. */
void watch_steps_note_failure(struct watch_set *set, struct answer *answer);

/* All watches that share it will get the path. It was evaluated by the question of `leader`. */
void watch_steps_apply(struct watch_set *set, struct shared_answer *shared, struct path_watch *leader);

/* Makes a watch share the answer with this extent, and get its path. False: there is no such answer. */
bool watch_steps_join(struct watch_set *set, struct path_watch *watch, const struct extent *extent);

/* Replaces the watch's own answer by one that others can share. Returns NULL if there is no memory. */
struct shared_answer *watch_steps_create(struct watch_set *set, struct path_watch *watch, const struct extent *extent);

/* The watch gets an answer of its own, which is evaluated in this round. Returns 0 or ENOMEM. */
int watch_steps_leave(struct watch_set *set, struct path_watch *watch);

/* The watch does not get the path yet. */
void watch_steps_postpone(struct watch_set *set, struct path_watch *watch);

/* The answers that are left in `round`, `failed` or `applying` are in `stale` again. Returns whether others were there
 * before. */
bool watch_steps_end_round(struct watch_set *set);

#endif
