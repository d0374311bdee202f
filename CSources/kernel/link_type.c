/* SPDX-License-Identifier: MIT */
/*
 * The type of a link that sysfs does not show.
 *
 * What this file must never do: be called under a lock, or by code that must not wait. Each query for a link waits for
 * RTNL.
 */
#ifdef __linux__
#include "kernel/link_type.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "kernel/genetlink.h"
#include "kernel/ioctl.h"
#include "kernel/netlink.h"
#include "kernel/sysfs.h"

/* What reading one link's type needs, for it and for the links below it. */
struct link_type_reader {
    const struct netns_handle *netns;
    struct netlink netlink;
    struct genetlink nl80211;
    void *buffer;
    unsigned links_read;
};

/* ---- One link --------------------------------------------------------------------------------------------------- */

static void parse_link_reply(void *info, const struct nlmsghdr *header)
{
    (void)message_parse(header, header->nlmsg_len, info);
}

/* Returns 0 and the message, or an errno. */
static int query_link(struct link_type_reader *reader, uint32_t index, struct message *ret)
{
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    int error;

    *ret = (struct message){ 0 };
    message_put_link_query(request, 0, index);
    error = netlink_exchange(&reader->netlink, (struct nlmsghdr *)request, reader->buffer, parse_link_reply, ret);
    return error == 0 && ret->kind != MESSAGE_LINK ? EIO : error;
}

/* Some drivers are for cellular modems only. Two are for many USB devices; they describe a modem as such. */
static bool is_cellular_driver(const struct link_driver *driver)
{
    static const char *const modem_drivers[] = { "qmi_wwan", "cdc_mbim", "huawei_cdc_ncm", "sierra_net",
                                                 "hso",      "lg-vl600", "kalmia" };
    static const char *const usb_drivers[] = { "cdc_ether", "cdc_ncm" };
    static const char modem[] = "Mobile Broadband Network Device";

    return TEXT_IS_ONE_OF(driver->name, modem_drivers) ||
           (TEXT_IS_ONE_OF(driver->name, usb_drivers) && strncmp(driver->firmware, modem, sizeof modem - 1) == 0);
}

/* For a link without a kind: reads the device from nl80211 and the driver. */
static int query_device(struct link_type_reader *reader, struct link *link)
{
    struct link_driver driver;
    bool is_wifi = false;
    int error = genetlink_is_wifi(reader->netns, &reader->nl80211, link->index, &is_wifi);

    if (error != 0 && error != NETLINK_DENIED)
        return error;
    ioctl_link_driver(reader->netlink.socket.fd, link->name, &driver);
    link->device = is_wifi ? DEVICE_WIFI : is_cellular_driver(&driver) ? DEVICE_CELLULAR : DEVICE_PHYSICAL;
    return 0;
}

/* ---- The link below --------------------------------------------------------------------------------------------- */

static int find_type(struct link_type_reader *reader, uint32_t index, unsigned depth, struct link *ret);

/* The first ports of a link. */
struct port_list {
    size_t count;
    uint32_t items[LINK_READ_LIMIT];
};

static void add_port(void *info, const struct nlmsghdr *header)
{
    struct port_list *ports = info;
    struct message message;

    (void)message_parse(header, header->nlmsg_len, &message);
    if (message.kind == MESSAGE_LINK && ports->count < LINK_READ_LIMIT)
        ports->items[ports->count++] = message.link.index;
}

/* Finds the best port of a bond, a bridge or a VRF. ret->index 0: none. */
static int find_best_port(struct link_type_reader *reader, uint32_t master, unsigned depth, struct link *ret)
{
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    struct port_list ports = { 0 };
    struct link_choice choice = { 0 };
    int error;

    message_put_port_dump(request, master);
    error = netlink_exchange(&reader->netlink, (struct nlmsghdr *)request, reader->buffer, add_port, &ports);
    if (error == EAGAIN) /* the ports changed during the dump; a message reports that */
        error = 0;
    for (size_t i = 0; i < ports.count && reader->links_read < LINK_READ_LIMIT && error == 0 && !link_is_best(&choice);
         i++) {
        struct link port;

        error = find_type(reader, ports.items[i], depth, &port);
        if (error == 0 && link_choose(&choice, link_is_running(&port), port.device))
            *ret = port;
        else if (error == ENODEV) /* the port was deleted meanwhile */
            error = 0;
    }
    return error;
}

/* Finds the link below another one. ret->index 0: none. */
static int find_lower_link(struct link_type_reader *reader, const struct message_link *upper, unsigned depth,
                           struct link *ret)
{
    *ret = (struct link){ 0 };
    if (upper->info.active != 0)
        return find_type(reader, upper->info.active, depth, ret);
    if (upper->lower != 0 && upper->lower != upper->index)
        return find_type(reader, upper->lower, depth, ret);
    return find_best_port(reader, upper->index, depth, ret);
}

/* Copies the device and type of the link below. */
static int inherit_type(struct link_type_reader *reader, const struct message_link *upper, unsigned depth,
                        struct link *link)
{
    struct link lower = { 0 };
    int error = depth == 0 ? 0 : find_lower_link(reader, upper, depth - 1, &lower);

    if (error == ENODEV)
        error = 0;
    link->carried = true;
    link->device = lower.index == 0 ? DEVICE_VIRTUAL : lower.device;
    if (lower.index != 0)
        link->type = lower.type;
    if (link->device == DEVICE_VIRTUAL && link_is_cable(link))
        link->device = DEVICE_CABLE; /* for the links that it carries */
    return error;
}

static int find_type(struct link_type_reader *reader, uint32_t index, unsigned depth, struct link *ret)
{
    struct message message;
    int error = query_link(reader, index, &message);

    reader->links_read++;
    *ret = (struct link){ 0 };
    if (error != 0)
        return error;
    link_apply(ret, &message.link);
    error = sysfs_read_device(reader->netlink.socket.fd, ret);
    if (error != 0)
        return error;
    link_set_type(ret);
    if (link_is_cable(ret) && !link_is_carried(ret))
        ret->device = DEVICE_CABLE; /* likewise, also if sysfs does not show it */
    if (link_type_is_known(ret))
        return 0;
    if (link_is_carried(ret))
        return inherit_type(reader, &message.link, depth, ret);
    error = query_device(reader, ret);
    link_set_type(ret);
    return error;
}

int link_type_query(const struct netns_handle *netns, uint32_t index, struct link *ret)
{
    struct link_type_reader reader = { .netns = netns,
                                       .nl80211 = GENETLINK_CLOSED,
                                       .buffer = malloc(NETLINK_BUFFER_SIZE) };
    int error = reader.buffer == NULL ? ENOMEM : netlink_open_requests(netns, &reader.netlink);

    if (error == 0) {
        error = find_type(&reader, index, LINK_DEPTH, ret);
        ret->learned = error == 0;
        netlink_close(&reader.netlink);
        genetlink_close(&reader.nl80211);
    }
    free(reader.buffer);
    return error;
}
#endif
