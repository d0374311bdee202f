/* SPDX-License-Identifier: MIT */
/*
 * The time of a whole use: loop, target, schedule, first pass, unschedule, release; and that of GetFlags. In a
 * namespace with a million routes, compared with ten: a library that reads the routing table fails here.
 *
 * The first use in a process, for an IPv4 address behind a default gateway, makes 52 system calls until the end of the
 * first pass (strace, without those of malloc), of which 13 are marks of descriptors and checks of them:
 *   5 the loop: epoll set, eventfd, a mark for each, the eventfd joins the set. The first deadline opens the timer.
 *   5 the namespace: which it is, for Create and for Schedule; a descriptor that keeps it, its mark, a check of it.
 *   4 the socket of the namespace: socket, mark, the groups of links and rules in one bind, connect.
 *   3 the monitor's socket for queries: socket, mark, connect. The first batch brings a larger buffer.
 *   6 the monitor's socket for events: socket, mark, buffer, groups in one bind; into the epoll set, which is checked.
 *     The first gateway that matters brings the group of neighbours and a filter.
 *  10 Schedule's evaluation: a check, the effective user, the query (2), the link without waiting for RTNL (5), whether
 *     /sys is of this namespace.
 *  13 the first pass: checks (4), the effective user, the wait, the links (3), the barrier and the query (3), /sys.
 *   3 equal default routes: the first datagram of a dump over the socket for queries, and its end (dumps.c). A
 *     dump that begins with another table than "main" is repeated with a strict check. A table of more than a thousand
 *     routes or so is not read to its end: the socket is replaced.
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
#define CALLS        1000

/* Moves the thread to a new namespace with that many routes. Returns a descriptor of the namespace. */
static int make_namespace(unsigned routes)
{
    struct writer writer;
    unsigned index = bench_enter_namespace(&writer);
    int way_back;

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
    SCRunLoopRef loop = SCRunLoopCreate();
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, "198.51.100.1");

    if (!SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode) ||
        SCRunLoopPerform(loop, 0) < 0 ||
        !SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode))
        bench_fail("the target could not be watched: %s", SCErrorString(SCError()));
    SCNetworkReachabilityRelease(target);
    SCRunLoopRelease(loop);
}

static void enter(int namespace)
{
    if (setns(namespace, CLONE_NEWNET) != 0)
        bench_fail("setns: %s", strerror(errno));
}

/* Measures one block: the median of its starts. */
static double measure_start(int namespace)
{
    double times[STARTS];

    enter(namespace);
    start_once();
    for (int i = 0; i < STARTS; i++) {
        const int64_t start = bench_now();

        start_once();
        times[i] = (double)(bench_now() - start);
    }
    return bench_median(times, STARTS);
}

/* A target belongs to the namespace in which it was created. */
static double measure_get_flags(int namespace)
{
    SCNetworkReachabilityRef target;
    SCNetworkReachabilityFlags flags;
    int64_t start;
    double time;

    enter(namespace);
    target = SCNetworkReachabilityCreateWithName(NULL, "198.51.100.1");
    SCNetworkReachabilityGetFlags(target, &flags);
    start = bench_now();
    for (int i = 0; i < CALLS; i++)
        if (!SCNetworkReachabilityGetFlags(target, &flags))
            bench_fail("GetFlags failed: %s", SCErrorString(SCError()));
    time = (double)(bench_now() - start) / CALLS;
    SCNetworkReachabilityRelease(target);
    return time;
}

/* Compares the last namespace, which has the most routes, with the first. */
static bool compare(const char *what, double (*measure)(int namespace), const int *namespaces, unsigned routes,
                    size_t blocks)
{
    double ours[BLOCKS], reference[BLOCKS];
    char title[64];

    for (size_t i = 0; i < blocks; i++) {
        reference[i] = measure(namespaces[0]);
        ours[i] = measure(namespaces[1]);
    }
    snprintf(title, sizeof title, "%s, %u routes", what, routes);
    return bench_report(title, "the same with 10 routes", ours, reference, blocks, 1.05);
}

int main(int argc, char **argv)
{
    const bool is_short = bench_is_short(argc, argv);
    const size_t blocks = is_short ? BLOCKS_SHORT : BLOCKS;
    const unsigned limit = is_short ? MANY_SHORT : MANY;
    int namespaces[2]; /* with the fewest routes, and with the most */
    bool within;

    bench_pin(0);
    for (unsigned routes = FEW; routes <= limit; routes *= 10) {
        const int namespace = make_namespace(routes);

        bench_point("start and stop", routes, measure_start(namespace));
        bench_point("GetFlags", routes, measure_get_flags(namespace));
        namespaces[routes == FEW ? 0 : 1] = namespace;
    }
    within = compare("start and stop", measure_start, namespaces, limit, blocks);
    within = compare("getflags", measure_get_flags, namespaces, limit, blocks) && within;
    return within || is_short ? 0 : 1;
}
