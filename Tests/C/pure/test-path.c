/* SPDX-License-Identifier: MIT */
/* Evaluation of a route and a link: flags, reason, rank, difference. No kernel. */
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>

#include "pure/link.h"
#include "pure/path.h"
#include "support/literal.h"
#include "support/unit.h"

enum {
    T = kSCNetworkReachabilityFlagsTransientConnection,
    R = kSCNetworkReachabilityFlagsReachable,
    C = kSCNetworkReachabilityFlagsConnectionRequired,
    ON_TRAFFIC = kSCNetworkReachabilityFlagsConnectionOnTraffic,
    INTERVENTION = kSCNetworkReachabilityFlagsInterventionRequired,
    ON_DEMAND = kSCNetworkReachabilityFlagsConnectionOnDemand,
    L = kSCNetworkReachabilityFlagsIsLocalAddress,
    D = kSCNetworkReachabilityFlagsIsDirect,
    W = kSCNetworkReachabilityFlagsIsWWAN
};
#define REASON(reason) kSCNetworkReachabilityReason##reason

/* ---- Lifetimes -------------------------------------------------------------------------------------------------- */

/* The replies of the kernel to queries with RTM_F_FIB_MATCH. */
static const struct route route_by_router = {
    .family = AF_INET6, .type = RTN_UNICAST, .protocol = RTPROT_RA, .table = 254, .oif = 2, .expires = 900
};

TEST(a_path_ends_with_the_first_of_its_routes)
{
    static const struct {
        uint32_t routes[2], end;
    } rows[] = {
        { { 900, 800 }, 800 }, { { 800, 900 }, 800 }, { { 0, 900 }, 900 }, { { 900, 0 }, 900 }, { { 0, 0 }, 0 }
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct dependencies dependencies = { 0 }, more = { 0 };
        struct route route = route_by_router;

        route.expires = rows[i].routes[0];
        reach_dependencies_add_lifetime(&dependencies, &route);
        route.expires = rows[i].routes[1];
        reach_dependencies_add_lifetime(&more, &route);
        reach_dependencies_add(&dependencies, &more);
        assert_int_equal(dependencies.expires, rows[i].end);
        assert_int_equal(dependencies.recheck, 0);
    }
}

/* A router can give it an end later. */
TEST(the_route_to_a_longer_prefix_that_a_router_has_advertised_is_stale_after_5_s)
{
    static const struct route routes[] = { { .protocol = RTPROT_RA, .prefix_length = 48, .has_gateway = true },
                                           { .protocol = RTPROT_RA, .prefix_length = 0, .has_gateway = true },
                                           { .protocol = RTPROT_RA, .prefix_length = 64 },
                                           { .protocol = RTPROT_BOOT, .prefix_length = 48, .has_gateway = true } };

    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        struct dependencies dependencies = { 0 };

        reach_dependencies_add_lifetime(&dependencies, &routes[i]);
        assert_int_equal(dependencies.recheck, i == 0 ? 5 : 0);
    }
}

TEST(a_path_is_stale_after_the_shortest_time)
{
    struct dependencies dependencies = { .recheck = 30 };

    reach_dependencies_add(&dependencies, &(struct dependencies){ .recheck = 2 });
    reach_dependencies_add(&dependencies, &(struct dependencies){ .expires = 900 });
    assert_int_equal(dependencies.recheck, 2);
    assert_int_equal(dependencies.expires, 900);
}

/* ---- Routes and links ------------------------------------------------------------------------------------------- */

#define UP (IFF_UP | IFF_RUNNING)

