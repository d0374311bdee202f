/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LIST_H
#define REACHABILITY_LIST_H

/* A doubly linked list whose nodes are members of what is listed. */

#include <stdbool.h>

#include "base/container_of.h"

/* A node that is in no list points at itself, so taking it out twice is harmless. */
struct list {
    struct list *previous, *next;
};

static inline void list_init(struct list *node)
{
    node->previous = node->next = node;
}

static inline bool list_is_empty(const struct list *node)
{
    return node->next == node;
}

static inline void list_append(struct list *head, struct list *node)
{
    node->previous = head->previous;
    node->next = head;
    head->previous->next = node;
    head->previous = node;
}

static inline void list_remove(struct list *node)
{
    node->previous->next = node->next;
    node->next->previous = node->previous;
    list_init(node);
}

/* The first node, taken out, or NULL. */
static inline struct list *list_pop(struct list *head)
{
    struct list *node = head->next;

    if (node == head)
        return NULL;
    list_remove(node);
    return node;
}

/* Moves all nodes of a list to an empty one. */
static inline void list_move(struct list *to, struct list *from)
{
    if (list_is_empty(from))
        return;
    *to = *from;
    to->previous->next = to;
    to->next->previous = to;
    list_init(from);
}

#define list_for_each(node, head) for (struct list *node = (head)->next; node != (head); node = node->next)

#endif
