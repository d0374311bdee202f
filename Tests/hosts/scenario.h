/* SPDX-License-Identifier: MIT */
#ifndef HOSTS_SCENARIO_H
#define HOSTS_SCENARIO_H

/*
 * The scenario that every host runs, in a network namespace of its own. The path of a target depends on the default
 * route. A second thread adds and deletes this route a thousand times, and waits for the callback each time. Then it
 * does so a thousand times without waiting. The result is one row of a table.
 *
 * The order of calls: scenario_enter; the host prepares its loop; scenario_target; the host schedules the target;
 * scenario_run; the host drives its loop until scenario_is_over; it unschedules the target; scenario_end. A process
 * runs one scenario. This needs no test framework.
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
    /* Expected threads of the library while a target is scheduled: 0 on a run loop, 1 on a scheduler. */
    unsigned threads;
    /* The host starts threads at any time: only threads with the library's name count as the library's. */
    bool has_workers;
    /* Returns whether callbacks may run on the calling thread. NULL: they may run on the thread of scenario_run
     * only. */
    bool (*is_callback_thread)(void);
    /* Called on another thread when the scenario is over, to end the host's wait. NULL: the host is in
     * scenario_wait. */
    void (*wake)(SCRunLoopRef loop);
    SCRunLoopRef loop;
};

/* Enters the namespace, or ends the process with status 77. Call it before the first thread is created. */
void scenario_enter(void);

/* Creates a target with a callback, not scheduled. Threads and descriptors that exist before this call count as the
 * host's. */
SCNetworkReachabilityRef scenario_target(void);

/* Starts the changes, and returns at once. */
void scenario_run(const struct host *host);

bool scenario_is_over(void);

/* Waits until the scenario is over. */
void scenario_wait(void);

/* Releases the target, and prints the row, and each failure on the standard error. Returns the exit status for main. */
int scenario_end(void);

#define MUST(holds) ((holds) ? (void)0 : scenario_fail(__FILE__, __LINE__, #holds))
#if defined(__GNUC__)
__attribute__((noreturn))
#endif
void scenario_fail(const char *file, int line, const char *what);

#ifdef __cplusplus
}
#endif

#endif
