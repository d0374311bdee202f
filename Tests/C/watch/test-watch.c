/* SPDX-License-Identifier: MIT */
/* Each kind of network change makes a callback. Each test has its own namespace. */
#include "kernel/rtnetlink.h"
#include "route/evaluate.h"
#include "support/test.h"

static struct watcher watcher; /* stopped at the end of each test */

/* The flags of a new target, which was never scheduled. */
#define EXPECT_FRESH(address, flags) \
    do { \
        SCNetworkReachabilityRef fresh = expect_target(address); \
        assert_int_equal(expect_flags_of(fresh), expect_detectable(flags)); \
        SCNetworkReachabilityRelease(fresh); \
    } while (0)

/* IPv6 avoids a gateway whose neighbour entry has failed. There is no message about the routes. */
TEST(an_ipv6_gateway_that_fails_and_comes_back_reports_the_other_route)
{
    namespace_add_second_pair();
    namespace_ip("-6 route add 2001:db8:1::/48 via 2001:db8::1 dev a metric 100");
    namespace_ip("-6 route append 2001:db8:1::/48 dev c metric 100");
    namespace_ip("neigh add 2001:db8::1 lladdr 02:00:00:00:00:01 dev a nud reachable");
    watcher_start(&watcher, expect_target("2001:db8:1::7"));
    assert_int_equal(expect_flags_of(watcher.target), R);
    idle_perform(watcher.loop); /* what the set-up has left to do would hide a missed message */
    AFTER("neigh change 2001:db8::1 dev a nud failed", EXPECT_CHANGE(&watcher, R | D));
    EXPECT_FRESH("2001:db8:1::7", R | D);
    AFTER("neigh replace 2001:db8::1 lladdr 02:00:00:00:00:01 dev a nud reachable", EXPECT_CHANGE(&watcher, R));
    EXPECT_FRESH("2001:db8:1::7", R);
}

/* Routers often have the address fe80::1 on each of their links. */
TEST(an_ipv6_gateway_comes_back_while_one_with_the_same_address_responds)
{
    struct watcher returning;

    namespace_add_second_pair();
    namespace_ip("-6 route add 2001:db8:2::/48 via fe80::1 dev c");
    namespace_ip("-6 route add 2001:db8:1::/48 via fe80::1 dev a metric 100");
    namespace_ip("-6 route append 2001:db8:1::/48 dev c metric 100");
    namespace_ip("neigh add fe80::1 lladdr 02:00:00:00:00:01 dev a nud reachable");
    namespace_ip("neigh add fe80::1 lladdr 02:00:00:00:00:02 dev c nud reachable");
    watcher_start(&watcher, expect_target("2001:db8:2::7"));
    watcher_schedule_on(&returning, expect_target("2001:db8:1::7"), watcher.loop);
    EXPECT_QUIET(&returning);
    AFTER("neigh change fe80::1 dev a nud failed", EXPECT_CHANGE(&returning, R | D));
    AFTER("neigh replace fe80::1 lladdr 02:00:00:00:00:01 dev a nud reachable", EXPECT_CHANGE(&returning, R));
}

/* ---- The same for new targets and scheduled ones ---------------------------------------------------------------- */

#define DESTINATIONS 24

/* GetFlags and GetPath of a new target return the flags of the scheduled one, with these options. Returns them. */
static SCNetworkReachabilityFlags expect_same_flags(const char *address, uint32_t options)
{
    SCOPED_TARGET fresh = expect_option(address, options);
    const SCNetworkReachabilityFlags flags = expect_flags_of(fresh);
    struct watcher scheduled;

    watcher_start(&scheduled, expect_option(address, options));
    assert_int_equal(expect_path_of(fresh).flags, flags);
    assert_int_equal(expect_flags_of(scheduled.target), flags);
    assert_int_equal(expect_path_of(scheduled.target).flags, flags);
    watcher_stop(&scheduled);
    return flags;
}

/* Some addresses of the route are direct, and some are not. Only the address decides that. */
static void expect_both_legs(const char *prefix)
{
    unsigned direct = 0;

    for (unsigned i = 1; i <= DESTINATIONS; i++) {
        const char *address = unit_text("%s%u", prefix, i);
        SCNetworkReachabilityFlags flags = expect_same_flags(address, 0);
        assert_true(flags == R || flags == (R | D));
        assert_int_equal(expect_same_flags(address, kSCNetworkReachabilityOptionNotifyPath), flags);
        direct += flags == (R | D);
    }
    assert_true(direct > 0 && direct < DESTINATIONS);
}

TEST(a_multipath_route_is_as_direct_as_the_leg_that_the_kernel_names)
{
    namespace_add_second_pair();
    namespace_ip("route add 198.51.0.0/16 nexthop via 192.0.2.1 dev a nexthop dev c");
    namespace_ip("nexthop add id 1 via 2001:db8::1 dev a; -6 nexthop add id 2 dev c; nexthop add id 10 group 1/2");
    namespace_ip("route add 2001:db8:1::/48 nhid 10");
    expect_both_legs("198.51.100.");
    expect_both_legs("2001:db8:1::");
}

