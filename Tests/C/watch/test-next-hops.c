/* SPDX-License-Identifier: MIT */
/* Which messages about neighbours count, and which hops are kept. No kernel. */
#include <linux/neighbour.h>

#include "support/literal.h"
#include "support/unit.h"
#include "watch/next_hops.h"

enum { UNUSED = 128 };

static struct next_hops hops;
static bool no_memory;

WRAP(void *, calloc, size_t count, size_t size)
{
    return no_memory ? NULL : __real_calloc(count, size);
}

static void begin(void)
{
    reach_next_hops_init(&hops);
    no_memory = false;
}

static void end(void)
{
    assert_true(list_is_empty(&hops.used));
    reach_next_hops_clear(&hops);
    assert_null(hops.tree.root);
}

UNIT(.setup = begin, .teardown = end)

/* The watch's path has this hop, from now on. */
static struct next_hop *use(struct path_watch *watch, const char *text, uint32_t index, bool reports)
{
    const struct address address = make(text);

    assert_int_equal(reach_next_hops_use(&hops, watch, index, &address, reports), 0);
    return watch->hop;
}

static void leave(struct path_watch *watch)
{
    assert_int_equal(reach_next_hops_use(&hops, watch, 0, NULL, false), 0);
    assert_null(watch->hop);
}

static bool counts(const char *text, uint32_t index, uint16_t state)
{
    const struct message_neighbour neighbour = { .index = index, .address = make(text), .state = state };

    return reach_next_hops_note(&hops, &neighbour) != NULL;
}

static struct next_hop *find(const char *text, uint32_t index)
{
    const struct address address = make(text);

    return reach_next_hops_find(&hops, index, &address);
}

/* Whether all messages about the first hop pass the filter. */
static bool passes_every(void)
{
    struct route_filter_gateway items[ROUTE_FILTER_GATEWAYS];

    assert_in_range(reach_next_hops_list(&hops, items), 1, ROUTE_FILTER_GATEWAYS);
    return items[0].every;
}

/* ---- Messages --------------------------------------------------------------------------------------------------- */

/* It may have failed before it was known. */
TEST(the_first_message_counts)
{
    struct path_watch watch = { 0 };

    use(&watch, "fe80::1", 3, false);
    assert_true(passes_every());
    assert_true(counts("fe80::1", 3, NUD_REACHABLE));
    assert_false(passes_every());
    assert_false(counts("fe80::1", 3, NUD_STALE));
    leave(&watch);
}

static const struct row {
    const char *name, *address;
} families[] = { { "ipv4", "192.0.2.1" }, { "ipv6", "fe80::1" } };

TEST_EACH(a_hop_counts_when_it_fails_and_after_that, families)
{
    struct path_watch watch = { 0 };

    use(&watch, row->address, 3, false);
    (void)counts(row->address, 3, NUD_REACHABLE);
    assert_true(counts(row->address, 3, NUD_FAILED));
    assert_true(passes_every());
    assert_true(counts(row->address, 3, NUD_INCOMPLETE));
    assert_false(counts(row->address, 4, NUD_FAILED));
    assert_true(counts(row->address, 3, NUD_FAILED));
    assert_true(counts(row->address, 3, NUD_REACHABLE));
    assert_false(counts(row->address, 3, NUD_STALE));
    leave(&watch);
}

/* ip(8) deletes an entry: it fails first. */
TEST(the_next_message_about_a_deleted_hop_counts)
{
    struct path_watch watch = { 0 };

    use(&watch, "fe80::1", 3, false);
    (void)counts("fe80::1", 3, NUD_REACHABLE);
    assert_true(counts("fe80::1", 3, NUD_FAILED));
    assert_true(counts("fe80::1", 3, NUD_NONE));
    assert_true(counts("fe80::1", 3, NUD_REACHABLE));
    leave(&watch);
}

TEST(an_unknown_neighbour_does_not_count)
{
    assert_false(counts("fe80::1", 3, NUD_FAILED));
    assert_null(find("fe80::1", 3));
}

TEST(after_lost_messages_the_next_one_counts)
{
    struct path_watch watch = { 0 };
    unsigned long version;

    use(&watch, "fe80::1", 3, true);
    (void)counts("fe80::1", 3, NUD_REACHABLE);
    reach_next_hops_set(&hops, watch.hop, NUD_REACHABLE);
    assert_false(passes_every());
    version = hops.version;
    reach_next_hops_distrust(&hops);
    assert_true(passes_every());
    assert_true(hops.version > version);
    assert_true(watch.hop->unread);
    assert_true(counts("fe80::1", 3, NUD_STALE));
    leave(&watch);
}

