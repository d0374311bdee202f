/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ROUTE_FILTER_H
#define REACHABILITY_ROUTE_FILTER_H

/* The program of a socket filter (classic BPF) that drops route messages about destinations nobody watches. */

#include <linux/filter.h>

#include "pure/address_tree.h"

/* For SO_ATTACH_FILTER. */
struct route_filter {
    unsigned short     length;
    struct sock_filter code[1024];
};

/* Builds the filter that drops a route message if no address in `prefixes` is in the message's prefix. It passes all
 * other messages, and some route messages that it need not pass: it compares the first 64 bits of IPv6 addresses.
 * `count` is at most ADDRESS_TREE_PREFIXES. */
void route_filter_build(struct route_filter *ret, const struct address_prefix *prefixes, size_t count);

#endif
