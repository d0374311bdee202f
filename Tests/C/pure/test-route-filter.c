/* SPDX-License-Identifier: MIT */
/* The filter for route messages, on a pair of sockets: the kernel runs it on what the test sends. */
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "pure/route_filter.h"
#include "support/literal.h"
#include "support/unit.h"

static int sender, receiver;

static void open_pair(void)
{
    int pair[2];

    unit_check(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0 ? 0 : errno, "socketpair");
    sender = pair[0];
    receiver = pair[1];
}

static void close_pair(void)
{
    close(sender);
    close(receiver);
}

UNIT(.setup = open_pair, .teardown = close_pair)

static void attach_program(struct route_filter *filter)
{
    const struct sock_fprog program = { .filter = filter->code, .len = filter->length };

    assert_true(filter->length <= sizeof filter->code / sizeof filter->code[0]);
    if (setsockopt(receiver, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0)
        fail_msg("SO_ATTACH_FILTER of %u instructions: errno %d", filter->length, errno);
}

static void attach(const struct address_prefix *prefixes, size_t count)
{
    struct route_filter *filter = malloc(sizeof *filter);

    reach_route_filter_build(filter, NULL, 0, prefixes, count, false);
    attach_program(filter);
    free(filter);
}

static struct address_prefix prefix_make(const char *text, uint8_t length)
{
    return (struct address_prefix){ .address = make(text), .length = length };
}

struct route_message {
    struct nlmsghdr header;
    struct rtmsg route;
    char attributes[96];
};

static void append(struct route_message *message, uint16_t type, const void *payload, size_t length)
{
    const struct rtattr attribute = { (uint16_t)RTA_LENGTH(length), type };
    char *const end = (char *)message + message->header.nlmsg_len;

    memcpy(end, &attribute, sizeof attribute);
    memcpy(end + RTA_LENGTH(0), payload, length);
    message->header.nlmsg_len += RTA_ALIGN(attribute.rta_len);
}

/* A message as the kernel sends it: the table is before the destination, and a default route has no destination. */
static struct route_message message_make(uint16_t type, const struct address_prefix *prefix)
{
    struct route_message message = { .header = { .nlmsg_len = NLMSG_LENGTH(sizeof message.route), .nlmsg_type = type },
                                     .route = { .rtm_family = prefix->address.family, .rtm_dst_len = prefix->length } };
    const uint32_t table = RT_TABLE_MAIN;

    append(&message, RTA_TABLE, &table, sizeof table);
    if (prefix->length > 0)
        append(&message, RTA_DST, prefix->address.bytes, address_length(&prefix->address));
    return message;
}

static bool passes(const struct route_message *message)
{
    char buffer[256];

    send(sender, message, message->header.nlmsg_len, 0);
    return recv(receiver, buffer, sizeof buffer, 0) > 0;
}

/* See reach_route_is_link_multicast. */
TEST(ipv6_multicast_routes_pass)
{
    const struct address_prefix watched = prefix_make("2001:db8:1::", 48), all = prefix_make("ff00::", 8);
    struct route_message message = message_make(RTM_DELROUTE, &all);

    attach(&watched, 1);
    assert_false(passes(&message));
    message.route.rtm_type = RTN_MULTICAST;
    assert_true(passes(&message));
}

/* See kernel/source_routes.h. */
TEST(ipv6_routes_for_packets_from_a_prefix_pass)
{
    const struct address_prefix watched = prefix_make("2001:db8:1::", 48), other = prefix_make("2001:db9:2::", 48);
    struct route_message message = message_make(RTM_NEWROUTE, &other);

    attach(&watched, 1);
    assert_false(passes(&message));
    message.route.rtm_src_len = 64;
    assert_true(passes(&message));
}

/* An advertisement can shorten it: see answers.c. */
TEST(ipv6_routes_with_an_end_pass)
{
    const struct address_prefix watched = prefix_make("2001:db8:1::", 48), other = prefix_make("2001:db9:2::", 48);
    struct route_message message = message_make(RTM_NEWROUTE, &other);
    struct rta_cacheinfo info = { 0 };

    attach(&watched, 1);
    append(&message, RTA_CACHEINFO, &info, sizeof info);
    assert_false(passes(&message));
    message = message_make(RTM_NEWROUTE, &other);
    info.rta_expires = 100;
    append(&message, RTA_CACHEINFO, &info, sizeof info);
    assert_true(passes(&message));
}

static bool route_passes(const char *text, uint8_t length)
{
    const struct address_prefix prefix = prefix_make(text, length);
    const struct route_message added = message_make(RTM_NEWROUTE, &prefix),
                               deleted = message_make(RTM_DELROUTE, &prefix);
    const bool result = passes(&added);

    assert_int_equal(passes(&deleted), result);
    return result;
}

struct route_row {
    const char *address;
    uint8_t length;
};

#define EXPECT_ROUTES(passes, ...) \
    do { \
        static const struct route_row rows[] = { __VA_ARGS__ }; \
        for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) \
            if (route_passes(rows[row].address, rows[row].length) != (passes)) \
                fail_msg("%s/%d", rows[row].address, rows[row].length); \
    } while (0)

