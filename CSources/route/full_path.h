/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_FULL_PATH_H
#define REACHABILITY_FULL_PATH_H

/* The path of questions, including what rtnetlink does not know: the types of links, and WireGuard's peers. To read
 * these can wait for RTNL. */

#include "route/evaluate.h"
#include "route/netns.h"

/* For a monitor, over its socket and with its link table; `rtnetlink` NULL: over the socket that the namespace's
 * targets share. Returns 0, NETLINK_DENIED or an errno. */
int reach_full_path_evaluate(struct rtnetlink *rtnetlink, struct netns *netns, struct round_cache *cache,
                             const struct questions *questions, unsigned extras, struct path *ret);

/* For one call, over the socket that the namespace's targets share. The path has its source. `extras`: QUERY_FLOW
 * and QUERY_NEXT_HOP. Returns 0 or an errno. */
int reach_full_path_query(struct netns *netns, const struct questions *questions, unsigned extras, struct path *ret);

/* Finds out whether the next hop of a path responds. May wait for RTNL, on a socket of its own. Where that cannot be
 * read (a sandbox, a kernel before 5.0), it stays Unknown. Returns 0 or an errno. */
int reach_full_path_find_next_hop(struct netns *netns, struct path *path);

#endif
