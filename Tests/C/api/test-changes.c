/* SPDX-License-Identifier: MIT */
/* SCRunLoopCopyNextChange: which changes it returns, when SCRunLoopPerform ends for them, and when the loop's
 * descriptor is readable. */
#include "support/bench.h"
#include "support/test.h"

#define LONG_TIME 10.0 /* seconds: a wait that a change ends early */

static struct bench bench;

/* A target without a callback on a new loop, which has made its first passes. */
static void open_silent(const char *address)
{
    bench_open_silent(&bench, BENCH_LOOP, expect_target(address));
    assert_int_equal(idle_perform(bench.loop), 0);
}

/* The next Perform returns 0, and does not wait to the end. */
static void expect_end_of_wait(SCRunLoopRef loop)
{
    const double started = watcher_now();

    assert_int_equal(SCRunLoopPerform(loop, time_limit_of(LONG_TIME)), 0);
    assert_true(watcher_now() - started < time_limit_of(LONG_TIME) / 2);
}

static void expect_next(SCRunLoopRef loop, SCNetworkReachabilityRef target, SCNetworkReachabilityFlags wanted)
{
    SCNetworkReachabilityFlags flags = 99;
    SCOPED_TARGET changed = SCRunLoopCopyNextChange(loop, &flags);

    assert_ptr_equal(changed, target);
    assert_int_equal(flags, wanted);
}

/* ---- Before the first fetch ------------------------------------------------------------------------------------- */

TEST(a_change_ends_a_wait_before_the_first_fetch)
{
    open_silent(FAR);
    observer_add_gateway_route();
    expect_end_of_wait(bench.loop);
    expect_next(bench.loop, bench.target, R);
    assert_null(SCRunLoopCopyNextChange(bench.loop, NULL));
}

TEST(the_first_result_of_a_name_ends_a_wait_before_the_first_fetch)
{
    bench_open_silent(&bench, BENCH_LOOP, expect_name("localhost"));
    expect_end_of_wait(bench.loop);
    expect_next(bench.loop, bench.target, R | L | D);
}

TEST(an_unchanged_address_is_not_queued)
{
    open_silent(FAR);
    assert_null(SCRunLoopCopyNextChange(bench.loop, NULL));
}

/* So a program may also wait in Perform and then call GetFlags. */
TEST(each_new_change_ends_one_wait_before_the_first_fetch)
{
    open_silent(FAR);
    for (int i = 0; i < 4; i++) {
        if (i % 2 == 0)
            observer_add_gateway_route();
        else
            observer_delete_route();
        expect_end_of_wait(bench.loop);
        assert_int_equal(expect_flags_of(bench.target), i % 2 == 0 ? R : 0);
    }
}

/* Also after each event that changes nothing. */
TEST(a_program_that_never_fetches_does_not_spin)
{
    double started;

    open_silent(FAR);
    observer_add_gateway_route();
    expect_end_of_wait(bench.loop);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(idle_perform(bench.loop), 0);
        assert_false(idle_loop_is_readable(bench.loop));
        started = watcher_now();
        assert_int_equal(SCRunLoopPerform(bench.loop, 0.05), 0);
        assert_true(watcher_now() - started >= 0.05);
        namespace_ip("link set dev a mtu %d", 1400 + i);
        assert_true(idle_loop_is_readable(bench.loop));
    }
    expect_next(bench.loop, bench.target, R); /* it is still queued */
}

TEST(an_unfetched_target_is_queued_once)
{
    open_silent(FAR);
    for (int i = 0; i < 50; i++) {
        observer_add_gateway_route();
        expect_end_of_wait(bench.loop);
        observer_add_link_route();
        expect_end_of_wait(bench.loop);
    }
    expect_next(bench.loop, bench.target, R | D);
    assert_null(SCRunLoopCopyNextChange(bench.loop, NULL));
}

TEST(the_first_fetch_leaves_the_descriptor_readable_for_the_rest)
{
    SCOPED_TARGET other = expect_target(OTHER_FAR);

    open_silent(FAR);
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(other, bench.loop, kSCRunLoopDefaultMode));
    assert_int_equal(idle_perform(bench.loop), 0);
    observer_add_gateway_route();
    expect_end_of_wait(bench.loop);
    assert_int_equal(idle_perform(bench.loop), 0);
    assert_false(idle_loop_is_readable(bench.loop));
    SCNetworkReachabilityRelease(SCRunLoopCopyNextChange(bench.loop, NULL));
    for (int i = 0; i < 3; i++) {
        assert_true(idle_loop_is_readable(bench.loop));
        expect_end_of_wait(bench.loop);
    }
    SCNetworkReachabilityRelease(SCRunLoopCopyNextChange(bench.loop, NULL));
    assert_null(SCRunLoopCopyNextChange(bench.loop, NULL));
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(other, bench.loop, kSCRunLoopDefaultMode));
}

/* ---- SCRunLoopRunInMode ----------------------------------------------------------------------------------------- */

