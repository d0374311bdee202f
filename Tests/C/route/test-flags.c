/* SPDX-License-Identifier: MIT */
/* Flags and reasons of addresses. Each test covers one row of the semantics, in its own namespace. */
#include "support/denial.h"
#include "support/test.h"

/* What a socket does not show. */
#define CARRIER "a socket connects even without a carrier"
#define MADE_UP "for a socket bound to an interface without a route, IPv4 makes up a route"
#define PREFIX  "a socket does not show the length of the matching prefix"

/* ---- Plain routes ----------------------------------------------------------------------------------------------- */

TEST(a_destination_behind_a_gateway_is_reachable)
{
    SCOPED_TARGET ipv4 = expect_target("198.51.100.7"), ipv6 = expect_target("2001:db8:1::7");
    EXPECT_EACH(0, NoRoute, ipv4, ipv6);
    namespace_ip("route add 198.51.100.0/24 via 192.0.2.1; -6 route add 2001:db8:1::/48 via 2001:db8::1");
    EXPECT(ipv4, R, None, .interface = "a", .gateway = "192.0.2.1", .source = "192.0.2.2");
    EXPECT(ipv6, R, None, .interface = "a", .gateway = "2001:db8::1", .source = "2001:db8::2");
}

TEST(a_neighbour_is_direct)
{
    EXPECT_EACH_ADDRESS(R | D, None, "192.0.2.9", "2001:db8::9");
}

TEST(a_mapped_address_is_the_ipv4_address)
{
    EXPECT_ADDRESS("::ffff:192.0.2.9", R | D, None);
    EXPECT_ADDRESS("::ffff:198.51.100.7", 0, NoRoute);
}

TEST(ipv4_over_an_ipv6_gateway_is_not_direct)
{
    namespace_ip("route add 0.0.0.0/0 via inet6 fe80::1 dev a");
    SCNetworkReachabilityRef target = expect_target("198.51.100.7");
    EXPECT(target, R, None, .gateway = "fe80::1");
    SCNetworkReachabilityRelease(target);
    EXPECT_ADDRESS("0.0.0.0", R, None);
    EXPECT_BOUND("198.51.100.7", "a", R, None);
}

TEST_WITH(namespace_require, NULL, an_empty_namespace_reaches_nothing)
{
    EXPECT_EACH_ADDRESS(0, NoRoute, "198.51.100.7", "2001:db8::1", "0.0.0.0", "::");
    EXPECT_EACH_ADDRESS(0, InterfaceDown, "127.0.0.1", "::1");
}

TEST(a_throw_route_is_no_route)
{
    namespace_ip("route add default via 192.0.2.1; route add throw 198.51.100.0/24");
    namespace_ip("-6 route add default via 2001:db8::1; -6 route add throw 2001:db8:1::/48");
    EXPECT_EACH_ADDRESS(0, NoRoute, "198.51.100.7", "2001:db8:1::7");
}

TEST(refusing_routes_report_their_kind)
{
    namespace_add_default_routes();
    namespace_ip("route add unreachable 198.51.100.0/26; route add prohibit 198.51.100.64/26");
    namespace_ip("route add blackhole 198.51.100.128/26; -6 route add unreachable 2001:db8:1::/48");
    namespace_ip("-6 route add prohibit 2001:db8:2::/48; -6 route add blackhole 2001:db8:3::/48");
    EXPECT_ADDRESS("198.51.100.7", 0, RouteUnreachable);
    EXPECT_ADDRESS("198.51.100.70", 0, RouteProhibited);
    EXPECT_ADDRESS("198.51.100.130", 0, RouteBlackhole);
    EXPECT_ADDRESS("198.51.100.200", R, None);
    EXPECT_ADDRESS("2001:db8:1::7", 0, RouteUnreachable);
    EXPECT_ADDRESS("2001:db8:2::7", 0, RouteProhibited);
    EXPECT_ADDRESS("2001:db8:3::7", 0, RouteBlackhole);
    EXPECT_ADDRESS("2001:db8:4::7", R, None);
}

/* ---- Own addresses ---------------------------------------------------------------------------------------------- */

TEST(own_addresses_are_local_and_direct)
{
    EXPECT_EACH_ADDRESS(R | L | D, None, "192.0.2.2", "2001:db8::2", "127.0.0.1", "127.8.9.10", "::1");
}

/* The kernel would give packets to this address the first address of the net as source. */
TEST(a_second_address_of_a_net_is_local_too)
{
    namespace_ip("address add 192.0.2.3/24 dev a; address add 2001:db8::3/64 dev a nodad");
    namespace_await_addresses();
    EXPECT_EACH_ADDRESS(R | L | D, None, "192.0.2.3", "2001:db8::3");
    EXPECT_PAIR("192.0.2.3", "192.0.2.9", R | D, None);
    EXPECT_PAIR("192.0.2.3", NULL, R | L | D, None);
    EXPECT_PAIR("127.8.9.10", "127.0.0.1", R | L | D, None);
    EXPECT_ADDRESS("192.0.2.4", R | D, None);
    EXPECT_PAIR("192.0.2.4", NULL, 0, LocalAddressNotAssigned);
    EXPECT_PAIR("192.0.2.255", "192.0.2.9", 0, LocalAddressNotAssigned);
}

/* The kernel's errno for this source is that of a blackhole route. IPv6 packets from ::1 do leave. */
TEST(packets_from_a_loopback_address_cannot_leave)
{
    namespace_ip("route add default via 192.0.2.1; route add blackhole 198.51.100.128/26");
    EXPECT_PAIR("127.0.0.1", "192.0.2.9", 0, NoSourceAddress);
    EXPECT_PAIR("127.8.9.10", "198.51.100.7", 0, NoSourceAddress);
    EXPECT_PAIR("127.0.0.1", "0.0.0.0", 0, NoSourceAddress);
    EXPECT_PAIR("127.0.0.1", "192.0.2.2", R | L | D, None);
    EXPECT_PAIR("127.0.0.1", "198.51.100.130", 0, RouteBlackhole);
    EXPECT_PAIR("192.0.2.2", "198.51.100.130", 0, RouteBlackhole);
    namespace_sysctl("net.ipv4.conf.a.route_localnet", "1");
    EXPECT_PAIR("127.0.0.1", "192.0.2.9", R | D, None);
    EXPECT_PAIR("127.0.0.1", "198.51.100.130", 0, RouteBlackhole);
}

