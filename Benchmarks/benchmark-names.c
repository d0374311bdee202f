/* SPDX-License-Identifier: MIT */
/*
 * The cost of a name while its name server is silent. No call may wait for a look-up, or become slower because of other
 * look-ups. Each call on a name is compared with the same call on an address target, in the same run.
 *
 * Then the memory of each of 10,000 names at a time, and the threads that look them up. Then what each of 16,000 names
 * on one loop costs, compared with each of 1000. Then scheduling with 60,000 names in /etc/hosts, as block lists have.
 */
#include <malloc.h>
#include <reachability/reachability.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "support/resolver.h"

#define BLOCKS       41
#define BLOCKS_SHORT 5
#define BLOCKS_HOSTS 11
#define TARGETS      250
#define MANY         10000
#define HOSTS        60000

#define BLOCKS_SCALE 5
#define FEW_NAMES    1000
#define MANY_NAMES   16000
#define PASSES       500 /* in which one name is due */
#define REFRESH      (300 * INT64_C(1000000000))

static struct resolver_reply silent(const char *name)
{
    (void)name;
    return (struct resolver_reply){ .hangs = true, .addresses = "" };
}

enum call { CREATE, GET_FLAGS, SCHEDULE, GET_FLAGS_SCHEDULED, UNSCHEDULE, RELEASE, CALLS };

static const struct {
    const char *title, *reference;
    double      threshold;
} calls[CALLS] = {
    [CREATE] = { "create a name", "an address", 1.5 },
    [GET_FLAGS] = { "its flags", "an address's", 1.5 },
    [SCHEDULE] = { "schedule it", "an address", 1.5 },
    [GET_FLAGS_SCHEDULED] = { "its flags, scheduled", "an address's", 1.5 },
    [UNSCHEDULE] = { "unschedule it", "an address", 1.5 },
    [RELEASE] = { "release it", "an address", 1.5 },
};

static void check(bool good, const char *what)
{
    if (!good)
        bench_fail("%s: %s", what, SCErrorString(SCError()));
}

static void make_call(enum call call, SCNetworkReachabilityRef *target, SCRunLoopRef loop, const char *text)
{
    SCNetworkReachabilityFlags flags;

    switch (call) {
    case CREATE:
        *target = SCNetworkReachabilityCreateWithName(NULL, text);
        check(*target != NULL, text);
        break;
    case SCHEDULE:
        check(SCNetworkReachabilityScheduleWithRunLoop(*target, loop, kSCRunLoopDefaultMode), "schedule");
        break;
    case UNSCHEDULE:
        check(SCNetworkReachabilityUnscheduleFromRunLoop(*target, loop, kSCRunLoopDefaultMode), "unschedule");
        break;
    case RELEASE:
        SCNetworkReachabilityRelease(*target);
        break;
    default:
        check(SCNetworkReachabilityGetFlags(*target, &flags), "flags");
    }
}

static char names[TARGETS][64], addresses[TARGETS][64];

static void write_texts(void)
{
    for (int i = 0; i < TARGETS; i++) {
        snprintf(names[i], sizeof names[i], "host-%d.example.com", i);
        snprintf(addresses[i], sizeof addresses[i], "198.51.100.%d", i);
    }
}

struct measured {
    double calls[CALLS][BLOCKS];
};

/* Measures one block: average nanoseconds of each call. */
static void measure(char texts[][64], SCRunLoopRef loop, size_t block, struct measured *ret)
{
    SCNetworkReachabilityRef targets[TARGETS];

    for (int call = CREATE; call < CALLS; call++) {
        const int64_t start = bench_now();

        for (int i = 0; i < TARGETS; i++)
            make_call((enum call)call, &targets[i], loop, texts[i]);
        ret->calls[call][block] = (double)(bench_now() - start) / TARGETS;
    }
}

static void measure_both(size_t blocks, struct measured *ret_names, struct measured *ret_addresses)
{
    SCRunLoopRef loop = SCRunLoopCreate();

    for (size_t i = 0; i < blocks; i++) {
        measure(addresses, loop, i, ret_addresses);
        measure(names, loop, i, ret_names);
    }
    SCRunLoopRelease(loop);
}

static bool compare(size_t blocks)
{
    static struct measured ours, reference;
    bool                   within = true;

    measure_both(blocks, &ours, &reference);
    for (int call = 0; call < CALLS; call++)
        within = bench_report(calls[call].title, calls[call].reference, ours.calls[call], reference.calls[call], blocks,
                              calls[call].threshold) &&
                 within;
    return within;
}

/* Mounts a file over /etc/hosts, in a new mount namespace. */
static bool replace_hosts(void)
{
    char  name[] = "/tmp/benchmark-names-XXXXXX";
    int   fd = mkstemp(name);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    bool  replaced;

    if (file == NULL)
        return false;
    for (int i = 0; i < HOSTS; i++)
        fprintf(file, "0.0.0.0 host-%d.block-%d.example.org\n", i, i % 1000);
    fflush(file);
    /* The library reads a very new file each time. */
    futimens(fd, (const struct timespec[2]){ { 0 }, { 0 } });
    fclose(file);
    replaced = unshare(CLONE_NEWNS) == 0 && mount("", "/", "", MS_REC | MS_PRIVATE, "") == 0 &&
               mount(name, "/etc/hosts", "", MS_BIND, "") == 0;
    unlink(name);
    return replaced;
}

