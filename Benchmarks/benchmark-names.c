/* SPDX-License-Identifier: MIT */
/*
 * The cost of a name while its name server is silent. No call may wait for a look-up, or become slower because of other
 * look-ups. Each call on a name is compared with the same call on an address target, in the same run.
 *
 * Then the memory of each of 100,000 names, the threads that look them up, and a default route that goes and comes.
 *
 * A name of 22 letters that waits for its first answer has 800 bytes: 288 for its state, look-ups and text, in one
 * block; 304 for the schedule, with the place among the deadlines of names; 128 for the look-up, with a copy of the
 * text for the resolver thread; 80 for the target. A domain of its own takes 128 more. To get below 900 then, too,
 * the schedule would have no place in a tree (48), which only plain addresses need. The release of a name also frees
 * a state and the memory of a cancelled look-up, 26 to 46 ns more than an address, which has no state if it was
 * never scheduled.
 */
#include <reachability/reachability.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "support/resolver.h"

#define BLOCKS       41
#define BLOCKS_SHORT 5
#define TARGETS      250
#define MANY         100000
#define MANY_SHORT   10000
#define TOGGLES      10

static struct resolver_reply silent(const char *name)
{
    (void)name;
    return (struct resolver_reply){ .hangs = true, .addresses = "" };
}

enum call { CREATE, GET_FLAGS, SCHEDULE, GET_FLAGS_SCHEDULED, UNSCHEDULE, RELEASE, CALLS };

static const struct {
    const char *title, *reference;
    double threshold;
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
    bool within = true;

    measure_both(blocks, &ours, &reference);
    for (int call = 0; call < CALLS; call++)
        within = bench_report(calls[call].title, calls[call].reference, ours.calls[call], reference.calls[call], blocks,
                              calls[call].threshold) &&
                 within;
    return within;
}

/* ---- Many names ------------------------------------------------------------------------------------------------- */

/* Targets that are scheduled on one loop. */
struct crowd {
    SCRunLoopRef loop;
    unsigned count;
    SCNetworkReachabilityRef targets[MANY];
};

static void perform(struct crowd *crowd)
{
    if (SCRunLoopPerform(crowd->loop, 0) < 0)
        bench_fail("the loop cannot be driven");
}

/* Creates and schedules the targets. Returns the bytes of each. */
static double make_crowd(struct crowd *ret, const char *format, unsigned count)
{
    size_t before;

    ret->loop = SCRunLoopCreate();
    ret->count = count;
    before = bench_heap();
    for (unsigned i = 0; i < count; i++) {
        char text[64];

        snprintf(text, sizeof text, format, i >> 16, i >> 8 & 255, i & 255);
        make_call(CREATE, &ret->targets[i], ret->loop, text);
        make_call(SCHEDULE, &ret->targets[i], ret->loop, text);
    }
    perform(ret);
    return (double)(bench_heap() - before) / count;
}

static void release_crowd(struct crowd *crowd)
{
    for (unsigned i = 0; i < crowd->count; i++) {
        make_call(UNSCHEDULE, &crowd->targets[i], crowd->loop, "");
        make_call(RELEASE, &crowd->targets[i], crowd->loop, "");
    }
    SCRunLoopRelease(crowd->loop);
}

/* The nanoseconds for each target after the default route has gone or come. */
static double measure_toggle(struct crowd *crowd)
{
    const int64_t start = bench_now();

    perform(crowd);
    return (double)(bench_now() - start) / crowd->count;
}

static bool compare_toggle(struct writer *writer, struct crowd *many_names, struct crowd *many_addresses)
{
    double ours[TOGGLES], reference[TOGGLES];

    for (size_t i = 0; i < TOGGLES; i++) {
        bench_check(writer_route(writer, i % 2 == 0 ? WRITER_DELETE : WRITER_ADD, &bench_default_route), "toggle");
        reference[i] = measure_toggle(many_addresses);
        ours[i] = measure_toggle(many_names);
    }
    return bench_report("default toggle, a name that waits", "an address", ours, reference, TOGGLES, 5);
}

static bool compare_many(struct writer *writer, unsigned count)
{
    static struct crowd many_names, many_addresses;
    const double bytes = make_crowd(&many_names, "host-%u-%u-%u.example.com", count);
    char title[80];
    bool within;

    printf("%u resolver threads\n", resolver_threads());
    snprintf(title, sizeof title, "a name, scheduled, of %u", count);
    within = bench_report_number(title, bytes, "bytes", 600);
    (void)make_crowd(&many_addresses, "10.%u.%u.%u", count);
    within = compare_toggle(writer, &many_names, &many_addresses) && within;
    release_crowd(&many_addresses);
    release_crowd(&many_names);
    return within;
}

static void await_no_thread(void)
{
    resolver_release(NULL);
    if (!resolver_await_threads(0))
        bench_fail("threads are left");
}

static bool measure_all(struct writer *writer, bool is_short)
{
    const size_t blocks = is_short ? BLOCKS_SHORT : BLOCKS;
    bool within;

    bench_check(writer_route(writer, WRITER_ADD, &bench_default_route), "default route");
    resolver_begin(silent);
    write_texts();
    within = compare(blocks);
    within = compare_many(writer, is_short ? MANY_SHORT : MANY) && within;
    await_no_thread();
    return within;
}

int main(int argc, char **argv)
{
    return bench_run(argc, argv, measure_all);
}
