/* SPDX-License-Identifier: MIT */
/* The kernel's neighbours: one, or all of IPv6, which one dump returns. */
#include "kernel/neighbours.h"

#include <errno.h>
#include <linux/neighbour.h>

/* ---- One -------------------------------------------------------------------------------------------------------- */

static void read_state(void *info, const struct nlmsghdr *header)
{
    uint16_t      *state = info;
    struct message message;

    if (message_parse(header, header->nlmsg_len, &message) != 0 && message.kind == MESSAGE_NEIGHBOUR)
        *state = message.neighbour.state;
}

int neighbours_query(struct rtnetlink *rtnetlink, uint32_t index, const struct address *address, uint16_t *ret_state)
{
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    uint16_t                       state = NUD_NONE;
    int                            error;

    message_put_neighbour_query(request, index, address);
    error = netlink_exchange(&rtnetlink->requests, (struct nlmsghdr *)request, rtnetlink->buffer, read_state, &state);
    if (error == ENOENT || error == ENODEV) /* there is no entry, or no such link */
        error = 0;
    if (error == 0)
        *ret_state = state;
    return error;
}

/* ---- All -------------------------------------------------------------------------------------------------------- */

static void check_neighbour(void *info, const struct nlmsghdr *header)
{
    bool          *failed = info;
    struct message message;

    if (message_parse(header, header->nlmsg_len, &message) != 0 && message.kind == MESSAGE_NEIGHBOUR &&
        (message.neighbour.state & NUD_FAILED) != 0)
        *failed = true;
}

bool neighbours_any_failed(struct rtnetlink *rtnetlink)
{
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    bool                           failed = false;

    message_put_neighbour_dump(request);
    return netlink_exchange(&rtnetlink->requests, (struct nlmsghdr *)request, rtnetlink->buffer, check_neighbour,
                            &failed) != 0 ||
           failed;
}
