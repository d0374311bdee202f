/* SPDX-License-Identifier: MIT */
/*
 * A default route that goes and comes, under many targets in shuffled order: the queries, the time for each target, and
 * the time to the first callback. The queries with a policy rule that chooses a table. With one for packets from a
 * source, each target needs a query of its own; the reference is a bare batch of the same queries.
 *
 * Most of what a target costs is waiting for memory: of the schedule, the state and the target. So a step gives the
 * path to 8 targets, and first tells the processor which memory it will use. With 32 it is slower: a processor keeps
 * only a few misses under way. An entry has one list, and a mark where those without the path begin: to move members
 * would write to both of their neighbours. Three ways made no difference: each target knows where the target after the
 * next 8 is; a step loads the owners of the next 8, too; the fields that a step uses are next to one another.
 *
 * If the flags were in the shared result, a target without a callback would cost nothing. But GetFlags takes no lock,
 * so it would read the target, the result and the target again: in a trial, a cached GetFlags took 1.64 to 2.64 times
 * the function with one load, and 1.44 to 1.58 without that. And SCRunLoopCopyNextChange would do for each target what
 * the round no longer does.
 *
 * With a rule, 128 queries are in one send, as in the reference. What the next evaluations use is loaded while their
 * replies are collected; still, a third of the library's part is waiting for memory. recvmmsg(2) for 16 replies takes
 * 1.67 us for a query in a bare loop, recvfrom(2) 1.83.
 */
#include <linux/fib_rules.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bare.h"
#include "watched.h"

#define BLOCKS        7
#define BLOCKS_SHORT  3
#define TARGETS       1000000
#define TARGETS_SHORT 10000
#define FIRST_ADDRESS 0x0a000000U

/* The targets are created in the order of their addresses, so they are in this order in memory. Their schedules are in
 * random order. */
static void shuffle(struct watched *watched)
{
    srandom(1);
    for (unsigned i = watched->count - 1; i > 0; i--) {
        const unsigned j = (unsigned)random() % (i + 1);
        const SCNetworkReachabilityRef other = watched->targets[j];

        watched->targets[j] = watched->targets[i];
        watched->targets[i] = other;
    }
}

/* Deletes and adds the default route. Returns the mean time for a target. */
static double measure_toggle(struct writer *writer, struct watched *watched, unsigned calls)
{
    double sum = 0;

    for (int i = 0; i < 2; i++) {
        watched_toggle(writer, i != 0);
        sum += watched_settle(watched, calls);
    }
    return sum / 2 / watched->count;
}

static double median_toggle(struct writer *writer, struct watched *watched, unsigned calls, size_t blocks)
{
    double times[BLOCKS];

    for (size_t i = 0; i < blocks; i++)
        times[i] = measure_toggle(writer, watched, calls);
    return bench_median(times, blocks);
}

static bool count_queries(struct writer *writer, struct watched *watched)
{
    const unsigned long before = watched_queries(watched);

    watched_toggle(writer, false);
    (void)watched_settle(watched, 0);
    watched_toggle(writer, true);
    (void)watched_settle(watched, 0);
    return bench_report_number("default toggle, queries", (double)(watched_queries(watched) - before) / 2, "queries",
                               4);
}

/* ---- The first callback ----------------------------------------------------------------------------------------- */

/* From the begin of a pass to its first callback. */
static double first_callback(struct watched *watched)
{
    const int64_t start = bench_now();

    watched->first_call = 0;
    (void)watched_perform(watched, watched->count);
    return (double)(watched->first_call - start);
}

static bool compare_first_callback(struct writer *writer, struct watched *many, size_t blocks)
{
    struct watched one = watched_create(1);
    double ours[BLOCKS], reference[BLOCKS];
    char title[80];

    watched_schedule(&one, true);
    for (size_t i = 0; i < blocks; i++) {
        ours[i] = reference[i] = 0;
        for (int j = 0; j < 2; j++) {
            watched_toggle(writer, j != 0);
            reference[i] += first_callback(&one) / 2;
            ours[i] += first_callback(many) / 2;
        }
    }
    watched_unschedule(&one);
    watched_release(&one);
    bench_point("first callback", many->count, bench_median(ours, blocks));
    snprintf(title, sizeof title, "first callback of %u, default toggle", many->count);
    return bench_report(title, "of the only target", ours, reference, blocks, 2);
}

/* ---- A policy rule ---------------------------------------------------------------------------------------------- */

