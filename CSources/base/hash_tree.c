/* SPDX-License-Identifier: MIT */
/*
 * A tree of hashes, in which the hash of a node determines its path from the root.
 *
 * What this file must never do: allocate. It is used under the lock that fork takes.
 */
#ifdef __linux__
#include "base/hash_tree.h"

#include <stddef.h>
#include <string.h>

/* Returns the place below, for a hash whose first bits were used above. Uses two more bits. */
static struct hash_node **step_down(struct hash_node *node, uint64_t *bits)
{
    struct hash_node **place = &node->children[*bits >> 62];

    *bits <<= 2;
    return place;
}

void hash_tree_add(struct hash_node **root, struct hash_node *node)
{
    struct hash_node **place = root;
    uint64_t bits = node->hash;

    while (*place != NULL)
        place = step_down(*place, &bits);
    memset(node->children, 0, sizeof node->children);
    *place = node;
}

struct hash_node *hash_tree_find(struct hash_node *root, uint64_t hash,
                                 bool (*is_wanted)(const struct hash_node *node, const void *info), const void *info)
{
    struct hash_node *node = root;
    uint64_t bits = hash;

    while (node != NULL && (node->hash != hash || !is_wanted(node, info)))
        node = *step_down(node, &bits);
    return node;
}

/* Returns the place of a node that has no children: `place`, or one below it. */
static struct hash_node **find_leaf(struct hash_node **place)
{
    for (size_t i = 0; i < 4;) {
        if ((*place)->children[i] != NULL) {
            place = &(*place)->children[i];
            i = 0;
        } else {
            i++;
        }
    }
    return place;
}

/* A leaf below the node takes its place: the paths to both begin alike. */
void hash_tree_remove(struct hash_node **root, struct hash_node *node)
{
    struct hash_node **place = root, **leaf_place, *leaf;
    uint64_t bits = node->hash;

    while (*place != node)
        place = step_down(*place, &bits);
    leaf_place = find_leaf(place);
    leaf = *leaf_place;
    *leaf_place = NULL;
    if (leaf == node)
        return;
    memcpy(leaf->children, node->children, sizeof leaf->children);
    *place = leaf;
}
#endif
