/* SPDX-License-Identifier: MIT */
/* SCNetworkReachabilityGetNetwork: all default paths, their order, the name servers, and the callbacks for them. */
#include "base/clock.h"
#include "support/denial.h"
#include "support/etc.h"
#include "support/fake_sysfs.h"
#include "support/queue.h"
#include "support/test.h"

#define UPLINKS 4

struct view {
    SCNetworkReachabilityNetwork network;
    SCNetworkReachabilityUplink uplinks[UPLINKS];
};

static struct watcher watcher; /* stopped at the end of each test */

static void begin(void)
{
    namespace_require_pair();
    denial_require_netlink("a socket does not show the interfaces");
    etc_require("192.0.2.53");
    namespace_add_second_pair();
}
UNIT(.setup = begin)

static SCNetworkReachabilityRef network_target(void)
{
    return expect_option("0.0.0.0", kSCNetworkReachabilityOptionNotifyNetwork);
}

static struct view view_of(SCNetworkReachabilityRef target)
{
    struct view got = { .network = kSCNetworkReachabilityNetworkInitializer };

    if (!SCNetworkReachabilityGetNetwork(target, &got.network, got.uplinks, sizeof got.uplinks[0], UPLINKS))
        fail_msg("GetNetwork: %s", SCErrorString(SCError()));
    return got;
}

static struct view view_now(void)
{
    SCOPED_TARGET target = network_target();

    return view_of(target);
}

static struct view view; /* that the last of the expectations below has compared */

static void expect_uplinks_of(SCNetworkReachabilityRef target, const char *names)
{
    char text[UPLINKS * 17] = "";

    view = view_of(target);
    assert_true(view.network.uplinkCount <= UPLINKS);
    for (uint32_t i = 0; i < view.network.uplinkCount; i++) {
        strcat(text, i == 0 ? "" : " ");
        strcat(text, view.uplinks[i].interfaceName);
        assert_int_equal(view.uplinks[i].interfaceIndex, if_nametoindex(view.uplinks[i].interfaceName));
    }
    assert_string_equal(text, names);
}

static void expect_uplinks(const char *names)
{
    SCOPED_TARGET target = network_target();

    expect_uplinks_of(target, names);
}

static void expect_address(const struct sockaddr_storage *address, const char *wanted)
{
    char text[INET6_ADDRSTRLEN] = "none";

    if (address->ss_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, text, sizeof text);
    else if (address->ss_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr, text, sizeof text);
    assert_string_equal(text, wanted);
}

/* ---- Uplinks -------------------------------------------------------------------------------------------------------
 * */

TEST(there_is_no_uplink_without_a_default_route)
{
    expect_uplinks("");
    assert_int_equal(view.network.ipv4.flags, 0);
    assert_int_equal(view.network.ipv4.reason, kSCNetworkReachabilityReasonNoRoute);
    assert_int_equal(view.network.ipv6.flags, 0);
    assert_int_equal(view.network.ipv4LoopbackFlags, R | L | D);
    assert_int_equal(view.network.ipv6LoopbackFlags, R | L | D);
}

TEST(each_family_has_its_own_default_path)
{
    namespace_ip("route add default via 192.0.2.1 metric 7; -6 route add default via 2001:db8:c::1 metric 9");
    expect_uplinks("a c");
    assert_int_equal(view.network.ipv4.flags, R);
    assert_int_equal(view.network.ipv4.interfaceIndex, if_nametoindex("a"));
    assert_int_equal(view.network.ipv4.metric, 7);
    expect_address(&view.network.ipv4.source, "192.0.2.2");
    expect_address(&view.network.ipv4.gateway, "192.0.2.1");
    assert_int_equal(view.network.ipv6.flags, R);
    assert_int_equal(view.network.ipv6.interfaceIndex, if_nametoindex("c"));
    assert_int_equal(view.network.ipv6.metric, 9);
    expect_address(&view.network.ipv6.source, "2001:db8:c::2");
    assert_int_equal(view.uplinks[0].ipv6.flags, 0);
    assert_int_equal(view.uplinks[1].ipv4.flags, 0);
    assert_int_equal(view.uplinks[0].interfaceType, kSCNetworkReachabilityInterfaceTypeVirtual);
}

TEST(a_default_route_for_packets_from_a_prefix_counts)
{
    namespace_ip("address delete 2001:db8::2/64 dev a"); /* the kernel would prefer it as the source */
    watcher_schedule(&watcher, network_target());
    (void)idle_perform(watcher.loop);
    expect_uplinks_of(watcher.target, "");
    namespace_ip("-6 route add default from 2001:db8:c::/64 via 2001:db8:c::1");
    (void)idle_perform(watcher.loop);
    expect_uplinks_of(watcher.target, "c");
    assert_int_equal(view.network.ipv6.flags, R);
    expect_address(&view.network.ipv6.source, "2001:db8:c::2");
    expect_address(&view.network.ipv6.gateway, "2001:db8:c::1");
}

/* Out of the interface, the kernel's reply would be an on-link route, with the first address. */
TEST(a_rule_for_packets_out_of_an_interface_does_not_change_the_source_of_others)
{
    namespace_ip("address delete 192.0.2.2/24 dev a; address add 10.98.0.1/32 dev a; address add 192.0.2.2/24 dev a");
    AFTER("route add default via 192.0.2.1; rule add priority 101 oif a unreachable", expect_uplinks("a"));
    expect_address(&view.network.ipv4.source, "192.0.2.2");
    expect_address(&view.uplinks[0].ipv4.source, "192.0.2.2");
}

static void add_third_pair(void)
{
    namespace_ip("link add name e type veth peer name f; address add 198.18.0.2/24 dev e; link set dev e up");
    namespace_set_carrier("e", "f", true);
}

