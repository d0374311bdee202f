/* SPDX-License-Identifier: MIT */
/*
 * A monitor under random changes of a simulated kernel. Messages are read late, changes are finished late, queries
 * fail, memory runs out, and watches come and go in the middle of a query. Three things are expected:
 *
 *   when nothing is left to do, each watch has the path that the kernel gives it
 *   before that, and without any time for sweeps, each watch that a message names has been evaluated
 *   a path that is copied from another watch's is the kernel's when it is copied
 *
 * TEST_SEED: plays the world with this number only. TEST_WORLDS: how many worlds to play.
 */
#include <linux/neighbour.h>
#include <sys/personality.h>

#include "base/clock.h"
#include "support/simulated_kernel.h"
#include "support/test.h"
#include "watch/monitor.h"
#include "watch/monitor_state.h"

#define PERSONALITY_UNKNOWN 0xffffffff

enum { WATCHES = 60, WORLDS = 150, CHANGES = 200, GROUPS = 4 };

static SCRunLoopRef loop;
static struct netns *netns;
static unsigned world;
static bool checks_names; /* each watch that a message names is evaluated, as nothing fails */

/* ---- Watches ---------------------------------------------------------------------------------------------------- */

static struct watched {
    struct counted counted;
    struct path_watch watch;
    bool exists, has_path;
    struct simulated_answer path; /* the last one */
    uint64_t named, evaluated;    /* events */
} watched[WATCHES];

static uint64_t event; /* counts messages */
static unsigned copies;

/* The first query since nothing has changed for the monitor: the kernel's state then. */
static struct queried {
    uint64_t now;
    unsigned version;
} queried;

static void free_nothing(struct counted *counted)
{
    (void)counted;
}

static struct watched *watched_of(struct path_watch *watch)
{
    return container_of(watch, struct watched, watch);
}

static struct counted *owner(struct path_watch *watch)
{
    return &watched_of(watch)->counted;
}

static struct simulated_answer answer_of(const struct path *path)
{
    return (struct simulated_answer){ .index = path->index,
                                      .second = path->mtu,
                                      .group = path->table,
                                      .gateway = path->gateway,
                                      .outer = path->dependencies.outer };
}

static struct simulated_answer evaluate(const struct watched *which)
{
    return simulated_evaluate(&simulated.now, which->watch.questions);
}

static uint32_t without_redirect(uint32_t index)
{
    return index > SIMULATED_REDIRECT ? index - SIMULATED_REDIRECT : index;
}

/* Only the query for an address shows whether it is redirected, and no message announces the end of that. */
static bool is_right(const struct watched *which)
{
    const struct simulated_answer *path = &which->path, now = evaluate(which);

    return without_redirect(path->index) == without_redirect(now.index) &&
           without_redirect(path->second) == without_redirect(now.second) &&
           reach_address_equal(&path->gateway, &now.gateway) && (now.index == 0 || path->group == now.group);
}

static void fail_for(const struct watched *which, const char *what)
{
    const struct simulated_answer now = evaluate(which);
    char text[3][46];

    reach_address_format(path_watch_destination(&which->watch), text[0]);
    reach_address_format(&which->path.gateway, text[1]);
    reach_address_format(&now.gateway, text[2]);
    fail_msg("TEST_SEED=%u: %s: %s: %u (%u) of %u via %s, but the kernel's is %u (%u) of %u via %s", world, text[0],
             what, which->path.index, which->path.second, which->path.group, text[1], now.index, now.second, now.group,
             text[2]);
}

static void interrupt(void);

/* If the kernel has changed since the query, it has announced that. What it finishes late, a second look finds. */
static void expect_right_copy(const struct watched *which, uint64_t now)
{
    const bool is_finished = !simulated_has_news() && simulated.clock > simulated.late + 60 * MILLISECOND;

    if (is_finished && now == queried.now && simulated.version == queried.version && !is_right(which))
        fail_for(which, "a copy is wrong");
    if (which->path.index > SIMULATED_REDIRECT)
        fail_for(which, "a redirect was copied");
    copies++;
}

