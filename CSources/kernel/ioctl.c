/* SPDX-License-Identifier: MIT */
#include "kernel/ioctl.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>

int ioctl_link_index(int fd, const char *name, uint32_t *ret)
{
    struct ifreq request = { 0 };

    if (strchr(name, ':') != NULL) /* taken for an alias of what stands before it */
        return ENODEV;
    memcpy(request.ifr_name, name, strnlen(name, sizeof request.ifr_name - 1));
    if (ioctl(fd, SIOCGIFINDEX, &request) != 0)
        return errno;
    *ret = (uint32_t)request.ifr_ifindex;
    return 0;
}

static int find_name(int fd, uint32_t index, struct ifreq *request)
{
    *request = (struct ifreq){ .ifr_ifindex = (int)index };
    return ioctl(fd, SIOCGIFNAME, request) == 0 ? 0 : errno;
}

/* The ioctls name interfaces by name, so each may be answered for another one when names change hands: the index is
 * looked at again at the end. */
static int check_index(int fd, uint32_t index, struct ifreq *request)
{
    if (ioctl(fd, SIOCGIFINDEX, request) != 0)
        return errno;
    return (uint32_t)request->ifr_ifindex == index ? 0 : ENODEV;
}

int ioctl_link_flags(int fd, uint32_t index, uint32_t *ret)
{
    struct ifreq request;
    int          error = find_name(fd, index, &request);

    if (error != 0)
        return error;
    if (ioctl(fd, SIOCGIFFLAGS, &request) != 0)
        return errno;
    *ret = (unsigned short)request.ifr_flags;
    return check_index(fd, index, &request);
}

static int probe(int fd, uint32_t index, struct link *ret)
{
    struct ifreq request;
    int          error;

    memset(ret, 0, sizeof *ret);
    ret->index = index;
    error = find_name(fd, index, &request);
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
    return check_index(fd, index, &request);
}

int ioctl_link(int fd, uint32_t index, struct link *ret)
{
    int error = probe(fd, index, ret);

    /* The first try may have met a renaming. */
    return error == ENODEV ? probe(fd, index, ret) : error;
}

void ioctl_link_driver(int fd, const char *name, struct driver *ret)
{
    struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
    struct ifreq           request = { .ifr_data = (char *)&info };

    *ret = (struct driver){ 0 };
    memcpy(request.ifr_name, name, strnlen(name, sizeof request.ifr_name - 1));
    if (ioctl(fd, SIOCETHTOOL, &request) != 0)
        return;
    memcpy(ret->name, info.driver, strnlen(info.driver, sizeof ret->name - 1));
    memcpy(ret->about, info.fw_version, strnlen(info.fw_version, sizeof ret->about - 1));
}
