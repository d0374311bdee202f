/* SPDX-License-Identifier: MIT */
/*
 * Routes with so many legs that they do not fit into the kernel's reply to a query with RTM_F_FIB_MATCH: the kernel
 * refuses it with EMSGSIZE. The reply to a plain query stands.
 */
#include "support/denial.h"
#include "support/test.h"
#include "support/writer.h"

static const struct family {
    const char *name, *any, *far, *local, *prefix, *gateway, *other_gateway, *narrow, *refused, *inside;
} families[] = {
    { "IPv4", "0.0.0.0", "198.51.100.", "192.0.2.2", "0.0.0.0/0", "192.0.2.1", "203.0.113.1", "1.0.0.0/8", "0.0.0.0/8",
      "1.2.3.4" },
    { "IPv6", "::", "2001:db8:1::", "2001:db8::2", "::/0", "2001:db8::1", "2001:db8:c::1", "2000::/3", "4000::/8",
      "2600::1" },
};

#define FAR(family, i) unit_text("%s%u", (family)->far, (unsigned)(i))

static struct writer writer;

static void begin(void)
{
    namespace_require_two_pairs();
    denial_require_netlink("a socket does not show the legs");
    unit_check(writer_open(&writer), "writer");
}

static void end(void)
{
    writer_close(&writer);
}

UNIT(.setup = begin, .cleanup = end)

/* Many legs, all over "a", or over "a" and `other` by turns. */
static void set_route(enum writer_action action, const struct family *family, const char *prefix, const char *other)
{
    const struct writer_route route = { .prefix = prefix,
                                        .legs = { { writer_index("a"), family->gateway },
                                                  { writer_index(other),
                                                    other[0] == 'a' ? family->gateway : family->other_gateway } },
                                        .leg_count = WRITER_LEGS };

    unit_check(writer_route(&writer, action, &route), prefix);
}

static void expect_network(const struct family *family, const char *name)
{
    SCOPED_TARGET target = expect_option("0.0.0.0", kSCNetworkReachabilityOptionNotifyNetwork);
    SCNetworkReachabilityNetwork network = kSCNetworkReachabilityNetworkInitializer;
    SCNetworkReachabilityUplink uplinks[2];

    assert_true(SCNetworkReachabilityGetNetwork(target, &network, uplinks, sizeof uplinks[0], 2));
    assert_int_equal(network.uplinkCount, name == NULL ? 0 : 1);
    assert_int_equal((family->name[3] == '4' ? &network.ipv4 : &network.ipv6)->flags, name == NULL ? 0 : R);
    if (name != NULL)
        assert_string_equal(uplinks[0].interfaceName, name);
}

TEST_EACH(a_default_route_with_many_legs_is_the_default_path, families)
{
    expect_network(row, NULL);
    set_route(WRITER_ADD, row, row->prefix, "a");
    EXPECT_ADDRESS(row->any, R, None, .interface = "a");
    EXPECT_ADDRESS(FAR(row, 7), R, None, .interface = "a");
    EXPECT_BOUND(row->any, "a", R, None, .interface = "a");
    EXPECT_BOUND(FAR(row, 7), "a", R, None, .interface = "a");
    EXPECT_BOUND(row->any, "c", 0, NoRoute);
    EXPECT_BOUND(FAR(row, 7), "c", 0, NoRoute);
    expect_network(row, "a");
}

TEST_EACH(a_prefix_with_many_legs_is_not_the_default_path, families)
{
    namespace_ip("route add blackhole %s", row->refused);
    set_route(WRITER_ADD, row, row->narrow, "a");
    EXPECT_ADDRESS(row->inside, R, None, .interface = "a");
    EXPECT_BOUND(row->inside, "a", R, None, .interface = "a");
    EXPECT_ADDRESS(row->any, 0, NoRoute);
    expect_network(row, NULL);
}

TEST_EACH(a_default_route_with_many_legs_counts_behind_one_for_a_sample, families)
{
    namespace_ip("route add blackhole %s", row->refused);
    set_route(WRITER_ADD, row, row->prefix, "a");
    EXPECT_ADDRESS(row->any, R, None, .interface = "a");
}

TEST_EACH(scheduled_targets_follow_a_route_with_many_legs, families)
{
    struct watcher any, far, neighbour, bound, pair;

    watcher_start(&any, expect_target(row->any));
    watcher_start(&far, expect_target(FAR(row, 7)));
    watcher_start(&neighbour, expect_target(FAR(row, 8)));
    watcher_start(&bound, expect_bound(FAR(row, 7), "a"));
    watcher_start(&pair, expect_pair(row->local, FAR(row, 7)));
    set_route(WRITER_ADD, row, row->prefix, "a");
    EXPECT_CHANGE(&any, R, &far, R, &neighbour, R, &bound, R, &pair, R);
    set_route(WRITER_DELETE, row, row->prefix, "a");
    EXPECT_CHANGE(&any, 0, &far, 0, &neighbour, 0, &bound, 0, &pair, 0);
    set_route(WRITER_ADD, row, row->prefix, "a");
    EXPECT_CHANGE(&any, R, &far, R, &neighbour, R, &bound, R, &pair, R);
    namespace_set_carrier("a", "b", false);
    EXPECT_CHANGE(&any, 0, &far, 0, &neighbour, 0, &bound, 0, &pair, 0);
}

/* They must not share the path of one leg. */
TEST_EACH(the_targets_of_a_route_with_many_legs_have_different_legs, families)
{
    struct watcher watchers[16];
    bool over_a = false, over_c = false;

    for (size_t i = 0; i < 16; i++)
        watcher_start(&watchers[i], expect_target(FAR(row, i)));
    set_route(WRITER_ADD, row, row->prefix, "c");
    for (size_t i = 0; i < 16; i++) {
        EXPECT_CHANGE(&watchers[i], R);
        over_a = over_a || expect_path_of(watchers[i].target).interfaceName[0] == 'a';
        over_c = over_c || expect_path_of(watchers[i].target).interfaceName[0] == 'c';
        EXPECT_ADDRESS(FAR(row, i), R, None, .interface = expect_path_of(watchers[i].target).interfaceName);
    }
    assert_true(over_a && over_c);
}

TEST_EACH(many_legs_over_two_interfaces_are_equals, families)
{
    set_route(WRITER_ADD, row, row->prefix, "c");
    for (size_t i = 1; i <= 9; i++) {
        SCOPED_TARGET pair = expect_pair(row->local, FAR(row, i));

        assert_int_equal(expect_path_of(pair).flags, R);
        assert_int_equal(expect_path_of(pair).flow, 0);
    }
}
