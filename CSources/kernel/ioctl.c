/* SPDX-License-Identifier: MIT */
/* Reads links with the ioctls of netdevice(7). */
#ifdef __linux__
#include "kernel/ioctl.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* If no link has the name and the process may load modules, the ioctls run modprobe(8) and wait for it. The socket
 * option does not. To set it again needs CAP_NET_RAW; processes that may load modules usually have that. */
static bool link_is_missing(int fd, const struct ifreq *request)
{
    return setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, request->ifr_name, sizeof request->ifr_name) != 0 &&
           errno == ENODEV;
}

int ioctl_link_index(int fd, const char *name, uint32_t *ret)
{
    struct ifreq request = { 0 };

    memcpy(request.ifr_name, name, strnlen(name, sizeof request.ifr_name - 1));
    /* The ioctl takes "eth0:1" for an alias of eth0. */
    if (strchr(name, ':') != NULL || strlen(name) >= sizeof request.ifr_name)
        return ENODEV;
    if (link_is_missing(fd, &request))
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

int ioctl_link_flags(int fd, uint32_t index, uint32_t *ret)
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

static int query_link_once(int fd, uint32_t index, struct link *ret)
{
    struct ifreq request;
    int error;

    memset(ret, 0, sizeof *ret);
    ret->index = index;
    error = query_link_name(fd, index, &request);
    if (error != 0)
        return error;
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
    return verify_index(fd, index, &request);
}

int ioctl_link(int fd, uint32_t index, struct link *ret)
{
    int error = query_link_once(fd, index, ret);

    /* The link may have been renamed during the first try. */
    return error == ENODEV ? query_link_once(fd, index, ret) : error;
}

void ioctl_link_driver(int fd, const char *name, struct link_driver *ret)
{
    struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
    struct ifreq request = { .ifr_data = (char *)&info };

    *ret = (struct link_driver){ 0 };
    memcpy(request.ifr_name, name, strnlen(name, sizeof request.ifr_name - 1));
    if (ioctl(fd, SIOCETHTOOL, &request) != 0)
        return;
    memcpy(ret->name, info.driver, strnlen(info.driver, sizeof ret->name - 1));
    memcpy(ret->firmware, info.fw_version, strnlen(info.fw_version, sizeof ret->firmware - 1));
}
#endif
