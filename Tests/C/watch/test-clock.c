/* SPDX-License-Identifier: MIT */
/*
 * Evaluations that the clock starts: shortly after changes that the kernel may not have finished, when an IPv6 route
 * expires, and after failed queries. The test has its own clock, which stands still between two passes. A timer fires
 * at once, and the clock then decides what is due. The calls are wrapped at link time.
 */
#include <sys/timerfd.h>

#include "support/limits.h"
#include "support/router.h"
#include "support/sweeps.h"
#include "support/test.h"

static int64_t start_is;   /* nanoseconds: the time 0 of a test */
static int64_t now_is;     /* the same */
static int64_t send_takes; /* the same; each send moves the clock */
static int send_error;     /* an errno; 0: sends work */
static unsigned sends;
static bool loses_next;   /* the next message about a /24 is lost, and the receive reports a loss */
static bool routes_ended; /* the kernel replies that there is no IPv6 route */
static unsigned ticks;    /* until an IPv6 route expires, in replies of the kernel */

WRAP(int, clock_gettime, clockid_t clock, struct timespec *now)
{
    (void)clock;
    now->tv_sec = now_is / (1000 * MILLISECOND);
    now->tv_nsec = now_is % (1000 * MILLISECOND);
    return 0;
}

WRAP(int, timerfd_settime, int fd, int flags, const struct itimerspec *value, struct itimerspec *old)
{
    const struct itimerspec at_once = { .it_value = { .tv_nsec = 1 } };
    const bool is_set = value->it_value.tv_sec != 0 || value->it_value.tv_nsec != 0;

    return __real_timerfd_settime(fd, flags, is_set ? &at_once : value, old);
}

WRAP(ssize_t, send, int fd, const void *bytes, size_t length, int flags)
{
    sends++;
    now_is += send_takes;
    if (send_error == 0)
        return __real_send(fd, bytes, length, flags);
    errno = send_error;
    return -1;
}

WRAP(ssize_t, recvfrom, int fd, void *bytes, size_t size, int flags, struct sockaddr *from, socklen_t *length)
{
    const ssize_t got = __real_recvfrom(fd, bytes, size, flags, from, length);
    struct nlmsghdr *header = bytes;
    struct rtmsg *route = NLMSG_DATA(header);

    if (got < (ssize_t)NLMSG_LENGTH(sizeof *route) || header->nlmsg_type != RTM_NEWROUTE)
        return got;
    if (loses_next && route->rtm_dst_len == 24) {
        loses_next = false;
        errno = ENOBUFS;
        return -1;
    }
    if (route->rtm_family != AF_INET6 || (header->nlmsg_flags & NLM_F_MULTI) != 0) /* a dump has several routes */
        return got;
    if (routes_ended) {
        header->nlmsg_type = NLMSG_ERROR;
        *(int *)NLMSG_DATA(header) = -ENETUNREACH;
        return got;
    }
    if (route->rtm_dst_len == 128) /* the reply to a plain query: it has no lifetime */
        return got;
    int left = (int)RTM_PAYLOAD(header);
    for (struct rtattr *attribute = RTM_RTA(route); RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left))
        if (attribute->rta_type == RTA_CACHEINFO)
            ((struct rta_cacheinfo *)RTA_DATA(attribute))->rta_expires = (int)ticks;
    return got;
}

static struct watcher watcher;

/* Makes one pass at this time, in milliseconds from the start. Returns how many evaluations of the target it made. */
static unsigned long pass_at(double milliseconds)
{
    const unsigned long before = expect_counters_of(watcher.target).evaluations;

    now_is = start_is + (int64_t)(milliseconds * (double)MILLISECOND);
    assert_int_equal(SCRunLoopPerform(watcher.loop, 0), 0);
    return expect_counters_of(watcher.target).evaluations - before;
}

static void begin_with(const char *address)
{
    now_is = start_is = 1000 * SECOND;
    send_takes = 0;
    send_error = 0;
    routes_ended = false;
    namespace_require();
    namespace_add_pair();
    watcher_start(&watcher, expect_target(address));
}

