/* SPDX-License-Identifier: MIT */
/* Changes of links, with many targets. A change costs queries at once only for the targets that it can affect, and
 * these get their new flags. Sweeps have time without a limit, or none. */
#include "kernel/rtnetlink.h"
#include "support/crowd.h"
#include "support/limits.h"
#include "support/namespace.h"
#include "support/sweeps.h"

enum { TARGETS = 200, FEW = 2 * FEW_QUERIES, MANY = 20 * TARGETS };

#define GATEWAY       "192.0.2.1"
#define OTHER_GATEWAY "203.0.113.1"

static unsigned queries;
static void (*at_query)(void); /* NULL: nothing */

WRAP(int, reach_rtnetlink_query, struct rtnetlink *rtnetlink, const struct route_request *request, struct route *ret)
{
    queries++;
    if (at_query != NULL)
        at_query();
    return __real_reach_rtnetlink_query(rtnetlink, request, ret);
}

static void begin(void)
{
    at_query = NULL;
    sweeps_are_off = false;
    crowd_begin();
}

UNIT(.setup = begin, .teardown = crowd_end)

/* Targets behind a gateway on "a". */
static void begin_ipv4(void)
{
    crowd_route(true, "198.51.0.0/16", GATEWAY);
    crowd_watch_ipv4(TARGETS);
}

/* IPv6 targets on "a", which has only a link-local address. */
static void begin_without_source(void)
{
    namespace_ip("-6 address flush dev a scope global; -6 route add 2001:db8:1::/64 dev a");
}

/* This many callbacks come, after at most `limit` queries. GetFlags and GetPath agree with them. */
static void expect_changes(unsigned count, unsigned limit)
{
    queries = 0;
    assert_int_equal(crowd_settle(), count);
    assert_in_range(queries, 0, limit);
    crowd_expect_agreement();
}

static void expect_all_over(const char *name)
{
    for (unsigned i = 0; i < TARGETS; i++)
        assert_string_equal(expect_path_of(crowd.targets[i]).interfaceName, name);
}

/* So many queries at once, and so many by the sweeps of each message about a link. Each has a second look. */
static void expect_no_changes(unsigned at_once)
{
    sweeps_are_off = true;
    expect_changes(0, at_once);
    sweeps_are_off = false;
    expect_changes(0, SWEPT_QUERIES * TARGETS);
}

/* ---- Other links ------------------------------------------------------------------------------------------------ */

/* As on a host whose containers come and go. */
static void let_other_links_come_and_go(void)
{
    namespace_add_second_pair();
    namespace_ip("link add name bridge0 type bridge; link set dev d master bridge0; link set dev bridge0 up");
    namespace_ip("link set dev c mtu 1400");
    namespace_set_carrier("c", "d", false);
    namespace_set_carrier("c", "d", true);
    namespace_ip("link set dev c down; link set dev c name e; link set dev e up");
    namespace_ip("link delete dev e; link delete dev bridge0");
}

TEST(a_link_that_no_target_uses_costs_no_query_but_a_sweep)
{
    begin_ipv4();
    let_other_links_come_and_go();
    expect_no_changes(0);
    namespace_ip("link add name c type veth peer name d; address add 203.0.113.2/24 dev c");
    namespace_set_carrier("d", "c", false);
    namespace_ip("link set dev d up");
    namespace_set_carrier("d", "c", true);
    AFTER("link set dev c mtu 1400", expect_no_changes(0));
}

/* They share: a sweep takes a few queries. */
TEST(a_sweep_costs_few_queries)
{
    begin_ipv4();
    let_other_links_come_and_go();
    expect_changes(0, FEW);
}

TEST(without_a_route_no_link_costs_a_query)
{
    crowd_watch_ipv4(TARGETS);
    namespace_ip("link add name c type veth peer name d; link set dev c up; link set dev d up");
    AFTER("link set dev a mtu 1400", expect_no_changes(0));
    crowd_route(true, "198.51.0.0/16", GATEWAY);
    expect_changes(TARGETS, MANY);
    crowd_expect_all(R);
}

enum { EVERY = 2000, CHANGES = 20 };

