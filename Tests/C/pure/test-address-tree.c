/* SPDX-License-Identifier: MIT */
/* The tree of addresses, beside a list of the same addresses. No kernel. */
#include "pure/address_tree.h"
#include "support/literal.h"
#include "support/unit.h"

enum { ENTRIES = 300, STEPS = 40000 };

struct member {
    struct address_entry entry;
    bool added;
    unsigned visits;
};

static void count_visit(void *info, struct address_entry *entry)
{
    struct member *member = container_of(entry, struct member, entry);

    member->visits++;
    ++*(unsigned *)info;
}

static unsigned count_in(const struct address_tree *tree, const char *prefix, unsigned length)
{
    const struct address_prefix all = { make(prefix), (uint8_t)length };
    unsigned count = 0;

    reach_address_tree_visit(tree, &all, count_visit, &count);
    return count;
}

TEST(an_empty_tree_visits_nothing)
{
    const struct address_tree tree = { NULL };

    assert_int_equal(count_in(&tree, "0.0.0.0", 0), 0);
    assert_int_equal(count_in(&tree, "::", 128), 0);
}

TEST(a_prefix_visits_the_addresses_in_it)
{
    static const char *const addresses[] = { "10.0.0.1", "10.0.0.1",  "10.0.0.2",        "10.0.1.0",
                                             "0.0.0.0",  "127.0.0.1", "255.255.255.255", "::",
                                             "::1",      "fe80::1",   "a00:1::" };
    static const struct {
        const char *prefix;
        unsigned length, count;
    } rows[] = {
        { "10.0.0.0", 24, 3 }, { "10.0.0.0", 23, 4 }, { "10.0.0.1", 32, 2 },
        { "10.0.0.3", 32, 0 }, { "0.0.0.0", 0, 7 },   { "0.0.0.0", 1, 6 },
        { "128.0.0.0", 1, 1 }, { "0.0.0.0", 32, 1 },  { "::", 0, 4 },
        { "::", 64, 2 },       { "::1", 128, 1 },     { "fe80::", 10, 1 },
        { "fe80::2", 128, 0 }, { "a00:1::", 32, 1 },  { "255.255.255.255", 32, 1 },
        { "10.0.0.1", 33, 0 },
    };
    struct member members[sizeof addresses / sizeof addresses[0]] = { 0 };
    struct address_tree tree = { NULL };

    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        members[i].entry.address = make(addresses[i]);
        reach_address_tree_add(&tree, &members[i].entry);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (count_in(&tree, rows[i].prefix, rows[i].length) != rows[i].count)
            fail_msg("%s/%u: %u", rows[i].prefix, rows[i].length, count_in(&tree, rows[i].prefix, rows[i].length));
}

static void expect_visits_of_list(const struct address_tree *tree, struct member *members)
{
    struct address_prefix prefix = { .address = make_random() };
    unsigned count = 0;

    prefix.length = (uint8_t)((unsigned)random() % ((unsigned)address_length(&prefix.address) * 8 + 1));
    for (size_t i = 0; i < ENTRIES; i++)
        members[i].visits = 0;
    reach_address_tree_visit(tree, &prefix, count_visit, &count);
    for (size_t i = 0; i < ENTRIES; i++)
        assert_int_equal(members[i].visits,
                         members[i].added &&
                             reach_address_in_prefix(&members[i].entry.address, &prefix.address, prefix.length));
}

TEST(an_empty_tree_has_no_covering_prefix)
{
    const struct address_tree tree = { NULL };
    struct address_prefix prefixes[ADDRESS_TREE_PREFIXES];

    assert_int_equal(reach_address_tree_cover(&tree, prefixes), 0);
}

TEST(few_addresses_are_covered_by_themselves)
{
    static const char *const addresses[] = { "10.0.0.1", "10.0.0.2", "::1", "10.0.0.1" };
    struct member members[4] = { 0 };
    struct address_tree tree = { NULL };
    struct address_prefix prefixes[ADDRESS_TREE_PREFIXES];

    for (size_t i = 0; i < 4; i++) {
        members[i].entry.address = make(addresses[i]);
        reach_address_tree_add(&tree, &members[i].entry);
    }
    assert_int_equal(reach_address_tree_cover(&tree, prefixes), 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(prefixes[i].length, address_length(&prefixes[i].address) * 8);
}

TEST(many_addresses_of_both_families_are_covered_by_few_prefixes)
{
    struct member *members = calloc(ENTRIES, sizeof *members);
    struct address_tree tree = { NULL };
    struct address_prefix prefixes[ADDRESS_TREE_PREFIXES];
    unsigned others = 0;

    for (unsigned i = 0; i < ENTRIES; i++) {
        const uint8_t bytes[16] = { i % 2 != 0 ? 10 : 0x20, (uint8_t)(i / 16), 0, (uint8_t)(i % 16) };

        members[i].entry.address = i % 2 != 0 ? address_make(AF_INET, bytes, 4) : address_make(AF_INET6, bytes, 16);
        reach_address_tree_add(&tree, &members[i].entry);
    }
    size_t count = reach_address_tree_cover(&tree, prefixes);
    assert_int_equal(count, ADDRESS_TREE_PREFIXES);
    for (size_t i = 0; i < count; i++)
        reach_address_tree_visit(&tree, &prefixes[i], count_visit, &others);
    assert_int_equal(others, ENTRIES);
    for (size_t i = 0; i < ENTRIES; i++)
        assert_int_equal(members[i].visits, 1);
    free(members);
}

TEST(random_trees_visit_what_a_list_has)
{
    struct member *members = calloc(ENTRIES, sizeof *members);
    struct address_tree tree = { NULL };

    srandom(1);
    for (unsigned step = 0; step < STEPS; step++) {
        struct member *member = &members[random() % ENTRIES];

        if (member->added) {
            reach_address_tree_remove(&tree, &member->entry);
            memset(&member->entry, 0xff, sizeof member->entry); /* the tree has no link to it */
        } else {
            member->entry.address = make_random();
            reach_address_tree_add(&tree, &member->entry);
        }
        member->added = !member->added;
        if (step % 8 == 0)
            expect_visits_of_list(&tree, members);
    }
    for (size_t i = 0; i < ENTRIES; i++)
        if (members[i].added)
            reach_address_tree_remove(&tree, &members[i].entry);
    assert_null(tree.root);
    free(members);
}
