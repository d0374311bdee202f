/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_RUNLOOP_H
#define REACHABILITY_RUNLOOP_H

/*
 * The run loop as the floors above see it. It knows nothing of networks: it has sources (a descriptor, a deadline),
 * jobs (deliveries that are due), changes (targets that wait to be fetched) and members (what must go when the thread
 * ends).
 *
 * One lock per loop guards its lists. Under it sockets are opened and closed, but nothing waits for the kernel's RTNL
 * lock, and no code of the user's runs.
 */

#include <reachability/reachability.h>

#include "base/counted.h"
#include "base/list.h"
#include "base/process.h"

/* A descriptor in the loop's epoll set (-1: none) and one deadline. `run` is called by the driving thread, without the
 * lock, when the descriptor is readable, the deadline has passed or `due` was set. It returns 0 or an errno. */
struct source {
    struct list    node;
    struct counted counted;
    int            fd;
    int64_t        deadline;
    bool           due, ready; /* ready: due, in the pass under way */
    int (*run)(struct source *source);
};

/* A call to make on the driving thread. A queued job owns one reference to its owner; `run` consumes it. */
struct job {
    struct list     node;
    struct counted *owner;
    bool (*run)(struct job *job); /* whether a callback ran */
};

/* Something that is scheduled on the loop. `ended` is called without the lock, with a reference that it consumes, when
 * the thread whose own loop this is ends. */
struct member {
    struct list     node;
    struct counted *owner;
    void (*ended)(struct member *member);
};

void runloop_lock(SCRunLoopRef loop);
void runloop_unlock(SCRunLoopRef loop);

/* The ones below are called with the lock held. */
int            runloop_add_source_locked(SCRunLoopRef loop, struct source *source);
void           runloop_remove_source_locked(SCRunLoopRef loop, struct source *source);
void           runloop_source_due_locked(SCRunLoopRef loop, struct source *source);
struct source *runloop_find_source_locked(SCRunLoopRef loop, bool (*matches)(const struct source *, const void *),
                                          const void  *key);
/* False: the thread whose own loop this is has ended. */
bool runloop_add_member_locked(SCRunLoopRef loop, struct member *member);
void runloop_remove_member_locked(SCRunLoopRef loop, struct member *member);

/* Queues a job (with a reference taken for it); nothing if it is queued already. */
void runloop_add_job_locked(SCRunLoopRef loop, struct job *job);
/* Takes a job out again. Whether it was there: the queue's reference is then the caller's. */
bool runloop_cancel_job_locked(SCRunLoopRef loop, struct job *job);

/* The queue behind SCRunLoopCopyNextChange: nodes without references. Nothing is queued before the first fetch. */
void         runloop_add_change_locked(SCRunLoopRef loop, struct list *change);
struct list *runloop_next_change_locked(SCRunLoopRef loop);

/* What is wrong with a loop that a caller gave us: 0, kSCStatusInvalidArgument, or ECHILD when it was inherited. */
int runloop_status(SCRunLoopRef loop);
/* Whether its descriptors are still its own: there are programs that close all that they find. */
bool runloop_is_whole(SCRunLoopRef loop);
/* Whether a mode is one of the two that there are. */
bool runloop_mode_is_valid(SCRunLoopMode mode);

#endif