/* A change of another link comes after so many queries, less than the targets need. */
static void change_other_link(void)
{
    if (queries % EVERY != 0 || queries > EVERY * CHANGES)
        return;
    const char *address = unit_text("10.0.%u.1/32", queries / EVERY);
    unit_check(writer_address(&crowd.writer, WRITER_ADD, writer_index("c"), address), address);
}

/* As on a host whose containers come and go all the time. With a source-specific route, each target is evaluated by
 * itself. */
TEST(while_targets_are_evaluated_another_link_affects_few_of_them)
{
    const struct writer_route route = {
        .prefix = "::/0", .from = "2001:db8:ff::/64", .gateway = "2001:db8::1", .index = writer_index("a")
    };

    unit_check(writer_route(&crowd.writer, WRITER_ADD, &route), "the route from a prefix");
    namespace_add_second_pair();
    crowd_watch_ipv6(CROWD_LIMIT);
    at_query = change_other_link;
    sweeps_are_off = true;
    AFTER("address add 2001:db8:99::1/64 dev c nodad", expect_changes(0, FEW));
}

TEST(after_their_route_has_gone_no_link_costs_a_query)
{
    for (unsigned i = 0; i < 2; i++) {
        if (i == 0)
            crowd_watch_ipv4(TARGETS);
        crowd_route(true, "198.51.0.0/16", GATEWAY);
        (void)crowd_settle();
        crowd_route(false, "198.51.0.0/16", GATEWAY);
        expect_changes(TARGETS, FEW);
        namespace_ip("link set dev a mtu %u", 1400 + i);
        expect_no_changes(0);
    }
    crowd_route(true, "0.0.0.0/0", GATEWAY);
    expect_changes(TARGETS, FEW + 2 * TARGETS);
    crowd_expect_all(R);
}

/* There can be several default routes with one metric. */
TEST(a_link_costs_few_queries_for_targets_behind_a_default_gateway)
{
    crowd_route(true, "0.0.0.0/0", GATEWAY);
    crowd_watch_ipv4(TARGETS);
    let_other_links_come_and_go();
    expect_changes(0, 2 * FEW);
}

TEST(a_link_that_comes_costs_few_queries_if_ipv6_packets_are_forwarded)
{
    namespace_sysctl("net.ipv6.conf.all.forwarding", "1");
    crowd_route(true, "::/0", "2001:db8::1");
    crowd_watch_ipv6(TARGETS);
    AFTER("link add name c type veth peer name d; link set dev c up; link set dev d up", expect_no_changes(0));
}

/* ---- The targets' link ------------------------------------------------------------------------------------------ */

TEST(a_lost_carrier_costs_few_queries)
{
    begin_ipv4();
    for (unsigned i = 0; i < 3; i++) {
        namespace_set_carrier("a", "b", false);
        expect_changes(TARGETS, FEW);
        crowd_expect_all(0);
        namespace_set_carrier("a", "b", true);
        expect_changes(TARGETS, FEW);
        crowd_expect_all(R);
    }
}

/* The kernel sends no messages about the IPv4 routes that end with their link. */
TEST(a_link_that_goes_down_costs_few_queries)
{
    begin_ipv4();
    AFTER("link set dev a down", expect_changes(TARGETS, FEW));
    crowd_expect_all(0);
}

/* Nor about the IPv6 routes, with this setting. */
TEST(an_ipv6_link_that_goes_down_changes_all_its_targets)
{
    namespace_sysctl("net.ipv6.route.skip_notify_on_dev_down", "1");
    namespace_ip("route add 2001:db8:1::/64 dev a");
    crowd_watch_ipv6(TARGETS);
    crowd_expect_all(R | D);
    AFTER("link set dev a down", expect_changes(TARGETS, MANY));
    crowd_expect_all(0);
}

TEST(a_link_that_goes_down_leaves_the_targets_to_the_next_route)
{
    namespace_add_second_pair();
    begin_ipv4();
    namespace_ip("route add 198.51.0.0/16 via " OTHER_GATEWAY " metric 100");
    namespace_ip("route add 198.51.100.0/25 via 192.0.2.3");
    (void)crowd_settle();
    expect_all_over("a");
    namespace_ip("link set dev a down");
    queries = 0;
    (void)crowd_settle();
    assert_in_range(queries, 0, 2 * FEW);
    expect_all_over("c");
    crowd_expect_all(R);
    AFTER("link delete dev c", expect_changes(TARGETS, FEW));
    crowd_expect_all(0);
}

