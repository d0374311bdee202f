/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LINK_TYPE_H
#define REACHABILITY_LINK_TYPE_H

/* The type of a link that sysfs does not show: by queries to rtnetlink, nl80211 and the driver. */

#include "pure/link.h"

struct netns_handle;

/* Reads a link of a network namespace (NULL: that of the calling thread), with its device and type. Opens sockets of
 * its own. May wait for RTNL. Returns 0 or an errno; ENODEV: no link; NETLINK_DENIED. */
int link_type_query(const struct netns_handle *netns, uint32_t index, struct link *ret);

#endif
