/* SPDX-License-Identifier: MIT */
/*
 * The one place that reads bytes from the kernel. Pure: no system call, no clock, no global.
 *
 * What this file must never do: read an attribute whose length it has not checked, or take an absent attribute for a
 * value. A message that makes no sense is MESSAGE_OTHER, never an error: the kernel's newer messages are none of ours.
 */
#include "message.h"

#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>

/* ---- Attributes ------------------------------------------------------------------------------------------------- */

#define ATTRIBUTES 32 /* more than the highest number that we ask for */

/* By number; those that are not there are NULL. */
typedef const struct nlattr *attributes[ATTRIBUTES];

/* The attribute at `here` if it lies whole before `end`, as libmnl checks; else NULL. */
static const struct nlattr *attribute_at(const void *here, const char *end)
{
    return mnl_attr_ok(here, (int)(end - (const char *)here)) ? here : NULL;
}

static void attributes_read(attributes ret, const void *payload, size_t length)
{
    const char          *end = (const char *)payload + length;
    const struct nlattr *attribute;

    memset(ret, 0, sizeof(attributes));
    for (const void *here = payload; (attribute = attribute_at(here, end)) != NULL; here = mnl_attr_next(attribute))
        if (mnl_attr_get_type(attribute) < ATTRIBUTES)
            ret[mnl_attr_get_type(attribute)] = attribute;
}

/* For nests of which one attribute is wanted. */
static const struct nlattr *attribute_find(const struct nlattr *nest, uint16_t type)
{
    const struct nlattr *attribute;
    const char          *end;

    if (nest == NULL)
        return NULL;
    end = (const char *)mnl_attr_get_payload(nest) + mnl_attr_get_payload_len(nest);
    for (const void *here = mnl_attr_get_payload(nest); (attribute = attribute_at(here, end)) != NULL;
         here = mnl_attr_next(attribute))
        if (mnl_attr_get_type(attribute) == type)
            return attribute;
    return NULL;
}

static bool get_u32(const struct nlattr *attribute, uint32_t *ret)
{
    if (attribute == NULL || mnl_attr_get_payload_len(attribute) != sizeof *ret)
        return false;
    *ret = mnl_attr_get_u32(attribute);
    return true;
}

/* Text with or without its NUL; what does not fit 15 bytes is none of ours. */
static bool get_name(const struct nlattr *attribute, char ret[16])
{
    size_t length;

    if (attribute == NULL)
        return false;
    length = strnlen(mnl_attr_get_payload(attribute), mnl_attr_get_payload_len(attribute));
    if (length == 0 || length > 15)
        return false;
    memset(ret, 0, 16);
    memcpy(ret, mnl_attr_get_payload(attribute), length);
    return true;
}

static bool get_address(const struct nlattr *attribute, uint8_t family, struct address *ret)
{
    if (attribute == NULL)
        return false;
    *ret = address_make(family, mnl_attr_get_payload(attribute), mnl_attr_get_payload_len(attribute));
    return ret->family != AF_UNSPEC;
}

/* RTA_VIA: a next hop of another family, a family in front of the address. */
static bool get_via(const struct nlattr *attribute, struct address *ret)
{
    const struct rtvia *via;

    if (attribute == NULL || mnl_attr_get_payload_len(attribute) < sizeof *via)
        return false;
    via = mnl_attr_get_payload(attribute);
    *ret = address_make((uint8_t)via->rtvia_family, via->rtvia_addr,
                        mnl_attr_get_payload_len(attribute) - sizeof *via);
    return true; /* a hop of a family that we do not know is a hop all the same */
}

static bool get_gateway(const attributes attrs, uint8_t family, struct address *ret)
{
    return get_address(attrs[RTA_GATEWAY], family, ret) || get_via(attrs[RTA_VIA], ret);
}

/* ---- Messages --------------------------------------------------------------------------------------------------- */

static void parse_link(const struct nlmsghdr *header, struct message *ret)
{
    const struct ifinfomsg *info = mnl_nlmsg_get_payload(header);
    struct message_link    *link = &ret->link;
    attributes              attrs;

    /* The bridge sends DELLINK of family AF_BRIDGE for a port that left it and lives on. */
    if (mnl_nlmsg_get_payload_len(header) < sizeof *info || info->ifi_family != AF_UNSPEC || info->ifi_index <= 0)
        return;
    ret->kind = header->nlmsg_type == RTM_DELLINK ? MESSAGE_LINK_GONE : MESSAGE_LINK;
    link->index = (uint32_t)info->ifi_index;
    link->flags = info->ifi_flags;
    link->hardware = info->ifi_type;
    attributes_read(attrs, mnl_nlmsg_get_payload_offset(header, sizeof *info),
                    mnl_nlmsg_get_payload_len(header) - sizeof *info);
    link->has_name = get_name(attrs[IFLA_IFNAME], link->name);
    link->has_mtu = get_u32(attrs[IFLA_MTU], &link->mtu);
    link->has_kind = get_name(attribute_find(attrs[IFLA_LINKINFO], IFLA_INFO_KIND), link->kind);
}

