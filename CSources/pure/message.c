/* SPDX-License-Identifier: MIT */
/*
 * The parser for rtnetlink messages, and the builders of requests, which use libmnl.
 *
 * What this file must never do: read an attribute without a check of its length, or use an absent attribute as a value.
 * A malformed or unknown message is MESSAGE_OTHER, not an error: newer kernels send messages that this file does not
 * know.
 */
#ifdef __linux__
#include "pure/message.h"

#include <errno.h>
#include <netinet/in.h> /* before the kernel's headers, as musl wants it */

#include <libmnl/libmnl.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/if_tunnel.h>
#include <linux/neighbour.h>
#include <linux/netconf.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <string.h>

/* ---- The kinds of links ----------------------------------------------------------------------------------------- */

/* Each kind numbers its attributes itself, so the data of a kind that is not known must not be read. */

#define LAST_DATA 20 /* IFLA_GRE_FWMARK, the largest type that is read */

/* The attributes of a tunnel kind that say where its packets go. 0: there is none. */
static const struct tunnel_layout {
    const char *kind;
    uint16_t oif, local, remote, local6, remote6, mark; /* some kinds have separate ones for IPv6 */
} tunnel_layouts[] = {
/* Not geneve: a geneve link can move to another network namespace, its packets leave in the first one, and no attribute
 * reports that. The other kinds have IFLA_LINK_NETNSID then. */
#define GRE(name) \
    { \
        name, IFLA_GRE_LINK, IFLA_GRE_LOCAL, IFLA_GRE_REMOTE, 0, 0, IFLA_GRE_FWMARK \
    }
#define IPTUN(name) \
    { \
        name, IFLA_IPTUN_LINK, IFLA_IPTUN_LOCAL, IFLA_IPTUN_REMOTE, 0, 0, IFLA_IPTUN_FWMARK \
    }
#define VTI(name) \
    { \
        name, IFLA_VTI_LINK, IFLA_VTI_LOCAL, IFLA_VTI_REMOTE, 0, 0, IFLA_VTI_FWMARK \
    }
    GRE("gre"),
    GRE("gretap"),
    GRE("erspan"),
    GRE("ip6gre"),
    GRE("ip6gretap"),
    GRE("ip6erspan"),
    IPTUN("ipip"),
    IPTUN("sit"),
    IPTUN("ip6tnl"),
    VTI("vti"),
    VTI("vti6"),
    { "vxlan", IFLA_VXLAN_LINK, IFLA_VXLAN_LOCAL, IFLA_VXLAN_GROUP, IFLA_VXLAN_LOCAL6, IFLA_VXLAN_GROUP6, 0 },
};

/* The unspecified address means that there is none. */
static struct address tunnel_end(const struct attribute *data, uint16_t ipv4, uint16_t ipv6)
{
    struct address end;

    if (!attribute_any_address(&data[ipv6 != 0 && data[ipv6].payload != NULL ? ipv6 : ipv4], &end) ||
        reach_address_is_unspecified(&end))
        return (struct address){ 0 };
    return end;
}

static void parse_tunnel(const struct attribute *data, const char *kind, struct tunnel *ret)
{
    for (size_t i = 0; i < sizeof tunnel_layouts / sizeof tunnel_layouts[0]; i++) {
        const struct tunnel_layout *layout = &tunnel_layouts[i];

        if (strcmp(layout->kind, kind) != 0)
            continue;
        ret->oif = attribute_number(&data[layout->oif]);
        ret->mark = layout->mark == 0 ? 0 : attribute_number(&data[layout->mark]);
        ret->local = tunnel_end(data, layout->local, layout->local6);
        ret->remote = tunnel_end(data, layout->remote, layout->remote6);
        /* A multicast group receives only packets for unknown hosts. The other packets go to other addresses. */
        if (reach_address_is_multicast(&ret->remote))
            *ret = (struct tunnel){ 0 };
    }
}

