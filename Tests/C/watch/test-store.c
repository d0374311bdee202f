/* SPDX-License-Identifier: MIT */
/* The store: what each change makes stale, and whom an answer is for. No kernel. */
#include "base/clock.h"
#include "route/evaluate.h"
#include "support/literal.h"
#include "support/test.h"
#include "watch/store.h"

static struct store store;
static bool no_memory;

WRAP(void *, malloc, size_t size)
{
    return no_memory ? NULL : __real_malloc(size);
}

WRAP(void *, calloc, size_t count, size_t size)
{
    return no_memory ? NULL : __real_calloc(count, size);
}

static struct reply reply; /* to each query */

static void begin(void)
{
    store_init(&store);
    no_memory = false;
    reply = (struct reply){ .link = BUCKET_ANY_LINK };
}

static void end(void)
{
    assert_int_equal(store.count, 0);
    assert_null(store.routes.root);
    assert_null(store.addresses.root);
    assert_null(store.members.root);
    assert_null(store.buckets.tree);
    assert_true(list_is_empty(&store.due) && list_is_empty(&store.failed));
}

UNIT(.setup = begin, .teardown = end)

/* A watch has an address of its own, and can share. */
static void add(struct path_watch *watch, const char *address)
{
    const struct question question = { .destination = make(address) };

    *watch = (struct path_watch){ .can_share = true,
                                  .plain = true,
                                  .questions = questions_create(&question, 1, kSCNetworkReachabilityReasonNone),
                                  .key.address.address = make(address) };
    assert_int_equal(store_add(&store, watch), 0);
}

static void add_questions(struct path_watch *watch, const struct question *items, size_t count)
{
    *watch = (struct path_watch){ .questions = questions_create(items, count, kSCNetworkReachabilityReasonNone) };
    assert_non_null(watch->questions);
    assert_int_equal(store_add(&store, watch), 0);
}

static void drop(struct path_watch *watch)
{
    store_remove(&store, watch);
    questions_release(watch->questions);
}

/* Queries once. Returns the watch that is queried; NULL: nothing is due. */
static struct path_watch *query(void)
{
    struct path_watch *watch = store_begin(&store);
    struct path path;

    if (watch == NULL)
        return NULL;
    if (reply.kind != REPLY_ROUTE || !store_join(&store, &reply.prefix))
        assert_int_equal(store_answer(&store, &reply), 0);
    (void)store_give_queried(watch, &path);
    store_end(&store, false);
    return watch;
}

/* Queries until nothing is due. Returns how often. */
static unsigned query_all(void)
{
    unsigned count = 0;

    while (query() != NULL)
        count++;
    return count;
}

/* Gives all paths. Returns how many watches get one that were not queried. */
static unsigned give_all(void)
{
    struct path_watch *watches[8];
    unsigned sum = 0;
    size_t count;

    while ((count = store_give(&store, watches, 8)) > 0) {
        store_end(&store, false);
        sum += (unsigned)count;
    }
    return sum;
}

static void reply_route(const char *address, uint8_t length, uint32_t oif)
{
    reply = (struct reply){ .kind = REPLY_ROUTE, .prefix = { make(address), length }, .link = oif };
    reply.path.index = oif;
}

static struct route message(uint32_t table, const char *address, uint8_t length)
{
    const struct address destination = make(address);

    return (struct route){
        .family = destination.family, .prefix_length = length, .table = table, .destination = destination
    };
}

static bool note_route(const char *address, uint8_t length)
{
    const struct route route = message(RT_TABLE_MAIN, address, length);

    return stale_mark_route(&store, &route);
}

static bool is_due(struct path_watch *watch)
{
    return !entry_is_valid(entry_of(watch));
}

/* ---- Sharing ---------------------------------------------------------------------------------------------------- */

enum { CROWD = 20 };

static struct path_watch crowd[CROWD];

/* Twenty watches behind the default route, over link 2. */
static void add_crowd(void)
{
    char address[32];

    reply_route("0.0.0.0", 0, 2);
    for (unsigned i = 0; i < CROWD; i++) {
        snprintf(address, sizeof address, "192.0.2.%u", i);
        add(&crowd[i], address);
    }
    assert_int_equal(query_all(), CROWD);
    assert_int_equal(give_all(), 0);
    for (unsigned i = 1; i < CROWD; i++)
        assert_ptr_equal(entry_of(&crowd[i]), entry_of(&crowd[0]));
}

