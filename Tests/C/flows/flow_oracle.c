/* SPDX-License-Identifier: MIT */
#include "flows/flow_oracle.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "soak/oracle_put.h"
#include "support/unit.h"

static int oracle_fd = -1;

void flow_oracle_open(void)
{
    oracle_fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    assert_true(oracle_fd >= 0);
}

void flow_oracle_close(void)
{
    close(oracle_fd);
}

static unsigned length_of(int family)
{
    return family == AF_INET6 ? 16 : 4;
}

/* ---- Queries ---------------------------------------------------------------------------------------------------- */

union message {
    struct nlmsghdr header;
    char bytes[8192];
};

/* Sends the request, and puts the reply in its place. Returns 0 or the kernel's errno. */
static int exchange(union message *message)
{
    static unsigned sequence;

    message->header.nlmsg_seq = ++sequence;
    assert_int_equal(send(oracle_fd, message, message->header.nlmsg_len, 0), message->header.nlmsg_len);
    do
        assert_true(recv(oracle_fd, message, sizeof *message, 0) > 0);
    while (message->header.nlmsg_seq != sequence);
    if (message->header.nlmsg_type != NLMSG_ERROR)
        return 0;
    return -((const struct nlmsgerr *)NLMSG_DATA(&message->header))->error;
}

static void begin(union message *message, unsigned short type, size_t size)
{
    memset(message, 0, sizeof *message);
    message->header = (struct nlmsghdr){ .nlmsg_len = (uint32_t)NLMSG_LENGTH(size),
                                         .nlmsg_type = type,
                                         .nlmsg_flags = NLM_F_REQUEST };
}

/* ---- Routes ----------------------------------------------------------------------------------------------------- */

struct found {
    int error;
    unsigned oif;
    bool has_gateway, is_multipath, is_local;
    uint8_t gateway[16];
};

static struct found read_route(const struct nlmsghdr *header)
{
    const struct rtmsg *route = NLMSG_DATA(header);
    struct found found = { .is_local = route->rtm_type == RTN_LOCAL };
    int left = (int)RTM_PAYLOAD(header);

    for (const struct rtattr *attribute = RTM_RTA(route); RTA_OK(attribute, left);
         attribute = RTA_NEXT(attribute, left)) {
        if (attribute->rta_type == RTA_OIF)
            memcpy(&found.oif, RTA_DATA(attribute), sizeof found.oif);
        if (attribute->rta_type == RTA_GATEWAY) {
            found.has_gateway = true;
            memcpy(found.gateway, RTA_DATA(attribute), RTA_PAYLOAD(attribute));
        }
        found.is_multipath = found.is_multipath || attribute->rta_type == RTA_MULTIPATH;
    }
    return found;
}

/* As `ip route get REMOTE from SOURCE ipproto P sport S dport D mark M tos T` asks. */
static struct found find_route(const struct flow_case *flow, const uint8_t *source, uint16_t local_port, bool fib_match)
{
    const unsigned size = length_of(flow->family);
    const uint16_t from = htons(local_port), to = htons(flow->remote_port);
    union message message;
    struct rtmsg *route = NLMSG_DATA(&message.header);
    struct found found = { 0 };

    begin(&message, RTM_GETROUTE, sizeof *route);
    *route = (struct rtmsg){ .rtm_family = (unsigned char)flow->family,
                             .rtm_dst_len = (unsigned char)(size * 8),
                             .rtm_src_len = (unsigned char)(size * 8),
                             .rtm_tos = flow->traffic_class,
                             .rtm_flags = fib_match ? RTM_F_FIB_MATCH : 0 };
    oracle_put(&message.header, RTA_DST, flow->remote, size);
    oracle_put(&message.header, RTA_SRC, source, size);
    oracle_put(&message.header, RTA_IP_PROTO, &flow->protocol, 1);
    oracle_put(&message.header, RTA_DPORT, &to, sizeof to);
    if (local_port != 0)
        oracle_put(&message.header, RTA_SPORT, &from, sizeof from);
    if (flow->mark != 0)
        oracle_put(&message.header, RTA_MARK, &flow->mark, sizeof flow->mark);
    found.error = exchange(&message);
    return found.error != 0 ? found : read_route(&message.header);
}

