/* SPDX-License-Identifier: MIT */
/* Which look-up may start, and which is next. Here no look-up is made and no thread starts: the test says what begins,
 * when it ends, and how. */
#include "base/clock.h"
#include "names/lookup_queue.h"
#include "support/unit.h"

#define HALF  (LOOKUP_LIMIT / 2)
#define QUICK (100 * MILLISECOND)
#define SLOW  (501 * MILLISECOND)

static struct lookup_queue queue;
static int64_t now;
static struct lookup_domain domains[1000];
static struct lookup_turn turns[20000];
static unsigned turns_used;

static void begin(void)
{
    lookup_queue_init(&queue);
    now = 0;
    turns_used = 0;
}

static struct lookup_domain *domain(unsigned number)
{
    return lookup_queue_domain(&queue, number * UINT64_C(0x9e3779b97f4a7c15), &domains[number]);
}

/* The domain and the number of a look-up can be told from its place in `turns`. */
static struct lookup_turn *add(unsigned number, enum lookup_kind kind)
{
    struct lookup_turn *turn = &turns[turns_used++];

    *turn = (struct lookup_turn){ .domain = domain(number), .kind = (uint8_t)kind };
    lookup_queue_add(&queue, turn);
    return turn;
}

static void add_many(unsigned number, enum lookup_kind kind, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        (void)add(number, kind);
}

/* Begins all that may, as `free` threads would. Returns their number. */
static unsigned begin_all(struct lookup_turn *ret[], unsigned free)
{
    unsigned count = 0;

    while (count < free && (ret[count] = lookup_queue_begin(&queue, now)) != NULL)
        count++;
    return count;
}

static struct lookup_turn *started[LOOKUP_LIMIT];

static void end_all(struct lookup_turn *ended[], unsigned count, bool answered)
{
    for (unsigned i = 0; i < count; i++)
        (void)lookup_queue_end(&queue, ended[i], answered, now);
}

/* A name of the domain is answered quickly. */
static void prove(unsigned number)
{
    struct lookup_turn *turn = add(number, LOOKUP_FIRST);

    assert_ptr_equal(lookup_queue_begin(&queue, now), turn);
    now += QUICK;
    (void)lookup_queue_end(&queue, turn, true, now);
}

TEST(a_silent_domain_takes_half_of_what_the_others_leave)
{
    static const unsigned shares[] = { 16, 8, 4, 2, 1, 1, 0 };

    for (unsigned i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        add_many(i, LOOKUP_FIRST, 100);
        assert_int_equal(begin_all(started, LOOKUP_LIMIT), shares[i]);
    }
    now += SLOW;
    assert_int_equal(begin_all(started, LOOKUP_LIMIT), 0);
}

TEST(names_that_failed_have_a_share_of_their_own)
{
    add_many(0, LOOKUP_DOUBTED, 100);
    assert_int_equal(begin_all(started, LOOKUP_LIMIT), 16);
    add_many(0, LOOKUP_FIRST, 100);
    assert_int_equal(begin_all(started, LOOKUP_LIMIT), 8);
}

TEST(eight_dead_names_leave_a_place_in_their_domain)
{
    add_many(0, LOOKUP_FIRST, 8);
    assert_int_equal(begin_all(started, LOOKUP_LIMIT), 8);
    now += SLOW;
    (void)add(0, LOOKUP_FIRST);
    assert_int_equal(begin_all(started, LOOKUP_LIMIT), 1);
}

TEST(doubtful_names_take_half_of_the_threads)
{
    prove(0);
    for (unsigned i = 1; i < 100; i++)
        (void)add(i, LOOKUP_FIRST);
    assert_int_equal(begin_all(started, LOOKUP_LIMIT), HALF);
    add_many(0, LOOKUP_FIRST, 8);
    assert_int_equal(begin_all(started, LOOKUP_LIMIT), 8);
}

