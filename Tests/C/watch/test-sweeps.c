/* SPDX-License-Identifier: MIT */
/* What no message names: sweeps, their time, and second looks. A monitor over a simulated kernel, and its clock. */
#include <linux/neighbour.h>

#include "base/clock.h"
#include "support/simulated_kernel.h"
#include "support/test.h"
#include "watch/monitor.h"
#include "watch/monitor_state.h"

enum { WATCHES = 400 };

static SCRunLoopRef loop;
static struct netns *netns;
static size_t count;

static struct watched {
    struct counted counted;
    struct path_watch watch;
    struct simulated_answer path;
    unsigned given;
    bool is_copy, refuses; /* the last path; the next one */
} watched[WATCHES];

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

static bool accept_path(struct path_watch *watch, const struct path *path)
{
    struct watched *which = watched_of(watch);

    which->path = (struct simulated_answer){ .index = path->index, .gateway = path->gateway };
    which->given++;
    which->is_copy = simulated.asked == 0;
    simulated.asked = 0;
    if (!which->refuses)
        return true;
    which->refuses = false;
    return false;
}

/* Of a network target. */
static int evaluate_network(struct path_watch *watch, struct rtnetlink *rtnetlink, struct netns *any,
                            struct round_cache *cache, const struct questions *questions, bool whole, struct path *ret)
{
    (void)watch, (void)rtnetlink, (void)any, (void)cache, (void)whole;
    *ret = (struct path){ .index = simulated_evaluate(&simulated.now, questions).index };
    return 0;
}

static const struct path_watch_type type = { .owner = owner, .accept = accept_path };
static const struct path_watch_type network_type = { .owner = owner,
                                                     .accept = accept_path,
                                                     .evaluate = evaluate_network };

static void begin(void)
{
    simulated_begin();
    loop = SCRunLoopCreate();
    assert_non_null(loop);
    assert_int_equal(reach_netns_current(&netns), 0);
    memset(watched, 0, sizeof watched);
    count = 0;
}

static void end(void)
{
    simulated.interrupt = NULL;
    while (count > 0) {
        reach_monitor_unwatch(loop, &watched[--count].watch);
        reach_questions_release(watched[count].watch.questions);
    }
    simulated_end();
    reach_netns_release(netns);
    SCRunLoopRelease(loop);
}

UNIT(.setup = begin, .teardown = end)

/* Without a zero byte, an IPv4 address is 10.0.`third`.`last`. */
static struct address address_of(uint8_t family, uint8_t third, uint8_t last)
{
    if (family == AF_INET)
        return (struct address){ AF_INET, { 10, 0, third, last } };
    return (struct address){ AF_INET6, { 0xfd, [14] = third, [15] = last } };
}

static struct watched *watch_with(const struct path_watch_type *of_type, struct address address, bool can_share)
{
    struct watched *which = &watched[count++];

    which->watch = (struct path_watch){ .type = of_type, .can_share = can_share };
    which->watch.questions = reach_questions_create(&(struct question){ .destination = address }, 1,
                                                    kSCNetworkReachabilityReasonNone);
    assert_non_null(which->watch.questions);
    counted_init(&which->counted, free_nothing);
    assert_int_equal(reach_monitor_watch(loop, netns, &which->watch), 0);
    return which;
}

static struct watched *watch(uint8_t family, uint8_t third, uint8_t last)
{
    return watch_with(&type, address_of(family, third, last), true);
}

static struct source *source(void)
{
    return &watched[0].watch.monitor->service.source;
}

static void perform(void)
{
    do
        assert_true(SCRunLoopPerform(loop, 0) >= 0);
    while (!list_is_empty(&source()->queued));
}

/* All that the clock starts within this time. */
static void perform_for(int64_t nanoseconds)
{
    const int64_t last = simulated.clock + nanoseconds;

    perform();
    while (source()->timer.deadline <= last) {
        if (source()->timer.deadline > simulated.clock)
            simulated_advance(source()->timer.deadline - simulated.clock);
        perform();
    }
    simulated_advance(last - simulated.clock);
}

