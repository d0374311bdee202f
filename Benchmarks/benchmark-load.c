/* SPDX-License-Identifier: MIT */
/*
 * A loop with many targets, while 300 routes a second change that no target has: the time from a change of one target
 * to its callback, and the time of Schedule and Unschedule on another thread. The reference is the same loop without
 * the load.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "watched.h"

#define BLOCKS        11
#define BLOCKS_SHORT  2
#define CALLS         500 /* in each block */
#define CALLS_SHORT   100
#define TARGETS       100000
#define TARGETS_SHORT 10000
#define RATE          300 /* changes a second */

static struct {
    struct watched watched;
    atomic_bool stops, is_loaded;
    _Atomic int64_t called_at; /* 0: no callback has come */
} shared;

static void note_first(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target;
    (void)flags;
    (void)info;
    shared.called_at = bench_now();
}

static void *drive(void *unused)
{
    (void)unused;
    bench_pin(1);
    while (!shared.stops)
        if (SCRunLoopPerform(shared.watched.loop, 0.1) < 0)
            bench_fail("the loop cannot be driven");
    return NULL;
}

/* Half of the routes lie between the targets, so that no filter can drop the messages. */
static void *change_others(void *unused)
{
    const struct timespec pause = { .tv_nsec = 1000000000 / RATE };
    struct writer writer;

    (void)unused;
    bench_check(writer_open(&writer), "rtnetlink");
    for (unsigned i = 0; !shared.stops;) {
        nanosleep(&pause, NULL);
        if (!shared.is_loaded && i % 2 == 0) /* what was added is deleted */
            continue;
        if (i % 4 < 2)
            watched_change_between(&writer, i / 4 * 2 + i % 2);
        else
            watched_change_elsewhere(&writer, i / 4 * 2 + i % 2);
        i++;
    }
    writer_close(&writer);
    return NULL;
}

/* Returns the 99th percentile. */
static double measure_callbacks(struct writer *writer, unsigned calls)
{
    const struct timespec pause = { .tv_nsec = 1000000 };
    double times[CALLS];

    for (unsigned i = 0; i < calls; i++) {
        int64_t start;

        nanosleep(&pause, NULL);
        shared.called_at = 0;
        start = bench_now();
        watched_change(writer, WATCHED_FIRST, i % 2 == 0);
        while (shared.called_at == 0)
            continue;
        times[i] = (double)(shared.called_at - start);
    }
    return bench_percentile(times, calls, 99);
}

/* Returns the mean of the pairs. */
static double measure_schedules(SCNetworkReachabilityRef target, unsigned calls)
{
    const struct timespec pause = { .tv_nsec = 100000 };
    int64_t sum = 0;

    for (unsigned i = 0; i < calls; i++) {
        int64_t start;

        nanosleep(&pause, NULL);
        start = bench_now();
        if (!SCNetworkReachabilityScheduleWithRunLoop(target, shared.watched.loop, kSCRunLoopDefaultMode) ||
            !SCNetworkReachabilityUnscheduleFromRunLoop(target, shared.watched.loop, kSCRunLoopDefaultMode))
            bench_fail("a target could not be scheduled: %s", SCErrorString(SCError()));
        sum += bench_now() - start;
    }
    return (double)sum / calls;
}

static bool compare(struct writer *writer, size_t blocks, unsigned calls)
{
    SCNetworkReachabilityRef other = SCNetworkReachabilityCreateWithName(NULL, "198.51.100.1");
    double callbacks[2][BLOCKS], schedules[2][BLOCKS];
    char title[80];
    bool within;

    for (size_t i = 0; i < blocks; i++)
        for (int load = 0; load < 2; load++) {
            shared.is_loaded = load != 0;
            callbacks[load][i] = measure_callbacks(writer, calls);
            schedules[load][i] = measure_schedules(other, calls);
        }
    SCNetworkReachabilityRelease(other);
    snprintf(title, sizeof title, "callback, 99th percentile, %u targets", shared.watched.count);
    within = bench_report(title, "without 300 unrelated changes/s", callbacks[1], callbacks[0], blocks, 2);
    return bench_report("schedule, unschedule, same load", "without the load", schedules[1], schedules[0], blocks,
                        1.5) &&
           within;
}

static bool measure_all(struct writer *writer, bool is_short)
{
    pthread_t driver, load;
    bool within;

    watched_toggle(writer, true);
    shared.watched = watched_create(is_short ? TARGETS_SHORT : TARGETS);
    watched_schedule(&shared.watched, true);
    SCNetworkReachabilitySetCallback(shared.watched.targets[0], note_first, NULL);
    bench_check(pthread_create(&driver, NULL, drive, NULL), "thread");
    bench_check(pthread_create(&load, NULL, change_others, NULL), "thread");
    within = compare(writer, is_short ? BLOCKS_SHORT : BLOCKS, is_short ? CALLS_SHORT : CALLS);
    shared.stops = true;
    pthread_join(driver, NULL);
    pthread_join(load, NULL);
    watched_unschedule(&shared.watched);
    watched_release(&shared.watched);
    return within;
}

int main(int argc, char **argv)
{
    return bench_run(argc, argv, measure_all);
}
