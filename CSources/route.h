/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ROUTE_H
#define REACHABILITY_ROUTE_H

/* Questions about the way to a destination, put to the kernel. */

#include "path.h"
#include "question.h"
#include "view.h"

/* What is asked besides flags, reason and interface. Bits. */
enum route_extras {
    ROUTE_EXPIRY = 1, /* when the kernel will let the route expire without a word */
    ROUTE_SOURCE = 2  /* the source address, where it takes a further query */
};

/* The best answer to any of the questions, the first of equals. 0, or an errno: the kernel could not be asked. */
int route_find(struct view *view, const struct questions *questions, unsigned extras, struct path *ret);

/* The interface that a question names, where `named` is the index of the one with its name now (0: it names none,
 * or there is none): *ret_oif, 0 for any. False: `ret` is the answer already. */
bool route_interface(const struct question *question, uint32_t named, uint32_t *ret_oif, struct path *ret);

/* Whether a change of this route can change the answer, by itself, or by what it hangs on. */
bool route_touches(const struct route *route, const struct question *question);
bool route_touches_needs(const struct route *route, const struct needs *needs);

#endif
