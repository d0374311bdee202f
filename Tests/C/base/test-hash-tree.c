/* SPDX-License-Identifier: MIT */
/* The tree of hashes: what is in it, and how many steps lead there. */
#include "base/hash_tree.h"
#include "base/list.h"
#include "base/siphash.h"
#include "support/unit.h"

#define NAMES 100000

struct entry {
    struct hash_node node;
    char name[32];
    bool is_in_tree;
};

static struct entry entries[NAMES];
static struct hash_node *root;

static void set_name(struct entry *entry, unsigned number)
{
    snprintf(entry->name, sizeof entry->name, "host-%u.example", number);
    entry->node.hash = siphash(entry->name, strlen(entry->name), siphash_process_key());
}

static void add(struct entry *entry)
{
    hash_tree_add(&root, &entry->node);
    entry->is_in_tree = true;
}

static void remove_entry(struct entry *entry)
{
    hash_tree_remove(&root, &entry->node);
    entry->is_in_tree = false;
}

static bool has_name(const struct hash_node *node, const void *name)
{
    return strcmp(container_of(node, const struct entry, node)->name, name) == 0;
}

static void expect_entry(const struct entry *entry)
{
    const struct hash_node *found = hash_tree_find(root, entry->node.hash, has_name, entry->name);

    assert_ptr_equal(found, entry->is_in_tree ? &entry->node : NULL);
}

/* Adds up the steps to all nodes. Returns how many nodes there are. */
static size_t count_steps(const struct hash_node *node, unsigned depth, size_t *steps, unsigned *deepest)
{
    size_t count = 1;

    if (node == NULL)
        return 0;
    *steps += depth;
    *deepest = depth > *deepest ? depth : *deepest;
    for (size_t i = 0; i < 4; i++)
        count += count_steps(node->children[i], depth + 1, steps, deepest);
    return count;
}

static void expect_few_steps(size_t count, double mean_limit, unsigned limit)
{
    size_t steps = 0;
    unsigned deepest = 0;

    assert_int_equal(count_steps(root, 1, &steps, &deepest), count);
    print_message("| %zu names: %.1f steps, at most %u\n", count, (double)steps / (double)count, deepest);
    assert_true((double)steps / (double)count < mean_limit);
    assert_true(deepest < limit);
}

static void begin(void)
{
    root = NULL;
    memset(entries, 0, sizeof entries);
}

TEST(a_hundred_thousand_names_are_found_in_nine_steps)
{
    const unsigned names = unit_is_under(NULL) ? NAMES / 20 : NAMES;

    for (unsigned i = 0; i < names; i++) {
        set_name(&entries[i], i);
        add(&entries[i]);
    }
    for (unsigned i = 0; i < names; i++)
        expect_entry(&entries[i]);
    expect_few_steps(names, 10, 24);
    for (unsigned i = 0; i < names; i++)
        if (i % 100 != 0)
            remove_entry(&entries[i]);
    for (unsigned i = 0; i < names; i++)
        expect_entry(&entries[i]);
    expect_few_steps(names / 100, 10, 24);
}

/* The bucket of a name in a table of 1024 buckets with FNV-1a, which has no key. */
static unsigned fnv_bucket(const char *name)
{
    uint32_t hash = 2166136261u;

    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash % 1024;
}

TEST(names_chosen_to_collide_without_a_key_do_not_collide)
{
    size_t count = 0;

    for (unsigned i = 0; count < (unit_is_under(NULL) ? 200 : 2000); i++) {
        set_name(&entries[count], i);
        if (fnv_bucket(entries[count].name) == 7)
            add(&entries[count++]);
    }
    expect_few_steps(count, 8, 20);
}

TEST(equal_hashes_are_told_apart)
{
    for (unsigned i = 0; i < 100; i++) {
        set_name(&entries[i], i);
        entries[i].node.hash = 0xfedcba9876543210;
        add(&entries[i]);
    }
    for (unsigned i = 0; i < 100; i += 3)
        remove_entry(&entries[i]);
    for (unsigned i = 0; i < 100; i++)
        expect_entry(&entries[i]);
}

TEST(random_additions_and_removals_lose_nothing)
{
    unsigned random = 1;

    for (unsigned i = 0; i < 300; i++)
        set_name(&entries[i], i);
    for (unsigned i = 0; i < 300; i += 7)
        entries[i].node.hash = entries[i / 2].node.hash;
    for (unsigned round = 0; round < 20000; round++) {
        random = random * 1103515245 + 12345;
        struct entry *entry = &entries[random / 65536 % 300];

        if (entry->is_in_tree)
            remove_entry(entry);
        else
            add(entry);
        expect_entry(entry);
    }
    for (unsigned i = 0; i < 300; i++)
        expect_entry(&entries[i]);
    for (unsigned i = 0; i < 300; i++)
        if (entries[i].is_in_tree)
            remove_entry(&entries[i]);
    assert_null(root);
}

UNIT(.setup = begin)
