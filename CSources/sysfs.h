/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SYSFS_H
#define REACHABILITY_SYSFS_H

/* What sysfs(5) knows of network interfaces and rtnetlink does not tell. Does not wait for RTNL. */

#include "links.h"

/* Finds out the device of a link. `fd`: any socket of the link's network namespace. DEVICE_UNSEEN: there is no sysfs
 * for us, or it shows another namespace. 0 or an errno: it could not be looked at. */
int sysfs_look(int fd, struct link *link);

#endif
