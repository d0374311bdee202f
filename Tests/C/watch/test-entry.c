/* SPDX-License-Identifier: MIT */
/* The addresses on which a watch depends: a route to one of them makes it stale, and the filter covers them. */
#include "route/evaluate.h"
#include "support/literal.h"
#include "support/test.h"
#include "watch/store.h"

static struct store store;
static struct dependencies dependencies; /* in each answer */

static void begin(void)
{
    store_init(&store);
    dependencies = (struct dependencies){ 0 };
}

static void end(void)
{
    assert_int_equal(store.count, 0);
    assert_null(store.addresses.root);
    assert_true(list_is_empty(&store.any_route));
}

UNIT(.setup = begin, .teardown = end)

static void answer_all(void)
{
    const struct reply reply = { .link = BUCKET_NO_LINK, .path.dependencies = dependencies };

    while (store_begin(&store) != NULL) {
        assert_int_equal(store_answer(&store, &reply), 0);
        store_end(&store, false);
    }
}

static void add_items(struct path_watch *watch, const struct question *items, size_t count)
{
    *watch = (struct path_watch){ .questions = questions_create(items, count, kSCNetworkReachabilityReasonNone) };
    assert_non_null(watch->questions);
    assert_int_equal(store_add(&store, watch), 0);
    answer_all();
}

static void add(struct path_watch *watch, const char *destination, const char *local)
{
    add_items(watch, &(struct question){ .destination = make(destination), .local = make(local) }, 1);
}

static void drop(struct path_watch *watch)
{
    store_remove(&store, watch);
    questions_release(watch->questions);
}

static bool affects(struct path_watch *watch, const struct route *route)
{
    (void)stale_mark_route(&store, route);
    bool is_stale = !entry_is_valid(entry_of(watch));
    answer_all();
    return is_stale;
}

static bool route_affects(struct path_watch *watch, const char *destination, uint8_t length)
{
    struct route route = { .prefix_length = length, .table = RT_TABLE_MAIN, .destination = make(destination) };

    route.family = route.destination.family;
    return affects(watch, &route);
}

TEST(an_address_depends_on_the_routes_to_it)
{
    struct path_watch watch;

    add(&watch, "198.51.100.7", NULL);
    assert_true(route_affects(&watch, "0.0.0.0", 0));
    assert_true(route_affects(&watch, "198.51.100.0", 24));
    assert_true(route_affects(&watch, "198.51.100.7", 32));
    assert_false(route_affects(&watch, "198.51.100.8", 32));
    assert_false(route_affects(&watch, "::", 0));
    drop(&watch);
}

TEST(a_pair_depends_on_the_routes_to_both_addresses)
{
    struct path_watch watch;

    add(&watch, "198.51.100.7", "192.0.2.2");
    assert_true(route_affects(&watch, "198.51.100.0", 24));
    assert_true(route_affects(&watch, "192.0.2.0", 24));
    assert_false(route_affects(&watch, "203.0.113.0", 24));
    drop(&watch);
}

TEST(the_default_path_depends_on_the_default_routes_of_both_families)
{
    struct path_watch watch;

    add(&watch, NULL, NULL);
    assert_true(route_affects(&watch, "0.0.0.0", 0));
    assert_true(route_affects(&watch, "::", 0));
    assert_true(route_affects(&watch, "0.0.0.0", 1));
    assert_true(route_affects(&watch, "128.0.0.0", 1));
    assert_true(route_affects(&watch, "8000::", 1));
    assert_false(route_affects(&watch, "10.0.0.0", 8));
    assert_false(route_affects(&watch, "fd00::", 8));
    drop(&watch);
}

TEST(a_tunnel_depends_on_the_routes_to_its_remote_address)
{
    struct path_watch watch;

    dependencies.outer = make("203.0.113.9");
    add(&watch, "198.51.100.7", NULL);
    assert_true(route_affects(&watch, "203.0.113.0", 24));
    dependencies.outer = (struct address){ 0 };
    assert_true(route_affects(&watch, "198.51.100.0", 24));
    assert_false(route_affects(&watch, "203.0.113.0", 24));
    dependencies.any_route = true;
    assert_true(route_affects(&watch, "198.51.100.0", 24));
    assert_true(route_affects(&watch, "203.0.113.0", 24));
    drop(&watch);
}

/* The entry of a route has the addresses of its members in its prefix. The other end of a tunnel is outside. */
TEST(the_entry_of_a_route_depends_on_the_other_end_of_a_tunnel)
{
    struct path_watch watch = { .can_share = true,
                                .plain = true,
                                .key.address.address = make("198.51.100.7"),
                                .questions = questions_create(&(struct question){ .destination = make("198.51.100.7") },
                                                              1, 0) };
    struct reply reply = { .kind = REPLY_ROUTE, .prefix = { make("198.51.100.0"), 24 }, .link = 2 };

    reply.path.dependencies.outer = make("203.0.113.9");
    assert_int_equal(store_add(&store, &watch), 0);
    assert_ptr_equal(store_begin(&store), &watch);
    assert_int_equal(store_answer(&store, &reply), 0);
    store_end(&store, false);
    assert_int_equal(entry_of(&watch)->length, 24);
    assert_true(route_affects(&watch, "203.0.113.0", 24));
    drop(&watch);
}

