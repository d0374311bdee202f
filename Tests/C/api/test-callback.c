/* SPDX-License-Identifier: MIT */
/* Who is called back, when, with what, and what may be done meanwhile. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/idle.h"
#include "support/namespace.h"
#include "support/watcher.h"

#define FAR       "198.51.100.7"
#define OTHER_FAR "198.51.100.8"

static void begin(void)
{
    namespace_require();
    namespace_ip("link set dev lo up");
    namespace_add_pair();
}

/* FAR and OTHER_FAR become reachable, and cease to be. */
static void appear(void)
{
    namespace_ip("route add 198.51.100.0/24 via 192.0.2.1");
}

static void vanish(void)
{
    namespace_ip("route delete 198.51.100.0/24");
}

/* A loop, and what is called on it. */
struct bench {
    SCRunLoopRef               loop;
    SCNetworkReachabilityRef   target;
    int                        calls;
    SCNetworkReachabilityFlags flags;
    void (*inside)(struct bench *bench); /* done in each call */
    void *more;
    int   result;
};

static void called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct bench *bench = info;

    (void)target;
    bench->calls++;
    bench->flags = flags;
    if (bench->inside != NULL)
        bench->inside(bench);
}

static void set_callback(struct bench *bench)
{
    SCNetworkReachabilityContext context = { .info = bench };

    assert_true(SCNetworkReachabilitySetCallback(bench->target, called, &context));
}

static void schedule(struct bench *bench)
{
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(bench->target, bench->loop, kSCRunLoopDefaultMode));
}

static bool try_unschedule(struct bench *bench)
{
    return SCNetworkReachabilityUnscheduleFromRunLoop(bench->target, bench->loop, kSCRunLoopDefaultMode);
}

static void bench_open(struct bench *bench, SCRunLoopRef loop, const char *address)
{
    *bench = (struct bench){ .loop = SCRunLoopRetain(loop), .target = expect_target(address) };
    set_callback(bench);
    schedule(bench);
    assert_int_equal(SCRunLoopPerform(loop, 0), 0); /* what comes from here on is heard of, or missed */
}

static void bench_close(struct bench *bench)
{
    try_unschedule(bench);
    SCNetworkReachabilityRelease(bench->target);
    SCRunLoopRelease(bench->loop);
}

static void expect_refused(SCBoolean answer)
{
    assert_false(answer);
    assert_int_equal(SCError(), kSCStatusInvalidArgument);
}

/* ---- When ------------------------------------------------------------------------------------------------------- */

TEST(an_address_that_was_just_scheduled_calls_nobody)
{
    struct watcher watcher;

    begin();
    watcher_schedule(&watcher, expect_target("192.0.2.9"));
    EXPECT_QUIET(&watcher);
    watcher_stop(&watcher);
    watcher_schedule(&watcher, expect_target(FAR));
    EXPECT_QUIET(&watcher);
    watcher_stop(&watcher);
    watcher_schedule(&watcher, SCNetworkReachabilityCreateWithName(NULL, "192.0.2.9"));
    EXPECT_QUIET(&watcher);
    watcher_stop(&watcher);
}

/* One that need not be looked up; for the others see test-name.c. */
TEST(a_name_that_was_just_scheduled_calls_once)
{
    begin();
    for (int asks = 0; asks < 2; asks++) {
        struct watcher watcher;

        watcher_schedule(&watcher, SCNetworkReachabilityCreateWithName(NULL, "localhost"));
        if (asks)
            assert_int_equal(expect_flags_of(watcher.target), R | L | D);
        EXPECT_CHANGE(&watcher, R | L | D);
        EXPECT_QUIET(&watcher);
        assert_int_equal(watcher.calls, 1);
        watcher_stop(&watcher);
    }
}

