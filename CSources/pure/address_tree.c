/* SPDX-License-Identifier: MIT */
/*
 * A PATRICIA tree of addresses (Morrison, 1968; Knuth 6.3). Each entry is a leaf, which has the address. Each entry is
 * also a branch, which tests one bit of the key, except for one entry, whose bit is 0. Branches test later bits than
 * the branches above them. A pointer to an entry leads to its branch if the entry's bit is later than the bit that was
 * tested last. Otherwise it leads to its leaf. The branch of an entry is always above its leaf.
 *
 * The key of an address is its family, then its bits. Bits of a key count from 1.
 */
#ifdef __linux__
#include "pure/address_tree.h"

#include <limits.h>

static bool key_bit(const struct address *address, unsigned bit)
{
    const unsigned i = bit - 2;

    return bit == 1 ? address->family == AF_INET6 : (address->bytes[i / 8] >> (7 - i % 8) & 1) != 0;
}

/* Returns the first bit in which two keys differ; 0: they are equal. */
static unsigned first_difference(const struct address *a, const struct address *b)
{
    if (a->family != b->family)
        return 1;
    for (unsigned i = 0; i < address_length(a); i++) {
        const unsigned difference = a->bytes[i] ^ b->bytes[i];

        if (difference != 0)
            return 2 + i * 8 + ((unsigned)__builtin_clz(difference) - 24);
    }
    return 0;
}

/* Follows the bits of a key that are before `end`. Returns the branch there, or a leaf, and the bit tested last. */
static struct address_entry *descend_to_bit(const struct address_tree *tree, const struct address *key, unsigned end,
                                            unsigned *ret_bit)
{
    struct address_entry *entry = tree->root;
    unsigned bit = 0;

    while (entry->bit > bit && entry->bit < end) {
        bit = entry->bit;
        entry = entry->child[key_bit(key, bit)];
    }
    *ret_bit = bit;
    return entry;
}

/* Returns the only leaf that can have the key. */
static struct address_entry *leaf_of_key(const struct address_tree *tree, const struct address *key)
{
    unsigned bit;

    return descend_to_bit(tree, key, UINT_MAX, &bit);
}

static void add_branch(struct address_tree *tree, struct address_entry *entry, unsigned bit)
{
    const bool side = key_bit(&entry->address, bit);
    struct address_entry **place = &tree->root;
    unsigned above = 0;

    while ((*place)->bit > above && (*place)->bit < bit) {
        above = (*place)->bit;
        place = &(*place)->child[key_bit(&entry->address, above)];
    }
    entry->bit = (uint8_t)bit;
    entry->child[side] = entry;
    entry->child[!side] = *place;
    *place = entry;
}

void address_tree_add(struct address_tree *tree, struct address_entry *entry)
{
    struct address_entry *leaf;
    unsigned bit;

    list_init(&entry->same);
    entry->bit = 0;
    if (tree->root == NULL) {
        tree->root = entry;
        return;
    }
    leaf = leaf_of_key(tree, &entry->address);
    bit = first_difference(&leaf->address, &entry->address);
    if (bit == 0)
        list_append(&leaf->same, &entry->same);
    else
        add_branch(tree, entry, bit);
}

/* Puts `heir`, which has the same address, in the place of `entry`. */
static void replace_entry(struct address_tree *tree, const struct address_entry *entry, struct address_entry *heir)
{
    struct address_entry **place = &tree->root;
    unsigned bit = 0;

    heir->bit = entry->bit;
    heir->child[0] = entry->child[0];
    heir->child[1] = entry->child[1];
    /* Both pointers to the entry, to its branch and to its leaf, are on the way to the leaf. */
    for (;;) {
        if (*place == entry)
            *place = heir;
        if ((*place)->bit <= bit)
            return;
        bit = (*place)->bit;
        place = &(*place)->child[key_bit(&heir->address, bit)];
    }
}

/* Removes the leaf, and the branch above it, which then has one child. If that is another entry's branch, that entry
 * gets the branch of the removed one. */
