/* SPDX-License-Identifier: MIT */
/* Many targets to which one route leads. A change costs few queries for all of them. A target that has another route
 * than the others gets its own flags. */
#include <linux/fib_rules.h>

#include "kernel/rtnetlink.h"
#include "support/crowd.h"
#include "support/limits.h"
#include "support/router.h"
#include "support/sweeps.h"
#include "support/test.h"

enum { TARGETS = 200, FEW = FEW_QUERIES };

#define GATEWAY      "192.0.2.1"
#define GATEWAY_IPV6 "2001:db8::1"

static unsigned queries;
static const char *late_change;   /* a command of ip(8), before the next query; NULL: none */
static const char *later_change;  /* the same, after the next query */
static void (*after_query)(void); /* called once, after the next query; NULL: nothing */

/* So many of the next queries find only the IPv6 default route; `block` not 0: those about 2001:db8:1::40 to ::4f, for
 * 0x40. */
static struct {
    unsigned count;
    uint8_t block;
} early;

static void make_change(const char **change)
{
    const char *command = *change;

    *change = NULL;
    if (command != NULL)
        namespace_ip("%s", command);
}

WRAP(int, reach_rtnetlink_query, struct rtnetlink *rtnetlink, const struct route_request *request, struct route *ret)
{
    static const struct address elsewhere = { AF_INET6, { 0x20, 1, 0xd, 0xb8, 0, 2, [15] = 1 } };
    void (*after)(void) = after_query;
    struct route_request changed = *request;

    queries++;
    make_change(&late_change);
    if (early.count > 0 && request->destination.family == AF_INET6 &&
        (early.block == 0 || (request->destination.bytes[15] & 0xf0) == early.block)) {
        early.count--;
        changed.destination = elsewhere;
    }
    int error = __real_reach_rtnetlink_query(rtnetlink, &changed, ret);
    make_change(&later_change);
    if (after != NULL) {
        after_query = NULL;
        after();
    }
    return error;
}

static void begin(void)
{
    late_change = later_change = NULL;
    sweeps_are_off = false;
    after_query = NULL;
    early.count = early.block = 0;
    crowd_begin();
}

UNIT(.setup = begin, .teardown = crowd_end)

static void set_default(bool present)
{
    crowd_route(present, "0.0.0.0/0", GATEWAY);
}

static void set_default_ipv6(bool present)
{
    crowd_route(present, "::/0", GATEWAY_IPV6);
}

static void begin_ipv4(void)
{
    set_default(true);
    crowd_watch_ipv4(TARGETS);
}

static void begin_ipv6(void)
{
    set_default_ipv6(true);
    crowd_watch_ipv6(TARGETS);
}

/* This many callbacks come, after at most `limit` queries. GetFlags and GetPath agree with them. */
static void expect_changes(unsigned count, unsigned limit)
{
    queries = 0;
    assert_int_equal(crowd_settle(), count);
    assert_in_range(queries, 0, limit);
    crowd_expect_agreement();
}

/* ---- Few queries ------------------------------------------------------------------------------------------------ */

TEST(a_default_route_that_goes_and_comes_costs_few_queries)
{
    begin_ipv4();
    for (unsigned i = 0; i < 3; i++) {
        set_default(false);
        expect_changes(TARGETS, FEW);
        crowd_expect_all(0);
        set_default(true);
        expect_changes(TARGETS, FEW);
        crowd_expect_all(R);
    }
}

TEST(an_ipv6_default_route_that_goes_and_comes_costs_few_queries)
{
    begin_ipv6();
    set_default_ipv6(false);
    expect_changes(TARGETS, FEW);
    crowd_expect_all(0);
    set_default_ipv6(true);
    expect_changes(TARGETS, FEW);
    crowd_expect_all(R);
}

TEST(a_route_between_the_targets_costs_no_query)
{
    begin_ipv4();
    crowd_route(true, "198.51.100.240/29", NULL);
    expect_changes(0, 0);
    crowd_route(true, "203.0.113.0/24", NULL);
    expect_changes(0, 0);
}

