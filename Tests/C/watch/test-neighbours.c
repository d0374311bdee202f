/* SPDX-License-Identifier: MIT */
/*
 * The kernel's choice among routes depends on its neighbours: IPv6 avoids gateways that do not respond, and so does
 * IPv4 among equal default routes. A gateway is followed once a path has had it. A redirect to an IPv6 neighbour counts
 * for one address.
 *
 * If other namespaces have many entries, the kernel forgets those that have failed, but for those with extern_learn.
 */
#include "kernel/dumps.h"
#include "support/crowd.h"
#include "support/limits.h"
#include "support/router.h"
#include "support/test.h"

#define LLADDR " lladdr 02:00:00:00:00:01 "

static struct watcher watcher;

/* The kernel would probe gateways that have failed once they are a minute old, and use them again meanwhile. */
static void begin(void)
{
    namespace_require_two_pairs();
    namespace_sysctl("net.ipv6.conf.a.router_probe_interval", "3600");
}

UNIT(.setup = begin)

/* The flags of a new target: the kernel's choice now. */
static void await_choice(const char *address, SCNetworkReachabilityFlags flags)
{
    const double end = watcher_now() + time_limit_of(10);
    SCOPED_TARGET fresh = expect_target(address);
    SCNetworkReachabilityFlags now;

    do {
        now = expect_flags_of(fresh);
        assert_true(watcher_now() < end);
    } while (now != flags);
}

/* Drives the loop until the last callback has these flags. */
static void await_report(SCNetworkReachabilityFlags flags)
{
    const double end = watcher_now() + time_limit_of(10);

    while (watcher.flags != flags) {
        assert_true(watcher_now() < end);
        SCRunLoopPerform(watcher.loop, 0.1);
    }
}

/* Not by one of the sweeps that begin every 5 s. */
static void expect_at_once(SCNetworkReachabilityFlags flags)
{
    (void)idle_perform(watcher.loop);
    assert_int_equal(watcher.flags, flags);
}

/* ---- IPv6 ------------------------------------------------------------------------------------------------------- */

/* A look-up makes the kernel probe a router that has failed. Meanwhile the kernel uses it again, and then it fails
 * again. */
TEST(a_dead_ipv6_router_that_is_probed_while_a_target_is_evaluated)
{
    namespace_sysctl("net.ipv6.conf.a.router_probe_interval", "3");
    namespace_sysctl("net.ipv6.neigh.a.retrans_time_ms", "900");
    namespace_ip("-6 route add default via 2001:db8::1 dev a metric 100; -6 route add default dev c metric 200");
    namespace_ip("neigh replace 2001:db8::1 dev a" LLADDR "nud reachable extern_learn");
    watcher_start(&watcher, expect_target("2001:db8:1::7"));
    EXPECT_QUIET(&watcher);
    AFTER("neigh change 2001:db8::1 dev a nud failed extern_learn", EXPECT_CHANGE(&watcher, R | D));
    EXPECT_QUIET(&watcher);
    await_choice("2001:db8:1::7", R);
    namespace_ip("link add name x type veth peer name y"); /* the target is evaluated */
    await_report(R);
    EXPECT_QUIET(&watcher); /* nothing else makes it evaluate the target */
    await_choice("2001:db8:1::7", R | D);
    await_report(R | D);
}

/* It failed before a path used it. */
TEST(an_ipv6_gateway_that_had_failed_comes_back)
{
    namespace_ip("-6 route add default via 2001:db8::1 dev a metric 100");
    namespace_ip("neigh replace 2001:db8::1 dev a" LLADDR "nud reachable extern_learn");
    namespace_ip("neigh change 2001:db8::1 dev a nud failed extern_learn");
    watcher_start(&watcher, expect_target("2001:db8:1::7"));
    EXPECT_QUIET(&watcher);
    AFTER("-6 route add default dev c metric 200", EXPECT_CHANGE(&watcher, R | D));
    EXPECT_QUIET(&watcher);
    namespace_ip("neigh replace 2001:db8::1 dev a" LLADDR "nud reachable extern_learn");
    EXPECT_CHANGE(&watcher, R);
}

