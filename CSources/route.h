/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ROUTE_H
#define REACHABILITY_ROUTE_H

/* Questions about the way to a destination, put to the kernel. */

#include "search.h"

/* The best answer to any of the questions, the first of equals. `extras`: search_extras. 0, or an errno: the kernel
 * could not be asked. */
int route_find(struct view *view, const struct questions *questions, unsigned extras, struct path *ret);

/* Whether a change of this route can change the answer, by itself, or by what it hangs on. */
bool route_touches(const struct route *route, const struct question *question);
bool route_touches_needs(const struct route *route, const struct needs *needs);

#endif