/* A proxy can have a local address for each connection: a search would visit the entries of all. */
TEST(pairs_of_one_local_address_too_many_keep_their_own_entries)
{
    enum { COUNT = ENTRY_GROUPS + 2 };
    static struct path_watch watches[COUNT];
    const struct reply reply = { .kind = REPLY_ROUTE, .prefix = { make("198.51.100.0"), 24 }, .link = 2 };

    for (int i = 0; i < COUNT; i++) {
        struct question question = { .destination = make("198.51.100.7"), .local = make("10.0.0.1") };

        question.local.bytes[3] = (uint8_t)i;
        watches[i] = (struct path_watch){
            .can_share = true, .questions = questions_create(&question, 1, kSCNetworkReachabilityReasonNone)
        };
        assert_non_null(watches[i].questions);
        assert_int_equal(store_add(&store, &watches[i]), 0);
        assert_ptr_equal(store_begin(&store), &watches[i]);
        assert_int_equal(store_answer(&store, &reply), 0);
        store_end(&store, false);
        assert_int_equal(entry_of(&watches[i])->length, i < ENTRY_GROUPS ? 24 : ENTRY_OWN);
    }
    for (int i = 0; i < COUNT; i++)
        drop(&watches[i]);
}

/* ---- The filter ------------------------------------------------------------------------------------------------- */

static size_t cover(void)
{
    struct address_prefix prefixes[ADDRESS_TREE_PREFIXES];

    return address_tree_cover(&store.addresses, &store.members, prefixes);
}

TEST(the_covering_prefixes_have_the_default_path)
{
    struct path_watch watch;

    assert_int_equal(cover(), 0);
    add(&watch, NULL, NULL);
    assert_int_equal(cover(), DEFAULT_PATH_SAMPLES);
    drop(&watch);
}

TEST(the_filter_must_be_opened_for_new_addresses_only)
{
    struct path_watch watch = { .can_share = true,
                                .plain = true,
                                .key.address.address = make("198.51.100.7"),
                                .questions = questions_create(&(struct question){ .destination = make("198.51.100.7") },
                                                              1, 0) },
                      pair;
    unsigned long additions = store.additions;

    assert_int_equal(store_add(&store, &watch), 0);
    assert_int_equal(store.additions, additions + 1);
    additions = store.additions;
    answer_all();
    stale_dissolve(&store, AF_UNSPEC);
    answer_all();
    assert_int_equal(store_isolate(&store, &watch), 0);
    answer_all();
    assert_int_equal(store.additions, additions);
    add(&pair, "198.51.100.7", "192.0.2.2");
    assert_int_equal(store.additions, additions + 2);
    drop(&watch);
    drop(&pair);
}

/* ---- Random ----------------------------------------------------------------------------------------------------- */

enum { WATCHES = 40, STEPS = 2000 };

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
    }
    dependencies.outer = random_address_or_none();
    dependencies.any_route = random() % 50 == 0;
    add_items(watch, questions, count);
    dependencies = (struct dependencies){ 0 };
}

static bool route_has(const struct route *route, const struct address *address)
{
    const struct address_prefix prefix = route_prefix(route);

    return address_in_prefix(address, &prefix.address, prefix.length);
}

static bool route_has_default_path(const struct route *route)
{
    for (size_t i = 0; i < DEFAULT_PATH_SAMPLES; i++)
        if (route_has(route, default_path_sample(i)))
            return true;
    return false;
}

static bool is_affected(const struct route *route, struct path_watch *watch)
{
    const struct entry *entry = entry_of(watch);
    const struct address outer = entry_outer(entry);
    bool affected = entry->keys.any_route || route_has(route, &outer);

    for (size_t i = 0; i < watch->questions->count; i++) {
        const struct question *question = &watch->questions->items[i];

        affected = affected || route_has(route, &question->local) || route_has(route, &question->destination) ||
                   (question->destination.family == AF_UNSPEC && route_has_default_path(route));
    }
    return affected;
}

/* Each answer has the same dependencies as before. */
static void answer_all_again(void)
{
    struct path_watch *watch;

    while ((watch = store_begin(&store)) != NULL) {
        const struct entry *entry = entry_of(watch);
        const struct dependencies again = { .outer = entry_outer(entry), .any_route = entry->keys.any_route };
        const struct reply reply = { .link = BUCKET_NO_LINK, .path.dependencies = again };

        assert_int_equal(store_answer(&store, &reply), 0);
        store_end(&store, false);
    }
}

static void expect_right_marks(struct path_watch *watches)
{
    struct route route = { .destination = make_random() };
    bool affected[WATCHES];

    route.family = route.destination.family;
    route.prefix_length = (uint8_t)((unsigned)random() % ((unsigned)address_length(&route.destination) * 8 + 1));
    for (size_t i = 0; i < WATCHES; i++)
        affected[i] = watches[i].key.entry != NULL && is_affected(&route, &watches[i]);
    (void)stale_mark_route(&store, &route);
    for (size_t i = 0; i < WATCHES; i++)
        if (watches[i].key.entry != NULL)
            assert_int_equal(!entry_is_valid(entry_of(&watches[i])), affected[i]);
    answer_all_again();
}

TEST(random_watches_are_stale_when_a_route_affects_them)
{
    static struct path_watch watches[WATCHES];

    srandom(1);
    for (unsigned step = 0; step < STEPS; step++) {
        struct path_watch *watch = &watches[random() % WATCHES];

        if (watch->key.entry != NULL)
            drop(watch);
        if (random() % 3 != 0)
            add_at_random(watch);
        else
            watch->key.entry = NULL;
        expect_right_marks(watches);
    }
    for (size_t i = 0; i < WATCHES; i++)
        if (watches[i].key.entry != NULL)
            drop(&watches[i]);
}
