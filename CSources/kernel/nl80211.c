/* SPDX-License-Identifier: MIT */
/*
 * The query to nl80211 that finds out whether a link is Wi-Fi.
 *
 * What this file must never do: treat EPERM as "not Wi-Fi". A refused query says nothing about the link.
 */
#include "kernel/nl80211.h"

#include <errno.h>
#include <linux/nl80211.h>

static void set_is_wifi(void *info, const struct nlmsghdr *message)
{
    bool *ret = info;

    (void)message;
    *ret = true;
}

int nl80211_is_wifi(struct genetlink *nl80211, uint32_t index, bool *ret)
{
    int error = nl80211->buffer == NULL ? genetlink_open(NL80211_GENL_NAME, nl80211) : 0;

    *ret = false;
    if (error != 0)
        return error;
    error = genetlink_query(nl80211, NL80211_CMD_GET_INTERFACE, 0, NL80211_ATTR_IFINDEX, index, set_is_wifi, ret);
    /* These mean that the link is not one of nl80211's, or that the kernel has no nl80211. */
    return error == ENODEV || error == EOPNOTSUPP || error == EINVAL || error == ENOENT ? 0 : error;
}
