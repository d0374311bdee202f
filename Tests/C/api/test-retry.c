/* SPDX-License-Identifier: MIT */
/* Examples/retry.c: what ends its sleep, and that changes which go on cause one attempt per pause. */
int retry_main(int argc, char **argv);
#define main retry_main
#include "../../../Examples/retry.c"
#undef main

#include "support/names.h"
#include "support/time_limit.h"

#define FAR       "198.51.100.7"
#define LONG_TIME time_limit_of(60.0) /* seconds: a sleep that a change ends earlier */
#define MOMENT    0.02                /* a sleep that no change ends */

static SCRunLoopRef loop;
static SCNetworkReachabilityRef target;
static struct retry retry;

static void begin(void)
{
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
    SCNetworkReachabilityContext context = kSCNetworkReachabilityContextInitializer;

    names_begin();
    retry = (struct retry){ .was_lost = 0 };
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

/* Returns when the callback has seen it. */
static void lose_route(void)
{
    namespace_ip("route delete default via 192.0.2.1");
    while (!retry.was_lost)
        assert_true(SCRunLoopPerform(loop, LONG_TIME) > 0);
}

static void return_route(void)
{
    namespace_ip("route add default via 192.0.2.1");
    while (!retry.changed)
        assert_true(SCRunLoopPerform(loop, LONG_TIME) > 0);
}

TEST(a_sleep_without_a_change_lasts_its_time_reachable_or_not)
{
    double not_before = 0;
    const double started = now();

    assert_int_equal(sleep_until_worth_it(loop, &retry, MOMENT, &not_before), 0);
    lose_route();
    assert_int_equal(sleep_until_worth_it(loop, &retry, MOMENT, &not_before), 0);
    assert_true(now() - started >= 2 * MOMENT);
}

TEST(storm_of_flaps_ends_one_sleep_per_shortest_pause)
{
    const double rounding = 1e-6;
    double not_before = 0;

    for (int i = 0; i < 3; i++) {
        const double earliest = not_before;

        for (int flap = 0; flap < 5; flap++) {
            lose_route();
            return_route();
        }
        assert_int_equal(sleep_until_worth_it(loop, &retry, LONG_TIME, &not_before), 1);
        /* `not_before` is the end of this sleep and a pause. */
        assert_true(not_before - earliest >= SHORTEST_PAUSE - rounding);
    }
}

/* Also if the next change would have to wait for the end of the pause. */
TEST(loss_takes_back_a_change_that_has_not_ended_a_sleep)
{
    double not_before = now() + LONG_TIME;

    lose_route();
    return_route();
    lose_route();
    assert_int_equal(sleep_until_worth_it(loop, &retry, MOMENT, &not_before), 0);
}

TEST(change_during_the_attempt_ends_the_next_sleep)
{
    double not_before = 0;

    lose_route();
    namespace_ip("route add default via 192.0.2.1");
    assert_int_equal(sleep_until_worth_it(loop, &retry, LONG_TIME, &not_before), 1);
    assert_int_equal(retry.was_lost, 0);
}

UNIT(.setup = begin, .cleanup = end, .end = names_end_group)
