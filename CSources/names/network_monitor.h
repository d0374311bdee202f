/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NETWORK_MONITOR_H
#define REACHABILITY_NETWORK_MONITOR_H

/* Keeps the default paths of a network namespace up to date, for one run loop, and reports each change. */

#include "route/network_path.h"
#include "watch/monitor.h"
#include "watch/service.h"

struct network_monitor;

/* A user of a network monitor. */
struct network_watch {
    struct service_user user;
    struct network_monitor *monitor; /* NULL: none */
    bool reported;                   /* `changed` was called */
    bool repeats;                    /* `changed` is called after each evaluation */
    /* Called on the driving thread, without a lock: once with the whole network path, then after each change. Takes a
     * reference if it keeps the network path. */
    void (*changed)(struct network_watch *watch, struct network_path *network);
};

/* From any thread. Adds the watch to the loop's network monitor for the namespace, until network_monitor_leave.
 * *ret_first: the network path now, with a reference; some ways may be missing. Does not wait for RTNL. Returns 0 or
 * an errno. */
int network_monitor_join(SCRunLoopRef loop, struct netns *netns, struct network_watch *watch,
                         struct network_path **ret_first);
void network_monitor_leave(SCRunLoopRef loop, struct network_watch *watch);

/* From now on, each evaluation is reported, also one that found no change: another loop may have reported a change that
 * this one never sees. */
void network_monitor_repeat(SCRunLoopRef loop, struct network_watch *watch);

/* Reads which name servers there are, and gets the questions about the network path, with a reference. Returns 0 or an
 * errno. */
int network_monitor_questions(struct questions **ret);

#endif
