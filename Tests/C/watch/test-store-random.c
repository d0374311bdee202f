/* SPDX-License-Identifier: MIT */
/*
 * The store under random changes of a small kernel. Messages are read late, queries fail, memory runs out, and watches
 * come and go in the middle of a step. When all messages are read and nothing is due, each watch has the path that the
 * kernel gives it.
 */
#include "base/clock.h"
#include "support/test.h"
#include "watch/store.h"

enum { LINKS = 5, ROUTES = 40, WATCHES = 60, MESSAGES = 4096, WORLDS = 400, CHANGES = 300 };

static unsigned fault_every; /* of so many allocations, one fails; 0: none */

static unsigned draw(unsigned limit)
{
    return (unsigned)random() % limit;
}

WRAP(void *, malloc, size_t size)
{
    return fault_every != 0 && draw(fault_every) == 0 ? NULL : __real_malloc(size);
}

WRAP(void *, calloc, size_t count, size_t size)
{
    return fault_every != 0 && draw(fault_every) == 0 ? NULL : __real_calloc(count, size);
}

/* ---- The kernel ------------------------------------------------------------------------------------------------- */

enum kind { KIND_ROUTE, KIND_UNREACHABLE, KIND_MULTIPATH, KIND_THROW, KINDS };

struct fib_route {
    bool exists;
    enum kind kind;
    uint32_t table, oif, other_oif; /* other_oif: the second leg */
    struct address_prefix prefix;
};

static struct fib_route fib[ROUTES];
/* By the last byte of an address: a router has another way for it, which only the query for this address shows. */
static bool redirected[256];
enum { REDIRECT = 100 }; /* added to the interface */

/* What the monitor has not read yet. */
static struct message_now {
    bool is_route, is_all; /* else it is about a link */
    struct route route;
    uint32_t link;
} messages[MESSAGES];
static size_t message_count;

static struct route message_of(const struct fib_route *route)
{
    return (struct route){ .family = AF_INET,
                           .prefix_length = route->prefix.length,
                           .table = route->table,
                           .destination = route->prefix.address };
}

static void announce(const struct fib_route *route)
{
    messages[message_count++] = (struct message_now){ .is_route = true, .route = message_of(route) };
}

static const struct fib_route *find_in_table(uint32_t table, const struct address *address)
{
    const struct fib_route *found = NULL;

    for (size_t i = 0; i < ROUTES; i++)
        if (fib[i].exists && fib[i].table == table &&
            address_in_prefix(address, &fib[i].prefix.address, fib[i].prefix.length) &&
            (found == NULL || fib[i].prefix.length > found->prefix.length))
            found = &fib[i];
    return found == NULL || found->kind == KIND_THROW ? NULL : found;
}

/* In half of the worlds there are rules: by its last byte, an address has a table before "main", and one after it. */
static bool has_rules;
enum { TABLE_BEFORE = 100, TABLE_AFTER = 101 };

static bool has_table(uint32_t table, const struct address *address)
{
    switch (table) {
    case TABLE_BEFORE:
        return has_rules && address->bytes[3] < 20;
    case TABLE_AFTER:
        return has_rules && address->bytes[3] >= 12;
    default:
        return true;
    }
}

/* Returns NULL if no route leads there. */
static const struct fib_route *look_up(const struct address *address)
{
    static const uint32_t tables[] = { RT_TABLE_LOCAL, TABLE_BEFORE, RT_TABLE_MAIN, TABLE_AFTER };
    const struct fib_route *route = NULL;

    for (size_t i = 0; route == NULL && i < sizeof tables / sizeof tables[0]; i++)
        if (has_table(tables[i], address))
            route = find_in_table(tables[i], address);
    return route == NULL || route->kind == KIND_UNREACHABLE ? NULL : route;
}

/* The interface of the route to the address; 0: there is none. */
static uint32_t route_oif(const struct address *address, const struct fib_route *route)
{
    if (route == NULL)
        return 0;
    return route->kind == KIND_MULTIPATH && address->bytes[3] % 2 != 0 ? route->other_oif : route->oif;
}

/* The interface that packets leave over. */
static uint32_t find_oif(const struct address *address, const struct fib_route *route)
{
    return route != NULL && redirected[address->bytes[3]] ? REDIRECT + route->oif : route_oif(address, route);
}

static struct address draw_address(void)
{
    struct address address = { AF_INET, { 10, 0, (uint8_t)draw(2), (uint8_t)draw(32) } };

    return address;
}

static bool prefix_is_taken(uint32_t table, const struct address_prefix *prefix)
{
    for (size_t i = 0; i < ROUTES; i++)
        if (fib[i].exists && fib[i].table == table && fib[i].prefix.length == prefix->length &&
            address_equal(&fib[i].prefix.address, &prefix->address))
            return true;
    return false;
}