TEST(a_route_and_a_link_make_a_path)
{
    static const struct {
        const char *destination, *gateway, *source;
        uint8_t type;
        uint32_t link_flags;
        uint16_t hardware;
        const char *kind; /* NULL: the link is gone */
        bool source_chosen;
        SCNetworkReachabilityFlags flags;
        SCNetworkReachabilityReason reason;
    } rows[] = {
        /* Gateways and neighbours. */
        { "198.51.100.7", "192.0.2.1", "192.0.2.2", RTN_UNICAST, UP, ARPHRD_ETHER, "", false, R, REASON(None) },
        { "198.51.100.7", "fe80::1", "192.0.2.2", RTN_UNICAST, UP, ARPHRD_ETHER, "", false, R, REASON(None) },
        { "192.0.2.9", NULL, "192.0.2.2", RTN_UNICAST, UP, ARPHRD_ETHER, "veth", false, R | D, REASON(None) },
        { "192.0.2.9", NULL, NULL, RTN_UNICAST, UP, ARPHRD_ETHER, "", false, R | D, REASON(None) },
        { "192.0.2.255", NULL, NULL, RTN_BROADCAST, UP, ARPHRD_ETHER, "", false, R | D, REASON(None) },
        { "224.0.0.1", NULL, NULL, RTN_MULTICAST, UP, ARPHRD_ETHER, "", false, R | D, REASON(None) },
        /* Own addresses. */
        { "192.0.2.2", NULL, "192.0.2.2", RTN_LOCAL, UP | IFF_LOOPBACK, ARPHRD_LOOPBACK, "", false, R | L | D,
          REASON(None) },
        { "::1", NULL, "::1", RTN_LOCAL, UP | IFF_LOOPBACK, ARPHRD_LOOPBACK, "", false, R | L | D, REASON(None) },
        { "2001:db8::2", NULL, NULL, RTN_LOCAL, UP | IFF_LOOPBACK, ARPHRD_LOOPBACK, "", false, R | L | D,
          REASON(None) },
        { "127.0.0.1", NULL, "127.0.0.1", RTN_LOCAL, IFF_LOOPBACK, ARPHRD_LOOPBACK, "", false, 0,
          REASON(InterfaceDown) },
        /* Links that carry nothing. */
        { "198.51.100.7", "192.0.2.1", NULL, RTN_UNICAST, 0, ARPHRD_ETHER, "", false, 0, REASON(InterfaceDown) },
        { "198.51.100.7", "192.0.2.1", NULL, RTN_UNICAST, IFF_RUNNING, ARPHRD_ETHER, "", false, 0,
          REASON(InterfaceDown) },
        { "198.51.100.7", "192.0.2.1", NULL, RTN_UNICAST, IFF_UP, ARPHRD_ETHER, "", false, 0, REASON(NoCarrier) },
        { "198.51.100.7", "192.0.2.1", NULL, RTN_UNICAST, IFF_UP, ARPHRD_NONE, "wwan", false, 0, REASON(NoCarrier) },
        { "198.51.100.7", "192.0.2.1", NULL, RTN_UNICAST, UP, ARPHRD_ETHER, NULL, false, 0, REASON(NoRoute) },
        /* Routes that refuse, with any link. */
        { "198.51.100.7", NULL, NULL, RTN_UNREACHABLE, UP, ARPHRD_ETHER, "", false, 0, REASON(RouteUnreachable) },
        { "198.51.100.7", NULL, NULL, RTN_PROHIBIT, UP, ARPHRD_ETHER, "", false, 0, REASON(RouteProhibited) },
        { "198.51.100.7", NULL, NULL, RTN_BLACKHOLE, UP, ARPHRD_ETHER, NULL, false, 0, REASON(RouteBlackhole) },
        { "198.51.100.7", NULL, NULL, RTN_THROW, UP, ARPHRD_ETHER, "", false, 0, REASON(NoRoute) },
        /* Point-to-point: never direct. */
        { "198.51.100.7", NULL, NULL, RTN_UNICAST, UP | IFF_POINTOPOINT, ARPHRD_PPP, "ppp", false, R | T,
          REASON(None) },
        { "198.51.100.7", NULL, NULL, RTN_UNICAST, UP | IFF_POINTOPOINT, ARPHRD_NONE, "tun", false, R | T,
          REASON(None) },
        { "198.51.100.7", "192.0.2.1", NULL, RTN_UNICAST, UP, ARPHRD_NONE, "xfrm", false, R | T, REASON(None) },
        { "198.51.100.7", NULL, NULL, RTN_UNICAST, UP, ARPHRD_ETHER, "tun", false, R | D, REASON(None) },
        /* Cellular. */
        { "198.51.100.7", "192.0.2.1", NULL, RTN_UNICAST, UP | IFF_POINTOPOINT, ARPHRD_NONE, "wwan", false, R | W | T,
          REASON(None) },
        { "198.51.100.7", NULL, NULL, RTN_UNICAST, UP, ARPHRD_RAWIP, "rmnet", false, R | W | T, REASON(None) },
        /* IPv6 sources. */
        { "2001:db8:1::7", "fe80::1", "2001:db8::2", RTN_UNICAST, UP, ARPHRD_ETHER, "", false, R, REASON(None) },
        { "2001:db8:1::7", "fe80::1", "::1", RTN_UNICAST, UP, ARPHRD_ETHER, "", false, 0, REASON(NoSourceAddress) },
        { "2001:db8:1::7", "fe80::1", NULL, RTN_UNICAST, UP, ARPHRD_ETHER, "", false, 0, REASON(NoSourceAddress) },
        { "2001:db8:1::7", "fe80::1", "fe80::2", RTN_UNICAST, UP, ARPHRD_ETHER, "", false, 0, REASON(NoSourceAddress) },
        { "2001:db8:1::7", "fe80::1", NULL, RTN_UNICAST, UP, ARPHRD_ETHER, "", true, R, REASON(None) },
        { "fe80::1", NULL, "fe80::2", RTN_UNICAST, UP, ARPHRD_ETHER, "", false, R | D, REASON(None) },
        { "fe80::1", NULL, "::1", RTN_UNICAST, UP, ARPHRD_ETHER, "", false, 0, REASON(NoSourceAddress) },
        { "::1", "fe80::1", "fe80::2", RTN_UNICAST, UP, ARPHRD_ETHER, "", false, R, REASON(None) },
        { "::1", "fe80::1", NULL, RTN_UNICAST, UP, ARPHRD_ETHER, "", false, 0, REASON(NoSourceAddress) },
        { "ff02::1", NULL, "fe80::2", RTN_MULTICAST, UP, ARPHRD_ETHER, "", false, R | D, REASON(None) },
        { "2001:db8:1::7", NULL, NULL, RTN_UNICAST, IFF_UP, ARPHRD_ETHER, "", false, 0, REASON(NoCarrier) },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct address destination = make(rows[i].destination);
        struct route route = { .family = destination.family,
                               .type = rows[i].type,
                               .oif = 3,
                               .table = 254,
                               .has_gateway = rows[i].gateway != NULL,
                               .gateway = make(rows[i].gateway),
                               .source = make(rows[i].source),
                               .expires = 17 };
        struct link link = {
            .index = 3, .flags = rows[i].link_flags, .hardware = rows[i].hardware, .mtu = 1500, .name = "wwan0"
        };
        struct link_table links = LINK_TABLE_EMPTY;
        struct path path;

        if (rows[i].kind != NULL) {
            snprintf(link.kind, sizeof link.kind, "%s", rows[i].kind);
            assert_int_equal(reach_link_table_put(&links, &link), 0);
        }
        reach_path_evaluate(&destination, rows[i].source_chosen, &route, reach_link_table_find(&links, 3), &path);
        reach_link_table_clear(&links);
        if (path.flags != rows[i].flags || path.reason != rows[i].reason)
            fail_msg("row %zu, %s: flags 0x%x, reason %u", i, rows[i].destination, path.flags, path.reason);
        assert_int_equal(path.index, 3);
        assert_int_equal(path.table, 254);
        assert_int_equal(path.dependencies.expires, 17);
        assert_true(reach_address_equal(&path.gateway, &route.gateway));
    }
}

