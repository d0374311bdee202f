/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_TREE_H
#define REACHABILITY_TREE_H

/*
 * A set of keys. Its nodes are members of the structures that have the keys; container_of finds these. So it needs no
 * memory of its own. The bits of a hash of the key lead from the root to the node, so that no branch is long.
 */

#include <stddef.h>
#include <stdint.h>

struct tree_node {
    struct tree_node *children[2];
    uint64_t key; /* constant while the node is in a tree, which has no other with this key */
};

/* Returns where the pointer to the node with this key is, or must be. `place`: that to the root; NULL: no node. */
static inline struct tree_node **tree_place(struct tree_node **place, uint64_t key)
{
    for (uint64_t bits = key * UINT64_C(0x9e3779b97f4a7c15); *place != NULL && (*place)->key != key; bits <<= 1)
        place = &(*place)->children[bits >> 63];
    return place;
}

static inline void tree_add(struct tree_node **root, struct tree_node *node)
{
    node->children[0] = node->children[1] = NULL;
    *tree_place(root, node->key) = node;
}

/* `node` must be in the tree. Any node below it can take its place. */
static inline void tree_remove(struct tree_node **root, struct tree_node *node)
{
    struct tree_node **place = tree_place(root, node->key), **leaf = place, *last;

    while ((*leaf)->children[0] != NULL || (*leaf)->children[1] != NULL)
        leaf = &(*leaf)->children[(*leaf)->children[0] == NULL];
    last = *leaf;
    *leaf = NULL;
    if (last == node)
        return;
    last->children[0] = node->children[0];
    last->children[1] = node->children[1];
    *place = last;
}

#endif
