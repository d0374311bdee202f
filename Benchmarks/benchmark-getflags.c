/* SPDX-License-Identifier: MIT */
/*
 * GetFlags of an address target, warm. Unscheduled, the reference is the work that no library can avoid: send one
 * RTM_GETROUTE and receive the reply, on a connected socket, and parse nothing but the type of the reply. Scheduled, it
 * is a function that loads one atomic.
 *
 * Unscheduled, the library adds fcntl(2) and geteuid(2), as any call of the program between two queries can close
 * descriptors or change the user, and the kernel announces neither; the sender's address, as only the kernel is
 * believed (recvfrom(2) takes 0.06 us more than recv(2)); and 1,800 instructions (callgrind), of which a quarter parses
 * the reply. With link-time optimization the ratio is 1.25 in place of 1.26 to 1.28.
 */
#include <arpa/inet.h>
#include <reachability/reachability.h>
#include <stdatomic.h>
#include <unistd.h>

#include "bare.h"
#include "bench.h"

#define BLOCKS       41
#define BLOCKS_SHORT 5
#define CALLS        2000
#define LOADS        1000000

static double query_bare(int fd, struct bare_query *query)
{
    const int64_t start = bench_now();

    for (int i = 0; i < CALLS; i++)
        bare_query(fd, query);
    return (double)(bench_now() - start) / CALLS;
}

static double measure_library(SCNetworkReachabilityRef target)
{
    const int64_t start = bench_now();

    for (int i = 0; i < CALLS; i++) {
        SCNetworkReachabilityFlags flags;

        if (!SCNetworkReachabilityGetFlags(target, &flags) || (flags & kSCNetworkReachabilityFlagsReachable) == 0)
            bench_fail("GetFlags failed");
    }
    return (double)(bench_now() - start) / CALLS;
}

static bool measure(const char *name, int family, const char *destination, size_t blocks)
{
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, destination);
    struct bare_query query = bare_make_query(family, destination, 0);
    const int fd = bare_open();
    double ours[BLOCKS], reference[BLOCKS];
    bool within;

    query_bare(fd, &query);
    measure_library(target);
    for (size_t i = 0; i < blocks; i++) {
        reference[i] = query_bare(fd, &query);
        ours[i] = measure_library(target);
    }
    within = bench_report(name, "a bare RTM_GETROUTE", ours, reference, blocks, 1.10);
    SCNetworkReachabilityRelease(target);
    close(fd);
    return within;
}

static _Atomic uint64_t word = kSCNetworkReachabilityFlagsReachable;

__attribute__((noinline)) static SCBoolean load_word(const _Atomic uint64_t *from, SCNetworkReachabilityFlags *flags)
{
    *flags = (SCNetworkReachabilityFlags)atomic_load_explicit(from, memory_order_acquire);
    return 1;
}

/* Both are called by a pointer, as a function of a shared library is. */
static double measure_load(SCBoolean (*volatile load)(const _Atomic uint64_t *, SCNetworkReachabilityFlags *))
{
    const int64_t start = bench_now();
    SCNetworkReachabilityFlags flags;

    for (int i = 0; i < LOADS; i++)
        load(&word, &flags);
    return (double)(bench_now() - start) / LOADS;
}

static double measure_scheduled(SCBoolean (*volatile get)(SCNetworkReachabilityRef, SCNetworkReachabilityFlags *),
                                SCNetworkReachabilityRef target)
{
    const int64_t start = bench_now();
    SCNetworkReachabilityFlags flags;

    for (int i = 0; i < LOADS; i++)
        get(target, &flags);
    return (double)(bench_now() - start) / LOADS;
}

static bool compare_scheduled(size_t blocks)
{
    SCRunLoopRef loop = SCRunLoopCreate();
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, "198.51.100.1");
    double ours[BLOCKS], reference[BLOCKS];

    if (!SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode) || SCRunLoopPerform(loop, 0) < 0)
        bench_fail("the target could not be scheduled: %s", SCErrorString(SCError()));
    for (size_t i = 0; i < blocks; i++) {
        reference[i] = measure_load(load_word);
        ours[i] = measure_scheduled(SCNetworkReachabilityGetFlags, target);
    }
    SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode);
    SCNetworkReachabilityRelease(target);
    SCRunLoopRelease(loop);
    return bench_report("getflags, scheduled", "a function with one load", ours, reference, blocks, 1.5);
}

static bool measure_all(struct writer *writer, bool is_short)
{
    const size_t blocks = is_short ? BLOCKS_SHORT : BLOCKS;
    bool within;

    bench_check(writer_route(writer, WRITER_ADD, &bench_default_route), "default route");
    bench_check(writer_route(writer, WRITER_ADD, &bench_ipv6_default_route), "IPv6 default route");
    within = measure("getflags", AF_INET, "198.51.100.1", blocks);
    within = measure("getflags (IPv6)", AF_INET6, "2001:db8:1::1", blocks) && within;
    within = compare_scheduled(blocks) && within;
    return within;
}

int main(int argc, char **argv)
{
    return bench_run(argc, argv, measure_all);
}
