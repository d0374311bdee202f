/* SPDX-License-Identifier: MIT */
/* SCNetworkReachabilityWait for ConditionChanged, the trigger of loops that try again: what ends the wait, and what
 * does not. test-one-shot.c has what all conditions share. */
#include "support/names.h"
#include "support/time_limit.h"

#define FAR       "198.51.100.7"
#define LONG_TIME time_limit_of(20.0) /* seconds: a wait that an event ends earlier */
#define MOMENT    0.02                /* a wait that no event ends */

/* ---- A wait on another thread ----------------------------------------------------------------------------------- */

struct waiting {
    SCNetworkReachabilityRef target;
    double seconds;
    void (*at_start)(void);
    SCNetworkReachabilityPath path;
    int result;
    sem_t begun;
    pthread_t thread;
};

static _Thread_local struct waiting *waiting_here;

/* The wait opens its loop between its first evaluation and the first one on the loop. */

WRAP(int, epoll_create1, int flags)
{
    if (waiting_here != NULL) {
        if (waiting_here->at_start != NULL)
            waiting_here->at_start();
        sem_post(&waiting_here->begun);
    }
    return __real_epoll_create1(flags);
}

static void *run_wait(void *argument)
{
    struct waiting *waiting = argument;

    waiting_here = waiting;
    waiting->path = (SCNetworkReachabilityPath)kSCNetworkReachabilityPathInitializer;
    waiting->result = SCNetworkReachabilityWait(waiting->target, kSCNetworkReachabilityConditionChanged,
                                                waiting->seconds, &waiting->path);
    return NULL;
}

static void start_wait(struct waiting *waiting)
{
    assert_int_equal(sem_init(&waiting->begun, 0, 0), 0);
    assert_int_equal(pthread_create(&waiting->thread, NULL, run_wait, waiting), 0);
}

/* Returns when the wait has evaluated the target for the first time: later changes count. */
static void begin_wait(struct waiting *waiting, SCNetworkReachabilityRef target)
{
    *waiting = (struct waiting){ .target = target, .seconds = LONG_TIME };
    start_wait(waiting);
    time_limit_await(&waiting->begun, "the wait does not begin");
}

static void expect_end(struct waiting *waiting, int result, SCNetworkReachabilityFlags flags,
                       SCNetworkReachabilityReason reason)
{
    assert_int_equal(pthread_join(waiting->thread, NULL), 0);
    sem_destroy(&waiting->begun);
    assert_int_equal(waiting->result, result);
    assert_int_equal(waiting->path.flags, flags);
    assert_int_equal(waiting->path.reason, reason);
}

/* One whole wait. `at_start` runs between its first two evaluations; NULL: nothing does. */
#define EXPECT_WAIT(target, time, change, result, flags, reason) \
    do { \
        struct waiting once = { target, time, change, { 0 }, 0, { { 0 } }, 0 }; \
        start_wait(&once); \
        expect_end(&once, result, flags, kSCNetworkReachabilityReason##reason); \
    } while (0)

static void add_route(void)
{
    namespace_ip("route add default via 192.0.2.1");
}

static void delete_route(void)
{
    namespace_ip("route delete default via 192.0.2.1");
}

static SCNetworkReachabilityRef unreachable_target(void)
{
    delete_route();
    return expect_target(FAR);
}

/* ---- What ends it ----------------------------------------------------------------------------------------------- */

TEST(a_target_that_becomes_reachable_ends_the_wait)
{
    SCOPED_TARGET target = unreachable_target();
    struct waiting waiting;

    begin_wait(&waiting, target);
    add_route();
    expect_end(&waiting, 1, R, kSCNetworkReachabilityReasonNone);
}

TEST(a_target_that_was_lost_during_the_wait_ends_it_when_it_is_back)
{
    SCOPED_TARGET target = expect_target(FAR);
    struct waiting waiting, observer;

    begin_wait(&waiting, target);
    delete_route();
    EXPECT_WAIT(target, MOMENT, NULL, 0, 0, NoRoute); /* nothing ends a wait while the target is not reachable */
    begin_wait(&observer, target);
    add_route();
    expect_end(&observer, 1, R, kSCNetworkReachabilityReasonNone);
    expect_end(&waiting, 1, R, kSCNetworkReachabilityReasonNone);
}

static void replace_gateway(void)
{
    namespace_ip("route replace default via 192.0.2.9");
}

static void replace_source(void)
{
    namespace_ip("address add 192.0.2.77/24 dev a; route replace default via 192.0.2.1 src 192.0.2.77");
}

static void replace_interface(void)
{
    namespace_ip("route replace default via 203.0.113.1");
}

static void lose_and_return(void)
{
    delete_route();
    add_route();
}

/* Other ways to leave. */
static const struct change {
    const char *name;
    void (*change)(void);
} changes[] = {
    { "gateway", replace_gateway },
    { "source", replace_source },
    { "interface", replace_interface },
};

static void add_second_pair(void)
{
    namespace_add_second_pair();
}

TEST_EACH(another_way_to_the_target_ends_the_wait, changes)
{
    SCOPED_TARGET target = expect_target(FAR);
    struct waiting waiting;

    add_second_pair();
    begin_wait(&waiting, target);
    row->change();
    expect_end(&waiting, 1, R, kSCNetworkReachabilityReasonNone);
}

/* ---- The race at the start -------------------------------------------------------------------------------------- */

TEST_EACH(a_change_after_the_first_evaluation_of_the_call_is_not_lost, changes)
{
    SCOPED_TARGET target = expect_target(FAR);

    add_second_pair();
    EXPECT_WAIT(target, LONG_TIME, row->change, 1, R, None);
}

TEST(a_target_that_returns_after_the_first_evaluation_of_the_call_ends_the_wait)
{
    SCOPED_TARGET target = unreachable_target();

    EXPECT_WAIT(target, LONG_TIME, add_route, 1, R, None);
}

/* In between, nobody evaluated it. */
TEST(a_change_away_and_back_between_two_evaluations_does_not_end_the_wait)
{
    SCOPED_TARGET target = expect_target(FAR);

    EXPECT_WAIT(target, MOMENT, lose_and_return, 0, R, None);
}

/* The change comes before, during and after the start of the call. A wait that begins after it has another try. */
TEST(no_outage_that_lasts_over_the_start_is_lost)
{
    SCOPED_TARGET target = unreachable_target();
    const int rounds = unit_is_under(NULL) ? 10 : 50;

    for (int i = 0; i < rounds; i++) {
        struct waiting waiting;

        begin_wait(&waiting, target);
        add_route();
        expect_end(&waiting, 1, R, kSCNetworkReachabilityReasonNone);
        delete_route();
    }
}

/* ---- What does not end it --------------------------------------------------------------------------------------- */

TEST(a_reachable_target_that_does_not_change_sleeps_for_the_time)
{
    static const char *const addresses[] = { FAR,       "192.0.2.1",     "192.0.2.2", "127.0.0.1",
                                             "0.0.0.0", "2001:db8:7::1", "::1" };
    const double started = watcher_now();

    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        SCOPED_TARGET target = expect_target(addresses[i]);
        struct waiting waiting = { .target = target, .seconds = MOMENT };

        run_wait(&waiting);
        waiting_here = NULL;
        assert_int_equal(waiting.result, 0);
        assert_true((waiting.path.flags & R) != 0);
    }
    assert_true(watcher_now() - started >= MOMENT * (sizeof addresses / sizeof addresses[0]));
}