/* The first looks of new watches are over, and time for sweeps is saved. */
static void settle(void)
{
    perform_for(30 * SECOND);
}

static void set_route(size_t place, uint8_t family, uint8_t third, uint8_t last, uint8_t length, uint32_t oif)
{
    const struct address address = address_of(family, third, last);

    simulated.now.routes[place] = (struct simulated_route){ .exists = true,
                                                            .table = RT_TABLE_MAIN,
                                                            .oif = oif,
                                                            .end = NEVER,
                                                            .prefix = { reach_address_truncate(&address, length),
                                                                        length } };
}

/* Default routes over link 1. */
static void set_default_routes(void)
{
    set_route(0, AF_INET, 0, 0, 0, 1);
    set_route(1, AF_INET6, 0, 0, 0, 1);
}

static void send_link(uint32_t index)
{
    const struct message message = { .kind = MESSAGE_LINK, .link.index = index };

    assert_true(simulated_send(&message));
}

/* ---- Sweeps ----------------------------------------------------------------------------------------------------- */

TEST(a_message_about_one_link_finds_a_change_over_another)
{
    set_default_routes();
    struct watched *which = watch(AF_INET, 0, 1);
    settle();
    set_route(2, AF_INET, 0, 1, 32, 2);
    send_link(33);
    perform();
    assert_int_equal(which->path.index, 2);
}

TEST(without_time_the_own_link_is_looked_at_and_the_rest_waits)
{
    set_default_routes();
    set_route(2, AF_INET, 1, 0, 24, 2);
    struct watched *own = watch(AF_INET, 0, 1), *other = watch(AF_INET, 1, 1);
    simulated.query_costs = SECOND;
    settle();
    send_link(33);
    perform(); /* a sweep takes all the time that was saved */
    set_route(2, AF_INET, 1, 0, 24, 1);
    set_route(3, AF_INET, 0, 0, 24, 2);
    send_link(1);
    perform();
    assert_int_equal(own->path.index, 2);
    assert_int_equal(other->path.index, 2);
    perform_for(3600 * SECOND);
    assert_int_equal(other->path.index, 1);
}

TEST(a_network_watch_does_not_wait_for_time)
{
    set_default_routes();
    watch(AF_INET, 0, 1);
    struct watched *network = watch_with(&network_type, address_of(AF_INET, 1, 1), false);
    simulated.query_costs = SECOND;
    settle();
    send_link(33);
    perform();
    set_route(2, AF_INET, 1, 1, 32, 2);
    send_link(33);
    perform();
    assert_int_equal(network->path.index, 2);
}

enum { CROWD = 40, BATCH = 64 };

static void watch_crowd(void)
{
    set_default_routes();
    for (uint8_t i = 0; i < CROWD; i++)
        watch_with(&type, address_of(AF_INET, 0, i), false);
    simulated.query_costs = MILLISECOND;
    settle();
    simulated.queries = 0;
}

/* A link that no watch uses changes each millisecond. */
static void change_link_for(unsigned milliseconds)
{
    for (unsigned i = 0; i < milliseconds; i++) {
        send_link(33);
        perform_for(MILLISECOND);
    }
}

TEST(sweeps_take_one_two_hundredth_of_a_processor)
{
    watch_crowd();
    change_link_for(20000);
    assert_in_range(simulated.queries, 100 + 80, 100 + 100 + BATCH);
}

TEST(an_idle_day_saves_100_ms)
{
    watch_crowd();
    simulated_advance(24 * 3600 * SECOND);
    change_link_for(1000);
    assert_in_range(simulated.queries, 90, 100 + 5 + BATCH);
}

