/* SPDX-License-Identifier: MIT */
/* Unusual deliveries: contexts replaced as a delivery begins, callbacks that schedule again, another loop, the state
 * after a pass. */
#include <semaphore.h>

#include "support/test.h"

/* ---- A context whose object dies ---- */

struct object {
    sem_t begun, replaced;
    int references, revived;
};

/* Called first when the context is set, then when the delivery begins: there the other thread replaces the context. */
static const void *hold(const void *info)
{
    struct object *object = (struct object *)(uintptr_t)info;

    if (object->references == 1) {
        sem_post(&object->begun);
        sem_wait(&object->replaced);
        if (object->references == 0)
            object->revived++;
    }
    object->references++;
    return info;
}

static void release_info(const void *info)
{
    ((struct object *)(uintptr_t)info)->references--;
}

struct replacement {
    struct object *object;
    SCNetworkReachabilityRef target;
};

static void *replace(void *argument)
{
    struct replacement *replacement = argument;

    sem_wait(&replacement->object->begun);
    SCNetworkReachabilitySetCallback(replacement->target, NULL, NULL);
    sem_post(&replacement->object->replaced);
    return NULL;
}

TEST(a_context_replaced_as_a_delivery_begins_is_not_retained_after_its_end)
{
    struct object object = { 0 };
    SCNetworkReachabilityContext context = { 0, &object, hold, release_info, NULL };
    struct replacement replacement = { &object, NULL };
    SCOPED_LOOP loop = SCRunLoopCreate();

    replacement.target = SCNetworkReachabilityCreateWithName(NULL, "localhost");
    sem_init(&object.begun, 0, 0);
    sem_init(&object.replaced, 0, 0);
    assert_true(SCNetworkReachabilitySetCallback(replacement.target, ignore_call, &context));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(replacement.target, loop, kSCRunLoopDefaultMode));
    pthread_t thread = unit_thread(replace, &replacement);
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    pthread_join(thread, NULL);
    assert_int_equal(object.revived, 0);
    assert_int_equal(object.references, 0);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(replacement.target, loop, kSCRunLoopDefaultMode));
    SCNetworkReachabilityRelease(replacement.target);
    sem_destroy(&object.begun);
    sem_destroy(&object.replaced);
}

/* ---- A callback that schedules again ---- */

struct restart {
    SCRunLoopRef loop;
    int calls;
};

static void start_again(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct restart *restart = info;

    (void)flags;
    if (++restart->calls > 1000)
        return;
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, restart->loop, kSCRunLoopDefaultMode));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, restart->loop, kSCRunLoopDefaultMode));
}

TEST(a_callback_that_schedules_again_does_not_keep_a_pass_from_ending)
{
    struct restart restart = { .loop = SCRunLoopCreate() };
    SCOPED_TARGET target = SCNetworkReachabilityCreateWithName(NULL, "localhost");

    expect_callback_set(target, start_again, &restart);
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, restart.loop, kSCRunLoopDefaultMode));
    assert_int_equal(SCRunLoopPerform(restart.loop, 0), 1);
    assert_int_equal(SCRunLoopPerform(restart.loop, 0), 1);
    assert_int_equal(restart.calls, 2);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, restart.loop, kSCRunLoopDefaultMode));
    SCRunLoopRelease(restart.loop);
}

/* ---- Another loop ---- */

TEST(a_schedule_on_another_loop_evaluates_before_it_returns)
{
    SCOPED_LOOP first = SCRunLoopCreate(), second = SCRunLoopCreate();
    SCOPED_TARGET target = expect_target("198.51.100.1");

    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, first, kSCRunLoopDefaultMode));
    assert_int_equal(expect_flags_of(target), 0);
    namespace_ip("route add default via 192.0.2.1");
    assert_int_equal(expect_flags_of(target), 0); /* the first loop was not driven */
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, first, kSCRunLoopDefaultMode));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, second, kSCRunLoopDefaultMode));
    assert_int_equal(expect_flags_of(target), R);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, second, kSCRunLoopDefaultMode));
}