TEST(routes_to_the_prefixes_pass)
{
    const struct address_prefix prefixes[] = { prefix_make("10.1.2.0", 24), prefix_make("192.0.2.1", 32),
                                               prefix_make("2001:db8:1::", 48), prefix_make("2001:db8:2:3::4", 128) };

    attach(prefixes, 4);
    EXPECT_ROUTES(true, { "10.1.2.0", 24 }, { "10.1.0.0", 16 }, { "10.1.2.128", 25 }, { "10.1.2.255", 32 },
                  { "192.0.2.1", 32 }, { "0.0.0.0", 1 }, { "0.0.0.0", 0 }, { "::", 0 }, { "2000::", 3 },
                  { "2001:db8::", 32 }, { "2001:db8:1:2::", 64 }, { "2001:db8:1:2:3::", 80 }, { "2001:db8:2:3::", 64 },
                  { "2001:db8:2:2::", 63 });
}

TEST(other_routes_are_dropped)
{
    const struct address_prefix prefixes[] = { prefix_make("10.1.2.0", 24), prefix_make("2001:db8:2:3::4", 128) };

    attach(prefixes, 2);
    EXPECT_ROUTES(false, { "10.1.3.0", 24 }, { "10.1.1.255", 32 }, { "10.0.0.0", 16 }, { "128.0.0.0", 1 },
                  { "2001:db9:2:3::", 64 }, { "2001:dba::", 31 }, { "2001:db9::", 32 }, { "4000::", 2 });
}

TEST(without_prefixes_only_default_routes_pass)
{
    attach(NULL, 0);
    EXPECT_ROUTES(true, { "0.0.0.0", 0 }, { "::", 0 });
    EXPECT_ROUTES(false, { "0.0.0.0", 1 }, { "::", 128 });
}

TEST(messages_about_something_else_pass)
{
    static const uint16_t types[] = { NLMSG_DONE,  NLMSG_ERROR,    RTM_NEWLINK,   RTM_DELLINK,    RTM_NEWADDR,
                                      RTM_NEWRULE, RTM_NEWNEXTHOP, RTM_NEWPREFIX, RTM_NEWNETCONF, RTM_GETROUTE };
    const struct address_prefix prefix = prefix_make("10.1.2.0", 24);
    struct route_message message;

    attach(NULL, 0);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        message = message_make(types[i], &prefix);
        assert_true(passes(&message));
    }
    message = message_make(RTM_NEWROUTE, &prefix);
    message.route.rtm_family = 28; /* AF_MPLS */
    assert_true(passes(&message));
    message.route.rtm_family = AF_INET;
    message.header.nlmsg_len = NLMSG_LENGTH(sizeof message.route); /* no destination, though the length is not 0 */
    assert_true(passes(&message));
}

static struct address_prefix random_prefix(void)
{
    struct address_prefix prefix = { .address.family = random() % 2 != 0 ? AF_INET : AF_INET6 };
    const unsigned bits = (unsigned)address_length(&prefix.address) * 8;

    prefix.length = (uint8_t)((unsigned)random() % (bits + 1));
    for (unsigned i = 0; i < prefix.length; i++)
        if (random() % 8 == 0)
            prefix.address.bytes[i / 8] |= (uint8_t)(0x80u >> i % 8);
    return prefix;
}

