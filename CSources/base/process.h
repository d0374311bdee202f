/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_PROCESS_H
#define REACHABILITY_PROCESS_H

/*
 * The state of the process: one lock for all data that belongs to no target and no loop, the library's descriptors, and
 * the handling of fork(2).
 *
 * After a fork the child has copies of our objects, which other threads may have left half changed, and descriptors
 * that share the parent's sockets and timers. So the child first closes these descriptors. Objects that it inherited
 * belong to an earlier era: they can be retained and released, and nothing else.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Registers the fork handlers. Call it before creating an object that a child could inherit. Returns 0 or an errno. */
int process_prepare(void);

/* The current era: the number of forks in this process's ancestry since the library was loaded. Each object stores the
 * era of its creation. Costs one load. */
extern atomic_uint     process_current_era;
static inline unsigned process_era(void)
{
    return atomic_load_explicit(&process_current_era, memory_order_relaxed);
}

/* The last lock to take. While it is held, nothing waits, allocates or frees, no file is closed, and no user code runs.
 * A fork takes it, so that the child finds consistent data behind it. */
void process_lock(void);
void process_unlock(void);

/* A descriptor of the library's. The structure must not move while it is open: process.c has a pointer to it. A program
 * may close all descriptors (closefrom(3)) and get their numbers for files of its own. */
struct descriptor {
    struct descriptor *next;
    int                fd;       /* -1: closed */
    bool               marked;   /* descriptor_is_ours can recognize it */
    atomic_bool        replaced; /* the library has a later descriptor with this number */
};

#define DESCRIPTOR_CLOSED ((struct descriptor){ .fd = -1 })

/* Stores `fd`, which socket(2), epoll_create1(2) or a similar call has just returned, in *ret. Make that call under the
 * same lock, so that no fork between the two leaks the descriptor to the child. Returns 0, or errno if `fd` is -1. */
int descriptor_register_locked(struct descriptor *ret, int fd);

/* Whether the number still belongs to this descriptor: the program has not closed it. If a sandbox refuses marks, it is
 * assumed that it has not. Costs one short system call. Async-signal-safe. */
bool descriptor_is_ours(const struct descriptor *descriptor);

/* Closes the descriptor, unless the number belongs to a file of the program's. close(2) can wait: call this without a
 * lock that fork or Create takes. */
void descriptor_close(struct descriptor *descriptor);

/* Opens a file for reading, with additional flags. This takes the lock, so open only files in memory, as in /proc and
 * /sys; for others there is file_read. Returns 0 or an errno. */
int descriptor_open(const char *path, int flags, struct descriptor *ret);

/* Reads up to `size` bytes, or to the end of the file. Returns 0 or an errno; *ret_length is the number of bytes read,
 * also after an error. */
int descriptor_read(const struct descriptor *descriptor, void *bytes, size_t size, size_t *ret_length);

/* Starts a library thread, with all signals blocked. Returns 0 or an errno. */
int process_start_thread(void *(*run)(void *argument), void *argument, bool detached, pthread_t *ret);

#endif
