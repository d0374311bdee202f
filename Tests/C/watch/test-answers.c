/* SPDX-License-Identifier: MIT */
/* Which answers a change makes stale, in which order they are queried, until when their lengths count. No kernel. */
#include "base/clock.h"
#include "route/evaluate.h"
#include "support/literal.h"
#include "support/test.h"
#include "watch/answers.h"

#define TICK (SECOND / sysconf(_SC_CLK_TCK))

static struct answers answers;
static struct path path; /* of each answer */
static uint8_t length;   /* likewise */
static bool no_memory;
static int64_t now_is;

WRAP(void *, calloc, size_t count, size_t size)
{
    return no_memory ? NULL : __real_calloc(count, size);
}

WRAP(int, clock_gettime, clockid_t clock, struct timespec *ret)
{
    (void)clock;
    ret->tv_sec = now_is / SECOND;
    ret->tv_nsec = now_is % SECOND;
    return 0;
}

static int evaluate_network(struct path_watch *watch, struct rtnetlink *rtnetlink, struct netns *netns,
                            struct round_cache *cache, const struct questions *questions, bool whole, struct path *ret)
{
    (void)watch, (void)rtnetlink, (void)netns, (void)cache, (void)questions, (void)whole, (void)ret;
    return 0;
}

static const struct path_watch_type type, network_type = { .evaluate = evaluate_network };

static void begin(void)
{
    reach_answers_init(&answers);
    path = (struct path){ .index = 1 };
    length = LENGTH_NONE;
    no_memory = false;
    now_is = 1000 * SECOND;
}

static void end(void)
{
    assert_int_equal(answers.count, 0);
    assert_int_equal(answers.every_route, 0);
    assert_null(answers.keys.root);
    reach_heap_set(&answers.timers, &answers.look, NEVER);
    assert_null(reach_heap_first(&answers.timers));
    assert_true(list_is_empty(&answers.due) && list_is_empty(&answers.failed));
    assert_false(reach_answers_are_stale(&answers, true));
}

UNIT(.setup = begin, .teardown = end)

/* Answers each watch that is due, or that a sweep has found. Returns how many. */
static unsigned answer(bool sweeps)
{
    struct path_watch *watch;
    unsigned count = 0;

    while (reach_answers_prepare(&answers, sweeps, 1) > 0) {
        watch = reach_answers_begin(&answers, sweeps);
        assert_true(reach_answers_end(&answers, watch, &path, length));
        count++;
        assert_true(count < 1000000);
    }
    return count;
}

static struct questions *questions_of(const struct question *items, size_t count)
{
    struct questions *questions = reach_questions_create(items, count, kSCNetworkReachabilityReasonNone);

    assert_non_null(questions);
    return questions;
}

static void add_items(struct path_watch *watch, const struct question *items, size_t count)
{
    *watch = (struct path_watch){ .type = &type, .questions = questions_of(items, count) };
    reach_answers_add(&answers, watch);
    answer(false);
    reach_heap_set(&answers.timers, &watch->timer, NEVER); /* of the first answer */
}

static void add(struct path_watch *watch, const char *address)
{
    add_items(watch, &(struct question){ .destination = make(address) }, 1);
}

static void add_pair(struct path_watch *watch, const char *destination, const char *local)
{
    add_items(watch, &(struct question){ .destination = make(destination), .local = make(local) }, 1);
}

static void drop(struct path_watch *watch)
{
    reach_answers_remove(&answers, watch);
    reach_questions_release(watch->questions);
}

static struct route message(uint32_t table, const char *address, uint8_t prefix_length)
{
    const struct address destination = make(address);

    return (struct route){
        .family = destination.family, .prefix_length = prefix_length, .table = table, .destination = destination
    };
}

/* Returns how many are stale after a message about a route of "main". */
static unsigned note_route(const char *address, uint8_t prefix_length)
{
    const struct route route = message(RT_TABLE_MAIN, address, prefix_length);
    const bool found = reach_answers_mark_route(&answers, &route);
    const unsigned count = answer(false);

    assert_true(found || count == 0);
    return count;
}

/* ---- Keys ------------------------------------------------------------------------------------------------------- */

TEST(an_address_depends_on_the_routes_to_it)
{
    struct path_watch watch;

    add(&watch, "198.51.100.7");
    assert_int_equal(note_route("0.0.0.0", 0), 1);
    assert_int_equal(note_route("198.51.100.0", 24), 1);
    assert_int_equal(note_route("198.51.100.7", 32), 1);
    assert_int_equal(note_route("198.51.100.8", 32), 0);
    assert_int_equal(note_route("::", 0), 0);
    drop(&watch);
}

