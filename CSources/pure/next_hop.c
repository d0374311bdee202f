/* SPDX-License-Identifier: MIT */
/*
 * What a neighbour entry of the kernel says of the next hop.
 *
 * What this file must never do: call a next hop failed while the kernel still waits for its reply.
 */
#ifdef __linux__
#include "pure/next_hop.h"

#include <linux/neighbour.h>

/* Packets to this machine, and over point-to-point links, are handed to nobody. */
bool reach_next_hop_find(const struct path *path, struct address *ret)
{
    if (reach_path_rank(path) == 0 || path->index == 0 || path->point_to_point ||
        (path->flags & kSCNetworkReachabilityFlagsIsLocalAddress) != 0)
        return false;
    *ret = path->gateway.family != AF_UNSPEC ? path->gateway : path->destination;
    return ret->family != AF_UNSPEC;
}

SCNetworkReachabilityNextHop reach_next_hop_from_state(uint16_t state)
{
    if ((state & NUD_FAILED) != 0)
        return kSCNetworkReachabilityNextHopFailed;
    if ((state & (NUD_REACHABLE | NUD_PERMANENT | NUD_NOARP)) != 0)
        return kSCNetworkReachabilityNextHopConfirmed;
    return (state & (NUD_STALE | NUD_DELAY | NUD_PROBE)) != 0 ? kSCNetworkReachabilityNextHopUnconfirmed
                                                              : kSCNetworkReachabilityNextHopUnknown;
}
#endif
