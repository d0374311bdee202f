/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FLOWS_FLOW_ORACLE_H
#define TESTS_FLOWS_FLOW_ORACLE_H

/*
 * What a flow's path must be now. The oracle shares no code with the library: bind(2) and connect(2) decide whether
 * packets can leave, RTM_GETROUTE with protocol and ports says over which interface, RTM_GETNEIGH has the next hop.
 */

#include "flows/flow_case.h"

struct flow_verdict {
    bool reachable;
    bool is_multipath; /* the leg is known only with both ports and the source */
    unsigned oif;
    uint8_t source[16], next_hop[16];
    unsigned flow;      /* BetterPath and SourceForeign */
    uint16_t neighbour; /* NUD_... of the next hop; 0: no entry */
    bool is_certain;    /* connect(2) and the query agree */
};

void flow_oracle_open(void);
void flow_oracle_close(void);

struct flow_verdict flow_oracle_decide(const struct flow_case *flow);

/* The state of a neighbour; 0: there is none. */
uint16_t flow_oracle_neighbour(int family, unsigned index, const uint8_t *address);

#endif
