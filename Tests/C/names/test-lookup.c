/* SPDX-License-Identifier: MIT */
/*
 * Look-ups of names, with the test's own resolver (resolver.h): the test decides when a look-up hangs, succeeds or
 * fails. The tests check the number of threads, the order of look-ups and reports, and the clean-up.
 *
 * TEST_STORM_ROUNDS: how often targets are released while their look-up ends (default 2000).
 */
#include <malloc.h>
#include <netdb.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "api/target.h"
#include "pure/question.h"
#include "support/limits.h"
#include "support/listener.h"
#include "support/names.h"
#include "support/resolver.h"
#include "support/test.h"

#define ROUNDS     2000
#define NAMES      10000
#define TIME_LIMIT 20 /* seconds: an event that takes longer has failed */

/* How much slower the tests run. They do less then. */
static unsigned slowness(void)
{
    return unit_is_under("valgrind") ? 20 : unit_is_under("tsan") || unit_is_under("asan") ? 4 : 1;
}

static unsigned rounds_wanted(void)
{
    const char *text = getenv("TEST_STORM_ROUNDS");

    return text != NULL && atoi(text) > 0 ? (unsigned)atoi(text) : ROUNDS / slowness();
}

static void expect_no_complaint(void)
{
    unit_complain_if(resolver_complaint() != NULL, resolver_complaint());
    unit_expect_no_complaint();
}

static void await_semaphore(sem_t *semaphore, const char *what)
{
    struct timespec end;
    int result;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += TIME_LIMIT;
    do
        result = sem_timedwait(semaphore, &end);
    while (result != 0 && errno == EINTR);
    if (result != 0)
        fail_msg("%s", what);
}

/* ---- What the library calls ------------------------------------------------------------------------------------- */

/* Counts comparisons of names. */
static atomic_uint comparisons;

WRAP(int, strcmp, const char *a, const char *b)
{
    atomic_fetch_add(&comparisons, 1);
    return __real_strcmp(a, b);
}

/* A pause ends at once: each test waits until no thread is left. */
WRAP(int, poll, struct pollfd *polled, nfds_t count, int milliseconds)
{
    return count == 0 ? 0 : __real_poll(polled, count, milliseconds);
}

/* Seconds that the library's clock stands still at; 0: it goes. While it stands still, no look-up is slow. */
static atomic_int clock_stands_at;

WRAP(int, clock_gettime, clockid_t clock, struct timespec *now)
{
    const int seconds = atomic_load(&clock_stands_at);

    if (clock != CLOCK_BOOTTIME || seconds == 0)
        return __real_clock_gettime(clock, now);
    *now = (struct timespec){ .tv_sec = seconds };
    return 0;
}

/* Stops a resolver thread that is about to report a failure, when it reads which servers there are. */
static struct {
    atomic_bool closed;
    sem_t reached, open;
} gate;

WRAP(int, open, const char *path, int flags, ...)
{
    char name[16] = "";

    if (strcmp(path, "/etc/resolv.conf") == 0 && atomic_load(&gate.closed) &&
        pthread_getname_np(pthread_self(), name, sizeof name) == 0 && strcmp(name, "reach-resolver") == 0 &&
        atomic_exchange(&gate.closed, false)) {
        sem_post(&gate.reached);
        sem_wait(&gate.open);
    }
    return __real_open(path, flags);
}

/* Threads are counted. While `none`, pthread_create fails; `meanwhile` runs inside it. */
static struct {
    atomic_bool none;
    void (*meanwhile)(void);
    void (*_Atomic before)(void); /* runs once, inside the next pthread_create that succeeds */
    atomic_int refused, started;
} threads;

WRAP(int, pthread_create, pthread_t *ret, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    void (*before)(void) = atomic_exchange(&threads.before, NULL);

    if (before != NULL)
        before();
    if (!atomic_load(&threads.none)) {
        atomic_fetch_add(&threads.started, 1);
        return __real_pthread_create(ret, attributes, run, argument);
    }
    atomic_fetch_add(&threads.refused, 1);
    if (threads.meanwhile != NULL)
        threads.meanwhile();
    return EAGAIN;
}

/* Allocations of these sizes fail, this many times. */
static struct {
    atomic_size_t least, most;
    atomic_int times;
} dearth;

static bool is_lacking(size_t size)
{
    return size >= dearth.least && size <= dearth.most && atomic_load(&dearth.times) > 0 &&
           atomic_fetch_sub(&dearth.times, 1) > 0;
}

WRAP(void *, malloc, size_t size)
{
    return is_lacking(size) ? NULL : __real_malloc(size);
}

WRAP(void *, calloc, size_t count, size_t size)
{
    return is_lacking(count * size) ? NULL : __real_calloc(count, size);
}

/* ---- Names ------------------------------------------------------------------------------------------------------ */

#define LOCAL "127.0.0.1"
#define HERE  (R | L | D) /* the flags of LOCAL */

/* The beginning of the name decides the reply. */
static struct resolver_reply usual(const char *name)
{
    static const struct {
        const char *beginning;
        int error;
    } errors[] = { { "again", EAI_AGAIN },       { "fail", EAI_FAIL },         { "noname", EAI_NONAME },
                   { "nodata", EAI_NODATA },     { "family", EAI_ADDRFAMILY }, { "memory", EAI_MEMORY },
                   { "system", EAI_SYSTEM },     { "flags", EAI_BADFLAGS },    { "service", EAI_SERVICE },
                   { "socktype", EAI_SOCKTYPE }, { "overflow", EAI_OVERFLOW }, { "idn", EAI_IDN_ENCODE },
                   { "proto", EAI_FAMILY },      { "unknown", -4711 } };

    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (strncmp(name, errors[i].beginning, strlen(errors[i].beginning)) == 0)
            return (struct resolver_reply){ .error = errors[i].error };
    if (strncmp(name, "hangfail", 8) == 0)
        return (struct resolver_reply){ .hangs = true, .error = EAI_AGAIN };
    return (struct resolver_reply){ .hangs = strncmp(name, "hang", 4) == 0, .addresses = LOCAL };
}

static int threads_at_start; /* of the process: a sanitizer has one, too */

static int count_threads(void)
{
    struct stat status;

    assert_int_equal(stat("/proc/self/task", &status), 0);
    return (int)status.st_nlink - 2;
}

/* Waits for resolver threads and for the thread that closes inotify instances: there is no event for their end. */
static void await_no_thread(void)
{
    const time_t end = time(NULL) + TIME_LIMIT;

    while (count_threads() > threads_at_start) {
        if (time(NULL) > end)
            fail_msg("%d threads are left", count_threads() - threads_at_start);
        sched_yield();
    }
}

/* Cleans up after a test that failed in the middle. */
static void end_test(void)
{
    atomic_store(&threads.none, false);
    atomic_store(&clock_stands_at, 0);
    atomic_store(&dearth.times, 0);
    if (atomic_exchange(&gate.closed, false))
        sem_post(&gate.open);
    resolver_release(NULL);
    assert_true(resolver_await_threads(0));
}

/* Every look-up has ended, and with it the threads; nothing is watched. */
static void finish(void)
{
    resolver_release(NULL);
    if (!resolver_await_threads(0))
        fail_msg("%u threads are left", resolver_threads());
    await_no_thread();
    expect_no_complaint();
    assert_true(resolver_has_its_lists());
}

/* Waits for the first callback. */
static void await_callback(struct watcher *watcher)
{
    while (watcher->calls == 0)
        if (SCRunLoopPerform(watcher->loop, TIME_LIMIT) != 1)
            fail_msg("no callback");
}

static void expect_reason(SCNetworkReachabilityRef target, SCNetworkReachabilityReason reason)
{
    const SCNetworkReachabilityPath path = expect_path_of(target);

    if (path.reason != reason)
        fail_msg("wanted %s, got %s", SCNetworkReachabilityReasonString(reason),
                 SCNetworkReachabilityReasonString(path.reason));
}

#define EXPECT_REASON(target, word) expect_reason(target, kSCNetworkReachabilityReason##word)