/* A sweep has taken more than was saved. A day later that is paid, also if something else is due first. */
TEST(what_a_sweep_owes_is_counted_again_in_each_round)
{
    set_default_routes();
    set_route(2, AF_INET, 1, 0, 24, 2);
    struct watched *own = watch(AF_INET, 0, 1), *other = watch(AF_INET, 1, 1);
    simulated.query_costs = SECOND;
    settle();
    send_link(33);
    perform_for(MILLISECOND);
    simulated_advance(24 * 3600 * SECOND);
    set_route(2, AF_INET, 1, 0, 24, 1);
    set_route(3, AF_INET, 0, 0, 24, 2);
    send_link(1);
    perform_for(2 * MILLISECOND);
    assert_int_equal(own->path.index, 2);
    assert_int_equal(other->path.index, 1);
}

/* Each sweep begins before the last one has come to its end. */
TEST(sweeps_look_at_the_oldest_answers_first)
{
    set_default_routes();
    set_route(2, AF_INET, 1, 0, 24, 2);
    struct watched *which = watch(AF_INET, 1, 1);
    for (uint8_t i = 0; i < BATCH; i++)
        watch_with(&type, address_of(AF_INET, 0, i), false);
    settle();
    which->given = 0;
    simulated.query_costs = SECOND; /* one slice at a time */
    for (int i = 0; i < 6; i++) {
        send_link(33);
        perform();
        simulated_advance(24 * 3600 * SECOND);
    }
    assert_int_equal(which->given, 1);
}

/* ---- Second looks ----------------------------------------------------------------------------------------------- */

TEST(a_change_that_is_finished_after_its_message_is_found_5_ms_later)
{
    set_default_routes();
    struct watched *which = watch(AF_INET, 0, 1);
    settle();
    send_link(33);
    perform();
    assert_int_equal(which->path.index, 1);
    set_route(2, AF_INET, 0, 1, 32, 2);
    perform_for(6 * MILLISECOND);
    assert_int_equal(which->path.index, 2);
}

/* Each message postpones the second look, but by 50 ms at most. */
TEST(a_change_is_found_after_50_ms_while_others_go_on)
{
    set_default_routes();
    struct watched *which = watch(AF_INET, 0, 1);
    settle();
    simulated.query_costs = SECOND;
    send_link(33);
    perform(); /* there is no time left for the sweeps of the next messages */
    set_route(2, AF_INET, 0, 1, 32, 2);
    simulated.query_costs = 0;
    change_link_for(49);
    assert_int_equal(watched[0].watch.monitor->recheck, watched[0].watch.monitor->recheck_latest);
    assert_true(watched[0].watch.monitor->recheck < simulated.clock + 2 * MILLISECOND);
    (void)which;
}

TEST(after_the_last_of_many_messages_there_is_a_second_look)
{
    set_default_routes();
    struct watched *which = watch(AF_INET, 0, 1);
    settle();
    for (unsigned i = 0; i < 50; i++) {
        send_link(33);
        perform_for(MILLISECOND);
    }
    assert_int_equal(which->path.index, 1);
    set_route(2, AF_INET, 0, 1, 32, 2); /* the last change, 1 ms after its message */
    perform_for(6 * MILLISECOND);
    assert_int_equal(which->path.index, 2);
}

/* What is queried 20 ms after a message can be from before the end of its change. */
TEST(a_watch_that_comes_soon_after_a_change_is_looked_at_twice)
{
    set_default_routes();
    watch(AF_INET, 0, 1);
    settle();
    send_link(33);
    perform_for(20 * MILLISECOND);
    struct watched *which = watch(AF_INET, 1, 1);
    perform();
    assert_int_equal(which->path.index, 1);
    set_route(2, AF_INET, 1, 1, 32, 2);
    perform_for(6 * MILLISECOND);
    assert_int_equal(which->path.index, 2);
}

TEST(there_is_no_third_look)
{
    set_default_routes();
    struct watched *which = watch(AF_INET, 0, 1);
    settle();
    send_link(33);
    perform_for(20 * MILLISECOND);
    unsigned given = which->given;
    perform_for(60 * SECOND);
    assert_int_equal(which->given, given);
}

/* ---- What can bring a longer route ------------------------------------------------------------------------------ */

