/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_GENETLINK_H
#define REACHABILITY_GENETLINK_H

/* Generic netlink: families, and what they are asked. */

#include "kernel/netlink.h"
#include "pure/attribute.h"

/* A family that can be asked. */
struct genetlink {
    struct netlink netlink;
    void          *buffer; /* NULL: closed */
    uint16_t       family; /* 0: there is none of that name */
};

#define GENETLINK_CLOSED ((struct genetlink){ .netlink = NETLINK_CLOSED })

/* In the network namespace of the calling thread. 0, also where there is no such family, NETLINK_DENIED or an errno. */
int genetlink_open(const char *name, struct genetlink *ret);

/* Leaves nothing of what was told in memory. */
void genetlink_close(struct genetlink *genetlink);

/* Sends a command about a link, of which an attribute says the index, and passes on what answers it: netlink_exchange.
 * ENOENT: there is no such family. */
int genetlink_query(struct genetlink *genetlink, uint8_t command, uint16_t flags, uint16_t attribute, uint32_t index,
                    void (*take)(void *info, const struct nlmsghdr *message), void *info);

/* The attributes of an answer. */
struct walk genetlink_walk(const struct nlmsghdr *message);

#endif
