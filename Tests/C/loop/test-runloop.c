/* SPDX-License-Identifier: MIT */
/* SCRunLoop: its descriptor, its waits, the end of a run, its drivers, and its clean-up. */
#include <dirent.h>
#include <math.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "support/test.h"

#define FAR        "198.51.100.7"
#define IN_VAIN    80    /* milliseconds: longer than until the second evaluation */
#define TIME_LIMIT 10000 /* milliseconds */
#define LONG_TIME  30.0  /* seconds: a wait that the test ends early */

static struct watcher watcher; /* stopped at the end of each test */

static void appear(void)
{
    namespace_ip("route add 198.51.100.0/24 via 192.0.2.1");
}

static void vanish(void)
{
    namespace_ip("route delete 198.51.100.0/24");
}

static bool is_readable(int fd, int milliseconds)
{
    struct pollfd poller = { .fd = fd, .events = POLLIN };

    return poll(&poller, 1, milliseconds) == 1 && (poller.revents & POLLIN) != 0;
}

/* ---- The descriptor --------------------------------------------------------------------------------------------- */

TEST(the_descriptor_is_readable_while_there_is_work)
{
    struct epoll_event event = { .events = EPOLLIN }, got;
    const int host = epoll_create1(EPOLL_CLOEXEC);

    watcher_start(&watcher, expect_target(FAR));
    int fd = SCRunLoopGetFileDescriptor(watcher.loop);
    assert_true(fd >= 0);
    assert_int_equal(SCRunLoopGetFileDescriptor(watcher.loop), fd);
    assert_int_equal(epoll_ctl(host, EPOLL_CTL_ADD, fd, &event), 0);
    while (is_readable(fd, IN_VAIN)) /* the evaluation behind the barrier after scheduling */
        watcher_pass(&watcher);
    appear();
    assert_true(is_readable(fd, 0));
    assert_true(is_readable(fd, 0)); /* level-triggered */
    assert_int_equal(epoll_wait(host, &got, 1, 0), 1);
    assert_int_equal(epoll_wait(host, &got, 1, 0), 1);
    assert_int_equal(watcher_pass(&watcher), 1);
    while (is_readable(fd, IN_VAIN)) /* a few more evaluations may come, but not endlessly */
        assert_int_equal(watcher_pass(&watcher), 0);
    assert_int_equal(epoll_wait(host, &got, 1, 0), 0);
    watcher_stop(&watcher);
    close(host);
}

TEST(polling_the_descriptor_is_sufficient)
{
    watcher_start(&watcher, expect_target(FAR));
    for (int i = 0; i < 4; i++) {
        if (i % 2 == 0)
            appear();
        else
            vanish();
        while (watcher.calls == i) {
            assert_true(is_readable(SCRunLoopGetFileDescriptor(watcher.loop), TIME_LIMIT));
            watcher_pass(&watcher);
        }
        assert_int_equal(watcher.flags, i % 2 == 0 ? R : 0);
    }
}

TEST(a_link_event_is_evaluated_again_by_the_timer)
{
    int rounds = 0, fd;

    watcher_start(&watcher, expect_target(FAR));
    fd = SCRunLoopGetFileDescriptor(watcher.loop);
    while (is_readable(fd, IN_VAIN))
        watcher_pass(&watcher);
    namespace_ip("link set dev a mtu 1400");
    for (; is_readable(fd, IN_VAIN); rounds++)
        watcher_pass(&watcher);
    assert_true(rounds >= 2); /* the message, and the timer */
    assert_true(rounds <= 20);
}

TEST(a_change_to_be_fetched_keeps_the_descriptor_readable)
{
    SCOPED_LOOP loop = SCRunLoopCreate();
    int fd = SCRunLoopGetFileDescriptor(loop);
    SCNetworkReachabilityRef target = expect_target(FAR);

    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    assert_null(SCRunLoopCopyNextChange(loop, NULL));
    while (is_readable(fd, IN_VAIN))
        SCRunLoopPerform(loop, 0);
    appear();
    assert_int_equal(SCRunLoopPerform(loop, LONG_TIME), 0);
    for (int i = 0; i < 3; i++) {
        assert_true(is_readable(fd, 0));
        assert_int_equal(SCRunLoopPerform(loop, LONG_TIME), 0);
    }
    assert_ptr_equal(SCRunLoopCopyNextChange(loop, NULL), target);
    SCNetworkReachabilityRelease(target);
    for (int i = 0; is_readable(fd, IN_VAIN); i++) {
        assert_int_equal(SCRunLoopPerform(loop, 0), 0);
        assert_true(i < 20);
    }
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    SCNetworkReachabilityRelease(target);
}

