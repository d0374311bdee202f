/* SPDX-License-Identifier: MIT */
/*
 * The evaluation of questions with UDP sockets.
 *
 * What this file must never do: send a packet, or set a flag without evidence from a socket.
 */
#ifdef __linux__
#include "route/udp_probe.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "kernel/device.h"
#include "kernel/udp_socket.h"

/* Addresses that hardly any route matches except a default route, or one of its two halves. */
#define UDP_SAMPLES 2
static const struct address udp_samples_ipv4[UDP_SAMPLES] = { { AF_INET, { 0, 0, 0, 1 } },
                                                              { AF_INET, { 128, 0, 0, 1 } } };
static const struct address udp_samples_ipv6[UDP_SAMPLES] = { { AF_INET6, { 0x40, [15] = 1 } },
                                                              { AF_INET6, { 0x80, [15] = 1 } } };

/* A question, and the interface that it names. */
struct udp_probe {
    const struct netns_handle *netns;
    const struct question *question;
    uint32_t oif;     /* 0: any */
    struct link link; /* of oif */
};

/* ---- Interfaces ------------------------------------------------------------------------------------------------- */

/* Opens a socket for ioctls, which work with any family. */
static int open_any_udp_socket(const struct netns_handle *netns, struct descriptor *ret)
{
    const int error = udp_socket_open(netns, AF_INET, ret);

    return error == EAFNOSUPPORT ? udp_socket_open(netns, AF_INET6, ret) : error;
}

static int read_link(const struct netns_handle *netns, uint32_t index, struct link *ret)
{
    struct descriptor socket;
    int error = open_any_udp_socket(netns, &socket);

    if (error != 0)
        return error;
    error = ioctl_link(socket.fd, index, ret);
    descriptor_close(&socket);
    return error;
}

int udp_probe_link_index(const struct netns_handle *netns, const char *name, uint32_t *ret)
{
    struct descriptor socket;
    int error = open_any_udp_socket(netns, &socket);

    *ret = 0;
    if (error != 0)
        return error;
    error = ioctl_link_index(socket.fd, name, ret);
    descriptor_close(&socket);
    return error == ENODEV ? 0 : error;
}

/* False: the interface is not usable, and *ret says why. */
static bool interface_is_usable(const struct link *link, struct path *ret)
{
    if (!link_is_up(link))
        *ret = path_unreachable(kSCNetworkReachabilityReasonInterfaceDown);
    else if (!link_is_running(link))
        *ret = path_unreachable(kSCNetworkReachabilityReasonNoCarrier);
    else
        return true;
    return false;
}

/* Finds the interface that a question names. Returns 0 or an errno. *ret_open false: *ret is the path already. */
static int find_question_interface(struct udp_probe *probe, bool *ret_open, struct path *ret)
{
    uint32_t named = 0;
    int error = 0;

    if (probe->question->interface[0] != '\0')
        error = udp_probe_link_index(probe->netns, probe->question->interface, &named);
    if (error != 0)
        return error;
    *ret_open = question_choose_interface(probe->question, named, &probe->oif, ret);
    if (!*ret_open || probe->oif == 0)
        return 0;
    error = read_link(probe->netns, probe->oif, &probe->link);
    if (error == ENODEV)
        *ret = path_unreachable(kSCNetworkReachabilityReasonInterfaceMissing);
    *ret_open = error == 0 && interface_is_usable(&probe->link, ret);
    return error == ENODEV ? 0 : error;
}

/* ---- One destination -------------------------------------------------------------------------------------------- */

/* Needs no privilege since Linux 5.7. */
static int bind_socket_to_interface(int fd, const char *name)
{
    return setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t)strlen(name)) == 0 ? 0 : errno;
}

static int prepare_udp_socket(int fd, const struct udp_probe *probe, const struct address *destination)
{
    const uint32_t mark = probe->question->mark;
    int error = 0;

    if (mark != 0 && setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof mark) != 0)
        return errno;
    (void)udp_socket_set_class(fd, destination->family, probe->question->flow.traffic_class);
    if (probe->oif != 0)
        error = bind_socket_to_interface(fd, probe->link.name);
    if (error == EPERM && probe->question->interface[0] == '\0')
        error = 0; /* the socket address for connect(2) has the scope, too */
    if (error != 0 || probe->question->local.family == AF_UNSPEC)
        return error;
    /* The address is known to be local. If a sandbox refuses to bind, the result ignores rules for the source. */
    (void)udp_socket_bind(fd, &probe->question->local, probe->oif);
    return 0;
}

/* connect(2) returns EACCES for a prohibited route, and for a broadcast address without SO_BROADCAST. */
static bool allow_broadcast(int fd)
{
    const int one = 1;

    return setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &one, sizeof one) == 0;
}

