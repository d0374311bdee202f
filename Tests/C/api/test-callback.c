/* SPDX-License-Identifier: MIT */
/*
 * Callbacks: when they come, their arguments, and what a callback may do. Most rules are the same for every way of
 * delivery, and are tested for each (bench.h). The rules of run loops follow. test-scheduler.c tests the rules of
 * schedulers.
 */
#include "support/bench.h"
#include "support/test.h"

static struct bench bench, second;

/* Makes the first pass of a loop: it reports later changes. */
static void bench_start(enum bench_way way, const char *address)
{
    bench_open(&bench, way, expect_target(address));
    bench_expect_idle(&bench);
}

/* ---- When ------------------------------------------------------------------------------------------------------- */

TEST_EACH(a_newly_scheduled_address_makes_no_callback, bench_rows)
{
    static const char *const addresses[] = { FAR, "192.0.2.9", "0.0.0.0" };

    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        bench_open(&bench, row->way, expect_target(addresses[i]));
        bench_expect_idle(&bench);
        bench_close(&bench);
    }
    bench_open(&bench, row->way, expect_name("192.0.2.9"));
    bench_expect_idle(&bench);
}

/* A name that needs no look-up. test-name.c tests the others. */
TEST_EACH(a_newly_scheduled_name_makes_one_callback, bench_rows)
{
    for (int queries = 0; queries < 2; queries++) {
        bench_open(&bench, row->way, expect_name("localhost"));
        if (queries)
            assert_int_equal(expect_flags_of(bench.target), R | L | D);
        bench_expect_call(&bench, R | L | D);
        bench_expect_idle(&bench);
        bench_close(&bench);
    }
}

TEST_EACH(scheduling_a_name_again_makes_another_callback, bench_rows)
{
    bench_open(&bench, row->way, expect_name("localhost"));
    for (int i = 0; i < 3; i++) {
        bench_expect_call(&bench, R | L | D);
        bench_expect_idle(&bench);
        assert_true(bench_unschedule(&bench));
        bench_schedule(&bench);
    }
}

TEST_EACH(each_change_is_reported, bench_rows)
{
    bench_start(row->way, FAR);
    observer_add_gateway_route();
    assert_int_equal(bench.calls, 0);
    bench_expect_call(&bench, R);
    assert_int_equal(expect_flags_of(bench.target), R);
    observer_add_link_route();
    bench_expect_call(&bench, R | D);
    observer_delete_route();
    bench_expect_call(&bench, 0);
    bench_expect_idle(&bench);
}

TEST_EACH(a_change_and_its_reversal_make_no_callback, bench_rows)
{
    bench_start(row->way, FAR);
    observer_add_gateway_route();
    observer_delete_route();
    bench_expect_quiet(&bench);   /* the first change queued work, which has nothing to report */
    observer_add_gateway_route(); /* and now nothing is queued */
    bench_expect_call(&bench, R);
}

TEST_EACH(many_changes_make_one_callback_with_the_last_value, bench_rows)
{
    bench_start(row->way, FAR);
    for (int i = 0; i < 20; i++) {
        observer_add_gateway_route();
        observer_delete_route();
    }
    observer_add_link_route();
    if (row->way != BENCH_LOOP)
        assert_int_equal(queue_performs(&bench.queue), 1);
    bench_expect_call(&bench, R | D);
    bench_expect_idle(&bench);
}

TEST_EACH(a_late_callback_gets_no_replay, bench_rows)
{
    bench_open_silent(&bench, row->way, expect_target(FAR));
    observer_add_gateway_route();
    bench_expect_idle(&bench);
    assert_int_equal(expect_flags_of(bench.target), R);
    bench_set_callback(&bench);
    bench_expect_idle(&bench);
    observer_delete_route();
    bench_expect_call(&bench, 0);
}

TEST_EACH(a_late_callback_gets_no_announcement_of_a_name, bench_rows)
{
    bench_open_silent(&bench, row->way, expect_name("localhost"));
    bench_expect_idle(&bench);
    bench_set_callback(&bench);
    bench_expect_idle(&bench);
    namespace_ip("link set dev lo down");
    observer_settle();
    bench_expect_call(&bench, 0);
}

TEST_EACH(a_change_of_interface_alone_is_reported, bench_rows)
{
    const struct writer_route route = { .prefix = "198.51.100.0/24", .gateway = "203.0.113.1" };

    namespace_add_second_pair();
    observer_add_gateway_route();
    bench_start(row->way, FAR);
    assert_int_equal(writer_route(&observer.writer, WRITER_REPLACE, &route), 0);
    observer_settle();
    bench_expect_call(&bench, R);
    EXPECT_INTERFACE(bench.target, "c");
}

