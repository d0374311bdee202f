/* SPDX-License-Identifier: MIT */
/*
 * Links and the devices behind them: by the ioctls of netdevice(7), by sysfs(5), which rtnetlink does not replace, and
 * where sysfs does not show a link, by nl80211 and its driver.
 *
 * What this file must never do: use a sysfs that shows another network namespace. A sysfs shows the namespace in which
 * it was mounted, not that of the calling thread.
 */
#ifdef __linux__
#include "kernel/device.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "kernel/genetlink.h"
#include "kernel/netlink.h"

/* ---- The ioctls ------------------------------------------------------------------------------------------------- */

int reach_ioctl_link_index(int fd, const char *name, uint32_t *ret)
{
    struct ifreq request = { 0 };

    memcpy(request.ifr_name, name, strnlen(name, sizeof request.ifr_name - 1));
    /* The ioctl takes "eth0:1" for an alias of eth0. */
    if (strchr(name, ':') != NULL || strlen(name) >= sizeof request.ifr_name)
        return ENODEV;
    /* If no link has the name and the process may load modules, the ioctls run modprobe(8) and wait for it. The socket
     * option does not. To set it again needs CAP_NET_RAW; processes that may load modules usually have that. */
    if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, request.ifr_name, sizeof request.ifr_name) != 0 && errno == ENODEV)
        return ENODEV;
    if (ioctl(fd, SIOCGIFINDEX, &request) != 0)
        return errno;
    *ret = (uint32_t)request.ifr_ifindex;
    return 0;
}

static int query_link_name(int fd, uint32_t index, struct ifreq *request)
{
    *request = (struct ifreq){ .ifr_ifindex = (int)index };
    return ioctl(fd, SIOCGIFNAME, request) == 0 ? 0 : errno;
}

/* The ioctls find a link by its name, which another link may have taken since. Returns ENODEV if the name is not the
 * link's any more. */
static int verify_index(int fd, uint32_t index, struct ifreq *request)
{
    if (ioctl(fd, SIOCGIFINDEX, request) != 0)
        return errno;
    return (uint32_t)request->ifr_ifindex == index ? 0 : ENODEV;
}

int reach_ioctl_link_flags(int fd, uint32_t index, uint32_t *ret)
{
    struct ifreq request;
    int error = query_link_name(fd, index, &request);

    if (error != 0)
        return error;
    if (ioctl(fd, SIOCGIFFLAGS, &request) != 0)
        return errno;
    *ret = (unsigned short)request.ifr_flags;
    return verify_index(fd, index, &request);
}

int reach_ioctl_link(int fd, uint32_t index, struct link *ret)
{
    struct ifreq request;
    int error = ENODEV;

    for (int tries = 0; tries < 2 && error == ENODEV; tries++) { /* it may have been renamed during the first try */
        *ret = (struct link){ .index = index };
        error = query_link_name(fd, index, &request);
        if (error != 0)
            continue;
        memcpy(ret->name, request.ifr_name, sizeof ret->name);
        if (ioctl(fd, SIOCGIFFLAGS, &request) != 0)
            return errno;
        ret->flags = (unsigned short)request.ifr_flags;
        if (ioctl(fd, SIOCGIFHWADDR, &request) != 0)
            return errno;
        ret->hardware = request.ifr_hwaddr.sa_family;
        if (ioctl(fd, SIOCGIFMTU, &request) != 0)
            return errno;
        ret->mtu = (uint32_t)request.ifr_mtu;
        error = verify_index(fd, index, &request);
    }
    return error;
}

/* ---- Files of sysfs --------------------------------------------------------------------------------------------- */

#define LINK_FOLDER "/sys/class/net/"
#define PATH_SIZE   128
#define TEXT_SIZE   512 /* of a file; longer files have what we need at the start */

/* What reading one link's device needs, for it and for the links below it. */
struct sysfs_reader {
    int fd;
    bool carried;
    unsigned links_read;
    int error; /* of a file that exists and cannot be read */
};

/* Opens a file in memory, so that is fast. A child that is forked meanwhile has it until exec. */
static int open_file(struct sysfs_reader *reader, const char *path, int flags)
{
    const int fd = reach_file_open(path, flags);

    if (fd < 0 && !reach_filestamp_means_absent(errno))
        reader->error = errno;
    return fd;
}