/* Two watches share the default route. Then a longer route leads to the second one, and a message of this kind says
 * that something may have changed. */
static void expect_longer_route_found(uint8_t family, const struct message *message, bool is_late)
{
    set_default_routes();
    struct watched *pair[2] = { watch(family, 0, 1), watch(family, 1, 1) };
    settle();
    assert_int_equal(pair[1]->watch.length, 0);
    if (!is_late)
        set_route(2, family, 1, 1, family == AF_INET ? 32 : 128, 2);
    assert_true(simulated_send(message));
    perform();
    if (is_late)
        set_route(2, family, 1, 1, family == AF_INET ? 32 : 128, 2);
    perform_for(6 * MILLISECOND);
    assert_int_equal(pair[1]->path.index, 2);
}

static const struct row {
    const char *name;
    uint8_t family;
    struct message message;
    bool ignores_linkdown, is_late;
} rows[] = {
    { "a_link", AF_INET6, { .kind = MESSAGE_LINK, .link.index = 33 }, false, false },
    { "a_link_that_is_gone", AF_INET6, { .kind = MESSAGE_LINK_GONE, .link.index = 33 }, false, false },
    { "an_address", AF_INET6, { .kind = MESSAGE_ADDRESS, .address.index = 33 }, false, false },
    { "a_prefix_of_a_router", AF_INET6, { .kind = MESSAGE_PREFIX }, false, false },
    { "a_nexthop_object", AF_INET6, { .kind = MESSAGE_NEXTHOP }, false, false },
    { "a_setting", AF_INET6, { .kind = MESSAGE_NETCONF, .netconf.index = 33 }, false, false },
    { "a_rule", AF_INET6, { .kind = MESSAGE_RULE }, false, false },
    { "a_link_late", AF_INET6, { .kind = MESSAGE_LINK, .link.index = 33 }, false, true },
    { "an_ipv4_rule", AF_INET, { .kind = MESSAGE_RULE }, false, false },
    { "an_ipv4_link_with_carriers", AF_INET, { .kind = MESSAGE_LINK, .link.index = 33 }, true, false },
    { "an_ipv4_link_with_carriers_late", AF_INET, { .kind = MESSAGE_LINK, .link.index = 33 }, true, true },
    { "ipv4_without_carriers",
      AF_INET,
      { .kind = MESSAGE_NETCONF, .netconf = { .switches_linkdown = true } },
      false,
      false },
    { "ipv4_with_carriers",
      AF_INET,
      { .kind = MESSAGE_NETCONF, .netconf = { .switches_linkdown = true, .ignore_linkdown = true } },
      false,
      false },
    { "ipv4_without_carriers_late",
      AF_INET,
      { .kind = MESSAGE_NETCONF, .netconf = { .switches_linkdown = true } },
      false,
      true },
};

TEST_EACH(a_longer_route_comes_with, rows)
{
    simulated.now.ignores_linkdown = row->ignores_linkdown;
    expect_longer_route_found(row->family, &row->message, row->is_late);
}

TEST(a_longer_route_comes_with_lost_messages)
{
    set_default_routes();
    watch(AF_INET, 0, 1);
    struct watched *which = watch(AF_INET, 1, 1);
    settle();
    set_route(2, AF_INET, 1, 1, 32, 2);
    simulated_lose();
    perform();
    assert_int_equal(which->path.index, 2);
}

TEST(a_longer_route_comes_with_a_link_after_carriers_were_switched_on)
{
    const struct message message = { .kind = MESSAGE_NETCONF,
                                     .netconf = { .switches_linkdown = true, .ignore_linkdown = true } };

    set_default_routes();
    watch(AF_INET, 0, 1);
    struct watched *which = watch(AF_INET, 1, 1);
    settle();
    simulated.now.ignores_linkdown = true;
    assert_true(simulated_send(&message));
    settle();
    assert_int_equal(which->watch.length, 0);
    set_route(2, AF_INET, 1, 1, 32, 2);
    send_link(33);
    perform();
    assert_int_equal(which->path.index, 2);
}

