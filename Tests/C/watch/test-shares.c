/* SPDX-License-Identifier: MIT */
/* Whose path a query is. No kernel: the replies to queries are those of the test. */
#include <linux/neighbour.h>

#include "base/clock.h"
#include "kernel/dumps.h"
#include "support/literal.h"
#include "support/test.h"
#include "watch/shares.h"

static struct shares shares;
static struct rtnetlink rtnetlink;
static int64_t now_is;

/* The kernel. */
static struct route route; /* that matches */
static int error;          /* or no route: an errno */
static bool is_standard, chooses_tables, table_is_empty, any_failed;
static int rules_error;
static enum source_routes source_routes;
static uint16_t gateway_state;
static int gateway_error;

WRAP(int, clock_gettime, clockid_t clock, struct timespec *ret)
{
    (void)clock;
    ret->tv_sec = now_is / SECOND;
    ret->tv_nsec = now_is % SECOND;
    return 0;
}

WRAP(int, reach_rtnetlink_query, struct rtnetlink *any, const struct route_request *request, struct route *ret)
{
    (void)any;
    assert_true(request->fib_match);
    *ret = route;
    return error;
}

WRAP(enum source_routes, reach_source_routes_find, struct rtnetlink *any)
{
    (void)any;
    return source_routes;
}

WRAP(bool, reach_neighbours_any_failed, struct rtnetlink *any)
{
    (void)any;
    return any_failed;
}

WRAP(int, reach_neighbours_query, struct rtnetlink *any, uint32_t index, const struct address *address,
     uint16_t *ret_state)
{
    (void)any, (void)index, (void)address;
    *ret_state = gateway_state;
    return gateway_error;
}

WRAP(int, reach_rules_read, struct rtnetlink *any, uint8_t family, struct rules *ret)
{
    (void)any;
    *ret = (struct rules){ 0 };
    if (rules_error == 0)
        *ret = (struct rules){ .is_standard = is_standard, .chooses_tables = chooses_tables && family == AF_INET };
    return rules_error;
}

WRAP(bool, reach_default_table_is_empty, struct rtnetlink *any)
{
    (void)any;
    return table_is_empty;
}

/* The default route over link 2. */
static void set_route(const char *destination, uint8_t length)
{
    route = (struct route){ .table = RT_TABLE_MAIN, .type = RTN_UNICAST, .oif = 2, .prefix_length = length };
    route.destination = make(destination);
    route.family = route.destination.family;
    error = 0;
}

static void begin(void)
{
    shares = (struct shares){ .sharing = SHARING_UNKNOWN };
    now_is = 1000 * SECOND;
    set_route("0.0.0.0", 0);
    is_standard = table_is_empty = true;
    chooses_tables = any_failed = false;
    rules_error = gateway_error = 0;
    gateway_state = NUD_REACHABLE;
    source_routes = SOURCE_ROUTES_NONE;
}

UNIT(.setup = begin)

static struct question plain(const char *destination)
{
    return (struct question){ .destination = make(destination) };
}

static struct question pair_of(const char *destination, const char *local, bool is_socket)
{
    return (struct question){ .destination = make(destination),
                              .local = make(local),
                              .flow = { .protocol = is_socket ? IPPROTO_UDP : 0, .is_socket = is_socket } };
}

static struct path path_over(uint32_t index)
{
    return (struct path){ .index = index };
}

/* Queries at `sent`, when the length was `before`. Returns the length now. */
static uint8_t add_path(const struct question *question, uint64_t sent, uint8_t before, const struct path *path)
{
    struct match match = { .kind = MATCH_ALONE };

    assert_true(reach_shares_allow(&shares, &rtnetlink, question));
    assert_int_equal(reach_shares_match(&rtnetlink, question, &match), 0);
    return reach_shares_add(&shares, &rtnetlink, sent, question, before, &match, path);
}

static uint8_t add(const char *address, uint64_t sent, uint8_t before)
{
    const struct question question = plain(address);
    const struct path path = path_over(error == 0 ? 2 : 0);

    return add_path(&question, sent, before, &path);
}

static const struct share *find(const char *address, uint64_t now, uint8_t length)
{
    const struct question question = plain(address);

    return reach_shares_find(&shares, now, &question, length);
}

