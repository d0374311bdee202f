/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_WATCH_H
#define REACHABILITY_WATCH_H

/* A watch: questions whose path a monitor keeps up to date. */

#include <stdatomic.h>

#include "base/counted.h"
#include "base/list.h"
#include "pure/address_tree.h"
#include "pure/question.h"

struct entry;
struct monitor;
struct netns;
struct path_watch;
struct round_cache;
struct rtnetlink;

/* An address on which an answer depends. */
struct entry_key {
    struct address_entry address;
    struct entry *entry; /* NULL: all entries that depend on the default path */
};

/* What a watch does. */
struct path_watch_type {
    struct counted *(*owner)(struct path_watch *watch); /* the monitor retains it during `accept` */
    /* Tells the processor to load what `accept` will use. NULL: nothing. */
    void (*prefetch)(const struct path_watch *watch);
    /* Evaluates instead of full_path_evaluate, with its arguments; NULL: full_path_evaluate does. `rtnetlink` NULL:
     * netlink is denied. */
    int (*evaluate)(struct path_watch *watch, struct rtnetlink *rtnetlink, struct netns *netns,
                    struct round_cache *cache, const struct questions *questions, struct path *ret);
    /* Gives the owner the current path, after every change that may affect it, even if the path is the same. Called on
     * the thread that drives the loop, without a lock. If the watch is `outdated`, the owner's path may be newer:
     * `accept` returns false, and the monitor evaluates again. (A default path can be older: that of the slice. If it
     * has changed, a message in the queue says so.) */
    bool (*accept)(struct path_watch *watch, const struct path *path);
};

/* The owner sets `type`, `questions`, `extras` and `can_share`, and the address of a watch that can share or has no
 * questions. All are constant while the monitor watches. The other fields are under the loop's lock, unless a comment
 * says otherwise. */
struct path_watch {
    const struct path_watch_type *type;
    /* A reference; monitor_set_questions changes it. NULL: one plain question, about `address`. */
    struct questions *questions;
    uint8_t extras;                  /* query_extras bits */
    bool can_share;                  /* one plain question, or one with a group; only this monitor sets the path */
    bool active, has_job, has_parts; /* the owner's, under its own lock; here, as there is room for them */
    atomic_bool outdated;    /* since the evaluation began, another loop set the path, or the questions changed; set
                              * under the owner's lock */
    struct monitor *monitor; /* NULL: not watched */
    struct list node;        /* of the entry's members */
    /* Its entry, or one that was merged into it: see entry_of. The address is in a tree of the store if the watch can
     * share or has no questions: a watch that shares and has questions is always in that of members. */
    struct entry_key key;
};

/* Returns the questions of a watch. Those that it does not have are made in `memory`. */
static inline struct questions *path_watch_questions(const struct path_watch *watch, struct question_memory *memory)
{
    return watch->questions != NULL ? watch->questions : question_of_address(&watch->key.address.address, memory);
}

/* The group of a watch that can share. All zero: it is plain. */
static inline struct question_group path_watch_group(const struct path_watch *watch)
{
    struct question_group group = { 0 };

    if (watch->questions != NULL && !question_find_group(&watch->questions->items[0], &group))
        group = (struct question_group){ 0 };
    return group;
}

/* The destination of its first question. */
static inline struct address path_watch_destination(const struct path_watch *watch)
{
    return watch->questions != NULL ? watch->questions->items[0].destination : watch->key.address.address;
}

#endif
