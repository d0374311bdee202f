/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_REPLY_H
#define REACHABILITY_REPLY_H

/* The query for one watch: its path, and for whom else that holds. On the driving thread. */

#include "watch/monitor_state.h"

/* The query. */
struct inquiry {
    struct path_watch *watch;      /* with a reference to its owner */
    struct questions  *questions;  /* a reference, or in `memory` */
    bool               can_share;  /* with others, of which there are some */
    bool               for_others; /* it is queried for other watches, too */

    struct question_memory memory;
};

/* Finds the route that leads to the watch. If the watch can have the path of its entry, *ret_joined is set, and nothing
 * else; else *ret is the reply. Returns 0 or an errno. */
int reply_find(struct monitor *monitor, const struct inquiry *inquiry, bool *ret_joined, struct reply *ret);

/* Whether the first query of the watch is that of its route, unless a first look finds source-specific routes. Under
 * the loop's lock. */
bool reply_begins_with_match(const struct monitor *monitor, const struct path_watch *watch);

#endif
