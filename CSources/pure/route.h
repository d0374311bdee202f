/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ROUTE_H
#define REACHABILITY_ROUTE_H

/* Routes, in announcements of the kernel and in replies to queries, and what a query says of its packets. */

#include "pure/attribute.h"

/* ---- Flows: what a question says of its packets, besides addresses, interface and mark. Rules and multipath routes
 * can select by it. */

struct flow {
    uint8_t protocol;      /* IPPROTO_...; 0: not said, and ports do not count */
    uint8_t traffic_class; /* without the two bits for congestion (ECN) */
    uint16_t local_port;   /* in the machine's order; 0: not said */
    uint16_t remote_port;
    bool is_socket; /* of a socket: all is said, but a protocol that queries do not take */
    uint32_t user;  /* of a socket: its owner */
};

#define FLOW_CLASS_MASK 0xfc /* of a traffic class, without ECN */

static inline bool flow_is_empty(const struct flow *flow)
{
    return flow->protocol == 0 && flow->traffic_class == 0 && !flow->is_socket;
}

static inline bool flow_equal(const struct flow *a, const struct flow *b)
{
    return a->protocol == b->protocol && a->traffic_class == b->traffic_class && a->local_port == b->local_port &&
           a->remote_port == b->remote_port && a->is_socket == b->is_socket && a->user == b->user;
}

/* What policy rules select by: bits. */
enum rule_selectors {
    RULE_BY_PROTOCOL = 1,
    RULE_BY_LOCAL_PORT = 2,
    RULE_BY_REMOTE_PORT = 4,
    RULE_BY_CLASS = 8,
    RULE_BY_USER = 16,
    RULE_BY_OTHER = 32, /* what no question says: IPv6 flow labels */
};

/* Whether rules that select by `selectors` may decide otherwise for a socket that the flow is about. */
bool reach_flow_is_incomplete(const struct flow *flow, unsigned selectors);

/* ---- Routes */

/* A multipath route has its oifs and gateways in `legs` only. */
struct route {
    uint8_t family, prefix_length, source_length, type, protocol;
    uint32_t table, oif, mtu, metric;
    bool gone, replaces; /* a message: it was deleted; it has replaced another one */
    bool has_gateway;
    bool hides_legs;         /* they do not fit into a reply. The prefix is the address alone */
    bool has_nexthop_object; /* several routes can share it: see reach_route_may_be_another */
    struct address destination, gateway, source;
    uint32_t expires; /* USER_HZ ticks; 0: never */
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
void reach_route_parse_attributes(struct attribute_walk walk, struct route *route);

/* Removes the next leg from a multipath route. False: there is no leg left. */
bool reach_route_next_leg(struct route *route, struct route_leg *ret);

/* The prefix to which the route leads. A message about a default route has no destination. */
struct address_prefix reach_route_prefix(const struct route *route);

/* Whether the reply to a query may name another route than the one that leads to the destination. Linux caches one of
 * the IPv6 routes that share a nexthop object, for each processor, and returns it for all of them: the interface and
 * the gateway are right, and the prefix, the table, the metric and the end may be those of another one. */
bool reach_route_may_be_another(const struct route *route);

/* Whether this is the kernel's IPv6 route to all multicast addresses over a link. The kernel deletes it when IPv6 is
 * disabled on the link. If the link has no address, no other message says that the legs over it are dead. */
bool reach_route_is_link_multicast(const struct route *route);

/* ---- rule.c: policy rules, see ip-rule(8) */

/* Whether an RTM_NEWRULE is about a rule that the kernel itself installs: all packets use the table "local", then
 * "main", then "default". */
bool reach_rule_is_standard(const struct nlmsghdr *message);

/* Whether the rule of an RTM_NEWRULE does no more than choose a table, or refuse, by the destination or by what is the
 * same for all plain questions: the user, the mark 0, no interface. So it suppresses no routes of the table. */
bool reach_rule_chooses_table(const struct nlmsghdr *message);

/* By what the rule of an RTM_NEWRULE selects packets of this machine: bits. */
unsigned reach_rule_selectors(const struct nlmsghdr *message);

#endif
