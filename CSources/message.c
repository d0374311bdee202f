/* SPDX-License-Identifier: MIT */
/*
 * Bytes from the kernel to values. Pure: no system call, no clock, no global. libmnl builds the requests.
 *
 * What this file must never do: read an attribute whose length it has not checked, or take an absent attribute for a
 * value. A message that makes no sense is MESSAGE_OTHER, never an error: the kernel's newer messages are none of ours.
 */
#include "message.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>

/* ---- Messages --------------------------------------------------------------------------------------------------- */

/* RTA_VIA: a next hop of another family, a family in front of the address. One of a family that we do not know is a hop
 * all the same. */
static bool get_via(const struct attribute *attribute, struct address *ret)
{
    struct rtvia via;

    if (attribute->length < sizeof via)
        return false;
    memcpy(&via, attribute->payload, sizeof via);
    *ret = address_make((uint8_t)via.rtvia_family, (const char *)attribute->payload + sizeof via,
                        attribute->length - sizeof via);
    return true;
}

static void parse_link(const struct nlmsghdr *header, struct message *ret)
{
    const struct ifinfomsg *info = NLMSG_DATA(header);
    struct walk             walk = walk_message(header, sizeof *info);
    struct attribute        attribute;
    struct message_link    *link = &ret->link;
    bool                    is_elsewhere = false;

    /* The bridge sends DELLINK of family AF_BRIDGE for a port that left it and lives on. */
    if (!message_has(header, sizeof *info) || info->ifi_family != AF_UNSPEC || info->ifi_index <= 0)
        return;
    ret->kind = header->nlmsg_type == RTM_DELLINK ? MESSAGE_LINK_GONE : MESSAGE_LINK;
    *link = (struct message_link){ 0 };
    link->index = (uint32_t)info->ifi_index;
    link->flags = info->ifi_flags;
    link->hardware = info->ifi_type;
    while (walk_next(&walk, &attribute)) {
        if (attribute.type == IFLA_IFNAME)
            link->has_name = attribute_name(&attribute, link->name);
        else if (attribute.type == IFLA_MTU)
            link->has_mtu = attribute_u32(&attribute, &link->mtu);
        else if (attribute.type == IFLA_LINK)
            attribute_u32(&attribute, &link->lower);
        else if (attribute.type == IFLA_MASTER)
            attribute_u32(&attribute, &link->master);
        else if (attribute.type == IFLA_LINK_NETNSID)
            is_elsewhere = true;
        else if (attribute.type == IFLA_LINKINFO)
            linkinfo_parse(&attribute, &link->info);
    }
    /* What carries it is a link of another network namespace: the index says nothing here, and neither do addresses. */
    if (is_elsewhere) {
        link->lower = 0;
        link->info.tunnel = (struct tunnel){ 0 };
    }
}

static void parse_metrics(const struct attribute *nest, struct route *route)
{
    struct walk      walk = walk_nest(nest);
    struct attribute attribute;

    while (walk_next(&walk, &attribute))
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
}

static void parse_route_attribute(const struct attribute *attribute, struct route *route)
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
    case RTA_GATEWAY:
        route->has_gateway = attribute_address(attribute, route->family, &route->gateway);
        break;
    case RTA_VIA:
        route->has_gateway = get_via(attribute, &route->gateway);
        break;
    case RTA_METRICS:
        parse_metrics(attribute, route);
        break;
    case RTA_CACHEINFO:
        parse_cache_info(attribute, route);
        break;
    case RTA_MULTIPATH:
        route->legs = attribute->payload;
        route->legs_length = attribute->length;
        break;
    default:
        break;
    }
}

static void parse_route(const struct nlmsghdr *header, struct message *ret)
{
    const struct rtmsg *info = NLMSG_DATA(header);
    struct walk         walk = walk_message(header, sizeof *info);
    struct attribute    attribute;
    struct route       *route = &ret->route;

    if (!message_has(header, sizeof *info))
        return;
    ret->kind = MESSAGE_ROUTE;
    memset(route, 0, sizeof *route);
    route->family = info->rtm_family;
    route->prefix_length = info->rtm_dst_len;
    route->type = info->rtm_type;
    route->table = info->rtm_table;
    while (walk_next(&walk, &attribute))
        parse_route_attribute(&attribute, route);
}

bool route_next_leg(struct route *route, struct route_leg *ret)
{
    const struct rtnexthop *hop = route->legs;
    struct walk             walk;
    struct attribute        attribute;
    size_t                  step;

    if (hop == NULL || route->legs_length < sizeof *hop || hop->rtnh_len < sizeof *hop ||
        hop->rtnh_len > route->legs_length)
        return false;
    *ret = (struct route_leg){ .oif = (uint32_t)hop->rtnh_ifindex, .flags = hop->rtnh_flags };
    walk = (struct walk){ .next = (const char *)(hop + 1), .left = hop->rtnh_len - sizeof *hop };
    while (walk_next(&walk, &attribute)) {
        if (attribute.type == RTA_GATEWAY)
            ret->has_gateway = attribute_address(&attribute, route->family, &ret->gateway);
        else if (attribute.type == RTA_VIA)
            ret->has_gateway = get_via(&attribute, &ret->gateway);
    }
    step = RTNH_ALIGN(hop->rtnh_len);
    if (step > route->legs_length)
        step = route->legs_length;
    route->legs = (const char *)route->legs + step;
    route->legs_length -= step;
    return true;
}

