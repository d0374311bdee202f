/* SPDX-License-Identifier: MIT */
/* Which messages about neighbours make paths stale. No kernel. */
#include "watch/gateways.h"

#include "support/literal.h"
#include "support/unit.h"

static struct gateways gateways;

static void forget_all(void)
{
    gateways = (struct gateways){ 0 };
}

UNIT(.setup = forget_all)

static void add(const char *text, uint32_t index)
{
    const struct path path = { .gateway = make(text), .index = index };

    gateways_add(&gateways, &path);
}

static bool update(const char *text, uint32_t index, bool failed)
{
    const struct message_neighbour neighbour = { .index = index, .address = make(text), .failed = failed };

    return gateways_update(&gateways, &neighbour);
}

TEST(a_gateway_counts_when_it_fails_and_when_it_comes_back)
{
    add("fe80::1", 3);
    assert_false(update("fe80::1", 3, false));
    assert_true(update("fe80::1", 3, true));
    assert_false(update("fe80::1", 3, true));
    assert_true(update("fe80::1", 3, false));
    assert_false(update("fe80::1", 4, true));
    assert_false(update("fe80::2", 3, true));
}

TEST(a_gateway_is_added_once_and_only_for_ipv6)
{
    add("fe80::1", 3);
    add("fe80::1", 3);
    add("192.0.2.1", 3);
    assert_int_equal(gateways.count, 1);
    assert_int_equal(gateways.version, 1);
    add("fe80::1", 4);
    assert_int_equal(gateways.count, 2);
}

TEST(the_first_gateways_count_if_there_are_too_many)
{
    for (uint32_t i = 1; i <= ROUTE_FILTER_GATEWAYS + 1; i++)
        add("fe80::1", i);
    assert_int_equal(gateways.count, ROUTE_FILTER_GATEWAYS);
    assert_int_equal(gateways.version, ROUTE_FILTER_GATEWAYS);
    assert_true(update("fe80::1", 1, true));
    assert_false(update("fe80::1", ROUTE_FILTER_GATEWAYS + 1, true));
}

/* A machine that moves from network to network meets many gateways. */
TEST(a_gateway_in_use_takes_the_place_of_one_that_is_not)
{
    for (uint32_t i = 1; i <= ROUTE_FILTER_GATEWAYS; i++)
        add("fe80::1", i);
    assert_true(update("fe80::1", 2, true));
    gateways_age(&gateways, 0);
    add("fe80::1", 1);
    add("fe80::2", 3);
    assert_int_equal(gateways.count, ROUTE_FILTER_GATEWAYS);
    assert_int_equal(gateways.version, ROUTE_FILTER_GATEWAYS + 2);
    assert_true(update("fe80::1", 1, true));
    assert_true(update("fe80::2", 3, true));
    assert_true(update("fe80::1", 2, false));
    for (uint32_t i = 0; i < 2 * ROUTE_FILTER_GATEWAYS; i++)
        add("fe80::3", 100 + i); /* those in use stay */
    assert_false(update("fe80::1", 2, true));
    assert_true(update("fe80::1", 1, false));
    assert_true(update("fe80::2", 3, false));
    assert_true(update("fe80::3", 100, true));
    assert_false(update("fe80::3", 100 + ROUTE_FILTER_GATEWAYS, true));
}

TEST(the_gateways_of_one_link_make_room_for_others)
{
    for (uint32_t i = 1; i <= ROUTE_FILTER_GATEWAYS; i++)
        add("fe80::1", i);
    gateways_age(&gateways, 3);
    add("fe80::2", 1);
    add("fe80::3", 1);
    assert_false(update("fe80::1", 3, true));
    assert_true(update("fe80::2", 1, true));
    assert_false(update("fe80::3", 1, true)); /* the others are in use */
}

/* It may have failed or come back among the lost messages. */
TEST(after_lost_messages_the_next_one_counts)
{
    add("fe80::1", 3);
    add("fe80::2", 3);
    gateways_distrust(&gateways);
    assert_true(gateways.items[0].failed); /* so the filter passes all messages about it */
    assert_true(update("fe80::1", 3, true));
    assert_false(update("fe80::1", 3, true));
    assert_true(update("fe80::2", 3, false));
    assert_false(gateways.items[1].failed);
}
