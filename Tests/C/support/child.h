/* SPDX-License-Identifier: MIT */
#ifndef TESTS_CHILD_H
#define TESTS_CHILD_H

/*
 * Child processes of a test's. In one, the assertions and what is built on them can be used as anywhere: a failure is
 * printed, and ends the child by SIGABRT, on whichever thread. So does a time limit, by SIGALRM: what hangs in a child
 * after fork(2) hangs for ever.
 */

#include <stdbool.h>
#include <sys/types.h>

/* Forks; true in the child. From any thread. */
bool child_fork(pid_t *ret);

/* Ends the child well, without anything that exit(3) does: what it inherited may be lost to a leak check. */
_Noreturn void child_end(void);

/* Waits for a child, and fails the test unless it ended well: status 0. */
void child_expect_end(pid_t pid);

/* The same for one that SIGKILL was to end. */
void child_expect_killed(pid_t pid);

/* Runs something in a child and waits for it: a whole test, if it is one that leaves a mark on the main thread. */
void child_run(void (*body)(void));

#endif