/* ---- Waiting ---------------------------------------------------------------------------------------------------- */

TEST_WITH(NULL, NULL, perform_waits_for_the_given_time)
{
    SCOPED_LOOP loop = SCRunLoopCreate();
    double started = watcher_now();

    for (int i = 0; i < 100; i++)
        assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    assert_true(watcher_now() - started < 5);
    started = watcher_now();
    assert_int_equal(SCRunLoopPerform(loop, 0.1), 0);
    assert_true(watcher_now() - started >= 0.1);
    assert_true(watcher_now() - started < 5);
    started = watcher_now();
    assert_int_equal(SCRunLoopPerform(loop, 1e-12), 0);
    assert_true(watcher_now() - started < 5);
}

static void *wake_up(void *loop)
{
    SCRunLoopWakeUp(loop);
    return NULL;
}

TEST_WITH(NULL, NULL, a_wake_up_ends_a_wait_without_limit)
{
    static const double waits[] = { -1, -1e300, LONG_TIME, 1e300 };
    SCOPED_LOOP loop = SCRunLoopCreate();
    pthread_t thread;

    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        assert_int_equal(pthread_create(&thread, NULL, wake_up, loop), 0);
        assert_int_equal(SCRunLoopPerform(loop, waits[i]), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    assert_int_equal(pthread_create(&thread, NULL, wake_up, loop), 0);
    assert_int_equal(SCRunLoopPerform(loop, (double)INFINITY), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

TEST_WITH(NULL, NULL, an_earlier_wake_up_ends_the_next_wait_only)
{
    SCOPED_LOOP loop = SCRunLoopCreate();

    SCRunLoopWakeUp(loop);
    SCRunLoopWakeUp(loop);
    assert_true(is_readable(SCRunLoopGetFileDescriptor(loop), 0));
    assert_int_equal(SCRunLoopPerform(loop, LONG_TIME), 0);
    assert_false(is_readable(SCRunLoopGetFileDescriptor(loop), 0));
    double started = watcher_now();
    assert_int_equal(SCRunLoopPerform(loop, 0.05), 0);
    assert_true(watcher_now() - started >= 0.05);
}

/* The descriptor is also readable in between. */
static void run_after_a_wake_up(void)
{
    SCRunLoopRef loop = SCRunLoopGetCurrent();
    SCOPED_TARGET target = expect_target("127.0.0.1");

    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    SCRunLoopWakeUp(loop);
    assert_int_equal(SCRunLoopRunInMode(kSCRunLoopDefaultMode, 0.02, 1), kSCRunLoopRunTimedOut);
    assert_true(is_readable(SCRunLoopGetFileDescriptor(loop), 0));
    assert_int_equal(SCRunLoopPerform(loop, LONG_TIME), 0);
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    assert_false(is_readable(SCRunLoopGetFileDescriptor(loop), 0));
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
}

TEST_WITH(NULL, NULL, a_run_leaves_a_wake_up_to_the_next_perform)
{
    child_run(run_after_a_wake_up); /* the main loop would stay */
}

static SCRunLoopRef signalled_loop;
static bool signalled_stop;

static void on_signal(int number)
{
    (void)number;
    if (signalled_stop)
        SCRunLoopStop(signalled_loop);
    else
        SCRunLoopWakeUp(signalled_loop);
}

/* One signal, some milliseconds from now. */
static void arrange_signal(void)
{
    const struct sigaction action = { .sa_handler = on_signal };
    const struct itimerval timer = { .it_value = { .tv_usec = 20000 } };

    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

TEST_WITH(NULL, NULL, a_signal_handler_may_wake_up_a_loop)
{
    signalled_loop = SCRunLoopCreate();
    signalled_stop = false;
    arrange_signal();
    assert_int_equal(SCRunLoopPerform(signalled_loop, -1), 0);
    signal(SIGALRM, SIG_IGN); /* one may still be pending */
    SCRunLoopRelease(signalled_loop);
}

/* Changes without a callback, on another thread. */
static void *change_something(void *argument)
{
    (void)argument;
    for (int i = 0; i < 5; i++)
        namespace_ip("link set dev a mtu %d", 1400 + i);
    return NULL;
}

TEST(events_without_a_callback_do_not_end_a_wait)
{
    watcher_start(&watcher, expect_target(FAR));
    double started = watcher_now();
    pthread_t thread = unit_thread(change_something, NULL);
    assert_int_equal(SCRunLoopPerform(watcher.loop, 0.3), 0);
    assert_true(watcher_now() - started >= 0.3);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* A storm of signals without SA_RESTART, while routes come and go. */
static void count_signal(int number)
{
    (void)number;
}

TEST(interrupted_system_calls_are_retried)
{
    const struct sigaction action = { .sa_handler = count_signal };
    const struct itimerval storm = { .it_value = { .tv_usec = 300 }, .it_interval = { .tv_usec = 300 } }, calm = { 0 };
    SCOPED_TARGET fresh = expect_target(FAR);

    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &storm, NULL), 0);
    watcher_start(&watcher, expect_target(FAR));
    for (int i = 0; i < 20; i++) {
        appear();
        EXPECT_CHANGE(&watcher, R);
        EXPECT(fresh, R, None);
        EXPECT_QUIET(&watcher);
        vanish();
        EXPECT_CHANGE(&watcher, 0);
        EXPECT(fresh, 0, NoRoute);
    }
    watcher_stop(&watcher);
    assert_int_equal(setitimer(ITIMER_REAL, &calm, NULL), 0);
    signal(SIGALRM, SIG_IGN); /* one may still be pending */
}

/* ---- Runs. In threads of their own: the main thread's loop lives as long as the process. ------------------------ */

/* A run on a separate thread, with its own loop and a scheduled target. */
struct run {
    void (*body)(struct run *run);
    SCRunLoopRef loop;
    SCNetworkReachabilityRef target;
    bool scheduled, changing;
    int calls;
    void (*inside)(struct run *run);
    int32_t result, inner_result;
    int inner_perform;
    double seconds;
};

static void run_called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct run *run = info;

    (void)target, (void)flags;
    run->calls++;
    if (run->inside != NULL)
        run->inside(run);
}

static void *run_thread(void *argument)
{
    struct run *run = argument;
    SCNetworkReachabilityContext context = { .info = run };
    const double started = watcher_now();

    run->loop = SCRunLoopGetCurrent();
    if (run->scheduled) {
        run->target = expect_target(FAR);
        SCNetworkReachabilitySetCallback(run->target, run_called, &context);
        SCNetworkReachabilityScheduleWithRunLoop(run->target, run->loop, kSCRunLoopDefaultMode);
    }
    if (run->changing)
        appear();
    run->body(run);
    run->seconds = watcher_now() - started;
    if (run->scheduled) {
        SCNetworkReachabilityUnscheduleFromRunLoop(run->target, run->loop, kSCRunLoopDefaultMode);
        SCNetworkReachabilityRelease(run->target);
    }
    return NULL;
}

static void on_a_thread(struct run *run)
{
    pthread_t thread = unit_thread(run_thread, run);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void run_long(struct run *run)
{
    run->result = SCRunLoopRunInMode(kSCRunLoopDefaultMode, LONG_TIME, 0);
}

static void run_until_handled(struct run *run)
{
    run->result = SCRunLoopRunInMode(kSCRunLoopCommonModes, LONG_TIME, 1);
}

static void run_briefly(struct run *run)
{
    run->result = SCRunLoopRunInMode(kSCRunLoopDefaultMode, 0.2, 0);
}

static void run_one_pass(struct run *run)
{
    run->result = SCRunLoopRunInMode(kSCRunLoopDefaultMode, 0, 0);
}

TEST_WITH(NULL, NULL, a_run_with_nothing_scheduled_is_finished_at_once)
{
    struct run run = { .body = run_long };

    on_a_thread(&run);
    assert_int_equal(run.result, kSCRunLoopRunFinished);
    assert_true(run.seconds < LONG_TIME / 2);
}

TEST(a_run_times_out)
{
    struct run run = { .body = run_briefly, .scheduled = true };

    on_a_thread(&run);
    assert_int_equal(run.result, kSCRunLoopRunTimedOut);
    assert_true(run.seconds >= 0.2);
    run.body = run_one_pass;
    on_a_thread(&run);
    assert_int_equal(run.result, kSCRunLoopRunTimedOut);
    assert_true(run.seconds < 5);
}

TEST(a_run_returns_after_a_callback_with_return_after_source_handled)
{
    struct run run = { .body = run_until_handled, .scheduled = true, .changing = true };

    on_a_thread(&run);
    assert_int_equal(run.result, kSCRunLoopRunHandledSource);
    assert_int_equal(run.calls, 1);
    vanish();
    run.body = run_briefly;
    on_a_thread(&run);
    assert_int_equal(run.result, kSCRunLoopRunTimedOut); /* although a callback was made */
    assert_int_equal(run.calls, 2);
}

TEST(one_pass_makes_all_due_calls)
{
    struct run run = { .body = run_one_pass, .scheduled = true, .changing = true };

    on_a_thread(&run);
    assert_int_equal(run.calls, 1);
}

static void stop_inside(struct run *run)
{
    SCRunLoopStop(run->loop);
}

TEST(a_stop_ends_a_run)
{
    struct run run = { .body = run_long, .scheduled = true, .changing = true, .inside = stop_inside };

    on_a_thread(&run);
    assert_int_equal(run.result, kSCRunLoopRunStopped);
}

static void stop_before_run(struct run *run)
{
    SCRunLoopStop(run->loop);
    run->result = SCRunLoopRunInMode(kSCRunLoopDefaultMode, LONG_TIME, 0);
    run->inner_result = SCRunLoopRunInMode(kSCRunLoopDefaultMode, 0.1, 0);
}

TEST(an_earlier_stop_ends_the_next_run_only)
{
    struct run run = { .body = stop_before_run, .scheduled = true };

    on_a_thread(&run);
    assert_int_equal(run.result, kSCRunLoopRunStopped);
    assert_int_equal(run.inner_result, kSCRunLoopRunTimedOut);
    assert_true(run.seconds >= 0.1);
}

static void stop_then_perform(struct run *run)
{
    SCRunLoopStop(run->loop);
    run->result = SCRunLoopRunInMode(kSCRunLoopDefaultMode, LONG_TIME, 0);
    double started = watcher_now();
    run->inner_perform = SCRunLoopPerform(run->loop, 0.1);
    run->seconds = watcher_now() - started;
    run->calls = run->seconds >= 0.1;
}

TEST(a_used_up_stop_does_not_end_a_later_wait)
{
    struct run run = { .body = stop_then_perform, .scheduled = true };

    on_a_thread(&run);
    assert_int_equal(run.result, kSCRunLoopRunStopped);
    assert_int_equal(run.inner_perform, 0);
    assert_true(run.calls);
}

static void *stop_elsewhere(void *argument)
{
    SCRunLoopStop(argument);
    return NULL;
}

static void stop_from_another_thread(struct run *run)
{
    pthread_t thread;

    pthread_create(&thread, NULL, stop_elsewhere, run->loop);
    SCRunLoopRun();
    pthread_join(thread, NULL);
    run->result = kSCRunLoopRunStopped;
}

TEST(another_thread_may_stop_a_run)
{
    struct run run = { .body = stop_from_another_thread, .scheduled = true };

    on_a_thread(&run);
    assert_int_equal(run.result, kSCRunLoopRunStopped);
}

static void stop_from_a_signal(struct run *run)
{
    signalled_loop = run->loop;
    signalled_stop = true;
    arrange_signal();
    run->result = SCRunLoopRunInMode(kSCRunLoopDefaultMode, LONG_TIME, 0);
}

TEST(a_signal_handler_may_stop_a_run)
{
    struct run run = { .body = stop_from_a_signal, .scheduled = true };

    on_a_thread(&run);
    signal(SIGALRM, SIG_IGN); /* one may still be pending */
    assert_int_equal(run.result, kSCRunLoopRunStopped);
}

static void wake_up_before_run(struct run *run)
{
    SCRunLoopWakeUp(run->loop);
    run->result = SCRunLoopRunInMode(kSCRunLoopDefaultMode, 0.2, 1);
}

TEST(a_wake_up_does_not_end_a_run)
{
    struct run run = { .body = wake_up_before_run, .scheduled = true };

    on_a_thread(&run);
    assert_int_equal(run.result, kSCRunLoopRunTimedOut);
    assert_true(run.seconds >= 0.2);
}

static void unschedule_inside(struct run *run)
{
    SCNetworkReachabilityUnscheduleFromRunLoop(run->target, run->loop, kSCRunLoopDefaultMode);
}

TEST(a_run_is_finished_when_the_last_target_leaves)
{
    struct run run = { .body = run_long, .scheduled = true, .changing = true, .inside = unschedule_inside };

    on_a_thread(&run);
    assert_int_equal(run.result, kSCRunLoopRunFinished);
    assert_int_equal(run.calls, 1);
}

static void *unschedule_elsewhere(void *argument)
{
    unschedule_inside(argument);
    return NULL;
}

static void unschedule_from_another_thread(struct run *run)
{
    pthread_t thread;

    pthread_create(&thread, NULL, unschedule_elsewhere, run);
    run->result = SCRunLoopRunInMode(kSCRunLoopDefaultMode, LONG_TIME, 0);
    pthread_join(thread, NULL);
}

TEST(a_run_is_finished_when_another_thread_unschedules_the_last_target)
{
    struct run run = { .body = unschedule_from_another_thread, .scheduled = true };

    on_a_thread(&run);
    assert_int_equal(run.result, kSCRunLoopRunFinished);
    assert_true(run.seconds < LONG_TIME / 2);
}

static void run_inside(struct run *run)
{
    run->inside = NULL;
    SCRunLoopStop(run->loop);
    run->inner_result = SCRunLoopRunInMode(kSCRunLoopDefaultMode, LONG_TIME, 0);
}

TEST(a_stop_ends_the_innermost_run)
{
    struct run run = { .body = run_briefly, .scheduled = true, .changing = true, .inside = run_inside };

    on_a_thread(&run);
    assert_int_equal(run.inner_result, kSCRunLoopRunStopped);
    assert_int_equal(run.result, kSCRunLoopRunTimedOut);
}

static void run_badly(struct run *run)
{
    run->result = SCRunLoopRunInMode("another mode", 0, 0) == -1 && SCError() == kSCStatusInvalidArgument &&
                  SCRunLoopRunInMode(NULL, 0, 0) == -1 && SCError() == kSCStatusInvalidArgument &&
                  SCRunLoopRunInMode(kSCRunLoopDefaultMode, (double)NAN, 0) == -1 &&
                  SCError() == kSCStatusInvalidArgument;
}

TEST_WITH(NULL, NULL, a_run_in_an_unknown_mode_is_refused)
{
    struct run run = { .body = run_badly };

    on_a_thread(&run);
    assert_true(run.result);
}

/* ---- Drivers, threads ------------------------------------------------------------------------------------------- */

static void drive_too(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info);

struct rivals {
    SCRunLoopRef loop;
    int result, error;
    bool nested;
};

static void *drive_elsewhere(void *argument)
{
    struct rivals *rivals = argument;

    rivals->result = SCRunLoopPerform(rivals->loop, 0);
    rivals->error = SCError();
    return NULL;
}

static void drive_too(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct rivals *rivals = info;
    pthread_t thread;

    (void)target, (void)flags;
    rivals->nested = SCRunLoopPerform(rivals->loop, 0) == 0; /* the same thread may drive it again */
    pthread_create(&thread, NULL, drive_elsewhere, rivals);
    pthread_join(thread, NULL);
}

TEST(a_second_driver_is_refused)
{
    struct rivals rivals = { .loop = SCRunLoopCreate() };
    pthread_t thread;
    SCOPED_TARGET target = expect_target(FAR);

    expect_callback_set(target, drive_too, &rivals);
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, rivals.loop, kSCRunLoopDefaultMode));
    appear();
    assert_int_equal(SCRunLoopPerform(rivals.loop, LONG_TIME), 1);
    assert_int_equal(rivals.result, -1);
    assert_int_equal(rivals.error, EBUSY);
    assert_true(rivals.nested);
    assert_int_equal(pthread_create(&thread, NULL, drive_elsewhere, &rivals),
                     0); /* another thread may drive it later */
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(rivals.result, 0);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, rivals.loop, kSCRunLoopDefaultMode));
    SCRunLoopRelease(rivals.loop);
}