TEST(a_pair_depends_on_the_routes_to_both_addresses)
{
    struct path_watch watch;

    add_pair(&watch, "198.51.100.7", "192.0.2.2");
    assert_int_equal(note_route("198.51.100.0", 24), 1);
    assert_int_equal(note_route("192.0.2.0", 24), 1);
    assert_int_equal(note_route("203.0.113.0", 24), 0);
    drop(&watch);
}

TEST(the_default_path_depends_on_the_default_routes_of_both_families)
{
    struct path_watch watch;

    add_pair(&watch, NULL, NULL);
    assert_int_equal(note_route("0.0.0.0", 0), 1);
    assert_int_equal(note_route("::", 0), 1);
    assert_int_equal(note_route("0.0.0.0", 1), 1);
    assert_int_equal(note_route("128.0.0.0", 1), 1);
    assert_int_equal(note_route("8000::", 1), 1);
    assert_int_equal(note_route("10.0.0.0", 8), 0);
    assert_int_equal(note_route("fd00::", 8), 0);
    drop(&watch);
}

TEST(several_questions_depend_on_the_routes_to_each_address)
{
    const struct question items[2] = { { .destination = make("192.0.2.1") }, { .destination = make("2001:db8::1") } };
    struct path_watch watch;

    add_items(&watch, items, 2);
    assert_int_equal(note_route("192.0.2.0", 24), 1);
    assert_int_equal(note_route("2001:db8::", 64), 1);
    assert_int_equal(note_route("0.0.0.0", 0), 1);
    assert_int_equal(note_route("::", 0), 1);
    assert_int_equal(note_route("198.51.100.0", 24), 0);
    drop(&watch);
}

TEST(a_tunnel_depends_on_the_routes_to_its_other_end)
{
    struct path_watch watch;

    path.dependencies.outer = make("203.0.113.9");
    add(&watch, "198.51.100.7");
    assert_int_equal(note_route("203.0.113.0", 24), 1);
    assert_int_equal(note_route("198.51.100.0", 24), 1);
    path.dependencies.outer = make("203.0.114.9");
    assert_int_equal(note_route("203.0.113.0", 24), 1);
    assert_int_equal(note_route("203.0.113.0", 24), 0);
    assert_int_equal(note_route("203.0.114.0", 24), 1);
    path.dependencies.outer = (struct address){ 0 };
    assert_int_equal(note_route("198.51.100.0", 24), 1);
    assert_int_equal(note_route("203.0.114.0", 24), 0);
    drop(&watch);
}

TEST(a_path_that_depends_on_any_route_does_so_until_it_is_another_path)
{
    struct path_watch watch, other;

    add(&other, "198.51.100.8");
    path.dependencies.any_route = true;
    add(&watch, "198.51.100.7");
    assert_int_equal(note_route("203.0.113.0", 24), 1);
    path.dependencies.any_route = false;
    assert_int_equal(note_route("203.0.113.0", 24), 1);
    assert_int_equal(note_route("203.0.113.0", 24), 0);
    drop(&watch);
    drop(&other);
}

TEST(other_questions_depend_on_their_own_addresses)
{
    const struct question items[2] = { { .destination = make("192.0.2.1") }, { .destination = make("192.0.2.2") } };
    struct path_watch watch;

    add_items(&watch, items, 2);
    struct questions *before = watch.questions;
    watch.questions = reach_questions_create(&(struct question){ .destination = make("203.0.113.1") }, 1,
                                             kSCNetworkReachabilityReasonNone);
    reach_answers_set_questions(&answers, &watch);
    reach_questions_release(before);
    assert_int_equal(answer(false), 1);
    assert_int_equal(note_route("192.0.2.0", 24), 0);
    assert_int_equal(note_route("203.0.113.0", 24), 1);
    drop(&watch);
}

TEST(without_memory_for_its_addresses_a_watch_depends_on_any_route)
{
    struct path_watch pair, other;

    length = 0;
    add(&other, "203.0.113.1");
    no_memory = true;
    pair = (struct path_watch){ .type = &type };
    no_memory = false;
    pair.questions = reach_questions_create(
        &(struct question){ .destination = make("192.0.2.1"), .local = make("192.0.2.9") }, 1,
        kSCNetworkReachabilityReasonNone);
    no_memory = true;
    reach_answers_add(&answers, &pair);
    assert_int_equal(answer(false), 1);
    assert_int_equal(note_route("198.51.100.0", 24), 1);
    assert_int_equal(reach_answers_length(&answers, &pair), LENGTH_NONE); /* no message would forget it */
    no_memory = false;
    assert_int_equal(note_route("198.51.100.0", 24), 1);
    assert_int_equal(note_route("198.51.100.0", 24), 0);
    drop(&pair);
    drop(&other);
}

