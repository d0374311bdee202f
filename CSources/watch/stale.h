/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_STALE_H
#define REACHABILITY_STALE_H

/* What a change makes stale. Messages are noted between two steps. Under the loop's lock. */

#include "pure/route.h"
#include "watch/entry.h"

/* Return whether that affects a watch. */
bool stale_mark_route(struct store *store, const struct route *route);
bool stale_mark_link(struct store *store, uint32_t link); /* routes over it may be gone without a message */

void stale_mark_all(struct store *store);      /* any route may be gone without a message */
void stale_mark_any_link(struct store *store); /* what depends on any link: pppd's database, a gateway has changed */
bool stale_mark_ipv6(struct store *store);     /* the same, and what depends on any IPv6 address */
bool stale_mark_ipv6_since(struct store *store, uint64_t since); /* of these, answers whose queries were sent since */

/* The IPv6 neighbour responds, so a router may have redirected its packets to it. */
bool stale_mark_neighbour(struct store *store, const struct address *address);

/* The neighbour may be the next hop of watches that report it. */
bool stale_mark_hop(struct store *store, const struct message_neighbour *neighbour);

/* Any route of the family may have come without a message: the entries of routes end. AF_UNSPEC: of both. */
void stale_dissolve(struct store *store, uint8_t family);

/* The answers whose queries were sent at `since` or later. False: there is none. */
bool stale_has_since(const struct store *store, uint64_t since);
void stale_mark_since(struct store *store, uint64_t since);

#endif