TEST(after_carriers_were_switched_off_a_link_brings_no_longer_ipv4_route)
{
    const struct message message = { .kind = MESSAGE_NETCONF, .netconf = { .switches_linkdown = true } };

    simulated.now.ignores_linkdown = true;
    set_default_routes();
    watch(AF_INET, 0, 1);
    watch(AF_INET, 1, 1);
    settle();
    simulated.now.ignores_linkdown = false;
    assert_true(simulated_send(&message));
    settle();
    const uint64_t before = watched[0].watch.monitor->answers.broken[ANSWERS_IPV4];
    send_link(33);
    perform();
    assert_true(watched[0].watch.monitor->answers.broken[ANSWERS_IPV4] == before);
}

static void send_neighbour(uint32_t index, uint16_t state)
{
    const struct message message = { .kind = MESSAGE_NEIGHBOUR,
                                     .neighbour = {
                                         .index = index, .address = simulated_gateway(AF_INET6, 1), .state = state } };

    simulated.now.failed[1][simulated_place(index)][1] = state == NUD_FAILED;
    assert_true(simulated_send(&message));
    perform();
}

TEST(a_longer_route_comes_with_a_gateway_that_responds)
{
    set_default_routes();
    set_route(2, AF_INET6, 1, 1, 128, 2);
    simulated.now.routes[2].gateway = 1;
    watch(AF_INET6, 0, 1);
    struct watched *which = watch(AF_INET6, 1, 1);
    settle();
    assert_int_equal(which->path.index, 2);
    send_neighbour(2, NUD_FAILED);
    settle();
    assert_int_equal(which->path.index, 1);
    reach_monitor_evaluate_again(loop, &which->watch); /* so it is the last to be swept */
    perform();
    assert_int_equal(which->watch.length, 0);
    send_neighbour(2, NUD_REACHABLE);
    assert_int_equal(which->path.index, 2);
}

/* ---- Lost messages ---------------------------------------------------------------------------------------------- */

TEST(a_gateway_that_failed_among_lost_messages_responds)
{
    set_default_routes();
    set_route(2, AF_INET6, 1, 1, 128, 2);
    simulated.now.routes[2].gateway = 1;
    struct watched *which = watch(AF_INET6, 1, 1);
    settle();
    send_neighbour(2, NUD_REACHABLE); /* the first message counts */
    simulated.now.failed[1][1][1] = true;
    simulated_lose();
    settle();
    assert_int_equal(which->path.index, 1);
    send_neighbour(2, NUD_REACHABLE);
    assert_int_equal(which->path.index, 2);
}

static void expect_rules_read_again(void)
{
    const struct shares *const shares = &watched[0].watch.monitor->shares;

    perform();
    assert_int_equal(shares->sharing, simulated.has_rules ? SHARING_PLAIN_IPV4 : SHARING_ALL);
}

TEST(rules_are_read_again_when_one_has_changed_or_messages_were_lost)
{
    const struct message message = { .kind = MESSAGE_RULE };

    set_default_routes();
    watch(AF_INET, 0, 1);
    watch(AF_INET, 1, 1);
    settle();
    expect_rules_read_again();
    simulated.has_rules = true;
    assert_true(simulated_send(&message));
    expect_rules_read_again();
    simulated.has_rules = false;
    simulated_lose();
    expect_rules_read_again();
}

/* ---- Routes that are late, or refuse ---------------------------------------------------------------------------- */

