/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_PROCESS_H
#define REACHABILITY_PROCESS_H

/*
 * The state of the process: one lock for all data that belongs to no target and no loop, the library's descriptors, the
 * handling of fork(2), threads, and the user for whom the kernel finds routes.
 *
 * After a fork the child closes the descriptors, which share the parent's sockets and timers, and begins a new era.
 * Objects of an earlier era, which other threads may have left half changed, can be retained and released, and nothing
 * else.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/list.h"

/* Returns 0, or ENOMEM if the fork handlers could not be registered when the library was loaded. */
int reach_process_prepare(void);

/* 1 + the number of forks in this process's ancestry since the library was loaded. Each object stores that of its
 * creation. */
extern __attribute__((visibility("hidden"))) atomic_uint reach_process_current_era;
static inline unsigned process_era(void)
{
    return atomic_load_explicit(&reach_process_current_era, memory_order_relaxed);
}

static inline bool process_is_in_era(unsigned era)
{
    return process_era() == era;
}

/* The last lock to take. While it is held, nothing waits, and no user code runs. A fork takes it, so that the child
 * finds consistent data behind it. */
void reach_process_lock(void);
void reach_process_unlock(void);

/* A descriptor of the library's, which a child closes. (Not one that another thread has just got from the kernel: the
 * child keeps it until exec.) The structure must not move while it is open. */
struct descriptor {
    struct list node;
    atomic_int fd; /* -1: closed */
    bool marked;   /* false: a sandbox refuses marks */
};

#define DESCRIPTOR_CLOSED ((struct descriptor){ .fd = -1 })

/* Stores `fd`, which a call has just returned, in *ret. Returns 0, or errno if `fd` is -1. */
int reach_descriptor_adopt(struct descriptor *ret, int fd);

/* Closes the file, unless the program has closed it and uses its number for another. close(2) can wait: call this
 * without a lock that fork or Create takes. Does nothing if it is closed. */
void reach_descriptor_close(struct descriptor *descriptor);

static inline bool descriptor_is_open(const struct descriptor *descriptor)
{
    return descriptor->fd >= 0;
}

/* The user whose policy rules apply to what the calling thread sends: the effective one, which a new socket gets. Costs
 * one system call. PROCESS_USER_UNKNOWN: this user namespace has no number for it. */
#define PROCESS_USER_UNKNOWN  ((uid_t)-1)
#define PROCESS_USER_OVERFLOW 65534 /* stands for all of them, and is often the number of the user nobody */
static inline uid_t process_user(void)
{
    const uid_t user = geteuid();

    return user == PROCESS_USER_OVERFLOW && getuid() == PROCESS_USER_OVERFLOW ? PROCESS_USER_UNKNOWN : user;
}

/* Start a library thread, with all signals blocked. Return 0 or an errno. ret NULL: the thread is detached. The small
 * one is detached, and no code of the program may run on it. */
int reach_process_start_thread(void *(*run)(void *argument), void *argument, pthread_t *ret);
int reach_process_start_small_thread(void *(*run)(void *argument), void *argument);

#endif
