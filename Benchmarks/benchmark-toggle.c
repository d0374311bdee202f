/* SPDX-License-Identifier: MIT */
/*
 * From a default route's deletion or addition to the callback. The reference is the work that no correct listener can
 * avoid: wait for the message, receive it, query behind the RTNL barrier, receive the replies of the barrier and of the
 * query. The default path takes a second query while IPv4 has none.
 *
 * The library's rest beside its system calls, 1 to 3 us, is the index, the round, the two clean-up handlers that let a
 * callback end its thread, and the queue of callbacks.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bare.h"
#include "toggle.h"

#define BLOCKS       41
#define BLOCKS_SHORT 5

#define NO_SUCH_LINK 0x7fffffff

/* ---- The reference ---------------------------------------------------------------------------------------------- */

static struct {
    int epoll, events, requests;
    struct {
        struct nlmsghdr header;
        struct if_stats_msg stats;
    } barrier;
    struct bare_query query, other; /* other: of the other family, if `query` finds nothing; length 0: none */
} bare;

static int open_events(void)
{
    const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

    if (fd < 0 || bind(fd, (const struct sockaddr *)&kernel, sizeof kernel) != 0)
        bench_fail("bare listener: %s", strerror(errno));
    return fd;
}

static void start_bare(const char *name)
{
    static const int groups[] = { RTNLGRP_LINK,       RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE,
                                  RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV4_RULE,   RTNLGRP_IPV6_RULE,   RTNLGRP_NEXTHOP };
    struct epoll_event event = { .events = EPOLLIN };

    bare.epoll = epoll_create1(EPOLL_CLOEXEC);
    bare.events = open_events();
    bare.requests = bare_open();
    if (epoll_ctl(bare.epoll, EPOLL_CTL_ADD, bare.events, &event) != 0)
        bench_fail("bare listener: %s", strerror(errno));
    /* Set after bind(2), which resets them. */
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        setsockopt(bare.events, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &groups[i], sizeof groups[i]);
    bare.barrier.header = (struct nlmsghdr){ .nlmsg_len = sizeof bare.barrier,
                                             .nlmsg_type = RTM_GETSTATS,
                                             .nlmsg_flags = NLM_F_REQUEST };
    bare.barrier.stats = (struct if_stats_msg){ .ifindex = NO_SUCH_LINK };
    /* 0.0.0.0 is the default path: the first address that only a default route should match, and that route itself.
     * When IPv4 has none, IPv6 may have one. */
    if (strcmp(name, "0.0.0.0") == 0) {
        bare.query = bare_make_query(AF_INET, "0.0.0.1", RTM_F_FIB_MATCH);
        bare.other = bare_make_query(AF_INET6, "4000::1", RTM_F_FIB_MATCH);
    } else {
        bare.query = bare_make_query(AF_INET, name, 0);
        bare.other = (struct bare_query){ 0 };
    }
}

static void receive_bare(char reply[4096])
{
    if (recv(bare.requests, reply, 4096, 0) < 0)
        bench_fail("the bare query failed: %s", strerror(errno));
}

static bool query_bare(void)
{
    _Alignas(struct nlmsghdr) char reply[4096];
    struct iovec parts[2] = { { &bare.barrier, sizeof bare.barrier }, { &bare.query, bare.query.header.nlmsg_len } };
    struct msghdr both = { .msg_iov = parts, .msg_iovlen = 2 };

    if (sendmsg(bare.requests, &both, 0) < 0)
        bench_fail("the bare query failed: %s", strerror(errno));
    receive_bare(reply);
    receive_bare(reply);
    if (((const struct nlmsghdr *)reply)->nlmsg_type != RTM_NEWROUTE && bare.other.header.nlmsg_len != 0) {
        if (send(bare.requests, &bare.other, bare.other.header.nlmsg_len, 0) < 0)
            bench_fail("the bare query failed: %s", strerror(errno));
        receive_bare(reply);
    }
    return ((const struct nlmsghdr *)reply)->nlmsg_type == RTM_NEWROUTE;
}

static void wait_bare(bool present)
{
    _Alignas(struct nlmsghdr) char message[4096];
    struct epoll_event event;

    do {
        if (epoll_wait(bare.epoll, &event, 1, -1) < 0 || recv(bare.events, message, sizeof message, 0) < 0)
            bench_fail("the bare listener failed: %s", strerror(errno));
    } while (query_bare() != present);
    toggle_noticed();
}

static void stop_bare(void)
{
    close(bare.epoll);
    close(bare.events);
    close(bare.requests);
}

static const struct listener reference = { start_bare, wait_bare, stop_bare };

static bool compare(const char *title, const char *name, const char *bare_title, size_t blocks, struct writer *writer)
{
    double mine[BLOCKS], theirs[BLOCKS];

    for (size_t i = 0; i < blocks; i++) {
        theirs[i] = toggle_measure(&reference, name, writer);
        mine[i] = toggle_measure(&toggle_ours, name, writer);
    }
    return bench_report(title, bare_title, mine, theirs, blocks, 1.05);
}

static bool measure_all(struct writer *writer, bool is_short)
{
    const size_t blocks = is_short ? BLOCKS_SHORT : BLOCKS;
    bool within;

    bench_check(writer_route(writer, WRITER_ADD, &bench_default_route), "default route");
    within = compare("toggle, an address", "198.51.100.1", "listener, barrier, one query", blocks, writer);
    if (!compare("toggle, default path", "0.0.0.0", "listener, barrier, a query a family", blocks, writer))
        within = false;
    return within;
}

int main(int argc, char **argv)
{
    return bench_run(argc, argv, measure_all);
}
