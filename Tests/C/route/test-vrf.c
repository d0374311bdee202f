/* SPDX-License-Identifier: MIT */
/* Pairs that are bound to a VRF or to one of its ports, with replies that the test gives in place of the kernel.
 * Tests/VM has real VRFs. */
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>

#include "base/clock.h"
#include "kernel/udp_route.h"
#include "route/evaluate.h"
#include "route/network_path.h"
#include "support/expect.h"
#include "support/literal.h"

#define NOWHERE "203.0.113.9"    /* the VRF has no route to it */
#define SOURCED "2001:db8:77::9" /* only packets from SOURCE have a route to it, over PORT */
#define SOURCE  "2001:db8::2"
#define LEAK    "2001:db8:88::9" /* the route leaves the VRF */
#define LEAK4   "203.0.113.88"
#define SOURCE4 "192.0.2.2"

enum { LO = 1, VRF = 2, PORT = 3, OTHER_PORT = 4, OUTSIDE = 5, TABLE = 10 };

/* A local address. The kernel searches the table "local" first, for addresses of interfaces outside the VRF. */
struct local_address {
    const char *text;
    uint32_t link; /* of the address */
    uint32_t table;
};

static const struct local_address local_addresses[] = {
    { "198.51.100.2", OUTSIDE, RT_TABLE_LOCAL },
    { "2001:db8:51::2", OUTSIDE, RT_TABLE_LOCAL },
    { "192.0.2.3", OUTSIDE, RT_TABLE_LOCAL },
    { "192.0.2.2", PORT, TABLE },
    { "2001:db8::2", PORT, TABLE },
    { "192.0.2.3", PORT, TABLE },
    { "192.0.3.2", OTHER_PORT, TABLE },
    { "10.99.0.1", VRF, TABLE },
};

static struct rtnetlink rtnetlink;
static unsigned queries;
static bool has_default; /* the VRF. Else its packets leave by the default route of the table "main" */

static bool is_in_vrf(uint32_t oif)
{
    return oif == VRF || oif == PORT || oif == OTHER_PORT;
}

/* What a lookup for packets out of `oif` finds. */
static const struct local_address *find_local(const struct address *address, uint32_t oif)
{
    for (size_t i = 0; i < sizeof local_addresses / sizeof local_addresses[0]; i++) {
        const struct local_address *local = &local_addresses[i];
        const struct address own = make(local->text);

        if (reach_address_equal(&own, address) && (local->table != TABLE || is_in_vrf(oif)) &&
            (oif == 0 || oif == VRF || oif == local->link))
            return local;
    }
    return NULL;
}

WRAP(int, reach_rtnetlink_query, struct rtnetlink *handle, const struct route_request *request, struct route *ret)
{
    const struct local_address *local = find_local(&request->destination, request->oif);
    const struct address nowhere = make(NOWHERE), sourced = make(SOURCED), leak = make(LEAK), leak4 = make(LEAK4);
    const bool is_sourced = reach_address_equal(&request->destination, &sourced);

    (void)handle;
    queries++;
    if (is_in_vrf(request->oif) && reach_address_equal(&request->destination, &nowhere))
        return ENETUNREACH;
    if (is_sourced && request->source.family == AF_UNSPEC)
        return ENETUNREACH;
    if (!has_default && local == NULL && is_in_vrf(request->oif) && request->oif != VRF)
        return ENETUNREACH;
    *ret = (struct route){ .family = request->destination.family, .table = RT_TABLE_MAIN, .type = RTN_UNICAST };
    ret->source = request->source.family != AF_UNSPEC ? request->source : request->destination;
    if (is_sourced) {
        ret->oif = PORT;
    } else if (local != NULL) {
        ret->type = RTN_LOCAL;
        ret->protocol = RTPROT_KERNEL;
        ret->table = local->table;
        ret->oif = local->table == TABLE ? VRF : LO;
    } else if (reach_address_equal(&request->destination, &leak)) {
        ret->oif = OUTSIDE;
    } else if (reach_address_equal(&request->destination, &leak4)) {
        ret->oif = OUTSIDE;
        if (request->fib_match || request->source.family != AF_UNSPEC)
            ret->source = (struct address){ 0 };
        else
            ret->source = make(is_in_vrf(request->oif) ? SOURCE4 : "198.51.100.2");
    } else if (!has_default && request->oif == VRF) {
        ret->oif = OUTSIDE;
        ret->source = make(request->destination.family == AF_INET ? SOURCE4 : SOURCE);
    } else if (is_in_vrf(request->oif)) {
        ret->oif = request->oif == VRF ? PORT : request->oif;
        ret->table = TABLE;
    } else {
        ret->oif = OUTSIDE;
    }
    return 0;
}

