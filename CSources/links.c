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

#include "util.h"

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
    const unsigned changes = links->changes + 1; /* whatever they were */

    free(links->items);
    *links = LINKS_EMPTY;
    links->changes = changes;
}

const struct link *links_find(const struct links *links, uint32_t index)
{
    const size_t place = position(links, index);

    return is_at(links, place, index) ? &links->items[place] : NULL;
}

static const char *const tunnel_kinds[] = { "tun",   "wireguard", "gre",  "gretap", "ip6gre", "ip6gretap", "erspan",
                                            "ipip",  "sit",       "ip6tnl", "vti",  "vti6",   "xfrm",      "ip6erspan",
                                            "ipvti", "gtp" };
static const char *const cellular_kinds[] = { "wwan", "rmnet" };
static const char *const carried_kinds[] = { "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec", "bond",
                                             "team", "bridge",  "vrf",     "hsr",    "dsa" };

bool link_is_carried(const struct link *link)
{
    return TEXT_IS_ONE_OF(link->kind, carried_kinds);
}

/* Whether kind and flags are enough to say what it is. */
static bool is_told(const struct link *link)
{
    return (link->flags & IFF_LOOPBACK) != 0 || (link->complete && link->kind[0] != '\0' && !link_is_carried(link));
}

bool link_flags_are_known(const struct link *link)
{
    return link->learned || link->device > DEVICE_UNSEEN || is_told(link);
}

/* Of a virtual device the kind tells what it is. */
bool link_type_is_known(const struct link *link)
{
    if (link->learned || link->device > DEVICE_VIRTUAL)
        return true;
    return is_told(link) || (link->device == DEVICE_VIRTUAL && link->complete && !link_is_carried(link));
}

bool link_choose(struct link_choice *choice, bool running, enum device device)
{
    const bool is_better = running == choice->running ? device > choice->device : running;

    if (is_better)
        *choice = (struct link_choice){ .running = running, .device = device };
    return is_better;
}

bool link_is_best(const struct link_choice *choice)
{
    return choice->running && choice->device == DEVICE_PHYSICAL;
}

/* A device that sysfs does not show is taken for what most are. */
static SCNetworkReachabilityInterfaceType type_by_hardware(const struct link *link)
{
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

static SCNetworkReachabilityInterfaceType type_of(const struct link *link)
{
    if ((link->flags & IFF_LOOPBACK) != 0)
        return kSCNetworkReachabilityInterfaceTypeLoopback;
    if (link->device == DEVICE_CELLULAR || TEXT_IS_ONE_OF(link->kind, cellular_kinds))
        return kSCNetworkReachabilityInterfaceTypeCellular;
    if (link->device == DEVICE_WIFI)
        return kSCNetworkReachabilityInterfaceTypeWiFi;
    if (link->hardware == ARPHRD_PPP || strcmp(link->kind, "ppp") == 0)
        return kSCNetworkReachabilityInterfaceTypePointToPoint;
    if (TEXT_IS_ONE_OF(link->kind, tunnel_kinds))
        return kSCNetworkReachabilityInterfaceTypeTunnel;
    if (link->kind[0] != '\0' && link->device != DEVICE_PHYSICAL)
        return kSCNetworkReachabilityInterfaceTypeVirtual;
    return type_by_hardware(link);
}

void link_find_type(struct link *link)
{
    if (!link->learned)
        link->type = type_of(link);
}

/* Takes back what was found out with the help of others. */
static void doubt(struct link *link)
{
    link->device = DEVICE_UNASKED;
    link->carried = link->learned = false;
    link_find_type(link);
}

static void doubt_carried(struct links *links)
{
    if (!links->any_carried)
        return;
    for (size_t i = 0; i < links->count; i++)
        if (links->items[i].carried)
            doubt(&links->items[i]);
    links->any_carried = false;
}

int links_put(struct links *links, const struct link *link)
{
    const size_t place = position(links, link->index);

    if (!is_at(links, place, link->index)) {
        if (links->count == links->capacity) {
            const size_t capacity = links->capacity == 0 ? 16 : links->capacity * 2;
            struct link *items = realloc(links->items, capacity * sizeof *items);

            if (items == NULL)
                return ENOMEM;
            links->items = items;
            links->capacity = capacity;
        }
        memmove(&links->items[place + 1], &links->items[place], (links->count - place) * sizeof *link);
        links->count++;
    }
    links->items[place] = *link;
    link_find_type(&links->items[place]);
    links->any_carried = links->any_carried || link->carried;
    return 0;
}

void links_learn(struct links *links, const struct link *whole, unsigned changes)
{
    const struct link *known = links_find(links, whole->index);
    struct link        learned = *whole;

    if (links->changes != changes || known == NULL)
        return;
    learned.learned = true;
    learned.flags = known->flags;
    learned.mtu = known->mtu;
    learned.hardware = known->hardware;
    memcpy(learned.name, known->name, sizeof learned.name);
    (void)links_put(links, &learned); /* it has its place */
}

void links_give_up(struct links *links, uint32_t index)
{
    const size_t place = position(links, index);

    if (is_at(links, place, index))
        links->items[place].device = DEVICE_VIRTUAL;
}

static void remove_index(struct links *links, uint32_t index)
{
    const size_t place = position(links, index);

    if (!is_at(links, place, index))
        return;
    links->count--;
    memmove(&links->items[place], &links->items[place + 1], (links->count - place) * sizeof links->items[0]);
}

void link_take(struct link *link, const struct message_link *news)
{
    /* Wi-Fi drivers send partial messages: only a whole one, which always has a name and an MTU, tells that there is no
     * kind. */
    const bool whole = news->has_name && news->has_mtu;
    const bool renamed = news->has_name && strcmp(link->name, news->name) != 0;
    const bool turned = link->complete && (whole || news->info.has_kind) && strcmp(link->kind, news->info.kind) != 0;

    link->index = news->index;
    link->flags = news->flags;
    link->hardware = news->hardware;
    link->complete = link->complete || whole;
    if (news->has_name)
        memcpy(link->name, news->name, sizeof link->name);
    if (news->has_mtu)
        link->mtu = news->mtu;
    if (whole || news->info.has_kind) {
        memcpy(link->kind, news->info.kind, sizeof link->kind);
        link->tunnel = news->info.tunnel;
        link->active = news->info.active;
    }
    if (whole)
        link->master = news->master;
    if (renamed || turned)
        doubt(link);
}

/* Whether a change of one link can be a change of what carries another. */
static bool may_carry_otherwise(const struct link *before, const struct link *now)
{
    return !before->complete || link_is_running(before) != link_is_running(now) || before->master != now->master ||
           before->active != now->active || strcmp(before->name, now->name) != 0 ||
           strcmp(before->kind, now->kind) != 0;
}

int links_apply(struct links *links, const struct message *message)
{
    const struct message_link *news = &message->link;
    const struct link         *known;
    struct link                link = { 0 };

    links->changes++;
    if (message->kind == MESSAGE_LINK_GONE) {
        doubt_carried(links);
        remove_index(links, news->index);
        return 0;
    }
    known = links_find(links, news->index);
    if (known != NULL)
        link = *known;
    link_take(&link, news);
    if (known == NULL || may_carry_otherwise(known, &link)) {
        doubt_carried(links);
        if (link.carried)
            doubt(&link);
    }
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

bool link_is_usable(const struct link *link)
{
    return link_is_up(link) && link_is_running(link);
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

bool link_is_wireguard(const struct link *link)
{
    return memcmp(link->kind, "wireguard", sizeof "wireguard") == 0; /* in line, unlike strcmp */
}
