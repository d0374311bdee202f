/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NAME_MONITOR_H
#define REACHABILITY_NAME_MONITOR_H

/*
 * What the answers of name servers depend on, as seen from one run loop and namespace: the resolver's files, the ways
 * to its servers, the default path. And a clock, for those who ask again after a while.
 */

#include "base/counted.h"
#include "base/list.h"
#include "route/monitor.h"

struct name_monitor;

/* Somebody whose name is looked up there. */
struct name_watch {
    struct list          node;
    struct counted      *owner;
    struct name_monitor *monitor;  /* NULL: lives nowhere */
    int64_t              deadline; /* NEVER: none */
    /* On the driving thread, without a lock: something changed, or the deadline has passed (it is NEVER then). */
    void (*stirred)(struct name_watch *name_watch, bool changed);
};

/* From now on until name_monitor_leave, from any thread. 0 or an errno. */
int  name_monitor_join(SCRunLoopRef loop, struct netns *netns, struct name_watch *name_watch);
void name_monitor_leave(SCRunLoopRef loop, struct name_watch *name_watch);

/* Whether what is known of the resolver's files holds: they are watched, and nothing was heard of them. */
bool name_monitor_files_are_unchanged(SCRunLoopRef loop, const struct name_watch *name_watch);

/* What is asked while a name is not resolved, as it was found last; with a reference. */
struct questions *name_monitor_pending_questions(SCRunLoopRef loop, const struct name_watch *name_watch);

void name_monitor_set_deadline(SCRunLoopRef loop, struct name_watch *name_watch, int64_t deadline);

#endif