/* ---- States, for those that report it --------------------------------------------------------------------------- */

static const struct state_row {
    const char *name;
    uint16_t first, second; /* what the kernel says; NUD_NONE first: nothing before */
    enum path_hop state;
} states[] = {
    { "reachable", NUD_NONE, NUD_REACHABLE, PATH_HOP_RESPONDS },
    { "stale", NUD_NONE, NUD_STALE, PATH_HOP_RESPONDS },
    { "failed", NUD_NONE, NUD_FAILED, PATH_HOP_FAILED },
    { "incomplete", NUD_NONE, NUD_INCOMPLETE, PATH_HOP_UNKNOWN },
    { "no_entry", NUD_NONE, NUD_NONE, PATH_HOP_UNKNOWN },
    { "incomplete_after_a_failure", NUD_FAILED, NUD_INCOMPLETE, PATH_HOP_FAILED },
    { "no_entry_after_a_failure", NUD_FAILED, NUD_NONE, PATH_HOP_FAILED },
    { "responds_after_a_failure", NUD_FAILED, NUD_REACHABLE, PATH_HOP_RESPONDS },
    { "incomplete_after_a_response", NUD_REACHABLE, NUD_INCOMPLETE, PATH_HOP_UNKNOWN },
};

TEST_EACH(the_state_of_a_hop_follows_the_kernels, states)
{
    struct path_watch watch = { 0 };

    use(&watch, "fe80::1", 3, true);
    assert_true(watch.hop->unread);
    if (row->first != NUD_NONE)
        reach_next_hops_set(&hops, watch.hop, row->first);
    reach_next_hops_set(&hops, watch.hop, row->second);
    assert_int_equal(watch.hop->state, row->state);
    assert_false(watch.hop->unread);
    leave(&watch);
}

/* It tries once more before the state is read. */
TEST(a_hop_that_has_failed_and_is_tried_again_has_failed)
{
    struct path_watch watch = { 0 };

    use(&watch, "fe80::1", 3, true);
    reach_next_hops_set(&hops, watch.hop, NUD_REACHABLE);
    assert_true(counts("fe80::1", 3, NUD_FAILED));
    reach_next_hops_set(&hops, watch.hop, NUD_INCOMPLETE);
    assert_int_equal(watch.hop->state, PATH_HOP_FAILED);
    leave(&watch);
}

TEST(after_a_failure_all_messages_pass_for_those_that_report_it)
{
    struct path_watch watch = { 0 };

    use(&watch, "fe80::1", 3, true);
    reach_next_hops_set(&hops, watch.hop, NUD_FAILED);
    reach_next_hops_set(&hops, watch.hop, NUD_NONE);
    assert_true(passes_every());
    reach_next_hops_set(&hops, watch.hop, NUD_REACHABLE);
    assert_false(passes_every());
    leave(&watch);
}

TEST(a_message_makes_the_state_unread)
{
    struct path_watch watch = { 0 };

    use(&watch, "fe80::1", 3, true);
    reach_next_hops_set(&hops, watch.hop, NUD_REACHABLE);
    assert_true(counts("fe80::1", 3, NUD_FAILED));
    assert_true(watch.hop->unread);
    leave(&watch);
}

TEST(a_watch_that_reports_notes_that_it_has_left_a_failed_hop)
{
    struct path_watch reporter = { 0 }, other = { 0 };

    use(&reporter, "fe80::1", 3, true);
    use(&other, "fe80::1", 3, false);
    reach_next_hops_set(&hops, reporter.hop, NUD_FAILED);
    use(&reporter, "fe80::2", 3, true);
    use(&other, "fe80::2", 3, false);
    assert_true(reporter.has_left_failed);
    assert_false(other.has_left_failed);
    reporter.has_left_failed = false;
    leave(&reporter);
    leave(&other);
    assert_false(reporter.has_left_failed);
}

