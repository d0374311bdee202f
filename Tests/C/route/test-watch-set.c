/* SPDX-License-Identifier: MIT */
/* The set of watches: what makes them stale. No kernel. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "route/watch_steps.h"
#include "support/literal.h"
#include "support/unit.h"

static struct watch_set set;
static bool             no_memory;
static uint32_t         link_now;        /* on which an answer depends that is evaluated */
static bool             unfinished;      /* the kernel may not have finished a change when an answer is evaluated */
static bool             link_unfinished; /* a change of its link */

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return no_memory ? NULL : __real_calloc(count, size);
}

static void begin(void)
{
    watch_set_init(&set);
    unfinished = link_unfinished = false;
    link_now = LINK_INDEX_ANY;
}

static void end(void)
{
    assert_true(watch_set_is_empty(&set));
    assert_true(list_is_empty(&set.stale) && list_is_empty(&set.round) && list_is_empty(&set.failed));
    watch_set_free(&set);
}

UNIT(.setup = begin, .teardown = end)

static void add(struct path_watch *watch, const char *address)
{
    *watch = (struct path_watch){ .address = { .address = make(address) } };
    assert_int_equal(watch_set_add(&set, watch), 0);
}

static void drop(struct path_watch *watch)
{
    watch_set_remove(&set, watch);
}

/* The next watch of the round to evaluate; NULL: there is none. */
static struct path_watch *take_stale(void)
{
    bool applies;

    return watch_steps_begin(&set, &applies);
}

/* Evaluates the next watch of the round. Returns false if there is none. */
static bool evaluate_next(const struct dependencies *dependencies)
{
    struct path_watch *watch = take_stale();

    if (watch == NULL)
        return false;
    watch_set_update(&set, watch->answer,
                     &(struct evaluation){ .dependencies = dependencies,
                                           .link = link_now,
                                           .unfinished = unfinished,
                                           .link_unfinished = link_unfinished });
    watch_steps_end(&set);
    return true;
}

/* A round in which each stale watch gets these dependencies. Returns how many there were. */
static unsigned evaluate_all(const struct dependencies *dependencies)
{
    unsigned count = 0;

    watch_steps_begin_round(&set);
    while (evaluate_next(dependencies))
        count++;
    assert_false(watch_steps_end_round(&set));
    return count;
}

static struct dependencies with_lifetime(const char *gateway, uint32_t ticks)
{
    struct dependencies dependencies = { .lifetime = { .gateway = make(gateway), .oif = 2, .expires = ticks } };

    dependencies.lifetime.prefix.address.family = AF_INET6;
    return dependencies;
}

static bool is_stale(const struct path_watch *watch)
{
    return !list_is_empty(&watch->answer->stale);
}

TEST(one_watch_is_evaluated_for_all_that_share_a_lifetime)
{
    const struct dependencies first = with_lifetime("fe80::1", 1), second = with_lifetime("fe80::2", 1);
    struct path_watch         watches[3];

    for (size_t i = 0; i < 3; i++)
        add(&watches[i], "2001:db8::1");
    assert_int_equal(evaluate_all(&first), 3);
    assert_int_equal(evaluate_all(&first), 0);
    watch_set_mark_ended(&set, clock_now() + SECOND);
    assert_int_equal(evaluate_all(&first), 1);
    watch_set_mark_ended(&set, clock_now() + SECOND);
    assert_int_equal(evaluate_all(&second), 3); /* over another router: the others follow */
    for (size_t i = 0; i < 3; i++)
        drop(&watches[i]);
}

TEST(another_watch_is_evaluated_if_the_representative_is_removed)
{
    const struct dependencies dependencies = with_lifetime("fe80::1", 1);
    struct path_watch         watches[3];

    for (size_t i = 0; i < 3; i++)
        add(&watches[i], "2001:db8::1");
    assert_int_equal(evaluate_all(&dependencies), 3);
    watch_set_mark_ended(&set, clock_now() + SECOND);
    for (size_t i = 0; i < 3; i++) {
        struct path_watch *stale = NULL;

        for (size_t k = 0; k < 3; k++)
            if (watches[k].answer != NULL && is_stale(&watches[k]))
                stale = &watches[k];
        assert_non_null(stale);
        drop(stale);
    }
}

