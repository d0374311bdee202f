/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_APPLE_CFRUNLOOP_H
#define REACHABILITY_APPLE_CFRUNLOOP_H

#ifdef __cplusplus
#pragma GCC system_header /* no warnings about C casts */
#endif

/*
 * Run loops of CoreFoundation: a CFRunLoopRef is an SCRunLoopRef. A run loop serves targets. The main thread's also
 * serves the main queue if the program is linked with libdispatch, and then it does not end by itself. In Objective-C
 * with GNUstep, the NSRunLoop of a thread serves the same.
 */

#include <CoreFoundation/CFBase.h>
#include <CoreFoundation/CFString.h>
#include <poll.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

typedef CFStringRef CFRunLoopMode;
typedef SInt32 CFRunLoopRunResult;

enum { kCFRunLoopRunFinished = 1, kCFRunLoopRunStopped = 2, kCFRunLoopRunTimedOut = 3, kCFRunLoopRunHandledSource = 4 };

/* There are no other modes. */
#define kCFRunLoopDefaultMode CFSTR(kSCRunLoopDefaultMode)
#define kCFRunLoopCommonModes CFSTR(kSCRunLoopCommonModes)

static inline CFRunLoopRef CFRunLoopGetCurrent(void)
{
    return SCRunLoopGetCurrent();
}

static inline CFRunLoopRef CFRunLoopGetMain(void)
{
    return SCRunLoopGetMain();
}

static inline void CFRunLoopStop(CFRunLoopRef loop)
{
    SCRunLoopStop(loop);
}

static inline void CFRunLoopWakeUp(CFRunLoopRef loop)
{
    SCRunLoopWakeUp(loop);
}

/* Seconds since the first of January 2001, UTC. */
static inline CFAbsoluteTime CFAbsoluteTimeGetCurrent(void)
{
    struct timeval now;

    gettimeofday(&now, NULL);
    return (double)(now.tv_sec - 978307200) + (double)now.tv_usec / 1e6;
}

/* Returns libreachability's mode. libreachability refuses a mode that it does not have. */
static inline SCRunLoopMode reachability_cf_mode(CFRunLoopMode mode)
{
    const char *text = CFStringGetCStringPtr(mode, kCFStringEncodingUTF8);

    return text == NULL ? "" : text;
}

/* ---- The main queue. libdispatch exports these two for CoreFoundation. They are NULL in a program without it. */

CF_EXTERN_C_BEGIN
extern int _dispatch_get_main_queue_handle_4CF(void) __attribute__((weak));
extern void _dispatch_main_queue_callback_4CF(void *message) __attribute__((weak));
CF_EXTERN_C_END

/* The eventfd that says that the main queue has work. -1: the calling thread's run loop does not serve it. */
static inline int reachability_cf_main_queue(void)
{
    if (_dispatch_get_main_queue_handle_4CF == NULL || _dispatch_main_queue_callback_4CF == NULL)
        return -1;
    return SCRunLoopGetCurrent() == SCRunLoopGetMain() ? _dispatch_get_main_queue_handle_4CF() : -1;
}

/* Runs what is in the main queue, if there is anything. Returns whether there was. Does not wait. */
static inline SCBoolean reachability_cf_run_main_queue(int descriptor)
{
    struct pollfd queue = { descriptor, POLLIN, 0 };
    uint64_t count;

    if (poll(&queue, 1, 0) != 1 || read(descriptor, &count, sizeof count) != sizeof count)
        return 0;
    _dispatch_main_queue_callback_4CF(NULL);
    return 1;
}

/* Seconds. Strict C99 has only the time of day. */
static inline double reachability_cf_clock(void)
{
#ifdef CLOCK_MONOTONIC
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
#else
    return CFAbsoluteTimeGetCurrent();
#endif
}

/* Waits until the loop or the main queue has work, or the time has come. */
static inline void reachability_cf_wait(SCRunLoopRef loop, int descriptor, double until)
{
    struct pollfd sources[2] = { { descriptor, POLLIN, 0 }, { 0, POLLIN, 0 } };
    const double seconds = until - reachability_cf_clock();

    sources[1].fd = SCRunLoopGetFileDescriptor(loop);
    poll(sources, 2, seconds <= 0 ? 0 : seconds > 1e6 ? 1000000000 : (int)(seconds * 1e3) + 1);
}

static inline CFRunLoopRunResult reachability_cf_run_with_main_queue(int descriptor, SCRunLoopMode mode, double seconds,
                                                                     SCBoolean returnAfterSourceHandled)
{
    const double until = reachability_cf_clock() + seconds;

    for (;;) {
        CFRunLoopRunResult result = SCRunLoopRunInMode(mode, 0, returnAfterSourceHandled);
        SCBoolean ran;

        if (result != kCFRunLoopRunFinished && result != kCFRunLoopRunTimedOut)
            return result;
        /* A run leaves SCRunLoopWakeUp's signal to SCRunLoopPerform. With it, the wait below would end at once. */
        ran = SCRunLoopPerform(SCRunLoopGetCurrent(), 0) > 0;
        ran = (SCBoolean)(reachability_cf_run_main_queue(descriptor) || ran);
        if (ran && returnAfterSourceHandled)
            return kCFRunLoopRunHandledSource;
        if (reachability_cf_clock() >= until)
            return kCFRunLoopRunTimedOut;
        if (!ran)
            reachability_cf_wait(SCRunLoopGetCurrent(), descriptor, until);
    }
}

/* ---- Running */

/* Runs the calling thread's loop. Returns -1 if the mode is not one of the two, or another thread runs the loop. */
static inline CFRunLoopRunResult CFRunLoopRunInMode(CFRunLoopMode mode, CFTimeInterval seconds,
                                                    SCBoolean returnAfterSourceHandled)
{
    const int descriptor = reachability_cf_main_queue();

    if (descriptor < 0)
        return SCRunLoopRunInMode(reachability_cf_mode(mode), seconds, returnAfterSourceHandled);
    return reachability_cf_run_with_main_queue(descriptor, reachability_cf_mode(mode), seconds,
                                               returnAfterSourceHandled);
}

static inline void CFRunLoopRun(void)
{
    CFRunLoopRunInMode(kCFRunLoopDefaultMode, 1e10, 0);
}

/* ---- GNUstep */

#if defined(__OBJC__) && defined(GNUSTEP_BASE_LIBRARY)
#include <CoreFoundation/CFRunLoopGNUstep.h>
#else
static inline void reachability_gs_serve(SCRunLoopRef loop)
{
    (void)loop;
}
#endif

#endif