static uint32_t draw_table(void)
{
    static const uint32_t others[] = { RT_TABLE_LOCAL, TABLE_BEFORE, TABLE_AFTER };

    return draw(6) != 0 ? RT_TABLE_MAIN : others[has_rules ? draw(3) : 0];
}

static void change_route(void)
{
    static const uint8_t lengths[] = { 0, 8, 23, 24, 27, 28, 29, 30, 31, 32 };
    struct fib_route *route = &fib[draw(ROUTES)];
    const uint8_t length = lengths[draw(sizeof lengths)];
    const struct address address = draw_address();

    if (route->exists) {
        route->exists = false;
        announce(route);
        return;
    }
    *route = (struct fib_route){ .kind = draw(3) != 0 ? KIND_ROUTE : (enum kind)draw(KINDS),
                                 .table = draw_table(),
                                 .oif = 1 + draw(LINKS),
                                 .other_oif = 1 + draw(LINKS),
                                 .prefix = { address_truncate(&address, length), length } };
    route->exists = !prefix_is_taken(route->table, &route->prefix);
    if (route->exists)
        announce(route);
}

/* The routes over a link vanish, and only the link is announced. */
static void fall(uint32_t link)
{
    for (size_t i = 0; i < ROUTES; i++)
        if ((fib[i].kind == KIND_ROUTE && fib[i].oif == link) ||
            (fib[i].kind == KIND_MULTIPATH && (fib[i].oif == link || fib[i].other_oif == link)))
            fib[i].exists = false;
    messages[message_count++] = (struct message_now){ .link = link };
}

/* As with a rule: routes come and go, and nothing says which. */
static void change_much(void)
{
    const size_t before = message_count;

    for (int i = 0; i < 5; i++)
        change_route();
    message_count = before;
    messages[message_count++] = (struct message_now){ .is_all = true };
}

static void change_kernel(void)
{
    const unsigned what = draw(100);

    if (draw(4) == 0)
        redirected[draw(256)] = draw(4) == 0; /* no message is about that */
    if (what < 85)
        change_route();
    else if (what < 97)
        fall(1 + draw(LINKS));
    else
        change_much();
}

/* ---- The watches ------------------------------------------------------------------------------------------------ */

static struct store store;
static struct watched {
    struct path_watch watch;
    bool exists;
    uint32_t given_oif; /* the interface; UINT32_MAX: nothing yet */
    unsigned group;     /* 0: plain */
    unsigned given_group;
} watched[WATCHES];

enum { GROUPS = 4 };

static struct watched *watched_of(struct path_watch *watch)
{
    return container_of(watch, struct watched, watch);
}

/* Makes the watch one of a pair, or of a socket (2), with some port. */
static void set_group(struct watched *which, unsigned group)
{
    const struct question question = {
        .destination = which->watch.key.address.address,
        .local = { AF_INET, { 10, 0, 0, group < 3 ? 1 : 2 } },
        .flow = { .protocol = IPPROTO_UDP, .is_socket = group == 2, .local_port = (uint16_t)(1 + draw(9)) }
    };

    const struct question plain = { .destination = which->watch.key.address.address };

    which->group = group;
    which->watch.plain = group == 0;
    do
        which->watch.questions = questions_create(group == 0 ? &plain : &question, 1, kSCNetworkReachabilityReasonNone);
    while (which->watch.questions == NULL);
}

static void change_watch(void)
{
    struct watched *which = &watched[draw(WATCHES)];

    if (which->exists) {
        store_remove(&store, &which->watch);
        which->watch.monitor = NULL;
        which->exists = false;
        return;
    }
    *which = (struct watched){ .watch = { .can_share = draw(5) != 0, .key.address.address = draw_address() },
                               .given_oif = UINT32_MAX };
    set_group(which, draw(GROUPS));
    if (store_add(&store, &which->watch) != 0)
        return;
    which->exists = true;
    which->watch.monitor = (struct monitor *)&store; /* any */
}

static void isolate_watch(void)
{
    struct watched *which = &watched[draw(WATCHES)];

    if (which->exists)
        (void)store_isolate(&store, &which->watch);
}

/* ---- The monitor ------------------------------------------------------------------------------------------------ */

static void read_messages(void)
{
    for (size_t i = 0; i < message_count; i++) {
        if (messages[i].is_all) {
            stale_dissolve(&store, AF_UNSPEC);
            stale_mark_all(&store);
        } else if (messages[i].is_route) {
            (void)stale_mark_route(&store, &messages[i].route);
        } else {
            (void)stale_mark_link(&store, messages[i].link);
        }
    }
    message_count = 0;
}

static struct reply make_reply(struct path_watch *watch)
{
    const struct address *address = &watch->key.address.address;
    const struct fib_route *route = look_up(address);
    struct reply reply = { .link = BUCKET_ANY_LINK };