/* On Linux 6.18, the message comes before look-ups find the route. */
TEST(a_new_ipv6_route_is_looked_for_twice)
{
    set_default_routes();
    watch(AF_INET6, 0, 1);
    struct watched *which = watch(AF_INET6, 1, 1);
    settle();
    struct simulated_state before = simulated.now;
    set_route(2, AF_INET6, 1, 1, 128, 2);
    const struct simulated_state after = simulated.now;
    const struct message message = { .kind = MESSAGE_ROUTE,
                                     .route = { .family = AF_INET6,
                                                .table = RT_TABLE_MAIN,
                                                .prefix_length = 128,
                                                .destination = after.routes[2].prefix.address } };
    simulated.now = before;
    simulated_change(&after, &message, ORDER_CHANGE_LATE);
    perform();
    assert_int_equal(which->path.index, 1);
    perform_for(6 * MILLISECOND);
    assert_int_equal(which->path.index, 2);
}

/* The message about the route that refuses the first watch comes after the others have its path. */
TEST(what_refuses_one_watch_alone_does_not_stay_with_the_others)
{
    set_default_routes();
    struct watched *refused = watch(AF_INET, 0, 1), *other = watch(AF_INET, 1, 1);
    settle();
    set_route(2, AF_INET, 0, 1, 32, 1);
    simulated.now.routes[2].kind = KIND_UNREACHABLE;
    struct message message = { .kind = MESSAGE_ROUTE, .route = { .family = AF_INET, .table = RT_TABLE_MAIN } };
    assert_true(simulated_send(&message));
    perform();
    assert_int_equal(refused->path.index, 0);
    assert_int_equal(other->path.index, 0);
    message.route.prefix_length = 32;
    message.route.destination = simulated.now.routes[2].prefix.address;
    assert_true(simulated_send(&message));
    perform();
    assert_int_equal(refused->path.index, 0);
    assert_int_equal(other->path.index, 1);
}

/* The last route whose gateway responds ends. To the one watch the default route is left, and to the other a longer one
 * that was hidden. */
TEST(a_path_over_a_gateway_that_has_failed_is_not_copied)
{
    set_route(0, AF_INET6, 0, 0, 0, 1);
    set_route(1, AF_INET6, 1, 1, 128, 2);
    set_route(2, AF_INET6, 0, 0, 8, 33);
    simulated.now.routes[0].gateway = simulated.now.routes[1].gateway = 1;
    simulated.now.failed[1][0][1] = simulated.now.failed[1][1][1] = true;
    watch(AF_INET6, 0, 1);
    struct watched *hidden = watch(AF_INET6, 1, 1);
    settle();
    assert_int_equal(hidden->path.index, 33);
    struct simulated_state after = simulated.now;
    struct message message = { .kind = MESSAGE_ROUTE,
                               .route = { .family = AF_INET6,
                                          .table = RT_TABLE_MAIN,
                                          .prefix_length = 8,
                                          .gone = true,
                                          .destination = after.routes[2].prefix.address } };
    after.routes[2].exists = false;
    simulated_change(&after, &message, ORDER_AT_ONCE);
    perform();
    assert_int_equal(hidden->path.index, 2);
}

/* ---- Storms ----------------------------------------------------------------------------------------------------- */

static void send_route(uint8_t length)
{
    const struct message message = { .kind = MESSAGE_ROUTE,
                                     .route = { .family = AF_INET,
                                                .table = RT_TABLE_MAIN,
                                                .prefix_length = length,
                                                .destination = { AF_INET, { 10 } } } };

    assert_true(simulated_send(&message));
}

static void send_route_again(void)
{
    send_route(8);
}

/* Between two slices of a round, the next messages mark all watches again. */
TEST(in_a_storm_each_watch_is_looked_at)
{
    set_default_routes();
    for (size_t i = 0; i < WATCHES; i++)
        watch_with(&type, address_of(AF_INET, (uint8_t)(1 + i / 200), (uint8_t)(i % 200)), false);
    settle();
    for (size_t i = 0; i < WATCHES; i++)
        watched[i].given = 0;
    simulated.interrupt = send_route_again;
    send_route(8);
    assert_true(SCRunLoopPerform(loop, 0) >= 0); /* a round: it ends, although the messages do not */
    for (size_t i = 0; i < WATCHES; i++)
        assert_in_range(watched[i].given, 1, 16);
}

/* ---- Owners ----------------------------------------------------------------------------------------------------- */