TEST_WITH(namespace_require_lo, NULL, loopback_down_reports_interface_down)
{
    EXPECT_ADDRESS("127.0.0.1", R | L | D, None);
    AFTER("link set dev lo down", EXPECT_ADDRESS("127.0.0.1", 0, InterfaceDown));
}

TEST_WITH(namespace_require, NULL, loopback_never_up_is_not_reached_by_a_default_route)
{
    namespace_add_pair();
    namespace_add_default_routes();
    SCNetworkReachabilityRef target = expect_target("127.0.0.1");
    SCNetworkReachabilityFlags flags = expect_flags_of(target);
    assert_int_equal(flags, 0);
    EXPECT(target, 0, InterfaceDown);
    SCNetworkReachabilityRelease(target);
    target = expect_target("::1");
    EXPECT(target, 0, InterfaceDown);
    SCNetworkReachabilityRelease(target);
}

TEST(an_own_address_stays_local_when_its_interface_goes_down)
{
    namespace_ip("link set dev a down");
    EXPECT_ADDRESS("192.0.2.2", R | L | D, None);
    EXPECT_ADDRESS("192.0.2.9", 0, NoRoute);
    AFTER("link set dev lo down", EXPECT_ADDRESS("192.0.2.2", 0, InterfaceDown));
}

/* ---- The default path ------------------------------------------------------------------------------------------- */

#define EXPECT_DEFAULT(flags, reason) EXPECT_EACH_ADDRESS(flags, reason, "0.0.0.0", "::")

TEST(a_default_route_makes_the_default_path)
{
    EXPECT_DEFAULT(0, NoRoute);
    AFTER("route add default via 192.0.2.1", EXPECT_DEFAULT(R, None));
    SCOPED_TARGET target = expect_target("0.0.0.0");
    EXPECT_INTERFACE(target, "a");
    EXPECT_GATEWAY(target, "192.0.2.1");
    EXPECT_SOURCE(target, "192.0.2.2");
    assert_int_equal(expect_path_of(target).destination.ss_family, AF_UNSPEC);
}

TEST(a_default_route_without_gateway_is_direct)
{
    AFTER("route add default dev a", EXPECT_DEFAULT(R | D, None));
}

TEST(two_halves_make_a_default_path)
{
    AFTER("route add 0.0.0.0/1 via 192.0.2.1; route add 128.0.0.0/1 via 192.0.2.1", EXPECT_DEFAULT(R, None));
}

TEST(two_ipv6_halves_make_a_default_path)
{
    AFTER("-6 route add ::/1 via 2001:db8::1; -6 route add 8000::/1 via 2001:db8::1", EXPECT_DEFAULT(R, None));
}

TEST(a_blackhole_of_net_zero_does_not_hide_the_default_path)
{
    AFTER("route add blackhole 0.0.0.0/8", EXPECT_DEFAULT(0, NoRoute));
    AFTER("route add default via 192.0.2.1", EXPECT_DEFAULT(R, None));
    AFTER("route add unreachable 1.0.0.0/8", EXPECT_DEFAULT(R, None));
}

TEST_WITH(NULL, NULL, routes_to_one_net_do_not_hide_the_default_path)
{
    static const char *const refusals[] = { "route add throw 0.0.0.0/8",         "route add prohibit 0.0.0.0/8",
                                            "rule add to 0.0.0.0/8 unreachable", "rule add to 0.0.0.0/8 prohibit",
                                            "route add throw 128.0.0.0/8",       "route add blackhole 128.0.0.0/8" };

    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        namespace_require_pair();
        namespace_ip("%s", refusals[i]);
        EXPECT_DEFAULT(0, NoRoute);
        AFTER("route add default via 192.0.2.1", EXPECT_DEFAULT(R, None));
        AFTER("route delete default; -6 route add default via 2001:db8::1", EXPECT_DEFAULT(R, None));
    }
}

TEST(a_route_to_net_zero_is_no_default_path)
{
    denial_require_netlink(PREFIX);
    AFTER("route add 0.0.0.0/8 dev lo", EXPECT_DEFAULT(0, NoRoute));
    AFTER("-6 route add default via 2001:db8::1", EXPECT_DEFAULT(R, None));
}

TEST_WITH(NULL, NULL, routes_to_one_ipv6_net_do_not_hide_the_default_path)
{
    static const char *const refusals[] = { "-6 route add throw 2000::/16", "-6 route add unreachable 2001::/32",
                                            "-6 rule add to ::/8 prohibit", "-6 route add blackhole 8000::/16",
                                            "-6 rule add to 8000::/16 unreachable" };

    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        namespace_require_pair();
        namespace_ip("%s", refusals[i]);
        AFTER("-6 route add default via 2001:db8::1", EXPECT_DEFAULT(R, None));
        AFTER("-6 route delete default", EXPECT_ADDRESS("::", 0, NoRoute));
    }
}

TEST(a_route_to_a_net_is_no_default_path)
{
    denial_require_netlink(PREFIX);
    AFTER("route add 0.0.0.0/2 via 192.0.2.1; route add 128.0.0.0/2 via 192.0.2.1", EXPECT_DEFAULT(0, NoRoute));
}

TEST(a_route_to_an_ipv6_net_is_no_default_path)
{
    AFTER("-6 route add 2000::/3 via 2001:db8::1", EXPECT_DEFAULT(0, NoRoute));
}

