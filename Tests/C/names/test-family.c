/* SPDX-License-Identifier: MIT */
/* Targets that use the addresses of one family only: IPv4Only and IPv6Only. */
#include <netinet/in.h>

#include "support/names.h"

enum { IPV4 = kSCNetworkReachabilityOptionIPv4Only, IPV6 = kSCNetworkReachabilityOptionIPv6Only };

static struct watcher watcher;

UNIT(.setup = names_begin, .cleanup = names_end, .end = names_end_group)

static SCNetworkReachabilityRef create(const char *name, uint32_t options, uint8_t protocol)
{
    SCNetworkReachabilityOptions all = kSCNetworkReachabilityOptionsInitializer;

    all.nodename = name;
    all.options = options;
    all.protocol = protocol;
    return SCNetworkReachabilityCreateWithOptions(NULL, &all);
}

static SCNetworkReachabilityRef target_of(const char *name, uint32_t options)
{
    SCNetworkReachabilityRef target = create(name, options, 0);

    assert_non_null(target);
    return target;
}

static void expect_refusal(const char *name, uint32_t options, uint8_t protocol)
{
    assert_null(create(name, options, protocol));
    assert_int_equal(SCError(), kSCStatusInvalidArgument);
}

#define RESOLVE(name, options, flags) \
    do { \
        watcher_schedule(&watcher, target_of(name, options)); \
        EXPECT_CHANGE(&watcher, flags); \
    } while (0)

TEST(a_name_has_the_addresses_of_the_family)
{
    RESOLVE("ok.test", IPV4, R);
    EXPECT_ADDRESSES(watcher.target, "198.51.100.7");
    EXPECT_GATEWAY(watcher.target, "192.0.2.1");
    AFTER("-6 route delete default", EXPECT_QUIET(&watcher));
    namespace_ip("route delete default");
    EXPECT_CHANGE(&watcher, 0); /* IPv6 would be another way for a name of both families */
    watcher_stop(&watcher);
    namespace_ip("-6 route add default via 2001:db8::1");
    RESOLVE("ok.test", IPV6, R);
    EXPECT_ADDRESSES(watcher.target, "2001:db8:1::7");
    EXPECT_GATEWAY(watcher.target, "2001:db8::1");
}

TEST(a_name_without_an_address_of_the_family_is_not_found)
{
    RESOLVE("v4only.test", IPV6, 0);
    EXPECT(watcher.target, 0, NameNotFound);
    EXPECT_ADDRESSES(watcher.target, "");
    watcher_stop(&watcher);
    RESOLVE("v6only.test", IPV4, 0);
    EXPECT(watcher.target, 0, NameNotFound);
}

/* For both families, the system's resolver succeeds with the addresses of one after the query for the other has failed.
 * That is no name without an address. */
static void expect_addresses_to_stay(uint32_t option, enum nameserver_type type, const char *address)
{
    watcher_schedule(&watcher, target_of("ok.test", option));
    EXPECT_CHANGE(&watcher, R);
    EXPECT_ADDRESSES(watcher.target, address);
    nameserver_fail(names_server, type);
    etc_set_servers("192.0.2.2", type == NAMESERVER_A ? 2 : 3); /* the name is looked up again */
    assert_int_equal(watcher_pass(&watcher), 0);
    nameserver_await(names_server, "ok.test", type, 2);
    names_settle(&watcher);
    EXPECT_QUIET(&watcher);
    EXPECT(watcher.target, R, None);
    EXPECT_ADDRESSES(watcher.target, address);
    watcher_stop(&watcher);
    nameserver_fail(names_server, 0);
}

TEST(known_addresses_of_the_family_stay_while_their_query_fails)
{
    expect_addresses_to_stay(IPV6, NAMESERVER_AAAA, "2001:db8:1::7");
    expect_addresses_to_stay(IPV4, NAMESERVER_A, "198.51.100.7");
}

TEST(a_first_query_of_the_family_that_fails_is_a_failure_of_the_server)
{
    nameserver_fail(names_server, NAMESERVER_AAAA);
    RESOLVE("ok.test", IPV6, 0);
    EXPECT(watcher.target, 0, NameServerFailure);
    watcher_stop(&watcher);
    RESOLVE("ok.test", IPV4, R);
    EXPECT_ADDRESSES(watcher.target, "198.51.100.7");
}

/* At the same time. */
TEST(look_ups_of_different_families_are_not_shared)
{
    struct watcher other;

    nameserver_move(names_server, "198.51.100.7 2001:db8:1::7");
    watcher_schedule(&watcher, target_of("heldmoves.test", IPV4));
    watcher_schedule_on(&other, target_of("heldmoves.test", IPV6), watcher.loop);
    nameserver_await(names_server, "heldmoves.test", NAMESERVER_A, 1);
    nameserver_await(names_server, "heldmoves.test", NAMESERVER_AAAA, 1);
    nameserver_release(names_server, "heldmoves");
    names_settle(&watcher);
    names_settle(&other);
    EXPECT_ADDRESSES(watcher.target, "198.51.100.7");
    EXPECT_ADDRESSES(other.target, "2001:db8:1::7");
}