TEST(the_others_are_evaluated_if_the_representative_fails)
{
    const struct dependencies dependencies = with_lifetime("fe80::1", 1);
    struct path_watch         watches[3], *failing;

    for (size_t i = 0; i < 3; i++)
        add(&watches[i], "2001:db8::1");
    assert_int_equal(evaluate_all(&dependencies), 3);
    watch_set_mark_ended(&set, clock_now() + SECOND);
    watch_steps_begin_round(&set);
    failing = take_stale();
    watch_steps_note_failure(&set, failing->answer);
    watch_steps_end(&set);
    for (size_t i = 0; i < 2; i++)
        assert_true(evaluate_next(&dependencies));
    assert_false(evaluate_next(&dependencies));
    assert_false(watch_steps_end_round(&set));
    assert_true(is_stale(failing));
    for (size_t i = 0; i < 3; i++)
        drop(&watches[i]);
}

/* ---- Second evaluations ----------------------------------------------------------------------------------------- */

static const struct dependencies no_dependencies;

/* Makes the second evaluations that are due. Returns how many there were. */
static unsigned evaluate_again(void)
{
    watch_set_mark_unfinished(&set);
    return evaluate_all(&no_dependencies);
}

TEST(an_answer_is_evaluated_twice_after_an_unfinished_change)
{
    struct path_watch watches[2];

    for (size_t i = 0; i < 2; i++)
        add(&watches[i], "192.0.2.1");
    assert_int_equal(evaluate_all(&no_dependencies), 2);
    assert_int_equal(evaluate_again(), 0);
    unfinished = true;
    assert_true(watch_set_note_link(&set, 3, false));
    watch_set_mark_changed_links(&set);
    assert_int_equal(evaluate_all(&no_dependencies), 2);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(evaluate_again(), i == 0 ? 2 : 0);
    drop(&watches[0]);
    drop(&watches[1]);
}

/* Its first evaluation was during that change, whatever the reason was. */
TEST(a_new_answer_is_evaluated_twice_after_an_unfinished_change)
{
    struct path_watch watch;

    unfinished = true;
    add(&watch, "192.0.2.1");
    assert_int_equal(evaluate_all(&no_dependencies), 1);
    assert_int_equal(evaluate_again(), 1);
    assert_int_equal(evaluate_again(), 0);
    drop(&watch);
}

TEST(a_change_before_the_second_evaluation_causes_two_more)
{
    struct path_watch watch;

    unfinished = true;
    add(&watch, "192.0.2.1");
    assert_int_equal(evaluate_all(&no_dependencies), 1);
    watch_set_mark_unfinished(&set);
    assert_true(watch_set_note_link(&set, 3, false));
    watch_set_mark_changed_links(&set);
    assert_int_equal(evaluate_all(&no_dependencies), 1);
    assert_int_equal(evaluate_again(), 1);
    assert_int_equal(evaluate_again(), 0);
    drop(&watch);
}

/* No answer depended on that link when its message was read. */
TEST(an_answer_that_moves_to_a_changed_link_is_evaluated_again)
{
    struct path_watch watch;

    unfinished = true;
    add(&watch, "192.0.2.1");
    assert_int_equal(evaluate_all(&no_dependencies), 1);
    watch_set_mark_unfinished(&set);
    link_unfinished = true;
    link_now = 7;
    assert_int_equal(evaluate_all(&no_dependencies), 1);
    assert_int_equal(evaluate_again(), 1); /* not again: it has not moved */
    assert_int_equal(evaluate_again(), 0);
    drop(&watch);
}

TEST(paths_that_depend_on_pppd_are_stale_when_its_database_changes)
{
    const struct dependencies pppd = { .pppd = true };
    struct path_watch         watches[2];

    add(&watches[0], "192.0.2.1");
    assert_int_equal(evaluate_all(&pppd), 1);
    add(&watches[1], "192.0.2.2");
    assert_int_equal(evaluate_all(&no_dependencies), 1);
    assert_int_equal(set.pppd, 1);
    watch_set_mark_pppd(&set);
    assert_true(is_stale(&watches[0]));
    assert_false(is_stale(&watches[1]));
    assert_int_equal(evaluate_all(&no_dependencies), 1);
    assert_int_equal(set.pppd, 0);
    watch_set_mark_pppd(&set);
    assert_int_equal(evaluate_all(&pppd), 0);
    drop(&watches[0]);
    drop(&watches[1]);
    assert_int_equal(set.pppd, 0);
}

/* ---- Shared paths ----------------------------------------------------------------------------------------------- */

/* A watch that creates a shared answer, and another one that joins it. */
static struct shared_answer *share(struct path_watch *first, struct path_watch *second)
{
    const struct extent   extent = { .kind = EXTENT_ROUTE, .prefix = { make("192.0.2.0"), 24 } };
    struct shared_answer *shared;

