/* SPDX-License-Identifier: MIT */
/* Callbacks and hooks that end their thread by pthread_exit(3): the loop and the target go on on another thread. */
#include "support/bench.h"
#include "support/test.h"

static struct bench bench, second;

static void exit_inside(struct bench *in)
{
    in->inside = NULL; /* only once */
    pthread_exit(NULL);
}

static void run_on_a_thread(void *(*run)(void *argument), void *argument)
{
    pthread_t thread = unit_thread(run, argument);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* ---- Run loops -------------------------------------------------------------------------------------------------- */

static void *perform(void *loop)
{
    SCRunLoopPerform(loop, time_limit_of(10));
    unit_complain_if(true, "the callback did not end the thread");
    return NULL;
}

TEST(a_created_loop_continues_on_another_thread)
{
    bench_open(&bench, BENCH_LOOP, expect_target(FAR));
    bench_expect_idle(&bench);
    for (int i = 0; i < 3; i++) {
        bench.inside = exit_inside;
        observer_add_gateway_route();
        run_on_a_thread(perform, bench.loop);
        assert_int_equal(bench.calls, 2 * i + 1);
        observer_delete_route();
        bench_expect_call(&bench, 0);
    }
    unit_expect_no_complaint();
}

/* Callbacks that were due in the same pass. */
TEST(the_other_callbacks_of_the_pass_are_made_on_another_thread)
{
    bench_open(&bench, BENCH_LOOP, expect_target(FAR));
    bench_open_on(&second, bench.loop, expect_target(OTHER_FAR));
    assert_int_equal(idle_perform(bench.loop), 0);
    bench.inside = second.inside = exit_inside;
    observer_add_gateway_route();
    run_on_a_thread(perform, bench.loop);
    assert_int_equal(bench.calls + second.calls, 1);
    run_on_a_thread(perform, bench.loop);
    assert_int_equal(bench.calls + second.calls, 2);
    assert_int_equal(idle_perform(bench.loop), 0);
    unit_expect_no_complaint();
}

/* The callback of `bench` drives the loop, and there the callback of `second` ends the thread. */
static void perform_inside(struct bench *in)
{
    in->inside = NULL;
    SCRunLoopPerform(in->loop, time_limit_of(10));
    unit_complain_if(true, "the inner callback did not end the thread");
}

TEST(nested_runs_end_too)
{
    bench_open(&bench, BENCH_LOOP, expect_target(FAR));
    bench_open_on(&second, bench.loop, expect_target("198.51.102.1"));
    assert_int_equal(idle_perform(bench.loop), 0);
    namespace_ip("route add 198.51.102.0/24 via 192.0.2.1");
    assert_int_equal(SCRunLoopPerform(bench.loop, time_limit_of(10)), 1);
    bench.inside = perform_inside;
    second.inside = exit_inside;
    observer_add_gateway_route();
    namespace_ip("route delete 198.51.102.0/24");
    run_on_a_thread(perform, bench.loop);
    assert_int_equal(bench.calls + second.calls, 3);
    observer_delete_route();
    while (bench.flags != 0 || second.flags != 0)
        assert_true(SCRunLoopPerform(bench.loop, time_limit_of(10)) > 0);
    assert_int_equal(idle_perform(bench.loop), 0);
    unit_expect_no_complaint();
}

/* The thread's own loop ends with it. The other loop of the target does not. */
static void *run_own_loop(void *unused)
{
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(bench.target, SCRunLoopGetCurrent(), kSCRunLoopDefaultMode));
    bench.inside = exit_inside;
    observer_add_gateway_route();
    SCRunLoopRun();
    unit_complain_if(true, "the callback did not end the thread");
    return unused;
}

TEST(a_target_on_the_loop_of_the_thread_continues_on_its_other_loop)
{
    bench_open(&bench, BENCH_LOOP, expect_target(FAR));
    bench_expect_idle(&bench);
    run_on_a_thread(run_own_loop, NULL);
    assert_int_equal(bench.calls, 1);
    bench_expect_quiet(&bench);
    observer_delete_route();
    bench_expect_call(&bench, 0);
    assert_true(bench_unschedule(&bench));
    bench_expect_refused(bench_unschedule(&bench)); /* the end of the thread has unscheduled its loop */
    unit_expect_no_complaint();
}

/* ---- Schedulers ------------------------------------------------------------------------------------------------- */

static void *run_work(void *queue)
{
    queue_run(queue);
    unit_complain_if(true, "the callback did not end the thread");
    return NULL;
}