WRAP(int, reach_rtnetlink_link_index, struct rtnetlink *handle, const char *name, uint32_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < handle->links.count; i++)
        if (strcmp(handle->links.items[i].name, name) == 0)
            *ret = handle->links.items[i].index;
    return 0;
}

WRAP(int, reach_udp_route_choose_source, struct rtnetlink *handle, const struct route_request *request,
     struct address *ret)
{
    (void)handle, (void)request;
    *ret = has_default ? make(SOURCE) : (struct address){ 0 };
    return 0;
}

static int leak_error; /* of connect(2) */

WRAP(int, reach_udp_route_find, struct rtnetlink *handle, const struct route_request *request, struct udp_route *ret)
{
    const struct address leak = make(LEAK);

    (void)handle;
    *ret = (struct udp_route){ .is_known = reach_address_equal(&request->destination, &leak), .error = leak_error };
    if (leak_error == 0)
        ret->source = make(SOURCE);
    return 0;
}

static void add_link(uint32_t index, const char *name, const char *kind, uint32_t master, bool complete)
{
    struct link link = { .index = index,
                         .flags = IFF_UP | IFF_RUNNING,
                         .mtu = 1500,
                         .hardware = ARPHRD_ETHER,
                         .complete = complete,
                         .device = DEVICE_VIRTUAL };

    memcpy(link.name, name, strlen(name));
    if (complete) {
        memcpy(link.kind, kind, strlen(kind));
        link.master = master;
        link.vrf_table = strcmp(kind, "vrf") == 0 ? TABLE : 0;
    }
    assert_int_equal(reach_link_table_put(&rtnetlink.links, &link), 0);
}

static void add_links(bool complete)
{
    rtnetlink = RTNETLINK_CLOSED;
    has_default = true;
    add_link(VRF, "vrf0", "vrf", 0, complete);
    add_link(PORT, "port", "veth", VRF, complete);
    add_link(OTHER_PORT, "other", "veth", VRF, complete);
    add_link(OUTSIDE, "outside", "veth", 0, complete);
}

/* A socket address of IPv4 has no scope, but the question about a tunnel has one. `local` NULL: no pair. */
static struct path evaluate_pair(const char *local, const char *remote, uint32_t oif)
{
    struct question question = { .destination = make(remote), .scope = oif };
    struct round_cache cache = ROUND_CACHE_EMPTY;
    struct path path;

    if (local != NULL)
        question.local = make(local);
    struct questions *questions = reach_questions_create(&question, 1, kSCNetworkReachabilityReasonNone);
    queries = 0;
    assert_int_equal(reach_evaluate_questions(&rtnetlink, &cache, questions, QUERY_SOURCE, &path), 0);
    reach_questions_release(questions);
    return path;
}