/* One target is queried for all, and each gets a copy of its path. All that twice. */
TEST(a_change_that_changes_no_path_costs_most_targets_no_query)
{
    unsigned long before[TARGETS], after = 0;

    begin_ipv4();
    for (unsigned i = 0; i < TARGETS; i++)
        before[i] = expect_counters_of(crowd.targets[i]).evaluations;
    AFTER("link set dev a mtu 1400", expect_changes(0, FEW));
    for (unsigned i = 0; i < TARGETS; i++)
        after += expect_counters_of(crowd.targets[i]).evaluations - before[i];
    assert_in_range(after, 0, 2 * TARGETS);
    set_default(false);
    expect_changes(TARGETS, FEW);
}

/* It gets the path though that stays the same. */
TEST(a_target_that_joins_in_mid_round_has_the_path)
{
    begin_ipv4();
    crowd_watch(TARGETS, "198.18.0.1");
    AFTER("link set dev a mtu 1400", expect_changes(0, FEW));
    set_default(false);
    expect_changes(TARGETS + 1, FEW);
    set_default(true);
    expect_changes(TARGETS + 1, FEW);
    crowd_expect_all(R);
}

TEST(a_target_that_joins_costs_its_own_queries)
{
    begin_ipv4();
    crowd_watch(TARGETS, "198.18.0.1");
    queries = 0;
    assert_int_equal(SCRunLoopPerform(crowd.loop, 0), 0);
    assert_int_equal(queries, QUERIES);
    set_default(false);
    expect_changes(TARGETS + 1, FEW);
}

TEST(an_unreachable_default_route_costs_few_queries)
{
    begin_ipv4();
    crowd_route(true, "0.0.0.0/1", GATEWAY);
    crowd_route(true, "128.0.0.0/1", GATEWAY);
    expect_changes(0, 3 * TARGETS);
    crowd_route(false, "128.0.0.0/1", GATEWAY);
    expect_changes(0, FEW);
    set_default(false);
    expect_changes(TARGETS, FEW);
}

/* Each takes some targets along, and gives them back. */
TEST(a_default_route_costs_few_queries_after_longer_ones_came_and_went)
{
    char prefix[32];

    begin_ipv4();
    for (unsigned i = 0; i < 400; i++) {
        snprintf(prefix, sizeof prefix, "198.51.100.%u/28", i * 16 % 192);
        for (int k = 0; k < 2; k++) {
            crowd_route(k == 0, prefix, "192.0.2.3");
            assert_true(SCRunLoopPerform(crowd.loop, 0) >= 0);
        }
    }
    (void)crowd_settle();
    set_default(false);
    expect_changes(TARGETS, FEW);
    set_default(true);
    expect_changes(TARGETS, FEW);
}

/* ---- Targets with another route --------------------------------------------------------------------------------- */

TEST(a_route_to_a_part_of_the_targets_changes_only_these)
{
    begin_ipv4();
    crowd_route(true, "198.51.100.0/28", NULL);
    expect_changes(15, 15 * FEW);
    set_default(false);
    expect_changes(TARGETS - 15, 4 * 15 + FEW);
    set_default(true);
    expect_changes(TARGETS - 15, 4 * 15 + FEW);
    crowd_route(false, "198.51.100.0/28", NULL);
    expect_changes(15, 15 * FEW);
    crowd_expect_all(R);
    set_default(false);
    expect_changes(TARGETS, FEW);
}

/* One address for all: the queries are about one of these. */
TEST(a_route_to_any_one_of_the_targets_changes_only_this_one)
{
    static const char *const routes[] = { "198.51.100.1/32", "198.51.100.2/32", "198.51.100.100/32",
                                          "198.51.100.200/32" };

    begin_ipv4();
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        crowd_route(true, routes[i], NULL);
        expect_changes(1, FEW);
        set_default(false);
        expect_changes(TARGETS - 1, 2 * FEW);
        set_default(true);
        expect_changes(TARGETS - 1, 2 * FEW);
        crowd_route(false, routes[i], NULL);
        expect_changes(1, FEW);
    }
    crowd_expect_all(R);
}

TEST(two_changes_before_a_pass_do_not_hide_each_other)
{
    begin_ipv4();
    set_default(false);
    crowd_route(true, "198.51.100.1/32", GATEWAY);
    expect_changes(TARGETS - 1, 2 * FEW);
    set_default(true);
    crowd_route(false, "198.51.100.1/32", GATEWAY);
    crowd_route(true, "198.51.100.2/32", NULL);
    expect_changes(TARGETS - 2, 3 * FEW);
    assert_int_equal(crowd.flags[0], R);
    assert_int_equal(crowd.flags[1], 0);
    assert_int_equal(crowd.flags[2], R);
}

