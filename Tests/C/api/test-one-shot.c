/* SPDX-License-Identifier: MIT */
/* SCNetworkReachabilityWait: when it returns and with which path, and that it leaves everything else as it is. */
#include <math.h>

#include "support/names.h"
#include "support/test.h"

#define FAR       "198.51.100.7"
#define LONG_TIME time_limit_of(20.0) /* seconds: a wait that an event ends earlier */
#define MOMENT    0.02                /* a wait that no event ends */

#define KNOWN     kSCNetworkReachabilityConditionKnown
#define REACHABLE kSCNetworkReachabilityConditionReachable
#define NOT       kSCNetworkReachabilityConditionNotReachable

/* A wait, on this thread or on another. */
struct waiting {
    SCNetworkReachabilityRef target;
    SCNetworkReachabilityCondition condition;
    double seconds;
    SCNetworkReachabilityPath path;
    int result, error;
    pthread_t thread;
};

static void *run_wait(void *argument)
{
    struct waiting *waiting = argument;

    waiting->path = (SCNetworkReachabilityPath)kSCNetworkReachabilityPathInitializer;
    waiting->result = SCNetworkReachabilityWait(waiting->target, waiting->condition, waiting->seconds, &waiting->path);
    waiting->error = SCError();
    return NULL;
}

static void begin_wait(struct waiting *waiting, SCNetworkReachabilityRef target,
                       SCNetworkReachabilityCondition condition, double seconds)
{
    *waiting = (struct waiting){ .target = target, .condition = condition, .seconds = seconds };
    assert_int_equal(pthread_create(&waiting->thread, NULL, run_wait, waiting), 0);
}

static void expect_end(struct waiting *waiting, int result, SCNetworkReachabilityFlags flags,
                       SCNetworkReachabilityReason reason)
{
    assert_int_equal(pthread_join(waiting->thread, NULL), 0);
    if (waiting->result < 0)
        fail_msg("the wait failed: %s", SCErrorString(waiting->error));
    assert_int_equal(waiting->result, result);
    assert_int_equal(waiting->path.flags, flags);
    assert_int_equal(waiting->path.reason, reason);
}

#define EXPECT_WAIT(target, condition, seconds, result, flags, reason) \
    do { \
        struct waiting once; \
        begin_wait(&once, target, condition, seconds); \
        expect_end(&once, result, flags, kSCNetworkReachabilityReason##reason); \
    } while (0)

static void set_default_route(bool present)
{
    namespace_ip("route %s default via 192.0.2.1", present ? "add" : "delete");
}

/* A target to which no route leads. */
static SCNetworkReachabilityRef unreachable_target(void)
{
    set_default_route(false);
    return expect_target(FAR);
}

/* ---- When it returns -------------------------------------------------------------------------------------------- */

TEST(a_condition_that_holds_ends_the_wait_at_once)
{
    SCOPED_TARGET target = expect_target(FAR);

    EXPECT_WAIT(target, KNOWN, -1, 1, R, None);
    EXPECT_WAIT(target, REACHABLE, -1, 1, R, None);
    EXPECT_WAIT(target, REACHABLE, 0, 1, R, None);
    set_default_route(false);
    EXPECT_WAIT(target, KNOWN, -1, 1, 0, NoRoute);
    EXPECT_WAIT(target, NOT, INFINITY, 1, 0, NoRoute);
}

TEST(zero_seconds_get_the_path_and_do_not_wait)
{
    SCOPED_TARGET target = unreachable_target();
    const struct descriptors before = descriptors_now();

    EXPECT_WAIT(target, REACHABLE, 0, 0, 0, NoRoute);
    EXPECT_WAIT(target, REACHABLE, -0.0, 0, 0, NoRoute);
    descriptors_expect(&before);
}

TEST(the_time_ends_the_wait_and_not_earlier)
{
    SCOPED_TARGET target = unreachable_target();
    const double started = watcher_now();

    EXPECT_WAIT(target, REACHABLE, MOMENT, 0, 0, NoRoute);
    assert_true(watcher_now() - started >= MOMENT);
}

/* The change comes before, during and after the start of the wait. */
TEST(no_change_is_lost)
{
    SCOPED_TARGET target = unreachable_target();
    const int rounds = unit_is_under(NULL) ? 10 : 50;

    for (int i = 0; i < rounds; i++) {
        struct waiting waiting;

        begin_wait(&waiting, target, REACHABLE, LONG_TIME);
        set_default_route(true);
        expect_end(&waiting, 1, R, kSCNetworkReachabilityReasonNone);
        begin_wait(&waiting, target, NOT, LONG_TIME);
        set_default_route(false);
        expect_end(&waiting, 1, 0, kSCNetworkReachabilityReasonNoRoute);
    }
}

static void ignore(int number)
{
    (void)number;
}

TEST(signals_do_not_end_the_wait)
{
    const struct sigaction action = { .sa_handler = ignore };
    struct sigaction previous;
    SCOPED_TARGET target = unreachable_target();
    struct waiting waiting;

    assert_int_equal(sigaction(SIGUSR1, &action, &previous), 0);
    begin_wait(&waiting, target, REACHABLE, LONG_TIME);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(pthread_kill(waiting.thread, SIGUSR1), 0);
        sched_yield();
    }
    set_default_route(true);
    expect_end(&waiting, 1, R, kSCNetworkReachabilityReasonNone);
    assert_int_equal(sigaction(SIGUSR1, &previous, NULL), 0);
}

