/* SPDX-License-Identifier: MIT */
/*
 * A PATRICIA tree of addresses (Morrison, 1968; Knuth 6.3). Each entry is a leaf, which has the address. Each entry is
 * also a branch, which tests one bit of the key, except for one entry, whose bit is 0. Branches test later bits than
 * the branches above them. A pointer to an entry leads to its branch if the entry's bit is later than the bit that was
 * tested last. Otherwise it leads to its leaf. The branch of an entry is always above its leaf.
 *
 * The key of an entry is the family of its address, the bits of the address, and the entry's place in memory. So no two
 * keys are equal, and those of one address are in one subtree. Bits of a key count from 1.
 */
#ifdef __linux__
#include "pure/address_tree.h"

#include <limits.h>

#define BIT_FAMILY  1u
#define BIT_ADDRESS 2u
#define BIT_PLACE   (BIT_ADDRESS + 128)

_Static_assert(BIT_PLACE + sizeof(uintptr_t) * CHAR_BIT - 1 <= UINT8_MAX, "a bit of a key has one byte");

/* A bit before BIT_PLACE. */
static bool address_bit(const struct address *address, unsigned bit)
{
    const unsigned i = bit - BIT_ADDRESS;

    return bit == BIT_FAMILY ? address->family == AF_INET6 : (address->bytes[i / 8] >> (7 - i % 8) & 1) != 0;
}

static bool key_bit(const struct address_entry *entry, unsigned bit)
{
    return bit < BIT_PLACE ? address_bit(&entry->address, bit) : ((uintptr_t)entry >> (bit - BIT_PLACE) & 1) != 0;
}

/* Returns the first bit in which the keys of two entries differ. */
static unsigned first_difference(const struct address_entry *a, const struct address_entry *b)
{
    if (a->address.family != b->address.family)
        return BIT_FAMILY;
    for (unsigned i = 0; i < address_length(&a->address); i++) {
        const unsigned difference = a->address.bytes[i] ^ b->address.bytes[i];

        if (difference != 0)
            return BIT_ADDRESS + i * 8 + ((unsigned)__builtin_clz(difference) - 24);
    }
    return BIT_PLACE + (unsigned)__builtin_ctzll((uintptr_t)a ^ (uintptr_t)b);
}

void reach_address_tree_add(struct address_tree *tree, struct address_entry *entry)
{
    struct address_entry **place = &tree->root, *leaf = tree->root;
    unsigned above = 0, bit;
    bool side;

    entry->bit = 0;
    if (tree->root == NULL) {
        tree->root = entry;
        return;
    }
    for (; leaf->bit > above; leaf = leaf->child[key_bit(entry, above)])
        above = leaf->bit;
    bit = first_difference(leaf, entry);
    above = 0;
    while ((*place)->bit > above && (*place)->bit < bit) {
        above = (*place)->bit;
        place = &(*place)->child[key_bit(entry, above)];
    }
    side = key_bit(entry, bit);
    entry->bit = (uint8_t)bit;
    entry->child[side] = entry;
    entry->child[!side] = *place;
    *place = entry;
}

/* Removes the leaf, and the branch above it, which then has one child. If that is another entry's branch, that entry
 * gets the branch of the removed one. */
void reach_address_tree_remove(struct address_tree *tree, struct address_entry *entry)
{
    struct address_entry **place = &tree->root, **place_of_branch = NULL, **place_of_last = NULL, *last;
    unsigned bit = 0;

    while ((*place)->bit > bit) {
        if (*place == entry)
            place_of_branch = place;
        place_of_last = place;
        bit = (*place)->bit;
        place = &(*place)->child[key_bit(entry, bit)];
    }
    if (place_of_last == NULL) {
        tree->root = NULL;
        return;
    }
    last = *place_of_last;
    *place_of_last = last->child[!key_bit(entry, bit)];
    if (last == entry)
        return;
    last->bit = entry->bit;
    last->child[0] = entry->child[0];
    last->child[1] = entry->child[1];
    if (place_of_branch != NULL)
        *place_of_branch = last;
}

/* The recursion is at most as deep as a key has bits. */
static void visit_subtree(struct address_entry *entry, unsigned bit,
                          void (*visit)(void *info, struct address_entry *entry), void *info)
{
    if (entry->bit <= bit) {
        visit(info, entry);
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

void reach_address_tree_visit(const struct address_tree *tree, const struct address_prefix *prefix,
                              void (*visit)(void *info, struct address_entry *entry), void *info)
{
    struct address_entry *subtree = tree->root;
    unsigned bit = 0;

    if (tree->root == NULL || prefix->length > address_length(&prefix->address) * 8)
        return;
    while (subtree->bit > bit && subtree->bit < BIT_ADDRESS + prefix->length) {
        bit = subtree->bit;
        subtree = subtree->child[address_bit(&prefix->address, bit)];
    }
    if (reach_address_in_prefix(&any_leaf(subtree, bit)->address, &prefix->address, prefix->length))
        visit_subtree(subtree, bit, visit, info);
}

/* ---- Covering prefixes ------------------------------------------------------------------------------------------ */

/* A subtree, and the bit that the branch above it tests. */
struct subtree {
    const struct address_entry *entry;
    unsigned bit;
};

/* Whether it has one address. */
static bool subtree_is_leaf(struct subtree subtree)
{
    return subtree.entry->bit <= subtree.bit || subtree.entry->bit >= BIT_PLACE;
}

size_t reach_address_tree_cover(const struct address_tree *tree, struct address_prefix ret[ADDRESS_TREE_PREFIXES])
{
    struct subtree subtrees[ADDRESS_TREE_PREFIXES];
    size_t count = 0;

    if (tree->root != NULL)
        subtrees[count++] = (struct subtree){ tree->root, 0 };
    while (count < ADDRESS_TREE_PREFIXES) {
        const struct address_entry *branch;
        size_t widest = count; /* the branch that tests the earliest bit */

        for (size_t i = 0; i < count; i++)
            if (!subtree_is_leaf(subtrees[i]) &&
                (widest == count || subtrees[i].entry->bit < subtrees[widest].entry->bit))
                widest = i;
        if (widest == count)
            break;
        branch = subtrees[widest].entry;
        subtrees[widest] = (struct subtree){ branch->child[0], branch->bit };
        subtrees[count++] = (struct subtree){ branch->child[1], branch->bit };
    }
    for (size_t i = 0; i < count; i++) { /* the prefix that the addresses of a subtree share; it has one family */
        ret[i] = (struct address_prefix){ .address = any_leaf(subtrees[i].entry, subtrees[i].bit)->address };
        ret[i].length = (uint8_t)(subtree_is_leaf(subtrees[i]) ? address_length(&ret[i].address) * 8
                                                               : subtrees[i].entry->bit - BIT_ADDRESS);
    }
    return count;
}
#endif