static void begin_with(resolver_rule *rule)
{
    namespace_require_lo();
    etc_require("192.0.2.53");
    resolver_begin(rule);
}

static void begin(void)
{
    begin_with(usual);
}

static sem_t news; /* a call was made, or a context released */

static void schedule(SCNetworkReachabilityRef target, SCRunLoopRef loop)
{
    if (!SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode))
        fail_msg("not scheduled: %s", SCErrorString(SCError()));
}

static void unschedule(SCNetworkReachabilityRef target, SCRunLoopRef loop)
{
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
}

/* Drives a loop until a listener has been called so often. */
static void drive_until(SCRunLoopRef loop, const struct listener *listener, int calls)
{
    const double end = watcher_now() + TIME_LIMIT;

    while (atomic_load(&listener->calls) < calls) {
        if (watcher_now() > end)
            fail_msg("%d calls instead of %d", atomic_load(&listener->calls), calls);
        assert_true(SCRunLoopPerform(loop, 1) >= 0);
    }
}

/* ---- Very many names -------------------------------------------------------------------------------------------- */

/* The time from the schedule to the callback. */
static double time_of(const char *name)
{
    struct watcher watcher;
    const double start = watcher_now();

    watcher_schedule(&watcher, expect_name(name));
    while (watcher.calls == 0 && watcher_now() < start + TIME_LIMIT)
        SCRunLoopPerform(watcher.loop, 1);
    double time = watcher_now() - start;
    if (watcher.calls == 0)
        fail_msg("%s was not reply_from_table", name);
    EXPECT(watcher.target, HERE, None);
    watcher_stop(&watcher);
    return time;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_time_of(const char *name)
{
    double times[21];

    for (size_t i = 0; i < 21; i++)
        times[i] = time_of(name);
    qsort(times, 21, sizeof times[0], compare);
    return times[10];
}

/* Names that hang, on one loop. */
struct stuck_names {
    SCRunLoopRef loop;
    SCNetworkReachabilityRef *targets;
    unsigned count;
};

/* `format` has a place for a number. */
static void stick(struct stuck_names *ret, const char *format, unsigned count)
{
    *ret = (struct stuck_names){ SCRunLoopCreate(), calloc(count, sizeof(SCNetworkReachabilityRef)), count };
    for (unsigned i = 0; i < count; i++) {
        ret->targets[i] = expect_name(unit_text(format, i));
        schedule(ret->targets[i], ret->loop);
    }
}

static void unstick(struct stuck_names *names)
{
    assert_int_equal(SCRunLoopPerform(names->loop, 0), 0);
    for (unsigned i = 0; i < names->count; i++) {
        unschedule(names->targets[i], names->loop);
        SCNetworkReachabilityRelease(names->targets[i]);
    }
    SCRunLoopRelease(names->loop);
    free(names->targets);
}

TEST(many_hanging_names_of_one_domain_delay_no_other_domain)
{
    const unsigned count = NAMES / slowness();
    struct stuck_names first, second;
    double alone = median_time_of("quick.elsewhere");

    stick(&first, "hang-%u.example", count);
    assert_true(resolver_await_hanging(FIRST_SHARE));
    double behind = median_time_of("quick.elsewhere");
    print_message("| a name: alone %.2f ms, behind %u of another domain %.2f ms\n", alone * 1e3, count, behind * 1e3);
    assert_true(behind < alone * 4 + 0.005);
    assert_true(behind < 0.05 * slowness());
    stick(&second, "hang-%u.example.org", count);
    assert_true(resolver_await_hanging(FIRST_SHARE + SECOND_SHARE));
    (void)time_of("quick.elsewhere");
    assert_true(resolver_await_threads(FIRST_SHARE + SECOND_SHARE));
    unstick(&second);
    unstick(&first);
    /* The stuck look-ups remain. No look-up runs without a target. */
    assert_true(resolver_await_threads(FIRST_SHARE + SECOND_SHARE));
    finish();
    assert_int_equal(resolver_calls(NULL), FIRST_SHARE + SECOND_SHARE + 2 * 21 + 1);
}

/* Nothing can be cancelled, so another name waits. */
TEST(many_hanging_names_of_many_domains_take_all_places)
{
    struct watcher late;
    struct stuck_names names;

    stick(&names, "hang.example-%u", NAMES / slowness());
    assert_true(resolver_await_hanging(LOOKUPS));
    watcher_start(&late, expect_name("late.example"));
    assert_true(resolver_await_threads(LOOKUPS));
    assert_int_equal(resolver_calls("late.example"), 0);
    unstick(&names);
    resolver_release(NULL);
    EXPECT_CHANGE(&late, HERE);
}

TEST(a_look_up_that_ends_makes_room_for_another_of_its_domain)
{
    struct stuck_names names;

    atomic_store(&clock_stands_at, 1000);
    stick(&names, "hang-%u.example", 100);
    assert_true(resolver_await_hanging(FIRST_SHARE));
    for (unsigned i = 0; i < FIRST_SHARE; i++)
        resolver_release(unit_text("hang-%u.example", i));
    assert_true(resolver_await_calls(NULL, 2 * FIRST_SHARE));
    assert_true(resolver_await_hanging(FIRST_SHARE));
    assert_true(resolver_await_threads(FIRST_SHARE));
    resolver_release(NULL);
    for (unsigned i = 0; i < names.count; i++)
        names_await_result(names.targets[i]);
    assert_true(resolver_await_threads(0));
    unstick(&names);
    atomic_store(&clock_stands_at, 0);
}

/* Names that hung for long, and were found in the end, hang again. They do not delay the others of their domain. */
TEST(a_name_that_was_slow_is_doubted)
{
    struct watcher holder;
    struct stuck_names names;

    atomic_store(&clock_stands_at, 1000);
    watcher_schedule(&holder, expect_name("name.example"));
    EXPECT_CHANGE(&holder, HERE);
    stick(&names, "hang-%u.example", FIRST_SHARE);
    assert_true(resolver_await_hanging(FIRST_SHARE));
    atomic_store(&clock_stands_at, 1001);
    resolver_release(NULL);
    for (unsigned i = 0; i < names.count; i++)
        names_await_result(names.targets[i]);
    resolver_begin(usual);
    atomic_store(&clock_stands_at, 1302); /* all are looked up again */
    const double end = watcher_now() + TIME_LIMIT;
    while (resolver_calls(NULL) < 1 + FIRST_SHARE) {
        assert_true(SCRunLoopPerform(names.loop, 0) >= 0 && SCRunLoopPerform(holder.loop, 0) >= 0);
        assert_true(watcher_now() < end);
    }
    assert_true(resolver_await_hanging(FIRST_SHARE));
    (void)time_of("another.example");
    watcher_stop(&holder);
    unstick(&names);
    atomic_store(&clock_stands_at, 0);
}

/* The dead names hang, before they have failed once and after that. */
static void expect_good_is_quick(const char *good)
{
    struct stuck_names dead;

    begin();
    stick(&dead, "hangfail-%u.example", 8);
    assert_true(resolver_await_hanging(8));
    (void)time_of(good);
    resolver_release(NULL);
    for (unsigned i = 0; i < dead.count; i++)
        names_await_result(dead.targets[i]);
    resolver_begin(usual);
    const double end = watcher_now() + TIME_LIMIT;
    for (unsigned i = 0; i < dead.count; i++)
        while (!names_is_looking(dead.targets[i])) /* again, after a second */
            assert_true(SCRunLoopPerform(dead.loop, 1) >= 0 && watcher_now() < end);
    assert_true(resolver_await_hanging(8));
    (void)time_of(good);
    unstick(&dead);
    finish();
}

TEST_WITH(NULL, NULL, eight_dead_names_do_not_delay_a_name_of_their_own_domain)
{
    expect_good_is_quick("good.example");
}

TEST_WITH(NULL, NULL, eight_dead_names_do_not_delay_a_name_of_another_domain)
{
    expect_good_is_quick("good.elsewhere");
}

TEST(many_resolved_names_are_all_reported)
{
    const unsigned count = NAMES / 4 / slowness();
    SCNetworkReachabilityRef *targets = calloc(count, sizeof(SCNetworkReachabilityRef));
    SCRunLoopRef loop = SCRunLoopCreate();
    static struct listener listener;

    listener = (struct listener){ .news = &news };
    for (unsigned i = 0; i < count; i++) {
        targets[i] = expect_name(unit_text("ok-%u.example", i));
        listener_set(&listener, targets[i], listener_called);
        schedule(targets[i], loop);
    }
    drive_until(loop, &listener, (int)count);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(expect_flags_of(targets[i]), HERE);
        unschedule(targets[i], loop);
        SCNetworkReachabilityRelease(targets[i]);
    }
    assert_int_equal(atomic_load(&listener.calls), (int)count);
    SCRunLoopRelease(loop);
    free(targets);
    finish();
    assert_int_equal(atomic_load(&listener.references), 0);
    assert_int_equal(resolver_calls(NULL), count);
}

