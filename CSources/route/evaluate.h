/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_EVALUATE_H
#define REACHABILITY_EVALUATE_H

/* Questions about the way to a destination, put to the kernel. */

#include "route/route_query.h"

/* The best answer to any of the questions, the first of equals. `extras`: query_extras. 0, or an errno: the kernel
 * could not be asked. */
int evaluate_questions(struct rtnetlink *rtnetlink, const struct questions *questions, unsigned extras,
                       struct path *ret);

/* Whether a change of this route can change the answer, by itself, or by what it hangs on. */
bool evaluate_route_affects(const struct route *route, const struct question *question);
bool evaluate_route_affects_dependencies(const struct route *route, const struct dependencies *depends_on);

#endif
