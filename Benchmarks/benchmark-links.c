/* SPDX-License-Identifier: MIT */
/*
 * A link that comes up or goes down: the time until a loop whose targets do not use the link has handled the message.
 * In a namespace with 10,000 links and in one with 10; with 100,000 targets and with one. A library that walks over all
 * links or all targets for each message fails here.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "watched.h"

#define BLOCKS       21
#define BLOCKS_SHORT 3
#define CHANGES      20 /* in each block */
#define FEW          10
#define MANY         10000
#define MANY_SHORT   200
#define CROWD        100000 /* targets */
#define CROWD_SHORT  1000

struct place {
    int namespace;
    struct writer writer;
    struct watched watched;
    unsigned link; /* that comes and goes */
};

/* The namespace already has lo and a pair. */
static void add_links(struct writer *writer, unsigned links)
{
    char name[16], peer[16];

    for (unsigned i = 3; i + 1 < links; i += 2) {
        snprintf(name, sizeof name, "c%u", i);
        snprintf(peer, sizeof peer, "d%u", i);
        bench_check(writer_link_add_pair(writer, name, peer), "veth pair");
    }
}

static void make_place(struct place *ret, unsigned links, unsigned targets)
{
    bench_enter_namespace(&ret->writer);
    watched_toggle(&ret->writer, true);
    add_links(&ret->writer, links);
    bench_check(writer_link_add_pair(&ret->writer, "e", "f"), "veth pair");
    ret->link = writer_index("e");
    ret->namespace = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (ret->namespace < 0)
        bench_fail("the namespace cannot be opened: %s", strerror(errno));
    ret->watched = watched_create(targets);
    watched_schedule(&ret->watched, true);
}

static void release_place(struct place *place)
{
    watched_unschedule(&place->watched);
    watched_release(&place->watched);
    writer_close(&place->writer);
}

static double measure(struct place *place)
{
    double times[CHANGES];

    if (setns(place->namespace, CLONE_NEWNET) != 0)
        bench_fail("setns: %s", strerror(errno));
    for (unsigned i = 0; i < CHANGES; i++) {
        bench_check(writer_link_up(&place->writer, place->link, i % 2 == 0), "link");
        times[i] = watched_perform(&place->watched, 0);
        SCRunLoopPerform(place->watched.loop, 0.01); /* the second evaluation */
    }
    return bench_median(times, CHANGES);
}

static bool compare(struct place *many, struct place *few, size_t blocks, const char *title, const char *peer)
{
    double ours[BLOCKS], reference[BLOCKS];

    for (size_t i = 0; i < blocks; i++) {
        reference[i] = measure(few);
        ours[i] = measure(many);
    }
    return bench_report(title, peer, ours, reference, blocks, 2);
}

static bool compare_links(struct place *few, unsigned links, size_t blocks)
{
    struct place many;
    char title[80];
    bool within;

    make_place(&many, links, 1);
    snprintf(title, sizeof title, "link event, %u links", links);
    within = compare(&many, few, blocks, title, "the same with 10 links");
    release_place(&many);
    return within;
}

static bool compare_targets(struct place *few, unsigned targets, size_t blocks)
{
    struct place many;
    unsigned long before, queries;
    char title[80];
    bool within;

    make_place(&many, FEW, targets);
    before = watched_queries(&many.watched);
    snprintf(title, sizeof title, "link event, %u targets", targets);
    within = compare(&many, few, blocks, title, "the same with one target");
    queries = watched_queries(&many.watched) - before;
    within = bench_report_number("link event of no target, queries", (double)queries / (double)(blocks * CHANGES),
                                 "queries", 8) &&
             within;
    release_place(&many);
    return within;
}

int main(int argc, char **argv)
{
    const bool is_short = bench_is_short(argc, argv);
    const size_t blocks = is_short ? BLOCKS_SHORT : BLOCKS;
    struct place few;
    bool within;

    bench_pin(0);
    make_place(&few, FEW, 1);
    within = compare_links(&few, is_short ? MANY_SHORT : MANY, blocks);
    within = compare_targets(&few, is_short ? CROWD_SHORT : CROWD, blocks) && within;
    release_place(&few);
    return within || is_short ? 0 : 1;
}
