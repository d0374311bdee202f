/* SPDX-License-Identifier: MIT */
/* IPv6 pairs that name an interface: the kernel uses only routes over that interface, but a query with a source uses
 * all. */
#include "support/socket_faults.h"
#include "support/test.h"

#define LOCAL   "2001:db8::2" /* of "a" */
#define GATEWAY "2001:db8::1"
#define TARGET  "2001:db8:1::1"
#define PREFIX  "2001:db8:1::/64"

static void begin(void)
{
    namespace_require_two_pairs(); /* "c" */
    namespace_ip("-6 route add default via " GATEWAY);
    socket_faults = (struct socket_faults){ 0 };
}

UNIT(.setup = begin)

/* ---- Routes over other interfaces ------------------------------------------------------------------------------- */

static const struct {
    const char *name, *route;
} others[] = {
    { "blackhole", "-6 route add blackhole " PREFIX },
    { "prohibit", "-6 route add prohibit " PREFIX },
    { "unreachable", "-6 route add unreachable " PREFIX },
    { "throw", "-6 route add throw " PREFIX },
    { "throw_from_the_address", "-6 route add throw " PREFIX " from 2001:db8::/64" },
    { "local", "-6 route add local " PREFIX " dev lo" },
    { "another_interface", "-6 route add " PREFIX " via 2001:db8:c::1" },
};

TEST_EACH(a_bound_pair_takes_the_default_route_in_spite_of_a_route, others)
{
    SCOPED_TARGET target = expect_bound_pair(LOCAL, TARGET, "a");

    namespace_ip("%s", row->route);
    EXPECT(target, R, None, .interface = "a", .gateway = GATEWAY);
}

TEST(routes_over_other_interfaces_count_for_an_unbound_pair)
{
    namespace_ip("-6 route add prohibit " PREFIX);
    EXPECT_PAIR(LOCAL, TARGET, 0, RouteProhibited);
}

TEST(a_bound_pair_without_a_route_over_its_interface_is_not_reachable)
{
    EXPECT_BOUND_PAIR("2001:db8:c::2", TARGET, "c", 0, NoRoute);
    EXPECT_BOUND_PAIR(LOCAL, TARGET, "c", 0, NoRoute);
}

/* A query without a source would ignore the rule. */
TEST(a_rule_for_the_source_counts)
{
    namespace_ip("-6 route add local " PREFIX " dev lo table local");
    namespace_ip("-6 rule add from " LOCAL " prohibit");
    EXPECT_BOUND_PAIR(LOCAL, TARGET, "a", 0, RouteProhibited);
    namespace_ip("-6 rule delete from " LOCAL);
    EXPECT_BOUND_PAIR(LOCAL, TARGET, "a", R, None);
}

/* No route over "a" leads to the address itself, either. */
TEST(a_rule_for_the_source_counts_if_another_interface_has_the_address)
{
    namespace_ip("-6 route add local " PREFIX " dev lo table local");
    EXPECT_BOUND_PAIR("2001:db8:c::2", TARGET, "a", R, None);
    namespace_ip("-6 rule add from 2001:db8:c::2 prohibit");
    EXPECT_BOUND_PAIR("2001:db8:c::2", TARGET, "a", 0, RouteProhibited);
}

static void add_two_source_specific_routes(void)
{
    namespace_ip("-6 route delete default");
    namespace_ip("-6 route add " PREFIX " from 2001:db8::/64 via 2001:db8:c::1 metric 10");
    namespace_ip("-6 route add " PREFIX " from 2001:db8::/64 via " GATEWAY " metric 20");
}

/* The second route. Packets take it. Its gateway is not known. */
TEST(a_route_that_no_query_returns)
{
    SCOPED_TARGET target = expect_bound_pair(LOCAL, TARGET, "a");

    add_two_source_specific_routes();
    EXPECT(target, R, None, .interface = "a", .source = LOCAL);
    EXPECT_BOUND_PAIR(LOCAL, TARGET, "c", R, None);
    namespace_ip("-6 route delete " PREFIX " from 2001:db8::/64 metric 20");
    EXPECT(target, 0, NoRoute);
    EXPECT_BOUND_PAIR(LOCAL, TARGET, "c", R, None);
}

TEST(a_route_that_no_query_returns_without_a_local_address)
{
    SCOPED_TARGET target = expect_bound(TARGET, "a");

    add_two_source_specific_routes();
    EXPECT(target, R, None, .interface = "a", .source = LOCAL);
    namespace_ip("-6 route delete " PREFIX " from 2001:db8::/64 metric 20");
    EXPECT(target, 0, NoRoute);
}