/* ---- Who takes a share ------------------------------------------------------------------------------------------ */

TEST(a_watch_of_the_same_prefix_takes_the_share)
{
    assert_int_equal(add("192.0.2.1", 7, 24), 0);
    assert_non_null(find("192.0.2.9", 7, 24));
    assert_int_equal(find("192.0.2.9", 7, 24)->length, 0);
    assert_int_equal(find("192.0.2.9", 7, 24)->path.index, 2);
    assert_null(find("192.0.3.9", 7, 24));
}

TEST(a_watch_of_another_length_takes_none)
{
    add("192.0.2.1", 7, 24);
    assert_null(find("192.0.2.9", 7, 25));
    assert_null(find("192.0.2.9", 7, 23));
    assert_null(find("192.0.2.9", 7, LENGTH_NONE));
}

TEST(after_a_change_a_share_is_taken_by_none)
{
    add("192.0.2.1", 7, 24);
    assert_null(find("192.0.2.9", 8, 24));
    assert_null(find("192.0.2.9", 6, 24));
}

TEST(the_first_answer_of_a_watch_is_no_share)
{
    assert_int_equal(add("192.0.2.1", 7, LENGTH_NONE), 0);
    for (uint8_t length = 0; length <= 32; length++)
        assert_null(find("192.0.2.1", 7, length));
}

/* The message about it is to come. */
TEST(a_longer_route_says_nothing_of_the_others)
{
    set_route("192.0.2.0", 25);
    assert_int_equal(add("192.0.2.1", 7, 24), 25);
    assert_null(find("192.0.2.9", 7, 24));
    set_route("192.0.2.0", 24);
    assert_int_equal(add("192.0.2.1", 7, 24), 24);
    assert_non_null(find("192.0.2.9", 7, 24));
}

TEST(pairs_share_with_pairs_of_one_local_address_and_sockets_with_sockets)
{
    const struct question pair = pair_of("192.0.2.1", "10.0.0.1", false),
                          like = pair_of("192.0.2.9", "10.0.0.1", false),
                          other = pair_of("192.0.2.9", "10.0.0.2", false),
                          socket = pair_of("192.0.2.9", "10.0.0.1", true), address = plain("192.0.2.9");
    const struct path path = path_over(2);

    assert_int_equal(add_path(&pair, 7, 24, &path), 0);
    assert_non_null(reach_shares_find(&shares, 7, &like, 24));
    assert_null(reach_shares_find(&shares, 7, &other, 24));
    assert_null(reach_shares_find(&shares, 7, &socket, 24));
    assert_null(reach_shares_find(&shares, 7, &address, 24));
}

TEST(the_oldest_share_gives_its_place)
{
    char text[16];

    for (unsigned i = 0; i <= SHARES; i++) {
        snprintf(text, sizeof text, "192.0.%u.1", i);
        add(text, 7 + (i != 3), 24);
    }
    for (unsigned i = 0; i <= SHARES; i++) {
        snprintf(text, sizeof text, "192.0.%u.9", i);
        assert_int_equal(find(text, 7 + (i != 3), 24) != NULL, i != 3);
    }
}

/* ---- What is the route's ---------------------------------------------------------------------------------------- */

/* Changes the route, or the path. */
static const struct alone {
    const char *name;
    struct route route;
    struct path path;
} alone[] = {
    { "over_another_link", { .oif = 2 }, { .index = 3 } },
    { "over_another_gateway", { .oif = 2 }, { .index = 2, .gateway = { AF_INET, { 1 } } } },
    { "without_the_gateway", { .oif = 2, .has_gateway = true }, { .index = 2 } },
    { "wireguard", { .oif = 2 }, { .index = 2, .wireguard = true } },
    { "through_a_tunnel", { .oif = 2 }, { .index = 2, .dependencies.outer = { AF_INET, { 1 } } } },
    { "of_an_unknown_link", { .oif = 2 }, { .index = 2, .dependencies.unknown_link = 2 } },
    { "of_another_table", { .oif = 2, .table = 100 }, { .index = 2 } },
    { "of_table_local", { .oif = 2, .table = RT_TABLE_LOCAL }, { .index = 2 } },
    { "with_several_legs", { .legs = "legs" }, { .index = 2 } },
    { "for_packets_from_a_prefix", { .oif = 2, .source_length = 24 }, { .index = 2 } },
    { "that_is_local", { .oif = 2, .type = RTN_LOCAL }, { .index = 2 } },
};