static struct resolver_reply hang_all(const char *name)
{
    (void)name;
    return (struct resolver_reply){ .hangs = true, .addresses = LOCAL };
}

/* In order, names make an unbalanced tree a list. */
TEST_WITH(NULL, NULL, names_in_order_are_compared_with_few_others)
{
    static const unsigned count = 512;
    SCNetworkReachabilityRef *targets = calloc(count, sizeof(SCNetworkReachabilityRef));
    SCRunLoopRef loop = SCRunLoopCreate();

    begin_with(hang_all);
    unsigned before = atomic_load(&comparisons);
    for (unsigned i = 0; i < count; i++) {
        char name[64];

        snprintf(name, sizeof name, "host.domain-%04u", i);
        targets[i] = expect_name(name);
        schedule(targets[i], loop);
    }
    print_message("| %u names: %.1f comparisons each\n", count,
                  (double)(atomic_load(&comparisons) - before) / (double)count);
    assert_true(atomic_load(&comparisons) - before < 64 * count); /* a list: 256 or more in each tree */
    for (unsigned i = 0; i < count; i++) {
        unschedule(targets[i], loop);
        SCNetworkReachabilityRelease(targets[i]);
    }
    SCRunLoopRelease(loop);
    free(targets);
    finish();
}

/* ---- Which names are looked up, and when ------------------------------------------------------------------------ */

/* Names of many domains. All other names wait for a thread. */
static void occupy(struct stuck_names *ret)
{
    stick(ret, "hang.occupies-%u", LOOKUPS);
    assert_true(resolver_await_hanging(LOOKUPS));
}

static void vacate(struct stuck_names *occupation)
{
    unstick(occupation);
}

static void drive_on(struct watcher *watcher)
{
    assert_true(idle_perform(watcher->loop) >= 0);
}

static unsigned number_of_call(const char *name, unsigned from)
{
    while (strcmp(resolver_call(from), name) != 0)
        from++;
    return from;
}

TEST(first_look_ups_go_before_repeated_ones)
{
    struct stuck_names occupation;
    struct watcher repeated, first;

    watcher_schedule(&repeated, expect_name("again.repeated"));
    EXPECT_CHANGE(&repeated, 0);
    occupy(&occupation);
    while (!names_is_looking(repeated.target))
        drive_on(&repeated);
    watcher_schedule(&first, expect_name("first.example"));
    assert_int_equal(resolver_calls(NULL), 1 + LOOKUPS);
    resolver_release("hang.occupies-0");
    assert_true(resolver_await_calls("again.repeated", 2));
    assert_true(number_of_call("first.example", 1) < number_of_call("again.repeated", 1));
    vacate(&occupation);
}

TEST(a_look_up_is_shared)
{
    enum { SHARERS = 50 };
    struct watcher sharers[SHARERS], elsewhere, otherwise;

    atomic_store(&threads.started, 0);
    for (int i = 0; i < SHARERS; i++) {
        watcher_start(&sharers[i], expect_name("hang.example"));
        assert_true(resolver_await_hanging(1)); /* while it is queued, each target may start a thread for it */
    }
    watcher_start(&otherwise, expect_name("hang.example.org"));
    assert_true(resolver_await_hanging(2));
    assert_int_equal(resolver_calls(NULL), 2);
    /* The result may differ in another namespace. */
    namespace_require();
    watcher_start(&elsewhere, expect_name("hang.example"));
    assert_true(resolver_await_hanging(3));
    assert_int_equal(resolver_calls("hang.example"), 2);
    assert_int_equal(atomic_load(&threads.started), 3);
    resolver_release("hang.example");
    for (int i = 0; i < SHARERS; i++) {
        EXPECT_CHANGE(&sharers[i], HERE);
        watcher_stop(&sharers[i]);
    }
    EXPECT_CHANGE(&elsewhere, 0); /* lo is down there */
    watcher_stop(&elsewhere);
    EXPECT_REASON(otherwise.target, NamePending);
    watcher_stop(&otherwise);
    finish();
    assert_int_equal(resolver_calls(NULL), 3);
}

TEST(a_look_up_cancelled_in_the_queue_never_starts)
{
    struct stuck_names occupation;
    struct watcher one, first, second;

    occupy(&occupation);
    watcher_start(&one, expect_name("one.example"));
    watcher_start(&first, expect_name("two.example"));
    watcher_start(&second, expect_name("two.example"));
    watcher_stop(&one);
    watcher_stop(&first); /* the other still needs the result */
    resolver_release(NULL);
    EXPECT_CHANGE(&second, HERE);
    watcher_stop(&second);
    vacate(&occupation);
    finish();
    assert_int_equal(resolver_calls("one.example"), 0);
    assert_int_equal(resolver_calls("two.example"), 1);
}

/* A target may be unscheduled while its look-up is queued, also the target that started it. */
TEST_WITH(NULL, NULL, the_remaining_user_of_a_shared_look_up_is_notified)
{
    enum { SHARERS = 4 };
    static const int orders[][SHARERS] = { { 0, 1, 2, 3 }, { 3, 2, 1, 0 }, { 0, 2, 1, 3 }, { 1, 0, 3, 2 } };

    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        const int last = orders[i][SHARERS - 1];
        struct stuck_names occupation;
        struct watcher sharers[SHARERS], before, after;

        begin();
        occupy(&occupation);
        watcher_start(&before, expect_name("before.example"));
        for (int j = 0; j < SHARERS; j++)
            watcher_start(&sharers[j], expect_name("shared.example"));
        watcher_start(&after, expect_name("after.example"));
        for (int j = 0; j < SHARERS - 1; j++)
            watcher_stop(&sharers[orders[i][j]]);
        resolver_release(NULL);
        EXPECT_CHANGE(&sharers[last], HERE, &before, HERE, &after, HERE);
        watcher_stop(&sharers[last]);
        watcher_stop(&before);
        watcher_stop(&after);
        vacate(&occupation);
        finish();
        assert_int_equal(resolver_calls("shared.example"), 1);
    }
}

TEST(an_unscheduled_target_is_freed_at_once_and_not_notified)
{
    static struct listener listener, staying;
    SCRunLoopRef loop = SCRunLoopCreate();
    SCNetworkReachabilityRef gone = expect_name("hang.example");
    SCNetworkReachabilityRef stays = expect_name("hang.example");

    listener = (struct listener){ .news = &news };
    staying = (struct listener){ .news = &news };
    listener_set(&listener, gone, listener_called);
    listener_set(&staying, stays, listener_called);
    schedule(gone, loop);
    schedule(stays, loop);
    assert_true(resolver_await_hanging(1));
    unschedule(gone, loop);
    SCNetworkReachabilityRelease(gone);
    assert_int_equal(atomic_load(&listener.references), 0);
    /* A target that was unscheduled and scheduled again is notified. */
    unschedule(stays, loop);
    schedule(stays, loop);
    resolver_release(NULL);
    drive_until(loop, &staying, 1);
    unschedule(stays, loop);
    SCNetworkReachabilityRelease(stays);
    SCRunLoopRelease(loop);
    finish();
    assert_int_equal(atomic_load(&listener.calls), 0);
    assert_int_equal(atomic_load(&staying.calls), 1);
    assert_int_equal(atomic_load(&staying.references), 0);
}