TEST(targets_of_two_links_are_told_apart)
{
    begin_ipv4();
    namespace_add_second_pair();
    namespace_ip("route add 198.51.100.0/25 via " OTHER_GATEWAY);
    (void)crowd_settle();
    namespace_set_carrier("c", "d", false);
    expect_changes(127, FEW);
    for (unsigned i = 0; i < TARGETS; i++)
        assert_int_equal(crowd.flags[i], i < 127 ? 0 : R);
    namespace_set_carrier("a", "b", false);
    expect_changes(TARGETS - 127, FEW);
    crowd_expect_all(0);
    namespace_set_carrier("c", "d", true);
    expect_changes(127, FEW);
    namespace_set_carrier("a", "b", true);
    expect_changes(TARGETS - 127, FEW);
    crowd_expect_all(R);
}

TEST(an_address_of_this_machine_depends_on_its_link)
{
    begin_ipv4();
    crowd_watch(TARGETS, "203.0.113.2");
    crowd_watch(TARGETS + 1, "127.0.0.1");
    (void)crowd_settle();
    namespace_add_second_pair();
    expect_changes(1, MANY);
    assert_int_equal(crowd.flags[TARGETS], R | L | D);
    namespace_ip("link set dev c down");
    (void)crowd_settle();
    crowd_expect_agreement();
    namespace_ip("link set dev lo down");
    (void)crowd_settle();
    crowd_expect_agreement();
    assert_int_equal(crowd.flags[TARGETS + 1], 0);
    namespace_ip("link set dev lo up");
    (void)crowd_settle();
    crowd_expect_agreement();
    assert_int_equal(crowd.flags[TARGETS + 1], R | L | D);
}

/* ---- Links that change the routes of others --------------------------------------------------------------------- */

TEST(legs_over_other_links_count)
{
    namespace_add_second_pair();
    namespace_ip("route add default nexthop via " GATEWAY " nexthop via " OTHER_GATEWAY);
    crowd_watch_ipv4(TARGETS);
    crowd_expect_all(R);
    namespace_ip("link set dev c down");
    (void)crowd_settle();
    expect_all_over("a");
    crowd_expect_all(R);
    AFTER("link set dev a down", expect_changes(TARGETS, MANY));
    crowd_expect_all(0);
}

/* The first gateway does not respond, so the kernel prefers the other one, until the link forgets its neighbours. With
 * extern_learn, the kernel itself does not forget them after some time. */
TEST(the_link_of_an_ipv6_gateway_that_does_not_respond_counts)
{
    namespace_add_second_pair();
    namespace_ip("-6 route add default via 2001:db8:c::1 metric 100; -6 route add default via 2001:db8::1 metric 200");
    namespace_ip("neighbour replace 2001:db8:c::1 dev c nud failed extern_learn");
    crowd_watch_ipv6(TARGETS);
    expect_all_over("a");
    namespace_set_carrier("c", "d", false);
    expect_changes(TARGETS, MANY);
    expect_all_over("c");
    crowd_expect_all(0);
}

TEST(a_route_over_a_link_is_preferred_to_an_ipv6_gateway_that_does_not_respond)
{
    namespace_add_second_pair();
    namespace_ip("-6 route add default via 2001:db8:c::1 metric 100; -6 route add default dev a metric 200");
    namespace_ip("neighbour replace 2001:db8:c::1 dev c nud failed extern_learn");
    crowd_watch_ipv6(TARGETS);
    expect_all_over("a");
    namespace_set_carrier("c", "d", false);
    expect_changes(TARGETS, MANY);
    crowd_expect_all(0);
}