TEST(scheduling_a_name_again_calls_again)
{
    struct watcher watcher;

    begin();
    watcher_schedule(&watcher, SCNetworkReachabilityCreateWithName(NULL, "localhost"));
    EXPECT_CHANGE(&watcher, R | L | D);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(watcher.target, watcher.loop, kSCRunLoopDefaultMode));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(watcher.target, watcher.loop, kSCRunLoopDefaultMode));
    EXPECT_CHANGE(&watcher, R | L | D);
    EXPECT_QUIET(&watcher);
    watcher_stop(&watcher);
}

TEST(there_and_back_again_calls_nobody)
{
    struct watcher watcher;

    begin();
    watcher_start(&watcher, expect_target(FAR));
    appear();
    vanish();
    EXPECT_QUIET(&watcher);
    assert_int_equal(watcher.calls, 0);
    watcher_stop(&watcher);
}

TEST(many_changes_are_one_callback_with_the_last_value)
{
    struct watcher watcher;

    begin();
    watcher_start(&watcher, expect_target(FAR));
    for (int i = 0; i < 5; i++) {
        appear();
        vanish();
    }
    appear();
    EXPECT_CHANGE(&watcher, R);
    EXPECT_QUIET(&watcher);
    assert_int_equal(watcher.calls, 1);
    watcher_stop(&watcher);
}

TEST(a_change_between_scheduling_and_the_first_pass_is_told)
{
    struct watcher watcher;

    begin();
    watcher_schedule(&watcher, expect_target(FAR));
    appear();
    assert_int_equal(expect_flags_of(watcher.target), 0); /* what the loop saw when it was last driven */
    EXPECT_CHANGE(&watcher, R);
    watcher_stop(&watcher);
}

TEST(a_late_callback_gets_no_replay)
{
    struct bench bench = { 0 };

    begin();
    bench.loop = SCRunLoopCreate();
    bench.target = expect_target(FAR);
    schedule(&bench);
    appear();
    assert_int_equal(SCRunLoopPerform(bench.loop, 0), 0);
    assert_int_equal(expect_flags_of(bench.target), R);
    set_callback(&bench);
    assert_int_equal(idle_perform(bench.loop), 0);
    vanish();
    assert_int_equal(SCRunLoopPerform(bench.loop, 5), 1);
    assert_int_equal(bench.flags, 0);
    bench_close(&bench);
}

TEST(a_late_callback_gets_no_announcement_of_a_name)
{
    struct bench bench = { 0 };

    begin();
    bench.loop = SCRunLoopCreate();
    bench.target = SCNetworkReachabilityCreateWithName(NULL, "localhost");
    schedule(&bench);
    assert_int_equal(SCRunLoopPerform(bench.loop, 0), 0);
    set_callback(&bench);
    assert_int_equal(idle_perform(bench.loop), 0);
    namespace_ip("link set dev lo down");
    assert_int_equal(SCRunLoopPerform(bench.loop, 5), 1);
    bench_close(&bench);
}

TEST(a_change_of_interface_alone_is_told)
{
    struct watcher watcher;

    begin();
    namespace_ip("link add name c type veth peer name d");
    namespace_ip("link set dev d up");
    namespace_ip("link set dev c up");
    namespace_ip("address add 203.0.113.2/24 dev c");
    namespace_await_running("c", true);
    appear();
    watcher_start(&watcher, expect_target(FAR));
    namespace_ip("route replace 198.51.100.0/24 via 203.0.113.1");
    EXPECT_CHANGE(&watcher, R);
    EXPECT_INTERFACE(watcher.target, "c");
    watcher_stop(&watcher);
}

TEST(a_change_that_nobody_was_scheduled_for_is_not_told)
{
    struct watcher watcher;

    begin();
    watcher_start(&watcher, expect_target(FAR));
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(watcher.target, watcher.loop, kSCRunLoopDefaultMode));
    appear();
    EXPECT_QUIET(&watcher);
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(watcher.target, watcher.loop, kSCRunLoopDefaultMode));
    assert_int_equal(expect_flags_of(watcher.target), R);
    EXPECT_QUIET(&watcher);
    vanish();
    EXPECT_CHANGE(&watcher, 0);
    watcher_stop(&watcher);
}

/* ---- Contexts --------------------------------------------------------------------------------------------------- */