/* The filter is opened before a query if `additions` has grown. */
TEST(the_filter_must_be_opened_for_new_addresses_only)
{
    struct path_watch watch, pair;
    unsigned long additions = answers.additions;

    add(&watch, "198.51.100.7");
    assert_int_equal(answers.additions, additions + 1);
    assert_int_equal(note_route("198.51.100.0", 24), 1);
    assert_int_equal(answers.additions, additions + 1);
    add_pair(&pair, "198.51.100.7", "192.0.2.2");
    assert_int_equal(answers.additions, additions + 3);
    drop(&watch);
    assert_int_equal(answers.additions, additions + 3);
    drop(&pair);
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

static unsigned note_link(uint32_t index)
{
    reach_answers_mark_link(&answers, index);
    return answer(false);
}

TEST(a_link_affects_the_answers_over_it)
{
    struct path_watch watches[3];
    const char *const addresses[] = { "192.0.2.1", "2001:db8::1", "192.0.2.2" };

    for (uint32_t i = 0; i < 3; i++) {
        path.index = i < 2 ? 3 : 4;
        add(&watches[i], addresses[i]);
    }
    path.index = 3;
    assert_int_equal(note_link(3), 2);
    assert_int_equal(note_link(4), 1); /* which is over link 3 now */
    assert_int_equal(note_link(4), 0);
    assert_int_equal(note_link(3), 3);
    for (size_t i = 0; i < 3; i++)
        drop(&watches[i]);
}

/* Lists are by the number modulo 32. */
TEST(a_link_with_a_number_that_is_32_higher_affects_no_answer)
{
    struct path_watch watches[2];

    path.index = 3;
    add(&watches[0], "192.0.2.1");
    assert_int_equal(note_link(35), 0);
    path.index = 35;
    add(&watches[1], "192.0.2.2");
    assert_in_range(note_link(35), 1, 2);
    path.index = 3;
    assert_in_range(note_link(35), 1, 2);
    assert_int_equal(note_link(3), 2);
    drop(&watches[0]);
    drop(&watches[1]);
}

TEST(the_answers_of_200_links_are_found)
{
    static struct path_watch watches[200];

    for (uint32_t i = 0; i < 200; i++) {
        path.index = 1 + i;
        add(&watches[i], "192.0.2.1");
    }
    for (uint32_t i = 0; i < 200; i++) {
        reach_answers_mark_link(&answers, 1 + i);
        reach_answers_mark_link(&answers, 1 + i);
        assert_true(reach_answers_prepare(&answers, false, 8) >= 1);
        bool found = false;
        for (struct path_watch *watch; reach_answers_prepare(&answers, false, 1) > 0;) {
            watch = reach_answers_begin(&answers, true);
            path.index = 1 + (uint32_t)(watch - watches);
            found = found || watch == &watches[i];
            assert_true(reach_answers_end(&answers, watch, &path, length));
        }
        assert_true(found);
    }
    for (uint32_t i = 0; i < 200; i++)
        drop(&watches[i]);
}

TEST(a_neighbour_affects_the_watch_of_its_address_if_the_path_has_a_gateway)
{
    const struct address address = make("2001:db8::1");
    struct path_watch watch;

    add(&watch, "2001:db8::1");
    reach_answers_mark_neighbour(&answers, &address);
    assert_int_equal(answer(false), 0);
    path.gateway = make("fe80::1");
    length = 0;
    reach_answers_mark(&answers, &watch);
    assert_int_equal(answer(false), 1);
    assert_int_equal(reach_answers_length(&answers, &watch), 0);
    reach_answers_mark_neighbour(&answers, &address);
    assert_int_equal(reach_answers_length(&answers, &watch), LENGTH_NONE);
    assert_int_equal(answer(false), 1);
    drop(&watch);
}

/* ---- Queries ---------------------------------------------------------------------------------------------------- */

TEST(what_is_marked_during_its_query_is_queried_again)
{
    struct path_watch watch;

    add(&watch, "192.0.2.1");
    reach_answers_mark(&answers, &watch);
    for (int i = 0; i < 2; i++) {
        const struct route route = message(RT_TABLE_MAIN, "192.0.2.0", 24);

        assert_ptr_equal(reach_answers_begin(&answers, true), &watch);
        if (i == 0)
            assert_true(reach_answers_mark_route(&answers, &route));
        assert_true(reach_answers_end(&answers, &watch, &path, 0));
        assert_int_equal(reach_answers_length(&answers, &watch), i == 0 ? LENGTH_NONE : 0);
    }
    assert_int_equal(answer(false), 0);
    drop(&watch);
}

TEST(a_list_that_is_marked_during_a_query_makes_its_answer_stale)
{
    struct path_watch watch, other;

    add(&watch, "192.0.2.1");
    add(&other, "192.0.2.2");
    reach_answers_mark(&answers, &watch);
    assert_ptr_equal(reach_answers_begin(&answers, true), &watch);
    reach_answers_mark_link(&answers, 1);
    assert_true(reach_answers_end(&answers, &watch, &path, 0));
    assert_int_equal(answer(false), 2);
    drop(&watch);
    drop(&other);
}

TEST(an_answer_does_not_count_if_the_watch_is_removed_meanwhile)
{
    struct path_watch watch;

    add(&watch, "192.0.2.1");
    reach_answers_mark(&answers, &watch);
    assert_ptr_equal(reach_answers_begin(&answers, true), &watch);
    drop(&watch);
    assert_false(reach_answers_end(&answers, &watch, &path, 0));
}

TEST(a_watch_that_is_due_keeps_its_place)
{
    struct path_watch watches[3];

    for (size_t i = 0; i < 3; i++)
        add(&watches[i], "192.0.2.1");
    for (size_t i = 0; i < 3; i++)
        reach_answers_mark(&answers, &watches[i]);
    reach_answers_mark(&answers, &watches[0]);
    for (size_t i = 0; i < 3; i++) {
        assert_ptr_equal(reach_answers_begin(&answers, true), &watches[i]);
        assert_true(reach_answers_end(&answers, &watches[i], &path, 0));
    }
    for (size_t i = 0; i < 3; i++)
        drop(&watches[i]);
}

TEST(a_failed_query_is_repeated_after_a_pause)
{
    struct path_watch watch;

    add(&watch, "192.0.2.1");
    reach_answers_mark(&answers, &watch);
    assert_ptr_equal(reach_answers_begin(&answers, true), &watch);
    assert_true(reach_answers_end(&answers, &watch, NULL, 0));
    assert_int_equal(answer(true), 0);
    reach_answers_retry(&answers);
    assert_int_equal(answer(false), 1);
    reach_answers_retry(&answers);
    assert_int_equal(answer(false), 0);
    drop(&watch);
}

/* ---- Lengths ---------------------------------------------------------------------------------------------------- */

TEST(a_message_about_a_longer_prefix_or_another_table_forgets_the_length)
{
    static const struct {
        uint32_t table;
        const char *address;
        uint8_t length;
        bool forgets;
    } rows[] = { { RT_TABLE_MAIN, "192.0.2.0", 24, false },   { RT_TABLE_MAIN, "192.0.0.0", 16, false },
                 { RT_TABLE_MAIN, "0.0.0.0", 0, false },      { RT_TABLE_MAIN, "192.0.2.0", 25, true },
                 { RT_TABLE_MAIN, "192.0.2.128", 25, false }, { RT_TABLE_LOCAL, "192.0.2.0", 24, true },
                 { RT_TABLE_LOCAL, "192.0.0.0", 16, true },   { RT_TABLE_LOCAL, "0.0.0.0", 0, true },
                 { RT_TABLE_LOCAL, "::", 0, false } };
    struct path_watch watch;

    length = 24;
    add(&watch, "192.0.2.1");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct route route = message(rows[i].table, rows[i].address, rows[i].length);

        reach_answers_mark(&answers, &watch);
        assert_int_equal(answer(false), 1);
        assert_int_equal(reach_answers_length(&answers, &watch), 24);
        (void)reach_answers_mark_route(&answers, &route);
        if (reach_answers_length(&answers, &watch) != (rows[i].forgets ? LENGTH_NONE : 24))
            fail_msg("%s/%u", rows[i].address, rows[i].length);
    }
    answer(false);
    drop(&watch);
}

