/* SPDX-License-Identifier: MIT */
/* IPv6 routes for packets from a prefix. A query without a source does not find them, but a packet can take them: the
 * kernel chooses a source, and searches again. */
#include <linux/netlink.h>

#include "kernel/dumps.h"
#include "route/netns.h"
#include "support/crowd.h"
#include "support/socket_faults.h"
#include "support/sweeps.h"
#include "support/test.h"

#define PREFIX  "2001:db8::/64" /* of the address of "a" */
#define GATEWAY "2001:db8::1"
#define TARGET  "2001:db8:1::1"

enum { TARGETS = 200, MANY = 5000 };

static struct watcher watcher; /* stopped at the end of each test */

static void (*in_dump)(void); /* called once, while routes are dumped; NULL: nothing */
static bool in_long_dump;     /* only while a long table is: over a socket that also receives messages */

static bool has_groups(int fd)
{
    struct sockaddr_nl own = { 0 };
    socklen_t length = sizeof own;

    return getsockname(fd, (struct sockaddr *)&own, &length) == 0 && own.nl_groups != 0;
}

WRAP(ssize_t, recvfrom, int fd, void *bytes, size_t size, int flags, struct sockaddr *from, socklen_t *length)
{
    const ssize_t got = __real_recvfrom(fd, bytes, size, flags, from, length);
    const struct nlmsghdr *header = bytes;
    void (*const call)(void) = in_dump;

    if (call != NULL && got >= (ssize_t)sizeof *header && header->nlmsg_type == RTM_NEWROUTE &&
        (header->nlmsg_flags & NLM_F_MULTI) != 0 && (!in_long_dump || has_groups(fd))) {
        in_dump = NULL;
        call();
    }
    return got;
}

static void begin(void)
{
    crowd_begin();
    socket_faults = (struct socket_faults){ 0 };
    in_dump = NULL;
    in_long_dump = false;
}

UNIT(.setup = begin, .teardown = crowd_end)

static void add_default(void)
{
    namespace_ip("-6 route add default from " PREFIX " via " GATEWAY);
}

/* ---- One target ------------------------------------------------------------------------------------------------- */

TEST(a_packet_takes_a_source_specific_route)
{
    SCOPED_TARGET target = expect_target(TARGET);

    EXPECT(target, 0, NoRoute);
    add_default();
    EXPECT(target, R, None, .interface = "a", .gateway = GATEWAY, .source = "2001:db8::2");
}

/* The kernel prefers another source on the link, but there is no route from it. */
TEST(the_source_is_that_of_the_route)
{
    SCOPED_TARGET target = expect_target("2001:db8:d::1");

    namespace_add_second_pair();
    namespace_ip("-6 route add default from 2001:db8:c::/64 via " GATEWAY);
    EXPECT(target, R, None, .interface = "a", .source = "2001:db8:c::2");
}

TEST(the_default_path_takes_a_source_specific_route)
{
    add_default();
    EXPECT_EACH_ADDRESS(R, None, "::", "0.0.0.0");
    EXPECT_ADDRESS("198.51.100.1", 0, NoRoute);
}

TEST(a_packet_takes_a_route_by_a_rule_for_its_source)
{
    namespace_ip("-6 route add default via " GATEWAY " table 100");
    namespace_ip("-6 rule add from " PREFIX " table 100");
    EXPECT_EACH_ADDRESS(R, None, TARGET, "::");
    EXPECT_BOUND(TARGET, "a", R, None);
    namespace_ip("-6 rule delete from " PREFIX);
    EXPECT_ADDRESS(TARGET, 0, NoRoute);
}

TEST(a_route_from_another_prefix_does_not_count)
{
    namespace_ip("-6 route add default from 2001:db8:f::/64 via " GATEWAY);
    EXPECT_EACH_ADDRESS(0, NoRoute, TARGET, "::");
}

TEST(a_route_without_a_prefix_is_preferred_only_if_it_accepts_packets)
{
    add_default();
    AFTER("-6 route add unreachable default metric 4096", EXPECT_ADDRESS(TARGET, R, None));
    AFTER("-6 route add prohibit 2001:db8:1::/64", EXPECT_ADDRESS(TARGET, 0, RouteProhibited));
}