/* What the hooks are given and give: `first`, as set; `kept`, what retain makes of it. */
static struct {
    char        first, kept, extra;
    int         retains, releases;
    int         open;        /* retained, not yet released */
    int         open_inside; /* during the last call */
    int         releases_inside;
    const void *released, *passed;
    char        order[64];
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
    (void)target;
    (void)flags;
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
    SCNetworkReachabilityRef     target;
    SCRunLoopRef                 loop = SCRunLoopCreate();

    memset(&hooks, 0, sizeof hooks);
    begin();
    target = expect_target(FAR);
    assert_true(SCNetworkReachabilitySetCallback(target, callout, &context));
    memset(&context, 0xff, sizeof context); /* it was copied */
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    appear();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    SCNetworkReachabilityRelease(target);
    SCRunLoopRelease(loop);
}

TEST(with_both_hooks_each_delivery_retains_and_releases)
{
    use_context(hooked, true, true);
    assert_string_equal(hooks.order, "++c--");
    assert_ptr_equal(hooks.passed, &hooks.extra);
    assert_ptr_equal(hooks.released, &hooks.kept);
    assert_int_equal(hooks.open_inside, 2);
}

TEST(with_release_alone_it_is_called_once_at_the_end)
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

TEST(release_alone_waits_for_the_call_in_flight)
{
    use_context(replacing, false, true);
    assert_string_equal(hooks.order, "c-");
    assert_int_equal(hooks.releases_inside, 0);
    assert_int_equal(hooks.releases, 1);
}

TEST(replacing_inside_the_call_leaves_it_its_own_reference)
{
    use_context(replacing, true, true);
    assert_string_equal(hooks.order, "++-c-");
    assert_int_equal(hooks.open_inside, 1);
    assert_ptr_equal(hooks.released, &hooks.extra);
}

TEST(the_new_context_is_retained_before_the_old_is_released)
{
    SCNetworkReachabilityContext context = { .info = &hooks.first, .retain = retain_hook, .release = release_hook };
    SCNetworkReachabilityRef     target;

    begin();
    memset(&hooks, 0, sizeof hooks);
    target = expect_target(FAR);
    assert_true(SCNetworkReachabilitySetCallback(target, hooked, &context));
    assert_string_equal(hooks.order, "+");
    assert_true(SCNetworkReachabilitySetCallback(target, hooked, &context));
    assert_string_equal(hooks.order, "++-");
    assert_true(SCNetworkReachabilitySetCallback(target, NULL, NULL));
    assert_string_equal(hooks.order, "++--");
    assert_true(SCNetworkReachabilitySetCallback(target, NULL, &context)); /* there is nobody to give it to */
    assert_string_equal(hooks.order, "++--");
    assert_true(SCNetworkReachabilitySetCallback(target, hooked, &context));
    assert_string_equal(hooks.order, "++--+");
    SCNetworkReachabilityRelease(target);
    assert_string_equal(hooks.order, "++--+-");
}

TEST(without_a_context_info_is_null)
{
    SCNetworkReachabilityRef target;
    SCRunLoopRef             loop = SCRunLoopCreate();

    begin();
    memset(&hooks, 0, sizeof hooks);
    hooks.passed = &hooks;
    target = expect_target(FAR);
    assert_true(SCNetworkReachabilitySetCallback(target, hooked, NULL));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    appear();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_null(hooks.passed);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    SCNetworkReachabilityRelease(target);
    SCRunLoopRelease(loop);
}

