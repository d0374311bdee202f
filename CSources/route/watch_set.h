/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_WATCH_SET_H
#define REACHABILITY_WATCH_SET_H

/*
 * The watches of one monitor, and which of them are stale: must be evaluated again. The work of each function depends
 * on the number of watches that become stale, not on the number of all.
 *
 * Under the loop's lock.
 */

#include <stdatomic.h>

#include "base/counted.h"
#include "base/list.h"
#include "route/lifetimes.h"
#include "route/route_index.h"

struct monitor;
struct netns;
struct round_cache;

/* Questions whose path the monitor keeps up to date. The owner sets `owner`, `extras`, `path_version` and `accept`,
 * which are constant while the monitor watches. The other fields are under the loop's lock. */
struct path_watch {
    struct list       node, stale; /* of the lists in struct watch_set */
    struct counted   *owner;       /* the monitor retains it during `accept` */
    struct questions *questions;   /* a reference; monitor_set_questions changes it */
    unsigned          extras;      /* query_extras bits */
    /* Evaluates instead of full_path_evaluate, with its arguments; NULL: full_path_evaluate does. `rtnetlink` NULL:
     * netlink is denied. */
    int (*evaluate)(struct path_watch *watch, struct rtnetlink *rtnetlink, struct netns *netns,
                    struct round_cache *cache, const struct questions *questions, struct path *ret);
    /* Changes whenever the owner's path or questions change, for any loop. */
    atomic_ulong *path_version;
    /* Gives the owner the current path, after every change that may affect it, even if the path is the same. Called on
     * the thread that drives the loop, without a lock. `path_version` was read before the evaluation. If the version
     * has changed since then, the owner's path may be newer: `accept` returns false, and the monitor evaluates
     * again. */
    bool (*accept)(struct path_watch *watch, const struct path *path, unsigned long path_version);
    struct monitor           *monitor; /* NULL: not watched */
    struct route_index_member routes;  /* that affect the path */
    struct lifetime_member    lifetime;
    struct list               pppd;      /* of the list in struct watch_set, if the path depends on pppd's database */
    struct address            outer;     /* what the last path depended on: see struct dependencies */
    bool                      any_route; /* the same */
    bool                      is_representative; /* the next evaluation is made for all that share the lifetime */
    bool                      evaluated;         /* since watch_set_add */
};

struct watch_set {
    struct list        watches;
    struct list        stale, round, failed; /* a stale watch is in one of them: see watch_set_begin_round */
    struct list        pppd;
    struct route_index routes;
    struct lifetimes   lifetimes;
};

void watch_set_init(struct watch_set *set);
bool watch_set_is_empty(const struct watch_set *set);
void watch_set_free(struct watch_set *set); /* the set is empty */

/* A new watch, or one with new questions, is stale. */
void watch_set_add(struct watch_set *set, struct path_watch *watch);
void watch_set_remove(struct watch_set *set, struct path_watch *watch); /* another one may be stale then */
void watch_set_replace_questions(struct watch_set *set, struct path_watch *watch);

/* What has changed: each marks the affected watches stale. */
void watch_set_mark_all(struct watch_set *set);
void watch_set_mark_pppd(struct watch_set *set);
bool watch_set_mark_route(struct watch_set *set, const struct route *route); /* false: it affects no watch */
void watch_set_mark_ended(struct watch_set *set, int64_t now);
/* Lifetimes must be read again. `all`: also those of routes that do not expire, so far. */
void watch_set_mark_lifetimes(struct watch_set *set, bool all);

/* All stale watches are now in the list `round`. Watches that become stale later are in `stale`. */
void watch_set_begin_round(struct watch_set *set);

/* Takes the next watch of the round. NULL: there is none left. */
struct path_watch *watch_set_take_stale(struct watch_set *set);

/* The evaluation of a watch has failed: it goes to the list `failed`. */
void watch_set_note_failure(struct watch_set *set, struct path_watch *watch);

/* Adds a watch to one of the three lists, unless it is in one. */
void watch_set_put_stale(struct path_watch *watch, struct list *list);

/* The watches that are left in `round` or `failed` are in `stale` again. Returns whether others were there before. */
bool watch_set_end_round(struct watch_set *set);

/* A watch was evaluated; its path has these dependencies. */
void watch_set_update(struct watch_set *set, struct path_watch *watch, const struct dependencies *dependencies);

#endif
