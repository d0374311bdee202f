/* SPDX-License-Identifier: MIT */
/*
 * BetterPath and SourceForeign: pairs whose packets leave over another interface than a new connection's, or than the
 * one that has their source. A connected socket without a bound address is the oracle.
 */
#include "support/test.h"

enum { NONE = 0, BETTER = kSCNetworkReachabilityFlowBetterPath, FOREIGN = kSCNetworkReachabilityFlowSourceForeign };

static const struct family {
    const char *name, *ip, *far, *near, *other, *gateway, *other_gateway, *spare;
} families[] = {
    { "IPv4", "", "198.51.100.7", "192.0.2.2", "203.0.113.2", "192.0.2.1", "203.0.113.1", "192.0.2.200" },
    { "IPv6", "-6 ", "2001:db8:7::7", "2001:db8::2", "2001:db8:c::2", "2001:db8::1", "2001:db8:c::1", "2001:db8::200" },
};

/* The source address of a new connection. */
static void fresh_source(const char *destination, char text[INET6_ADDRSTRLEN])
{
    struct sockaddr_storage remote = expect_sockaddr(destination), own;
    socklen_t length = sizeof own;
    const int fd = socket(remote.ss_family, SOCK_DGRAM, 0);

    ((struct sockaddr_in *)&remote)->sin_port = htons(9);
    assert_int_equal(connect(fd, (const struct sockaddr *)&remote, sizeof remote), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&own, &length), 0);
    inet_ntop(own.ss_family,
              own.ss_family == AF_INET ? (const void *)&((const struct sockaddr_in *)&own)->sin_addr
                                       : (const void *)&((const struct sockaddr_in6 *)&own)->sin6_addr,
              text, INET6_ADDRSTRLEN);
    close(fd);
}

static void expect_pair_flow(const char *local, const char *remote, SCNetworkReachabilityFlow flow)
{
    SCOPED_TARGET pair = expect_pair(local, remote);
    char fresh[INET6_ADDRSTRLEN];

    EXPECT(pair, R, None);
    assert_int_equal(expect_path_of(pair).flow, flow);
    fresh_source(remote, fresh);
    if (strcmp(fresh, local) == 0) /* a socket that binds nothing gets the same */
        assert_int_equal(flow & FOREIGN, 0);
}

/* A default route over a, and a better one over c. */
static void add_default(const struct family *family)
{
    namespace_ip("%sroute add default via %s metric 2000", family->ip, family->gateway);
}

static void add_better(const struct family *family)
{
    namespace_ip("%sroute add default via %s metric 50", family->ip, family->other_gateway);
}

TEST_EACH(after_a_better_default_route_the_old_source_is_foreign, families)
{
    add_default(row);
    expect_pair_flow(row->near, row->far, NONE);
    add_better(row);
    expect_pair_flow(row->near, row->far, BETTER | FOREIGN);
    expect_pair_flow(row->other, row->far, NONE);
    namespace_ip("%sroute del default metric 50", row->ip);
    expect_pair_flow(row->near, row->far, NONE);
}

TEST_EACH(a_rule_for_the_source_keeps_the_flow_on_its_interface, families)
{
    add_default(row);
    add_better(row);
    namespace_ip("%srule add from %s table 100", row->ip, row->near);
    namespace_ip("%sroute add default via %s table 100", row->ip, row->gateway);
    expect_pair_flow(row->near, row->far, BETTER);
}

TEST_EACH(another_address_of_the_same_interface_is_no_better_path, families)
{
    add_default(row);
    namespace_ip("%saddress add %s/%s dev a %s", row->ip, row->spare, row->ip[0] == '-' ? "64" : "24",
                 row->ip[0] == '-' ? "nodad" : "");
    namespace_await_addresses();
    expect_pair_flow(row->near, row->far, NONE);
    expect_pair_flow(row->spare, row->far, NONE);
}