TEST(an_unscheduled_name_forgets_its_look_up)
{
    struct watcher watcher;

    watcher_schedule(&watcher, expect_name("name.example"));
    EXPECT_CHANGE(&watcher, HERE);
    EXPECT_REASON(watcher.target, None);
    unschedule(watcher.target, watcher.loop);
    EXPECT(watcher.target, 0, NamePending);
    assert_int_equal(SCNetworkReachabilityGetResolvedAddresses(watcher.target, NULL, 0), 0);
    schedule(watcher.target, watcher.loop);
    EXPECT_END(&watcher, HERE);
    watcher_stop(&watcher);
    finish();
    assert_int_equal(resolver_calls(NULL), 2);
}

/* A clock that was set back must not cause endless look-ups. */
TEST_WITH(NULL, NULL, a_file_with_a_future_time_is_read_once)
{
    const struct timespec times[2] = { { .tv_sec = time(NULL) + 3600 }, { .tv_sec = time(NULL) + 3600 } };

    for (int is_future = 0; is_future < 2; is_future++) {
        struct watcher watcher;

        begin();
        etc_write(ETC_HOSTS, "127.0.0.1 name.example\n");
        if (is_future)
            assert_int_equal(utimensat(AT_FDCWD, ETC_HOSTS, times, 0), 0);
        watcher_schedule(&watcher, expect_name("name.example"));
        EXPECT_CHANGE(&watcher, HERE);
        EXPECT_QUIET(&watcher);
        watcher_stop(&watcher);
        finish();
        assert_int_equal(resolver_calls(NULL), 1);
    }
}

/* ---- Before a change and after it ------------------------------------------------------------------------------- */

static struct {
    struct resolver_reply reply;
    atomic_int times;
} before_it;

static struct resolver_reply first_of_before(const char *name)
{
    static __thread bool is_first; /* of a thread whose look-up gets its reply when it is released */
    const bool was_first = is_first;

    is_first = !was_first && strcmp(name, "moves.example") == 0 && atomic_fetch_add(&before_it.times, 1) == 0;
    return is_first || was_first ? before_it.reply : (struct resolver_reply){ .addresses = "127.0.0.2" };
}

/* The first look-up is in progress, and will return the old result. */
static void begin_before(struct watcher *ret, struct resolver_reply reply)
{
    before_it.reply = reply;
    atomic_store(&before_it.times, 0);
    begin_with(first_of_before);
    resolver_allow_overtaking();
    watcher_start(ret, expect_name("moves.example"));
    assert_true(resolver_await_hanging(1));
}

static void expect_new_address(struct watcher *watcher)
{
    names_settle(watcher);
    EXPECT_ADDRESSES(watcher->target, "127.0.0.2");
    watcher_stop(watcher);
}

static const struct resolver_reply replies_of_before[] = { { .hangs = true, .addresses = LOCAL },
                                                           { .hangs = true, .error = EAI_NONAME } };

TEST_WITH(NULL, NULL, joining_an_outdated_look_up_gives_the_new_result)
{
    for (size_t i = 0; i < 2; i++) {
        struct watcher first, joining;

        begin_before(&first, replies_of_before[i]);
        etc_write(ETC_RESOLV_CONF, "nameserver 192.0.2.54\n");
        assert_int_equal(watcher_pass(&first), 0);
        watcher_schedule_on(&joining, expect_name("moves.example"), first.loop);
        resolver_release("moves.example");
        expect_new_address(&joining);
        expect_new_address(&first);
        finish();
    }
}

/* No target was scheduled at that time. */
TEST_WITH(NULL, NULL, rejoining_an_outdated_look_up_gives_the_new_result)
{
    for (size_t i = 0; i < 2; i++) {
        struct watcher watcher;

        begin_before(&watcher, replies_of_before[i]);
        unschedule(watcher.target, watcher.loop);
        etc_write(ETC_RESOLV_CONF, "nameserver 192.0.2.54\n");
        schedule(watcher.target, watcher.loop);
        resolver_release("moves.example");
        expect_new_address(&watcher);
        finish();
        assert_int_equal(resolver_calls(NULL), 2);
    }
}

/* ---- Ending inside the callback --------------------------------------------------------------------------------- */

static SCRunLoopRef inner_loop;

static void release_inside(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    listener_called(target, flags, info);
    unit_complain_if(!SCNetworkReachabilityUnscheduleFromRunLoop(target, inner_loop, kSCRunLoopDefaultMode),
                     "not unscheduled inside its callback");
    SCNetworkReachabilityRelease(target);
}

static void reschedule_inside(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    const struct listener *listener = info;

    listener_called(target, flags, info);
    if (atomic_load(&listener->calls) == 3)
        return;
    unit_complain_if(!SCNetworkReachabilityUnscheduleFromRunLoop(target, inner_loop, kSCRunLoopDefaultMode) ||
                         !SCNetworkReachabilityScheduleWithRunLoop(target, inner_loop, kSCRunLoopDefaultMode),
                     "not rescheduled inside its callback");
}

TEST(a_target_may_end_inside_its_callback)
{
    static struct listener released, rescheduled;
    SCNetworkReachabilityRef first = expect_name("name.example");
    SCNetworkReachabilityRef second = expect_name("other.example");

    released = (struct listener){ .news = &news };
    rescheduled = (struct listener){ .news = &news };
    inner_loop = SCRunLoopCreate();
    listener_set(&released, first, release_inside);
    schedule(first, inner_loop);
    drive_until(inner_loop, &released, 1);
    listener_set(&rescheduled, second, reschedule_inside);
    schedule(second, inner_loop);
    drive_until(inner_loop, &rescheduled, 3);
    unschedule(second, inner_loop);
    SCNetworkReachabilityRelease(second);
    SCRunLoopRelease(inner_loop);
    finish();
    assert_int_equal(atomic_load(&released.references), 0);
    assert_int_equal(atomic_load(&rescheduled.references), 0);
    assert_int_equal(atomic_load(&rescheduled.calls), 3);
    assert_int_equal(resolver_calls(NULL), 4);
}

/* ---- Releasing while a look-up ends ----------------------------------------------------------------------------- */

static struct {
    SCRunLoopRef loop;
    pthread_t driver;
    atomic_bool over;
} storm;

static void *drive(void *loop)
{
    while (!atomic_load(&storm.over))
        unit_complain_if(SCRunLoopPerform(loop, -1) < 0, "SCRunLoopPerform failed");
    return NULL;
}

static const SCNetworkReachabilityScheduler at_once = { .perform = perform_at_once };

static void storm_schedule(SCNetworkReachabilityRef target, bool on_scheduler)
{
    if (!on_scheduler)
        schedule(target, storm.loop);
    else if (!SCNetworkReachabilitySetScheduler(target, &at_once))
        fail_msg("not on a scheduler: %s", SCErrorString(SCError()));
}

static void storm_unschedule(SCNetworkReachabilityRef target, bool on_scheduler)
{
    if (on_scheduler)
        assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
    else
        unschedule(target, storm.loop);
}

/* Waits without taking processor time from the storm. */
static void await(const atomic_int *value, int least, int most, const char *what)
{
    struct timespec end;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += TIME_LIMIT;
    while (atomic_load(value) < least || atomic_load(value) > most)
        if (sem_timedwait(&news, &end) != 0 && errno == ETIMEDOUT)
            fail_msg("%s", what);
}

/* Waits a little, a different time in each round, while the look-up makes progress. */
static void spin(unsigned round)
{
    for (volatile unsigned i = (round * 2654435761u) % 60000; i > 0; i--)
        continue;
}

enum ending { RELEASE, RESCHEDULE, CLEAR, SHARE, ENDINGS };

