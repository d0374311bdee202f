/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_EQUAL_ROUTES_H
#define REACHABILITY_EQUAL_ROUTES_H

/*
 * The IPv4 default routes among which the kernel can choose by the state of their gateways: those with the same table
 * and metric, and the legs of one. No query shows the others of a route. The first routes of a dump do, and later the
 * messages, which the filter always passes. Only the thread that drives the loop uses this.
 *
 * Some of them may be gone, which makes the library evaluate paths too often. At most EQUAL_ROUTES_LIMIT; others are
 * ignored.
 */

#include "kernel/rtnetlink.h"
#include "watch/gateways.h"

#define EQUAL_ROUTES_LIMIT 16

struct equal_routes {
    struct equal_route {
        uint32_t table, metric, index;
        struct address gateway;
        bool is_leg;
    } items[EQUAL_ROUTES_LIMIT]; /* all default routes with a gateway */
    unsigned count;
    bool known;
};

/* Reads them, if they are not known. */
void equal_routes_read(struct equal_routes *routes, struct rtnetlink *rtnetlink);

/* Notes a message about a route. */
void equal_routes_note(struct equal_routes *routes, const struct route *route);

/* Whether the kernel has a choice beside this gateway over a link, or that is not known. */
bool equal_routes_are_possible(const struct equal_routes *routes, uint32_t index, const struct address *gateway);

/* Holds the gateways among which the kernel can choose. Under the loop's lock. */
void equal_routes_hold(const struct equal_routes *routes, struct gateways *gateways);

#endif
