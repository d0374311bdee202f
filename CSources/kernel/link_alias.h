/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LINK_ALIAS_H
#define REACHABILITY_LINK_ALIAS_H

/* Links by alternative names that are too long for ioctls: ip link property add dev eth0 altname NAME. Shorter ones are
 * names like any other. */

#include <stdint.h>

#include "base/netns_handle.h"
#include "pure/address.h"

static inline bool link_alias_is(const char *name)
{
    return name != NULL && strlen(name) >= LINK_NAME_SIZE;
}

/* Whether a link of the calling thread's network namespace has this name. Does not wait for RTNL. Returns 0, or an
 * errno; ENODEV: no link has it, or the kernel does not say. */
int reach_link_alias_check(const char *name);

/* Finds the index of the link. *ret 0: there is none. Waits for RTNL. Returns 0 or an errno. */
int reach_link_alias_index(const struct netns_handle *netns, const char *name, uint32_t *ret);

#endif
