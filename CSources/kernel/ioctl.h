/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_IOCTL_H
#define REACHABILITY_IOCTL_H

/* Network interfaces by netdevice(7)'s ioctls, which any socket will do for. But for the last, they do not wait for
 * RTNL. */

#include "pure/link_table.h"

/* The index of the interface that has this name now. 0 or an errno; ENODEV: there is none. */
int ioctl_link_index(int fd, const char *name, uint32_t *ret);

/* The flags of the one with an index, IFF_... as it tells them in 16 bits: nobody is waited for. 0 or an errno; ENODEV:
 * there is none. */
int ioctl_link_flags(int fd, uint32_t index, uint32_t *ret);

/* What the one with an index is, but for its kind. Waits for whoever is changing a hardware address, of any link: not to
 * be asked over and over. 0 or an errno; ENODEV: there is none. */
int ioctl_link(int fd, uint32_t index, struct link *ret);

/* What its driver calls itself, and what it calls the device, or its firmware; "" when it does not say. May wait for
 * RTNL. */
struct driver {
    char name[32], about[32];
};
void ioctl_link_driver(int fd, const char *name, struct driver *ret);

#endif