void reach_message_parse_linkinfo(const struct attribute *nest, struct linkinfo *ret)
{
    struct attribute info[IFLA_INFO_DATA + 1], data[LAST_DATA + 1];

    *ret = (struct linkinfo){ 0 };
    attributes_parse(attribute_walk_nest(nest), info);
    attributes_parse(attribute_walk_nest(&info[IFLA_INFO_DATA]), data);
    ret->has_kind = attribute_name(&info[IFLA_INFO_KIND], ret->kind);
    parse_tunnel(data, ret->kind, &ret->tunnel);
    if (strcmp(ret->kind, "bond") == 0)
        ret->active = attribute_number(&data[IFLA_BOND_ACTIVE_SLAVE]);
    else if (strcmp(ret->kind, "vrf") == 0)
        ret->vrf_table = attribute_number(&data[IFLA_VRF_TABLE]);
}

/* ---- Messages --------------------------------------------------------------------------------------------------- */

static void parse_link_message(const struct nlmsghdr *header, struct message *ret)
{
    const struct ifinfomsg *info = NLMSG_DATA(header);
    struct attribute all[IFLA_LINK_NETNSID + 1];
    struct message_link *link = &ret->link;

    if (!message_has(header, sizeof *info) || info->ifi_index <= 0)
        return;
    if (info->ifi_family == AF_INET6) { /* IPv6 was enabled on the link, for example */
        ret->kind = MESSAGE_NETCONF;
        ret->netconf = (struct message_netconf){ .index = (uint32_t)info->ifi_index };
    }
    /* When a port leaves a bridge, the kernel sends RTM_DELLINK of family AF_BRIDGE. The link still exists. */
    if (info->ifi_family != AF_UNSPEC)
        return;
    ret->kind = header->nlmsg_type == RTM_DELLINK ? MESSAGE_LINK_GONE : MESSAGE_LINK;
    attributes_parse(attribute_walk_message(header, sizeof *info), all);
    *link = (struct message_link){ .index = (uint32_t)info->ifi_index,
                                   .flags = info->ifi_flags,
                                   .hardware = info->ifi_type,
                                   .lower = attribute_number(&all[IFLA_LINK]),
                                   .master = attribute_number(&all[IFLA_MASTER]) };
    link->has_name = attribute_name(&all[IFLA_IFNAME], link->name);
    link->has_mtu = attribute_u32(&all[IFLA_MTU], &link->mtu);
    reach_message_parse_linkinfo(&all[IFLA_LINKINFO], &link->info);
    /* The lower link is in another network namespace, so its index and the tunnel's addresses mean nothing here. */
    if (all[IFLA_LINK_NETNSID].payload != NULL) {
        link->lower = 0;
        link->info.tunnel = (struct tunnel){ 0 };
    }
}

static void parse_address_message(const struct nlmsghdr *header, struct message *ret)
{
    const struct ifaddrmsg *info = NLMSG_DATA(header);
    struct attribute all[IFA_ADDRESS + 1];
    struct address_prefix *prefix = &ret->address.prefix;

    if (!message_has(header, sizeof *info))
        return;
    ret->kind = MESSAGE_ADDRESS;
    ret->address = (struct message_address){ .family = info->ifa_family,
                                             .index = info->ifa_index,
                                             .gone = header->nlmsg_type == RTM_DELADDR };
    attributes_parse(attribute_walk_message(header, sizeof *info), all);
    if (attribute_address(&all[IFA_ADDRESS], info->ifa_family, &prefix->address))
        prefix->length = info->ifa_prefixlen;
}

