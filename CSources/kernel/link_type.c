/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: be called on the way to an answer that may not wait, or under a lock. Every request for
 * a link waits for RTNL.
 */
#include "kernel/link_type.h"

#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "kernel/ioctl.h"
#include "kernel/netlink.h"
#include "kernel/nl80211.h"
#include "kernel/sysfs.h"

struct inquiry {
    struct netlink   netlink;
    struct genetlink nl80211;
    void            *buffer;
    unsigned         looks;
};

/* ---- One link --------------------------------------------------------------------------------------------------- */

static void take_link(void *info, const struct nlmsghdr *header)
{
    (void)message_parse(header, header->nlmsg_len, info);
}

/* 0 and the message, or an errno. */
static int read_link(struct inquiry *inquiry, uint32_t index, struct message *ret)
{
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    int                            error;

    *ret = (struct message){ 0 };
    message_put_link_query(request, 0, index);
    error = netlink_exchange(&inquiry->netlink, (struct nlmsghdr *)request, inquiry->buffer, take_link, ret);
    return error == 0 && ret->kind != MESSAGE_LINK ? EIO : error;
}

/* Some drivers are of nothing but cellular modems. Two are of anything on USB, and of a modem they say so. */
static bool is_cellular(const struct driver *driver)
{
    static const char *const names[] = { "qmi_wwan", "cdc_mbim", "huawei_cdc_ncm", "sierra_net",
                                         "hso",      "lg-vl600", "kalmia" };
    static const char *const of_anything[] = { "cdc_ether", "cdc_ncm" };
    static const char        about[] = "Mobile Broadband Network Device";

    return TEXT_IS_ONE_OF(driver->name, names) ||
           (TEXT_IS_ONE_OF(driver->name, of_anything) && strncmp(driver->about, about, sizeof about - 1) == 0);
}

/* A link of no kind that sysfs does not show. */
static int ask_others(struct inquiry *inquiry, struct link *link)
{
    struct driver driver;
    bool          is_wifi = false;
    int           error = nl80211_is_wifi(&inquiry->nl80211, link->index, &is_wifi);

    if (error != 0 && error != NETLINK_DENIED)
        return error;
    ioctl_link_driver(inquiry->netlink.socket.fd, link->name, &driver);
    link->device = is_wifi ? DEVICE_WIFI : is_cellular(&driver) ? DEVICE_CELLULAR : DEVICE_PHYSICAL;
    return 0;
}

/* ---- What carries it -------------------------------------------------------------------------------------------- */

static int find(struct inquiry *inquiry, uint32_t index, unsigned depth, struct link *ret);

/* The indexes of ports, of as many as are looked at. */
struct ports {
    size_t   count;
    uint32_t items[LINK_LOOKS];
};

static void take_port(void *info, const struct nlmsghdr *header)
{
    struct ports  *ports = info;
    struct message message;

    (void)message_parse(header, header->nlmsg_len, &message);
    if (message.kind == MESSAGE_LINK && ports->count < LINK_LOOKS)
        ports->items[ports->count++] = message.link.index;
}

/* The port of a bond, a bridge or a VRF that carries it. ret->index 0: none does. */
static int find_port(struct inquiry *inquiry, uint32_t master, unsigned depth, struct link *ret)
{
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    struct ports                   ports = { 0 };
    struct link_choice             choice = { 0 };
    int                            error;

    message_put_port_dump(request, master);
    error = netlink_exchange(&inquiry->netlink, (struct nlmsghdr *)request, inquiry->buffer, take_port, &ports);
    if (error == EAGAIN) /* something changed meanwhile, and will be told of */
        error = 0;
    for (size_t i = 0; i < ports.count && inquiry->looks < LINK_LOOKS && error == 0 && !link_is_best(&choice); i++) {
        struct link port;

        error = find(inquiry, ports.items[i], depth, &port);
        if (error == 0 && link_choose(&choice, link_is_running(&port), port.device))
            *ret = port;
        else if (error == ENODEV) /* it went a moment ago */
            error = 0;
    }
    return error;
}

static int find_carrier(struct inquiry *inquiry, const struct message_link *about, unsigned depth, struct link *ret)
{
    *ret = (struct link){ 0 };
    if (about->info.active != 0)
        return find(inquiry, about->info.active, depth, ret);
    if (about->lower != 0 && about->lower != about->index)
        return find(inquiry, about->lower, depth, ret);
    return find_port(inquiry, about->index, depth, ret);
}

/* Takes over what its carrier is. */
static int ask_carrier(struct inquiry *inquiry, const struct message_link *about, unsigned depth, struct link *link)
{
    struct link carrier = { 0 };
    int         error = depth == 0 ? 0 : find_carrier(inquiry, about, depth - 1, &carrier);

    if (error == ENODEV)
        error = 0;
    link->carried = true;
    link->device = carrier.index == 0 ? DEVICE_VIRTUAL : carrier.device;
    if (carrier.index != 0)
        link->type = carrier.type;
    return error;
}

static int find(struct inquiry *inquiry, uint32_t index, unsigned depth, struct link *ret)
{
    struct message message;
    int            error = read_link(inquiry, index, &message);

    inquiry->looks++;
    *ret = (struct link){ 0 };
    if (error != 0)
        return error;
    link_apply(ret, &message.link);
    error = sysfs_read_device(inquiry->netlink.socket.fd, ret);
    if (error != 0)
        return error;
    link_set_type(ret);
    if (link_type_is_known(ret))
        return 0;
    if (link_is_carried(ret))
        return ask_carrier(inquiry, &message.link, depth, ret);
    error = ask_others(inquiry, ret);
    link_set_type(ret);
    return error;
}

int link_type_query(uint32_t index, struct link *ret)
{
    struct inquiry inquiry = { .nl80211 = GENETLINK_CLOSED, .buffer = malloc(NETLINK_BUFFER_SIZE) };
    int            error = inquiry.buffer == NULL ? ENOMEM : netlink_open_requests(&inquiry.netlink);

    if (error == 0) {
        error = find(&inquiry, index, LINK_DEPTH, ret);
        netlink_close(&inquiry.netlink);
        genetlink_close(&inquiry.nl80211);
    }
    free(inquiry.buffer);
    return error;
}