    reply.path.index = find_oif(address, route);
    reply.path.table = watched_of(watch)->group;
    if (!watch->can_share || (has_rules && !watch->plain))
        return reply;
    if (route == NULL && has_rules && entry_has_others(entry_of(watch)))
        return reply; /* the table after "main" can have a route to another one */
    if (route == NULL) {
        reply.kind = REPLY_REFUSED;
        reply.link = BUCKET_NO_LINK;
    } else if (route->table == RT_TABLE_MAIN && route->kind == KIND_ROUTE) {
        reply.kind = reply.path.index == route->oif ? REPLY_ROUTE : REPLY_EXCEPTION;
        reply.link = reply.kind == REPLY_ROUTE ? route->oif : BUCKET_ANY_LINK;
        reply.prefix = route->prefix;
    }
    return reply;
}

/* The kernel and the watches change while the lock is free. */
static void let_others_run(void)
{
    if (draw(8) == 0)
        change_watch();
    if (draw(16) == 0)
        change_kernel();
    if (draw(64) == 0)
        isolate_watch();
}

static void give(struct path_watch *watch, const struct path *path)
{
    watched_of(watch)->given_oif = path->index;
    watched_of(watch)->given_group = path->table;
    if (draw(40) != 0)
        return;
    let_others_run();
    if (watch->monitor != NULL)
        store_refuse(&store, watch);
}

static bool make_query_step(void)
{
    struct path_watch *watch = store_begin(&store);
    bool joined = false, given;
    int error = draw(30) == 0 ? ENOBUFS : 0;

    if (watch == NULL)
        return false;
    struct reply reply = make_reply(watch);
    let_others_run();
    if (error == 0 && reply.kind == REPLY_ROUTE)
        joined = store_join(&store, &reply.prefix);
    let_others_run();
    if (error == 0 && !joined)
        error = store_answer(&store, &reply);
    given = error == 0 && watch->monitor != NULL && store_give_queried(watch, &reply.path);
    store_end(&store, error != 0);
    if (given)
        give(watch, &reply.path);
    return true;
}

static bool make_give_step(void)
{
    struct path_watch *watches[4];
    const size_t count = store_give(&store, watches, 4);

    if (count == 0)
        return false;
    for (size_t i = 0; i < count; i++)
        give(watches[i], &store.current->route->path);
    store_end(&store, false);
    return true;
}

static void make_steps(unsigned limit)
{
    while (limit-- > 0 && (make_query_step() || make_give_step()))
        continue;
}

/* Only the query for an address shows whether it is redirected, and no message announces that. */
static bool is_right(const struct watched *which, const struct fib_route *route)
{
    const uint32_t oif = route_oif(&which->watch.key.address.address, route);

    return which->given_group == which->group &&
           (which->given_oif == oif || (route != NULL && which->given_oif == REDIRECT + route->oif));
}

static void expect_right(unsigned world)
{
    unsigned members = 0;

    do {
        read_messages();
        store_retry(&store);
        make_steps(UINT32_MAX);
    } while (message_count > 0 || !list_is_empty(&store.failed) || store.starved);
    assert_false(store_has_work(&store));
    for (size_t i = 0; i < WATCHES; i++) {
        const struct address *address = &watched[i].watch.key.address.address;
        const struct fib_route *route = look_up(address);

        if (!watched[i].exists)
            continue;
        members++;
        assert_true(entry_is_valid(entry_of(&watched[i].watch)));
        if (!is_right(&watched[i], route))
            fail_msg("world %u: 10.0.%u.%u has %u, not %u", world, address->bytes[2], address->bytes[3],
                     watched[i].given_oif, find_oif(address, route));
    }
    assert_int_equal(members, store.count);
}

static void play(unsigned world)
{
    memset(fib, 0, sizeof fib);
    memset(watched, 0, sizeof watched);
    for (size_t i = 0; i < 256; i++)
        redirected[i] = draw(64) == 0; /* before any target is scheduled */
    message_count = 0;
    has_rules = world % 2 == 0;
    fault_every = world % 3 == 0 ? 60 : 0;
    store_init(&store);
    for (unsigned i = 0; i < CHANGES; i++) {
        change_kernel();
        if (draw(4) == 0)
            change_watch();
        if (draw(3) == 0)
            read_messages();
        make_steps(draw(6));
        if (draw(10) == 0)
            expect_right(world);
    }
    expect_right(world);
    for (size_t i = 0; i < WATCHES; i++)
        if (watched[i].exists)
            store_remove(&store, &watched[i].watch);
    assert_int_equal(store.count, 0);
    assert_null(store.routes.root);
    assert_null(store.addresses.root);
    assert_null(store.members.root);
    assert_null(store.buckets.tree);
}

TEST(each_watch_has_the_path_that_the_kernel_gives_it)
{
    const unsigned worlds = unit_is_under(NULL) ? WORLDS / 10 : WORLDS;

    for (unsigned world = 1; world <= worlds; world++) {
        srandom(world);
        play(world);
    }
}