TEST(other_interfaces_follow_by_metric)
{
    add_third_pair();
    namespace_ip("route add default via 203.0.113.1 metric 30; route add default via 198.18.0.1 metric 20");
    AFTER("route add default via 192.0.2.1 metric 10", expect_uplinks("a e c"));
    assert_int_equal(view.uplinks[2].ipv4.metric, 30);
    expect_address(&view.uplinks[2].ipv4.gateway, "203.0.113.1");
    expect_address(&view.uplinks[2].ipv4.source, "203.0.113.2");
}

static const struct order_row {
    const char *name;
    const char *commands[4]; /* of ip(8) */
    const char *uplinks;
} order_rows[] = {
    { "an_interface_without_ipv4_counts_with_the_metric_of_ipv6",
      { "route add default via 192.0.2.1 metric 1", "-6 route add default via 2001:db8::1 metric 1",
        "-6 route add default via 2001:db8:c::1 metric 30", "route add default via 198.18.0.1 metric 20" },
      "a e c" },
    { "the_same_metric_by_index",
      { "route add default via 192.0.2.1 metric 1", "route add default via 198.18.0.1 metric 20",
        "route append default via 203.0.113.1 metric 20" },
      "a c e" },
    { "a_policy_rule_decides_which_is_first",
      { "route add default via 192.0.2.1 metric 1", "route add default via 203.0.113.1 table 77 metric 100",
        "rule add priority 77 table 77" },
      "c a" },
    { "two_halves_of_the_address_space_are_a_default",
      { "route add default via 192.0.2.1 metric 1", "route add 0.0.0.0/1 via 203.0.113.1",
        "route add 128.0.0.0/1 via 203.0.113.1" },
      "c a" },
    { "a_blackhole_for_the_first_addresses_hides_no_default",
      { "route add blackhole 0.0.0.0/8", "route add default via 192.0.2.1 metric 1",
        "route add default via 203.0.113.1 metric 2" },
      "a c" },
};

TEST_EACH(order, order_rows)
{
    add_third_pair();
    for (size_t i = 0; i < 4 && row->commands[i] != NULL; i++)
        namespace_ip("%s", row->commands[i]);
    expect_uplinks(row->uplinks);
}

/* Longer prefixes lead the samples of that half over the interface that the kernel chooses. */
TEST(half_of_a_default_route_makes_another_interface_an_uplink)
{
    namespace_ip("-6 route add default via 2001:db8::1; -6 route add 4000::/2 via 2001:db8::1");
    AFTER("-6 route add 2000::/3 via 2001:db8::1; -6 route add ::/1 via 2001:db8:c::1", expect_uplinks("a c"));
    assert_int_equal(view.uplinks[1].ipv6.flags, R);
    expect_address(&view.uplinks[1].ipv6.gateway, "2001:db8:c::1");
}

/* The kernel does not find a route if packets from a prefix have another one with the same destination, unless a longer
 * prefix leads over another interface. So of the samples of that half, one has a route out of "c", and one has none. */
TEST(half_of_a_default_route_counts_beside_one_for_packets_from_a_prefix)
{
    SCOPED_TARGET bound = expect_bound("::", "c");

    namespace_ip("-6 route add default via 2001:db8::1; -6 route add 4000::/3 via 2001:db8::1");
    namespace_ip("-6 route add ::/1 via 2001:db8:c::1; -6 route add unreachable ::/1 from 2001:db8:c::2");
    assert_int_equal(expect_flags_of(bound), R);
    expect_uplinks("a c");
    expect_address(&view.uplinks[1].ipv6.gateway, "2001:db8:c::1");
}

/* For IPv6, a socket would find it, too. */
TEST(half_of_an_ipv4_default_route_makes_another_interface_an_uplink)
{
    namespace_ip("route add default via 192.0.2.1; route add 0.0.0.0/8 via 192.0.2.1");
    AFTER("route add 1.0.0.0/8 via 192.0.2.1; route add 0.0.0.0/1 via 203.0.113.1", expect_uplinks("a c"));
    expect_address(&view.uplinks[1].ipv4.gateway, "203.0.113.1");
}

TEST(an_ipv6_default_route_can_share_its_nexthop_object_with_a_longer_prefix)
{
    namespace_share_nexthop("2001:db8:c::1", "c", "::/0", "2001:db8:9::1/128");
    expect_uplinks("c");
    assert_int_equal(view.network.ipv6.flags, R);
}

TEST(half_of_an_ipv6_default_route_can_share_its_nexthop_object_with_a_longer_prefix)
{
    namespace_share_nexthop("2001:db8:c::1", "c", "::/1", "4000::/3");
    expect_uplinks("c");
    assert_int_equal(view.network.ipv6.flags, R);
}

/* The kernel chooses a route for all packets over another interface. */
TEST(a_default_route_for_packets_from_a_prefix_makes_another_interface_an_uplink)
{
    namespace_ip("address change 2001:db8::2/64 dev a preferred_lft 0"); /* else it would be the source */
    namespace_ip("-6 route add default via 2001:db8::1");
    watcher_schedule(&watcher, network_target());
    (void)idle_perform(watcher.loop);
    expect_uplinks_of(watcher.target, "a");
    namespace_ip("-6 route add default from 2001:db8:c::/64 via 2001:db8:c::1 metric 20");
    (void)idle_perform(watcher.loop);
    expect_uplinks_of(watcher.target, "a c");
    expect_uplinks("a c");
    expect_address(&view.uplinks[1].ipv6.source, "2001:db8:c::2");
}

TEST(an_interface_without_a_carrier_is_no_uplink)
{
    namespace_ip("route add default via 192.0.2.1 metric 1; route add default via 203.0.113.1 metric 2");
    namespace_set_carrier("c", "d", false);
    expect_uplinks("a");
}

