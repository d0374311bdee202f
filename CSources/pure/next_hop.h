/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NEXT_HOP_H
#define REACHABILITY_NEXT_HOP_H

/* The next hop of a path: the neighbour to which the kernel hands its packets. */

#include "pure/path.h"

/* Sets *ret to the address of the next hop: the gateway, or else the destination. The interface is that of the path.
 * False: there is none. */
bool reach_next_hop_find(const struct path *path, struct address *ret);

/* What the state of the kernel's entry for the neighbour (NUD_...) says; NUD_NONE: there is no entry. */
SCNetworkReachabilityNextHop reach_next_hop_from_state(uint16_t state);

#endif