TEST(the_last_of_many_ipv6_gateways_fails_and_comes_back)
{
    enum { GATEWAYS = 200 };
    static struct watcher watchers[GATEWAYS];
    SCRunLoopRef loop;
    char address[64];

    for (unsigned i = 0; i < GATEWAYS; i++) {
        namespace_ip("-6 route add 2001:db8:%x::/48 via 2001:db8::%x dev a metric 100", 0x100 + i, 0x100 + i);
        namespace_ip("-6 route add 2001:db8:%x::/48 dev c metric 200", 0x100 + i);
        namespace_ip("neigh replace 2001:db8::%x dev a" LLADDR "nud reachable extern_learn", 0x100 + i);
    }
    watcher_start(&watchers[0], expect_target("2001:db8:100::7"));
    loop = watchers[0].loop;
    for (unsigned i = 1; i < GATEWAYS; i++) {
        snprintf(address, sizeof address, "2001:db8:%x::7", 0x100 + i);
        watcher_schedule_on(&watchers[i], expect_target(address), loop);
    }
    EXPECT_QUIET(&watchers[0]);
    for (unsigned i = 0; i < GATEWAYS; i += GATEWAYS - 1) {
        namespace_ip("neigh change 2001:db8::%x dev a nud failed extern_learn", 0x100 + i);
        EXPECT_CHANGE(&watchers[i], R | D);
        EXPECT_QUIET(&watchers[i]);
        namespace_ip("neigh replace 2001:db8::%x dev a" LLADDR "nud reachable extern_learn", 0x100 + i);
        EXPECT_CHANGE(&watchers[i], R);
        EXPECT_QUIET(&watchers[i]);
    }
}

/* Routes to longer prefixes hide the default route from all addresses that stand for it, until their gateways fail. The
 * kernel forgets no entry with extern_learn. */
static const struct hiding_row {
    const char *name, *hops[3];
} hiding_rows[] = {
#define HOP  "via 2001:db8::1 dev a"
#define LEGS "nexthop via 2001:db8::3 dev a nexthop via 2001:db8::1 dev a"
    { "gateway", { HOP, HOP, HOP } },
    { "legs", { LEGS, LEGS, LEGS } },
    { "nexthop_object", { "nhid 1", "nhid 2", "nhid 3" } }
};

TEST_EACH(gateways_of_routes_that_hide_the_default_route, hiding_rows)
{
    static const char *const prefixes[] = { "4000::/3", "2000::/3", "8000::/2" };

    namespace_sysctl("net.ipv4.nexthop_compat_mode", "0");
    namespace_ip("-6 route add default dev c");
    namespace_ip("neigh replace 2001:db8::1 dev a" LLADDR "nud reachable extern_learn");
    namespace_ip("neigh replace 2001:db8::3 dev a" LLADDR "nud reachable extern_learn");
    for (unsigned i = 0; i < 3; i++) {
        if (strncmp(row->hops[i], "nhid", 4) == 0)
            namespace_ip("nexthop add id %u " HOP, i + 1);
        namespace_ip("-6 route add %s %s", prefixes[i], row->hops[i]);
    }
    watcher_start(&watcher, expect_target("::"));
    EXPECT_QUIET(&watcher);
    assert_int_equal(expect_flags_of(watcher.target), 0);
    AFTER("neigh change 2001:db8::3 dev a nud failed extern_learn", EXPECT_QUIET(&watcher));
    AFTER("neigh change 2001:db8::1 dev a nud failed extern_learn", expect_at_once(R | D));
    EXPECT_QUIET(&watcher);
    AFTER("neigh replace 2001:db8::1 dev a" LLADDR "nud reachable extern_learn", expect_at_once(0));
}

/* ---- IPv4 ------------------------------------------------------------------------------------------------------- */

#define FAIL(address, link) \
    do { \
        namespace_ip("neigh replace " address " dev " link LLADDR "nud reachable extern_learn"); \
        namespace_ip("neigh change " address " dev " link " nud failed extern_learn"); \
    } while (0)
#define RESPOND(address, link) namespace_ip("neigh replace " address " dev " link LLADDR "nud reachable extern_learn")

static void add_equal_routes(void)
{
    namespace_ip("route add default via 192.0.2.1 dev a metric 100");
    namespace_ip("route append default via 203.0.113.1 dev c metric 100");
    RESPOND("203.0.113.1", "c");
}

static const struct equal_row {
    const char *name, *target;
} equal_rows[] = { { "address", "198.51.100.7" }, { "default_path", "0.0.0.0" } };

