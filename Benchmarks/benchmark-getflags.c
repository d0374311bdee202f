/* SPDX-License-Identifier: MIT */
/*
 * GetFlags of an unscheduled address target, warm. The reference is the work that no library can avoid: send one
 * RTM_GETROUTE and receive the reply, on a connected socket, and parse nothing but the type of the reply.
 */
#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <reachability/reachability.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

#define BLOCKS       41
#define BLOCKS_SHORT 5
#define CALLS        2000

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
    writer_close(&writer);
    return within || is_short ? 0 : 1;
}