/* While its gateway does not respond, the kernel ignores the route to some of the targets. */
TEST(a_longer_ipv6_route_returns_when_its_link_forgets_the_gateway)
{
    namespace_add_second_pair();
    namespace_ip("-6 route add 2001:db8:1::80/121 via 2001:db8:c::1; -6 route add default via 2001:db8::1");
    namespace_ip("neighbour replace 2001:db8:c::1 dev c nud failed extern_learn");
    crowd_watch_ipv6(TARGETS);
    expect_all_over("a");
    namespace_set_carrier("c", "d", false);
    expect_changes(TARGETS - 127, MANY);
    for (unsigned i = 0; i < TARGETS; i++)
        assert_int_equal(crowd.flags[i], i < 127 ? R : 0);
}

static void begin_with_hidden_route(void)
{
    namespace_add_second_pair();
    namespace_ip("-6 route add 2001:db8:1::40/122 via 2001:db8:c::1; -6 route add default dev a");
    namespace_ip("neighbour replace 2001:db8:c::1 dev c nud failed extern_learn");
    crowd_watch_ipv6(TARGETS);
    expect_all_over("a");
}

/* The kernel announces only that a neighbour fails that it knew. */
static void fail_gateway(void)
{
    namespace_ip("neighbour replace 2001:db8:c::1 dev c lladdr 02:00:00:00:00:01 nud reachable extern_learn");
    namespace_ip("neighbour change 2001:db8:c::1 dev c nud failed extern_learn");
}

/* A link forgets its neighbours in several ways. */
TEST(a_longer_ipv6_route_returns_with_any_change_of_its_link)
{
    static const char *const changes[] = { "link set dev c address 02:00:00:00:00:77", "link set dev c arp off" };

    begin_with_hidden_route();
    for (size_t i = 0; i < 2; i++) {
        namespace_ip("%s", changes[i]);
        expect_changes(64, MANY);
        fail_gateway();
        expect_changes(64, MANY);
    }
}

/* The kernel hides the route after the last answer, and a new target shares that answer. */
TEST(a_hidden_ipv6_route_returns_to_a_target_that_has_joined_others)
{
    namespace_add_second_pair();
    namespace_ip("-6 route add 2001:db8:2::/64 via 2001:db8:c::1; -6 route add default dev a");
    crowd_watch_ipv6(TARGETS);
    fail_gateway();
    (void)crowd_settle();
    crowd_watch(TARGETS, "2001:db8:2::7");
    assert_int_equal(crowd_settle(), 0);
    assert_string_equal(expect_path_of(crowd.targets[TARGETS]).interfaceName, "a");
    AFTER("link set dev c address 02:00:00:00:00:77", expect_changes(1, MANY));
    assert_string_equal(expect_path_of(crowd.targets[TARGETS]).interfaceName, "c");
}

/* No message says so: no path has the gateway. Meanwhile another target is evaluated. */
TEST(a_hidden_ipv6_route_whose_gateway_responds_again_returns_with_the_next_change_of_a_link)
{
    begin_with_hidden_route();
    namespace_ip("neighbour replace 2001:db8:c::1 dev c lladdr 02:00:00:00:00:01 nud reachable extern_learn");
    namespace_ip("-6 route add 2001:db8:2::/64 dev a");
    sweeps_are_off = true; /* the new route has one */
    crowd_watch(TARGETS, "2001:db8:2::7");
    assert_int_equal(crowd_settle(), 0);
    sweeps_are_off = false;
    AFTER("link set dev b mtu 1400", expect_changes(64, MANY));
}

/* Without another route, the kernel uses it, whether its gateway responds or not. */
TEST(a_hidden_ipv6_route_returns_when_the_shorter_one_is_deleted)
{
    begin_with_hidden_route();
    namespace_ip("-6 route delete default");
    (void)crowd_settle();
    for (unsigned i = 0; i < TARGETS; i++)
        assert_int_equal(crowd.flags[i], i >= 63 && i < 127 ? R : 0);
    crowd_expect_agreement();
}

/* The kernel then uses each route, whether its gateway responds or not. No message is about the routes. */
TEST(a_longer_ipv6_route_returns_when_packets_are_forwarded)
{
    namespace_add_second_pair();
    namespace_ip("-6 route add 2001:db8:1::80/121 via 2001:db8:c::1; -6 route add default via 2001:db8::1");
    namespace_ip("neighbour replace 2001:db8:c::1 dev c nud failed extern_learn");
    crowd_watch_ipv6(TARGETS);
    namespace_sysctl("net.ipv6.conf.all.forwarding", "1");
    (void)crowd_settle();
    namespace_set_carrier("c", "d", false);
    expect_changes(TARGETS - 127, MANY);
    for (unsigned i = 0; i < TARGETS; i++)
        assert_int_equal(crowd.flags[i], i < 127 ? R : 0);
}