TEST(the_table_of_the_vrf_has_the_local_address)
{
    static const struct {
        const char *local, *remote;
        uint32_t oif;
        bool assigned;
    } rows[] = {
        { "192.0.2.2", "192.0.2.9", VRF, true },           { "192.0.2.2", "192.0.2.9", PORT, true },
        { "192.0.2.2", "192.0.2.9", OUTSIDE, false },      { "192.0.2.2", "192.0.2.9", 0, false },
        { "192.0.3.2", "192.0.2.9", PORT, true }, /* of another port */
        { "10.99.0.1", "192.0.2.9", VRF, true },           { "10.99.0.1", "192.0.2.9", PORT, true },
        { "198.51.100.2", "192.0.2.9", VRF, false },       { "198.51.100.2", "192.0.2.9", PORT, false },
        { "198.51.100.2", "198.51.100.9", OUTSIDE, true }, { "192.0.2.3", "192.0.2.9", VRF, true }, /* also outside */
        { "192.0.2.3", "192.0.2.9", PORT, true },          { "2001:db8::2", "2001:db8::9", VRF, true },
        { "2001:db8::2", "2001:db8::9", PORT, true },      { "2001:db8:51::2", "2001:db8::9", VRF, false },
        { "198.51.100.2", NOWHERE, VRF, false },
    };

    add_links(true);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct path path = evaluate_pair(rows[i].local, rows[i].remote, rows[i].oif);

        if ((path.reason != kSCNetworkReachabilityReasonLocalAddressNotAssigned) != rows[i].assigned)
            fail_msg("row %zu, %s: flags 0x%x, reason %d", i, rows[i].local, path.flags, (int)path.reason);
        assert_int_equal(path.dependencies.unknown_link, 0);
    }
    reach_link_table_clear(&rtnetlink.links);
}

TEST(a_pair_outside_a_vrf_needs_no_further_query)
{
    add_links(true);
    (void)evaluate_pair("198.51.100.2", "2001:db8::9", 0);
    assert_int_equal(queries, 2);
    (void)evaluate_pair("2001:db8:51::2", "2001:db8:51::9", OUTSIDE);
    assert_true(queries <= 3);
    (void)evaluate_pair("198.51.100.2", LEAK4, 0); /* the reply does not repeat the source */
    assert_int_equal(queries, 2);
    reach_link_table_clear(&rtnetlink.links);
}

/* The ioctls report neither the kind of a link nor its master. GetPath and monitors then read the link. */
TEST(an_unknown_vrf_is_a_dependency)
{
    add_links(false);
    struct path path = evaluate_pair("192.0.2.2", "192.0.2.9", PORT);
    assert_int_equal(path.reason, kSCNetworkReachabilityReasonNone);
    assert_int_equal(path.dependencies.unknown_link, PORT);
    path = evaluate_pair("192.0.3.2", "192.0.2.9", PORT);
    assert_int_equal(path.reason, kSCNetworkReachabilityReasonLocalAddressNotAssigned);
    assert_int_equal(path.dependencies.unknown_link, PORT);
    add_link(PORT, "port", "veth", VRF, true);
    path = evaluate_pair("192.0.3.2", "192.0.2.9", PORT);
    assert_int_equal(path.dependencies.unknown_link, VRF);
    reach_link_table_clear(&rtnetlink.links);
}

/* A route for packets from a prefix leaves the VRF over its port. */
TEST(a_source_specific_route_leaves_a_port_of_the_vrf)
{
    add_links(true);
    struct path path = evaluate_pair(NULL, SOURCED, VRF);
    assert_int_equal(path.flags & R, R);
    assert_int_equal(path.index, PORT);
    assert_int_equal(evaluate_pair(NULL, SOURCED, PORT).index, PORT);
    reach_link_table_clear(&rtnetlink.links);
    add_links(false);
    path = evaluate_pair(NULL, SOURCED, VRF); /* the port may be outside the VRF: only the socket's reply is known */
    assert_int_equal(path.flags & (R | D), R);
    assert_int_equal(path.index, VRF);
    assert_int_equal(path.dependencies.unknown_link, PORT);
    reach_link_table_clear(&rtnetlink.links);
}

TEST(a_packet_that_leaves_a_vrf_has_an_address_of_the_vrf)
{
    const struct address source = make(SOURCE);

    add_links(true);
    leak_error = 0;
    struct path path = evaluate_pair(NULL, LEAK, VRF);
    assert_int_equal(path.flags & R, R);
    assert_int_equal(path.index, OUTSIDE);
    assert_true(reach_address_equal(&path.source, &source));
    leak_error = EADDRNOTAVAIL;
    path = evaluate_pair(NULL, LEAK, VRF);
    assert_int_equal(path.flags, 0);
    assert_int_equal(path.reason, kSCNetworkReachabilityReasonNoSourceAddress);
    assert_int_equal(evaluate_pair(NULL, LEAK, OUTSIDE).flags & R, R);
    assert_int_equal(evaluate_pair(NULL, LEAK, 0).flags & R, R);
    reach_link_table_clear(&rtnetlink.links);
}

