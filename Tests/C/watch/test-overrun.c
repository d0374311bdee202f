/* SPDX-License-Identifier: MIT */
/*
 * The kernel drops messages that are not read in time: nothing drives the loop while thousands of routes change. The
 * change that matters happens in between, and its message is lost too. The Drops column of /proc/net/netlink must grow
 * with it, or the test has shown nothing.
 */
#include "support/test.h"

#define ROUTES 20000
#define ENOUGH 400000 /* routes after which a socket that has dropped nothing never will */

static struct writer writer;
static struct watcher watcher; /* of a target far away, which is scheduled and reachable */
static unsigned link_a;        /* its default route leaves over it */

static const struct writer_route default_route = { .prefix = "0.0.0.0/0", .gateway = "192.0.2.1" };

/* The number of messages that the kernel dropped for the only socket that receives IPv4 routes. */
static unsigned long drops(void)
{
    FILE *table = fopen("/proc/thread-self/net/netlink", "re");
    char line[256];
    unsigned protocol, groups, listeners = 0;
    unsigned long dropped = 0, value;

    assert_non_null(table);
    while (fgets(line, sizeof line, table) != NULL)
        if (sscanf(line, "%*s %u %*s %x %*s %*s %*s %*s %lu", &protocol, &groups, &value) == 3 &&
            protocol == NETLINK_ROUTE && (groups & 1u << (RTNLGRP_IPV4_ROUTE - 1)) != 0) {
            listeners++;
            dropped = value;
        }
    fclose(table);
    assert_int_equal(listeners, 1);
    return dropped;
}

static void begin(void)
{
    namespace_require_pair();
    unit_check(writer_open(&writer), "writer");
    unit_check(writer_route(&writer, WRITER_ADD, &default_route), "default route");
    link_a = writer_index("a");
    watcher_start(&watcher, expect_target("198.51.100.7"));
    watcher_pass(&watcher);
    assert_int_equal(expect_flags_of(watcher.target), R);
}

static void end(void)
{
    writer_close(&writer);
}

UNIT(.setup = begin, .teardown = end)

/* Changes `count` unrelated routes, beginning with number `from`. */
static void change_routes(struct writer *through, enum writer_action action, unsigned index, unsigned from,
                          unsigned count)
{
    char prefix[32];

    unit_check(writer_batch(through), "batch");
    for (unsigned i = from; i < from + count; i++) {
        snprintf(prefix, sizeof prefix, "10.%u.%u.%u/32", i >> 16, i >> 8 & 255, i & 255);
        unit_check(writer_route(through, action, &(struct writer_route){ .prefix = prefix, .index = index }), prefix);
    }
    unit_check(writer_flush(through), "routes");
}

/* Adds routes until messages are lost. All later ones are lost too. Returns how many routes there are now. */
static unsigned overrun(unsigned index)
{
    const unsigned long before = drops();
    unsigned count = 0;

    do {
        change_routes(&writer, WRITER_REPLACE, index, count, ROUTES);
        count += ROUTES;
    } while (drops() == before && count < ENOUGH);
    if (drops() == before)
        fail_msg("nothing was dropped after %u routes: nothing is proven", count);
    return count;
}

/* Expects that messages were dropped since `before` was read. */
static void expect_lost(unsigned long before)
{
    if (drops() == before)
        fail_msg("the decisive message was not dropped: nothing is proven");
}

/* Messages still arrive after an overrun. */
static void expect_alive(void)
{
    unit_check(writer_route(&writer, WRITER_DELETE, &default_route), "default route");
    EXPECT_CHANGE(&watcher, 0);
    unit_check(writer_route(&writer, WRITER_ADD, &default_route), "default route");
    EXPECT_CHANGE(&watcher, R);
}

TEST(a_route_is_deleted_among_lost_messages)
{
    unsigned count = overrun(link_a);
    unsigned long before = drops();

    unit_check(writer_route(&writer, WRITER_DELETE, &default_route), "default route");
    expect_lost(before);
    change_routes(&writer, WRITER_ADD, link_a, count, ROUTES);
    EXPECT_END(&watcher, 0);

    count = overrun(writer_index("lo"));
    before = drops();
    unit_check(writer_route(&writer, WRITER_ADD, &default_route), "default route");
    expect_lost(before);
    EXPECT_END(&watcher, R);
    expect_alive();
}

/* Until then the loop knew that no IPv6 route was for packets from a prefix. */
TEST(a_route_for_packets_from_a_prefix_is_added_among_lost_messages)
{
    static const struct writer_route route = { .prefix = "::/0", .gateway = "2001:db8::1", .from = "2001:db8::/64" };
    struct watcher ipv6;

    watcher_schedule_on(&ipv6, expect_target("2001:db8:1::1"), watcher.loop);
    EXPECT_QUIET(&ipv6);
    overrun(link_a);
    unsigned long before = drops();
    unit_check(writer_route(&writer, WRITER_ADD, &route), "route");
    expect_lost(before);
    EXPECT_END(&ipv6, R);
}

/* The link table is stale too: only the message of the link shows its carrier. */
TEST(a_carrier_is_lost_among_lost_messages)
{
    const unsigned peer = writer_index("b");

    overrun(link_a);
    unsigned long before = drops();
    unit_check(writer_link_up(&writer, peer, false), "peer down");
    namespace_await_running("a", false);
    expect_lost(before);
    EXPECT_END(&watcher, 0);
    assert_int_equal(expect_path_of(watcher.target).reason, kSCNetworkReachabilityReasonNoCarrier);

    overrun(writer_index("lo"));
    before = drops();
    unit_check(writer_link_up(&writer, peer, true), "peer up");
    namespace_await_running("a", true);
    expect_lost(before);
    EXPECT_END(&watcher, R);
    expect_alive();
}

/* Another link replaces a link: all knowledge about both is stale. */
TEST(a_link_is_replaced_among_lost_messages)
{
    overrun(link_a);
    unsigned long before = drops();
    unit_check(writer_link_delete(&writer, link_a), "link");
    unit_check(writer_link_add_pair(&writer, "a", "b"), "pair");
    unsigned index = writer_index("a");
    unit_check(writer_link_up(&writer, writer_index("b"), true), "peer up");
    unit_check(writer_link_up(&writer, index, true), "link up");
    unit_check(writer_address(&writer, WRITER_ADD, index, "192.0.2.2/24"), "address");
    unit_check(writer_route(&writer, WRITER_ADD, &default_route), "default route");
    namespace_await_running("a", true);
    expect_lost(before);
    /* The flags are the same, but packets leave over another interface. */
    EXPECT_END(&watcher, R);
    assert_int_equal(expect_path_of(watcher.target).interfaceIndex, index);
    expect_alive();
}

/* ---- Endless messages ------------------------------------------------------------------------------------------- */

static atomic_bool flood_is_over;

static void *flood_routes(void *argument)
{
    while (!atomic_load(&flood_is_over)) {
        change_routes(argument, WRITER_ADD, link_a, 0, ROUTES / 10);
        change_routes(argument, WRITER_DELETE, link_a, 0, ROUTES / 10);
    }
    return NULL;
}

/* Endless messages must not delay a result. */
TEST(getflags_returns_while_routes_keep_changing)
{
    struct writer flooder;

    unit_check(writer_open(&flooder), "writer");
    atomic_store(&flood_is_over, false);
    pthread_t thread = unit_thread(flood_routes, &flooder);
    for (int i = 0; i < 20; i++)
        expect_alive();
    atomic_store(&flood_is_over, true);
    pthread_join(thread, NULL);
    writer_close(&flooder);
    expect_alive();
}
