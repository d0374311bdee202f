/* SPDX-License-Identifier: MIT */
/*
 * The parser for the attributes of a route message, and for the legs of a multipath route; flows.
 *
 * What this file must never do: use an absent attribute as a value, or call a flow complete if a rule selects by what
 * the question does not say.
 */
#ifdef __linux__
#include "pure/route.h"

#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <string.h>

/* The effective user is that of the process. A socket of another process can have another one. ICMP has no ports: no
 * rule for a port selects its packets. */
bool reach_flow_is_incomplete(const struct flow *flow, unsigned selectors)
{
    const bool lacks_ports = flow->protocol != 0 && flow->protocol != IPPROTO_TCP && flow->protocol != IPPROTO_UDP;
    unsigned said = flow->is_socket ? RULE_BY_CLASS | RULE_BY_USER : 0;

    if (flow->is_socket && flow->protocol == 0)
        return true;
    if (flow->protocol != 0)
        said |= RULE_BY_PROTOCOL;
    if (lacks_ports || flow->local_port != 0)
        said |= RULE_BY_LOCAL_PORT;
    if (lacks_ports || flow->remote_port != 0)
        said |= RULE_BY_REMOTE_PORT;
    if (flow->traffic_class != 0)
        said |= RULE_BY_CLASS;
    return (selectors & ~said) != 0;
}

/* RTA_VIA is a family and an address: a gateway of a family other than the route's. Returns true also for an unknown
 * family: there is a gateway. */
static bool get_via_address(const struct attribute *attribute, struct address *ret)
{
    struct rtvia via;

    if (attribute->length < sizeof via)
        return false;
    memcpy(&via, attribute->payload, sizeof via);
    *ret = address_make((uint8_t)via.rtvia_family, (const char *)attribute->payload + sizeof via,
                        attribute->length - sizeof via);
    return true;
}

void reach_route_parse_attributes(struct attribute_walk walk, struct route *route)
{
    struct attribute all[RTA_NH_ID + 1], metrics[RTAX_MTU + 1];
    struct rta_cacheinfo info = { 0 };

    attributes_parse(walk, all);
    attributes_parse(attribute_walk_nest(&all[RTA_METRICS]), metrics);
    if (all[RTA_CACHEINFO].length >= sizeof info)
        memcpy(&info, all[RTA_CACHEINFO].payload, sizeof info);
    attribute_u32(&all[RTA_TABLE], &route->table); /* else that of the header */
    route->oif = attribute_number(&all[RTA_OIF]);
    route->metric = attribute_number(&all[RTA_PRIORITY]);
    route->mtu = attribute_number(&metrics[RTAX_MTU]);
    route->expires = info.rta_expires > 0 ? (uint32_t)info.rta_expires : 0;
    attribute_address(&all[RTA_DST], route->family, &route->destination);
    attribute_address(&all[RTA_PREFSRC], route->family, &route->source);
    route->has_gateway = attribute_address(&all[RTA_GATEWAY], route->family, &route->gateway) ||
                         get_via_address(&all[RTA_VIA], &route->gateway);
    route->has_nexthop_object = all[RTA_NH_ID].payload != NULL;
    route->legs = all[RTA_MULTIPATH].payload;
    route->legs_length = all[RTA_MULTIPATH].length;
}

bool reach_route_next_leg(struct route *route, struct route_leg *ret)
{
    const struct rtnexthop *hop = route->legs;
    struct attribute_walk walk;
    struct attribute attribute;
    size_t step;

    if (hop == NULL || route->legs_length < sizeof *hop || hop->rtnh_len < sizeof *hop ||
        hop->rtnh_len > route->legs_length)
        return false;
    *ret = (struct route_leg){ .oif = (uint32_t)hop->rtnh_ifindex, .flags = hop->rtnh_flags };
    walk = (struct attribute_walk){ .next = (const char *)(hop + 1), .left = hop->rtnh_len - sizeof *hop };
    while (attribute_next(&walk, &attribute)) {
        if (attribute.type == RTA_GATEWAY)
            ret->has_gateway = attribute_address(&attribute, route->family, &ret->gateway);
        else if (attribute.type == RTA_VIA)
            ret->has_gateway = get_via_address(&attribute, &ret->gateway);
    }
    step = RTNH_ALIGN(hop->rtnh_len);
    if (step > route->legs_length)
        step = route->legs_length;
    route->legs = (const char *)route->legs + step;
    route->legs_length -= step;
    return true;
}

struct address_prefix reach_route_prefix(const struct route *route)
{
    struct address_prefix prefix = { .address = route->destination, .length = route->prefix_length };

    prefix.address.family = route->family;
    return prefix;
}

bool reach_route_may_be_another(const struct route *route)
{
    return route->family == AF_INET6 && route->has_nexthop_object;
}

bool reach_route_is_link_multicast(const struct route *route)
{
    return route->family == AF_INET6 && route->type == RTN_MULTICAST && route->prefix_length == 8 &&
           route->protocol == RTPROT_KERNEL;
}
#endif
