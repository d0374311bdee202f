/* SPDX-License-Identifier: MIT */
/*
 * The memory of a target: created, and scheduled with a callback. All that malloc gives to the program counts, so also
 * the indexes of the library and what malloc itself needs. Then the growth of the resident memory when a target is
 * watched in a namespace with many routes, in a process that has used nothing of the library before.
 *
 * A scheduled target has 384 bytes, with the 8 to 16 of malloc for each block: 80 for the target; 112 for its state: a
 * lock (40), the current and the last reported result, the callback; 192 for the schedule, with its places in the
 * loop's queues (56), in its entry (16) and in the tree of addresses (40). An entry of its own has 192 more. The least,
 * in one block and without a lock, would be 144: the callback (16), the loop and the entry (16), the places in the
 * entry (16), the tree (34) and a queue (16), both results (18), counts (12), malloc's. For 160, the lists and the tree
 * would be arrays that the loop moves targets in, and each Unschedule would search them. 64 locks for all targets of a
 * namespace would save 32 bytes and 7 ns of a default toggle: too little for targets that would wait for one another.
 */
#include <malloc.h>
#include <stdio.h>

#include "watched.h"

#define TARGETS       1000000
#define TARGETS_SHORT 10000
#define ROUTES        1000000
#define ROUTES_SHORT  10000

/* Without the pages of files, such as the library's code: how many of these the kernel maps at once depends on its page
 * cache. smaps_rollup is exact; the counts of statm can be off by many pages. */
static size_t resident(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    size_t kilobytes = 0;

    if (file == NULL)
        bench_fail("/proc/self/smaps_rollup cannot be read");
    while (kilobytes == 0 && fgets(line, sizeof line, file) != NULL)
        (void)sscanf(line, "Anonymous: %zu", &kilobytes);
    fclose(file);
    return kilobytes * 1024;
}

/* Without the array of the targets, which is the benchmark's. A large one has pages of its own. */
static double heap_of(const struct watched *watched, size_t before)
{
    return (double)(bench_heap() - before - malloc_usable_size(watched->targets)) - 2 * sizeof(size_t);
}

/* The memory of the namespace and of a loop is not that of a target. */
static bool measure_targets(unsigned count)
{
    struct watched first = watched_create(1), second, many;
    size_t before = bench_heap();
    double of_half, idle, scheduled;
    bool within;

    second = watched_create(count / 2);
    of_half = heap_of(&second, before);
    before = bench_heap();
    many = watched_create(count);
    idle = (heap_of(&many, before) - of_half) / (count - count / 2);
    watched_schedule(&many, true);
    scheduled = heap_of(&many, before) / count;
    within = bench_report_number("a target, idle", idle, "bytes", 400);
    within = bench_report_number("a target, scheduled, with a callback", scheduled, "bytes", 800) && within;
    watched_unschedule(&many);
    watched_release(&many);
    watched_release(&second);
    watched_release(&first);
    return within;
}

static bool measure_start(unsigned routes)
{
    struct writer writer;
    const unsigned index = bench_enter_namespace(&writer);
    struct watched watched;
    size_t before;
    bool within;

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
    const bool is_short = bench_is_short(argc, argv);
    struct writer writer;
    bool within;

    /* First: later, malloc has free memory, and nothing grows. */
    within = measure_start(is_short ? ROUTES_SHORT : ROUTES);
    bench_enter_namespace(&writer);
    watched_toggle(&writer, true);
    within = measure_targets(is_short ? TARGETS_SHORT : TARGETS) && within;
    writer_close(&writer);
    return within || is_short ? 0 : 1;
}
