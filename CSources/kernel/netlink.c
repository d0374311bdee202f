/* SPDX-License-Identifier: MIT */
/*
 * Netlink sockets, and requests with their replies. Not libmnl's sockets: its receive call does not return the sender.
 *
 * What this file must never do: wait (the kernel replies inside send, so each receive uses MSG_DONTWAIT), trust a
 * datagram that the kernel did not send, or open a descriptor that stays open after exec.
 */
#ifdef __linux__
#include "kernel/netlink.h"

#include <errno.h>
#include <sys/socket.h>

#include "pure/message.h"

/* A socket address has bits for the groups up to this one. */
#define MASK_GROUPS 32

/* Bytes: room for some thousand route messages. The kernel limits it to rmem_max. */
#define RECEIVE_BUFFER (2 * 1024 * 1024)

static const struct sockaddr_nl kernel_address = { .nl_family = AF_NETLINK };

int reach_netlink_denial(int error)
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

static int open_netlink_socket(const struct netns_handle *netns, int protocol, struct netlink *ret)
{
    int error;

    *ret = NETLINK_CLOSED;
    error = reach_netns_handle_socket(netns, AF_NETLINK, SOCK_RAW, protocol, &ret->socket);
    return error == EPERM ? EPERM : reach_netlink_denial(error);
}

void reach_netlink_make_room(struct netlink *netlink)
{
    const int size = RECEIVE_BUFFER;

    if (!netlink->roomy) /* the socket works without, and a sandbox may refuse it */
        (void)setsockopt(netlink->socket.fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    netlink->roomy = true;
}

static int connect_to_kernel(const struct netlink *netlink)
{
    const int fd = netlink->socket.fd;

    return connect(fd, (const struct sockaddr *)&kernel_address, sizeof kernel_address) == 0
               ? 0
               : reach_netlink_denial(errno);
}

/* Whether the socket is of use without the groups that failed to join. A sandbox may refuse to bind, or the socket
 * option. EINVAL: the kernel has no such group; IPv6, nexthop objects and netconf are optional. */
static bool is_missing_or_refused(int error)
{
    return error == EINVAL || error == ENOPROTOOPT || reach_netlink_denial(error) == NETLINK_DENIED;
}

/* Joins groups with bind, or one by one if a sandbox refuses that. Returns 0 if at least one was joined. */
static int join_groups(const struct netlink *netlink, const unsigned *groups, size_t count, bool *ret_groups_refused)
{
    struct sockaddr_nl own = { .nl_family = AF_NETLINK };
    bool joined;
    int bind_error;

    for (size_t i = 0; i < count; i++)
        if (groups[i] <= MASK_GROUPS)
            own.nl_groups |= 1u << (groups[i] - 1);
    bind_error = bind(netlink->socket.fd, (const struct sockaddr *)&own, sizeof own) == 0 ? 0 : errno;
    joined = bind_error == 0;
    *ret_groups_refused = false;
    if (bind_error != 0 && !is_missing_or_refused(bind_error))
        return bind_error;
    if (bind_error != 0) {
        const int error = connect_to_kernel(netlink);

        if (error != 0)
            return error;
    }
    for (size_t i = 0; i < count; i++) {
        const int error = bind_error != 0 || groups[i] > MASK_GROUPS ? reach_netlink_join(netlink, groups[i]) : 0;

        if (error != 0 && !is_missing_or_refused(error))
            return error;
        joined = joined || error == 0;
        *ret_groups_refused = *ret_groups_refused || (error != 0 && error != EINVAL);
    }
    return joined ? 0 : NETLINK_DENIED;
}

int reach_netlink_open_events(const struct netns_handle *netns, struct netlink *ret, const unsigned *groups,
                              size_t count, bool *ret_groups_refused)
{
    int error = open_netlink_socket(netns, NETLINK_ROUTE, ret);

    if (error == 0)
        error = join_groups(ret, groups, count, ret_groups_refused);
    if (error != 0)
        reach_netlink_close(ret);
    return error;
}

int reach_netlink_open_requests(const struct netns_handle *netns, int protocol, struct netlink *ret)
{
    int error = open_netlink_socket(netns, protocol, ret);

    if (error == 0)
        error = connect_to_kernel(ret);
    if (error != 0)
        reach_netlink_close(ret);
    return error;
}

int reach_netlink_open_both(const struct netns_handle *netns, struct netlink *ret, const unsigned *groups, size_t count,
                            bool *ret_groups_refused)
{
    int error = open_netlink_socket(netns, NETLINK_ROUTE, ret);

    if (error == 0)
        error = join_groups(ret, groups, count, ret_groups_refused);
    if (error == NETLINK_DENIED && descriptor_is_open(&ret->socket)) {
        *ret_groups_refused = true;
        error = 0;
    }
    if (error == 0)
        error = connect_to_kernel(ret);
    if (error != 0)
        reach_netlink_close(ret);
    return error;
}

int reach_netlink_join(const struct netlink *netlink, unsigned group)
{
    const int value = (int)group;

    return setsockopt(netlink->socket.fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &value, sizeof value) == 0 ? 0 : errno;
}

int reach_netlink_set_strict(const struct netlink *netlink, bool strict)
{
    const int value = strict;

    return setsockopt(netlink->socket.fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &value, sizeof value) == 0 ? 0 : errno;
}

int reach_netlink_attach_filter(const struct netlink *netlink, const struct sock_filter *code, unsigned short length)
{
    const struct sock_fprog program = { .len = length, .filter = (struct sock_filter *)code };

    return setsockopt(netlink->socket.fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0 ? 0 : errno;
}

int reach_netlink_detach_filter(const struct netlink *netlink)
{
    const int unused = 0;

    return setsockopt(netlink->socket.fd, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof unused) == 0 ? 0 : errno;
}

void reach_netlink_close(struct netlink *netlink)
{
    reach_descriptor_close(&netlink->socket);
}

int reach_netlink_exchange(struct netlink *netlink, struct nlmsghdr *request, void *buffer,
                           void (*handle)(void *info, const struct nlmsghdr *message), void *info)
{
    bool interrupted = false;
    int error;

    request->nlmsg_seq = ++netlink->sequence;
    error = netlink_send(netlink, request, request->nlmsg_len);
    if (error != 0)
        return error == EAGAIN ? ENOBUFS : error; /* this function's EAGAIN means an interrupted dump */
    for (;;) {
        const ssize_t length = netlink_receive(netlink, buffer, NETLINK_BUFFER_SIZE);
        const char *next = buffer;

        if (length == NETLINK_FOREIGN)
            continue;
        if (length <= 0)
            return length == 0 ? EIO : (int)-length;
        for (size_t left = (size_t)length, step; (step = reach_message_step(next, left)) != 0; left -= step) {
            const struct nlmsghdr *message = (const void *)next;

            next += step;
            if (message->nlmsg_seq != netlink->sequence || netlink->to_group)
                continue;
            interrupted = interrupted || (message->nlmsg_flags & NLM_F_DUMP_INTR) != 0;
            if (message->nlmsg_type == NLMSG_ERROR || message->nlmsg_type == NLMSG_DONE) {
                error = reach_message_error(message);
                return error == 0 && interrupted ? EAGAIN : error;
            }
            handle(info, message);
            if ((message->nlmsg_flags & NLM_F_MULTI) == 0)
                return 0;
        }
    }
}
#endif