static void end_one(unsigned round, enum ending ending, bool on_scheduler)
{
    static const char *const names[] = { "name.example", "again.example", "noname.example" };
    static struct listener listener;
    SCNetworkReachabilityRef target = expect_name(names[round % 3]), sharer = NULL;
    int calls;

    listener = (struct listener){ .news = &news };
    listener_set(&listener, target, listener_called);
    storm_schedule(target, on_scheduler);
    if (ending == SHARE) {
        sharer = expect_name(names[round % 3]);
        storm_schedule(sharer, !on_scheduler);
    }
    spin(round);
    if (ending == CLEAR)
        assert_true(SCNetworkReachabilitySetCallback(target, NULL, NULL));
    if (ending == RESCHEDULE) {
        storm_unschedule(target, on_scheduler);
        calls = atomic_load(&listener.calls);
        storm_schedule(target, on_scheduler);
        await(&listener.calls, calls + 1, INT32_MAX, "no callback after it was scheduled anew");
    }
    storm_unschedule(target, on_scheduler);
    calls = atomic_load(&listener.calls);
    SCNetworkReachabilityRelease(target);
    if (sharer != NULL) {
        storm_unschedule(sharer, !on_scheduler);
        SCNetworkReachabilityRelease(sharer);
    }
    await(&listener.references, 0, 0, "the context was not released");
    if (atomic_load(&listener.calls) > calls + 1)
        fail_msg("%d calls after it had ended", atomic_load(&listener.calls) - calls);
    expect_no_complaint();
}

/* Keeps the inotify(7) descriptor open between rounds: the kernel takes milliseconds to close it. */
static SCNetworkReachabilityRef settle(bool on_scheduler)
{
    SCNetworkReachabilityRef settler = expect_name("name.settler");

    storm_schedule(settler, on_scheduler);
    return settler;
}

TEST(a_target_may_be_released_while_its_look_up_ends)
{
    SCNetworkReachabilityRef settlers[2];

    storm.loop = SCRunLoopCreate();
    assert_non_null(storm.loop);
    atomic_store(&storm.over, false);
    assert_int_equal(pthread_create(&storm.driver, NULL, drive, storm.loop), 0);
    for (int i = 0; i < 2; i++)
        settlers[i] = settle(i != 0);
    for (unsigned round = 0; round < rounds_wanted(); round++)
        end_one(round, (enum ending)(round / 2 % ENDINGS), round % 2 != 0);
    for (int i = 0; i < 2; i++) {
        storm_unschedule(settlers[i], i != 0);
        SCNetworkReachabilityRelease(settlers[i]);
    }
    atomic_store(&storm.over, true);
    SCRunLoopWakeUp(storm.loop);
    pthread_join(storm.driver, NULL);
    SCRunLoopRelease(storm.loop);
}

/* Both threads call at the same moment. Each target is told the default path of the loop. */
static void *schedule_pending_name(void *name)
{
    static atomic_uint arrived;
    SCNetworkReachabilityRef target = expect_name(name);

    for (unsigned round = 1; round <= rounds_wanted(); round++) {
        arrived++;
        while (arrived < 2 * round)
            sched_yield();
        schedule(target, storm.loop);
        unschedule(target, storm.loop);
    }
    SCNetworkReachabilityRelease(target);
    return NULL;
}

TEST(two_threads_may_schedule_pending_names_on_one_loop)
{
    SCNetworkReachabilityRef pending = expect_name("hang.example");
    pthread_t others[2];

    storm.loop = SCRunLoopCreate();
    assert_non_null(storm.loop);
    schedule(pending, storm.loop); /* so what they share on the loop stays */
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(__real_pthread_create(&others[i], NULL, schedule_pending_name,
                                               i == 0 ? "hang.example" : "hang.example.org"),
                         0);
    for (size_t i = 0; i < 2; i++)
        pthread_join(others[i], NULL);
    unschedule(pending, storm.loop);
    SCNetworkReachabilityRelease(pending);
    SCRunLoopRelease(storm.loop);
}

/* The first look-up fails. Look-ups during its report hang. */
static struct resolver_reply fail_then_hang(const char *name)
{
    if (resolver_call(1)[0] == '\0')
        return (struct resolver_reply){ .error = EAI_AGAIN };
    return usual(name);
}

TEST_WITH(NULL, NULL, a_target_rescheduled_during_its_delivery_gets_only_the_new_look_up)
{
    static struct listener listener;
    SCRunLoopRef loop = SCRunLoopCreate();

    begin_with(fail_then_hang);
    SCNetworkReachabilityRef target = expect_name("hang.example");
    namespace_add_pair();
    listener = (struct listener){ .news = &news };
    listener_set(&listener, target, listener_called);
    atomic_store(&gate.closed, true);
    schedule(target, loop);
    await_semaphore(&gate.reached, "the failure is not reported");
    unschedule(target, loop);
    schedule(target, loop);
    assert_true(resolver_await_hanging(1));
    sem_post(&gate.open);
    assert_true(resolver_await_threads(1));
    /* The failure is older than the schedule: it is not reported. */
    EXPECT_REASON(target, NamePending);
    /* The name must be looked up again, when the current look-up has ended. */
    namespace_ip("route add default via 192.0.2.1");
    while (idle_perform(loop) > 0)
        continue;
    assert_int_equal(resolver_calls(NULL), 2);
    atomic_store(&listener.calls, 0);
    resolver_release(NULL);
    drive_until(loop, &listener, 1);
    EXPECT(target, HERE, None);
    unschedule(target, loop);
    SCNetworkReachabilityRelease(target);
    SCRunLoopRelease(loop);
    finish();
    assert_int_equal(atomic_load(&listener.references), 0);
}

/* ---- What is left behind ---------------------------------------------------------------------------------------- */

static void use_names(unsigned count, bool stuck)
{
    SCNetworkReachabilityRef *targets = calloc(count, sizeof(SCNetworkReachabilityRef));
    SCRunLoopRef loop = SCRunLoopCreate();
    static struct listener listener;

    listener = (struct listener){ .news = &news };
    for (unsigned i = 0; i < count; i++) {
        targets[i] = expect_name(unit_text("%s-%u.example", stuck ? "hang" : i % 5 == 0 ? "noname" : "ok", i));
        listener_set(&listener, targets[i], listener_called);
        schedule(targets[i], loop);
    }
    if (stuck)
        assert_true(resolver_await_hanging(FIRST_SHARE));
    else
        drive_until(loop, &listener, (int)count);
    for (unsigned i = 0; i < count; i++) {
        unschedule(targets[i], loop);
        SCNetworkReachabilityRelease(targets[i]);
    }
    /* At once, if no report is in progress. */
    assert_true(stuck ? atomic_load(&listener.references) == 0 : resolver_await_threads(0));
    assert_int_equal(atomic_load(&listener.references), 0);
    SCRunLoopRelease(loop);
    free(targets);
}

/* valgrind and the sanitizers have their own heaps, and their own leak checks. */
static size_t heap(void)
{
#ifdef __GLIBC__
    const struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}

TEST(names_leave_nothing_behind)
{
    const unsigned count = 1000 / slowness();
    size_t bytes = 0;
    const struct descriptors before = descriptors_now();

    for (int i = 0; i < 4; i++) {
        resolver_begin(usual);
        use_names(count, false);
        descriptors_await(&before);
        use_names(count, true);
        assert_true(resolver_await_threads(FIRST_SHARE));
        finish();
        descriptors_expect(&before);
        if (i == 1)
            bytes = heap();
    }
    /* The caches of a thread count too. */
    if (heap() > bytes + 4096)
        fail_msg("%zu bytes are left of %u names", heap() - bytes, 4 * count);
}

TEST(very_many_names_may_come_and_go_while_all_hang)
{
    struct stuck_names names;

    stick(&names, "hang-%u.example", 2 * FIRST_SHARE);
    assert_true(resolver_await_hanging(FIRST_SHARE));
    unstick(&names);
    size_t before = heap();
    stick(&names, "hang-%u.example", 10 * NAMES / slowness());
    assert_true(resolver_threads() == FIRST_SHARE);
    unstick(&names);
    if (heap() > before + 4096)
        fail_msg("%zu bytes are left", heap() - before);
    finish();
    assert_int_equal(resolver_calls(NULL), FIRST_SHARE);
}

