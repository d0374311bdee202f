/* SPDX-License-Identifier: MIT */
/* The kernel's neighbours: one, or all of IPv6, which one dump returns. */
#ifdef __linux__
#include "kernel/neighbours.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <poll.h>
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

int neighbours_read(uint32_t index, const struct address *address, uint16_t *ret_state)
{
    struct netlink requests;
    void *buffer = malloc(NETLINK_BUFFER_SIZE);
    int error = buffer == NULL ? ENOMEM : netlink_open_requests(&requests);

    if (error == 0) {
        error = query(&requests, buffer, index, address, ret_state);
        netlink_close(&requests);
    }
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

static void ignore(void *info, const struct nlmsghdr *header)
{
    (void)info, (void)header;
}

/* recv(2) with MSG_PEEK would take the error for lost messages. */
bool neighbours_are_current(struct rtnetlink *rtnetlink)
{
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    struct pollfd polled = { .fd = rtnetlink->events.socket.fd, .events = POLLIN };

    message_put_barrier(request, 0);
    return netlink_exchange(&rtnetlink->requests, (struct nlmsghdr *)request, rtnetlink->buffer, ignore, NULL) ==
               ENODEV &&
           poll(&polled, 1, 0) == 0;
}
#endif
