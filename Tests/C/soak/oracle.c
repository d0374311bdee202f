/* SPDX-License-Identifier: MIT */
#include "soak/oracle.h"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "soak/oracle_put.h"
#include "soak/stack.h"
#include "support/denial.h"
#include "support/expect.h"
#include "support/namespace.h"

#define TUNNEL_DEPTH 4 /* nested tunnels that the library follows */

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- Queries ---------------------------------------------------------------------------------------------------- */

struct leg {
    unsigned oif, flags;
    bool gateway;
};

struct reply {
    int error; /* the kernel's, 0: there is a route */
    unsigned type, bits, oif;
    bool gateway;
    uint8_t source[16];
    struct leg legs[4];
    size_t leg_count;
    uint8_t first[16]; /* of the prefix */
    bool nexthop;      /* an object that IPv6 routes can share: then the route may be another one */
    bool hides_legs;   /* the reply to a plain query: with the legs, it would be too long */
};

struct query {
    int family;
    const uint8_t *destination, *source; /* source NULL: any */
    unsigned oif, mark;
    bool fib_match;
};

static int oracle_fd = -1;

static void read_legs(struct reply *reply, const struct rtattr *nest)
{
    const struct rtnexthop *hop = RTA_DATA(nest);
    int left = (int)RTA_PAYLOAD(nest);

    for (; RTNH_OK(hop, left) && reply->leg_count < COUNT(reply->legs); hop = RTNH_NEXT(hop)) {
        struct leg *leg = &reply->legs[reply->leg_count++];
        int inner = hop->rtnh_len - (int)sizeof *hop;

        *leg = (struct leg){ .oif = (unsigned)hop->rtnh_ifindex, .flags = hop->rtnh_flags };
        for (const struct rtattr *attribute = RTNH_DATA(hop); RTA_OK(attribute, inner);
             attribute = RTA_NEXT(attribute, inner))
            leg->gateway = leg->gateway || attribute->rta_type == RTA_GATEWAY || attribute->rta_type == RTA_VIA;
        left -= RTNH_ALIGN(hop->rtnh_len);
    }
}

static struct reply read_reply(const struct nlmsghdr *header)
{
    const struct rtmsg *route = NLMSG_DATA(header);
    struct reply reply = { 0 };
    int left = (int)RTM_PAYLOAD(header);

    if (header->nlmsg_type == NLMSG_ERROR) {
        reply.error = -((const struct nlmsgerr *)NLMSG_DATA(header))->error;
        return reply;
    }
    reply.type = route->rtm_type;
    reply.bits = route->rtm_dst_len;
    for (const struct rtattr *attribute = RTM_RTA(route); RTA_OK(attribute, left);
         attribute = RTA_NEXT(attribute, left))
        switch (attribute->rta_type) {
        case RTA_OIF:
            memcpy(&reply.oif, RTA_DATA(attribute), sizeof reply.oif);
            break;
        case RTA_DST:
            memcpy(reply.first, RTA_DATA(attribute), RTA_PAYLOAD(attribute) < 16 ? RTA_PAYLOAD(attribute) : 16);
            break;
        case RTA_NH_ID:
            reply.nexthop = route->rtm_family == AF_INET6;
            break;
        case RTA_GATEWAY:
        case RTA_VIA:
            reply.gateway = true;
            break;
        case RTA_PREFSRC:
            memcpy(reply.source, RTA_DATA(attribute), RTA_PAYLOAD(attribute) < 16 ? RTA_PAYLOAD(attribute) : 16);
            break;
        case RTA_MULTIPATH:
            read_legs(&reply, attribute);
            break;
        default:
            break;
        }
    return reply;
}

static struct reply query_kernel(const struct query *query);

static struct reply query_without_legs(struct query query)
{
    query.fib_match = false;
    struct reply reply = query_kernel(&query);
    reply.hides_legs = true;
    return reply;
}

static struct reply query_kernel(const struct query *query)
{
    _Alignas(struct nlmsghdr) char bytes[8192];
    struct nlmsghdr *header = (struct nlmsghdr *)bytes;
    struct rtmsg *route = NLMSG_DATA(header);
    static unsigned sequence;
    const unsigned char size = query->family == AF_INET6 ? 16 : 4;