/* Converts an errno of connect(2) to a path. False: the call itself failed. */
static bool path_from_connect_error(int error, struct path *ret)
{
    switch (error) {
    case ENETDOWN:
        *ret = path_unreachable(kSCNetworkReachabilityReasonInterfaceDown);
        return true;
    case EPERM: /* a BPF program of the control group refuses */
        *ret = path_unreachable(kSCNetworkReachabilityReasonRouteProhibited);
        return true;
    default:
        return path_from_error(error, false, ret);
    }
}

/* The kernel refuses packets from 127.0.0.0/8 that would leave this machine. The errno is that of a blackhole route. If
 * connecting without the source fails with the same errno, there is a blackhole route. */
static bool source_is_refused(const struct udp_probe *probe, const struct address *destination, int error)
{
    struct descriptor socket;

    if (error != EINVAL || !address_is_loopback(&probe->question->local) ||
        udp_socket_open(probe->netns, destination->family, &socket) != 0)
        return false;
    error = udp_socket_connect(socket.fd, destination, probe->oif, probe->question->flow.remote_port);
    descriptor_close(&socket);
    return error != EINVAL;
}

static int connect_and_evaluate(int fd, const struct udp_probe *probe, const struct address *destination,
                                struct path *ret)
{
    const uint16_t port = probe->question->flow.remote_port;
    struct address taken;
    int error = prepare_udp_socket(fd, probe, destination);

    if (error == ENODEV) /* the interface was deleted a moment ago */
        return path_from_connect_error(error, ret) ? 0 : error;
    if (error != 0)
        return error;
    error = udp_socket_connect(fd, destination, probe->oif, port);
    if (error == EACCES && allow_broadcast(fd))
        error = udp_socket_connect(fd, destination, probe->oif, port);
    if (source_is_refused(probe, destination, error))
        error = EADDRNOTAVAIL;
    if (error != 0)
        return path_from_connect_error(error, ret) ? 0 : error;
    error = udp_socket_own_address(fd, &taken);
    if (error != 0)
        return error;
    *ret = path_from_source(destination, probe->question->local.family != AF_UNSPEC, &taken);
    return 0;
}

/* Evaluates one destination. Returns 0, or an errno if the kernel could not be queried. */
static int probe_address(const struct udp_probe *probe, const struct address *destination, struct path *ret)
{
    struct descriptor socket;
    int error = udp_socket_open(probe->netns, destination->family, &socket);

    if (error == EAFNOSUPPORT && destination->family == AF_INET6) { /* the kernel has no IPv6 */
        *ret = path_unreachable(kSCNetworkReachabilityReasonNoRoute);
        return 0;
    }
    if (error != 0)
        return error;
    error = connect_and_evaluate(socket.fd, probe, destination, ret);
    descriptor_close(&socket);
    return error;
}

/* ---- Questions -------------------------------------------------------------------------------------------------- */

/* The default path of one family. If only one sample is refused, a longer prefix does that, not the default route. */
static int probe_default_of_family(const struct udp_probe *probe, const struct address samples[UDP_SAMPLES],
                                   struct path *ret)
{
    for (size_t i = 0; i < UDP_SAMPLES; i++) {
        struct path path;
        const int error = probe_address(probe, &samples[i], &path);

        if (error != 0)
            return error;
        if ((path.flags & kSCNetworkReachabilityFlagsIsLocalAddress) != 0)
            path = path_unreachable(kSCNetworkReachabilityReasonNoRoute);
        if (i == 0 || path_is_usable(&path) || path.reason == kSCNetworkReachabilityReasonNoRoute)
            *ret = path;
        if (path_is_usable(&path))
            return 0;
    }
    return 0;
}

/* The same choice between the families as query_default_path. */
static int probe_default_path(const struct udp_probe *probe, struct path *ret)
{
    const uint8_t family = question_default_family(probe->question);
    struct path ipv4 = path_unreachable(kSCNetworkReachabilityReasonNoRoute), ipv6 = ipv4;
    int error = 0;

    if (family != AF_INET6)
        error = probe_default_of_family(probe, udp_samples_ipv4, &ipv4);
    if (error == 0 && family != AF_INET && !path_is_usable(&ipv4))
        error = probe_default_of_family(probe, udp_samples_ipv6, &ipv6);
    if (error == 0)
        *ret = path_is_usable(&ipv6) || ipv4.reason == kSCNetworkReachabilityReasonNoRoute ? ipv6 : ipv4;
    return error;
}

/* Whether bind(2) shows that an IPv4 address is local. With the sysctl ip_nonlocal_bind it shows nothing: it also
 * succeeds for other addresses. Returns 0 or an errno. */
