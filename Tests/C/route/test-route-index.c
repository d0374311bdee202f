/* SPDX-License-Identifier: MIT */
/* The index of watches by address, beside a comparison of each route with each watch. No kernel. */
#include <stdlib.h>

#include "route/route_index.h"
#include "support/literal.h"
#include "support/unit.h"

enum { MEMBERS = 200, STEPS = 4000 };

struct watch {
    struct route_index_member member;
    struct questions         *questions; /* NULL: not in the index */
    struct dependencies       dependencies;
    bool                      visited;
};

static struct route_index routes;

static void start(void)
{
    route_index_init(&routes);
}

UNIT(.setup = start)

static void watch_init(struct watch *ret, const char *destination, const char *local)
{
    const struct question question = { .destination = make(destination), .local = make(local) };

    *ret = (struct watch){ .questions = questions_create(&question, 1, kSCNetworkReachabilityReasonNone) };
    route_index_member_init(&ret->member);
}

static void set(struct watch *watch)
{
    route_index_set(&routes, &watch->member, watch->questions, &watch->dependencies.outer,
                    watch->dependencies.any_route);
}

static void end(struct watch *watch)
{
    route_index_remove(&routes, &watch->member);
    questions_release(watch->questions);
    watch->questions = NULL;
}

static void note_visit(void *info, struct route_index_member *member)
{
    (void)info;
    container_of(member, struct watch, member)->visited = true;
}

static bool affects(const struct route *route, struct watch *watch)
{
    watch->visited = false;
    route_index_visit(&routes, route, note_visit, NULL);
    return watch->visited;
}

/* A message about a default route has no destination. */
static struct route route_make(const char *destination, uint8_t length)
{
    struct route route = { .prefix_length = length, .destination = make(destination) };

    route.family = route.destination.family;
    if (length == 0)
        route.destination = (struct address){ 0 };
    return route;
}

static bool route_affects(const char *destination, uint8_t length, struct watch *watch)
{
    const struct route route = route_make(destination, length);

    return affects(&route, watch);
}

TEST(an_address_depends_on_the_routes_to_it)
{
    struct watch watch;

    watch_init(&watch, "192.0.2.1", NULL);
    set(&watch);
    assert_true(route_affects("192.0.2.0", 24, &watch));
    assert_true(route_affects("0.0.0.0", 0, &watch));
    assert_false(route_affects("192.0.3.0", 24, &watch));
    assert_false(route_affects("::", 0, &watch));
    end(&watch);
    assert_false(route_affects("192.0.2.0", 24, &watch));
}

TEST(a_pair_depends_on_the_routes_to_both_addresses)
{
    struct watch watch;

    watch_init(&watch, "192.0.2.1", "10.0.0.1");
    set(&watch);
    assert_true(route_affects("192.0.2.1", 32, &watch));
    assert_true(route_affects("10.0.0.1", 32, &watch));
    assert_false(route_affects("10.0.0.2", 32, &watch));
    end(&watch);
}

TEST(the_default_path_depends_on_the_default_routes_of_both_families)
{
    struct watch first, second;

    watch_init(&first, NULL, NULL);
    watch_init(&second, NULL, NULL);
    set(&first);
    set(&second);
    assert_true(route_affects("0.0.0.0", 0, &first));
    assert_true(route_affects("128.0.0.0", 1, &first));
    assert_true(route_affects("0.0.0.0", 8, &first));
    assert_true(route_affects("::", 0, &first));
    assert_true(route_affects("8000::", 1, &first));
    assert_false(route_affects("10.0.0.0", 8, &first));
    end(&first);
    assert_true(route_affects("0.0.0.0", 0, &second));
    end(&second);
    assert_null(routes.addresses.root);
}