TEST(a_bridge_is_an_uplink_and_its_port_is_not)
{
    namespace_ip("link add name br type bridge; link add name p type veth peer name q; link set dev p master br");
    namespace_ip("link set dev p up; link set dev q up");
    namespace_set_up("br");
    namespace_ip("address add 198.18.1.2/24 dev br; route add default via 198.18.1.1");
    AFTER("route add default dev p metric 50", expect_uplinks("br"));
}

static void add_vrf(void)
{
    if (!namespace_try_ip("link add name v type vrf table 10"))
        SKIP("this kernel makes no VRF");
    namespace_ip("address add 10.99.0.1/32 dev v; link set dev v up");
    add_third_pair();
    namespace_ip("link set dev e master v");
}

TEST(the_port_of_a_vrf_is_an_uplink_and_the_vrf_is_not)
{
    add_vrf();
    namespace_ip("route add default via 192.0.2.1 metric 1; route add default via 198.18.0.1 metric 20 vrf v");
    expect_uplinks("a e");
    expect_address(&view.uplinks[1].ipv4.gateway, "198.18.0.1");
}

/* Packets of a VRF without a default route leave by that of the table "main", with an address of the VRF. */
TEST(a_vrf_does_not_change_the_uplinks_outside)
{
    add_vrf();
    AFTER("route add default via 192.0.2.1 metric 1; route add default via 203.0.113.1 metric 20",
          expect_uplinks("a c"));
    expect_address(&view.uplinks[0].ipv4.source, "192.0.2.2");
    expect_address(&view.uplinks[1].ipv4.source, "203.0.113.2");
}

/* Nothing outside the VRF leaves by its routes. */
TEST(a_default_route_of_a_vrf_makes_no_uplink_outside)
{
    add_vrf();
    AFTER("route add default via 203.0.113.1 dev c table 10", expect_uplinks(""));
}

TEST(a_tunnel_names_the_type_of_what_carries_it)
{
    if (!namespace_try_ip("link add name v type vxlan id 7 dstport 4789 remote 192.0.2.9"))
        SKIP("this kernel has no vxlan");
    namespace_ip("address add 10.7.0.1/24 dev v");
    namespace_set_up("v");
    AFTER("route add default via 10.7.0.9", expect_uplinks("v"));
    assert_int_equal(view.uplinks[0].ipv4UnderlayTypes, 1u << kSCNetworkReachabilityInterfaceTypeVirtual);
    assert_int_equal(view.uplinks[0].ipv6UnderlayTypes, 0);
}

/* Returns a tap with the macvlan `m` on it: a link whose type is that of the tap, which only rtnetlink shows. sysfs
 * shows that both are virtual, which is enough for the flags. */
static int require_macvlan_on_tap(void)
{
    fake_sysfs_require();
    int tap = namespace_add_tap("t");
    if (tap < 0)
        SKIP("no /dev/net/tun here");
    namespace_ip("link set dev t up");
    if (!namespace_try_ip("link add name m link t type macvlan"))
        SKIP("this kernel has no macvlan");
    namespace_set_up("m");
    namespace_ip("address add 198.18.2.2/24 dev m; route add default via 198.18.2.1");
    return tap;
}

TEST(an_uplink_has_the_type_of_the_link_below_it)
{
    const int tap = require_macvlan_on_tap();

    expect_uplinks("m");
    assert_int_equal(view.uplinks[0].interfaceType, kSCNetworkReachabilityInterfaceTypeTunnel);
    close(tap);
}

TEST(a_tunnel_names_the_type_of_the_link_below_its_carrier)
{
    const int tap = require_macvlan_on_tap();

    if (!namespace_try_ip("link add name v type vxlan id 7 dstport 4789 remote 198.18.2.9"))
        SKIP("this kernel has no vxlan");
    namespace_ip("address add 10.7.0.1/24 dev v");
    namespace_set_up("v");
    AFTER("route replace default via 10.7.0.9", expect_uplinks("v"));
    assert_int_equal(view.uplinks[0].ipv4UnderlayTypes, 1u << kSCNetworkReachabilityInterfaceTypeTunnel);
    close(tap);
}

TEST(a_smaller_array_gets_the_first_uplinks)
{
    SCOPED_TARGET target = network_target();

    namespace_ip("route add default via 192.0.2.1 metric 1; route add default via 203.0.113.1 metric 2");
    view = (struct view){ .network = kSCNetworkReachabilityNetworkInitializer };
    assert_true(SCNetworkReachabilityGetNetwork(target, &view.network, view.uplinks, sizeof view.uplinks[0], 1));
    assert_int_equal(view.network.uplinkCount, 2);
    assert_string_equal(view.uplinks[0].interfaceName, "a");
    assert_string_equal(view.uplinks[1].interfaceName, "");
    assert_true(SCNetworkReachabilityGetNetwork(target, &view.network, NULL, 0, 0));
}

TEST(a_larger_structure_is_zeroed_beyond_the_known_fields)
{
    struct {
        SCNetworkReachabilityUplink uplink;
        char more[8];
    } uplinks[2];
    struct {
        SCNetworkReachabilityNetwork network;
        char more[8];
    } network;
    SCOPED_TARGET target = network_target();

    namespace_ip("route add default via 192.0.2.1");
    memset(&uplinks, 1, sizeof uplinks);
    memset(&network, 1, sizeof network);
    network.network.size = sizeof network;
    assert_true(SCNetworkReachabilityGetNetwork(target, &network.network, &uplinks[0].uplink, sizeof uplinks[0], 2));
    assert_memory_equal(network.more, "\0\0\0\0\0\0\0", 8);
    assert_memory_equal(uplinks[0].more, "\0\0\0\0\0\0\0", 8);
    assert_int_equal(uplinks[1].more[0], 1);
}