TEST(a_route_over_lo_is_direct_and_not_local)
{
    static const char *const addresses[] = { "198.51.100.7", "2001:db8:1::7" };

    namespace_ip("route add 198.51.100.0/24 dev lo; route add 2001:db8:1::/48 dev lo");
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(expect_same_flags(addresses[i], 0), R | D);
        assert_int_equal(expect_same_flags(addresses[i], kSCNetworkReachabilityOptionNotifyPath), R | D);
        EXPECT_BOUND(addresses[i], "lo", R | D, None);
    }
}

/* ---- Routes ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *ip, *address, *gateway, *second_gateway;
} defaults[] = {
    { "far", "", "198.51.100.7", "192.0.2.1", "203.0.113.1" },
    { "any", "", "0.0.0.0", "192.0.2.1", "203.0.113.1" },
    { "any_ipv6", "", "::", "192.0.2.1", "203.0.113.1" },
    { "ipv6_far", "-6 ", "2001:db8:1::7", "2001:db8::1", "2001:db8:c::1" },
    { "ipv6_any", "-6 ", "0.0.0.0", "2001:db8::1", "2001:db8:c::1" },
    { "ipv6_any_ipv6", "-6 ", "::", "2001:db8::1", "2001:db8:c::1" },
};

TEST_EACH(a_default_route_is_added_replaced_and_deleted, defaults)
{
    namespace_add_second_pair();
    watcher_start(&watcher, expect_target(row->address));
    namespace_ip("%sroute add default via %s", row->ip, row->gateway);
    EXPECT_CHANGE(&watcher, R);
    EXPECT_FRESH(row->address, R);
    namespace_ip("%sroute replace default dev a", row->ip);
    EXPECT_CHANGE(&watcher, R | D);
    EXPECT_FRESH(row->address, R | D);
    namespace_ip("%sroute replace unreachable default", row->ip);
    EXPECT_CHANGE(&watcher, 0);
    namespace_ip("%sroute replace default via %s", row->ip, row->gateway);
    EXPECT_CHANGE(&watcher, R);
    namespace_ip("%sroute replace default via %s", row->ip, row->second_gateway);
    EXPECT_CHANGE_OVER(&watcher, R, "c");
    namespace_ip("%sroute delete default", row->ip);
    EXPECT_CHANGE(&watcher, 0);
    EXPECT_FRESH(row->address, 0);
}

TEST(a_route_of_the_other_family_changes_nothing)
{
    struct watcher ipv4, ipv6;

    WATCH(&ipv4, "198.51.100.7", &ipv6, "2001:db8:1::7");
    AFTER("route add default via 192.0.2.1", EXPECT_CHANGE(&ipv4, R));
    EXPECT_QUIET(&ipv6);
    AFTER("-6 route add default via 2001:db8::1", EXPECT_CHANGE(&ipv6, R));
    EXPECT_QUIET(&ipv4);
}

TEST(a_longer_prefix_is_added_and_deleted)
{
    struct watcher ipv4, ipv6;

    namespace_add_default_routes();
    WATCH(&ipv4, "198.51.100.7", &ipv6, "2001:db8:1::7");
    namespace_ip("route add blackhole 198.51.100.7/32; -6 route add blackhole 2001:db8:1::7/128");
    EXPECT_CHANGE(&ipv4, 0, &ipv6, 0);
    namespace_ip("route delete blackhole 198.51.100.7/32; -6 route delete blackhole 2001:db8:1::7/128");
    EXPECT_CHANGE(&ipv4, R, &ipv6, R);
    namespace_ip("route add unreachable 198.51.100.8/32; -6 route add unreachable 2001:db8:1::8/128");
    EXPECT_QUIET(&ipv4, &ipv6);
}

TEST(a_rule_selects_another_table)
{
    namespace_ip("rule add from all lookup 100");
    watcher_start(&watcher, expect_target("198.51.100.7"));
    AFTER("route add 198.51.100.0/24 via 192.0.2.1 table 100", EXPECT_CHANGE(&watcher, R));
    AFTER("route flush table 100", EXPECT_CHANGE(&watcher, 0));
}

/* Each step changes the result, but must not change the default path. */
TEST(the_halves_of_a_default_route_come_and_go)
{
    struct watcher any;

    watcher_start(&any, expect_target("0.0.0.0"));
    AFTER("route add blackhole 0.0.0.0/8; -6 route add unreachable 2001::/32", EXPECT_QUIET(&any));
    AFTER("route add 128.0.0.0/1 via 192.0.2.1; route add 0.0.0.0/1 via 192.0.2.1", EXPECT_CHANGE(&any, R));
    EXPECT_FRESH("::", R);
    AFTER("route delete 0.0.0.0/1; route delete 128.0.0.0/1", EXPECT_CHANGE(&any, 0));
    EXPECT_FRESH("::", 0);
    AFTER("-6 route add ::/1 via 2001:db8::1; -6 route add 8000::/1 via 2001:db8::1", EXPECT_CHANGE(&any, R));
    AFTER("-6 route delete ::/1; -6 route delete 8000::/1", EXPECT_CHANGE(&any, 0));
    EXPECT_FRESH("0.0.0.0", 0);
}