static bool overlaps(const struct address_prefix *a, const struct address_prefix *b, unsigned limit)
{
    unsigned length = a->length < b->length ? a->length : b->length;

    if (length > limit)
        length = limit;
    return reach_address_in_prefix(&a->address, &b->address, length);
}

TEST(random_routes_pass_if_they_overlap_a_prefix)
{
    struct address_prefix prefixes[ADDRESS_TREE_PREFIXES];

    srandom(1);
    for (unsigned round = 0; round < 200; round++) {
        const size_t count = (size_t)random() % (ADDRESS_TREE_PREFIXES + 1);

        for (size_t i = 0; i < count; i++)
            prefixes[i] = random_prefix();
        attach(prefixes, count);
        for (unsigned i = 0; i < 100; i++) {
            const struct address_prefix prefix = random_prefix();
            const struct route_message message = message_make(RTM_NEWROUTE, &prefix);
            bool expected = prefix.length == 0;

            for (size_t k = 0; k < count; k++)
                expected = expected || overlaps(&prefix, &prefixes[k], 32);
            assert_int_equal(passes(&message), expected);
        }
    }
}

/* ---- Neighbours ------------------------------------------------------------------------------------------------- */

struct neighbour_message {
    struct nlmsghdr header;
    struct ndmsg neighbour;
    struct rtattr attribute;
    uint8_t address[16];
};

static bool neighbour_passes(uint16_t type, const char *text, uint16_t state)
{
    const struct address address = make(text);
    struct neighbour_message message = {
        .header = { .nlmsg_type = type },
        .neighbour = { .ndm_family = address.family, .ndm_ifindex = 3, .ndm_state = state },
        .attribute = { .rta_len = (uint16_t)RTA_LENGTH(address_length(&address)), .rta_type = NDA_DST }
    };
    char buffer[256];

    message.header.nlmsg_len = (uint32_t)(NLMSG_LENGTH(sizeof message.neighbour) + message.attribute.rta_len);
    memcpy(message.address, address.bytes, address_length(&address));
    send(sender, &message, message.header.nlmsg_len, 0);
    return recv(receiver, buffer, sizeof buffer, 0) > 0;
}

/* Attaches the filter that passes all routes. */
static void attach_gateways(const struct route_filter_gateway *gateways, size_t count)
{
    struct route_filter *filter = malloc(sizeof *filter);

    reach_route_filter_build_open(filter, gateways, count);
    attach_program(filter);
    free(filter);
}

static void expect_neighbours(void)
{
    assert_true(neighbour_passes(RTM_NEWNEIGH, "fe80::1", NUD_FAILED));
    assert_false(neighbour_passes(RTM_NEWNEIGH, "fe80::1", NUD_PROBE));
    assert_false(neighbour_passes(RTM_DELNEIGH, "fe80::1", NUD_PROBE));
    assert_true(neighbour_passes(RTM_NEWNEIGH, "fe80::2", NUD_FAILED));
    assert_true(neighbour_passes(RTM_NEWNEIGH, "fe80::2", NUD_PROBE));
    assert_true(neighbour_passes(RTM_DELNEIGH, "fe80::2", NUD_FAILED));
    assert_false(neighbour_passes(RTM_NEWNEIGH, "fe80::3", NUD_FAILED));
    assert_true(neighbour_passes(RTM_NEWNEIGH, "192.0.2.1", NUD_REACHABLE));
    assert_true(neighbour_passes(RTM_DELNEIGH, "192.0.2.1", NUD_REACHABLE));
    assert_false(neighbour_passes(RTM_NEWNEIGH, "192.0.2.2", NUD_FAILED));
    assert_false(neighbour_passes(RTM_NEWNEIGH, "192.0.2.2", NUD_REACHABLE));
}

TEST(only_gateways_that_fail_or_have_failed_pass)
{
    const struct route_filter_gateway gateways[] = { { .address = make("fe80::1"), .index = 3 },
                                                     { .address = make("fe80::2"), .index = 3, .every = true },
                                                     { .address = make("192.0.2.1"), .index = 3, .every = true } };
    const struct address_prefix prefix = prefix_make("10.1.2.0", 24);
    struct route_filter *filter = malloc(sizeof *filter);

    attach_gateways(gateways, 3);
    expect_neighbours();
    assert_true(route_passes("10.9.9.0", 24));
    reach_route_filter_build(filter, gateways, 3, &prefix, 1, false);
    attach_program(filter);
    expect_neighbours();
    assert_true(route_passes("10.1.2.0", 24));
    assert_false(route_passes("10.9.9.0", 24));
    free(filter);
}

