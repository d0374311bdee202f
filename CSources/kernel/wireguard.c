/* SPDX-License-Identifier: MIT */
/*
 * Reads WireGuard links and their peers.
 *
 * A link sends from a UDP socket of the kernel in the network namespace where the link was created. The link may have
 * moved since, and nothing reports where it was created.
 *
 * What this file must never do: copy a private or preshared key. The messages contain them; genetlink.c erases the
 * messages.
 */
#ifdef __linux__
#include "kernel/wireguard.h"

#include <errno.h>
#include <limits.h>
#include <linux/wireguard.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/genetlink.h"
#include "kernel/sock_diag.h"
#include "pure/message.h"

#define WIREGUARD_KIND "wireguard"

/* The kernel gives this send buffer to WireGuard's sockets only. A program can set at most a byte less. */
#define WIREGUARD_SEND_BUFFER INT_MAX

void reach_wireguard_link_clear(struct wireguard_link *link)
{
    free(link->items);
    *link = WIREGUARD_LINK_EMPTY;
}

void reach_wireguard_clear(struct wireguard *wireguard)
{
    for (size_t i = 0; i < wireguard->count; i++)
        reach_wireguard_link_clear(&wireguard->links[i]);
    free(wireguard->links);
    *wireguard = (struct wireguard){ 0 };
}

/* Returns room for one more item; NULL: no memory. */
static void *grow(void **items, size_t count, size_t *capacity, size_t size)
{
    const size_t more = *capacity == 0 ? 4 : *capacity * 2;
    void *larger = count < *capacity ? *items : realloc(*items, more * size);

    if (larger == NULL)
        return NULL;
    if (count == *capacity)
        *capacity = more;
    *items = larger;
    return (char *)larger + count * size;
}

/* ---- Messages --------------------------------------------------------------------------------------------------- */

static void read_allowed_ip(struct wireguard_link *link, const struct attribute *nest)
{
    struct allowed_ip allowed = { .endpoint = link->endpoint, .scope = link->scope }, *place;
    struct attribute all[WGALLOWEDIP_A_CIDR_MASK + 1];
    uint16_t family;

    attributes_parse(attribute_walk_nest(nest), all);
    if (!attribute_u16(&all[WGALLOWEDIP_A_FAMILY], &family) || all[WGALLOWEDIP_A_CIDR_MASK].length != 1 ||
        !attribute_address(&all[WGALLOWEDIP_A_IPADDR], (uint8_t)family, &allowed.prefix))
        return;
    allowed.length = *(const uint8_t *)all[WGALLOWEDIP_A_CIDR_MASK].payload;
    if (allowed.length > address_length(&allowed.prefix) * 8)
        return;
    place = grow((void **)&link->items, link->count, &link->capacity, sizeof *place);
    if (place == NULL) {
        link->error = ENOMEM;
        return;
    }
    *place = allowed;
    link->count++;
}

/* A peer with many prefixes continues in the next message, which has no endpoint. */
static void read_peer(struct wireguard_link *link, const struct attribute *nest)
{
    struct attribute all[WGPEER_A_ALLOWEDIPS + 1], allowed;
    const struct attribute *key = &all[WGPEER_A_PUBLIC_KEY], *endpoint = &all[WGPEER_A_ENDPOINT];
    struct sockaddr_storage address = { 0 };

    attributes_parse(attribute_walk_nest(nest), all);
    if (key->length == sizeof link->key && memcmp(key->payload, link->key, sizeof link->key) != 0) {
        memcpy(link->key, key->payload, sizeof link->key);
        link->endpoint = (struct address){ 0 };
        link->scope = 0;
    }
    if (endpoint->length > 0 && endpoint->length <= sizeof address) {
        memcpy(&address, endpoint->payload, endpoint->length);
        if (endpoint->length >= reach_address_sockaddr_length(address.ss_family))
            link->endpoint = reach_address_from_sockaddr((const struct sockaddr *)&address, &link->scope);
    }
    for (struct attribute_walk walk = attribute_walk_nest(&all[WGPEER_A_ALLOWEDIPS]); attribute_next(&walk, &allowed);)
        read_allowed_ip(link, &allowed);
}