TEST(a_policy_rule_is_added_and_deleted)
{
    struct watcher ipv4, ipv6, any;

    namespace_add_default_routes();
    WATCH(&ipv4, "198.51.100.7", &ipv6, "2001:db8:1::7", &any, "::");
    AFTER("rule add from all prohibit priority 100", EXPECT_CHANGE(&ipv4, 0));
    EXPECT_QUIET(&ipv6);
    AFTER("-6 rule add from all prohibit priority 100", EXPECT_CHANGE(&ipv6, 0, &any, 0));
    EXPECT_FRESH("198.51.100.7", 0);
    EXPECT_FRESH("::", 0);
    AFTER("rule delete from all prohibit priority 100", EXPECT_CHANGE(&ipv4, R, &any, R));
    AFTER("-6 rule delete from all prohibit priority 100", EXPECT_CHANGE(&ipv6, R));
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

TEST(a_link_goes_down_and_up)
{
    struct watcher near, far, any, ipv6;

    namespace_ip("route add default via 192.0.2.1");
    WATCH(&near, "192.0.2.9", &far, "198.51.100.7", &any, "0.0.0.0", &ipv6, "2001:db8::9");
    namespace_ip("link set dev a down"); /* without a message about IPv4 routes */
    EXPECT_CHANGE(&near, 0, &far, 0, &any, 0, &ipv6, 0);
    EXPECT_FRESH("192.0.2.9", 0);
    EXPECT_FRESH("0.0.0.0", 0);
    AFTER("link set dev a up", EXPECT_END(&near, R | D));
    EXPECT_QUIET(&far); /* the kernel does not bring static routes back */
    AFTER("route add default via 192.0.2.1", EXPECT_CHANGE(&far, R, &any, R));
}

TEST(the_carrier_is_lost_and_comes_back)
{
    struct watcher near, far, any, ipv6;

    namespace_add_default_routes();
    WATCH(&near, "192.0.2.9", &far, "198.51.100.7", &any, "::", &ipv6, "2001:db8:1::7");
    AFTER("link set dev b down", EXPECT_CHANGE(&near, 0, &far, 0, &any, 0, &ipv6, 0));
    EXPECT_FRESH("198.51.100.7", 0);
    AFTER("link set dev b up", EXPECT_CHANGE(&near, R | D, &far, R, &any, R, &ipv6, R));
    EXPECT_FRESH("198.51.100.7", R);
}

/* With IPv6, each of these changes also adds or deletes addresses and routes, with messages. Without IPv6 there is only
 * the message about the link. */
TEST(without_ipv6_link_messages_suffice)
{
    struct watcher near, far, any;

    namespace_sysctl("net.ipv6.conf.all.disable_ipv6", "1");
    namespace_ip("route add default via 192.0.2.1");
    WATCH(&near, "192.0.2.9", &far, "198.51.100.7", &any, "0.0.0.0");
    AFTER("link set dev b down", EXPECT_CHANGE(&near, 0, &far, 0, &any, 0));
    AFTER("link set dev b up", EXPECT_CHANGE(&near, R | D, &far, R, &any, R));
    AFTER("link set dev a down", EXPECT_CHANGE(&near, 0, &far, 0, &any, 0));
    EXPECT_FRESH("198.51.100.7", 0);
}

TEST(a_device_is_deleted)
{
    struct watcher near, far, own, ipv6;

    namespace_ip("route add default via 192.0.2.1");
    WATCH(&near, "192.0.2.9", &far, "198.51.100.7", &own, "192.0.2.2", &ipv6, "2001:db8::9");
    AFTER("link delete dev a", EXPECT_CHANGE(&near, 0, &far, 0, &own, 0, &ipv6, 0));
    EXPECT_FRESH("192.0.2.2", 0);
    namespace_add_pair();
    EXPECT_END(&near, R | D, &own, R | L | D, &ipv6, R | D);
}

TEST(a_device_moves_to_another_namespace)
{
    struct watcher near, bound;
    struct namespace_other other;

    namespace_other_open(&other);
    watcher_start(&near, expect_target("192.0.2.9"));
    watcher_start(&bound, expect_bound("192.0.2.9", "a"));
    namespace_ip("link set dev a netns %d", (int)other.pid);
    EXPECT_CHANGE(&near, 0, &bound, 0);
    EXPECT(bound.target, 0, InterfaceMissing);
    EXPECT_FRESH("192.0.2.9", 0);
    watcher_stop(&near);
    watcher_stop(&bound);
    namespace_other_close(&other);
}

TEST(a_tun_is_closed)
{
    struct watcher near, any;
    const int tun = namespace_require_tun("t0");

    namespace_ip("address add 203.0.113.2/24 dev t0; route add default dev t0");
    WATCH(&near, "203.0.113.9", &any, "0.0.0.0");
    EXPECT(near.target, R | T, None);
    close(tun);
    EXPECT_CHANGE(&near, 0, &any, 0);
    EXPECT_FRESH("203.0.113.9", 0);
}

TEST(ignore_routes_with_linkdown_is_switched_on)
{
    const char *ipv4_switch = "net.ipv4.conf.all.ignore_routes_with_linkdown";
    struct watcher ipv4, ipv6;

    if (namespace_kernel_is_older(5, 11)) {
        print_message("before Linux 5.11, \"all\" does not count for IPv4: this is the switch of the link\n");
        ipv4_switch = "net.ipv4.conf.a.ignore_routes_with_linkdown";
    }
    namespace_add_second_pair();
    namespace_ip("route add default via 192.0.2.1 metric 10; route add default via 203.0.113.1 metric 20");
    namespace_ip("-6 route add default via 2001:db8::1 metric 10; -6 route add default via 2001:db8:c::1 metric 20");
    WATCH(&ipv4, "198.51.100.7", &ipv6, "2001:db8:1::7");
    AFTER("link set dev b down", EXPECT_CHANGE(&ipv4, 0, &ipv6, 0));
    namespace_sysctl(ipv4_switch, "1");
    EXPECT_CHANGE(&ipv4, R);
    EXPECT_FRESH("198.51.100.7", R);
    namespace_sysctl("net.ipv6.conf.all.ignore_routes_with_linkdown", "1");
    EXPECT_CHANGE(&ipv6, R);
    EXPECT_FRESH("2001:db8:1::7", R);
    namespace_sysctl(ipv4_switch, "0");
    EXPECT_CHANGE(&ipv4, 0);
}

/* ---- Addresses -------------------------------------------------------------------------------------------------- */

TEST(the_last_address_is_deleted)
{
    struct watcher near, far, any, own;

    namespace_ip("route add default via 192.0.2.1");
    WATCH(&near, "192.0.2.9", &far, "198.51.100.7", &any, "0.0.0.0", &own, "192.0.2.2");
    namespace_ip("address delete 192.0.2.2/24 dev a"); /* the kernel deletes the default route without a message */
    EXPECT_CHANGE(&near, 0, &far, 0, &any, 0, &own, 0);
    EXPECT_FRESH("198.51.100.7", 0);
    EXPECT_FRESH("0.0.0.0", 0);
    AFTER("address add 192.0.2.2/24 dev a", EXPECT_CHANGE(&near, R | D, &own, R | L | D));
}

TEST(the_last_ipv6_source_is_deleted)
{
    struct watcher far, own;

    namespace_ip("-6 route add default via fe80::1 dev a");
    WATCH(&far, "2001:db8:1::7", &own, "2001:db8::2");
    AFTER("address delete 2001:db8::2/64 dev a", EXPECT_CHANGE(&far, 0));
    EXPECT(far.target, 0, NoSourceAddress);
    EXPECT_CHANGE(&own, 0);
    EXPECT_FRESH("2001:db8:1::7", 0);
    AFTER("address add 2001:db8::2/64 dev a nodad", EXPECT_CHANGE(&far, R));
    EXPECT_END(&own, R | L | D);
}

TEST(ipv6_is_switched_off_and_on)
{
    struct watcher near, far;

    namespace_ip("-6 route add default via 2001:db8::1");
    WATCH(&near, "2001:db8::9", &far, "::");
    namespace_sysctl("net.ipv6.conf.a.disable_ipv6", "1");
    EXPECT_CHANGE(&near, 0, &far, 0);
    EXPECT_FRESH("2001:db8::9", 0);
    namespace_sysctl("net.ipv6.conf.a.disable_ipv6", "0");
    AFTER("address add 2001:db8::2/64 dev a nodad", EXPECT_END(&near, R | D));
}

/* The kernel sends no message about the route, and none about the link or an address of the link. */
TEST(a_leg_of_a_multipath_route_is_back_with_ipv6)
{
    struct watcher far;

    namespace_sysctl("net.ipv6.conf.default.addr_gen_mode", "1");
    namespace_add_second_pair();
    namespace_ip("route add 2001:db8:1::/48 nexthop via 2001:db8::1 dev a nexthop via 2001:db8:c::1 dev c");
    watcher_start(&far, expect_target("2001:db8:1::7"));
    namespace_sysctl("net.ipv6.conf.c.disable_ipv6", "1");
    namespace_set_carrier("a", "b", false);
    EXPECT_END(&far, 0);
    EXPECT_QUIET(&far);
    namespace_sysctl("net.ipv6.conf.c.disable_ipv6", "0");
    EXPECT_END(&far, R);
    EXPECT_FRESH("2001:db8:1::7", R);
}

/* Returns a target to which the kernel sends over `interface`, which is one of two legs. */
static SCNetworkReachabilityRef expect_target_over(const char *interface)
{
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;
    char address[40];

    for (unsigned i = 1; i < 100; i++) {
        snprintf(address, sizeof address, "2001:db8:1::%x", i);
        SCNetworkReachabilityRef target = expect_target(address);
        assert_true(SCNetworkReachabilityGetPath(target, &path));
        if (strcmp(path.interfaceName, interface) == 0)
            return target;
        SCNetworkReachabilityRelease(target);
    }
    fail_msg("the kernel sends to no address over %s", interface);
    return NULL;
}

/* The only message is that the link's route to all multicast addresses was deleted. */
TEST_WITH(namespace_require_lo, NULL, a_leg_of_a_multipath_route_is_gone_with_ipv6)
{
    struct watcher far;

    namespace_sysctl("net.ipv6.conf.default.addr_gen_mode", "1");
    namespace_add_pair();
    namespace_add_second_pair();
    namespace_ip("-6 address flush dev a");
    namespace_ip("-6 route add 2001:db8:1::/48 nexthop via fe80::1 dev a nexthop via 2001:db8:c::1 dev c");
    namespace_set_carrier("c", "d", false);
    watcher_start(&far, expect_target_over("a"));
    EXPECT_QUIET(&far);
    namespace_sysctl("net.ipv6.conf.a.disable_ipv6", "1");
    (void)idle_perform(far.loop); /* one of the sweeps that begin every 5 s would notice it, too */
    assert_int_equal(far.flags, 0);
    EXPECT(far.target, 0, NoCarrier);
}

TEST_WITH(namespace_require_lo, NULL, a_tentative_address_becomes_a_source)
{
    struct watcher far;

    namespace_ip("link add name a type veth peer name b");
    namespace_sysctl("net.ipv6.conf.a.addr_gen_mode", "1");
    namespace_sysctl("net.ipv6.conf.b.addr_gen_mode", "1");
    namespace_sysctl("net.ipv6.neigh.a.retrans_time_ms", "300");
    namespace_ip("link set dev b up");
    namespace_set_up("a");
    namespace_ip("-6 route add 2001:db8:1::/48 via fe80::1 dev a; address add 2001:db8::2/64 dev a");
    watcher_start(&far, expect_target("2001:db8:1::7"));
    EXPECT_CHANGE(&far, R);
    EXPECT_FRESH("2001:db8:1::7", R);
}

TEST(the_local_address_of_a_pair_comes_and_goes)
{
    struct watcher ipv4, ipv6;

    watcher_start(&ipv4, expect_pair("192.0.2.3", "192.0.2.9"));
    watcher_start(&ipv6, expect_pair("2001:db8::3", "2001:db8::9"));
    AFTER("address add 192.0.2.3/24 dev a", EXPECT_CHANGE(&ipv4, R | D));
    AFTER("address add 2001:db8::3/64 dev a nodad", EXPECT_CHANGE(&ipv6, R | D));
    AFTER("address delete 192.0.2.3/24 dev a", EXPECT_CHANGE(&ipv4, 0));
    EXPECT(ipv4.target, 0, LocalAddressNotAssigned);
    AFTER("address delete 2001:db8::3/64 dev a", EXPECT_CHANGE(&ipv6, 0));
    EXPECT(ipv6.target, 0, LocalAddressNotAssigned);
}

TEST_WITH(namespace_require, NULL, loopback_goes_down_and_up)
{
    struct watcher ipv4, ipv6;

    WATCH(&ipv4, "127.0.0.1", &ipv6, "::1");
    AFTER("link set dev lo up", EXPECT_CHANGE(&ipv4, R | L | D, &ipv6, R | L | D));
    AFTER("link set dev lo down", EXPECT_CHANGE(&ipv4, 0, &ipv6, 0));
    AFTER("link set dev lo up", EXPECT_CHANGE(&ipv4, R | L | D, &ipv6, R | L | D));
}

/* ---- Nexthop objects -------------------------------------------------------------------------------------------- */

static void check_nexthop(void)
{
    struct watcher ipv4, ipv6, any;

    namespace_ip("nexthop add id 1 via 192.0.2.1 dev a; nexthop add id 2 via 2001:db8::1 dev a");
    namespace_ip("route add default nhid 1; -6 route add 2001:db8:1::/48 nhid 2");
    WATCH(&ipv4, "198.51.100.7", &ipv6, "2001:db8:1::7", &any, "0.0.0.0");
    AFTER("nexthop replace id 1 via 203.0.113.1 dev c", EXPECT_CHANGE(&ipv4, R));
    EXPECT_INTERFACE(ipv4.target, "c");
    EXPECT_CHANGE(&any, R);
    AFTER("nexthop replace id 2 via 2001:db8:c::1 dev c", EXPECT_CHANGE(&ipv6, R));
    EXPECT_INTERFACE(ipv6.target, "c");
    AFTER("nexthop replace id 1 dev c", EXPECT_CHANGE(&ipv4, R | D, &any, R | D));
    AFTER("nexthop delete id 1", EXPECT_CHANGE(&ipv4, 0, &any, 0));
    EXPECT_FRESH("198.51.100.7", 0);
    AFTER("nexthop delete id 2", EXPECT_CHANGE(&ipv6, 0));
    EXPECT_FRESH("2001:db8:1::7", 0);
    watcher_stop(&ipv4);
    watcher_stop(&ipv6);
    watcher_stop(&any);
}

TEST(a_nexthop_object_is_replaced_and_deleted)
{
    namespace_add_second_pair();
    check_nexthop();
}

TEST(a_nexthop_object_is_replaced_and_deleted_without_compatible_messages)
{
    namespace_add_second_pair();
    namespace_sysctl("net.ipv4.nexthop_compat_mode", "0");
    check_nexthop();
}

TEST(a_nexthop_object_loses_its_carrier)
{
    struct watcher ipv4, ipv6;

    namespace_ip("nexthop add id 1 via 192.0.2.1 dev a; nexthop add id 2 via 2001:db8::1 dev a");
    namespace_ip("route add default nhid 1; -6 route add 2001:db8:1::/48 nhid 2");
    WATCH(&ipv4, "198.51.100.7", &ipv6, "2001:db8:1::7");
    AFTER("link set dev b down", EXPECT_CHANGE(&ipv4, 0, &ipv6, 0));
    EXPECT_FRESH("198.51.100.7", 0);
    EXPECT_FRESH("2001:db8:1::7", 0);
}

/* ---- Expiry ----------------------------------------------------------------------------------------------------- */

/* The kernel deletes an expired route, and reports it, up to 31 s after its end. */
#define LATE 10

TEST(an_ipv6_route_expires)
{
    struct watcher far, any;
    double started = watcher_now();

    namespace_ip("-6 route add default via 2001:db8::1 expires 2");
    WATCH(&far, "2001:db8:1::7", &any, "::");
    EXPECT_EACH(R, None, far.target, any.target);
    EXPECT_CHANGE(&far, 0);
    assert_true(watcher_now() - started < time_limit_of(LATE));
    assert_true(watcher_now() - started > 1.5);
    EXPECT_CHANGE(&any, 0);
    assert_true(watcher_now() - started < time_limit_of(LATE));
    EXPECT_FRESH("2001:db8:1::7", 0);
    EXPECT_FRESH("::", 0);
}

TEST(a_renewed_ipv6_route_expires_later)
{
    struct watcher far;

    watcher_start(&far, expect_target("2001:db8:1::7"));
    AFTER("-6 route add default via 2001:db8::1 expires 1", EXPECT_CHANGE(&far, R));
    double started = watcher_now();
    AFTER("-6 route replace default via 2001:db8::1 expires 2", EXPECT_CHANGE(&far, 0));
    assert_true(watcher_now() - started > 1.5);
    assert_true(watcher_now() - started < time_limit_of(LATE));
}

TEST(an_expired_ipv6_route_is_replaced_by_the_next)
{
    struct watcher far;

    namespace_add_second_pair();
    namespace_ip("-6 route add default via 2001:db8:c::1 metric 2000");
    double started = watcher_now();
    namespace_ip("-6 route add default via 2001:db8::1 metric 10 expires 1");
    watcher_start(&far, expect_target("2001:db8:1::7"));
    EXPECT_INTERFACE(far.target, "a");
    EXPECT_CHANGE(&far, R);
    EXPECT_INTERFACE(far.target, "c");
    assert_true(watcher_now() - started < time_limit_of(LATE));
}

/* When its route expires, a target may already be unreachable for another reason. */
TEST(an_ipv6_route_expires_while_there_is_no_carrier)
{
    struct watcher far;

    namespace_add_second_pair();
    namespace_ip("-6 route add default via 2001:db8:c::1 metric 2000");
    namespace_ip("-6 route add default via 2001:db8::1 metric 10 expires 3");
    double started = watcher_now();
    namespace_set_carrier("a", "b", false);
    watcher_start(&far, expect_target("2001:db8:1::7"));
    EXPECT(far.target, 0, NoCarrier);
    EXPECT_CHANGE(&far, R); /* by the other route, which was hidden until then */
    EXPECT_INTERFACE(far.target, "c");
    assert_true(watcher_now() - started < time_limit_of(LATE));
}

/* ---- Bound to an interface -------------------------------------------------------------------------------------- */

TEST_WITH(namespace_require, NULL, the_interface_of_a_bound_target_is_made_renamed_and_deleted)
{
    struct watcher ipv4, ipv6;

    watcher_start(&ipv4, expect_bound("192.0.2.9", "a"));
    watcher_start(&ipv6, expect_bound("fe80::9", "a"));
    EXPECT(ipv4.target, 0, InterfaceMissing);
    namespace_add_pair();
    EXPECT_END(&ipv4, R | D, &ipv6, R | D);
    AFTER("link set dev a down", EXPECT_CHANGE(&ipv4, 0, &ipv6, 0));
    namespace_ip("link set dev a name other");
    namespace_set_up("other");
    EXPECT(ipv4.target, 0, InterfaceMissing);
    namespace_ip("link set dev other down; link set dev other name a; link set dev a up");
    EXPECT_END(&ipv4, R | D, &ipv6, R | D);
    AFTER("link delete dev a", EXPECT_CHANGE(&ipv4, 0, &ipv6, 0));
    EXPECT(ipv4.target, 0, InterfaceMissing);
    namespace_add_pair(); /* with another index */
    EXPECT_END(&ipv4, R | D, &ipv6, R | D);
}

TEST(another_interface_takes_the_name)
{
    namespace_add_second_pair();
    watcher_start(&watcher, expect_bound("203.0.113.9", "a"));
    EXPECT(watcher.target, 0, NoRoute);
    namespace_ip("link set dev a down; link set dev a name z; link set dev c down");
    AFTER("link set dev c name a; link set dev a up", EXPECT_END(&watcher, R | D));
}

/* ---- Irrelevant changes ----------------------------------------------------------------------------------------- */

TEST(irrelevant_changes_make_no_callback)
{
    struct watcher ipv4, ipv6, any, own;

    namespace_add_default_routes();
    WATCH(&ipv4, "198.51.100.7", &ipv6, "2001:db8:1::7", &any, "0.0.0.0", &own, "192.0.2.2");
    namespace_ip("link set dev a mtu 1400; link set dev a promisc on; link set dev a alias another");
    namespace_ip("address change 192.0.2.2/24 dev a valid_lft 600 preferred_lft 300");
    namespace_ip("address change 2001:db8::2/64 dev a valid_lft 600 preferred_lft 300");
    namespace_ip("address add 192.0.2.77/24 dev a; route replace default via 192.0.2.5");
    namespace_ip("route add 203.0.113.0/24 via 192.0.2.1; rule add from 203.0.113.9 lookup main");
    namespace_ip("nexthop add id 1 via 192.0.2.1 dev a; neighbour add 192.0.2.1 lladdr 02:00:00:00:00:01 dev a");
    EXPECT_QUIET(&ipv4, &ipv6, &any, &own);
    namespace_ip("route delete default"); /* but they are still watched */
    EXPECT_CHANGE(&ipv4, 0);
    EXPECT_QUIET(&any); /* over IPv6 now, with equal flags and interface */
}

/* Receives the same messages as the library, and notes whether a message reported the link as gone. A result does not
 * show that, because the library would query the link again at once. */
struct observer {
    struct rtnetlink rtnetlink;
    uint32_t index;
    bool gone;
};

static void note_link_gone(void *info, const struct message *message)
{
    struct observer *observer = info;

    if (message->kind == MESSAGE_LINK_GONE ||
        reach_link_table_find(&observer->rtnetlink.links, observer->index) == NULL)
        observer->gone = true;
}

/* Returns whether a message of the bridge reports the port as gone. Closes `fd`. */
static bool port_is_reported_gone(int fd, uint32_t index)
{
    _Alignas(struct nlmsghdr) char bytes[8192];
    const struct nlmsghdr *header = (const struct nlmsghdr *)bytes;
    const struct ifinfomsg *link = NLMSG_DATA(header);
    bool reported = false;

    while (recv(fd, bytes, sizeof bytes, 0) > 0)
        reported = reported || (header->nlmsg_type == RTM_DELLINK && link->ifi_family == AF_BRIDGE &&
                                (uint32_t)link->ifi_index == index);
    close(fd);
    return reported;
}

TEST(a_former_bridge_port_still_exists)
{
    static struct observer observer; /* it stays open if the test fails */
    int listener, error = 0;

    namespace_add_second_pair();
    namespace_ip("link add name br type bridge; link set dev br up; link set dev c master br");
    watcher_start(&watcher, expect_target("203.0.113.9"));
    assert_int_equal(reach_rtnetlink_open(&observer.rtnetlink, RTNETLINK_ALL, NULL), 0);
    assert_int_equal(reach_rtnetlink_read_links(&observer.rtnetlink), 0);
    observer.index = writer_index("c");
    listener = namespace_listen(RTMGRP_LINK);
    namespace_ip("link set dev c nomaster");
    assert_true(port_is_reported_gone(listener, observer.index));
    assert_int_equal(reach_rtnetlink_drain(&observer.rtnetlink, note_link_gone, &observer, &error), RTNETLINK_NOTHING);
    assert_false(observer.gone);
    assert_non_null(reach_link_table_find(&observer.rtnetlink.links, observer.index));
    reach_rtnetlink_close(&observer.rtnetlink);
    EXPECT_QUIET(&watcher);
    assert_int_equal(expect_flags_of(watcher.target), R | D);
    EXPECT_FRESH("203.0.113.9", R | D);
}

static void ignore(void *info, const struct message *message)
{
    (void)info, (void)message;
}

/* The reply is newer than the messages that were read: its link is still down in the link table. */
TEST(a_link_that_is_up_again_is_not_reported_as_lost)
{
    static struct rtnetlink rtnetlink; /* it stays open if the test fails */
    struct round_cache cache = ROUND_CACHE_EMPTY;
    const struct question item = { .destination = { AF_INET, { 198, 51, 100, 7 } } };
    struct path path;
    int error = 0;
    struct questions *questions = reach_questions_create(&item, 1, kSCNetworkReachabilityReasonNone);

    namespace_ip("route add default via 192.0.2.1");
    namespace_set_carrier("a", "b", false);
    assert_int_equal(reach_rtnetlink_open(&rtnetlink, RTNETLINK_ALL, NULL), 0);
    assert_int_equal(reach_rtnetlink_read_links(&rtnetlink), 0);
    reach_rtnetlink_drain(&rtnetlink, ignore, NULL, &error);
    assert_int_equal(reach_evaluate_questions(&rtnetlink, &cache, questions, 0, &path), 0);
    assert_int_equal(path.reason, kSCNetworkReachabilityReasonNoCarrier);
    namespace_set_carrier("a", "b", true);
    assert_int_equal(reach_evaluate_questions(&rtnetlink, &cache, questions, 0, &path), 0);
    assert_int_equal(path.flags, R);
    reach_rtnetlink_close(&rtnetlink);
    reach_questions_release(questions);
}

/* ---- NotifyPath ------------------------------------------------------------------------------------------------- */

TEST(notify_path_reports_gateway_source_and_reason)
{
    struct watcher plain, whole, ipv6;

    namespace_ip("address add 192.0.2.3/24 dev a");
    namespace_add_default_routes();
    watcher_start(&plain, expect_target("198.51.100.7"));
    watcher_start(&whole, expect_option("198.51.100.7", kSCNetworkReachabilityOptionNotifyPath));
    watcher_start(&ipv6, expect_option("2001:db8:1::7", kSCNetworkReachabilityOptionNotifyPath));
    EXPECT_QUIET(&whole, &ipv6);
    AFTER("route replace default via 192.0.2.5", EXPECT_CHANGE(&whole, R));
    EXPECT_GATEWAY(whole.target, "192.0.2.5");
    EXPECT_QUIET(&plain, &ipv6);
    AFTER("route replace default via 192.0.2.5 src 192.0.2.3", EXPECT_CHANGE(&whole, R));
    EXPECT_SOURCE(whole.target, "192.0.2.3");
    EXPECT_QUIET(&plain);
    AFTER("-6 route replace default via 2001:db8::5", EXPECT_CHANGE(&ipv6, R));
    EXPECT_QUIET(&whole);
    AFTER("route replace unreachable default", EXPECT_CHANGE(&whole, 0, &plain, 0));
    AFTER("route replace prohibit default", EXPECT_CHANGE(&whole, 0));
    EXPECT(whole.target, 0, RouteProhibited);
    EXPECT_QUIET(&plain);
    AFTER("link set dev a mtu 1400", EXPECT_QUIET(&whole, &ipv6));
}

static SCNetworkReachabilityPath last_path_of(SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;

    assert_true(SCNetworkReachabilityGetLastPath(target, &path));
    return path;
}

/* Changes before the loop is driven are in neither: GetPath may report them without a callback. */
TEST(the_last_path_matches_the_last_callback)
{
    struct watcher plain;

    namespace_ip("route add 198.51.100.0/24 via 192.0.2.1");
    watcher_start(&watcher, expect_option("198.51.100.7", kSCNetworkReachabilityOptionNotifyPath));
    watcher_start(&plain, expect_target("198.51.100.7"));
    SCNetworkReachabilityPath current = expect_path_of(watcher.target);
    SCNetworkReachabilityPath last = last_path_of(watcher.target);
    assert_memory_equal(&current, &last, sizeof last);
    namespace_ip("route del 198.51.100.0/24");
    assert_int_equal(expect_path_of(watcher.target).flags, 0);
    assert_int_equal(last_path_of(watcher.target).flags, R);
    assert_int_equal(last_path_of(plain.target).flags, 0);
    EXPECT_CHANGE(&watcher, 0);
    assert_int_equal(last_path_of(watcher.target).flags, 0);
    assert_int_equal(last_path_of(watcher.target).reason, kSCNetworkReachabilityReasonNoRoute);
    EXPECT_CHANGE(&plain, 0);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(watcher.target, watcher.loop, kSCRunLoopDefaultMode));
    namespace_ip("route add 198.51.100.0/24 via 192.0.2.1");
    assert_int_equal(last_path_of(watcher.target).flags, R); /* it is not watched */
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(watcher.target, watcher.loop, kSCRunLoopDefaultMode));
}