static int count_threads(void)
{
    DIR *directory = opendir("/proc/self/task");
    int count = 0;

    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

TEST_WITH(NULL, NULL, scheduled_targets_take_no_thread)
{
    const int before = count_threads();
    struct watcher watchers[5];

    /* A sanitizer may start its own thread: it does not count. */
    if (unit_is_under("tsan"))
        SKIP("the thread sanitizer has a thread of its own");
    namespace_require_pair();
    WATCH(&watchers[0], FAR, &watchers[1], "0.0.0.0", &watchers[2], "2001:db8:1::7");
    watcher_start(&watchers[3], expect_pair("192.0.2.2", FAR));
    watcher_schedule(&watchers[4], SCNetworkReachabilityCreateWithName(NULL, "localhost"));
    assert_int_equal(count_threads(), before);
    appear();
    EXPECT_CHANGE(&watchers[0], R, &watchers[3], R, &watchers[4], R | L | D);
    assert_int_equal(count_threads(), before);
    for (size_t i = 0; i < 5; i++)
        watcher_stop(&watchers[i]);
    assert_int_equal(count_threads(), before);
}

/* ---- Clean-up --------------------------------------------------------------------------------------------------- */

static void use_everything(struct run *run)
{
    struct watcher own;

    run->result = SCRunLoopRunInMode(kSCRunLoopDefaultMode, 0, 0);
    watcher_start(&own, expect_target("192.0.2.9"));
    EXPECT_QUIET(&own);
    watcher_stop(&own);
}

TEST(nothing_is_left_open)
{
    struct run run = { .body = use_everything, .scheduled = true, .changing = true };
    struct descriptors before, during;

    descriptors_read(&before);
    watcher_start(&watcher, expect_target(FAR));
    descriptors_read(&during);
    on_a_thread(&run);
    descriptors_expect(&during); /* the thread took its loop with it */
    EXPECT_CHANGE(&watcher, R);
    watcher_stop(&watcher);
    descriptors_expect(&before);
    SCNetworkReachabilityRelease(SCNetworkReachabilityCreateWithName(NULL, "example.invalid"));
    SCRunLoopRelease(SCRunLoopCreate());
    descriptors_expect(&before);
}

TEST(every_descriptor_is_closed_on_exec)
{
    struct descriptors before, during;
    int count = 0;

    descriptors_read(&before);
    watcher_start(&watcher, expect_target(FAR));
    (void)expect_path_of(watcher.target);
    descriptors_read(&during);
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        if (!during.open[fd] || before.open[fd])
            continue;
        count++;
        assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    }
    assert_true(count > 3);
}

