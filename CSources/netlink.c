/* SPDX-License-Identifier: MIT */
/*
 * Sockets. libmnl builds and parses messages; the sockets are our own, as its receive call does not tell the sender.
 *
 * What this file must never do: wait (every receive says MSG_DONTWAIT: the kernel answers a request inside the send),
 * believe a datagram whose sender is not the kernel, or open a descriptor that lives on after exec.
 */
#include "netlink.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

/* Room for some thousand route messages. Clamped by the kernel to rmem_max. */
#define RECEIVE_BUFFER (2 * 1024 * 1024)

static const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

/* Options only make things better, and a sandbox may refuse any of them. */
static void set_option(int fd, int level, int option, int value)
{
    (void)setsockopt(fd, level, option, &value, sizeof value);
}

/* Seccomp filters, systemd's RestrictAddressFamilies and security modules each refuse in their own way. */
static int denial(int error)
{
    switch (error) {
    case EPERM:
    case EACCES:
    case ENOSYS:
    case EAFNOSUPPORT:
    case EPROTONOSUPPORT:
    case ESOCKTNOSUPPORT:
    case EOPNOTSUPP:
        return NETLINK_DENIED;
    default:
        return error;
    }
}

static int open_socket(struct netlink *ret)
{
    int error;

    *ret = NETLINK_CLOSED;
    process_lock();
    error = descriptor_keep_locked(&ret->socket,
                                   socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
    process_unlock();
    if (error != 0)
        return denial(error);
    set_option(ret->socket.fd, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER);
    return 0;
}

/* Memberships can be had in two ways: while binding, of the first 32 groups, and by an option. A sandbox may refuse
 * either; a kernel or a sandbox that has neither tells of nothing. */
int netlink_open_events(struct netlink *ret, const unsigned *groups, size_t count)
{
    struct sockaddr_nl own = { .nl_family = AF_NETLINK };
    bool               bound, joined = false;
    int                error = open_socket(ret);

    if (error != 0)
        return error;
    for (size_t i = 0; i < count; i++)
        if (groups[i] < 32) /* group 32 is not in the mask */
            own.nl_groups |= 1u << (groups[i] - 1);
    bound = bind(ret->socket.fd, (const struct sockaddr *)&own, sizeof own) == 0;
    error = bound || connect(ret->socket.fd, (const struct sockaddr *)&kernel, sizeof kernel) == 0 ? 0 : denial(errno);
    for (size_t i = 0; i < count && error == 0; i++)
        if (!bound || groups[i] >= 32)
            joined = netlink_join(ret, groups[i]) == 0 || joined;
    if (error == 0 && !bound && !joined)
        error = NETLINK_DENIED;
    if (error != 0)
        netlink_close(ret);
    return error;
}

int netlink_open_requests(struct netlink *ret)
{
    struct sockaddr_nl own;
    socklen_t          length = sizeof own;
    int                error = open_socket(ret);

    if (error != 0)
        return error;
    set_option(ret->socket.fd, SOL_NETLINK, NETLINK_CAP_ACK, 1);
    if (connect(ret->socket.fd, (const struct sockaddr *)&kernel, sizeof kernel) == 0 &&
        getsockname(ret->socket.fd, (struct sockaddr *)&own, &length) == 0) {
        ret->port = own.nl_pid;
        return 0;
    }
    error = denial(errno);
    netlink_close(ret);
    return error;
}

int netlink_join(const struct netlink *netlink, unsigned group)
{
    const int value = (int)group;

    return setsockopt(netlink->socket.fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &value, sizeof value) == 0 ? 0 : errno;
}

void netlink_close(struct netlink *netlink)
{
    descriptor_close(&netlink->socket);
}

ssize_t netlink_receive(const struct netlink *netlink, void *buffer, size_t size)
{
    struct sockaddr_nl sender;
    socklen_t          length = sizeof sender;
    ssize_t            got;

    do
        got = recvfrom(netlink->socket.fd, buffer, size, MSG_DONTWAIT | MSG_TRUNC, (struct sockaddr *)&sender, &length);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == EAGAIN ? 0 : -errno;
    if (length != sizeof sender || sender.nl_family != AF_NETLINK || sender.nl_pid != 0)
        return NETLINK_FOREIGN;
    return (size_t)got > size ? -EMSGSIZE : got;
}

int netlink_send(const struct netlink *netlink, const void *requests, size_t length)
{
    ssize_t sent;

    do
        sent = send(netlink->socket.fd, requests, length, 0);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? denial(errno) : 0;
}