static void remove_leaf(struct address_tree *tree, const struct address_entry *entry)
{
    struct address_entry **place = &tree->root, **place_of_branch = NULL, **place_of_last = NULL, *last;
    unsigned bit = 0;

    while ((*place)->bit > bit) {
        if (*place == entry)
            place_of_branch = place;
        place_of_last = place;
        bit = (*place)->bit;
        place = &(*place)->child[key_bit(&entry->address, bit)];
    }
    if (place_of_last == NULL) {
        tree->root = NULL;
        return;
    }
    last = *place_of_last;
    *place_of_last = last->child[!key_bit(&entry->address, bit)];
    if (last == entry)
        return;
    last->bit = entry->bit;
    last->child[0] = entry->child[0];
    last->child[1] = entry->child[1];
    if (place_of_branch != NULL)
        *place_of_branch = last;
}

void address_tree_remove(struct address_tree *tree, struct address_entry *entry)
{
    struct list *const same = entry->same.next;

    if (leaf_of_key(tree, &entry->address) == entry) {
        if (same == &entry->same)
            remove_leaf(tree, entry);
        else
            replace_entry(tree, entry, container_of(same, struct address_entry, same));
    }
    list_remove(&entry->same);
}

static void visit_same(struct address_entry *leaf, void (*visit)(void *info, struct address_entry *entry), void *info)
{
    visit(info, leaf);
    list_for_each(node, &leaf->same)
        visit(info, container_of(node, struct address_entry, same));
}

/* The recursion is at most as deep as a key has bits. */
static void visit_subtree(struct address_entry *entry, unsigned bit,
                          void (*visit)(void *info, struct address_entry *entry), void *info)
{
    if (entry->bit <= bit) {
        visit_same(entry, visit, info);
        return;
    }
    visit_subtree(entry->child[0], entry->bit, visit, info);
    visit_subtree(entry->child[1], entry->bit, visit, info);
}

static const struct address_entry *any_leaf(const struct address_entry *entry, unsigned bit)
{
    while (entry->bit > bit) {
        bit = entry->bit;
        entry = entry->child[0];
    }
    return entry;
}

void address_tree_visit(const struct address_tree *tree, const struct address_prefix *prefix,
                        void (*visit)(void *info, struct address_entry *entry), void *info)
{
    struct address_entry *subtree;
    unsigned bit;

    if (tree->root == NULL || prefix->length > address_length(&prefix->address) * 8)
        return;
    subtree = descend_to_bit(tree, &prefix->address, prefix->length + 2u, &bit);
    if (address_in_prefix(&any_leaf(subtree, bit)->address, &prefix->address, prefix->length))
        visit_subtree(subtree, bit, visit, info);
}

/* ---- Covering prefixes ------------------------------------------------------------------------------------------ */

/* A subtree, and the bit that the branch above it tests. */
struct subtree {
    const struct address_entry *entry;
    unsigned bit;
};

static bool subtree_is_leaf(struct subtree subtree)
{
    return subtree.entry->bit <= subtree.bit;
}

/* The prefix that the addresses of a subtree share. The subtree has one family. */
static struct address_prefix subtree_prefix(struct subtree subtree)
{
    struct address_prefix prefix = { .address = any_leaf(subtree.entry, subtree.bit)->address };

    prefix.length = (uint8_t)(subtree_is_leaf(subtree) ? address_length(&prefix.address) * 8 : subtree.entry->bit - 2u);
    return prefix;
}

/* Returns the index of the branch that tests the earliest bit; `count` if all are leaves. */
static size_t find_widest(const struct subtree *subtrees, size_t count)
{
    size_t widest = count;

    for (size_t i = 0; i < count; i++)
        if (!subtree_is_leaf(subtrees[i]) && (widest == count || subtrees[i].entry->bit < subtrees[widest].entry->bit))
            widest = i;
    return widest;
}

size_t address_tree_cover(const struct address_tree *tree, const struct address_tree *other,
                          struct address_prefix ret[ADDRESS_TREE_PREFIXES])
{
    struct subtree subtrees[ADDRESS_TREE_PREFIXES];
    size_t count = 0, widest;

    if (tree->root != NULL)
        subtrees[count++] = (struct subtree){ tree->root, 0 };
    if (other->root != NULL)
        subtrees[count++] = (struct subtree){ other->root, 0 };
    while (count < ADDRESS_TREE_PREFIXES && (widest = find_widest(subtrees, count)) < count) {
        const struct address_entry *branch = subtrees[widest].entry;

        subtrees[widest] = (struct subtree){ branch->child[0], branch->bit };
        subtrees[count++] = (struct subtree){ branch->child[1], branch->bit };
    }
    for (size_t i = 0; i < count; i++)
        ret[i] = subtree_prefix(subtrees[i]);
    return count;
}
#endif
