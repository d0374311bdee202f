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

void wireguard_link_clear(struct wireguard_link *link)
{
    free(link->items);
    *link = WIREGUARD_LINK_EMPTY;
}

void wireguard_clear(struct wireguard *wireguard)
{
    for (size_t i = 0; i < wireguard->count; i++)
        wireguard_link_clear(&wireguard->links[i]);
    free(wireguard->links);
    *wireguard = (struct wireguard){ 0 };
}

/* ---- Messages --------------------------------------------------------------------------------------------------- */

static void append_allowed_ip(struct wireguard_link *link, const struct allowed_ip *allowed)
{
    if (link->count == link->capacity) {
        const size_t capacity = link->capacity == 0 ? 16 : link->capacity * 2;
        struct allowed_ip *items = realloc(link->items, capacity * sizeof *items);

        if (items == NULL) {
            link->error = ENOMEM;
            return;
        }
        link->items = items;
        link->capacity = capacity;
    }
    link->items[link->count++] = *allowed;
}

static void read_allowed_ip(struct wireguard_link *link, const struct attribute *nest)
{
    struct allowed_ip allowed = { .endpoint = link->endpoint, .scope = link->scope, .length = 255 };
    struct attribute_walk walk = attribute_walk_nest(nest);
    struct attribute attribute;
    uint16_t family = AF_UNSPEC;

    while (attribute_next(&walk, &attribute)) {
        if (attribute.type == WGALLOWEDIP_A_FAMILY)
            attribute_u16(&attribute, &family);
        else if (attribute.type == WGALLOWEDIP_A_IPADDR)
            attribute_any_address(&attribute, &allowed.prefix);
        else if (attribute.type == WGALLOWEDIP_A_CIDR_MASK && attribute.length == 1)
            allowed.length = *(const uint8_t *)attribute.payload;
    }
    if (allowed.prefix.family != AF_UNSPEC && allowed.prefix.family == family &&
        allowed.length <= address_length(&allowed.prefix) * 8)
        append_allowed_ip(link, &allowed);
}

static void read_allowed_ips(struct wireguard_link *link, const struct attribute *nest)
{
    struct attribute_walk walk = attribute_walk_nest(nest);
    struct attribute attribute;

    while (attribute_next(&walk, &attribute))
        read_allowed_ip(link, &attribute);
}

static void read_endpoint(struct wireguard_link *link, const struct attribute *attribute)
{
    struct sockaddr_storage endpoint = { 0 };

    if (attribute->length > sizeof endpoint)
        return;
    memcpy(&endpoint, attribute->payload, attribute->length);
    if (attribute->length >= address_sockaddr_length(endpoint.ss_family))
        link->endpoint = address_from_sockaddr((const struct sockaddr *)&endpoint, &link->scope);
}

/* A peer with many prefixes continues in the next message, which has no endpoint. */
static void set_current_peer(struct wireguard_link *link, const struct attribute *key)
{
    if (key->length != sizeof link->key || memcmp(key->payload, link->key, sizeof link->key) == 0)
        return;
    memcpy(link->key, key->payload, sizeof link->key);
    link->endpoint = (struct address){ 0 };
    link->scope = 0;
}

static void read_peer(struct wireguard_link *link, const struct attribute *nest)
{
    struct attribute_walk walk = attribute_walk_nest(nest);
    struct attribute attribute;

    while (attribute_next(&walk, &attribute)) {
        if (attribute.type == WGPEER_A_PUBLIC_KEY)
            set_current_peer(link, &attribute);
        else if (attribute.type == WGPEER_A_ENDPOINT)
            read_endpoint(link, &attribute);
        else if (attribute.type == WGPEER_A_ALLOWEDIPS)
            read_allowed_ips(link, &attribute);
    }
}

