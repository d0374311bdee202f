/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_HASH_TREE_H
#define REACHABILITY_HASH_TREE_H

/*
 * A set of objects by their hashes. Each object contains a node; the tree allocates nothing and never has to grow, so
 * it can be used under a lock. Two bits of the hash choose the child at each level: with n objects whose hashes are
 * evenly distributed, a path has about log4(n) steps. So use siphash for names that others choose.
 */

#include <stdbool.h>
#include <stdint.h>

struct hash_node {
    uint64_t hash;
    struct hash_node *children[4];
};

/* Adds a node, whose hash the caller has set. *root is NULL if the tree is empty. */
void hash_tree_add(struct hash_node **root, struct hash_node *node);

/* Returns a node with this hash for which `is_wanted` returns true; NULL: there is none. */
struct hash_node *hash_tree_find(struct hash_node *root, uint64_t hash,
                                 bool (*is_wanted)(const struct hash_node *node, const void *info), const void *info);

/* Removes a node that is in the tree. */
void hash_tree_remove(struct hash_node **root, struct hash_node *node);

#endif