TEST(what_can_bring_a_longer_route_breaks_the_lengths_of_a_family)
{
    struct path_watch ipv4, ipv6;

    length = 0;
    add(&ipv4, "192.0.2.1");
    add(&ipv6, "2001:db8::1");
    reach_answers_break(&answers, ANSWERS_IPV6);
    assert_int_equal(reach_answers_length(&answers, &ipv4), 0);
    assert_int_equal(reach_answers_length(&answers, &ipv6), LENGTH_NONE);
    reach_answers_mark(&answers, &ipv6);
    assert_int_equal(answer(false), 1);
    assert_int_equal(reach_answers_length(&answers, &ipv6), 0);
    reach_answers_mark_all(&answers);
    assert_int_equal(reach_answers_length(&answers, &ipv4), LENGTH_NONE);
    assert_int_equal(reach_answers_length(&answers, &ipv6), LENGTH_NONE);
    assert_int_equal(answer(false), 2);
    drop(&ipv4);
    drop(&ipv6);
}

TEST(what_breaks_lengths_during_a_query_breaks_that_of_its_answer)
{
    struct path_watch watch;

    add(&watch, "192.0.2.1");
    reach_answers_mark(&answers, &watch);
    assert_ptr_equal(reach_answers_begin(&answers, true), &watch);
    reach_answers_break(&answers, ANSWERS_IPV4);
    assert_true(reach_answers_end(&answers, &watch, &path, 0));
    assert_int_equal(reach_answers_length(&answers, &watch), LENGTH_NONE);
    drop(&watch);
}