static bool accept_path(struct path_watch *watch, const struct path *path)
{
    struct watched *which = watched_of(watch);
    const uint64_t now = watched[0].watch.monitor->answers.now;

    which->path = answer_of(path);
    which->has_path = true;
    which->evaluated = event;
    if (simulated.asked == 0)
        expect_right_copy(which, now);
    else if (queried.now != now)
        queried = (struct queried){ now, simulated.asked_version };
    simulated.asked = 0;
    if (simulated.interrupt == NULL || simulated_draw(40) != 0)
        return true;
    interrupt();
    return false;
}

static const struct path_watch_type type = { .owner = owner, .accept = accept_path };

static struct address draw_address(void)
{
    struct address address = { .family = simulated_draw(2) == 0 ? AF_INET : AF_INET6 };
    uint8_t *last = &address.bytes[address_length(&address) - 4];

    if (address.family == AF_INET6)
        address.bytes[0] = 0xfd;
    last[0] = 10;
    last[2] = (uint8_t)simulated_draw(2);
    last[3] = (uint8_t)simulated_draw(32);
    return address;
}

/* Of a pair, or of a socket (group 2), with some port; or of two addresses (group 0), or of one (GROUPS or more). */
static struct questions *draw_questions(unsigned group)
{
    struct question questions[2] = { { .destination = draw_address() }, { .destination = draw_address() } };
    struct address *local = &questions[0].local;

    if (group > 0 && group < GROUPS) {
        *local = (struct address){ AF_INET, { 10, 0, 0, group < 3 ? 1 : 2 } };
        if (questions[0].destination.family == AF_INET6)
            *local = (struct address){ AF_INET6, { 0xfd, 0, 0, group < 3 ? 1 : 2 } };
        questions[0].flow = (struct flow){ .protocol = IPPROTO_UDP, .is_socket = group == 2, .local_port = 9 };
    }
    return reach_questions_create(questions, group == 0 ? 2 : 1, kSCNetworkReachabilityReasonNone);
}

static void add_watch(struct watched *which)
{
    const unsigned kind = simulated_draw(GROUPS + 2); /* plain ones are more */

    if (atomic_load(&which->counted.references) != 1)
        return; /* it is still being queried */
    *which = (struct watched){ .watch = { .type = &type, .can_share = simulated_draw(6) != 0 } };
    counted_init(&which->counted, free_nothing);
    which->watch.questions = draw_questions(kind);
    which->watch.can_share = which->watch.can_share && kind != 0;
    which->exists = reach_monitor_watch(loop, netns, &which->watch) == 0;
    which->named = event;
}

static void drop_watch(struct watched *which)
{
    reach_monitor_unwatch(loop, &which->watch);
    which->exists = false;
    if (atomic_load(&which->counted.references) == 1)
        reach_questions_release(which->watch.questions);
    which->watch.questions = NULL;
}

/* The first one stays, and with it the monitor. */
static void change_watch(void)
{
    struct watched *which = &watched[1 + simulated_draw(WATCHES - 1)];

    if (!which->exists) {
        add_watch(which);
    } else if (!which->watch.can_share && simulated_draw(2) == 0) {
        struct questions *questions = draw_questions(0);

        reach_monitor_set_questions(loop, &which->watch, questions);
        reach_questions_release(questions);
        which->named = ++event;
    } else if (simulated_draw(4) == 0) {
        reach_monitor_evaluate_again(loop, &which->watch);
        which->named = ++event;
    } else if (atomic_load(&which->counted.references) == 1) {
        drop_watch(which);
    }
}

/* ---- Which watches a message names ------------------------------------------------------------------------------ */

static bool route_names(const struct watched *which, const struct route *route)
{
    const struct address_prefix prefix = reach_route_prefix(route);
    const struct questions *questions = which->watch.questions;

    for (size_t i = 0; i < questions->count; i++)
        if (reach_address_in_prefix(&questions->items[i].destination, &prefix.address, prefix.length) ||
            reach_address_in_prefix(&questions->items[i].local, &prefix.address, prefix.length))
            return true;
    return reach_address_in_prefix(&which->path.outer, &prefix.address, prefix.length);
}