TEST(a_context_of_another_version_is_refused_and_changes_nothing)
{
    SCNetworkReachabilityContext context = {
        .version = 1, .info = &hooks.first, .retain = retain_hook, .release = release_hook
    };
    struct watcher watcher;

    begin();
    memset(&hooks, 0, sizeof hooks);
    watcher_start(&watcher, expect_target(FAR));
    expect_refused(SCNetworkReachabilitySetCallback(watcher.target, hooked, &context));
    context.version = -1;
    expect_refused(SCNetworkReachabilitySetCallback(watcher.target, NULL, &context));
    assert_string_equal(hooks.order, "");
    appear();
    EXPECT_CHANGE(&watcher, R);
    watcher_stop(&watcher);
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

    begin();
    memset(&hooks, 0, sizeof hooks);
    reentrant_target = expect_target(FAR);
    assert_true(SCNetworkReachabilitySetCallback(reentrant_target, hooked, &context));
    assert_true(SCNetworkReachabilitySetCallback(reentrant_target, hooked, NULL));
    assert_string_equal(hooks.order, "-");
    SCNetworkReachabilityRelease(reentrant_target);
}

/* ---- Inside a callback ------------------------------------------------------------------------------------------ */

static void clear_callback(struct bench *bench)
{
    bench->result = SCNetworkReachabilitySetCallback(bench->target, NULL, NULL);
}

TEST(a_callback_may_clear_itself)
{
    struct bench bench;
    SCRunLoopRef loop = SCRunLoopCreate();

    begin();
    bench_open(&bench, loop, FAR);
    bench.inside = clear_callback;
    appear();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_true(bench.result);
    vanish();
    assert_int_equal(idle_perform(loop), 0);
    assert_int_equal(bench.calls, 1);
    assert_int_equal(expect_flags_of(bench.target), 0);
    bench_close(&bench);
    SCRunLoopRelease(loop);
}

static void unschedule_inside(struct bench *bench)
{
    vanish(); /* which must not be told any more */
    bench->result = try_unschedule(bench);
}

TEST(a_callback_may_unschedule_itself)
{
    struct bench bench;
    SCRunLoopRef loop = SCRunLoopCreate();

    begin();
    bench_open(&bench, loop, FAR);
    bench.inside = unschedule_inside;
    appear();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_true(bench.result);
    assert_int_equal(idle_perform(loop), 0);
    assert_int_equal(bench.calls, 1);
    expect_refused(try_unschedule(&bench));
    bench_close(&bench);
    SCRunLoopRelease(loop);
}

static void let_go_inside(struct bench *bench)
{
    try_unschedule(bench);
    SCNetworkReachabilityRelease(bench->target);
    SCRunLoopRelease(bench->loop);
}

TEST(a_callback_may_release_the_last_reference_to_target_and_loop)
{
    struct bench                 bench;
    SCNetworkReachabilityContext context = { .info = &hooks.first, .release = release_hook };
    SCNetworkReachabilityRef     other;
    SCRunLoopRef                 loop = SCRunLoopCreate();

    begin();
    memset(&hooks, 0, sizeof hooks);
    bench_open(&bench, loop, FAR);
    SCRunLoopRelease(loop);
    bench.inside = let_go_inside;
    appear();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);

    /* What shows that a target is freed: the release of its context. */
    other = expect_target(FAR);
    assert_true(SCNetworkReachabilitySetCallback(other, hooked, &context));
    loop = SCRunLoopCreate();
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(other, loop, kSCRunLoopDefaultMode));
    SCNetworkReachabilityRelease(other);
    vanish();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1); /* it kept itself alive */
    assert_string_equal(hooks.order, "c");
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(other, loop, kSCRunLoopDefaultMode));
    assert_string_equal(hooks.order, "c-");
    SCRunLoopRelease(loop);
}

static void schedule_again_inside(struct bench *bench)
{
    bench->inside = NULL;
    bench->result = try_unschedule(bench);
    schedule(bench);
}

TEST(a_callback_may_unschedule_and_schedule_again)
{
    struct bench bench;
    SCRunLoopRef loop = SCRunLoopCreate();

    begin();
    bench_open(&bench, loop, FAR);
    bench.inside = schedule_again_inside;
    appear();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_true(bench.result);
    assert_int_equal(idle_perform(loop), 0);
    vanish();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_int_equal(bench.calls, 2);
    bench_close(&bench);
    SCRunLoopRelease(loop);
}

static void unschedule_the_other(struct bench *bench)
{
    bench->result = try_unschedule(bench->more);
}