TEST_WITH(NULL, NULL, a_process_ends_at_once_while_all_look_ups_hang)
{
    if (unit_is_under("tsan"))
        SKIP("the thread sanitizer allows no thread after a fork");
    begin();
    double start = watcher_now();
    if (child_begin()) {
        struct stuck_names occupation;

        resolver_begin(usual);
        occupy(&occupation);
        if (unit_is_under("asan"))
            child_end(); /* the leak check does not see what other threads of the parent held */
        exit(0);
    }
    assert_true(watcher_now() - start < TIME_LIMIT / 2);
    finish();
}

/* ---- Shortages -------------------------------------------------------------------------------------------------- */

TEST(a_look_up_without_a_thread_is_retried)
{
    struct watcher watcher;

    threads.meanwhile = NULL;
    atomic_store(&threads.refused, 0);
    atomic_store(&threads.none, true);
    watcher_schedule(&watcher, expect_name("name.example"));
    assert_int_equal(atomic_load(&threads.refused), 1);
    EXPECT_QUIET(&watcher);
    EXPECT_REASON(watcher.target, NamePending);
    atomic_store(&threads.none, false);
    EXPECT_CHANGE(&watcher, HERE);
}

TEST(without_more_threads_a_name_waits_for_those_that_there_are)
{
    struct watcher stuck, late, joining_late;

    watcher_start(&stuck, expect_name("hang.example"));
    assert_true(resolver_await_hanging(1));
    threads.meanwhile = NULL;
    atomic_store(&threads.refused, 0);
    atomic_store(&threads.none, true);
    watcher_start(&late, expect_name("late.example"));
    watcher_start(&joining_late, expect_name("late.example"));
    assert_true(atomic_load(&threads.refused) > 0);
    assert_true(names_is_looking(late.target));
    assert_int_equal(resolver_calls(NULL), 1);
    resolver_release("hang.example");
    EXPECT_CHANGE(&stuck, HERE, &late, HERE, &joining_late, HERE);
    atomic_store(&threads.none, false);
}

static void prepare(struct watcher *ret, const char *name)
{
    watcher_schedule(ret, expect_name(name));
    unschedule(ret->target, ret->loop);
}

TEST(a_thread_that_could_not_start_is_started_after_the_next_look_up)
{
    struct stuck_names first, others;

    stick(&first, "hang-%u.example", 1);
    assert_true(resolver_await_hanging(1));
    atomic_store(&threads.none, true);
    stick(&others, "hang-%u.example.org", 2);
    atomic_store(&threads.none, false);
    resolver_release("hang-0.example");
    assert_true(resolver_await_hanging(2));
    resolver_release(NULL);
    unstick(&others);
    unstick(&first);
}

static struct watcher joining;

static void join_meanwhile(void)
{
    threads.meanwhile = NULL;
    schedule(joining.target, joining.loop);
}

TEST(joining_a_look_up_without_a_thread_is_retried_too)
{
    struct watcher first;

    prepare(&first, "name.example");
    prepare(&joining, "name.example");
    finish();
    resolver_begin(usual);
    first.calls = joining.calls = 0;
    threads.meanwhile = join_meanwhile;
    atomic_store(&threads.none, true);
    schedule(first.target, first.loop);
    atomic_store(&threads.none, false);
    EXPECT_END(&first, HERE, &joining, HERE);
}

/* The second look-up waits for a thread that the first one starts. That thread fails to start. */
TEST(waiting_for_a_thread_that_cannot_start_is_retried_too)
{
    struct watcher first;

    prepare(&first, "first.example");
    prepare(&joining, "other.example");
    finish();
    resolver_begin(usual);
    joining.calls = 0;
    threads.meanwhile = join_meanwhile;
    atomic_store(&threads.none, true);
    schedule(first.target, first.loop);
    unschedule(first.target, first.loop);
    atomic_store(&threads.none, false);
    assert_true(names_is_looking(joining.target));
    EXPECT_END(&joining, HERE);
    schedule(first.target, first.loop);
}

static void join_before(void)
{
    schedule(joining.target, joining.loop);
    assert_int_equal(atomic_load(&threads.started), 0);
}

TEST(a_thread_that_starts_starts_the_next)
{
    struct watcher first;

    prepare(&first, "hang.example");
    prepare(&joining, "other.example");
    finish();
    resolver_begin(usual);
    joining.calls = 0;
    atomic_store(&threads.started, 0);
    atomic_store(&threads.before, join_before);
    schedule(first.target, first.loop);
    EXPECT_END(&joining, HERE);
    assert_int_equal(atomic_load(&threads.started), 2);
    resolver_release(NULL);
}

#define MANY_ADDRESSES 37 /* a count whose memory has a unique size */

static char many_addresses[128 * 16];

static void list_addresses(unsigned count)
{
    size_t length = 0;

    for (unsigned i = 0; i < count; i++)
        length += (size_t)snprintf(many_addresses + length, sizeof many_addresses - length, "127.0.0.%u ", i + 1);
}

static struct resolver_reply many(const char *name)
{
    (void)name;
    return (struct resolver_reply){ .addresses = many_addresses };
}

static void lack(size_t least, size_t most, int times)
{
    dearth.least = least;
    dearth.most = most;
    atomic_store(&dearth.times, times);
}

/* First a look-up has no memory, then a result has none. */
TEST_WITH(NULL, NULL, a_look_up_without_memory_is_retried)
{
    struct watcher first, unasked, untold;
    SCNetworkReachabilityRef target;
    char name[1025];

    begin_with(many);
    list_addresses(MANY_ADDRESSES);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    prepare(&first, name);
    prepare(&untold, "name.example");
    finish();
    resolver_begin(many);
    untold.calls = 0;
    target = expect_name(name);                   /* `first` may have kept the memory of its look-up */
    lack(sizeof name + 48, sizeof name + 128, 1); /* a look-up holds its name */
    watcher_schedule_on(&unasked, target, first.loop);
    assert_int_equal(atomic_load(&dearth.times), 0);
    assert_int_equal(resolver_calls(NULL), 0);
    lack(MANY_ADDRESSES * sizeof(struct question), MANY_ADDRESSES * sizeof(struct question), 1);
    schedule(untold.target, untold.loop);
    assert_true(resolver_await_calls("name.example", 1));
    assert_true(resolver_await_threads(0));
    assert_int_equal(atomic_load(&dearth.times), 0);
    EXPECT_REASON(untold.target, NamePending);
    EXPECT_END(&unasked, HERE, &untold, HERE);
    assert_int_equal(SCNetworkReachabilityGetResolvedAddresses(untold.target, NULL, 0), MANY_ADDRESSES);
    assert_int_equal(resolver_calls(NULL), 3);
    watcher_stop(&unasked);
    watcher_stop(&untold);
    finish();
}

TEST(a_pending_name_reports_the_default_path)
{
    struct watcher watcher;

    namespace_add_pair();
    watcher_start(&watcher, expect_name("hang.example"));
    AFTER("route add default via 192.0.2.1", EXPECT_CHANGE(&watcher, R));
    AFTER("route delete default", EXPECT_CHANGE(&watcher, 0));
}

static struct resolver_reply fail_later(const char *name)
{
    (void)name;
    return (struct resolver_reply){ .hangs = true, .error = EAI_AGAIN };
}

/* The change may be the reason of the failure. The look-up is repeated at the end of the pause. */
TEST_WITH(NULL, NULL, a_failure_after_a_change_in_a_pause_is_not_delivered)
{
    struct watcher watcher;

    begin_with(fail_later);
    watcher_schedule(&watcher, expect_name("hang.example"));
    assert_true(resolver_await_hanging(1));
    reach_lookup_mark_outdated(watcher.target->netns, LOOKUP_IN_PAUSE);
    finish();
    assert_int_equal(SCRunLoopPerform(watcher.loop, 0), 0);
    EXPECT_REASON(watcher.target, NamePending);
    watcher_stop(&watcher);
}

