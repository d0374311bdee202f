/* SPDX-License-Identifier: MIT */
/*
 * The memory of a target: created, and scheduled with a callback. All that malloc gives to the program counts, so also
 * the indexes of the library and what malloc itself needs. Then the growth of the resident memory when a target is
 * watched in a namespace with many routes, in a process that has used nothing of the library before.
 */
#include <stdio.h>
#include <unistd.h>

#include "watched.h"

#define TARGETS       1000000
#define TARGETS_SHORT 10000
#define ROUTES        1000000
#define ROUTES_SHORT  10000

static size_t resident(void)
{
    FILE  *file = fopen("/proc/self/statm", "r");
    size_t pages = 0;

    if (file == NULL || fscanf(file, "%*u %zu", &pages) != 1)
        bench_fail("/proc/self/statm cannot be read");
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static bool measure_targets(unsigned count)
{
    const size_t   before = bench_heap();
    struct watched watched = watched_create(count);
    const double   idle = (double)(bench_heap() - before) / count - sizeof *watched.targets;
    double         scheduled;
    bool           within;

    watched_schedule(&watched, true);
    scheduled = (double)(bench_heap() - before) / count - sizeof *watched.targets;
    within = bench_report_number("a target, idle", idle, "bytes", 96);
    within = bench_report_number("a target, scheduled, with a callback", scheduled, "bytes", 160) && within;
    watched_unschedule(&watched);
    watched_release(&watched);
    return within;
}

static bool measure_start(unsigned routes)
{
    struct writer  writer;
    const unsigned index = bench_enter_namespace(&writer);
    struct watched watched;
    size_t         before;
    bool           within;

    watched_toggle(&writer, true);
    bench_add_routes(&writer, index, routes);
    before = resident();
    watched = watched_create(1);
    watched_schedule(&watched, true);
    within = bench_report_number("resident growth, a target, many routes", (double)(resident() - before) / 1024, "KB",
                                 128);
    watched_unschedule(&watched);
    watched_release(&watched);
    writer_close(&writer);
    return within;
}

int main(int argc, char **argv)
{
    const bool    is_short = bench_is_short(argc, argv);
    struct writer writer;
    bool          within;

    /* First: later, malloc has free memory, and nothing grows. */
    within = measure_start(is_short ? ROUTES_SHORT : ROUTES);
    bench_enter_namespace(&writer);
    watched_toggle(&writer, true);
    within = measure_targets(is_short ? TARGETS_SHORT : TARGETS) && within;
    writer_close(&writer);
    return within || is_short ? 0 : 1;
}
