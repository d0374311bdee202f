/* SPDX-License-Identifier: MIT */
/*
 * A binary heap whose nodes are linked by pointers. No deadline is before that of the parent. The tree is always
 * complete: numbered from 1, row by row, the children of node n are 2n and 2n + 1. So the bits of a node's number lead
 * to it from the root, all but the highest bit.
 */
#ifdef __linux__
#include "base/heap.h"

#include <limits.h>
#include <stdbool.h>

#include "base/clock.h"

void reach_heap_node_init(struct heap_node *node)
{
    *node = (struct heap_node){ .deadline = NEVER };
}

struct heap_node *reach_heap_first(const struct heap *heap)
{
    return heap->root;
}

int64_t reach_heap_nearest(const struct heap *heap)
{
    return heap->root == NULL ? NEVER : heap->root->deadline;
}

/* Returns where the pointer to the node with this number is, or must be. Sets the parent; NULL: it is the root. */
static struct heap_node **find_place(struct heap *heap, size_t number, struct heap_node **ret_parent)
{
    struct heap_node **place = &heap->root;
    int bit = (int)sizeof number * CHAR_BIT - 1 - __builtin_clzl(number);

    *ret_parent = NULL;
    while (--bit >= 0) {
        *ret_parent = *place;
        place = &(*place)->children[number >> bit & 1];
    }
    return place;
}

/* Returns where the pointer to a node of the heap is. */
static struct heap_node **place_of_node(struct heap *heap, const struct heap_node *node)
{
    return node->parent == NULL ? &heap->root : &node->parent->children[node->parent->children[1] == node];
}

static void set_child(struct heap_node *parent, int side, struct heap_node *child)
{
    parent->children[side] = child;
    if (child != NULL)
        child->parent = parent;
}

static void exchange_with_parent(struct heap *heap, struct heap_node *node)
{
    struct heap_node *parent = node->parent;
    const int side = parent->children[1] == node;
    struct heap_node *const children[2] = { node->children[0], node->children[1] };

    *place_of_node(heap, parent) = node;
    node->parent = parent->parent;
    set_child(node, side, parent);
    set_child(node, !side, parent->children[!side]);
    set_child(parent, 0, children[0]);
    set_child(parent, 1, children[1]);
}

static bool is_before(const struct heap_node *a, const struct heap_node *b)
{
    return a != NULL && a->deadline < b->deadline;
}

/* Moves a node whose deadline has changed to where it belongs. */
static void restore_order(struct heap *heap, struct heap_node *node)
{
    while (node->parent != NULL && is_before(node, node->parent))
        exchange_with_parent(heap, node);
    while (is_before(node->children[0], node) || is_before(node->children[1], node)) {
        const int side = is_before(node->children[1], node->children[0]);

        exchange_with_parent(heap, node->children[side]);
    }
}

void reach_heap_set(struct heap *heap, struct heap_node *node, int64_t deadline)
{
    if (deadline != NEVER) {
        if (node->deadline == NEVER)
            *find_place(heap, ++heap->count, &node->parent) = node;
        node->deadline = deadline;
        restore_order(heap, node);
    } else if (node->deadline != NEVER) {
        struct heap_node *parent, **place = find_place(heap, heap->count--, &parent), *last = *place;

        *place = NULL;
        if (last != node) { /* the last one takes its place */
            *place_of_node(heap, node) = last;
            last->parent = node->parent;
            set_child(last, 0, node->children[0]);
            set_child(last, 1, node->children[1]);
            restore_order(heap, last);
        }
        reach_heap_node_init(node);
    }
}
#endif
