/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FAULTS_H
#define TESTS_FAULTS_H

/*
 * Makes system calls and allocations of the library fail, and counts its allocations.
 *
 * The programs test-fault... and test-denied... link a copy of the library that calls faulty_NAME in place of each
 * function NAME in faults.c. Calls of the tests themselves never fail. The shipped library has none of this.
 * Tests/checks/fault-seam checks that every call of the library has a stand-in.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define FAULT_LASTS (~0u) /* a count */

/* A call fails only with an errno that it can have: EINTR if it can be interrupted, EAGAIN if it sends or is of
 * pthread.h. Those of pthread.h and allocations also fail with ENOMEM. */
struct fault {
    int error;
    unsigned nth;         /* which of the calls that can fail so; 0 and 1: the next */
    unsigned count;       /* how many in a row; 0: one */
    bool loses;           /* a receive that fails has taken the datagram off the queue */
    const char *function; /* only its calls count; NULL: all */
};

/* Starts it, for calls on any thread. */
void faults_arm(const struct fault *fault);

/* Ends it. Returns the first function that failed; NULL: none did. */
const char *faults_disarm(void);

/* How many calls have failed since faults_arm. */
unsigned faults_struck(void);

/* How many calls have failed since the program began, and the places in the library's code where they were made: the
 * return addresses. Forked processes count, too. */
unsigned long faults_count(void);
size_t faults_places(void);
const void *faults_place(size_t i);

/* How many blocks of memory the library holds. */
long faults_blocks(void);

/* The library calls these in place of send(2) and socket(2). NULL: send(2) and socket(2). */
extern ssize_t (*faults_send)(int fd, const void *bytes, size_t length, int flags);
extern int (*faults_socket)(int domain, int type, int protocol);

#endif
