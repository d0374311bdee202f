/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NETLINK_H
#define REACHABILITY_NETLINK_H

/* Netlink sockets, for rtnetlink(7), generic netlink and sock_diag(7). */

#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/netns_handle.h"

#define NETLINK_BUFFER_SIZE 32768 /* bytes; the kernel sizes its dumps by the largest buffer that it has seen */

struct netlink {
    struct descriptor socket;
    uint32_t sequence; /* the last request's, which its reply has */
    bool roomy;        /* see reach_netlink_make_room */
    bool to_group;     /* the last datagram received was sent to a multicast group, so it is not a reply */
};

#define NETLINK_CLOSED ((struct netlink){ .socket = DESCRIPTOR_CLOSED })

/* A sandbox refuses netlink to this process. No route query fails with this errno. */
#define NETLINK_DENIED EPFNOSUPPORT

/* Whether repeating the call is of no use: a sandbox refuses it, or the process lacks the privilege. */
static inline bool netlink_is_withheld(int error)
{
    return error == EPERM || error == NETLINK_DENIED;
}

/* These return 0, NETLINK_DENIED or an errno. `netns` NULL: the namespace of the calling thread. */

/* A socket that receives messages of multicast groups. *ret_groups_refused: a sandbox refuses some
 * groups that the kernel has, so their messages do not arrive. */
int reach_netlink_open_events(const struct netns_handle *netns, struct netlink *ret, const unsigned *groups,
                              size_t count, bool *ret_groups_refused);

/* A socket for requests of a protocol (NETLINK_ROUTE, NETLINK_GENERIC...). It is connected to the kernel, so no other
 * process can send to it. */
int reach_netlink_open_requests(const struct netns_handle *netns, int protocol, struct netlink *ret);

/* The same, which also receives messages of multicast groups. Such a message can have the sequence number of a request,
 * so `to_group` tells it from the reply. It is also of use if all groups are refused. */
int reach_netlink_open_both(const struct netns_handle *netns, struct netlink *ret, const unsigned *groups, size_t count,
                            bool *ret_groups_refused);

/* Makes room for many messages that come at once. Of a few replies, there is always room for all. */
void reach_netlink_make_room(struct netlink *netlink);

/* Joins one more multicast group. */
int reach_netlink_join(const struct netlink *netlink, unsigned group);

/* Makes the kernel check requests strictly, or as it did before Linux 4.20. A dump of one table needs the former.
 * Returns 0 or an errno. */
int reach_netlink_set_strict(const struct netlink *netlink, bool strict);

/* Replaces the socket filter, or removes it. Messages that are queued stay. Return 0 or an errno. */
int reach_netlink_attach_filter(const struct netlink *netlink, const struct sock_filter *code, unsigned short length);
int reach_netlink_detach_filter(const struct netlink *netlink);

void reach_netlink_close(struct netlink *netlink);

/* Returns NETLINK_DENIED for each errno with which a sandbox refuses a socket call (seccomp filters, security modules
 * and systemd's RestrictAddressFamilies use different ones), and other errnos unchanged. */
int reach_netlink_denial(int error);

/* Receives one datagram from the kernel, without waiting. Returns its length; 0: there is none; NETLINK_FOREIGN:
 * another process sent it, and it is discarded; less than 0: a negated errno. ENOBUFS: the kernel dropped messages;
 * EMSGSIZE: the datagram did not fit.
 *
 * This and netlink_send are inline: after a system call the processor mispredicts each return, and a route query makes
 * two system calls. */
#define NETLINK_FOREIGN (-4096)
static inline ssize_t netlink_receive(struct netlink *netlink, void *buffer, size_t size)
{
    struct sockaddr_nl sender;
    socklen_t length = sizeof sender;
    ssize_t got;

    do
        got = recvfrom(netlink->socket.fd, buffer, size, MSG_DONTWAIT | MSG_TRUNC, (struct sockaddr *)&sender, &length);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == EAGAIN ? 0 : -errno;
    if (length != sizeof sender || sender.nl_family != AF_NETLINK || sender.nl_pid != 0)
        return NETLINK_FOREIGN;
    netlink->to_group = sender.nl_groups != 0;
    return (size_t)got > size ? -EMSGSIZE : got;
}

/* Sends requests to the kernel, which replies before this returns. Returns 0, NETLINK_DENIED or an errno. */
static inline int netlink_send(const struct netlink *netlink, const void *requests, size_t length)
{
    ssize_t sent;

    do
        sent = send(netlink->socket.fd, requests, length, 0);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? reach_netlink_denial(errno) : 0;
}

/* Sets a request's sequence number, sends it, and passes each message of the reply or dump to `handle`. Use a socket
 * that has joined no groups: other messages are discarded. Returns 0, NETLINK_DENIED or an errno, which may be the
 * kernel's reply. EAGAIN: the dump is complete, but a change has interrupted it; repeat it, at most NETLINK_DUMP_TRIES
 * times. */
#define NETLINK_DUMP_TRIES 8
int reach_netlink_exchange(struct netlink *netlink, struct nlmsghdr *request, void *buffer,
                           void (*handle)(void *info, const struct nlmsghdr *message), void *info);

#endif