TEST(many_threads_wait_for_one_target)
{
    SCOPED_TARGET target = unreachable_target();
    struct waiting waiting[8];

    for (size_t i = 0; i < 8; i++)
        begin_wait(&waiting[i], target, REACHABLE, LONG_TIME);
    set_default_route(true);
    for (size_t i = 0; i < 8; i++)
        expect_end(&waiting[i], 1, R, kSCNetworkReachabilityReasonNone);
}

/* ---- What it leaves as it is ------------------------------------------------------------------------------------ */

TEST(callbacks_come_on_the_loop_of_the_program_only)
{
    struct watcher watcher;
    struct waiting waiting;

    watcher_start(&watcher, unreachable_target());
    begin_wait(&waiting, watcher.target, REACHABLE, LONG_TIME);
    set_default_route(true);
    expect_end(&waiting, 1, R, kSCNetworkReachabilityReasonNone);
    assert_int_equal(watcher.calls, 0);
    assert_int_equal(expect_flags_of(watcher.target), 0); /* the program has not driven its loop */
    EXPECT_CHANGE(&watcher, R);
}

TEST(a_target_on_a_scheduler_can_be_waited_for)
{
    const SCNetworkReachabilityScheduler scheduler = { .perform = perform_at_once };
    SCOPED_TARGET target = unreachable_target();
    struct waiting waiting;

    assert_true(SCNetworkReachabilitySetScheduler(target, &scheduler));
    begin_wait(&waiting, target, REACHABLE, LONG_TIME);
    set_default_route(true);
    expect_end(&waiting, 1, R, kSCNetworkReachabilityReasonNone);
    assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
}

static void wait_in_callback(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)flags;
    *(int *)info = SCNetworkReachabilityWait(target, REACHABLE, LONG_TIME, NULL);
}

TEST(a_callback_may_wait)
{
    int result = 77;
    SCNetworkReachabilityContext context = kSCNetworkReachabilityContextInitializer;
    SCOPED_TARGET target = unreachable_target();
    SCOPED_LOOP loop = SCRunLoopCreate();

    context.info = &result;
    assert_true(SCNetworkReachabilitySetCallback(target, wait_in_callback, &context));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    set_default_route(true);
    assert_int_equal(SCRunLoopPerform(loop, LONG_TIME), 1);
    assert_int_equal(result, 1);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
}

TEST(a_wait_leaves_no_descriptor_and_no_thread)
{
    SCOPED_TARGET target = expect_name("nx.test");

    EXPECT_WAIT(target, KNOWN, 0, 0, R, NamePending); /* opens what all targets share */
    const struct descriptors before = descriptors_now();
    EXPECT_WAIT(target, KNOWN, LONG_TIME, 1, 0, NameNotFound);
    names_await_no_thread();
    descriptors_await(&before);
}

/* ---- Names ------------------------------------------------------------------------------------------------------ */

TEST(a_name_is_looked_up_and_its_target_stays_pending)
{
    SCOPED_TARGET target = expect_name("v4only.test");
    struct waiting waiting;

    begin_wait(&waiting, target, KNOWN, LONG_TIME);
    expect_end(&waiting, 1, R, kSCNetworkReachabilityReasonNone);
    assert_int_equal(waiting.path.addressCount, 1);
    EXPECT(target, R, NamePending);
}

TEST(a_missing_name_is_known_and_not_reachable)
{
    SCOPED_TARGET target = expect_name("nx.test");

    EXPECT_WAIT(target, KNOWN, LONG_TIME, 1, 0, NameNotFound);
    EXPECT_WAIT(target, NOT, LONG_TIME, 1, 0, NameNotFound);
}

static void begin_held_wait(struct waiting *waiting, SCNetworkReachabilityRef target)
{
    begin_wait(waiting, target, REACHABLE, LONG_TIME);
    names_await_queries("held.test", 1);
}

