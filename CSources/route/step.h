/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_STEP_H
#define REACHABILITY_STEP_H

/* One step of a monitor's round, on the thread that drives the loop. */

#include "route/answer.h"

/* A step of a round: the evaluation of an answer by the questions of one of its watches, or one more watch that gets
 * the path of a shared answer. */
struct step {
    struct path_watch *watch; /* with a reference to its owner */
    struct answer     *answer;
    struct questions  *questions;    /* a reference */
    unsigned long      path_version; /* of the owner, before the questions were read */
    bool               applies;      /* the watch gets the path of the shared answer */
    bool               can_share;    /* the watch's */
    bool               must_check;   /* the shared answer's */
};

/* Returns false if no step is left. The filter then passes the messages that affect the answer. */
bool step_begin(struct monitor *monitor, struct step *ret);

/* Returns 0 or an errno. Then call step_end with it. */
int  step_run(struct monitor *monitor, struct step *step);
void step_end(struct monitor *monitor, const struct step *step, int error);

/* Sends the first queries of the next steps together, at most `limit`. Does nothing if there are only a few. */
void step_begin_batch(struct monitor *monitor, size_t limit);

#endif
