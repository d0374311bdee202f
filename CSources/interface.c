/* SPDX-License-Identifier: MIT */
#include "interface.h"

#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>

uint32_t interface_index(int fd, const char *name)
{
    struct ifreq request = { 0 };

    memcpy(request.ifr_name, name, strnlen(name, sizeof request.ifr_name - 1));
    return ioctl(fd, SIOCGIFINDEX, &request) == 0 ? (uint32_t)request.ifr_ifindex : 0;
}

/* The ioctls name interfaces by name, so each may be answered for another one when names change hands: the index is
 * looked at again at the end. */
static bool probe(int fd, uint32_t index, struct link *ret)
{
    struct ifreq request = { .ifr_ifindex = (int)index };

    memset(ret, 0, sizeof *ret);
    ret->index = index;
    if (ioctl(fd, SIOCGIFNAME, &request) != 0)
        return false;
    memcpy(ret->name, request.ifr_name, sizeof ret->name);
    if (ioctl(fd, SIOCGIFFLAGS, &request) != 0)
        return false;
    ret->flags = (unsigned short)request.ifr_flags;
    if (ioctl(fd, SIOCGIFHWADDR, &request) != 0)
        return false;
    ret->hardware = request.ifr_hwaddr.sa_family;
    if (ioctl(fd, SIOCGIFMTU, &request) != 0)
        return false;
    ret->mtu = (uint32_t)request.ifr_mtu;
    return ioctl(fd, SIOCGIFINDEX, &request) == 0 && (uint32_t)request.ifr_ifindex == index;
}

bool interface_probe(int fd, uint32_t index, struct link *ret)
{
    /* Twice: the first try may have met a renaming. */
    return probe(fd, index, ret) || probe(fd, index, ret);
}
