/* SPDX-License-Identifier: MIT */
/* The memory of targets, and the wake-ups and queries that changes cost. `make bench` measures times. The limits are
 * today's costs. Lower a limit when a cost falls. Never raise one. */
#include <linux/fib_rules.h>
#include <malloc.h>

#include "support/crowd.h"
#include "support/idle.h"

enum { TARGETS = 1000, STORM = 1000 };

enum { IDLE_BYTES = 384, SCHEDULED_BYTES = 764, ONLY_QUERIES = 1, RULE_QUERIES = 1, DEFAULT_QUERIES = 24 };

UNIT(.setup = crowd_begin, .teardown = crowd_end)

static size_t heap(void)
{
    const struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

/* Sanitizers and valgrind have an allocator of their own. */
static void require_malloc(void)
{
    if (unit_is_under(NULL))
        SKIP("this allocator does not count");
}

static void expect_bytes(size_t before, size_t limit)
{
    assert_in_range((heap() - before) / TARGETS, 1, limit);
}

/* A first target has what all targets share: a monitor, sockets, buffers. */
static void share_first(void)
{
    crowd_route(true, "0.0.0.0/0", "192.0.2.1");
    crowd_watch(TARGETS - 1, "198.51.200.1");
    assert_int_equal(crowd_settle(), 0);
}

TEST(a_target_takes_little_memory)
{
    static SCNetworkReachabilityRef targets[TARGETS];
    char address[32];

    require_malloc();
    share_first();
    size_t before = heap();
    for (unsigned i = 0; i < TARGETS; i++) {
        snprintf(address, sizeof address, "10.0.%u.%u", i >> 8, i & 255);
        targets[i] = expect_target(address);
    }
    expect_bytes(before, IDLE_BYTES);
    for (unsigned i = 0; i < TARGETS; i++)
        SCNetworkReachabilityRelease(targets[i]);
}

TEST(a_scheduled_target_with_a_callback_takes_little_memory)
{
    require_malloc();
    share_first();
    size_t before = heap();
    crowd_watch_ipv4(TARGETS - 1);
    expect_bytes(before, SCHEDULED_BYTES);
}

TEST(released_targets_leave_no_memory_behind)
{
    size_t before;

    require_malloc();
    share_first();
    for (int i = 0; i < 2; i++) {
        before = heap();
        crowd_watch_ipv4(TARGETS / 2);
        for (unsigned j = 0; j < TARGETS / 2; j++)
            crowd_unwatch(j);
        assert_int_equal(crowd_settle(), 0);
    }
    assert_in_range(heap(), 0, before + TARGETS);
}

TEST(a_storm_of_routes_elsewhere_wakes_a_loop_of_many_targets_once)
{
    unsigned wakes = 0;
    char prefix[32];

    crowd_route(true, "0.0.0.0/0", "192.0.2.1");
    crowd_watch_ipv4(TARGETS / 2);
    for (unsigned i = 0; i < STORM; i++) {
        snprintf(prefix, sizeof prefix, "172.16.%u.0/24", i / 2 % 256);
        crowd_route(i % 2 == 0, prefix, NULL);
        if (idle_loop_is_readable(crowd.loop)) {
            wakes++;
            assert_int_equal(SCRunLoopPerform(crowd.loop, 0), 0);
        }
    }
    assert_in_range(wakes, 0, 1);
}

/* The loop's queries until it is quiet. */
static unsigned long queries(unsigned expected_calls)
{
    const unsigned long before = expect_counters_of(crowd.targets[0]).queries;

    assert_int_equal(crowd_settle(), expected_calls);
    return expect_counters_of(crowd.targets[0]).queries - before;
}

TEST(the_only_target_costs_few_queries)
{
    crowd_route(true, "0.0.0.0/0", "192.0.2.1");
    crowd_watch_ipv4(1);
    crowd_route(false, "0.0.0.0/0", "192.0.2.1");
    assert_in_range(queries(1), 1, ONLY_QUERIES);
    crowd_route(true, "0.0.0.0/0", "192.0.2.1");
    assert_in_range(queries(1), 1, ONLY_QUERIES);
}

/* With a rule, the kernel may have another route for each. */
TEST(with_a_policy_rule_each_target_costs_few_queries)
{
    const struct writer_rule rule = {
        .prefix = "203.0.113.0/24", .priority = 10, .action = FR_ACT_TO_TBL, .table = 100
    };

    crowd_route(true, "0.0.0.0/0", "192.0.2.1");
    crowd_watch_ipv4(TARGETS / 2);
    unit_check(writer_rule(&crowd.writer, WRITER_ADD, &rule), "rule");
    (void)queries(0);
    crowd_route(false, "0.0.0.0/0", "192.0.2.1");
    assert_in_range(queries(TARGETS / 2), TARGETS / 2, TARGETS / 2 * RULE_QUERIES);
}

/* One evaluation for each slice of a round: 16, 32, 64, 128 and 256 targets. Names that wait for their first answer
 * have the same question. */
TEST(targets_on_the_default_path_cost_few_queries)
{
    crowd_route(true, "0.0.0.0/0", "192.0.2.1");
    for (unsigned i = 0; i < TARGETS / 2; i++)
        crowd_watch(i, "0.0.0.0");
    (void)queries(0);
    for (unsigned i = 0; i < 2; i++) {
        crowd_route(i % 2 != 0, "0.0.0.0/0", "192.0.2.1");
        assert_in_range(queries(TARGETS / 2), 1, DEFAULT_QUERIES);
        crowd_expect_all(i % 2 == 0 ? 0 : R);
    }
}

/* For Tests/checks/instructions, which counts what these calls take. */
TEST(the_flags_of_a_scheduled_target_are_read_often)
{
    SCNetworkReachabilityFlags flags;

    crowd_route(true, "0.0.0.0/0", "192.0.2.1");
    crowd_watch_ipv4(1);
    for (unsigned i = 0; i < 10000; i++)
        assert_true(SCNetworkReachabilityGetFlags(crowd.targets[0], &flags));
    assert_int_equal(flags, R);
}
