/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FLOWS_FLOW_CHANGES_H
#define TESTS_FLOWS_FLOW_CHANGES_H

/* The network of the flow soak, and its random changes: routes, rules that select by protocol, port, class and mark,
 * addresses, carriers, neighbours that are set or really fail. */

#include "flows/flow_case.h"
#include "support/writer.h"

#define FLOW_RULES 8 /* even numbers are of IPv4 */

/* A rule with the priority 100 + its number. What is 0 does not count. */
struct flow_rule {
    bool is_there;
    uint8_t protocol, traffic_class;
    uint16_t local_port, remote_port;
    uint32_t mark;
    bool by_user;
};

struct flow_world {
    struct writer writer;
    struct flow_rule rules[FLOW_RULES];
    bool avoids_failed_legs; /* net.ipv4.fib_multipath_use_neigh */
};

/* The bits decide whether ports choose the leg, and whether the kernel avoids legs whose gateways have failed. */
void flow_world_open(struct flow_world *ret, uint64_t bits);
void flow_world_close(struct flow_world *world);

/* Makes the change that the bits decide, and adds its text. */
void flow_world_change(struct flow_world *world, uint64_t bits, struct text *ret);

/* Whether the kernel is asking if a gateway responds: meanwhile it uses one that had failed, without a message. */
bool flow_world_is_asking(int family);

/* Whether a rule of the family selects by what the case does not say. */
bool flow_world_hides(const struct flow_world *world, const struct flow_case *flow);

#endif
