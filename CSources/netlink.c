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
#include <unistd.h>

/* Room for some thousand route messages. Clamped by the kernel to rmem_max. */
#define RECEIVE_BUFFER (2 * 1024 * 1024)

static const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

/* Options only make things better, and a sandbox may refuse any of them. */
static void set_option(int fd, int level, int option, int value)
{
    (void)setsockopt(fd, level, option, &value, sizeof value);
}

static int open_socket(struct netlink *ret)
{
    *ret = NETLINK_CLOSED;
    ret->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (ret->fd < 0)
        return errno;
    set_option(ret->fd, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER);
    return 0;
}

int netlink_open_events(struct netlink *ret)
{
    int error = open_socket(ret);

    if (error != 0)
        return error;
    if (bind(ret->fd, (const struct sockaddr *)&kernel, sizeof kernel) == 0)
        return 0;
    error = errno;
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
    set_option(ret->fd, SOL_NETLINK, NETLINK_CAP_ACK, 1);
    if (connect(ret->fd, (const struct sockaddr *)&kernel, sizeof kernel) == 0 &&
        getsockname(ret->fd, (struct sockaddr *)&own, &length) == 0) {
        ret->port = own.nl_pid;
        return 0;
    }
    error = errno;
    netlink_close(ret);
    return error;
}

int netlink_join(const struct netlink *netlink, unsigned group)
{
    const int value = (int)group;

    return setsockopt(netlink->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &value, sizeof value) == 0 ? 0 : errno;
}

void netlink_close(struct netlink *netlink)
{
    if (netlink->fd >= 0)
        close(netlink->fd);
    *netlink = NETLINK_CLOSED;
}

ssize_t netlink_receive(const struct netlink *netlink, void *buffer, size_t size)
{
    struct sockaddr_nl sender;
    socklen_t          length = sizeof sender;
    ssize_t            got;

    do
        got = recvfrom(netlink->fd, buffer, size, MSG_DONTWAIT | MSG_TRUNC, (struct sockaddr *)&sender, &length);
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
        sent = send(netlink->fd, requests, length, 0);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? errno : 0;
}
