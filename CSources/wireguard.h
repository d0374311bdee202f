/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_WIREGUARD_H
#define REACHABILITY_WIREGUARD_H

/* Which peer of a WireGuard link gets the packets for a destination, and where that one is. */

#include <linux/netlink.h>

#include "linkinfo.h"

/* A search over the peers, which the kernel tells in several messages. */
struct wireguard {
    struct address destination;
    bool           found;  /* a peer is allowed the destination */
    unsigned       prefix; /* the longest that covers it */
    struct tunnel  tunnel; /* no remote: nobody knows where the peer is, and what is sent to it is dropped */
    uint8_t        key[32]; /* of the peer that was told of last, and where it is */
    struct address endpoint;
    uint32_t       scope;
};

void wireguard_begin(struct wireguard *ret, const struct address *destination); /* AF_UNSPEC: the default path */
void wireguard_take(struct wireguard *wireguard, const struct nlmsghdr *message);

/* Searches a link of the calling thread's network namespace. May wait for RTNL. 0 or an errno; EPERM: only an
 * administrator may see the peers. */
int wireguard_find(uint32_t index, struct wireguard *wireguard);

#endif
