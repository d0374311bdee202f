/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_WIREGUARD_PATH_H
#define REACHABILITY_WIREGUARD_PATH_H

/* Paths over a WireGuard link: as good as the path to the peer. */

#include "kernel/wireguard.h"
#include "route/netns.h"

/* Applies the path to the peer to a path over a WireGuard link, where this process may read the peers. The kernel does
 * not announce that a peer moved, so the path asks to be evaluated again after some time. `peers` keeps the peers of
 * the last link, for further paths. May wait for RTNL. Returns 0 or an errno. */
int wireguard_path_follow(struct netns *netns, struct wireguard_peers *peers, struct path *path);

#endif
