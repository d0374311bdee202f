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
#include "kernel/rtnetlink.h"
#include "support/race.h"
#include "support/test.h"

#define ROUNDS     1500
#define TIME_LIMIT 15 /* seconds for all rounds of one change: a machine that is too slow does fewer */

static unsigned link_d;

/* ---- The changes ------------------------------------------------------------------------------------------------ */

/* The better route is used again when its link is back. There is a route all the time. Meanwhile other changes cause
 * evaluations. */
static void bring_link_back(struct writer *writer)
{
    unit_check(writer_link_up(writer, link_d, true), "link up");
    for (int i = 0; i < 100; i++) {
        unit_check(writer_address(writer, WRITER_ADD, race_link, "10.0.0.1/32"), "address");
        unit_check(writer_address(writer, WRITER_DELETE, race_link, "10.0.0.1/32"), "address");
    }
    namespace_await_running("c", true);
}

static void take_link_away(struct writer *writer)
{
    unit_check(writer_link_up(writer, link_d, false), "link down");
    namespace_await_running("c", false);
    /* For a moment, the kernel still routes over the link, which is down: a loss that did happen. It ends before
     * another change can begin. */
    unit_check(writer_address(writer, WRITER_ADD, race_link, "10.0.0.1/32"), "address");
    unit_check(writer_address(writer, WRITER_DELETE, race_link, "10.0.0.1/32"), "address");
}

static const struct race_change link_back = {
    "link back, its route is used again", bring_link_back, take_link_away, true, false, 10
};

/* ---- The ways of reading ---------------------------------------------------------------------------------------- */

/* A result, reduced to what the test compares. */
struct result {
    int error; /* 0: there is a route */
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
        struct rtmsg route;
        struct rtattr attribute;
        struct in_addr destination;
    } query;
} bare;

static int open_bare(bool receives)
{
    static const int groups[] = { RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV4_ROUTE };
    const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

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
    inet_pton(AF_INET, RACE_FAR_AWAY, &bare.query.destination);
}

static struct result query_bare(void)
{
    _Alignas(struct nlmsghdr) char reply[4096];
    const struct nlmsghdr *header = (const struct nlmsghdr *)reply;
    struct result result = { 0 };
    ssize_t length;

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
    int left = (int)RTM_PAYLOAD(header);
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
    unit_check(reach_rtnetlink_open(&rtnetlink, RTNETLINK_ALL, NULL), "rtnetlink");
}

static void note(void *info, const struct message *message)
{
    (void)message;
    *(bool *)info = true;
}

static bool read_rtnetlink(struct result *result, bool barrier)
{
    static const struct route_request request = { .destination = { AF_INET, { 198, 51, 100, 1 } } };
    struct route route = { 0 };
    bool received = false;
    int error = 0;

    assert_int_equal(reach_rtnetlink_drain(&rtnetlink, note, &received, &error), RTNETLINK_NOTHING);
    if (!received)
        return false;
    if (barrier)
        reach_rtnetlink_set_barrier(&rtnetlink);
    result->error = reach_rtnetlink_query(&rtnetlink, &request, &route);
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
    reach_rtnetlink_close(&rtnetlink);
}

static struct {
    SCNetworkReachabilityRef target;
    SCRunLoopRef loop;
    SCNetworkReachabilityFlags reported;
} scheduled;

static void called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)info;
    scheduled.reported = flags;
}

static void start_target(void)
{
    scheduled.loop = SCRunLoopCreate();
    scheduled.target = expect_target(RACE_FAR_AWAY);
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
                                   : (flags & D) != 0 ? race_link
                                                      : race_other_link };
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
    const bool received = read_target(&now);

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
    SCNetworkReachabilityRef target;
    SCNetworkReachabilityFlags flags;
} unscheduled;

static void start_unscheduled(void)
{
    unscheduled.target = expect_target(RACE_FAR_AWAY);
}

static bool query_losses(struct result *result)
{
    const SCNetworkReachabilityFlags before = unscheduled.flags;

    unscheduled.flags = expect_flags_of(unscheduled.target);
    struct result now = result_from_flags(unscheduled.flags);
    remember_loss(result, &now);
    return unscheduled.flags != before;
}

static void stop_unscheduled(void)
{
    SCNetworkReachabilityRelease(unscheduled.target);
}

/* ---- Rounds ----------------------------------------------------------------------------------------------------- */

static int rounds_wanted(const struct race_change *change)
{
    const char *text = getenv("TEST_RACE_ROUNDS");

    if (text != NULL && atoi(text) > 0)
        return atoi(text);
    /* valgrind runs one thread at a time: there is no race. */
    if (unit_is_under("valgrind"))
        return 20;
    return (unit_is_under(NULL) ? ROUNDS / 12 : ROUNDS) / (change->share > 0 ? change->share : 1);
}

/* One round: the writer makes the change while this thread reads. Returns whether the last result is stale. */
static bool is_stale_after(const struct way *way, const struct race_change *change)
{
    struct result before = { .error = -1 }, result = before;

    while (way->read_all(&before))
        continue;
    race_begin_round();
    while (!race_is_round_done())
        way->read_all(&result);
    /* The change is done: the kernel has sent all its messages. */
    while (way->read_all(&result))
        continue;
    assert_true(result.error != -1);
    return change->after ? result.error != 0 || result.oif != race_other_link : result.error == 0;
}

static void run_rounds(const struct race_change *change, struct way ways[], size_t count)
{
    const int wanted = rounds_wanted(change);
    const time_t end = time(NULL) + (getenv("TEST_RACE_ROUNDS") != NULL ? 1000000 : TIME_LIMIT);
    struct writer writer;

    race_open(change, &writer);
    /* Only one way at a time has open sockets: messages to the others would slow the kernel down. */
    for (int i = 0; i < wanted && time(NULL) < end; i += 50)
        for (size_t j = 0; j < count; j++) {
            ways[j].start();
            for (int k = 0; k < 50; k++) {
                ways[j].rounds++;
                ways[j].stale += is_stale_after(&ways[j], change);
                change->restore(&writer);
            }
            ways[j].stop();
        }
    race_close(&writer);
    for (size_t j = 0; j < count; j++)
        print_message("%s, %s: %u stale results in %u rounds\n", change->name, ways[j].name, ways[j].stale,
                      ways[j].rounds);
}

static void race(const struct race_change *change)
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

TEST(no_result_is_stale_after_an_address_was_deleted)
{
    race_prepare_address_deleted();
    race(&race_address_deleted);
}

TEST(no_result_is_stale_after_a_link_went_down)
{
    race_prepare_link_lowered();
    race(&race_link_lowered);
}

TEST(a_link_coming_back_reports_no_loss)
{
    struct way ways[] = { { "a scheduled target", start_target, read_losses, stop_target, 0, 0 },
                          { "an unscheduled target", start_unscheduled, query_losses, stop_unscheduled, 0, 0 } };

    namespace_add_second_pair(); /* with IPv6, which delays the message of the kernel */
    race_other_link = writer_index("c");
    link_d = writer_index("d");
    namespace_sysctl("net.ipv4.conf.c.ignore_routes_with_linkdown", "1");
    namespace_ip("route add default dev a metric 20; route add default via 203.0.113.1 metric 10");
    namespace_set_carrier("c", "d", false);
    run_rounds(&link_back, ways, 2);
    assert_int_equal(ways[0].stale, 0);
    assert_int_equal(ways[1].stale, 0);
}

UNIT(.setup = race_require, .start = race_start)
