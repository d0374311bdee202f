/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_EVALUATE_H
#define REACHABILITY_EVALUATE_H

/* The evaluation of questions: from the kernel's replies to the best path. */

#include "route/route_query.h"

/* Whether the evaluation may wait for RTNL: one of the questions is about the local network, as 169.254.0.0 is in
 * Apple's sample code ("local Wi-Fi"), so the link table must have all links; or it has a link's alternative name. */
bool reach_evaluate_may_wait(const struct questions *questions);

/* The addresses that are queried for the default path. A route without any of them in its prefix does not affect it. */
enum { DEFAULT_PATH_SAMPLES = 6 };
const struct address *reach_default_path_sample(size_t i);

/* Finds the best path of the questions; of equal paths, the first. `extras`: query_extras bits. Returns 0, or an errno
 * if the kernel could not be queried. */
int reach_evaluate_questions(struct rtnetlink *rtnetlink, struct round_cache *cache, const struct questions *questions,
                             unsigned extras, struct path *ret);

#endif