/* Reads the text of a link's file; "": there is none, or none that this process may read. */
static void read_link_file(struct sysfs_reader *reader, const char *name, const char *file, char ret[TEXT_SIZE])
{
    char path[PATH_SIZE];
    ssize_t length = 0;
    int fd;

    snprintf(path, sizeof path, LINK_FOLDER "%s/%s", name, file);
    fd = open_file(reader, path, 0);
    if (fd >= 0) {
        do
            length = read(fd, ret, TEXT_SIZE - 1); /* fails for some files of some devices */
        while (length < 0 && errno == EINTR);
        close(fd);
    }
    ret[length > 0 ? length : 0] = '\0';
}

/* Parses a hardware address such as "c0:00:02:01". Returns the number of bytes. */
static size_t parse_hardware_address(const char *text, unsigned char *ret, size_t size)
{
    size_t count = 0;
    char *end;

    for (; count < size; text = end + 1) {
        ret[count] = (unsigned char)strtoul(text, &end, 16);
        if (end == text)
            break;
        count++;
        if (*end != ':')
            break;
    }
    return count;
}

/* Links of two namespaces may have the same name and index. They are unlikely to have the same hardware
 * address too; links of some types have none. */
static bool sysfs_shows(struct sysfs_reader *reader, const struct link *link)
{
    unsigned char bytes[sizeof(((struct ifreq *)NULL)->ifr_hwaddr.sa_data)];
    char text[TEXT_SIZE];
    struct ifreq request = { 0 };

    read_link_file(reader, link->name, "ifindex", text);
    if (strtoul(text, NULL, 10) != link->index)
        return false;
    read_link_file(reader, link->name, "type", text);
    if (strtoul(text, NULL, 10) != link->hardware)
        return false;
    memcpy(request.ifr_name, link->name, sizeof link->name);
    if (ioctl(reader->fd, SIOCGIFHWADDR, &request) != 0)
        return false;
    read_link_file(reader, link->name, "address", text);
    return memcmp(bytes, request.ifr_hwaddr.sa_data, parse_hardware_address(text, bytes, sizeof bytes)) == 0;
}

/* Reads the device type that the driver gives: a line of uevent. "": none. */
static void read_devtype(struct sysfs_reader *reader, const char *name, char ret[16])
{
    static const char key[] = "DEVTYPE=";
    char text[TEXT_SIZE];
    const char *line = text;

    ret[0] = '\0';
    read_link_file(reader, name, "uevent", text);
    for (; line != NULL; line = strchr(line, '\n'), line = line == NULL ? NULL : line + 1)
        if (strncmp(line, key, sizeof key - 1) == 0)
            snprintf(ret, 16, "%.*s", (int)strcspn(line + sizeof key - 1, "\n"), line + sizeof key - 1);
}

/* A link without hardware is in a folder of its own. */
static bool is_virtual(const char *name)
{
    char path[PATH_SIZE], target[512];
    ssize_t length;

    snprintf(path, sizeof path, LINK_FOLDER "%s", name);
    length = readlink(path, target, sizeof target - 1);
    if (length <= 0)
        return true;
    target[length] = '\0';
    return strstr(target, "/virtual/net/") != NULL;
}

static uint32_t read_number(struct sysfs_reader *reader, const char *name, const char *file)
{
    char text[TEXT_SIZE];

    read_link_file(reader, name, file, text);
    return (uint32_t)strtoul(text, NULL, 10);
}

/* The two links of a veth pair name each other in "iflink". If the other one is in another namespace, "iflink" is its
 * index there. This is sure only if no link here has that index. A gretap that was moved here from the namespace of its
 * lower link looks the same, until its kind is known. */
static bool is_half_of_pair(struct sysfs_reader *reader, const char *name)
{
    const uint32_t index = read_number(reader, name, "ifindex"), other = read_number(reader, name, "iflink");
    struct ifreq request = { .ifr_ifindex = (int)other };

    if (other == 0 || other == index || read_number(reader, name, "type") != ARPHRD_ETHER)
        return false;
    if (ioctl(reader->fd, SIOCGIFNAME, &request) != 0)
        return errno == ENODEV;
    return read_number(reader, request.ifr_name, "iflink") == index;
}

/* ---- A link in sysfs, with those below it ----------------------------------------------------------------------- */

static enum device read_device(struct sysfs_reader *reader, const char *name, unsigned depth);

/* The best device of the links below: the folder of a link has an entry "lower_NAME" for each. DEVICE_UNKNOWN: there is
 * none. */
static enum device read_lower_device(struct sysfs_reader *reader, const char *name, unsigned depth)
{
    static const char prefix[] = "lower_";
    _Alignas(struct dirent64) char bytes[1024];
    struct link_choice choice = { 0 };
    char path[PATH_SIZE];
    ssize_t length;
    int folder;