/* The links have the setting before, so the only message is that for all. */
TEST(a_longer_ipv6_route_returns_when_packets_are_forwarded_between_all_links)
{
    static const char *const links[] = { "lo", "a", "b", "c", "d", "default" };
    char setting[64];

    namespace_add_second_pair();
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        snprintf(setting, sizeof setting, "net.ipv6.conf.%s.forwarding", links[i]);
        namespace_sysctl(setting, "1");
    }
    namespace_ip("-6 route add 2001:db8:1::80/121 via 2001:db8:c::1; -6 route add default via 2001:db8::1");
    namespace_ip("neighbour replace 2001:db8:c::1 dev c nud failed extern_learn");
    crowd_watch_ipv6(TARGETS);
    (void)crowd_settle();
    expect_all_over("a");
    namespace_sysctl("net.ipv6.conf.all.forwarding", "1");
    (void)crowd_settle();
    crowd_expect_agreement();
    namespace_set_carrier("c", "d", false);
    expect_changes(TARGETS - 127, MANY);
}

TEST(a_link_that_falls_costs_few_queries_if_ipv6_packets_are_forwarded)
{
    namespace_sysctl("net.ipv6.conf.all.forwarding", "1");
    namespace_add_second_pair();
    crowd_route(true, "::/0", "2001:db8::1");
    crowd_watch_ipv6(TARGETS);
    namespace_set_carrier("c", "d", false);
    expect_no_changes(0);
    AFTER("link delete dev c", expect_no_changes(0));
    AFTER("link set dev a down", expect_changes(TARGETS, SWEPT_QUERIES * TARGETS));
    crowd_expect_all(0);
}

TEST(the_link_of_another_ipv4_default_gateway_counts)
{
    namespace_add_second_pair();
    namespace_ip("route add default via " OTHER_GATEWAY);
    namespace_ip("route append default via " GATEWAY);
    namespace_ip("neighbour replace " OTHER_GATEWAY " dev c nud failed extern_learn");
    namespace_ip("neighbour replace " GATEWAY " dev a lladdr 02:00:00:00:00:01 nud reachable");
    crowd_watch_ipv4(TARGETS);
    expect_all_over("a");
    namespace_set_carrier("c", "d", false);
    expect_changes(TARGETS, FEW);
    crowd_expect_all(0);
    expect_all_over("c");
}

/* The kernel then takes the address of another link as the source. */
TEST(the_ipv6_address_of_another_link_counts)
{
    namespace_add_second_pair();
    begin_without_source();
    crowd_watch_ipv6(TARGETS);
    crowd_expect_all(R | D);
    AFTER("-6 address delete 2001:db8:c::2/64 dev c", expect_changes(TARGETS, MANY));
    crowd_expect_all(0);
    AFTER("-6 address add 2001:db8:c::2/64 dev c nodad", expect_changes(TARGETS, MANY));
    crowd_expect_all(R | D);
    AFTER("link set dev c down", expect_changes(TARGETS, MANY));
    crowd_expect_all(0);
}

TEST(the_ipv6_address_of_lo_counts)
{
    begin_without_source();
    crowd_watch_ipv6(TARGETS);
    crowd_expect_all(0);
    AFTER("-6 address add 2001:db8:77::1/128 dev lo nodad", expect_changes(TARGETS, MANY));
    crowd_expect_all(R | D);
}

/* An on-link route over "c", which the kernel ignores without a carrier, and the default route over "a". */
static void begin_with_ignored_route(void)
{
    namespace_add_second_pair();
    namespace_ip("route add 198.51.100.0/25 dev c");
    begin_ipv4();
    for (unsigned i = 0; i < TARGETS; i++)
        assert_int_equal(crowd.flags[i], i < 127 ? R | D : R);
}