/* ---- Bad input -------------------------------------------------------------------------------------------------- */

static void expect_refused(SCNetworkReachabilityRef target, SCNetworkReachabilityNetwork *network,
                           SCNetworkReachabilityUplink *uplinks, size_t uplink_size)
{
    assert_false(SCNetworkReachabilityGetNetwork(target, network, uplinks, uplink_size, 1));
    assert_int_equal(SCError(), kSCStatusInvalidArgument);
}

TEST(bad_arguments_are_refused)
{
    SCOPED_TARGET target = network_target(), plain = expect_target("0.0.0.0");
    SCNetworkReachabilityNetwork network = kSCNetworkReachabilityNetworkInitializer, small = { 0 };
    SCNetworkReachabilityUplink uplink;

    expect_refused(NULL, &network, &uplink, sizeof uplink);
    expect_refused(target, NULL, &uplink, sizeof uplink);
    expect_refused(target, &small, &uplink, sizeof uplink);
    expect_refused(target, &network, NULL, sizeof uplink);
    expect_refused(target, &network, &uplink, sizeof uplink - 1);
    expect_refused(target, &network, &uplink, 5000);
    expect_refused(plain, &network, &uplink, sizeof uplink);
}

TEST(only_the_plain_default_path_has_the_option)
{
    const struct sockaddr_storage any = expect_sockaddr("0.0.0.0"), host = expect_sockaddr("192.0.2.1");
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    options.options = kSCNetworkReachabilityOptionNotifyNetwork;
    options.remoteAddress = (const struct sockaddr *)&host;
    assert_null(SCNetworkReachabilityCreateWithOptions(NULL, &options));
    options.remoteAddress = (const struct sockaddr *)&any;
    options.interfaceName = "a";
    assert_null(SCNetworkReachabilityCreateWithOptions(NULL, &options));
    options.interfaceName = NULL;
    options.routingMark = 7;
    assert_null(SCNetworkReachabilityCreateWithOptions(NULL, &options));
    options.routingMark = 0;
    options.localAddress = (const struct sockaddr *)&any;
    assert_null(SCNetworkReachabilityCreateWithOptions(NULL, &options));
    assert_int_equal(SCError(), kSCStatusInvalidArgument);
}

/* ---- Name servers ----------------------------------------------------------------------------------------------- */

static const struct server_row {
    const char *name;
    const char *resolv_conf;
    const char *upstream; /* NULL: there is no such file */
    const char *first;    /* of the servers */
    uint32_t count;
    bool is_reachable;
} server_rows[] = {
    { "on a directly attached network", "nameserver 192.0.2.53\n", NULL, "192.0.2.53", 1, true },
    { "without a route", "nameserver 198.51.100.53\n", NULL, "198.51.100.53", 1, false },
    { "one of two has a route", "nameserver 198.51.100.53\nnameserver 2001:db8::53\n", NULL, "198.51.100.53", 2, true },
    { "the first of two has a route", "nameserver 192.0.2.53\nnameserver 198.51.100.53\n", NULL, "192.0.2.53", 2,
      true },
    { "none", "# nothing\n", NULL, "none", 0, false },
    { "on this machine", "nameserver 127.0.0.1\n", NULL, "127.0.0.1", 1, true },
    { "the unspecified address", "nameserver 0.0.0.0\n", NULL, "127.0.0.1", 1, true },
    { "the unspecified address of IPv6", "nameserver ::\n", NULL, "::1", 1, true },
    { "the stub's servers", "nameserver 127.0.0.53\n", "nameserver 192.0.2.53\n", "192.0.2.53", 1, true },
    { "the stub's servers have no route", "nameserver 127.0.0.53\n", "nameserver 198.51.100.9\n", "198.51.100.9", 1,
      false },
    { "the stub has no servers", "nameserver 127.0.0.53\n", "# none\n", "none", 0, false },
    { "the stub's servers are not known", "nameserver 127.0.0.53\n", NULL, "127.0.0.53", 1, true },
};

TEST_EACH(name_servers, server_rows)
{
    etc_write(ETC_RESOLV_CONF, row->resolv_conf);
    if (row->upstream != NULL) {
        etc_make_directory("/run/systemd");
        etc_make_directory("/run/systemd/resolve");
        etc_write(ETC_UPSTREAM, row->upstream);
    }
    view = view_now();
    assert_int_equal(view.network.nameServerCount, row->count);
    assert_int_equal(view.network.nameServerIsReachable, row->is_reachable);
    expect_address(&view.network.nameServers[0], row->first);
}

/* The address of a link-local server is of use only with its scope. */
static void expect_server_scope(SCNetworkReachabilityRef target, const char *interface)
{
    view = view_of(target);
    expect_address(&view.network.nameServers[0], "fe80::53");
    assert_int_equal(((const struct sockaddr_in6 *)&view.network.nameServers[0])->sin6_scope_id,
                     if_nametoindex(interface));
}

TEST(a_link_local_server_has_its_scope)
{
    etc_write(ETC_RESOLV_CONF, "nameserver fe80::53%c\n");
    watcher_schedule(&watcher, network_target());
    expect_server_scope(watcher.target, "c");
    (void)idle_perform(watcher.loop);
    expect_server_scope(watcher.target, "c");
    namespace_ip("link set dev c down");
    (void)idle_perform(watcher.loop);
    expect_server_scope(watcher.target, "c");
    watcher.calls = 0;
    namespace_ip("link set dev c name x");
    (void)idle_perform(watcher.loop);
    expect_server_scope(watcher.target, "c"); /* which does not exist: 0 */
    assert_int_equal(watcher.calls, 1);
}

