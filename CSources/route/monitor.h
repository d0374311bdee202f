/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_MONITOR_H
#define REACHABILITY_MONITOR_H

/* Watches one network namespace for one run loop, and keeps paths up to date. */

#include "base/counted.h"
#include "base/list.h"
#include "loop/runloop.h"
#include "route/lifetimes.h"
#include "route/netns.h"

struct monitor;

/* Questions whose path the monitor keeps up to date. The owner sets `owner`, `extras`, `path_version` and `accept`,
 * which are constant while the monitor watches. The other fields are under the loop's lock. */
struct path_watch {
    struct list       node, stale; /* of the lists in struct monitor */
    struct counted   *owner;       /* the monitor retains it during `accept` */
    struct questions *questions;   /* a reference; monitor_set_questions changes it */
    unsigned          extras;      /* query_extras bits */
    /* Changes whenever the owner's path or questions change, for any loop. */
    atomic_ulong *path_version;
    /* Gives the owner the current path, after every change that may affect it, even if the path is the same. Called on
     * the thread that drives the loop, without a lock. `path_version` was read before the evaluation. If the version
     * has changed since then, the owner's path may be newer: `accept` returns false, and the monitor evaluates
     * again. */
    bool (*accept)(struct path_watch *watch, const struct path *path, unsigned long path_version);
    struct monitor        *monitor; /* NULL: not watched */
    struct lifetime_member lifetime;
    struct list            pppd;         /* of the list in struct monitor, if the path depends on pppd's database */
    bool                   is_sample;    /* the next evaluation is made for all that share the lifetime */
    bool                   evaluated;    /* since monitor_watch */
    struct dependencies    dependencies; /* of the last path */
};

/* Starts watching, until monitor_unwatch. From any thread. The first call of `accept` comes in the next pass of the
 * loop. Returns 0 or an errno. */
int monitor_watch(SCRunLoopRef loop, struct netns *netns, struct path_watch *watch);

/* Replaces the questions, and takes a reference to the new ones. From any thread. */
void monitor_set_questions(SCRunLoopRef loop, struct path_watch *watch, struct questions *questions);

/* Stops watching. From any thread. If the monitor is evaluating these questions, `accept` is still called once. */
void monitor_unwatch(SCRunLoopRef loop, struct path_watch *watch);

/* Statistics since the monitor was created; all 0 if the monitor does not watch. */
struct monitor_counters {
    unsigned long overruns, queries;
};
struct monitor_counters monitor_count(SCRunLoopRef loop, const struct path_watch *watch);

#endif