TEST(zero_seconds_do_not_wait_and_find_no_change)
{
    SCOPED_TARGET target = expect_target(FAR);

    EXPECT_WAIT(target, 0, NULL, 0, R, None);
    delete_route();
    EXPECT_WAIT(target, 0, NULL, 0, 0, NoRoute);
}

TEST(an_unreachable_target_sleeps_for_the_time_whatever_its_reason_becomes)
{
    SCOPED_TARGET target = unreachable_target();
    struct waiting waiting = { .target = target, .seconds = 0.2 };

    start_wait(&waiting);
    time_limit_await(&waiting.begun, "the wait does not begin");
    AFTER("route add unreachable default", expect_end(&waiting, 0, 0, kSCNetworkReachabilityReasonRouteUnreachable));
}

/* ---- Names ------------------------------------------------------------------------------------------------------ */

#define LOOKUP 3 /* seconds, in which a name is resolved even under a tool */

/* The first result is no change: what was before said nothing about the name. */
TEST(a_name_that_resolves_does_not_end_the_wait)
{
    SCOPED_TARGET target = expect_name("v4only.test");

    EXPECT_WAIT(target, time_limit_of(LOOKUP), NULL, 0, R, None);
}

/* The default path has gone, and says nothing about a name that needs none. */
TEST(a_pending_name_without_a_default_path_does_not_count_as_unreachable)
{
    namespace_ip("-6 route delete default");
    delete_route();
    etc_write(ETC_HOSTS, "192.0.2.1 near.test\n");
    SCOPED_TARGET target = expect_name("near.test");
    EXPECT_WAIT(target, time_limit_of(LOOKUP), NULL, 0, R | D, None);
}

TEST(a_name_whose_addresses_become_reachable_ends_the_wait)
{
    struct watcher watcher;
    struct waiting waiting;

    delete_route();
    NAMES_RESOLVE(&watcher, "v4only.test", 0);
    begin_wait(&waiting, watcher.target);
    add_route();
    expect_end(&waiting, 1, R, kSCNetworkReachabilityReasonNone);
    EXPECT_CHANGE(&watcher, R);
}

/* The network changes, so the name is looked up again. Its best address, and the way there, are the same. */
TEST(a_name_that_is_looked_up_again_with_the_same_address_does_not_end_the_wait)
{
    struct watcher watcher;
    struct waiting waiting;

    NAMES_RESOLVE(&watcher, "v4only.test", R);
    waiting = (struct waiting){ .target = watcher.target, .seconds = 0.5 };
    start_wait(&waiting);
    time_limit_await(&waiting.begun, "the wait does not begin");
    etc_replace(ETC_HOSTS, "# nothing\n");
    expect_end(&waiting, 0, R, kSCNetworkReachabilityReasonNone);
    assert_true(names_queried("v4only.test") > 1);
}

UNIT(.setup = names_begin, .cleanup = names_end, .end = names_end_group)
