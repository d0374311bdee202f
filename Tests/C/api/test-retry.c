/* SPDX-License-Identifier: MIT */
/* Examples/retry.c: what ends its sleep, and that changes which go on cause one attempt per pause. */
int retry_main(int argc, char **argv);
#define main retry_main
#include "../../../Examples/retry.c"
#undef main

#include "support/names.h"
#include "support/time_limit.h"

#define FAR        "198.51.100.7"
#define LONG_TIME  time_limit_of(60.0)  /* seconds */
#define LONG_SLEEP (10 * LONGEST_PAUSE) /* that a change ends earlier */
#define MOMENT     (SECOND / 50)        /* a sleep that no change ends */

static SCRunLoopRef loop;
static SCNetworkReachabilityRef target;
static SCNetworkReachabilityRetry retry;

static void begin(void)
{
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
    SCNetworkReachabilityContext context = kSCNetworkReachabilityContextInitializer;

    names_begin();
    SCNetworkReachabilityRetryInit(&retry, SHORTEST_PAUSE);
    options.nodename = FAR;
    options.options = kSCNetworkReachabilityOptionNotifyPath;
    context.info = &retry;
    loop = SCRunLoopCreate();
    target = SCNetworkReachabilityCreateWithOptions(NULL, &options);
    assert_int_equal(SCNetworkReachabilitySetCallback(target, path_changed, &context), 1);
    assert_int_equal(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode), 1);
    path_changed(target, 0, &retry);
}

static void end(void)
{
    SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode);
    SCNetworkReachabilityRelease(target);
    SCRunLoopRelease(loop);
    names_end();
}

/* Return when the callback has seen it. */
static void lose_route(void)
{
    namespace_ip("route delete default via 192.0.2.1");
    assert_true(SCRunLoopPerform(loop, LONG_TIME) > 0);
}

static void return_route(void)
{
    namespace_ip("route add default via 192.0.2.1");
    while (SCNetworkReachabilityRetryGetDue(&retry) == UINT64_MAX)
        assert_true(SCRunLoopPerform(loop, LONG_TIME) > 0);
}

static SCNetworkReachabilityWake sleep_for(uint64_t time)
{
    return sleep_until_worth_it(loop, &retry, now() + time);
}

TEST(a_sleep_without_a_change_lasts_its_time_reachable_or_not)
{
    const uint64_t started = now();

    assert_int_equal(sleep_for(MOMENT), kSCNetworkReachabilityWakeTime);
    lose_route();
    assert_int_equal(sleep_for(MOMENT), kSCNetworkReachabilityWakeTime);
    assert_true(now() - started >= 2 * MOMENT);
}

TEST(storm_of_flaps_ends_one_sleep_per_shortest_pause)
{
    uint64_t begun_before = 0;

    for (int i = 0; i < 3; i++) {
        for (int flap = 0; flap < 5; flap++) {
            lose_route();
            return_route();
        }
        const uint64_t begun = now();
        assert_int_equal(sleep_for(LONG_SLEEP), kSCNetworkReachabilityWakeReachable);
        assert_true(begun_before == 0 || now() - begun_before >= SHORTEST_PAUSE);
        begun_before = begun;
    }
}

TEST(loss_takes_back_a_change_that_has_not_ended_a_sleep)
{
    lose_route();
    return_route();
    lose_route();
    assert_int_equal(sleep_for(MOMENT), kSCNetworkReachabilityWakeTime);
}

TEST(change_during_the_attempt_ends_the_next_sleep)
{
    lose_route();
    namespace_ip("route replace default via 192.0.2.1");
    assert_int_equal(sleep_for(LONG_SLEEP), kSCNetworkReachabilityWakeReachable);
    namespace_ip("route replace default via 192.0.2.9");
    assert_int_equal(sleep_for(LONG_SLEEP), kSCNetworkReachabilityWakePath);
}

UNIT(.setup = begin, .cleanup = end, .end = names_end_group)
