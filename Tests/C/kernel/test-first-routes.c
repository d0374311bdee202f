/* SPDX-License-Identifier: MIT */
/* The first routes of a table: no long one is read to its end, and the socket for requests can be used again. */
#include <linux/rtnetlink.h>

#include "kernel/dumps.h"
#include "route/netns.h"
#include "support/test.h"

enum { FEW = 10, MANY = 10000 };

static struct netns *netns;
static struct rtnetlink rtnetlink;

static void begin(void)
{
    namespace_require_pair();
    namespace_ip("route add default via 192.0.2.1");
    unit_check(reach_netns_current(&netns), "reach_netns_current");
    unit_check(reach_rtnetlink_open(&rtnetlink, RTNETLINK_ALL, reach_netns_handle(netns)), "netns_open_rtnetlink");
}

static void end(void)
{
    reach_rtnetlink_close(&rtnetlink);
    reach_netns_release(netns);
}

UNIT(.setup = begin, .teardown = end)

static void add_routes(unsigned count)
{
    struct writer writer;
    char prefix[32];

    unit_check(writer_open(&writer), "writer_open");
    unit_check(writer_batch(&writer), "writer_batch");
    for (unsigned i = 0; i < count; i++) {
        snprintf(prefix, sizeof prefix, "10.%u.%u.0/24", i / 200, i % 200);
        (void)writer_route(&writer, WRITER_ADD, &(struct writer_route){ .prefix = prefix, .gateway = "192.0.2.1" });
    }
    unit_check(writer_flush(&writer), "routes");
    writer_close(&writer);
}

static bool count_route(void *info, const struct route *route)
{
    unsigned *count = info;

    ++*count;
    return route->destination.bytes[0] == 0;
}

/* Reads the default route and the next one. No descriptor is left open, and the socket for requests is not used:
 * nothing of a dump is in it, and another one can begin. */
static void expect_two_routes(void)
{
    const struct first_routes what = { .family = AF_INET, .table = RT_TABLE_MAIN, .datagrams = 1 };
    const struct descriptors before = descriptors_now();
    unsigned count = 0;
    enum first_routes_end how;
    char bytes[64];

    assert_int_equal(reach_first_routes_read(&rtnetlink, &what, count_route, &count, &how), 0);
    assert_int_equal(how, FIRST_ROUTES_MORE);
    assert_int_equal(count, 2);
    descriptors_expect(&before);
    assert_int_equal(netlink_receive(&rtnetlink.requests, bytes, sizeof bytes), 0);
    assert_int_equal(reach_rtnetlink_read_links(&rtnetlink), 0);
    assert_non_null(reach_link_table_find(&rtnetlink.links, 1));
}

TEST(a_short_table_leaves_the_socket_for_requests)
{
    add_routes(FEW);
    expect_two_routes();
}

TEST(a_long_table_is_not_read_to_its_end)
{
    add_routes(MANY);
    expect_two_routes();
}

static bool count_all(void *info, const struct route *route)
{
    (void)route;
    ++*(unsigned *)info;
    return true;
}

/* The kernel ends a dump without an error at a route that does not fit. */
TEST(a_route_with_many_legs_does_not_end_a_table)
{
    const struct first_routes what = { .family = AF_INET, .table = RT_TABLE_DEFAULT, .datagrams = 8 };
    const struct writer_leg leg = { writer_index("a"), "192.0.2.1" };
    const struct writer_route route = {
        .prefix = "198.51.100.0/24", .table = RT_TABLE_DEFAULT, .legs = { leg, leg }, .leg_count = WRITER_LEGS
    };
    struct writer writer;
    unsigned count = 0;
    enum first_routes_end how;

    assert_true(reach_default_table_is_empty(&rtnetlink));
    unit_check(writer_open(&writer), "writer_open");
    unit_check(writer_route(&writer, WRITER_ADD, &route), route.prefix);
    namespace_ip("route add 198.51.101.0/24 via 192.0.2.1 table default");
    writer_close(&writer);
    assert_int_equal(reach_first_routes_read(&rtnetlink, &what, count_all, &count, &how), 0);
    assert_int_equal(how, FIRST_ROUTES_ALL);
    assert_int_equal(count, 2);
    assert_false(reach_default_table_is_empty(&rtnetlink));
}
