/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_RUNLOOP_STATE_H
#define REACHABILITY_RUNLOOP_STATE_H

/* The internals of a run loop, for runloop.c, loop_descriptors.c, runloop_pass.c and runloop_perform.c only. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <reachability/reachability.h>

#include "base/counted.h"
#include "base/list.h"
#include "base/process.h"

struct SCRunLoop {
    uint32_t type; /* first: see object_is */
    unsigned era;  /* of its creation: a child can only retain and release an inherited loop */
    struct counted counted;
    pthread_mutex_t lock;
    struct descriptor epoll, wake, timer; /* an eventfd, and a timerfd for the nearest deadline of all sources */
    atomic_bool timed;                    /* there is a timerfd: see loop_descriptors_arm_timer_locked */
    struct list sources, jobs, changes, members;
    uid_t user;               /* process_user() of the last pass */
    int64_t armed;            /* the deadline that the timerfd is set to */
    bool polled;              /* another poll than a run's can wait for the descriptor */
    bool signalled;           /* by runloop_signal_locked, and the eventfd was not read since */
    bool fetches_changes;     /* SCRunLoopCopyNextChange was called; the two below are for the time before */
    bool change_is_new;       /* a change has come since SCRunLoopPerform last returned without a failure */
    bool change_is_announced; /* the descriptor was made readable for it */
    bool ended;               /* the thread that owned the loop has ended */
    unsigned run_number;      /* counts the runs; only the running thread uses it and `continues` */
    bool continues;           /* in this pass a source has done a part of its work, and this run waits for the rest */
    bool running;             /* a thread runs the loop */
    unsigned depth;           /* of nested runs */
    pthread_t runner;         /* if `running` */
    atomic_bool woken, stopped;
    SCRunLoopRef inherited; /* the parent's loop that this one replaces; the program may still have a pointer to it */
};

/* Whether a caller's loop is valid and was created by this process. If not, sets SCError(). */
bool runloop_check(SCRunLoopRef loop);

/* False in a child that a callback forked. Such a loop must not be locked: at the time of the fork another thread of
 * the parent may have held the lock. */
static inline bool runloop_is_ours(SCRunLoopRef loop)
{
    return loop->era == process_era();
}

/* ---- loop_descriptors.c. These return 0 or an errno. */

/* Opens the loop's descriptors that are not open, or that the program has closed. */
int loop_descriptors_open(SCRunLoopRef loop);

/* The same, if there is one, and adds the sources to a new epoll set. */
int loop_descriptors_repair(SCRunLoopRef loop);

/* Adds the descriptors of a source to the epoll set, and removes them, unless the program has closed one of them. With
 * EPOLLET, the kernel reports `edges` once for each change, and only to a pass: a poll(2) of the program's for the
 * loop's descriptor shows it, and takes nothing. */
int loop_descriptors_add_source(SCRunLoopRef loop, struct source *source);
void loop_descriptors_remove_source(SCRunLoopRef loop, const struct source *source);

void loop_descriptors_close(SCRunLoopRef loop);

/* Sets the timerfd to the nearest deadline. Most loops of a short use have none, so the first one opens it. A loop that
 * the program polls has one from then on: a failure to open it must not come when the program waits already. */
int loop_descriptors_arm_timer_locked(SCRunLoopRef loop);

/* Makes the sources due whose descriptors the program has closed. If the process has another user, all. */
void loop_descriptors_check_sources(SCRunLoopRef loop);

/* Reads the loop's eventfd or timerfd, so that it is no longer readable. */
void loop_descriptors_read_counter(const struct descriptor *descriptor);

/* ---- runloop_pass.c */

struct pass_result {
    int callbacks;
    bool woken;
    bool continues; /* a source has done a part of its work */
    int error;
};

/* Waits until `until`, runs the sources that are due, then the jobs. `performs`: the pass is SCRunLoopPerform's. Only
 * that consumes a wake-up. */
struct pass_result runloop_pass(SCRunLoopRef loop, int64_t until, bool performs);

/* Whether a pass has sources or jobs to run. */
bool runloop_has_work_locked(SCRunLoopRef loop);

/* Reads the signal that runloop_signal has written to the descriptor. */
void runloop_read_signal(SCRunLoopRef loop);

/* ---- runloop.c, runloop_perform.c */

/* Makes the descriptor readable, so that a wait on it ends. Async-signal-safe. */
void runloop_signal(SCRunLoopRef loop);

/* The same, unless it is readable already, nobody can wait for it, or the calling thread runs the loop. */
void runloop_signal_locked(SCRunLoopRef loop);

/* The nearest deadline of all sources; NEVER: none. */
int64_t runloop_deadline_locked(SCRunLoopRef loop);

/* From now on, the descriptor is readable when a run has something to do. */
void runloop_begin_polling(SCRunLoopRef loop);

#endif