TEST(work_on_a_scheduler_continues_on_another_thread)
{
    bench_open(&bench, BENCH_SCHEDULER, expect_target(FAR));
    for (int i = 0; i < 3; i++) {
        bench.inside = exit_inside;
        observer_add_gateway_route();
        run_on_a_thread(run_work, &bench.queue);
        assert_int_equal(bench.calls, 2 * i + 1);
        bench_expect_idle(&bench);
        observer_delete_route();
        bench_expect_call(&bench, 0);
    }
    unit_expect_no_complaint();
}

static struct {
    sem_t called;
    atomic_uint flags;
} library;

static void note_and_exit(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)info;
    atomic_store(&library.flags, flags);
    sem_post(&library.called);
    pthread_exit(NULL);
}

TEST(the_library_starts_another_thread_of_its_own)
{
    const SCNetworkReachabilityScheduler scheduler = { .perform = perform_at_once };
    SCNetworkReachabilityRef target = expect_target(FAR);

    assert_int_equal(sem_init(&library.called, 0, 0), 0);
    assert_true(SCNetworkReachabilitySetCallback(target, note_and_exit, NULL));
    assert_true(SCNetworkReachabilitySetScheduler(target, &scheduler));
    for (int i = 0; i < 10; i++) {
        if (i % 2 == 0)
            observer_add_gateway_route();
        else
            observer_delete_route();
        time_limit_await(&library.called, "no callback after the end of the thread");
        assert_int_equal(atomic_load(&library.flags), i % 2 == 0 ? R : 0);
    }
    assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
    SCNetworkReachabilityRelease(target);
    observer_settle();
}

/* ---- Hooks ------------------------------------------------------------------------------------------------------ */

/* The hook that ends the thread when it has been called this often, and what is retained. */
static struct {
    int calls, last_call, open;
} hooks;

static void count_call(void)
{
    if (++hooks.calls == hooks.last_call)
        pthread_exit(NULL);
}

static const void *retain_hook(const void *info)
{
    hooks.open++;
    count_call();
    return info;
}

static void release_hook(const void *info)
{
    (void)info;
    hooks.open--;
    count_call();
}

static void exit_in_callback(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)flags;
    if (info != NULL)
        pthread_exit(NULL);
}

static void open_with_context(const SCNetworkReachabilityContext *context)
{
    SCNetworkReachabilityContext copy = *context;

    memset(&hooks, 0, sizeof hooks);
    bench_open(&bench, BENCH_LOOP, expect_target(FAR));
    assert_true(SCNetworkReachabilitySetCallback(bench.target, exit_in_callback, &copy));
    assert_int_equal(idle_perform(bench.loop), 0);
    observer_add_gateway_route();
}

TEST(what_a_delivery_has_retained_is_released)
{
    const SCNetworkReachabilityContext context = { .info = &hooks, .retain = retain_hook, .release = release_hook };

    open_with_context(&context);
    assert_int_equal(hooks.open, 1);
    run_on_a_thread(perform, bench.loop);
    assert_int_equal(hooks.calls, 3);
    assert_int_equal(hooks.open, 1);
    bench_set_callback(&bench);
    assert_int_equal(hooks.open, 0);
    observer_delete_route();
    bench_expect_call(&bench, 0);
    unit_expect_no_complaint();
}

TEST(release_alone_is_called_once)
{
    const SCNetworkReachabilityContext context = { .info = &hooks, .release = release_hook };

    open_with_context(&context);
    run_on_a_thread(perform, bench.loop);
    assert_int_equal(hooks.calls, 0);
    bench_set_callback(&bench);
    assert_int_equal(hooks.calls, 1);
    unit_expect_no_complaint();
}

/* The delivery retains, then the callback ends, then it releases: calls 2 and 3. */
TEST(a_hook_of_a_delivery_may_end_the_thread_too)
{
    const SCNetworkReachabilityContext context = { .retain = retain_hook, .release = release_hook };

    for (int last_call = 2; last_call <= 3; last_call++) {
        open_with_context(&context);
        hooks.last_call = last_call;
        run_on_a_thread(perform, bench.loop);
        assert_int_equal(hooks.calls, last_call);
        bench_set_callback(&bench);
        observer_delete_route();
        bench_expect_call(&bench, 0);
        bench_close(&bench);
    }
    unit_expect_no_complaint();
}

UNIT(.setup = observer_open)
