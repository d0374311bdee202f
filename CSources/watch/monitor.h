/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_MONITOR_H
#define REACHABILITY_MONITOR_H

/* Watches one network namespace for one run loop, and keeps paths up to date. */

#include "loop/runloop.h"
#include "route/netns.h"
#include "watch/watch.h"

/* Starts watching, until monitor_unwatch. From any thread. The first call of `accept` comes in the next round. Returns
 * 0 or an errno. */
int monitor_watch(SCRunLoopRef loop, struct netns *netns, struct path_watch *watch);

/* The watch shares no answer from now on: another monitor will set its owner's path, too. From any thread. Returns 0 or
 * ENOMEM. */
int monitor_isolate(SCRunLoopRef loop, struct path_watch *watch);

/* Replaces the questions, and takes a reference to the new ones (NULL: the plain one). The watch is evaluated again,
 * also if they are the same. From any thread. */
void monitor_set_questions(SCRunLoopRef loop, struct path_watch *watch, struct questions *questions);

/* Evaluates the watch again, also if nothing has changed. From any thread. */
void monitor_evaluate_again(SCRunLoopRef loop, struct path_watch *watch);

/* Stops watching. From any thread. If the monitor is evaluating these questions, `accept` is still called once. */
void monitor_unwatch(SCRunLoopRef loop, struct path_watch *watch);

/* Statistics since the monitor was created; all 0 if the monitor does not watch. */
struct monitor_counters {
    unsigned long overruns, queries;
};
struct monitor_counters monitor_count(SCRunLoopRef loop, const struct path_watch *watch);

#endif
