/* SPDX-License-Identifier: MIT */
/* Route messages that affect no target wake nobody. All others arrive, also for targets that are scheduled later. */
#include "support/etc.h"
#include "support/test.h"

enum { STORM = 1000 };

static struct watcher watcher; /* stopped at the end of each test */
static struct writer writer;

static int refused;             /* the option that setsockopt refuses; 0: none */
static bool refuses_neighbours; /* to join their group */
static const char *added;       /* a route that is added just before the filter is removed; NULL: none */
static bool unsafe;             /* the filter was replaced or removed, and no query has waited for RTNL since */
static unsigned queries;        /* in this state */
static unsigned attachments;

static void add_route(const char *prefix);

WRAP(int, setsockopt, int fd, int level, int option, const void *value, socklen_t length)
{
    /* Another filter replaces the old one if that cannot be removed. */
    const bool replaces = refused == SO_DETACH_FILTER && option == SO_ATTACH_FILTER;
    const bool changes = level == SOL_SOCKET && (option == SO_ATTACH_FILTER || option == SO_DETACH_FILTER);

    if (refused != 0 && level == SOL_SOCKET && (option == refused || replaces)) {
        errno = EPERM;
        return -1;
    }
    if (refuses_neighbours && level == SOL_NETLINK && option == NETLINK_ADD_MEMBERSHIP &&
        *(const int *)value == RTNLGRP_NEIGH) {
        errno = EPERM;
        return -1;
    }
    if (added != NULL && changes) {
        const char *prefix = added;

        added = NULL;
        add_route(prefix);
    }
    attachments += level == SOL_SOCKET && option == SO_ATTACH_FILTER;
    unsafe = unsafe || changes;
    return __real_setsockopt(fd, level, option, value, length);
}

WRAP(ssize_t, send, int fd, const void *bytes, size_t length, int flags)
{
    const struct nlmsghdr *header = bytes;

    if (length >= sizeof *header && header->nlmsg_type == RTM_GETSTATS)
        unsafe = false;
    if (length >= sizeof *header && header->nlmsg_type == RTM_GETROUTE)
        queries += unsafe;
    return __real_send(fd, bytes, length, flags);
}

static void begin(void)
{
    namespace_require_pair();
    namespace_add_default_routes();
    unit_check(writer_open(&writer), "writer_open");
    refused = 0;
    refuses_neighbours = false;
    added = NULL;
}

static void end(void)
{
    writer_close(&writer);
}

UNIT(.setup = begin, .teardown = end)

static void change_route(enum writer_action action, const char *prefix)
{
    const struct writer_route route = { .prefix = prefix, .type = RTN_BLACKHOLE };

    unit_check(writer_route(&writer, action, &route), prefix);
}

static void add_route(const char *prefix)
{
    change_route(WRITER_ADD, prefix);
}

static void remove_route(const char *prefix)
{
    change_route(WRITER_DELETE, prefix);
}

/* The number of times that the loop's descriptor is readable after a change. */
static unsigned count_wakes(SCRunLoopRef loop)
{
    unsigned wakes = 0;
    char prefix[32];

    for (unsigned i = 0; i < STORM; i++) {
        snprintf(prefix, sizeof prefix, i % 2 == 0 ? "10.%u.%u.0/24" : "2001:db8:%x:%x::/64", 1 + i / 200, i % 200);
        add_route(prefix);
        wakes += idle_loop_is_readable(loop);
        assert_int_equal(SCRunLoopPerform(loop, 0), 0);
        remove_route(prefix);
        wakes += idle_loop_is_readable(loop);
        assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    }
    return wakes;
}

/* Whether a change that affects no target makes the descriptor readable. */
static bool is_woken_by(SCRunLoopRef loop, const char *prefix)
{
    add_route(prefix);
    bool woken = idle_loop_is_readable(loop);
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    remove_route(prefix);
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    return woken;
}

/* The library attaches the next filter only after a pause. */
static void await_filter(SCRunLoopRef loop, const char *prefix)
{
    const double end = watcher_now() + time_limit_of(10);

    while (is_woken_by(loop, prefix))
        assert_true(watcher_now() < end);
}

/* The first message that affects nothing brings the filter. But a message about a link may come late, and together with
 * that route. Then it takes another route. */
static void attach_filter(void)
{
    await_filter(watcher.loop, "10.0.0.0/24");
}

TEST(only_the_first_route_that_affects_no_target_wakes_the_loop)
{
    watcher_start(&watcher, expect_target("198.51.100.7"));
    assert_int_equal(count_wakes(watcher.loop), 1);
    add_route("198.51.100.0/24");
    EXPECT_CHANGE(&watcher, 0);
    remove_route("198.51.100.0/24");
    EXPECT_CHANGE(&watcher, R);
    assert_int_equal(count_wakes(watcher.loop), 0);
}

