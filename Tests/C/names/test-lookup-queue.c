/* SPDX-License-Identifier: MIT */
/* Which look-up may start, and which is next. Here no look-up is made and no thread starts: the test says what begins,
 * and when it ends. */
#include <search.h>

#include "names/lookup_queue.h"
#include "support/limits.h"
#include "support/unit.h"

static struct lookup_queue queue;
static struct lookup_turn turns[20000];
static unsigned turns_used;

static void begin(void)
{
    reach_lookup_queue_init(&queue);
    turns_used = 0;
}

static void end(void)
{
    tdestroy(queue.accounts, free);
}

static struct lookup_turn *add_name(const char *name, bool is_first, bool is_doubted)
{
    struct lookup_turn *turn = &turns[turns_used++];

    *turn = (struct lookup_turn){ .is_first = is_first };
    assert_int_equal(reach_lookup_queue_add(&queue, turn, NULL, name, is_doubted), 0);
    return turn;
}

static struct lookup_turn *add(unsigned number, bool is_first)
{
    char name[64];

    snprintf(name, sizeof name, "host.domain-%u.example", number);
    return add_name(name, is_first, false);
}

static void add_many(unsigned number, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        (void)add(number, true);
}

static struct lookup_turn *started[LOOKUP_LIMIT];

/* Begins all that may. Returns their number. */
static unsigned begin_all(void)
{
    unsigned count = 0;

    while (count < LOOKUP_LIMIT && (started[count] = reach_lookup_queue_begin(&queue)) != NULL)
        count++;
    return count;
}

TEST(the_limit_is_that_of_the_tests)
{
    assert_int_equal(LOOKUP_LIMIT, LOOKUPS);
}

TEST(an_account_takes_half_as_many_as_there_are_places_left)
{
    static const unsigned shares[] = { FIRST_SHARE, SECOND_SHARE, 19, 13, 8, 6, 4, 2, 2, 1, 1, 0 };

    for (unsigned i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        add_many(i, 200);
        assert_int_equal(begin_all(), shares[i]);
    }
}

TEST(no_more_than_the_limit_begin)
{
    unsigned count = 0;

    for (unsigned i = 0; i < 500; i++) {
        add_many(i, 2);
        count += begin_all();
    }
    assert_int_equal(count, LOOKUPS);
}

TEST(a_look_up_that_ends_makes_room_for_one)
{
    assert_null(reach_lookup_queue_next(&queue));
    add_many(0, 1000);
    assert_non_null(reach_lookup_queue_next(&queue));
    assert_int_equal(begin_all(), FIRST_SHARE);
    assert_null(reach_lookup_queue_next(&queue));
    for (unsigned i = 0; i < 100; i++) {
        struct lookup_turn *next;

        reach_lookup_queue_remove(&queue, started[i % FIRST_SHARE]);
        next = reach_lookup_queue_begin(&queue);
        assert_non_null(next);
        started[i % FIRST_SHARE] = next;
        assert_null(reach_lookup_queue_begin(&queue));
    }
}

TEST(first_look_ups_begin_before_repeated_ones)
{
    struct lookup_turn *again = add(0, false), *first = add(0, true), *elsewhere = add(1, true);

    assert_ptr_equal(reach_lookup_queue_begin(&queue), first);
    assert_ptr_equal(reach_lookup_queue_begin(&queue), elsewhere);
    assert_ptr_equal(reach_lookup_queue_begin(&queue), again);
    assert_null(reach_lookup_queue_begin(&queue));
}

/* 10,000 names of a busy domain come before one name of another. */
TEST(accounts_take_turns)
{
    add_many(0, 10000);
    (void)reach_lookup_queue_begin(&queue);
    struct lookup_turn *late = add(1, true);
    (void)reach_lookup_queue_begin(&queue);
    assert_ptr_equal(reach_lookup_queue_begin(&queue), late);
    add_many(2, 10);
    for (unsigned i = 0; i < 8; i++)
        assert_string_equal(reach_lookup_queue_begin(&queue)->account->domain,
                            i % 2 == 0 ? "domain-0.example" : "domain-2.example");
}

TEST(a_cancelled_look_up_does_not_begin)
{
    struct lookup_turn *first = add(0, true), *again = add(0, false);

    struct lookup_turn *elsewhere = add(1, true);

    reach_lookup_queue_remove(&queue, first);
    assert_ptr_equal(reach_lookup_queue_begin(&queue), elsewhere); /* a first one */
    assert_ptr_equal(reach_lookup_queue_begin(&queue), again);
    assert_null(reach_lookup_queue_begin(&queue));
}

TEST(an_account_stays_while_it_is_referred_to)
{
    struct lookup_turn *turn = add(0, true), *other = add(0, true);

    assert_ptr_equal(turn->account, other->account);
    reach_lookup_queue_remove(&queue, turn);
    assert_non_null(queue.accounts);
    reach_lookup_queue_remove(&queue, other);
    assert_null(queue.accounts);
}

TEST(the_domain_is_the_account)
{
    const struct lookup_account *account = add_name("a.one.example", true, false)->account;

    assert_ptr_equal(add_name("B.ONE.Example.", true, false)->account, account);
    assert_ptr_not_equal(add_name("a.one.example", true, true)->account, account);
    assert_ptr_not_equal(add_name("one.example", true, false)->account, account);
    assert_ptr_equal(add_name("a", true, false)->account, add_name("b.", true, false)->account);
}

UNIT(.setup = begin, .teardown = end)