static void set_rule(struct writer *writer, bool present, const char *prefix, const char *source)
{
    const struct writer_rule rule = {
        .prefix = prefix, .from = source, .priority = 10, .action = FR_ACT_TO_TBL, .table = 100
    };

    bench_check(writer_rule(writer, present ? WRITER_ADD : WRITER_DELETE, &rule), "rule");
}

/* Returns the time for an address. */
static double measure_batches(unsigned count)
{
    const int fd = bare_open();
    const int64_t start = bench_now();

    for (unsigned done = 0; done < count; done += BARE_BATCH)
        bare_query_batch(fd, FIRST_ADDRESS + done, BARE_BATCH);
    close(fd);
    return (double)(bench_now() - start) / count;
}

static bool count_queries_with_rule(struct writer *writer, struct watched *many)
{
    struct writer_route route = bench_default_route;
    unsigned long before;

    set_rule(writer, true, "203.0.113.0/24", NULL);
    (void)watched_settle(many, 0);
    before = watched_queries(many);
    route.gateway = "192.0.2.3";
    bench_check(writer_route(writer, WRITER_REPLACE, &route), "another gateway");
    (void)watched_settle(many, 0);
    before = watched_queries(many) - before;
    bench_check(writer_route(writer, WRITER_REPLACE, &bench_default_route), "default route");
    set_rule(writer, false, "203.0.113.0/24", NULL);
    (void)watched_settle(many, 0);
    return bench_report_number("with a policy rule, another gateway, queries", (double)before, "queries", 8);
}

/* The default route gets another gateway. So the queries find a route, like those of the reference. */
static bool compare_with_rule(struct writer *writer, struct watched *many)
{
    double ours[BLOCKS_SHORT], reference[BLOCKS_SHORT];
    struct writer_route route = bench_default_route;

    set_rule(writer, true, "0.0.0.0/0", "203.0.113.0/24");
    (void)watched_settle(many, 0);
    for (size_t i = 0; i < BLOCKS_SHORT; i++) {
        route.gateway = i % 2 == 0 ? "192.0.2.3" : "192.0.2.1";
        reference[i] = measure_batches(many->count);
        bench_check(writer_route(writer, WRITER_REPLACE, &route), "another gateway");
        ours[i] = watched_settle(many, 0) / many->count;
    }
    set_rule(writer, false, "0.0.0.0/0", "203.0.113.0/24");
    bench_check(writer_route(writer, WRITER_REPLACE, &bench_default_route), "default route");
    (void)watched_settle(many, 0);
    return bench_report("with a policy rule for a source, a target", "a bare batch of RTM_GETROUTE", ours, reference,
                        BLOCKS_SHORT, 1.0);
}

/* A loop with fewer targets, for the chart. */
static void draw(struct writer *writer, unsigned count)
{
    struct watched watched = watched_create(count);

    shuffle(&watched);
    watched_schedule(&watched, true);
    (void)measure_toggle(writer, &watched, count);
    bench_point("default toggle, all callbacks", count, measure_toggle(writer, &watched, count) * count);
    watched_toggle(writer, false);
    bench_point("first callback", count, first_callback(&watched));
    watched_toggle(writer, true);
    (void)first_callback(&watched);
    watched_unschedule(&watched);
    watched_release(&watched);
}

static bool measure_all(struct writer *writer, bool is_short)
{
    const size_t blocks = is_short ? BLOCKS_SHORT : BLOCKS;
    const unsigned targets = is_short ? TARGETS_SHORT : TARGETS;
    struct watched many;
    double time;
    bool within;

    watched_toggle(writer, true);
    for (unsigned count = 1; count < targets; count *= 10)
        draw(writer, count);
    many = watched_create(targets);
    shuffle(&many);
    watched_schedule(&many, false);
    within = count_queries(writer, &many);
    within = bench_report_number("default toggle, a target without a callback", median_toggle(writer, &many, 0, blocks),
                                 "ns", 1) &&
             within;
    within = count_queries_with_rule(writer, &many) && within;
    within = compare_with_rule(writer, &many) && within;
    watched_unschedule(&many);
    watched_schedule(&many, true);
    time = median_toggle(writer, &many, targets, blocks);
    within = bench_report_number("default toggle, a target with a callback", time, "ns", 120) && within;
    bench_point("default toggle, all callbacks", targets, time * targets);
    within = compare_first_callback(writer, &many, blocks) && within;
    watched_unschedule(&many);
    watched_release(&many);
    return within;
}

int main(int argc, char **argv)
{
    return bench_run(argc, argv, measure_all);
}