bool route_covers(const struct route *route, const struct address *address)
{
    struct address prefix = route->destination;

    /* A default route has no RTA_DST. */
    if (prefix.family == AF_UNSPEC)
        prefix.family = route->family;
    return address_in_prefix(address, &prefix, route->prefix_length);
}

/* Both start with a negative errno, but an old NLMSG_DONE may be empty. */
int message_error(const struct nlmsghdr *header)
{
    int error;

    if (!message_has(header, sizeof error))
        return header->nlmsg_type == NLMSG_DONE ? 0 : EBADMSG;
    memcpy(&error, NLMSG_DATA(header), sizeof error);
    return error < 0 && error > -4096 ? -error : 0;
}

static enum message_kind plain_kind(uint16_t type)
{
    switch (type) {
    case RTM_NEWADDR:
    case RTM_DELADDR:
        return MESSAGE_ADDRESS;
    case RTM_NEWRULE:
    case RTM_DELRULE:
        return MESSAGE_RULE;
    case RTM_NEWNEXTHOP:
    case RTM_DELNEXTHOP:
        return MESSAGE_NEXTHOP;
    case RTM_NEWNETCONF:
    case RTM_DELNETCONF:
        return MESSAGE_NETCONF;
    default:
        return MESSAGE_OTHER;
    }
}

size_t message_parse(const void *bytes, size_t length, struct message *ret)
{
    const struct nlmsghdr *header = bytes;
    size_t                 step;

    ret->kind = MESSAGE_OTHER;
    ret->sequence = ret->port = 0;
    ret->error = 0;
    if (length < sizeof *header || header->nlmsg_len < sizeof *header || header->nlmsg_len > length)
        return 0;
    ret->sequence = header->nlmsg_seq;
    ret->port = header->nlmsg_pid;
    switch (header->nlmsg_type) {
    case RTM_NEWLINK:
    case RTM_DELLINK:
        parse_link(header, ret);
        break;
    case RTM_NEWROUTE:
    case RTM_DELROUTE:
        parse_route(header, ret);
        break;
    case NLMSG_ERROR:
        if (message_has(header, sizeof ret->error)) {
            ret->kind = MESSAGE_ERROR;
            ret->error = message_error(header);
        }
        break;
    default:
        ret->kind = plain_kind(header->nlmsg_type);
    }
    step = (header->nlmsg_len + 3u) & ~(size_t)3u;
    return step < length ? step : length;
}

/* ---- Requests --------------------------------------------------------------------------------------------------- */

static struct nlmsghdr *put_header(void *buffer, uint16_t type, uint16_t flags, uint32_t sequence)
{
    struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);

    header->nlmsg_type = type;
    header->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
    header->nlmsg_seq = sequence;
    return header;
}

size_t message_put_route_query(void *buffer, uint32_t sequence, const struct route_request *request)
{
    struct nlmsghdr *header = put_header(buffer, RTM_GETROUTE, 0, sequence);
    struct rtmsg    *info = mnl_nlmsg_put_extra_header(header, sizeof *info);
    const size_t     length = address_length(&request->destination);

    info->rtm_family = request->destination.family;
    info->rtm_dst_len = (unsigned char)(length * 8);
    /* Without LOOKUP_TABLE IPv4 always says "main". IPv6 tells the table anyway and refuses the flag (EINVAL). */
    info->rtm_flags = (info->rtm_family == AF_INET ? RTM_F_LOOKUP_TABLE : 0u) |
                      (request->fib_match ? RTM_F_FIB_MATCH : 0u);
    mnl_attr_put(header, RTA_DST, length, request->destination.bytes);
    if (request->source.family != AF_UNSPEC) {
        info->rtm_src_len = (unsigned char)(length * 8);
        mnl_attr_put(header, RTA_SRC, length, request->source.bytes);
    }
    if (request->oif != 0)
        mnl_attr_put_u32(header, RTA_OIF, request->oif);
    if (request->mark != 0)
        mnl_attr_put_u32(header, RTA_MARK, request->mark);
    return header->nlmsg_len;
}

static struct nlmsghdr *put_link_request(void *buffer, uint16_t flags, uint32_t sequence, uint32_t index)
{
    struct nlmsghdr  *header = put_header(buffer, RTM_GETLINK, flags, sequence);
    struct ifinfomsg *info = mnl_nlmsg_put_extra_header(header, sizeof *info);

    info->ifi_family = AF_UNSPEC;
    info->ifi_index = (int)index;
    mnl_attr_put_u32(header, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
    return header;
}

size_t message_put_link_query(void *buffer, uint32_t sequence, uint32_t index)
{
    return put_link_request(buffer, 0, sequence, index)->nlmsg_len;
}

size_t message_put_link_dump(void *buffer)
{
    return put_link_request(buffer, NLM_F_DUMP, 0, 0)->nlmsg_len;
}

size_t message_put_port_dump(void *buffer, uint32_t master)
{
    struct nlmsghdr *header = put_link_request(buffer, NLM_F_DUMP, 0, 0);

    mnl_attr_put_u32(header, IFLA_MASTER, master);
    return header->nlmsg_len;
}