/* ---- After a pass ---- */

TEST(a_complete_pass_leaves_the_descriptor_unreadable)
{
    struct watcher watcher = { 0 };
    struct pollfd ready = { .events = POLLIN };

    watcher_start(&watcher, expect_target("198.51.100.1"));
    ready.fd = SCRunLoopGetFileDescriptor(watcher.loop);
    namespace_ip("route add default via 192.0.2.1");
    assert_int_equal(poll(&ready, 1, 5000), 1);
    assert_int_equal(SCRunLoopPerform(watcher.loop, 0), 1);
    assert_int_equal(poll(&ready, 1, 0), 0);
}

static void unschedule(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)flags;
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, SCRunLoopGetCurrent(), kSCRunLoopDefaultMode));
    if (info != NULL)
        SCRunLoopStop(SCRunLoopGetCurrent());
}

static SCRunLoopRunResult run_until_unscheduled(void *stop)
{
    SCOPED_TARGET target = SCNetworkReachabilityCreateWithName(NULL, "localhost");

    expect_callback_set(target, unschedule, stop);
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, SCRunLoopGetCurrent(), kSCRunLoopDefaultMode));
    SCRunLoopRunResult result = SCRunLoopRunInMode(kSCRunLoopDefaultMode, 5, 1);
    return result;
}

/* Runs on a thread: its loop ends with it. The main thread's loop would stay open. */
static void on_a_thread(void *(*work)(void *), int results[3])
{
    pthread_t thread = unit_thread(work, results);
    pthread_join(thread, NULL);
}

static void *run_three_times(void *argument)
{
    int *results = argument;

    results[0] = run_until_unscheduled(NULL);
    results[1] = run_until_unscheduled(results); /* not NULL: stop */
    results[2] = SCRunLoopRunInMode(kSCRunLoopDefaultMode, 5, 1);
    return NULL;
}

TEST(a_run_reports_its_callback_after_the_last_target_was_unscheduled)
{
    int results[3];

    on_a_thread(run_three_times, results);
    assert_int_equal(results[0], kSCRunLoopRunHandledSource);
    assert_int_equal(results[1], kSCRunLoopRunStopped);
    assert_int_equal(results[2], kSCRunLoopRunFinished);
}

static void *stop_and_wake(void *argument)
{
    SCRunLoopRef loop = SCRunLoopGetCurrent();
    int *results = argument;

    SCRunLoopWakeUp(loop);
    SCRunLoopStop(loop);
    results[0] = SCRunLoopRunInMode(kSCRunLoopDefaultMode, 5, 0);
    results[1] = SCRunLoopPerform(loop, -1);
    results[2] = SCRunLoopPerform(loop, 0);
    return NULL;
}

TEST_WITH(NULL, NULL, a_stopped_run_does_not_consume_a_wake_up)
{
    int results[3];

    on_a_thread(stop_and_wake, results);
    assert_int_equal(results[0], kSCRunLoopRunStopped);
    assert_int_equal(results[1], 0);
    assert_int_equal(results[2], 0);
}

static void *keep_own_loop(void *argument)
{
    *(SCRunLoopRef *)argument = SCRunLoopRetain(SCRunLoopGetCurrent());
    return NULL;
}

TEST(the_loop_of_an_ended_thread_accepts_no_target)
{
    SCOPED_LOOP loop = NULL;
    SCOPED_TARGET target = expect_target("192.0.2.9");
    pthread_t thread = unit_thread(keep_own_loop, &loop);

    pthread_join(thread, NULL);
    assert_false(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    assert_int_equal(SCError(), kSCStatusInvalidArgument);
    assert_int_equal(expect_flags_of(target), R | D);
}

UNIT(.setup = namespace_require_pair)
