/* SPDX-License-Identifier: MIT */
/*
 * Targets on schedulers. The tests run the work themselves, so that nothing depends on timing. test-callback.c has the
 * rules that run loops share, test-scheduler-work.c has schedulers that misbehave.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "support/bench.h"
#include "support/time_limit.h"

static struct bench bench;

/* ---- Getters before the callback -------------------------------------------------------------------------------- */

static void ask_for_flags(SCNetworkReachabilityRef target)
{
    assert_int_equal(expect_flags_of(target), R);
}

static void ask_for_last_path(SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;

    assert_true(SCNetworkReachabilityGetLastPath(target, &path));
    assert_int_equal(path.flags, R);
}

/* A change and its reversal before the work runs: a getter in between has returned flags that are now wrong. */
TEST(a_change_seen_by_a_getter_is_reported_when_it_is_reversed)
{
    static void (*const ways[])(SCNetworkReachabilityRef) = { ask_for_flags, ask_for_last_path };

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        bench_open(&bench, BENCH_SCHEDULER, expect_option(FAR, kSCNetworkReachabilityOptionNotifyPath));
        observer_add_gateway_route();
        ways[i](bench.target);
        observer_delete_route();
        bench_expect_call(&bench, 0);
        observer_add_gateway_route();
        observer_delete_route();
        assert_true(queue_run(&bench.queue));
        assert_int_equal(bench.calls, 1); /* no getter returned the change */
        bench_close(&bench);
    }
}

/* ---- What is refused -------------------------------------------------------------------------------------------- */

TEST(a_scheduler_without_perform_is_refused)
{
    bench_open(&bench, BENCH_SCHEDULER, expect_target(FAR));
    assert_true(bench_unschedule(&bench));
    SCNetworkReachabilityScheduler scheduler = queue_scheduler(&bench.queue);
    scheduler.perform = NULL;
    bench_expect_refused(SCNetworkReachabilitySetScheduler(bench.target, &scheduler));
    assert_int_equal(atomic_load(&bench.queue.releases), 1); /* no hook of the refused one was called */
    observer_add_gateway_route();
    assert_int_equal(expect_flags_of(bench.target), R);
    assert_int_equal(queue_performs(&bench.queue), 0);
    bench_schedule(&bench); /* the target was not scheduled */
}

TEST(a_scheduler_of_another_version_is_refused)
{
    bench_open(&bench, BENCH_SCHEDULER, expect_target(FAR));
    assert_true(bench_unschedule(&bench));
    SCNetworkReachabilityScheduler scheduler = queue_scheduler(&bench.queue);
    for (long version = -1; version <= 1; version += 2) {
        scheduler.version = version;
        bench_expect_refused(SCNetworkReachabilitySetScheduler(bench.target, &scheduler));
    }
    assert_int_equal(atomic_load(&bench.queue.releases), 1);
    bench_schedule(&bench);
}

TEST_WITH(NULL, NULL, no_target_is_refused)
{
    struct queue queue;

    queue_open(&queue, 0);
    bench_expect_refused(queue_set(&queue, NULL));
    bench_expect_refused(SCNetworkReachabilitySetScheduler(NULL, NULL));
    assert_int_equal(atomic_load(&queue.releases), 0);
    queue_close(&queue);
}

TEST(unscheduling_without_a_scheduler_is_refused)
{
    SCOPED_LOOP loop = SCRunLoopCreate();

    bench_open(&bench, BENCH_SCHEDULER, expect_target(FAR));
    assert_true(bench_unschedule(&bench));
    bench_expect_refused(bench_unschedule(&bench));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(bench.target, loop, kSCRunLoopDefaultMode));
    bench_expect_refused(bench_unschedule(&bench));
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    observer_add_gateway_route();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1); /* it is still on the loop */
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, loop, kSCRunLoopDefaultMode));
    bench.elsewhere = false;
}

TEST(a_second_scheduler_is_refused)
{
    struct queue other;

    queue_open(&other, 0);
    bench_open(&bench, BENCH_SCHEDULER, expect_target(FAR));
    bench_expect_refused(queue_set(&other, bench.target));
    bench_expect_refused(queue_set(&bench.queue, bench.target));
    assert_int_equal(atomic_load(&bench.queue.references), 1);
    assert_int_equal(atomic_load(&other.references), 0);
    observer_add_gateway_route();
    bench_expect_call(&bench, R);
    assert_true(bench_unschedule(&bench)); /* once: refused schedules do not count */
    bench_expect_refused(bench_unschedule(&bench));
    assert_int_equal(queue_performs(&other), 0);
    queue_close(&other);
}

