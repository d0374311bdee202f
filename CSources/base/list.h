/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LIST_H
#define REACHABILITY_LIST_H

/* A doubly linked list. Its nodes are members of the structures in the list; container_of finds these. */

#include <stdbool.h>
#include <stddef.h>

/* From a pointer to a member, the structure that contains it. */
#define container_of(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/* A list, or a node. A node that is in no list points to itself, so removing it again does nothing. */
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

/* Removes and returns the first node; NULL: the list is empty. */
static inline struct list *list_pop(struct list *head)
{
    struct list *node = head->next;

    if (node == head)
        return NULL;
    list_remove(node);
    return node;
}

/* Moves all nodes to `to`, which is empty. */
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