static void read_port(void *info, const struct nlmsghdr *message)
{
    struct attribute all[WGDEVICE_A_LISTEN_PORT + 1];
    struct wireguard_link *link = info;

    attributes_parse(reach_genetlink_walk(message), all);
    attribute_u16(&all[WGDEVICE_A_LISTEN_PORT], &link->port);
}

void reach_wireguard_link_apply(struct wireguard_link *link, const struct nlmsghdr *message)
{
    struct attribute all[WGDEVICE_A_PEERS + 1], peer;

    attributes_parse(reach_genetlink_walk(message), all);
    attribute_u32(&all[WGDEVICE_A_FWMARK], &link->mark);
    attribute_u16(&all[WGDEVICE_A_LISTEN_PORT], &link->port);
    for (struct attribute_walk walk = attribute_walk_nest(&all[WGDEVICE_A_PEERS]); attribute_next(&walk, &peer);)
        read_peer(link, &peer);
}

/* A default route of either family, or half of one, covers the default path. The longest prefix decides. */
bool reach_wireguard_link_find_peer(const struct wireguard_link *link, const struct address *destination,
                                    struct tunnel *ret)
{
    const struct allowed_ip *best = NULL;

    for (size_t i = 0; i < link->count; i++) {
        const struct allowed_ip *item = &link->items[i];
        const bool covers = destination->family == AF_UNSPEC
                                ? item->length <= 1
                                : reach_address_in_prefix(destination, &item->prefix, item->length);

        if (covers && (best == NULL || item->length > best->length))
            best = item;
    }
    if (best != NULL)
        *ret = (struct tunnel){ .remote = best->endpoint, .oif = best->scope, .mark = link->mark };
    return best != NULL;
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

static void apply_message(void *info, const struct nlmsghdr *message)
{
    reach_wireguard_link_apply(info, message);
}

/* `wanted`: WIREGUARD_ALL, or WIREGUARD_PORT alone. If the dump keeps being interrupted, uses what it contained. */
static int query_link(struct genetlink *genetlink, uint32_t index, enum wireguard_knowledge wanted,
                      struct wireguard_link *ret)
{
    int error = EAGAIN;

    for (int tries = 0; tries < NETLINK_DUMP_TRIES && error == EAGAIN; tries++) {
        reach_wireguard_link_clear(ret);
        error = reach_genetlink_query(genetlink, WG_CMD_GET_DEVICE, NLM_F_DUMP, WGDEVICE_A_IFINDEX, index,
                                      wanted == WIREGUARD_ALL ? apply_message : read_port, ret);
        if (ret->error != 0)
            error = ret->error;
    }
    ret->index = index;
    ret->knowledge = wanted;
    return error == EAGAIN ? 0 : error;
}

/* Returns the entry of a link, which may be new and empty. NULL: no memory. */
static struct wireguard_link *find_or_add(struct wireguard *wireguard, uint32_t index)
{
    struct wireguard_link *entry;