TEST(an_ipv4_packet_that_leaves_a_vrf_has_an_address_of_the_vrf)
{
    const struct address source = make(SOURCE4), outside = make("198.51.100.2");

    add_links(true);
    struct path path = evaluate_pair(NULL, LEAK4, VRF);
    assert_int_equal(path.index, OUTSIDE);
    assert_true(reach_address_equal(&path.source, &source));
    path = evaluate_pair(NULL, LEAK4, 0);
    assert_int_equal(path.index, OUTSIDE);
    assert_true(reach_address_equal(&path.source, &outside));
    reach_link_table_clear(&rtnetlink.links);
}

/* Measured on Linux 6.1, with captured frames. */
TEST(ipv4_multicast_ignores_the_vrf_that_a_socket_is_bound_to)
{
    add_links(true);
    assert_int_equal(evaluate_pair(NULL, "239.1.1.1", VRF).index, OUTSIDE);
    assert_int_equal(evaluate_pair(NULL, "239.1.1.1", PORT).index, PORT);
    assert_int_equal(evaluate_pair(NULL, "255.255.255.255", VRF).index, PORT); /* as the fake kernel routes */
    assert_int_equal(evaluate_pair(NULL, "ff05::2", VRF).index, PORT);
    reach_link_table_clear(&rtnetlink.links);
}

/* `before`: see reach_network_path_find. */
static struct network_path *find_network_after(const struct network_path *before)
{
    struct questions *questions = reach_network_path_questions(NULL, 0);
    struct round_cache cache = ROUND_CACHE_EMPTY;
    struct dependencies unused;
    struct network_path *network;

    add_link(LO, "lo", "", 0, true);
    assert_int_equal(reach_network_path_find(&rtnetlink, NULL, &cache, questions, true, before, &network, &unused), 0);
    reach_questions_release(questions);
    free(rtnetlink.batch);
    rtnetlink.batch = NULL;
    return network;
}

static struct network_path *find_network(void)
{
    return find_network_after(NULL);
}

TEST(links_that_are_no_uplinks_and_that_no_message_has_named_are_left_out)
{
    struct network_path before = { .found_at = clock_now() + SECOND };

    add_links(true);
    struct network_path *network = find_network_after(&before);
    assert_int_equal(network->count, 1); /* the kernel's choice */
    reach_network_path_release(network);
    reach_link_table_note_change(&rtnetlink.links, PORT, before.found_at);
    network = find_network_after(&before);
    assert_int_equal(network->count, 2);
    assert_int_equal(network->uplinks[1].index, PORT);
    reach_network_path_release(network);
    reach_link_table_clear(&rtnetlink.links);
}

TEST(the_ports_of_a_vrf_are_uplinks_and_the_vrf_is_not)
{
    add_links(true);
    struct network_path *network = find_network();
    assert_int_equal(network->count, 3);
    assert_int_equal(network->uplinks[0].index, OUTSIDE);
    assert_int_equal(network->uplinks[1].index, PORT);
    assert_int_equal(network->uplinks[2].index, OTHER_PORT);
    reach_network_path_release(network);
    reach_link_table_clear(&rtnetlink.links);
}

/* With an address of the VRF. */
TEST(packets_that_leave_a_vrf_do_not_change_the_uplinks_outside)
{
    const struct address source4 = make(SOURCE4), source = make(SOURCE);

    add_links(true);
    has_default = false;
    struct network_path *network = find_network();
    assert_int_equal(network->count, 1);
    assert_int_equal(network->uplinks[0].index, OUTSIDE);
    assert_false(reach_address_equal(&network->uplinks[0].paths[NETWORK_IPV4].source, &source4));
    assert_false(reach_address_equal(&network->uplinks[0].paths[NETWORK_IPV6].source, &source));
    reach_network_path_release(network);
    reach_link_table_clear(&rtnetlink.links);
}
