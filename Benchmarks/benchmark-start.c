/* SPDX-License-Identifier: MIT */
/*
 * The time of a whole use: loop, target, schedule, first pass, unschedule, release. In a namespace
 * with a million routes, compared with ten: a library that reads the routing table fails here.
 */
#include <errno.h>
#include <fcntl.h>
#include <reachability/reachability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

#define BLOCKS       41
#define BLOCKS_SHORT 5
#define STARTS       100
#define FEW          10
#define MANY         1000000
#define MANY_SHORT   10000

/* Moves the thread to a new namespace with that many routes. Returns a descriptor of the namespace. */
static int make_namespace(unsigned routes)
{
    struct writer writer;
    unsigned      index = bench_enter_namespace(&writer);
    int           way_back;

    bench_check(writer_route(&writer, WRITER_ADD, &bench_default_route), "default route");
    bench_add_routes(&writer, index, routes);
    writer_close(&writer);
    way_back = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (way_back < 0)
        bench_fail("the namespace cannot be opened: %s", strerror(errno));
    return way_back;
}

static void start_once(void)
{
    SCRunLoopRef             loop = SCRunLoopCreate();
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, "198.51.100.1");

    if (!SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode) ||
        SCRunLoopPerform(loop, 0) < 0 ||
        !SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode))
        bench_fail("the target could not be watched: %s", SCErrorString(SCError()));
    SCNetworkReachabilityRelease(target);
    SCRunLoopRelease(loop);
}

/* Measures one block: the median of its starts. */
static double measure(int namespace)
{
    double times[STARTS];

    if (setns(namespace, CLONE_NEWNET) != 0)
        bench_fail("setns: %s", strerror(errno));
    start_once();
    for (int i = 0; i < STARTS; i++) {
        const int64_t start = bench_now();

        start_once();
        times[i] = (double)(bench_now() - start);
    }
    return bench_median(times, STARTS);
}

int main(int argc, char **argv)
{
    const bool     is_short = bench_is_short(argc, argv);
    const size_t   blocks = is_short ? BLOCKS_SHORT : BLOCKS;
    const unsigned many_routes = is_short ? MANY_SHORT : MANY;
    double         many[BLOCKS], few[BLOCKS];
    char           title[64];
    int            large, small;
    bool           within;

    bench_pin(0);
    large = make_namespace(many_routes);
    small = make_namespace(FEW);
    for (size_t i = 0; i < blocks; i++) {
        few[i] = measure(small);
        many[i] = measure(large);
    }
    snprintf(title, sizeof title, "start, %u routes", many_routes);
    within = bench_report(title, "the same with 10 routes", many, few, blocks, 1.10);
    return within || is_short ? 0 : 1;
}
