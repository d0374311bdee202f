/* SPDX-License-Identifier: MIT */
#include "flows/flow_case.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "support/unit.h"

const char *const flow_locals[2][FLOW_LOCALS] = { { "192.0.2.2", "203.0.113.2" }, { "2001:db8::2", "2001:db8:c::2" } };
const char *const flow_remotes[2][FLOW_REMOTES] = {
    { "198.51.100.7", "198.51.100.8", "192.0.2.77", "100.64.0.9" },
    { "2001:db8:1::7", "2001:db8:1::8", "2001:db8::77", "2001:db8:9::9" },
};

/* ---- Drawing ---------------------------------------------------------------------------------------------------- */

void flow_case_draw(uint64_t *random, struct flow_case *ret)
{
    static const uint16_t remote_ports[] = { 443, 443, 80, 5000 };
    uint64_t bits = random_next(random);
    const unsigned family = random_take(&bits, 2);

    memset(ret, 0, sizeof *ret);
    ret->family = family == 1 ? AF_INET6 : AF_INET;
    ret->kind = (enum flow_kind)random_take(&bits, 3);
    ret->protocol = random_take(&bits, 2) == 0 ? IPPROTO_TCP : IPPROTO_UDP;
    ret->remote_port = remote_ports[random_take(&bits, 4)];
    ret->local_port = random_take(&bits, 2) == 0 ? 0 : (uint16_t)(1000 + random_take(&bits, 4));
    ret->traffic_class = random_take(&bits, 4) == 0 ? 0x10 : 0;
    ret->mark = random_take(&bits, 4) == 0 ? 1 : 0;
    ret->has_local = ret->kind != FLOW_EXACT;
    inet_pton(ret->family, flow_locals[family][random_take(&bits, FLOW_LOCALS)], ret->local);
    inet_pton(ret->family, flow_remotes[family][random_take(&bits, FLOW_REMOTES)], ret->remote);
    if (ret->kind != FLOW_SOCKET && random_take(&bits, 4) != 0)
        ret->options |= kSCNetworkReachabilityOptionNotifyPath;
    if (ret->kind != FLOW_SOCKET && random_take(&bits, 2) == 0)
        ret->options |= kSCNetworkReachabilityOptionNotifyNextHop;
    if (ret->kind == FLOW_SOCKET && random_take(&bits, 3) == 0)
        ret->has_local = false; /* the kernel chooses when it connects */
}

bool flow_case_reports_flow(const struct flow_case *flow)
{
    return flow->kind == FLOW_SOCKET || (flow->options & kSCNetworkReachabilityOptionNotifyPath) != 0;
}

bool flow_case_reports_next_hop(const struct flow_case *flow)
{
    const uint32_t both = kSCNetworkReachabilityOptionNotifyNextHop | kSCNetworkReachabilityOptionNotifyPath;

    return (flow->options & both) == both;
}

/* ---- Sockets ---------------------------------------------------------------------------------------------------- */

static struct sockaddr_storage address_of(int family, const uint8_t *bytes, uint16_t port)
{
    struct sockaddr_storage storage = { .ss_family = (sa_family_t)family };

    ((struct sockaddr_in *)&storage)->sin_port = htons(port); /* at the same place in sockaddr_in6 */
    if (bytes != NULL && family == AF_INET)
        memcpy(&((struct sockaddr_in *)&storage)->sin_addr, bytes, 4);
    if (bytes != NULL && family == AF_INET6)
        memcpy(&((struct sockaddr_in6 *)&storage)->sin6_addr, bytes, 16);
    return storage;
}

static bool set_options(int fd, const struct flow_case *flow, const char *device)
{
    const int one = 1, class = flow->traffic_class;

    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
        (flow->mark != 0 && setsockopt(fd, SOL_SOCKET, SO_MARK, &flow->mark, sizeof flow->mark) != 0) ||
        (device != NULL && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, (socklen_t)strlen(device)) != 0))
        return false;
    if (flow->family == AF_INET)
        return setsockopt(fd, IPPROTO_IP, IP_TOS, &class, sizeof class) == 0;
    return setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &class, sizeof class) == 0;
}