    *header = (struct nlmsghdr){ .nlmsg_len = NLMSG_LENGTH(sizeof *route),
                                 .nlmsg_type = RTM_GETROUTE,
                                 .nlmsg_flags = NLM_F_REQUEST,
                                 .nlmsg_seq = ++sequence };
    *route = (struct rtmsg){ .rtm_family = (unsigned char)query->family,
                             .rtm_dst_len = (unsigned char)(size * 8),
                             .rtm_src_len = query->source != NULL ? (unsigned char)(size * 8) : 0,
                             .rtm_flags = query->fib_match ? RTM_F_FIB_MATCH : 0 };
    oracle_put(header, RTA_DST, query->destination, size);
    if (query->source != NULL)
        oracle_put(header, RTA_SRC, query->source, size);
    if (query->oif != 0)
        oracle_put(header, RTA_OIF, &query->oif, sizeof query->oif);
    if (query->mark != 0)
        oracle_put(header, RTA_MARK, &query->mark, sizeof query->mark);
    assert_int_equal(send(oracle_fd, bytes, header->nlmsg_len, 0), header->nlmsg_len);
    do
        assert_true(recv(oracle_fd, bytes, sizeof bytes, 0) > 0);
    while (header->nlmsg_seq != sequence);
    struct reply reply = read_reply(header);
    return query->fib_match && reply.error == EMSGSIZE ? query_without_legs(*query) : reply;
}

/* ---- Sockets ---------------------------------------------------------------------------------------------------- */

static bool is_link_local(const uint8_t address[16])
{
    return address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
}

static struct sockaddr_storage socket_address(int family, const uint8_t *bytes, unsigned scope)
{
    struct sockaddr_storage storage = { .ss_family = (sa_family_t)family };

    if (family == AF_INET) {
        memcpy(&((struct sockaddr_in *)&storage)->sin_addr, bytes, 4);
    } else {
        memcpy(&((struct sockaddr_in6 *)&storage)->sin6_addr, bytes, 16);
        ((struct sockaddr_in6 *)&storage)->sin6_scope_id = is_link_local(bytes) ? scope : 0;
    }
    return storage;
}

/* The kernel accepts more, but the filters of denial.c know this length. */
static socklen_t socket_address_length(int family)
{
    return family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

/* Returns a socket with the source, interface and mark of the query, or -1. */
static int open_query_socket(const struct query *query)
{
    const int fd = socket(query->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_storage local;
    char name[IF_NAMESIZE];
    const int one = 1;
    bool prepared = fd >= 0;

    if (prepared)
        prepared = setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &one, sizeof one) == 0;
    if (prepared && query->oif != 0)
        prepared = if_indextoname(query->oif, name) != NULL &&
                   setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t)strlen(name)) == 0;
    if (prepared && query->mark != 0)
        prepared = setsockopt(fd, SOL_SOCKET, SO_MARK, &query->mark, sizeof query->mark) == 0;
    if (prepared && query->source != NULL) {
        local = socket_address(query->family, query->source, query->oif);
        prepared = bind(fd, (const struct sockaddr *)&local, socket_address_length(query->family)) == 0;
    }
    if (prepared || fd < 0)
        return fd;
    close(fd);
    return -1;
}

enum connection {
    /* A sandbox refuses the socket, bind(2) an address that only a local route has, or an IPsec policy the packets
     * (EPERM, which no route causes). The library does not promise to see policies. */
    CONNECTION_UNKNOWN,
    CONNECTION_REFUSED,
    CONNECTION_MADE
};

/* Connects a socket to the destination. *ret_source: its own address. */
static enum connection connect_socket(const struct query *query, uint8_t ret_source[16])
{
    const int fd = open_query_socket(query);
    struct sockaddr_storage remote = socket_address(query->family, query->destination, query->oif);
    socklen_t length = sizeof remote;
    int error = 0;

