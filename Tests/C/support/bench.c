/* SPDX-License-Identifier: MIT */
#include "support/bench.h"

#include "support/idle.h"
#include "support/time_limit.h"

#define TIME_LIMIT 10.0 /* seconds: a callback that takes longer has failed */

const struct bench_row bench_rows[3] = { { "on_a_run_loop", BENCH_LOOP },
                                         { "on_a_scheduler", BENCH_SCHEDULER },
                                         { "on_another_thread", BENCH_THREAD } };

void bench_called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct bench *bench = info;

    bench->calls++;
    bench->flags = flags;
    if (target != bench->target || (bench->way != BENCH_LOOP && !queue_is_here(&bench->queue)))
        bench->elsewhere = true;
    if (bench->inside != NULL)
        bench->inside(bench);
}

void bench_set_callback(struct bench *bench)
{
    expect_callback_set(bench->target, bench_called, bench);
}

void bench_schedule(struct bench *bench)
{
    if (bench->way == BENCH_LOOP
            ? !SCNetworkReachabilityScheduleWithRunLoop(bench->target, bench->loop, kSCRunLoopDefaultMode)
            : !queue_set(&bench->queue, bench->target))
        fail_msg("not scheduled: %s", SCErrorString(SCError()));
}

bool bench_unschedule(struct bench *bench)
{
    return bench->way == BENCH_LOOP
               ? SCNetworkReachabilityUnscheduleFromRunLoop(bench->target, bench->loop, kSCRunLoopDefaultMode)
               : SCNetworkReachabilitySetScheduler(bench->target, NULL);
}

static void close_deferred(void *bench)
{
    bench_close(bench);
}

static void start(struct bench *bench, enum bench_way way, SCNetworkReachabilityRef target, SCRunLoopRef loop)
{
    memset(bench, 0, sizeof *bench);
    bench->way = way;
    bench->target = target;
    bench->loop = loop;
    if (way != BENCH_LOOP)
        queue_open(&bench->queue, 0);
    bench->close = unit_defer(close_deferred, bench);
}

void bench_open_silent(struct bench *bench, enum bench_way way, SCNetworkReachabilityRef target)
{
    start(bench, way, target, way == BENCH_LOOP ? SCRunLoopCreate() : NULL);
    bench_schedule(bench);
}

void bench_open(struct bench *bench, enum bench_way way, SCNetworkReachabilityRef target)
{
    start(bench, way, target, way == BENCH_LOOP ? SCRunLoopCreate() : NULL);
    bench_set_callback(bench);
    bench_schedule(bench);
}

void bench_open_on(struct bench *bench, SCRunLoopRef loop, SCNetworkReachabilityRef target)
{
    start(bench, BENCH_LOOP, target, SCRunLoopRetain(loop));
    bench_set_callback(bench);
    bench_schedule(bench);
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
}

void bench_close(struct bench *bench)
{
    unit_cancel(bench->close);
    if (bench->target != NULL)
        (void)bench_unschedule(bench);
    if (bench->way != BENCH_LOOP) {
        while (queue_run(&bench->queue))
            continue;
        observer_settle(); /* no perform is in progress, which would have its own reference */
        assert_int_equal(atomic_load(&bench->queue.references), 0);
        queue_close(&bench->queue);
    }
    assert_false(bench->elsewhere);
    SCNetworkReachabilityRelease(bench->target);
    SCRunLoopRelease(bench->loop);
}

static void *run_work(void *queue)
{
    queue_run(queue);
    return NULL;
}

static void run_one(struct bench *bench)
{
    const unsigned long performs = queue_performs(&bench->queue);
    pthread_t thread;

    if (queue_count(&bench->queue) == 0)
        queue_await(&bench->queue, performs + 1);
    assert_int_equal(queue_count(&bench->queue), 1);
    if (bench->way == BENCH_THREAD) {
        assert_int_equal(pthread_create(&thread, NULL, run_work, &bench->queue), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    } else {
        queue_run(&bench->queue);
    }
}

void bench_expect_call(struct bench *bench, SCNetworkReachabilityFlags flags)
{
    const int before = bench->calls;

    if (bench->way == BENCH_LOOP)
        assert_int_equal(SCRunLoopPerform(bench->loop, time_limit_of(TIME_LIMIT)), 1);
    else
        run_one(bench);
    assert_int_equal(bench->calls, before + 1);
    assert_int_equal(bench->flags, flags);
}

void bench_expect_quiet(struct bench *bench)
{
    const int before = bench->calls;

    if (bench->way == BENCH_LOOP) {
        assert_int_equal(idle_perform(bench->loop), 0);
    } else {
        observer_settle();
        while (queue_run(&bench->queue))
            continue;
    }
    assert_int_equal(bench->calls, before);
}

void bench_expect_idle(struct bench *bench)
{
    if (bench->way != BENCH_LOOP) {
        observer_settle();
        assert_int_equal(queue_count(&bench->queue), 0);
    }
    bench_expect_quiet(bench);
}

void bench_expect_refused(SCBoolean result)
{
    assert_false(result);
    assert_int_equal(SCError(), kSCStatusInvalidArgument);
}