static void drop_crowd(void)
{
    for (unsigned i = 0; i < CROWD; i++)
        drop(&crowd[i]);
}

TEST(one_watch_is_queried_for_all_behind_a_route)
{
    add_crowd();
    assert_true(note_route("0.0.0.0", 0));
    reply_route("0.0.0.0", 0, 3);
    assert_int_equal(query_all(), 1);
    assert_int_equal(give_all(), CROWD - 1);
    assert_true(note_route("0.0.0.0", 0));
    assert_int_equal(query_all(), 1);
    assert_int_equal(give_all(), 0); /* the path is the same */
    drop_crowd();
}

TEST(the_others_share_a_refusal_and_the_next_route)
{
    add_crowd();
    for (int i = 0; i < 2; i++) {
        assert_true(note_route("0.0.0.0", 0));
        reply = (struct reply){ .kind = REPLY_REFUSED, .link = BUCKET_ANY_LINK };
        assert_int_equal(query_all(), 1);
        assert_int_equal(give_all(), CROWD - 1);
        assert_true(note_route("0.0.0.0", 0));
        reply_route("0.0.0.0", 0, 2);
        assert_int_equal(query_all(), 1);
        assert_int_equal(give_all(), CROWD - 1);
    }
    drop_crowd();
}

TEST(a_longer_route_costs_one_query_for_its_members_and_they_come_back)
{
    add_crowd();
    for (int i = 0; i < 3; i++) {
        assert_true(note_route("192.0.2.8", 29));
        reply_route("192.0.2.8", 29, 3);
        assert_int_equal(query_all(), 1);
        assert_int_equal(give_all(), 7);
        assert_true(note_route("192.0.2.8", 29));
        reply_route("0.0.0.0", 0, 2);
        assert_int_equal(query_all(), 1);
        assert_int_equal(give_all(), 7);
    }
    assert_int_equal(store.lengths[0][29], 0);
    assert_ptr_equal(entry_of(&crowd[8]), entry_of(&crowd[0]));
    drop_crowd();
}

/* The message about the longer route was not read yet. */
TEST(a_longer_route_of_the_asked_watch_says_nothing_of_the_others)
{
    add_crowd();
    assert_true(note_route("0.0.0.0", 0));
    reply_route("192.0.2.0", 32, 7);
    assert_ptr_equal(query(), &crowd[0]);
    reply_route("0.0.0.0", 0, 3);
    assert_ptr_equal(query(), &crowd[1]);
    assert_null(query());
    assert_int_equal(entry_of(&crowd[0])->length, 32);
    assert_int_equal(entry_of(&crowd[1])->route->path.index, 3);
    drop_crowd();
}

TEST(a_redirected_watch_leaves_and_the_others_stay)
{
    add_crowd();
    struct entry *shared = entry_of(&crowd[1]);
    assert_true(note_route("0.0.0.0", 0));
    reply.kind = REPLY_EXCEPTION;
    assert_ptr_equal(query(), &crowd[0]);
    reply.kind = REPLY_ROUTE;
    assert_int_equal(query_all(), 1);
    assert_ptr_equal(entry_of(&crowd[1]), shared);
    assert_int_equal(entry_of(&crowd[0])->length, ENTRY_OWN);
    assert_true(note_route("0.0.0.0", 0));
    reply.path.index = 7;
    assert_ptr_equal(query(), &crowd[0]); /* its own path decides, though there is an entry of the route */
    assert_int_equal(entry_of(&crowd[0])->route->path.index, 7);
    assert_ptr_equal(entry_of(&crowd[0]), shared);
    drop_crowd();
}

TEST(after_an_answer_for_one_address_each_watch_is_queried)
{
    add_crowd();
    assert_true(note_route("0.0.0.0", 0));
    reply = (struct reply){ .kind = REPLY_ALONE, .link = BUCKET_ANY_LINK };
    assert_int_equal(query_all(), CROWD);
    assert_true(note_route("0.0.0.0", 0));
    reply_route("0.0.0.0", 0, 2);
    assert_int_equal(query_all(), CROWD);
    assert_true(note_route("0.0.0.0", 0));
    assert_int_equal(query_all(), 1);
    drop_crowd();
}