TEST_WITH(NULL, NULL, loops_are_counted)
{
    SCRunLoopRef loop = SCRunLoopCreate();

    assert_non_null(loop);
    assert_ptr_equal(SCRunLoopRetain(loop), loop);
    SCRunLoopRelease(loop);
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    SCRunLoopRelease(loop);
}

/* ---- Loops of threads ------------------------------------------------------------------------------------------- */

static void *own_loop(void *argument)
{
    SCRunLoopRef *loops = argument;

    loops[0] = SCRunLoopGetCurrent();
    loops[1] = SCRunLoopGetCurrent();
    loops[2] = SCRunLoopGetMain();
    return NULL;
}

/* In a child: the main thread's loop would stay open during the later tests. */
static int check_own_loops(void)
{
    SCRunLoopRef loops[3] = { NULL };
    pthread_t thread;

    if (pthread_create(&thread, NULL, own_loop, loops) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    if (loops[0] == NULL || loops[0] != loops[1])
        return 2;
    if (loops[2] == NULL || loops[2] == loops[0])
        return 3;
    if (SCRunLoopGetCurrent() != loops[2] || SCRunLoopGetMain() != loops[2])
        return 4;
    if (SCRunLoopPerform(loops[2], 0) != 0 || SCRunLoopRunInMode(kSCRunLoopDefaultMode, 0, 0) != kSCRunLoopRunFinished)
        return 5;
    SCRunLoopRun(); /* with nothing scheduled: returns */
    return 0;
}

TEST_WITH(NULL, NULL, every_thread_has_a_loop_and_the_main_one_can_be_found)
{
    int status;
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0)
        _exit(check_own_loops());
    while (waitpid(child, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

UNIT(.setup = namespace_require_pair)
