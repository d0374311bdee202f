/* SPDX-License-Identifier: MIT */
/*
 * The type of a link, and whether packets can leave over it.
 *
 * What this file must never do: guess from an interface's name. An administrator can name a tunnel "eth0".
 */
#ifdef __linux__
#include "pure/link.h"

#include <linux/if.h>
#include <linux/if_arp.h>
#include <string.h>

#include "base/text.h"

static const char *const tunnel_kinds[] = { "tun",    "wireguard", "gre",   "gretap", "ip6gre", "ip6gretap",
                                            "erspan", "ipip",      "sit",   "ip6tnl", "vti",    "vti6",
                                            "xfrm",   "ip6erspan", "ipvti", "gtp" };
static const char *const cellular_kinds[] = { "wwan", "rmnet" };
static const char *const carried_kinds[] = { "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec",
                                             "bond", "team",    "bridge",  "vrf",    "hsr",    "dsa" };

static const char *const cable_kinds[] = { "veth", "netkit", "macvlan", "macvtap", "ipvlan", "ipvtap" };

bool link_kind_is_cable(const char *kind)
{
    return TEXT_IS_ONE_OF(kind, cable_kinds);
}

bool link_is_cable(const struct link *link)
{
    return link->type == kSCNetworkReachabilityInterfaceTypeVirtual &&
           (link->device == DEVICE_CABLE || link_kind_is_cable(link->kind));
}

bool link_is_carried(const struct link *link)
{
    return TEXT_IS_ONE_OF(link->kind, carried_kinds);
}

/* Whether flags and kind are enough to know the type. */
static bool kind_decides_type(const struct link *link)
{
    return link_is_loopback(link) || (link->complete && link->kind[0] != '\0' && !link_is_carried(link));
}

bool link_flags_are_known(const struct link *link)
{
    return link->learned || link->device > DEVICE_NOT_IN_SYSFS || kind_decides_type(link);
}

/* For a virtual device, the kind decides the type. */
bool link_type_is_known(const struct link *link)
{
    if (link->learned || link->device > DEVICE_VIRTUAL)
        return true;
    return kind_decides_type(link) || (link->device == DEVICE_VIRTUAL && link->complete && !link_is_carried(link));
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

/* sysfs does not show the device: assume the most common type for this hardware. */
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

static SCNetworkReachabilityInterfaceType type_from_fields(const struct link *link)
{
    if (link_is_loopback(link))
        return kSCNetworkReachabilityInterfaceTypeLoopback;
    if (link->device == DEVICE_CELLULAR || TEXT_IS_ONE_OF(link->kind, cellular_kinds))
        return kSCNetworkReachabilityInterfaceTypeCellular;
    if (link->device == DEVICE_WIFI)
        return kSCNetworkReachabilityInterfaceTypeWiFi;
    if (link->hardware == ARPHRD_PPP || strcmp(link->kind, "ppp") == 0)
        return kSCNetworkReachabilityInterfaceTypePointToPoint;
    if (TEXT_IS_ONE_OF(link->kind, tunnel_kinds))
        return kSCNetworkReachabilityInterfaceTypeTunnel;
    if (link->device == DEVICE_CABLE || (link->kind[0] != '\0' && link->device != DEVICE_PHYSICAL))
        return kSCNetworkReachabilityInterfaceTypeVirtual;
    return type_by_hardware(link);
}

void link_set_type(struct link *link)
{
    if (!link->learned)
        link->type = type_from_fields(link);
}

void link_forget_device(struct link *link)
{
    link->device = DEVICE_UNKNOWN;
    link->carried = link->learned = false;
    link_set_type(link);
}

void link_apply(struct link *link, const struct message_link *news)
{
    /* Wi-Fi drivers send partial messages. A whole message always has a name and an MTU; only there, an absent kind
     * means that the link has no kind. */
    const bool is_whole = news->has_name && news->has_mtu;
    const bool renamed = news->has_name && strcmp(link->name, news->name) != 0;
    const bool kind_changed = link->complete && (is_whole || news->info.has_kind) &&
                              strcmp(link->kind, news->info.kind) != 0;

    link->index = news->index;
    link->flags = news->flags;
    link->hardware = news->hardware;
    link->complete = link->complete || is_whole;
    if (news->has_name)
        memcpy(link->name, news->name, sizeof link->name);
    if (news->has_mtu)
        link->mtu = news->mtu;
    if (is_whole || news->info.has_kind) {
        memcpy(link->kind, news->info.kind, sizeof link->kind);
        link->tunnel = news->info.tunnel;
        link->active = news->info.active;
        link->vrf_table = news->info.vrf_table;
    }
    if (is_whole)
        link->master = news->master;
    if (renamed || kind_changed)
        link_forget_device(link);
}

bool link_is_loopback(const struct link *link)
{
    return (link->flags & IFF_LOOPBACK) != 0;
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

/* The flag is not enough: xfrm links never have it. The hardware type is used, not the kind, because the SIOCGIF...
 * ioctls do not return a kind. GRE is not in the list: it has the flag if it has a remote, else it is a network. */
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
    return memcmp(link->kind, "wireguard", sizeof "wireguard") == 0; /* the compiler inlines it, unlike strcmp */
}
#endif