/* Without a route, the kernel chooses among the addresses of all links: the one that is most like the destination. */
TEST(a_target_that_names_an_interface_takes_routes_over_it)
{
    namespace_add_second_pair();
    add_default();
    EXPECT_BOUND(TARGET, "a", R, None);
    EXPECT_BOUND(TARGET, "c", 0, NoRoute);
    namespace_ip("-6 route add default from 2001:db8:c::/64 via 2001:db8:c::1");
    EXPECT_BOUND("2001:db8:d::1", "c", R, None);
    EXPECT_BOUND("2001:db8:d::1", "a", 0, NoRoute);
    EXPECT_BOUND(TARGET, "c", 0, NoRoute);
}

/* The flow of its path is compared with that of a new connection, for which a socket can decide. */
TEST(a_target_that_names_its_address_opens_no_socket)
{
    SCOPED_TARGET pair = expect_pair("2001:db8::2", TARGET), foreign = expect_pair("::1", TARGET);

    add_default();
    assert_int_equal(expect_flags_of(pair), R);
    assert_int_equal(expect_flags_of(foreign), 0);
    assert_int_equal(socket_faults.opened, 0);
    EXPECT(pair, R, None);
    EXPECT(foreign, 0, NoRoute);
}

TEST(without_descriptors_or_ports_there_is_an_error)
{
    SCOPED_TARGET target = expect_target(TARGET);

    add_default();
    socket_faults.open_error = EMFILE;
    expect_failure(target, EMFILE);
    socket_faults.open_error = 0;
    socket_faults.connect_error = EAGAIN;
    expect_failure(target, kSCStatusReachabilityUnknown);
    socket_faults.connect_error = 0;
    EXPECT(target, R, None);
}

TEST(a_sandbox_without_udp_sockets_sees_only_routes_for_all_sources)
{
    socket_faults.open_error = EACCES;
    add_default();
    EXPECT_ADDRESS(TARGET, 0, NoRoute);
    namespace_ip("-6 route add default via " GATEWAY);
    EXPECT_ADDRESS(TARGET, R, None);
}

/* ---- A scheduled target ----------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *add, *remove;
} appearances[] = {
    { "a_source_specific_route_comes_and_goes", "route add default from " PREFIX " via " GATEWAY,
      "route delete default from " PREFIX },
    { "a_rule_for_a_source_comes_and_goes", "rule add from " PREFIX " table 100", "rule delete from " PREFIX },
};

TEST_EACH(comes_and_goes, appearances)
{
    namespace_ip("-6 route add default via " GATEWAY " table 100");
    watcher_start(&watcher, expect_target(TARGET));
    for (unsigned i = 0; i < 2; i++) {
        namespace_ip("-6 %s", row->add);
        EXPECT_CHANGE(&watcher, R);
        namespace_ip("-6 %s", row->remove);
        EXPECT_CHANGE(&watcher, 0);
    }
}

TEST(the_address_of_a_source_specific_route_comes_and_goes)
{
    namespace_ip("-6 route add default from 2001:db8:f::/64 via " GATEWAY);
    watcher_start(&watcher, expect_target(TARGET));
    AFTER("address add 2001:db8:f::2/128 dev a nodad preferred_lft 0", EXPECT_QUIET(&watcher));
    AFTER("address delete 2001:db8::2/64 dev a", EXPECT_CHANGE(&watcher, R));
    AFTER("address delete 2001:db8:f::2/128 dev a", EXPECT_CHANGE(&watcher, 0));
    AFTER("address add 2001:db8:f::3/128 dev a nodad", EXPECT_CHANGE(&watcher, R));
}

TEST(the_default_path_follows_a_source_specific_route)
{
    watcher_start(&watcher, expect_target("0.0.0.0"));
    EXPECT_QUIET(&watcher);
    add_default();
    EXPECT_CHANGE(&watcher, R);
    namespace_ip("-6 route delete default from " PREFIX);
    EXPECT_CHANGE(&watcher, 0);
}

/* After the first evaluation, which reads whether there are such routes. */
TEST(without_source_specific_routes_a_loop_opens_no_socket)
{
    crowd_watch(0, TARGET);
    crowd_watch(1, "::");
    (void)crowd_settle();
    socket_faults.opened = 0;
    for (unsigned i = 0; i < 3; i++) {
        crowd_route(true, "::/0", GATEWAY);
        assert_int_equal(crowd_settle(), 2);
        crowd_route(false, "::/0", GATEWAY);
        assert_int_equal(crowd_settle(), 2);
    }
    assert_int_equal(socket_faults.opened, 0);
}