/* 48 of them, so no doubtful one may begin. Trusted ones may. */
TEST(look_ups_that_become_slow_count_as_doubtful)
{
    for (unsigned i = 0; i < 4; i++)
        prove(i);
    for (unsigned i = 0; i < 3; i++)
        add_many(i, LOOKUP_AGAIN, 16);
    assert_int_equal(begin_all(started, LOOKUP_LIMIT), 48);
    now += SLOW;
    (void)add(4, LOOKUP_FIRST);
    assert_null(lookup_queue_begin(&queue, now));
    assert_int_equal(queue.doubtful, 48);
    (void)add(3, LOOKUP_FIRST);
    assert_int_equal(begin_all(started, LOOKUP_LIMIT), 1);
}

/* Of its names that failed, too. */
TEST(a_domain_that_was_answered_is_trusted_but_not_names_that_failed)
{
    prove(0);
    add_many(0, LOOKUP_AGAIN, 5);
    add_many(0, LOOKUP_DOUBTED, 5);
    assert_int_equal(begin_all(started, LOOKUP_LIMIT), 10);
    assert_int_equal(queue.doubtful, 5);
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(started[i]->doubtful, started[i]->kind == LOOKUP_DOUBTED);
}

TEST(a_domain_stays_trusted_while_it_has_names)
{
    struct lookup_turn *turn = add(0, LOOKUP_FIRST);

    assert_ptr_equal(lookup_queue_begin(&queue, now), turn);
    (void)lookup_queue_end(&queue, turn, true, now);
    (void)add(0, LOOKUP_FIRST);
    assert_int_equal(begin_all(started, LOOKUP_LIMIT), 1);
    assert_int_equal(queue.doubtful, 0);
    (void)lookup_queue_end(&queue, started[0], true, now);
    assert_null(lookup_queue_release(&queue, &domains[0]));
    assert_ptr_equal(lookup_queue_release(&queue, &domains[0]), &domains[0]);
    (void)add(0, LOOKUP_FIRST);
    assert_int_equal(begin_all(started, LOOKUP_LIMIT), 1);
    assert_int_equal(queue.doubtful, 1);
}

/* One after the other ends, and its thread and new ones begin the next. Returns the number of those in `ret`. */
static unsigned end_and_begin(struct lookup_turn *ended[], unsigned count, struct lookup_turn *ret[])
{
    unsigned begun = 0;

    for (unsigned i = 0; i < count; i++) {
        const unsigned under_way = count - 1 - i + begun;

        (void)lookup_queue_end(&queue, ended[i], true, now);
        begun += begin_all(ret + begun, LOOKUP_LIMIT - under_way);
    }
    return begun;
}

/* 16, 32, 64: the threads for 1000 names that take 100 ms each are there after 200 ms. */
TEST(a_living_domain_gets_all_threads_after_two_round_trips)
{
    struct lookup_turn *begun[LOOKUP_LIMIT];
    unsigned count, done = 0, rounds = 0;

    add_many(0, LOOKUP_FIRST, 1000);
    for (count = begin_all(started, LOOKUP_LIMIT); count > 0; rounds++) {
        now += QUICK;
        done += count;
        count = end_and_begin(started, count, begun);
        memcpy(started, begun, count * sizeof *begun);
    }
    assert_int_equal(done, 1000);
    assert_in_range(rounds, 17, 19);
}

TEST(a_domain_that_falls_silent_keeps_sixteen_threads)
{
    prove(0);
    add_many(0, LOOKUP_AGAIN, 1000);
    assert_int_equal(begin_all(started, LOOKUP_LIMIT), 16);
    assert_int_equal(queue.doubtful, 0);
    now += SLOW;
    assert_null(lookup_queue_begin(&queue, now));
    assert_int_equal(queue.doubtful, 16);
    (void)add(1, LOOKUP_FIRST);
    assert_int_equal(begin_all(started + 16, LOOKUP_LIMIT), 1);
    end_all(started, 17, false);
    assert_int_equal(queue.doubtful, 0);
}