    memset(ret_source, 0, 16);
    if (fd < 0)
        return CONNECTION_UNKNOWN;
    if (connect(fd, (const struct sockaddr *)&remote, sizeof remote) != 0)
        error = errno;
    bool connected = error == 0 && getsockname(fd, (struct sockaddr *)&remote, &length) == 0;
    if (connected && query->family == AF_INET)
        memcpy(ret_source, &((struct sockaddr_in *)&remote)->sin_addr, 4);
    else if (connected)
        memcpy(ret_source, &((struct sockaddr_in6 *)&remote)->sin6_addr, 16);
    close(fd);
    if (error == EPERM)
        return CONNECTION_UNKNOWN;
    return connected ? CONNECTION_MADE : CONNECTION_REFUSED;
}

static bool can_connect(const struct query *query, uint8_t ret_source[16])
{
    return connect_socket(query, ret_source) == CONNECTION_MADE;
}

/* ---- Routes ----------------------------------------------------------------------------------------------------- */

/* Whether the reply to a query with a source is a route over another interface: then IPv6 only prefers the interface of
 * the query. */
static bool leaves_other_interface(const struct query *query, const struct reply *reply)
{
    for (size_t i = 0; i < reply->leg_count; i++)
        if (reply->legs[i].oif == query->oif)
            return false;
    return query->family == AF_INET6 && query->oif != 0 && reply->error == 0 && reply->oif != query->oif;
}

static bool is_vrf(unsigned index)
{
    char name[IF_NAMESIZE];

    return if_indextoname(index, name) != NULL && stack_is_vrf(name);
}

#define BITS_UNKNOWN 255

/* A route over the interface of the query that a socket uses, and no query returns. It may have a gateway. */
static struct reply unknown_reply(unsigned oif, const uint8_t source[16])
{
    struct reply reply = { .type = RTN_UNICAST, .bits = BITS_UNKNOWN, .oif = oif, .gateway = true };

    memcpy(reply.source, source, 16);
    return reply;
}

/* An IPv6 route can be for packets from a prefix. Without a route, the kernel chooses a source, and searches again. */
static struct reply query_with_chosen_source(const struct query *query, const struct reply *refusal)
{
    struct query chosen = *query;
    uint8_t source[16];

    if (!can_connect(query, source))
        return *refusal;
    chosen.source = source;
    struct reply reply = query_kernel(&chosen);
    if (query->oif == 0 || (reply.error == 0 && (is_vrf(query->oif) || !leaves_other_interface(query, &reply))))
        return reply;
    return unknown_reply(query->oif, source);
}

/* With a source, IPv6 obeys the interface of a socket, but not that of a query. */
static struct reply query_strictly(const struct query *query, const struct reply *reply)
{
    struct query sourceless = *query;
    uint8_t source[16];
    enum connection connection = connect_socket(query, source);

    if (connection == CONNECTION_REFUSED)
        return (struct reply){ .error = reply->error != 0 ? reply->error : ENETUNREACH };
    if (connection == CONNECTION_UNKNOWN && reply->error != 0)
        return *reply;
    sourceless.source = NULL;
    struct reply strict = query_kernel(&sourceless);
    return strict.error != 0 && connection == CONNECTION_MADE ? unknown_reply(query->oif, source) : strict;
}

static struct reply query_route(const struct query *query)
{
    struct reply reply = query_kernel(query);

    if (query->source != NULL && query->oif != 0 && query->family == AF_INET6 &&
        (reply.error != 0 || leaves_other_interface(query, &reply)))
        return query_strictly(query, &reply);
    if (query->source == NULL && query->family == AF_INET6 && reply.error != 0)
        return query_with_chosen_source(query, &reply);
    return reply;
}

static unsigned link_flags(unsigned index)
{
    struct ifreq request = { .ifr_ifindex = (int)index };

    if (ioctl(oracle_fd, SIOCGIFNAME, &request) != 0 || ioctl(oracle_fd, SIOCGIFFLAGS, &request) != 0)
        return 0;
    return (unsigned short)request.ifr_flags;
}