TEST_EACH(one_of_equal_ipv4_gateways_fails_and_comes_back, equal_rows)
{
    add_equal_routes();
    RESPOND("192.0.2.1", "a");
    watcher_start(&watcher, expect_target(row->target));
    EXPECT_QUIET(&watcher);
    EXPECT_INTERFACE(watcher.target, "a");
    AFTER("neigh change 192.0.2.1 dev a nud failed extern_learn", EXPECT_CHANGE_OVER(&watcher, R, "c"));
    EXPECT_QUIET(&watcher);
    RESPOND("192.0.2.1", "a");
    EXPECT_CHANGE_OVER(&watcher, R, "a");
}

/* The gateway has two routes. Only the first one has an equal. Two targets share an answer. */
TEST(an_equal_ipv4_gateway_that_has_another_route_fails)
{
    SCOPED_TARGET other = expect_target("198.51.100.8");

    add_equal_routes();
    namespace_ip("route append default via 192.0.2.1 dev a metric 200");
    RESPOND("192.0.2.1", "a");
    watcher_start(&watcher, expect_target("198.51.100.7"));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(other, watcher.loop, kSCRunLoopDefaultMode));
    EXPECT_QUIET(&watcher);
    EXPECT_INTERFACE(watcher.target, "a");
    AFTER("neigh change 192.0.2.1 dev a nud failed extern_learn", EXPECT_CHANGE_OVER(&watcher, R, "c"));
    SCNetworkReachabilityUnscheduleFromRunLoop(other, watcher.loop, kSCRunLoopDefaultMode);
}

/* No path has had it: it failed before. It counts with the next change of a link. */
TEST_EACH(the_better_of_equal_ipv4_gateways_begins_to_respond, equal_rows)
{
    add_equal_routes();
    FAIL("192.0.2.1", "a");
    watcher_start(&watcher, expect_target(row->target));
    EXPECT_INTERFACE(watcher.target, "c");
    EXPECT_QUIET(&watcher);
    RESPOND("192.0.2.1", "a");
    namespace_ip("link set dev b mtu 1400");
    EXPECT_CHANGE_OVER(&watcher, R, "a");
}

static const struct family_row {
    const char *name, *routes[2], *neighbours[2];
} family_rows[] = {
    { "ipv4", { "192.0.2.1 dev a", "203.0.113.1 dev c" }, { "192.0.2.1 dev a", "203.0.113.1 dev c" } },
    { "ipv6", { "inet6 fe80::1 dev a", "inet6 fe80::1 dev c" }, { "fe80::1 dev a", "fe80::1 dev c" } }
};

/* The kernel was asking for its address. */
TEST_EACH(the_first_of_equal_gateways_responds, family_rows)
{
    for (int i = 0; i < 2; i++)
        namespace_ip("route append 0.0.0.0/0 via %s metric 100", row->routes[i]);
    namespace_ip("neigh replace %s nud incomplete", row->neighbours[0]);
    namespace_ip("neigh replace %s" LLADDR "nud reachable extern_learn", row->neighbours[1]);
    watcher_start(&watcher, expect_target("198.51.100.7"));
    EXPECT_QUIET(&watcher);
    EXPECT_INTERFACE(watcher.target, "c");
    namespace_ip("neigh replace %s" LLADDR "nud reachable extern_learn", row->neighbours[0]);
    namespace_ip("link set dev b mtu 1400");
    EXPECT_CHANGE_OVER(&watcher, R, "a");
}

static unsigned ipv6_queries;
static bool fails_after_query; /* the gateway over "a", just after the kernel has chosen it */

WRAP(int, reach_rtnetlink_query, struct rtnetlink *rtnetlink, const struct route_request *request, struct route *ret)
{
    const int error = __real_reach_rtnetlink_query(rtnetlink, request, ret);

    ipv6_queries += request->destination.family == AF_INET6;
    if (fails_after_query && error == 0 && ret->has_gateway) {
        fails_after_query = false;
        namespace_ip("neigh change 192.0.2.1 dev a nud failed extern_learn");
    }
    return error;
}

static void schedule_path(SCNetworkReachabilityRef *ret, const char *format, unsigned number, SCRunLoopRef loop)
{
    *ret = expect_option(unit_text(format, number), kSCNetworkReachabilityOptionNotifyPath);
    assert_true(SCNetworkReachabilitySetCallback(*ret, ignore_call, NULL));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(*ret, loop, kSCRunLoopDefaultMode));
}