/* It depends on the defaults, and on the routes to the name servers. */
TEST(routes_that_are_no_default_wake_no_target_for_the_network)
{
    etc_require("192.0.2.53");
    etc_set_servers("192.0.2.53", 1);
    watcher_schedule(&watcher, expect_option("0.0.0.0", kSCNetworkReachabilityOptionNotifyNetwork));
    assert_int_equal(idle_perform(watcher.loop), 1);   /* the first callback */
    assert_in_range(count_wakes(watcher.loop), 1, 20); /* of 2000 changes; deadlines wake it, too */
    assert_int_equal(watcher.calls, 1);
    namespace_ip("route delete default");
    assert_int_equal(idle_perform(watcher.loop), 1);
}

TEST(many_targets_in_many_prefixes_are_covered)
{
    struct watcher others[200];
    char text[32];

    watcher_start(&watcher, expect_target("0.0.0.0"));
    for (unsigned i = 0; i < 200; i++) {
        snprintf(text, sizeof text, i % 2 == 0 ? "%u.7.7.7" : "2001:%x::7", 20 + i);
        watcher_schedule_on(&others[i], expect_target(text), watcher.loop);
    }
    EXPECT_QUIET(&watcher);
    attach_filter();
    for (unsigned i = 0; i < 200; i++) {
        snprintf(text, sizeof text, i % 2 == 0 ? "%u.7.7.0/24" : "2001:%x::/64", 20 + i);
        add_route(text);
        EXPECT_CHANGE(&others[i], 0);
    }
    AFTER("route replace default dev a", EXPECT_CHANGE(&watcher, R | D));
    for (unsigned i = 0; i < 200; i++)
        watcher_stop(&others[i]);
}

TEST(a_target_that_is_scheduled_later_is_watched)
{
    struct watcher later;

    watcher_start(&watcher, expect_target("198.51.100.7"));
    attach_filter();
    watcher_schedule_on(&later, expect_target("203.0.113.7"), watcher.loop);
    add_route("203.0.113.0/24"); /* dropped: the filter is still that of the first target */
    EXPECT_CHANGE(&later, 0);
    remove_route("203.0.113.0/24");
    EXPECT_CHANGE(&later, R);
    add_route("198.51.100.0/24");
    EXPECT_CHANGE(&watcher, 0);
}

TEST(a_target_that_is_unscheduled_no_longer_wakes)
{
    struct watcher other;

    watcher_start(&watcher, expect_target("198.51.100.7"));
    watcher_schedule_on(&other, expect_target("203.0.113.7"), watcher.loop);
    EXPECT_QUIET(&watcher);
    attach_filter();
    watcher_stop(&other);
    assert_true(is_woken_by(watcher.loop, "203.0.113.0/24"));
    await_filter(watcher.loop, "203.0.113.0/24");
    add_route("198.51.100.0/24");
    EXPECT_CHANGE(&watcher, 0);
}

enum { MANY = 200 };

/* Each new target needs two filters: one that drops nothing, then a tight one. */
TEST(filters_for_new_targets_are_rare)
{
    struct watcher other;

    watcher_start(&watcher, expect_target("198.51.100.7"));
    double start = watcher_now();
    attachments = 0;
    for (unsigned i = 0; i < MANY || attachments < 2; i++) {
        assert_true(watcher_now() - start < time_limit_of(10));
        watcher_schedule_on(&other, expect_target("203.0.113.7"), watcher.loop);
        assert_int_equal(SCRunLoopPerform(watcher.loop, 0), 0);
        (void)is_woken_by(watcher.loop, "10.0.0.0/24");
        watcher_stop(&other);
    }
    assert_in_range(attachments, 2, 2 * (1 + (unsigned)((watcher_now() - start) / 0.01)));
    await_filter(watcher.loop, "10.0.0.0/24");
}

/* Without a target, the filter could drop more. The loop lasts several times 10 ms: with that pause, more than one
 * filter would be attached. */
TEST(tighter_filters_are_rare)
{
    enum { TARGETS = 10 * MANY };
    static struct watcher others[TARGETS];
    char text[32];

    watcher_start(&watcher, expect_target("198.51.100.7"));
    for (unsigned i = 0; i < TARGETS; i++) {
        snprintf(text, sizeof text, "203.0.%u.%u", i / MANY, 1 + i % MANY);
        watcher_schedule_on(&others[i], expect_target(text), watcher.loop);
    }
    EXPECT_QUIET(&watcher);
    double start = watcher_now();
    attachments = 0;
    for (unsigned i = 0; i < TARGETS; i++) {
        watcher_stop(&others[i]);
        snprintf(text, sizeof text, "203.0.%u.%u/32", i / MANY, 1 + i % MANY);
        (void)is_woken_by(watcher.loop, text);
    }
    assert_in_range(attachments, 1, 1 + (unsigned)((watcher_now() - start) / 0.25));
    await_filter(watcher.loop, text);
}

TEST(the_path_of_a_tunnel_depends_on_the_routes_to_its_remote_address)
{
    struct watcher inner;

    watcher_start(&watcher, expect_target("198.51.100.7"));
    attach_filter();
    namespace_require_tunnel("remote 203.0.113.9");
    watcher_schedule_on(&inner, expect_target("10.7.0.9"), watcher.loop);
    EXPECT_QUIET(&inner);
    add_route("203.0.113.0/24");
    EXPECT_CHANGE(&inner, 0);
    remove_route("203.0.113.0/24");
    EXPECT_CHANGE(&inner, R | D);
}

