/* SPDX-License-Identifier: MIT */
/* Every call from many threads at once, while the network changes. For sanitizers as much as for the final result. */
#include "support/test.h"

#define TARGETS 4
#define LOOPS   2
#define CHANGES 3000

/* Valgrind runs one thread at a time, twenty times slower, helgrind a hundred times slower. */
static int changes(void)
{
    if (unit_is_under("helgrind"))
        return CHANGES / 300;
    return unit_is_under("valgrind") ? CHANGES / 20 : CHANGES;
}

static struct shared {
    SCNetworkReachabilityRef targets[TARGETS];
    SCRunLoopRef loops[LOOPS];
    atomic_bool done;
    atomic_int inside[TARGETS];
    atomic_int overlaps, calls, retains, releases;
    _Atomic(SCNetworkReachabilityFlags) last[TARGETS];
} shared;

static const void *count_retain(const void *info)
{
    shared.retains++;
    return info;
}

static void count_release(const void *info)
{
    (void)info;
    shared.releases++;
}

static void called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    const size_t number = (size_t)((atomic_int *)info - shared.inside);

    (void)target;
    if (shared.inside[number]++ != 0)
        shared.overlaps++;
    for (int i = 0; i < 3; i++)
        sched_yield(); /* lets the thread of another loop run */
    shared.calls++;
    shared.last[number] = flags;
    shared.inside[number]--;
}

static void set_callback(size_t number)
{
    SCNetworkReachabilityContext context = { .info = &shared.inside[number],
                                             .retain = count_retain,
                                             .release = count_release };

    assert_true(SCNetworkReachabilitySetCallback(shared.targets[number], called, &context));
}

static SCRunLoopRef loop_of(size_t target)
{
    return shared.loops[target % LOOPS];
}

static void *drive(void *loop)
{
    while (!shared.done)
        SCRunLoopPerform(loop, 0.01);
    return NULL;
}

static void *query_targets(void *unused)
{
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;
    struct sockaddr_storage address;
    char text[512];

    for (size_t i = 0; !shared.done; i++) {
        SCOPED_TARGET target = SCNetworkReachabilityRetain(shared.targets[i % TARGETS]);

        (void)expect_flags_of(target);
        (void)SCNetworkReachabilityGetPath(target, &path);
        (void)SCNetworkReachabilityGetDescription(target, text, sizeof text);
        (void)SCNetworkReachabilityGetResolvedAddresses(target, &address, 1);
    }
    return unused;
}

static void *replace_callbacks(void *unused)
{
    for (size_t i = 0; !shared.done; i++) {
        if (i % 3 == 0)
            SCNetworkReachabilitySetCallback(shared.targets[i % TARGETS], NULL, NULL);
        else
            set_callback(i % TARGETS);
    }
    return unused;
}

static void *reschedule(void *unused)
{
    for (size_t i = 0; !shared.done; i++) {
        const SCNetworkReachabilityRef target = shared.targets[i % TARGETS];
        const SCRunLoopRef loop = loop_of(i % TARGETS);

        if (SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopCommonModes))
            SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopCommonModes);
    }
    return unused;
}

static void *create_and_release(void *unused)
{
    while (!shared.done) {
        SCOPED_TARGET target = expect_target("198.51.100.9");
        SCOPED_LOOP loop = SCRunLoopCreate();

        SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode);
        SCRunLoopPerform(loop, 0);
        SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode);
    }
    return unused;
}

static void *wake(void *unused)
{
    for (size_t i = 0; !shared.done; i++)
        SCRunLoopWakeUp(shared.loops[i % LOOPS]);
    return unused;
}

static void *fetch(void *unused)
{
    for (size_t i = 0; !shared.done; i++)
        SCNetworkReachabilityRelease(SCRunLoopCopyNextChange(shared.loops[i % LOOPS], NULL));
    return unused;
}

#define STORM_THREADS 6