/* The message about the route is read after the round. The queries of the round are about the first target. */
TEST(a_route_that_comes_during_a_round_changes_only_its_target)
{
    begin_ipv4();
    set_default(false);
    expect_changes(TARGETS, FEW);
    late_change = "route add 198.51.100.1/32 dev a";
    set_default(true);
    expect_changes(TARGETS, 3 * FEW);
    assert_int_equal(crowd.flags[0], R | D);
    assert_int_equal(crowd.flags[1], R);
    crowd_expect_agreement();
}

/* No target has a route when the first one is queried. Then the route leads to this one, and to no other. */
TEST(a_route_that_comes_after_a_query_changes_only_its_target)
{
    begin_ipv4();
    later_change = "route add 198.51.100.1/32 dev a";
    set_default(false);
    (void)crowd_settle();
    assert_null(later_change);
    assert_int_equal(crowd.flags[0], R | D);
    assert_int_equal(crowd.flags[1], 0);
    crowd_expect_agreement();
}

/* ---- IPv6 routes of which the kernel sends the message before look-ups find them --------------------------------- */

/* Adds a blackhole route to 2001:db8:1::40 to ::4f, for 0x40. */
static void block(uint8_t first)
{
    crowd_route(true, unit_text("2001:db8:1::%x/124", first), NULL);
}

TEST(an_ipv6_route_that_is_found_after_the_first_query_counts)
{
    begin_ipv6();
    early.count = 1;
    block(0x40);
    expect_changes(16, SWEPT_QUERIES * TARGETS);
    assert_int_equal(early.count, 0);
    crowd_route(false, "2001:db8:1::40/124", NULL);
    expect_changes(16, 16 * QUERIES + FEW);
    crowd_expect_all(R);
}

/* It costs a sweep, as the first query could have come too early. */
TEST(an_ipv6_route_that_the_first_query_finds_costs_a_sweep)
{
    begin_ipv6();
    sweeps_are_off = true;
    crowd_route(true, "2001:db8:1::40/124", GATEWAY_IPV6);
    expect_changes(0, 16 * QUERIES + FEW);
    sweeps_are_off = false;
    expect_changes(0, SWEPT_QUERIES * TARGETS);
}

TEST(many_ipv6_routes_that_are_found_after_the_first_queries_count)
{
    enum { ROUTES = 9 };

    begin_ipv6();
    early.count = ROUTES;
    for (uint8_t i = 1; i <= ROUTES; i++)
        block((uint8_t)(i * 0x10));
    expect_changes(ROUTES * 16, ROUTES * FEW + 2 * TARGETS);
}

/* Each was refused when it was queried first, so it has an answer of its own. */
TEST(many_ipv6_routes_that_are_found_after_the_first_queries_count_for_targets_without_a_route)
{
    enum { ROUTES = 9 };

    crowd_watch_ipv6(TARGETS);
    early.count = ROUTES * 16;
    for (unsigned i = 1; i <= ROUTES; i++) {
        crowd_route(true, unit_text("2001:db8:1::%x0/124", i), GATEWAY_IPV6);
    }
    expect_changes(ROUTES * 16, 10 * TARGETS);
}

TEST(a_new_ipv6_route_counts_for_an_only_target_and_then_the_loop_rests)
{
    set_default_ipv6(true);
    crowd_watch_ipv6(1);
    early.count = 1;
    crowd_route(true, "2001:db8:1::/64", NULL);
    expect_changes(1, FEW);
    crowd_expect_all(0);
    assert_true(idle_await(crowd.loop));
    crowd_route(true, "2001:db8:1::/96", GATEWAY_IPV6);
    expect_changes(1, FEW);
    assert_true(idle_await(crowd.loop));
}

/* The message is read in the run that queries again for an older one. */
TEST(each_ipv6_route_has_its_own_time_to_be_found)
{
    struct pollfd loop = { .fd = SCRunLoopGetFileDescriptor(crowd.loop), .events = POLLIN };

    begin_ipv6();
    early.count = 16 * QUERIES;
    block(0x40);
    assert_int_equal(SCRunLoopPerform(crowd.loop, 0), 0);
    assert_int_equal(early.count, 0);
    assert_int_equal(poll(&loop, 1, 10000), 1);
    early.count = 16 * QUERIES;
    early.block = 0x50;
    block(0x50);
    expect_changes(32, 2 * SWEPT_QUERIES * TARGETS);
}

