/* SPDX-License-Identifier: MIT */
/*
 * 169.254.0.0 stands for the local network, as in Apple's sample code: its "local Wi-Fi". Links decide, not routes.
 */
#include "support/test.h"

#define LOCAL_WIFI "169.254.0.0"

static struct watcher watcher; /* stopped at the end of each test */

UNIT(.setup = namespace_require)

/* The peer has the lower index. */
static void add_down_pair(const char *name, const char *peer)
{
    namespace_ip("link add name %s type veth peer name %s", name, peer);
}

static void add_running_pair(const char *name, const char *peer)
{
    add_down_pair(name, peer);
    namespace_ip("link set dev %s up", name);
    namespace_ip("link set dev %s up", peer);
    namespace_await_running(name, true);
    namespace_await_running(peer, true);
}

TEST(loopback_is_not_a_local_network)
{
    EXPECT_ADDRESS(LOCAL_WIFI, 0, NoRoute);
    AFTER("link set dev lo up", EXPECT_ADDRESS(LOCAL_WIFI, 0, NoRoute));
}

TEST(an_interface_that_is_down_is_the_reason)
{
    add_down_pair("a", "b");
    EXPECT_ADDRESS(LOCAL_WIFI, 0, InterfaceDown);
}

TEST(no_carrier_is_reported_before_interface_down)
{
    add_down_pair("a", "b");
    namespace_ip("link set dev a up");
    namespace_await_running("a", false);
    EXPECT_ADDRESS(LOCAL_WIFI, 0, NoCarrier);
}

TEST(the_running_interface_with_the_lowest_index_counts)
{
    SCOPED_TARGET target = expect_target(LOCAL_WIFI);

    add_running_pair("a", "b");
    EXPECT(target, R | D, None, .interface = "b", .gateway = "none");
    assert_int_equal(expect_path_of(target).interfaceType, kSCNetworkReachabilityInterfaceTypeVirtual);
    AFTER("link delete dev a", EXPECT(target, 0, NoRoute));
}

TEST(an_interface_with_carrier_counts_before_a_lower_index_without)
{
    SCOPED_TARGET target = expect_target(LOCAL_WIFI);

    add_down_pair("a", "b");
    add_running_pair("c", "d");
    EXPECT(target, R | D, None, .interface = "d");
}

TEST(a_point_to_point_interface_is_no_network)
{
    const int tun = namespace_require_tun("t");

    EXPECT_ADDRESS(LOCAL_WIFI, 0, NoRoute);
    close(tun);
}

TEST(routes_do_not_count)
{
    add_running_pair("a", "b");
    AFTER("address add 192.0.2.2/24 dev a; route add default via 192.0.2.1", EXPECT_ADDRESS(LOCAL_WIFI, R | D, None));
    AFTER("route add blackhole 169.254.0.0/16", EXPECT_EACH_ADDRESS(R | D, None, LOCAL_WIFI, "::ffff:169.254.0.0"));
}

TEST(other_addresses_and_targets_with_options_do_not_mean_the_local_network)
{
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
    struct sockaddr_storage address = expect_sockaddr(LOCAL_WIFI);

    add_running_pair("a", "b");
    AFTER("address add 192.0.2.2/24 dev a", EXPECT_EACH_ADDRESS(0, NoRoute, "169.254.0.1", "169.254.255.255"));
    EXPECT_BOUND(LOCAL_WIFI, "a", 0, NoRoute);
    EXPECT_PAIR("192.0.2.2", LOCAL_WIFI, 0, NoRoute);
    options.remoteAddress = (const struct sockaddr *)&address;
    options.routingMark = 7;
    EXPECT_ONCE(SCNetworkReachabilityCreateWithOptions(NULL, &options), 0, NoRoute);
}

TEST(changes_of_links_are_reported)
{
    watcher_start(&watcher, expect_target(LOCAL_WIFI));
    EXPECT(watcher.target, 0, NoRoute);
    add_running_pair("a", "b");
    EXPECT_END(&watcher, R | D);
    EXPECT_INTERFACE(watcher.target, "b");
    AFTER("link set dev a down", EXPECT_CHANGE(&watcher, 0));
    EXPECT(watcher.target, 0, NoCarrier);
    AFTER("link set dev a up", EXPECT_END(&watcher, R | D));
    AFTER("link delete dev a", EXPECT_CHANGE(&watcher, 0));
    EXPECT(watcher.target, 0, NoRoute);
}

TEST(a_change_of_the_interface_is_reported)
{
    add_running_pair("a", "b");
    add_running_pair("c", "d");
    watcher_start(&watcher, expect_target(LOCAL_WIFI));
    EXPECT_INTERFACE(watcher.target, "b");
    AFTER("link delete dev a", EXPECT_CHANGE_OVER(&watcher, R | D, "d"));
}

TEST(a_target_is_evaluated_when_it_is_scheduled)
{
    add_running_pair("a", "b");
    watcher_schedule(&watcher, expect_target(LOCAL_WIFI));
    assert_int_equal(expect_flags_of(watcher.target), R | D);
    EXPECT_QUIET(&watcher);
}
