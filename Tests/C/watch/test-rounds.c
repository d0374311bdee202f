/* SPDX-License-Identifier: MIT */
/* A round with many stale targets: callbacks come between its slices, and changes during it are not missed. */
#include <linux/fib_rules.h>

#include "support/crowd.h"

enum { TARGETS = CROWD_LIMIT };

static void set_route(bool present)
{
    crowd_route(present, "0.0.0.0/0", "192.0.2.1");
}

static void begin(void)
{
    crowd_begin();
    crowd_watch_ipv4(TARGETS);
}

UNIT(.setup = begin, .teardown = crowd_end)

static unsigned count_reachable(void)
{
    unsigned count = 0;

    for (unsigned i = 0; i < TARGETS; i++)
        count += expect_flags_of(crowd.targets[i]) == R;
    return count;
}

static unsigned reachable_at_first_call;

static void count_at_first_call(void)
{
    reachable_at_first_call = count_reachable();
}

TEST(the_first_callback_comes_before_most_evaluations)
{
    crowd.at_first_call = count_at_first_call;
    set_route(true);
    assert_int_equal(SCRunLoopPerform(crowd.loop, 0), TARGETS);
    crowd_expect_all(R);
    assert_in_range(reachable_at_first_call, 1, TARGETS / 10);
}

TEST(one_perform_makes_all_callbacks)
{
    set_route(true);
    assert_int_equal(SCRunLoopPerform(crowd.loop, 0), TARGETS);
    set_route(false);
    assert_int_equal(SCRunLoopPerform(crowd.loop, -1), TARGETS);
    assert_int_equal(crowd.calls, 2 * TARGETS);
    crowd_expect_all(0);
}

/* Moves the targets to this thread's loop, which ends with the thread. */
static void *run_once(void *ret_result)
{
    for (unsigned i = 0; i < TARGETS; i++) {
        SCNetworkReachabilityUnscheduleFromRunLoop(crowd.targets[i], crowd.loop, kSCRunLoopDefaultMode);
        SCNetworkReachabilityScheduleWithRunLoop(crowd.targets[i], SCRunLoopGetCurrent(), kSCRunLoopDefaultMode);
    }
    SCRunLoopRunInMode(kSCRunLoopDefaultMode, 0, 0);
    set_route(true);
    *(SCRunLoopRunResult *)ret_result = SCRunLoopRunInMode(kSCRunLoopDefaultMode, 0, 0);
    return NULL;
}

TEST(one_run_without_a_wait_makes_all_callbacks)
{
    SCRunLoopRunResult result = 0;
    pthread_t thread;

    unit_check(pthread_create(&thread, NULL, run_once, &result), "pthread_create");
    unit_check(pthread_join(thread, NULL), "pthread_join");
    assert_int_equal(result, kSCRunLoopRunTimedOut);
    assert_int_equal(crowd.calls, TARGETS);
    crowd_expect_all(R);
}

static void end_rounds(void)
{
    while (SCRunLoopPerform(crowd.loop, 0) > 0)
        continue;
}

static void delete_route(void)
{
    set_route(false);
}

TEST(a_change_during_a_round_is_not_missed)
{
    crowd.at_first_call = delete_route;
    set_route(true);
    end_rounds();
    crowd_expect_all(0);
    assert_in_range(crowd.calls, 2, TARGETS);
}

static bool is_present;

/* The next callback is the first one again. */
static void change_again(void)
{
    crowd.calls = 0;
    is_present = !is_present;
    set_route(is_present);
}

TEST(a_round_ends_though_each_callback_makes_a_change)
{
    is_present = true;
    set_route(true);
    crowd.at_first_call = change_again;
    assert_in_range(SCRunLoopPerform(crowd.loop, 0), 1, 5 * TARGETS);
    crowd.at_first_call = NULL;
    end_rounds();
    crowd_expect_all(is_present ? R : 0);
}

static void add_rule(void)
{
    const struct writer_rule rule = { .prefix = "198.51.0.0/16", .priority = 10, .action = FR_ACT_BLACKHOLE };

    unit_check(writer_rule(&crowd.writer, WRITER_ADD, &rule), "rule");
}

TEST(a_rule_that_is_added_during_a_round_is_not_missed)
{
    crowd.at_first_call = add_rule;
    set_route(true);
    end_rounds();
    crowd_expect_all(0);
}

/* Unschedules the last 500 targets, which the round has not reached. */
static void unwatch_many(void)
{
    for (unsigned i = TARGETS / 2; i < TARGETS; i++)
        crowd_unwatch(i);
}

TEST(targets_that_are_unscheduled_during_a_round_are_not_called)
{
    crowd.at_first_call = unwatch_many;
    set_route(true);
    assert_int_equal(SCRunLoopPerform(crowd.loop, 0), TARGETS / 2);
    crowd_expect_all(R);
}

static void watch_again(void)
{
    crowd_unwatch(TARGETS - 1);
    crowd_watch(TARGETS - 1, "198.51.103.250");
    set_route(false);
}

TEST(a_target_that_is_scheduled_during_a_round_is_evaluated_after_it)
{
    crowd.at_first_call = watch_again;
    set_route(true);
    end_rounds();
    crowd_expect_all(0);
}

static int nested_calls;

static void perform(void)
{
    nested_calls = SCRunLoopPerform(crowd.loop, 0);
}

TEST(a_nested_perform_continues_the_round)
{
    crowd.at_first_call = perform;
    set_route(true);
    assert_int_equal(SCRunLoopPerform(crowd.loop, 0) + nested_calls, TARGETS);
    assert_in_range(nested_calls, TARGETS / 2, TARGETS - 1);
    crowd_expect_all(R);
}
