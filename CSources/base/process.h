/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_PROCESS_H
#define REACHABILITY_PROCESS_H

/*
 * What belongs to the process as a whole: one lock for all that is neither a target's nor a loop's, our descriptors,
 * and what becomes of it all in a child after fork(2).
 *
 * The child has copies of our objects, in whatever state other threads were leaving them, and descriptors that act on
 * the parent's sockets and timers. So the first thing that it does is to close these. What it inherited belongs to
 * another era: it can be released, and is good for nothing else.
 */

#include <pthread.h>

#include "base/list.h"

/* To be called before anything is made that a child could inherit. 0 or an errno. */
int process_prepare(void);

/* The era, as each object notes it when it is made: it begins with a fork. One load. */
unsigned process_era(void);

/* The last lock to take: under it nothing waits, memory is neither had nor given back, and no code of a user's runs. A
 * fork takes it, so that a child finds whole what it guards. */
void process_lock(void);
void process_unlock(void);

/* A descriptor of ours; it stays where it is while it is open. */
struct descriptor {
    struct list node;
    int         fd; /* -1: closed */
};

#define DESCRIPTOR_CLOSED ((struct descriptor){ .fd = -1 })

/* Keeps what open(2), socket(2) or their like returned a moment ago, under the lock in which it was called: a fork in
 * between would leave it to the child. 0, or the errno when that is -1. */
int  descriptor_keep_locked(struct descriptor *ret, int fd);
void descriptor_close(struct descriptor *descriptor);
void descriptor_forget(
    struct descriptor *descriptor); /* which the program has closed: the number may be its own by now */

/* Opens a file for reading, with these flags besides. Under the lock: one that is in memory, as in /proc. 0 or an
 * errno. */
int descriptor_open(const char *path, int flags, struct descriptor *ret);

/* Reads until the end or as many bytes, into *ret_length how many. 0 or an errno; what was read before it counts. */
int descriptor_read(const struct descriptor *descriptor, void *bytes, size_t size, size_t *ret_length);

/* Starts a thread of ours, which takes no signal. 0 or an errno. */
int process_start_thread(void *(*run)(void *argument), void *argument, bool detached, pthread_t *ret);

#endif