TEST(other_questions_have_no_length)
{
    struct path_watch watch;

    length = 0;
    add_pair(&watch, "192.0.2.1", "192.0.2.9");
    assert_int_equal(reach_answers_length(&answers, &watch), 0);
    reach_answers_set_questions(&answers, &watch);
    assert_int_equal(reach_answers_length(&answers, &watch), LENGTH_NONE);
    answer(false);
    drop(&watch);
}

/* ---- Sweeps ----------------------------------------------------------------------------------------------------- */

static void add_network(struct path_watch *network)
{
    *network = (struct path_watch){ .type = &network_type };
    network->questions = questions_of(&(struct question){ .family = AF_UNSPEC }, 1);
    reach_answers_add(&answers, network);
    answer(false);
    reach_heap_set(&answers.timers, &network->timer, NEVER);
}

TEST(a_sweep_makes_all_stale_perhaps_and_network_watches_for_sure)
{
    struct path_watch watch, network;

    add(&watch, "192.0.2.1");
    add_network(&network);
    reach_answers_sweep(&answers);
    assert_int_equal(answer(false), 1);
    assert_true(reach_answers_are_stale(&answers, true));
    assert_int_equal(answer(true), 2);
    assert_false(reach_answers_are_stale(&answers, true));
    reach_heap_set(&answers.timers, &network.timer, NEVER);
    drop(&watch);
    drop(&network);
}

/* Returns whether the next query of a network watch is whole, and answers it. */
static bool next_is_whole(bool sweeps)
{
    assert_int_equal(reach_answers_prepare(&answers, sweeps, 1), 1);
    struct path_watch *watch = reach_answers_begin(&answers, sweeps);
    assert_true(reach_answers_end(&answers, watch, &path, LENGTH_NONE));
    return answers.is_whole;
}

TEST(a_network_is_queried_whole_once_in_a_sweep)
{
    struct path_watch network;

    add_network(&network);
    reach_answers_mark_link(&answers, path.index);
    reach_answers_sweep(&answers);
    assert_false(next_is_whole(false));
    assert_true(next_is_whole(true));
    assert_false(reach_answers_are_stale(&answers, true));
    drop(&network);
}

TEST(a_network_is_queried_whole_at_once_after_what_names_no_link)
{
    const struct route route = message(RT_TABLE_MAIN, "0.0.0.0", 0);
    struct path_watch network;

    add_network(&network);
    assert_true(reach_answers_mark_route(&answers, &route));
    assert_true(next_is_whole(false));
    reach_answers_mark_all(&answers);
    assert_true(next_is_whole(false));
    reach_answers_mark(&answers, &network);
    assert_true(next_is_whole(false));
    reach_answers_sweep(&answers);
    assert_false(next_is_whole(false));
    drop(&network);
}

TEST(a_network_that_is_marked_during_a_whole_query_is_queried_whole_again)
{
    struct path_watch network;

    add_network(&network);
    reach_answers_mark(&answers, &network);
    assert_ptr_equal(reach_answers_begin(&answers, false), &network);
    reach_answers_mark(&answers, &network);
    assert_true(reach_answers_end(&answers, &network, &path, LENGTH_NONE));
    assert_true(next_is_whole(false));
    drop(&network);
}

TEST(messages_do_not_put_off_the_whole_query_for_the_network)
{
    struct path_watch network, watch;

    add_network(&network);
    reach_answers_mark_link(&answers, 7); /* time goes on */
    add(&watch, "192.0.2.1");
    reach_answers_sweep(&answers);
    assert_false(next_is_whole(false)); /* it is the newest answer now */
    assert_int_equal(reach_answers_prepare(&answers, true, 1), 1);
    assert_ptr_equal(reach_answers_begin(&answers, true), &network);
    assert_true(reach_answers_end(&answers, &network, &path, LENGTH_NONE));
    drop(&watch);
    drop(&network);
}

