/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_HIDDEN_ROUTES_H
#define REACHABILITY_HIDDEN_ROUTES_H

/*
 * Whether the kernel may hide IPv6 routes, as their gateways do not respond. Any link can end that, without a message
 * about a route: a link that goes down forgets its neighbours. If all neighbours responded after the last answer, no
 * link brings back a route that would change an answer. Only the thread that drives the loop uses this.
 */

#include "kernel/rtnetlink.h"

struct hidden_routes {
    bool none;    /* all neighbours responded after the last answer */
    bool is_late; /* an answer has come since they were read */
    int64_t next; /* when they may be read again */
};

/* An answer that such a route could change. */
void hidden_routes_note_answer(struct hidden_routes *hidden);

/* Reads the neighbours if that is due: at most one percent of a processor, as there can be many. */
void hidden_routes_look(struct hidden_routes *hidden, struct rtnetlink *rtnetlink);

#endif