/* The socket under repair connects at once, and sends nothing. */
static bool prepare_tcp(int fd, const struct flow_case *flow)
{
    const int one = 1;

    return flow->protocol != IPPROTO_TCP || setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &one, sizeof one) == 0;
}

static bool bind_and_connect(int fd, const struct flow_case *flow, bool bound)
{
    const uint16_t port = bound ? flow->local_port : 0;
    const uint8_t *local = bound && flow->has_local ? flow->local : NULL;
    const struct sockaddr_storage from = address_of(flow->family, local, port);
    const struct sockaddr_storage to = address_of(flow->family, flow->remote, flow->remote_port);

    if ((local != NULL || port != 0) && bind(fd, (const struct sockaddr *)&from, sizeof from) != 0)
        return false;
    return prepare_tcp(fd, flow) && connect(fd, (const struct sockaddr *)&to, sizeof to) == 0;
}

int flow_case_connect(const struct flow_case *flow, bool bound, const char *device)
{
    const int type = flow->protocol == IPPROTO_TCP ? SOCK_STREAM : SOCK_DGRAM;
    const int fd = socket(flow->family, type | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    if (!set_options(fd, flow, device))
        fail_msg("setsockopt: %s", strerror(errno));
    if (bind_and_connect(fd, flow, bound))
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

void flow_case_read_local(int fd, uint8_t ret_address[16], uint16_t *ret_port)
{
    struct sockaddr_storage local;
    socklen_t length = sizeof local;

    assert_int_equal(getsockname(fd, (struct sockaddr *)&local, &length), 0);
    memset(ret_address, 0, 16);
    if (local.ss_family == AF_INET)
        memcpy(ret_address, &((struct sockaddr_in *)&local)->sin_addr, 4);
    else
        memcpy(ret_address, &((struct sockaddr_in6 *)&local)->sin6_addr, 16);
    *ret_port = ntohs(((struct sockaddr_in *)&local)->sin_port);
}

/* ---- Targets ---------------------------------------------------------------------------------------------------- */

/* The descriptor is closed: a target outlives its socket. */
static SCNetworkReachabilityRef create_with_socket(struct flow_case *flow)
{
    const int fd = flow_case_connect(flow, true, NULL);

    if (fd < 0)
        return NULL;
    flow_case_read_local(fd, flow->local, &flow->local_port);
    flow->has_local = true;
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithSocket(NULL, fd);
    if (target == NULL)
        fail_msg("CreateWithSocket: %s", SCErrorString(SCError()));
    close(fd);
    return target;
}

SCNetworkReachabilityRef flow_case_create(struct flow_case *flow)
{
    const struct sockaddr_storage local = address_of(flow->family, flow->has_local ? flow->local : NULL,
                                                     flow->local_port);
    const struct sockaddr_storage remote = address_of(flow->family, flow->remote, flow->remote_port);
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    if (flow->kind == FLOW_SOCKET)
        return create_with_socket(flow);
    options.remoteAddress = (const struct sockaddr *)&remote;
    if (flow->has_local || flow->local_port != 0)
        options.localAddress = (const struct sockaddr *)&local;
    options.routingMark = flow->mark;
    options.protocol = flow->protocol;
    options.trafficClass = flow->traffic_class;
    options.options = flow->options;
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithOptions(NULL, &options);
    if (target == NULL)
        fail_msg("CreateWithOptions: %s", SCErrorString(SCError()));
    return target;
}

void flow_case_describe(const struct flow_case *flow, struct text *ret)
{
    static const char *const kinds[] = { "exact flow", "pair", "socket" };
    char bytes[INET6_ADDRSTRLEN];

    text_add(ret, "%s %s ", kinds[flow->kind], flow->protocol == IPPROTO_TCP ? "tcp" : "udp");
    if (flow->has_local)
        text_add(ret, "%s ", inet_ntop(flow->family, flow->local, bytes, sizeof bytes));
    text_add(ret, "port %u to ", flow->local_port);
    text_add(ret, "%s port %u class 0x%x mark %u options 0x%x",
             inet_ntop(flow->family, flow->remote, bytes, sizeof bytes), flow->remote_port, flow->traffic_class,
             flow->mark, flow->options);
}
