/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ROUTE_ENDS_H
#define REACHABILITY_ROUTE_ENDS_H

/*
 * When IPv6 routes end. The kernel sends that message up to 31 s late. ends.h has the ends of routes that answers name.
 * With rules of its own, the kernel can find a route that no answer names, as a rule suppresses it; when it ends, the
 * answer can be that of the next route in its table, which is not suppressed. So here are the ends of all routes that a
 * message or a dump has named. When one ends, the monitor does what it does after the message.
 *
 * At most ROUTE_ENDS_LIMIT, of the first routes of the dump. Others are ignored. Only the thread that drives the loop
 * uses this.
 */

#include "base/hash_tree.h"
#include "base/heap.h"
#include "base/list.h"
#include "kernel/rtnetlink.h"

#define ROUTE_ENDS_LIMIT 512

struct route_ends {
    struct hash_node *tree;
    struct heap heap;
    struct list all;
    bool known;       /* the routes were read, and messages say the rest */
    uint64_t reading; /* counts */
};

void route_ends_init(struct route_ends *ends);
void route_ends_clear(struct route_ends *ends);

/* Reads the rules and the routes, as far as that is due. */
void route_ends_require(struct route_ends *ends, struct rtnetlink *rtnetlink);

/* Reads the routes again: their ends can change without a message. Those that have none any more end now. */
void route_ends_reread(struct route_ends *ends, struct rtnetlink *rtnetlink);

/* Notes a message about a route. */
void route_ends_note(struct route_ends *ends, const struct route *route);

int64_t route_ends_nearest(const struct route_ends *ends);

/* Takes a route that has ended by `now`: its prefix and table. False: there is none. */
bool route_ends_take(struct route_ends *ends, int64_t now, struct route *ret);

/* Whether an end may be brought forward without a message. */
bool route_ends_can_shorten(const struct route_ends *ends);

#endif
