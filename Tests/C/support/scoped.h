/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SCOPED_H
#define TESTS_SCOPED_H

/* Variables whose object is released when their block ends. A test that fails releases none. */

#include <reachability/reachability.h>

static inline void scoped_release_target(SCNetworkReachabilityRef *target)
{
    SCNetworkReachabilityRelease(*target);
}

static inline void scoped_release_loop(SCRunLoopRef *loop)
{
    SCRunLoopRelease(*loop);
}

#define SCOPED_TARGET __attribute__((cleanup(scoped_release_target))) SCNetworkReachabilityRef
#define SCOPED_LOOP   __attribute__((cleanup(scoped_release_loop))) SCRunLoopRef

#endif
