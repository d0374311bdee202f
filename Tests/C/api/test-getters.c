/* SPDX-License-Identifier: MIT */
/* GetFlags of a scheduled target: no lock, and no change that it has returned is left unreported. */
#include "api/target.h"
#include "base/process.h"
#include "loop/runloop.h"
#include "support/bench.h"
#include "support/test.h"

static struct bench bench;

/* ---- No lock ---------------------------------------------------------------------------------------------------- */

struct query {
    SCNetworkReachabilityRef target;
    SCNetworkReachabilityFlags flags;
    sem_t returned;
};

static void *query_flags(void *argument)
{
    struct query *query = argument;

    query->flags = expect_flags_of(query->target);
    sem_post(&query->returned);
    return NULL;
}

/* On another thread, while this one holds every lock that the target's deliveries use. */
static SCNetworkReachabilityFlags flags_while_all_is_locked(SCNetworkReachabilityRef target, SCRunLoopRef loop)
{
    static struct query query; /* not on the stack: helgrind does not know sem_timedwait */
    struct SCNetworkReachability *self = (struct SCNetworkReachability *)(uintptr_t)target;

    query.target = target;
    assert_int_equal(sem_init(&query.returned, 0, 0), 0);
    assert_non_null(self);
    target_lock(self);
    if (loop != NULL)
        runloop_lock(loop);
    reach_process_lock();
    pthread_t thread = unit_thread(query_flags, &query);
    time_limit_await(&query.returned, "GetFlags waits for a lock");
    reach_process_unlock();
    if (loop != NULL)
        runloop_unlock(loop);
    target_unlock(self);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return query.flags;
}

TEST(get_flags_of_an_unchanged_target_takes_no_lock)
{
    bench_open(&bench, BENCH_LOOP, expect_target(FAR));
    assert_int_equal(flags_while_all_is_locked(bench.target, bench.loop), 0);
}

TEST(get_flags_of_an_undelivered_change_takes_no_lock)
{
    bench_open(&bench, BENCH_SCHEDULER, expect_target(FAR));
    observer_add_gateway_route();
    assert_int_equal(flags_while_all_is_locked(bench.target, NULL), R);
    bench_expect_call(&bench, R);
}

TEST(get_flags_of_an_unfetched_change_takes_no_lock)
{
    bench_open_silent(&bench, BENCH_LOOP, expect_target(FAR));
    assert_null(SCRunLoopCopyNextChange(bench.loop, NULL));
    observer_add_gateway_route();
    assert_int_equal(idle_perform(bench.loop), 0);
    assert_int_equal(flags_while_all_is_locked(bench.target, bench.loop), R);
}

/* ---- A change that GetFlags returns while it is reversed -------------------------------------------------------- */

struct glance {
    sem_t start;
    int delay;
    bool saw_the_change;
};

static void *glance_at_flags(void *argument)
{
    struct glance *glance = argument;

    sem_wait(&glance->start);
    for (int i = 0; i < glance->delay; i++)
        sched_yield();
    glance->saw_the_change = expect_flags_of(bench.target) == R;
    return NULL;
}

/* The library thread evaluates the reversal while another thread calls GetFlags once. */
TEST(a_change_is_reported_exactly_if_get_flags_has_returned_it)
{
    const int rounds = unit_is_under(NULL) ? 30 : 300;
    struct glance glance;
    pthread_t thread;

    bench_open(&bench, BENCH_SCHEDULER, expect_target(FAR));
    assert_int_equal(sem_init(&glance.start, 0, 0), 0);
    for (int i = 0; i < rounds; i++) {
        const int before = bench.calls;

        glance.delay = i % 100;
        assert_int_equal(pthread_create(&thread, NULL, glance_at_flags, &glance), 0);
        observer_add_gateway_route();
        sem_post(&glance.start);
        observer_delete_route();
        assert_int_equal(pthread_join(thread, NULL), 0);
        while (queue_run(&bench.queue))
            continue;
        assert_int_equal(bench.calls - before, glance.saw_the_change);
        assert_int_equal(bench.flags, 0);
    }
}

UNIT(.setup = observer_open)
