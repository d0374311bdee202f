/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_IOCTL_H
#define REACHABILITY_IOCTL_H

/* Reads links with the ioctls of netdevice(7). `fd` is a socket of the network namespace; it sends no IP packets. */

#include "pure/link.h"

/* Reads the index of the link that has this name now. No wait for RTNL. Returns 0 or an errno; ENODEV: no link. May
 * bind `fd` to the link. */
int ioctl_link_index(int fd, const char *name, uint32_t *ret);

/* Reads the low 16 bits of a link's IFF_... flags. No wait for RTNL. Returns 0 or an errno; ENODEV: no link. */
int ioctl_link_flags(int fd, uint32_t index, uint32_t *ret);

/* Reads a link, except its kind. Waits while the hardware address of any link is being changed, so do not call it
 * often. Returns 0 or an errno; ENODEV: no link. */
int ioctl_link(int fd, uint32_t index, struct link *ret);

/* A link's driver. */
struct link_driver {
    char name[32];     /* "": unknown */
    char firmware[32]; /* its version, or for USB drivers a description of the device; "": unknown */
};

/* Reads the driver of a link. May wait for RTNL. */
void ioctl_link_driver(int fd, const char *name, struct link_driver *ret);

#endif