TEST(a_target_on_a_loop_gets_no_scheduler)
{
    SCOPED_LOOP loop = SCRunLoopCreate();

    bench_open(&bench, BENCH_SCHEDULER, expect_target(FAR));
    assert_true(bench_unschedule(&bench));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(bench.target, loop, kSCRunLoopCommonModes));
    bench_expect_refused(queue_set(&bench.queue, bench.target));
    assert_int_equal(atomic_load(&bench.queue.references), 0);
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    observer_add_gateway_route();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_int_equal(queue_performs(&bench.queue), 0);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, loop, kSCRunLoopCommonModes));
    bench.elsewhere = false;
}

TEST(a_target_on_a_scheduler_gets_no_loop)
{
    SCOPED_LOOP loop = SCRunLoopCreate();

    bench_open(&bench, BENCH_SCHEDULER, expect_target(FAR));
    bench_expect_refused(SCNetworkReachabilityScheduleWithRunLoop(bench.target, loop, kSCRunLoopDefaultMode));
    bench_expect_refused(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, loop, kSCRunLoopDefaultMode));
    observer_add_gateway_route();
    bench_expect_call(&bench, R);
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
}

static struct {
    struct queue queue;
    SCNetworkReachabilityRef target;
    int releases;
} rival;

static const void *retain_and_be_late(const void *info)
{
    assert_true(queue_set(&rival.queue, rival.target));
    return info;
}

static void count_release(const void *info)
{
    (void)info;
    rival.releases++;
}

static void perform_never(void *info, void (*work)(void *argument), void *argument)
{
    (void)info, (void)work, (void)argument;
}

TEST(a_refused_scheduler_is_released_if_it_was_retained)
{
    const SCNetworkReachabilityScheduler late = { .retain = retain_and_be_late,
                                                  .release = count_release,
                                                  .perform = perform_never };

    rival.releases = 0;
    queue_open(&rival.queue, 0);
    rival.target = expect_target(FAR);
    bench_expect_refused(SCNetworkReachabilitySetScheduler(rival.target, &late));
    assert_int_equal(rival.releases, 1);
    assert_int_equal(atomic_load(&rival.queue.references), 1);
    assert_true(SCNetworkReachabilitySetScheduler(rival.target, NULL));
    assert_int_equal(rival.releases, 1);
    assert_int_equal(atomic_load(&rival.queue.references), 0);
    SCNetworkReachabilityRelease(rival.target);
    queue_close(&rival.queue);
}

/* ---- The scheduler's own hooks ---------------------------------------------------------------------------------- */

static struct {
    char first, kept;
    const void *retained, *released, *performed;
    struct queue_work work;
    char order[16];
} hooks;

static const void *retain_hook(const void *info)
{
    hooks.retained = info;
    strncat(hooks.order, "+", 2);
    return &hooks.kept;
}

static void release_hook(const void *info)
{
    hooks.released = info;
    strncat(hooks.order, "-", 2);
}

static void perform_hook(void *info, void (*work)(void *argument), void *argument)
{
    hooks.performed = info;
    hooks.work = (struct queue_work){ .run = work, .argument = argument };
    strncat(hooks.order, "p", 2);
}

static void call_hook(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)flags, (void)info;
    strncat(hooks.order, "c", 2);
}

/* A target on a scheduler with these hooks, whose work waits in `hooks`. */
static SCNetworkReachabilityRef begin_with_hooks(bool retain, bool release)
{
    SCNetworkReachabilityScheduler scheduler = { .info = &hooks.first, .perform = perform_hook };

    memset(&hooks, 0, sizeof hooks);
    scheduler.retain = retain ? retain_hook : NULL;
    scheduler.release = release ? release_hook : NULL;
    SCNetworkReachabilityRef target = expect_target(FAR);
    assert_true(SCNetworkReachabilitySetCallback(target, call_hook, NULL));
    assert_true(SCNetworkReachabilitySetScheduler(target, &scheduler));
    memset(&scheduler, 0xff, sizeof scheduler); /* it was copied */
    observer_add_gateway_route();
    return target;
}

static void end_with_hooks(SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityRelease(target);
    observer_delete_route();
}

