/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_HIDDEN_ROUTES_H
#define REACHABILITY_HIDDEN_ROUTES_H

/*
 * Whether the kernel may have hidden an IPv6 route from an answer, as its gateway did not respond. Any link can end
 * that, without a message about a route: a link that goes down forgets its neighbours. If all neighbours respond after
 * an answer, no link brings back a route that would change it. So the neighbours are read after each slice of a round,
 * and only the answers since then are affected. Only the thread that drives the loop uses this.
 */

#include "kernel/rtnetlink.h"

struct hidden_routes {
    uint64_t since;  /* the answers with this stamp, or a later one, may have been affected: see store.c */
    bool possible;   /* there is such an answer */
    bool shared;     /* of several watches, or a watch has joined others since then */
    bool is_late;    /* such an answer has come since the neighbours were read */
    bool had_failed; /* a neighbour had failed when they were read */
    int64_t next;    /* when they may be read again */
};

/* An answer that such a route could change. `shared`: it is, or may become, that of several watches. */
void hidden_routes_note_answer(struct hidden_routes *hidden, bool shared);

/* All affected answers are stale now. */
void hidden_routes_note_stale(struct hidden_routes *hidden);

/* Reads the neighbours if that is due: at most one percent of a processor, as there can be many. Returns whether all
 * answers are right: then the caller sets `since`. */
bool hidden_routes_look(struct hidden_routes *hidden, struct rtnetlink *rtnetlink);

/* When hidden_routes_look is due. */
int64_t hidden_routes_nearest(const struct hidden_routes *hidden);

#endif