TEST(a_pending_name_has_the_default_path_of_the_family)
{
    SCOPED_TARGET any = target_of("ok.test", 0), ipv4 = target_of("ok.test", IPV4), ipv6 = target_of("ok.test", IPV6);

    namespace_ip("route delete default");
    EXPECT(any, R, NamePending);
    EXPECT(ipv4, 0, NamePending);
    EXPECT(ipv6, R, NamePending, .gateway = "2001:db8::1");
}

/* Beside a name that follows the default path of both. The look-ups last to the end: after its first look-up, each name
 * has a path of its own. */
TEST(a_scheduled_pending_name_follows_the_default_path_of_the_family)
{
    struct watcher other;

    etc_replace(ETC_RESOLV_CONF, "nameserver 192.0.2.2\noptions timeout:30 attempts:5\n");
    watcher_start(&watcher, target_of("held.test", IPV4));
    watcher_schedule_on(&other, expect_name("held.test"), watcher.loop);
    EXPECT_QUIET(&other);
    nameserver_await(names_server, "held.test", NAMESERVER_A, 2);
    nameserver_await(names_server, "held.test", NAMESERVER_AAAA, 1);
    AFTER("route delete default", EXPECT_CHANGE(&watcher, 0));
    EXPECT_QUIET(&other);
    watcher_stop(&other);
    watcher_stop(&watcher); /* or another look-up would follow, as the network has changed */
    nameserver_release(names_server, "held");
}

/* The path that other pending names follow is that of packets without a protocol. */
TEST(a_scheduled_pending_name_has_the_default_path_of_its_protocol)
{
    etc_replace(ETC_RESOLV_CONF, "nameserver 192.0.2.2\noptions timeout:30 attempts:5\n");
    namespace_ip("rule add ipproto 6 prohibit; -6 rule add ipproto 6 prohibit");
    watcher_start(&watcher, create("held.test", 0, IPPROTO_TCP));
    EXPECT(watcher.target, 0, NamePending);
    names_await_queries("held.test", 1); /* a later one would be held again */
    watcher_stop(&watcher);
    nameserver_release(names_server, "held");
}

TEST(localhost_has_the_address_of_the_family)
{
    SCOPED_TARGET ipv4 = target_of("localhost", IPV4), ipv6 = target_of("localhost", IPV6);

    EXPECT_ADDRESSES(ipv4, "127.0.0.1");
    EXPECT_ADDRESSES(ipv6, "::1");
}

TEST(the_default_path_is_that_of_the_family)
{
    SCOPED_TARGET ipv4 = target_of("0.0.0.0", IPV4), ipv6 = target_of("::", IPV6);

    EXPECT_GATEWAY(ipv4, "192.0.2.1");
    EXPECT_GATEWAY(ipv6, "2001:db8::1");
    namespace_ip("route delete default");
    EXPECT(ipv4, 0, NoRoute);
    EXPECT(ipv6, R, None);
}

/* A 464XLAT translator takes IPv4 packets from a tun device and sends them over IPv6. The kernel does not say so. */
TEST(the_default_path_over_a_translator_loses_the_cable_for_ipv6_only)
{
    const int tun = namespace_require_tun("clat");

    namespace_ip("address add 192.0.0.1/32 dev clat; route replace default dev clat");
    watcher_start(&watcher, expect_target("0.0.0.0"));
    SCOPED_TARGET ipv6 = target_of("::", IPV6);
    EXPECT_EACH(R, None, ipv6);
    namespace_set_carrier("a", "b", false);
    EXPECT(watcher.target, R | T, None);
    EXPECT_EACH(0, NoCarrier, ipv6);
    EXPECT_QUIET(&watcher);
    close(tun);
}

TEST(an_address_of_the_family_is_as_without_the_option)
{
    RESOLVE("v4only.test", IPV4, R);
    watcher_stop(&watcher);
    watcher_start(&watcher, expect_option("198.51.100.7", IPV4));
    EXPECT(watcher.target, R, None);
    AFTER("route delete default", EXPECT_CHANGE(&watcher, 0));
}

TEST(an_address_of_the_other_family_and_both_options_are_refused)
{
    expect_refusal("198.51.100.7", IPV6, 0);
    expect_refusal("0.0.0.0", IPV6, 0);
    expect_refusal("2001:db8:1::7", IPV4, 0);
    expect_refusal("::", IPV4, 0);
    expect_refusal("ok.test", IPV4 | IPV6, 0);
    expect_refusal("localhost", IPV4 | IPV6, 0);
    expect_refusal("0.0.0.0", IPV4 | kSCNetworkReachabilityOptionNotifyNetwork, 0);
}

TEST(the_icmp_of_the_other_family_is_refused)
{
    expect_refusal("ok.test", IPV4, IPPROTO_ICMPV6);
    expect_refusal("ok.test", IPV6, IPPROTO_ICMP);
    SCNetworkReachabilityRelease(create("ok.test", IPV4, IPPROTO_ICMP));
    SCNetworkReachabilityRelease(create("ok.test", IPV6, IPPROTO_ICMPV6));
}
