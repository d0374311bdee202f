/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FLOWS_FLOW_CASE_H
#define TESTS_FLOWS_FLOW_CASE_H

/* What a target of the flow soak is about: packets of a protocol between two addresses and ports, or of a socket. */

#include <netinet/in.h>
#include <reachability/reachability.h>
#include <stdbool.h>

#include "soak/random.h"
#include "soak/text.h"

enum flow_kind { FLOW_EXACT, FLOW_PAIR, FLOW_SOCKET };

struct flow_case {
    enum flow_kind kind;
    int family;
    uint8_t protocol, traffic_class;
    uint16_t local_port, remote_port; /* a local port 0: any */
    uint32_t mark;
    bool has_local;
    uint8_t local[16], remote[16];
    uint32_t options;
};

/* The addresses that the changes give to interfaces, and those that they route. Indexed by family: IPv4, IPv6. */
#define FLOW_LOCALS  2
#define FLOW_REMOTES 4
extern const char *const flow_locals[2][FLOW_LOCALS], *const flow_remotes[2][FLOW_REMOTES];

void flow_case_draw(uint64_t *random, struct flow_case *ret);

/* Whether callbacks report its flow; and whether GetLastPath in a callback says what it reports of the next hop. */
bool flow_case_reports_flow(const struct flow_case *flow);
bool flow_case_reports_next_hop(const struct flow_case *flow);

/* A target for it. NULL: the socket of the case cannot be connected now. Then it gets no target. */
SCNetworkReachabilityRef flow_case_create(struct flow_case *flow);

/* A socket as the case describes it, connected: without a packet, also for TCP. `bound`: to the local address and port.
 * `device`: NULL or SO_BINDTODEVICE. Returns the descriptor, or -1 with errno. */
int flow_case_connect(const struct flow_case *flow, bool bound, const char *device);

/* The local address and port of a socket. */
void flow_case_read_local(int fd, uint8_t ret_address[16], uint16_t *ret_port);

void flow_case_describe(const struct flow_case *flow, struct text *ret);

#endif