/* Toggles a route while these run, up to NULL, and lets each loop settle. */
static void storm(void *(*const bodies[STORM_THREADS])(void *))
{
    const struct writer_route route = { .prefix = "198.51.100.0/24", .gateway = "192.0.2.1" };
    pthread_t threads[LOOPS + STORM_THREADS];
    size_t started = 0;
    struct writer writer;

    shared.done = false;
    assert_int_equal(writer_open(&writer), 0);
    for (size_t i = 0; i < LOOPS; i++)
        assert_int_equal(pthread_create(&threads[started++], NULL, drive, shared.loops[i]), 0);
    for (size_t i = 0; i < STORM_THREADS && bodies[i] != NULL; i++)
        assert_int_equal(pthread_create(&threads[started++], NULL, bodies[i], NULL), 0);
    for (int i = 0; i < changes(); i++) {
        assert_int_equal(writer_route(&writer, WRITER_ADD, &route), 0);
        assert_int_equal(writer_route(&writer, WRITER_DELETE, &route), 0);
    }
    assert_int_equal(writer_route(&writer, WRITER_ADD, &route), 0);
    shared.done = true;
    for (size_t i = 0; i < started; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    writer_close(&writer);
}

static void begin(void)
{
    static const char *const addresses[TARGETS] = { "198.51.100.7", "198.51.100.8", "192.0.2.9", "0.0.0.0" };

    namespace_require_pair();
    memset(&shared, 0, sizeof shared);
    for (size_t i = 0; i < LOOPS; i++)
        shared.loops[i] = SCRunLoopCreate();
    for (size_t i = 0; i < TARGETS; i++) {
        shared.targets[i] = expect_target(addresses[i]);
        set_callback(i);
        assert_true(SCNetworkReachabilityScheduleWithRunLoop(shared.targets[i], loop_of(i), kSCRunLoopDefaultMode));
    }
}

/* In the end the last callback is right, no two calls have overlapped, and every retained context is released. */
static void end(void)
{
    static const SCNetworkReachabilityFlags settled[TARGETS] = { R, R, R | D, 0 };

    for (size_t i = 0; i < LOOPS; i++)
        while (idle_perform(shared.loops[i]) > 0)
            continue;
    assert_int_equal(shared.overlaps, 0);
    for (size_t i = 0; i < TARGETS; i++) {
        assert_int_equal(expect_flags_of(shared.targets[i]), settled[i]);
        assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(shared.targets[i], loop_of(i), kSCRunLoopDefaultMode));
        SCNetworkReachabilityRelease(shared.targets[i]);
    }
    for (size_t i = 0; i < LOOPS; i++)
        SCRunLoopRelease(shared.loops[i]);
    assert_int_equal(shared.retains, shared.releases);
}

TEST(targets_on_two_loops_settle)
{
    storm((void *(*[STORM_THREADS])(void *)){ NULL });
    for (size_t i = 0; i < LOOPS; i++)
        while (idle_perform(shared.loops[i]) > 0)
            continue;
    assert_true(shared.calls > 0);
    assert_int_equal(shared.last[0], R);
    assert_int_equal(shared.last[1], R);
}

static const struct {
    const char *name;
    void *(*bodies[STORM_THREADS])(void *);
} storms[] = {
    { "of_queries", { query_targets, query_targets } },
    { "of_other_callbacks", { replace_callbacks, replace_callbacks } },
    { "of_schedules", { reschedule, reschedule } },
    { "of_new_targets_and_loops", { create_and_release, create_and_release } },
    { "of_all_calls", { query_targets, replace_callbacks, reschedule, create_and_release, wake, fetch } },
};

TEST_EACH(threads_make_a_storm, storms)
{
    storm(row->bodies);
}

static struct {
    SCNetworkReachabilityRef target;
    atomic_int ready;
} first_use;

/* Both threads go on at the same moment: a pthread_barrier_t wakes the second one later. */
static void meet(void)
{
    first_use.ready++;
    for (unsigned spins = 1; first_use.ready < 2; spins++)
        if (spins % 10000 == 0)
            sched_yield();
}

static void *set_first_callback(void *unused)
{
    SCNetworkReachabilityContext context = { .info = &shared, .retain = count_retain, .release = count_release };

    meet();
    assert_true(SCNetworkReachabilitySetCallback(first_use.target, called, &context));
    return unused;
}

/* The target has one context, however it was set. */
TEST_WITH(NULL, NULL, two_threads_may_give_a_target_its_first_callback)
{
    const int rounds = changes();

    shared.retains = shared.releases = 0;
    for (int i = 0; i < rounds; i++) {
        first_use.target = expect_target("198.51.100.1");
        first_use.ready = 0;
        pthread_t other = unit_thread(set_first_callback, NULL);
        set_first_callback(NULL);
        assert_int_equal(pthread_join(other, NULL), 0);
        assert_int_equal(shared.retains, 2 * (i + 1));
        assert_int_equal(shared.releases, 2 * i + 1);
        SCNetworkReachabilityRelease(first_use.target);
        assert_int_equal(shared.releases, 2 * (i + 1));
    }
}

UNIT(.setup = begin, .teardown = end)
