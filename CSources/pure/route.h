/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ROUTE_H
#define REACHABILITY_ROUTE_H

/* Routes, in announcements of the kernel and in replies to queries. */

#include "pure/attribute.h"
#include "pure/flow.h"

/* A multipath route has its oifs and gateways in `legs` only. */
struct route {
    uint8_t family, prefix_length, source_length, type, protocol;
    uint32_t table, oif, mtu, metric;
    bool gone, replaces; /* a message: it was deleted; it has replaced another one */
    bool has_gateway;
    bool has_nexthop_object; /* several routes can share it: see route_may_be_another */
    struct address destination, gateway, source;
    uint32_t expires; /* USER_HZ ticks; 0: never */
    bool expired;     /* but the kernel has not removed it yet */
    const void *legs; /* inside the message, or NULL */
    size_t legs_length;
};

struct route_leg {
    uint32_t oif;
    uint8_t flags; /* RTNH_F_... */
    bool has_gateway;
    struct address gateway;
};

/* The parameters of an RTM_GETROUTE. */
struct route_request {
    struct address destination, source; /* source AF_UNSPEC: the kernel chooses */
    uint32_t oif, mark;                 /* 0: any interface, no mark */
    struct flow flow;
    bool fib_match; /* return the route that matches, not the way that a packet takes */
};

/* Parses the attributes of an RTM_NEWROUTE or RTM_DELROUTE. The caller has set the fields from its header. */
void route_parse_attributes(struct attribute_walk walk, struct route *route);

/* Removes the next leg from a multipath route. False: there is no leg left. */
bool route_next_leg(struct route *route, struct route_leg *ret);

/* The prefix to which the route leads. A message about a default route has no destination. */
struct address_prefix route_prefix(const struct route *route);

/* Whether the reply to a query may name another route than the one that leads to the destination. Linux caches one of
 * the IPv6 routes that share a nexthop object, for each processor, and returns it for all of them: the interface and
 * the gateway are right, and the prefix, the table, the metric and the end may be those of another one. */
bool route_may_be_another(const struct route *route);

/* Whether this is the kernel's IPv6 route to all multicast addresses over a link. The kernel deletes it when IPv6 is
 * disabled on the link. If the link has no address, no other message says that the legs over it are dead. */
bool route_is_link_multicast(const struct route *route);

#endif
