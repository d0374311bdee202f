/* SPDX-License-Identifier: MIT */
#include "support/simulated_kernel.h"

#include <linux/neighbour.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include "base/clock.h"
#include "kernel/dumps.h"
#include "pure/route_filter.h"
#include "route/full_path.h"
#include "route/shared_socket.h"
#include "support/test.h"

#define START        (INT64_C(1000) * SECOND)
#define MESSAGES     8192
#define READ_AT_ONCE 50

const uint32_t simulated_links[SIMULATED_LINKS] = { 1, 2, SIMULATED_TUNNEL, 33 };
struct simulated_kernel simulated;

static struct message messages[MESSAGES];
static size_t message_count;
static int events = -1; /* the descriptor; -1: there is no monitor */
static bool lost;

/* Replies that were made when the queries were sent. */
static struct simulated_state batch_state;
static struct route_request batch[256];
static size_t batch_count;
static unsigned batch_version;

static bool has_barrier;

unsigned simulated_draw(unsigned limit)
{
    return (unsigned)random() % limit;
}

static bool fails(void)
{
    return simulated.faults != 0 && simulated_draw(simulated.faults) == 0;
}

WRAP(void *, calloc, size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

/* ---- Time ------------------------------------------------------------------------------------------------------- */

WRAP(int, clock_gettime, clockid_t clock, struct timespec *ret)
{
    const int64_t now = clock == CLOCK_THREAD_CPUTIME_ID ? simulated.processor : simulated.clock;

    ret->tv_sec = now / SECOND;
    ret->tv_nsec = now % SECOND;
    return 0;
}

/* The passes are made by the test. */
WRAP(int, timerfd_settime, int fd, int flags, const struct itimerspec *value, struct itimerspec *old)
{
    (void)fd, (void)flags, (void)value, (void)old;
    return 0;
}

/* Routes end without a message. */
void simulated_advance(int64_t nanoseconds)
{
    simulated.clock += nanoseconds;
    if (simulated.rest.exists && simulated.rest.when <= simulated.clock)
        simulated_finish();
    for (size_t i = 0; i < SIMULATED_ROUTES; i++)
        if (simulated.now.routes[i].end <= simulated.clock)
            simulated.now.routes[i].expired = true;
}

/* ---- Routes ----------------------------------------------------------------------------------------------------- */

size_t simulated_place(uint32_t index)
{
    size_t place = 0;

    while (simulated_links[place] != index)
        place++;
    return place;
}

struct address simulated_gateway(uint8_t family, uint8_t number)
{
    if (family == AF_INET)
        return (struct address){ AF_INET, { 10, 0, 255, number } };
    return (struct address){ AF_INET6, { 0xfe, 0x80, [15] = number } };
}

static bool is_hidden(const struct simulated_state *state, const struct simulated_route *route)
{
    return route->gateway != 0 && route->prefix.address.family == AF_INET6 &&
           state->failed[1][simulated_place(route->oif)][route->gateway];
}

static bool leads_to(const struct simulated_state *state, const struct simulated_route *route, uint32_t table,
                     const struct address *address)
{
    return route->exists && !route->expired && route->table == table &&
           reach_address_in_prefix(address, &route->prefix.address, route->prefix.length) &&
           !(state->ignores_linkdown && route->kind == KIND_ROUTE && !state->carrier[simulated_place(route->oif)]);
}

/* The longest prefix; of IPv6, at first only those whose gateways respond. */
static const struct simulated_route *find_in_table(const struct simulated_state *state, uint32_t table,
                                                   const struct address *address)
{
    const struct simulated_route *found = NULL, *hidden = NULL;

    for (size_t i = 0; i < SIMULATED_ROUTES; i++) {
        const struct simulated_route *route = &state->routes[i];
        const struct simulated_route **best = &found;

        if (!leads_to(state, route, table, address))
            continue;
        if (is_hidden(state, route))
            best = &hidden;
        if (*best == NULL || route->prefix.length > (*best)->prefix.length)
            *best = route;
    }
    found = found == NULL ? hidden : found;
    return found == NULL || found->kind == KIND_THROW ? NULL : found;
}

static uint8_t last_byte(const struct address *address)
{
    return address->bytes[address->family == AF_INET ? 3 : 15];
}

/* By its last byte, an address has a table before "main", and one after it. */
static bool has_table(uint32_t table, const struct address *address)
{
    switch (table) {
    case TABLE_BEFORE:
        return simulated.has_rules && last_byte(address) < 20;
    case TABLE_AFTER:
        return simulated.has_rules && last_byte(address) >= 12;
    default:
        return true;
    }
}

/* NULL: no route leads there. */
static const struct simulated_route *look_up(const struct simulated_state *state, const struct address *address)
{
    static const uint32_t tables[] = { RT_TABLE_LOCAL, TABLE_BEFORE, RT_TABLE_MAIN, TABLE_AFTER };
    const struct simulated_route *route = NULL;

    for (size_t i = 0; route == NULL && i < sizeof tables / sizeof tables[0]; i++)
        if (has_table(tables[i], address))
            route = find_in_table(state, tables[i], address);
    return route == NULL || route->kind == KIND_UNREACHABLE ? NULL : route;
}

/* The interface that packets leave over. */
static uint32_t find_oif(const struct simulated_state *state, const struct simulated_route *route,
                         const struct address *address)
{
    if (route == NULL)
        return 0;
    if (route->kind == KIND_MULTIPATH)
        return last_byte(address) % 2 != 0 ? route->other_oif : route->oif;
    if (route->oif == SIMULATED_TUNNEL)
        return route->oif;
    return route->oif + (state->redirected[address->family == AF_INET6][last_byte(address)] ? SIMULATED_REDIRECT : 0);
}

struct simulated_answer simulated_evaluate(const struct simulated_state *state, const struct questions *questions)
{
    static const struct address outer = { AF_INET, { 10, 0, 1, 31 } };
    const struct question *question = &questions->items[0];
    const struct simulated_route *route = look_up(state, &question->destination);
    struct simulated_answer answer = { .index = find_oif(state, route, &question->destination) };

    if (route == NULL)
        return answer;
    answer.group = question->local.bytes[3] + 10 * question->flow.is_socket;
    if (route->gateway != 0 && route->kind == KIND_ROUTE)
        answer.gateway = simulated_gateway(question->destination.family, route->gateway);
    if (questions->count > 1)
        answer.second = find_oif(state, look_up(state, &questions->items[1].destination),
                                 &questions->items[1].destination);
    if (answer.index != SIMULATED_TUNNEL || questions->count > 1)
        return answer;
    answer.outer = outer;
    answer.second = find_oif(state, look_up(state, &outer), &outer);
    return answer;
}

/* The kernel rounds down. In its last tick a route seems to have no end: test-answers has that. */
static uint32_t ticks_left(const struct simulated_route *route)
{
    const int64_t tick = SECOND / sysconf(_SC_CLK_TCK);

    if (route == NULL || route->end == NEVER)
        return 0;
    return route->end - simulated.clock < 2 * tick ? 1 : (uint32_t)((route->end - simulated.clock) / tick);
}

/* ---- Messages --------------------------------------------------------------------------------------------------- */

/* The filter that was built last, and the attached one. */
static struct filter {
    bool attached, is_open, all_routes, joined;
    struct route_filter_gateway gateways[ROUTE_FILTER_GATEWAYS];
    size_t gateway_count;
    struct address_prefix prefixes[ADDRESS_TREE_PREFIXES];
    size_t count;
} built, filter;

static bool overlap(const struct address_prefix *a, const struct address_prefix *b)
{
    return reach_address_in_prefix(&a->address, &b->address, b->length) ||
           reach_address_in_prefix(&b->address, &a->address, a->length);
}

static bool is_watched(const struct address_prefix *prefix)
{
    for (size_t i = 0; i < filter.count; i++)
        if (overlap(&filter.prefixes[i], prefix))
            return true;
    return false;
}

static bool neighbour_passes(const struct message_neighbour *neighbour)
{
    const struct address_prefix prefix = { neighbour->address, (uint8_t)(8 * address_length(&neighbour->address)) };

    if (!filter.joined)
        return false;
    if (!filter.attached)
        return true;
    if (neighbour->address.family == AF_INET6 && (neighbour->state & (NUD_STALE | NUD_REACHABLE)) != 0 &&
        (filter.is_open || is_watched(&prefix)))
        return true;
    for (size_t i = 0; i < filter.gateway_count; i++)
        if (filter.gateways[i].index == neighbour->index &&
            reach_address_equal(&filter.gateways[i].address, &neighbour->address))
            return filter.gateways[i].every || (neighbour->state & NUD_FAILED) != 0;
    return false;
}

static bool passes(const struct message *message)
{
    if (message->kind == MESSAGE_NEIGHBOUR)
        return neighbour_passes(&message->neighbour);
    if (message->kind != MESSAGE_ROUTE || !filter.attached || filter.is_open || filter.all_routes)
        return true;
    const struct address_prefix prefix = reach_route_prefix(&message->route);
    return is_watched(&prefix) || (prefix.address.family == AF_INET6 && message->route.expires != 0);
}

bool simulated_send(const struct message *message)
{
    const uint64_t one = 1;

    if (events < 0 || !passes(message))
        return false;
    assert_true(message_count < MESSAGES);
    messages[message_count++] = *message;
    assert_int_equal(write(events, &one, sizeof one), sizeof one);
    return true;
}

void simulated_lose(void)
{
    const uint64_t one = 1;

    message_count = 0;
    lost = true;
    assert_int_equal(write(events, &one, sizeof one), sizeof one);
}

bool simulated_has_news(void)
{
    return message_count > 0 || lost || simulated.rest.exists;
}

void simulated_finish(void)
{
    struct simulated_rest rest = simulated.rest;

    simulated.rest.exists = false;
    simulated.version += rest.exists;
    if (rest.exists && rest.is_late)
        simulated.late = simulated.clock;
    if (rest.exists && rest.changes)
        simulated.now = rest.state;
    if (rest.exists && rest.sends)
        (void)simulated_send(&rest.message);
}

/* One change at a time has parts that are yet to come. */
void simulated_change(const struct simulated_state *after, const struct message *message, enum simulated_order order)
{
    struct simulated_rest *rest = &simulated.rest;

    assert_false(rest->exists);
    simulated.version++;
    rest->changes = order == ORDER_CHANGE_LATER || order == ORDER_CHANGE_LATE;
    rest->sends = order == ORDER_MESSAGE_LATER;
    rest->is_late = order == ORDER_CHANGE_LATE;
    rest->exists = rest->changes || rest->sends;
    rest->when = simulated.clock + (1 + simulated_draw(4)) * MILLISECOND;
    rest->message = *message;
    if (rest->changes)
        rest->state = *after;
    else
        simulated.now = *after;
    if (!rest->sends)
        (void)simulated_send(message);
}

WRAP(unsigned, reach_rtnetlink_drain, struct rtnetlink *rtnetlink,
     void (*handle)(void *info, const struct message *message), void *info, int *ret_error)
{
    const size_t count = message_count < READ_AT_ONCE ? message_count : READ_AT_ONCE;
    uint64_t value;

    (void)rtnetlink;
    *ret_error = 0;
    (void)!read(events, &value, sizeof value);
    if (lost) {
        lost = false;
        message_count = 0;
        if (simulated.delivered != NULL)
            simulated.delivered(NULL);
        return RTNETLINK_LOST;
    }
    for (size_t i = 0; i < count; i++) {
        if (simulated.delivered != NULL)
            simulated.delivered(&messages[i]);
        handle(info, &messages[i]);
    }
    message_count -= count;
    memmove(messages, messages + count, message_count * sizeof messages[0]);
    value = 1;
    if (message_count > 0)
        assert_int_equal(write(events, &value, sizeof value), sizeof value);
    return message_count > 0 ? RTNETLINK_MORE : RTNETLINK_NOTHING;
}

/* ---- The filter ------------------------------------------------------------------------------------------------- */

static void build(const struct route_filter_gateway *gateways, size_t gateway_count)
{
    built = (struct filter){ .attached = true, .gateway_count = gateway_count };
    assert_true(gateway_count <= ROUTE_FILTER_GATEWAYS);
    memcpy(built.gateways, gateways, gateway_count * sizeof gateways[0]);
}

WRAP(void, reach_route_filter_build_open, struct route_filter *ret, const struct route_filter_gateway *gateways,
     size_t count)
{
    ret->length = 1;
    build(gateways, count);
    built.is_open = true;
}

WRAP(void, reach_route_filter_build, struct route_filter *ret, const struct route_filter_gateway *gateways,
     size_t gateway_count, const struct address_prefix *prefixes, size_t count, bool all_routes)
{
    ret->length = 1;
    build(gateways, gateway_count);
    built.all_routes = all_routes;
    built.count = count;
    memcpy(built.prefixes, prefixes, count * sizeof prefixes[0]);
}

WRAP(int, reach_netlink_attach_filter, const struct netlink *netlink, const struct sock_filter *code,
     unsigned short length)
{
    (void)netlink, (void)code, (void)length;
    if (fails())
        return ENOMEM;
    built.joined = filter.joined;
    filter = built;
    return 0;
}

WRAP(int, reach_netlink_detach_filter, const struct netlink *netlink)
{
    (void)netlink;
    filter.attached = false;
    return 0;
}

WRAP(int, reach_netlink_join, const struct netlink *netlink, unsigned group)
{
    (void)netlink, (void)group;
    filter.joined = true;
    return 0;
}

/* ---- Queries ---------------------------------------------------------------------------------------------------- */

/* The kernel as it was when a query was sent. */
static const struct simulated_state *query(const struct route_request *request)
{
    simulated.queries++;
    simulated.asked++;
    simulated.clock += simulated.query_takes;
    simulated.processor += simulated.query_costs;
    for (size_t i = 0; i < batch_count; i++)
        if (batch[i].fib_match == request->fib_match &&
            reach_address_equal(&batch[i].destination, &request->destination) &&
            reach_address_equal(&batch[i].source, &request->source)) {
            simulated.asked_version = batch_version;
            return &batch_state;
        }
    if (has_barrier && simulated.rest.exists && !simulated.rest.is_late)
        simulated_finish();
    has_barrier = false;
    simulated.asked_version = simulated.version;
    return &simulated.now;
}

static void interrupt(void)
{
    if (simulated.interrupt != NULL)
        simulated.interrupt();
}

/* The route that matches. */
WRAP(int, reach_rtnetlink_query, struct rtnetlink *rtnetlink, const struct route_request *request, struct route *ret)
{
    static const char legs[] = "legs";
    const struct simulated_state *state = query(request);
    const struct simulated_route *route = look_up(state, &request->destination);

    (void)rtnetlink;
    *ret = (struct route){ .family = request->destination.family, .type = RTN_UNICAST };
    if (route != NULL) {
        ret->prefix_length = route->prefix.length;
        ret->destination = route->prefix.address;
        ret->table = route->table;
        ret->oif = route->kind == KIND_MULTIPATH ? 0 : route->oif;
        ret->legs = route->kind == KIND_MULTIPATH ? legs : NULL;
        ret->has_gateway = route->gateway != 0;
        ret->has_nexthop_object = route->object != 0;
        ret->expires = ticks_left(route);
    }
    interrupt();
    return fails() ? ENOBUFS : route == NULL ? EHOSTUNREACH : 0;
}

WRAP(int, reach_full_path_evaluate, struct rtnetlink *rtnetlink, struct netns *netns, struct round_cache *cache,
     const struct questions *questions, unsigned extras, struct path *ret)
{
    const struct question *question = &questions->items[0];
    const struct route_request request = { .destination = question->destination, .source = question->local };
    const struct simulated_state *state = query(&request);
    const struct simulated_answer answer = simulated_evaluate(state, questions);
    const bool knows_end = (extras & QUERY_EXPIRY_KNOWN) != 0; /* the caller does */

    (void)rtnetlink, (void)netns;
    *ret = (struct path){ .index = answer.index,
                          .mtu = answer.second,
                          .table = answer.group,
                          .gateway = answer.gateway,
                          .destination = question->destination };
    ret->dependencies.outer = answer.outer;
    for (size_t i = 0; i < questions->count; i++) {
        const struct simulated_route *route = look_up(state, &questions->items[i].destination);
        const struct dependencies more = { .expires = knows_end ? 0 : ticks_left(route) };

        reach_dependencies_add(&ret->dependencies, &more);
        if (i > 0 && route != NULL && route->gateway != 0) {
            const struct address gateway = simulated_gateway(route->prefix.address.family, route->gateway);

            round_cache_hold_gateway(cache, route->oif, &gateway);
        }
    }
    interrupt();
    if (!fails())
        return 0;
    simulated.asked = 0;
    return ENOBUFS;
}

WRAP(void, reach_rtnetlink_set_barrier, struct rtnetlink *rtnetlink)
{
    (void)rtnetlink;
    has_barrier = true;
}

WRAP(void, reach_rtnetlink_begin_batch, struct rtnetlink *rtnetlink, const struct route_request *requests, size_t count)
{
    const unsigned queries = simulated.queries, asked = simulated.asked;

    (void)rtnetlink;
    batch_count = 0;
    (void)query(&requests[0]); /* behind the barrier */
    simulated.queries = queries;
    simulated.asked = asked;
    batch_state = simulated.now;
    batch_version = simulated.version;
    memcpy(batch, requests, count * sizeof requests[0]);
    batch_count = count;
}

WRAP(void, reach_rtnetlink_end_batch, struct rtnetlink *rtnetlink)
{
    (void)rtnetlink;
    batch_count = 0;
}

/* ---- What else a monitor reads ---------------------------------------------------------------------------------- */

static void open_descriptor(struct descriptor *ret)
{
    unit_check(reach_descriptor_adopt(ret, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), "eventfd");
}

WRAP(int, reach_rtnetlink_open, struct rtnetlink *ret, enum rtnetlink_scope scope, const struct netns_handle *netns)
{
    (void)netns, (void)scope;
    *ret = RTNETLINK_CLOSED;
    open_descriptor(&ret->events.socket);
    open_descriptor(&ret->requests.socket);
    events = ret->events.socket.fd;
    return 0;
}

WRAP(int, reach_rtnetlink_read_links, struct rtnetlink *rtnetlink)
{
    (void)rtnetlink;
    return 0;
}

WRAP(int, reach_nexthops_read, struct rtnetlink *rtnetlink, void (*handle)(void *info, const struct nlmsghdr *message),
     void *info)
{
    (void)rtnetlink, (void)handle, (void)info;
    return 0;
}

WRAP(int, reach_netconf_read, struct rtnetlink *rtnetlink, struct netconf *ret)
{
    (void)rtnetlink;
    *ret = (struct netconf){ .ignores_linkdown = simulated.now.ignores_linkdown };
    return 0;
}

WRAP(int, reach_rules_read, struct rtnetlink *rtnetlink, uint8_t family, struct rules *ret)
{
    (void)rtnetlink;
    *ret = (struct rules){ .is_standard = !simulated.has_rules, .chooses_tables = family == AF_INET };
    return 0;
}

WRAP(bool, reach_default_table_is_empty, struct rtnetlink *rtnetlink)
{
    (void)rtnetlink;
    return true;
}

WRAP(enum source_routes, reach_source_routes_find, struct rtnetlink *rtnetlink)
{
    return rtnetlink->source_routes = SOURCE_ROUTES_NONE;
}

WRAP(bool, reach_neighbours_any_failed, struct rtnetlink *rtnetlink)
{
    (void)rtnetlink;
    for (size_t link = 0; link < SIMULATED_LINKS; link++)
        for (size_t gateway = 1; gateway <= SIMULATED_GATEWAYS; gateway++)
            if (simulated.now.failed[1][link][gateway])
                return true;
    return false;
}

WRAP(int, reach_neighbours_query, struct rtnetlink *rtnetlink, uint32_t index, const struct address *address,
     uint16_t *ret_state)
{
    const uint8_t number = address->bytes[address->family == AF_INET ? 3 : 15];
    const bool failed = simulated.now.failed[address->family == AF_INET6][simulated_place(index)][number];

    (void)rtnetlink;
    *ret_state = failed ? NUD_FAILED : NUD_REACHABLE;
    return fails() ? ENOBUFS : 0;
}

WRAP(void, reach_shared_socket_lend_devices, struct shared_socket *shared, struct link_table *links)
{
    (void)shared, (void)links;
}

/* ---- Life ------------------------------------------------------------------------------------------------------- */

void simulated_begin(void)
{
    simulated = (struct simulated_kernel){ .clock = START };
    for (size_t i = 0; i < SIMULATED_LINKS; i++)
        simulated.now.carrier[i] = true;
    for (size_t i = 0; i < SIMULATED_ROUTES; i++)
        simulated.now.routes[i].end = NEVER;
    filter = (struct filter){ .attached = false };
    message_count = batch_count = 0;
    lost = has_barrier = false;
    events = -1;
}

void simulated_end(void)
{
    events = -1;
}