TEST(a_tunnel_depends_on_the_routes_to_its_remote_address)
{
    struct watch watch;

    watch_init(&watch, "192.0.2.1", NULL);
    watch.dependencies.outer = make("198.51.100.1");
    set(&watch);
    assert_true(route_affects("198.51.100.0", 24, &watch));
    watch.dependencies.outer = make("2001:db8::1");
    set(&watch);
    assert_false(route_affects("198.51.100.0", 24, &watch));
    assert_true(route_affects("2001:db8::", 32, &watch));
    watch.dependencies.any_route = true;
    set(&watch);
    assert_true(route_affects("198.51.100.0", 24, &watch));
    end(&watch);
    assert_false(route_affects("198.51.100.0", 24, &watch));
}

TEST(the_covering_prefixes_have_the_default_path)
{
    struct address_prefix prefixes[ADDRESS_TREE_PREFIXES];
    struct watch          watch;
    size_t                count;

    watch_init(&watch, NULL, NULL);
    assert_true(route_index_cover(&routes, &(const struct address_tree){ 0 }, prefixes, &count));
    assert_int_equal(count, 0);
    set(&watch);
    assert_true(route_index_cover(&routes, &(const struct address_tree){ 0 }, prefixes, &count));
    assert_int_equal(count, DEFAULT_PATH_SAMPLES);
    watch.dependencies.any_route = true;
    set(&watch);
    assert_false(route_index_cover(&routes, &(const struct address_tree){ 0 }, prefixes, &count));
    end(&watch);
}

/* ---- Random ----------------------------------------------------------------------------------------------------- */

static struct address random_address_or_none(void)
{
    return random() % 4 != 0 ? make_random() : (struct address){ 0 };
}

static void set_at_random(struct watch *watch)
{
    struct question questions[4] = { 0 };
    const size_t    count = (size_t)random() % 5;

    for (size_t i = 0; i < count; i++) {
        questions[i].destination = random_address_or_none();
        if (random() % 4 == 0)
            questions[i].local = make_random();
    }
    questions_release(watch->questions);
    watch->questions = questions_create(questions, count, kSCNetworkReachabilityReasonNone);
    watch->dependencies.outer = random_address_or_none();
    watch->dependencies.any_route = random() % 50 == 0;
    set(watch);
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

static bool is_affected(const struct route *route, const struct watch *watch)
{
    bool affected = watch->dependencies.any_route || route_has(route, &watch->dependencies.outer);

    for (size_t i = 0; i < watch->questions->count; i++) {
        const struct question *question = &watch->questions->items[i];

        affected = affected || route_has(route, &question->local) || route_has(route, &question->destination) ||
                   (question->destination.family == AF_UNSPEC && route_has_default_path(route));
    }
    return affected;
}

static void expect_right_visits(struct watch *watches)
{
    struct route route = { .destination = make_random() };

    route.family = route.destination.family;
    route.prefix_length = (uint8_t)((unsigned)random() % ((unsigned)address_length(&route.destination) * 8 + 1));
    for (size_t i = 0; i < MEMBERS; i++)
        watches[i].visited = false;
    route_index_visit(&routes, &route, note_visit, NULL);
    for (size_t i = 0; i < MEMBERS; i++)
        assert_int_equal(watches[i].visited, watches[i].questions != NULL && is_affected(&route, &watches[i]));
}

TEST(random_watches_are_visited_when_a_route_affects_them)
{
    struct watch *watches = calloc(MEMBERS, sizeof *watches);

    srandom(1);
    for (size_t i = 0; i < MEMBERS; i++)
        route_index_member_init(&watches[i].member);
    for (unsigned step = 0; step < STEPS; step++) {
        struct watch *watch = &watches[random() % MEMBERS];

        if (watch->questions != NULL && random() % 3 == 0)
            end(watch);
        else
            set_at_random(watch);
        expect_right_visits(watches);
    }
    for (size_t i = 0; i < MEMBERS; i++)
        if (watches[i].questions != NULL)
            end(&watches[i]);
    assert_null(routes.addresses.root);
    assert_true(list_is_empty(&routes.default_path) && list_is_empty(&routes.any_route));
    free(watches);
}
