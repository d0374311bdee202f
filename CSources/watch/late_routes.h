/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LATE_ROUTES_H
#define REACHABILITY_LATE_ROUTES_H

/*
 * New IPv6 routes that a query may not find yet. The kernel sends the message about the first route to a prefix before
 * look-ups find that route, and newer kernels (6.18) make the change without RTNL, so the barrier does not wait for it:
 * 22 of 200,000 queries after message and barrier did not find the route. If an answer does not name it, the message is
 * noted again a few milliseconds later. A default route is found at once. Only the thread that drives the loop uses
 * this.
 */

#include "watch/store.h"

#define LATE_ROUTES_LIMIT 8

struct late_routes {
    struct late_route {
        struct address_prefix prefix;
        uint32_t table, oif;
        struct address gateway;
        bool is_missed; /* an answer did not name it */
        uint64_t since; /* the next change's stamp, when the message was read */
    } items[LATE_ROUTES_LIMIT];
    unsigned count;
};

/* Notes a message about a route that affects a watch. False: there is no room. Then any IPv6 route may come late. */
bool late_routes_note(struct late_routes *routes, const struct route *route, uint64_t since);

/* What the answer to a query says of its route. */
struct late_answer {
    struct address destination; /* AF_UNSPEC: there are several, or it is not known */
    int length;                 /* of the route's prefix; -1: not known */
    uint32_t index;             /* 0: not known */
    struct address gateway;
};

void late_routes_compare(struct late_routes *routes, const struct late_answer *answer);

/* Notes the messages from before the change `first` again, if answers did not name their routes, and forgets them.
 * Under the loop's lock. */
void late_routes_mark(struct late_routes *routes, struct store *store, uint64_t first);

#endif