static void begin(void)
{
    begin_with("192.0.2.9");
}

/* One message about a link. */
static void touch_link(void)
{
    static unsigned count;

    namespace_ip("link set dev a alias a%u", count++);
}

static void touch_link_at(double milliseconds)
{
    touch_link();
    assert_int_equal(pass_at(milliseconds), 1);
}

/* ---- The second evaluation -------------------------------------------------------------------------------------- */

TEST(a_link_change_is_evaluated_again_after_5_ms)
{
    begin();
    assert_int_equal(pass_at(0), 0);
    touch_link_at(1);
    assert_int_equal(pass_at(5.999), 0);
    assert_int_equal(pass_at(6), 1);
    assert_int_equal(pass_at(7), 0);
    assert_int_equal(pass_at(1000), 0);
}

/* Only with several targets does the monitor read what it needs to know which answers a link affects. */
TEST(an_answer_that_a_link_affects_is_evaluated_again_after_5_ms)
{
    begin();
    SCOPED_TARGET other = expect_target("192.0.2.10");
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(other, watcher.loop, kSCRunLoopDefaultMode));
    (void)pass_at(0);
    touch_link_at(1);
    assert_int_equal(pass_at(5.999), 0);
    assert_int_equal(pass_at(6), 1);
    assert_int_equal(pass_at(1000), 0);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(other, watcher.loop, kSCRunLoopDefaultMode));
}

TEST(lost_messages_cause_a_second_evaluation_too)
{
    begin();
    assert_int_equal(pass_at(0), 0);
    namespace_ip("route add 203.0.113.0/24 via 192.0.2.1");
    loses_next = true;
    assert_int_equal(pass_at(1), 1);
    assert_false(loses_next);
    assert_int_equal(pass_at(5.999), 0);
    assert_int_equal(pass_at(6), 1);
    assert_int_equal(pass_at(100), 0);
}

TEST(each_change_postpones_the_second_evaluation)
{
    begin();
    touch_link_at(0);
    touch_link_at(4);
    assert_int_equal(pass_at(8.9), 0);
    assert_int_equal(pass_at(9), 1);
    assert_int_equal(pass_at(100), 0);
}

TEST(changes_postpone_the_second_evaluation_by_50_ms_at_most)
{
    begin();
    for (int round = 0; round < 2; round++) { /* the second stream has 50 ms of its own */
        const double start = round * 50;

        for (int i = 0; i <= 12; i++)
            touch_link_at(start + 4 * i);
        assert_int_equal(pass_at(start + 49.999), 0);
        assert_int_equal(pass_at(start + 50), 1);
    }
    assert_int_equal(pass_at(102.999), 0);
    assert_int_equal(pass_at(105), 1); /* the last change was made 2 ms before that */
    assert_int_equal(pass_at(1000), 0);
}

/* A round of many targets takes longer than these delays. Here one send does. */
static void touch_link_in_long_round_at(double milliseconds, int64_t round_takes)
{
    send_takes = round_takes * MILLISECOND;
    touch_link_at(milliseconds);
    send_takes = 0;
}

TEST(the_second_evaluation_comes_5_ms_after_the_end_of_a_long_round)
{
    begin();
    touch_link_in_long_round_at(0, 20);
    assert_int_equal(pass_at(20), 0);
    assert_int_equal(pass_at(24.999), 0);
    assert_int_equal(pass_at(25), 1);
    assert_int_equal(pass_at(1000), 0);
}

/* 50 ms after the end of the first round is the limit. */
TEST(several_long_rounds_do_not_postpone_the_second_evaluation)
{
    begin();
    touch_link_in_long_round_at(0, 100);
    touch_link_in_long_round_at(101, 100);
    assert_int_equal(pass_at(201), 1);
    assert_int_equal(pass_at(206), 0);
    touch_link_at(207); /* the limit of 50 ms has begun again */
    assert_int_equal(pass_at(212), 1);
}