static bool is_running(unsigned index)
{
    return (link_flags(index) & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
}

static bool is_point_to_point(unsigned index)
{
    char name[IF_NAMESIZE];

    return (link_flags(index) & IFF_POINTOPOINT) != 0 ||
           (if_indextoname(index, name) != NULL && stack_is_point_to_point_tunnel(name));
}

/* ---- Flags ------------------------------------------------------------------------------------------------------ */

/* Returns whether IPv6 packets have a source address. */
static bool has_source(const struct query *query, const uint8_t source[16])
{
    static const uint8_t none[16], loopback[16] = { [15] = 1 };

    if (query->family != AF_INET6 || query->source != NULL)
        return true;
    if (memcmp(source, none, 16) == 0)
        return false;
    if (memcmp(query->destination, loopback, 16) == 0)
        return true;
    if (memcmp(source, loopback, 16) == 0)
        return false;
    return !is_link_local(source) || is_link_local(query->destination) || query->destination[0] == 0xff;
}

/* IPv4 sends multicast without a gateway, also by a route that has one. */
static bool is_multicast(const struct query *query)
{
    return query->family == AF_INET && (query->destination[0] & 0xf0) == 0xe0;
}

static SCNetworkReachabilityFlags flags_of_address(struct query *query);

static bool reads_peers; /* of WireGuard */

/* Packets into a tunnel leave this machine only if its other end has a path, and not through the tunnel itself. */
static bool leads_on(unsigned index)
{
    static unsigned depth;
    char name[IF_NAMESIZE];
    struct spec_address remote;
    struct query query = { .destination = remote.bytes };

    if (if_indextoname(index, name) == NULL || (reads_peers && stack_has_no_peer(name)))
        return false;
    if (!stack_find_remote(name, &remote) || depth == TUNNEL_DEPTH)
        return true;
    query.family = remote.family;
    depth++;
    bool leads = flags_of_address(&query) != 0 && query_route(&query).oif != index;
    depth--;
    return leads;
}

static SCNetworkReachabilityFlags flags_of_reply(const struct query *query, const struct reply *reply)
{
    if (reply->error != 0)
        return 0;
    if (reply->type == RTN_LOCAL)
        return is_running(if_nametoindex("lo")) ? R | L | D : 0;
    if (!is_running(reply->oif) || !has_source(query, reply->source))
        return 0;
    if (!leads_on(reply->oif))
        return 0;
    if (is_point_to_point(reply->oif))
        return R | T;
    return reply->gateway && !is_multicast(query) ? R : R | D;
}

/* Whether a query out of this interface can have the leg. */
static bool may_use_leg(unsigned oif, const struct leg *leg)
{
    return oif == 0 || oif == leg->oif || is_vrf(oif);
}

/* The flags of the first usable leg. */
static SCNetworkReachabilityFlags flags_of_legs(const struct query *query, const struct reply *match)
{
    for (size_t i = 0; i < match->leg_count; i++) {
        const struct leg *leg = &match->legs[i];
        struct query over = *query;

        if ((leg->flags & RTNH_F_DEAD) != 0 || !is_running(leg->oif) || !may_use_leg(query->oif, leg))
            continue;
        over.oif = leg->oif;
        over.fib_match = false;
        struct reply reply = query_route(&over);
        reply.gateway = leg->gateway;
        reply.oif = leg->oif;
        return flags_of_reply(query, &reply);
    }
    return 0;
}

/* The flags of a reply with FIB_MATCH. */
static SCNetworkReachabilityFlags flags_of_match(const struct query *query, const struct reply *match)
{
    struct query plain = *query;

    if (match->error == 0 && match->leg_count != 0)
        return flags_of_legs(query, match);
    if (match->error != 0 || (match->oif != 0 && query->family == AF_INET))
        return flags_of_reply(query, match);
    plain.fib_match = false; /* a nexthop object hides its interface; IPv6 needs the source */
    struct reply reply = query_route(&plain);
    return flags_of_reply(query, &reply);
}

static SCNetworkReachabilityFlags flags_of_address(struct query *query)
{
    struct reply match;

    query->fib_match = true;
    /* A plain query out of an interface returns a route that does not exist. Packets to 224.0.0.0/24 need no route. */
    if (query->oif != 0 && query->family == AF_INET && !is_multicast(query)) {
        match = query_route(query);
        return flags_of_match(query, &match);
    }
    query->fib_match = false;
    struct reply reply = query_route(query);
    SCNetworkReachabilityFlags flags = flags_of_reply(query, &reply);
    if (flags != 0 || reply.error != 0 || is_running(reply.oif))
        return flags;
    query->fib_match = true;
    match = query_route(query);
    return match.leg_count == 0 ? flags : flags_of_legs(query, &match);
}

/* ---- The default path ------------------------------------------------------------------------------------------- */

/* IPv6 packets that leave a VRF by a route outside it need an address in the VRF. Only a socket shows that. */
static bool leaves_with_source(const struct query *query)
{
    uint8_t source[16];

    return query->family == AF_INET || query->oif == 0 || connect_socket(query, source) != CONNECTION_REFUSED;
}

/* Whether the reply names a route that cannot lead to the address, or does not name its prefix. */
static bool is_another_route(const struct reply *reply, const uint8_t address[16])
{
    const unsigned bytes = reply->bits / 8, rest = reply->bits % 8;

    if (reply->hides_legs && reply->error == 0)
        return true;
    return reply->error == 0 && reply->nexthop && reply->bits <= 128 &&
           (memcmp(reply->first, address, bytes) != 0 ||
            (rest != 0 && (reply->first[bytes] ^ address[bytes]) >> (8 - rest) != 0));
}

static bool is_reached(struct query query, const uint8_t probe[16])
{
    query.destination = probe;
    struct reply reply = query_route(&query);
    return reply.error == 0 && reply.type != RTN_LOCAL &&
           (reply.bits == BITS_UNKNOWN || reply.bits <= 1 || is_another_route(&reply, probe));
}

/* The flags of the first probe that matches a default route, or half of one. A route that only a socket shows is that
 * if both probes of the first half are reached. *ret: its query, if there are flags. */
static SCNetworkReachabilityFlags flags_of_default_query(int family, const struct spec *spec, unsigned oif,
                                                         struct query *ret)
{
    static const uint8_t probes[2][3][16] = { { { 0, 0, 0, 1 }, { 1, 0, 0, 1 }, { 128, 0, 0, 1 } },
                                              { { 0x40, [15] = 1 }, { 0x20, [15] = 1 }, { 0x80, [15] = 1 } } };
    static const uint8_t last_quarter[16] = {
        0x60, [15] = 1
    }; /* of the first half; a longer prefix may have 4000::1 */

    if (spec->local.family != 0 && spec->local.family != family)
        return 0;
    for (int i = 0; i < 3; i++) {
        struct query query = { .family = family,
                               .destination = probes[family == AF_INET6][i],
                               .source = spec->local.family != 0 ? spec->local.bytes : NULL,
                               .oif = oif,
                               .mark = spec->mark,
                               .fib_match = true };
        struct reply reply = query_route(&query);

        if (reply.error == 0 && reply.bits == BITS_UNKNOWN && i < 2 &&
            is_reached(query, probes[family == AF_INET6][1 - i]))
            reply.bits = 0;
        if (is_another_route(&reply, query.destination) &&
            (i != 1 || (family == AF_INET6 && (is_reached(query, probes[1][0]) || is_reached(query, last_quarter)))))
            reply.bits = 0;
        *ret = query;
        if (reply.error == 0 && reply.bits <= 1 && reply.type != RTN_LOCAL && leaves_with_source(&query))
            return family == AF_INET ? flags_of_match(&query, &reply) : flags_of_address(&query);
        /* There is no route at all: only the other half of a default route is left to probe. */
        if (reply.error == ENETUNREACH && i == 0)
            i = 1;
    }
    return 0;
}

static SCNetworkReachabilityFlags flags_of_default(int family, const struct spec *spec, unsigned oif)
{
    struct query unused;

    return flags_of_default_query(family, spec, oif, &unused);
}

/* ---- Without netlink -------------------------------------------------------------------------------------------- */

/* The default path is a path to either half of the addresses. Those of IPv6 have global scope. */
static SCNetworkReachabilityFlags flags_of_default_socket(const struct spec *spec, unsigned oif)
{
    static const struct probe {
        int family;
        uint8_t bytes[16];
    } probes[] = { { AF_INET, { 0, 0, 0, 1 } },
                   { AF_INET, { 128, 0, 0, 1 } },
                   { AF_INET6, { 0x40, [15] = 1 } },
                   { AF_INET6, { 0x80, [15] = 1 } } };
    uint8_t source[16];

    for (size_t i = 0; i < COUNT(probes); i++) {
        const struct query query = { .family = probes[i].family,
                                     .destination = probes[i].bytes,
                                     .source = spec->local.family != 0 ? spec->local.bytes : NULL,
                                     .oif = oif,
                                     .mark = spec->mark };

        if ((spec->local.family == 0 || spec->local.family == probes[i].family) && can_connect(&query, source) &&
            has_source(&query, source) && memcmp(source, probes[i].bytes, 16) != 0)
            return R;
    }
    return 0;
}

/* Without netlink, an address of this machine shows as the source of packets to it, or as one that IPv4 can connect to
 * itself. Not always one that only a local route has. */
static bool is_own_address(const struct spec *spec)
{
    const uint8_t *const own = spec->remote.bytes;
    const struct query query = { .family = spec->remote.family, .destination = own, .oif = spec->remote.scope };
    const struct query bound = { .family = query.family, .destination = own, .source = own, .oif = query.oif };
    const struct reply reply = query_kernel(&query);
    uint8_t source[16];

    if (reply.error != 0 || reply.type != RTN_LOCAL)
        return false;
    return (can_connect(&query, source) && memcmp(source, own, 16) == 0) ||
           (query.family == AF_INET && can_connect(&bound, source));
}

/* Only R and L are known. A lost carrier shows only on an interface that the spec names. */
static SCNetworkReachabilityFlags flags_of_socket(const struct spec *spec, unsigned oif)
{
    const struct query query = { .family = spec->remote.family,
                                 .destination = spec->remote.bytes,
                                 .source = spec->local.family != 0 ? spec->local.bytes : NULL,
                                 .oif = oif,
                                 .mark = spec->mark };
    uint8_t source[16];

    if (oif != 0 && !is_running(oif))
        return 0;
    if (spec_is_default_path(spec))
        return flags_of_default_socket(spec, oif);
    if (!can_connect(&query, source) || !has_source(&query, source))
        return 0;
    if (spec_is_loopback(spec) || is_own_address(spec))
        return is_running(if_nametoindex("lo")) ? R | L : 0;
    return R;
}

/* ---- Specs ------------------------------------------------------------------------------------------------------ */

/* Whether the address means nothing without an interface. */
static bool is_scoped(const struct spec_address *address)
{
    return address->family == AF_INET6 && is_link_local(address->bytes);
}

static bool has_local_address(const struct spec *spec, unsigned oif)
{
    const struct query own = { .family = spec->local.family,
                               .destination = spec->local.bytes,
                               .oif = is_scoped(&spec->local) ? oif : 0,
                               .mark = spec->mark };
    const struct reply reply = query_kernel(&own);

    return reply.error == 0 && reply.type == RTN_LOCAL;
}

/* Whether connect(2) refuses what queries allow. It may be right for IPv4 rules from a prefix: it searches twice, the
 * second time with the source address that it has chosen. */
static bool socket_disagrees(const struct query *query)
{
    uint8_t source[16];

    return (query->family == AF_INET6 || query->source != NULL) && connect_socket(query, source) == CONNECTION_REFUSED;
}

/* Whether a socket connects although the queries were refused. A socket that is bound to an interface without a route
 * does so: IPv4 makes up a route. */
static bool socket_has_route(const struct query *query)
{
    struct query plain = *query;
    uint8_t source[16];

    plain.fib_match = false;
    return (query->family == AF_INET6 || query->oif == 0) && query_route(&plain).error != 0 &&
           can_connect(&plain, source) && has_source(&plain, source);
}

static struct query query_of_spec(const struct spec *spec)
{
    struct query query = { .family = spec->remote.family,
                           .destination = spec->remote.bytes,
                           .source = spec->local.family != 0 ? spec->local.bytes : NULL,
                           .oif = spec->remote.scope,
                           .mark = spec->mark };

    if (spec->interface[0] != '\0')
        query.oif = if_nametoindex(spec->interface);
    if (query.oif == 0)
        query.oif = spec->local.scope;
    return query;
}

static SCNetworkReachabilityFlags flags_of_spec(const struct spec *spec)
{
    struct query query = query_of_spec(spec);
    SCNetworkReachabilityFlags flags;

    if (spec->interface[0] != '\0' && if_nametoindex(spec->interface) == 0)
        return 0;
    if ((spec->remote.scope != 0 && spec->remote.scope != query.oif) ||
        (spec->local.scope != 0 && spec->local.scope != query.oif))
        return 0;
    if (query.oif == 0 && (is_scoped(&spec->remote) || is_scoped(&spec->local)))
        return 0;
    if (spec->local.family != 0 && !has_local_address(spec, query.oif))
        return 0;
    if (denial_uses_sockets())
        return flags_of_socket(spec, query.oif);
    if (spec_is_default_path(spec)) {
        flags = flags_of_default(AF_INET, spec, query.oif);
        return flags != 0 ? flags : flags_of_default(AF_INET6, spec, query.oif);
    }
    if (spec_is_loopback(spec) && !is_running(if_nametoindex("lo")))
        return 0;
    flags = flags_of_address(&query);
    if (flags == 0)
        return socket_has_route(&query) ? R : 0;
    return socket_disagrees(&query) ? 0 : flags;
}

SCNetworkReachabilityFlags oracle_flags(const struct spec *spec)
{
    reads_peers = true;
    return flags_of_spec(spec);
}

SCNetworkReachabilityFlags oracle_flags_without_peers(const struct spec *spec)
{
    reads_peers = false;
    return flags_of_spec(spec);
}

SCNetworkReachabilityFlags oracle_default_flags(int family, const char *interface)
{
    const struct spec any = { .options = 0 };
    const unsigned oif = interface[0] != '\0' ? if_nametoindex(interface) : 0;

    reads_peers = true;
    if (interface[0] != '\0' && oif == 0)
        return 0;
    return flags_of_default(family, &any, oif);
}

static void dump(uint16_t type, uint8_t family, void (*add)(const struct nlmsghdr *message, void *info), void *info)
{
    struct {
        struct nlmsghdr header;
        union {
            struct ifinfomsg link;
            struct rtmsg route;
        } of;
    } request = { .header = {
                      .nlmsg_len = NLMSG_LENGTH(type == RTM_GETLINK ? sizeof request.of.link : sizeof request.of.route),
                      .nlmsg_type = type,
                      .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                      .nlmsg_seq = UINT32_MAX } };
    _Alignas(struct nlmsghdr) static char bytes[65536];

    *(uint8_t *)&request.of = family; /* the first byte of both */
    assert_int_equal(send(oracle_fd, &request, request.header.nlmsg_len, 0), request.header.nlmsg_len);
    for (;;) {
        ssize_t left = recv(oracle_fd, bytes, sizeof bytes, 0);

        assert_true(left > 0);
        for (const struct nlmsghdr *at = (struct nlmsghdr *)bytes; NLMSG_OK(at, left); at = NLMSG_NEXT(at, left)) {
            if (at->nlmsg_type == NLMSG_DONE || at->nlmsg_type == NLMSG_ERROR)
                return;
            add(at, info);
        }
    }
}

void oracle_dump_links(void (*add)(const struct nlmsghdr *message, void *info), void *info)
{
    dump(RTM_GETLINK, AF_UNSPEC, add, info);
}

struct nexthop_users {
    uint32_t ids[256];
    size_t count;
    bool shared;
};

static void note_nexthop(const struct nlmsghdr *message, void *info)
{
    struct nexthop_users *users = info;
    const struct rtmsg *route = NLMSG_DATA(message);
    int left = (int)RTM_PAYLOAD(message);
    uint32_t id = 0;

    for (const struct rtattr *attribute = RTM_RTA(route); RTA_OK(attribute, left);
         attribute = RTA_NEXT(attribute, left))
        if (attribute->rta_type == RTA_NH_ID)
            memcpy(&id, RTA_DATA(attribute), sizeof id);
    if (id == 0)
        return;
    for (size_t i = 0; i < users->count; i++)
        users->shared = users->shared || users->ids[i] == id;
    if (users->count < COUNT(users->ids))
        users->ids[users->count++] = id;
}

bool oracle_ipv6_routes_share_a_nexthop(void)
{
    struct nexthop_users users = { .count = 0 };

    dump(RTM_GETROUTE, AF_INET6, note_nexthop, &users);
    return users.shared;
}

bool oracle_ipv6_default_is_group(void)
{
    static const uint8_t probes[][16] = { { 0x40, [15] = 1 }, { 0x20, [15] = 1 }, { 0x80, [15] = 1 } };

    for (size_t i = 0; i < COUNT(probes); i++) {
        const struct query query = { .family = AF_INET6, .destination = probes[i], .fib_match = true };
        const struct reply reply = query_kernel(&query);

        if (reply.error == 0 && reply.nexthop && reply.leg_count > 0 && reply.bits <= 1)
            return true;
    }
    return false;
}

/* Whether the kernel may choose among several legs, also by ports. */
static bool has_legs(struct query query)
{
    query.fib_match = true;
    struct reply reply = query_kernel(&query);
    return reply.leg_count > 0 || reply.hides_legs || reply.oif == 0; /* a group of nexthop objects has no interface */
}

static bool is_none(const uint8_t address[16])
{
    static const uint8_t none[16];

    return memcmp(address, none, 16) == 0;
}

static bool source_of_query(const struct query *query, struct sockaddr_storage *ret)
{
    uint8_t source[16];

    if (has_legs(*query) || !can_connect(query, source))
        return false;
    if (is_none(source)) /* IPv4 packets may leave a link without an address */
        return false;
    *ret = socket_address(query->family, source, 0);
    return true;
}

bool oracle_source(const struct spec *spec, struct sockaddr_storage *ret)
{
    const struct query query = query_of_spec(spec);
    struct query sourceless = query;

    sourceless.source = NULL;
    return !spec_is_default_path(spec) && !denial_uses_sockets() && !has_legs(sourceless) &&
           source_of_query(&query, ret);
}

bool oracle_connected_flags(const struct spec *spec, SCNetworkReachabilityFlags *ret)
{
    const struct query query = query_of_spec(spec);
    struct spec connected = *spec;
    uint8_t source[16];
    const enum connection connection = connect_socket(&query, source);

    if (connection == CONNECTION_UNKNOWN || (connection == CONNECTION_MADE && has_legs(query)))
        return false;
    *ret = 0;
    if (connection == CONNECTION_REFUSED)
        return true;
    if (spec->remote.family == AF_INET && !is_none(source)) {
        connected.local.family = AF_INET;
        memcpy(connected.local.bytes, source, sizeof source);
        if (has_legs(query_of_spec(&connected)))
            return false;
    }
    *ret = oracle_flags(&connected);
    return true;
}

bool oracle_default_source(int family, const char *interface, struct sockaddr_storage *ret)
{
    const struct spec any = { .options = 0 };
    const unsigned oif = interface[0] != '\0' ? if_nametoindex(interface) : 0;
    struct query query;

    if (denial_uses_sockets() || (interface[0] != '\0' && oif == 0) ||
        flags_of_default_query(family, &any, oif, &query) == 0)
        return false;
    query.fib_match = false;
    return source_of_query(&query, ret);
}

static void open_socket(void *fd)
{
    *(int *)fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
}

void oracle_open(void)
{
    namespace_aside(open_socket, &oracle_fd);
    assert_true(oracle_fd >= 0);
}

void oracle_close(void)
{
    close(oracle_fd);
    oracle_fd = -1;
}