TEST(notify_path_works_for_the_default_path)
{
    struct watcher any, bound;
    const struct sockaddr_storage address = expect_sockaddr("0.0.0.0");
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    namespace_ip("route add default via 192.0.2.1");
    options.remoteAddress = (const struct sockaddr *)&address;
    options.interfaceName = "a";
    options.options = kSCNetworkReachabilityOptionNotifyPath;
    watcher_start(&any, expect_option("0.0.0.0", kSCNetworkReachabilityOptionNotifyPath));
    watcher_start(&bound, SCNetworkReachabilityCreateWithOptions(NULL, &options));
    EXPECT_QUIET(&any, &bound);
    AFTER("route replace default via 192.0.2.5", EXPECT_CHANGE(&any, R, &bound, R));
    AFTER("address add 192.0.2.3/24 dev a; route replace default via 192.0.2.5 src 192.0.2.3", EXPECT_CHANGE(&any, R));
    EXPECT_SOURCE(any.target, "192.0.2.3");
    EXPECT_CHANGE(&bound, R);
}

/* ---- Namespaces ------------------------------------------------------------------------------------------------- */

struct opening {
    struct writer writer;
    int error;
};

static void open_writer(void *argument)
{
    struct opening *opening = argument;

    opening->error = writer_open(&opening->writer);
}