    snprintf(path, sizeof path, LINK_FOLDER "%s/", name);
    folder = open_file(reader, path, O_DIRECTORY);
    if (folder < 0)
        return DEVICE_UNKNOWN;
    while (!reach_link_is_best(&choice) && (length = getdents64(folder, (void *)bytes, sizeof bytes)) > 0) {
        const struct dirent64 *entry;

        for (ssize_t at = 0; at < length && !reach_link_is_best(&choice); at += entry->d_reclen) {
            const char *lower;
            struct ifreq request = { 0 };
            bool running;

            entry = (const void *)(bytes + at);
            lower = entry->d_name + sizeof prefix - 1;
            if (strncmp(entry->d_name, prefix, sizeof prefix - 1) != 0 || reader->links_read >= LINK_READ_LIMIT)
                continue;
            snprintf(request.ifr_name, sizeof request.ifr_name, "%s", lower);
            running = ioctl(reader->fd, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_RUNNING) != 0;
            (void)reach_link_choose(&choice, running, read_device(reader, lower, depth));
        }
    }
    close(folder);
    return choice.device;
}

static enum device read_device(struct sysfs_reader *reader, const char *name, unsigned depth)
{
    enum device lower = DEVICE_UNKNOWN;
    char type[16], port[TEXT_SIZE];

    reader->links_read++;
    read_devtype(reader, name, type);
    if (strcmp(type, "wlan") == 0)
        return DEVICE_WIFI;
    if (strcmp(type, "wwan") == 0)
        return DEVICE_CELLULAR;
    if (!is_virtual(name))
        return DEVICE_PHYSICAL;
    /* A tunnel does not take over the device that its packets leave by. */
    if (depth == 0 || strcmp(type, "vxlan") == 0)
        return DEVICE_VIRTUAL;
    reader->carried = true;          /* also if there is no link below now: one may be added */
    if (strcmp(type, "bond") == 0) { /* the port that it uses, if it names one */
        read_link_file(reader, name, "bonding/active_slave", port);
        port[strcspn(port, "\n")] = '\0';
        if (port[0] != '\0' && strlen(port) <= 15)
            lower = read_device(reader, port, depth - 1);
    }
    if (lower == DEVICE_UNKNOWN)
        lower = read_lower_device(reader, name, depth - 1);
    if (lower != DEVICE_UNKNOWN)
        return lower;
    return (type[0] != '\0' ? reach_link_kind_leads_out(type) : is_half_of_pair(reader, name)) ? DEVICE_LEADS_OUT
                                                                                               : DEVICE_VIRTUAL;
}

int reach_sysfs_read_device(int fd, struct link *link)
{
    struct sysfs_reader reader = { .fd = fd };
    const bool shown = (link->flags & IFF_LOOPBACK) == 0 && sysfs_shows(&reader, link);
    const unsigned depth = link->complete && !reach_link_is_carried(link) ? 0 : LINK_DEPTH;

    link->device = shown ? read_device(&reader, link->name, depth) : DEVICE_NOT_IN_SYSFS;
    if (link->device == DEVICE_VIRTUAL && link->complete && reach_link_kind_leads_out(link->kind) &&
        !reach_link_is_carried(link))
        link->device = DEVICE_LEADS_OUT;
    link->carried = reader.carried;
    if (reader.error != 0)
        link->device = DEVICE_UNKNOWN;
    return reader.error;
}
/* ---- Links that sysfs does not show ----------------------------------------------------------------------------- */

/* What reading one link's type needs, for it and for the links below it. Each query for a link waits for RTNL. */
struct link_type_reader {
    const struct netns_handle *netns;
    struct netlink netlink;
    struct genetlink nl80211;
    void *buffer;
    unsigned links_read;
    bool refused; /* nl80211 */
};

/* Some drivers are for cellular modems only. Two are for many USB devices; they describe a modem as such. May wait for
 * RTNL. */
static bool has_cellular_driver(int fd, const char *name)
{
    static const char *const modem_drivers[] = { "qmi_wwan", "cdc_mbim", "huawei_cdc_ncm", "sierra_net",
                                                 "hso",      "lg-vl600", "kalmia" };
    static const char *const usb_drivers[] = { "cdc_ether", "cdc_ncm" };
    static const char modem[] = "Mobile Broadband Network Device";
    struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
    struct ifreq request = { .ifr_data = (char *)&info };

    memcpy(request.ifr_name, name, strnlen(name, sizeof request.ifr_name - 1));
    if (ioctl(fd, SIOCETHTOOL, &request) != 0)
        return false;
    info.driver[sizeof info.driver - 1] = '\0';
    return TEXT_IS_ONE_OF(info.driver, modem_drivers) ||
           (TEXT_IS_ONE_OF(info.driver, usb_drivers) && strncmp(info.fw_version, modem, sizeof modem - 1) == 0);
}