TEST(what_a_query_for_the_network_left_out_stays_a_dependency)
{
    const struct route route = message(RT_TABLE_MAIN, "203.0.113.0", 24);
    struct path_watch network;

    add_network(&network);
    path.dependencies.any_route = true;
    reach_answers_mark(&answers, &network);
    assert_true(next_is_whole(false));
    path.dependencies.any_route = false;
    reach_answers_sweep(&answers);
    assert_false(next_is_whole(false));
    assert_true(reach_answers_mark_route(&answers, &route));
    assert_true(next_is_whole(false));
    assert_false(reach_answers_mark_route(&answers, &route));
    drop(&network);
}

TEST(what_was_queried_after_a_sweep_began_is_not_queried_again)
{
    struct path_watch watch, other;

    add(&watch, "192.0.2.1");
    add(&other, "198.51.100.1");
    reach_answers_sweep(&answers);
    assert_int_equal(note_route("192.0.2.0", 24), 1);
    assert_int_equal(answer(true), 1);
    drop(&watch);
    drop(&other);
}

TEST(the_oldest_answers_are_swept_first)
{
    struct path_watch watches[4];
    static const uint32_t links[] = { 5, 1, 5, 1 };

    for (size_t i = 0; i < 4; i++) {
        path.index = links[i];
        add(&watches[i], "192.0.2.1");
        reach_answers_break(&answers, ANSWERS_IPV6); /* time goes on */
    }
    reach_answers_sweep(&answers);
    assert_int_equal(reach_answers_prepare(&answers, true, 1), 1);
    assert_ptr_equal(reach_answers_begin(&answers, true), &watches[0]);
    assert_true(reach_answers_end(&answers, &watches[0], &path, 0));
    reach_answers_sweep(&answers);
    assert_int_equal(reach_answers_prepare(&answers, true, 1), 1);
    assert_ptr_equal(reach_answers_begin(&answers, true), &watches[1]);
    assert_true(reach_answers_end(&answers, &watches[1], &path, 0));
    answer(true);
    for (size_t i = 0; i < 4; i++)
        drop(&watches[i]);
}

/* ---- Ends ------------------------------------------------------------------------------------------------------- */

/* Answers the watch, with this many ticks left. Returns when it is looked at again, from now; NEVER: not at all. */
static int64_t end_after(struct path_watch *watch, uint32_t ticks, uint32_t recheck)
{
    path.dependencies.expires = ticks;
    path.dependencies.recheck = recheck;
    reach_answers_mark(&answers, watch);
    assert_int_equal(answer(false), 1);
    path.dependencies = (struct dependencies){ 0 };
    return watch->timer.deadline == NEVER ? NEVER : watch->timer.deadline - now_is;
}

static void expect_marked_at(int64_t time, unsigned marked)
{
    now_is = time;
    reach_answers_mark_ended(&answers, now_is);
    assert_int_equal(answer(false), marked);
}

TEST(an_answer_is_looked_at_when_its_route_ends)
{
    struct path_watch watch;

    add(&watch, "2001:db8::1");
    assert_int_equal(end_after(&watch, 98, 0), 100 * TICK); /* the kernel rounds down twice */
    assert_int_equal(end_after(&watch, 99, 0), 105 * TICK);
    expect_marked_at(now_is + 105 * TICK - 1, 0);
    expect_marked_at(now_is + 1, 1);
    drop(&watch);
}

/* The kernel rounds what is left of the same route to a tick. */
TEST(answers_whose_route_ends_within_50_ms_are_looked_at_together)
{
    struct path_watch first, second;

    add(&first, "2001:db8::1");
    add(&second, "2001:db8::2");
    assert_int_equal(end_after(&first, 101, 0), 105 * TICK);
    assert_int_equal(end_after(&second, 103, 0), 105 * TICK);
    expect_marked_at(now_is + 105 * TICK - 1, 0);
    expect_marked_at(now_is + 1, 2);
    drop(&first);
    drop(&second);
}

/* A router can shorten it without a message. */
TEST(an_end_is_looked_at_after_5_s)
{
    struct path_watch watch;

    add(&watch, "2001:db8::1");
    assert_in_range(end_after(&watch, 100000, 0), 4 * SECOND, 5 * SECOND);
    assert_in_range(end_after(&watch, INT32_MAX, 0), 4 * SECOND, 5 * SECOND);
    drop(&watch);
}

/* In its last tick, a route seems not to end. */
TEST(an_end_that_is_gone_is_looked_at_once_more)
{
    struct path_watch watch;

    add(&watch, "2001:db8::1");
    (void)end_after(&watch, 1, 0);
    assert_in_range(end_after(&watch, 0, 0), 1, 5 * TICK);
    now_is += TICK;
    assert_in_range(end_after(&watch, 0, 0), 1, 4 * TICK);
    now_is += 5 * TICK;
    reach_answers_mark_ended(&answers, now_is);
    assert_true(end_after(&watch, 0, 0) == NEVER);
    drop(&watch);
}