TEST(the_value_that_retain_returns_is_used)
{
    SCNetworkReachabilityRef target = begin_with_hooks(true, true);

    hooks.work.run(hooks.work.argument);
    assert_string_equal(hooks.order, "+pc");
    assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
    assert_string_equal(hooks.order, "+pc-");
    assert_ptr_equal(hooks.retained, &hooks.first);
    assert_ptr_equal(hooks.performed, &hooks.kept);
    assert_ptr_equal(hooks.released, &hooks.kept);
    end_with_hooks(target);
}

TEST(hooks_may_be_missing)
{
    for (int i = 0; i < 3; i++) {
        const bool retain = i == 1, release = i == 2;
        SCNetworkReachabilityRef target = begin_with_hooks(retain, release);

        assert_ptr_equal(hooks.performed, retain ? &hooks.kept : &hooks.first);
        hooks.work.run(hooks.work.argument);
        assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
        assert_string_equal(hooks.order, retain ? "+pc" : release ? "pc-" : "pc");
        end_with_hooks(target);
    }
}

TEST(the_scheduler_is_released_after_the_last_work)
{
    SCNetworkReachabilityRef target = begin_with_hooks(true, true);

    assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
    assert_string_equal(hooks.order, "+p");
    end_with_hooks(target);
    assert_string_equal(hooks.order, "+p");
    hooks.work.run(hooks.work.argument);
    assert_string_equal(hooks.order, "+p-");
}

static void unschedule_in_call(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
    call_hook(target, flags, info);
}

TEST(a_scheduler_is_released_after_the_work_that_unscheduled_it)
{
    SCNetworkReachabilityRef target = begin_with_hooks(true, true);

    assert_true(SCNetworkReachabilitySetCallback(target, unschedule_in_call, NULL));
    hooks.work.run(hooks.work.argument);
    assert_string_equal(hooks.order, "+pc-");
    end_with_hooks(target);
}

/* ---- When, and with what ---------------------------------------------------------------------------------------- */

TEST(a_name_scheduled_again_before_its_work_runs_calls_once)
{
    bench_open(&bench, BENCH_SCHEDULER, expect_name("localhost"));
    queue_await(&bench.queue, 1);
    assert_true(bench_unschedule(&bench));
    bench_schedule(&bench);
    queue_await(&bench.queue, 2);
    assert_true(queue_run(&bench.queue)); /* the old work has nothing to report */
    assert_int_equal(bench.calls, 0);
    bench_expect_call(&bench, R | L | D);
}

TEST(flags_are_the_latest_evaluation)
{
    observer_add_gateway_route();
    bench_open(&bench, BENCH_SCHEDULER, expect_target(FAR));
    assert_int_equal(expect_flags_of(bench.target), R); /* evaluated before it returned */
    observer_delete_route();
    assert_int_equal(expect_flags_of(bench.target), 0);
    observer_add_link_route();
    assert_int_equal(expect_flags_of(bench.target), R | D);
    assert_int_equal(expect_path_of(bench.target).flags, R | D);
    assert_int_equal(bench.calls, 0); /* the work was not run */
    bench_expect_call(&bench, R | D);
}

TEST(each_of_many_targets_has_its_own_work)
{
    enum { MANY = 300 };
    static struct bench benches[MANY];

    for (size_t i = 0; i < MANY; i++)
        bench_open(&benches[i], BENCH_SCHEDULER, expect_target(i % 2 == 0 ? FAR : OTHER_FAR));
    for (int round = 0; round < 3; round++) {
        observer_add_gateway_route();
        for (size_t i = MANY; i-- > 0;)
            bench_expect_call(&benches[i], R);
        observer_delete_route();
        for (size_t i = 0; i < MANY; i++)
            bench_expect_call(&benches[i], 0);
    }
}

/* ---- Ending ----------------------------------------------------------------------------------------------------- */

TEST(pending_work_does_nothing_after_unscheduling)
{
    bench_open(&bench, BENCH_SCHEDULER, expect_target(FAR));
    observer_add_gateway_route();
    assert_int_equal(queue_count(&bench.queue), 1);
    assert_true(bench_unschedule(&bench));
    assert_true(queue_run(&bench.queue));
    assert_int_equal(bench.calls, 0);
}

TEST(pending_work_makes_no_callback_after_the_callback_was_cleared)
{
    bench_open(&bench, BENCH_SCHEDULER, expect_target(FAR));
    observer_add_gateway_route();
    assert_true(SCNetworkReachabilitySetCallback(bench.target, NULL, NULL));
    assert_true(queue_run(&bench.queue));
    assert_int_equal(bench.calls, 0);
    bench_set_callback(&bench);
    bench_expect_idle(&bench); /* the earlier change is not reported */
    observer_delete_route();
    bench_expect_call(&bench, 0);
}