/* The targets before them decide with which queries the kernel's replies come together. */
static void expect_failure_noticed(unsigned before)
{
    enum { BEHIND = 20, MOST = 2 * BEHIND };
    SCNetworkReachabilityRef targets[MOST];
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;
    SCOPED_LOOP loop = SCRunLoopCreate();

    RESPOND("192.0.2.1", "a");
    fails_after_query = true;
    for (unsigned i = 0; i < before; i++)
        schedule_path(&targets[i], "192.0.2.%u", 100 + i, loop);
    for (unsigned i = before; i < before + BEHIND; i++)
        schedule_path(&targets[i], "198.51.100.%u", 1 + i, loop);
    assert_true(idle_perform(loop) >= 0);
    assert_false(fails_after_query);
    for (unsigned i = 0; i < before + BEHIND; i++) {
        assert_true(SCNetworkReachabilityGetLastPath(targets[i], &path));
        if (i >= before && path.interfaceIndex != if_nametoindex("c"))
            fail_msg("with %u targets before, target %u has the failed gateway", before, i - before);
        assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(targets[i], loop, kSCRunLoopDefaultMode));
        SCNetworkReachabilityRelease(targets[i]);
    }
}

/* The socket receives no messages about neighbours yet. */
TEST(a_gateway_fails_after_the_first_query)
{
    add_equal_routes();
    for (unsigned before = 0; before < 20; before++)
        expect_failure_noticed(before);
}

/* The first of two equal gateways fails, though another equal route had gone before the second one came. */
static void expect_choice_after_another_has_gone(void)
{
    AFTER("route append default via 203.0.113.1 dev c metric 100", EXPECT_QUIET(&watcher));
    EXPECT_INTERFACE(watcher.target, "a");
    AFTER("neigh change 192.0.2.1 dev a nud failed extern_learn", EXPECT_CHANGE_OVER(&watcher, R, "c"));
}

TEST(an_ipv4_default_route_without_a_gateway_goes)
{
    add_equal_routes();
    namespace_ip("route del default via 203.0.113.1 dev c metric 100; route append default dev c metric 100");
    RESPOND("192.0.2.1", "a");
    watcher_start(&watcher, expect_target("198.51.100.7"));
    EXPECT_QUIET(&watcher);
    AFTER("route del default dev c metric 100", EXPECT_QUIET(&watcher));
    expect_choice_after_another_has_gone();
}

/* The gateway has two routes of the same metric, of which one is for a traffic class. */
TEST(one_of_two_ipv4_default_routes_by_an_equal_gateway_goes)
{
    add_equal_routes();
    namespace_ip("route append default via 192.0.2.1 dev a metric 100 tos 8");
    RESPOND("192.0.2.1", "a");
    watcher_start(&watcher, expect_target("198.51.100.7"));
    EXPECT_QUIET(&watcher);
    namespace_ip("route del default via 192.0.2.1 dev a metric 100 tos 8");
    namespace_ip("link set dev a mtu 1400"); /* what is known of gateways over it is forgotten */
    EXPECT_QUIET(&watcher);
    EXPECT_INTERFACE(watcher.target, "a");
    AFTER("neigh change 192.0.2.1 dev a nud failed extern_learn", EXPECT_CHANGE_OVER(&watcher, R, "c"));
}

/* The kernel sends no message about that. Then two equal ones come. */
TEST(many_ipv4_default_routes_vanish_with_their_link)
{
    namespace_ip("route add default via 192.0.2.1 dev a metric 100");
    watcher_start(&watcher, expect_target("198.51.100.7"));
    for (unsigned i = 1; i < 16; i++)
        namespace_ip("route append default via 192.0.2.%u dev a metric 100", 100 + i);
    EXPECT_QUIET(&watcher);
    AFTER("link set dev a down", EXPECT_CHANGE(&watcher, 0));
    namespace_ip("link set dev a up; route add default via 192.0.2.3 dev a metric 100");
    namespace_ip("route append default via 203.0.113.1 dev c metric 100");
    RESPOND("192.0.2.3", "a");
    RESPOND("203.0.113.1", "c");
    EXPECT_CHANGE_OVER(&watcher, R, "a");
    EXPECT_QUIET(&watcher);
    AFTER("neigh change 192.0.2.3 dev a nud failed extern_learn", EXPECT_CHANGE_OVER(&watcher, R, "c"));
}