TEST(a_callback_may_unschedule_a_target_whose_call_is_due)
{
    struct bench first, second;
    SCRunLoopRef loop = SCRunLoopCreate();

    begin();
    bench_open(&first, loop, FAR);
    bench_open(&second, loop, OTHER_FAR);
    first.inside = second.inside = unschedule_the_other;
    first.more = &second;
    second.more = &first;
    appear();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_int_equal(first.calls + second.calls, 1);
    assert_int_equal(idle_perform(loop), 0);
    assert_int_equal(first.calls + second.calls, 1);
    bench_close(&first);
    bench_close(&second);
    SCRunLoopRelease(loop);
}

/* A change inside the first call, and a nested pass: the other target is told, this one is not a second time. */
static void perform_inside(struct bench *bench)
{
    bench->inside = NULL;
    vanish();
    bench->result = SCRunLoopPerform(bench->loop, 5);
}

TEST(a_nested_pass_delivers_other_targets_only)
{
    struct bench first, second;
    SCRunLoopRef loop = SCRunLoopCreate();

    begin();
    appear();
    bench_open(&first, loop, FAR);
    bench_open(&second, loop, OTHER_FAR);
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    namespace_ip("route add unreachable " FAR "/32");
    first.inside = perform_inside;
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_int_equal(first.calls, 1);
    assert_int_equal(first.result, 1);
    assert_int_equal(second.calls, 1);
    assert_int_equal(second.flags, 0);
    bench_close(&first);
    bench_close(&second);
    SCRunLoopRelease(loop);
}

/* The one that is being delivered changes again: told after the call has returned, with the last value. */
static void change_and_perform_inside(struct bench *bench)
{
    bench->inside = NULL;
    vanish();
    bench->result = SCRunLoopPerform(bench->loop, 0);
    bench->result = bench->result == 0 ? bench->calls : -1;
}

TEST(what_changes_during_a_call_is_told_after_it)
{
    struct bench bench;
    SCRunLoopRef loop = SCRunLoopCreate();

    begin();
    bench_open(&bench, loop, FAR);
    bench.inside = change_and_perform_inside;
    appear();
    while (bench.calls < 2)
        assert_true(SCRunLoopPerform(loop, 5) > 0);
    assert_int_equal(bench.result, 1);
    assert_int_equal(bench.flags, 0);
    assert_int_equal(idle_perform(loop), 0);
    bench_close(&bench);
    SCRunLoopRelease(loop);
}

/* GetFlags stays what it was when the call began, while the kernel is ahead. */
static void look_inside(struct bench *bench)
{
    vanish();
    bench->result = (int)expect_flags_of(bench->target);
    bench->inside = NULL;
}

TEST(flags_are_constant_for_the_whole_of_a_call)
{
    struct bench bench;
    SCRunLoopRef loop = SCRunLoopCreate();

    begin();
    bench_open(&bench, loop, FAR);
    bench.inside = look_inside;
    appear();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_int_equal(bench.flags, R);
    assert_int_equal(bench.result, R);
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_int_equal(bench.flags, 0);
    bench_close(&bench);
    SCRunLoopRelease(loop);
}

/* ---- Schedules -------------------------------------------------------------------------------------------------- */

TEST(scheduling_twice_takes_two_unschedules)
{
    struct bench bench;
    SCRunLoopRef loop = SCRunLoopCreate();

    begin();
    bench_open(&bench, loop, FAR);
    schedule(&bench);
    appear();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_int_equal(idle_perform(loop), 0);
    assert_true(try_unschedule(&bench));
    vanish();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_true(try_unschedule(&bench));
    expect_refused(try_unschedule(&bench));
    appear();
    assert_int_equal(idle_perform(loop), 0);
    assert_int_equal(bench.calls, 2);
    bench_close(&bench);
    SCRunLoopRelease(loop);
}