TEST(an_unreachable_default_reports_its_reason)
{
    AFTER("route add unreachable default metric 4000", EXPECT_DEFAULT(0, RouteUnreachable));
    AFTER("route add default via 192.0.2.1 metric 100", EXPECT_DEFAULT(R, None));
}

TEST(an_ipv6_default_is_a_default_path)
{
    AFTER("-6 route add default via fe80::1 dev a", EXPECT_DEFAULT(R, None));
    SCOPED_TARGET target = expect_target("::");
    EXPECT_SOURCE(target, "2001:db8::2");
    EXPECT_GATEWAY(target, "fe80::1");
}

TEST(usable_ipv4_comes_before_usable_ipv6)
{
    namespace_add_second_pair();
    SCOPED_TARGET target = expect_target("::");
    AFTER("-6 route add default via 2001:db8:c::1", EXPECT(target, R, None, .interface = "c"));
    AFTER("route add default via 192.0.2.1", EXPECT(target, R, None, .interface = "a"));
    namespace_set_carrier("a", "b", false);
    EXPECT(target, R, None, .interface = "c");
}

TEST(the_family_with_a_route_determines_the_reason)
{
    AFTER("-6 route add unreachable default", EXPECT_DEFAULT(0, RouteUnreachable));
    AFTER("route add prohibit default", EXPECT_DEFAULT(0, RouteProhibited));
}

TEST(the_family_with_a_lost_carrier_determines_the_reason)
{
    denial_require_netlink(CARRIER);
    namespace_ip("-6 route add default via 2001:db8::1");
    namespace_set_carrier("a", "b", false);
    EXPECT_DEFAULT(0, NoCarrier);
    AFTER("route add prohibit default", EXPECT_DEFAULT(0, RouteProhibited));
}

TEST(a_policy_table_can_hold_the_default_path)
{
    AFTER("route add default via 192.0.2.1 table 100", EXPECT_DEFAULT(0, NoRoute));
    AFTER("rule add from all lookup 100", EXPECT_DEFAULT(R, None));
    EXPECT_ADDRESS("198.51.100.7", R, None);
    SCOPED_TARGET target = expect_target("198.51.100.7");
    EXPECT_TABLE(target, 100);
}

TEST(a_local_default_never_makes_the_default_path_local)
{
    namespace_ip("route add local default dev lo");
    SCOPED_TARGET target = expect_target("0.0.0.0");
    assert_int_equal(expect_flags_of(target) & L, 0);
}

/* ---- Rules ------------------------------------------------------------------------------------------------------ */

TEST(refusing_rules_report_the_reason_of_the_kernel)
{
    namespace_add_default_routes();
    namespace_ip("rule add to 198.51.100.0/26 unreachable; rule add to 198.51.100.64/26 prohibit");
    namespace_ip("rule add to 198.51.100.128/26 blackhole; -6 rule add to 2001:db8:1::/48 unreachable");
    namespace_ip("-6 rule add to 2001:db8:2::/48 prohibit; -6 rule add to 2001:db8:3::/48 blackhole");
    EXPECT_ADDRESS("198.51.100.7", 0, NoRoute);
    EXPECT_ADDRESS("198.51.100.70", 0, RouteProhibited);
    EXPECT_ADDRESS("198.51.100.130", 0, RouteBlackhole);
    EXPECT_ADDRESS("2001:db8:1::7", 0, NoRoute);
    EXPECT_ADDRESS("2001:db8:2::7", 0, RouteProhibited);
    EXPECT_ADDRESS("2001:db8:3::7", 0, RouteBlackhole);
}

TEST(a_routing_mark_selects_its_table)
{
    const struct sockaddr_storage address = expect_sockaddr("198.51.100.7"), any = expect_sockaddr("0.0.0.0");
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    namespace_ip("route add default via 192.0.2.1 table 100; rule add fwmark 7 lookup 100");
    EXPECT_ADDRESS("198.51.100.7", 0, NoRoute);
    options.remoteAddress = (const struct sockaddr *)&address;
    options.routingMark = 7;
    EXPECT_ONCE(SCNetworkReachabilityCreateWithOptions(NULL, &options), R, None);
    options.routingMark = 8;
    EXPECT_ONCE(SCNetworkReachabilityCreateWithOptions(NULL, &options), 0, NoRoute);
    options.remoteAddress = (const struct sockaddr *)&any;
    options.routingMark = 7;
    EXPECT_ONCE(SCNetworkReachabilityCreateWithOptions(NULL, &options), R, None);
    options.interfaceName = "a";
    EXPECT_ONCE(SCNetworkReachabilityCreateWithOptions(NULL, &options), R, None);
}

