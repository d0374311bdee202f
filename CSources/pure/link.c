/* SPDX-License-Identifier: MIT */
/*
 * The type of a link, whether packets can leave over it, and the table of links.
 *
 * What this file must never do: guess from an interface's name (an administrator can name a tunnel "eth0"), or treat an
 * absent link like a link that is down.
 */
#ifdef __linux__
#include "pure/link.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const char *const tunnel_kinds[] = { "tun",    "wireguard", "gre",   "gretap", "ip6gre", "ip6gretap",
                                            "erspan", "ipip",      "sit",   "ip6tnl", "vti",    "vti6",
                                            "xfrm",   "ip6erspan", "ipvti", "gtp" };
static const char *const cellular_kinds[] = { "wwan", "rmnet" };
static const char *const carried_kinds[] = { "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec",
                                             "bond", "team",    "bridge",  "vrf",    "hsr",    "dsa" };

static const char *const outward_kinds[] = { "veth", "netkit", "macvlan", "macvtap", "ipvlan", "ipvtap" };

bool reach_link_kind_leads_out(const char *kind)
{
    return TEXT_IS_ONE_OF(kind, outward_kinds);
}

bool reach_link_leads_out(const struct link *link)
{
    return link->type == kSCNetworkReachabilityInterfaceTypeVirtual &&
           (link->device == DEVICE_LEADS_OUT || reach_link_kind_leads_out(link->kind));
}

bool reach_link_is_carried(const struct link *link)
{
    return TEXT_IS_ONE_OF(link->kind, carried_kinds);
}

/* Whether flags and kind are enough to know the type. */
static bool kind_decides_type(const struct link *link)
{
    return reach_link_is_loopback(link) || (link->complete && link->kind[0] != '\0' && !reach_link_is_carried(link));
}

bool reach_link_flags_are_known(const struct link *link)
{
    return link->learned || link->device > DEVICE_NOT_IN_SYSFS || kind_decides_type(link);
}

/* For a virtual device, the kind decides the type. */
bool reach_link_type_is_known(const struct link *link)
{
    if (link->learned || link->device > DEVICE_VIRTUAL)
        return true;
    return kind_decides_type(link) ||
           (link->device == DEVICE_VIRTUAL && link->complete && !reach_link_is_carried(link));
}

bool reach_link_choose(struct link_choice *choice, bool running, enum device device)
{
    const bool is_better = running == choice->running ? device > choice->device : running;

    if (is_better)
        *choice = (struct link_choice){ .running = running, .device = device };
    return is_better;
}

bool reach_link_is_best(const struct link_choice *choice)
{
    return choice->running && choice->device == DEVICE_PHYSICAL;
}

void reach_link_set_type(struct link *link)
{
    if (link->learned)
        return;
    if (reach_link_is_loopback(link)) {
        link->type = kSCNetworkReachabilityInterfaceTypeLoopback;
    } else if (link->device == DEVICE_CELLULAR || TEXT_IS_ONE_OF(link->kind, cellular_kinds)) {
        link->type = kSCNetworkReachabilityInterfaceTypeCellular;
    } else if (link->device == DEVICE_WIFI) {
        link->type = kSCNetworkReachabilityInterfaceTypeWiFi;
    } else if (link->hardware == ARPHRD_PPP || strcmp(link->kind, "ppp") == 0) {
        link->type = kSCNetworkReachabilityInterfaceTypePointToPoint;
    } else if (TEXT_IS_ONE_OF(link->kind, tunnel_kinds)) {
        link->type = kSCNetworkReachabilityInterfaceTypeTunnel;
    } else if (link->device == DEVICE_LEADS_OUT || (link->kind[0] != '\0' && link->device != DEVICE_PHYSICAL)) {
        link->type = kSCNetworkReachabilityInterfaceTypeVirtual;
    } else {
        switch (link->hardware) { /* sysfs does not show the device: assume the most common type for this hardware */
        case ARPHRD_ETHER:
            link->type = kSCNetworkReachabilityInterfaceTypeWiredEthernet;
            break;
        case ARPHRD_NONE:
        case ARPHRD_TUNNEL:
        case ARPHRD_TUNNEL6:
        case ARPHRD_SIT:
        case ARPHRD_IPGRE:
        case ARPHRD_IP6GRE:
            link->type = kSCNetworkReachabilityInterfaceTypeTunnel;
            break;
        default:
            link->type = kSCNetworkReachabilityInterfaceTypeOther;
        }
    }
}

/* Forgets the device, and the type that was learned. */
static void forget_device(struct link *link)
{
    link->device = DEVICE_UNKNOWN;
    link->carried = link->learned = false;
    reach_link_set_type(link);
}

void reach_link_apply(struct link *link, const struct message_link *news)
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
        forget_device(link);
}

bool reach_link_is_loopback(const struct link *link)
{
    return (link->flags & IFF_LOOPBACK) != 0;
}

bool reach_link_is_up(const struct link *link)
{
    return (link->flags & IFF_UP) != 0;
}

bool reach_link_is_running(const struct link *link)
{
    return (link->flags & IFF_RUNNING) != 0;
}

bool reach_link_is_usable(const struct link *link)
{
    return reach_link_is_up(link) && reach_link_is_running(link);
}

