/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NL80211_H
#define REACHABILITY_NL80211_H

/* Wireless interfaces, by generic netlink's nl80211. */

#include "kernel/genetlink.h"

/* Whether a link of the calling thread's network namespace is Wi-Fi. `nl80211` is opened for the first of several, and
 * to be closed. May wait for RTNL. 0, NETLINK_DENIED or an errno. */
int nl80211_is_wifi(struct genetlink *nl80211, uint32_t index, bool *ret);

#endif
