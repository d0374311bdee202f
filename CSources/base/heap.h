/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_HEAP_H
#define REACHABILITY_HEAP_H

/*
 * Deadlines, ordered: a binary heap. Its nodes are members of the structures that have the deadlines; container_of
 * finds these. So it needs no memory of its own. The first node is found at once. To add, move or remove any node takes
 * logarithmic time at most, never the time of all. This matters because locks are held.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

struct heap_node {
    struct heap_node *parent, *children[2];
    int64_t deadline; /* of clock_now; NEVER: it is in no heap */
};

/* All zero: an empty heap. */
struct heap {
    struct heap_node *root;
    size_t count;
};

void reach_heap_node_init(struct heap_node *node);

/* Adds the node, or moves it. NEVER: removes it, if it is in the heap. */
void reach_heap_set(struct heap *heap, struct heap_node *node, int64_t deadline);

/* Returns a node with the nearest deadline, or NULL. */
struct heap_node *reach_heap_first(const struct heap *heap);

/* Returns the nearest deadline, or NEVER. */
int64_t reach_heap_nearest(const struct heap *heap);

#endif