TEST_EACH(with_notify_path_a_new_gateway_is_reported_too, bench_rows)
{
    const struct writer_route route = { .prefix = "198.51.100.0/24", .gateway = "192.0.2.77" };

    observer_add_gateway_route();
    bench_start(row->way, FAR);
    bench_open(&second, row->way, expect_option(FAR, kSCNetworkReachabilityOptionNotifyPath));
    bench_expect_idle(&second);
    assert_int_equal(writer_route(&observer.writer, WRITER_REPLACE, &route), 0);
    observer_settle();
    bench_expect_call(&second, R);
    EXPECT_GATEWAY(second.target, "192.0.2.77");
    bench_expect_idle(&bench);
}

TEST_EACH(a_change_while_unscheduled_is_not_reported, bench_rows)
{
    bench_start(row->way, FAR);
    assert_true(bench_unschedule(&bench));
    observer_add_gateway_route();
    bench_expect_idle(&bench);
    assert_int_equal(expect_flags_of(bench.target), R); /* queried: the target is not scheduled */
    bench_schedule(&bench);
    bench_expect_idle(&bench);
    observer_delete_route();
    bench_expect_call(&bench, 0);
}

static int freed;

static void count_freed(const void *info)
{
    (void)info;
    freed++;
}

/* Counts later releases of the bench. */
static void count_releases(void)
{
    SCNetworkReachabilityContext context = { .info = &bench, .release = count_freed };

    freed = 0;
    assert_true(SCNetworkReachabilitySetCallback(bench.target, bench_called, &context));
}

TEST_EACH(a_scheduled_target_keeps_itself_alive, bench_rows)
{
    bench_start(row->way, FAR);
    count_releases();
    SCNetworkReachabilityRelease(bench.target);
    observer_add_gateway_route();
    bench_expect_call(&bench, R);
    assert_int_equal(freed, 0);
    observer_delete_route();
    assert_true(bench_unschedule(&bench)); /* pending work does not keep the target */
    assert_int_equal(freed, 1);
    bench.target = NULL;
    if (row->way != BENCH_LOOP)
        assert_true(queue_run(&bench.queue));
    assert_int_equal(bench.calls, 1);
}

/* ---- Inside a callback ------------------------------------------------------------------------------------------ */

/* The callback deletes the route that it reports, which is not reported. */
static void expect_last_call(enum bench_way way, void (*inside)(struct bench *in))
{
    bench_start(way, FAR);
    bench.inside = inside;
    observer_add_gateway_route();
    bench_expect_call(&bench, R);
    assert_true(bench.result);
    bench_expect_idle(&bench);
}

static void clear_inside(struct bench *in)
{
    observer_delete_route();
    in->result = SCNetworkReachabilitySetCallback(in->target, NULL, NULL);
}

TEST_EACH(a_callback_may_clear_itself, bench_rows)
{
    expect_last_call(row->way, clear_inside);
    assert_int_equal(expect_flags_of(bench.target), 0); /* it is still watched */
}

static void unschedule_inside(struct bench *in)
{
    observer_delete_route(); /* which must not be reported */
    in->result = bench_unschedule(in);
}

TEST_EACH(a_callback_may_unschedule_itself, bench_rows)
{
    expect_last_call(row->way, unschedule_inside);
    observer_add_gateway_route();
    bench_expect_idle(&bench);
    bench_expect_refused(bench_unschedule(&bench));
}

static void let_go_inside(struct bench *in)
{
    assert_true(bench_unschedule(in));
    SCNetworkReachabilityRelease(in->target);
    SCRunLoopRelease(in->loop);
    in->result = freed;
}

TEST_EACH(a_callback_may_release_the_last_reference, bench_rows)
{
    bench_start(row->way, FAR);
    count_releases();
    bench.inside = let_go_inside;
    observer_add_gateway_route();
    bench_expect_call(&bench, R);
    bench.target = NULL;
    bench.loop = NULL;
    assert_int_equal(bench.result, 0); /* not freed during its callback */
    assert_int_equal(freed, 1);
}

static void schedule_again_inside(struct bench *in)
{
    in->inside = NULL;
    observer_delete_route();
    assert_true(bench_unschedule(in));
    bench_schedule(in); /* which evaluates: the change is known now, and not reported */
    in->result = (int)expect_flags_of(in->target);
}

