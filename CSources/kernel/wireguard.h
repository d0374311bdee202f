/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_WIREGUARD_H
#define REACHABILITY_WIREGUARD_H

/* The peers of a WireGuard link: which peer receives the packets for a destination, and its endpoint. */

#include <linux/netlink.h>

#include "pure/linkinfo.h"

/* An "allowed IPs" prefix, with the endpoint of its peer. */
struct allowed_ip {
    struct address prefix, endpoint; /* endpoint AF_UNSPEC: the peer has none */
    uint8_t        length;           /* of the prefix, in bits */
    uint32_t       scope;            /* of the endpoint */
};

struct wireguard_peers {
    uint32_t           index; /* of the link; 0: no link was read */
    uint32_t           mark;
    struct allowed_ip *items;
    size_t             count, capacity;

    /* While reading: the current peer, which may continue in the next message. */
    uint8_t        key[32];
    struct address endpoint;
    uint32_t       scope;
    int            error;
};

#define WIREGUARD_PEERS_EMPTY ((struct wireguard_peers){ 0 })

/* Replaces the peers with those of a link of the calling thread's network namespace. May wait for RTNL. Returns 0 or an
 * errno; EPERM: reading them needs CAP_NET_ADMIN. */
int  wireguard_read(struct wireguard_peers *peers, uint32_t index);
void wireguard_clear(struct wireguard_peers *peers);

/* Adds the peers in one message. */
void wireguard_apply(struct wireguard_peers *peers, const struct nlmsghdr *message);

/* Finds the peer that receives the packets for a destination (AF_UNSPEC: those of the default path), and sets *ret to
 * the peer's endpoint. Returns false if there is no such peer. */
bool wireguard_find_peer(const struct wireguard_peers *peers, const struct address *destination, struct tunnel *ret);

#endif
