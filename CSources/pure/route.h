/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ROUTE_H
#define REACHABILITY_ROUTE_H

/* A route: as the kernel announces it, or as it answers a query. */

#include "pure/attribute.h"

/* A route, or the answer to a query. Of several legs, those in `legs` count and the top level has neither oif nor
 * gateway. */
struct route {
    uint8_t        family, prefix_length, type;
    uint32_t       table, oif, mtu;
    bool           has_gateway;
    struct address destination, gateway, source;
    uint32_t       expires; /* USER_HZ ticks; 0: never */
    const void    *legs;    /* inside the message, or NULL */
    size_t         legs_length;
};

struct route_leg {
    uint32_t       oif;
    uint8_t        flags; /* RTNH_F_... */
    bool           has_gateway;
    struct address gateway;
};

/* What RTM_GETROUTE is asked. */
struct route_request {
    struct address destination, source; /* source AF_UNSPEC: the kernel's choice */
    uint32_t       oif, mark;           /* 0: any, none */
    bool           fib_match;           /* the route that matched, rather than the way that a packet would take */
};

/* Reads the attributes of an RTM_NEWROUTE or RTM_DELROUTE; its header is read already. */
void route_parse_attributes(struct walk walk, struct route *route);

/* Steps through the legs of a multipath route. False: there are no more. */
bool route_next_leg(struct route *route, struct route_leg *ret);

/* Whether the route is for this address, among others. */
bool route_covers(const struct route *route, const struct address *address);

#endif
