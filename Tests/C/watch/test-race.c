/* SPDX-License-Identifier: MIT */
/*
 * The kernel sends some messages before it makes the change. A query right after the message may read the old route,
 * and no other message follows. Here a writer on one processor makes changes, and a reader on another queries as soon
 * as it gets a message. It does so in four ways, in turn: with bare sockets, with the library's socket pair without and
 * with its barrier, and with a scheduled target. When all messages are read, its last result is compared with the
 * truth. Without the barrier some results must be stale, or the rounds have shown nothing. With it none may be.
 *
 * The library also evaluates again 5 ms after such a round. The rounds are over before that: only the barrier is
 * tested.
 *
 * The kernel also routes over a link that is up again before it sends the message. A comparison of the new route with
 * the old state of the link would report a loss that did not happen.
 *
 * TEST_RACE_ROUNDS: rounds of each change and each way (default 1500).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "kernel/rtnetlink.h"
#include "support/expect.h"
#include "support/namespace.h"
#include "support/program.h"
#include "support/writer.h"

#define ROUNDS   1500
#define ROUTES   4000 /* in a large table */
#define FAR_AWAY "198.51.100.1"
#define PATIENCE 15 /* seconds for all rounds of one change: a machine that is too slow does fewer */

/* A change that ends a path, and the change that restores it. */
struct change {
    const char *name;
    void (*end)(struct writer *writer);
    void (*restore)(struct writer *writer);
    bool after; /* whether the destination can still be reached when the path has ended */
    bool slow;  /* the kernel takes its time between the last message and the change */
    int  share; /* makes 1/share of the rounds, as each is slow; 0: all */
};

static unsigned link_a, link_c, link_d;

/* ---- The changes ------------------------------------------------------------------------------------------------ */

static void add_address(struct writer *writer)
{
    unit_check(writer_address(writer, WRITER_ADD, link_a, "192.0.2.2/24"), "address");
    unit_check(
        writer_route(writer, WRITER_ADD, &(struct writer_route){ .prefix = "0.0.0.0/0", .gateway = "192.0.2.1" }),
        "default route");
}

/* Without the address the gateway is not on-link, so the kernel deletes the default route. It sends no message. */
static void delete_address(struct writer *writer)
{
    unit_check(writer_address(writer, WRITER_DELETE, link_a, "192.0.2.2/24"), "address");
}

/* In a large table: a route elsewhere carries that address as its source. The kernel looks for such routes in the whole
 * table, sends the message of the first one, and reads the rest before it reaches the default route. */
static void add_address_twice_used(struct writer *writer)
{
    add_address(writer);
    unit_check(writer_route(writer, WRITER_ADD,
                            &(struct writer_route){ .prefix = "9.0.0.0/24", .index = link_c, .source = "192.0.2.2" }),
               "route with a source");
}

static void raise_link(struct writer *writer)
{
    unit_check(writer_link_up(writer, link_a, true), "link up");
    unit_check(
        writer_route(writer, WRITER_REPLACE, &(struct writer_route){ .prefix = "198.51.100.0/24", .index = link_a }),
        "the better route");
}

/* The better route dies with its link, without a message, and the default route over the other link takes over. A
 * reply that names the dead link is stale. */
static void lower_link(struct writer *writer)
{
    unit_check(writer_link_up(writer, link_a, false), "link down");
}

/* The better route is used again when its link is back. There is a route all the time. Meanwhile other changes cause
 * evaluations. */
static void bring_link_back(struct writer *writer)
{
    unit_check(writer_link_up(writer, link_d, true), "link up");
    for (int i = 0; i < 100; i++) {
        unit_check(writer_address(writer, WRITER_ADD, link_a, "10.0.0.1/32"), "address");
        unit_check(writer_address(writer, WRITER_DELETE, link_a, "10.0.0.1/32"), "address");
    }
    namespace_await_running("c", true);
}

static void take_link_away(struct writer *writer)
{
    unit_check(writer_link_up(writer, link_d, false), "link down");
    namespace_await_running("c", false);
}

static const struct change address_deleted = {
    "address deleted from a large table", delete_address, add_address_twice_used, false, true, 0
};
static const struct change link_lowered = {
    "link down, another route takes over", lower_link, raise_link, true, false, 0
};
static const struct change link_back = {
    "link back, its route is used again", bring_link_back, take_link_away, true, false, 10
};

/* ---- The writer's thread ---------------------------------------------------------------------------------------- */

static struct {
    const struct change *change;
    atomic_int           wanted, done; /* rounds */
    atomic_bool          over;
} writing;

static cpu_set_t given; /* the processors that the process may use */

