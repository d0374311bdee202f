/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_EVALUATE_H
#define REACHABILITY_EVALUATE_H

/* The evaluation of questions: from the kernel's replies to the best path. */

#include "route/route_query.h"

/* Finds the best path of the questions; of equal paths, the first. `extras`: query_extras bits. For some questions the
 * link table must have all links: see local_wifi.h. Returns 0, or an errno if the kernel could not be queried. */
int evaluate_questions(struct rtnetlink *rtnetlink, struct round_cache *cache, const struct questions *questions,
                       unsigned extras, struct path *ret);

#endif