/* A router may have redirected its packets to it. */
TEST(an_ipv6_neighbour_that_responds_passes_if_it_is_watched)
{
    const struct address_prefix prefixes[] = { prefix_make("2001:db8:1::", 64), prefix_make("192.0.2.0", 24) };
    struct route_filter *filter = malloc(sizeof *filter);

    attach_gateways(NULL, 0);
    assert_true(neighbour_passes(RTM_NEWNEIGH, "2001:db9:2::7", NUD_STALE));
    for (int all_routes = 0; all_routes < 2; all_routes++) {
        reach_route_filter_build(filter, NULL, 0, prefixes, 2, all_routes != 0);
        attach_program(filter);
        assert_true(neighbour_passes(RTM_NEWNEIGH, "2001:db8:1::7", NUD_STALE));
        assert_true(neighbour_passes(RTM_NEWNEIGH, "2001:db8:1::7", NUD_REACHABLE));
        assert_false(neighbour_passes(RTM_NEWNEIGH, "2001:db8:1::7", NUD_FAILED));
        assert_false(neighbour_passes(RTM_NEWNEIGH, "2001:db9:2::7", NUD_STALE));
        assert_false(neighbour_passes(RTM_NEWNEIGH, "2001:db9:2::7", NUD_REACHABLE));
        assert_false(neighbour_passes(RTM_NEWNEIGH, "192.0.2.7", NUD_REACHABLE));
        assert_true(route_passes("2001:db8:1::", 64));
        assert_int_equal(route_passes("2001:db9:2::", 64), all_routes);
        assert_int_equal(route_passes("10.9.9.0", 24), all_routes);
    }
    free(filter);
}

/* The program does not compare the links, nor the first words of an address. */
TEST(a_gateway_that_has_failed_passes_beside_others_with_the_same_last_32_bits)
{
    const struct route_filter_gateway gateways[] = { { .address = make("fe80::1"), .index = 3 },
                                                     { .address = make("fe80::1"), .index = 4, .every = true },
                                                     { .address = make("2001:db8::1"), .index = 4 } };

    attach_gateways(gateways, 3);
    assert_true(neighbour_passes(RTM_NEWNEIGH, "fe80::1", NUD_PROBE));
    assert_true(neighbour_passes(RTM_NEWNEIGH, "fe80::1", NUD_FAILED));
    assert_true(neighbour_passes(RTM_NEWNEIGH, "2001:db8::1", NUD_FAILED));
    assert_false(neighbour_passes(RTM_NEWNEIGH, "2001:db8::2", NUD_FAILED));
}

TEST(the_longest_filter_fits)
{
    struct route_filter_gateway gateways[ROUTE_FILTER_GATEWAYS] = { 0 };
    struct address_prefix prefixes[ADDRESS_TREE_PREFIXES];
    struct route_filter *filter = malloc(sizeof *filter);

    for (unsigned i = 0; i < ROUTE_FILTER_GATEWAYS; i++) {
        gateways[i] = (struct route_filter_gateway){ .address = make("fe80::1"), .every = true };
        gateways[i].address.bytes[14] = (uint8_t)(i >> 8);
        gateways[i].address.bytes[15] = (uint8_t)i;
    }
    for (unsigned i = 0; i < ADDRESS_TREE_PREFIXES; i++) {
        prefixes[i] = prefix_make("2001:db8::", 64);
        prefixes[i].address.bytes[7] = (uint8_t)(2 * i);
    }
    reach_route_filter_build(filter, gateways, ROUTE_FILTER_GATEWAYS, prefixes, ADDRESS_TREE_PREFIXES, false);
    attach_program(filter);
    assert_true(neighbour_passes(RTM_NEWNEIGH, "fe80::ff", NUD_FAILED));
    assert_false(neighbour_passes(RTM_NEWNEIGH, "fe80::100", NUD_FAILED));
    assert_true(neighbour_passes(RTM_NEWNEIGH, "fe80::ff", NUD_PROBE));
    assert_false(neighbour_passes(RTM_NEWNEIGH, "fe80::100", NUD_PROBE));
    free(filter);
}