/* Keeps the calling thread on the first or the second of them. */
static void pin(int number)
{
    cpu_set_t one;
    int       processor = -1;

    do
        while (!CPU_ISSET(++processor, &given))
            continue;
    while (number-- > 0);
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    unit_check(sched_setaffinity(0, sizeof one, &one) == 0 ? 0 : errno, "sched_setaffinity");
}

static void *write_changes(void *argument)
{
    pin(0);
    for (int round = 0; !atomic_load(&writing.over);) {
        if (atomic_load(&writing.wanted) == round) {
            sched_yield();
            continue;
        }
        writing.change->end(argument);
        atomic_store(&writing.done, ++round);
    }
    return NULL;
}

/* ---- The ways of reading ---------------------------------------------------------------------------------------- */

/* A result, reduced to what the test compares. */
struct result {
    int      error; /* 0: there is a route */
    uint32_t oif;
};

struct way {
    const char *name;
    void (*start)(void);
    bool (*read_all)(struct result *result); /* reads all messages and queries; false: no messages */
    void (*stop)(void);
    unsigned rounds, stale;
};

static struct {
    int events, requests;
    struct {
        struct nlmsghdr header;
        struct rtmsg    route;
        struct rtattr   attribute;
        struct in_addr  destination;
    } query;
} bare;

static int open_bare(bool receives)
{
    static const int         groups[] = { RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV4_ROUTE };
    const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
    const int                fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

    assert_true(fd >= 0);
    if (!receives) {
        assert_int_equal(connect(fd, (const struct sockaddr *)&kernel, sizeof kernel), 0);
        return fd;
    }
    assert_int_equal(bind(fd, (const struct sockaddr *)&kernel, sizeof kernel), 0);
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        assert_int_equal(setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &groups[i], sizeof groups[i]), 0);
    return fd;
}

static void start_bare(void)
{
    bare.events = open_bare(true);
    bare.requests = open_bare(false);
    memset(&bare.query, 0, sizeof bare.query);
    bare.query.header = (struct nlmsghdr){ .nlmsg_len = sizeof bare.query,
                                           .nlmsg_type = RTM_GETROUTE,
                                           .nlmsg_flags = NLM_F_REQUEST };
    bare.query.route.rtm_family = AF_INET;
    bare.query.route.rtm_dst_len = 32;
    bare.query.attribute = (struct rtattr){ .rta_len = RTA_LENGTH(4), .rta_type = RTA_DST };
    inet_pton(AF_INET, FAR_AWAY, &bare.query.destination);
}

static struct result query_bare(void)
{
    _Alignas(struct nlmsghdr) char reply[4096];
    const struct nlmsghdr         *header = (const struct nlmsghdr *)reply;
    struct result                  result = { 0 };
    ssize_t                        length;
    int                            left;

    bare.query.header.nlmsg_seq++;
    assert_int_equal(send(bare.requests, &bare.query, sizeof bare.query, 0), sizeof bare.query);
    do
        length = recv(bare.requests, reply, sizeof reply, 0);
    while (length > 0 && header->nlmsg_seq != bare.query.header.nlmsg_seq);
    assert_true(length > 0);
    if (header->nlmsg_type == NLMSG_ERROR) {
        result.error = -((const struct nlmsgerr *)NLMSG_DATA(header))->error;
        return result;
    }
    left = (int)RTM_PAYLOAD(header);
    for (const struct rtattr *attribute = RTM_RTA((struct rtmsg *)NLMSG_DATA(header)); RTA_OK(attribute, left);
         attribute = RTA_NEXT(attribute, left))
        if (attribute->rta_type == RTA_OIF)
            memcpy(&result.oif, RTA_DATA(attribute), sizeof result.oif);
    return result;
}

static bool read_bare(struct result *result)
{
    _Alignas(struct nlmsghdr) char message[8192];

    if (recv(bare.events, message, sizeof message, 0) <= 0)
        return false;
    *result = query_bare();
    return true;
}

static void stop_bare(void)
{
    close(bare.events);
    close(bare.requests);
}

static struct rtnetlink rtnetlink;

static void start_rtnetlink(void)
{
    unit_check(rtnetlink_open(&rtnetlink, RTNETLINK_ALL), "rtnetlink");
}

static void note(void *info, const struct message *message)
{
    (void)message;
    *(bool *)info = true;
}

static bool read_rtnetlink(struct result *result, bool barrier)
{
    static const struct route_request request = { .destination = { AF_INET, { 198, 51, 100, 1 } } };
    struct route                      route = { 0 };
    bool                              received = false;
    int                               error = 0;

    assert_int_equal(rtnetlink_drain(&rtnetlink, note, &received, &error), RTNETLINK_NOTHING);
    if (!received)
        return false;
    if (barrier)
        rtnetlink_set_barrier(&rtnetlink);
    result->error = rtnetlink_query(&rtnetlink, &request, &route);
    result->oif = route.oif;
    return true;
}

