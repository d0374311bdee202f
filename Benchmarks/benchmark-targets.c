/* SPDX-License-Identifier: MIT */
/*
 * The cost of a route change when one loop watches many targets, compared with a loop that watches one. A library that
 * walks over its targets for each message fails here.
 */
#include <stdio.h>
#include <unistd.h>

#include "bare.h"
#include "watched.h"

#define BLOCKS        21
#define BLOCKS_SHORT  5
#define CHANGES       200 /* in each block */
#define TARGETS       1000000
#define TARGETS_SHORT 10000

static double receive(int fd)
{
    const int64_t start = bench_now();

    bare_receive(fd);
    return (double)(bench_now() - start);
}

/* The time to handle a route between the targets, and to receive the message. */
static void measure_between(struct writer *writer, struct watched *many, double *ret_many, double *ret_bare)
{
    const int fd = bare_listen();
    double many_times[CHANGES], bare_times[CHANGES];

    for (unsigned i = 0; i < CHANGES; i++) {
        watched_change_between(writer, i);
        bare_times[i] = receive(fd);
        many_times[i] = watched_perform(many, 0);
    }
    *ret_many = bench_median(many_times, CHANGES);
    *ret_bare = bench_median(bare_times, CHANGES);
    close(fd);
}

static bool compare_between(struct writer *writer, struct watched *many, size_t blocks)
{
    const unsigned long before = watched_queries(many);
    unsigned long queries;
    double ours[BLOCKS], reference[BLOCKS], time;
    char title[80];
    bool within;

    for (size_t i = 0; i < blocks; i++)
        measure_between(writer, many, &ours[i], &reference[i]);
    queries = watched_queries(many) - before;
    snprintf(title, sizeof title, "route between %u targets", many->count);
    within = bench_report(title, "poll and recv", ours, reference, blocks, 0);
    time = bench_median(ours, blocks);
    within = bench_report_number("route between targets, time", time / 1000, "us", 4) && within;
    bench_point("route between the targets", many->count, time);
    return bench_report_number("route between targets, queries", (double)queries / (double)(blocks * CHANGES),
                               "queries", 0) &&
           within;
}

/* The time to handle a change of one target, of the loop with many targets and of the one with a single target. */
static void measure_callback(struct writer *writer, struct watched *many, struct watched *one, double *ret_many,
                             double *ret_one)
{
    double many_times[CHANGES], one_times[CHANGES];

    for (unsigned i = 0; i < CHANGES; i++) {
        watched_change(writer, WATCHED_FIRST, i % 2 == 0);
        one_times[i] = watched_perform(one, 1);
        many_times[i] = watched_perform(many, 1);
    }
    *ret_many = bench_median(many_times, CHANGES);
    *ret_one = bench_median(one_times, CHANGES);
}

static bool compare_callback(struct writer *writer, struct watched *many, struct watched *one, size_t blocks)
{
    double ours[BLOCKS], reference[BLOCKS];
    char title[80];

    for (size_t i = 0; i < blocks; i++)
        measure_callback(writer, many, one, &ours[i], &reference[i]);
    bench_point("change of one target", many->count, bench_median(ours, blocks));
    snprintf(title, sizeof title, "callback of 1 of %u targets", many->count);
    return bench_report(title, "of the only target", ours, reference, blocks, 1.2);
}

/* A loop with fewer targets, for the chart. */
static void draw(struct writer *writer, unsigned count, struct watched *one)
{
    struct watched watched = watched_create(count);
    double between, change, unused;

    watched_schedule(&watched, true);
    measure_between(writer, &watched, &between, &unused);
    watched_settle(one, 0);
    measure_callback(writer, &watched, one, &change, &unused);
    bench_point("route between the targets", count, between);
    bench_point("change of one target", count, change);
    watched_unschedule(&watched);
    watched_release(&watched);
}

static bool measure_all(struct writer *writer, bool is_short)
{
    const size_t blocks = is_short ? BLOCKS_SHORT : BLOCKS;
    const unsigned targets = is_short ? TARGETS_SHORT : TARGETS;
    struct watched many, one;
    bool within;

    watched_toggle(writer, true);
    one = watched_create(1);
    watched_schedule(&one, true);
    for (unsigned count = 1; count < targets; count *= 10)
        draw(writer, count, &one);
    many = watched_create(targets);
    watched_schedule(&many, true);
    within = compare_between(writer, &many, blocks);
    watched_settle(&one, 0);
    within = compare_callback(writer, &many, &one, blocks) && within;
    watched_unschedule(&many);
    watched_release(&many);
    watched_unschedule(&one);
    watched_release(&one);
    return within;
}

int main(int argc, char **argv)
{
    return bench_run(argc, argv, measure_all);
}
