/* SPDX-License-Identifier: MIT */
#include "support/writer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/fib_rules.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUEST_SIZE 512
/* The maximum size of a batch: the kernel copies a send as a whole. */
#define BATCH_SIZE 65536
#define PROTOCOL   RTPROT_STATIC

/* A request under construction. Aligned as the header, which is its first part. */
union request {
    struct nlmsghdr header;
    char bytes[REQUEST_SIZE];
};

int writer_open(struct writer *ret)
{
    const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
    const int one = 1;

    *ret = (struct writer){ .fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE) };
    if (ret->fd < 0)
        return errno;
    /* Error messages without a copy of the request: otherwise a batch of failures does not fit the socket. */
    if (setsockopt(ret->fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof one) == 0 &&
        connect(ret->fd, (const struct sockaddr *)&kernel, sizeof kernel) == 0)
        return 0;
    int error = errno;
    writer_close(ret);
    return error;
}

void writer_close(struct writer *writer)
{
    if (writer->fd >= 0)
        close(writer->fd);
    free(writer->batch);
    *writer = (struct writer){ .fd = -1 };
}

/* ---- Sending ---------------------------------------------------------------------------------------------------- */

static int send_all(const struct writer *writer, const void *bytes, size_t length)
{
    while (send(writer->fd, bytes, length, 0) < 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

/* Returns the result of the last request, and notes the first failure of the earlier ones. Those have no NLM_F_ACK, so
 * the kernel replies only if they fail. */
static int verdict(struct writer *writer)
{
    _Alignas(struct nlmsghdr) char reply[8192];

    for (;;) {
        const struct nlmsghdr *header = (const struct nlmsghdr *)reply;
        const ssize_t length = recv(writer->fd, reply, sizeof reply, 0);
        int left = (int)length;

        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0)
            return errno;
        for (; mnl_nlmsg_ok(header, left); header = mnl_nlmsg_next(header, &left)) {
            const struct nlmsgerr *error = mnl_nlmsg_get_payload(header);

            if (header->nlmsg_type != NLMSG_ERROR)
                continue;
            if (header->nlmsg_seq == writer->sequence)
                return -error->error;
            if (writer->failed == 0)
                writer->failed = -error->error;
        }
    }
}

static int commit(struct writer *writer, struct nlmsghdr *header)
{
    int error;

    header->nlmsg_seq = ++writer->sequence;
    if (writer->batch == NULL) {
        header->nlmsg_flags |= NLM_F_ACK;
        error = send_all(writer, header, header->nlmsg_len);
        return error != 0 ? error : verdict(writer);
    }
    memcpy(writer->batch + writer->filled, header, header->nlmsg_len);
    writer->filled += NLMSG_ALIGN(header->nlmsg_len);
    if (writer->filled + REQUEST_SIZE + NLMSG_HDRLEN <= BATCH_SIZE)
        return 0;
    error = send_all(writer, writer->batch, writer->filled);
    writer->filled = 0;
    return error;
}

int writer_batch(struct writer *writer)
{
    writer->batch = malloc(BATCH_SIZE);
    writer->filled = 0;
    writer->failed = 0;
    return writer->batch == NULL ? ENOMEM : 0;
}

int writer_flush(struct writer *writer)
{
    /* The kernel acknowledges this empty message after it has handled all earlier ones. */
    const struct nlmsghdr last = { .nlmsg_len = NLMSG_HDRLEN,
                                   .nlmsg_type = NLMSG_NOOP,
                                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
                                   .nlmsg_seq = ++writer->sequence };

    memcpy(writer->batch + writer->filled, &last, sizeof last);
    int error = send_all(writer, writer->batch, writer->filled + sizeof last);
    if (error == 0)
        error = verdict(writer);
    free(writer->batch);
    writer->batch = NULL;
    return error != 0 ? error : writer->failed;
}

/* ---- Building --------------------------------------------------------------------------------------------------- */

static struct nlmsghdr *begin(union request *request, uint16_t type, uint16_t flags)
{
    memset(request, 0, sizeof *request); /* attributes leave gaps */
    struct nlmsghdr *header = mnl_nlmsg_put_header(request);
    header->nlmsg_type = type;
    header->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
    return header;
}

static uint16_t flags_of(enum writer_action action)
{
    switch (action) {
    case WRITER_ADD:
        return NLM_F_CREATE | NLM_F_EXCL;
    case WRITER_REPLACE:
        return NLM_F_CREATE | NLM_F_REPLACE;
    case WRITER_APPEND:
        return NLM_F_CREATE | NLM_F_APPEND;
    default:
        return 0;
    }
}

struct ip {
    uint8_t family, length; /* bytes */
    uint8_t bits;           /* of the prefix */
    uint8_t bytes[16];
};

/* "ADDRESS" or "ADDRESS/BITS". False: not an address. */
static bool parse(const char *text, struct ip *ret)
{
    char address[64];
    const char *slash = strchr(text, '/');
    size_t length = slash != NULL ? (size_t)(slash - text) : strlen(text);

    memset(ret, 0, sizeof *ret);
    if (length >= sizeof address)
        return false;
    memcpy(address, text, length);
    address[length] = '\0';
    ret->family = strchr(address, ':') != NULL ? AF_INET6 : AF_INET;
    ret->length = ret->family == AF_INET6 ? 16 : 4;
    ret->bits = slash != NULL ? (uint8_t)atoi(slash + 1) : (uint8_t)(ret->length * 8);
    return inet_pton(ret->family, address, ret->bytes) == 1 && ret->bits <= ret->length * 8;
}

static void put_gateway(struct nlmsghdr *header, uint8_t family, const struct ip *gateway)
{
    char via[2 + 16];
    uint16_t other = gateway->family;

    if (gateway->family == family) {
        mnl_attr_put(header, RTA_GATEWAY, gateway->length, gateway->bytes);
        return;
    }
    memcpy(via, &other, sizeof other);
    memcpy(via + sizeof other, gateway->bytes, gateway->length);
    mnl_attr_put(header, RTA_VIA, sizeof other + gateway->length, via);
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

unsigned writer_index(const char *name)
{
    return if_nametoindex(name);
}

int writer_link_add_pair(struct writer *writer, const char *name, const char *peer)
{
    return writer_link_add_pair_at(writer, 0, name, peer);
}

int writer_link_add_pair_at(struct writer *writer, unsigned index, const char *name, const char *peer)
{
    union request request;
    struct nlmsghdr *header = begin(&request, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
    struct ifinfomsg *link = mnl_nlmsg_put_extra_header(header, sizeof *link);
    struct nlattr *info, *data, *other;

    link->ifi_index = (int)index;
    mnl_attr_put_strz(header, IFLA_IFNAME, name);
    info = mnl_attr_nest_start(header, IFLA_LINKINFO);
    mnl_attr_put_strz(header, IFLA_INFO_KIND, "veth");
    data = mnl_attr_nest_start(header, IFLA_INFO_DATA);
    other = mnl_attr_nest_start(header, VETH_INFO_PEER);
    mnl_nlmsg_put_extra_header(header, sizeof(struct ifinfomsg));
    mnl_attr_put_strz(header, IFLA_IFNAME, peer);
    mnl_attr_nest_end(header, other);
    mnl_attr_nest_end(header, data);
    mnl_attr_nest_end(header, info);
    return commit(writer, header);
}

static struct nlmsghdr *begin_link(union request *request, uint16_t type, struct ifinfomsg link)
{
    struct nlmsghdr *header = begin(request, type, 0);

    *(struct ifinfomsg *)mnl_nlmsg_put_extra_header(header, sizeof link) = link;
    return header;
}

int writer_link_delete(struct writer *writer, unsigned index)
{
    union request request;

    return commit(writer, begin_link(&request, RTM_DELLINK, (struct ifinfomsg){ .ifi_index = (int)index }));
}

int writer_link_up(struct writer *writer, unsigned index, bool up)
{
    const struct ifinfomsg link = { .ifi_index = (int)index, .ifi_flags = up ? IFF_UP : 0, .ifi_change = IFF_UP };
    union request request;

    return commit(writer, begin_link(&request, RTM_NEWLINK, link));
}

int writer_link_rename(struct writer *writer, unsigned index, const char *name)
{
    union request request;
    struct nlmsghdr *header = begin_link(&request, RTM_NEWLINK, (struct ifinfomsg){ .ifi_index = (int)index });

    mnl_attr_put_strz(header, IFLA_IFNAME, name);
    return commit(writer, header);
}

int writer_link_move(struct writer *writer, unsigned index, pid_t to)
{
    union request request;
    struct nlmsghdr *header = begin_link(&request, RTM_NEWLINK, (struct ifinfomsg){ .ifi_index = (int)index });

    mnl_attr_put_u32(header, IFLA_NET_NS_PID, (uint32_t)to);
    return commit(writer, header);
}

/* ---- Addresses -------------------------------------------------------------------------------------------------- */

static int change_address(struct writer *writer, enum writer_action action, unsigned index, const char *prefix,
                          uint8_t flags)
{
    union request request;
    struct nlmsghdr *header;
    struct ifaddrmsg *info;
    struct ip ip;

    if (!parse(prefix, &ip))
        return EINVAL;
    header = begin(&request, action == WRITER_DELETE ? RTM_DELADDR : RTM_NEWADDR, flags_of(action));
    info = mnl_nlmsg_put_extra_header(header, sizeof *info);
    info->ifa_family = ip.family;
    info->ifa_prefixlen = ip.bits;
    info->ifa_index = index;
    info->ifa_flags = ip.family == AF_INET6 ? flags : 0;
    mnl_attr_put(header, IFA_LOCAL, ip.length, ip.bytes);
    mnl_attr_put(header, IFA_ADDRESS, ip.length, ip.bytes);
    return commit(writer, header);
}

int writer_address(struct writer *writer, enum writer_action action, unsigned index, const char *prefix)
{
    return change_address(writer, action, index, prefix, IFA_F_NODAD);
}

int writer_address_tentative(struct writer *writer, unsigned index, const char *prefix)
{
    return change_address(writer, WRITER_ADD, index, prefix, 0);
}

/* ---- Neighbours ------------------------------------------------------------------------------------------------- */

int writer_neighbour(struct writer *writer, unsigned index, const char *address, uint16_t state)
{
    static const uint8_t hardware[6] = { 2, 0, 0, 0, 0, 1 };
    union request request;
    struct nlmsghdr *header;
    struct ndmsg *info;
    struct ip ip;

    if (!parse(address, &ip))
        return EINVAL;
    header = begin(&request, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE);
    info = mnl_nlmsg_put_extra_header(header, sizeof *info);
    info->ndm_family = ip.family;
    info->ndm_ifindex = (int)index;
    info->ndm_state = state;
    info->ndm_flags = NTF_EXT_LEARNED; /* the kernel keeps few others, in all namespaces together */
    mnl_attr_put(header, NDA_DST, ip.length, ip.bytes);
    if (state != NUD_FAILED && state != NUD_INCOMPLETE)
        mnl_attr_put(header, NDA_LLADDR, sizeof hardware, hardware);
    return commit(writer, header);
}

/* ---- Routes ----------------------------------------------------------------------------------------------------- */

static uint8_t scope_of(const struct writer_route *route)
{
    if (route->type == RTN_LOCAL)
        return RT_SCOPE_HOST;
    return route->gateway == NULL && route->index != 0 ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
}

/* IPv6 refuses equal legs, so each has its own gateway. */
static bool put_legs(struct nlmsghdr *header, uint8_t family, const struct writer_leg legs[2], unsigned count)
{
    struct nlattr *nest = mnl_attr_nest_start(header, RTA_MULTIPATH);

    for (unsigned i = 0; i < count; i++) {
        struct rtnexthop *hop = mnl_nlmsg_get_payload_tail(header);
        struct ip gateway;

        mnl_nlmsg_put_extra_header(header, sizeof *hop);
        hop->rtnh_ifindex = (int)legs[i % 2].index;
        if (legs[i % 2].gateway != NULL) {
            if (!parse(legs[i % 2].gateway, &gateway))
                return false;
            if (family == AF_INET6) {
                gateway.bytes[12] += (uint8_t)(i >> 8);
                gateway.bytes[13] += (uint8_t)i;
            }
            put_gateway(header, family, &gateway);
        }
        hop->rtnh_len = (unsigned short)((char *)mnl_nlmsg_get_payload_tail(header) - (char *)hop);
    }
    mnl_attr_nest_end(header, nest);
    return true;
}

int writer_route(struct writer *writer, enum writer_action action, const struct writer_route *route)
{
    union {
        union request request;
        char legs[REQUEST_SIZE + 32 * WRITER_LEGS];
    } all;
    struct nlmsghdr *header;
    struct rtmsg *info;
    struct ip ip, gateway, source, from = { 0 };

    if (!parse(route->prefix, &ip) || (route->gateway != NULL && !parse(route->gateway, &gateway)) ||
        (route->source != NULL && !parse(route->source, &source)) ||
        (route->from != NULL && !parse(route->from, &from)))
        return EINVAL;
    header = begin(&all.request, action == WRITER_DELETE ? RTM_DELROUTE : RTM_NEWROUTE, flags_of(action));
    info = mnl_nlmsg_put_extra_header(header, sizeof *info);
    info->rtm_family = ip.family;
    info->rtm_dst_len = ip.bits;
    info->rtm_src_len = from.bits;
    info->rtm_type = (unsigned char)(route->type != 0 ? route->type : RTN_UNICAST);
    info->rtm_table = route->table == 0 ? RT_TABLE_MAIN : RT_TABLE_UNSPEC;
    /* The destination identifies the route to delete: the fields below would have to match too. */
    if (action == WRITER_DELETE) {
        info->rtm_scope = RT_SCOPE_NOWHERE;
        info->rtm_type = (unsigned char)route->type;
    } else {
        info->rtm_protocol = PROTOCOL;
        info->rtm_scope = scope_of(route);
    }
    if (ip.bits != 0)
        mnl_attr_put(header, RTA_DST, ip.length, ip.bytes);
    if (from.bits != 0)
        mnl_attr_put(header, RTA_SRC, from.length, from.bytes);
    if (route->table != 0)
        mnl_attr_put_u32(header, RTA_TABLE, route->table);
    if (route->metric != 0)
        mnl_attr_put_u32(header, RTA_PRIORITY, route->metric);
    if (route->index != 0)
        mnl_attr_put_u32(header, RTA_OIF, route->index);
    if (route->gateway != NULL)
        put_gateway(header, ip.family, &gateway);
    if (route->source != NULL)
        mnl_attr_put(header, RTA_PREFSRC, source.length, source.bytes);
    if (route->nexthop != 0)
        mnl_attr_put_u32(header, RTA_NH_ID, route->nexthop);
    if (route->expires != 0)
        mnl_attr_put_u32(header, RTA_EXPIRES, route->expires);
    if (route->legs[1].index != 0 &&
        !put_legs(header, ip.family, route->legs, route->leg_count > 2 ? route->leg_count : 2))
        return EINVAL;
    return commit(writer, header);
}

/* ---- Nexthop objects -------------------------------------------------------------------------------------------- */

static struct nlmsghdr *begin_nexthop(union request *request, enum writer_action action, unsigned id, uint8_t family)
{
    struct nlmsghdr *header = begin(request, action == WRITER_DELETE ? RTM_DELNEXTHOP : RTM_NEWNEXTHOP,
                                    flags_of(action));
    struct nhmsg *info = mnl_nlmsg_put_extra_header(header, sizeof *info);

    info->nh_family = family;
    info->nh_protocol = action == WRITER_DELETE ? 0 : PROTOCOL;
    mnl_attr_put_u32(header, NHA_ID, id);
    return header;
}

int writer_nexthop(struct writer *writer, enum writer_action action, unsigned id, const struct writer_leg *leg)
{
    union request request;
    struct nlmsghdr *header;
    struct ip gateway;

    if (action == WRITER_DELETE)
        return commit(writer, begin_nexthop(&request, action, id, AF_UNSPEC));
    if (!parse(leg->gateway, &gateway))
        return EINVAL;
    header = begin_nexthop(&request, action, id, gateway.family);
    mnl_attr_put_u32(header, NHA_OIF, leg->index);
    mnl_attr_put(header, NHA_GATEWAY, gateway.length, gateway.bytes);
    return commit(writer, header);
}

int writer_nexthop_group(struct writer *writer, enum writer_action action, unsigned id, const unsigned *members,
                         size_t count)
{
    union request request;
    struct nlmsghdr *header = begin_nexthop(&request, action, id, AF_UNSPEC);
    struct nexthop_grp group[8] = { 0 };

    if (count > sizeof group / sizeof group[0])
        return EINVAL;
    for (size_t i = 0; i < count; i++)
        group[i].id = members[i];
    mnl_attr_put(header, NHA_GROUP, count * sizeof group[0], group);
    return commit(writer, header);
}

/* ---- Rules ------------------------------------------------------------------------------------------------------ */

static void put_selectors(struct nlmsghdr *header, const struct writer_rule *rule)
{
    const struct fib_rule_port_range ports = { (uint16_t)rule->remote_port, (uint16_t)rule->remote_port };

    if (rule->iif != NULL)
        mnl_attr_put_strz(header, FRA_IIFNAME, rule->iif);
    if (rule->oif != NULL)
        mnl_attr_put_strz(header, FRA_OIFNAME, rule->oif);
    if (rule->mark != 0)
        mnl_attr_put_u32(header, FRA_FWMARK, rule->mark);
    if (rule->protocol != 0)
        mnl_attr_put_u8(header, FRA_IP_PROTO, (uint8_t)rule->protocol);
    if (rule->remote_port != 0)
        mnl_attr_put(header, FRA_DPORT_RANGE, sizeof ports, &ports);
    if (rule->suppress_default)
        mnl_attr_put_u32(header, FRA_SUPPRESS_PREFIXLEN, 0);
}

int writer_rule(struct writer *writer, enum writer_action action, const struct writer_rule *rule)
{
    union request request;
    struct nlmsghdr *header;
    struct fib_rule_hdr *info;
    struct ip ip, from = { 0 };

    if (!parse(rule->prefix, &ip) || (rule->from != NULL && !parse(rule->from, &from)))
        return EINVAL;
    header = begin(&request, action == WRITER_DELETE ? RTM_DELRULE : RTM_NEWRULE, flags_of(action));
    info = mnl_nlmsg_put_extra_header(header, sizeof *info);
    info->family = ip.family;
    info->dst_len = ip.bits;
    info->action = (uint8_t)rule->action;
    if (ip.bits != 0)
        mnl_attr_put(header, FRA_DST, ip.length, ip.bytes);
    info->src_len = from.bits;
    if (from.bits != 0)
        mnl_attr_put(header, FRA_SRC, from.length, from.bytes);
    put_selectors(header, rule);
    if (rule->table != 0)
        mnl_attr_put_u32(header, FRA_TABLE, rule->table);
    mnl_attr_put_u32(header, FRA_PRIORITY, rule->priority);
    return commit(writer, header);
}