TEST(a_schedule_ends_in_the_mode_in_which_it_was_made)
{
    struct bench bench;
    SCRunLoopRef loop = SCRunLoopCreate();
    char         common[] = kSCRunLoopCommonModes; /* modes are compared as text */

    begin();
    bench_open(&bench, loop, FAR);
    expect_refused(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, loop, common));
    expect_refused(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, loop, "another mode"));
    expect_refused(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, loop, NULL));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(bench.target, loop, common));
    assert_true(try_unschedule(&bench));
    expect_refused(try_unschedule(&bench));
    appear();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1); /* still scheduled, in the other one */
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, loop, kSCRunLoopCommonModes));
    vanish();
    assert_int_equal(idle_perform(loop), 0);
    bench_close(&bench);
    SCRunLoopRelease(loop);
}

TEST(unscheduling_from_a_loop_that_is_not_there_is_refused)
{
    struct bench bench;
    SCRunLoopRef loop = SCRunLoopCreate(), other = SCRunLoopCreate();

    begin();
    bench_open(&bench, loop, FAR);
    expect_refused(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, other, kSCRunLoopDefaultMode));
    expect_refused(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, NULL, kSCRunLoopDefaultMode));
    expect_refused(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, (SCRunLoopRef)(uintptr_t)bench.target,
                                                              kSCRunLoopDefaultMode));
    appear();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    bench_close(&bench);
    SCRunLoopRelease(loop);
    SCRunLoopRelease(other);
}

TEST(of_several_loops_the_first_to_see_a_change_tells_it)
{
    struct bench bench;
    SCRunLoopRef first = SCRunLoopCreate(), second = SCRunLoopCreate();

    begin();
    bench_open(&bench, first, FAR);
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(bench.target, second, kSCRunLoopDefaultMode));
    appear();
    assert_int_equal(SCRunLoopPerform(first, 5), 1);
    assert_int_equal(idle_perform(second), 0);
    vanish();
    assert_int_equal(SCRunLoopPerform(second, 5), 1);
    assert_int_equal(idle_perform(first), 0);
    assert_int_equal(bench.calls, 2);
    assert_true(try_unschedule(&bench));
    appear();
    assert_int_equal(idle_perform(first), 0);
    assert_int_equal(SCRunLoopPerform(second, 5), 1);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, second, kSCRunLoopDefaultMode));
    bench_close(&bench);
    SCRunLoopRelease(first);
    SCRunLoopRelease(second);
}

/* A target whose call is due on this loop is taken off it before that: the other loop makes the call. */
TEST(a_call_that_is_due_moves_on_when_its_loop_is_left)
{
    struct bench first, second;
    SCRunLoopRef loop = SCRunLoopCreate(), other = SCRunLoopCreate();

    begin();
    bench_open(&first, loop, FAR);
    bench_open(&second, loop, OTHER_FAR);
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(first.target, other, kSCRunLoopDefaultMode));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(second.target, other, kSCRunLoopDefaultMode));
    first.inside = second.inside = unschedule_the_other;
    first.more = &second;
    second.more = &first;
    appear();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_int_equal(first.calls + second.calls, 1);
    first.inside = second.inside = NULL;
    assert_int_equal(SCRunLoopPerform(other, 5), 1);
    assert_int_equal(first.calls, 1);
    assert_int_equal(second.calls, 1);
    assert_int_equal(idle_perform(other), 0);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(first.target, other, kSCRunLoopDefaultMode));
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(second.target, other, kSCRunLoopDefaultMode));
    bench_close(&first);
    bench_close(&second);
    SCRunLoopRelease(loop);
    SCRunLoopRelease(other);
}

TEST(a_target_may_be_scheduled_on_a_loop_nobody_refers_to)
{
    struct bench bench;
    SCRunLoopRef loop = SCRunLoopCreate();

    begin();
    bench_open(&bench, loop, FAR);
    SCRunLoopRelease(bench.loop);
    SCRunLoopRelease(loop); /* the schedule keeps it */
    appear();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(bench.target, loop, kSCRunLoopDefaultMode));
    SCNetworkReachabilityRelease(bench.target);
}

