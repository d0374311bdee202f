/* SPDX-License-Identifier: MIT */
/*
 * What a question says of its packets, and what rules select by.
 *
 * What this file must never do: call a flow complete if a rule selects by what the question does not say.
 */
#ifdef __linux__
#include "pure/flow.h"

#include <netinet/in.h>

/* ICMP has no ports: no rule for a port selects its packets. */
static bool has_ports(const struct flow *flow)
{
    return flow->protocol == IPPROTO_TCP || flow->protocol == IPPROTO_UDP;
}

/* The effective user is that of the process. A socket of another process can have another one. */
bool flow_is_incomplete(const struct flow *flow, unsigned selectors)
{
    unsigned said = flow->is_socket ? RULE_BY_CLASS | RULE_BY_USER : 0;

    if (flow->is_socket && flow->protocol == 0)
        return true;
    if (flow->protocol != 0)
        said |= RULE_BY_PROTOCOL;
    if ((flow->protocol != 0 && !has_ports(flow)) || flow->local_port != 0)
        said |= RULE_BY_LOCAL_PORT;
    if ((flow->protocol != 0 && !has_ports(flow)) || flow->remote_port != 0)
        said |= RULE_BY_REMOTE_PORT;
    if (flow->traffic_class != 0)
        said |= RULE_BY_CLASS;
    return (selectors & ~said) != 0;
}
#endif