TEST(a_routing_mark_selects_its_ipv6_table)
{
    const struct sockaddr_storage address = expect_sockaddr("2001:db8:1::7");
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    namespace_ip("-6 route add default via 2001:db8::1 table 100; -6 rule add fwmark 7 lookup 100");
    EXPECT_ADDRESS("2001:db8:1::7", 0, NoRoute);
    options.remoteAddress = (const struct sockaddr *)&address;
    options.routingMark = 7;
    EXPECT_ONCE(SCNetworkReachabilityCreateWithOptions(NULL, &options), R, None);
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

TEST(an_interface_going_down_loses_its_routes)
{
    namespace_add_default_routes();
    SCOPED_TARGET ipv4 = expect_target("198.51.100.7"), ipv6 = expect_target("2001:db8:1::7");
    SCOPED_TARGET any = expect_target("0.0.0.0");
    EXPECT_EACH(R, None, ipv4, ipv6, any);
    AFTER("link set dev a down", EXPECT_EACH(0, NoRoute, ipv4, ipv6, any));
}

TEST(a_lost_carrier_ends_reachability_though_the_route_stays)
{
    denial_require_netlink(CARRIER);
    namespace_add_default_routes();
    SCOPED_TARGET ipv4 = expect_target("198.51.100.7"), ipv6 = expect_target("2001:db8:1::7");
    SCOPED_TARGET any = expect_target("0.0.0.0");
    EXPECT(ipv4, R, None);
    namespace_set_carrier("a", "b", false);
    EXPECT(ipv4, 0, NoCarrier, .interface = "a", .gateway = "192.0.2.1");
    EXPECT(ipv6, 0, NoCarrier, .interface = "a");
    EXPECT(any, 0, NoCarrier);
    EXPECT_ADDRESS("192.0.2.9", 0, NoCarrier);
    EXPECT_ADDRESS("192.0.2.2", R | L | D, None);
    namespace_set_carrier("a", "b", true);
    EXPECT_EACH(R, None, ipv4, ipv6, any);
}

TEST(a_dormant_link_has_no_carrier)
{
    denial_require_netlink(CARRIER);
    SCOPED_TARGET target = expect_target("192.0.2.9");
    EXPECT(target, R | D, None);
    namespace_set_carrier("a", "b", false);
    namespace_ip("link set dev a mode dormant");
    namespace_set_up("b");
    EXPECT(target, 0, NoCarrier);
    namespace_ip("link set dev a mode default state up");
    namespace_await_running("a", true);
    EXPECT(target, R | D, None);
}

TEST(a_link_above_a_link_without_carrier_has_no_carrier)
{
    denial_require_netlink(CARRIER);
    namespace_require_macvlan("m", "a");
    namespace_ip("address add 203.0.113.2/24 dev m");
    SCOPED_TARGET target = expect_target("203.0.113.9");
    EXPECT(target, R | D, None);
    namespace_set_carrier("a", "b", false);
    namespace_await_running("m", false);
    EXPECT(target, 0, NoCarrier);
}

/* The source of a socket that is bound to the interface. */
static void read_socket_source(const char *destination, const char *interface, char ret[INET_ADDRSTRLEN])
{
    struct sockaddr_storage address = expect_sockaddr(destination);
    struct sockaddr_in *ipv4 = (struct sockaddr_in *)&address;
    socklen_t length = sizeof *ipv4;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    ipv4->sin_port = htons(9);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface, (socklen_t)strlen(interface)), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)ipv4, length), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)ipv4, &length), 0);
    assert_non_null(inet_ntop(AF_INET, &ipv4->sin_addr, ret, INET_ADDRSTRLEN));
    close(fd);
}

/* Linux 5.10 uses one of the other interface. */
TEST(the_source_of_an_ipv4_packet_that_leaves_a_vrf_is_that_of_a_socket)
{
    char source[INET_ADDRSTRLEN];

    if (!namespace_try_ip("link add name v type vrf table 77"))
        SKIP("this kernel has no VRF");
    namespace_ip("link set dev v up");
    namespace_add_second_pair();
    namespace_ip("link set dev c master v; route add default via 192.0.2.1");
    SCOPED_TARGET target = expect_bound("198.51.100.7", "v");
    EXPECT(target, R, None);
    read_socket_source("198.51.100.7", "v", source);
    EXPECT_SOURCE(target, source);
}

TEST(another_metric_does_not_help_against_a_lost_carrier)
{
    denial_require_netlink(CARRIER);
    namespace_add_second_pair();
    namespace_ip("route add default via 192.0.2.1 metric 10; route add default via 203.0.113.1 metric 20");
    namespace_ip("-6 route add default via 2001:db8::1 metric 10; -6 route add default via 2001:db8:c::1 metric 20");
    SCOPED_TARGET ipv4 = expect_target("198.51.100.7"), ipv6 = expect_target("2001:db8:1::7");
    SCOPED_TARGET any = expect_target("0.0.0.0");
    EXPECT_INTERFACE(ipv4, "a");
    namespace_set_carrier("a", "b", false);
    EXPECT_EACH(0, NoCarrier, ipv4, ipv6, any);
}

/* The rule refuses only packets of sockets that are bound to the interface. */
TEST(a_usable_leg_keeps_its_gateway_under_a_rule_for_its_interface)
{
    SCNetworkReachabilityRef target;

    denial_require_netlink(CARRIER);
    namespace_add_second_pair();
    namespace_ip("route add 198.51.100.0/24 nexthop via 192.0.2.1 dev a nexthop via 203.0.113.1 dev c");
    namespace_ip("rule add oif a unreachable");
    namespace_set_carrier("c", "d", false);
    for (unsigned i = 1; i <= 8; i++) {
        target = expect_target(unit_text("198.51.100.%u", i));
        EXPECT(target, R, None, .gateway = "192.0.2.1");
        SCNetworkReachabilityRelease(target);
    }
}

TEST(with_ignore_routes_with_linkdown_the_other_metric_is_used)
{
    SCNetworkReachabilityRef ipv4, ipv6;

    namespace_add_second_pair();
    namespace_ip("route add default via 192.0.2.1 metric 10; route add default via 203.0.113.1 metric 20");
    namespace_ip("-6 route add default via 2001:db8::1 metric 10; -6 route add default via 2001:db8:c::1 metric 20");
    namespace_sysctl("net.ipv4.conf.all.ignore_routes_with_linkdown", "1");
    namespace_sysctl("net.ipv4.conf.a.ignore_routes_with_linkdown", "1"); /* before Linux 5.11, "all" does not count */
    namespace_sysctl("net.ipv6.conf.all.ignore_routes_with_linkdown", "1");
    namespace_sysctl("net.ipv6.conf.a.ignore_routes_with_linkdown", "1");
    ipv4 = expect_target("198.51.100.7");
    ipv6 = expect_target("2001:db8:1::7");
    SCOPED_TARGET any = expect_target("0.0.0.0");
    namespace_set_carrier("a", "b", false);
    EXPECT(ipv4, R, None, .interface = "c");
    EXPECT(ipv6, R, None, .interface = "c");
    EXPECT(any, R, None, .interface = "c");
    EXPECT_ADDRESS("192.0.2.9", R, None);
    SCNetworkReachabilityRelease(ipv4);
    SCNetworkReachabilityRelease(ipv6);
}