TEST(a_route_change_is_evaluated_once)
{
    begin();
    namespace_ip("route add 192.0.2.8/30 dev a");
    assert_int_equal(pass_at(0), 1);
    assert_int_equal(pass_at(1000), 0);
}

/* ---- Expiring routes -------------------------------------------------------------------------------------------- */

/* The unit is hundredths of a second. The kernel rounds the value down twice. */
static void begin_with_expiry_after(unsigned hundredths)
{
    ticks = hundredths;
    begin_with("2001:db8::9");
}

/* For a minute: a router can bring the route back. */
static void expect_looks_every_5_s_from(double milliseconds)
{
    const double last = milliseconds + 12 * 5000;

    for (; milliseconds < last; milliseconds += 5000) {
        assert_int_equal(pass_at(milliseconds - 0.001), 0);
        assert_int_equal(pass_at(milliseconds), 1);
    }
    assert_int_equal(pass_at(4e6), 0);
}

TEST(an_expired_route_is_evaluated_again)
{
    begin_with_expiry_after(100);
    assert_int_equal(pass_at(1009), 0); /* it may exist until then */
    ticks = 0;
    assert_int_equal(pass_at(1050), 1);
    assert_int_equal(pass_at(1100), 1); /* that may have been the last tick of another route */
    expect_looks_every_5_s_from(5000);
}

static const struct {
    const char *name;
    unsigned expiry;
    double touched; /* the link, when the kernel reports `left`; 0: not */
    unsigned left;
    struct {
        double at;
        unsigned evaluations;
    } passes[2];
} expiries[] = {
    /* At 250 Hz, if the kernel reports 100 ticks at time 0, the route may expire at 1.001 s. The kernel reports 0 ticks
     * in the last 12 ms. */
    { "about_to_expire_and_reported_as_permanent", 100, 989, 0, { { 1050, 1 }, { 4999, 0 } } },
    /* The target may have been scheduled in these last milliseconds. */
    { "permanent_and_confirmed_by_a_second_query", 0, 0, 0, { { 100, 1 }, { 4999, 0 } } },
    { "renewed_and_evaluated_at_its_new_expiry", 100, 500, 200, { { 2500, 0 }, { 2550, 1 } } },
    /* It may have been evaluated in its last tick. */
    { "made_permanent_and_confirmed_by_a_second_query", 100, 500, 0, { { 600, 1 }, { 4999, 0 } } },
};

TEST_EACH(a_route_is, expiries)
{
    begin_with_expiry_after(row->expiry);
    if (row->touched > 0) {
        ticks = row->left;
        touch_link_at(row->touched);
        assert_int_equal(pass_at(row->touched + 5), 1); /* the second evaluation */
    }
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pass_at(row->passes[i].at), row->passes[i].evaluations);
}

/* ---- Routes whose lifetime can change --------------------------------------------------------------------------- */

/* The monitor looks at every such route, once every 5 s: a plain query and one for the lifetime. All targets behind it
 * get the result. */
#define LOOK_QUERIES 2

#define MANY 50

static SCNetworkReachabilityRef many[MANY];

static void release_many(void *unused)
{
    (void)unused;
    for (size_t i = 0; i < MANY; i++) {
        SCNetworkReachabilityUnscheduleFromRunLoop(many[i], watcher.loop, kSCRunLoopDefaultMode);
        SCNetworkReachabilityRelease(many[i]);
    }
}

/* Makes one pass at this time. Returns the number of queries. */
static unsigned long queries_at(double milliseconds)
{
    const unsigned long before = expect_counters_of(watcher.target).queries;

    now_is = start_is + (int64_t)(milliseconds * (double)MILLISECOND);
    assert_true(SCRunLoopPerform(watcher.loop, 0) >= 0);
    return expect_counters_of(watcher.target).queries - before;
}

/* Schedules more targets, in a number of networks. Then all look at the same time, each second one of 5 s on: the first
 * target could not share before there were others. */
