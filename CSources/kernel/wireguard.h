/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_WIREGUARD_H
#define REACHABILITY_WIREGUARD_H

/* The peers of a WireGuard link: which of them gets the packets for a destination, and where that one is. */

#include <linux/netlink.h>

#include "pure/linkinfo.h"

/* What one of them may be sent. */
struct allowed {
    struct address prefix, endpoint; /* the latter AF_UNSPEC: nobody knows where the peer is */
    uint8_t        length;
    uint32_t       scope;
};

struct wireguard_peers {
    uint32_t        index; /* of the link; 0: none was read */
    uint32_t        mark;
    struct allowed *items;
    size_t          count, capacity;

    /* While they are read: the peer that was told of last, as one may go on in the next message. */
    uint8_t        key[32];
    struct address endpoint;
    uint32_t       scope;
    int            error;
};

#define WIREGUARD_PEERS_EMPTY ((struct wireguard_peers){ 0 })

/* Reads those of a link of the calling thread's network namespace, in the place of others. May wait for RTNL. 0 or an
 * errno; EPERM: only an administrator may see them. */
int  wireguard_read(struct wireguard_peers *peers, uint32_t index);
void wireguard_clear(struct wireguard_peers *peers);

/* Takes over one message about them. */
void wireguard_apply(struct wireguard_peers *peers, const struct nlmsghdr *message);

/* Where packets for a destination go, AF_UNSPEC: for the default path. False: no peer may have them. */
bool wireguard_find_peer(const struct wireguard_peers *peers, const struct address *destination, struct tunnel *ret);

#endif
