/* SPDX-License-Identifier: MIT */
#ifndef TESTS_BUSY_H
#define TESTS_BUSY_H

/* A process in the midst of using the library in every way: targets that were only asked, that are scheduled on the
 * thread's own loop, on another and on a scheduler, of this network namespace and of one more. For parts of a program
 * (program.h). */

#include <reachability/reachability.h>
#include <stdbool.h>

enum { BUSY_QUERIED, BUSY_OWN, BUSY_OTHER, BUSY_NAME, BUSY_SCHEDULER, BUSY_FOREIGN, BUSY_TARGETS };

extern struct busy {
    SCRunLoopRef             own, loop;             /* the thread's, and one made for the purpose */
    SCNetworkReachabilityRef targets[BUSY_TARGETS]; /* 127.0.0.1, but for two names */
    int                      calls;                 /* on loops */
    bool                     left_scheduler;
} busy;

/* Fills it. The network namespace's lo is to be up. */
void busy_begin(void);

/* Takes the target from its scheduler, so that the library's thread ends. It keeps a process alive whose main thread
 * has ended. */
void busy_leave_scheduler(void);

/* What there is can still be asked, driven, unscheduled and released, and new things can be made. The thread's own loop
 * may have ended, and with it what was scheduled on it. From any thread. */
void busy_end(bool own_loop_ended);

#endif