static void begin_with_many(unsigned networks)
{
    char address[40];

    begin_with_expiry_after(100000);
    for (unsigned network = 1; network < networks; network++)
        namespace_ip("-6 route add 2001:db8:0:%x::/64 dev a", network);
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(address, sizeof address, "2001:db8:0:%x::%x", i % networks, 10 + i);
        many[i] = expect_target(address);
        assert_true(SCNetworkReachabilityScheduleWithRunLoop(many[i], watcher.loop, kSCRunLoopDefaultMode));
    }
    unit_defer(release_many, NULL);
    (void)queries_at(0);
    (void)queries_at(100);
    for (double time = 5000; time <= 70000; time += 5000) /* more sweeps follow the first answers */
        (void)queries_at(time);
    start_is += 65 * SECOND;
}

TEST(a_lifetime_is_read_again_every_5_s_once_for_all_targets)
{
    begin_with_many(1);
    for (double time = 10000; time < 60000; time += 5000) {
        assert_int_equal(queries_at(time - 0.001), 0);
        assert_int_equal(queries_at(time), LOOK_QUERIES);
    }
}

TEST(a_lifetime_is_read_again_once_for_each_route)
{
    begin_with_many(3);
    assert_int_equal(queries_at(10000), 3 * LOOK_QUERIES);
    assert_int_equal(queries_at(15000), 3 * LOOK_QUERIES);
}

TEST(a_renewed_lifetime_costs_one_evaluation_every_5_s)
{
    begin_with_many(1);
    ticks = 700; /* always: each advertisement renews it */
    for (double time = 10000; time < 60000; time += 5000)
        assert_int_equal(queries_at(time), LOOK_QUERIES);
}

TEST(every_target_is_evaluated_when_its_route_has_ended)
{
    begin_with_many(1);
    ticks = 100;
    assert_int_equal(queries_at(10000), LOOK_QUERIES);
    assert_int_equal(queries_at(11009), 0);
    routes_ended = true;
    assert_in_range(queries_at(11050), 1, LOOK_QUERIES + MANY);
    for (size_t i = 0; i < MANY; i++)
        EXPECT(many[i], 0, NoRoute);
    (void)queries_at(11100); /* that may have been the last tick of another route */
    assert_true(queries_at(16100) > 0);
    routes_ended = false; /* without a message */
    assert_in_range(queries_at(21100), 1, QUERIES * (1 + MANY));
    for (size_t i = 0; i < MANY; i++)
        EXPECT(many[i], R | D, None);
}

/* Its lifetime was shortened to less than 5 s. */
TEST(every_target_is_evaluated_when_its_route_has_ended_early)
{
    begin_with_many(1);
    routes_ended = true;
    assert_in_range(queries_at(10000), 1, LOOK_QUERIES + MANY);
    for (size_t i = 0; i < MANY; i++)
        EXPECT(many[i], 0, NoRoute);
}

TEST(a_lifetime_without_end_is_confirmed_by_a_second_evaluation)
{
    begin_with_many(1);
    ticks = 0;
    assert_int_equal(queries_at(10000), LOOK_QUERIES);
    assert_int_equal(queries_at(10100), LOOK_QUERIES);
    for (unsigned i = 1; i <= 12; i++) /* it can be another route, and the one with an end returns */
        assert_in_range(queries_at(10000 + 5000 * i), LOOK_QUERIES, QUERIES * (1 + MANY));
    for (double time = 75000; time < 4e6; time += 5000)
        assert_int_equal(queries_at(time), 0);
}

/* That of the route over a tunnel, and that of the route to the tunnel's other end. Each takes a plain query and one
 * for the lifetime. */
TEST(a_path_with_two_lifetimes_is_read_again_every_5_s)
{
    ticks = 100000;
    begin_with("2001:db8:9::9");
    namespace_ip("link add name t type vxlan id 1 remote 2001:db8::9 dstport 4789 dev a");
    namespace_ip("address add 2001:db8:9::2/64 dev t nodad");
    namespace_set_up("t");
    assert_true(queries_at(0) > 0);
    EXPECT(watcher.target, R | D, None);
    assert_true(queries_at(5) > 0); /* the second evaluation */
    assert_int_equal(queries_at(4999.999), 0);
    assert_int_equal(queries_at(5000), 2 * LOOK_QUERIES);
    assert_int_equal(queries_at(10000), 2 * LOOK_QUERIES);
    ticks = 100;
    assert_int_equal(queries_at(15000), 2 * LOOK_QUERIES);
    assert_int_equal(queries_at(16050), 2 * LOOK_QUERIES);
}