/* ---- Time ------------------------------------------------------------------------------------------------------- */

/* A result counts even if the name must be looked up again. */
TEST(continuous_changes_do_not_keep_a_name_from_resolving)
{
    struct watcher watcher;

    namespace_add_pair();
    watcher_start(&watcher, expect_name("hang.example"));
    assert_true(resolver_await_hanging(1));
    for (unsigned i = 1; i < 4 && watcher.calls == 0; i++) {
        namespace_ip("route %s default via 192.0.2.1", i % 2 != 0 ? "add" : "delete");
        while (idle_perform(watcher.loop) > 0)
            continue;
        resolver_release("hang.example");
        assert_true(resolver_await_calls("hang.example", i + 1));
        assert_true(resolver_await_hanging(1));
        (void)idle_perform(watcher.loop);
    }
    assert_int_equal(watcher.flags, HERE);
    EXPECT(watcher.target, HERE, None);
}

/* ---- Fork ------------------------------------------------------------------------------------------------------- */

static void resolve_in_child(SCNetworkReachabilityRef inherited)
{
    SCNetworkReachabilityFlags flags;
    struct watcher watcher;

    resolver_begin(usual);
    assert_false(SCNetworkReachabilityGetFlags(inherited, &flags));
    assert_int_equal(SCError(), ECHILD);
    SCNetworkReachabilityRelease(inherited);
    watcher_schedule(&watcher, expect_name("hang.occupies-0")); /* which stays pending, as in the parent */
    assert_true(resolver_await_hanging(1));
    resolver_release(NULL);
    EXPECT_CHANGE(&watcher, HERE);
    watcher_stop(&watcher);
    finish();
    /* The child does not look up names that the parent had queued. */
    assert_int_equal(resolver_calls(NULL), 1);
}

TEST_WITH(NULL, NULL, a_child_does_its_own_look_ups_and_the_parent_continues)
{
    struct stuck_names occupation;
    struct watcher queued;
    pid_t child;

    if (unit_is_under("tsan"))
        SKIP("the thread sanitizer allows no thread after a fork");
    begin();
    occupy(&occupation);
    watcher_start(&queued, expect_name("queued.example"));
    SCNetworkReachabilityRef inherited = SCNetworkReachabilityRetain(queued.target);
    if (child_fork(&child)) {
        resolve_in_child(inherited);
        child_end();
    }
    SCNetworkReachabilityRelease(inherited);
    child_expect_end(child);
    assert_int_equal(resolver_calls(NULL), LOOKUPS);
    resolver_release(NULL);
    EXPECT_CHANGE(&queued, HERE);
    watcher_stop(&queued);
    vacate(&occupation);
    finish();
}

/* ---- Results ---------------------------------------------------------------------------------------------------- */

static const char *answer;

static struct resolver_reply reply_from_table(const char *name)
{
    (void)name;
    return (struct resolver_reply){ .addresses = answer };
}

TEST_WITH(NULL, NULL, every_resolver_reply_has_a_result)
{
    static const struct {
        const char *answer, *addresses; /* the resolver's addresses, and the library's */
        bool found;
    } table[] = {
        { "", "", false },
        { "unix", "", false },
        { "unix unix unix", "", false },
        { "192.0.2.7", "192.0.2.7", true },
        { "unix 192.0.2.7 unix 2001:db8::7 unix", "192.0.2.7 2001:db8::7", true },
        { "::ffff:192.0.2.7", "192.0.2.7", true },
        { "fe80::7%2", "fe80::7%2", true },
        { "fe80::7%77", "fe80::7%77", true },
        { "fe80::7", "fe80::7", true },
        { "2001:db8::7%2", "2001:db8::7", true }, /* no scope needed */
        { "ff02::1%2", "ff02::1%2", true },
        { "2001:db8::9 2001:db8::8 192.0.2.9 192.0.2.8", "2001:db8::9 2001:db8::8 192.0.2.9 192.0.2.8", true },
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct sockaddr_storage addresses[16];
        struct watcher watcher;
        char text[1024] = "";

        begin_with(reply_from_table);
        answer = table[i].answer;
        watcher_schedule(&watcher, expect_name("name.example"));
        await_callback(&watcher);
        size_t count = SCNetworkReachabilityGetResolvedAddresses(watcher.target, addresses, 16);
        for (size_t n = 0; n < count; n++) {
            char host[NI_MAXHOST];
            const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)&addresses[n];
            const bool scoped = addresses[n].ss_family == AF_INET6 && in6->sin6_scope_id != 0;
            struct sockaddr_storage plain = addresses[n];

            ((struct sockaddr_in6 *)(void *)&plain)->sin6_scope_id = 0;
            assert_int_equal(
                getnameinfo((const struct sockaddr *)&plain, sizeof *in6, host, sizeof host, NULL, 0, NI_NUMERICHOST),
                0);
            snprintf(text + strlen(text), sizeof text - strlen(text), scoped ? "%s%s%%%u" : "%s%s", n > 0 ? " " : "",
                     host, in6->sin6_scope_id);
        }
        assert_string_equal(text, table[i].addresses);
        assert_int_equal(expect_path_of(watcher.target).addressCount, count);
        if (!table[i].found)
            EXPECT(watcher.target, 0, NameNotFound);
        watcher_stop(&watcher);
        finish();
    }
}

TEST_WITH(NULL, NULL, addresses_beyond_64_are_dropped)
{
    struct sockaddr_storage addresses[128];
    struct watcher watcher;

    for (unsigned count = 63; count <= 120; count += count < 66 ? 1 : 54) {
        const unsigned kept = count < 64 ? count : 64;

        begin_with(many);
        list_addresses(count);
        watcher_schedule(&watcher, expect_name("name.example"));
        EXPECT_CHANGE(&watcher, HERE);
        assert_int_equal(SCNetworkReachabilityGetResolvedAddresses(watcher.target, addresses, 128), kept);
        assert_int_equal(expect_path_of(watcher.target).addressCount, kept);
        for (unsigned i = 0; i < kept; i++) {
            const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)&addresses[i];

            assert_int_equal(ntohl(in->sin_addr.s_addr), INADDR_LOOPBACK + i);
        }
        watcher_stop(&watcher);
        finish();
    }
}

TEST_WITH(NULL, NULL, every_error_has_its_reason)
{
    static const struct {
        const char *name;
        bool exists; /* or may */
    } table[] = { { "noname", false }, { "nodata", false },  { "family", false },  { "again", true },
                  { "fail", true },    { "memory", true },   { "system", true },   { "flags", true },
                  { "service", true }, { "socktype", true }, { "overflow", true }, { "proto", true },
                  { "unknown", true }, { "idn", false } };
    struct watcher watchers[3];

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        begin();
        namespace_add_pair();
        namespace_ip("link set dev lo up");
        for (int server = 0; server < 3; server++) {
            static const char *const texts[] = {
                "nameserver 192.0.2.53\n",   /* can be reached */
                "nameserver 198.51.100.1\n", /* cannot */
                "nameserver 127.0.0.53\n",   /* on this machine: the default path counts, and there is none */
            };

            etc_write(ETC_RESOLV_CONF, texts[server]);
            watcher_schedule(&watchers[server], expect_name(table[i].name));
            await_callback(&watchers[server]);
            assert_int_equal(watchers[server].flags, 0);
            if (!table[i].exists)
                EXPECT(watchers[server].target, 0, NameNotFound);
            else if (server == 0)
                EXPECT(watchers[server].target, 0, NameServerFailure);
            else
                EXPECT(watchers[server].target, 0, NameServerUnreachable);
            watcher_stop(&watchers[server]);
        }
        finish();
    }
}

/* ---- Signals ---------------------------------------------------------------------------------------------------- */

static atomic_long signalled;

static void note_signal(int number)
{
    (void)number;
    atomic_store(&signalled, (long)syscall(SYS_gettid));
}