static bool names(const struct watched *which, const struct message *message)
{
    switch (message->kind) {
    case MESSAGE_ROUTE:
        return route_names(which, &message->route);
    case MESSAGE_LINK:
        return which->path.index == message->link.index;
    case MESSAGE_ADDRESS:
        return which->path.index == message->address.index;
    case MESSAGE_NEIGHBOUR:
        return which->path.index == message->neighbour.index && (message->neighbour.state & NUD_FAILED) != 0 &&
               reach_address_equal(&which->path.gateway, &message->neighbour.address);
    default:
        return message->kind == MESSAGE_RULE;
    }
}

static void note_message(const struct message *message)
{
    event++;
    for (size_t i = 0; i < WATCHES; i++)
        if (watched[i].exists && (message == NULL || names(&watched[i], message)))
            watched[i].named = event;
}

/* ---- Changes of the kernel -------------------------------------------------------------------------------------- */

static struct simulated_state after; /* the change that is being made */

static uint32_t draw_link(void)
{
    return simulated_links[simulated_draw(SIMULATED_LINKS)];
}

static uint32_t draw_table(void)
{
    static const uint32_t others[] = { RT_TABLE_LOCAL, TABLE_BEFORE, TABLE_AFTER };

    return simulated_draw(6) != 0 ? RT_TABLE_MAIN : others[simulated.has_rules ? simulated_draw(3) : 0];
}

static bool is_taken(const struct simulated_route *new)
{
    for (size_t i = 0; i < SIMULATED_ROUTES; i++) {
        const struct simulated_route *route = &after.routes[i];

        if (route->exists && route->table == new->table &&
            route->prefix.length ==
                new->prefix.length &&reach_address_equal(&route->prefix.address, &new->prefix.address))
            return true;
    }
    return false;
}

static struct simulated_route draw_route(void)
{
    static const uint8_t lengths[] = { 0, 8, 23, 24, 27, 28, 29, 30, 31, 32 };
    const struct address address = draw_address();
    const uint8_t length = lengths[simulated_draw(sizeof lengths)];
    const bool is_ipv6 = address.family == AF_INET6;
    struct simulated_route route = { .exists = true,
                                     .kind = simulated_draw(3) != 0 ? KIND_ROUTE : simulated_draw(KINDS),
                                     .table = draw_table(),
                                     .oif = draw_link(),
                                     .other_oif = draw_link(),
                                     .end = NEVER };

    route.prefix.length = is_ipv6 && length > 0 ? 96 + length : length;
    route.prefix.address = reach_address_truncate(&address, route.prefix.length);
    if (route.kind != KIND_ROUTE)
        return route;
    if (simulated_draw(2) == 0)
        route.gateway = 1 + (uint8_t)simulated_draw(SIMULATED_GATEWAYS);
    if (simulated_draw(6) == 0)
        route.object = 1 + (uint8_t)simulated_draw(2);
    if (is_ipv6 && simulated_draw(3) == 0)
        route.end = simulated.clock + (1 + simulated_draw(3000)) * MILLISECOND;
    return route;
}

/* Returns the message; MESSAGE_OTHER: nothing has changed. */
static struct message change_route(void)
{
    struct simulated_route *route = &after.routes[simulated_draw(SIMULATED_ROUTES)];
    struct message message = { .kind = MESSAGE_ROUTE };
    const bool gone = route->exists;

    if (!gone) {
        const struct simulated_route new = draw_route();

        if (is_taken(&new))
            return (struct message){ .kind = MESSAGE_OTHER };
        *route = new;
    }
    message.route = (struct route){ .family = route->prefix.address.family,
                                    .prefix_length = route->prefix.length,
                                    .table = route->table,
                                    .oif = route->oif,
                                    .type = RTN_UNICAST,
                                    .gone = gone,
                                    .destination = route->prefix.address,
                                    .expires = !gone && route->end != NEVER ? 1 : 0 };
    if (gone)
        route->exists = false;
    return message;
}

/* The kernel announces a new IPv6 route before look-ups find it. */
static void change_and_announce_route(void)
{
    const struct message message = change_route();
    enum simulated_order order = simulated_draw(2) == 0 ? ORDER_AT_ONCE : ORDER_MESSAGE_LATER;

    if (message.kind == MESSAGE_OTHER)
        return;
    if (message.route.family == AF_INET6 && message.route.prefix_length > 0 && !message.route.gone &&
        simulated_draw(3) == 0)
        order = ORDER_CHANGE_LATE;
    simulated_change(&after, &message, order);
}