TEST(a_path_that_its_owner_does_not_take_is_found_again)
{
    set_default_routes();
    struct watched *which = watch(AF_INET, 0, 1);
    settle();
    which->given = 0;
    which->refuses = true;
    reach_monitor_evaluate_again(loop, &which->watch);
    assert_true(atomic_load(&which->watch.outdated)); /* so the owner does not take a path that is being found now */
    perform();
    assert_int_equal(which->given, 2);
}

/* ---- Refusals --------------------------------------------------------------------------------------------------- */

static unsigned count_queries(struct watched *which)
{
    simulated.queries = 0;
    reach_monitor_evaluate_again(loop, &which->watch);
    perform();
    return simulated.queries;
}

/* That no route leads to a pair does not say whether its local address is there. */
TEST(a_refusal_of_the_route_is_the_whole_path_of_a_plain_watch_only)
{
    const struct question question = { .destination = address_of(AF_INET, 1, 1), .local = address_of(AF_INET, 0, 9) };
    struct watched *address = watch(AF_INET, 0, 1), *pair = &watched[count++];

    pair->watch = (struct path_watch){ .type = &type,
                                       .can_share = true,
                                       .questions = reach_questions_create(&question, 1,
                                                                           kSCNetworkReachabilityReasonNone) };
    assert_non_null(pair->watch.questions);
    counted_init(&pair->counted, free_nothing);
    assert_int_equal(reach_monitor_watch(loop, netns, &pair->watch), 0);
    settle();
    assert_int_equal(count_queries(address), 1);
    assert_int_equal(count_queries(pair), 2);
    reach_monitor_unwatch(loop, &pair->watch);
    reach_questions_release(pair->watch.questions);
    pair->watch.questions = NULL;
    count--;
}

/* ---- The filter ------------------------------------------------------------------------------------------------- */

TEST(messages_about_a_new_address_pass_the_filter)
{
    set_default_routes();
    watch(AF_INET, 0, 1);
    settle();
    const struct message unwatched = { .kind = MESSAGE_ROUTE,
                                       .route = { .family = AF_INET,
                                                  .table = RT_TABLE_MAIN,
                                                  .prefix_length = 32,
                                                  .destination = { AF_INET, { 10, 0, 1, 1 } } } };
    assert_true(simulated_send(&unwatched));
    settle();
    assert_false(simulated_send(&unwatched));
    struct watched *which = watch(AF_INET, 1, 1);
    perform();
    assert_int_equal(which->path.index, 1);
    set_route(2, AF_INET, 1, 1, 32, 2);
    assert_true(simulated_send(&unwatched));
    perform();
    assert_int_equal(which->path.index, 2);
}

TEST(messages_about_a_new_gateway_pass_the_filter)
{
    set_default_routes();
    simulated.now.routes[1].gateway = 1;
    set_route(2, AF_INET6, 0, 0, 8, 2);
    struct watched *which = watch(AF_INET6, 0, 1);
    settle();
    assert_int_equal(which->path.index, 2);
    struct simulated_state after = simulated.now;
    const struct message gone = { .kind = MESSAGE_ROUTE,
                                  .route = { .family = AF_INET6,
                                             .table = RT_TABLE_MAIN,
                                             .prefix_length = 8,
                                             .gone = true,
                                             .destination = after.routes[2].prefix.address } };
    after.routes[2].exists = false;
    simulated_change(&after, &gone, ORDER_AT_ONCE);
    perform();
    assert_int_equal(which->path.index, 1);
    const struct message fails = { .kind = MESSAGE_NEIGHBOUR,
                                   .neighbour = {
                                       .index = 1, .address = simulated_gateway(AF_INET6, 1), .state = NUD_FAILED } };
    simulated.now.failed[1][0][1] = true;
    set_route(2, AF_INET6, 0, 0, 0, 33);
    assert_true(simulated_send(&fails));
    perform();
    assert_int_equal(which->path.index, 33);
}
