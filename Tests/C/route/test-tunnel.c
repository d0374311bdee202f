/* SPDX-License-Identifier: MIT */
/* A tunnel that publishes its endpoints is as good as the path to its remote end. This kernel may only have vxlan;
 * Tests/VM has the other kinds, test-linkinfo has how they publish their endpoints. */
#include "support/test.h"

#define INNER "10.7.0.9"

static struct watcher watcher; /* stopped at the end of each test */

/* The target is made before the tunnel, so that all messages about the tunnel are received. */
static void begin_with(SCNetworkReachabilityRef *ret_target, const char *to)
{
    namespace_require_two_pairs();
    *ret_target = expect_target(INNER);
    (void)expect_flags_of(*ret_target);
    namespace_require_tunnel(to);
}

TEST(the_path_to_the_tunnel_endpoint_counts)
{
    static const struct {
        const char *to, *then;
        SCNetworkReachabilityFlags flags;
        SCNetworkReachabilityReason reason;
    } rows[] = {
        { "remote 192.0.2.9", NULL, R | D, kSCNetworkReachabilityReasonNone },
        { "remote 2001:db8::9", NULL, R | D, kSCNetworkReachabilityReasonNone },
        { "remote 192.0.2.9 dev a", NULL, R | D, kSCNetworkReachabilityReasonNone },
        { "remote 192.0.2.9 local 192.0.2.2", NULL, R | D, kSCNetworkReachabilityReasonNone },
        { "remote 192.0.2.9", "link set dev a down", 0, kSCNetworkReachabilityReasonNoRoute },
        { "remote 192.0.2.9", "link set dev b down", 0, kSCNetworkReachabilityReasonNoCarrier },
        { "remote 198.51.100.9", NULL, 0, kSCNetworkReachabilityReasonNoRoute },
        { "remote 198.51.100.9", "route add default via 192.0.2.1", R | D, kSCNetworkReachabilityReasonNone },
        { "remote 198.51.100.9", "route add prohibit 198.51.100.0/24", 0, kSCNetworkReachabilityReasonRouteProhibited },
        { "remote 198.51.100.9 dev c", "route add default via 192.0.2.1", 0, kSCNetworkReachabilityReasonNoRoute },
        { "remote 192.0.2.9 local 192.0.2.99", NULL, 0, kSCNetworkReachabilityReasonLocalAddressNotAssigned },
        { "remote 10.7.0.50", NULL, 0, kSCNetworkReachabilityReasonNoRoute }, /* through itself */
        { "group 239.1.1.1 dev a", NULL, R | D, kSCNetworkReachabilityReasonNone },
        { "", NULL, R | D, kSCNetworkReachabilityReasonNone }, /* its remote ends are in its forwarding table */
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCNetworkReachabilityRef target;

        begin_with(&target, rows[i].to);
        if (rows[i].then != NULL)
            namespace_ip("%s", rows[i].then);
        if (rows[i].reason == kSCNetworkReachabilityReasonNoCarrier)
            namespace_await_running("a", false);
        expect_result(target, rows[i].flags, rows[i].reason, NULL, rows[i].to, (int)i);
        SCNetworkReachabilityRelease(target);
    }
}

/* There was no message about the tunnel: GetPath queries the link, which may wait. Then GetFlags uses the result
 * too. */
TEST(an_existing_tunnel_is_found)
{
    namespace_require_two_pairs();
    namespace_require_tunnel("remote 198.51.100.9");
    SCOPED_TARGET target = expect_target(INNER);
    assert_int_equal(expect_path_of(target).flags, 0);
    assert_int_equal(expect_path_of(target).reason, kSCNetworkReachabilityReasonNoRoute);
    assert_int_equal(expect_flags_of(target), 0);
}

TEST(tunnel_routes_are_added_and_deleted)
{
    SCNetworkReachabilityRef target;

    begin_with(&target, "remote 198.51.100.9");
    namespace_ip("route add 198.51.100.0/24 via 192.0.2.1");
    watcher_start(&watcher, target);
    assert_int_equal(expect_flags_of(target), R | D);
    AFTER("route delete 198.51.100.0/24", EXPECT_CHANGE(&watcher, 0));
    AFTER("route add 198.51.100.8/30 via 203.0.113.1", EXPECT_CHANGE(&watcher, R | D));
    AFTER("link set dev c down", EXPECT_CHANGE(&watcher, 0));
    AFTER("route add default via 192.0.2.1", EXPECT_CHANGE(&watcher, R | D));
    AFTER("rule add to 198.51.100.9 priority 5 prohibit", EXPECT_CHANGE(&watcher, 0));
    AFTER("rule delete priority 5", EXPECT_CHANGE(&watcher, R | D));
}

/* No other target is scheduled. */
TEST(a_scheduled_target_uses_an_existing_tunnel)
{
    namespace_require_two_pairs();
    namespace_require_tunnel("remote 198.51.100.9");
    watcher_schedule(&watcher, expect_target(INNER));
    EXPECT_END(&watcher, 0);
}