/* ---- Callbacks -------------------------------------------------------------------------------------------------- */

static void open_watcher(void)
{
    watcher_schedule(&watcher, network_target());
}

/* Exactly one callback comes, and then the uplinks are these. */
static void expect_callback(const char *uplinks)
{
    assert_true(idle_perform(watcher.loop) >= 0);
    assert_int_equal(watcher.calls, 1);
    watcher.calls = 0;
    expect_uplinks_of(watcher.target, uplinks);
}

/* The first callback of a new watcher has these uplinks. */
static void expect_first_uplinks(const char *uplinks)
{
    open_watcher();
    expect_callback(uplinks);
}

/* Callbacks come, and after the last the uplinks are these: for changes that the kernel makes in several steps. */
static void expect_callbacks(const char *uplinks)
{
    (void)idle_perform(watcher.loop);
    assert_true(watcher.calls > 0);
    watcher.calls = 0;
    expect_uplinks_of(watcher.target, uplinks);
}

static void expect_no_callback(void)
{
    assert_int_equal(idle_perform(watcher.loop), 0);
    assert_int_equal(watcher.calls, 0);
}

TEST(the_first_pass_makes_one_callback)
{
    expect_first_uplinks("");
    expect_no_callback();
}

TEST(the_chosen_uplink_is_known_before_the_first_callback)
{
    namespace_ip("route add default via 192.0.2.1 metric 1; route add default via 203.0.113.1 metric 2");
    open_watcher();
    expect_uplinks_of(watcher.target, "a");
    assert_int_equal(view.network.ipv4.flags, R);
    assert_int_equal(view.network.uplinksAreComplete, 0);
    expect_callback("a c");
    assert_int_equal(view.network.uplinksAreComplete, 1);
}

TEST(an_uplink_that_comes_or_goes_makes_a_callback)
{
    AFTER("route add default via 192.0.2.1 metric 1", expect_first_uplinks("a"));
    AFTER("route add default via 203.0.113.1 metric 2", expect_callback("a c"));
    namespace_set_carrier("c", "d", false);
    expect_callbacks("a");
    namespace_set_carrier("c", "d", true);
    expect_callbacks("a c");
    AFTER("route delete default via 203.0.113.1", expect_callback("a"));
}

TEST(a_family_that_comes_makes_a_callback)
{
    AFTER("route add default via 192.0.2.1", expect_first_uplinks("a"));
    AFTER("-6 route add default via 2001:db8::1", expect_callback("a"));
    assert_int_equal(view.network.ipv6.flags, R);
}

TEST(another_source_address_makes_a_callback)
{
    AFTER("address add 192.0.2.3/24 dev a; route add default via 192.0.2.1 src 192.0.2.2", expect_first_uplinks("a"));
    AFTER("route replace default via 192.0.2.1 src 192.0.2.3", expect_callback("a"));
    expect_address(&view.network.ipv4.source, "192.0.2.3");
}

TEST(another_gateway_of_an_interface_that_is_not_chosen_makes_a_callback)
{
    namespace_ip("route add default via 192.0.2.1 metric 1; route add default via 203.0.113.1 metric 2");
    expect_first_uplinks("a c");
    AFTER("route replace default via 203.0.113.9 metric 2", expect_callback("a c"));
    expect_address(&view.uplinks[1].ipv4.gateway, "203.0.113.9");
}

/* Among equal routes, the kernel prefers one whose gateway responds. */
TEST(the_gateways_of_equal_default_routes_change_the_chosen_uplink)
{
    static const char *const states[] = { "a nud failed", "a lladdr 02:00:00:00:00:01 nud reachable", "c nud failed",
                                          "c lladdr 02:00:00:00:00:01 nud reachable", "a nud failed" };
    static const char *const chosen[] = { "192.0.2.1", "203.0.113.1" };

    namespace_ip("neigh replace 192.0.2.1 dev a lladdr 02:00:00:00:00:01 nud reachable");
    namespace_ip("neigh replace 203.0.113.1 dev c lladdr 02:00:00:00:00:01 nud reachable");
    namespace_ip("route add default via 192.0.2.1 metric 5; route append default via 203.0.113.1 metric 5");
    open_watcher();
    (void)idle_perform(watcher.loop);
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        const char *gateway = chosen[states[i][0] == 'c'];

        namespace_ip("neigh replace %s dev %s", gateway, states[i]);
        (void)idle_perform(watcher.loop);
        assert_string_equal(view_of(watcher.target).uplinks[0].interfaceName, view_now().uplinks[0].interfaceName);
    }
}

TEST(another_metric_makes_a_callback)
{
    AFTER("route add default via 192.0.2.1 metric 1", expect_first_uplinks("a"));
    AFTER("route add default via 192.0.2.1 metric 5", expect_no_callback());
    AFTER("route delete default via 192.0.2.1 metric 1", expect_callback("a"));
    assert_int_equal(view.network.ipv4.metric, 5);
}

TEST(another_name_of_an_interface_makes_a_callback)
{
    AFTER("route add default via 192.0.2.1", expect_first_uplinks("a"));
    if (!namespace_try_ip("link set dev a name renamed"))
        SKIP("this kernel renames no interface that is up");
    expect_callbacks("renamed");
}

TEST(lo_down_and_up_make_callbacks)
{
    expect_first_uplinks("");
    AFTER("link set dev lo down", expect_callbacks(""));
    assert_int_equal(view.network.ipv4LoopbackFlags, 0);
    AFTER("link set dev lo up", expect_callbacks(""));
    assert_int_equal(view.network.ipv4LoopbackFlags, R | L | D);
}

