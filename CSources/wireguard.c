/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: leave what the kernel told in memory that is given back. The link's private key is
 * among it.
 */
#include "wireguard.h"

#include <libmnl/libmnl.h>
#include <linux/wireguard.h>
#include <stdlib.h>

#include "genetlink.h"

void wireguard_begin(struct wireguard *ret, const struct address *destination)
{
    *ret = (struct wireguard){ .destination = *destination };
}

/* ---- What is told ----------------------------------------------------------------------------------------------- */

/* A default of either family, or a half of one, is for the default path. */
static bool covers(const struct address *prefix, uint8_t length, const struct address *destination)
{
    return destination->family == AF_UNSPEC ? length <= 1 : address_in_prefix(destination, prefix, length);
}

/* The longest prefix decides between peers. */
static void take_allowed(struct wireguard *wireguard, const struct attribute *nest)
{
    struct walk      walk = walk_nest(nest);
    struct attribute attribute;
    struct address   prefix = { 0 };
    uint8_t          length = 255;
    uint16_t         family = AF_UNSPEC;

    while (walk_next(&walk, &attribute)) {
        if (attribute.type == WGALLOWEDIP_A_FAMILY)
            attribute_u16(&attribute, &family);
        else if (attribute.type == WGALLOWEDIP_A_IPADDR)
            prefix = address_make(attribute.length == 4 ? AF_INET : AF_INET6, attribute.payload, attribute.length);
        else if (attribute.type == WGALLOWEDIP_A_CIDR_MASK && attribute.length == 1)
            length = *(const uint8_t *)attribute.payload;
    }
    if (prefix.family == AF_UNSPEC || prefix.family != family || length > address_length(&prefix) * 8 ||
        !covers(&prefix, length, &wireguard->destination) ||
        (wireguard->found && length < wireguard->prefix))
        return;
    wireguard->found = true;
    wireguard->prefix = length;
    wireguard->tunnel.remote = wireguard->endpoint;
    wireguard->tunnel.oif = wireguard->scope;
}

static void take_all_allowed(struct wireguard *wireguard, const struct attribute *nest)
{
    struct walk      walk = walk_nest(nest);
    struct attribute attribute;

    while (walk_next(&walk, &attribute))
        take_allowed(wireguard, &attribute);
}

static void take_endpoint(struct wireguard *wireguard, const struct attribute *attribute)
{
    struct sockaddr_storage endpoint = { 0 };

    if (attribute->length > sizeof endpoint)
        return;
    memcpy(&endpoint, attribute->payload, attribute->length);
    if (attribute->length >= address_sockaddr_length(endpoint.ss_family))
        wireguard->endpoint = address_from_sockaddr((const struct sockaddr *)&endpoint, &wireguard->scope);
}

/* One with many prefixes goes on in the next message, without its endpoint. */
static void begin_peer(struct wireguard *wireguard, const struct attribute *key)
{
    if (key->length != sizeof wireguard->key || memcmp(key->payload, wireguard->key, sizeof wireguard->key) == 0)
        return;
    memcpy(wireguard->key, key->payload, sizeof wireguard->key);
    wireguard->endpoint = (struct address){ 0 };
    wireguard->scope = 0;
}

static void take_peer(struct wireguard *wireguard, const struct attribute *nest)
{
    struct walk      walk = walk_nest(nest);
    struct attribute attribute;

    while (walk_next(&walk, &attribute)) {
        if (attribute.type == WGPEER_A_PUBLIC_KEY)
            begin_peer(wireguard, &attribute);
        else if (attribute.type == WGPEER_A_ENDPOINT)
            take_endpoint(wireguard, &attribute);
        else if (attribute.type == WGPEER_A_ALLOWEDIPS)
            take_all_allowed(wireguard, &attribute);
    }
}

void wireguard_take(struct wireguard *wireguard, const struct nlmsghdr *message)
{
    struct walk      walk = genetlink_walk(message);
    struct attribute attribute, peer;

    while (walk_next(&walk, &attribute)) {
        if (attribute.type == WGDEVICE_A_FWMARK)
            attribute_u32(&attribute, &wireguard->tunnel.mark);
        if (attribute.type != WGDEVICE_A_PEERS)
            continue;
        for (struct walk peers = walk_nest(&attribute); walk_next(&peers, &peer);)
            take_peer(wireguard, &peer);
    }
}

/* ---- Asking ----------------------------------------------------------------------------------------------------- */

static void take(void *info, const struct nlmsghdr *message)
{
    wireguard_take(info, message);
}

static int ask(struct netlink *netlink, void *buffer, uint32_t index, struct wireguard *wireguard)
{
    _Alignas(struct nlmsghdr) char request[GENETLINK_REQUEST_SIZE];
    struct nlmsghdr               *header;
    uint16_t                       family;
    int                            error = genetlink_find_family(netlink, buffer, WG_GENL_NAME, &family);

    if (error != 0 || family == 0)
        return error == 0 ? ENOENT : error;
    header = genetlink_put(request, family, NLM_F_DUMP, WG_CMD_GET_DEVICE);
    mnl_attr_put_u32(header, WGDEVICE_A_IFINDEX, index);
    return netlink_exchange(netlink, header, buffer, take, wireguard);
}

int wireguard_find(uint32_t index, struct wireguard *wireguard)
{
    void          *buffer = malloc(NETLINK_BUFFER_SIZE);
    struct netlink netlink;
    int            error = buffer == NULL ? ENOMEM : netlink_open_generic(&netlink);

    if (error == 0) {
        error = ask(&netlink, buffer, index, wireguard);
        netlink_close(&netlink);
    }
    if (buffer != NULL)
        explicit_bzero(buffer, NETLINK_BUFFER_SIZE);
    free(buffer);
    return error;
}