    add(first, "192.0.2.1");
    add(second, "192.0.2.2");
    watch_steps_begin_round(&set);
    assert_ptr_equal(take_stale(), first);
    shared = watch_steps_create(&set, first, &extent);
    assert_non_null(shared);
    shared->match = extent.prefix;
    watch_steps_end(&set);
    assert_ptr_equal(take_stale(), second);
    assert_true(watch_steps_join(&set, second, &extent));
    watch_steps_end(&set);
    return shared;
}

/* Gives the path to the pending watches, at most `limit`. Returns to how many. */
static unsigned apply(unsigned limit)
{
    struct path_watch *watches[8];
    const size_t       count = watch_steps_begin_group(&set, watches, limit);

    if (count > 0)
        watch_steps_end(&set);
    return (unsigned)count;
}

TEST(a_shared_answer_knows_whether_all_its_watches_have_the_path)
{
    struct path_watch     first, second;
    struct shared_answer *shared = share(&first, &second);

    assert_false(shared->settled); /* the creator does not have it yet */
    watch_steps_apply(&set, shared, &first);
    assert_true(shared->settled);
    assert_int_equal(apply(8), 2);
    assert_true(shared->settled);
    assert_false(watch_steps_end_round(&set));
    drop(&first);
    drop(&second);
}

TEST(an_interrupted_shared_answer_is_not_settled)
{
    struct path_watch     first, second;
    struct shared_answer *shared = share(&first, &second);

    watch_steps_apply(&set, shared, &first);
    assert_int_equal(apply(1), 1);
    watch_set_mark_all(&set, false);
    watch_steps_begin_round(&set);
    assert_non_null(take_stale()); /* one of the two did not get the path */
    assert_false(shared->settled);
    watch_steps_end(&set);
    assert_false(watch_steps_end_round(&set));
    drop(&first);
    drop(&second);
}

/* In its last tick a route seems not to expire. */
TEST(a_lifetime_without_an_end_is_read_again)
{
    const struct dependencies soon = with_lifetime("fe80::1", 1000), never = with_lifetime("fe80::1", 0);
    struct path_watch         watch;

    add(&watch, "2001:db8::1");
    assert_int_equal(evaluate_all(&soon), 1);
    watch_set_mark_lifetimes(&set, false);
    assert_int_equal(evaluate_all(&never), 1);
    watch_set_mark_ended(&set, clock_now() + SECOND);
    assert_int_equal(evaluate_all(&never), 1);
    watch_set_mark_ended(&set, clock_now() + SECOND);
    assert_int_equal(evaluate_all(&never), 0);
    drop(&watch);
}

TEST(a_watch_that_becomes_stale_during_a_round_is_in_the_next)
{
    struct path_watch first, second;

    add(&first, "192.0.2.1");
    watch_steps_begin_round(&set);
    add(&second, "192.0.2.2");
    assert_ptr_equal(take_stale(), &first);
    watch_steps_note_failure(&set, first.answer);
    watch_steps_end(&set);
    assert_null(take_stale());
    assert_true(watch_steps_end_round(&set));
    assert_int_equal(evaluate_all(&(struct dependencies){ 0 }), 2);
    drop(&first);
    drop(&second);
}

TEST(a_watch_that_cannot_be_isolated_still_gets_the_path)
{
    struct extent         extent = { .kind = EXTENT_ROUTE, .prefix = { make("192.0.2.0"), 24 } };
    struct path_watch     watches[2];
    struct shared_answer *shared;

    for (size_t i = 0; i < 2; i++)
        add(&watches[i], i == 0 ? "192.0.2.1" : "192.0.2.2");
    watch_steps_begin_round(&set);
    assert_ptr_equal(take_stale(), &watches[0]);
    shared = watch_steps_create(&set, &watches[0], &extent);
    assert_non_null(shared);
    shared->match = extent.prefix;
    watch_steps_apply(&set, shared, &watches[0]);
    watch_steps_end(&set);
    assert_ptr_equal(take_stale(), &watches[1]);
    assert_true(watch_steps_join(&set, &watches[1], &extent));
    watch_steps_end(&set);
    no_memory = true;
    assert_int_equal(watch_set_isolate(&set, &watches[1]), ENOMEM);
    no_memory = false;
    assert_ptr_equal(watches[1].answer, &shared->answer);
    assert_true(is_stale(&watches[1]));
    assert_true(shared->must_check);
    for (size_t i = 0; i < 2; i++)
        drop(&watches[i]);
}