/* ---- Scheduling again ------------------------------------------------------------------------------------------- */

/* The change comes during a callback. The next callback must wait until that one returns, even on another scheduler. */
static void move_inside(struct bench *in)
{
    in->inside = NULL;
    assert_true(bench_unschedule(in));
    assert_true(queue_set(in->more, in->target));
    observer_delete_route();
    while (queue_run(in->more))
        continue;
    in->result = in->calls;
}

TEST(a_callback_may_move_to_another_scheduler)
{
    struct queue other;

    queue_open(&other, 0);
    bench_open(&bench, BENCH_SCHEDULER, expect_target(FAR));
    bench.inside = move_inside;
    bench.more = &other;
    observer_add_gateway_route();
    bench_expect_call(&bench, R);
    assert_int_equal(bench.result, 1); /* callbacks do not overlap, wherever they run */
    assert_int_equal(atomic_load(&bench.queue.references), 0);
    assert_false(bench.elsewhere);
    observer_settle();
    assert_int_equal(queue_count(&bench.queue), 0);
    assert_true(queue_run(&other));
    assert_int_equal(bench.calls, 2);
    assert_int_equal(bench.flags, 0);
    bench.elsewhere = false;
    assert_true(bench_unschedule(&bench));
    assert_int_equal(atomic_load(&other.references), 0);
    queue_close(&other);
}

static void move_to_loop_inside(struct bench *in)
{
    in->inside = NULL;
    assert_true(bench_unschedule(in));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(in->target, in->loop, kSCRunLoopDefaultMode));
    observer_delete_route();
    in->result = SCRunLoopPerform(in->loop, 0);
}

TEST(a_callback_may_move_to_a_run_loop)
{
    bench_open(&bench, BENCH_SCHEDULER, expect_target(FAR));
    bench.loop = SCRunLoopCreate();
    bench.inside = move_to_loop_inside;
    bench.result = -1;
    observer_add_gateway_route();
    bench_expect_call(&bench, R);
    assert_int_equal(bench.result, 0);
    assert_false(bench.elsewhere);
    assert_int_equal(SCRunLoopPerform(bench.loop, 5), 1);
    assert_int_equal(bench.flags, 0);
    assert_int_equal(queue_count(&bench.queue), 0);
    bench.elsewhere = false;
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, bench.loop, kSCRunLoopDefaultMode));
}

static void move_to_queue(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct bench *in = info;

    (void)flags;
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, in->loop, kSCRunLoopDefaultMode));
    assert_true(queue_set(&in->queue, target));
    bench_set_callback(in);
    observer_delete_route();
    in->result = queue_run(&in->queue);
}

TEST(a_callback_on_a_run_loop_may_move_to_a_scheduler)
{
    SCNetworkReachabilityContext context = { 0 };

    bench_open(&bench, BENCH_SCHEDULER, expect_target(FAR));
    bench.loop = SCRunLoopCreate();
    assert_true(bench_unschedule(&bench));
    context.info = &bench;
    assert_true(SCNetworkReachabilitySetCallback(bench.target, move_to_queue, &context));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(bench.target, bench.loop, kSCRunLoopDefaultMode));
    assert_int_equal(SCRunLoopPerform(bench.loop, 0), 0);
    observer_add_gateway_route();
    assert_int_equal(SCRunLoopPerform(bench.loop, 5), 1);
    assert_int_equal(bench.calls, 0);
    queue_await(&bench.queue, 1);
    bench_expect_call(&bench, 0);
}

/* ---- Threads ---------------------------------------------------------------------------------------------------- */

/* A callback that the test holds up, on a queue with its own threads. */
static struct {
    struct queue queue;
    SCNetworkReachabilityRef target;
    sem_t entered, go_on;
    atomic_int calls, inside, overlaps, elsewhere;
    _Atomic(SCNetworkReachabilityFlags) flags;
} held;

static void hold_up(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)info;
    if (atomic_fetch_add(&held.inside, 1) != 0)
        atomic_fetch_add(&held.overlaps, 1);
    if (!queue_is_here(&held.queue))
        atomic_fetch_add(&held.elsewhere, 1);
    atomic_store(&held.flags, flags);
    atomic_fetch_add(&held.calls, 1);
    sem_post(&held.entered);
    sem_wait(&held.go_on);
    atomic_fetch_sub(&held.inside, 1);
}