/* ---- Many targets ----------------------------------------------------------------------------------------------- */

static void expect_changes(unsigned count)
{
    assert_int_equal(crowd_settle(), count);
    crowd_expect_agreement();
}

TEST(many_targets_take_a_source_specific_route)
{
    crowd_watch_ipv6(TARGETS);
    add_default();
    expect_changes(TARGETS);
    crowd_expect_all(R);
    namespace_ip("-6 route delete default from " PREFIX);
    expect_changes(TARGETS);
    crowd_expect_all(0);
}

/* All leave the default route for packets from any address together, but not all are left without a route. */
TEST(without_the_default_route_some_targets_take_a_source_specific_one)
{
    crowd_route(true, "::/0", GATEWAY);
    namespace_ip("-6 route add 2001:db8:1::80/121 from " PREFIX " via " GATEWAY);
    crowd_watch_ipv6(TARGETS);
    crowd_expect_all(R);
    crowd_route(false, "::/0", GATEWAY);
    expect_changes(127);
    for (unsigned i = 0; i < TARGETS; i++)
        assert_int_equal(crowd.flags[i], i < 127 ? 0 : R);
    crowd_route(true, "::/0", GATEWAY);
    expect_changes(127);
    crowd_expect_all(R);
}

/* The route is added while no target could use it, and its message passes the filter. */
TEST(a_source_specific_route_that_no_target_has_counts_later)
{
    crowd_route(true, "::/0", GATEWAY);
    crowd_watch_ipv6(TARGETS);
    namespace_ip("-6 route add 2001:db8:2::/64 from " PREFIX " via " GATEWAY);
    expect_changes(0);
    crowd_watch(TARGETS, "2001:db8:2::1");
    expect_changes(0);
    crowd_route(false, "::/0", GATEWAY);
    expect_changes(TARGETS);
    assert_int_equal(crowd.flags[TARGETS], R);
}

TEST(many_targets_take_a_route_by_a_rule_for_their_source)
{
    crowd_watch_ipv6(TARGETS);
    namespace_ip("-6 route add default via " GATEWAY " table 100");
    expect_changes(0);
    namespace_ip("-6 rule add from " PREFIX " table 100");
    expect_changes(TARGETS);
    crowd_expect_all(R);
    AFTER("address delete 2001:db8::2/64 dev a", expect_changes(TARGETS));
    crowd_expect_all(0);
}

TEST(an_address_gives_many_targets_a_source_specific_route)
{
    namespace_ip("-6 route add default from 2001:db8:f::/64 via " GATEWAY);
    namespace_ip("address delete 2001:db8::2/64 dev a");
    crowd_watch_ipv6(TARGETS);
    for (unsigned i = 0; i < 2; i++) {
        AFTER("address add 2001:db8:f::2/128 dev lo nodad", expect_changes(TARGETS));
        crowd_expect_all(R);
        AFTER("address delete 2001:db8:f::2/128 dev lo", expect_changes(TARGETS));
        crowd_expect_all(0);
    }
}

/* With such a route beside it, and one to a part of the prefix whose gateway does not respond, the kernel finds a route
 * for some destinations and not for others. */
TEST(each_target_has_its_own_answer_beside_a_source_specific_route)
{
    namespace_add_second_pair();
    crowd_route(true, "::/0", GATEWAY);
    namespace_set_carrier("a", "b", false);
    crowd_route(true, "2001:db8:1::/48", "2001:db8:c::1");
    crowd_route(true, "2001:db8:1::80/121", "2001:db8:c::1a");
    namespace_ip("neighbour replace 2001:db8:c::1a dev c nud failed extern_learn");
    crowd_watch_ipv6(TARGETS);
    crowd_expect_all(R);
    namespace_ip("-6 route add 2001:db8:1::/48 from 2001:db8:c::2 via 2001:db8:c::1 metric 10");
    (void)crowd_settle();
    crowd_expect_agreement();
}