/* The second route comes later, so only the message about it says that there are equal ones. */
TEST_EACH(an_equal_ipv4_default_route_comes_later, equal_rows)
{
    namespace_ip("route add default via 192.0.2.1 dev a metric 100");
    FAIL("192.0.2.1", "a");
    watcher_start(&watcher, expect_target(row->target));
    RESPOND("203.0.113.1", "c");
    EXPECT_QUIET(&watcher);
    AFTER("route append default via 203.0.113.1 dev c metric 100", EXPECT_CHANGE_OVER(&watcher, R, "c"));
    EXPECT_QUIET(&watcher);
    RESPOND("192.0.2.1", "a");
    EXPECT_CHANGE_OVER(&watcher, R, "a");
}

static const struct leg_row {
    const char *name, *prefix, *target;
} leg_rows[] = { { "default", "default", "198.51.100.7" }, { "prefix", "198.51.100.0/24", "198.51.100.7" } };

/* With this setting, the kernel uses the legs whose gateways respond. */
TEST_EACH(the_gateway_of_an_ipv4_leg_fails_and_comes_back, leg_rows)
{
    SCOPED_TARGET other = expect_target("198.51.100.8");

    namespace_sysctl("net.ipv4.fib_multipath_use_neigh", "1");
    namespace_ip("route add %s nexthop via 192.0.2.1 dev a nexthop via 203.0.113.1 dev c", row->prefix);
    RESPOND("192.0.2.1", "a");
    FAIL("203.0.113.1", "c");
    watcher_start(&watcher, expect_target(row->target));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(other, watcher.loop, kSCRunLoopDefaultMode));
    EXPECT_QUIET(&watcher);
    EXPECT_INTERFACE(watcher.target, "a");
    namespace_ip("neigh change 192.0.2.1 dev a nud failed extern_learn");
    RESPOND("203.0.113.1", "c");
    EXPECT_CHANGE_OVER(&watcher, R, "c");
    EXPECT_QUIET(&watcher);
    RESPOND("192.0.2.1", "a");
    AFTER("neigh change 203.0.113.1 dev c nud failed extern_learn", EXPECT_CHANGE_OVER(&watcher, R, "a"));
    SCNetworkReachabilityUnscheduleFromRunLoop(other, watcher.loop, kSCRunLoopDefaultMode);
}

/* An address to which the second leg leads. */
__attribute__((format(printf, 1, 0))) static const char *find_address_of(const char *format, char leg)
{
    static char address[32];

    for (int i = 1; i < 100; i++) {
        snprintf(address, sizeof address, format, i);
        SCNetworkReachabilityRef target = expect_target(address);
        char found = expect_path_of(target).interfaceName[0];
        SCNetworkReachabilityRelease(target);
        if (found == leg)
            return address;
    }
    fail_msg("no address is behind %c", leg);
    return NULL;
}

TEST(a_leg_whose_gateway_was_followed_without_it_comes_back)
{
    namespace_sysctl("net.ipv4.fib_multipath_use_neigh", "1");
    namespace_ip("route add default nexthop via 192.0.2.1 dev a nexthop via 203.0.113.1 dev c");
    RESPOND("203.0.113.1", "c");
    const char *address = find_address_of("198.51.100.%d", 'c');
    watcher_start(&watcher, expect_target(address));
    EXPECT_INTERFACE(watcher.target, "c");
    AFTER("route replace default via 192.0.2.1", EXPECT_CHANGE(&watcher, R));
    AFTER("neigh change 203.0.113.1 dev c nud failed extern_learn", EXPECT_QUIET(&watcher));
    RESPOND("203.0.113.1", "c");
    namespace_ip("route replace default nexthop via 192.0.2.1 dev a nexthop via 203.0.113.1 dev c");
    EXPECT_CHANGE_OVER(&watcher, R, "c");
    EXPECT_QUIET(&watcher);
    AFTER("neigh change 203.0.113.1 dev c nud failed extern_learn", EXPECT_CHANGE_OVER(&watcher, R, "a"));
}

/* ---- Nexthop groups --------------------------------------------------------------------------------------------- */

/* The kernel uses the legs of a group whose gateways respond, whatever the sysctl says. Linux 5.10 uses only legs that
 * follow in the group, so the last leg stays though its gateway fails. */
