/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SYSFS_H
#define REACHABILITY_SYSFS_H

/* What sysfs(5) knows of network interfaces and rtnetlink does not tell. Does not wait for RTNL. */

#include "pure/link_table.h"

/* Finds out the device of a link. `fd`: any socket of the link's network namespace. DEVICE_NOT_IN_SYSFS: there is no sysfs
 * for us, or it shows another namespace. 0 or an errno: it could not be looked at. */
int sysfs_read_device(int fd, struct link *link);

#endif