TEST_EACH(a_callback_may_unschedule_and_schedule_again, bench_rows)
{
    bench_start(row->way, FAR);
    bench.inside = schedule_again_inside;
    bench.result = -1;
    observer_add_gateway_route();
    bench_expect_call(&bench, R);
    assert_int_equal(bench.result, 0);
    bench_expect_idle(&bench);
    if (row->way != BENCH_LOOP)
        assert_int_equal(atomic_load(&bench.queue.references), 1);
    observer_add_link_route();
    bench_expect_call(&bench, R | D);
}

static void change_inside(struct bench *in)
{
    in->inside = NULL;
    assert_int_equal(expect_flags_of(in->target), in->flags);
    observer_delete_route();
    in->result = (int)expect_flags_of(in->target);
}

TEST_EACH(a_change_during_a_callback_makes_another, bench_rows)
{
    bench_start(row->way, FAR);
    bench.inside = change_inside;
    observer_add_gateway_route();
    observer_add_link_route(); /* before the delivery begins, so the callback gets this change */
    bench_expect_call(&bench, R | D);
    /* On a loop GetFlags is constant during a callback: nothing else drives the loop. */
    assert_int_equal(bench.result, row->way == BENCH_LOOP ? R | D : 0);
    bench_expect_call(&bench, 0);
    bench_expect_idle(&bench);
}

static void change_back_inside(struct bench *in)
{
    in->inside = NULL;
    observer_delete_route();
    observer_add_gateway_route();
}

TEST_EACH(a_change_and_its_reversal_during_a_callback_make_no_other, bench_rows)
{
    bench_start(row->way, FAR);
    bench.inside = change_back_inside;
    observer_add_gateway_route();
    bench_expect_call(&bench, R);
    bench_expect_idle(&bench);
}

/* ---- Before the first pass of a run loop ------------------------------------------------------------------------ */

TEST(a_change_before_the_first_pass_is_reported)
{
    struct watcher watcher;

    watcher_schedule(&watcher, expect_target(FAR));
    observer_add_gateway_route();
    assert_int_equal(expect_flags_of(watcher.target), 0); /* as of the last pass of the loop */
    EXPECT_CHANGE(&watcher, R);
}

/* ---- Contexts --------------------------------------------------------------------------------------------------- */

/* The values of the hooks: `first` is the info that was set, `kept` is what retain returns. */
static struct {
    char first, kept, extra;
    int retains, releases;
    int open;        /* retained, not yet released */
    int open_inside; /* during the last call */
    int releases_inside;
    const void *released, *passed;
    char order[64];
} hooks;

static const void *retain_hook(const void *info)
{
    hooks.retains++;
    hooks.open++;
    strncat(hooks.order, "+", 2);
    return info == &hooks.first ? &hooks.kept : info == &hooks.kept ? &hooks.extra : info;
}

static void release_hook(const void *info)
{
    hooks.releases++;
    hooks.open--;
    hooks.released = info;
    strncat(hooks.order, "-", 2);
}

static void hooked(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)flags;
    hooks.passed = info;
    hooks.open_inside = hooks.open;
    hooks.releases_inside = hooks.releases;
    strncat(hooks.order, "c", 2);
}

static void replacing(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    assert_true(SCNetworkReachabilitySetCallback(target, hooked, NULL));
    hooked(target, flags, info);
}

/* One change is delivered under this context, which is then replaced, and the target released. */
static void use_context(SCNetworkReachabilityCallBack callout, bool retain, bool release)
{
    SCNetworkReachabilityContext context = { .info = &hooks.first,
                                             .retain = retain ? retain_hook : NULL,
                                             .release = release ? release_hook : NULL };
    SCOPED_LOOP loop = SCRunLoopCreate();

    memset(&hooks, 0, sizeof hooks);
    SCOPED_TARGET target = expect_target(FAR);
    assert_true(SCNetworkReachabilitySetCallback(target, callout, &context));
    memset(&context, 0xff, sizeof context); /* it was copied */
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    observer_add_gateway_route();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
}

TEST(with_both_hooks_each_delivery_retains_and_releases)
{
    use_context(hooked, true, true);
    assert_string_equal(hooks.order, "++c--");
    assert_ptr_equal(hooks.passed, &hooks.extra);
    assert_ptr_equal(hooks.released, &hooks.kept);
    assert_int_equal(hooks.open_inside, 2);
}

