/* SPDX-License-Identifier: MIT */
#ifndef TESTS_OUTSIDE_H
#define TESTS_OUTSIDE_H

/* Commands that a process outside of valgrind starts. A fork under valgrind takes about 15 ms, as does posix_spawn(3),
 * which forks there: valgrind does not share memory with a child. Most tests run several commands of ip(8). */

/* Starts that process if the tests run under a tool of valgrind. Before the first test: tests count descriptors. */
void outside_open(void);
void outside_close(void);

/* Starts a command in the namespaces and on the processors of the calling thread. Returns a descriptor for
 * outside_status, or -1: there is no process outside. An input of -1 is empty. */
int outside_start(char *const arguments[], int input, int output);

/* Waits until the command has ended. Closes the descriptor. Returns the status as of waitpid(2). */
int outside_status(int fd);

#endif