static void expect_ignored_route(void)
{
    namespace_set_carrier("c", "d", false);
    expect_changes(127, MANY);
    crowd_expect_all(R);
    namespace_set_carrier("c", "d", true);
    expect_changes(127, MANY);
    for (unsigned i = 0; i < TARGETS; i++)
        assert_int_equal(crowd.flags[i], i < 127 ? R | D : R);
}

TEST(routes_that_were_ignored_without_a_carrier_return)
{
    namespace_sysctl("net.ipv4.conf.all.ignore_routes_with_linkdown", "1");
    begin_with_ignored_route();
    expect_ignored_route();
}

TEST(routes_that_are_ignored_from_now_on_return)
{
    begin_with_ignored_route();
    namespace_sysctl("net.ipv4.conf.all.ignore_routes_with_linkdown", "1");
    expect_ignored_route();
}

TEST(routes_that_are_ignored_over_one_link_return)
{
    begin_with_ignored_route();
    namespace_sysctl("net.ipv4.conf.c.ignore_routes_with_linkdown", "1");
    expect_ignored_route();
}

/* A new link has the default setting. */
TEST(routes_that_are_ignored_over_a_new_link_return)
{
    namespace_sysctl("net.ipv4.conf.default.ignore_routes_with_linkdown", "1");
    begin_with_ignored_route();
    expect_ignored_route();
}

TEST(a_link_costs_no_query_after_routes_are_no_longer_ignored)
{
    namespace_sysctl("net.ipv4.conf.a.ignore_routes_with_linkdown", "1");
    namespace_add_second_pair();
    begin_ipv4();
    namespace_sysctl("net.ipv4.conf.a.ignore_routes_with_linkdown", "0");
    (void)crowd_settle();
    AFTER("link set dev c mtu 1400", expect_no_changes(0));
}

/* ---- Targets that share with none ------------------------------------------------------------------------------- */

static const struct own_row {
    const char *name;
    bool is_pair;
} own_rows[] = { { "notify_path", false }, { "pair", true } };

static void watch_own(const struct own_row *row)
{
    char address[32];

    for (unsigned i = 0; i < TARGETS; i++) {
        snprintf(address, sizeof address, "198.51.100.%u", 1 + i);
        crowd.targets[i] = row->is_pair ? expect_pair("192.0.2.2", address)
                                        : expect_option(address, kSCNetworkReachabilityOptionNotifyPath);
        assert_true(SCNetworkReachabilityScheduleWithRunLoop(crowd.targets[i], crowd.loop, kSCRunLoopDefaultMode));
    }
    (void)crowd_settle();
}

TEST_EACH(a_container_that_comes_and_goes_costs_no_query_but_those_of_sweeps, own_rows)
{
    crowd_route(true, "0.0.0.0/0", GATEWAY);
    watch_own(row);
    for (unsigned i = 0; i < 2; i++) {
        sweeps_are_off = i == 0;
        queries = 0;
        namespace_ip("link add name x type veth peer name y; link set dev x up; address add 10.7.0.1/24 dev x");
        (void)crowd_settle();
        namespace_ip("link delete dev x");
        (void)crowd_settle();
        assert_in_range(queries, 0, i == 0 ? 0 : 2 * SWEPT_QUERIES * TARGETS);
    }
    namespace_ip("link set dev a down");
    (void)crowd_settle();
    for (unsigned i = 0; i < TARGETS; i++)
        assert_int_equal(expect_flags_of(crowd.targets[i]), 0);
}

/* The packets have the address of another link then. */
TEST(the_link_that_has_the_source_counts)
{
    struct own_row row = { "notify_path", false };

    namespace_add_second_pair();
    namespace_ip("address delete 192.0.2.2/24 dev a; route add 198.51.100.0/24 dev a");
    watch_own(&row);
    for (unsigned i = 0; i < 2; i++) {
        namespace_ip("link add name x type veth peer name y");
        (void)crowd_settle();
        namespace_ip("link delete dev x");
        (void)crowd_settle();
    }
    EXPECT_SOURCE(crowd.targets[0], "203.0.113.2");
    queries = 0;
    namespace_ip("address add 203.0.113.3/32 dev c");
    (void)crowd_settle();
    assert_true(queries >= TARGETS);
}

/* ---- IPv6 ------------------------------------------------------------------------------------------------------- */