TEST(the_flags_of_an_unscheduled_target_are_asked_for_again)
{
    struct bench bench;
    SCRunLoopRef loop = SCRunLoopCreate();

    begin();
    bench_open(&bench, loop, FAR);
    appear();
    assert_int_equal(expect_flags_of(bench.target), 0);
    assert_int_equal(expect_path_of(bench.target).flags, R);
    assert_true(try_unschedule(&bench));
    assert_int_equal(expect_flags_of(bench.target), R);
    bench_close(&bench);
    SCRunLoopRelease(loop);
}

#define MANY 300

TEST(each_of_many_targets_is_called_once)
{
    static struct bench benches[MANY];
    SCRunLoopRef        loop = SCRunLoopCreate();
    int                 calls = 0;

    begin();
    for (size_t i = 0; i < MANY; i++)
        bench_open(&benches[i], loop, i % 2 == 0 ? FAR : OTHER_FAR);
    appear();
    while (calls < MANY) {
        const int made = SCRunLoopPerform(loop, 5);

        assert_true(made > 0);
        calls += made;
    }
    assert_int_equal(idle_perform(loop), 0);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(benches[i].calls, 1);
        assert_int_equal(benches[i].flags, R);
        bench_close(&benches[i]);
    }
    SCRunLoopRelease(loop);
}

/* ---- CopyNextChange --------------------------------------------------------------------------------------------- */

static SCRunLoopRef begin_fetching(SCNetworkReachabilityRef *ret_target)
{
    SCRunLoopRef loop = SCRunLoopCreate();

    begin();
    *ret_target = expect_target(FAR);
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(*ret_target, loop, kSCRunLoopDefaultMode));
    return loop;
}

static void end_fetching(SCRunLoopRef loop, SCNetworkReachabilityRef target)
{
    (void)SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode);
    SCNetworkReachabilityRelease(target);
    SCRunLoopRelease(loop);
}

TEST(a_changed_target_is_fetched_once_with_its_flags)
{
    SCNetworkReachabilityFlags flags = 99;
    SCNetworkReachabilityRef   target;
    SCRunLoopRef               loop = begin_fetching(&target);

    assert_null(SCRunLoopCopyNextChange(loop, &flags));
    assert_int_equal(flags, 99);
    appear();
    assert_int_equal(SCRunLoopPerform(loop, 5), 0); /* early: there is something to fetch */
    vanish();
    assert_int_equal(SCRunLoopPerform(loop, 5), 0);
    appear();
    assert_int_equal(SCRunLoopPerform(loop, 5), 0);
    assert_ptr_equal(SCRunLoopCopyNextChange(loop, &flags), target);
    assert_int_equal(flags, R);
    assert_null(SCRunLoopCopyNextChange(loop, &flags));
    SCNetworkReachabilityRelease(target); /* Copy */
    vanish();
    assert_int_equal(SCRunLoopPerform(loop, 5), 0);
    assert_ptr_equal(SCRunLoopCopyNextChange(loop, NULL), target);
    SCNetworkReachabilityRelease(target);
    end_fetching(loop, target);
}

TEST(nothing_is_queued_before_the_first_fetch)
{
    SCNetworkReachabilityRef target;
    SCRunLoopRef             loop = begin_fetching(&target);

    appear();
    assert_int_equal(idle_perform(loop), 0);
    assert_null(SCRunLoopCopyNextChange(loop, NULL));
    vanish();
    assert_int_equal(SCRunLoopPerform(loop, 5), 0);
    assert_ptr_equal(SCRunLoopCopyNextChange(loop, NULL), target);
    SCNetworkReachabilityRelease(target);
    end_fetching(loop, target);
}

TEST(unscheduling_takes_a_change_out_of_the_queue)
{
    SCNetworkReachabilityRef target;
    SCRunLoopRef             loop = begin_fetching(&target);

    assert_null(SCRunLoopCopyNextChange(loop, NULL));
    appear();
    assert_int_equal(SCRunLoopPerform(loop, 5), 0);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    assert_null(SCRunLoopCopyNextChange(loop, NULL));
    end_fetching(loop, target);
}