static enum simulated_order draw_order(void)
{
    return simulated_draw(ORDER_CHANGE_LATE + 1);
}

static struct message link_message(uint32_t index)
{
    return (struct message){ .kind = MESSAGE_LINK, .link.index = index };
}

/* The routes over a link vanish. Only the link is announced. Its neighbours are forgotten. */
static void lower_link(uint32_t index)
{
    const struct message message = link_message(index);

    for (size_t i = 0; i < SIMULATED_ROUTES; i++) {
        struct simulated_route *route = &after.routes[i];

        if (route->oif == index || (route->kind == KIND_MULTIPATH && route->other_oif == index))
            route->exists = false;
    }
    memset(after.failed[0][simulated_place(index)], 0, sizeof after.failed[0][0]);
    memset(after.failed[1][simulated_place(index)], 0, sizeof after.failed[1][0]);
    simulated_change(&after, &message, draw_order());
}

static void forget_neighbours(uint32_t index)
{
    const struct message message = link_message(index);

    memset(after.failed[1][simulated_place(index)], 0, sizeof after.failed[1][0]);
    simulated_change(&after, &message, draw_order());
}

static void switch_carrier(uint32_t index)
{
    const struct message message = link_message(index);

    after.carrier[simulated_place(index)] = !after.carrier[simulated_place(index)];
    simulated_change(&after, &message, draw_order());
}

/* The routes with an address of a link go with it. A new one revives IPv6 routes that have ended. */
static void change_address(uint32_t index)
{
    const struct message message = { .kind = MESSAGE_ADDRESS, .address.index = index };
    struct simulated_route *other = &after.routes[simulated_draw(SIMULATED_ROUTES)];

    if (simulated_draw(2) == 0) {
        other->exists = false;
    } else if (other->expired) {
        other->expired = false;
        other->end = NEVER;
    }
    simulated_change(&after, &message, draw_order());
}

/* If no path has had the gateway, the monitor notices that it responds with the next change of a link. */
static void change_neighbour(void)
{
    struct next_hops *hops = &watched[0].watch.monitor->hops;
    const size_t family = simulated_draw(2), place = simulated_draw(SIMULATED_LINKS);
    const uint8_t number = 1 + (uint8_t)simulated_draw(SIMULATED_GATEWAYS);
    bool *failed = &simulated.now.failed[family][place][number];
    struct message message = { .kind = MESSAGE_NEIGHBOUR,
                               .neighbour = {
                                   .index = simulated_links[place],
                                   .address = simulated_gateway(family == 0 ? AF_INET : AF_INET6, number) } };

    *failed = !*failed;
    message.neighbour.state = *failed ? NUD_FAILED : NUD_REACHABLE;
    if ((simulated_send(&message) &&
         reach_next_hops_find(hops, message.neighbour.index, &message.neighbour.address) != NULL) ||
        *failed)
        return;
    message = link_message(draw_link());
    (void)simulated_send(&message);
}

static void change_object(void)
{
    const struct message message = { .kind = MESSAGE_NEXTHOP };
    const uint8_t object = 1 + (uint8_t)simulated_draw(2), gateway = (uint8_t)simulated_draw(SIMULATED_GATEWAYS + 1);
    const uint32_t oif = draw_link();

    for (size_t i = 0; i < SIMULATED_ROUTES; i++)
        if (after.routes[i].object == object) {
            after.routes[i].oif = oif;
            after.routes[i].gateway = gateway;
        }
    simulated_change(&after, &message, draw_order());
}

static void switch_linkdown(void)
{
    struct message message = { .kind = MESSAGE_NETCONF, .netconf = { .switches_linkdown = true } };

    after.ignores_linkdown = !after.ignores_linkdown;
    message.netconf.ignore_linkdown = after.ignores_linkdown;
    simulated_change(&after, &message, draw_order());
}