TEST(a_route_that_is_no_default_makes_no_callback)
{
    AFTER("route add default via 192.0.2.1", expect_first_uplinks("a"));
    AFTER("route add 198.51.100.0/24 via 203.0.113.1; link set dev a mtu 1400", expect_no_callback());
}

TEST(a_name_server_that_comes_or_goes_makes_a_callback)
{
    expect_first_uplinks("");
    etc_replace(ETC_RESOLV_CONF, "nameserver 198.51.100.53\n");
    expect_callback("");
    assert_int_equal(view.network.nameServerIsReachable, 0);
    AFTER("route add 198.51.100.53 via 203.0.113.1", expect_callback(""));
    assert_int_equal(view.network.nameServerIsReachable, 1);
    etc_replace(ETC_RESOLV_CONF, "nameserver 198.51.100.53\noptions timeout:1\n");
    expect_no_callback();
}

static const struct {
    const char *name;
    const char *server;
    const char *commands;
    bool is_reachable;
} rule_rows[] = {
    { "an uplink", "198.51.100.53", "rule add ipproto 17 dport 53 lookup 100; route add default dev a table 100",
      true },
    { "no way", "192.0.2.53", "rule add ipproto 17 dport 53 prohibit", false },
    { "an uplink, IPv6", "2001:db8:f::53",
      "-6 rule add ipproto 17 dport 53 lookup 100; -6 route add default dev a table 100", true },
    { "no way, IPv6", "2001:db8::53", "-6 rule add ipproto 17 dport 53 prohibit", false },
    { "no way, scoped", "fe80::53%c", "-6 rule add ipproto 17 dport 53 prohibit", false },
    { "other protocols", "192.0.2.53", "rule add ipproto 6 dport 53 prohibit; rule add ipproto 17 dport 54 prohibit",
      true },
};

TEST_EACH(rules_for_the_resolvers_packets_count, rule_rows)
{
    etc_write(ETC_RESOLV_CONF, unit_text("nameserver %s\n", row->server));
    namespace_ip("%s", row->commands);
    assert_int_equal(view_now().network.nameServerIsReachable, row->is_reachable);
    expect_first_uplinks("");
    assert_int_equal(view.network.nameServerIsReachable, row->is_reachable);
}

TEST(a_table_for_the_resolvers_packets_makes_a_callback)
{
    etc_write(ETC_RESOLV_CONF, "nameserver 198.51.100.53\n");
    AFTER("rule add ipproto 17 dport 53 lookup 100", expect_first_uplinks(""));
    AFTER("route add default via 192.0.2.1 table 100", expect_callback(""));
    assert_int_equal(view.network.nameServerIsReachable, 1);
    AFTER("route delete default table 100", expect_callback(""));
    assert_int_equal(view.network.nameServerIsReachable, 0);
}