TEST(a_target_with_a_callback_is_not_queued)
{
    struct bench bench;
    SCRunLoopRef loop = SCRunLoopCreate();

    begin();
    assert_null(SCRunLoopCopyNextChange(loop, NULL));
    bench_open(&bench, loop, FAR);
    appear();
    assert_int_equal(SCRunLoopPerform(loop, 5), 1);
    assert_null(SCRunLoopCopyNextChange(loop, NULL));
    bench_close(&bench);
    SCRunLoopRelease(loop);
}

TEST(changes_that_cancel_out_are_not_queued)
{
    SCNetworkReachabilityRef target;
    SCRunLoopRef             loop = begin_fetching(&target);

    assert_null(SCRunLoopCopyNextChange(loop, NULL));
    appear();
    vanish();
    assert_int_equal(idle_perform(loop), 0);
    assert_null(SCRunLoopCopyNextChange(loop, NULL));
    end_fetching(loop, target);
}

TEST(a_scheduled_name_is_queued_once)
{
    SCNetworkReachabilityRef target;
    SCRunLoopRef             loop = SCRunLoopCreate();

    begin();
    assert_null(SCRunLoopCopyNextChange(loop, NULL));
    target = SCNetworkReachabilityCreateWithName(NULL, "localhost");
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    assert_int_equal(SCRunLoopPerform(loop, 5), 0);
    assert_ptr_equal(SCRunLoopCopyNextChange(loop, NULL), target);
    SCNetworkReachabilityRelease(target);
    assert_int_equal(idle_perform(loop), 0);
    assert_null(SCRunLoopCopyNextChange(loop, NULL));
    end_fetching(loop, target);
}

/* ---- Threads ---------------------------------------------------------------------------------------------------- */

static void *end_with_a_schedule(void *argument)
{
    SCNetworkReachabilityRef *targets = argument;
    SCRunLoopRef              loop = SCRunLoopGetCurrent();

    for (int i = 0; i < 2; i++)
        if (!SCNetworkReachabilityScheduleWithRunLoop(targets[i], loop, kSCRunLoopDefaultMode))
            return NULL;
    /* Twice, which one ending of the thread undoes. */
    return SCNetworkReachabilityScheduleWithRunLoop(targets[0], loop, kSCRunLoopDefaultMode) ? loop : NULL;
}

TEST(a_thread_that_ends_takes_its_schedules_with_it)
{
    SCNetworkReachabilityContext context = { .info = &hooks.first, .release = release_hook };
    SCNetworkReachabilityRef     targets[2];
    pthread_t                    thread;
    void                        *loop;

    begin();
    memset(&hooks, 0, sizeof hooks);
    targets[0] = expect_target(FAR);
    targets[1] = expect_target(OTHER_FAR);
    assert_true(SCNetworkReachabilitySetCallback(targets[1], hooked, &context));
    assert_int_equal(pthread_create(&thread, NULL, end_with_a_schedule, targets), 0);
    assert_int_equal(pthread_join(thread, &loop), 0);
    assert_non_null(loop);
    appear();
    assert_int_equal(expect_flags_of(targets[0]), R); /* asked for: it is scheduled no longer */
    SCNetworkReachabilityRelease(targets[1]);
    assert_string_equal(hooks.order, "-"); /* nothing else held it */
    SCNetworkReachabilityRelease(targets[0]);
}

static void *schedule_elsewhere(void *argument)
{
    struct bench *bench = argument;

    schedule(bench);
    return NULL;
}

TEST(a_schedule_made_by_another_thread_wakes_the_loop)
{
    struct bench bench = { 0 };
    pthread_t    thread;

    begin();
    bench.loop = SCRunLoopCreate();
    bench.target = SCNetworkReachabilityCreateWithName(NULL, "localhost");
    set_callback(&bench);
    assert_int_equal(pthread_create(&thread, NULL, schedule_elsewhere, &bench), 0);
    assert_int_equal(SCRunLoopPerform(bench.loop, 10), 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    bench_close(&bench);
}