/* Scheduling does not wait for the tunnel's other end. The first pass reads it, and its result is a change. */
TEST(the_end_of_an_existing_tunnel_is_a_change_for_copy_next_change)
{
    SCOPED_LOOP loop = SCRunLoopCreate();
    SCNetworkReachabilityFlags flags = 99;

    namespace_require_two_pairs();
    namespace_require_tunnel("remote 198.51.100.9");
    for (int fetched_before = 0; fetched_before < 2; fetched_before++) {
        SCOPED_TARGET silent = expect_target(INNER);

        if (fetched_before)
            assert_null(SCRunLoopCopyNextChange(loop, NULL));
        assert_true(SCNetworkReachabilityScheduleWithRunLoop(silent, loop, kSCRunLoopDefaultMode));
        assert_int_equal(SCRunLoopPerform(loop, time_limit_of(10)), 0);
        SCNetworkReachabilityRef changed = SCRunLoopCopyNextChange(loop, &flags);
        assert_ptr_equal(changed, silent);
        assert_int_equal(flags, 0);
        assert_null(SCRunLoopCopyNextChange(loop, NULL));
        SCNetworkReachabilityRelease(changed);
        assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(silent, loop, kSCRunLoopDefaultMode));
    }
}

TEST(a_tunnel_may_lie_in_another)
{
    SCNetworkReachabilityRef target;

    begin_with(&target, "remote 10.8.0.9");
    namespace_ip("link add name u type vxlan id 8 dstport 4789 remote 192.0.2.9; address add 10.8.0.1/24 dev u");
    namespace_set_up("u");
    watcher_start(&watcher, target);
    assert_int_equal(expect_flags_of(target), R | D);
    AFTER("link set dev a down", EXPECT_CHANGE(&watcher, 0));
    AFTER("link set dev a up", EXPECT_END(&watcher, R | D));
}

TEST(the_default_path_may_be_a_tunnel)
{
    SCNetworkReachabilityRef target;

    begin_with(&target, "remote 192.0.2.9");
    SCNetworkReachabilityRelease(target);
    namespace_ip("route add default via 10.7.0.2");
    watcher_start(&watcher, expect_target("0.0.0.0"));
    assert_int_equal(expect_flags_of(watcher.target), R);
    AFTER("link set dev a down", EXPECT_CHANGE(&watcher, 0));
}

/* A dead tunnel is like a dead link: another route is used. */
TEST(another_route_to_the_endpoint_takes_over)
{
    SCNetworkReachabilityRef target;

    begin_with(&target, "remote 192.0.2.9");
    SCNetworkReachabilityRelease(target);
    namespace_ip("route add default via 10.7.0.2; route add default via 2001:db8:c::1");
    target = expect_target("0.0.0.0");
    EXPECT(target, R, None, .interface = "v");
    AFTER("link set dev a down", EXPECT(target, R, None, .interface = "c"));
    SCNetworkReachabilityRelease(target);
}

TEST(another_leg_to_the_endpoint_takes_over)
{
    static const char *const legs[] = { "nexthop via 10.7.0.2 nexthop via 203.0.113.1",
                                        "nexthop via 203.0.113.1 nexthop via 10.7.0.2" };

    for (size_t i = 0; i < sizeof legs / sizeof legs[0]; i++) {
        SCNetworkReachabilityRef target;

        begin_with(&target, "remote 192.0.2.9");
        namespace_ip("route add 198.51.100.0/24 %s", legs[i]);
        SCNetworkReachabilityRelease(target);
        namespace_ip("link set dev a down");
        target = expect_target("198.51.100.7");
        EXPECT(target, R, None, .interface = "c");
        watcher_start(&watcher, target);
        assert_int_equal(expect_flags_of(target), R);
        AFTER("link set dev c down", EXPECT_END(&watcher, 0));
        watcher_stop(&watcher);
    }
}

/* The kernel chooses the leg by the address. The result must be right for every address. */
static void expect_reached(const char *legs)
{
    for (int i = 1; i <= 16; i++) {
        SCOPED_TARGET target = expect_target(unit_text("2001:db8:1::%x", i));
        expect_result(target, R, kSCNetworkReachabilityReasonNone, NULL, legs, i);
    }
}

/* If a rule refuses one leg, packets use the next. */
TEST(a_refused_leg_is_skipped)
{
    static const char *const legs[] = {
        "nexthop via 2001:db8:7::2 nexthop via 2001:db8::1 nexthop via 2001:db8:c::1",
        "nexthop via 2001:db8::1 nexthop via 2001:db8:7::2 nexthop via 2001:db8:c::1",
    };

    for (size_t i = 0; i < sizeof legs / sizeof legs[0]; i++) {
        SCNetworkReachabilityRef target;

        begin_with(&target, "remote 198.51.100.9");
        SCNetworkReachabilityRelease(target);
        namespace_ip("address add 2001:db8:7::1/64 dev v nodad");
        namespace_ip("route add 2001:db8:1::/48 %s", legs[i]);
        AFTER("-6 rule add oif a priority 5 prohibit", expect_reached(legs[i]));
    }
}

static bool costs_a_query(SCNetworkReachabilityRef target, const char *route)
{
    const unsigned long before = expect_counters_of(target).queries;

    namespace_ip("route add %s via 192.0.2.1", route);
    EXPECT_QUIET(&watcher);
    return expect_counters_of(target).queries != before;
}

/* Routes that lead neither to the destination nor to the remote end do not affect the target. The last message about
 * the new links can come a second later: then the next route shows it. */
TEST(other_routes_do_not_matter)
{
    static const char *const others[] = { "203.0.113.64/26", "203.0.113.128/26", "203.0.113.192/26", NULL };
    SCNetworkReachabilityRef target;
    const char *const *other = others;

    begin_with(&target, "remote 198.51.100.9");
    namespace_ip("route add 198.51.100.0/24 via 192.0.2.1");
    watcher_start(&watcher, target);
    EXPECT_QUIET(&watcher);
    while (*other != NULL && costs_a_query(target, *other))
        other++;
    assert_non_null(*other);
    assert_true(costs_a_query(target, "198.51.100.8/31"));
}
