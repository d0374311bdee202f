/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_GENETLINK_H
#define REACHABILITY_GENETLINK_H

/* Generic netlink: requests, and the families that there are. */

#include "attribute.h"
#include "netlink.h"

#define GENETLINK_REQUEST_SIZE 64 /* bytes that any of ours fits, aligned as nlmsghdr */

/* Writes a request without its attributes. */
struct nlmsghdr *genetlink_put(void *buffer, uint16_t family, uint16_t flags, uint8_t command);

/* The attributes of an answer. */
struct walk genetlink_walk(const struct nlmsghdr *message);

/* The number of a family, 0: there is none. 0 or an errno. */
int genetlink_find_family(struct netlink *netlink, void *buffer, const char *name, uint16_t *ret);

#endif