TEST(after_a_message_of_another_table_its_members_are_queried_one_by_one)
{
    const struct route local = message(RT_TABLE_LOCAL, "192.0.2.0", 28), larger = message(RT_TABLE_LOCAL, "0.0.0.0", 0);

    add_crowd();
    assert_true(stale_mark_route(&store, &local));
    assert_int_equal(query_all(), 16 + 1); /* and one for the others, as the queried one has left */
    assert_true(stale_mark_route(&store, &larger));
    assert_int_equal(query_all(), CROWD);
    drop_crowd();
}

TEST(dissolving_ends_the_entries_of_one_family)
{
    struct path_watch ipv6[2];

    add_crowd();
    reply_route("::", 0, 2);
    add(&ipv6[0], "2001:db8::1");
    add(&ipv6[1], "2001:db8::2");
    assert_int_equal(query_all(), 2);
    stale_dissolve(&store, AF_INET6);
    assert_int_equal(query_all(), 2);
    stale_dissolve(&store, AF_UNSPEC);
    assert_true(store_has_work(&store));
    reply = (struct reply){ .link = BUCKET_ANY_LINK };
    assert_int_equal(query_all(), CROWD + 2);
    drop(&ipv6[0]);
    drop(&ipv6[1]);
    drop_crowd();
}

/* The route of the queried watch may have changed alone, and the filter may drop the messages about it from now on. */
TEST(another_watch_is_asked_if_the_asked_one_is_removed)
{
    add_crowd();
    for (unsigned i = 0; i + 1 < CROWD; i++) {
        drop(&crowd[i]);
        assert_ptr_equal(query(), &crowd[i + 1]);
        assert_null(query());
    }
    drop(&crowd[CROWD - 1]);
}

TEST(an_answer_does_not_count_if_the_asked_watch_is_removed_meanwhile)
{
    add_crowd();
    assert_true(note_route("0.0.0.0", 0));
    reply_route("0.0.0.0", 0, 9);
    assert_ptr_equal(store_begin(&store), &crowd[0]);
    drop(&crowd[0]);
    assert_int_equal(store_answer(&store, &reply), 0);
    store_end(&store, false);
    assert_int_equal(give_all(), 0);
    assert_true(is_due(&crowd[1]));
    assert_ptr_equal(query(), &crowd[1]);
    assert_int_equal(give_all(), CROWD - 2);
    for (unsigned i = 1; i < CROWD; i++)
        drop(&crowd[i]);
}

TEST(an_answer_to_old_questions_does_not_count)
{
    struct path_watch watch;
    struct path path;

    add_questions(&watch, &(struct question){ .destination = make("192.0.2.1") }, 1);
    assert_ptr_equal(store_begin(&store), &watch);
    store_replace_questions(&store, &watch);
    assert_int_equal(store_answer(&store, &reply), 0);
    assert_false(store_give_queried(&watch, &path));
    store_end(&store, false);
    assert_true(is_due(&watch));
    assert_int_equal(query_all(), 1);
    assert_false(is_due(&watch));
    drop(&watch);
}

/* The redirected watch joins the entry of the others, whose queried watch has just been removed. */
TEST(an_answer_does_not_count_for_an_entry_that_was_marked_meanwhile)
{
    add_crowd();
    assert_true(note_route("0.0.0.0", 0));
    reply.kind = REPLY_EXCEPTION;
    assert_ptr_equal(query(), &crowd[0]);
    reply.kind = REPLY_ROUTE;
    assert_ptr_equal(query(), &crowd[1]);
    store_replace_questions(&store, &crowd[0]);
    assert_ptr_equal(store_begin(&store), &crowd[0]);
    drop(&crowd[1]);
    assert_int_equal(store_answer(&store, &reply), 0);
    store_end(&store, false);
    assert_ptr_equal(entry_of(&crowd[0]), entry_of(&crowd[2]));
    assert_true(is_due(&crowd[0]));
    assert_int_equal(query_all(), 1);
    drop(&crowd[0]);
    for (unsigned i = 2; i < CROWD; i++)
        drop(&crowd[i]);
}

TEST(a_stale_path_is_given_to_nobody)
{
    struct path_watch *watches[8];

    add_crowd();
    assert_true(note_route("0.0.0.0", 0));
    reply_route("0.0.0.0", 0, 3);
    assert_int_equal(query_all(), 1);
    assert_int_equal(store_give(&store, watches, 8), 8);
    store_end(&store, false);
    assert_true(stale_mark_link(&store, 3));
    assert_int_equal(store_give(&store, watches, 8), 0);
    assert_int_equal(query_all(), 1);
    assert_int_equal(give_all(), CROWD - 9);
    drop_crowd();
}

