/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NETCONF_H
#define REACHABILITY_NETCONF_H

/* The settings of links that netlink calls netconf: see ip-netconf(8). */

#include "kernel/rtnetlink.h"

struct netconf {
    /* The kernel ignores the routes over a link without a carrier, for one link or family at least. Such a route comes
     * back with the carrier, without a message. */
    bool ignores_linkdown;
    /* It forwards IPv6 packets. Else it prefers other routes to those whose gateways do not respond. */
    bool forwards;
};

/* Returns 0, or an errno if not all is known. Only the thread that handles events calls it: it waits for RTNL. */
int netconf_read(struct rtnetlink *rtnetlink, struct netconf *ret);

#endif