TEST(the_route_mtu_takes_precedence)
{
    const struct address destination = make("198.51.100.7");
    const struct link link = { .index = 3, .flags = UP, .hardware = ARPHRD_ETHER, .mtu = 1500, .name = "eth0" };
    struct route route = { .family = AF_INET, .type = RTN_UNICAST, .oif = 3 };
    struct path path;

    reach_path_evaluate(&destination, false, &route, &link, &path);
    assert_int_equal(path.mtu, 1500);
    assert_string_equal(path.name, "eth0");
    route.mtu = 1400;
    reach_path_evaluate(&destination, false, &route, &link, &path);
    assert_int_equal(path.mtu, 1400);
}

TEST(a_source_makes_a_path)
{
    static const struct {
        const char *destination, *source;
        bool chosen;
        SCNetworkReachabilityFlags flags;
        SCNetworkReachabilityReason reason;
    } rows[] = {
        { "198.51.100.7", "192.0.2.2", false, R, REASON(None) },
        { "198.51.100.7", "192.0.2.2", true, R, REASON(None) },
        { "198.51.100.7", NULL, false, R, REASON(None) },
        { "192.0.2.255", "192.0.2.2", false, R, REASON(None) },
        { "239.1.2.3", "192.0.2.2", false, R, REASON(None) },
        /* Own addresses. */
        { "192.0.2.2", "192.0.2.2", false, R | L, REASON(None) },
        { "192.0.2.2", "192.0.2.2", true, R | L, REASON(None) },
        { "127.0.0.1", "127.0.0.1", false, R | L, REASON(None) },
        { "127.8.9.10", "127.0.0.1", false, R | L, REASON(None) },
        { "127.0.0.1", "192.0.2.2", true, R | L, REASON(None) },
        { "::1", "::1", false, R | L, REASON(None) },
        { "2001:db8::2", "2001:db8::2", false, R | L, REASON(None) },
        { "fe80::2", "fe80::2", false, R | L, REASON(None) },
        /* IPv6 sources, also those with a scope that is too small. */
        { "2001:db8:1::7", "2001:db8::2", false, R, REASON(None) },
        { "2001:db8:1::7", "fe80::2", false, 0, REASON(NoSourceAddress) },
        { "2001:db8:1::7", "::1", false, 0, REASON(NoSourceAddress) },
        { "2001:db8:1::7", NULL, false, 0, REASON(NoSourceAddress) },
        { "2001:db8:1::7", "fe80::2", true, R, REASON(None) },
        { "fe80::1", "fe80::2", false, R, REASON(None) },
        { "fe80::1", "2001:db8::2", false, R, REASON(None) },
        { "fe80::1", "::1", false, 0, REASON(NoSourceAddress) },
        { "ff02::1", "fe80::2", false, R, REASON(None) },
        { "ff05::1", "2001:db8::2", false, R, REASON(None) },
        { "ff02::1", "::1", false, 0, REASON(NoSourceAddress) },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct address destination = make(rows[i].destination), source = make(rows[i].source);
        const struct path path = reach_path_from_source(&destination, rows[i].chosen, &source);

        if (path.flags != rows[i].flags || path.reason != rows[i].reason)
            fail_msg("row %zu, %s: flags 0x%x, reason %u", i, rows[i].destination, path.flags, path.reason);
        assert_true(reach_address_equal(&path.destination, &destination));
        assert_true(reach_address_equal(&path.source, &source));
        /* A socket shows none of these. */
        assert_int_equal(path.gateway.family, AF_UNSPEC);
        assert_int_equal(path.index | path.mtu | path.table | path.dependencies.expires, 0);
        assert_string_equal(path.name, "");
    }
}

