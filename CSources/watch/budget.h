/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_BUDGET_H
#define REACHABILITY_BUDGET_H

/* The processor time of a monitor's sweeps: a part of the time that passes, and some of it can be saved. Only the
 * thread that drives the loop uses it. */

#include <stdint.h>

struct budget {
    int64_t saved, counted_at; /* what is saved, below 0 what is owed; until when that is counted, by clock_now() */
    int64_t began;             /* the thread's processor time then */
};

/* When there is time for a sweep, by clock_now(); 0: now. */
int64_t reach_budget_next(struct budget *budget);

/* A part of a sweep begins, and ends. */
void reach_budget_begin(struct budget *budget);
void reach_budget_end(struct budget *budget);

#endif