static const struct group_row {
    const char *name, *family, *route, *first, *second, *format;
} group_rows[] = { { "ipv4_default", "", "default", "192.0.2.1", "203.0.113.1", "198.51.100.%d" },
                   { "ipv4_prefix", "", "198.51.100.0/24", "192.0.2.1", "203.0.113.1", "198.51.100.%d" },
                   { "ipv6_default", "-6 ", "default", "2001:db8::1", "2001:db8:c::1", "2001:db8:1::%d" },
                   { "ipv6_prefix", "-6 ", "2001:db8:1::/48", "2001:db8::1", "2001:db8:c::1", "2001:db8:1::%d" } };

static void set_neighbour(const char *address, const char *link, const char *state)
{
    namespace_ip("neigh replace %s dev %s" LLADDR "nud reachable extern_learn", address, link);
    namespace_ip("neigh change %s dev %s nud %s", address, link, state);
}

/* Returns an address to which the leg over "c" leads while its gateway responds. */
static const char *add_group(const struct group_row *row, const char *order)
{
    namespace_ip("nexthop add id 1 via %s dev a; nexthop add id 2 via %s dev c", row->first, row->second);
    namespace_ip("nexthop add id 3 group %s; %sroute replace %s nhid 3", order, row->family, row->route);
    set_neighbour(row->first, "a", "reachable");
    set_neighbour(row->second, "c", "reachable");
    return find_address_of(row->format, 'c');
}

TEST_EACH(the_gateway_of_a_leg_of_a_group_fails_and_comes_back, group_rows)
{
    const char *address = add_group(row, "2/1");

    watcher_start(&watcher, expect_option(address, kSCNetworkReachabilityOptionNotifyPath));
    EXPECT_INTERFACE(watcher.target, "c");
    EXPECT_QUIET(&watcher);
    set_neighbour(row->second, "c", "failed");
    EXPECT_CHANGE_OVER(&watcher, R, "a");
    EXPECT_QUIET(&watcher);
    set_neighbour(row->second, "c", "reachable");
    EXPECT_CHANGE_OVER(&watcher, R, "c");
}

TEST_EACH(the_gateway_of_a_leg_of_a_group_that_no_path_has_had, group_rows)
{
    const char *address = add_group(row, "2/1");

    set_neighbour(row->second, "c", "failed");
    watcher_start(&watcher, expect_option(address, kSCNetworkReachabilityOptionNotifyPath));
    EXPECT_INTERFACE(watcher.target, "a");
    EXPECT_QUIET(&watcher);
    set_neighbour(row->second, "c", "reachable");
    EXPECT_CHANGE_OVER(&watcher, R, "c");
}

TEST_EACH(the_gateway_of_a_leg_of_a_group_that_comes_later, group_rows)
{
    const char *address = add_group(row, "2/1");

    namespace_ip("nexthop delete id 3; nexthop delete id 2; %sroute replace %s nhid 1", row->family, row->route);
    set_neighbour(row->second, "c", "failed");
    watcher_start(&watcher, expect_option(address, kSCNetworkReachabilityOptionNotifyPath));
    namespace_ip("nexthop add id 2 via %s dev c; nexthop add id 3 group 2/1", row->second);
    namespace_ip("%sroute replace %s nhid 3", row->family, row->route);
    (void)idle_perform(watcher.loop); /* IPv6 packets get another source */
    EXPECT_INTERFACE(watcher.target, "a");
    set_neighbour(row->second, "c", "reachable");
    EXPECT_CHANGE_OVER(&watcher, R, "c");
}

/* Whether a socket to one of 50 addresses goes over an interface with this MTU. */
static bool goes_over(const char *format, int mtu)
{
    int got = 0;

    for (unsigned i = 1; i <= 50 && got != mtu; i++) {
        const struct sockaddr_storage address = expect_sockaddr(unit_text(format, i));
        const bool is_ipv6 = address.ss_family == AF_INET6;
        const int fd = socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        socklen_t size = sizeof got;

        assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
        assert_int_equal(getsockopt(fd, is_ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, is_ipv6 ? IPV6_MTU : IP_MTU, &got, &size),
                         0);
        close(fd);
    }
    return got == mtu;
}

TEST_EACH(the_gateway_of_the_last_leg_of_a_group_fails, group_rows)
{
    const char *address = add_group(row, "1/2");

    namespace_ip("link set dev c mtu 1400");
    watcher_start(&watcher, expect_option(address, kSCNetworkReachabilityOptionNotifyPath));
    EXPECT_INTERFACE(watcher.target, "c");
    EXPECT_QUIET(&watcher);
    set_neighbour(row->second, "c", "failed");
    if (goes_over(row->format, 1400))
        EXPECT_QUIET(&watcher);
    else
        EXPECT_CHANGE_OVER(&watcher, R, "a");
    EXPECT_QUIET(&watcher);
}