/* The route to the tunnel's other end. No answer about a target inside names it. */
TEST(a_late_ipv6_route_to_the_other_end_of_a_tunnel_counts)
{
    namespace_require_tunnel("remote 2001:db8:1::41");
    set_default_ipv6(true);
    crowd_watch(0, "10.7.0.9");
    (void)crowd_settle();
    assert_int_equal(crowd.flags[0], R | D);
    early.count = 1;
    block(0x40);
    expect_changes(1, FEW);
    assert_int_equal(early.count, 0);
    crowd_expect_all(0);
}

/* Until look-ups find it, the answer names a route to the same prefix for packets from anywhere. */
TEST(a_late_ipv6_route_for_packets_from_a_prefix_counts)
{
    set_default_ipv6(true);
    crowd_route(true, "2001:db8:1::40/124", GATEWAY_IPV6);
    crowd_route(true, "2001:db8:2::/124", GATEWAY_IPV6);
    crowd_schedule(0, expect_pair("2001:db8::2", "2001:db8:1::41"));
    (void)crowd_settle();
    assert_int_equal(crowd.flags[0], R);
    early.count = 1;
    namespace_ip("-6 route add blackhole 2001:db8:1::40/124 from 2001:db8::/64");
    expect_changes(1, FEW);
    assert_int_equal(early.count, 0);
    crowd_expect_all(0);
}

TEST(the_others_have_the_right_flags_after_a_target_is_released)
{
    begin_ipv4();
    set_default(false);
    crowd_route(true, "198.51.100.1/32", NULL);
    expect_changes(TARGETS, 2 * FEW);
    set_default(true);
    expect_changes(TARGETS - 1, 2 * FEW);
    crowd_unwatch(0);
    crowd_unwatch(1);
    set_default(false);
    expect_changes(TARGETS - 2, FEW);
    set_default(true);
    expect_changes(TARGETS - 2, FEW);
}

TEST(an_address_of_this_machine_has_its_own_flags)
{
    begin_ipv4();
    AFTER("address add 198.51.100.7/32 dev a", expect_changes(1, 10 * TARGETS));
    assert_int_equal(crowd.flags[6], R | L | D);
    AFTER("address del 198.51.100.7/32 dev a", expect_changes(1, 10 * TARGETS));
    crowd_expect_all(R);
}

TEST(targets_behind_a_multipath_route_are_evaluated_one_by_one)
{
    begin_ipv4();
    namespace_ip("address add 192.0.3.2/24 dev b; link set dev b up");
    (void)crowd_settle();
    namespace_ip("route replace default nexthop via " GATEWAY " dev a nexthop dev b"); /* the second one is direct */
    (void)crowd_settle();
    crowd_expect_agreement();
    namespace_ip("route replace default via " GATEWAY);
    (void)crowd_settle();
    crowd_expect_all(R);
    set_default(false);
    expect_changes(TARGETS, FEW);
}

/* ---- Rules and tables ------------------------------------------------------------------------------------------- */

static void set_rule(bool present, const struct writer_rule *rule)
{
    unit_check(writer_rule(&crowd.writer, present ? WRITER_ADD : WRITER_DELETE, rule), "rule");
}

TEST(a_rule_for_some_targets_ends_sharing)
{
    const struct writer_rule rule = { .prefix = "198.51.100.0/26", .priority = 10, .action = FR_ACT_PROHIBIT };

    begin_ipv4();
    set_rule(true, &rule);
    expect_changes(63, 10 * TARGETS);
    set_default(false);
    expect_changes(TARGETS - 63, 10 * TARGETS);
    set_default(true);
    expect_changes(TARGETS - 63, 10 * TARGETS);
    set_rule(false, &rule);
    expect_changes(63, 10 * TARGETS);
    crowd_expect_all(R);
    set_default(false);
    expect_changes(TARGETS, FEW);
}

TEST(a_rule_that_exists_before_the_targets_prevents_sharing)
{
    const struct writer_rule rule = {
        .prefix = "198.51.100.0/26", .priority = 10, .action = FR_ACT_TO_TBL, .table = 100
    };

    set_rule(true, &rule);
    begin_ipv4();
    AFTER("route add blackhole 198.51.100.16/28 table 100", expect_changes(16, 10 * TARGETS));
    set_default(false);
    expect_changes(TARGETS - 16, 10 * TARGETS);
}