TEST(a_watch_that_does_not_take_the_path_gets_the_next)
{
    add_crowd();
    store_refuse(&store, &crowd[5]);
    assert_int_equal(query_all(), 1);
    assert_int_equal(give_all(), 1);
    drop_crowd();
}

TEST(an_isolated_watch_shares_no_more)
{
    add_crowd();
    assert_int_equal(store_isolate(&store, &crowd[3]), 0);
    assert_int_equal(query_all(), 1);
    assert_int_equal(entry_of(&crowd[3])->length, ENTRY_OWN);
    assert_true(note_route("0.0.0.0", 0));
    assert_int_equal(query_all(), 2);
    drop_crowd();
}

/* ---- Failures --------------------------------------------------------------------------------------------------- */

TEST(a_failed_query_is_repeated_after_the_others)
{
    struct path_watch watch;

    add(&watch, "192.0.2.1");
    assert_ptr_equal(store_begin(&store), &watch);
    store_end(&store, true);
    assert_false(store_has_work(&store));
    assert_true(is_due(&watch));
    store_retry(&store);
    assert_int_equal(query_all(), 1);
    assert_false(is_due(&watch));
    drop(&watch);
}

TEST(without_memory_watches_keep_their_entries_until_there_is_some)
{
    struct path_watch other = { .key.address.address = make("192.0.2.99") };

    add_crowd();
    no_memory = true;
    assert_int_equal(store_add(&store, &other), ENOMEM);
    assert_int_equal(store_isolate(&store, &crowd[1]), ENOMEM);
    assert_true(crowd[1].can_share);
    stale_dissolve(&store, AF_INET);
    assert_false(store_has_work(&store));
    assert_true(store.starved);
    no_memory = false;
    store_retry(&store);
    assert_int_equal(query_all(), CROWD);
    drop_crowd();
}

