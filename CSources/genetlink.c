/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: ask for a family by its name. The kernel would load the module for it, on a machine that
 * has no use for it. So all families are asked for.
 */
#include "genetlink.h"

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

struct search {
    const char *name;
    uint16_t   *ret;
};

struct nlmsghdr *genetlink_put(void *buffer, uint16_t family, uint16_t flags, uint8_t command)
{
    struct nlmsghdr   *header = mnl_nlmsg_put_header(buffer);
    struct genlmsghdr *generic;

    header->nlmsg_type = family;
    header->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
    generic = mnl_nlmsg_put_extra_header(header, sizeof *generic);
    generic->cmd = command;
    generic->version = 1;
    return header;
}

struct walk genetlink_walk(const struct nlmsghdr *message)
{
    const size_t length = mnl_nlmsg_get_payload_len(message);

    return (struct walk){ .next = (const char *)mnl_nlmsg_get_payload(message) + GENL_HDRLEN,
                          .left = length > GENL_HDRLEN ? length - GENL_HDRLEN : 0 };
}

static void take_family(void *info, const struct nlmsghdr *message)
{
    const struct search *search = info;
    struct walk          walk = genetlink_walk(message);
    struct attribute     attribute;
    char                 name[16] = "";
    uint16_t             family = 0;

    while (walk_next(&walk, &attribute)) {
        if (attribute.type == CTRL_ATTR_FAMILY_NAME)
            attribute_name(&attribute, name);
        else if (attribute.type == CTRL_ATTR_FAMILY_ID)
            attribute_u16(&attribute, &family);
    }
    if (strcmp(name, search->name) == 0)
        *search->ret = family;
}

int genetlink_find_family(struct netlink *netlink, void *buffer, const char *name, uint16_t *ret)
{
    _Alignas(struct nlmsghdr) char request[GENETLINK_REQUEST_SIZE];
    struct search                  search = { .name = name, .ret = ret };

    *ret = 0;
    return netlink_exchange(netlink, genetlink_put(request, GENL_ID_CTRL, NLM_F_DUMP, CTRL_CMD_GETFAMILY), buffer,
                            take_family, &search);
}