/* Such a route is no default route. */
TEST(a_route_that_no_query_returns_is_not_the_default_path)
{
    namespace_ip("-6 route delete default; -6 route add 4000::/2 from 2001:db8::/64 via 2001:db8:c::1 metric 10");
    namespace_ip("-6 route add 4000::/2 from 2001:db8::/64 via " GATEWAY " metric 20");
    EXPECT_BOUND_PAIR(LOCAL, "4000::1", "a", R, None);
    EXPECT_BOUND_PAIR(LOCAL, "::", "a", 0, NoRoute);
    EXPECT_BOUND("::", "a", 0, NoRoute);
}

/* Two samples are reached, and no longer prefix leads to both. */
TEST(a_default_route_that_no_query_returns_is_the_default_path)
{
    SCOPED_TARGET target = expect_bound_pair(LOCAL, "::", "c");

    AFTER("-6 rule add priority 101 not from 2001:db8::/64 unreachable", EXPECT(target, 0, NoRoute));
    AFTER("-6 route add default via 2001:db8:c::1 dev c metric 2000", EXPECT_BOUND_PAIR(LOCAL, TARGET, "c", R, None));
    EXPECT(target, R, None, .interface = "c", .source = LOCAL);
}

TEST(a_bound_pair_follows_the_routes)
{
    struct watcher watcher;

    watcher_start(&watcher, expect_bound_pair(LOCAL, TARGET, "a"));
    namespace_ip("-6 route add prohibit " PREFIX);
    EXPECT_QUIET(&watcher);
    AFTER("-6 route delete default", EXPECT_CHANGE(&watcher, 0));
    namespace_ip("-6 route add default via " GATEWAY);
    EXPECT_CHANGE(&watcher, R);
    namespace_ip("-6 rule add from " LOCAL " prohibit");
    EXPECT_CHANGE(&watcher, 0);
    namespace_ip("-6 rule delete from " LOCAL);
    EXPECT_CHANGE(&watcher, R);
}

TEST(a_bound_pair_opens_a_socket_only_if_other_routes_may_hide_one)
{
    EXPECT_BOUND_PAIR(LOCAL, TARGET, "a", R, None);
    assert_int_equal(socket_faults.opened, 0);
    namespace_ip("-6 route add prohibit " PREFIX);
    EXPECT_BOUND_PAIR(LOCAL, TARGET, "a", R, None);
    assert_in_range(socket_faults.opened, 2, 3); /* GetFlags, GetPath, and perhaps one that loads the kernel's module */
}

/* ---- Local addresses -------------------------------------------------------------------------------------------- */

/* AnyIP: packets to the prefix are for this machine. bind(2) needs IPV6_FREEBIND or a sysctl for such an address. */
TEST(an_address_that_only_a_local_route_has_is_usable)
{
    namespace_ip("-6 route add local 2001:db8:77::/64 dev lo; route add default via 192.0.2.1");
    AFTER("route add local 203.0.113.128/25 dev lo", EXPECT_PAIR("2001:db8:77::1", TARGET, R, None));
    EXPECT_BOUND_PAIR("2001:db8:77::1", TARGET, "a", R, None);
    EXPECT_PAIR("203.0.113.130", "198.51.100.7", R, None);
}

TEST(a_pair_without_an_interface_needs_no_socket)
{
    EXPECT_PAIR(LOCAL, TARGET, R, None);
    assert_int_equal(socket_faults.opened, 0);
}

/* ---- Sockets that fail ------------------------------------------------------------------------------------------ */

TEST(without_descriptors_there_is_an_error)
{
    SCOPED_TARGET target = expect_bound_pair(LOCAL, TARGET, "a");

    namespace_ip("-6 route add prohibit " PREFIX);
    socket_faults.open_error = EMFILE;
    expect_failure(target, EMFILE);
    socket_faults.open_error = 0;
    socket_faults.connect_error = ENOBUFS;
    expect_failure(target, ENOBUFS);
    socket_faults.connect_error = 0;
    EXPECT(target, R, None);
}

static const struct {
    const char *name;
    int *call, error;
} sandboxes[] = {
    { "no_socket", &socket_faults.open_error, EACCES },
    { "no_bind", &socket_faults.bind_error, EACCES },
    { "connect_fails_with_EPERM", &socket_faults.connect_error, EPERM },
    { "connect_fails_with_EACCES", &socket_faults.connect_error, EACCES },
};

TEST_EACH(without_a_socket_the_replies_of_queries_count, sandboxes)
{
    *row->call = row->error;
    namespace_ip("-6 route add prohibit " PREFIX);
    EXPECT_BOUND_PAIR(LOCAL, TARGET, "a", 0, RouteProhibited);
    namespace_ip("-6 route add " PREFIX " via 2001:db8:c::1 metric 10");
    EXPECT_BOUND_PAIR(LOCAL, TARGET, "a", R, None);
}
