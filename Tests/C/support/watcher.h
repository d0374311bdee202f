/* SPDX-License-Identifier: MIT */
#ifndef TESTS_WATCHER_H
#define TESTS_WATCHER_H

/* A target that is scheduled on a loop of its own, and what its callback was told. */

#include "support/expect.h"

struct watcher {
    SCNetworkReachabilityRef   target;
    SCRunLoopRef               loop;
    int                        calls;
    SCNetworkReachabilityFlags flags;     /* the last call's argument */
    bool                       disagreed; /* GetFlags inside a call answered otherwise */
    struct unit_deferral      *stop;
};

/* Takes over the reference to the target and schedules it, until watcher_stop or the end of the test. The watcher stays
 * where it is. */
void watcher_schedule(struct watcher *watcher, SCNetworkReachabilityRef target);

/* The same on a loop that others are on as well. An expectation then also says that none of those was called. */
void watcher_schedule_on(struct watcher *watcher, SCNetworkReachabilityRef target, SCRunLoopRef loop);

/* As watcher_schedule, and makes the loop's first pass, which asks for everything anew: what comes from here on is
 * heard of, or missed. */
void watcher_start(struct watcher *watcher, SCNetworkReachabilityRef target);

/* Schedules the target on another loop, and ends the first schedule. Takes over the reference to the loop. */
void watcher_move(struct watcher *watcher, SCRunLoopRef loop);

void watcher_stop(struct watcher *watcher);

/* Makes one pass of the loop, for what is there already. */
int watcher_pass(struct watcher *watcher);

/* The next callback, the only one, says so; GetFlags and a fresh target agree. */
#define EXPECT_CHANGE(watcher, flags) watcher_expect_change(watcher, flags, __FILE__, __LINE__)
void watcher_expect_change(struct watcher *watcher, SCNetworkReachabilityFlags flags, const char *file, int line);

/* Callbacks come, and end with one that says so: for what the kernel does in several steps. */
#define EXPECT_END(watcher, flags) watcher_expect_end(watcher, flags, __FILE__, __LINE__)
void watcher_expect_end(struct watcher *watcher, SCNetworkReachabilityFlags flags, const char *file, int line);

/* No callback for what has happened so far, and none when the library asks again a little later. */
#define EXPECT_QUIET(watcher) watcher_expect_quiet(watcher, __FILE__, __LINE__)
void watcher_expect_quiet(struct watcher *watcher, const char *file, int line);

/* Seconds on a clock that is not set. */
double watcher_now(void);

#endif