/* A router advertises other ends, also for routes that have ended. Some need no message. */
static void advertise(void)
{
    const struct message message = { .kind = MESSAGE_PREFIX };
    const bool announces = simulated_draw(2) == 0;

    for (size_t i = 0; i < SIMULATED_ROUTES; i++) {
        struct simulated_route *route = &after.routes[i];
        const int64_t end = simulated.clock + (1 + simulated_draw(2000)) * MILLISECOND;

        if (!route->exists || route->end == NEVER || simulated_draw(2) == 0)
            continue;
        if (announces || (!route->expired && end < route->end)) {
            route->end = end;
            route->expired = false;
        }
    }
    if (announces)
        simulated_change(&after, &message, ORDER_AT_ONCE);
    else
        simulated.now = after;
}

/* As with a rule: several routes come and go, and nothing says which. */
static void change_much(bool loses)
{
    const struct message message = { .kind = MESSAGE_RULE };

    for (int i = 0; i < 5; i++)
        (void)change_route();
    if (loses) {
        simulated.now = after;
        simulated_lose();
    } else {
        simulated_change(&after, &message, simulated_draw(2) == 0 ? ORDER_AT_ONCE : ORDER_CHANGE_LATER);
    }
}

/* The message about the neighbour comes before the redirect. IPv4 has none. */
static void redirect(void)
{
    const struct address address = draw_address();
    const struct message message = { .kind = MESSAGE_NEIGHBOUR,
                                     .neighbour = { .index = draw_link(), .address = address, .state = NUD_STALE } };
    const size_t is_ipv6 = address.family == AF_INET6;
    bool *redirected = &after.redirected[is_ipv6][address.bytes[address_length(&address) - 1]];

    *redirected = simulated_draw(4) == 0;
    if (is_ipv6 && *redirected)
        simulated_change(&after, &message, ORDER_CHANGE_LATE);
    else
        simulated.now = after;
}

static void change_kernel(void)
{
    const unsigned what = simulated_draw(100);

    simulated_finish();
    after = simulated.now;
    if (what < 52)
        change_and_announce_route();
    else if (what < 58)
        lower_link(draw_link());
    else if (what < 62)
        forget_neighbours(draw_link());
    else if (what < 73)
        switch_carrier(draw_link());
    else if (what < 77)
        change_address(draw_link());
    else if (what < 85)
        change_neighbour();
    else if (what < 88)
        change_object();
    else if (what < 90)
        switch_linkdown();
    else if (what < 94)
        advertise();
    else if (what < 98)
        redirect();
    else
        change_much(what == 98);
}

static unsigned fault_rate(void)
{
    if (simulated.interrupt == NULL) /* the world is about to settle */
        return 0;
    return world % 8 == 0 ? 6 : world % 4 == 0 ? 60 : 0;
}

/* During a query, the kernel and the watches change. */
static void interrupt(void)
{
    if (simulated_draw(12) == 0)
        change_watch();
    if (simulated_draw(20) == 0)
        change_kernel();
    if (simulated_draw(20) == 0)
        simulated_finish();
}

/* ---- The monitor ------------------------------------------------------------------------------------------------ */

static struct source *source(void)
{
    return &watched[0].watch.monitor->service.source;
}

/* Passes until the monitor has nothing to do at once. */
static void perform(void)
{
    simulated.faults = fault_rate();
    for (unsigned i = 0; i < 1000 && (i == 0 || !list_is_empty(&source()->queued) || simulated_has_news()); i++) {
        if (list_is_empty(&source()->queued) && simulated.rest.exists && i > 0)
            break; /* there is nothing to read yet */
        assert_true(SCRunLoopPerform(loop, 0) >= 0);
    }
    simulated.faults = 0;
    for (size_t i = 0; checks_names && i < WATCHES; i++)
        if (watched[i].exists && (!watched[i].has_path || watched[i].evaluated < watched[i].named))
            fail_for(&watched[i], "a message names it, and it was not evaluated");
}

static bool has_just_ended(void)
{
    for (size_t i = 0; i < SIMULATED_ROUTES; i++) {
        const struct simulated_route *route = &simulated.now.routes[i];

        if (route->exists && route->expired && route->end > simulated.clock - 60 * MILLISECOND)
            return true;
    }
    return false;
}

static void advance_and_perform(int64_t time)
{
    simulated_advance(time > simulated.clock ? time - simulated.clock : MILLISECOND);
    perform();
}