/* On the loop of a thread of its own: the main thread's loop lives as long as the process. */
static void *run_without_fetching(void *unused)
{
    const SCRunLoopRef loop = SCRunLoopGetCurrent();
    const SCNetworkReachabilityRef target = expect_target(FAR);

    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    assert_int_equal(idle_perform(loop), 0);
    observer_add_gateway_route();
    assert_int_equal(SCRunLoopRunInMode(kSCRunLoopDefaultMode, 0, 1), kSCRunLoopRunTimedOut);
    assert_true(idle_loop_is_readable(loop)); /* for a program that fetches when the descriptor is readable */
    for (int i = 0; idle_loop_is_readable(loop); i++) {
        assert_int_equal(SCRunLoopRunInMode(kSCRunLoopDefaultMode, 0.02, 1), kSCRunLoopRunTimedOut);
        assert_true(i < 20); /* but a program that never fetches does not spin */
    }
    expect_end_of_wait(loop);
    assert_false(idle_loop_is_readable(loop));
    expect_next(loop, target, R);
    observer_delete_route();
    assert_int_equal(SCRunLoopRunInMode(kSCRunLoopDefaultMode, 0, 1), kSCRunLoopRunTimedOut);
    for (int i = 0; i < 3; i++) {
        assert_true(idle_loop_is_readable(loop)); /* until the queue is empty */
        assert_int_equal(SCRunLoopRunInMode(kSCRunLoopDefaultMode, 0, 1), kSCRunLoopRunTimedOut);
    }
    expect_next(loop, target, 0);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    SCNetworkReachabilityRelease(target);
    return unused;
}

TEST(a_change_during_a_run_ends_a_later_perform_and_is_fetched)
{
    pthread_t thread = unit_thread(run_without_fetching, NULL);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* ---- What is fetched -------------------------------------------------------------------------------------------- */

TEST(a_changed_target_is_fetched_once_with_its_flags)
{
    SCNetworkReachabilityFlags flags = 99;

    bench_open_silent(&bench, BENCH_LOOP, expect_target(FAR));
    assert_null(SCRunLoopCopyNextChange(bench.loop, &flags));
    assert_int_equal(flags, 99);
    observer_add_gateway_route();
    assert_int_equal(SCRunLoopPerform(bench.loop, 5), 0); /* early: there is something to fetch */
    observer_delete_route();
    assert_int_equal(SCRunLoopPerform(bench.loop, 5), 0);
    observer_add_gateway_route();
    assert_int_equal(SCRunLoopPerform(bench.loop, 5), 0);
    assert_ptr_equal(SCRunLoopCopyNextChange(bench.loop, &flags), bench.target);
    assert_int_equal(flags, R);
    assert_null(SCRunLoopCopyNextChange(bench.loop, &flags));
    SCNetworkReachabilityRelease(bench.target); /* Copy */
    observer_delete_route();
    assert_int_equal(SCRunLoopPerform(bench.loop, 5), 0);
    assert_ptr_equal(SCRunLoopCopyNextChange(bench.loop, NULL), bench.target);
    SCNetworkReachabilityRelease(bench.target);
}

TEST(unscheduling_takes_a_change_out_of_the_queue)
{
    bench_open_silent(&bench, BENCH_LOOP, expect_target(FAR));
    assert_null(SCRunLoopCopyNextChange(bench.loop, NULL));
    observer_add_gateway_route();
    assert_int_equal(SCRunLoopPerform(bench.loop, 5), 0);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, bench.loop, kSCRunLoopDefaultMode));
    assert_null(SCRunLoopCopyNextChange(bench.loop, NULL));
}

TEST(a_target_with_a_callback_is_not_queued)
{
    bench_open(&bench, BENCH_LOOP, expect_target(FAR));
    bench_expect_idle(&bench);
    assert_null(SCRunLoopCopyNextChange(bench.loop, NULL));
    observer_add_gateway_route();
    assert_int_equal(SCRunLoopPerform(bench.loop, 5), 1);
    assert_null(SCRunLoopCopyNextChange(bench.loop, NULL));
}

TEST(changes_that_cancel_out_are_not_queued)
{
    bench_open_silent(&bench, BENCH_LOOP, expect_target(FAR));
    assert_null(SCRunLoopCopyNextChange(bench.loop, NULL));
    observer_add_gateway_route();
    observer_delete_route();
    assert_int_equal(idle_perform(bench.loop), 0);
    assert_null(SCRunLoopCopyNextChange(bench.loop, NULL));
}

TEST(a_scheduled_name_is_queued_once)
{
    bench_open_silent(&bench, BENCH_LOOP, expect_name("localhost"));
    assert_null(SCRunLoopCopyNextChange(bench.loop, NULL));
    assert_int_equal(SCRunLoopPerform(bench.loop, 5), 0);
    assert_ptr_equal(SCRunLoopCopyNextChange(bench.loop, NULL), bench.target);
    SCNetworkReachabilityRelease(bench.target);
    assert_int_equal(idle_perform(bench.loop), 0);
    assert_null(SCRunLoopCopyNextChange(bench.loop, NULL));
}

