/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LINK_DEPENDENCY_H
#define REACHABILITY_LINK_DEPENDENCY_H

/* The link on which a path depends. */

#include "kernel/rtnetlink.h"
#include "route/extent.h"

/* Returns what link_index_set needs for a path that was evaluated: a link, LINK_INDEX_NONE or LINK_INDEX_ANY. `extent`
 * is that of the path's destination. */
uint32_t link_dependency(const struct rtnetlink *rtnetlink, const struct extent *extent, const struct path *path);

#endif