#define IPV6_GATEWAY "2001:db8::1"

static const struct ipv6_row {
    const char *name, *route;
    uint32_t options;
} ipv6_rows[] = {
    { "plain", "default via " IPV6_GATEWAY, 0 },
    { "plain_with_a_lifetime", "default via " IPV6_GATEWAY " expires 600", 0 },
    { "notify_path", "default via " IPV6_GATEWAY, kSCNetworkReachabilityOptionNotifyPath },
    { "notify_path_with_a_lifetime", "default via " IPV6_GATEWAY " expires 600",
      kSCNetworkReachabilityOptionNotifyPath },
    { "no_route_beside_a_source_specific_one", "2001:db8:2::/48 from 2001:db8:77::/64 via " IPV6_GATEWAY, 0 },
};

static void watch_ipv6(const struct ipv6_row *row)
{
    char address[32];

    namespace_ip("-6 route add %s", row->route);
    for (unsigned i = 0; i < TARGETS; i++) {
        snprintf(address, sizeof address, "2001:db8:1::%x", 1 + i);
        crowd.targets[i] = expect_option(address, row->options);
        assert_true(SCNetworkReachabilityScheduleWithRunLoop(crowd.targets[i], crowd.loop, kSCRunLoopDefaultMode));
    }
    (void)crowd_settle();
}

static void let_a_container_come_and_go(void)
{
    namespace_ip("link add name x type veth peer name y; link set dev x up; link set dev y up");
    (void)crowd_settle();
    namespace_ip("link delete dev x");
    (void)crowd_settle();
}

TEST_EACH(a_container_costs_ipv6_targets_no_query_but_those_of_sweeps, ipv6_rows)
{
    watch_ipv6(row);
    for (unsigned i = 0; i < 2; i++) {
        sweeps_are_off = i == 0;
        queries = 0;
        let_a_container_come_and_go();
        assert_in_range(queries, 0, i == 0 ? 0 : 2 * SWEPT_QUERIES * TARGETS);
    }
}

static void expect_flags_of_all(SCNetworkReachabilityFlags flags)
{
    for (unsigned i = 0; i < TARGETS; i++)
        assert_int_equal(expect_flags_of(crowd.targets[i]), flags);
}

TEST_EACH(ipv6_targets_follow_their_own_link, ipv6_rows)
{
    watch_ipv6(row);
    let_a_container_come_and_go();
    namespace_ip("link set dev a down");
    (void)crowd_settle();
    expect_flags_of_all(0);
    namespace_ip("link set dev a up; -6 address replace 2001:db8::2/64 dev a nodad");
    namespace_ip("-6 route replace default via " IPV6_GATEWAY);
    (void)crowd_settle();
    expect_flags_of_all(R);
}

/* The kernel prefers an address that is not deprecated, although it is of another link. */
TEST(an_ipv6_address_of_another_link_can_become_the_source)
{
    namespace_add_second_pair();
    namespace_ip("-6 address flush dev c scope global");
    watch_ipv6(&ipv6_rows[2]);
    let_a_container_come_and_go();
    let_a_container_come_and_go();
    namespace_ip("-6 address change 2001:db8::2/64 dev a preferred_lft 0");
    (void)crowd_settle();
    let_a_container_come_and_go();
    EXPECT_SOURCE(crowd.targets[0], "2001:db8::2");
    namespace_ip("-6 address add 2001:db8:c::2/64 dev c nodad");
    (void)crowd_settle();
    EXPECT_SOURCE(crowd.targets[0], "2001:db8:c::2");
}

/* A source-specific route leads to them then. */
TEST(an_ipv6_address_in_the_prefix_of_a_route_counts)
{
    watch_ipv6(&ipv6_rows[4]);
    let_a_container_come_and_go();
    namespace_ip("-6 route add 2001:db8:1::/64 from 2001:db8:1:1::/64 via " IPV6_GATEWAY);
    (void)crowd_settle();
    expect_flags_of_all(0);
    let_a_container_come_and_go();
    namespace_ip("-6 address add 2001:db8:1:1::2/128 dev lo nodad");
    (void)crowd_settle();
    expect_flags_of_all(R);
}