TEST(query_errors_are_results_or_failures)
{
    static const struct {
        int error;
        bool bound, is_result;
        SCNetworkReachabilityReason reason;
    } rows[] = {
        { ENETUNREACH, false, true, REASON(NoRoute) },
        { ENETUNREACH, true, true, REASON(NoRoute) },
        { EHOSTUNREACH, false, true, REASON(RouteUnreachable) },
        { EHOSTUNREACH, true, true, REASON(NoRoute) },
        { EACCES, false, true, REASON(RouteProhibited) },
        { EINVAL, false, true, REASON(RouteBlackhole) },
        { ENODEV, true, true, REASON(InterfaceMissing) },
        { EAFNOSUPPORT, false, true, REASON(NoRoute) },
        { EOPNOTSUPP, false, true, REASON(NoRoute) },
        { ENOMEM, false, false, 0 },
        { ENOBUFS, false, false, 0 },
        { EIO, false, false, 0 },
        { EPERM, false, false, 0 },
        { 0, false, false, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct path path = { .flags = 99, .reason = 99 };

        assert_int_equal(reach_path_from_error(rows[i].error, rows[i].bound, &path), rows[i].is_result);
        assert_int_equal(path.flags, rows[i].is_result ? 0 : 99);
        assert_int_equal(path.reason, rows[i].is_result ? rows[i].reason : 99);
    }
}

/* AFNetworking's: usable = R and (not c, or ((on traffic or on demand) and not i)). Of every combination. */
TEST(rank_follows_the_documented_formula)
{
    for (unsigned bits = 0; bits < 64; bits++) {
        const struct path path = { .flags = (bits & 1 ? R : 0u) | (bits & 2 ? C : 0u) | (bits & 4 ? ON_TRAFFIC : 0u) |
                                            (bits & 8 ? ON_DEMAND : 0u) | (bits & 16 ? INTERVENTION : 0u) |
                                            (bits & 32 ? D | T | W : 0u) };
        const bool reachable = bits & 1, required = bits & 2, automatic = bits & (4 | 8), intervention = bits & 16;
        const bool usable = reachable && (!required || (automatic && !intervention));

        assert_int_equal(reach_path_is_usable(&path), usable);
        assert_int_equal(reach_path_rank(&path), usable ? 2 : reachable ? 1 : 0);
    }
}

static bool reported_outcome_differs(const struct path *a, const struct path *b)
{
    const struct outcome first = path_outcome(a), second = path_outcome(b);

    return reach_outcome_differs(&first, &second);
}

TEST(paths_differ_in_flags_and_interface_or_in_more)
{
    const struct path base = { .flags = R,
                               .reason = 0,
                               .index = 3,
                               .mtu = 1500,
                               .table = 254,
                               .source = make("192.0.2.2"),
                               .gateway = make("192.0.2.1") };
    struct path other = base, unreachable = base;

    assert_false(reported_outcome_differs(&base, &other));
    assert_false(reach_path_differs(&base, &other));
    other.flags = R | D;
    assert_true(reported_outcome_differs(&base, &other));
    other = base;
    other.index = 4;
    assert_true(reported_outcome_differs(&base, &other));
    other.flags = 0;
    assert_true(reported_outcome_differs(&base, &other));
    assert_true(reported_outcome_differs(&other, &base));
    unreachable.flags = 0;
    assert_false(reported_outcome_differs(&unreachable, &other)); /* no packets leave over either interface */
    other = base;
    other.mtu = 1400;
    other.table = 100;
    other.dependencies.expires = 3;
    memcpy(other.name, "renamed", 8);
    assert_false(reach_path_differs(&base, &other));
    other = base;
    other.gateway = make("192.0.2.5");
    assert_false(reported_outcome_differs(&base, &other));
    assert_true(reach_path_differs(&base, &other));
    other = base;
    other.source = make("192.0.2.3");
    assert_false(reported_outcome_differs(&base, &other));
    assert_true(reach_path_differs(&base, &other));
    other = base;
    other.reason = REASON(NamePending);
    assert_false(reported_outcome_differs(&base, &other));
    assert_true(reach_path_differs(&base, &other));
}

TEST(a_flow_that_is_not_settled_does_not_differ)
{
    const struct outcome plain = { .flow = 0 }, incomplete = { .flow = kSCNetworkReachabilityFlowIncomplete },
                         unsettled = { .flow_unsettled = true };

    assert_true(reach_outcome_flow_differs(&plain, &incomplete));
    assert_false(reach_outcome_flow_differs(&plain, &plain));
    assert_false(reach_outcome_flow_differs(&unsettled, &incomplete));
    assert_false(reach_outcome_flow_differs(&incomplete, &unsettled));
}

/* Later the type is read, and added. */
TEST(a_carrier_has_no_type_before_it_is_known)
{
    const struct address remote = make("192.0.2.9");
    struct path path = { .flags = R, .index = 7 };
    struct path outer = {
        .flags = R, .index = 3, .type = kSCNetworkReachabilityInterfaceTypeWiredEthernet, .type_unknown = true
    };

    reach_path_apply_outer(&path, &remote, &outer);
    assert_int_equal(path.underlay, 0);
    assert_int_equal(path.unknown_underlay, 3);
    outer.type_unknown = false;
    reach_path_apply_outer(&path, &remote, &outer);
    assert_int_equal(path.underlay, 1u << kSCNetworkReachabilityInterfaceTypeWiredEthernet);
    assert_int_equal(path.unknown_underlay, 0);
}
