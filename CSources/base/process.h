/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_PROCESS_H
#define REACHABILITY_PROCESS_H

/*
 * The state of the process: one lock for all data that belongs to no target and no loop, the library's descriptors, the
 * handling of fork(2), and the user for whom the kernel finds routes.
 *
 * After a fork the child has copies of our objects, which other threads may have left half changed, and descriptors
 * that share the parent's sockets and timers. So the child first closes these descriptors. Objects that it inherited
 * belong to an earlier era: they can be retained and released, and nothing else.
 *
 * A child of clone(2) or _Fork(3) runs no fork handlers. It begins its era with its first call, and closes nothing: its
 * table of descriptors may be the parent's (CLONE_FILES).
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

/* Registers the fork handlers. Call it before creating an object that a child could inherit. Returns 0 or an errno. */
int process_prepare(void);

/* The current era: PROCESS_FIRST_ERA, plus the number of forks in this process's ancestry since the library was loaded.
 * Each object stores the era of its creation. Costs one load. */
#define PROCESS_FIRST_ERA 1

/* Alone in its pages, which the kernel clears in each child, also in one that runs no fork handlers. */
#if defined(__x86_64__) || defined(__i386__)
#define PROCESS_PAGE_LIMIT 4096
#else
#define PROCESS_PAGE_LIMIT 65536 /* the largest page of other architectures */
#endif
struct process_era {
    _Alignas(PROCESS_PAGE_LIMIT) atomic_uint current; /* 0: a child has not begun its era */
    atomic_uint begun;                                /* how many threads have begun it */
};
extern __attribute__((visibility("hidden"))) struct process_era process_era_page;
__attribute__((cold)) unsigned process_begin_era(void);
static inline unsigned process_era(void)
{
    const unsigned era = atomic_load_explicit(&process_era_page.current, memory_order_acquire);

    return era != 0 ? era : process_begin_era();
}

/* process_era() == era, quickly if they are equal. */
static inline bool process_is_in_era(unsigned era)
{
    return atomic_load_explicit(&process_era_page.current, memory_order_relaxed) == era || process_era() == era;
}

/* The last lock to take. While it is held, nothing waits, allocates or frees, no file is closed, and no user code runs.
 * A fork takes it, so that the child finds consistent data behind it. */
void process_lock(void);
void process_unlock(void);

/* A descriptor of the library's. The structure must not move while it is open: process.c has a pointer to it. A program
 * may close all descriptors (closefrom(3)) and get their numbers for files of its own. So whoever keeps a descriptor
 * from one call of the program to the next asks descriptor_is_ours before each use. */
struct descriptor {
    struct descriptor *next;
    atomic_int fd;        /* -1: closed */
    atomic_bool marked;   /* descriptor_is_ours can recognize it */
    atomic_bool replaced; /* the library has a later descriptor with this number */
};

#define DESCRIPTOR_CLOSED ((struct descriptor){ .fd = -1 })

/* Stores `fd`, which socket(2), epoll_create1(2) or a similar call has just returned, in *ret. Make that call under the
 * same lock, so that no fork between the two leaks the descriptor to the child. Returns 0, or errno if `fd` is -1. */
int descriptor_register_locked(struct descriptor *ret, int fd);

/* The mark of our files: the signal of fcntl(2), F_SETSIG. It is not sent, as nothing sets O_ASYNC. The C libraries
 * keep this number for themselves, so no file of a program has it. An inode number cannot be the mark: all eventfds,
 * timers, epoll sets and inotify instances share one. A destination address in each send would not be enough: TCP,
 * MPTCP and SOCK_SEQPACKET ignore it, and another netlink socket accepts it. */
#define DESCRIPTOR_MARK 32

/* Whether the number still belongs to this descriptor: the program has not closed it. If a sandbox refuses marks, it is
 * assumed that it has not. Costs one short system call. Async-signal-safe. Inline, as process_user: each query uses
 * them, and the processor mispredicts each return after a system call. */
static inline bool descriptor_is_ours(const struct descriptor *descriptor)
{
    int mark = DESCRIPTOR_MARK;

    if (descriptor->fd < 0 || atomic_load(&descriptor->replaced))
        return false;
    if (descriptor->marked)
        mark = fcntl(descriptor->fd, F_GETSIG);
    return mark == DESCRIPTOR_MARK || (mark < 0 && errno != EBADF);
}

/* Closes the descriptor, unless the number belongs to a file of the program's. close(2) can wait: call this without a
 * lock that fork or Create takes. */
void descriptor_close(struct descriptor *descriptor);

/* Forgets a descriptor that is not ours any more. Another one can then be registered in its place, under the same lock.
 * Closes nothing. */
void descriptor_forget_locked(struct descriptor *descriptor);

/* Opens a file for reading, with additional flags. This takes the lock, so open only files in memory, as in /proc and
 * /sys; for others there is file_read. Returns 0 or an errno. */
int descriptor_open(const char *path, int flags, struct descriptor *ret);

/* The same, in place of a descriptor that is not ours any more. One that is stays open. */
int descriptor_reopen(const char *path, int flags, struct descriptor *descriptor);

/* Reads a file of /sys, at most `size` bytes: one call returns all of it. Returns 0 or an errno; *ret_length is the
 * number of bytes read, 0 after an error. */
int descriptor_read(const struct descriptor *descriptor, void *bytes, size_t size, size_t *ret_length);

/* The user whose policy rules apply to what the calling thread sends: the effective one, which a new socket gets. Costs
 * one system call. PROCESS_USER_UNKNOWN: this user namespace has no number for it. */
#define PROCESS_USER_UNKNOWN  ((uid_t)-1)
#define PROCESS_USER_OVERFLOW 65534 /* stands for all of them, and is often the number of the user nobody */
static inline uid_t process_user(void)
{
    const uid_t user = geteuid();

    return user == PROCESS_USER_OVERFLOW && getuid() == PROCESS_USER_OVERFLOW ? PROCESS_USER_UNKNOWN : user;
}

/* Starts a library thread, with all signals blocked. Returns 0 or an errno. */
int process_start_thread(void *(*run)(void *argument), void *argument, bool detached, pthread_t *ret);

/* The same: a detached thread with a small stack, of which there can be many. No code of the program may run on it. */
int process_start_small_thread(void *(*run)(void *argument), void *argument);

#endif
