/* SPDX-License-Identifier: MIT */
#include "nl80211.h"

#include <libmnl/libmnl.h>
#include <linux/nl80211.h>
#include <stdlib.h>

#include "genetlink.h"

static void take_interface(void *info, const struct nlmsghdr *message)
{
    bool *ret = info;

    (void)message;
    *ret = true;
}

static int ask(struct netlink *netlink, void *buffer, uint32_t index, bool *ret)
{
    _Alignas(struct nlmsghdr) char request[GENETLINK_REQUEST_SIZE];
    struct nlmsghdr               *header;
    uint16_t                       family;
    int                            error = genetlink_find_family(netlink, buffer, NL80211_GENL_NAME, &family);

    if (error != 0 || family == 0)
        return error;
    header = genetlink_put(request, family, 0, NL80211_CMD_GET_INTERFACE);
    mnl_attr_put_u32(header, NL80211_ATTR_IFINDEX, index);
    error = netlink_exchange(netlink, header, buffer, take_interface, ret);
    return error == ENODEV || error == EOPNOTSUPP || error == EINVAL ? 0 : error; /* it is none of its interfaces */
}

int nl80211_has(uint32_t index, bool *ret)
{
    void          *buffer = malloc(NETLINK_BUFFER_SIZE);
    struct netlink netlink;
    int            error = buffer == NULL ? ENOMEM : netlink_open_generic(&netlink);

    *ret = false;
    if (error == 0) {
        error = ask(&netlink, buffer, index, ret);
        netlink_close(&netlink);
    }
    free(buffer);
    return error;
}