TEST(without_memory_an_entry_depends_on_any_link_and_any_route)
{
    const struct question questions[2] = { { .destination = make("192.0.2.1") }, { .destination = make("192.0.2.2") } };
    struct path_watch watch, other;

    add_questions(&watch, questions, 2);
    add(&other, "203.0.113.1");
    assert_int_equal(query_all(), 2);
    stale_mark_all(&store);
    reply.link = 7;
    no_memory = true;
    store_replace_questions(&store, &watch);
    assert_int_equal(query_all(), 2);
    assert_true(note_route("198.51.100.0", 24));
    assert_true(is_due(&watch));
    assert_false(is_due(&other));
    assert_int_equal(query_all(), 1);
    assert_true(stale_mark_link(&store, 8));
    assert_int_equal(query_all(), 2);
    no_memory = false;
    drop(&watch);
    drop(&other);
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

TEST(a_link_affects_the_answers_that_depend_on_it_or_on_any)
{
    const uint32_t links[] = { 3, 4, BUCKET_ANY_LINK, BUCKET_NO_LINK };
    struct path_watch watches[4];

    for (size_t i = 0; i < 4; i++) {
        add(&watches[i], "192.0.2.1");
        reply.link = links[i];
        assert_int_equal(query_all(), 1);
    }
    assert_true(stale_mark_link(&store, 3));
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(is_due(&watches[i]), i == 0 || i == 2);
    assert_int_equal(query_all(), 2); /* both depend on no link now */
    assert_false(stale_mark_link(&store, 3));
    assert_true(stale_mark_link(&store, 4));
    assert_int_equal(query_all(), 1);
    stale_mark_all(&store);
    assert_int_equal(query_all(), 4);
    for (size_t i = 0; i < 4; i++)
        drop(&watches[i]);
}

TEST(many_links_are_told_apart)
{
    static struct path_watch watches[200];

    for (uint32_t i = 0; i < 200; i++) {
        add(&watches[i], "192.0.2.1");
        reply.link = 1 + i;
        assert_int_equal(query_all(), 1);
    }
    for (uint32_t i = 0; i < 200; i++) {
        assert_true(stale_mark_link(&store, 1 + i));
        assert_true(stale_mark_link(&store, 1 + i)); /* several messages are one change */
        assert_true(is_due(&watches[i]));
        reply.link = 1 + i;
        assert_int_equal(query_all(), 1);
    }
    for (uint32_t i = 0; i < 200; i++)
        drop(&watches[i]);
}

TEST(answers_that_depend_on_pppd_are_counted)
{
    struct path_watch watch;

    reply.path.dependencies.pppd = true;
    add(&watch, "192.0.2.1");
    assert_int_equal(query_all(), 1);
    assert_int_equal(store.pppd, 1);
    stale_mark_any_link(&store);
    assert_int_equal(query_all(), 1);
    assert_int_equal(store.pppd, 1);
    drop(&watch);
    assert_int_equal(store.pppd, 0);
}

TEST(answers_since_a_change_are_queried_again)
{
    struct path_watch watches[2];

    add(&watches[0], "192.0.2.1");
    assert_int_equal(query_all(), 1);
    uint64_t change = store.now + 1;
    assert_false(stale_has_since(&store, change));
    assert_true(stale_mark_link(&store, 3));
    assert_int_equal(query_all(), 1);
    assert_true(stale_mark_link(&store, 4));
    assert_true(stale_has_since(&store, change));
    reply.link = BUCKET_NO_LINK;
    assert_int_equal(query_all(), 1);
    add(&watches[1], "192.0.2.2");
    assert_int_equal(query_all(), 1);
    stale_mark_since(&store, change);
    assert_false(stale_has_since(&store, change));
    assert_int_equal(query_all(), 2);
    drop(&watches[0]);
    drop(&watches[1]);
}

/* ---- Lifetimes -------------------------------------------------------------------------------------------------- */

static void reply_with_lifetime(const char *gateway, uint32_t ticks)
{
    reply = (struct reply){ .link = BUCKET_ANY_LINK };
    reply.path.dependencies.lifetime = (struct lifetime){ .gateway = make(gateway), .oif = 2, .expires = ticks };
    reply.path.dependencies.lifetime.prefix.address.family = AF_INET6;
}

/* Three watches with answers of their own over one route. */
static void add_three(struct path_watch *watches)
{
    reply_with_lifetime("fe80::1", 1);
    for (size_t i = 0; i < 3; i++)
        add(&watches[i], "2001:db8::1");
    assert_int_equal(query_all(), 3);
    assert_int_equal(query_all(), 0);
}

static void drop_three(struct path_watch *watches)
{
    for (size_t i = 0; i < 3; i++)
        drop(&watches[i]);
}

static void pass_a_second(void)
{
    ends_note_time(&store, clock_now() + SECOND);
}

TEST(one_watch_is_queried_for_all_that_share_a_lifetime)
{
    struct path_watch watches[3];

    add_three(watches);
    pass_a_second();
    assert_int_equal(query_all(), 1);
    pass_a_second();
    reply_with_lifetime("fe80::2", 1); /* over another router: the others follow */
    assert_int_equal(query_all(), 3);
    drop_three(watches);
}

TEST(the_others_are_queried_if_the_probe_of_a_lifetime_is_removed)
{
    struct path_watch watches[3];

    add_three(watches);
    pass_a_second();
    for (size_t i = 0; i < 3; i++)
        if (is_due(&watches[i]) && i == 0)
            drop(&watches[0]);
    assert_int_equal(query_all(), 2);
    drop(&watches[1]);
    drop(&watches[2]);
}

/* In its last tick a route seems not to expire. */
TEST(a_lifetime_without_an_end_is_read_again)
{
    struct path_watch watch;

    reply_with_lifetime("fe80::1", 1000);
    add(&watch, "2001:db8::1");
    assert_int_equal(query_all(), 1);
    assert_true(ends_can_shorten(&store));
    ends_probe(&store, false);
    reply_with_lifetime("fe80::1", 0);
    assert_int_equal(query_all(), 1);
    pass_a_second();
    assert_int_equal(query_all(), 1);
    pass_a_second();
    assert_int_equal(query_all(), 0);
    assert_false(ends_can_shorten(&store));
    ends_probe(&store, true);
    assert_int_equal(query_all(), 1);
    drop(&watch);
}

TEST(several_lifetimes_are_read_again)
{
    struct path_watch watch;

    reply.path.dependencies.many_lifetimes = true;
    add(&watch, "2001:db8::1");
    assert_int_equal(query_all(), 1);
    pass_a_second();
    assert_int_equal(query_all(), 1); /* it may have been in its last tick */
    assert_true(ends_can_shorten(&store));
    ends_probe(&store, false);
    assert_int_equal(query_all(), 1);
    drop(&watch);
}
