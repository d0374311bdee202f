/* SPDX-License-Identifier: MIT */
#ifndef TESTS_CHILD_H
#define TESTS_CHILD_H

/*
 * Child processes of a test. Assertions work in a child, on any thread: a failure is printed and ends the child by
 * SIGABRT. A time limit ends it by SIGALRM, as a child that hangs after fork(2) hangs for ever.
 */

#include <stdbool.h>
#include <sys/types.h>

/* Forks; true in the child. From any thread. */
bool child_fork(pid_t *ret);

/* Forks; true in the child. In the parent it returns when the child has ended, as child_expect_end. */
bool child_begin(void);

/* Ends the child with status 0, by _exit(2): a leak check would report what the child inherited. */
_Noreturn void child_end(void);

/* Waits for a child. Fails the test unless its status is 0. */
void child_expect_end(pid_t pid);

/* Waits for a child that ends by exit, and returns its status. Fails the test if a signal ends it. */
int child_status(pid_t pid);

/* Waits for a child. Fails the test unless SIGKILL ended it. */
void child_expect_killed(pid_t pid);

/* Runs a function in a child and waits for it: for a test that changes the main thread for good. */
void child_run(void (*body)(void));

#endif
