/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_DISPATCH_H
#define REACHABILITY_DISPATCH_H

/*
 * Callbacks on a dispatch queue. Header-only: the program links libdispatch (with Swift's toolchain, -ldispatch
 * -lBlocksRuntime), the library does not. It uses no blocks, so it compiles with gcc.
 */

#include <reachability/reachability.h>

/* libdispatch's headers use these two macros of clang, which gcc may not have. */
#ifndef __has_feature
#define __has_feature(x) 0
#define REACHABILITY_HAS_FEATURE
#endif
#ifndef __has_extension
#define __has_extension(x) 0
#define REACHABILITY_HAS_EXTENSION
#endif
#include <dispatch/dispatch.h>
#ifdef REACHABILITY_HAS_FEATURE
#undef __has_feature
#undef REACHABILITY_HAS_FEATURE
#endif
#ifdef REACHABILITY_HAS_EXTENSION
#undef __has_extension
#undef REACHABILITY_HAS_EXTENSION
#endif

SC_BEGIN_DECLS

static inline const void *SCNetworkReachabilityDispatchRetain(const void *queue)
{
    dispatch_retain((dispatch_queue_t)(uintptr_t)queue);
    return queue;
}

static inline void SCNetworkReachabilityDispatchRelease(const void *queue)
{
    dispatch_release((dispatch_queue_t)(uintptr_t)queue);
}

static inline void SCNetworkReachabilityDispatchPerform(void *queue, void (*work)(void *argument), void *argument)
{
    dispatch_async_f((dispatch_queue_t)queue, argument, work);
}

/*
 * Schedules the target on a queue, serial or concurrent, and retains the queue. NULL unschedules the target. Everything
 * else is as for SCNetworkReachabilitySetScheduler.
 */
static inline SCBoolean SCNetworkReachabilitySetDispatchQueue(SCNetworkReachabilityRef target, dispatch_queue_t queue)
{
    SCNetworkReachabilityScheduler scheduler = { 0, queue, SCNetworkReachabilityDispatchRetain,
                                                 SCNetworkReachabilityDispatchRelease,
                                                 SCNetworkReachabilityDispatchPerform };

    return SCNetworkReachabilitySetScheduler(target, queue == NULL ? NULL : &scheduler);
}

SC_END_DECLS

#endif
