/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_DEVICE_H
#define REACHABILITY_DEVICE_H

/* Reads links, and the devices behind them. `fd` is any socket of the link's network namespace; it sends no IP packets.
 * These return 0 or an errno; ENODEV: no link. */

#include "pure/link.h"

struct netns_handle;

/* Reads the index of the link that has this name now. No wait for RTNL. May bind `fd` to the link. */
int reach_ioctl_link_index(int fd, const char *name, uint32_t *ret);

/* Reads the low 16 bits of a link's IFF_... flags. No wait for RTNL. */
int reach_ioctl_link_flags(int fd, uint32_t index, uint32_t *ret);

/* Reads a link, except its kind. Waits while the hardware address of any link is being changed, so do not call it
 * often. */
int reach_ioctl_link(int fd, uint32_t index, struct link *ret);

/* Sets the device of a link. Does not wait for RTNL. DEVICE_NOT_IN_SYSFS: this process cannot read sysfs, or it shows
 * another namespace. If a file cannot be read, the device is DEVICE_UNKNOWN. */
int reach_sysfs_read_device(int fd, struct link *link);

/* Reads a link of a network namespace (NULL: that of the calling thread), with its device and type, also if sysfs does
 * not show it. Opens sockets of its own. May wait for RTNL: do not call it under a lock. Or NETLINK_DENIED. */
int reach_link_type_query(const struct netns_handle *netns, uint32_t index, struct link *ret);

#endif