TEST(a_route_that_changes_before_the_filter_is_removed_counts)
{
    namespace_require_tunnel("remote 203.0.113.9");
    add_route("10.7.0.9/32");
    watcher_start(&watcher, expect_target("10.7.0.9"));
    attach_filter();
    added = "203.0.113.0/24"; /* after the query for the remote address, and before messages about it pass */
    queries = 0;
    remove_route("10.7.0.9/32");
    EXPECT_QUIET(&watcher);
    assert_null(added);
    assert_int_equal(queries, 0); /* the filter may have dropped a message about a change that goes on */
    EXPECT(watcher.target, 0, RouteBlackhole);
}

TEST(without_a_filter_all_messages_arrive)
{
    refused = SO_ATTACH_FILTER;
    watcher_start(&watcher, expect_target("198.51.100.7"));
    assert_int_equal(count_wakes(watcher.loop), 2 * STORM);
    add_route("198.51.100.0/24");
    EXPECT_CHANGE(&watcher, 0);
}

TEST(if_the_filter_cannot_be_removed_paths_are_evaluated_every_2_s)
{
    struct watcher later;

    watcher_start(&watcher, expect_target("198.51.100.7"));
    attach_filter();
    refused = SO_DETACH_FILTER;
    watcher_schedule_on(&later, expect_target("203.0.113.7"), watcher.loop);
    EXPECT_QUIET(&later);
    add_route("203.0.113.0/24");
    EXPECT_CHANGE(&later, 0);
}

/* ---- Neighbours ------------------------------------------------------------------------------------------------- */

#define GATEWAY "2001:db8::1 lladdr 02:00:00:00:00:01 dev a nud"

/* And the first message about it: it may have failed before. */
TEST(only_a_gateway_that_fails_or_comes_back_wakes)
{
    watcher_start(&watcher, expect_target("2001:db9:1::7"));
    EXPECT_QUIET(&watcher);
    namespace_ip("neigh add " GATEWAY " reachable");
    EXPECT_QUIET(&watcher);
    attach_filter();
    namespace_ip("neigh change " GATEWAY " stale");
    namespace_ip("neigh add 2001:db8::77 lladdr 02:00:00:00:00:02 dev a nud reachable");
    namespace_ip("neigh change 2001:db8::77 dev a nud failed");
    namespace_ip("neigh add 192.0.2.77 lladdr 02:00:00:00:00:02 dev a nud reachable; neigh delete 192.0.2.77 dev a");
    assert_false(idle_loop_is_readable(watcher.loop));
    namespace_ip("neigh change 2001:db8::1 dev a nud failed");
    assert_true(idle_loop_is_readable(watcher.loop));
    EXPECT_QUIET(&watcher); /* there is no other route */
    namespace_ip("neigh change " GATEWAY " reachable");
    assert_true(idle_loop_is_readable(watcher.loop));
    EXPECT_QUIET(&watcher);
    attach_filter();
    namespace_ip("neigh change " GATEWAY " stale");
    assert_false(idle_loop_is_readable(watcher.loop));
}

TEST(if_the_filter_cannot_be_replaced_a_new_gateway_counts)
{
    struct watcher later;

    watcher_start(&watcher, expect_target("198.51.100.7"));
    refused = SO_ATTACH_FILTER;
    watcher_schedule_on(&later, expect_target("2001:db8:1::7"), watcher.loop);
    EXPECT_QUIET(&later);
    namespace_ip("neigh add " GATEWAY " reachable");
    EXPECT_QUIET(&later);
    assert_false(idle_loop_is_readable(watcher.loop));
    namespace_ip("neigh change 2001:db8::1 dev a nud failed");
    assert_true(idle_loop_is_readable(watcher.loop));
}

/* A target that is scheduled later reports that its next hop fails. */
static void expect_failure_is_reported(void)
{
    struct watcher later;

    namespace_ip("neigh replace 192.0.2.1 lladdr 02:00:00:00:00:01 dev a nud reachable");
    watcher_schedule_on(&later, expect_option("198.51.100.7", kSCNetworkReachabilityOptionNotifyNextHop), watcher.loop);
    EXPECT_QUIET(&later);
    AFTER("neigh replace 192.0.2.1 dev a nud failed", EXPECT_CHANGE(&later, R));
    assert_int_equal(expect_path_of(later.target).nextHop, kSCNetworkReachabilityNextHopFailed);
    watcher_stop(&later);
}

TEST(next_hops_are_polled_if_the_group_of_neighbours_is_refused)
{
    watcher_start(&watcher, expect_target("192.0.2.9")); /* which has no gateway */
    refuses_neighbours = true;
    expect_failure_is_reported();
}

TEST(next_hops_are_followed_if_no_filter_can_be_attached)
{
    watcher_start(&watcher, expect_target("192.0.2.9"));
    refused = SO_ATTACH_FILTER;
    assert_int_equal(count_wakes(watcher.loop), 2 * STORM);
    expect_failure_is_reported();
}
