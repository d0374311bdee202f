/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ANSWER_UPDATE_H
#define REACHABILITY_ANSWER_UPDATE_H

/* What a step does to its answer. */

#include "route/step.h"

/* Evaluates the answer of the step, and gives the path to its watch, or to its group. If a shared answer has its path
 * already, only gives it, or moves the watch to an answer of its own. Returns 0 or an errno, for step_end. */
int answer_update(struct monitor *monitor, struct step *step);

#endif
