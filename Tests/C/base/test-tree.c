/* SPDX-License-Identifier: MIT */
/* The tree of keys, compared with a plain array after each of many random operations. */
#include "base/tree.h"

#include "support/unit.h"

enum { NODES = 200, ROUNDS = 5000, MANY = 100000 };

static struct tree_node *tree;

static size_t check_depth(const struct tree_node *node)
{
    size_t depths[2];

    if (node == NULL)
        return 0;
    for (size_t i = 0; i < 2; i++)
        depths[i] = check_depth(node->children[i]);
    return 1 + (depths[0] > depths[1] ? depths[0] : depths[1]);
}

static void check_nodes(struct tree_node nodes[NODES], const bool present[NODES])
{
    for (size_t i = 0; i < NODES; i++)
        assert_ptr_equal(*tree_place(&tree, nodes[i].key), present[i] ? &nodes[i] : NULL);
}

TEST(nodes_are_found_until_they_are_removed)
{
    struct tree_node nodes[NODES];
    bool present[NODES] = { false };

    tree = NULL;
    for (size_t i = 0; i < NODES; i++)
        nodes[i].key = i % 2 == 0 ? i : (uintptr_t)&nodes[i];
    srand(1);
    for (unsigned round = 0; round < ROUNDS; round++) {
        const size_t i = (size_t)rand() % NODES;

        if (present[i])
            tree_remove(&tree, &nodes[i]);
        else
            tree_add(&tree, &nodes[i]);
        present[i] = !present[i];
        check_nodes(nodes, present);
    }
}

/* Addresses of structures, and the numbers of namespaces. */
static const struct {
    const char *name;
    uint64_t first, step;
} rows[] = { { "addresses", 0x7f0000001010, 1072 }, { "numbers", UINT64_C(4) << 32 | 4026531840, 1 } };

TEST_EACH(no_branch_is_long, rows)
{
    struct tree_node *nodes = calloc(MANY, sizeof *nodes);

    tree = NULL;
    for (size_t i = 0; i < MANY; i++) {
        nodes[i].key = row->first + i * row->step;
        tree_add(&tree, &nodes[i]);
    }
    assert_in_range(check_depth(tree), 17, 40);
    free(nodes);
}
