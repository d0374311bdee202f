/* SPDX-License-Identifier: MIT */
/* The heap of deadlines, compared with a plain array after each of many random operations. */
#include "base/heap.h"

#include "base/clock.h"
#include "support/unit.h"

#define NODES  200
#define ROUNDS 5000

static struct heap heap;
static struct heap_node nodes[NODES];

static void start(void)
{
    heap = (struct heap){ 0 };
    for (size_t i = 0; i < NODES; i++)
        reach_heap_node_init(&nodes[i]);
}

/* Checks the links and the order below a node. Returns how many nodes there are, and the length of the longest way
 * down. */
static size_t check_tree(const struct heap_node *node, const struct heap_node *parent, size_t *ret_depth)
{
    size_t depths[2], count;

    *ret_depth = 0;
    if (node == NULL)
        return 0;
    assert_ptr_equal(node->parent, parent);
    assert_true(parent == NULL || parent->deadline <= node->deadline);
    count = 1 + check_tree(node->children[0], node, &depths[0]) + check_tree(node->children[1], node, &depths[1]);
    *ret_depth = 1 + (depths[0] > depths[1] ? depths[0] : depths[1]);
    return count;
}

static void check_heap(void)
{
    int64_t nearest = NEVER;
    size_t count = 0, depth;

    for (size_t i = 0; i < NODES; i++) {
        count += nodes[i].deadline != NEVER;
        if (nodes[i].deadline < nearest)
            nearest = nodes[i].deadline;
    }
    assert_int_equal(reach_heap_nearest(&heap), nearest);
    assert_int_equal(check_tree(heap.root, NULL, &depth), count);
    assert_int_equal(heap.count, count);
    assert_true(count == 0 || (size_t)1 << (depth - 1) <= count); /* complete: no way is longer than it must be */
}

TEST(an_empty_heap_has_no_deadline)
{
    assert_null(reach_heap_first(&heap));
    assert_true(reach_heap_nearest(&heap) == NEVER);
    reach_heap_set(&heap, &nodes[0], NEVER);
    check_heap();
}

TEST(the_first_node_has_the_nearest_deadline)
{
    static const int64_t deadlines[] = { 5, 3, 8, 1, 9, 2 };

    for (size_t i = 0; i < 6; i++)
        reach_heap_set(&heap, &nodes[i], deadlines[i]);
    assert_ptr_equal(reach_heap_first(&heap), &nodes[3]);
    reach_heap_set(&heap, &nodes[3], 10); /* later */
    assert_ptr_equal(reach_heap_first(&heap), &nodes[5]);
    reach_heap_set(&heap, &nodes[4], 0); /* earlier */
    assert_ptr_equal(reach_heap_first(&heap), &nodes[4]);
    reach_heap_set(&heap, &nodes[4], NEVER);
    assert_ptr_equal(reach_heap_first(&heap), &nodes[5]);
    reach_heap_set(&heap, &nodes[4], 0); /* a removed node can be added again */
    assert_ptr_equal(reach_heap_first(&heap), &nodes[4]);
    check_heap();
}

TEST(nodes_come_in_the_order_of_their_deadlines)
{
    int64_t last = 0;

    for (size_t i = 0; i < NODES; i++)
        reach_heap_set(&heap, &nodes[i], (int64_t)(i * 7919 % NODES / 2)); /* each deadline twice */
    for (size_t left = NODES; left > 0; left--) {
        assert_true(reach_heap_nearest(&heap) >= last);
        last = reach_heap_nearest(&heap);
        reach_heap_set(&heap, reach_heap_first(&heap), NEVER);
        check_heap();
    }
    assert_null(reach_heap_first(&heap));
}

TEST(a_heap_stays_in_order_under_random_changes)
{
    unsigned seed = 1;

    for (int round = 0; round < ROUNDS; round++) {
        struct heap_node *node = &nodes[rand_r(&seed) % NODES];

        reach_heap_set(&heap, node, rand_r(&seed) % 3 == 0 ? NEVER : rand_r(&seed) % 1000);
        check_heap();
    }
}

UNIT(.setup = start)
