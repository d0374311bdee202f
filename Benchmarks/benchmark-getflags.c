/* SPDX-License-Identifier: MIT */
/*
 * GetFlags of an address target, warm. Unscheduled, the reference is the work that no library can avoid: send one
 * RTM_GETROUTE and receive the reply, on a connected socket, and parse nothing but the type of the reply. Scheduled, it
 * is a function that loads one atomic.
 */
#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <reachability/reachability.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

#define BLOCKS       41
#define BLOCKS_SHORT 5
#define CALLS        2000
#define LOADS        1000000

struct query {
    struct nlmsghdr header;
    struct rtmsg    route;
    struct rtattr   attribute;
    unsigned char   destination[16];
};

static int open_bare(void)
{
    const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
    const int                fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

    if (fd < 0 || connect(fd, (const struct sockaddr *)&kernel, sizeof kernel) != 0)
        bench_fail("bare netlink socket");
    return fd;
}

static struct query make_query(int family, const char *destination)
{
    const unsigned short length = family == AF_INET ? 4 : 16;
    struct query         query = { .header = { .nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST },
                                   .route = { .rtm_family = (unsigned char)family },
                                   .attribute = { .rta_type = RTA_DST } };

    query.route.rtm_dst_len = (unsigned char)(length * 8);
    query.attribute.rta_len = (unsigned short)RTA_LENGTH(length);
    query.header.nlmsg_len = (uint32_t)(NLMSG_LENGTH(sizeof query.route) + query.attribute.rta_len);
    inet_pton(family, destination, query.destination);
    return query;
}

static double query_bare(int fd, struct query *query)
{
    const int64_t start = bench_now();

    for (int i = 0; i < CALLS; i++) {
        _Alignas(struct nlmsghdr) char reply[4096];

        query->header.nlmsg_seq++;
        if (send(fd, query, query->header.nlmsg_len, 0) < 0 || recv(fd, reply, sizeof reply, 0) < 0 ||
            ((const struct nlmsghdr *)reply)->nlmsg_type != RTM_NEWROUTE)
            bench_fail("the bare query failed");
    }
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
    struct query             query = make_query(family, destination);
    const int                fd = open_bare();
    double                   ours[BLOCKS], reference[BLOCKS];
    bool                     within;

    query_bare(fd, &query);
    measure_library(target);
    for (size_t i = 0; i < blocks; i++) {
        reference[i] = query_bare(fd, &query);
        ours[i] = measure_library(target);
    }
    within = bench_report(name, "a bare RTM_GETROUTE", ours, reference, blocks, 1.15);
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
    const int64_t              start = bench_now();
    SCNetworkReachabilityFlags flags;

    for (int i = 0; i < LOADS; i++)
        load(&word, &flags);
    return (double)(bench_now() - start) / LOADS;
}

static double measure_scheduled(SCBoolean (*volatile get)(SCNetworkReachabilityRef, SCNetworkReachabilityFlags *),
                                SCNetworkReachabilityRef target)
{
    const int64_t              start = bench_now();
    SCNetworkReachabilityFlags flags;

    for (int i = 0; i < LOADS; i++)
        get(target, &flags);
    return (double)(bench_now() - start) / LOADS;
}

static bool compare_scheduled(size_t blocks)
{
    SCRunLoopRef             loop = SCRunLoopCreate();
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, "198.51.100.1");
    double                   ours[BLOCKS], reference[BLOCKS];

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

int main(int argc, char **argv)
{
    const bool    is_short = bench_is_short(argc, argv);
    const size_t  blocks = is_short ? BLOCKS_SHORT : BLOCKS;
    struct writer writer;
    bool          within;

    bench_pin(0);
    bench_enter_namespace(&writer);
    bench_check(writer_route(&writer, WRITER_ADD, &bench_default_route), "default route");
    bench_check(writer_route(&writer, WRITER_ADD, &(struct writer_route){ .prefix = "::/0", .gateway = "2001:db8::1" }),
                "IPv6 default route");
    within = measure("getflags", AF_INET, "198.51.100.1", blocks);
    within = measure("getflags (IPv6)", AF_INET6, "2001:db8:1::1", blocks) && within;
    within = compare_scheduled(blocks) && within;
    writer_close(&writer);
    return within || is_short ? 0 : 1;
}