TEST(a_reply_ends_the_wait)
{
    SCOPED_TARGET target = expect_name("held.test");
    struct waiting waiting;

    begin_held_wait(&waiting, target);
    nameserver_release(names_server, "held");
    expect_end(&waiting, 1, R, kSCNetworkReachabilityReasonNone);
}

/* The default path is reachable. That says nothing about the name. */
TEST(a_pending_name_is_neither_reachable_nor_not)
{
    SCOPED_TARGET target = expect_name("held.test");
    struct waiting waiting;

    begin_held_wait(&waiting, target);
    EXPECT_WAIT(target, REACHABLE, MOMENT, 0, R, NamePending);
    EXPECT_WAIT(target, NOT, MOMENT, 0, R, NamePending);
    EXPECT_WAIT(target, KNOWN, 0, 0, R, NamePending);
    nameserver_release(names_server, "held");
    expect_end(&waiting, 1, R, kSCNetworkReachabilityReasonNone);
}

TEST(the_addresses_of_a_scheduled_name_count_at_once)
{
    struct watcher watcher;
    struct waiting waiting;

    NAMES_RESOLVE(&watcher, "v4only.test", R);
    EXPECT_WAIT(watcher.target, REACHABLE, LONG_TIME, 1, R, None);
    assert_int_equal(names_queried("v4only.test"), 1);
    nameserver_stop(names_server); /* the copy keeps the addresses */
    begin_wait(&waiting, watcher.target, NOT, LONG_TIME);
    set_default_route(false);
    expect_end(&waiting, 1, 0, kSCNetworkReachabilityReasonNoRoute);
    EXPECT_CHANGE(&watcher, 0);
}

/* ---- Where ------------------------------------------------------------------------------------------------------ */

TEST(the_network_namespace_of_the_target_counts)
{
    SCOPED_TARGET target = unreachable_target();
    const int home = namespace_keep();
    struct waiting waiting;

    assert_true(namespace_enter());
    begin_wait(&waiting, target, REACHABLE, LONG_TIME);
    namespace_go(home);
    close(home);
    set_default_route(true);
    expect_end(&waiting, 1, R, kSCNetworkReachabilityReasonNone);
}

TEST(a_child_cannot_wait_for_an_inherited_target)
{
    SCNetworkReachabilityRef target = expect_target(FAR);

    if (child_begin()) {
        assert_int_equal(SCNetworkReachabilityWait(target, KNOWN, 0, NULL), -1);
        assert_int_equal(SCError(), ECHILD);
        assert_int_equal(SCNetworkReachabilityWait(expect_target(FAR), NOT, MOMENT, NULL), 0);
        child_end();
    }
    SCNetworkReachabilityRelease(target);
}

/* ---- Arguments -------------------------------------------------------------------------------------------------- */

TEST(bad_arguments_are_refused_and_nothing_is_written)
{
    SCOPED_TARGET target = expect_target(FAR);
    SCNetworkReachabilityPath path, untouched;
    static const struct {
        SCNetworkReachabilityCondition condition;
        double seconds;
        size_t size;
        const char *argument;
    } rows[] = {
        { KNOWN, NAN, sizeof path, "seconds" },
        { kSCNetworkReachabilityConditionChanged + 1, 1, sizeof path, "condition" },
        { KNOWN, 1, 0, "path->size" },
        { KNOWN, 1, sizeof path - 1, "path->size" },
        { KNOWN, 1, 4097, "path->size" },
    };

    memset(&untouched, 77, sizeof untouched);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        untouched.size = rows[i].size;
        path = untouched;
        assert_int_equal(SCNetworkReachabilityWait(target, rows[i].condition, rows[i].seconds, &path), -1);
        assert_int_equal(SCError(), kSCStatusInvalidArgument);
        assert_memory_equal(SCErrorDetail(), rows[i].argument, strlen(rows[i].argument));
        assert_memory_equal(&path, &untouched, sizeof path);
    }
    assert_int_equal(SCNetworkReachabilityWait(NULL, KNOWN, 0, NULL), -1);
    assert_int_equal(SCError(), kSCStatusInvalidArgument);
}

TEST(a_larger_structure_is_filled_to_its_size)
{
    SCOPED_TARGET target = expect_target(FAR);
    struct {
        SCNetworkReachabilityPath path;
        unsigned char more[8];
    } larger;

    memset(&larger, 77, sizeof larger);
    larger.path.size = sizeof larger;
    assert_int_equal(SCNetworkReachabilityWait(target, KNOWN, 0, &larger.path), 1);
    assert_int_equal(larger.path.size, sizeof larger);
    assert_int_equal(larger.path.flags, R);
    for (size_t i = 0; i < sizeof larger.more; i++)
        assert_int_equal(larger.more[i], 0);
}

UNIT(.setup = names_begin, .cleanup = names_end, .end = names_end_group)
