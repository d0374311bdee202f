/* SPDX-License-Identifier: MIT */
/* Which messages about neighbours make paths stale. No kernel. */
#include <linux/neighbour.h>

#include "support/literal.h"
#include "support/unit.h"
#include "watch/gateways.h"

static struct gateways gateways;
static uint32_t users[ROUTE_FILTER_GATEWAYS];

static void forget_all(void)
{
    gateways = (struct gateways){ .users = users };
    memset(users, 0, sizeof users);
}

UNIT(.setup = forget_all)

/* Adds the gateway of an entry's path, and its state. Returns its place. */
static unsigned add(const char *text, uint32_t index, uint16_t state)
{
    const struct path path = { .gateway = make(text), .index = index };
    const unsigned place = gateways_add(&gateways, &path);

    if (place != GATEWAYS_NOWHERE) {
        users[place]++;
        gateways_set(&gateways, place, state);
    }
    return place;
}

/* A path has the gateway again. */
static void use(const char *text, uint32_t index)
{
    const struct path path = { .gateway = make(text), .index = index };

    gateways_add(&gateways, &path);
}

static enum gateways_effect update(const char *text, uint32_t index, uint16_t state)
{
    const struct message_neighbour neighbour = { .index = index, .address = make(text), .state = state };

    return gateways_update(&gateways, &neighbour);
}

TEST(a_gateway_counts_when_it_fails_and_when_it_comes_back)
{
    add("fe80::1", 3, NUD_REACHABLE);
    assert_int_equal(update("fe80::1", 3, NUD_STALE), GATEWAYS_NOTHING);
    assert_int_equal(update("fe80::1", 3, NUD_FAILED), GATEWAYS_ANY_ROUTE);
    assert_int_equal(update("fe80::1", 3, NUD_FAILED), GATEWAYS_NOTHING);
    assert_int_equal(update("fe80::1", 3, NUD_NONE), GATEWAYS_ANY_ROUTE); /* forgotten */
    assert_int_equal(update("fe80::1", 4, NUD_FAILED), GATEWAYS_NOTHING);
    assert_int_equal(update("fe80::2", 3, NUD_FAILED), GATEWAYS_NOTHING);
}

/* The kernel has probed it, and used it meanwhile. */
TEST(a_gateway_that_fails_again_counts_if_a_path_has_had_it)
{
    add("fe80::1", 3, NUD_FAILED);
    assert_int_equal(update("fe80::1", 3, NUD_FAILED), GATEWAYS_NOTHING);
    use("fe80::1", 3);
    assert_int_equal(update("fe80::1", 3, NUD_FAILED), GATEWAYS_OTHER_ROUTE);
    assert_int_equal(update("fe80::1", 3, NUD_FAILED), GATEWAYS_NOTHING);
}

/* Once none responds, the kernel uses the longest prefix again. */
TEST(a_gateway_that_fails_again_beside_another_that_has_failed_can_bring_any_route)
{
    add("fe80::1", 3, NUD_FAILED);
    add("fe80::2", 3, NUD_FAILED);
    use("fe80::1", 3);
    assert_int_equal(update("fe80::1", 3, NUD_FAILED), GATEWAYS_ANY_ROUTE);
}

TEST(a_gateway_whose_state_was_not_read_counts_once)
{
    use("fe80::1", 3);
    assert_true(gateways.items[0].every);
    assert_int_equal(gateways.unread, 1);
    assert_int_equal(update("fe80::1", 3, NUD_REACHABLE), GATEWAYS_ANY_ROUTE);
    assert_int_equal(gateways.unread, 0);
    assert_false(gateways.items[0].every);
    assert_int_equal(update("fe80::1", 3, NUD_STALE), GATEWAYS_NOTHING);
}

TEST(a_gateway_is_added_once_and_ipv4_only_if_it_is_held)
{
    const struct address ipv4 = make("192.0.2.1");

    add("fe80::1", 3, NUD_REACHABLE);
    add("fe80::1", 3, NUD_REACHABLE);
    assert_int_equal(add("192.0.2.1", 3, NUD_REACHABLE), GATEWAYS_NOWHERE);
    assert_int_equal(gateways.count, 1);
    assert_int_equal(gateways.version, 1);
    gateways_hold(&gateways, 3, &ipv4, true);
    assert_int_equal(add("192.0.2.1", 3, NUD_REACHABLE), 1);
    add("fe80::1", 4, NUD_REACHABLE);
    assert_int_equal(gateways.count, 3);
}

/* IPv4 prefers the gateway that has responded a short time ago, then one that has responded. */
TEST(each_state_of_a_held_ipv4_gateway_of_equal_routes_counts)
{
    const struct address ipv4 = make("192.0.2.1");

    gateways_hold(&gateways, 3, &ipv4, true);
    gateways_set(&gateways, 0, NUD_REACHABLE);
    assert_true(gateways.items[0].every);
    assert_int_equal(update("192.0.2.1", 3, NUD_REACHABLE), GATEWAYS_NOTHING);
    assert_int_equal(update("192.0.2.1", 3, NUD_STALE), GATEWAYS_OTHER_ROUTE);
    assert_int_equal(update("192.0.2.1", 3, NUD_PROBE), GATEWAYS_NOTHING);
    assert_int_equal(update("192.0.2.1", 3, NUD_FAILED), GATEWAYS_OTHER_ROUTE);
    assert_int_equal(update("192.0.2.1", 3, NUD_REACHABLE), GATEWAYS_OTHER_ROUTE);
    gateways_age(&gateways, 3);
    assert_false(gateways.items[0].every); /* the kernel has no choice any more */
    assert_int_equal(update("192.0.2.1", 3, NUD_FAILED), GATEWAYS_NOTHING);
}

