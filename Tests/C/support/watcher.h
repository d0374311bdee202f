/* SPDX-License-Identifier: MIT */
#ifndef TESTS_WATCHER_H
#define TESTS_WATCHER_H

/* A target on a run loop, and the arguments of its callbacks. */

#include "support/expect.h"

struct watcher {
    SCNetworkReachabilityRef target;
    SCRunLoopRef loop;
    int calls;
    SCNetworkReachabilityFlags flags; /* the last call's argument */
    bool disagreed;                   /* GetFlags returned other flags inside a callback */
    struct unit_deferral *stop;
};

/* Takes over the reference to the target and schedules it, until watcher_stop or the end of the test. The watcher stays
 * where it is. */
void watcher_schedule(struct watcher *watcher, SCNetworkReachabilityRef target);

/* The same on a shared loop. An expectation then also checks that no other target on it got a callback. */
void watcher_schedule_on(struct watcher *watcher, SCNetworkReachabilityRef target, SCRunLoopRef loop);

/* As watcher_schedule, and makes the first pass of the loop, which evaluates everything: only later changes make a
 * callback. */
void watcher_start(struct watcher *watcher, SCNetworkReachabilityRef target);

/* The same for several addresses: WATCH(&near, "192.0.2.9", &far, "198.51.100.7"). */
#define WATCH(...) watcher_start_all(__VA_ARGS__, NULL)
__attribute__((sentinel)) void watcher_start_all(struct watcher *watcher, ...);

void watcher_stop(struct watcher *watcher);

/* Makes one pass of the loop without waiting. */
int watcher_pass(struct watcher *watcher);

/* For each watcher, exactly one callback comes, with the flags that follow it: EXPECT_CHANGE(&near, R | D, &far, R).
 * GetFlags and GetPath agree. */
#define EXPECT_CHANGE(...) watcher_expect_change(__FILE__, __LINE__, __VA_ARGS__, NULL)
__attribute__((sentinel)) void watcher_expect_change(const char *file, int line, ...);

/* The same for one watcher. Then its path has this interface. */
#define EXPECT_CHANGE_OVER(watcher, flags, interface) \
    do { \
        EXPECT_CHANGE(watcher, flags); \
        EXPECT_INTERFACE((watcher)->target, interface); \
    } while (0)

/* As EXPECT_CHANGE, but several callbacks may come, the last with these flags: for changes that the kernel makes in
 * several steps. */
#define EXPECT_END(...) watcher_expect_end(__FILE__, __LINE__, __VA_ARGS__, NULL)
__attribute__((sentinel)) void watcher_expect_end(const char *file, int line, ...);

/* Earlier changes make no callback for any of the watchers, also not when the library evaluates them again
 * (idle_perform). */
#define EXPECT_QUIET(...) watcher_expect_quiet(__FILE__, __LINE__, __VA_ARGS__, NULL)
__attribute__((sentinel)) void watcher_expect_quiet(const char *file, int line, ...);

/* Seconds on CLOCK_MONOTONIC. */
double watcher_now(void);

#endif
