/* SPDX-License-Identifier: MIT */
/*
 * The parser for the attributes of a route message, and for the legs of a multipath route.
 *
 * What this file must never do: use an absent attribute as a value.
 */
#ifdef __linux__
#include "pure/route.h"

#include <linux/rtnetlink.h>
#include <string.h>

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

static void parse_metrics(const struct attribute *nest, struct route *route)
{
    struct attribute_walk walk = attribute_walk_nest(nest);
    struct attribute attribute;

    while (attribute_next(&walk, &attribute))
        if (attribute.type == RTAX_MTU)
            attribute_u32(&attribute, &route->mtu);
}

static void parse_cache_info(const struct attribute *attribute, struct route *route)
{
    struct rta_cacheinfo info;

    if (attribute->length < sizeof info)
        return;
    memcpy(&info, attribute->payload, sizeof info);
    if (info.rta_expires > 0)
        route->expires = (uint32_t)info.rta_expires;
    route->expired = info.rta_expires < 0;
}

static void parse_attribute(const struct attribute *attribute, struct route *route)
{
    switch (attribute->type) {
    case RTA_TABLE:
        attribute_u32(attribute, &route->table);
        break;
    case RTA_OIF:
        attribute_u32(attribute, &route->oif);
        break;
    case RTA_DST:
        attribute_address(attribute, route->family, &route->destination);
        break;
    case RTA_PREFSRC:
        attribute_address(attribute, route->family, &route->source);
        break;
    case RTA_PRIORITY:
        attribute_u32(attribute, &route->metric);
        break;
    case RTA_GATEWAY:
        route->has_gateway = attribute_address(attribute, route->family, &route->gateway);
        break;
    case RTA_VIA:
        route->has_gateway = get_via_address(attribute, &route->gateway);
        break;
    case RTA_METRICS:
        parse_metrics(attribute, route);
        break;
    case RTA_CACHEINFO:
        parse_cache_info(attribute, route);
        break;
    case RTA_NH_ID:
        route->has_nexthop_object = true;
        break;
    case RTA_MULTIPATH:
        route->legs = attribute->payload;
        route->legs_length = attribute->length;
        break;
    default:
        break;
    }
}

void route_parse_attributes(struct attribute_walk walk, struct route *route)
{
    struct attribute attribute;

    while (attribute_next(&walk, &attribute))
        parse_attribute(&attribute, route);
}

bool route_next_leg(struct route *route, struct route_leg *ret)
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

struct address_prefix route_prefix(const struct route *route)
{
    struct address_prefix prefix = { .address = route->destination, .length = route->prefix_length };

    prefix.address.family = route->family;
    return prefix;
}

bool route_may_be_another(const struct route *route)
{
    return route->family == AF_INET6 && route->has_nexthop_object;
}

bool route_is_link_multicast(const struct route *route)
{
    return route->family == AF_INET6 && route->type == RTN_MULTICAST && route->prefix_length == 8 &&
           route->protocol == RTPROT_KERNEL;
}
#endif
