/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_WIREGUARD_PATH_H
#define REACHABILITY_WIREGUARD_PATH_H

/* Paths over WireGuard links. Such a path is only as good as the path to the peer. */

#include "route/netns.h"

/* If the path goes over a WireGuard link, applies the path to the peer, if this process may read the peers and the link
 * is known to send in this network namespace. The kernel does not announce that a peer moved, so the path becomes stale
 * after some time. `cache` keeps the peers for later calls. May wait for RTNL. Returns 0 or an errno. */
int wireguard_path_follow(struct netns *netns, struct round_cache *cache, struct path *path);

#endif
