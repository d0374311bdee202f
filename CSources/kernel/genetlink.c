/* SPDX-License-Identifier: MIT */
/*
 * Generic netlink requests to one family, and the query to nl80211 that finds out whether a link is Wi-Fi.
 *
 * What this file must never do: query a family by its name (on a machine that does not use the family, the kernel would
 * load its module, so we dump all families), or free memory that still contains received messages (they contain the
 * private keys of WireGuard links), or treat EPERM as "not Wi-Fi": a refused query says nothing about the link.
 */
#ifdef __linux__
#include "kernel/genetlink.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/nl80211.h>
#include <stdlib.h>
#include <string.h>

#define REQUEST_SIZE 64 /* bytes; enough for each of our requests */

/* The family to look for, and where to store its number. */
struct family_search {
    const char *name;
    uint16_t *ret;
};

struct nlmsghdr *reach_genetlink_put_request(void *buffer, uint16_t family, uint16_t flags, uint8_t command)
{
    struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);
    struct genlmsghdr *generic;

    header->nlmsg_type = family;
    header->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
    generic = mnl_nlmsg_put_extra_header(header, sizeof *generic);
    generic->cmd = command;
    generic->version = 1;
    return header;
}

struct attribute_walk reach_genetlink_walk(const struct nlmsghdr *message)
{
    return attribute_walk_message(message, GENL_HDRLEN);
}

static void compare_family(void *info, const struct nlmsghdr *message)
{
    const struct family_search *search = info;
    struct attribute all[CTRL_ATTR_FAMILY_NAME + 1];
    char name[16] = "";
    uint16_t family = 0;

    attributes_parse(reach_genetlink_walk(message), all);
    attribute_name(&all[CTRL_ATTR_FAMILY_NAME], name);
    attribute_u16(&all[CTRL_ATTR_FAMILY_ID], &family);
    if (strcmp(name, search->name) == 0)
        *search->ret = family;
}

int reach_genetlink_open(const struct netns_handle *netns, const char *name, struct genetlink *ret)
{
    _Alignas(struct nlmsghdr) char request[REQUEST_SIZE];
    struct family_search search = { .name = name, .ret = &ret->family };
    int error;

    *ret = GENETLINK_CLOSED;
    ret->buffer = malloc(NETLINK_BUFFER_SIZE);
    error = ret->buffer == NULL ? ENOMEM : reach_netlink_open_requests(netns, NETLINK_GENERIC, &ret->netlink);
    if (error == 0)
        error = EAGAIN;
    for (int tries = 0; tries < NETLINK_DUMP_TRIES && error == EAGAIN; tries++)
        error = reach_netlink_exchange(
            &ret->netlink, reach_genetlink_put_request(request, GENL_ID_CTRL, NLM_F_DUMP, CTRL_CMD_GETFAMILY),
            ret->buffer, compare_family, &search);
    if (error == EAGAIN) /* the dump kept being interrupted: use what it contained */
        error = 0;
    if (error != 0)
        reach_genetlink_close(ret);
    return error;
}

void reach_genetlink_close(struct genetlink *genetlink)
{
    reach_netlink_close(&genetlink->netlink);
    if (genetlink->buffer != NULL)
        explicit_bzero(genetlink->buffer, NETLINK_BUFFER_SIZE);
    free(genetlink->buffer);
    genetlink->buffer = NULL;
}

int reach_genetlink_query(struct genetlink *genetlink, uint8_t command, uint16_t flags, uint16_t attribute,
                          uint32_t index, void (*handle)(void *info, const struct nlmsghdr *message), void *info)
{
    _Alignas(struct nlmsghdr) char request[REQUEST_SIZE];
    struct nlmsghdr *header;

    if (genetlink->family == 0)
        return ENOENT;
    header = reach_genetlink_put_request(request, genetlink->family, flags, command);
    mnl_attr_put_u32(header, attribute, index);
    return reach_netlink_exchange(&genetlink->netlink, header, genetlink->buffer, handle, info);
}

/* ---- nl80211 ---------------------------------------------------------------------------------------------------- */

static void set_is_wifi(void *info, const struct nlmsghdr *message)
{
    bool *ret = info;

    (void)message;
    *ret = true;
}

int reach_genetlink_is_wifi(const struct netns_handle *netns, struct genetlink *nl80211, uint32_t index, bool *ret)
{
    int error = nl80211->buffer == NULL ? reach_genetlink_open(netns, NL80211_GENL_NAME, nl80211) : 0;

    *ret = false;
    if (error != 0)
        return error;
    error = reach_genetlink_query(nl80211, NL80211_CMD_GET_INTERFACE, 0, NL80211_ATTR_IFINDEX, index, set_is_wifi, ret);
    /* These mean that the link is not one of nl80211's, or that the kernel has no nl80211. */
    return error == ENODEV || error == EOPNOTSUPP || error == EINVAL || error == ENOENT ? 0 : error;
}
#endif