TEST(release_alone_is_called_once_at_the_end)
{
    use_context(hooked, false, true);
    assert_string_equal(hooks.order, "c-");
    assert_ptr_equal(hooks.passed, &hooks.first);
    assert_ptr_equal(hooks.released, &hooks.first);
}

TEST(with_retain_alone_its_value_is_passed)
{
    use_context(hooked, true, false);
    assert_string_equal(hooks.order, "+c");
    assert_ptr_equal(hooks.passed, &hooks.kept);
}

TEST(with_no_hook_the_info_is_passed)
{
    use_context(hooked, false, false);
    assert_string_equal(hooks.order, "c");
    assert_ptr_equal(hooks.passed, &hooks.first);
}

TEST(release_alone_waits_for_the_callback_in_progress)
{
    use_context(replacing, false, true);
    assert_string_equal(hooks.order, "c-");
    assert_int_equal(hooks.releases_inside, 0);
    assert_int_equal(hooks.releases, 1);
}

TEST(replacing_the_context_inside_a_callback_keeps_its_own_reference)
{
    use_context(replacing, true, true);
    assert_string_equal(hooks.order, "++-c-");
    assert_int_equal(hooks.open_inside, 1);
    assert_ptr_equal(hooks.released, &hooks.extra);
}

TEST(the_new_context_is_retained_before_the_old_is_released)
{
    SCNetworkReachabilityContext context = { .info = &hooks.first, .retain = retain_hook, .release = release_hook };

    memset(&hooks, 0, sizeof hooks);
    SCNetworkReachabilityRef target = expect_target(FAR);
    assert_true(SCNetworkReachabilitySetCallback(target, hooked, &context));
    assert_string_equal(hooks.order, "+");
    assert_true(SCNetworkReachabilitySetCallback(target, hooked, &context));
    assert_string_equal(hooks.order, "++-");
    assert_true(SCNetworkReachabilitySetCallback(target, NULL, NULL));
    assert_string_equal(hooks.order, "++--");
    assert_true(SCNetworkReachabilitySetCallback(target, NULL, &context)); /* no callback: the context is not used */
    assert_string_equal(hooks.order, "++--");
    assert_true(SCNetworkReachabilitySetCallback(target, hooked, &context));
    assert_string_equal(hooks.order, "++--+");
    SCNetworkReachabilityRelease(target);
    assert_string_equal(hooks.order, "++--+-");
}

TEST(without_a_context_info_is_null)
{
    SCOPED_LOOP loop = SCRunLoopCreate();

    memset(&hooks, 0, sizeof hooks);
    hooks.passed = &hooks;
    SCOPED_TARGET target = expect_target(FAR);
    assert_true(SCNetworkReachabilitySetCallback(target, hooked, NULL));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    observer_add_gateway_route();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_null(hooks.passed);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
}

TEST(a_context_of_another_version_is_refused_and_changes_nothing)
{
    SCNetworkReachabilityContext context = {
        .version = 1, .info = &hooks.first, .retain = retain_hook, .release = release_hook
    };
    struct watcher watcher;

    memset(&hooks, 0, sizeof hooks);
    watcher_start(&watcher, expect_target(FAR));
    bench_expect_refused(SCNetworkReachabilitySetCallback(watcher.target, hooked, &context));
    context.version = -1;
    bench_expect_refused(SCNetworkReachabilitySetCallback(watcher.target, NULL, &context));
    assert_string_equal(hooks.order, "");
    observer_add_gateway_route();
    EXPECT_CHANGE(&watcher, R);
}

static SCNetworkReachabilityRef reentrant_target;

static void asking_release_hook(const void *info)
{
    SCNetworkReachabilityFlags flags;

    release_hook(info);
    assert_true(SCNetworkReachabilityGetFlags(reentrant_target, &flags));
    assert_true(SCNetworkReachabilitySetCallback(reentrant_target, NULL, NULL));
}

TEST(a_hook_may_call_the_library)
{
    SCNetworkReachabilityContext context = { .info = &hooks.first, .release = asking_release_hook };

    memset(&hooks, 0, sizeof hooks);
    reentrant_target = expect_target(FAR);
    assert_true(SCNetworkReachabilitySetCallback(reentrant_target, hooked, &context));
    assert_true(SCNetworkReachabilitySetCallback(reentrant_target, hooked, NULL));
    assert_string_equal(hooks.order, "-");
    SCNetworkReachabilityRelease(reentrant_target);
}

/* ---- Inside a callback on a run loop --------------------------------------------------------------------------- */

static void unschedule_the_other(struct bench *in)
{
    in->result = bench_unschedule(in->more);
}