/* Of the only gateway, and of others, it matters that they fail, and what follows that. After a few messages the filter
 * drops the others. */
static void expect_neighbours_ignored(void)
{
    const double end = watcher_now() + time_limit_of(10);

    do {
        assert_true(watcher_now() < end);
        EXPECT_QUIET(&watcher);
        namespace_ip("neigh replace 192.0.2.1 dev a" LLADDR "nud stale");
        RESPOND("192.0.2.1", "a");
    } while (idle_loop_is_readable(watcher.loop));
    FAIL("203.0.113.1", "c");
    assert_false(idle_loop_is_readable(watcher.loop));
}

TEST(a_single_ipv4_gateway_that_responds_wakes_nobody)
{
    namespace_ip("route add default via 192.0.2.1 dev a metric 100");
    namespace_ip("route add default via 203.0.113.1 dev c metric 200");
    watcher_start(&watcher, expect_target("198.51.100.7"));
    expect_neighbours_ignored();
}

TEST(an_ipv4_gateway_that_has_replaced_another_wakes_nobody)
{
    namespace_ip("route add default via 192.0.2.3 dev a metric 100");
    RESPOND("192.0.2.1", "a");
    watcher_start(&watcher, expect_target("198.51.100.7"));
    EXPECT_QUIET(&watcher);
    AFTER("route replace default via 192.0.2.1 dev a metric 100", expect_neighbours_ignored());
}

TEST(an_ipv4_gateway_that_fails_costs_ipv6_targets_few_queries)
{
    SCOPED_TARGET one = expect_target("2001:db8:1::7"), two = expect_target("2001:db8:1::8");

    add_equal_routes();
    RESPOND("192.0.2.1", "a");
    namespace_ip("-6 route add default via 2001:db8::1 dev a");
    namespace_ip("neigh replace 2001:db8::1 dev a" LLADDR "nud reachable extern_learn");
    watcher_start(&watcher, expect_target("198.51.100.7"));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(one, watcher.loop, kSCRunLoopDefaultMode));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(two, watcher.loop, kSCRunLoopDefaultMode));
    EXPECT_QUIET(&watcher);
    ipv6_queries = 0;
    namespace_ip("neigh change 192.0.2.1 dev a nud failed extern_learn");
    assert_true(idle_perform(watcher.loop) >= 0);
    EXPECT_INTERFACE(watcher.target, "c");
    assert_in_range(ipv6_queries, 0, 2 * SWEPT_QUERIES);
    SCNetworkReachabilityUnscheduleFromRunLoop(one, watcher.loop, kSCRunLoopDefaultMode);
    SCNetworkReachabilityUnscheduleFromRunLoop(two, watcher.loop, kSCRunLoopDefaultMode);
}

/* ---- Redirects -------------------------------------------------------------------------------------------------- */

static void begin_with_router(struct router *router)
{
    router_open(router, "b", "a");
    namespace_ip("address add fe80::b/64 dev b nodad; -6 route add default via fe80::b dev a");
}

/* The kernel learns the address of the neighbour when it sends the first packet to it. */
static void redirect(const struct router *router, const char *address)
{
    router_redirect(router, "fe80::b", address);
    namespace_ip("neigh replace %s dev a" LLADDR "nud reachable extern_learn", address);
}

TEST(a_redirected_ipv6_target_is_direct)
{
    struct router router;

    begin_with_router(&router);
    watcher_start(&watcher, expect_target("2001:db8:1::9"));
    EXPECT_QUIET(&watcher);
    redirect(&router, "2001:db8:1::9");
    EXPECT_CHANGE(&watcher, R | D);
}

TEST_WITH(crowd_begin, crowd_end, one_redirected_ipv6_target_of_many_is_direct)
{
    struct router router;

    begin_with_router(&router);
    crowd_watch_ipv6(100);
    crowd_expect_all(R);
    redirect(&router, "2001:db8:1::32");
    assert_int_equal(crowd_settle(), 1);
    assert_int_equal(crowd.flags[0x31], R | D);
    crowd_expect_agreement();
}
