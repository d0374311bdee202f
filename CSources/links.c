/* SPDX-License-Identifier: MIT */
/*
 * The link table. Pure: no system call, no clock, no global.
 *
 * What this file must never do: guess from an interface's name. Anybody may call a tunnel "eth0".
 */
#include "links.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <stdlib.h>
#include <string.h>

/* Where a link with this index is, or would be. */
static size_t position(const struct links *links, uint32_t index)
{
    size_t low = 0, high = links->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (links->items[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct links *links, size_t place, uint32_t index)
{
    return place < links->count && links->items[place].index == index;
}

void links_clear(struct links *links)
{
    free(links->items);
    *links = LINKS_EMPTY;
}

const struct link *links_find(const struct links *links, uint32_t index)
{
    const size_t place = position(links, index);

    return is_at(links, place, index) ? &links->items[place] : NULL;
}

static bool kind_is_one_of(const struct link *link, const char *const kinds[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(link->kind, kinds[i]) == 0)
            return true;
    return false;
}

#define KIND_IS_ONE_OF(link, kinds) kind_is_one_of(link, kinds, sizeof(kinds) / sizeof(kinds)[0])

static const char *const tunnel_kinds[] = { "tun",   "wireguard", "gre",  "gretap", "ip6gre", "ip6gretap", "erspan",
                                            "ipip",  "sit",       "ip6tnl", "vti",  "vti6",   "xfrm",      "ip6erspan",
                                            "ipvti", "gtp" };
static const char *const cellular_kinds[] = { "wwan", "rmnet" };

/* By hardware type and kind. */
static SCNetworkReachabilityInterfaceType find_type(const struct link *link)
{
    if ((link->flags & IFF_LOOPBACK) != 0)
        return kSCNetworkReachabilityInterfaceTypeLoopback;
    if (KIND_IS_ONE_OF(link, cellular_kinds))
        return kSCNetworkReachabilityInterfaceTypeCellular;
    if (link->hardware == ARPHRD_PPP || strcmp(link->kind, "ppp") == 0)
        return kSCNetworkReachabilityInterfaceTypePointToPoint;
    if (KIND_IS_ONE_OF(link, tunnel_kinds))
        return kSCNetworkReachabilityInterfaceTypeTunnel;
    if (link->kind[0] != '\0')
        return kSCNetworkReachabilityInterfaceTypeVirtual;
    switch (link->hardware) {
    case ARPHRD_ETHER:
        return kSCNetworkReachabilityInterfaceTypeWiredEthernet;
    case ARPHRD_NONE:
    case ARPHRD_TUNNEL:
    case ARPHRD_TUNNEL6:
    case ARPHRD_SIT:
    case ARPHRD_IPGRE:
    case ARPHRD_IP6GRE:
        return kSCNetworkReachabilityInterfaceTypeTunnel;
    default:
        return kSCNetworkReachabilityInterfaceTypeOther;
    }
}

int links_put(struct links *links, const struct link *link)
{
    const size_t place = position(links, link->index);

    if (is_at(links, place, link->index)) {
        links->items[place] = *link;
        links->items[place].type = find_type(link);
        return 0;
    }
    if (links->count == links->capacity) {
        const size_t capacity = links->capacity == 0 ? 16 : links->capacity * 2;
        struct link *items = realloc(links->items, capacity * sizeof *items);

        if (items == NULL)
            return ENOMEM;
        links->items = items;
        links->capacity = capacity;
    }
    memmove(&links->items[place + 1], &links->items[place], (links->count - place) * sizeof *link);
    links->items[place] = *link;
    links->items[place].type = find_type(link);
    links->count++;
    return 0;
}

void links_tell_kind(struct links *links, uint32_t index, const char kind[16])
{
    const size_t place = position(links, index);

    if (!is_at(links, place, index))
        return;
    memcpy(links->items[place].kind, kind, sizeof links->items[place].kind);
    links->items[place].complete = true;
    links->items[place].type = find_type(&links->items[place]);
}

static void remove_index(struct links *links, uint32_t index)
{
    const size_t place = position(links, index);

    if (!is_at(links, place, index))
        return;
    links->count--;
    memmove(&links->items[place], &links->items[place + 1], (links->count - place) * sizeof links->items[0]);
}

int links_apply(struct links *links, const struct message *message)
{
    const struct message_link *news = &message->link;
    const struct link         *known;
    struct link                link = { 0 };

    if (message->kind == MESSAGE_LINK_GONE) {
        remove_index(links, news->index);
        return 0;
    }
    known = links_find(links, news->index);
    if (known != NULL)
        link = *known;
    link.index = news->index;
    link.flags = news->flags;
    link.hardware = news->hardware;
    /* Wi-Fi drivers send partial messages: only a whole one, which always has a name and an MTU, tells that there is no
     * kind. */
    if (news->has_name && news->has_mtu) {
        link.complete = true;
        memset(link.kind, 0, sizeof link.kind);
    }
    if (news->has_name)
        memcpy(link.name, news->name, sizeof link.name);
    if (news->has_mtu)
        link.mtu = news->mtu;
    if (news->has_kind)
        memcpy(link.kind, news->kind, sizeof link.kind);
    return links_put(links, &link);
}

bool link_is_up(const struct link *link)
{
    return (link->flags & IFF_UP) != 0;
}

bool link_is_running(const struct link *link)
{
    return (link->flags & IFF_RUNNING) != 0;
}

/* By hardware type besides the flag: xfrm never has the flag. GRE without a remote is a network, with one it has the
 * flag. Hardware types, as a link that was asked for by SIOCGIF... has no kind. */
bool link_is_point_to_point(const struct link *link)
{
    if ((link->flags & IFF_POINTOPOINT) != 0)
        return true;
    switch (link->hardware) {
    case ARPHRD_NONE:
    case ARPHRD_PPP:
    case ARPHRD_TUNNEL:
    case ARPHRD_TUNNEL6:
    case ARPHRD_SIT:
    case ARPHRD_RAWIP:
        return true;
    default:
        return false;
    }
}