/* The first targets have another table before "main". It has a route to some of them later. */
TEST(with_a_rule_that_chooses_a_table_one_query_is_for_all)
{
    const struct writer_rule rule = {
        .prefix = "198.51.100.0/26", .priority = 10, .action = FR_ACT_TO_TBL, .table = 100
    };

    set_rule(true, &rule);
    begin_ipv4();
    namespace_ip("route add 198.51.100.32/27 via " GATEWAY);
    expect_changes(0, 32 * QUERIES);
    AFTER("route replace default dev a", expect_changes(TARGETS - 32, FEW));
    AFTER("route add blackhole 198.51.100.16/28 table 100", expect_changes(16, 16 + FEW));
    AFTER("route del 198.51.100.32/27", expect_changes(32, FEW));
    namespace_ip("route replace default via " GATEWAY);
    expect_changes(TARGETS - 16, 16 + FEW);
}

/* Without the route in "main", the rule suppresses the next one, and the table decides for each. */
TEST(a_rule_that_suppresses_routes_counts)
{
    namespace_ip("rule add priority 10 lookup main suppress_prefixlength 0; rule add priority 20 lookup 100");
    namespace_ip("route add blackhole 198.51.100.64/26 table 100");
    namespace_ip("route add 198.51.100.0/24 via " GATEWAY);
    begin_ipv4();
    crowd_expect_all(R);
    AFTER("route del 198.51.100.0/24", expect_changes(64, 10 * TARGETS));
    assert_int_equal(crowd.flags[0], R);
    assert_int_equal(crowd.flags[100], 0);
}

/* The rule decides when "main" has no route any more. */
TEST(a_rule_after_the_table_main_counts)
{
    const struct writer_rule rule = {
        .prefix = "198.51.100.64/26", .priority = 40000, .action = FR_ACT_TO_TBL, .table = 100
    };

    namespace_ip("route add default via " GATEWAY " table 100");
    begin_ipv4();
    set_rule(true, &rule);
    expect_changes(0, 10 * TARGETS);
    set_default(false);
    expect_changes(TARGETS - 64, 10 * TARGETS);
    assert_int_equal(crowd.flags[100], R);
    set_default(true);
    expect_changes(TARGETS - 64, 10 * TARGETS);
}

TEST(a_rule_counts_after_most_targets_have_gone)
{
    const struct writer_rule rule = {
        .prefix = "198.51.100.0/28", .priority = 10, .action = FR_ACT_TO_TBL, .table = 100
    };

    begin_ipv4();
    for (unsigned i = 40; i < TARGETS; i++)
        crowd_unwatch(i);
    set_rule(true, &rule);
    expect_changes(0, 10 * TARGETS);
    AFTER("route add unreachable default table 100", expect_changes(15, 10 * TARGETS));
}

/* After the end of the route in "main", targets can have different routes in "default". */
TEST(routes_in_the_table_default_count)
{
    begin_ipv4();
    namespace_ip("route add 198.51.100.64/26 via " GATEWAY " table default");
    expect_changes(0, 64 * FEW);
    set_default(false);
    expect_changes(TARGETS - 64, 10 * TARGETS);
    assert_int_equal(crowd.flags[100], R);
    set_default(true);
    expect_changes(TARGETS - 64, 10 * TARGETS);
}

/* No message announces the route. The queries are about the first target and the last one. */
TEST(a_route_in_the_table_default_that_was_there_before_counts)
{
    namespace_ip("route add 198.51.100.128/28 via " GATEWAY " table default");
    begin_ipv4();
    set_default(false);
    (void)crowd_settle();
    crowd_expect_agreement();
    assert_int_equal(crowd.flags[0], 0);
    assert_int_equal(crowd.flags[130], R);
}

/* No message announces these routes either. One of them leads to the first target. */
TEST(several_routes_in_the_table_default_that_were_there_before_count)
{
    namespace_ip("route add default via " GATEWAY " table default");
    namespace_ip("route add blackhole 198.51.100.128/28 table default");
    begin_ipv4();
    set_default(false);
    expect_changes(16, 10 * TARGETS);
    assert_int_equal(crowd.flags[0], R);
    assert_int_equal(crowd.flags[130], 0);
}

