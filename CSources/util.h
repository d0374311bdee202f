/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_UTIL_H
#define REACHABILITY_UTIL_H

/* What every floor uses: lists, reference counts, the clock, the word that tells an object's type. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define container_of(pointer, type, member) ((type *)(void *)((char *)(pointer) - offsetof(type, member)))

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

/* Text, not terminated. */
struct span {
    const char *start;
    size_t      length;
};

/* Whether a text is among the words of an array. */
#define TEXT_IS_ONE_OF(text, words) text_is_one_of(text, words, sizeof(words) / sizeof(words)[0])
static inline bool text_is_one_of(const char *text, const char *const words[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return false;
}

struct counted {
    atomic_uint references;
    void (*free)(struct counted *counted);
};

static inline void counted_init(struct counted *counted, void (*free)(struct counted *))
{
    atomic_init(&counted->references, 1);
    counted->free = free;
}

static inline void counted_retain(struct counted *counted)
{
    atomic_fetch_add_explicit(&counted->references, 1, memory_order_relaxed);
}

static inline void counted_release(struct counted *counted)
{
    if (atomic_fetch_sub_explicit(&counted->references, 1, memory_order_acq_rel) == 1)
        counted->free(counted);
}

/* The first word of every public object. It is overwritten when the object is freed. */
enum object_type {
    OBJECT_FREED  = 0x46524545,
    OBJECT_TARGET = 0x52454143,
    OBJECT_LOOP   = 0x4c4f4f50,
};

/* Whether a pointer that a caller gave us points, as far as can be told, at a living object of this type. */
bool object_is(const void *object, enum object_type type);

#define SECOND INT64_C(1000000000)
#define MILLISECOND INT64_C(1000000)
#define NEVER INT64_MAX

/* Nanoseconds on CLOCK_BOOTTIME: it goes on while the machine sleeps, so that what became due meanwhile is due. */
int64_t clock_now(void);

#endif