TEST(a_callback_may_unschedule_a_target_whose_callback_is_due)
{
    SCOPED_LOOP loop = SCRunLoopCreate();

    bench_open_on(&bench, loop, expect_target(FAR));
    bench_open_on(&second, loop, expect_target(OTHER_FAR));
    bench.inside = second.inside = unschedule_the_other;
    bench.more = &second;
    second.more = &bench;
    observer_add_gateway_route();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_int_equal(bench.calls + second.calls, 1);
    assert_int_equal(idle_perform(loop), 0);
    assert_int_equal(bench.calls + second.calls, 1);
}

/* A change inside the first callback, and a nested pass: it reports the other target, and not this one again. */
static void perform_inside(struct bench *in)
{
    in->inside = NULL;
    observer_delete_route();
    in->result = SCRunLoopPerform(in->loop, 5);
}

TEST(a_nested_pass_delivers_other_targets_only)
{
    SCOPED_LOOP loop = SCRunLoopCreate();

    observer_add_gateway_route();
    bench_open_on(&bench, loop, expect_target(FAR));
    bench_open_on(&second, loop, expect_target(OTHER_FAR));
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    namespace_ip("route add unreachable " FAR "/32");
    bench.inside = perform_inside;
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_int_equal(bench.calls, 1);
    assert_int_equal(bench.result, 1);
    assert_int_equal(second.calls, 1);
    assert_int_equal(second.flags, 0);
}

/* The target changes again during its own callback: the change is reported after the callback has returned, with the
 * last value. */
static void change_and_perform_inside(struct bench *in)
{
    in->inside = NULL;
    observer_delete_route();
    in->result = SCRunLoopPerform(in->loop, 0);
    in->result = in->result == 0 ? in->calls : -1;
}

TEST(a_nested_pass_does_not_report_the_target_being_delivered)
{
    bench_start(BENCH_LOOP, FAR);
    bench.inside = change_and_perform_inside;
    observer_add_gateway_route();
    while (bench.calls < 2)
        assert_true(SCRunLoopPerform(bench.loop, 5) > 0);
    assert_int_equal(bench.result, 1);
    assert_int_equal(bench.flags, 0);
    assert_int_equal(idle_perform(bench.loop), 0);
}

/* ---- Schedules -------------------------------------------------------------------------------------------------- */

TEST(scheduling_twice_takes_two_unschedules)
{
    bench_start(BENCH_LOOP, FAR);
    bench_schedule(&bench);
    observer_add_gateway_route();
    assert_int_equal(SCRunLoopPerform(bench.loop, 5), 1);
    assert_int_equal(idle_perform(bench.loop), 0);
    assert_true(bench_unschedule(&bench));
    observer_delete_route();
    assert_int_equal(SCRunLoopPerform(bench.loop, 5), 1);
    assert_true(bench_unschedule(&bench));
    bench_expect_refused(bench_unschedule(&bench));
    observer_add_gateway_route();
    assert_int_equal(idle_perform(bench.loop), 0);
    assert_int_equal(bench.calls, 2);
}

TEST(a_schedule_ends_in_its_own_mode)
{
    char common[] = kSCRunLoopCommonModes; /* modes are compared as text */

    bench_start(BENCH_LOOP, FAR);
    bench_expect_refused(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, bench.loop, common));
    bench_expect_refused(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, bench.loop, "another mode"));
    bench_expect_refused(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, bench.loop, NULL));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(bench.target, bench.loop, common));
    assert_true(bench_unschedule(&bench));
    bench_expect_refused(bench_unschedule(&bench));
    observer_add_gateway_route();
    assert_int_equal(SCRunLoopPerform(bench.loop, 5), 1); /* still scheduled in the other mode */
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, bench.loop, kSCRunLoopCommonModes));
    observer_delete_route();
    assert_int_equal(idle_perform(bench.loop), 0);
}

TEST(unscheduling_from_another_loop_is_refused)
{
    SCOPED_LOOP loop = SCRunLoopCreate(), other = SCRunLoopCreate();

    bench_open_on(&bench, loop, expect_target(FAR));
    bench_expect_refused(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, other, kSCRunLoopDefaultMode));
    bench_expect_refused(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, NULL, kSCRunLoopDefaultMode));
    bench_expect_refused(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, (SCRunLoopRef)(uintptr_t)bench.target,
                                                                    kSCRunLoopDefaultMode));
    observer_add_gateway_route();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
}

