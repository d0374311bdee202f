/* SPDX-License-Identifier: MIT */
#ifndef HOSTS_SCENARIO_H
#define HOSTS_SCENARIO_H

/*
 * What every host goes through: in a network namespace of its own a target follows the default route, which a second
 * thread gives and takes away a thousand times, waiting each time for the callback that says so; then a thousand times
 * without waiting. One row of a table tells what came of it.
 *
 * scenario_enter, then what the host needs for itself; scenario_target, then the schedule; scenario_run, and the host
 * drives until scenario_is_over; the schedule ends; scenario_end. One scenario a process. Needs no test framework.
 */

#include <reachability/reachability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

struct host {
    const char *name;
    unsigned    threads;     /* of the library's while a target is scheduled: 0 on a run loop, 1 on a scheduler */
    bool        has_workers; /* it starts threads when it likes: the library's are told by their name */
    bool (*is_here)(void);   /* whether callbacks belong where this is called; NULL: on the thread of scenario_run */
    void (*end)(SCRunLoopRef loop); /* called on another thread when all is over; NULL: the host is in scenario_wait */
    SCRunLoopRef loop;
};

/* Enters the namespace, or ends the process with 77. Before there is a second thread. */
void scenario_enter(void);

/* A target with a callback, not scheduled. The threads and descriptors that there are when this is called are the
 * host's. */
SCNetworkReachabilityRef scenario_target(void);

/* Lets the changes begin, and returns at once. */
void scenario_run(const struct host *host);

bool scenario_is_over(void);
void scenario_wait(void);

/* Releases the target, prints the row and, on the standard error, what is wrong with it. The exit status of main. */
int scenario_end(void);

#define MUST(holds) ((holds) ? (void)0 : scenario_give_up(__FILE__, __LINE__, #holds))
#if defined(__GNUC__)
__attribute__((noreturn))
#endif
void scenario_give_up(const char *file, int line, const char *what);

#ifdef __cplusplus
}
#endif

#endif