void wireguard_link_apply(struct wireguard_link *link, const struct nlmsghdr *message)
{
    struct attribute_walk walk = genetlink_walk(message);
    struct attribute attribute, peer;

    while (attribute_next(&walk, &attribute)) {
        if (attribute.type == WGDEVICE_A_FWMARK)
            attribute_u32(&attribute, &link->mark);
        else if (attribute.type == WGDEVICE_A_LISTEN_PORT)
            attribute_u16(&attribute, &link->port);
        if (attribute.type != WGDEVICE_A_PEERS)
            continue;
        for (struct attribute_walk nest = attribute_walk_nest(&attribute); attribute_next(&nest, &peer);)
            read_peer(link, &peer);
    }
}

/* ---- Search ----------------------------------------------------------------------------------------------------- */

/* A default route of either family, or half of one, covers the default path. */
static bool allowed_ip_covers(const struct allowed_ip *allowed, const struct address *destination)
{
    return destination->family == AF_UNSPEC ? allowed->length <= 1
                                            : address_in_prefix(destination, &allowed->prefix, allowed->length);
}

/* The longest prefix decides. */
bool wireguard_link_find_peer(const struct wireguard_link *link, const struct address *destination, struct tunnel *ret)
{
    const struct allowed_ip *best = NULL;

    for (size_t i = 0; i < link->count; i++)
        if (allowed_ip_covers(&link->items[i], destination) && (best == NULL || link->items[i].length > best->length))
            best = &link->items[i];
    if (best != NULL)
        *ret = (struct tunnel){ .remote = best->endpoint, .oif = best->scope, .mark = link->mark };
    return best != NULL;
}

/* ---- One link -------------------------------------------------------------------------------------------------- */

static void apply_link_message(void *info, const struct nlmsghdr *message)
{
    wireguard_link_apply(info, message);
}

static void apply_port_message(void *info, const struct nlmsghdr *message)
{
    struct attribute_walk walk = genetlink_walk(message);
    struct wireguard_link *link = info;
    struct attribute attribute;

    while (attribute_next(&walk, &attribute))
        if (attribute.type == WGDEVICE_A_LISTEN_PORT)
            attribute_u16(&attribute, &link->port);
}

/* `wanted`: WIREGUARD_ALL, or WIREGUARD_PORT alone. */
static int query_wireguard_link(struct genetlink *genetlink, uint32_t index, enum wireguard_knowledge wanted,
                                struct wireguard_link *ret)
{
    int error = EAGAIN;

    for (int tries = 0; tries < NETLINK_DUMP_TRIES && error == EAGAIN; tries++) {
        wireguard_link_clear(ret);
        error = genetlink_query(genetlink, WG_CMD_GET_DEVICE, NLM_F_DUMP, WGDEVICE_A_IFINDEX, index,
                                wanted == WIREGUARD_ALL ? apply_link_message : apply_port_message, ret);
        if (ret->error != 0)
            error = ret->error;
    }
    ret->index = index;
    ret->knowledge = wanted;
    return error == EAGAIN ? 0 : error; /* the dump kept being interrupted: use what it contained */
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

static struct wireguard_link *find_link_entry(const struct wireguard *wireguard, uint32_t index)
{
    for (size_t i = 0; i < wireguard->count; i++)
        if (wireguard->links[i].index == index)
            return &wireguard->links[i];
    return NULL;
}

/* Returns the entry of a link, which may be new and empty. NULL: no memory. */
static struct wireguard_link *find_or_add_link_entry(struct wireguard *wireguard, uint32_t index)
{
    struct wireguard_link *entry = find_link_entry(wireguard, index);

