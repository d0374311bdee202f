/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: believe EPERM to be "no". Who is refused an answer does not know whether it is Wi-Fi.
 */
#include "kernel/nl80211.h"

#include <linux/nl80211.h>

static void take_interface(void *info, const struct nlmsghdr *message)
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
    error = genetlink_query(nl80211, NL80211_CMD_GET_INTERFACE, 0, NL80211_ATTR_IFINDEX, index, take_interface, ret);
    /* It is none of its interfaces, or there are none. */
    return error == ENODEV || error == EOPNOTSUPP || error == EINVAL || error == ENOENT ? 0 : error;
}
