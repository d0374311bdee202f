/* SPDX-License-Identifier: MIT */
/*
 * What each of 16,000 names on one loop costs, compared with each of 1000: to schedule it, to look it up, to look it up
 * again after a change and when it is due, and to unschedule it.
 */
#include <reachability/reachability.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "bench.h"
#include "support/resolver.h"

#define BLOCKS     5
#define FEW_NAMES  1000
#define MANY_NAMES 16000
#define PASSES     500 /* in which one name is due */
#define REFRESH    (300 * INT64_C(1000000000))

static void check(bool good, const char *what)
{
    if (!good)
        bench_fail("%s: %s", what, SCErrorString(SCError()));
}

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

static _Atomic int64_t library_clock; /* nanoseconds; 0: it shows the real time */

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    const int64_t set = library_clock;

    if (clock != CLOCK_BOOTTIME || set == 0)
        return __real_clock_gettime(clock, now);
    *now = (struct timespec){ set / 1000000000, set % 1000000000 };
    return 0;
}

static int64_t boot_time(void)
{
    struct timespec now;

    __real_clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

enum stage { SCALE_SCHEDULE, SCALE_RESOLVE, SCALE_CHANGE, SCALE_REFRESH, SCALE_UNSCHEDULE, STAGES };

static const struct {
    const char *title;
    double threshold;
} stages[STAGES] = {
    [SCALE_SCHEDULE] = { "schedule a name", 3 },      [SCALE_RESOLVE] = { "look up a name", 3 },
    [SCALE_CHANGE] = { "look up after a change", 3 }, [SCALE_REFRESH] = { "look up when due", 3 },
    [SCALE_UNSCHEDULE] = { "unschedule a name", 3 },
};

struct scale {
    double stages[STAGES][BLOCKS];
};

/* Names on one loop. */
struct crowd {
    SCNetworkReachabilityRef targets[MANY_NAMES];
    unsigned count, calls;
    SCRunLoopRef loop;
    struct writer *writer;
    int64_t step; /* between two deadlines, in nanoseconds */
};

static _Atomic int64_t first_found; /* when the first look-up of a stage began; 0: none has begun */

static struct resolver_reply found(const char *name)
{
    int64_t none = 0;

    (void)name;
    atomic_compare_exchange_strong(&first_found, &none, boot_time());
    return (struct resolver_reply){ .hangs = true, .addresses = "198.51.100.7" };
}

static void count_call(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct crowd *crowd = info;

    (void)target;
    (void)flags;
    crowd->calls++;
}

static void create_crowd(struct crowd *crowd)
{
    SCNetworkReachabilityContext context = { .info = crowd };
    char text[64];

    for (unsigned i = 0; i < crowd->count; i++) {
        snprintf(text, sizeof text, "host-%u.example.com", i);
        crowd->targets[i] = SCNetworkReachabilityCreateWithName(NULL, text);
        check(crowd->targets[i] != NULL, text);
        check(SCNetworkReachabilitySetCallback(crowd->targets[i], count_call, &context), "callback");
    }
}

static void drive(struct crowd *crowd, double seconds)
{
    if (SCRunLoopPerform(crowd->loop, seconds) < 0)
        bench_fail("the loop cannot be driven");
}

/* One name after the other is due, as their look-ups ended one after the other. */
static void refresh_one_by_one(struct crowd *crowd)
{
    for (unsigned i = 0; i < PASSES; i++) {
        library_clock += crowd->step;
        drive(crowd, 0);
    }
}

static void run_stage(enum stage stage, struct crowd *crowd)
{
    const struct writer_route route = { .prefix = "0.0.0.0/0", .gateway = "192.0.2.3" };
    SCBoolean (*const change)(SCNetworkReachabilityRef, SCRunLoopRef,
                              SCRunLoopMode) = stage == SCALE_SCHEDULE ? SCNetworkReachabilityScheduleWithRunLoop
                                                                       : SCNetworkReachabilityUnscheduleFromRunLoop;

    switch (stage) {
    case SCALE_RESOLVE:
        resolver_release(NULL);
        while (crowd->calls < crowd->count)
            drive(crowd, 1);
        break;
    case SCALE_CHANGE:
        first_found = 0;
        bench_check(writer_route(crowd->writer, WRITER_REPLACE, &route), "another gateway");
        while (resolver_calls(NULL) < 2 * crowd->count)
            drive(crowd, 0.001);
        crowd->step = (boot_time() - first_found) / crowd->count;
        library_clock = first_found + REFRESH;
        drive(crowd, 0); /* all paths are evaluated a second time */
        break;
    case SCALE_REFRESH:
        refresh_one_by_one(crowd);
        break;
    default:
        for (unsigned i = 0; i < crowd->count; i++)
            check(change(crowd->targets[i], crowd->loop, kSCRunLoopDefaultMode), "schedule");
    }
}

static void measure_crowd(struct writer *writer, unsigned count, size_t block, struct scale *ret)
{
    static struct crowd crowd;

    library_clock = 0;
    bench_check(writer_route(writer, WRITER_REPLACE, &bench_default_route), "default route");
    resolver_begin(found);
    crowd = (struct crowd){ .count = count, .loop = SCRunLoopCreate(), .writer = writer };
    create_crowd(&crowd);
    for (int stage = 0; stage < STAGES; stage++) {
        const int64_t start = bench_now();

        run_stage((enum stage)stage, &crowd);
        ret->stages[stage][block] = (double)(bench_now() - start) / (stage == SCALE_REFRESH ? PASSES : count);
        if (stage != SCALE_SCHEDULE && !resolver_await_threads(0))
            bench_fail("look-ups do not end");
    }
    for (unsigned i = 0; i < count; i++)
        SCNetworkReachabilityRelease(crowd.targets[i]);
    SCRunLoopRelease(crowd.loop);
}

static bool compare_many_with_few(struct writer *writer, bool is_short)
{
    static struct scale many, few;
    const size_t blocks = is_short ? 1 : BLOCKS;
    bool within = true;

    for (size_t i = 0; i < blocks; i++) {
        measure_crowd(writer, FEW_NAMES, i, &few);
        measure_crowd(writer, MANY_NAMES, i, &many);
    }
    for (int stage = 0; stage < STAGES; stage++)
        within = bench_report(stages[stage].title, "with 1000 names, not 16,000", many.stages[stage], few.stages[stage],
                              blocks, stages[stage].threshold) &&
                 within;
    return bench_report_number("a refresh deadline", bench_median(many.stages[SCALE_REFRESH], blocks), "ns", 500) &&
           within;
}

int main(int argc, char **argv)
{
    return bench_run(argc, argv, compare_many_with_few);
}