static bool read_without_barrier(struct result *result)
{
    return read_rtnetlink(result, false);
}

static bool read_with_barrier(struct result *result)
{
    return read_rtnetlink(result, true);
}

static void stop_rtnetlink(void)
{
    rtnetlink_close(&rtnetlink);
}

static struct {
    SCNetworkReachabilityRef   target;
    SCRunLoopRef               loop;
    SCNetworkReachabilityFlags reported;
} scheduled;

static void called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target;
    (void)info;
    scheduled.reported = flags;
}

static void start_target(void)
{
    scheduled.loop = SCRunLoopCreate();
    scheduled.target = expect_target(FAR_AWAY);
    assert_non_null(scheduled.loop);
    assert_true(SCNetworkReachabilitySetCallback(scheduled.target, called, NULL));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(scheduled.target, scheduled.loop, kSCRunLoopDefaultMode));
    scheduled.reported = expect_flags_of(scheduled.target);
}

/* The flags suffice: without a route, or over a dead link, no flag is set. */
static struct result result_from_flags(SCNetworkReachabilityFlags flags)
{
    return (struct result){ .error = (flags & R) != 0 ? 0 : ENETUNREACH,
                            .oif = (flags & R) == 0   ? 0
                                   : (flags & D) != 0 ? link_a
                                                      : link_c };
}

static bool read_target(struct result *result)
{
    const int calls = SCRunLoopPerform(scheduled.loop, 0);

    assert_true(calls >= 0);
    assert_int_equal(scheduled.reported, expect_flags_of(scheduled.target));
    *result = result_from_flags(scheduled.reported);
    return calls > 0;
}

/* A wrong loss counts even if it is corrected later. */
static void remember_loss(struct result *result, const struct result *now)
{
    if (result->error <= 0)
        *result = *now;
}

static bool read_losses(struct result *result)
{
    struct result now;
    const bool    received = read_target(&now);

    remember_loss(result, &now);
    return received;
}

static void stop_target(void)
{
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(scheduled.target, scheduled.loop, kSCRunLoopDefaultMode));
    SCNetworkReachabilityRelease(scheduled.target);
    SCRunLoopRelease(scheduled.loop);
}

/* A target that is not scheduled, with GetFlags in a loop. */
static struct {
    SCNetworkReachabilityRef   target;
    SCNetworkReachabilityFlags flags;
} unscheduled;

static void start_unscheduled(void)
{
    unscheduled.target = expect_target(FAR_AWAY);
}

static bool query_losses(struct result *result)
{
    const SCNetworkReachabilityFlags before = unscheduled.flags;
    struct result                    now;

    unscheduled.flags = expect_flags_of(unscheduled.target);
    now = result_from_flags(unscheduled.flags);
    remember_loss(result, &now);
    return unscheduled.flags != before;
}

static void stop_unscheduled(void)
{
    SCNetworkReachabilityRelease(unscheduled.target);
}

/* ---- Rounds ----------------------------------------------------------------------------------------------------- */

static int rounds_wanted(const struct change *change)
{
    const char *text = getenv("TEST_RACE_ROUNDS");

    if (text != NULL && atoi(text) > 0)
        return atoi(text);
    /* valgrind runs one thread at a time: there is no race. */
    if (unit_is_under("valgrind"))
        return 20;
    return (unit_is_under(NULL) ? ROUNDS / 4 : ROUNDS) / (change->share > 0 ? change->share : 1);
}

/* One round: the writer makes the change while this thread reads. Returns whether the last result is stale. */
static bool is_stale_after(const struct way *way, const struct change *change, int round)
{
    struct result result = { .error = -1 };

    while (way->read_all(&result))
        continue;
    atomic_store(&writing.wanted, round);
    while (atomic_load(&writing.done) != round)
        way->read_all(&result);
    /* The change is done: the kernel has sent all its messages. */
    while (way->read_all(&result))
        continue;
    assert_true(result.error != -1);
    return change->after ? result.error != 0 || result.oif != link_c : result.error == 0;
}