static void await(sem_t *semaphore)
{
    time_limit_await(semaphore, "no callback came");
}

static void held_open(void)
{
    queue_open(&held.queue, QUEUE_THREADS);
    assert_int_equal(sem_init(&held.entered, 0, 0), 0);
    assert_int_equal(sem_init(&held.go_on, 0, 0), 0);
    atomic_store(&held.calls, 0);
    atomic_store(&held.overlaps, 0);
    atomic_store(&held.elsewhere, 0);
    held.target = expect_target(FAR);
    assert_true(SCNetworkReachabilitySetCallback(held.target, hold_up, NULL));
    assert_true(queue_set(&held.queue, held.target));
    observer_add_gateway_route();
    await(&held.entered);
}

static void held_close(void)
{
    queue_close(&held.queue);
    assert_int_equal(atomic_load(&held.queue.references), 0);
    assert_int_equal(atomic_load(&held.overlaps), 0);
    assert_int_equal(atomic_load(&held.elsewhere), 0);
    SCNetworkReachabilityRelease(held.target);
}

TEST(calls_do_not_overlap_on_a_concurrent_scheduler)
{
    held_open();
    for (int i = 0; i < 10; i++) {
        observer_delete_route();
        observer_add_gateway_route();
    }
    observer_delete_route();
    assert_int_equal(atomic_load(&held.calls), 1);
    assert_int_equal(queue_performs(&held.queue), 1); /* no work is queued during a callback */
    sem_post(&held.go_on);
    await(&held.entered);
    assert_int_equal(atomic_load(&held.flags), 0);
    sem_post(&held.go_on);
    observer_settle();
    assert_int_equal(atomic_load(&held.calls), 2);
    assert_true(SCNetworkReachabilitySetScheduler(held.target, NULL));
    held_close();
}

TEST(unscheduling_on_another_thread_does_not_wait_for_the_callback_in_progress)
{
    held_open();
    observer_delete_route();
    assert_true(SCNetworkReachabilitySetScheduler(held.target, NULL));
    assert_int_equal(atomic_load(&held.inside), 1);
    assert_int_equal(atomic_load(&held.queue.references), 1); /* the callback is still in progress */
    assert_int_equal(expect_flags_of(held.target), 0);
    sem_post(&held.go_on);
    observer_add_gateway_route();
    held_close();
    assert_int_equal(atomic_load(&held.calls), 1);
}

TEST(clearing_the_callback_on_another_thread_does_not_wait_for_the_callback_in_progress)
{
    held_open();
    observer_delete_route();
    assert_true(SCNetworkReachabilitySetCallback(held.target, NULL, NULL));
    assert_int_equal(atomic_load(&held.inside), 1);
    sem_post(&held.go_on);
    observer_add_gateway_route();
    assert_true(SCNetworkReachabilitySetScheduler(held.target, NULL));
    held_close();
    assert_int_equal(atomic_load(&held.calls), 1);
}

TEST(another_thread_may_release_everything_during_a_callback)
{
    held_open();
    assert_true(SCNetworkReachabilitySetScheduler(held.target, NULL));
    SCNetworkReachabilityRelease(held.target);
    held.target = NULL;
    sem_post(&held.go_on);
    held_close();
    assert_int_equal(atomic_load(&held.calls), 1);
}

/* ---- Many changes ----------------------------------------------------------------------------------------------- */

static struct {
    struct queue queue;
    atomic_int calls, inside, overlaps, elsewhere, never;
    _Atomic(SCNetworkReachabilityFlags) last;
    sem_t called;
} many;

static void note(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)info;
    atomic_fetch_add(&many.overlaps, atomic_fetch_add(&many.inside, 1) != 0);
    atomic_fetch_add(&many.elsewhere, !queue_is_here(&many.queue));
    atomic_fetch_add(&many.never, flags != 0 && flags != R);
    atomic_store(&many.last, flags);
    atomic_fetch_add(&many.calls, 1);
    atomic_fetch_sub(&many.inside, 1);
    sem_post(&many.called);
}