/* For a link without a kind: reads the device from nl80211 and the driver. */
static int query_device(struct link_type_reader *reader, struct link *link)
{
    bool is_wifi = false;
    int error = reach_genetlink_is_wifi(reader->netns, &reader->nl80211, link->index, &is_wifi);

    if (error != 0 && error != NETLINK_DENIED)
        return error;
    reader->refused = reader->refused || error != 0;
    link->device = is_wifi                                                      ? DEVICE_WIFI
                   : has_cellular_driver(reader->netlink.socket.fd, link->name) ? DEVICE_CELLULAR
                                                                                : DEVICE_PHYSICAL;
    return 0;
}

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

    (void)reach_message_parse(header, header->nlmsg_len, &message);
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

    reach_message_put_link_dump(request, master);
    error = reach_netlink_exchange(&reader->netlink, (struct nlmsghdr *)request, reader->buffer, add_port, &ports);
    if (error == EAGAIN) /* the ports changed during the dump; a message reports that */
        error = 0;
    for (size_t i = 0;
         i < ports.count && reader->links_read < LINK_READ_LIMIT && error == 0 && !reach_link_is_best(&choice); i++) {
        struct link port;

        error = find_type(reader, ports.items[i], depth, &port);
        if (error == 0 && reach_link_choose(&choice, reach_link_is_running(&port), port.device))
            *ret = port;
        else if (error == ENODEV) /* the port was deleted meanwhile */
            error = 0;
    }
    return error;
}

/* Copies the device and type of the link below. */
static int inherit_type(struct link_type_reader *reader, const struct message_link *upper, unsigned depth,
                        struct link *link)
{
    struct link lower = { 0 };
    int error = 0;

    if (depth > 0 && upper->info.active != 0)
        error = find_type(reader, upper->info.active, depth - 1, &lower);
    else if (depth > 0 && upper->lower != 0 && upper->lower != upper->index)
        error = find_type(reader, upper->lower, depth - 1, &lower);
    else if (depth > 0)
        error = find_best_port(reader, upper->index, depth - 1, &lower);
    if (error == ENODEV)
        error = 0;
    link->carried = true;
    link->device = lower.index == 0 ? DEVICE_VIRTUAL : lower.device;
    if (lower.index != 0)
        link->type = lower.type;
    if (link->device == DEVICE_VIRTUAL && reach_link_leads_out(link))
        link->device = DEVICE_LEADS_OUT; /* for the links that it carries */
    return error;
}

static void parse_link_reply(void *info, const struct nlmsghdr *header)
{
    (void)reach_message_parse(header, header->nlmsg_len, info);
}

static int find_type(struct link_type_reader *reader, uint32_t index, unsigned depth, struct link *ret)
{
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    struct message message = { 0 };
    int error;

    reader->links_read++;
    *ret = (struct link){ 0 };
    reach_message_put_link_query(request, 0, index);
    error = reach_netlink_exchange(&reader->netlink, (struct nlmsghdr *)request, reader->buffer, parse_link_reply,
                                   &message);
    if (error != 0 || message.kind != MESSAGE_LINK)
        return error != 0 ? error : EIO;
    reach_link_apply(ret, &message.link);
    error = reach_sysfs_read_device(reader->netlink.socket.fd, ret);
    if (error != 0)
        return error;
    reach_link_set_type(ret);
    if (reach_link_leads_out(ret) && !reach_link_is_carried(ret))
        ret->device = DEVICE_LEADS_OUT; /* likewise, also if sysfs does not show it */
    if (reach_link_type_is_known(ret))
        return 0;
    if (reach_link_is_carried(ret))
        return inherit_type(reader, &message.link, depth, ret);
    error = query_device(reader, ret);
    reach_link_set_type(ret);
    return error;
}

int reach_link_type_query(const struct netns_handle *netns, uint32_t index, struct link *ret)
{
    struct link_type_reader reader = { .netns = netns,
                                       .nl80211 = GENETLINK_CLOSED,
                                       .buffer = malloc(NETLINK_BUFFER_SIZE) };
    int error = reader.buffer == NULL ? ENOMEM : reach_netlink_open_requests(netns, NETLINK_ROUTE, &reader.netlink);

    if (error == 0) {
        error = find_type(&reader, index, LINK_DEPTH, ret);
        ret->learned = error == 0 && !reader.refused;
        reach_netlink_close(&reader.netlink);
        reach_genetlink_close(&reader.nl80211);
    }
    free(reader.buffer);
    return error;
}
#endif