TEST(a_slow_answer_proves_nothing)
{
    struct lookup_turn *turn = add(0, LOOKUP_FIRST);

    assert_ptr_equal(lookup_queue_begin(&queue, now), turn);
    now += SLOW;
    assert_true(lookup_queue_end(&queue, turn, true, now));
    turn = add(0, LOOKUP_FIRST);
    assert_ptr_equal(lookup_queue_begin(&queue, now), turn);
    assert_true(turn->doubtful);
    now += SLOW - MILLISECOND;
    assert_false(lookup_queue_end(&queue, turn, true, now));
}

TEST(first_look_ups_begin_before_repeated_ones_and_those_before_doubted_ones)
{
    static const enum lookup_kind kinds[] = { LOOKUP_DOUBTED, LOOKUP_AGAIN, LOOKUP_FIRST };

    for (unsigned i = 0; i < 3; i++) {
        for (unsigned number = 0; number < 2; number++) /* in two domains and in one */
            (void)add(i * number, kinds[i]);
    }
    assert_int_equal(begin_all(started, LOOKUP_LIMIT), 6);
    for (unsigned i = 1; i < 6; i++)
        assert_true(started[i - 1]->kind <= started[i]->kind);
}

TEST(a_waiting_look_up_can_become_a_first_one)
{
    struct lookup_turn *again = add(0, LOOKUP_AGAIN), *doubted = add(1, LOOKUP_DOUBTED);

    lookup_queue_raise(&queue, again, LOOKUP_DOUBTED); /* not worse */
    lookup_queue_raise(&queue, doubted, LOOKUP_FIRST);
    assert_ptr_equal(lookup_queue_begin(&queue, now), doubted);
    assert_ptr_equal(lookup_queue_begin(&queue, now), again);
    assert_null(lookup_queue_begin(&queue, now));
}

/* 10,000 names of a busy domain come before one name of another. */
TEST(domains_take_turns)
{
    prove(0);
    add_many(0, LOOKUP_FIRST, 10000);
    assert_int_equal(begin_all(started, 4), 4);
    struct lookup_turn *late = add(1, LOOKUP_FIRST);
    assert_ptr_equal(lookup_queue_begin(&queue, now), late);
    prove(2);
    add_many(2, LOOKUP_FIRST, 10);
    for (unsigned i = 0; i < 8; i++)
        assert_ptr_equal(lookup_queue_begin(&queue, now)->domain, &domains[i % 2 == 0 ? 0 : 2]);
}

TEST(a_cancelled_look_up_does_not_begin)
{
    struct lookup_turn *first = add(0, LOOKUP_FIRST), *again = add(0, LOOKUP_AGAIN);

    lookup_queue_remove(&queue, first);
    assert_ptr_equal(lookup_queue_begin(&queue, now), again);
    assert_null(lookup_queue_begin(&queue, now));
}

/* ---- Threads ---------------------------------------------------------------------------------------------------- */

TEST(a_thread_is_called_for_each_look_up_that_may_begin)
{
    struct lookup_domain *called[LOOKUP_LIMIT];
    unsigned count = 0;

    add_many(0, LOOKUP_FIRST, 3);
    (void)add(1, LOOKUP_FIRST);
    while (count < LOOKUP_LIMIT && (called[count] = lookup_queue_call_thread(&queue, now)) != NULL)
        count++;
    assert_int_equal(count, 4);
    add_many(0, LOOKUP_FIRST, 100);
    while (count < LOOKUP_LIMIT && (called[count] = lookup_queue_call_thread(&queue, now)) != NULL)
        count++;
    assert_int_equal(count, 17); /* 16 of one domain, as one is coming for the other */
    for (unsigned i = 0; i < count; i++) {
        lookup_queue_arrive(&queue, called[i]);
        assert_non_null(lookup_queue_begin(&queue, now));
    }
    assert_null(lookup_queue_call_thread(&queue, now));
    assert_null(lookup_queue_begin(&queue, now));
}

UNIT(.setup = begin)