/* The index of all links and that of new links are negative. A message about a new link has all settings. */
static void parse_netconf_message(const struct nlmsghdr *header, struct message *ret)
{
    const struct netconfmsg *info = NLMSG_DATA(header);
    struct attribute_walk walk = attribute_walk_message(header, sizeof *info);
    struct attribute attribute, all[NETCONFA_MAX + 1];
    uint32_t index, linkdown;
    bool has_others = false;

    if (!message_has(header, sizeof *info))
        return;
    attributes_parse(walk, all);
    while (attribute_next(&walk, &attribute))
        has_others = has_others || (attribute.length == sizeof index && attribute.type != NETCONFA_IFINDEX &&
                                    attribute.type != NETCONFA_IGNORE_ROUTES_WITH_LINKDOWN);
    index = attribute_number(&all[NETCONFA_IFINDEX]);
    ret->kind = MESSAGE_NETCONF;
    ret->netconf = (struct message_netconf){
        .index = index <= INT32_MAX ? index : 0,
        .ignore_linkdown = attribute_number(&all[NETCONFA_IGNORE_ROUTES_WITH_LINKDOWN]) != 0,
        .switches_linkdown = attribute_u32(&all[NETCONFA_IGNORE_ROUTES_WITH_LINKDOWN], &linkdown) && !has_others
    };
}

static void parse_route_message(const struct nlmsghdr *header, struct message *ret)
{
    const struct rtmsg *info = NLMSG_DATA(header);
    struct route *route = &ret->route;

    if (!message_has(header, sizeof *info))
        return;
    ret->kind = MESSAGE_ROUTE;
    memset(route, 0, sizeof *route);
    route->family = info->rtm_family;
    route->prefix_length = info->rtm_dst_len;
    route->source_length = info->rtm_src_len;
    route->type = info->rtm_type;
    route->protocol = info->rtm_protocol;
    route->table = info->rtm_table;
    route->gone = header->nlmsg_type == RTM_DELROUTE;
    route->replaces = (header->nlmsg_flags & NLM_F_REPLACE) != 0;
    reach_route_parse_attributes(attribute_walk_message(header, sizeof *info), route);
}

static void parse_neighbour_message(const struct nlmsghdr *header, struct message *ret)
{
    const struct ndmsg *info = NLMSG_DATA(header);
    struct attribute all[NDA_DST + 1];
    struct message_neighbour *neighbour = &ret->neighbour;

    if (!message_has(header, sizeof *info))
        return;
    attributes_parse(attribute_walk_message(header, sizeof *info), all);
    *neighbour = (struct message_neighbour){ .index = (uint32_t)info->ndm_ifindex };
    neighbour->state = header->nlmsg_type == RTM_NEWNEIGH ? info->ndm_state : NUD_NONE;
    if (attribute_address(&all[NDA_DST], info->ndm_family, &neighbour->address))
        ret->kind = MESSAGE_NEIGHBOUR;
}

/* A group has neither: its members have messages of their own. */
static void parse_nexthop_message(const struct nlmsghdr *header, struct message *ret)
{
    const struct nhmsg *info = NLMSG_DATA(header);
    struct attribute all[NHA_GATEWAY + 1];

    ret->kind = MESSAGE_NEXTHOP;
    ret->neighbour = (struct message_neighbour){ .index = 0 };
    if (header->nlmsg_type != RTM_NEWNEXTHOP || !message_has(header, sizeof *info))
        return;
    attributes_parse(attribute_walk_message(header, sizeof *info), all);
    if (attribute_address(&all[NHA_GATEWAY], info->nh_family, &ret->neighbour.address))
        ret->neighbour.index = attribute_number(&all[NHA_OIF]);
}

/* Both start with a negative errno, except that NLMSG_DONE of old kernels can be empty. */
int reach_message_error(const struct nlmsghdr *header)
{
    int error;

    if (!message_has(header, sizeof error))
        return header->nlmsg_type == NLMSG_DONE ? 0 : EBADMSG;
    memcpy(&error, NLMSG_DATA(header), sizeof error);
    return error < 0 && error > -4096 ? -error : 0;
}

size_t reach_message_step(const void *bytes, size_t length)
{
    const struct nlmsghdr *header = bytes;
    size_t step;

    if (length < sizeof *header || header->nlmsg_len < sizeof *header || header->nlmsg_len > length)
        return 0;
    step = (header->nlmsg_len + 3u) & ~(size_t)3u;
    return step < length ? step : length;
}

