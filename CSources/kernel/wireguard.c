/* SPDX-License-Identifier: MIT */
/*
 * Reads the peers of WireGuard links.
 *
 * What this file must never do: copy a private or preshared key. The messages contain them; genetlink.c erases the
 * messages.
 */
#include "kernel/wireguard.h"

#include <errno.h>
#include <linux/wireguard.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/genetlink.h"

void wireguard_clear(struct wireguard_peers *peers)
{
    free(peers->items);
    *peers = WIREGUARD_PEERS_EMPTY;
}

/* ---- Messages --------------------------------------------------------------------------------------------------- */

static void append_allowed_ip(struct wireguard_peers *peers, const struct allowed_ip *allowed)
{
    if (peers->count == peers->capacity) {
        const size_t       capacity = peers->capacity == 0 ? 16 : peers->capacity * 2;
        struct allowed_ip *items = realloc(peers->items, capacity * sizeof *items);

        if (items == NULL) {
            peers->error = ENOMEM;
            return;
        }
        peers->items = items;
        peers->capacity = capacity;
    }
    peers->items[peers->count++] = *allowed;
}

static void read_allowed_ip(struct wireguard_peers *peers, const struct attribute *nest)
{
    struct allowed_ip     allowed = { .endpoint = peers->endpoint, .scope = peers->scope, .length = 255 };
    struct attribute_walk walk = attribute_walk_nest(nest);
    struct attribute      attribute;
    uint16_t              family = AF_UNSPEC;

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
        append_allowed_ip(peers, &allowed);
}

static void read_allowed_ips(struct wireguard_peers *peers, const struct attribute *nest)
{
    struct attribute_walk walk = attribute_walk_nest(nest);
    struct attribute      attribute;

    while (attribute_next(&walk, &attribute))
        read_allowed_ip(peers, &attribute);
}

static void read_endpoint(struct wireguard_peers *peers, const struct attribute *attribute)
{
    struct sockaddr_storage endpoint = { 0 };

    if (attribute->length > sizeof endpoint)
        return;
    memcpy(&endpoint, attribute->payload, attribute->length);
    if (attribute->length >= address_sockaddr_length(endpoint.ss_family))
        peers->endpoint = address_from_sockaddr((const struct sockaddr *)&endpoint, &peers->scope);
}

/* A peer with many prefixes continues in the next message, which has no endpoint. */
static void set_current_peer(struct wireguard_peers *peers, const struct attribute *key)
{
    if (key->length != sizeof peers->key || memcmp(key->payload, peers->key, sizeof peers->key) == 0)
        return;
    memcpy(peers->key, key->payload, sizeof peers->key);
    peers->endpoint = (struct address){ 0 };
    peers->scope = 0;
}

static void read_peer(struct wireguard_peers *peers, const struct attribute *nest)
{
    struct attribute_walk walk = attribute_walk_nest(nest);
    struct attribute      attribute;

    while (attribute_next(&walk, &attribute)) {
        if (attribute.type == WGPEER_A_PUBLIC_KEY)
            set_current_peer(peers, &attribute);
        else if (attribute.type == WGPEER_A_ENDPOINT)
            read_endpoint(peers, &attribute);
        else if (attribute.type == WGPEER_A_ALLOWEDIPS)
            read_allowed_ips(peers, &attribute);
    }
}

void wireguard_apply(struct wireguard_peers *peers, const struct nlmsghdr *message)
{
    struct attribute_walk walk = genetlink_walk(message);
    struct attribute      attribute, peer;

    while (attribute_next(&walk, &attribute)) {
        if (attribute.type == WGDEVICE_A_FWMARK)
            attribute_u32(&attribute, &peers->mark);
        if (attribute.type != WGDEVICE_A_PEERS)
            continue;
        for (struct attribute_walk nest = attribute_walk_nest(&attribute); attribute_next(&nest, &peer);)
            read_peer(peers, &peer);
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
bool wireguard_find_peer(const struct wireguard_peers *peers, const struct address *destination, struct tunnel *ret)
{
    const struct allowed_ip *best = NULL;

    for (size_t i = 0; i < peers->count; i++)
        if (allowed_ip_covers(&peers->items[i], destination) && (best == NULL || peers->items[i].length > best->length))
            best = &peers->items[i];
    if (best != NULL)
        *ret = (struct tunnel){ .remote = best->endpoint, .oif = best->scope, .mark = peers->mark };
    return best != NULL;
}

/* ---- Queries ---------------------------------------------------------------------------------------------------- */

static void apply_peers_message(void *info, const struct nlmsghdr *message)
{
    wireguard_apply(info, message);
}

int wireguard_read(struct wireguard_peers *peers, uint32_t index)
{
    struct genetlink wireguard;
    int              error = genetlink_open(WG_GENL_NAME, &wireguard);

    wireguard_clear(peers);
    if (error != 0)
        return error;
    error = EAGAIN;
    for (int tries = 0; tries < NETLINK_DUMP_TRIES && error == EAGAIN; tries++) {
        wireguard_clear(peers);
        error = genetlink_query(&wireguard, WG_CMD_GET_DEVICE, NLM_F_DUMP, WGDEVICE_A_IFINDEX, index,
                                apply_peers_message, peers);
        if (peers->error != 0)
            error = peers->error;
    }
    genetlink_close(&wireguard);
    if (error == EAGAIN)
        error = 0;
    if (error == 0)
        peers->index = index;
    return error;
}