/* ---- Several legs, nexthop objects ------------------------------------------------------------------------------ */

static void expect_other_leg(const char *address, const char *interface)
{
    EXPECT_ADDRESS(address, R, None, .interface = interface);
}

/* The kernel chooses the leg by the address. The result must be right for every address. */
static void expect_legs(const char *interface)
{
    char text[64];

    for (int i = 1; i <= 16; i++) {
        snprintf(text, sizeof text, "198.51.100.%d", i);
        expect_other_leg(text, interface);
        snprintf(text, sizeof text, "2001:db8:1::%x", i);
        expect_other_leg(text, interface);
    }
    expect_other_leg("0.0.0.0", interface);
}

static void add_two_legs(void)
{
    namespace_ip("route add default nexthop via 192.0.2.1 nexthop via 203.0.113.1");
    namespace_ip("-6 route add default nexthop via 2001:db8::1 nexthop via 2001:db8:c::1");
}

TEST(the_leg_with_a_carrier_is_used)
{
    denial_require_netlink(CARRIER);
    namespace_add_second_pair();
    add_two_legs();
    namespace_set_carrier("a", "b", false);
    expect_legs("c");
    namespace_set_carrier("c", "d", false);
    EXPECT_EACH_ADDRESS(0, NoCarrier, "198.51.100.7", "2001:db8:1::7", "0.0.0.0");
    namespace_set_carrier("a", "b", true);
    expect_legs("a");
}

/* The kernel marks the leg as dead, although the link is up. A query out of the interface gets a route that does not
 * exist. */
TEST(a_leg_that_has_lost_its_address_is_not_used)
{
    denial_require_netlink(CARRIER);
    namespace_add_second_pair();
    add_two_legs();
    namespace_ip("address flush dev a scope global");
    namespace_set_carrier("c", "d", false);
    EXPECT_ADDRESS("198.51.100.7", 0, NoCarrier);
}

TEST(the_leg_with_its_interface_up_is_used)
{
    namespace_add_second_pair();
    add_two_legs();
    AFTER("link set dev a down", expect_legs("c"));
    EXPECT_BOUND("198.51.100.7", "a", 0, NoRoute);
    EXPECT_BOUND("198.51.100.7", "c", R, None);
}

TEST(a_bound_target_uses_its_own_leg)
{
    SCNetworkReachabilityRef target;

    namespace_add_second_pair();
    add_two_legs();
    for (int i = 0; i < 2; i++) {
        const char *const interface = i == 0 ? "a" : "c";

        target = expect_bound("198.51.100.7", interface);
        EXPECT(target, R, None, .interface = interface);
        SCNetworkReachabilityRelease(target);
        target = expect_bound("2001:db8:1::7", interface);
        EXPECT(target, R, None, .interface = interface);
        SCNetworkReachabilityRelease(target);
        target = expect_bound("0.0.0.0", interface);
        EXPECT(target, R, None, .interface = interface);
        SCNetworkReachabilityRelease(target);
    }
    namespace_set_carrier("a", "b", false);
    EXPECT_BOUND("198.51.100.7", "a", 0, NoCarrier);
    EXPECT_BOUND("198.51.100.7", "c", R, None);
    EXPECT_BOUND("2001:db8:1::7", "a", 0, NoCarrier);
    EXPECT_BOUND("2001:db8:1::7", "c", R, None);
    EXPECT_BOUND("0.0.0.0", "a", 0, NoCarrier);
    EXPECT_BOUND("0.0.0.0", "c", R, None);
}

static void check_nexthop_objects(void)
{
    namespace_ip("nexthop add id 1 via 192.0.2.1 dev a; nexthop add id 2 via 2001:db8::1 dev a");
    namespace_ip("route add default nhid 1; -6 route add default nhid 2");
    SCOPED_TARGET ipv4 = expect_target("198.51.100.7"), ipv6 = expect_target("2001:db8:1::7");
    SCOPED_TARGET any = expect_target("0.0.0.0");
    EXPECT(ipv4, R, None, .interface = "a", .gateway = "192.0.2.1");
    EXPECT(ipv6, R, None, .gateway = "2001:db8::1");
    EXPECT(any, R, None, .interface = "a");
    EXPECT_BOUND("198.51.100.7", "a", R, None);
    EXPECT_BOUND("2001:db8:1::7", "a", R, None);
    EXPECT_BOUND("0.0.0.0", "a", R, None);
    namespace_ip("nexthop delete id 1");
    EXPECT(ipv4, 0, NoRoute);
    EXPECT(any, R, None);
    AFTER("nexthop delete id 2", EXPECT_EACH(0, NoRoute, ipv6, any));
    EXPECT_BOUND("2001:db8:1::7", "a", 0, NoRoute);
}

TEST(routes_may_lead_to_nexthop_objects)
{
    check_nexthop_objects();
}

TEST(nexthop_objects_need_not_be_spelled_out_in_routes)
{
    namespace_sysctl("net.ipv4.nexthop_compat_mode", "0");
    check_nexthop_objects();
}

TEST_WITH(NULL, NULL, only_nexthop_objects_out_of_the_interface_count)
{
    SCNetworkReachabilityRef target;

    denial_require_netlink(MADE_UP);
    for (int spelled_out = 0; spelled_out < 2; spelled_out++) {
        namespace_require_pair();
        namespace_sysctl("net.ipv4.nexthop_compat_mode", spelled_out ? "1" : "0");
        namespace_ip("nexthop add id 1 via 192.0.2.1 dev a; route add default nhid 1");
        target = expect_bound("198.51.100.7", "a");
        EXPECT(target, R, None);
        EXPECT_BOUND("198.51.100.7", "lo", 0, NoRoute);
        AFTER("nexthop delete id 1", EXPECT(target, 0, NoRoute));
        SCNetworkReachabilityRelease(target);
    }
}