TEST(a_half_written_resolv_conf_makes_no_callback)
{
    expect_first_uplinks("");
    const double limit = watcher_now() + 0.1;
    const int fd = open(ETC_RESOLV_CONF, O_WRONLY | O_TRUNC | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_true(SCRunLoopPerform(watcher.loop, 0) >= 0);
    if (watcher_now() < limit) /* later, it may count */
        assert_int_equal(watcher.calls, 0);
    assert_int_equal(write(fd, "nameserver 192.0.2.54\n", 22), 22);
    close(fd);
    expect_callback("");
    expect_address(&view.network.nameServers[0], "192.0.2.54");
}

/* The loop that reads the event wakes the other. */
TEST(each_loop_notices_an_edited_file)
{
    struct watcher other;

    expect_first_uplinks("");
    watcher_schedule(&other, network_target());
    (void)idle_perform(other.loop);
    for (int i = 0; i < 2; i++) {
        struct watcher *first = i == 0 ? &watcher : &other, *second = i == 0 ? &other : &watcher;

        first->calls = second->calls = 0;
        etc_replace(ETC_RESOLV_CONF, i == 0 ? "nameserver 192.0.2.54\n" : "nameserver 192.0.2.55\n");
        (void)idle_perform(first->loop);
        assert_int_equal(first->calls, 1);
        (void)idle_perform(second->loop);
        assert_int_equal(second->calls, 1);
    }
    watcher_stop(&other);
}

/* An epoll set has the descriptor of the files once. */
TEST(two_namespaces_on_one_loop_notice_an_edited_file)
{
    struct watcher other;

    expect_first_uplinks("");
    namespace_require();
    watcher_schedule_on(&other, network_target(), watcher.loop);
    (void)idle_perform(watcher.loop);
    watcher.calls = other.calls = 0;
    etc_replace(ETC_RESOLV_CONF, "nameserver 192.0.2.54\n");
    while (idle_perform(watcher.loop) > 0)
        continue;
    assert_int_equal(watcher.calls, 1);
    assert_int_equal(other.calls, 1);
    watcher_stop(&other);
    etc_replace(ETC_RESOLV_CONF, "nameserver 192.0.2.55\n");
    (void)idle_perform(watcher.loop);
    assert_int_equal(watcher.calls, 2);
}

TEST(another_name_server_makes_a_callback)
{
    expect_first_uplinks("");
    etc_replace(ETC_RESOLV_CONF, "nameserver 192.0.2.54\n");
    expect_callback("");
    assert_int_equal(view.network.nameServerIsReachable, 1);
    expect_address(&view.network.nameServers[0], "192.0.2.54");
}

static void expect_first_server(const char *wanted)
{
    view = view_of(watcher.target);
    expect_address(&view.network.nameServers[0], wanted);
}

/* Containers and scripts of VPNs do that. */
TEST(a_file_mounted_over_resolv_conf_is_noticed_with_the_next_change)
{
    etc_write(ETC_ASIDE "resolv.conf", "nameserver 192.0.2.54\n");
    expect_first_uplinks("");
    etc_mount(ETC_RESOLV_CONF, ETC_ASIDE "resolv.conf");
    expect_no_callback();
    etc_write(ETC_HOSTS, "# another\n");
    expect_callback("");
    expect_first_server("192.0.2.54");
    etc_write(ETC_ASIDE "resolv.conf", "nameserver 192.0.2.55\n");
    expect_callback("");
    expect_first_server("192.0.2.55");
    etc_unmount(ETC_RESOLV_CONF);
    AFTER("route add default via 192.0.2.1", expect_callback("a"));
    expect_first_server("192.0.2.55");
    etc_write(ETC_RESOLV_CONF, "nameserver 192.0.2.53\n");
    expect_callback("a");
    expect_first_server("192.0.2.53");
}

/* The kernel reports an expired route after 30 s. */
static void expect_callback_at_expiry(void)
{
    const double limit = watcher_now() + 15;

    while (watcher.calls == 0 && watcher_now() < limit)
        assert_int_not_equal(SCRunLoopPerform(watcher.loop, limit - watcher_now()), -1);
    assert_int_not_equal(watcher.calls, 0);
}

TEST(an_expired_route_to_the_name_server_makes_a_callback)
{
    etc_write(ETC_RESOLV_CONF, "nameserver 2001:db8:f::53\n");
    AFTER("-6 route add 2001:db8:f::/64 via 2001:db8::1 expires 1", expect_first_uplinks(""));
    assert_int_equal(view.network.nameServerIsReachable, 1);
    (void)idle_perform(watcher.loop);
    assert_true(idle_next_deadline(watcher.loop) < clock_now() + 3 * SECOND); /* a sweep is due after 5 s */
    expect_callback_at_expiry();
    assert_int_equal(view_of(watcher.target).network.nameServerIsReachable, 0);
}

TEST(an_expired_default_makes_a_callback)
{
    namespace_ip("-6 route add default via 2001:db8::1 metric 1");
    AFTER("-6 route add default via 2001:db8:c::1 metric 2 expires 1", expect_first_uplinks("a c"));
    expect_callback_at_expiry();
    expect_uplinks_of(watcher.target, "a");
}

/* Only the message about the neighbour announces that IPv6 prefers the other way. The target's own path is IPv4's. */
TEST(an_ipv6_gateway_that_fails_and_comes_back_makes_a_callback)
{
    namespace_ip("route add default via 192.0.2.1; -6 route add default via 2001:db8::1 metric 1");
    namespace_ip("-6 route add default via 2001:db8:c::1 metric 2");
    namespace_ip("neigh add 2001:db8:c::1 lladdr 02:00:00:00:00:0d dev c nud permanent");
    AFTER("neigh add 2001:db8::1 lladdr 02:00:00:00:00:0b dev a nud reachable", expect_first_uplinks("a c"));
    assert_int_equal(view.network.ipv6.interfaceIndex, if_nametoindex("a"));
    AFTER("neigh change 2001:db8::1 dev a nud failed", expect_callback("a c"));
    assert_int_equal(view.network.ipv6.interfaceIndex, if_nametoindex("c"));
    AFTER("neigh replace 2001:db8::1 lladdr 02:00:00:00:00:0b dev a nud reachable", expect_callback("a c"));
    assert_int_equal(view.network.ipv6.interfaceIndex, if_nametoindex("a"));
}

/* The route to 4000::/3 leads to one of the addresses that stand for the default route. */
TEST(an_ipv6_gateway_that_is_on_no_uplink_and_fails_makes_a_callback)
{
    namespace_ip("-6 route add prohibit default metric 20; -6 route add 4000::/3 via 2001:db8:c::1");
    AFTER("neigh add 2001:db8:c::1 lladdr 02:00:00:00:00:0d dev c nud reachable extern_learn",
          expect_first_uplinks(""));
    assert_int_equal(view.network.ipv6.reason, kSCNetworkReachabilityReasonNoRoute);
    expect_no_callback(); /* the later evaluations of the first changes */
    AFTER("neigh change 2001:db8:c::1 dev c nud failed extern_learn", expect_callback(""));
    assert_int_equal(view.network.ipv6.reason, kSCNetworkReachabilityReasonRouteProhibited);
    AFTER("neigh replace 2001:db8:c::1 lladdr 02:00:00:00:00:0d dev c nud reachable extern_learn", expect_callback(""));
    assert_int_equal(view.network.ipv6.reason, kSCNetworkReachabilityReasonNoRoute);
}

TEST(an_ipv6_gateway_of_the_name_server_that_fails_makes_a_callback)
{
    etc_write(ETC_RESOLV_CONF, "nameserver 2001:db8:f::53\n");
    namespace_ip("-6 route add unreachable 2001:db8::/32; -6 route add 2001:db8:f::/64 via 2001:db8::1");
    AFTER("neigh add 2001:db8::1 lladdr 02:00:00:00:00:0b dev a nud reachable extern_learn", expect_first_uplinks(""));
    assert_int_equal(view.network.nameServerIsReachable, 1);
    expect_no_callback(); /* the later evaluations of the first changes */
    AFTER("neigh change 2001:db8::1 dev a nud failed extern_learn", expect_callback(""));
    assert_int_equal(view.network.nameServerIsReachable, 0);
}

TEST(a_later_target_gets_a_first_callback_of_its_own)
{
    struct watcher second = { 0 };

    AFTER("route add default via 192.0.2.1", expect_first_uplinks("a"));
    watcher_schedule_on(&second, network_target(), watcher.loop);
    (void)idle_perform(watcher.loop);
    assert_int_equal(second.calls, 1);
    expect_uplinks_of(second.target, "a");
    assert_int_equal(watcher.calls, 0);
}

TEST(a_later_target_does_not_begin_with_what_an_earlier_one_found)
{
    struct watcher second = { 0 };

    open_watcher();
    namespace_ip("route add default via 192.0.2.1");
    watcher_schedule_on(&second, network_target(), watcher.loop);
    expect_uplinks_of(second.target, "a");
}

/* For a name alone, the uplinks are not evaluated. */
TEST(a_network_target_on_the_loop_of_a_name_has_all_uplinks)
{
    struct watcher second;

    namespace_ip("route add default via 192.0.2.1 metric 1; route add default via 203.0.113.1 metric 2");
    etc_write(ETC_HOSTS, "127.0.0.1 here.test\n");
    watcher_schedule(&watcher, expect_name("here.test"));
    while (watcher.calls == 0)
        assert_true(SCRunLoopPerform(watcher.loop, 1) >= 0);
    (void)idle_perform(watcher.loop);
    watcher_schedule_on(&second, network_target(), watcher.loop);
    while (idle_perform(watcher.loop) > 0)
        continue;
    assert_int_equal(second.calls, 1);
    expect_uplinks_of(second.target, "a c");
}

TEST(an_unscheduled_target_queries_the_kernel)
{
    expect_first_uplinks("");
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(watcher.target, watcher.loop, kSCRunLoopDefaultMode));
    AFTER("route add default via 192.0.2.1", expect_uplinks_of(watcher.target, "a"));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(watcher.target, watcher.loop, kSCRunLoopDefaultMode));
    expect_callback("a");
}

