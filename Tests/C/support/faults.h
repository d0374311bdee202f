/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FAULTS_H
#define TESTS_FAULTS_H

/*
 * Makes the library's system calls and allocations fail, and counts what it has allocated.
 *
 * Programs that are named test-fault... or test-denied... link a copy of the library in which every function NAME that
 * faults.c stands in for is called as faulty_NAME. What the tests call themselves never fails, and what is shipped
 * knows nothing of this. Tests/checks/fault-seam holds that no call of the library's is left out.
 */

#include <stdbool.h>
#include <sys/types.h>

#define FAULT_LASTS (~0u) /* a count */

/* Calls fail with what they can fail with: with EINTR those that can be interrupted, with EAGAIN sends and pthread.h's,
 * which else fail only with ENOMEM, as allocations do. */
struct fault {
    int         error;
    unsigned    nth;      /* of the calls that can fail so, from here on; 0, as 1, is the next */
    unsigned    count;    /* how many in a row; 0: one */
    bool        loses;    /* a receive that fails has taken the datagram off the queue */
    const char *function; /* of the calls of this one alone; NULL: of all */
};

/* From here on, whichever thread the library calls from. */
void faults_arm(const struct fault *fault);

/* Ends it. The function that failed, the first of several; NULL: none did. */
const char *faults_disarm(void);

/* How many calls have failed since faults_arm. */
unsigned faults_struck(void);

/* How many blocks of memory the library holds. */
long faults_blocks(void);

/* What the library's send and socket do in place of send(2) and socket(2). NULL: those. */
extern ssize_t (*faults_send)(int fd, const void *bytes, size_t length, int flags);
extern int (*faults_socket)(int domain, int type, int protocol);

#endif
