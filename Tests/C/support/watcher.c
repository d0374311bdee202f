/* SPDX-License-Identifier: MIT */
#include "support/watcher.h"
#include "support/idle.h"

#include "support/time_limit.h"

#define TIME_LIMIT 10.0 /* seconds: a callback that takes longer has failed */

double watcher_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct watcher *watcher = info;
    SCNetworkReachabilityFlags inside = ~flags;

    watcher->calls++;
    watcher->flags = flags;
    if (!SCNetworkReachabilityGetFlags(target, &inside) || inside != flags)
        watcher->disagreed = true;
}

/* The objects of a watcher. At the end of a test the watcher itself may be gone. */
struct scheduled {
    SCNetworkReachabilityRef target;
    SCRunLoopRef loop;
};

static void stop_scheduled(void *argument)
{
    struct scheduled *scheduled = argument;

    SCNetworkReachabilityUnscheduleFromRunLoop(scheduled->target, scheduled->loop, kSCRunLoopDefaultMode);
    SCNetworkReachabilityRelease(scheduled->target);
    SCRunLoopRelease(scheduled->loop);
    free(scheduled);
}

void watcher_schedule_on(struct watcher *watcher, SCNetworkReachabilityRef target, SCRunLoopRef loop)
{
    struct scheduled *scheduled = malloc(sizeof *scheduled);

    assert_non_null(scheduled);
    *watcher = (struct watcher){ .target = target, .loop = SCRunLoopRetain(loop) };
    assert_non_null(watcher->loop);
    expect_callback_set(target, called, watcher);
    if (!SCNetworkReachabilityScheduleWithRunLoop(target, watcher->loop, kSCRunLoopDefaultMode))
        fail_msg("not scheduled: %s", SCErrorString(SCError()));
    *scheduled = (struct scheduled){ target, watcher->loop };
    watcher->stop = unit_defer(stop_scheduled, scheduled);
}

void watcher_schedule(struct watcher *watcher, SCNetworkReachabilityRef target)
{
    SCRunLoopRef loop = SCRunLoopCreate();

    watcher_schedule_on(watcher, target, loop);
    SCRunLoopRelease(loop);
}

void watcher_start(struct watcher *watcher, SCNetworkReachabilityRef target)
{
    watcher_schedule(watcher, target);
    assert_int_equal(watcher_pass(watcher), 0);
}

void watcher_start_all(struct watcher *watcher, ...)
{
    va_list rest;

    va_start(rest, watcher);
    for (; watcher != NULL; watcher = va_arg(rest, struct watcher *))
        watcher_start(watcher, expect_target(va_arg(rest, const char *)));
    va_end(rest);
}

void watcher_stop(struct watcher *watcher)
{
    free(unit_cancel(watcher->stop));
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(watcher->target, watcher->loop, kSCRunLoopDefaultMode));
    SCNetworkReachabilityRelease(watcher->target);
    SCRunLoopRelease(watcher->loop);
}

int watcher_pass(struct watcher *watcher)
{
    return SCRunLoopPerform(watcher->loop, 0);
}

static void fail_at(const struct watcher *watcher, const char *what, SCNetworkReachabilityFlags wanted,
                    SCNetworkReachabilityFlags got, const char *file, int line)
{
    char wanted_text[256], got_text[256], description[1024];

    SCNetworkReachabilityFlagsGetString(wanted, wanted_text, sizeof wanted_text);
    SCNetworkReachabilityFlagsGetString(got, got_text, sizeof got_text);
    SCNetworkReachabilityGetDescription(watcher->target, description, sizeof description);
    print_error("%s: wanted %s, got %s\n%s\n", what, wanted_text, got_text, description);
    _fail(file, line);
}

/* GetFlags of the scheduled target and GetPath, which queries the kernel now, return the flags of the callback. */
static void check_agreement(const struct watcher *watcher, const char *file, int line)
{
    const SCNetworkReachabilityFlags wanted = watcher->flags, cached = expect_flags_of(watcher->target),
                                     queried = expect_path_of(watcher->target).flags;

    if (watcher->disagreed)
        fail_at(watcher, "GetFlags inside the callback", wanted, ~wanted, file, line);
    if (cached != wanted)
        fail_at(watcher, "GetFlags after the callback", wanted, cached, file, line);
    if (queried != wanted)
        fail_at(watcher, "GetPath after the callback", wanted, queried, file, line);
}

static void expect_one_change(struct watcher *watcher, SCNetworkReachabilityFlags flags, const char *file, int line)
{
    const int before = watcher->calls;

    if (SCRunLoopPerform(watcher->loop, time_limit_of(TIME_LIMIT)) != 1 || watcher->calls != before + 1)
        fail_at(watcher, "no callback, or several", flags, expect_flags_of(watcher->target), file, line);
    if (watcher->flags != flags)
        fail_at(watcher, "callback", flags, watcher->flags, file, line);
    check_agreement(watcher, file, line);
}

static void expect_one_end(struct watcher *watcher, SCNetworkReachabilityFlags flags, const char *file, int line)
{
    const double end = watcher_now() + time_limit_of(TIME_LIMIT);
    const int before = watcher->calls;

    while ((watcher->calls == before || watcher->flags != flags) && watcher_now() < end)
        SCRunLoopPerform(watcher->loop, end - watcher_now());
    if (watcher->calls == before || watcher->flags != flags)
        fail_at(watcher, "last callback", flags, watcher->calls == before ? ~flags : watcher->flags, file, line);
    check_agreement(watcher, file, line);
}

/* Calls a function with each pair of a watcher and its flags. */
static void expect_each(void (*expect)(struct watcher *, SCNetworkReachabilityFlags, const char *, int),
                        const char *file, int line, va_list pairs)
{
    for (struct watcher *watcher; (watcher = va_arg(pairs, struct watcher *)) != NULL;)
        expect(watcher, expect_detectable(va_arg(pairs, SCNetworkReachabilityFlags)), file, line);
}

void watcher_expect_change(const char *file, int line, ...)
{
    va_list pairs;

    va_start(pairs, line);
    expect_each(expect_one_change, file, line, pairs);
    va_end(pairs);
}

void watcher_expect_end(const char *file, int line, ...)
{
    va_list pairs;

    va_start(pairs, line);
    expect_each(expect_one_end, file, line, pairs);
    va_end(pairs);
}

void watcher_expect_quiet(const char *file, int line, ...)
{
    va_list watchers;

    va_start(watchers, line);
    for (struct watcher *watcher; (watcher = va_arg(watchers, struct watcher *)) != NULL;)
        if (idle_perform(watcher->loop) != 0)
            fail_at(watcher, "a callback for nothing", expect_flags_of(watcher->target), watcher->flags, file, line);
    va_end(watchers);
}
