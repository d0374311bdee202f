/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NETLINK_H
#define REACHABILITY_NETLINK_H

/* Netlink sockets: of rtnetlink(7), and of generic netlink. */

#include <errno.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "process.h"

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

/* One datagram from the kernel, without waiting. 0: there is none. NETLINK_FOREIGN: one came from somebody else, and
 * was thrown away. Less than 0: an errno, negated; ENOBUFS when the kernel had to drop some, EMSGSIZE when one did not
 * fit. */
#define NETLINK_FOREIGN (-4096)
ssize_t netlink_receive(const struct netlink *netlink, void *buffer, size_t size);

/* Sends requests to the kernel, which answers them before this returns. 0, NETLINK_DENIED or an errno. */
int netlink_send(const struct netlink *netlink, const void *requests, size_t length);

/* Sends one request, which it numbers, and passes on what answers it, a message or those of a dump. On a socket that
 * nothing else comes in on. 0, NETLINK_DENIED or an errno, which may be the kernel's answer. EAGAIN: the dump was read
 * to its end, and interrupted by a change. What keeps changing is taken as it is after so many tries. */
#define NETLINK_DUMP_TRIES 8
int netlink_exchange(struct netlink *netlink, struct nlmsghdr *request, void *buffer,
                     void (*take)(void *info, const struct nlmsghdr *message), void *info);

#endif