static void add_nexthop_groups(void)
{
    namespace_ip("nexthop add id 1 via 192.0.2.1 dev a; nexthop add id 2 via 203.0.113.1 dev c");
    namespace_ip("nexthop add id 3 via 2001:db8::1 dev a; nexthop add id 4 via 2001:db8:c::1 dev c");
    namespace_ip("nexthop add id 10 group 1/2; nexthop add id 20 group 3/4; route add default nhid 10");
    namespace_ip("-6 route add default nhid 20");
}

static void check_nexthop_group(void)
{
    add_nexthop_groups();
    EXPECT_BOUND("198.51.100.7", "a", R, None);
    EXPECT_BOUND("198.51.100.7", "c", R, None);
    EXPECT_BOUND("2001:db8:1::7", "a", R, None);
    EXPECT_BOUND("2001:db8:1::7", "c", R, None);
    EXPECT_BOUND("0.0.0.0", "a", R, None);
    EXPECT_BOUND("0.0.0.0", "c", R, None);
    namespace_set_carrier("a", "b", false);
    expect_legs("c");
    EXPECT_BOUND("198.51.100.7", "c", R, None);
}

TEST(the_live_member_of_a_nexthop_group_is_used)
{
    namespace_add_second_pair();
    check_nexthop_group();
}

TEST(the_live_member_is_used_without_legs_in_the_route)
{
    namespace_add_second_pair();
    namespace_sysctl("net.ipv4.nexthop_compat_mode", "0");
    check_nexthop_group();
}

/* The reason does not matter: the kernel may have deleted the route. */
static void expect_unreachable(const char *address)
{
    SCOPED_TARGET target = expect_target(address);

    assert_int_equal(expect_flags_of(target), 0);
    assert_int_not_equal(expect_path_of(target).reason, kSCNetworkReachabilityReasonNone);
}

TEST_WITH(NULL, NULL, a_nexthop_group_without_a_carrier_is_unusable)
{
    denial_require_netlink(CARRIER);
    for (int spelled_out = 0; spelled_out < 2; spelled_out++) {
        namespace_require_two_pairs();
        namespace_sysctl("net.ipv4.nexthop_compat_mode", spelled_out ? "1" : "0");
        add_nexthop_groups();
        namespace_set_carrier("a", "b", false);
        namespace_set_carrier("c", "d", false);
        expect_unreachable("198.51.100.7");
        expect_unreachable("2001:db8:1::7");
        expect_unreachable("0.0.0.0");
    }
}

TEST(a_blackhole_nexthop_is_a_blackhole)
{
    namespace_ip("nexthop add id 1 blackhole; route add 198.51.100.0/24 nhid 1; -6 nexthop add id 2 blackhole");
    namespace_ip("-6 route add 2001:db8:1::/48 nhid 2");
    EXPECT_EACH_ADDRESS(0, RouteBlackhole, "198.51.100.7", "2001:db8:1::7");
}

/* ---- IPv6 sources ----------------------------------------------------------------------------------------------- */

TEST_WITH(namespace_require_lo, NULL, a_tentative_address_is_no_source)
{
    namespace_ip("link add name a type veth peer name b");
    namespace_sysctl("net.ipv6.conf.a.addr_gen_mode", "1"); /* no link-local address */
    namespace_sysctl("net.ipv6.conf.b.addr_gen_mode", "1");
    namespace_sysctl("net.ipv6.conf.a.dad_transmits", "1000"); /* tentative for as long as the test takes */
    namespace_ip("link set dev b up");
    namespace_set_up("a");
    namespace_ip("address add 2001:db8::2/64 dev a; -6 route add 2001:db8:1::/48 via fe80::1 dev a");
    SCOPED_TARGET target = expect_target("2001:db8::9"), global = expect_target("2001:db8:1::7");
    EXPECT_EACH(0, NoSourceAddress, target, global);
    namespace_ip("address add 2001:db8::3/64 dev a nodad");
    EXPECT(target, R | D, None);
    EXPECT(global, R, None, .source = "2001:db8::3");
}

TEST_WITH(namespace_require, NULL, a_duplicate_address_is_no_source)
{
    struct namespace_other other;

    namespace_other_open(&other);
    namespace_ip("link set dev lo up; link add name a type veth peer name b");
    namespace_sysctl("net.ipv6.conf.a.addr_gen_mode", "1");
    namespace_sysctl("net.ipv6.conf.a.router_solicitation_delay", "0"); /* otherwise duplicate detection starts late */
    namespace_ip("link set dev b netns %d", (int)other.pid);
    namespace_other_ip(&other, "link set dev b up");
    namespace_other_ip(&other, "address add 2001:db8::2/64 dev b nodad");
    namespace_set_up("a");
    namespace_ip("address add 2001:db8::2/64 dev a");
    SCOPED_TARGET target = expect_target("2001:db8::9");
    namespace_await_duplicate();
    EXPECT(target, 0, NoSourceAddress);
    AFTER("address add 2001:db8::3/64 dev a nodad", EXPECT(target, R | D, None));
    namespace_other_close(&other);
}

TEST(the_source_may_belong_to_another_interface)
{
    namespace_ip("link add name c type veth peer name d");
    namespace_sysctl("net.ipv6.conf.c.addr_gen_mode", "1");
    namespace_ip("link set dev d up");
    namespace_set_up("c");
    namespace_ip("-6 route add 2001:db8:1::/48 via fe80::1 dev c");
    EXPECT_ADDRESS("2001:db8:1::7", R, None, .source = "2001:db8::2");
}

TEST_WITH(namespace_require_lo, NULL, a_link_local_source_does_not_reach_a_global_address)
{
    namespace_sysctl("net.ipv6.conf.default.accept_dad", "0");
    namespace_ip("link add name a type veth peer name b; link set dev b up");
    namespace_set_up("a");
    namespace_await_addresses();
    namespace_ip("-6 route add default via fe80::1 dev a");
    SCOPED_TARGET target = expect_target("2001:db8:1::7");
    EXPECT(target, 0, NoSourceAddress);
    EXPECT_ADDRESS("::", 0, NoSourceAddress);
    EXPECT_EACH_ADDRESS(R | D, None, "fe80::1%a", "ff02::1%a");
    AFTER("address add 2001:db8::2/64 dev a nodad", EXPECT(target, R, None));
    EXPECT_ADDRESS("::", R, None);
}

