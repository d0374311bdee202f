/* SPDX-License-Identifier: MIT */
/*
 * A connected socket of the program, as a question.
 *
 * What this file must never do: change the socket, or keep its descriptor.
 */
#include "kernel/connected_socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define MPTCP 262 /* its subflows are TCP connections */

/* Reads an option that is an int. A kernel or a sandbox that does not have it: 0. */
static int read_option(int fd, int level, int option)
{
    int       value = 0;
    socklen_t length = sizeof value;

    return getsockopt(fd, level, option, &value, &length) == 0 && length == sizeof value ? value : 0;
}

static int read_family(int fd, int *ret)
{
    socklen_t length = sizeof *ret;

    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, ret, &length) == 0 ? 0 : errno;
}

/* 0: one that route queries do not take. */
static uint8_t read_protocol(int fd, uint8_t family)
{
    const int protocol = read_option(fd, SOL_SOCKET, SO_PROTOCOL);

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
    const uint32_t index = (uint32_t)read_option(fd, SOL_SOCKET, SO_BINDTOIFINDEX);
    socklen_t      length = sizeof ret->interface;

    if (index != 0)
        ret->scope = index;
    else if (getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, ret->interface, &length) != 0)
        return errno == ENOPROTOOPT ? 0 : errno;
    return 0;
}

static uint16_t port_of(const struct sockaddr_storage *address)
{
    return ntohs(((const struct sockaddr_in *)address)->sin_port); /* at the same place in sockaddr_in6 */
}

/* An IPv4 address in an IPv6 socket is IPv4, and so is its class. */
static uint8_t read_class(int fd, uint8_t family)
{
    const bool is_ipv4 = family == AF_INET;
    const int  value = read_option(fd, is_ipv4 ? IPPROTO_IP : IPPROTO_IPV6, is_ipv4 ? IP_TOS : IPV6_TCLASS);

    return (uint8_t)(value & FLOW_CLASS_MASK);
}

static int read_addresses(int fd, struct question *ret)
{
    struct sockaddr_storage local, remote;
    socklen_t               local_length = sizeof local, remote_length = sizeof remote;

    if (getpeername(fd, (struct sockaddr *)&remote, &remote_length) != 0 ||
        getsockname(fd, (struct sockaddr *)&local, &local_length) != 0)
        return errno;
    ret->local = address_from_sockaddr((const struct sockaddr *)&local, &ret->local_scope);
    ret->destination = address_from_sockaddr((const struct sockaddr *)&remote, &ret->scope);
    if (ret->local.family == AF_UNSPEC || ret->local.family != ret->destination.family)
        return EAFNOSUPPORT;
    if (!address_needs_scope(&ret->destination))
        ret->scope = 0;
    if (!address_is_link_local(&ret->local))
        ret->local_scope = 0;
    ret->flow.local_port = port_of(&local);
    ret->flow.remote_port = port_of(&remote);
    return 0;
}

int connected_socket_read(int fd, struct question *ret)
{
    struct stat status;
    int         family, error;

    *ret = (struct question){ 0 };
    if (fstat(fd, &status) != 0)
        return errno;
    if (!S_ISSOCK(status.st_mode))
        return ENOTSOCK;
    error = read_family(fd, &family);
    if (error != 0 || (family != AF_INET && family != AF_INET6))
        return error != 0 ? error : EAFNOSUPPORT;
    error = read_addresses(fd, ret);
    if (error != 0)
        return error;
    ret->flow.is_socket = true;
    ret->flow.user = status.st_uid;
    ret->flow.protocol = read_protocol(fd, ret->destination.family);
    ret->flow.traffic_class = read_class(fd, ret->destination.family);
    ret->mark = (uint32_t)read_option(fd, SOL_SOCKET, SO_MARK);
    return read_device(fd, ret);
}