/* Without such a route, all are evaluated together, as before. */
TEST(the_end_of_a_default_route_opens_no_socket_for_each_target)
{
    crowd_route(true, "::/0", GATEWAY);
    crowd_watch_ipv6(TARGETS);
    socket_faults.opened = 0;
    crowd_route(false, "::/0", GATEWAY);
    assert_int_equal(crowd_settle(), TARGETS);
    assert_int_equal(socket_faults.opened, 0);
}

/* Their first queries are sent together. Then a route is found for which each needs another query. */
TEST(replies_that_no_target_has_used_do_not_count_later)
{
    enum { TOGETHER = 8, LEFT = 2 };
    char address[INET6_ADDRSTRLEN];

    namespace_ip("-6 route add 2001:db8:2::/64 from " PREFIX " via " GATEWAY);
    for (unsigned i = 0; i < TOGETHER; i++) {
        snprintf(address, sizeof address, "2001:db8:1::%x", i + 1);
        crowd_watch(i, address);
    }
    assert_int_equal(SCRunLoopPerform(crowd.loop, 0), 0);
    for (unsigned i = LEFT; i < TOGETHER; i++)
        crowd_unwatch(i);
    namespace_ip("-6 route delete 2001:db8:2::/64 from " PREFIX);
    namespace_ip("-6 rule add from all lookup main priority 10"); /* so the routes are read again */
    namespace_ip("-6 rule delete priority 10");
    crowd_route(true, "2001:db8:1::/64", GATEWAY);
    assert_int_equal(SCRunLoopPerform(crowd.loop, 0), LEFT);
    expect_changes(0);
    crowd_expect_all(R);
}

/* ---- The dump of routes ----------------------------------------------------------------------------------------- */

/* A dump begins with them. If they are MANY, it is read no further. */
static void add_routes(unsigned count)
{
    char prefix[64];

    unit_check(writer_batch(&crowd.writer), "batch");
    for (unsigned i = 0; i < count; i++) {
        snprintf(prefix, sizeof prefix, "2001:0:%x::/48", i);
        unit_check(writer_route(&crowd.writer, WRITER_ADD,
                                &(struct writer_route){ .prefix = prefix, .index = writer_index("a") }),
                   prefix);
    }
    unit_check(writer_flush(&crowd.writer), "routes");
}

/* A sandbox that is entered later. */
TEST(a_denied_dump_is_not_repeated)
{
    add_routes(1000);
    crowd_route(true, "::/0", GATEWAY);
    for (unsigned i = 0; i < TARGETS; i++) {
        crowd_watch(i, unit_text("2001:db8:1::%x", 1 + i));
    }
    socket_faults.denies_netlink = true;
    (void)crowd_settle();
    crowd_route(false, "::/0", GATEWAY);
    assert_int_equal(crowd_settle(), TARGETS);
    socket_faults.denies_netlink = false;
    assert_int_equal(socket_faults.netlink_denials, 1);
    crowd_expect_all(0);
}

TEST(a_source_specific_route_counts_in_a_large_table)
{
    add_routes(MANY);
    namespace_ip("-6 route add 2002::/16 from " PREFIX " via " GATEWAY);
    watcher_start(&watcher, expect_target("2002::1"));
    assert_int_equal(expect_flags_of(watcher.target), R);
    EXPECT_QUIET(&watcher);
    namespace_ip("-6 route delete 2002::/16 from " PREFIX);
    EXPECT_CHANGE(&watcher, 0);
}

/* They share an answer until they lose their route, as the loop does not know the other one. */
TEST(many_targets_take_a_source_specific_route_in_a_large_table)
{
    add_routes(MANY);
    namespace_ip("-6 route add 2001:db8:1::/48 from 2001:db8:f::/64 via " GATEWAY);
    crowd_route(true, "2001:db8:1::/64", GATEWAY);
    crowd_watch_ipv6(TARGETS);
    crowd_expect_all(R);
    crowd_route(false, "2001:db8:1::/64", GATEWAY);
    expect_changes(TARGETS);
    crowd_expect_all(0);
    AFTER("address delete 2001:db8::2/64 dev a; address add 2001:db8:f::2/128 dev lo nodad", expect_changes(TARGETS));
    crowd_expect_all(R);
}