TEST(a_target_stays_in_its_namespace)
{
    const struct writer_route route = { .prefix = "198.51.100.0/24", .gateway = "192.0.2.1" };
    struct opening opening;

    namespace_aside(open_writer, &opening);
    assert_int_equal(opening.error, 0); /* the writer stays in the namespace too */
    watcher_start(&watcher, expect_target("198.51.100.7"));
    SCNetworkReachabilityRef unscheduled = expect_target("192.0.2.9");
    SCNetworkReachabilityRef late = expect_target("198.51.100.7");
    namespace_require();
    EXPECT_FRESH("192.0.2.9", 0);
    EXPECT(unscheduled, R | D, None);
    assert_int_equal(writer_route(&opening.writer, WRITER_ADD, &route), 0);
    EXPECT_CHANGE(&watcher, R);
    EXPECT_FRESH("198.51.100.7", 0);
    watcher_stop(&watcher);
    SCNetworkReachabilityRelease(unscheduled);
    watcher_start(&watcher, late); /* from another namespace */
    EXPECT(watcher.target, R, None);
    assert_int_equal(writer_route(&opening.writer, WRITER_DELETE, &route), 0);
    EXPECT_CHANGE(&watcher, 0);
    EXPECT_FRESH("192.0.2.9", 0); /* this thread is where it was */
    watcher_stop(&watcher);
    writer_close(&opening.writer);
}

UNIT(.setup = namespace_require_pair)