TEST_EACH(no_path_is_shared, alone)
{
    const struct question question = plain("192.0.2.1");

    route = row->route;
    route.family = AF_INET;
    route.type = row->route.type != 0 ? row->route.type : RTN_UNICAST;
    route.table = row->route.table != 0 ? row->route.table : RT_TABLE_MAIN;
    assert_int_equal(add_path(&question, 7, 24, &row->path), LENGTH_NONE);
    assert_null(find("192.0.2.9", 7, 24));
}

TEST(an_ipv6_route_over_a_nexthop_object_is_not_shared)
{
    set_route("::", 0);
    route.has_nexthop_object = true;
    assert_int_equal(add("2001:db8::1", 7, 64), LENGTH_NONE);
    assert_null(find("2001:db8::9", 7, 64));
}

/* All pairs of a group have it. */
TEST(that_the_local_address_is_gone_is_shared)
{
    const struct question pair = pair_of("192.0.2.1", "10.0.0.1", false),
                          other = pair_of("192.0.2.9", "10.0.0.1", false);
    const struct path path = { .reason = kSCNetworkReachabilityReasonLocalAddressNotAssigned };

    assert_int_equal(add_path(&pair, 7, 24, &path), 0);
    assert_non_null(reach_shares_find(&shares, 7, &other, 24));
}

TEST(a_sandbox_that_refuses_the_query_leaves_the_watch_alone)
{
    struct match match = { .kind = MATCH_ALONE };
    const struct question question = plain("192.0.2.1");

    error = NETLINK_DENIED;
    assert_int_equal(reach_shares_match(&rtnetlink, &question, &match), 0);
    assert_int_equal(match.kind, MATCH_ALONE);
    error = ENOBUFS;
    assert_int_equal(reach_shares_match(&rtnetlink, &question, &match), ENOBUFS);
}

static const struct source_row {
    const char *name;
    enum source_routes found;
    bool shared;
} source_rows[] = { { "none", SOURCE_ROUTES_NONE, true },
                    { "unread", SOURCE_ROUTES_UNREAD, true },
                    { "unknown", SOURCE_ROUTES_UNKNOWN, false },
                    { "some", SOURCE_ROUTES_SOME, false } };

TEST_EACH(routes_for_packets_from_a_prefix, source_rows)
{
    set_route("::", 0);
    source_routes = row->found;
    assert_int_equal(add("2001:db8::1", 7, 64), row->shared ? 0 : LENGTH_NONE);
    assert_int_equal(find("2001:db8::9", 7, 64) != NULL, row->shared);
}

/* If no gateway responds, the kernel uses the longest prefix again, which can be another one for each watch. */
static const struct gateway_row {
    const char *name, *destination, *gateway;
    uint16_t state;
    int error;
    bool any_failed, shared;
} gateway_rows[] = {
    { "responds", "2001:db8::1", "fe80::1", NUD_REACHABLE, 0, true, true },
    { "has_no_entry", "2001:db8::1", "fe80::1", NUD_NONE, 0, true, true },
    { "has_failed", "2001:db8::1", "fe80::1", NUD_FAILED, 0, true, false },
    { "is_not_known_and_one_has_failed", "2001:db8::1", "fe80::1", NUD_NONE, EOPNOTSUPP, true, false },
    { "is_not_known_and_none_has_failed", "2001:db8::1", "fe80::1", NUD_NONE, EOPNOTSUPP, false, true },
    { "of_ipv4_has_failed", "192.0.2.1", "192.0.2.254", NUD_FAILED, 0, true, true },
};

TEST_EACH(a_path_over_a_gateway_that, gateway_rows)
{
    const struct question question = plain(row->destination);
    struct path path = path_over(2);

    set_route(question.destination.family == AF_INET ? "0.0.0.0" : "::", 0);
    route.has_gateway = true;
    path.gateway = make(row->gateway);
    gateway_state = row->state;
    gateway_error = row->error;
    any_failed = row->any_failed;
    assert_int_equal(add_path(&question, 7, 24, &path), 0);
    assert_int_equal(find(row->destination, 7, 24) != NULL, row->shared);
}

