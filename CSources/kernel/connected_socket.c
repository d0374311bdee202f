/* SPDX-License-Identifier: MIT */
/*
 * A connected socket of the program, as a question.
 *
 * What this file must never do: change the socket, or keep its descriptor.
 */
#ifdef __linux__
#include "kernel/connected_socket.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define MPTCP 262 /* its subflows are TCP connections */

/* Reads an option that is an int. A kernel that does not have it: 0. Returns 0 or an errno. */
static int read_option(int fd, int level, int option, int *ret)
{
    socklen_t length = sizeof *ret;

    *ret = 0;
    if (getsockopt(fd, level, option, ret, &length) == 0 || errno == ENOPROTOOPT || errno == EOPNOTSUPP)
        return 0;
    return errno;
}

/* 0: one that route queries do not take. */
static uint8_t known_protocol(int protocol, uint8_t family)
{
    switch (protocol) {
    case MPTCP:
        return IPPROTO_TCP;
    case IPPROTO_TCP:
    case IPPROTO_UDP:
        return (uint8_t)protocol;
    case IPPROTO_ICMP:
        return family == AF_INET ? IPPROTO_ICMP : 0;
    case IPPROTO_ICMPV6:
        return family == AF_INET6 ? IPPROTO_ICMPV6 : 0;
    default:
        return 0;
    }
}

/* Before Linux 5.1, only the name of the interface can be read. */
static int read_device(int fd, struct question *ret)
{
    struct ifreq request = { 0 };
    socklen_t length = sizeof request.ifr_name;
    int index, error = read_option(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &index);

    if (index != 0)
        ret->scope = (uint32_t)index;
    else if (error == 0 && getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, request.ifr_name, &length) != 0)
        error = errno == ENOPROTOOPT ? 0 : errno;
    else if (error == 0 && length > 0 && ioctl(fd, SIOCGIFINDEX, &request) == 0)
        ret->scope = (uint32_t)request.ifr_ifindex;
    return error;
}

static uint16_t port_of(const struct sockaddr_storage *address)
{
    return ntohs(((const struct sockaddr_in *)address)->sin_port); /* at the same place in sockaddr_in6 */
}

/* An IPv4 address in an IPv6 socket is IPv4, and so is its class. */
static int read_options(int fd, struct question *ret)
{
    const bool is_ipv4 = ret->destination.family == AF_INET;
    int protocol = 0, class = 0, mark = 0, type = 0;
    int error = read_option(fd, SOL_SOCKET, SO_PROTOCOL, &protocol);

    if (error == 0)
        error = read_option(fd, is_ipv4 ? IPPROTO_IP : IPPROTO_IPV6, is_ipv4 ? IP_TOS : IPV6_TCLASS, &class);
    if (error == 0)
        error = read_option(fd, SOL_SOCKET, SO_MARK, &mark);
    if (error == 0)
        error = read_option(fd, SOL_SOCKET, SO_TYPE, &type);
    if (error == 0)
        error = read_device(fd, ret);
    if (type == SOCK_RAW) /* its addresses have the protocol in place of the port */
        ret->flow.local_port = ret->flow.remote_port = 0;
    ret->flow.protocol = known_protocol(protocol, ret->destination.family);
    ret->flow.traffic_class = (uint8_t)(class & FLOW_CLASS_MASK);
    ret->mark = (uint32_t)mark;
    return error;
}

static int read_addresses(int fd, struct question *ret)
{
    struct sockaddr_storage local, remote;
    socklen_t local_length = sizeof local, remote_length = sizeof remote;

    if (getpeername(fd, (struct sockaddr *)&remote, &remote_length) != 0 ||
        getsockname(fd, (struct sockaddr *)&local, &local_length) != 0)
        return errno;
    ret->local = reach_address_from_sockaddr((const struct sockaddr *)&local, &ret->local_scope);
    ret->destination = reach_address_from_sockaddr((const struct sockaddr *)&remote, &ret->scope);
    if (ret->local.family == AF_UNSPEC || ret->local.family != ret->destination.family)
        return EAFNOSUPPORT;
    if (!reach_address_needs_scope(&ret->destination))
        ret->scope = 0;
    if (!reach_address_is_link_local(&ret->local))
        ret->local_scope = 0;
    ret->flow.local_port = port_of(&local);
    ret->flow.remote_port = port_of(&remote);
    return 0;
}

int reach_connected_socket_read(int fd, struct question *ret)
{
    struct stat status;
    int family, error;

    *ret = (struct question){ 0 };
    if (fstat(fd, &status) != 0)
        return errno;
    if (!S_ISSOCK(status.st_mode))
        return ENOTSOCK;
    error = read_option(fd, SOL_SOCKET, SO_DOMAIN, &family);
    if (error != 0 || (family != AF_INET && family != AF_INET6))
        return error != 0 ? error : EAFNOSUPPORT;
    error = read_addresses(fd, ret);
    if (error != 0)
        return error;
    ret->flow.is_socket = true;
    ret->flow.user = status.st_uid;
    return read_options(fd, ret);
}
#endif
