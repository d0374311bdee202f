/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_INTERFACE_H
#define REACHABILITY_INTERFACE_H

/* Network interfaces by netdevice(7)'s ioctls, which any socket will do for and which do not wait for RTNL. */

#include "links.h"

/* The index of the interface that has this name now, 0: there is none. */
uint32_t interface_index(int fd, const char *name);

/* What the one with an index is, but for its kind. False: there is none. */
bool interface_probe(int fd, uint32_t index, struct link *ret);

#endif