/* Sweeps, repeated looks and ends of routes. */
static void settle(void)
{
    const int64_t cost = simulated.query_costs;
    int64_t end;

    simulated_finish();
    perform();
    simulated.query_costs = 0;
    if (cost > 0)
        simulated_advance(100000 * SECOND); /* what sweeps have taken is saved again */
    perform();
    for (unsigned i = 0; i < 100 && reach_answers_are_stale(&watched[0].watch.monitor->answers, true); i++)
        advance_and_perform(source()->timer.deadline);
    end = simulated.clock + 12 * SECOND;
    for (unsigned i = 0; source()->timer.deadline < end || has_just_ended(); i++) {
        assert_true(i < 5000); /* it comes to rest */
        advance_and_perform(clock_earlier(source()->timer.deadline, simulated.clock + 30 * MILLISECOND));
    }
    simulated.query_costs = cost;
}

static void expect_right(void)
{
    unsigned members = 0;

    simulated.interrupt = NULL;
    settle();
    for (size_t i = 0; i < WATCHES; i++) {
        if (!watched[i].exists)
            continue;
        members++;
        if (!is_right(&watched[i]))
            fail_for(&watched[i], "it is wrong at the end");
    }
    assert_int_equal(members, watched[0].watch.monitor->answers.count);
    simulated.interrupt = interrupt;
}

static void begin_world(void)
{
    srandom(world);
    simulated_begin();
    simulated.interrupt = interrupt;
    simulated.delivered = note_message;
    simulated.has_rules = world % 5 == 0;
    simulated.now.ignores_linkdown = world % 3 == 0;
    simulated.query_costs = world % 2 == 0 ? SECOND : 0; /* no time for sweeps */
    checks_names = world % 4 != 0;
    memset(watched, 0, sizeof watched);
    for (size_t i = 0; i < WATCHES; i++)
        counted_init(&watched[i].counted, free_nothing);
    loop = SCRunLoopCreate();
    assert_non_null(loop);
    add_watch(&watched[0]);
}

static void end_world(void)
{
    simulated.interrupt = NULL;
    for (size_t i = WATCHES; i-- > 0;)
        if (watched[i].exists)
            drop_watch(&watched[i]);
    simulated_end();
    SCRunLoopRelease(loop);
}

static void play(void)
{
    begin_world();
    for (unsigned i = 0; i < CHANGES; i++) {
        change_kernel();
        simulated.faults = fault_rate();
        if (simulated_draw(3) == 0)
            change_watch();
        simulated.faults = 0;
        if (simulated_draw(3) == 0)
            simulated_advance(simulated_draw(8) * MILLISECOND);
        if (simulated_draw(3) != 0)
            perform();
        if (simulated_draw(12) == 0)
            expect_right();
    }
    expect_right();
    end_world();
}

static unsigned number_of(const char *variable)
{
    const char *text = getenv(variable);

    return text == NULL ? 0 : (unsigned)atoi(text);
}

/* Seeds are repeatable: the order of equal addresses in a tree is that of their entries in memory. */
static void fix_addresses(void)
{
    const int before = personality(PERSONALITY_UNKNOWN);

    if (unit_is_under("valgrind")) /* it runs no program that is called by /proc/self/exe */
        return;
    if ((before & ADDR_NO_RANDOMIZE) == 0 && personality((unsigned long)before | ADDR_NO_RANDOMIZE) >= 0 &&
        (personality(PERSONALITY_UNKNOWN) & ADDR_NO_RANDOMIZE) != 0)
        execl("/proc/self/exe", program_invocation_name, NULL);
}

UNIT(.start = fix_addresses)

TEST(each_watch_has_the_path_that_the_kernel_gives_it)
{
    const unsigned seed = number_of("TEST_SEED"), wanted = number_of("TEST_WORLDS");
    const unsigned worlds = wanted > 0 ? wanted : unit_is_under(NULL) ? WORLDS / 10 : WORLDS;

    assert_int_equal(reach_netns_current(&netns), 0);
    print_message("Seeds %u to %u\n", seed > 0 ? seed : 1, seed > 0 ? seed : worlds);
    for (world = seed > 0 ? seed : 1; world <= (seed > 0 ? seed : worlds); world++)
        play();
    print_message("%u paths were copied\n", copies);
    reach_netns_release(netns);
}