static void run_rounds(const struct change *change, struct way ways[], size_t count)
{
    const int     wanted = rounds_wanted(change);
    const time_t  end = time(NULL) + (getenv("TEST_RACE_ROUNDS") != NULL ? 1000000 : PATIENCE);
    struct writer writer;
    pthread_t     thread;
    int           round = 0;

    unit_check(writer_open(&writer), "writer");
    writing.change = change;
    atomic_store(&writing.wanted, 0);
    atomic_store(&writing.done, 0);
    atomic_store(&writing.over, false);
    assert_int_equal(pthread_create(&thread, NULL, write_changes, &writer), 0);
    /* Only one way at a time has open sockets: messages to the others would slow the kernel down. */
    for (int i = 0; i < wanted && time(NULL) < end; i += 50)
        for (size_t j = 0; j < count; j++) {
            ways[j].start();
            for (int k = 0; k < 50; k++) {
                ways[j].rounds++;
                ways[j].stale += is_stale_after(&ways[j], change, ++round);
                change->restore(&writer);
            }
            ways[j].stop();
        }
    atomic_store(&writing.over, true);
    pthread_join(thread, NULL);
    writer_close(&writer);
    for (size_t j = 0; j < count; j++)
        print_message("%s, %s: %u stale results in %u rounds\n", change->name, ways[j].name, ways[j].stale,
                      ways[j].rounds);
}

static void race(const struct change *change)
{
    struct way ways[] = { { "bare sockets", start_bare, read_bare, stop_bare, 0, 0 },
                          { "the library without the barrier", start_rtnetlink, read_without_barrier, stop_rtnetlink, 0,
                            0 },
                          { "the library with the barrier", start_rtnetlink, read_with_barrier, stop_rtnetlink, 0, 0 },
                          { "a scheduled target", start_target, read_target, stop_target, 0, 0 } };

    run_rounds(change, ways, 4);
    assert_int_equal(ways[2].stale, 0);
    assert_int_equal(ways[3].stale, 0);
    if (unit_is_under(NULL))
        return; /* the tool has checked the code; the plain run proves the rest */
    /* On a fast kernel only the bare way is stale: the library reads messages for longer than the change takes. */
    if (ways[0].stale == 0 || (change->slow && ways[1].stale == 0))
        SKIP("%s: no stale result without the barrier in %u rounds, so nothing is proven", change->name,
             ways[0].rounds);
}

static void begin(void)
{
    namespace_require();
    if (CPU_COUNT(&given) < 2)
        SKIP("a race takes two processors");
    namespace_ip("link set dev lo up");
    namespace_add_pair();
    link_a = writer_index("a");
    pin(1);
}

static void add_second_pair(void)
{
    namespace_ip("link add name c type veth peer name d");
    namespace_ip("link set dev d up");
    namespace_ip("link set dev c up");
    namespace_ip("address add 203.0.113.2/24 dev c");
    namespace_await_running("c", true);
    link_c = writer_index("c");
}

TEST(no_result_is_stale_after_an_address_was_deleted)
{
    struct writer writer;
    char          prefix[32];

    add_second_pair();
    unit_check(writer_open(&writer), "writer");
    unit_check(writer_batch(&writer), "batch");
    for (unsigned i = 0; i < ROUTES; i++) {
        snprintf(prefix, sizeof prefix, "10.%u.%u.0/24", i >> 8, i & 255);
        unit_check(writer_route(&writer, WRITER_ADD, &(struct writer_route){ .prefix = prefix, .index = link_c }),
                   prefix);
    }
    unit_check(writer_flush(&writer), "the large table");
    delete_address(&writer);
    add_address_twice_used(&writer);
    writer_close(&writer);
    race(&address_deleted);
}

TEST(no_result_is_stale_after_a_link_went_down)
{
    add_second_pair();
    namespace_ip("route add default via 203.0.113.1");
    namespace_ip("route add 198.51.100.0/24 dev a");
    race(&link_lowered);
}

TEST(a_link_coming_back_reports_no_loss)
{
    struct way ways[] = { { "a scheduled target", start_target, read_losses, stop_target, 0, 0 },
                          { "an unscheduled target", start_unscheduled, query_losses, stop_unscheduled, 0, 0 } };

    namespace_add_second_pair(); /* with IPv6, which delays the message of the kernel */
    link_c = writer_index("c");
    link_d = writer_index("d");
    namespace_sysctl("net.ipv4.conf.all.ignore_routes_with_linkdown", "1");
    namespace_ip("route add default dev a metric 20");
    namespace_ip("route add default via 203.0.113.1 metric 10");
    namespace_ip("link set dev d down");
    namespace_await_running("c", false);
    run_rounds(&link_back, ways, 2);
    assert_int_equal(ways[0].stale, 0);
    assert_int_equal(ways[1].stale, 0);
}

static void start(void)
{
    MUST(sched_getaffinity(0, sizeof given, &given) == 0);
}

UNIT(.setup = begin, .start = start)