static bool is_running(unsigned index)
{
    struct ifreq request = { .ifr_ifindex = (int)index };

    return ioctl(oracle_fd, SIOCGIFNAME, &request) == 0 && ioctl(oracle_fd, SIOCGIFFLAGS, &request) == 0 &&
           (request.ifr_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
}

/* Without another address, IPv6 takes that of lo. Such packets reach nobody. */
static bool has_source(int family, const uint8_t source[16])
{
    static const uint8_t loopback[16] = { [15] = 1 };

    return family != AF_INET6 || memcmp(source, loopback, sizeof loopback) != 0;
}

/* `bound`: with its local address; otherwise a new connection, which has no address and no port. */
static struct flow_verdict decide(const struct flow_case *flow, bool bound)
{
    struct flow_verdict verdict = { .is_certain = true };
    const int fd = flow_case_connect(flow, bound, NULL);
    uint16_t port;

    if (fd < 0) {
        verdict.is_certain = errno != EADDRINUSE;
        return verdict;
    }
    flow_case_read_local(fd, verdict.source, &port);
    close(fd);
    struct found found = find_route(flow, verdict.source, bound ? flow->local_port : 0, false);
    verdict.is_certain = found.error == 0 && !found.is_local;
    if (!verdict.is_certain)
        return verdict;
    verdict.is_multipath = find_route(flow, verdict.source, bound ? flow->local_port : 0, true).is_multipath;
    verdict.oif = found.oif;
    verdict.reachable = is_running(found.oif) && has_source(flow->family, verdict.source);
    memcpy(verdict.next_hop, found.has_gateway ? found.gateway : flow->remote, sizeof verdict.next_hop);
    return verdict;
}

/* ---- Flows ------------------------------------------------------------------------------------------------------ */

/* Whether an interface has the address. */
static bool has_address(unsigned index, int family, const uint8_t *address)
{
    struct ifaddrs *all;
    bool has = false;

    assert_int_equal(getifaddrs(&all), 0);
    for (const struct ifaddrs *one = all; one != NULL; one = one->ifa_next) {
        if (one->ifa_addr == NULL || one->ifa_addr->sa_family != family || if_nametoindex(one->ifa_name) != index)
            continue;
        const void *bytes = family == AF_INET ? (const void *)&((struct sockaddr_in *)one->ifa_addr)->sin_addr
                                              : (const void *)&((struct sockaddr_in6 *)one->ifa_addr)->sin6_addr;
        has = has || memcmp(bytes, address, length_of(family)) == 0;
    }
    freeifaddrs(all);
    return has;
}

/* The interface with the address: `first`, if it has it. */
static unsigned find_holder(const struct flow_case *flow, unsigned first)
{
    static const char *const names[] = { "a", "c" };

    if (has_address(first, flow->family, flow->local))
        return first;
    for (unsigned i = 0; i < 2; i++)
        if (has_address(if_nametoindex(names[i]), flow->family, flow->local))
            return if_nametoindex(names[i]);
    return 0;
}

/* Whether a new connection over the interface gets another source. */
static bool gets_another_source(const struct flow_case *flow, unsigned oif, const struct flow_verdict *fresh)
{
    char name[IF_NAMESIZE];
    uint8_t source[16];
    uint16_t port;

    if (fresh->reachable && fresh->oif == oif)
        return memcmp(fresh->source, flow->local, 16) != 0;
    int fd = flow_case_connect(flow, false, if_indextoname(oif, name));
    if (fd < 0)
        return false;
    flow_case_read_local(fd, source, &port);
    close(fd);
    return memcmp(source, flow->local, 16) != 0;
}

static void decide_flow(const struct flow_case *flow, struct flow_verdict *verdict)
{
    const struct flow_verdict fresh = decide(flow, false);
    const unsigned holder = find_holder(flow, verdict->oif);

    verdict->is_certain = verdict->is_certain && fresh.is_certain;
    verdict->is_multipath = verdict->is_multipath || fresh.is_multipath;
    if (fresh.reachable && (fresh.oif != verdict->oif || (holder != 0 && fresh.oif != holder)))
        verdict->flow |= kSCNetworkReachabilityFlowBetterPath;
    if (holder != 0 && holder != verdict->oif && gets_another_source(flow, verdict->oif, &fresh))
        verdict->flow |= kSCNetworkReachabilityFlowSourceForeign;
}

struct flow_verdict flow_oracle_decide(const struct flow_case *flow)
{
    struct flow_verdict verdict = decide(flow, true);

    if (!verdict.reachable)
        return verdict;
    if (flow->has_local)
        decide_flow(flow, &verdict);
    verdict.neighbour = flow_oracle_neighbour(flow->family, verdict.oif, verdict.next_hop);
    return verdict;
}

/* ---- Neighbours ------------------------------------------------------------------------------------------------- */

uint16_t flow_oracle_neighbour(int family, unsigned index, const uint8_t *address)
{
    union message message;
    struct ndmsg *neighbour = NLMSG_DATA(&message.header);

    begin(&message, RTM_GETNEIGH, sizeof *neighbour);
    *neighbour = (struct ndmsg){ .ndm_family = (unsigned char)family, .ndm_ifindex = (int)index };
    oracle_put(&message.header, NDA_DST, address, length_of(family));
    return exchange(&message) == 0 ? neighbour->ndm_state : 0;
}