/* The flag is not enough: xfrm links never have it. The hardware type is used, not the kind, because the SIOCGIF...
 * ioctls do not return a kind. GRE is not in the list: it has the flag if it has a remote, else it is a network. */
bool reach_link_is_point_to_point(const struct link *link)
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

bool reach_link_is_wireguard(const struct link *link)
{
    return memcmp(link->kind, "wireguard", sizeof "wireguard") == 0; /* the compiler inlines it, unlike strcmp */
}

/* ---- The table -------------------------------------------------------------------------------------------------- */

/* The place of the link with this index, or the place to insert it. */
static size_t place_of_index(const struct link_table *links, uint32_t index)
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

static bool place_has_index(const struct link_table *links, size_t place, uint32_t index)
{
    return place < links->count && links->items[place].index == index;
}

void reach_link_table_clear(struct link_table *links)
{
    const unsigned version = links->version + 1;

    free(links->items);
    *links = LINK_TABLE_EMPTY;
    links->version = version;
}

const struct link *reach_link_table_find(const struct link_table *links, uint32_t index)
{
    const size_t place = place_of_index(links, index);

    return place_has_index(links, place, index) ? &links->items[place] : NULL;
}

const struct link *reach_link_table_find_local(const struct link_table *links)
{
    const struct link *best = NULL;
    int best_rank = 0;

    for (size_t i = 0; i < links->count; i++) {
        const struct link *link = &links->items[i];
        const int rank = reach_link_is_usable(link) ? 3 : reach_link_is_up(link) ? 2 : 1;

        if (rank <= best_rank || reach_link_is_loopback(link) || reach_link_is_point_to_point(link))
            continue;
        best = link;
        best_rank = rank;
    }
    return best;
}

static void forget_carried_devices(struct link_table *links)
{
    if (!links->any_carried)
        return;
    for (size_t i = 0; i < links->count; i++)
        if (links->items[i].carried)
            forget_device(&links->items[i]);
    links->any_carried = false;
}

int reach_link_table_put(struct link_table *links, const struct link *link)
{
    const size_t place = place_of_index(links, link->index);

    if (!place_has_index(links, place, link->index)) {
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
    reach_link_set_type(&links->items[place]);
    links->any_carried = links->any_carried || link->carried;
    return 0;
}

void reach_link_table_learn(struct link_table *links, const struct link *found, unsigned version)
{
    const struct link *known = reach_link_table_find(links, found->index);
    struct link learned = *found;

    if (links->version != version || known == NULL)
        return;
    learned.learned = true;
    learned.flags = known->flags;
    learned.mtu = known->mtu;
    learned.changed = known->changed;
    learned.hardware = known->hardware;
    memcpy(learned.name, known->name, sizeof learned.name);
    (void)reach_link_table_put(links, &learned); /* does not fail: the link is in the table */
}

bool reach_link_table_take_devices(struct link_table *links, const struct link_table *other, bool takes)
{
    bool found = false;

    for (size_t i = 0; i < other->count; i++) {
        const struct link *known = &other->items[i];
        const size_t place = place_of_index(links, known->index);
        struct link *link;

        if (!place_has_index(links, place, known->index))
            continue;
        link = &links->items[place];
        /* The link must be the same in both tables, and its device must not change. */
        if (link->device != DEVICE_UNKNOWN || known->device < DEVICE_CELLULAR || known->carried ||
            link->hardware != known->hardware || strcmp(link->name, known->name) != 0)
            continue;
        found = true;
        if (!takes)
            break;
        link->device = known->device;
        reach_link_set_type(link);
    }
    return found;
}

void reach_link_table_note_change(struct link_table *links, uint32_t index, int64_t now)
{
    const size_t place = place_of_index(links, index);

    if (place_has_index(links, place, index))
        links->items[place].changed = now;
}

void reach_link_table_give_up(struct link_table *links, uint32_t index)
{
    const size_t place = place_of_index(links, index);

    if (place_has_index(links, place, index))
        links->items[place].device = DEVICE_VIRTUAL;
}

/* Whether the change of this link can change the device of a link on top of it. */
static bool changes_carried_devices(const struct link *before, const struct link *now)
{
    return !before->complete || reach_link_is_running(before) != reach_link_is_running(now) ||
           before->master != now->master || before->active != now->active || strcmp(before->name, now->name) != 0 ||
           strcmp(before->kind, now->kind) != 0;
}

int reach_link_table_apply(struct link_table *links, const struct message *message)
{
    const struct message_link *news = &message->link;
    const struct link *known;
    struct link link = { 0 };
    size_t place;

    links->version++;
    place = place_of_index(links, news->index);
    known = place_has_index(links, place, news->index) ? &links->items[place] : NULL;
    if (message->kind == MESSAGE_LINK_GONE) {
        forget_carried_devices(links);
        if (known != NULL) {
            links->count--;
            memmove(&links->items[place], &links->items[place + 1], (links->count - place) * sizeof link);
        }
        return 0;
    }
    if (known != NULL)
        link = *known;
    reach_link_apply(&link, news);
    if (known == NULL || changes_carried_devices(known, &link)) {
        forget_carried_devices(links);
        if (link.carried)
            forget_device(&link);
    }
    return reach_link_table_put(links, &link);
}
#endif