/* Waits until the loop has something to do. */
static void await_event(void)
{
    struct pollfd poller = { .fd = SCRunLoopGetFileDescriptor(watcher.loop), .events = POLLIN };

    assert_int_equal(poll(&poller, 1, (int)time_limit_of(10000)), 1);
}

/* It can bring back a longer route that had ended: each target is queried. */
TEST(a_message_about_a_prefix_reads_lifetimes_again)
{
    struct router router;

    begin_with_many(1);
    router_open(&router, "b", "a");
    for (int i = 1; i <= 3; i++) {
        router_advertise(&router, &(struct router_advertisement){ .prefix = "2001:db8:0:1::", .prefix_lifetime = 0 });
        await_event();
        assert_in_range(queries_at(6000 + i), LOOK_QUERIES, QUERIES * (1 + MANY));
    }
    assert_int_equal(queries_at(10749), 0);
    assert_in_range(queries_at(11000), 1, QUERIES * (1 + MANY));
}

/* ---- Retries ---------------------------------------------------------------------------------------------------- */

/* Returns whether a pass at this time queries the kernel. */
static bool tries_at(double milliseconds)
{
    sends = 0;
    now_is = start_is + (int64_t)(milliseconds * (double)MILLISECOND);
    assert_int_equal(SCRunLoopPerform(watcher.loop, 0), 0);
    return sends > 0;
}

TEST(failing_queries_are_retried_after_the_end_of_a_long_round)
{
    begin();
    namespace_ip("route add 192.0.2.8/30 dev a");
    send_error = ENOBUFS;
    send_takes = 100 * MILLISECOND;
    assert_true(tries_at(0));
    assert_int_equal(now_is, start_is + 300 * MILLISECOND); /* each query is sent three times */
    assert_false(tries_at(349.999));
    send_error = 0;
    assert_true(tries_at(350));
}

TEST(without_netlink_the_next_poll_comes_2_s_after_the_end_of_a_long_round)
{
    begin_with("198.51.100.7"); /* without a route, also for a socket */
    send_error = EPERM;
    send_takes = 3000 * MILLISECOND;
    touch_link();
    assert_int_equal(SCRunLoopPerform(watcher.loop, 0), 0);
    send_takes = 0;
    double end = (double)((now_is - start_is) / MILLISECOND);
    assert_true(end >= 3000);
    assert_int_equal(pass_at(end + 5), 1); /* the second evaluation */
    assert_int_equal(pass_at(end + 1999.999), 0);
    assert_int_equal(pass_at(end + 2000), 1);
    assert_int_equal(pass_at(end + 2005), 1); /* likewise: the sockets are others */
    assert_int_equal(pass_at(end + 3999.999), 0);
    assert_int_equal(pass_at(end + 4000), 1);
}

TEST(failing_queries_are_retried_less_and_less_often)
{
    static const double delays[] = { 50, 100, 200, 400, 800, 1600, 3200, 5000, 5000 };
    double time = 0;

    begin();
    for (int round = 0; round < 2; round++) { /* a reply resets the delay */
        namespace_ip("route add 192.0.2.8/30 dev a");
        send_error = ENOBUFS;
        assert_true(tries_at(time));
        for (size_t i = 0; i < sizeof delays / sizeof delays[0]; i++) {
            time += delays[i];
            assert_false(tries_at(time - 0.001));
            if (i + 1 == sizeof delays / sizeof delays[0])
                send_error = 0;
            assert_true(tries_at(time));
        }
        assert_false(tries_at(time + 60000));
        namespace_ip("route delete 192.0.2.8/30 dev a");
        assert_true(tries_at(time += 60001));
    }
}