static void change_a_route(void)
{
    unit_check(writer_route(&crowd.writer, WRITER_ADD,
                            &(struct writer_route){ .prefix = "2001:db8:2::/64", .gateway = GATEWAY }),
               "route");
}

static void open_sockets(struct netns **ret_netns, struct rtnetlink *ret)
{
    assert_int_equal(reach_netns_current(ret_netns), 0);
    assert_int_equal(reach_rtnetlink_open(ret, RTNETLINK_ALL, reach_netns_handle(*ret_netns)), 0);
}

static void close_sockets(struct netns *netns, struct rtnetlink *rtnetlink)
{
    reach_rtnetlink_close(rtnetlink);
    reach_netns_release(netns);
}

/* The kernel can skip a route in the rest of the dump. */
TEST(a_change_during_a_long_dump_makes_its_result_unknown)
{
    struct netns *netns;
    struct rtnetlink rtnetlink;

    add_routes(1000);
    open_sockets(&netns, &rtnetlink);
    in_long_dump = true;
    in_dump = change_a_route;
    assert_int_equal(reach_source_routes_find(&rtnetlink), SOURCE_ROUTES_UNKNOWN);
    assert_null(in_dump);
    assert_int_equal(reach_source_routes_find(&rtnetlink), SOURCE_ROUTES_NONE);
    close_sockets(netns, &rtnetlink);
}

static void ignore_message(void *info, const struct message *message)
{
    (void)info, (void)message;
}

/* The message says the rest. */
TEST(a_change_during_a_short_dump_makes_its_result_unknown)
{
    struct netns *netns;
    struct rtnetlink rtnetlink;
    int error = 0;

    open_sockets(&netns, &rtnetlink);
    in_dump = add_default;
    assert_int_equal(reach_source_routes_find(&rtnetlink), SOURCE_ROUTES_UNKNOWN);
    assert_null(in_dump);
    (void)reach_rtnetlink_drain(&rtnetlink, ignore_message, NULL, &error);
    assert_int_equal(error, 0);
    assert_int_equal(reach_source_routes_find(&rtnetlink), SOURCE_ROUTES_SOME);
    close_sockets(netns, &rtnetlink);
}

/* ---- The kept socket -------------------------------------------------------------------------------------------- */

TEST(one_socket_serves_many_questions)
{
    SCOPED_TARGET target = expect_target(TARGET);

    EXPECT(target, 0, NoRoute);
    socket_faults.opened = 0;
    EXPECT(target, 0, NoRoute);
    EXPECT_BOUND(TARGET, "a", 0, NoRoute);
    EXPECT_ADDRESS("0.0.0.0", 0, NoRoute);
    assert_int_equal(socket_faults.opened, 0);
}

/* Each question finds its own route, over its own interface, with its own source. */
TEST(nothing_of_one_question_counts_for_the_next)
{
    SCOPED_TARGET target = expect_target(TARGET), first = expect_bound(TARGET, "a");
    SCOPED_TARGET second = expect_bound("2001:db8:d::1", "c");

    namespace_add_second_pair();
    add_default();
    namespace_ip("-6 route add default from 2001:db8:c::/64 via 2001:db8:c::1");
    for (int i = 0; i < 2; i++) {
        EXPECT(first, R, None, .interface = "a", .source = "2001:db8::2");
        EXPECT(second, R, None, .interface = "c", .source = "2001:db8:c::2");
    }
    namespace_ip("-6 route delete default from " PREFIX);
    EXPECT_EACH(0, NoRoute, first, target);
    EXPECT(second, R, None, .interface = "c", .source = "2001:db8:c::2");
    EXPECT(target, 0, NoRoute);
}

TEST(the_mark_of_one_question_does_not_count_for_the_next)
{
    SCOPED_TARGET target = expect_bound(TARGET, "a");
    const struct sockaddr_storage address = expect_sockaddr(TARGET);
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    namespace_ip("-6 route add default via " GATEWAY " table 100");
    namespace_ip("-6 rule add from " PREFIX " fwmark 7 table 100");
    options.remoteAddress = (const struct sockaddr *)&address;
    options.routingMark = 7;
    for (int i = 0; i < 2; i++) {
        EXPECT(target, 0, NoRoute);
        EXPECT_ONCE(SCNetworkReachabilityCreateWithOptions(NULL, &options), R, None);
    }
}