/* Without a pause, so that changes come at every moment of a delivery. */
static void change_many_times(unsigned threads)
{
    const struct writer_route route = { .prefix = "198.51.100.0/24", .gateway = "192.0.2.1" };
    const int rounds = unit_is_under(NULL) && !unit_is_under("plain") ? 500 : 5000;

    memset(&many, 0, sizeof many);
    assert_int_equal(sem_init(&many.called, 0, 0), 0);
    queue_open(&many.queue, threads);
    SCNetworkReachabilityRef target = expect_target(FAR);
    assert_true(SCNetworkReachabilitySetCallback(target, note, NULL));
    assert_true(queue_set(&many.queue, target));
    for (int i = 0; i < rounds; i++) {
        assert_int_equal(writer_route(&observer.writer, WRITER_ADD, &route), 0);
        assert_int_equal(writer_route(&observer.writer, WRITER_DELETE, &route), 0);
    }
    assert_int_equal(writer_route(&observer.writer, WRITER_ADD, &route), 0);
    observer_settle();
    assert_int_equal(expect_flags_of(target), R);
    while (atomic_load(&many.last) != R)
        await(&many.called);
    observer_settle();
    assert_int_equal(atomic_load(&many.last), R);
    assert_int_equal(atomic_load(&many.overlaps), 0);
    assert_int_equal(atomic_load(&many.elsewhere), 0);
    assert_int_equal(atomic_load(&many.never), 0);
    assert_int_equal(queue_most(&many.queue), 1);
    assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
    SCNetworkReachabilityRelease(target);
    queue_close(&many.queue);
    assert_int_equal(atomic_load(&many.queue.references), 0);
}

TEST(the_last_callback_of_many_is_right_on_one_thread)
{
    change_many_times(1);
}

TEST(the_last_callback_of_many_is_right_on_a_pool_of_threads)
{
    change_many_times(QUEUE_THREADS);
}

/* ---- GetFlags makes no system call ------------------------------------------------------------------------------ */

static volatile sig_atomic_t system_calls;
static sigjmp_buf enough;

/* A caught call has no effect, so its caller may retry for ever: a few are enough. */
static void count_system_call(int signal)
{
    (void)signal;
    if (++system_calls > 10)
        siglongjmp(enough, 1);
}

struct counted {
    SCNetworkReachabilityRef target;
    SCNetworkReachabilityFlags flags;
    int error, calls, control;
};

/* From now on each system call of this thread is caught and counted, except those that the thread needs to end. */
static int count_system_calls(void)
{
    static const int fine[] = { SYS_rt_sigreturn, SYS_exit, SYS_futex, SYS_madvise, SYS_munmap, SYS_rt_sigprocmask };
    enum { FINE = sizeof fine / sizeof fine[0] };
    struct sock_filter filter[2 * FINE + 2] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)) };
    struct sock_fprog program = { .len = 2 * FINE + 2, .filter = filter };

    for (int i = 0; i < FINE; i++) {
        filter[1 + 2 * i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)fine[i], 0, 1);
        filter[2 + 2 * i] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    filter[2 * FINE + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return errno;
    return 0;
}

static void *get_flags_counted(void *argument)
{
    struct counted *counted = argument;

    counted->error = count_system_calls();
    if (counted->error != 0)
        return NULL;
    if (sigsetjmp(enough, 1) == 0)
        for (int i = 0; i < 1000; i++)
            SCNetworkReachabilityGetFlags(counted->target, &counted->flags);
    counted->calls = system_calls;
    if (counted->calls == 0)
        syscall(SYS_getppid);
    counted->control = system_calls - counted->calls;
    return NULL;
}

TEST_WITH(NULL, NULL, get_flags_makes_no_system_call)
{
    const char *under = getenv("TEST_UNDER");
    const struct sigaction counting = { .sa_handler = count_system_call };
    struct sigaction before;
    struct counted counted = { 0 };

    if (unit_is_under(NULL) && !unit_is_under("clang"))
        SKIP("%s makes system calls of its own", under);
    observer_open();
    bench_open(&bench, BENCH_SCHEDULER, expect_target(FAR));
    observer_add_gateway_route();
    counted.target = bench.target;
    assert_int_equal(sigaction(SIGSYS, &counting, &before), 0);
    pthread_t thread = unit_thread(get_flags_counted, &counted);
    pthread_join(thread, NULL);
    assert_int_equal(sigaction(SIGSYS, &before, NULL), 0);
    if (counted.error == 0) {
        assert_int_equal(counted.control, 1);
        assert_int_equal(counted.calls, 0);
        assert_int_equal(counted.flags, R);
    }
    if (counted.error != 0)
        SKIP("no seccomp filter here: %s", strerror(counted.error));
}

UNIT(.setup = observer_open)