/* ---- Link-local, broadcast, multicast --------------------------------------------------------------------------- */

TEST(a_link_local_address_needs_its_scope)
{
    const struct sockaddr_storage plain = expect_sockaddr("fe80::1");

    (void)plain;
    EXPECT_ADDRESS("fe80::1", 0, NoRoute);
    EXPECT_EACH_ADDRESS(R | D, None, "fe80::1%a", "fe80::1%b");
    SCNetworkReachabilityRef target = expect_target("fe80::1%a");
    EXPECT_INTERFACE(target, "a");
    SCNetworkReachabilityRelease(target);
    EXPECT_BOUND("fe80::1", "b", R | D, None);
    EXPECT_BOUND("fe80::1%a", "b", 0, NoRoute);
    EXPECT_BOUND("fe80::1%a", "a", R | D, None);
    EXPECT_ADDRESS("febf::1", 0, NoRoute);
}

TEST(broadcasts_are_direct)
{
    namespace_ip("address delete 192.0.2.2/24 dev a; address add 192.0.2.2/24 broadcast + dev a");
    EXPECT_ADDRESS("192.0.2.255", R | D, None);
    AFTER("route add default via 192.0.2.1", EXPECT_ADDRESS("255.255.255.255", R | D, None));
}

TEST(routed_multicast_is_direct)
{
    EXPECT_ADDRESS("239.1.2.3", 0, NoRoute);
    AFTER("route add 224.0.0.0/4 dev a", EXPECT_ADDRESS("239.1.2.3", R | D, None));
    EXPECT_BOUND("239.1.2.3", "a", R | D, None);
    EXPECT_EACH_ADDRESS(R | D, None, "ff02::1%a", "ff05::1");
}

TEST(ipv4_multicast_out_of_an_interface_needs_no_route)
{
    denial_require_netlink(MADE_UP);
    EXPECT_BOUND("239.1.2.3", "a", R | D, None);
    namespace_ip("route add 224.0.0.0/4 dev a");
    EXPECT_BOUND("239.1.2.3", "a", R | D, None);
    EXPECT_BOUND("239.1.2.3", "lo", R | D, None);
}

/* ---- Point-to-point --------------------------------------------------------------------------------------------- */

TEST(a_tunnel_is_transient_and_never_direct)
{
    const int tun = namespace_require_tun("t0");

    namespace_ip("address add 203.0.113.2/24 dev t0; address add 2001:db8:c::2/64 dev t0 nodad");
    namespace_await_addresses();
    namespace_ip("route add default dev t0; -6 route add default via 2001:db8:c::1");
    SCOPED_TARGET target = expect_target("203.0.113.9"), any = expect_target("0.0.0.0");
    EXPECT(target, R | T, None);
    EXPECT_TYPE(target, Tunnel);
    EXPECT(any, R | T, None);
    EXPECT_EACH_ADDRESS(R | T, None, "198.51.100.7", "2001:db8:1::7");
    EXPECT_ADDRESS("203.0.113.2", R | L | D, None);
    close(tun); /* deletes the interface */
    EXPECT_EACH(0, NoRoute, target, any);
}

/* ---- Address pairs ---------------------------------------------------------------------------------------------- */

TEST(a_pair_needs_its_local_address)
{
    namespace_add_default_routes();
    SCOPED_TARGET ipv4 = expect_pair("192.0.2.3", "198.51.100.7"), ipv6 = expect_pair("2001:db8::3", "2001:db8:1::7");
    EXPECT_EACH(0, LocalAddressNotAssigned, ipv4, ipv6);
    namespace_ip("address add 192.0.2.3/24 dev a; address add 2001:db8::3/64 dev a nodad");
    namespace_await_addresses();
    EXPECT(ipv4, R, None, .source = "192.0.2.3");
    EXPECT(ipv6, R, None, .source = "2001:db8::3");
    namespace_ip("address delete 192.0.2.3/24 dev a; address delete 2001:db8::3/64 dev a");
    EXPECT_EACH(0, LocalAddressNotAssigned, ipv4, ipv6);
}

TEST(a_pair_queries_with_its_source)
{
    namespace_ip("address add 192.0.2.3/24 dev a; address add 2001:db8::3/64 dev a nodad");
    namespace_await_addresses();
    namespace_ip("route add default via 192.0.2.1 table 100; -6 route add default via 2001:db8::1 table 100");
    namespace_ip("rule add from 192.0.2.3 lookup 100; -6 rule add from 2001:db8::3 lookup 100");
    EXPECT_PAIR("192.0.2.2", "198.51.100.7", 0, NoRoute);
    EXPECT_PAIR("192.0.2.3", "198.51.100.7", R, None);
    EXPECT_PAIR("192.0.2.3", "0.0.0.0", R, None);
    EXPECT_PAIR("192.0.2.2", "0.0.0.0", 0, NoRoute);
    EXPECT_PAIR("2001:db8::2", "2001:db8:1::7", 0, NoRoute);
    EXPECT_PAIR("2001:db8::3", "2001:db8:1::7", R, None);
    EXPECT_PAIR("2001:db8::3", "::", R, None);
    EXPECT_PAIR("2001:db8::2", "::", 0, NoRoute);
}

TEST(a_pair_of_one_own_address_is_local)
{
    EXPECT_PAIR("192.0.2.2", "192.0.2.2", R | L | D, None);
    EXPECT_PAIR("2001:db8::2", "2001:db8::2", R | L | D, None);
    EXPECT_PAIR("192.0.2.9", "192.0.2.9", 0, LocalAddressNotAssigned);
}

