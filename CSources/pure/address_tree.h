/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ADDRESS_TREE_H
#define REACHABILITY_ADDRESS_TREE_H

/* A set of addresses, ordered so that those in a prefix are found without a look at the others. Its entries are members
 * of the structures in the set; container_of finds these. It allocates nothing. */

#include "base/list.h"
#include "pure/address.h"

/* The tree uses all fields. Only `address` is the owner's; it is constant while the entry is in a tree. */
struct address_entry {
    struct address_entry *child[2];
    uint8_t bit;            /* which bit of the key `child` is chosen by; 0: the entry has no children */
    struct address address; /* AF_INET or AF_INET6 */
};

struct address_tree {
    struct address_entry *root; /* NULL: the tree is empty */
};

void reach_address_tree_add(struct address_tree *tree, struct address_entry *entry);

/* `entry` must be in the tree. */
void reach_address_tree_remove(struct address_tree *tree, struct address_entry *entry);

/* Calls `visit` for each entry in a prefix. `visit` must not change the tree. */
void reach_address_tree_visit(const struct address_tree *tree, const struct address_prefix *prefix,
                              void (*visit)(void *info, struct address_entry *entry), void *info);

/* Finds prefixes that have all the addresses of the tree in them: at most ADDRESS_TREE_PREFIXES. Returns how many. */
enum { ADDRESS_TREE_PREFIXES = 64 };
size_t reach_address_tree_cover(const struct address_tree *tree, struct address_prefix ret[ADDRESS_TREE_PREFIXES]);

#endif
