/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NETWORK_SERVICE_H
#define REACHABILITY_NETWORK_SERVICE_H

/*
 * Keeps the network path of a namespace up to date, for one run loop, and reports each change to network watches.
 * Reports to name watches when names must be looked up again: when a resolver file, a default path or the path to the
 * name servers has changed, or when the watch's deadline has passed. If changes go on, there are pauses between these
 * reports.
 */

#include "base/heap.h"
#include "route/network_path.h"
#include "watch/monitor.h"
#include "watch/service.h"

struct name_watch_type;
struct network_service;

/* The first member of both kinds of watches. The owner sets `user.owner` and `name_type`. */
struct network_user {
    struct service_user user;
    struct network_service *service;         /* NULL: none */
    const struct name_watch_type *name_type; /* NULL: a network watch */
};

/* Does nothing if the watch is in no service. From any thread. */
void network_service_leave(SCRunLoopRef loop, struct network_user *user);

/* ---- Network watches -------------------------------------------------------------------------------------------- */

struct network_watch {
    struct network_user of;
    bool reported; /* `changed` was called */
    /* Called on the driving thread, without a lock: once with the whole network path, then after each change. Takes a
     * reference if it keeps the network path. */
    void (*changed)(struct network_watch *watch, struct network_path *network);
};

/* From any thread. Adds the watch to the loop's service for the namespace, until network_service_leave. *ret_first: the
 * network path now, with a reference; some ways may be missing. Does not wait for RTNL. Returns 0 or an errno. */
int network_service_join(SCRunLoopRef loop, struct netns *netns, struct network_watch *watch,
                         struct network_path **ret_first);

/* Reads which name servers there are, and gets the questions about the network path, with a reference. Returns 0 or an
 * errno. */
int network_service_questions(struct questions **ret);

/* ---- Name watches ----------------------------------------------------------------------------------------------- */

struct name_watch;

/* Both are called on the driving thread, without a lock. */
struct name_watch_type {
    /* `changed`: something changed that affects names. Otherwise the deadline has passed; there is none now. */
    void (*due)(struct name_watch *name_watch, bool changed);
    /* The path of a watch that follows the default path. */
    void (*default_path)(struct name_watch *name_watch, const struct path *path);
};

struct name_watch {
    struct network_user of;
    struct heap_node deadline; /* in the service's heap */
};

/* From any thread. Adds the watch to the loop's service for the namespace, until network_service_leave. Returns 0
 * or an errno. */
int network_service_join_name(SCRunLoopRef loop, struct netns *netns, struct name_watch *name_watch);

/* The watch gets the default path after each change, and once in the next pass of the loop, until it leaves or stops
 * following. So a name that is pending needs no evaluation of its own. From any thread. */
void network_service_follow(SCRunLoopRef loop, struct name_watch *name_watch);
void network_service_stop_following(SCRunLoopRef loop, struct name_watch *name_watch);

void network_service_set_deadline(SCRunLoopRef loop, struct name_watch *name_watch, int64_t deadline);

#endif