/* ---- Refusals --------------------------------------------------------------------------------------------------- */

static void refuse(const char *address, uint64_t sent)
{
    error = EHOSTUNREACH;
    assert_int_equal(add(address, sent, 24), 24);
}

static bool note(const char *address, uint8_t length, struct route *ret)
{
    const struct address destination = make(address);
    const struct route about = {
        .family = AF_INET, .table = RT_TABLE_MAIN, .destination = destination, .prefix_length = length
    };

    return reach_shares_note(&shares, &about, ret);
}

TEST(a_refusal_is_for_all_until_a_message_about_a_part_of_them_comes)
{
    struct route others;

    refuse("192.0.2.1", 7);
    assert_non_null(find("192.0.2.9", 7, 24));
    assert_int_equal(find("192.0.2.9", 7, 24)->length, 24);
    assert_false(note("192.0.2.0", 24, &others));
    assert_false(note("192.0.2.8", 29, &others)); /* not about the one that was queried */
    assert_true(note("192.0.2.0", 29, &others));
    assert_int_equal(others.prefix_length, 24);
    assert_int_equal(others.table, RT_TABLE_MAIN);
    assert_true(others.destination.bytes[3] == 0);
    assert_false(note("192.0.2.0", 29, &others));
}

TEST(a_refusal_keeps_its_place_for_a_second)
{
    char text[16];
    struct route others;

    for (unsigned i = 0; i < SHARES; i++) {
        snprintf(text, sizeof text, "192.0.%u.1", i);
        refuse(text, 7);
    }
    set_route("0.0.0.0", 0);
    add("203.0.113.1", 8, 24);
    assert_null(find("203.0.113.9", 8, 24));
    now_is += 2 * SECOND;
    add("203.0.113.1", 8, 24);
    assert_non_null(find("203.0.113.9", 8, 24));
    assert_true(note("192.0.5.0", 29, &others));
}

static const struct refusal {
    const char *name, *destination;
    bool standard, empty, any_failed;
    enum source_routes source_routes;
    bool shared;
} refusals[] = {
    { "ipv4", "192.0.2.1", true, true, true, SOURCE_ROUTES_SOME, true },
    { "ipv4_with_a_route_after_main", "192.0.2.1", true, false, false, SOURCE_ROUTES_NONE, false },
    { "ipv4_with_rules", "192.0.2.1", false, true, false, SOURCE_ROUTES_NONE, false },
    { "ipv6", "2001:db8::1", true, true, false, SOURCE_ROUTES_NONE, true },
    { "ipv6_with_a_failed_neighbour", "2001:db8::1", true, true, true, SOURCE_ROUTES_NONE, false },
    { "ipv6_with_unread_source_routes", "2001:db8::1", true, true, false, SOURCE_ROUTES_UNREAD, false },
};

TEST_EACH(a_refusal_is_for_all_of, refusals)
{
    is_standard = row->standard;
    chooses_tables = true;
    table_is_empty = row->empty;
    any_failed = row->any_failed;
    source_routes = row->source_routes;
    refuse(row->destination, 7);
    assert_int_equal(find(row->destination, 7, 24) != NULL, row->shared);
}

/* ---- Rules ------------------------------------------------------------------------------------------------------ */

static const struct rules_row {
    const char *name;
    bool standard, chooses_tables;
    int error;
    bool plain_ipv4, others;
} rules[] = { { "standard", true, true, 0, true, true },
              { "choose_tables", false, true, 0, true, false },
              { "select", false, false, 0, false, false },
              { "are_not_known", true, false, EPERM, false, false } };

TEST_EACH(watches_share_with_rules_that, rules)
{
    const struct question ipv4 = plain("192.0.2.1"), ipv6 = plain("2001:db8::1"),
                          pair = pair_of("192.0.2.1", "10.0.0.1", false);

    is_standard = row->standard;
    chooses_tables = row->chooses_tables;
    rules_error = row->error;
    assert_int_equal(reach_shares_allow(&shares, &rtnetlink, &ipv4), row->plain_ipv4);
    assert_int_equal(reach_shares_allow(&shares, &rtnetlink, &ipv6), row->others);
    assert_int_equal(reach_shares_allow(&shares, &rtnetlink, &pair), row->others);
}