/* The table "local" is before "main", so a longer prefix in "main" counts only without a route in "local". */
TEST(routes_in_main_count_after_the_one_in_the_table_local_has_gone)
{
    namespace_ip("-6 route add blackhole 2001:db8:1::40/122");
    namespace_ip("-6 route add 2001:db8:1::/64 via " GATEWAY_IPV6 " dev a table local");
    begin_ipv6();
    crowd_expect_all(R);
    AFTER("-6 route del 2001:db8:1::/64 table local", expect_changes(64, 10 * TARGETS));
    assert_int_equal(crowd.flags[0], R);
    assert_int_equal(crowd.flags[0x50], 0);
}

/* The kernel has no such IPv6 rule of its own, but accepts one. */
TEST(an_ipv6_rule_for_the_table_default_counts)
{
    namespace_ip("-6 rule add priority 32767 table default");
    namespace_ip("-6 route add 2001:db8:1::40/122 via " GATEWAY_IPV6 " table default");
    begin_ipv6();
    set_default_ipv6(false);
    expect_changes(TARGETS - 64, 10 * TARGETS);
    assert_int_equal(crowd.flags[0x50], R);
}

TEST(a_throw_route_counts)
{
    begin_ipv4();
    AFTER("route add throw 198.51.100.64/26", expect_changes(64, 10 * TARGETS));
    set_default(false);
    expect_changes(TARGETS - 64, 10 * TARGETS);
    set_default(true);
    expect_changes(TARGETS - 64, 10 * TARGETS);
    crowd_route(true, "198.51.100.0/24", GATEWAY);
    expect_changes(0, 10 * TARGETS);
    AFTER("route del throw 198.51.100.64/26", expect_changes(64, 10 * TARGETS));
    crowd_expect_all(R);
}

/* ---- Links and addresses ---------------------------------------------------------------------------------------- */

/* The kernel sends no messages about routes that end with their interface. */
TEST(a_link_that_goes_down_takes_its_routes_along)
{
    begin_ipv4();
    crowd_route(true, "198.51.100.0/25", "192.0.2.3");
    expect_changes(0, 10 * TARGETS);
    AFTER("link set dev a down", expect_changes(TARGETS, 20 * TARGETS));
    crowd_expect_all(0);
    namespace_ip("link set dev a up");
    (void)crowd_settle();
    set_default(true);
    expect_changes(TARGETS, 20 * TARGETS);
    crowd_expect_all(R);
}

/* 6to4, Teredo and unique local addresses have labels of their own. The kernel chooses the source by the label, too. */
static void begin_ipv6_with_many_labels(void)
{
    begin_ipv6();
    crowd_watch(TARGETS, "fd00::1");
    crowd_watch(TARGETS + 1, "2002:c000:201::1");
    crowd_watch(TARGETS + 2, "2001::1");
    assert_int_equal(crowd_settle(), 0);
}

TEST(ipv6_addresses_of_any_label_share)
{
    begin_ipv6_with_many_labels();
    set_default_ipv6(false);
    expect_changes(TARGETS + 3, FEW);
    set_default_ipv6(true);
    expect_changes(TARGETS + 3, FEW);
    crowd_expect_all(R);
}

/* One address after the other is the only one that is not link-local. */
TEST(every_global_address_is_a_source_for_ipv6_addresses_of_any_label)
{
    static const char *const sources[] = { "fd00:5::2", "2002:c000:202::2", "2001::2", "2001:db8:5::2" };

    begin_ipv6_with_many_labels();
    AFTER("address del 2001:db8::2/64 dev a", expect_changes(TARGETS + 3, 10 * TARGETS));
    crowd_expect_all(0);
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        namespace_ip("address add %s/128 dev a nodad", sources[i]);
        expect_changes(TARGETS + 3, 10 * TARGETS);
        crowd_expect_all(R);
        namespace_ip("address del %s/128 dev a", sources[i]);
        expect_changes(TARGETS + 3, 10 * TARGETS);
        crowd_expect_all(0);
    }
}