TEST(each_time_that_a_target_is_scheduled_makes_a_callback)
{
    open_watcher();
    for (int i = 0; i < 3; i++) {
        expect_callback("");
        assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(watcher.target, watcher.loop, kSCRunLoopDefaultMode));
        assert_true(SCNetworkReachabilityScheduleWithRunLoop(watcher.target, watcher.loop, kSCRunLoopDefaultMode));
    }
}

TEST(a_fetch_returns_a_target_whose_network_changed)
{
    SCNetworkReachabilityRef target = network_target(), changed;
    SCOPED_LOOP loop = SCRunLoopCreate();

    namespace_ip("route add default via 192.0.2.1 metric 1");
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    (void)idle_perform(loop);
    SCNetworkReachabilityRelease(SCRunLoopCopyNextChange(loop, NULL));
    namespace_ip("route add default via 203.0.113.1 metric 2");
    (void)idle_perform(loop);
    changed = SCRunLoopCopyNextChange(loop, NULL);
    assert_ptr_equal(changed, target);
    SCNetworkReachabilityRelease(changed);
    assert_null(SCRunLoopCopyNextChange(loop, NULL));
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    SCNetworkReachabilityRelease(target);
}

/* ---- Forks ------------------------------------------------------------------------------------------------------ */

TEST(a_child_has_targets_of_its_own_and_the_parents_goes_on)
{
    if (unit_is_under("tsan"))
        SKIP("the thread sanitizer cannot follow a fork among threads");
    AFTER("route add default via 192.0.2.1 metric 1", expect_first_uplinks("a"));
    if (child_begin()) {
        SCNetworkReachabilityNetwork network = kSCNetworkReachabilityNetworkInitializer;
        struct watcher own = { 0 };

        assert_false(SCNetworkReachabilityGetNetwork(watcher.target, &network, NULL, 0, 0));
        assert_int_equal(SCError(), ECHILD);
        watcher_schedule(&own, network_target());
        assert_true(idle_perform(own.loop) >= 0);
        assert_int_equal(own.calls, 1);
        expect_uplinks_of(own.target, "a");
        namespace_ip("route add default via 203.0.113.1 metric 2");
        assert_true(idle_perform(own.loop) >= 0);
        assert_int_equal(own.calls, 2);
        expect_uplinks_of(own.target, "a c");
        watcher_stop(&own);
        child_end();
    }
    expect_callback("a c");
}

static struct {
    SCRunLoopRef loop;
    int calls, inside;
} nested;

static void drive_inside(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)flags, (void)info;
    assert_int_equal(nested.inside++, 0);
    if (nested.calls++ == 0) {
        namespace_ip("route add default via 203.0.113.1 metric 2");
        (void)idle_perform(nested.loop);
    }
    nested.inside--;
}

TEST(a_change_while_the_callback_drives_the_loop_is_delivered_after_it)
{
    SCOPED_LOOP loop = SCRunLoopCreate();
    SCOPED_TARGET target = network_target();

    nested.loop = loop;
    nested.calls = nested.inside = 0;
    namespace_ip("route add default via 192.0.2.1 metric 1");
    expect_callback_set(target, drive_inside, NULL);
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    assert_true(idle_perform(loop) >= 0);
    assert_true(idle_perform(loop) >= 0);
    assert_int_equal(nested.calls, 2);
    expect_uplinks_of(target, "a c");
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
}

static void *retain_own_loop(void *argument)
{
    (void)argument;
    return SCRunLoopRetain(SCRunLoopGetCurrent());
}

TEST(after_a_schedule_that_failed_the_kernel_is_queried)
{
    SCOPED_TARGET target = network_target();
    pthread_t thread;
    void *ended_loop;

    unit_check(pthread_create(&thread, NULL, retain_own_loop, NULL), "pthread_create");
    unit_check(pthread_join(thread, &ended_loop), "pthread_join");
    assert_false(SCNetworkReachabilityScheduleWithRunLoop(target, ended_loop, kSCRunLoopDefaultMode));
    AFTER("route add default via 192.0.2.1", expect_uplinks_of(target, "a"));
    SCRunLoopRelease(ended_loop);
}
