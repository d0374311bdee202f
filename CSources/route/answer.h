/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ANSWER_H
#define REACHABILITY_ANSWER_H

/* Watches and their answers. An answer is the path of one watch, or of several that share it. Under the loop's lock,
 * unless a comment says otherwise. */

#include <stdatomic.h>

#include "base/counted.h"
#include "base/list.h"
#include "pure/question.h"
#include "route/extent.h"
#include "route/lifetimes.h"
#include "route/link_index.h"
#include "route/route_index.h"

struct gateways;
struct monitor;
struct netns;
struct round_cache;

struct path_watch;

/* What a watch does. */
struct path_watch_type {
    struct counted *(*owner)(struct path_watch *watch); /* the monitor retains it during `accept` */
    /* Tells the processor to load what `accept` will use. NULL: nothing. */
    void (*prefetch)(const struct path_watch *watch);
    /* Evaluates instead of full_path_evaluate, with its arguments; NULL: full_path_evaluate does. `rtnetlink` NULL:
     * netlink is denied. Adds the gateways of all paths but *ret, which the monitor adds. */
    int (*evaluate)(struct path_watch *watch, struct rtnetlink *rtnetlink, struct netns *netns,
                    struct round_cache *cache, const struct questions *questions, struct gateways *gateways,
                    struct path *ret);
    /* Gives the owner the current path, after every change that may affect it, even if the path is the same. Called on
     * the thread that drives the loop, without a lock. `path_version` was read before the evaluation. If the version
     * has changed since then, the owner's path may be newer: `accept` returns false, and the monitor evaluates again.
     * (A default path can be older: that of the slice. If it has changed, a message in the queue says so.) */
    bool (*accept)(struct path_watch *watch, const struct path *path, unsigned path_version);
};

/* Questions whose path the monitor keeps up to date. The owner sets `type`, `questions`, `path_version`, `extras` and
 * `can_share`, and the address of a watch that can share or has no questions. All are constant while the monitor
 * watches. */
struct path_watch {
    const struct path_watch_type *type;
    /* A reference; monitor_set_questions changes it. NULL: one plain question, about `address`. */
    struct questions    *questions;
    atomic_uint         *path_version; /* changes whenever the owner's path or questions change, for any loop */
    uint8_t              extras;       /* query_extras bits */
    bool                 can_share;    /* one plain question; only this monitor sets the owner's path */
    struct monitor      *monitor;      /* NULL: not watched */
    struct answer       *answer;
    struct list          node;    /* of the answer's lists */
    struct address_entry address; /* in struct sharing, if the answer is shared */
};

/* Returns the questions of a watch. Those that it does not have are made in `memory`. */
static inline struct questions *path_watch_questions(const struct path_watch *watch, struct question_memory *memory)
{
    return watch->questions != NULL ? watch->questions : question_of_address(&watch->address.address, memory);
}

/* The destination of its first question. */
static inline struct address path_watch_destination(const struct path_watch *watch)
{
    return watch->questions != NULL ? watch->questions->items[0].destination : watch->address.address;
}

struct answer {
    struct list               node, stale; /* of the lists in struct watch_set */
    struct list               watches;
    struct route_index_member routes; /* that affect the path; if it is shared, only those that `dependencies` name */
    struct link_index_member  links;  /* the same */
    struct lifetime_member    lifetime;
    struct list               unfinished; /* of the list in struct watch_set */
    struct address            outer;      /* what the last path depended on: see struct dependencies */
    bool                      any_route;  /* the same */
    bool                      pppd;       /* the same: the path depends on pppd's database */
    bool                      is_second;  /* the next evaluation is the second after a change that was unfinished */
    bool                      is_representative; /* the next evaluation is made for all that share the lifetime */
    bool                      evaluated;         /* since it has these questions */
    bool                      is_shared;         /* part of a struct shared_answer */
    bool                      is_exception;      /* the last path was not that of the route: see extent_has_path */
};

/* What an evaluation means for the watches that share the answer. */
enum share_mode {
    SHARE_FOLLOW, /* all have the path */
    SHARE_CHECK,  /* only watches with the same route have the path: query each */
    SHARE_LEAVE   /* each is evaluated by itself */
};

/*
 * The answer of all watches in one prefix, the extent. No route to a longer prefix leads to any of them. So every route
 * that leads to one of them leads to all, and it is enough to evaluate one, the leader.
 */
struct shared_answer {
    struct answer         answer;
    struct address_entry  first; /* of the extent's addresses; in struct sharing */
    uint8_t               length;
    struct path_watch    *leader;     /* the watch whose question was evaluated last; NULL: it has left */
    size_t                count;      /* of watches */
    struct list           pending;    /* watches without the last evaluation's path */
    struct list           applying;   /* of the list in struct watch_set, if there are pending watches */
    bool                  must_check; /* the next evaluation cannot be SHARE_FOLLOW */
    bool                  settled;    /* each watch that is not pending has `path`; false if that is not known */
    enum share_mode       mode;       /* of the last evaluation, like the next two */
    struct address_prefix match;      /* the route's prefix */
    struct path           path;
};

static inline struct shared_answer *answer_shared(struct answer *answer)
{
    return answer->is_shared ? container_of(answer, struct shared_answer, answer) : NULL;
}

#endif
