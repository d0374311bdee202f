/* SPDX-License-Identifier: MIT */
/* The index of answers by link: who is visited after which change. No kernel. */
#include "route/link_index.h"

#include <stdlib.h>

#include "support/unit.h"

static struct link_index index_;
static bool              no_memory;
static unsigned          visits;

struct thing {
    struct link_index_member member;
    unsigned                 visits;
};

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return no_memory ? NULL : __real_malloc(size);
}

static void begin(void)
{
    link_index_init(&index_);
    no_memory = false;
    visits = 0;
}

/* Nothing is left in the index. */
static void end(void)
{
    assert_null(index_.links);
    assert_true(list_is_empty(&index_.any.members));
}

UNIT(.setup = begin, .teardown = end)

static void add(struct thing *thing, uint32_t link)
{
    *thing = (struct thing){ 0 };
    link_index_member_init(&thing->member);
    link_index_set(&index_, &thing->member, link);
}

static void drop(struct thing *thing)
{
    link_index_set(&index_, &thing->member, LINK_INDEX_NONE);
}

static void visit(void *info, struct link_index_member *member)
{
    assert_ptr_equal(info, &visits);
    container_of(member, struct thing, member)->visits++;
    visits++;
}

/* Returns how many members are visited after the changes that were noted. */
static unsigned visit_changed(void)
{
    visits = 0;
    link_index_visit_changed(&index_, visit, &visits);
    return visits;
}

static unsigned visit_any(void)
{
    visits = 0;
    link_index_visit_any(&index_, visit, &visits);
    return visits;
}

TEST(only_members_of_the_link_and_of_any_link_are_visited)
{
    struct thing first, second, any, none;

    add(&first, 1);
    add(&second, 2);
    add(&any, LINK_INDEX_ANY);
    add(&none, LINK_INDEX_NONE);
    assert_true(link_index_note_change(&index_, 2));
    assert_int_equal(visit_changed(), 2);
    assert_int_equal(first.visits, 0);
    assert_int_equal(second.visits, 1);
    assert_int_equal(any.visits, 1);
    assert_int_equal(none.visits, 0);
    drop(&any);
    drop(&first);
    drop(&second);
}

TEST(a_link_without_members_affects_nothing)
{
    struct thing first;

    assert_false(link_index_note_change(&index_, 1));
    add(&first, 1);
    assert_false(link_index_note_change(&index_, 2));
    assert_int_equal(visit_changed(), 0);
    drop(&first);
    assert_false(link_index_note_change(&index_, 1));
}

TEST(several_messages_about_a_link_are_one_change)
{
    struct thing first;

    add(&first, 1);
    for (unsigned i = 0; i < 3; i++)
        assert_true(link_index_note_change(&index_, 1));
    assert_int_equal(visit_changed(), 1);
    assert_int_equal(visit_changed(), 0);
    drop(&first);
}

TEST(members_of_any_link_are_visited_alone)
{
    struct thing first, any;

    add(&first, 1);
    add(&any, LINK_INDEX_ANY);
    assert_int_equal(visit_any(), 1);
    assert_int_equal(any.visits, 1);
    drop(&first);
    drop(&any);
}

TEST(a_member_that_moves_is_visited_with_its_new_link)
{
    struct thing first;

    add(&first, 1);
    link_index_set(&index_, &first.member, 2);
    assert_false(link_index_note_change(&index_, 1));
    assert_true(link_index_note_change(&index_, 2));
    link_index_set(&index_, &first.member, LINK_INDEX_ANY); /* the noted link has no member any more */
    assert_int_equal(visit_changed(), 0);
    assert_true(link_index_note_change(&index_, 1));
    assert_int_equal(visit_changed(), 1);
    drop(&first);
}

TEST(many_links_are_told_apart)
{
    enum { LINKS = 1000 };
    static struct thing things[LINKS];

    for (uint32_t i = 0; i < LINKS; i++)
        add(&things[i], i + 1);
    for (uint32_t i = 0; i < LINKS; i += 10) {
        assert_true(link_index_note_change(&index_, i + 1));
        assert_int_equal(visit_changed(), 1);
        assert_int_equal(things[i].visits, 1);
    }
    for (uint32_t i = 0; i < LINKS; i++)
        drop(&things[i]);
}

TEST(without_memory_a_member_depends_on_any_link)
{
    struct thing first;

    no_memory = true;
    add(&first, 1);
    assert_true(link_index_note_change(&index_, 2));
    assert_int_equal(visit_changed(), 1);
    no_memory = false;
    link_index_set(&index_, &first.member, 1);
    assert_false(link_index_note_change(&index_, 2));
    drop(&first);
}
