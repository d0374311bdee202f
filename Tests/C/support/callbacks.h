/* SPDX-License-Identifier: MIT */
#ifndef TESTS_CALLBACKS_H
#define TESTS_CALLBACKS_H

/* The callback and the scheduler of tests that do not count calls. */

#include <reachability/reachability.h>

static inline void ignore_call(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)flags, (void)info;
}

/* Runs the work on the library thread. */
static inline void perform_at_once(void *info, void (*work)(void *argument), void *argument)
{
    (void)info;
    work(argument);
}

#endif