TEST(a_target_is_on_one_loop)
{
    SCOPED_LOOP loop = SCRunLoopCreate(), other = SCRunLoopCreate();

    bench_open_on(&bench, loop, expect_target(FAR));
    bench_expect_refused(SCNetworkReachabilityScheduleWithRunLoop(bench.target, other, kSCRunLoopDefaultMode));
    bench_expect_refused(SCNetworkReachabilityScheduleWithRunLoop(bench.target, other, kSCRunLoopCommonModes));
    assert_true(bench_unschedule(&bench));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(bench.target, other, kSCRunLoopDefaultMode));
    observer_add_gateway_route();
    assert_int_equal(idle_perform(loop), 0);
    assert_int_equal(SCRunLoopPerform(other, 5), 1);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, other, kSCRunLoopDefaultMode));
}

TEST(a_schedule_keeps_its_loop_alive)
{
    SCRunLoopRef loop = SCRunLoopCreate();

    bench_open_on(&bench, loop, expect_target(FAR));
    SCRunLoopRelease(bench.loop);
    bench.loop = NULL;
    SCRunLoopRelease(loop); /* the schedule keeps it */
    observer_add_gateway_route();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, loop, kSCRunLoopDefaultMode));
}

TEST(the_flags_of_an_unscheduled_target_are_queried_again)
{
    bench_start(BENCH_LOOP, FAR);
    observer_add_gateway_route();
    assert_int_equal(expect_flags_of(bench.target), 0);
    assert_int_equal(expect_path_of(bench.target).flags, R);
    assert_true(bench_unschedule(&bench));
    assert_int_equal(expect_flags_of(bench.target), R);
}

#define MANY 300

TEST(each_of_many_targets_is_called_once)
{
    static struct bench benches[MANY];
    SCOPED_LOOP loop = SCRunLoopCreate();
    int calls = 0;

    for (size_t i = 0; i < MANY; i++)
        bench_open_on(&benches[i], loop, expect_target(i % 2 == 0 ? FAR : OTHER_FAR));
    observer_add_gateway_route();
    while (calls < MANY) {
        const int made = SCRunLoopPerform(loop, 5);

        assert_true(made > 0);
        calls += made;
    }
    assert_int_equal(idle_perform(loop), 0);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(benches[i].calls, 1);
        assert_int_equal(benches[i].flags, R);
    }
}

/* ---- Threads ---------------------------------------------------------------------------------------------------- */

static void *end_with_a_schedule(void *argument)
{
    SCNetworkReachabilityRef *targets = argument;
    SCRunLoopRef loop = SCRunLoopGetCurrent();

    for (int i = 0; i < 2; i++)
        if (!SCNetworkReachabilityScheduleWithRunLoop(targets[i], loop, kSCRunLoopDefaultMode))
            return NULL;
    /* Scheduled twice: the end of the thread undoes both. */
    return SCNetworkReachabilityScheduleWithRunLoop(targets[0], loop, kSCRunLoopDefaultMode) ? loop : NULL;
}

TEST(an_ending_thread_unschedules_its_targets)
{
    SCNetworkReachabilityContext context = { .info = &hooks.first, .release = release_hook };
    SCNetworkReachabilityRef targets[2];
    void *loop;

    memset(&hooks, 0, sizeof hooks);
    targets[0] = expect_target(FAR);
    targets[1] = expect_target(OTHER_FAR);
    assert_true(SCNetworkReachabilitySetCallback(targets[1], hooked, &context));
    pthread_t thread = unit_thread(end_with_a_schedule, targets);
    assert_int_equal(pthread_join(thread, &loop), 0);
    assert_non_null(loop);
    observer_add_gateway_route();
    assert_int_equal(expect_flags_of(targets[0]), R); /* by a query: it is not scheduled any more */
    SCNetworkReachabilityRelease(targets[1]);
    assert_string_equal(hooks.order, "-"); /* the schedule had the last reference */
    SCNetworkReachabilityRelease(targets[0]);
}

static void *schedule_elsewhere(void *unused)
{
    bench_schedule(&bench);
    return unused;
}

TEST(a_schedule_made_by_another_thread_wakes_the_loop)
{
    bench_open(&bench, BENCH_LOOP, expect_name("localhost"));
    assert_true(bench_unschedule(&bench));
    assert_int_equal(SCRunLoopPerform(bench.loop, 0), 0);
    pthread_t thread = unit_thread(schedule_elsewhere, NULL);
    bench_expect_call(&bench, R | L | D);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

UNIT(.setup = observer_open)