TEST(each_state_of_an_ipv6_gateway_of_equal_ipv4_routes_counts)
{
    const struct address gateway = make("fe80::1");

    add("fe80::1", 3, NUD_REACHABLE);
    assert_int_equal(update("fe80::1", 3, NUD_STALE), GATEWAYS_NOTHING);
    gateways_hold(&gateways, 3, &gateway, true);
    assert_int_equal(gateways.unread, 1);
    gateways_set(&gateways, 0, NUD_REACHABLE);
    assert_true(gateways.items[0].every);
    assert_int_equal(update("fe80::1", 3, NUD_STALE), GATEWAYS_OTHER_ROUTE);
    assert_int_equal(update("fe80::1", 3, NUD_FAILED), GATEWAYS_ANY_ROUTE);
    gateways_set(&gateways, 0, NUD_REACHABLE);
    gateways_age(&gateways, 3);
    assert_false(gateways.items[0].every);
    assert_int_equal(update("fe80::1", 3, NUD_STALE), GATEWAYS_NOTHING);
}

/* The kernel only avoids a leg whose gateway does not respond. Entries turn from REACHABLE to STALE all the time. */
TEST(of_a_gateway_of_a_leg_it_counts_only_whether_it_responds)
{
    const struct address ipv4 = make("192.0.2.1");

    gateways_hold(&gateways, 3, &ipv4, false);
    gateways_set(&gateways, 0, NUD_REACHABLE);
    assert_int_equal(update("192.0.2.1", 3, NUD_STALE), GATEWAYS_NOTHING);
    assert_int_equal(update("192.0.2.1", 3, NUD_REACHABLE), GATEWAYS_NOTHING);
    assert_int_equal(update("192.0.2.1", 3, NUD_FAILED), GATEWAYS_OTHER_ROUTE);
    assert_int_equal(update("192.0.2.1", 3, NUD_REACHABLE), GATEWAYS_OTHER_ROUTE);
    gateways_hold(&gateways, 3, &ipv4, true); /* an equal route has come, too */
    assert_int_equal(update("192.0.2.1", 3, NUD_STALE), GATEWAYS_OTHER_ROUTE);
}

/* Meanwhile the filter drops that it responds. */
TEST(an_ipv4_gateway_that_is_held_again_is_read_again)
{
    const struct address ipv4 = make("192.0.2.1");

    gateways_hold(&gateways, 3, &ipv4, false);
    gateways_set(&gateways, 0, NUD_FAILED);
    gateways_hold(&gateways, 3, &ipv4, false);
    assert_int_equal(gateways.unread, 0);
    gateways_age(&gateways, 0);
    gateways_hold(&gateways, 3, &ipv4, false);
    assert_int_equal(gateways.unread, 1);
    gateways_set(&gateways, 0, NUD_REACHABLE);
    assert_int_equal(update("192.0.2.1", 3, NUD_FAILED), GATEWAYS_OTHER_ROUTE);
}

static void fill(void)
{
    for (uint32_t i = 1; i <= ROUTE_FILTER_GATEWAYS; i++)
        add("fe80::1", i, NUD_REACHABLE);
}

TEST(the_first_gateways_count_if_there_are_too_many)
{
    fill();
    assert_int_equal(add("fe80::1", ROUTE_FILTER_GATEWAYS + 1, NUD_REACHABLE), GATEWAYS_NOWHERE);
    assert_int_equal(gateways.count, ROUTE_FILTER_GATEWAYS);
    assert_int_equal(update("fe80::1", 1, NUD_FAILED), GATEWAYS_ANY_ROUTE);
    assert_int_equal(update("fe80::1", ROUTE_FILTER_GATEWAYS + 1, NUD_FAILED), GATEWAYS_NOTHING);
}

/* A machine that moves from network to network meets many gateways. A path can return to one that has failed. */
TEST(a_gateway_takes_the_place_of_one_that_no_path_has)
{
    fill();
    assert_int_equal(update("fe80::1", 2, NUD_FAILED), GATEWAYS_ANY_ROUTE);
    users[1] = users[2] = 0;
    assert_int_equal(add("fe80::2", 7, NUD_REACHABLE), 2);
    assert_int_equal(add("fe80::3", 7, NUD_REACHABLE), 1);
    assert_int_equal(add("fe80::4", 7, NUD_REACHABLE), GATEWAYS_NOWHERE);
    assert_int_equal(update("fe80::1", 2, NUD_REACHABLE), GATEWAYS_NOTHING);
    assert_int_equal(update("fe80::2", 7, NUD_FAILED), GATEWAYS_ANY_ROUTE);
}

TEST(a_held_gateway_keeps_its_place_until_its_link_changes)
{
    const struct address held = make("fe80::1");

    fill();
    gateways_hold(&gateways, 3, &held, false);
    users[2] = 0;
    assert_int_equal(add("fe80::2", 7, NUD_REACHABLE), GATEWAYS_NOWHERE);
    gateways_age(&gateways, 4);
    assert_int_equal(add("fe80::2", 7, NUD_REACHABLE), GATEWAYS_NOWHERE);
    gateways_age(&gateways, 3);
    assert_int_equal(add("fe80::2", 7, NUD_REACHABLE), 2);
}

/* It may have failed or come back among the lost messages. */
TEST(after_lost_messages_the_next_one_counts)
{
    add("fe80::1", 3, NUD_REACHABLE);
    gateways_distrust(&gateways);
    assert_true(gateways.items[0].every); /* so the filter passes all messages about it */
    assert_int_equal(update("fe80::1", 3, NUD_FAILED), GATEWAYS_ANY_ROUTE);
    assert_int_equal(update("fe80::1", 3, NUD_FAILED), GATEWAYS_NOTHING);
}
