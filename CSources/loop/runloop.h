/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_RUNLOOP_H
#define REACHABILITY_RUNLOOP_H

/*
 * SCRunLoop for the rest of the library. A loop knows nothing about networks. It has sources (a descriptor, a
 * deadline), jobs (calls to make), changes (what SCRunLoopCopyNextChange will return) and members (what is scheduled on
 * it).
 *
 * Each loop has one lock, for its lists. While it is held, sockets are opened and closed, but nothing waits for the
 * kernel's RTNL lock, and no user code runs.
 */

#include <stdbool.h>
#include <stdint.h>

#include <reachability/reachability.h>

#include "base/counted.h"
#include "base/heap.h"
#include "base/process.h"
#include "base/tree.h"

/* When a descriptor is readable, the deadline has passed, the source is due, or the process has another user, the
 * thread that drives the loop calls `run`, without the lock. No pass looks at the others. */
struct source {
    struct list node;       /* of the loop's sources */
    struct list queued;     /* of those that run in the next pass (`due`), or that still run in this one (`ready`) */
    struct tree_node named; /* by the key that its epoll events have: an event can come after its removal */
    struct heap_node timer; /* the deadline */
    struct counted counted;
    const struct descriptor *descriptor; /* in the loop's epoll set, if it is open; NULL: none */
    bool readable;                       /* the descriptor, in the current pass */
    /* Returns 0 or an errno; RUNLOOP_MORE: it has done a part of its work, and runs again after the jobs that it has
     * queued. */
    int (*run)(struct source *source);
};

#define RUNLOOP_MORE (-1)

/* Something that is scheduled on the loop. It can be in one of two queues: its job is a call to make on the thread that
 * drives the loop, its change is for SCRunLoopCopyNextChange. The queue has a reference. */
struct member {
    struct counted counted;
    struct list node, queued;
    const struct member_type *type;
};

/* Both functions are called without the lock, and release a reference. */
struct member_type {
    bool (*run)(struct member *member);   /* the job; returns whether it made a callback */
    void (*ended)(struct member *member); /* the thread that owns the loop has ended */
};

struct SCRunLoop {
    uint32_t type; /* first: see object_is */
    unsigned era;  /* of its creation: a child can only retain and release an inherited loop */
    struct counted counted;
    pthread_mutex_t lock;
    struct descriptor epoll, wake, timer; /* an eventfd, and a timerfd for the nearest deadline of all sources */
    struct list sources, due, ready, jobs, changes, members;
    struct tree_node *named;
    struct heap deadlines;
    int64_t armed;  /* the deadline that the timerfd is set to */
    uid_t user;     /* process_user() of the last pass */
    unsigned depth; /* of nested runs; 0: no thread drives the loop */
    pthread_t driver;
    bool polled;    /* the program has the descriptor; else nobody needs a signal while no thread drives the loop */
    bool signalled; /* by reach_runloop_signal_locked, and the eventfd was not read since */
    bool fetches;   /* SCRunLoopCopyNextChange was called */
    bool news;      /* a change has come since SCRunLoopPerform last returned; counts until the first fetch */
    bool announced; /* the descriptor was made readable for it */
    bool ended;     /* the thread that owned the loop has ended */
    atomic_bool woken, stopped;
};

/* Checks a caller's loop. False: it sets SCError() to kSCStatusInvalidArgument, or to ECHILD if the process inherited
 * it by fork. */
bool reach_runloop_check(SCRunLoopRef loop);

/* Whether a mode is one of the two that exist. */
bool reach_runloop_mode_is_valid(SCRunLoopMode mode);
#define RUNLOOP_NO_MODE "mode: neither kSCRunLoopDefaultMode nor kSCRunLoopCommonModes"

static inline void runloop_lock(SCRunLoopRef loop)
{
    pthread_mutex_lock(&loop->lock);
}

static inline void runloop_unlock(SCRunLoopRef loop)
{
    pthread_mutex_unlock(&loop->lock);
}

/* ---- Sources */

/* Initializes a source that is on no loop. `key`: an address that stands for no other source of the loop. */
void reach_source_init(struct source *source, uint64_t key);

/* Adds a source to the loop, which takes a reference. Returns 0 or an errno. */
int reach_runloop_add_source_locked(SCRunLoopRef loop, struct source *source);
void reach_runloop_remove_source_locked(SCRunLoopRef loop, struct source *source);

/* A source is about to close its descriptor, or has opened another one. */
void reach_runloop_unwatch_locked(SCRunLoopRef loop, const struct source *source);
int reach_runloop_watch_locked(SCRunLoopRef loop, struct source *source);

/* Makes a source run in the next pass, or at a time of clock_now (NEVER: not). Does nothing if it is on no loop. */
void reach_runloop_source_due_locked(SCRunLoopRef loop, struct source *source);
void reach_runloop_set_deadline_locked(SCRunLoopRef loop, struct source *source, int64_t deadline);

/* Returns the source with this key, or NULL. */
struct source *reach_runloop_find_source_locked(SCRunLoopRef loop, uint64_t key);

/* process_user() when the current pass began, for sources that run. */
static inline uid_t runloop_user(SCRunLoopRef loop)
{
    return loop->user;
}

/* ---- Members */

/* Initializes all but `counted`. */
void reach_member_init(struct member *member, const struct member_type *type);

/* Returns false if the thread that owns the loop has ended. */
bool reach_runloop_add_member(SCRunLoopRef loop, struct member *member);

/* Removes a member, if it is one, also from its queue. The caller has another reference to it. */
void reach_runloop_remove_member(SCRunLoopRef loop, struct member *member);

/* Queues a member's job, which is not queued. If the member's change is, announces that once more instead, and returns
 * false. */
bool reach_runloop_add_job(SCRunLoopRef loop, struct member *member);

/* Removes a member from its queue, if it is in one. The caller has another reference to it. */
void reach_runloop_cancel(SCRunLoopRef loop, struct member *member);

/* The queue behind SCRunLoopCopyNextChange, for members whose job is not queued. If the change is already queued, this
 * only makes SCRunLoopPerform return once more. The caller of reach_runloop_next_change has the queue's reference. */
void reach_runloop_add_change(SCRunLoopRef loop, struct member *member);
struct member *reach_runloop_next_change(SCRunLoopRef loop);

/* ---- For drive.c */

/* Makes the loop's descriptor readable, so that a wait for it ends. Async-signal-safe. */
void reach_runloop_signal(SCRunLoopRef loop);

/* The same, unless it is readable already, or the calling thread drives the loop. */
void reach_runloop_signal_locked(SCRunLoopRef loop);

/* Sets the timerfd to the nearest deadline of all sources. Returns that deadline if this fails, else NEVER. */
int64_t reach_runloop_arm_timer_locked(SCRunLoopRef loop);

/* ---- library_thread.c: the library thread, "reachability". It runs a loop for the targets that are on
 * schedulers. */

struct library_thread;

/* Adds a user, and starts the thread if there is none. Returns 0 or an errno. */
int reach_library_thread_acquire(struct library_thread **ret);

/* The loop that the thread runs. */
SCRunLoopRef reach_library_thread_loop(const struct library_thread *thread);

/* Removes a user. After the last one the thread ends by itself; the caller does not wait for it. */
void reach_library_thread_release(struct library_thread *thread);

#endif
