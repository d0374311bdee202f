/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_RUNLOOP_H
#define REACHABILITY_RUNLOOP_H

/*
 * SCRunLoop for the rest of the library. A loop knows nothing about networks. It has sources (a descriptor, a
 * deadline), jobs (calls to make), changes (what SCRunLoopCopyNextChange will return) and members (what is scheduled on
 * it).
 *
 * All sources run in the next pass if the process has another user. A source whose descriptor the program has closed
 * runs, too, and opens another one.
 *
 * Each loop has one lock, for its lists. While it is held, sockets are opened and closed, but nothing waits for the
 * kernel's RTNL lock, and no user code runs.
 */

#include <stdbool.h>
#include <stdint.h>

#include <reachability/reachability.h>

#include "base/counted.h"
#include "base/list.h"
#include "base/process.h"

/* A descriptor and a deadline. When the descriptor is readable, the deadline has passed or `due` is set, the thread
 * that runs the loop calls `run`, without the lock. `run` returns 0 or an errno. */
struct source {
    struct list node;
    struct counted counted;
    const struct descriptor *descriptor; /* in the loop's epoll set, if it is open and ours; NULL: none */
    const struct descriptor *edges;      /* likewise; always readable: only that something new happens counts */
    int edges_error;                     /* why `edges` are not in the epoll set; under the loop's lock */
    int64_t deadline;                    /* of clock_now, or NEVER */
    bool due;                            /* runs in the next pass */
    bool ready;                          /* runs in the current pass */
    bool readable;                       /* the descriptor, in the current pass */
    bool is_lost;                        /* the program has closed the descriptor before the current pass */
    bool is_partial;                     /* it has done a part of its work, see runloop_source_continues */
    unsigned begun_in;                   /* the number of the loop's run in which its current work began */
    unsigned done_in;                    /* the number of the loop's run in which it last did all its work */
    int (*run)(struct source *source);
};

/* Something that is scheduled on the loop. It can be in one of two queues: its job is a call to make on the thread that
 * runs the loop, its change is for SCRunLoopCopyNextChange. The queue has a reference. */
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

/* Initializes all but `counted`. */
void member_init(struct member *member, const struct member_type *type);

void runloop_lock(SCRunLoopRef loop);
void runloop_unlock(SCRunLoopRef loop);

/* Adds a source to the loop, which takes a reference. Returns 0 or an errno. That `edges` could not be added is no
 * error: see edges_error. */
int runloop_add_source_locked(SCRunLoopRef loop, struct source *source);
void runloop_remove_source_locked(SCRunLoopRef loop, struct source *source);

/* The source is about to close its descriptors, to open others. */
void runloop_source_closing_locked(SCRunLoopRef loop, const struct source *source);

/* The source has opened other descriptors, after it or the program has closed those before. Returns 0 or an errno. */
int runloop_source_reopened_locked(SCRunLoopRef loop, struct source *source);

/* process_user() when the current pass began, for sources that run. If the user changes while the thread waits, all
 * sources run in the next pass: the C library interrupts the wait. */
uid_t runloop_user(SCRunLoopRef loop);

/* Makes a source run in the next pass. */
void runloop_source_due_locked(SCRunLoopRef loop, struct source *source);

/* The source, which is running, has done a part of its work. It runs again soon, after the jobs that are queued.
 * SCRunLoopPerform and SCRunLoopRunInMode wait until each source has done all its work once, not twice: new work may
 * come all the time. */
void runloop_source_continues(SCRunLoopRef loop, struct source *source);

/* Returns the first source that matches, or NULL. */
struct source *runloop_find_source_locked(SCRunLoopRef loop, bool (*matches)(const struct source *, const void *),
                                          const void *key);

/* Returns false if the thread that owns the loop has ended. */
bool runloop_add_member_locked(SCRunLoopRef loop, struct member *member);
void runloop_remove_member_locked(SCRunLoopRef loop, struct member *member);

/* Queues a member's job, which is not queued. If the member's change is, announces that once more instead, and returns
 * false. */
bool runloop_add_job_locked(SCRunLoopRef loop, struct member *member);

/* Removes the member from its queue. Returns whether it was in one; if so, the caller now has the queue's reference. */
bool runloop_cancel_locked(SCRunLoopRef loop, struct member *member);

/* The queue behind SCRunLoopCopyNextChange, for members whose job is not queued. If the change is already queued, this
 * only makes SCRunLoopPerform return once more. Another thread than that of the loop must signal the loop, too. The
 * caller of runloop_next_change_locked has the queue's reference. */
void runloop_add_change_locked(SCRunLoopRef loop, struct member *member);
struct member *runloop_next_change_locked(SCRunLoopRef loop);

/* Checks a caller's loop. Returns 0, kSCStatusInvalidArgument, or ECHILD if the process inherited it by fork. */
int runloop_status(SCRunLoopRef loop);

/* Whether the loop's descriptors are still open. Some programs close all descriptors, also those of libraries. */
bool runloop_is_whole(SCRunLoopRef loop);

/* Waits until SCRunLoopPerform has something to do, or the loop was woken. Does nothing else. Only for the thread that
 * drives the loop. Returns false if the loop cannot wait. */
bool runloop_await_work(SCRunLoopRef loop);

/* Whether a mode is one of the two that exist. */
bool runloop_mode_is_valid(SCRunLoopMode mode);
#define RUNLOOP_NO_MODE "mode: neither kSCRunLoopDefaultMode nor kSCRunLoopCommonModes"

#endif
