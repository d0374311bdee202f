/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SYSFS_H
#define REACHABILITY_SYSFS_H

/* The devices of links, from sysfs(5): rtnetlink does not report them. */

#include "pure/link.h"

/* Sets the device of a link. Does not wait for RTNL. `fd`: any socket of the link's network namespace.
 * DEVICE_NOT_IN_SYSFS: this process cannot read sysfs, or it shows another namespace. Returns 0, or an errno if a file
 * cannot be read; the device is then DEVICE_UNKNOWN. */
int sysfs_read_device(int fd, struct link *link);

#endif