    for (size_t i = 0; i < wireguard->count; i++)
        if (wireguard->links[i].index == index)
            return &wireguard->links[i];
    entry = grow((void **)&wireguard->links, wireguard->count, &wireguard->capacity, sizeof *entry);
    if (entry == NULL)
        return NULL;
    *entry = WIREGUARD_LINK_EMPTY;
    entry->index = index;
    wireguard->count++;
    return entry;
}

const struct wireguard_link *reach_wireguard_find(const struct wireguard *wireguard, uint32_t index)
{
    for (size_t i = 0; i < wireguard->count; i++)
        if (wireguard->links[i].index == index && wireguard->links[i].knowledge == WIREGUARD_ALL)
            return &wireguard->links[i];
    return NULL;
}

/* ---- Where a link sends from ------------------------------------------------------------------------------------ */

static void note_listed_link(void *info, const struct nlmsghdr *header)
{
    struct wireguard *wireguard = info;
    struct message message;

    (void)reach_message_parse(header, header->nlmsg_len, &message);
    if (message.kind == MESSAGE_LINK && strcmp(message.link.info.kind, WIREGUARD_KIND) == 0 &&
        find_or_add(wireguard, message.link.index) == NULL)
        wireguard->all_listed = false;
}

/* Lists the namespace's links. If the dump keeps being interrupted, uses what it contained. */
static int list_links(struct wireguard *wireguard, const struct netns_handle *netns)
{
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    struct netlink netlink = NETLINK_CLOSED;
    void *buffer = malloc(NETLINK_BUFFER_SIZE);
    int error = buffer == NULL ? ENOMEM : reach_netlink_open_requests(netns, NETLINK_ROUTE, &netlink);

    if (error == 0)
        error = EAGAIN;
    wireguard->all_listed = true;
    for (int tries = 0; tries < NETLINK_DUMP_TRIES && error == EAGAIN; tries++) {
        (void)reach_message_put_kind_dump(request, WIREGUARD_KIND);
        error = reach_netlink_exchange(&netlink, (struct nlmsghdr *)request, buffer, note_listed_link, wireguard);
    }
    reach_netlink_close(&netlink);
    free(buffer);
    if (error == EAGAIN)
        error = 0;
    if (error == 0 && !wireguard->all_listed)
        error = ENOMEM;
    wireguard->all_listed = error == 0;
    return error;
}

/* Whether the link sends here: WireGuard's socket is on its port, and no other link here has that port. If nothing
 * reports it, `sends_here` stays false. */
static int find_where_link_sends(struct wireguard *wireguard, const struct netns_handle *netns,
                                 struct genetlink *genetlink, struct wireguard_link *link)
{
    bool shared = false;
    uint32_t send_buffer;
    int error = reach_sock_diag_udp_send_buffer(netns, link->port, &send_buffer);

    if (error != 0 || send_buffer != WIREGUARD_SEND_BUFFER)
        return error;
    if (!wireguard->all_listed)
        error = list_links(wireguard, netns);
    for (size_t i = 0; i < wireguard->count && error == 0; i++) {
        struct wireguard_link *other = &wireguard->links[i], read = WIREGUARD_LINK_EMPTY;

        if (other->index == link->index)
            continue;
        if (other->knowledge == WIREGUARD_LISTED) {
            error = query_link(genetlink, other->index, WIREGUARD_PORT, &read);
            if (error == 0)
                *other = read;
            else if (error == ENODEV) /* the link was deleted a moment ago */
                error = 0;
        }
        shared = shared || other->port == link->port;
    }
    link->sends_here = error == 0 && !shared;
    return netlink_is_withheld(error) ? 0 : error;
}

int reach_wireguard_read(struct wireguard *wireguard, const struct netns_handle *netns, uint32_t index)
{
    struct genetlink genetlink;
    struct wireguard_link *entry = NULL, link = WIREGUARD_LINK_EMPTY;
    int error = reach_genetlink_open(netns, WG_GENL_NAME, &genetlink);

    if (error != 0)
        return error;
    error = query_link(&genetlink, index, WIREGUARD_ALL, &link);
    if (error == 0)
        error = find_where_link_sends(wireguard, netns, &genetlink, &link);
    reach_genetlink_close(&genetlink);
    if (error == 0 && (entry = find_or_add(wireguard, index)) == NULL)
        error = ENOMEM;
    if (error != 0) {
        reach_wireguard_link_clear(&link);
        return error;
    }
    reach_wireguard_link_clear(entry);
    *entry = link;
    return 0;
}
#endif