static void parse_cache_info(const struct nlattr *attribute, struct route *route)
{
    struct rta_cacheinfo info;

    if (attribute == NULL || mnl_attr_get_payload_len(attribute) < sizeof info)
        return;
    memcpy(&info, mnl_attr_get_payload(attribute), sizeof info);
    if (info.rta_expires > 0)
        route->expires = (uint32_t)info.rta_expires;
}

static void parse_route(const struct nlmsghdr *header, struct message *ret)
{
    const struct rtmsg *info = mnl_nlmsg_get_payload(header);
    struct route       *route = &ret->route;
    attributes          attrs;

    if (mnl_nlmsg_get_payload_len(header) < sizeof *info)
        return;
    ret->kind = MESSAGE_ROUTE;
    route->family = info->rtm_family;
    route->prefix_length = info->rtm_dst_len;
    route->type = info->rtm_type;
    route->table = info->rtm_table;
    attributes_read(attrs, mnl_nlmsg_get_payload_offset(header, sizeof *info),
                    mnl_nlmsg_get_payload_len(header) - sizeof *info);
    get_u32(attrs[RTA_TABLE], &route->table);
    get_u32(attrs[RTA_OIF], &route->oif);
    get_address(attrs[RTA_DST], route->family, &route->destination);
    get_address(attrs[RTA_PREFSRC], route->family, &route->source);
    route->has_gateway = get_gateway(attrs, route->family, &route->gateway);
    get_u32(attribute_find(attrs[RTA_METRICS], RTAX_MTU), &route->mtu);
    parse_cache_info(attrs[RTA_CACHEINFO], route);
    if (attrs[RTA_MULTIPATH] != NULL) {
        route->legs = mnl_attr_get_payload(attrs[RTA_MULTIPATH]);
        route->legs_length = mnl_attr_get_payload_len(attrs[RTA_MULTIPATH]);
    }
}

bool route_next_leg(struct route *route, struct route_leg *ret)
{
    const struct rtnexthop *hop = route->legs;
    attributes              attrs;
    size_t                  step;

    if (hop == NULL || route->legs_length < sizeof *hop || hop->rtnh_len < sizeof *hop ||
        hop->rtnh_len > route->legs_length)
        return false;
    memset(ret, 0, sizeof *ret);
    ret->oif = (uint32_t)hop->rtnh_ifindex;
    ret->flags = hop->rtnh_flags;
    attributes_read(attrs, (const char *)hop + sizeof *hop, hop->rtnh_len - sizeof *hop);
    ret->has_gateway = get_gateway(attrs, route->family, &ret->gateway);
    step = RTNH_ALIGN(hop->rtnh_len);
    if (step > route->legs_length)
        step = route->legs_length;
    route->legs = (const char *)route->legs + step;
    route->legs_length -= step;
    return true;
}

/* NLMSG_ERROR and NLMSG_DONE both start with a negative errno, but an old NLMSG_DONE may be empty. */
static void parse_end(const struct nlmsghdr *header, struct message *ret)
{
    int error = 0;

    if (mnl_nlmsg_get_payload_len(header) >= sizeof error)
        memcpy(&error, mnl_nlmsg_get_payload(header), sizeof error);
    else if (header->nlmsg_type == NLMSG_ERROR)
        return;
    ret->kind = header->nlmsg_type == NLMSG_DONE ? MESSAGE_DONE : MESSAGE_ERROR;
    ret->error = error < 0 && error > -4096 ? -error : 0;
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

    memset(ret, 0, sizeof *ret);
    if (length < sizeof *header || header->nlmsg_len < sizeof *header || header->nlmsg_len > length)
        return 0;
    ret->sequence = header->nlmsg_seq;
    ret->port = header->nlmsg_pid;
    ret->interrupted = (header->nlmsg_flags & NLM_F_DUMP_INTR) != 0;
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
    case NLMSG_DONE:
        parse_end(header, ret);
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

size_t message_put_link_dump(void *buffer, uint32_t sequence)
{
    return put_link_request(buffer, NLM_F_DUMP, sequence, 0)->nlmsg_len;
}
