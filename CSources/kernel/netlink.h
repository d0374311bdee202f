/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NETLINK_H
#define REACHABILITY_NETLINK_H

/* Netlink sockets: of rtnetlink(7), and of generic netlink. */

#include <errno.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/process.h"

#define NETLINK_BUFFER_SIZE 32768 /* the kernel sizes its dumps by the largest buffer that it has seen */

struct netlink {
    struct descriptor socket;
    uint32_t          port, sequence; /* what an answer to us carries */
};

#define NETLINK_CLOSED ((struct netlink){ .socket = { .fd = -1 } })

/* What is answered when a sandbox refuses netlink to this process: no errno of a route query's. */
#define NETLINK_DENIED EPFNOSUPPORT

/* Whether something is kept from this process for good: by a sandbox, or as only others have the right to it. */
static inline bool netlink_is_withheld(int error)
{
    return error == EPERM || error == NETLINK_DENIED;
}

/* Each answers 0, NETLINK_DENIED or an errno. Sockets belong to the network namespace of the calling thread, for good.
 * The first never sends. *ret_deaf: of some of the groups nothing will be heard, though the kernel has them. */
int netlink_open_events(struct netlink *ret, const unsigned *groups, size_t count, bool *ret_deaf);
int netlink_open_requests(struct netlink *ret); /* connected to the kernel, which then lets nobody else send to it */
int netlink_open_generic(struct netlink *ret);  /* the same, of generic netlink */
int netlink_join(const struct netlink *netlink, unsigned group);

void netlink_close(struct netlink *netlink);

/* What it means that a call on a socket failed. Seccomp filters, systemd's RestrictAddressFamilies and security modules
 * each refuse in their own way, which is NETLINK_DENIED; else it is the errno. */
int netlink_denial(int error);

/* In line, as the next one: each return from a system call's caller is one that the processor does not foresee, and an
 * answer takes two. One datagram from the kernel, without waiting. 0: there is none. NETLINK_FOREIGN: one came from somebody else, and
 * was thrown away. Less than 0: an errno, negated; ENOBUFS when the kernel had to drop some, EMSGSIZE when one did not
 * fit. */
#define NETLINK_FOREIGN (-4096)
static inline ssize_t netlink_receive(const struct netlink *netlink, void *buffer, size_t size)
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

/* Sends requests to the kernel, which answers them before this returns. 0, NETLINK_DENIED or an errno. */
static inline int netlink_send(const struct netlink *netlink, const void *requests, size_t length)
{
    ssize_t sent;

    do
        sent = send(netlink->socket.fd, requests, length, 0);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? netlink_denial(errno) : 0;
}

/* Sends one request, which it numbers, and passes on what answers it, a message or those of a dump. On a socket that
 * nothing else comes in on. 0, NETLINK_DENIED or an errno, which may be the kernel's answer. EAGAIN: the dump was read
 * to its end, and interrupted by a change. What keeps changing is taken as it is after so many tries. */
#define NETLINK_DUMP_TRIES 8
int netlink_exchange(struct netlink *netlink, struct nlmsghdr *request, void *buffer,
                     void (*take)(void *info, const struct nlmsghdr *message), void *info);

#endif
