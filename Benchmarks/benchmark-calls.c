/* SPDX-License-Identifier: MIT */
/*
 * What a call costs beside the system calls that it cannot avoid: Create and Release beside one stat of the namespace's
 * file, Schedule beside a query.
 */
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bare.h"
#include "watched.h"

#define BLOCKS       41
#define BLOCKS_SHORT 5
#define CALLS        1000

static double measure_stat(void)
{
    const int64_t start = bench_now();
    struct stat status;

    for (int i = 0; i < CALLS; i++)
        if (stat("/proc/thread-self/ns/net", &status) != 0)
            bench_fail("the namespace's file cannot be read");
    return (double)(bench_now() - start) / CALLS;
}

static double measure_create(void)
{
    const int64_t start = bench_now();

    for (int i = 0; i < CALLS; i++)
        SCNetworkReachabilityRelease(SCNetworkReachabilityCreateWithName(NULL, "198.51.100.1"));
    return (double)(bench_now() - start) / CALLS;
}

/* While another target of the namespace exists: the first one opens the socket that they share. */
static bool compare_create(size_t blocks)
{
    SCNetworkReachabilityRef other = SCNetworkReachabilityCreateWithName(NULL, "127.0.0.1");
    double ours[BLOCKS], reference[BLOCKS];

    for (size_t i = 0; i < blocks; i++) {
        reference[i] = measure_stat();
        ours[i] = measure_create();
    }
    SCNetworkReachabilityRelease(other);
    return bench_report("create, release", "a stat of the namespace's file", ours, reference, blocks, 1.1);
}

/* `queries`: as many as the kernel must get for a scheduled target of the family. */
static double measure_queries(int fd, struct bare_query queries[2], int count)
{
    const int64_t start = bench_now();

    for (int i = 0; i < CALLS; i++)
        for (int j = 0; j < count; j++)
            bare_query(fd, &queries[j]);
    return (double)(bench_now() - start) / CALLS;
}

/* Not the time of Unschedule. */
static double measure_schedule(SCRunLoopRef loop, SCNetworkReachabilityRef targets[CALLS])
{
    const int64_t start = bench_now();
    int64_t end;

    for (int i = 0; i < CALLS; i++)
        if (!SCNetworkReachabilityScheduleWithRunLoop(targets[i], loop, kSCRunLoopDefaultMode))
            bench_fail("a target could not be scheduled: %s", SCErrorString(SCError()));
    end = bench_now();
    for (int i = 0; i < CALLS; i++)
        SCNetworkReachabilityUnscheduleFromRunLoop(targets[i], loop, kSCRunLoopDefaultMode);
    return (double)(end - start) / CALLS;
}

static bool compare_schedule(const char *title, const char *reference_title, int family, const char *address,
                             size_t blocks)
{
    const int fd = bare_open();
    const int count = family == AF_INET6 ? 2 : 1;
    SCRunLoopRef loop = SCRunLoopCreate();
    SCNetworkReachabilityRef targets[CALLS], other = SCNetworkReachabilityCreateWithName(NULL, "127.0.0.1");
    struct bare_query queries[2] = { bare_make_query(family, address, 0),
                                     bare_make_query(family, address, RTM_F_FIB_MATCH) };
    double ours[BLOCKS], reference[BLOCKS];

    /* The first target of a loop also opens the monitor. */
    SCNetworkReachabilityScheduleWithRunLoop(other, loop, kSCRunLoopDefaultMode);
    for (int i = 0; i < CALLS; i++)
        targets[i] = SCNetworkReachabilityCreateWithName(NULL, address);
    for (size_t i = 0; i < blocks; i++) {
        reference[i] = measure_queries(fd, queries, count);
        ours[i] = measure_schedule(loop, targets);
    }
    for (int i = 0; i < CALLS; i++)
        SCNetworkReachabilityRelease(targets[i]);
    SCNetworkReachabilityUnscheduleFromRunLoop(other, loop, kSCRunLoopDefaultMode);
    SCNetworkReachabilityRelease(other);
    SCRunLoopRelease(loop);
    close(fd);
    return bench_report(title, reference_title, ours, reference, blocks, 1.15);
}

static bool measure_all(struct writer *writer, bool is_short)
{
    const size_t blocks = is_short ? BLOCKS_SHORT : BLOCKS;
    bool within;

    watched_toggle(writer, true);
    bench_check(writer_route(writer, WRITER_ADD, &bench_ipv6_default_route), "IPv6 default route");
    within = compare_create(blocks);
    within = compare_schedule("schedule", "a bare RTM_GETROUTE", AF_INET, "198.51.100.1", blocks) && within;
    within = compare_schedule("schedule (IPv6)", "two bare RTM_GETROUTE", AF_INET6, "2001:db8:1::1", blocks) && within;
    return within;
}

int main(int argc, char **argv)
{
    return bench_run(argc, argv, measure_all);
}