TEST_EACH(the_legs_of_one_route_are_equals, families)
{
    namespace_ip("%sroute add default nexthop via %s nexthop via %s", row->ip, row->gateway, row->other_gateway);
    for (char last = '1'; last <= '9'; last++) { /* the kernel chooses the leg by the destination */
        char far[INET6_ADDRSTRLEN];

        snprintf(far, sizeof far, "%s%c", row->far, last);
        expect_pair_flow(row->near, far, NONE);
        expect_pair_flow(row->other, far, NONE);
    }
}

TEST_EACH(an_address_of_lo_is_at_home_on_every_interface, families)
{
    namespace_ip("%saddress add %s dev lo", row->ip, row->spare);
    namespace_await_addresses();
    add_default(row);
    expect_pair_flow(row->spare, row->far, NONE);
    add_better(row);
    expect_pair_flow(row->spare, row->far, NONE);
}

TEST(an_address_of_a_bridge_is_not_foreign)
{
    namespace_ip("link add br0 type bridge; link set dev br0 up; address add 192.0.2.200 dev br0");
    add_default(&families[0]);
    expect_pair_flow("192.0.2.200", "198.51.100.7", BETTER);
}

/* A new connection over the interface would have the same source. */
TEST_EACH(a_borrowed_source_is_not_foreign, families)
{
    namespace_ip("%sroute add default via %s src %s", row->ip, row->other_gateway, row->near);
    expect_pair_flow(row->near, row->far, BETTER);
}

TEST_EACH(an_unreachable_pair_and_a_local_one_have_no_flow, families)
{
    SCNetworkReachabilityRef target = expect_pair(row->near, row->far);

    EXPECT(target, 0, NoRoute);
    assert_int_equal(expect_path_of(target).flow, NONE);
    SCNetworkReachabilityRelease(target);
    target = expect_pair(row->near, row->other);
    assert_int_equal(expect_path_of(target).flow, NONE);
    SCNetworkReachabilityRelease(target);
}

/* ---- Callbacks -------------------------------------------------------------------------------------------------- */

static SCNetworkReachabilityRef notified_pair(const struct family *family, uint32_t options)
{
    const struct sockaddr_storage local = expect_sockaddr(family->near), remote = expect_sockaddr(family->far);
    SCNetworkReachabilityOptions all = kSCNetworkReachabilityOptionsInitializer;

    all.localAddress = (const struct sockaddr *)&local;
    all.remoteAddress = (const struct sockaddr *)&remote;
    all.options = options;
    return SCNetworkReachabilityCreateWithOptions(NULL, &all);
}

TEST_EACH(a_pair_with_notify_path_reports_a_better_path, families)
{
    struct watcher pair, plain;

    add_default(row);
    namespace_ip("%srule add from %s table 100", row->ip, row->near);
    namespace_ip("%sroute add default via %s table 100", row->ip, row->gateway);
    watcher_start(&pair, notified_pair(row, kSCNetworkReachabilityOptionNotifyPath));
    watcher_start(&plain, notified_pair(row, 0));
    assert_int_equal(pair.calls, 0);
    add_better(row); /* the packets of the pair leave as before */
    EXPECT_CHANGE(&pair, R);
    assert_int_equal(expect_path_of(pair.target).flow, BETTER);
    namespace_ip("%sroute del default metric 50", row->ip);
    EXPECT_CHANGE(&pair, R);
    assert_int_equal(expect_path_of(pair.target).flow, NONE);
    EXPECT_QUIET(&plain);
}

/* The kind of a link is not known when a target is scheduled. */
TEST(the_first_evaluation_reports_no_change_of_the_flow)
{
    struct watcher pair;
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;

    add_default(&families[0]);
    add_better(&families[0]);
    watcher_schedule(&pair, notified_pair(&families[0], kSCNetworkReachabilityOptionNotifyPath));
    assert_true(SCNetworkReachabilityGetLastPath(pair.target, &path));
    assert_int_equal(path.flow, BETTER | FOREIGN);
    EXPECT_QUIET(&pair);
    assert_true(SCNetworkReachabilityGetLastPath(pair.target, &path));
    assert_int_equal(path.flow, BETTER | FOREIGN);
}

/* ---- Set-up ----------------------------------------------------------------------------------------------------- */

UNIT(.setup = namespace_require_two_pairs)