size_t reach_message_parse(const void *bytes, size_t length, struct message *ret)
{
    const struct nlmsghdr *header = bytes;
    const size_t step = reach_message_step(bytes, length);

    ret->kind = MESSAGE_OTHER;
    ret->sequence = 0;
    ret->error = 0;
    if (step == 0)
        return 0;
    ret->sequence = header->nlmsg_seq;
    switch (header->nlmsg_type) {
    case RTM_NEWLINK:
    case RTM_DELLINK:
        parse_link_message(header, ret);
        break;
    case RTM_NEWADDR:
    case RTM_DELADDR:
        parse_address_message(header, ret);
        break;
    case RTM_NEWNETCONF:
    case RTM_DELNETCONF:
        parse_netconf_message(header, ret);
        break;
    case RTM_NEWROUTE:
    case RTM_DELROUTE:
        parse_route_message(header, ret);
        break;
    case RTM_NEWNEIGH:
    case RTM_DELNEIGH:
        parse_neighbour_message(header, ret);
        break;
    case NLMSG_ERROR:
        if (message_has(header, sizeof ret->error)) {
            ret->kind = MESSAGE_ERROR;
            ret->error = reach_message_error(header);
        }
        break;
    case RTM_NEWRULE:
    case RTM_DELRULE:
        ret->kind = MESSAGE_RULE;
        break;
    case RTM_NEWPREFIX:
        ret->kind = MESSAGE_PREFIX;
        break;
    case RTM_NEWNEXTHOP:
    case RTM_DELNEXTHOP:
        parse_nexthop_message(header, ret);
        break;
    default:
        break;
    }
    return step;
}

/* ---- Requests --------------------------------------------------------------------------------------------------- */

static struct nlmsghdr *put_request_header(void *buffer, uint16_t type, uint16_t flags, uint32_t sequence)
{
    struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);

    header->nlmsg_type = type;
    header->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
    header->nlmsg_seq = sequence;
    return header;
}

/* Adds an attribute of at most 4 bytes, and zeros up to the next one: they are sent, too. */
static void put_short(struct nlmsghdr *header, uint16_t type, const void *value, size_t size)
{
    memset((char *)header + MNL_ALIGN(header->nlmsg_len) + MNL_ATTR_HDRLEN, 0, sizeof(uint32_t));
    mnl_attr_put(header, type, size, value);
}

/* Linux before 4.18 ignores these. ICMP has no ports, and a protocol number of its own in each family. */
static void put_flow(struct nlmsghdr *header, uint8_t family, const struct flow *flow)
{
    const bool is_icmp = flow->protocol == IPPROTO_ICMP || flow->protocol == IPPROTO_ICMPV6;
    const uint8_t icmp = family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6;
    const uint8_t protocol = is_icmp ? icmp : flow->protocol;
    const uint16_t local_port = htons(flow->local_port), remote_port = htons(flow->remote_port);

    if (flow->protocol == 0)
        return;
    put_short(header, RTA_IP_PROTO, &protocol, sizeof protocol);
    if (!is_icmp && local_port != 0)
        put_short(header, RTA_SPORT, &local_port, sizeof local_port);
    if (!is_icmp && remote_port != 0)
        put_short(header, RTA_DPORT, &remote_port, sizeof remote_port);
}

size_t reach_message_put_route_query(void *buffer, uint32_t sequence, uint32_t user,
                                     const struct route_request *request)
{
    struct nlmsghdr *header = put_request_header(buffer, RTM_GETROUTE, 0, sequence);
    struct rtmsg *info = mnl_nlmsg_put_extra_header(header, sizeof *info);
    const size_t length = address_length(&request->destination);

    info->rtm_family = request->destination.family;
    info->rtm_dst_len = (unsigned char)(length * 8);
    info->rtm_tos = request->flow.traffic_class;
    /* Without RTM_F_LOOKUP_TABLE, IPv4 always reports the main table. IPv6 reports the right table without the flag,
     * and rejects the flag with EINVAL. */
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
    /* Without it, the kernel takes the real user. A new socket has the effective one. */
    if (request->flow.is_socket)
        mnl_attr_put_u32(header, RTA_UID, request->flow.user);
    else if (user != MESSAGE_NO_USER)
        mnl_attr_put_u32(header, RTA_UID, user);
    put_flow(header, info->rtm_family, &request->flow);
    return header->nlmsg_len;
}