/* ---- Routes that return ----------------------------------------------------------------------------------------- */

/* Lets time pass until no sweep is planned. Returns how many began, each 5 s after the one before. */
static unsigned count_sweeps(void)
{
    unsigned count = 0;

    for (; answers.look.deadline != NEVER && count < 100; count++) {
        assert_in_range(answers.look.deadline - now_is, 4 * SECOND, 5 * SECOND);
        now_is = answers.look.deadline;
        reach_answers_mark_ended(&answers, now_is);
        if (reach_answers_are_stale(&answers, true) && answer(true) == 0)
            break;
    }
    return count;
}

static void change_nothing(struct path_watch *watch)
{
    (void)watch;
}

static void note_longer_route(struct path_watch *watch)
{
    (void)watch;
    assert_int_equal(note_route("2001:db8::", 64), 1);
}

static void note_other_route(struct path_watch *watch)
{
    (void)watch;
    assert_int_equal(note_route("2001:db9::", 64), 0);
}

static void break_ipv6(struct path_watch *watch)
{
    reach_answers_break(&answers, ANSWERS_IPV6);
    reach_answers_mark(&answers, watch);
    assert_int_equal(answer(false), 1);
}

static void break_ipv4(struct path_watch *watch)
{
    reach_answers_break(&answers, ANSWERS_IPV4);
    reach_answers_mark(&answers, watch);
    assert_int_equal(answer(false), 1);
}

static void ask_anew(struct path_watch *watch)
{
    reach_answers_set_questions(&answers, watch);
    assert_int_equal(answer(false), 1);
}

static void end_route(struct path_watch *watch)
{
    (void)end_after(watch, 0, 0);
}

/* A router has given the route an end. */
static void end_advertised_route(struct path_watch *watch)
{
    (void)end_after(watch, 0, 5);
    assert_int_equal(answers.look.deadline == NEVER, true);
    (void)end_after(watch, 0, 0);
}

static void end_longer_route(struct path_watch *watch)
{
    length = 64;
    (void)end_after(watch, 100000, 0);
    assert_int_equal(answers.look.deadline == NEVER, true);
    length = 0;
    (void)end_after(watch, 100000, 0);
}

static const struct return_row {
    const char *name;
    void (*change)(struct path_watch *watch);
    uint32_t ticks; /* before: until the route ends */
    unsigned sweeps;
} return_rows[] = { { "nothing", change_nothing, 100000, 0 },
                    { "a_route_changes", note_longer_route, 0, 12 },
                    { "a_route_to_others_changes", note_other_route, 0, 0 },
                    { "much_of_ipv6_changes", break_ipv6, 0, 12 },
                    { "ipv4_changes", break_ipv4, 0, 0 },
                    { "there_are_other_questions", ask_anew, 0, 12 },
                    { "a_route_has_ended", end_route, 100000, 12 },
                    { "an_advertised_route_has_ended", end_advertised_route, 0, 12 },
                    { "a_longer_route_has_ended", end_longer_route, 100000, 12 } };

TEST_EACH(a_route_may_return_within_a_minute_after, return_rows)
{
    struct path_watch watch;

    add(&watch, "2001:db8::1");
    assert_int_equal(count_sweeps(), 12); /* it is new */
    if (row->ticks != 0)
        (void)end_after(&watch, row->ticks, 0);
    row->change(&watch);
    assert_int_equal(count_sweeps(), row->sweeps);
    drop(&watch);
}

/* So no watch gets a copy of the path by a shorter one. */
TEST(a_route_that_returns_can_be_longer)
{
    struct path_watch watch;

    length = 0;
    add(&watch, "2001:db8::1");
    assert_int_equal(reach_answers_length(&answers, &watch), 0);
    now_is = answers.look.deadline;
    reach_answers_mark_ended(&answers, now_is);
    assert_int_equal(reach_answers_length(&answers, &watch), LENGTH_NONE);
    answer(true);
    drop(&watch);
}

TEST(among_ipv4_answers_no_route_returns)
{
    struct path_watch watch;

    add(&watch, "192.0.2.1");
    reach_answers_break(&answers, ANSWERS_IPV6);
    reach_answers_mark(&answers, &watch);
    assert_int_equal(answer(false), 1);
    assert_true(answers.look.deadline == NEVER);
    drop(&watch);
}

/* ---- First answers ---------------------------------------------------------------------------------------------- */

