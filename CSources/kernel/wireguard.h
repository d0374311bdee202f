/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_WIREGUARD_H
#define REACHABILITY_WIREGUARD_H

/* WireGuard links: which peer receives the packets for a destination, its endpoint, and whether the packets to it leave
 * in this network namespace. */

#include <linux/netlink.h>

#include "base/netns_handle.h"
#include "pure/message.h"

/* An "allowed IPs" prefix, with the endpoint of its peer. */
struct allowed_ip {
    struct address prefix, endpoint; /* endpoint AF_UNSPEC: the peer has none */
    uint8_t length;                  /* of the prefix, in bits */
    uint32_t scope;                  /* of the endpoint */
};

/* What is known about a link. */
enum wireguard_knowledge { WIREGUARD_LISTED, WIREGUARD_PORT, WIREGUARD_ALL };

/* A link and its peers. */
struct wireguard_link {
    uint32_t index;
    enum wireguard_knowledge knowledge;
    uint16_t port;   /* UDP; its packets leave from this port */
    bool sends_here; /* in this network namespace; false also if that is not known */
    uint32_t mark;
    struct allowed_ip *items;
    size_t count, capacity;

    /* While reading: the current peer, which may continue in the next message. */
    uint8_t key[32];
    struct address endpoint;
    uint32_t scope;
    int error;
};

#define WIREGUARD_LINK_EMPTY ((struct wireguard_link){ 0 })

/* The links that were read since the last reach_wireguard_clear. */
struct wireguard {
    struct wireguard_link *links;
    size_t count, capacity;
    bool all_listed; /* `links` has all links of the network namespace, most with their port alone */
};

void reach_wireguard_clear(struct wireguard *wireguard);

/* Returns the link if its peers were read, valid until the next call of reach_wireguard_read or reach_wireguard_clear,
 * or NULL. */
const struct wireguard_link *reach_wireguard_find(const struct wireguard *wireguard, uint32_t index);

/* Reads a link. May wait for RTNL. Returns 0 or an errno; EPERM: reading the
 * peers needs CAP_NET_ADMIN. */
int reach_wireguard_read(struct wireguard *wireguard, const struct netns_handle *netns, uint32_t index);

/* Adds what is in one message. */
void reach_wireguard_link_apply(struct wireguard_link *link, const struct nlmsghdr *message);
void reach_wireguard_link_clear(struct wireguard_link *link);

/* Finds the peer that receives the packets for a destination (AF_UNSPEC: those of the default path), and sets *ret to
 * the peer's endpoint. Returns false if there is no such peer. */
bool reach_wireguard_link_find_peer(const struct wireguard_link *link, const struct address *destination,
                                    struct tunnel *ret);

#endif
