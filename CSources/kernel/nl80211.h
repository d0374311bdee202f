/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NL80211_H
#define REACHABILITY_NL80211_H

/* Wi-Fi links, by generic netlink's nl80211. */

#include "kernel/genetlink.h"

/* Reads whether a link of the calling thread's network namespace is Wi-Fi. Opens `nl80211` if it is closed; the caller
 * closes it. May wait for RTNL. Returns 0, NETLINK_DENIED or an errno. */
int nl80211_is_wifi(struct genetlink *nl80211, uint32_t index, bool *ret);

#endif
