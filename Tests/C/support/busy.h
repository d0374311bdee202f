/* SPDX-License-Identifier: MIT */
#ifndef TESTS_BUSY_H
#define TESTS_BUSY_H

/* A process that uses the library in every way: targets that are only queried, or are scheduled on the thread's own
 * loop, on another loop or on a scheduler, in this network namespace and in another. For parts of a program
 * (program.h). */

#include <reachability/reachability.h>
#include <stdbool.h>

enum { BUSY_QUERIED, BUSY_OWN, BUSY_OTHER, BUSY_NAME, BUSY_SCHEDULER, BUSY_FOREIGN, BUSY_TARGETS };

extern struct busy {
    SCRunLoopRef own, loop;                         /* the thread's own, and a new one */
    SCNetworkReachabilityRef targets[BUSY_TARGETS]; /* 127.0.0.1, except two names */
    int calls;                                      /* on loops */
    bool left_scheduler;
} busy;

/* Fills it. The network namespace's lo is to be up. */
void busy_begin(void);

/* Takes the target from its scheduler, so that the library thread ends. While it runs, the process stays alive even
 * after its main thread has ended. */
void busy_leave_scheduler(void);

/* Checks that all objects can still be queried, driven, unscheduled and released, and that new ones can be created. The
 * thread's own loop, and its schedules, may have ended. From any thread. */
void busy_end(bool own_loop_ended);

#endif
