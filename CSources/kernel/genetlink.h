/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_GENETLINK_H
#define REACHABILITY_GENETLINK_H

/* Generic netlink: requests to one family; Wi-Fi links, by nl80211. */

#include "kernel/netlink.h"
#include "pure/attribute.h"

/* A socket, and the family that its requests go to. */
struct genetlink {
    struct netlink netlink;
    void *buffer;    /* NULL: closed */
    uint16_t family; /* 0: the kernel has no such family */
};

#define GENETLINK_CLOSED ((struct genetlink){ .netlink = NETLINK_CLOSED })

/* Opens a socket in a network namespace (NULL: that of the calling thread), and finds the family with this name in a
 * dump of all families. Returns 0, also if there is no such family, NETLINK_DENIED or an errno. */
int reach_genetlink_open(const struct netns_handle *netns, const char *name, struct genetlink *ret);

/* Erases the received messages from memory. */
void reach_genetlink_close(struct genetlink *genetlink);

/* Sends a command with one attribute, the index of a link, and passes each reply message to `handle`. Returns as
 * reach_netlink_exchange does; ENOENT: there is no such family. */
int reach_genetlink_query(struct genetlink *genetlink, uint8_t command, uint16_t flags, uint16_t attribute,
                          uint32_t index, void (*handle)(void *info, const struct nlmsghdr *message), void *info);

/* Writes a request without attributes. */
struct nlmsghdr *reach_genetlink_put_request(void *buffer, uint16_t family, uint16_t flags, uint8_t command);

/* The attributes of a reply. */
struct attribute_walk reach_genetlink_walk(const struct nlmsghdr *message);

/* Reads whether a link is Wi-Fi. Opens `nl80211` if it is closed; the caller
 * closes it. May wait for RTNL. Returns 0, NETLINK_DENIED or an errno. */
int reach_genetlink_is_wifi(const struct netns_handle *netns, struct genetlink *nl80211, uint32_t index, bool *ret);

#endif
