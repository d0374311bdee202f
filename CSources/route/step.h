/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_STEP_H
#define REACHABILITY_STEP_H

/* One step of a monitor's round, on the thread that drives the loop. */

#include "route/answer.h"

/* Few enough that the processor loads the memory of all their owners at the same time. */
#define STEP_GROUP_LIMIT 8

/* Watches that get the path of their shared answer. */
struct step_group {
    size_t             count;
    struct path_watch *watches[STEP_GROUP_LIMIT]; /* with references to their owners */
    unsigned           path_versions[STEP_GROUP_LIMIT];
    bool               accepted[STEP_GROUP_LIMIT];
};

/* A step of a round: the evaluation of an answer by the questions of one of its watches, or one more watch that gets
 * the path of a shared answer. Or a group of steps that are made together: no query is needed. */
struct step {
    struct step_group  group; /* count 0: this is one step, that of `watch` */
    struct path_watch *watch; /* with a reference to its owner */
    struct answer     *answer;
    struct questions  *questions;    /* a reference; in `memory`, if the watch has none */
    unsigned           path_version; /* of the owner, before the questions were read */
    bool               applies;      /* the watch gets the path of the shared answer */
    bool               can_share;    /* the watch's */
    bool               must_check;   /* the shared answer's */

    struct question_memory memory;
};

/* Whether the watch still has the answer. The monitor may have lost the watch during the step. Under the loop's
 * lock. */
static inline bool step_has_answer(const struct path_watch *watch, const struct answer *answer)
{
    return watch->monitor != NULL && watch->answer == answer;
}

static inline bool step_is_current(const struct step *step)
{
    return step_has_answer(step->watch, step->answer);
}

/* Begins a step, or several, at most `limit`, that are made together. Returns their number; 0: no step is left. The
 * filter then passes the messages that affect the answer. */
size_t step_begin(struct monitor *monitor, size_t limit, struct step *ret);

/* `error`: of answer_update, which runs the step. */
void step_end(struct monitor *monitor, const struct step *step, int error);

/* Sends the first queries of the next steps together, at most `limit`. Does nothing if there are only a few. */
void step_begin_batch(struct monitor *monitor, size_t limit);

#endif