/* In every test, resolver.c checks the signal mask of these threads. */
TEST(resolver_threads_block_all_signals)
{
    struct sigaction action = { .sa_handler = note_signal }, before;
    struct stuck_names occupation;
    struct watcher watcher;
    sigset_t one, mask, pending;

    sigaction(SIGUSR1, &action, &before);
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    occupy(&occupation);
    pthread_sigmask(SIG_BLOCK, &one, &mask);
    kill(getpid(), SIGUSR1);
    resolver_release(NULL);
    watcher_schedule(&watcher, expect_name("name.example"));
    EXPECT_CHANGE(&watcher, HERE);
    sigpending(&pending);
    assert_int_equal(sigismember(&pending, SIGUSR1), 1);
    assert_int_equal(atomic_load(&signalled), 0);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    assert_int_equal(atomic_load(&signalled), syscall(SYS_gettid));
    sigaction(SIGUSR1, &before, NULL);
    vacate(&occupation);
}

/* ---- Network namespaces ----------------------------------------------------------------------------------------- */

struct inhabitant {
    const char *name;
    SCNetworkReachabilityRef target;
    SCRunLoopRef loop;
    pid_t thread;
    sem_t made, moved;
};

/* In a new namespace. When the thread has ended, only the target keeps the namespace alive. */
static void *inhabit(void *argument)
{
    struct inhabitant *inhabitant = argument;

    unit_complain_if(!namespace_enter(), "no namespace");
    inhabitant->thread = (pid_t)syscall(SYS_gettid);
    inhabitant->target = SCNetworkReachabilityCreateWithName(NULL, inhabitant->name);
    unit_complain_if(inhabitant->target == NULL || !SCNetworkReachabilityScheduleWithRunLoop(
                                                       inhabitant->target, inhabitant->loop, kSCRunLoopDefaultMode),
                     "not scheduled");
    sem_post(&inhabitant->made);
    sem_wait(&inhabitant->moved);
    return NULL;
}

static void live(struct inhabitant *ret, const char *name)
{
    *ret = (struct inhabitant){ .name = name, .loop = SCRunLoopCreate() };
    assert_int_equal(sem_init(&ret->made, 0, 0), 0);
    assert_int_equal(sem_init(&ret->moved, 0, 0), 0);
    pthread_t thread = unit_thread(inhabit, ret);
    await_semaphore(&ret->made, "no target was made there");
    expect_no_complaint();
    namespace_ip("link add name c type veth peer name d");
    namespace_ip("link set dev d netns %d", ret->thread);
    sem_post(&ret->moved);
    pthread_join(thread, NULL);
}

static void leave(struct inhabitant *inhabitant)
{
    unschedule(inhabitant->target, inhabitant->loop);
    SCNetworkReachabilityRelease(inhabitant->target);
    SCRunLoopRelease(inhabitant->loop);
}

/* When a namespace dies, the veth in it disappears, and so does its peer. */
static bool await_death(void)
{
    const time_t end = time(NULL) + TIME_LIMIT;

    while (access("/sys/class/net/c", F_OK) == 0 || namespace_try_ip("link show dev c"))
        if (time(NULL) > end)
            return false;
    return true;
}

TEST(a_namespace_dies_with_its_last_target)
{
    struct inhabitant inhabitant;

    live(&inhabitant, "name.example");
    assert_true(resolver_await_calls(NULL, 1));
    assert_true(resolver_await_threads(0));
    assert_true(namespace_try_ip("link show dev c"));
    leave(&inhabitant);
    assert_true(await_death());
    /* A stuck look-up keeps the namespace alive until it ends. */
    live(&inhabitant, "hang.example");
    assert_true(resolver_await_hanging(1));
    leave(&inhabitant);
    assert_true(namespace_try_ip("link show dev c"));
    finish();
    assert_true(await_death());
}

/* ---- Waiting ---------------------------------------------------------------------------------------------------- */

static struct {
    SCRunLoopRef loop;
    unsigned rounds;
    sem_t done;
    _Atomic(const char *) call; /* the call in progress */
} unwaiting;

#define MAKE_CALL(text, expression) \
    do { \
        atomic_store(&unwaiting.call, text); \
        unit_complain_if(!(expression), text " failed"); \
    } while (0)

static void *make_every_call(void *unused)
{
    for (unsigned i = 0; i < unwaiting.rounds; i++) {
        SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;
        SCNetworkReachabilityFlags flags;
        SCNetworkReachabilityRef target;
        struct sockaddr_storage address;
        char name[64], description[512];

        snprintf(name, sizeof name, i % 2 == 0 ? "hang.shared" : "hang-%u.example", i);
        MAKE_CALL("Create", (target = SCNetworkReachabilityCreateWithName(NULL, name)) != NULL);
        for (int where = 0; where < 3; where++) {
            if (where == 1)
                MAKE_CALL("Schedule",
                          SCNetworkReachabilityScheduleWithRunLoop(target, unwaiting.loop, kSCRunLoopDefaultMode));
            if (where == 2)
                MAKE_CALL("SetScheduler", SCNetworkReachabilitySetScheduler(target, &at_once));
            MAKE_CALL("GetFlags", SCNetworkReachabilityGetFlags(target, &flags));
            MAKE_CALL("GetPath", SCNetworkReachabilityGetPath(target, &path) &&
                                     path.reason == kSCNetworkReachabilityReasonNamePending);
            MAKE_CALL("GetResolvedAddresses", SCNetworkReachabilityGetResolvedAddresses(target, &address, 1) == 0);
            MAKE_CALL("GetDescription",
                      SCNetworkReachabilityGetDescription(target, description, sizeof description) > 0);
            MAKE_CALL("Perform", SCRunLoopPerform(unwaiting.loop, 0) == 0);
            if (where == 1)
                MAKE_CALL("Unschedule",
                          SCNetworkReachabilityUnscheduleFromRunLoop(target, unwaiting.loop, kSCRunLoopDefaultMode));
            if (where == 2)
                MAKE_CALL("SetScheduler(NULL)", SCNetworkReachabilitySetScheduler(target, NULL));
        }
        MAKE_CALL("Release", (SCNetworkReachabilityRelease(target), true));
    }
    sem_post(&unwaiting.done);
    return unused;
}

TEST(no_call_waits_for_a_look_up)
{
    struct stuck_names occupation;
    struct timespec end;

    occupy(&occupation);
    unwaiting.loop = SCRunLoopCreate();
    unwaiting.rounds = 400 / slowness();
    assert_int_equal(sem_init(&unwaiting.done, 0, 0), 0);
    pthread_t thread = unit_thread(make_every_call, NULL);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += TIME_LIMIT;
    if (sem_timedwait(&unwaiting.done, &end) != 0)
        fail_msg("%s waits", atomic_load(&unwaiting.call));
    pthread_join(thread, NULL);
    assert_true(resolver_calls(NULL) == LOOKUPS);
    SCRunLoopRelease(unwaiting.loop);
    vacate(&occupation);
}

enum { THREAD_PATH = 32 };

static void *write_thread_path(void *path)
{
    snprintf(path, THREAD_PATH, "/proc/self/task/%ld", syscall(SYS_gettid));
    return NULL;
}

/* A sanitizer's own thread comes with the first. pthread_join returns while the kernel still lists the thread. */
static void note_threads(void)
{
    struct stat status;
    pthread_t thread;
    char path[THREAD_PATH];

    MUST(__real_pthread_create(&thread, NULL, write_thread_path, path) == 0);
    MUST(pthread_join(thread, NULL) == 0);
    while (stat(path, &status) == 0)
        sched_yield();
    threads_at_start = count_threads();
}

static void start(void)
{
    note_threads();
    MUST(sem_init(&news, 0, 0) == 0);
    MUST(sem_init(&gate.reached, 0, 0) == 0);
    MUST(sem_init(&gate.open, 0, 0) == 0);
}

UNIT(.setup = begin, .teardown = finish, .start = start, .cleanup = end_test)