TEST(the_filter_must_pass_more_for_the_first_reporter)
{
    struct path_watch reporter = { 0 }, other = { 0 };
    unsigned long version;

    use(&other, "fe80::1", 3, false);
    reach_next_hops_set(&hops, other.hop, NUD_REACHABLE);
    version = hops.version;
    use(&reporter, "fe80::1", 3, true);
    assert_true(hops.version > version);
    assert_true(passes_every());
    assert_int_equal(reporter.hop->reporters, 1);
    leave(&reporter);
    assert_int_equal(other.hop->reporters, 0);
    leave(&other);
}

/* ---- The set ---------------------------------------------------------------------------------------------------- */

/* Routers often have the address fe80::1 on each of their links. */
TEST(hops_are_told_apart_by_their_links)
{
    struct path_watch watches[2] = { 0 };
    unsigned long version = hops.version;

    use(&watches[0], "fe80::1", 3, false);
    use(&watches[1], "fe80::1", 4, false);
    assert_int_equal(hops.version, version + 2);
    assert_ptr_not_equal(watches[0].hop, watches[1].hop);
    (void)counts("fe80::1", 3, NUD_REACHABLE);
    (void)counts("fe80::1", 4, NUD_REACHABLE);
    assert_true(counts("fe80::1", 4, NUD_FAILED));
    assert_int_equal(watches[0].hop->noted, NUD_REACHABLE);
    leave(&watches[0]);
    leave(&watches[1]);
}

/* The kernel returns to it when it responds again. */
TEST(a_hop_that_no_path_has_stays_for_a_while)
{
    struct path_watch watch = { 0 };
    const struct address held = make("fe80::2");

    use(&watch, "fe80::1", 3, false);
    reach_next_hops_hold(&hops, 3, &held);
    leave(&watch);
    assert_true(counts("fe80::1", 3, NUD_FAILED));
    for (uint32_t i = 1; i < UNUSED; i++) {
        use(&watch, "fe80::3", i, false);
        leave(&watch);
        if (i % 50 == 0)
            reach_next_hops_hold(&hops, 3, &held);
    }
    assert_null(find("fe80::1", 3)); /* there are others */
    assert_non_null(find("fe80::2", 3));
    assert_non_null(find("fe80::3", 1));
    assert_non_null(find("fe80::3", UNUSED - 1));
    assert_int_equal(hops.unused_count, UNUSED);
}

TEST(an_offered_hop_takes_no_other_ones_place)
{
    static struct path_watch watch;
    const struct address offered = make("fe80::9");

    for (uint32_t i = 1; i <= UNUSED; i++) {
        use(&watch, "fe80::3", i, false);
        leave(&watch);
    }
    reach_next_hops_offer(&hops, 3, &offered);
    assert_null(find("fe80::9", 3));
    assert_non_null(find("fe80::3", 1));
}

TEST(a_hop_that_a_path_has_stays)
{
    struct path_watch watch = { 0 }, other = { 0 };
    const struct address address = make("fe80::1");

    use(&watch, "fe80::1", 3, false);
    for (uint32_t i = 1; i <= 2 * UNUSED; i++) {
        use(&other, "fe80::2", i, false);
        leave(&other);
        reach_next_hops_hold(&hops, 3, &address);
    }
    assert_ptr_equal(find("fe80::1", 3), watch.hop);
    leave(&watch);
}

TEST(more_hops_than_the_filter_has_room_for_are_all_passed)
{
    static struct path_watch watches[ROUTE_FILTER_GATEWAYS + 1];
    struct route_filter_gateway items[ROUTE_FILTER_GATEWAYS];

    for (uint32_t i = 0; i <= ROUTE_FILTER_GATEWAYS; i++)
        use(&watches[i], "fe80::1", 1 + i, false);
    assert_int_equal(reach_next_hops_list(&hops, items), ROUTE_FILTER_GATEWAYS + 1);
    for (uint32_t i = 0; i <= ROUTE_FILTER_GATEWAYS; i++)
        leave(&watches[i]);
}

TEST(without_memory_a_watch_keeps_its_hop)
{
    struct path_watch watch = { 0 };
    const struct address other = make("fe80::2");
    struct next_hop *hop = use(&watch, "fe80::1", 3, false);

    no_memory = true;
    assert_int_equal(reach_next_hops_use(&hops, &watch, 3, &other, false), ENOMEM);
    assert_ptr_equal(watch.hop, hop);
    reach_next_hops_hold(&hops, 3, &other);
    assert_null(find("fe80::2", 3));
    no_memory = false;
    leave(&watch);
}
