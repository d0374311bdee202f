/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ROUTE_FILTER_H
#define REACHABILITY_ROUTE_FILTER_H

/* The program of a socket filter (classic BPF) that drops route messages about destinations nobody watches, and
 * messages about neighbours that are no gateways. */

#include <linux/filter.h>

#include "pure/address_tree.h"

/* For SO_ATTACH_FILTER. */
struct route_filter {
    unsigned short     length;
    struct sock_filter code[1024];
};

/* An IPv6 gateway. */
struct route_filter_gateway {
    struct address address;
    uint32_t       index;
    bool           failed;
};
#define ROUTE_FILTER_GATEWAYS 16

/* Builds the filter that passes only these messages about neighbours: a gateway fails; a gateway that has failed
 * changes. It passes all other messages. */
void route_filter_build_open(struct route_filter *ret, const struct route_filter_gateway *gateways, size_t count);

/* The same, and it drops a route message if no address in `prefixes` is in the message's prefix, unless the route is an
 * IPv6 route for multicast, or for packets from a prefix. It passes some route messages that it need not pass: it
 * compares the first 64 bits of IPv6 addresses. `count` is at most ADDRESS_TREE_PREFIXES. */
void route_filter_build(struct route_filter *ret, const struct route_filter_gateway *gateways, size_t gateway_count,
                        const struct address_prefix *prefixes, size_t count);

#endif