    if (entry != NULL)
        return entry;
    if (wireguard->count == wireguard->capacity) {
        const size_t capacity = wireguard->capacity == 0 ? 4 : wireguard->capacity * 2;
        struct wireguard_link *links = realloc(wireguard->links, capacity * sizeof *links);

        if (links == NULL)
            return NULL;
        wireguard->links = links;
        wireguard->capacity = capacity;
    }
    entry = &wireguard->links[wireguard->count++];
    *entry = WIREGUARD_LINK_EMPTY;
    entry->index = index;
    return entry;
}

const struct wireguard_link *wireguard_find(const struct wireguard *wireguard, uint32_t index)
{
    const struct wireguard_link *entry = find_link_entry(wireguard, index);

    return entry != NULL && entry->knowledge == WIREGUARD_ALL ? entry : NULL;
}

/* ---- Where a link sends from ------------------------------------------------------------------------------------ */

/* A dump of the namespace's links. */
struct link_listing {
    struct wireguard *wireguard;
    int error;
};

static void note_listed_link(void *info, const struct nlmsghdr *header)
{
    struct link_listing *listing = info;
    struct message message;

    (void)message_parse(header, header->nlmsg_len, &message);
    if (message.kind == MESSAGE_LINK && strcmp(message.link.info.kind, WIREGUARD_KIND) == 0 &&
        find_or_add_link_entry(listing->wireguard, message.link.index) == NULL)
        listing->error = ENOMEM;
}

static int dump_wireguard_links(struct wireguard *wireguard)
{
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    struct link_listing listing = { .wireguard = wireguard };
    struct netlink netlink = NETLINK_CLOSED;
    void *buffer = malloc(NETLINK_BUFFER_SIZE);
    int error = buffer == NULL ? ENOMEM : netlink_open_requests(&netlink);

    if (error == 0)
        error = EAGAIN;
    for (int tries = 0; tries < NETLINK_DUMP_TRIES && error == EAGAIN; tries++) {
        message_put_kind_dump(request, WIREGUARD_KIND);
        error = netlink_exchange(&netlink, (struct nlmsghdr *)request, buffer, note_listed_link, &listing);
    }
    netlink_close(&netlink);
    free(buffer);
    if (error == 0 || error == EAGAIN) /* the dump kept being interrupted: use what it contained */
        error = listing.error;
    wireguard->all_listed = error == 0;
    return error;
}

static int read_port(struct genetlink *genetlink, struct wireguard_link *listed)
{
    struct wireguard_link link = WIREGUARD_LINK_EMPTY;
    const int error = query_wireguard_link(genetlink, listed->index, WIREGUARD_PORT, &link);

    if (error == 0)
        *listed = link;
    return error == ENODEV ? 0 : error; /* the link was deleted a moment ago */
}

/* Whether another link of this namespace has the same port. The socket may be that link's. */
static int check_other_links(struct wireguard *wireguard, struct genetlink *genetlink,
                             const struct wireguard_link *link, bool *ret_shared)
{
    int error = wireguard->all_listed ? 0 : dump_wireguard_links(wireguard);

    *ret_shared = false;
    for (size_t i = 0; i < wireguard->count && error == 0; i++) {
        struct wireguard_link *other = &wireguard->links[i];

        if (other->index == link->index)
            continue;
        if (other->knowledge == WIREGUARD_LISTED)
            error = read_port(genetlink, other);
        *ret_shared = *ret_shared || other->port == link->port;
    }
    return error;
}

/* If nothing reports it, `sends_here` stays false. */
static int find_where_link_sends(struct wireguard *wireguard, struct genetlink *genetlink, struct wireguard_link *link)
{
    uint32_t send_buffer;
    bool shared = false;
    int error = sock_diag_udp_send_buffer(link->port, &send_buffer);

    if (error != 0 || send_buffer != WIREGUARD_SEND_BUFFER)
        return error;
    error = check_other_links(wireguard, genetlink, link, &shared);
    link->sends_here = error == 0 && !shared;
    return netlink_is_withheld(error) ? 0 : error;
}

int wireguard_read(struct wireguard *wireguard, uint32_t index)
{
    struct genetlink genetlink;
    struct wireguard_link *entry, link = WIREGUARD_LINK_EMPTY;
    int error = genetlink_open(WG_GENL_NAME, &genetlink);

    if (error != 0)
        return error;
    error = query_wireguard_link(&genetlink, index, WIREGUARD_ALL, &link);
    if (error == 0)
        error = find_where_link_sends(wireguard, &genetlink, &link);
    genetlink_close(&genetlink);
    entry = error == 0 ? find_or_add_link_entry(wireguard, index) : NULL;
    if (entry == NULL) {
        wireguard_link_clear(&link);
        return error == 0 ? ENOMEM : error;
    }
    wireguard_link_clear(entry);
    *entry = link;
    return 0;
}
#endif