TEST(a_target_that_changed_back_is_skipped)
{
    open_silent(FAR);
    for (int i = 0; i < 2; i++) {
        observer_add_gateway_route();
        expect_end_of_wait(bench.loop);
        observer_delete_route();
        assert_int_equal(idle_perform(bench.loop), 0);
        assert_null(SCRunLoopCopyNextChange(bench.loop, NULL));
        assert_int_equal(idle_perform(bench.loop), 0);
        assert_false(idle_loop_is_readable(bench.loop));
    }
    observer_add_link_route();
    expect_end_of_wait(bench.loop);
    expect_next(bench.loop, bench.target, R | D);
}

TEST(a_skipped_target_does_not_hide_the_next_one)
{
    SCOPED_TARGET other = expect_target("198.51.102.1");

    open_silent(FAR);
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(other, bench.loop, kSCRunLoopDefaultMode));
    observer_add_gateway_route();
    expect_end_of_wait(bench.loop);
    namespace_ip("route add 198.51.102.0/24 via 192.0.2.1");
    observer_delete_route();
    assert_int_equal(idle_perform(bench.loop), 0);
    expect_next(bench.loop, other, R);
    assert_null(SCRunLoopCopyNextChange(bench.loop, NULL));
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(other, bench.loop, kSCRunLoopDefaultMode));
}

/* A program that got the new flags from GetFlags would keep them. */
TEST(a_target_that_changed_back_after_get_flags_is_fetched)
{
    open_silent(FAR);
    observer_add_gateway_route();
    expect_end_of_wait(bench.loop);
    assert_int_equal(expect_flags_of(bench.target), R);
    observer_delete_route();
    assert_int_equal(idle_perform(bench.loop), 0);
    expect_next(bench.loop, bench.target, 0);
    assert_null(SCRunLoopCopyNextChange(bench.loop, NULL));
}

TEST(a_new_interface_with_equal_flags_is_fetched)
{
    const struct writer_route route = { .prefix = "198.51.100.0/24", .gateway = "203.0.113.1" };

    namespace_add_second_pair();
    observer_add_gateway_route();
    open_silent(FAR);
    assert_int_equal(writer_route(&observer.writer, WRITER_REPLACE, &route), 0);
    expect_end_of_wait(bench.loop);
    expect_next(bench.loop, bench.target, R);
    EXPECT_INTERFACE(bench.target, "c");
}

/* ---- A callback that comes and goes ----------------------------------------------------------------------------- */

TEST(a_callback_takes_its_target_out_of_the_queue)
{
    open_silent(FAR);
    observer_add_gateway_route();
    expect_end_of_wait(bench.loop);
    bench_set_callback(&bench);
    assert_null(SCRunLoopCopyNextChange(bench.loop, NULL));
    bench_expect_idle(&bench); /* no replay */
    assert_false(idle_loop_is_readable(bench.loop));
    observer_delete_route();
    bench_expect_call(&bench, 0);
    assert_null(SCRunLoopCopyNextChange(bench.loop, NULL));
}

static void give_callback(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)flags, (void)info;
    bench_set_callback(&bench);
}

/* Both targets have changed before the callback of one is made. */
TEST(a_callback_that_is_set_in_the_callback_of_another_target_waits_for_the_next_change)
{
    SCNetworkReachabilityRef other = expect_target(FAR);

    open_silent(FAR);
    assert_true(SCNetworkReachabilitySetCallback(other, give_callback, NULL));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(other, bench.loop, kSCRunLoopDefaultMode));
    assert_int_equal(idle_perform(bench.loop), 0);
    observer_add_gateway_route();
    assert_int_equal(SCRunLoopPerform(bench.loop, time_limit_of(LONG_TIME)), 1);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(other, bench.loop, kSCRunLoopDefaultMode));
    SCNetworkReachabilityRelease(other);
    bench_expect_idle(&bench);
    observer_delete_route();
    bench_expect_call(&bench, 0);
}

/* A callback has reported a route, and was removed. Then the route is deleted. */
static void change_after_the_callback(void)
{
    open_silent(FAR);
    bench_set_callback(&bench);
    observer_add_gateway_route();
    bench_expect_call(&bench, R);
    assert_true(SCNetworkReachabilitySetCallback(bench.target, NULL, NULL));
    observer_delete_route();
    expect_end_of_wait(bench.loop);
}

TEST(a_change_after_the_callback_was_removed_is_queued)
{
    change_after_the_callback();
    expect_next(bench.loop, bench.target, 0);
}

TEST(a_target_that_changed_back_to_what_a_callback_reported_is_skipped)
{
    change_after_the_callback();
    observer_add_gateway_route();
    assert_int_equal(idle_perform(bench.loop), 0);
    assert_null(SCRunLoopCopyNextChange(bench.loop, NULL));
}

UNIT(.setup = observer_open)