static int check_with_bind(int fd, const struct address *address, bool *ret)
{
    static const struct address reserved = { AF_INET, { 240, 0, 0, 1 } };
    int error = udp_socket_bind(fd, &reserved, 0);

    *ret = false;
    if (error == EADDRNOTAVAIL) {
        error = udp_socket_bind(fd, address, 0);
        *ret = error == 0;
    }
    return udp_socket_lacks_resources(error) ? error : 0;
}

/* Connects to an address, and gets the source address; none if the address cannot be connected to. Returns 0 or an
 * errno. */
static int get_own_address(int fd, const struct address *address, uint32_t scope, struct address *ret)
{
    const int error = udp_socket_connect(fd, address, scope, 0);

    *ret = (struct address){ 0 };
    if (error != 0)
        return udp_socket_lacks_resources(error) ? error : 0;
    return udp_socket_own_address(fd, ret);
}

/* Whether an address belongs to this machine. For a local destination the kernel uses the same address as source,
 * except for some IPv4 addresses: a second address in a subnet, and 127.0.0.2. These can be bound. A broadcast address
 * can be bound, too, but connect(2) fails for it. Returns 0 or an errno. */
static int check_local_address(const struct udp_probe *probe, const struct address *address, bool *ret)
{
    const uint32_t scope = address_is_link_local(address) ? probe->oif : 0;
    struct address own = { 0 };
    struct descriptor socket;
    bool bound = false;
    int error = udp_socket_open(probe->netns, address->family, &socket);

    *ret = false;
    if (error != 0)
        return error == EAFNOSUPPORT ? 0 : error;
    if (address->family == AF_INET)
        error = check_with_bind(socket.fd, address, &bound);
    if (error == 0 && !address_is_multicast(address))
        error = get_own_address(socket.fd, address, scope, &own);
    *ret = error == 0 && own.family != AF_UNSPEC && (bound || address_equal(&own, address));
    descriptor_close(&socket);
    return error;
}

/* Packets to a local address go over lo: while it is down, none arrives. */
static int check_loopback(const struct udp_probe *probe, struct path *path)
{
    struct link lo;
    const int error = read_link(probe->netns, LINK_LOOPBACK_INDEX, &lo);

    if (error == 0)
        (void)interface_is_usable(&lo, path);
    return error;
}

/* Sets the flag for a local address, if the destination is one. */
static int apply_local_address(const struct udp_probe *probe, struct path *path)
{
    bool is_local = address_is_loopback(&path->destination);
    int error = 0;

    if (!is_local && path_is_usable(path))
        error = check_local_address(probe, &path->destination, &is_local);
    if (error != 0 || !is_local)
        return error;
    if (path_is_usable(path))
        path->flags |= kSCNetworkReachabilityFlagsIsLocalAddress;
    return check_loopback(probe, path);
}

static int probe_destination(const struct udp_probe *probe, struct path *ret)
{
    const int error = probe_address(probe, &probe->question->destination, ret);

    if (error != 0)
        return error;
    ret->destination = probe->question->destination;
    if (probe->oif != 0) {
        ret->index = probe->oif;
        ret->mtu = probe->link.mtu;
        memcpy(ret->name, probe->link.name, sizeof ret->name);
    }
    return apply_local_address(probe, ret);
}

static int probe_question(const struct netns_handle *netns, const struct question *question, struct path *ret)
{
    struct udp_probe probe = { .netns = netns, .question = question };
    bool is_open, is_local;
    int error = find_question_interface(&probe, &is_open, ret);

    if (error != 0 || !is_open)
        return error;
    if (question->local.family != AF_UNSPEC) {
        error = check_local_address(&probe, &question->local, &is_local);
        if (error != 0)
            return error;
        if (!is_local) {
            *ret = path_unreachable(kSCNetworkReachabilityReasonLocalAddressNotAssigned);
            return 0;
        }
    }
    return question->destination.family == AF_UNSPEC ? probe_default_path(&probe, ret) : probe_destination(&probe, ret);
}

/* A UDP socket does not show what rules say of other protocols. */
static bool is_not_udp(const struct questions *questions)
{
    const uint8_t protocol = questions->count > 0 ? questions->items[0].flow.protocol : 0;

    return protocol != 0 && protocol != IPPROTO_UDP;
}

int udp_probe_evaluate(const struct netns_handle *netns, const struct questions *questions, struct path *ret)
{
    *ret = path_unreachable(questions->reason);
    for (size_t i = 0; i < questions->count; i++) {
        struct path path;
        const int error = probe_question(netns, &questions->items[i], &path);

        if (error != 0)
            return error;
        path.destination = questions->items[i].destination;
        if (i == 0 || path_rank(&path) > path_rank(ret))
            *ret = path;
    }
    ret->evidence = kSCNetworkReachabilityEvidenceSocket;
    if (is_not_udp(questions))
        ret->flow = kSCNetworkReachabilityFlowIncomplete;
    questions_adjust_path(questions, ret);
    return 0;
}
#endif
