/* SPDX-License-Identifier: MIT */
/* Calls on UDP sockets for IPv6 that fail, and sandboxes without netlink. */
#include "support/socket_faults.h"

#include <errno.h>
#include <sys/socket.h>

#include "support/wrap.h"

struct socket_faults socket_faults;

static int fail(int error)
{
    errno = error;
    return -1;
}

WRAP(int, socket, int family, int type, int protocol)
{
    const bool is_udp = family == AF_INET6 && (type & SOCK_DGRAM) != 0;

    socket_faults.opened += is_udp;
    if (is_udp && socket_faults.open_error != 0)
        return fail(socket_faults.open_error);
    if (family == AF_NETLINK && socket_faults.denies_netlink) {
        socket_faults.netlink_denials++;
        return fail(EPERM);
    }
    return __real_socket(family, type, protocol);
}

WRAP(int, bind, int fd, const struct sockaddr *address, socklen_t length)
{
    if (address->sa_family == AF_INET6 && socket_faults.bind_error != 0)
        return fail(socket_faults.bind_error);
    return __real_bind(fd, address, length);
}

WRAP(int, connect, int fd, const struct sockaddr *address, socklen_t length)
{
    if (address->sa_family == AF_INET6 && socket_faults.connect_error != 0)
        return fail(socket_faults.connect_error);
    return __real_connect(fd, address, length);
}
