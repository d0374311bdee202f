/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_APPLE_SCNETWORKREACHABILITY_H
#define REACHABILITY_APPLE_SCNETWORKREACHABILITY_H

#ifdef __cplusplus
#pragma GCC system_header /* no warnings about C casts */
#endif

/*
 * SCNetworkReachability as sources for Apple's systems use it. <reachability/reachability.h> declares and documents
 * most calls. Three have a CFRunLoopRef, a mode that is a CFStringRef, or a context with a CFStringRef. Macros
 * replace these three by functions of this file.
 */

#include <CoreFoundation/CoreFoundation.h>
#include <SystemConfiguration/SCNetwork.h>
#include <netinet6/in6.h>
#include <reachability/reachability.h>
#include <sys/socket.h>
#include <sys/types.h>

/* SCNetworkReachabilitySetDispatchQueue, if libdispatch's headers are found. */
#ifdef __has_include
#if __has_include(<dispatch/dispatch.h>)
#include <reachability/dispatch.h>
#if defined(__OBJC__) && defined(GNUSTEP_BASE_LIBRARY)
/* Callbacks on a queue often go on to the main queue. */
static inline SCBoolean reachability_sc_set_dispatch_queue(SCNetworkReachabilityRef target, dispatch_queue_t queue)
{
    reachability_gs_serve(SCRunLoopGetMain());
    return SCNetworkReachabilitySetDispatchQueue(target, queue);
}
#define SCNetworkReachabilitySetDispatchQueue reachability_sc_set_dispatch_queue
#endif
#endif
#endif

/* Apple's context. The library never calls copyDescription. */
typedef struct {
    CFIndex version;
    void *info;
    const void *(*retain)(const void *info);
    void (*release)(const void *info);
    CFStringRef (*copyDescription)(const void *info);
} reachability_sc_context;

static inline SCBoolean reachability_sc_set_callback(SCNetworkReachabilityRef target,
                                                     SCNetworkReachabilityCallBack callout,
                                                     reachability_sc_context *context)
{
    SCNetworkReachabilityContext copy;

    if (context == NULL)
        return SCNetworkReachabilitySetCallback(target, callout, NULL);
    copy.version = context->version;
    copy.info = context->info;
    copy.retain = context->retain;
    copy.release = context->release;
    copy.copyDescription = NULL;
    return SCNetworkReachabilitySetCallback(target, callout, &copy);
}

static inline SCBoolean reachability_sc_schedule(SCNetworkReachabilityRef target, CFRunLoopRef runLoop,
                                                 CFStringRef runLoopMode)
{
    reachability_gs_serve(runLoop);
    return SCNetworkReachabilityScheduleWithRunLoop(target, runLoop, reachability_cf_mode(runLoopMode));
}

static inline SCBoolean reachability_sc_unschedule(SCNetworkReachabilityRef target, CFRunLoopRef runLoop,
                                                   CFStringRef runLoopMode)
{
    return SCNetworkReachabilityUnscheduleFromRunLoop(target, runLoop, reachability_cf_mode(runLoopMode));
}

#define SCNetworkReachabilityContext               reachability_sc_context
#define SCNetworkReachabilitySetCallback           reachability_sc_set_callback
#define SCNetworkReachabilityScheduleWithRunLoop   reachability_sc_schedule
#define SCNetworkReachabilityUnscheduleFromRunLoop reachability_sc_unschedule

#endif
