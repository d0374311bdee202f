/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: ask for the family by its name. The kernel would load the module for it, on a machine
 * that has no Wi-Fi.
 */
#include "nl80211.h"

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/nl80211.h>
#include <stdlib.h>

#include "attribute.h"
#include "netlink.h"

static struct nlmsghdr *put_header(void *buffer, uint16_t type, uint16_t flags, uint8_t command)
{
    struct nlmsghdr   *header = mnl_nlmsg_put_header(buffer);
    struct genlmsghdr *generic;

    header->nlmsg_type = type;
    header->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
    generic = mnl_nlmsg_put_extra_header(header, sizeof *generic);
    generic->cmd = command;
    generic->version = 1;
    return header;
}

/* Takes one of the families that there are. */
static void take_family(void *info, const struct nlmsghdr *message)
{
    uint16_t        *ret_family = info, family = 0;
    const size_t     length = mnl_nlmsg_get_payload_len(message);
    struct walk      walk = { .next = (const char *)mnl_nlmsg_get_payload(message) + GENL_HDRLEN,
                              .left = length > GENL_HDRLEN ? length - GENL_HDRLEN : 0 };
    struct attribute attribute;
    char             name[16] = "";

    while (walk_next(&walk, &attribute)) {
        if (attribute.type == CTRL_ATTR_FAMILY_NAME)
            attribute_name(&attribute, name);
        else if (attribute.type == CTRL_ATTR_FAMILY_ID && attribute.length == sizeof family)
            memcpy(&family, attribute.payload, sizeof family);
    }
    if (strcmp(name, NL80211_GENL_NAME) == 0)
        *ret_family = family;
}

static void take_interface(void *info, const struct nlmsghdr *message)
{
    bool *ret = info;

    (void)message;
    *ret = true;
}

static int ask(struct netlink *netlink, void *buffer, uint32_t index, bool *ret)
{
    _Alignas(struct nlmsghdr) char request[64];
    struct nlmsghdr               *header = put_header(request, GENL_ID_CTRL, NLM_F_DUMP, CTRL_CMD_GETFAMILY);
    uint16_t                       family = 0;
    int                            error = netlink_exchange(netlink, header, buffer, take_family, &family);

    if (error != 0 || family == 0)
        return error;
    header = put_header(request, family, 0, NL80211_CMD_GET_INTERFACE);
    mnl_attr_put_u32(header, NL80211_ATTR_IFINDEX, index);
    error = netlink_exchange(netlink, header, buffer, take_interface, ret);
    return error == ENODEV || error == EOPNOTSUPP || error == EINVAL ? 0 : error; /* it is none of its interfaces */
}

int nl80211_has(uint32_t index, bool *ret)
{
    void          *buffer = malloc(NETLINK_BUFFER_SIZE);
    struct netlink netlink;
    int            error = buffer == NULL ? ENOMEM : netlink_open_generic(&netlink);

    *ret = false;
    if (error == 0) {
        error = ask(&netlink, buffer, index, ret);
        netlink_close(&netlink);
    }
    free(buffer);
    return error;
}
