/* SPDX-License-Identifier: MIT */
/*
 * Links by their alternative names.
 *
 * What this file must never do: wait for RTNL in reach_link_alias_check, which the Create calls use.
 */
#ifdef __linux__
#include "kernel/link_alias.h"

#include <libmnl/libmnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/if_link.h>
#include <stdlib.h>

#include "kernel/genetlink.h"
#include "pure/message.h"

#define ALIAS_REQUEST_SIZE (MESSAGE_REQUEST_SIZE + LINK_ALIAS_SIZE)

static void ignore(void *info, const struct nlmsghdr *message)
{
    (void)info, (void)message;
}

/* The kernel looks up the link, and refuses the request before it takes RTNL, as there is no such set of strings. */
int reach_link_alias_check(const char *name)
{
    _Alignas(struct nlmsghdr) char request[ALIAS_REQUEST_SIZE] = { 0 }; /* libmnl leaves the padding of a text */
    struct genetlink ethtool;
    struct nlmsghdr *header;
    struct nlattr *outer, *inner;
    int error = reach_genetlink_open(NULL, ETHTOOL_GENL_NAME, &ethtool);

    if (error != 0)
        return netlink_is_withheld(error) ? ENODEV : error;
    header = reach_genetlink_put_request(request, ethtool.family, 0, ETHTOOL_MSG_STRSET_GET);
    outer = mnl_attr_nest_start(header, ETHTOOL_A_STRSET_HEADER);
    mnl_attr_put(header, ETHTOOL_A_HEADER_DEV_NAME, strlen(name) + 1, name);
    mnl_attr_nest_end(header, outer);
    outer = mnl_attr_nest_start(header, ETHTOOL_A_STRSET_STRINGSETS);
    inner = mnl_attr_nest_start(header, ETHTOOL_A_STRINGSETS_STRINGSET);
    mnl_attr_put_u32(header, ETHTOOL_A_STRINGSET_ID, UINT32_MAX);
    mnl_attr_nest_end(header, inner);
    mnl_attr_nest_end(header, outer);
    error = ethtool.family == 0 ? ENODEV
                                : reach_netlink_exchange(&ethtool.netlink, header, ethtool.buffer, ignore, NULL);
    reach_genetlink_close(&ethtool);
    return error == EOPNOTSUPP ? 0 : error;
}

static void take_index(void *info, const struct nlmsghdr *header)
{
    uint32_t *ret = info;
    struct message message;

    (void)reach_message_parse(header, header->nlmsg_len, &message);
    if (message.kind == MESSAGE_LINK)
        *ret = message.link.index;
}

int reach_link_alias_index(const struct netns_handle *netns, const char *name, uint32_t *ret)
{
    _Alignas(struct nlmsghdr) char request[ALIAS_REQUEST_SIZE] = { 0 }; /* libmnl leaves the padding of a text */
    struct netlink netlink = NETLINK_CLOSED;
    void *buffer = malloc(NETLINK_BUFFER_SIZE);
    int error = buffer == NULL ? ENOMEM : reach_netlink_open_requests(netns, NETLINK_ROUTE, &netlink);

    *ret = 0;
    reach_message_put_link_query(request, 0, 0);
    mnl_attr_put((struct nlmsghdr *)request, IFLA_ALT_IFNAME, strlen(name) + 1, name);
    if (error == 0)
        error = reach_netlink_exchange(&netlink, (struct nlmsghdr *)request, buffer, take_index, ret);
    reach_netlink_close(&netlink);
    free(buffer);
    return error == ENODEV || netlink_is_withheld(error) ? 0 : error;
}
#endif
