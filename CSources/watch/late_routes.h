/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LATE_ROUTES_H
#define REACHABILITY_LATE_ROUTES_H

/*
 * New IPv6 routes that a query may not find yet. The kernel sends the message about the first route to a prefix before
 * look-ups find that route, and newer kernels (6.18) make the change without RTNL, so the barrier does not wait for it:
 * 22 of 200,000 queries after message and barrier did not find the route. If an answer does not name it, the message is
 * noted again a few milliseconds later. Only the thread that drives the loop uses this.
 */

#include "watch/store.h"

#define LATE_ROUTES_LIMIT 8

struct late_routes {
    struct late_route {
        struct address_prefix prefix;
        uint32_t table;
        bool has_source; /* it is for packets from a prefix. No answer names it */
        bool is_missed;  /* an answer did not name it */
        int64_t read;    /* when the message was read */
    } items[LATE_ROUTES_LIMIT];
    unsigned count;
};

/* Notes a message about a route that affects a watch. False: there is no room. Then any IPv6 route may come late. */
bool late_routes_note(struct late_routes *routes, const struct route *route, int64_t now);

/* Notes the answer to a query about `destination`; AF_UNSPEC: about several, or that is not known. `length`: of the
 * prefix of the route that it names; -1: it names none. */
void late_routes_compare(struct late_routes *routes, const struct address *destination, int length);

/* Notes the messages that were read long enough ago again, if answers did not name their routes, and forgets them.
 * Under the loop's lock. */
void late_routes_mark(struct late_routes *routes, struct store *store, int64_t now);

#endif
