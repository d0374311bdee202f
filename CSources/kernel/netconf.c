/* SPDX-License-Identifier: MIT */
/*
 * The settings of links.
 *
 * What this file must never do: take a setting that cannot be read for one that is off.
 */
#ifdef __linux__
#include "kernel/netconf.h"

#include <errno.h>

static void add_message(void *info, const struct nlmsghdr *header)
{
    struct netconf *netconf = info;
    struct message message;

    if (message_parse(header, header->nlmsg_len, &message) == 0 || message.kind != MESSAGE_NETCONF)
        return;
    netconf->ignores_linkdown = netconf->ignores_linkdown || message.netconf.ignore_linkdown;
    if (message.netconf.has_forwarding)
        netconf->forwards = message.netconf.forwarding;
}

/* Returns 0 or an errno. A kernel without this family has no routes of it. */
static int read_family(struct rtnetlink *rtnetlink, uint8_t family, struct netconf *netconf)
{
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    int error = EAGAIN;

    message_put_netconf_dump(request, family);
    for (int tries = 0; tries < NETLINK_DUMP_TRIES && error == EAGAIN; tries++)
        error = netlink_exchange(&rtnetlink->requests, (struct nlmsghdr *)request, rtnetlink->buffer, add_message,
                                 netconf);
    return error == EAFNOSUPPORT ? 0 : error;
}

int netconf_read(struct rtnetlink *rtnetlink, struct netconf *ret)
{
    int error;

    *ret = (struct netconf){ 0 };
    error = read_family(rtnetlink, AF_INET, ret);
    return error == 0 || error == EAGAIN ? read_family(rtnetlink, AF_INET6, ret) : error;
}
#endif
