/* SPDX-License-Identifier: MIT */
/* The IPv6 neighbours, all of which one dump returns. */
#include "kernel/neighbours.h"

static void check_neighbour(void *info, const struct nlmsghdr *header)
{
    bool          *failed = info;
    struct message message;

    if (message_parse(header, header->nlmsg_len, &message) != 0 && message.kind == MESSAGE_NEIGHBOUR &&
        message.neighbour.failed)
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
