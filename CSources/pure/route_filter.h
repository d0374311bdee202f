/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ROUTE_FILTER_H
#define REACHABILITY_ROUTE_FILTER_H

/* The program of a socket filter (classic BPF) that drops route messages about destinations nobody watches, and
 * messages about neighbours that are neither gateways nor destinations of redirects. */

#include <linux/filter.h>

#include "pure/address_tree.h"

/* For SO_ATTACH_FILTER. */
struct route_filter {
    unsigned short length;
    struct sock_filter code[1040];
};

/* A neighbour whose messages matter. */
struct route_filter_gateway {
    struct address address;
    uint32_t index;
    bool every; /* all messages about it pass, not only that it fails */
};
#define ROUTE_FILTER_GATEWAYS 256

/* Builds the filter that passes only these messages about neighbours: a gateway fails; any, if `every` is set; and an
 * IPv6 neighbour responds, because a router may have redirected its packets to it. It passes all other messages. If
 * `count` is more than ROUTE_FILTER_GATEWAYS, the gateways are not read, and all messages about neighbours pass. */
void reach_route_filter_build_open(struct route_filter *ret, const struct route_filter_gateway *gateways, size_t count);

/* What the filter for `count` prefixes, at most ADDRESS_TREE_PREFIXES, drops: an IPv6 neighbour that responds and is in
 * no prefix; and, unless `all_routes`, a route message if no address in the prefixes is in the message's prefix. Routes
 * of IPv6 pass if they are for multicast, for packets from a prefix, or have an end. Some messages pass that need not:
 * it compares the first 32 bits of addresses. Multicast: if IPv6 is disabled on a link without addresses, the
 * deletion of its route to ff00::/8 is the only message that legs over it are dead. It counts as one about the link. */
void reach_route_filter_build(struct route_filter *ret, const struct route_filter_gateway *gateways,
                              size_t gateway_count, const struct address_prefix *prefixes, size_t count,
                              bool all_routes);

#endif
