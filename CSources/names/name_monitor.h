/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NAME_MONITOR_H
#define REACHABILITY_NAME_MONITOR_H

/*
 * Reports when names must be looked up again, for one run loop and namespace: when a resolver file, the path to the
 * name servers, the default path or the path to a global IPv6 address has changed, or when a watch's deadline has
 * passed. If changes go on, there are pauses between the reports.
 */

#include "base/heap.h"
#include "watch/monitor.h"
#include "watch/service.h"

struct name_monitor;

struct name_watch;

/* Both are called on the driving thread, without a lock. */
struct name_watch_type {
    /* `changed`: something changed that affects names. Otherwise the deadline has passed; there is none now. */
    void (*due)(struct name_watch *name_watch, bool changed);
    /* The path of a watch that follows the default path. */
    void (*default_path)(struct name_watch *name_watch, const struct path *path);
};

/* One name in a name monitor. */
struct name_watch {
    struct service_user user;
    struct heap_node deadline; /* in the monitor's heap */
    const struct name_watch_type *type;
    struct name_monitor *monitor; /* NULL: none */
};

/* From any thread. Adds the watch to the loop's name monitor for the namespace until name_monitor_leave. Returns 0 or
 * an errno. */
int name_monitor_join(SCRunLoopRef loop, struct netns *netns, struct name_watch *name_watch);
void name_monitor_leave(SCRunLoopRef loop, struct name_watch *name_watch);

/* The watch gets the default path after each change, and once in the next pass of the loop, until it leaves or stops
 * following. So a name that is pending needs no evaluation of its own. From any thread. */
void name_monitor_follow(SCRunLoopRef loop, struct name_watch *name_watch);
void name_monitor_stop_following(SCRunLoopRef loop, struct name_watch *name_watch);

void name_monitor_set_deadline(SCRunLoopRef loop, struct name_watch *name_watch, int64_t deadline);

#endif