TEST(half_a_pair_is_a_valid_target)
{
    EXPECT_PAIR("192.0.2.2", NULL, R | L | D, None);
    EXPECT_PAIR("192.0.2.9", NULL, 0, LocalAddressNotAssigned);
    EXPECT_PAIR(NULL, "192.0.2.9", R | D, None);
    EXPECT_PAIR("0.0.0.0", "192.0.2.9", R | D, None);
    EXPECT_PAIR("::", "2001:db8::9", R | D, None);
    EXPECT_PAIR("127.0.0.1", "127.0.0.1", R | L | D, None);
}

TEST(a_pair_may_be_link_local)
{
    namespace_ip("address add fe80::2/64 dev a nodad");
    namespace_await_addresses();
    EXPECT_PAIR("fe80::2%a", "fe80::1%a", R | D, None);
    EXPECT_PAIR("fe80::3%a", "fe80::1%a", 0, LocalAddressNotAssigned);
    EXPECT_PAIR("fe80::2%a", "fe80::1", R | D, None);
}

TEST(a_link_local_source_must_belong_to_its_interface)
{
    namespace_ip("address add fe80::2/64 dev a nodad");
    namespace_await_addresses();
    EXPECT_PAIR("fe80::2%b", "fe80::1%b", 0, LocalAddressNotAssigned);
}

/* ---- Bound to an interface -------------------------------------------------------------------------------------- */

TEST(only_routes_out_of_the_interface_count)
{
    denial_require_netlink(MADE_UP);
    namespace_add_second_pair();
    namespace_ip("route add default via 192.0.2.1");
    EXPECT_BOUND("198.51.100.7", "a", R, None);
    EXPECT_BOUND("198.51.100.7", "c", 0, NoRoute);
    EXPECT_BOUND("192.0.2.9", "a", R | D, None);
    EXPECT_BOUND("192.0.2.9", "c", 0, NoRoute);
    EXPECT_BOUND("0.0.0.0", "a", R, None);
    EXPECT_BOUND("0.0.0.0", "c", 0, NoRoute);
    EXPECT_BOUND("::", "c", 0, NoRoute);
    AFTER("-6 route add default via 2001:db8:c::1", EXPECT_BOUND("::", "c", R, None));
}

TEST(only_ipv6_routes_out_of_the_interface_count)
{
    namespace_add_second_pair();
    namespace_ip("-6 route add default via 2001:db8::1");
    EXPECT_BOUND("2001:db8:1::7", "a", R, None);
    EXPECT_BOUND("2001:db8:1::7", "c", 0, NoRoute);
    EXPECT_BOUND("2001:db8::9", "a", R | D, None);
    EXPECT_BOUND("2001:db8::9", "c", 0, NoRoute);
    AFTER("-6 route add default via 2001:db8:c::1 metric 5000", EXPECT_BOUND("2001:db8:1::7", "c", R, None));
}

TEST(a_route_behind_another_metric_counts_out_of_its_interface)
{
    namespace_add_second_pair();
    namespace_ip("route add default via 192.0.2.1 metric 10; route add default via 203.0.113.1 metric 20");
    EXPECT_BOUND("198.51.100.7", "c", R, None, .interface = "c", .gateway = "203.0.113.1", .source = "203.0.113.2");
}

TEST(an_own_address_is_local_out_of_its_own_interface)
{
    EXPECT_BOUND("192.0.2.2", "a", R | L | D, None);
    EXPECT_BOUND("2001:db8::2", "a", R | L | D, None);
    EXPECT_BOUND("127.0.0.1", "lo", R | L | D, None);
}

TEST(an_own_address_is_not_reached_out_of_another_interface)
{
    denial_require_netlink(MADE_UP);
    EXPECT_BOUND("192.0.2.2", "b", 0, NoRoute);
}

TEST(a_bound_target_without_carrier_reports_no_carrier)
{
    namespace_ip("route add default via 192.0.2.1");
    namespace_set_carrier("a", "b", false);
    EXPECT_BOUND("198.51.100.7", "a", 0, NoCarrier);
    EXPECT_BOUND("0.0.0.0", "a", 0, NoCarrier);
    EXPECT_BOUND("2001:db8::9", "a", 0, NoCarrier);
}

TEST_WITH(namespace_require, NULL, a_bound_target_follows_the_name)
{
    SCOPED_TARGET target = expect_bound("192.0.2.9", "a");
    SCOPED_TARGET zone = SCNetworkReachabilityCreateWithName(NULL, "fe80::1%a");
    EXPECT_EACH(0, InterfaceMissing, target, zone);
    namespace_add_pair();
    EXPECT_EACH(R | D, None, target, zone);
    AFTER("link set dev a down; link set dev a name other", EXPECT_EACH(0, InterfaceMissing, target, zone));
    namespace_ip("link set dev b down; link set dev b name a; link set dev a up");
    namespace_ip("link set dev other up; address add 192.0.2.3/24 dev a");
    namespace_await_running("a", true);
    namespace_await_addresses();
    EXPECT(target, R | D, None, .interface = "a");
    EXPECT(zone, R | D, None);
    AFTER("link delete dev a", EXPECT_EACH(0, InterfaceMissing, target, zone));
    namespace_add_pair();
    EXPECT(target, R | D, None, .interface = "a");
    EXPECT(zone, R | D, None);
}

TEST(a_bound_target_honours_refusing_routes)
{
    denial_require_netlink(MADE_UP);
    namespace_ip("route add default via 192.0.2.1; route add blackhole 198.51.100.0/26");
    namespace_ip("route add prohibit 198.51.100.64/26; route add unreachable 198.51.100.128/26");
    EXPECT_BOUND("198.51.100.7", "a", 0, NoRoute); /* the kernel gives no other reason */
    EXPECT_BOUND("198.51.100.70", "a", 0, NoRoute);
    EXPECT_BOUND("198.51.100.130", "a", 0, NoRoute);
    EXPECT_BOUND("198.51.100.200", "a", R, None);
}

UNIT(.setup = namespace_require_pair)