/* More than the filter has room for. */
TEST(targets_behind_many_ipv6_gateways_are_all_evaluated)
{
    char prefix[64], gateway[64], address[64];

    for (unsigned i = 0; i < 40; i++) {
        snprintf(prefix, sizeof prefix, "2001:db8:1:%x::/64", i);
        snprintf(gateway, sizeof gateway, "2001:db8::%x", 0x100 + i);
        crowd_route(true, prefix, gateway);
    }
    for (unsigned i = 0; i < TARGETS; i++) {
        snprintf(address, sizeof address, "2001:db8:1:%x::%x", i % 40, 1 + i);
        crowd_watch(i, address);
    }
    assert_int_equal(crowd_settle(), 0);
    crowd_expect_all(R);
}

TEST(an_ipv6_route_that_expires_takes_all_its_targets_along)
{
    set_default_ipv6(true);
    namespace_ip("route add blackhole 2001:db8:1::/48 metric 2000");
    namespace_ip("route add 2001:db8:1::/48 via " GATEWAY_IPV6 " expires 2");
    crowd_watch_ipv6(TARGETS);
    crowd_expect_all(R);
    queries = 0;
    while (crowd.calls < TARGETS)
        assert_true(SCRunLoopPerform(crowd.loop, 10) >= 0);
    assert_in_range(queries, 0, 4 * FEW);
    crowd_expect_all(0);
}

/* No message announces a redirect. The queries are about the first target. */
TEST(a_redirect_of_one_target_does_not_count_for_the_others)
{
    struct router router;

    router_open(&router, "b", "a");
    namespace_ip("address add fe80::b/64 dev b nodad; -6 route add default via fe80::b dev a");
    crowd_watch_ipv6(TARGETS);
    router_redirect(&router, "fe80::b", "2001:db8:1::1");
    assert_int_equal(expect_path_of(crowd.targets[0]).flags, R | D);
    for (unsigned metric = 5000; metric < 5002; metric++) {
        namespace_ip("-6 route add blackhole default metric %u", metric);
        (void)crowd_settle();
        crowd_expect_agreement();
        assert_int_equal(crowd.flags[0], R | D);
        assert_int_equal(crowd.flags[1], R);
    }
}

TEST(all_targets_are_unscheduled_in_any_order)
{
    begin_ipv4();
    set_default(false);
    for (unsigned i = 0; i < TARGETS; i += 2)
        crowd_unwatch(i);
    expect_changes(TARGETS / 2, FEW);
    for (unsigned i = TARGETS; i-- > 1;)
        if (crowd.targets[i] != NULL)
            crowd_unwatch(i);
    assert_int_equal(crowd_settle(), 0);
}

/* The kernel returns the default route for all targets. On that processor, it then fails to find the other route. */
TEST(ipv6_routes_that_share_a_nexthop_object_end_by_themselves)
{
    namespace_add_second_pair();
    namespace_share_nexthop("2001:db8:c::1", "c", "2001:db8:1::80/121", "::/0");
    crowd_watch_ipv6(TARGETS);
    crowd_expect_all(R);
    namespace_ip("-6 route delete default");
    namespace_change_processor();
    (void)crowd_settle();
    crowd_expect_agreement();
    for (unsigned i = 0; i < TARGETS; i++)
        assert_int_equal(crowd.flags[i], i < 127 ? 0 : R);
}

/* The message about the kernel's own such route is one about its link: see reach_route_is_link_multicast. */
TEST(a_multicast_route_of_another_program_makes_no_path_stale)
{
    begin_ipv6();
    namespace_ip("-6 route add multicast ff00::/8 dev a table 77; -6 route delete multicast ff00::/8 dev a table 77");
    expect_changes(0, 0);
}

/* ---- Slices ----------------------------------------------------------------------------------------------------- */

/* A round begins with a slice of 16 targets, and with 16 queries that are sent together. The first target needs none of
 * them, so one reply is left at the end of the slice. */
TEST(a_route_that_comes_during_a_slice_counts_for_the_targets_of_the_next)
{
    char address[32];

    set_default(true);
    crowd_watch(0, "127.0.0.1");
    for (unsigned i = 1; i <= 20; i++) {
        snprintf(address, sizeof address, "198.51.100.%u", i);
        crowd_watch(i, address);
    }
    late_change = "route add blackhole 198.51.100.16/28";
    assert_int_equal(crowd_settle(), 5);
    assert_int_equal(crowd.flags[15], R);
    assert_int_equal(crowd.flags[16], 0);
    crowd_expect_agreement();
}
