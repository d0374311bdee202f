/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LINK_TYPE_H
#define REACHABILITY_LINK_TYPE_H

/* What kind of link one is where sysfs does not show it: asked of rtnetlink, of nl80211 and of the driver. */

#include "pure/link_table.h"

/* Finds out all about a link of the calling thread's network namespace, over sockets of its own. May wait for RTNL.
 * 0 or an errno; ENODEV: there is none; NETLINK_DENIED. */
int link_type_query(uint32_t index, struct link *ret);

#endif