/* It can be in its last tick when it is first seen. */
TEST(the_first_ipv6_answer_is_looked_at_once_more)
{
    static const char *const addresses[] = { "192.0.2.1", "2001:db8::1" };

    for (size_t i = 0; i < 2; i++) {
        const struct question question = { .destination = make(addresses[i]) };
        struct path_watch watch = { .type = &type, .questions = questions_of(&question, 1) };

        reach_answers_add(&answers, &watch);
        assert_int_equal(answer(false), 1);
        assert_int_equal(watch.timer.deadline == NEVER ? 0 : watch.timer.deadline - now_is, i == 0 ? 0 : 5 * TICK);
        drop(&watch);
    }
}

TEST(what_nothing_announces_is_looked_at_after_some_seconds)
{
    struct path_watch watch;

    add(&watch, "192.0.2.1");
    assert_in_range(end_after(&watch, 0, 30), 29 * SECOND, 30 * SECOND);
    assert_in_range(end_after(&watch, 10000, 30), 4 * SECOND, 5 * SECOND);
    assert_in_range(end_after(&watch, 10000, 2), 1 * SECOND, 2 * SECOND);
    assert_true(end_after(&watch, 98, 30) == 100 * TICK);
    drop(&watch);
}

/* ---- Random ----------------------------------------------------------------------------------------------------- */

enum { WATCHES = 40, STEPS = 1000 };

static struct address random_address_or_none(void)
{
    return random() % 4 != 0 ? make_random() : (struct address){ 0 };
}

static void add_at_random(struct path_watch *watch)
{
    struct question questions[4] = { 0 };
    const size_t count = 1 + (size_t)random() % 4;

    for (size_t i = 0; i < count; i++) {
        questions[i].destination = random_address_or_none();
        if (random() % 4 == 0)
            questions[i].local = make_random();
        if (questions[i].destination.family != AF_UNSPEC &&
            questions[i].local.family != questions[i].destination.family)
            questions[i].local = (struct address){ 0 };
    }
    path.dependencies.outer = random_address_or_none();
    path.dependencies.any_route = random() % 50 == 0;
    add_items(watch, questions, count);
    path.dependencies = (struct dependencies){ 0 };
}

static bool route_has(const struct route *route, const struct address *address)
{
    const struct address_prefix prefix = reach_route_prefix(route);

    return reach_address_in_prefix(address, &prefix.address, prefix.length);
}

static bool route_has_default_path(const struct route *route)
{
    for (size_t i = 0; i < DEFAULT_PATH_SAMPLES; i++)
        if (route_has(route, reach_default_path_sample(i)))
            return true;
    return false;
}

static struct address outer_of(const struct path_watch *watch)
{
    return watch->has_outer ? watch->keys[watch->key_count - 1].address.address : (struct address){ 0 };
}

static bool is_affected(const struct route *route, const struct path_watch *watch)
{
    const struct address outer = outer_of(watch);
    bool affected = watch->every_route || route_has(route, &outer);

    for (size_t i = 0; i < watch->questions->count; i++) {
        const struct question *question = &watch->questions->items[i];

        affected = affected || route_has(route, &question->local) || route_has(route, &question->destination) ||
                   (question->destination.family == AF_UNSPEC && route_has_default_path(route));
    }
    return affected;
}

/* Each answer has the same dependencies as before. Others may be stale, too. */
static void expect_marks(struct path_watch *watches, const bool *exists)
{
    struct route route = { .table = RT_TABLE_MAIN, .destination = make_random() };
    bool queried[WATCHES] = { false };

    route.family = route.destination.family;
    route.prefix_length = (uint8_t)((unsigned)random() % ((unsigned)address_length(&route.destination) * 8 + 1));
    (void)reach_answers_mark_route(&answers, &route);
    while (reach_answers_prepare(&answers, false, 1) > 0) {
        struct path_watch *watch = reach_answers_begin(&answers, true);

        queried[watch - watches] = true;
        path.dependencies.outer = outer_of(watch);
        path.dependencies.any_route = watch->every_route;
        assert_true(reach_answers_end(&answers, watch, &path, 0));
    }
    for (size_t i = 0; i < WATCHES; i++)
        if (exists[i] && is_affected(&route, &watches[i]))
            assert_true(queried[i]);
    path.dependencies = (struct dependencies){ 0 };
}

TEST(random_watches_are_stale_when_a_route_affects_them)
{
    static struct path_watch watches[WATCHES];
    bool exists[WATCHES] = { false };

    srandom(1);
    for (unsigned step = 0; step < STEPS; step++) {
        const size_t i = (size_t)random() % WATCHES;

        if (exists[i])
            drop(&watches[i]);
        exists[i] = random() % 3 != 0;
        if (exists[i])
            add_at_random(&watches[i]);
        expect_marks(watches, exists);
    }
    for (size_t i = 0; i < WATCHES; i++)
        if (exists[i])
            drop(&watches[i]);
}
