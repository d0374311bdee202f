/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_FLOW_H
#define REACHABILITY_FLOW_H

/* What a question says of its packets, besides addresses, interface and mark: rules and multipath routes can select by
 * it. */

#include <stdbool.h>
#include <stdint.h>

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
bool flow_is_incomplete(const struct flow *flow, unsigned selectors);

#endif
