/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_RUNLOOP_STATE_H
#define REACHABILITY_RUNLOOP_STATE_H

/* The run loop from within: for runloop.c and drive.c alone. */

#include <pthread.h>

#include <reachability/reachability.h>

#include "base/counted.h"
#include "base/list.h"
#include "base/process.h"

/* One epoll set, one eventfd to be woken by, one timerfd for the nearest deadline of all sources. */
struct SCRunLoop {
    uint32_t          type; /* first: see object_is */
    unsigned          era;  /* of the process: a child's inherited loop is good for nothing but to be released */
    struct counted    counted;
    pthread_mutex_t   lock;
    struct descriptor epoll, wake, timer;
    struct list       sources, jobs, changes, members;
    int64_t           armed; /* what the timerfd is set to */
    bool              signalled;
    bool              wants_changes;
    bool              ended; /* the thread whose own loop this was is no more */
    bool              has_driver;
    unsigned          depth;
    pthread_t         driver;
    atomic_bool       woken, stopped;
    SCRunLoopRef      inherited; /* what this took the place of in a child: programs may still point at it */
};

/* Whether a caller gave us a loop of this process's; sets SCError() if not. */
bool runloop_check(SCRunLoopRef loop);

/* Makes the descriptor readable, so that a wait elsewhere ends. */
void runloop_signal(SCRunLoopRef loop);
void runloop_signal_locked(SCRunLoopRef loop);

#endif