static struct nlmsghdr *put_link_request(void *buffer, uint16_t flags, uint32_t sequence, uint32_t index)
{
    struct nlmsghdr *header = put_request_header(buffer, RTM_GETLINK, flags, sequence);
    struct ifinfomsg *info = mnl_nlmsg_put_extra_header(header, sizeof *info);

    info->ifi_family = AF_UNSPEC;
    info->ifi_index = (int)index;
    mnl_attr_put_u32(header, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
    return header;
}

size_t reach_message_put_link_query(void *buffer, uint32_t sequence, uint32_t index)
{
    return put_link_request(buffer, 0, sequence, index)->nlmsg_len;
}

/* The statistics of a link that cannot exist. The reply, ENODEV, comes once the RTNL lock was free. Linux 6.18 and
 * earlier wait for a query of such a link, too; 7.3 does not. */
size_t reach_message_put_barrier(void *buffer, uint32_t sequence)
{
    struct nlmsghdr *header = put_request_header(buffer, RTM_GETSTATS, 0, sequence);
    struct if_stats_msg *info = mnl_nlmsg_put_extra_header(header, sizeof *info);

    info->family = AF_UNSPEC;
    info->ifindex = INT32_MAX;
    info->filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
    return header->nlmsg_len;
}

size_t reach_message_put_link_dump(void *buffer, uint32_t master)
{
    struct nlmsghdr *header = put_link_request(buffer, NLM_F_DUMP, 0, 0);

    if (master != 0)
        mnl_attr_put_u32(header, IFLA_MASTER, master);
    return header->nlmsg_len;
}

size_t reach_message_put_kind_dump(void *buffer, const char *kind)
{
    struct nlmsghdr *header = put_link_request(buffer, NLM_F_DUMP, 0, 0);
    struct nlattr *nest = mnl_attr_nest_start(header, IFLA_LINKINFO);
    char name[16] = ""; /* libmnl would not initialize the bytes between the name and the next word */

    memcpy(name, kind, strnlen(kind, sizeof name - 1));
    mnl_attr_put(header, IFLA_INFO_KIND, sizeof name, name);
    mnl_attr_nest_end(header, nest);
    return header->nlmsg_len;
}

size_t reach_message_put_neighbour_query(void *buffer, uint32_t index, const struct address *address)
{
    struct nlmsghdr *header = put_request_header(buffer, RTM_GETNEIGH, 0, 0);
    struct ndmsg *info = mnl_nlmsg_put_extra_header(header, sizeof *info);

    info->ndm_family = address->family;
    info->ndm_ifindex = (int)index;
    mnl_attr_put(header, NDA_DST, address_length(address), address->bytes);
    return header->nlmsg_len;
}

size_t reach_message_put_dump(void *buffer, uint16_t type, uint8_t family)
{
    struct nlmsghdr *header = put_request_header(buffer, type, NLM_F_DUMP, 0);
    const size_t own = type == RTM_GETNEXTHOP ? sizeof(struct nhmsg) : sizeof(struct rtmsg); /* that of the others */

    *(uint8_t *)mnl_nlmsg_put_extra_header(header, own) = family;
    return header->nlmsg_len;
}

size_t reach_message_put_table_dump(void *buffer, uint8_t family, uint32_t table)
{
    struct nlmsghdr *header = buffer;

    (void)reach_message_put_dump(buffer, RTM_GETROUTE, family);
    mnl_attr_put_u32(header, RTA_TABLE, table);
    return header->nlmsg_len;
}
#endif
