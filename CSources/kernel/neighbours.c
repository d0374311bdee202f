/* SPDX-License-Identifier: MIT */
/* The kernel's neighbours: one, or all of IPv6, which one dump returns. */
#ifdef __linux__
#include "kernel/neighbours.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <stdlib.h>

/* ---- One -------------------------------------------------------------------------------------------------------- */

static void read_state(void *info, const struct nlmsghdr *header)
{
    uint16_t *state = info;
    struct message message;

    if (message_parse(header, header->nlmsg_len, &message) != 0 && message.kind == MESSAGE_NEIGHBOUR)
        *state = message.neighbour.state;
}

static int query(struct netlink *requests, void *buffer, uint32_t index, const struct address *address,
                 uint16_t *ret_state)
{
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    uint16_t state = NUD_NONE;
    int error;

    message_put_neighbour_query(request, index, address);
    error = netlink_exchange(requests, (struct nlmsghdr *)request, buffer, read_state, &state);
    if (error == ENOENT || error == ENODEV) /* there is no entry, or no such link */
        error = 0;
    if (error == 0)
        *ret_state = state;
    return error;
}

int neighbours_query(struct rtnetlink *rtnetlink, uint32_t index, const struct address *address, uint16_t *ret_state)
{
    return query(&rtnetlink->requests, rtnetlink->buffer, index, address, ret_state);
}

int neighbour_socket_init(struct neighbour_socket *ret)
{
    ret->requests = NETLINK_CLOSED;
    return pthread_mutex_init(&ret->lock, NULL);
}

/* In a fork's child, the lock can belong to a thread of the parent: then the socket stays open. */
void neighbour_socket_close(struct neighbour_socket *socket)
{
    if (pthread_mutex_trylock(&socket->lock) == 0) {
        pthread_mutex_unlock(&socket->lock);
        netlink_close(&socket->requests);
    }
    pthread_mutex_destroy(&socket->lock);
}

static int require_open_locked(struct neighbour_socket *socket, bool open)
{
    if (descriptor_is_ours(&socket->requests.socket))
        return 0;
    if (!open)
        return EBADF;
    netlink_close(&socket->requests);
    return netlink_open_requests(&socket->requests);
}

int neighbour_socket_query(struct neighbour_socket *socket, bool open, uint32_t index, const struct address *address,
                           uint16_t *ret_state)
{
    void *buffer = malloc(NETLINK_BUFFER_SIZE);
    int error;

    if (buffer == NULL)
        return ENOMEM;
    pthread_mutex_lock(&socket->lock);
    error = require_open_locked(socket, open);
    if (error == 0)
        error = query(&socket->requests, buffer, index, address, ret_state);
    pthread_mutex_unlock(&socket->lock);
    free(buffer);
    return error;
}

/* ---- All -------------------------------------------------------------------------------------------------------- */

static void check_neighbour(void *info, const struct nlmsghdr *header)
{
    bool *failed = info;
    struct message message;

    if (message_parse(header, header->nlmsg_len, &message) != 0 && message.kind == MESSAGE_NEIGHBOUR &&
        (message.neighbour.state & (NUD_FAILED | NUD_INCOMPLETE)) != 0)
        *failed = true;
}

bool neighbours_any_failed(struct rtnetlink *rtnetlink)
{
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    bool failed = false;

    message_put_neighbour_dump(request);
    return netlink_exchange(&rtnetlink->requests, (struct nlmsghdr *)request, rtnetlink->buffer, check_neighbour,
                            &failed) != 0 ||
           failed;
}
#endif