static bool compare_with_many_hosts(size_t blocks)
{
    static struct measured ours, reference;

    if (blocks > BLOCKS_HOSTS)
        blocks = BLOCKS_HOSTS;
    if (!replace_hosts()) {
        printf("/etc/hosts cannot be replaced here\n");
        return true;
    }
    measure_both(blocks, &ours, &reference);
    return bench_report("schedule, many hosts", "an address", ours.calls[SCHEDULE], reference.calls[SCHEDULE], blocks,
                        calls[SCHEDULE].threshold);
}

/* ---- Many names on one loop ------------------------------------------------------------------------------------- */

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
    double      threshold;
} stages[STAGES] = {
    [SCALE_SCHEDULE] = { "schedule", 3 },
    [SCALE_RESOLVE] = { "resolve", 3 },
    [SCALE_CHANGE] = { "look up after a change", 3 },
    [SCALE_REFRESH] = { "look up when due", 3 },
    [SCALE_UNSCHEDULE] = { "unschedule", 3 },
};

struct scale {
    double stages[STAGES][BLOCKS_SCALE];
};

/* Names on one loop. */
struct crowd {
    SCNetworkReachabilityRef targets[MANY_NAMES];
    unsigned                 count, calls;
    SCRunLoopRef             loop;
    struct writer           *writer;
    int64_t                  step; /* between two deadlines, in nanoseconds */
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
    char                         text[64];

    for (unsigned i = 0; i < crowd->count; i++) {
        snprintf(text, sizeof text, "host-%u.example.com", i);
        make_call(CREATE, &crowd->targets[i], NULL, text);
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
            make_call(stage == SCALE_SCHEDULE ? SCHEDULE : UNSCHEDULE, &crowd->targets[i], crowd->loop, "");
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
        make_call(RELEASE, &crowd.targets[i], NULL, "");
    SCRunLoopRelease(crowd.loop);
}

static bool compare_many_with_few(struct writer *writer, bool is_short)
{
    static struct scale many, few;
    const size_t        blocks = is_short ? 1 : BLOCKS_SCALE;
    bool                within = true;

    for (size_t i = 0; i < blocks; i++) {
        measure_crowd(writer, FEW_NAMES, i, &few);
        measure_crowd(writer, MANY_NAMES, i, &many);
    }
    for (int stage = 0; stage < STAGES; stage++)
        within = bench_report(stages[stage].title, "with 1000 names, not 16,000", many.stages[stage], few.stages[stage],
                              blocks, stages[stage].threshold) &&
                 within;
    return within;
}

/* ---- Memory ----------------------------------------------------------------------------------------------------- */

static size_t heap(void)
{
    const struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static double bytes_each(SCRunLoopRef loop, const char *format)
{
    static SCNetworkReachabilityRef targets[MANY];
    const size_t                    before = heap();
    double                          bytes;

    for (unsigned i = 0; i < MANY; i++) {
        char text[64];

        snprintf(text, sizeof text, format, i >> 8, i & 255);
        make_call(CREATE, &targets[i], loop, text);
        make_call(SCHEDULE, &targets[i], loop, text);
    }
    if (SCRunLoopPerform(loop, 0) < 0)
        bench_fail("the loop cannot be driven");
    bytes = (double)(heap() - before) / MANY;
    for (unsigned i = 0; i < MANY; i++) {
        make_call(UNSCHEDULE, &targets[i], loop, "");
        make_call(RELEASE, &targets[i], loop, "");
    }
    return bytes;
}

static void weigh(void)
{
    SCRunLoopRef loop = SCRunLoopCreate();
    const double address = bytes_each(loop, "10.1.%u.%u"), name = bytes_each(loop, "host-%u-%u.example.com");

    printf("%d targets, scheduled: %.0f bytes for a name, %.0f for an address; %u resolver threads\n", MANY, name,
           address, resolver_threads());
    SCRunLoopRelease(loop);
}

static void await_no_thread(void)
{
    resolver_release(NULL);
    if (!resolver_await_threads(0))
        bench_fail("threads are left");
}

int main(int argc, char **argv)
{
    const bool    is_short = bench_is_short(argc, argv);
    const size_t  blocks = is_short ? BLOCKS_SHORT : BLOCKS;
    struct writer writer;
    bool          within;

    bench_pin(0);
    bench_enter_namespace(&writer);
    bench_check(writer_route(&writer, WRITER_ADD, &bench_default_route), "default route");
    resolver_begin(silent);
    write_texts();
    within = compare(blocks);
    weigh();
    await_no_thread();
    within = compare_many_with_few(&writer, is_short) && within;
    resolver_begin(silent);
    within = compare_with_many_hosts(blocks) && within;
    await_no_thread();
    writer_close(&writer);
    return within || is_short ? 0 : 1;
}
