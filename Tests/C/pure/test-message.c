/* SPDX-License-Identifier: MIT */
/* Parsing of messages: those of the kernel, and bytes that the kernel never sends. Each gives a value or nothing. No
 * kernel. */
#include <arpa/inet.h> /* netinet/in.h comes before the headers of the kernel: musl needs that */
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/if_tunnel.h>
#include <linux/netconf.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>

#include "pure/message.h"
#include "support/exact.h"
#include "support/literal.h"

/* A message under construction. */
static struct bytes {
    _Alignas(struct nlmsghdr) unsigned char at[1024];
    size_t length;
} bytes;

static struct message message; /* what it says */

static struct nlmsghdr *header_of(void)
{
    return (struct nlmsghdr *)(void *)bytes.at;
}

static void append(const void *data, size_t length)
{
    assert_true(bytes.length + length + 4 <= sizeof bytes.at);
    if (length > 0)
        memcpy(bytes.at + bytes.length, data, length);
    bytes.length += length;
    while (bytes.length % 4 != 0)
        bytes.at[bytes.length++] = 0;
    header_of()->nlmsg_len = (uint32_t)bytes.length;
}

static void start(uint16_t type, const void *payload, size_t length)
{
    const struct nlmsghdr header = { .nlmsg_type = type, .nlmsg_seq = 7, .nlmsg_pid = 42 };

    memset(&bytes, 0, sizeof bytes);
    append(&header, sizeof header);
    append(payload, length);
}

/* One attribute, with the length that it claims to have. */
static void put_claiming(uint16_t type, const void *data, size_t length, uint16_t claimed)
{
    const struct nlattr attribute = { .nla_len = claimed, .nla_type = type };

    append(&attribute, sizeof attribute);
    append(data, length);
}

static void put(uint16_t type, const void *data, size_t length)
{
    put_claiming(type, data, length, (uint16_t)(sizeof(struct nlattr) + length));
}

static void put_u32(uint16_t type, uint32_t value)
{
    put(type, &value, sizeof value);
}

static void put_text(uint16_t type, const char *text)
{
    put(type, text, strlen(text) + 1);
}

/* Opens a nest and closes it, by its offset. */
static size_t nest(uint16_t type)
{
    const size_t offset = bytes.length;

    put(type, NULL, 0);
    return offset;
}

static void unnest(size_t offset)
{
    ((struct nlattr *)(void *)(bytes.at + offset))->nla_len = (uint16_t)(bytes.length - offset);
}

static size_t parse(size_t length)
{
    void *exact = exact_copy(bytes.at, length);
    const size_t step = reach_message_parse(exact, length, &message);

    if (message.kind == MESSAGE_ROUTE) {
        struct route_leg leg;

        while (reach_route_next_leg(&message.route, &leg))
            continue;
    }
    message.route.legs = NULL;
    free(exact);
    return step;
}

static struct message parsed(void)
{
    assert_int_equal(parse(bytes.length), bytes.length);
    assert_int_equal(message.sequence, 7);
    return message;
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

static void start_link(uint16_t type, int family, int index)
{
    const struct ifinfomsg info = { .ifi_family = (unsigned char)family,
                                    .ifi_type = ARPHRD_ETHER,
                                    .ifi_index = index,
                                    .ifi_flags = IFF_UP | IFF_RUNNING };

    start(type, &info, sizeof info);
}

static void make_link(void)
{
    start_link(RTM_NEWLINK, AF_UNSPEC, 3);
    put_text(IFLA_IFNAME, "veth0");
    put_u32(IFLA_MTU, 1500);
    size_t nested = nest(IFLA_LINKINFO);
    put_text(IFLA_INFO_KIND, "veth");
    unnest(nested);
}

TEST(a_link_is_read)
{
    make_link();
    message = parsed();
    assert_int_equal(message.kind, MESSAGE_LINK);
    assert_int_equal(message.link.index, 3);
    assert_int_equal(message.link.flags, IFF_UP | IFF_RUNNING);
    assert_int_equal(message.link.hardware, ARPHRD_ETHER);
    assert_true(message.link.has_name);
    assert_string_equal(message.link.name, "veth0");
    assert_true(message.link.has_mtu);
    assert_int_equal(message.link.mtu, 1500);
    assert_true(message.link.info.has_kind);
    assert_string_equal(message.link.info.kind, "veth");
}

/* Its index, and the ends of a tunnel, are numbers of the other namespace. */
TEST(a_lower_link_in_another_namespace_is_not_read)
{
    size_t info, data;

    for (int elsewhere = 0; elsewhere <= 1; elsewhere++) {
        start_link(RTM_NEWLINK, AF_UNSPEC, 3);
        put_u32(IFLA_LINK, 7);
        if (elsewhere)
            put_u32(IFLA_LINK_NETNSID, 0);
        info = nest(IFLA_LINKINFO);
        put_text(IFLA_INFO_KIND, "ipip");
        data = nest(IFLA_INFO_DATA);
        put(IFLA_IPTUN_REMOTE, (const unsigned char[]){ 192, 0, 2, 9 }, 4);
        unnest(data);
        unnest(info);
        assert_int_equal(reach_message_parse(bytes.at, bytes.length, &message), bytes.length);
        assert_int_equal(message.link.lower, elsewhere ? 0 : 7);
        assert_int_equal(message.link.info.tunnel.remote.family, elsewhere ? AF_UNSPEC : AF_INET);
    }
}

TEST(a_partial_link_message_leaves_other_fields_unset)
{
    start_link(RTM_NEWLINK, AF_UNSPEC, 3);
    put_text(IFLA_WIRELESS, "whatever");
    message = parsed();
    assert_int_equal(message.kind, MESSAGE_LINK);
    assert_false(message.link.has_name);
    assert_false(message.link.has_mtu);
    assert_false(message.link.info.has_kind);
}

TEST(a_deleted_link_is_read)
{
    start_link(RTM_DELLINK, AF_UNSPEC, 3);
    message = parsed();
    assert_int_equal(message.kind, MESSAGE_LINK_GONE);
    assert_int_equal(message.link.index, 3);
}

TEST(a_leaving_bridge_port_is_not_a_deleted_link)
{
    start_link(RTM_DELLINK, AF_BRIDGE, 3);
    assert_int_equal(parsed().kind, MESSAGE_OTHER);
    start_link(RTM_NEWLINK, AF_BRIDGE, 3);
    assert_int_equal(parsed().kind, MESSAGE_OTHER);
    start_link(RTM_NEWLINK, AF_INET6, 3);
    message = parsed();
    assert_int_equal(message.kind, MESSAGE_NETCONF);
    assert_int_equal(message.netconf.index, 3);
    assert_false(message.netconf.ignore_linkdown);
}

TEST(a_link_without_an_index_is_refused)
{
    start_link(RTM_NEWLINK, AF_UNSPEC, 0);
    assert_int_equal(parsed().kind, MESSAGE_OTHER);
    start_link(RTM_DELLINK, AF_UNSPEC, -1);
    assert_int_equal(parsed().kind, MESSAGE_OTHER);
}

TEST(link_attributes_of_a_wrong_length_are_ignored)
{
    start_link(RTM_NEWLINK, AF_UNSPEC, 3);
    put(IFLA_MTU, "\1\2", 2);
    put(IFLA_IFNAME, "", 0);
    message = parsed();
    assert_int_equal(message.kind, MESSAGE_LINK);
    assert_false(message.link.has_mtu);
    assert_false(message.link.has_name);

    start_link(RTM_NEWLINK, AF_UNSPEC, 3);
    put(IFLA_MTU, "\1\2\3\4\5\6\7\10", 8);
    put_text(IFLA_IFNAME, "a-name-of-16-byt");
    size_t nested = nest(IFLA_LINKINFO);
    put_text(IFLA_INFO_KIND, "a-kind-with-a-very-long-name");
    unnest(nested);
    message = parsed();
    assert_false(message.link.has_mtu);
    assert_false(message.link.has_name);
    assert_false(message.link.info.has_kind);

    /* Without the NUL, if it fits. */
    start_link(RTM_NEWLINK, AF_UNSPEC, 3);
    put(IFLA_IFNAME, "abcdefghijklmno", 15);
    message = parsed();
    assert_true(message.link.has_name);
    assert_string_equal(message.link.name, "abcdefghijklmno");
}

TEST(a_kind_outside_its_nest_is_ignored)
{
    start_link(RTM_NEWLINK, AF_UNSPEC, 3);
    size_t nested = nest(IFLA_LINKINFO);
    put_claiming(IFLA_INFO_KIND, "veth", 5, 200); /* longer than its nest */
    unnest(nested);
    message = parsed();
    assert_int_equal(message.kind, MESSAGE_LINK);
    assert_false(message.link.info.has_kind);
}

/* ---- Routes ----------------------------------------------------------------------------------------------------- */

static void start_route(uint16_t type, int family, int length)
{
    const struct rtmsg info = { .rtm_family = (unsigned char)family,
                                .rtm_dst_len = (unsigned char)length,
                                .rtm_src_len = 48,
                                .rtm_protocol = RTPROT_RA,
                                .rtm_table = RT_TABLE_MAIN,
                                .rtm_type = RTN_UNICAST };

    start(type, &info, sizeof info);
}

static const unsigned char destination[4] = { 198, 51, 100, 7 }, gateway[4] = { 192, 0, 2, 1 },
                           source[4] = { 192, 0, 2, 2 };

static void make_route(void)
{
    const struct rta_cacheinfo cache = { .rta_expires = 200 };

    start_route(RTM_NEWROUTE, AF_INET, 24);
    put_u32(RTA_TABLE, 1000);
    put(RTA_DST, destination, 4);
    put_u32(RTA_OIF, 3);
    put(RTA_PREFSRC, source, 4);
    put(RTA_GATEWAY, gateway, 4);
    put_u32(RTA_NH_ID, 9);
    size_t nested = nest(RTA_METRICS);
    put_u32(RTAX_MTU, 1400);
    unnest(nested);
    put(RTA_CACHEINFO, &cache, sizeof cache);
}

static void expect_text(const struct address *address, const char *wanted)
{
    char text[46];

    reach_address_format(address, text);
    assert_string_equal(text, wanted);
}

TEST(a_route_is_read)
{
    make_route();
    message = parsed();
    assert_int_equal(message.kind, MESSAGE_ROUTE);
    assert_int_equal(message.route.family, AF_INET);
    assert_int_equal(message.route.prefix_length, 24);
    assert_int_equal(message.route.source_length, 48);
    assert_int_equal(message.route.type, RTN_UNICAST);
    assert_int_equal(message.route.protocol, RTPROT_RA);
    assert_int_equal(message.route.table, 1000);
    assert_int_equal(message.route.oif, 3);
    assert_int_equal(message.route.mtu, 1400);
    assert_int_equal(message.route.expires, 200);
    expect_text(&message.route.destination, "198.51.100.7");
    expect_text(&message.route.source, "192.0.2.2");
    assert_true(message.route.has_gateway);
    expect_text(&message.route.gateway, "192.0.2.1");
    header_of()->nlmsg_type = RTM_DELROUTE;
    assert_int_equal(parsed().kind, MESSAGE_ROUTE);
}

TEST(a_small_table_number_is_in_the_header)
{
    start_route(RTM_NEWROUTE, AF_INET, 0);
    assert_int_equal(parsed().route.table, RT_TABLE_MAIN);
    assert_int_equal(parsed().route.destination.family, AF_UNSPEC);
    assert_false(parsed().route.has_gateway);
}

TEST(a_hop_of_another_family_is_a_gateway)
{
    struct {
        uint16_t family;
        unsigned char address[16];
    } via = { .family = AF_INET6, .address = { 0xfe, 0x80, [15] = 1 } };

    start_route(RTM_NEWROUTE, AF_INET, 0);
    put(RTA_VIA, &via, sizeof via);
    message = parsed();
    assert_true(message.route.has_gateway);
    expect_text(&message.route.gateway, "fe80::1");

    /* With an unknown family or a wrong length: still a hop. */
    via.family = AF_UNIX;
    start_route(RTM_NEWROUTE, AF_INET, 0);
    put(RTA_VIA, &via, sizeof via);
    message = parsed();
    assert_true(message.route.has_gateway);
    assert_int_equal(message.route.gateway.family, AF_UNSPEC);

    start_route(RTM_NEWROUTE, AF_INET, 0);
    put(RTA_VIA, &via, 1);
    assert_false(parsed().route.has_gateway);
    start_route(RTM_NEWROUTE, AF_INET, 0);
    put(RTA_VIA, &via, 2);
    assert_int_equal(parsed().kind, MESSAGE_ROUTE);
}

TEST(route_attributes_of_a_wrong_length_are_ignored)
{
    static const uint16_t types[] = { RTA_DST,   RTA_PREFSRC,   RTA_GATEWAY, RTA_OIF,
                                      RTA_NH_ID, RTA_CACHEINFO, RTA_METRICS, RTA_MULTIPATH };
    static const unsigned char ones[64] = { 1, 1, 1, 1, 1 };

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        for (size_t length = 0; length < 64; length++) {
            start_route(RTM_NEWROUTE, AF_INET, 24);
            put(types[i], ones, length);
            message = parsed();
            assert_int_equal(message.kind, MESSAGE_ROUTE);
            assert_int_equal(message.route.destination.family,
                             types[i] == RTA_DST && length == 4 ? AF_INET : AF_UNSPEC);
            assert_int_equal(message.route.source.family, types[i] == RTA_PREFSRC && length == 4 ? AF_INET : AF_UNSPEC);
            assert_int_equal(message.route.has_gateway, types[i] == RTA_GATEWAY && length == 4);
            assert_int_equal(message.route.oif, types[i] == RTA_OIF && length == 4 ? 0x01010101 : 0);
        }
    }
}

TEST(an_expired_route_has_no_expiry)
{
    const struct rta_cacheinfo cache = { .rta_expires = -5 };

    start_route(RTM_NEWROUTE, AF_INET6, 0);
    put(RTA_CACHEINFO, &cache, sizeof cache);
    assert_int_equal(parsed().route.expires, 0);
}

/* ---- Legs ------------------------------------------------------------------------------------------------------- */

struct leg_bytes {
    struct rtnexthop hop;
    struct nlattr attribute;
    unsigned char address[4];
};

static struct leg_bytes leg_via(uint32_t oif, unsigned char last)
{
    return (struct leg_bytes){ .hop = { .rtnh_len = sizeof(struct leg_bytes), .rtnh_ifindex = (int)oif },
                               .attribute = { .nla_len = 8, .nla_type = RTA_GATEWAY },
                               .address = { 192, 0, 2, last } };
}

/* The legs of a route that has these bytes for a multipath attribute. */
static size_t count_legs(const void *data, size_t length, struct route_leg *ret_last)
{
    size_t count = 0;

    start_route(RTM_NEWROUTE, AF_INET, 0);
    put(RTA_MULTIPATH, data, length);
    assert_int_equal(reach_message_parse(bytes.at, bytes.length, &message), bytes.length);
    while (reach_route_next_leg(&message.route, ret_last))
        count++;
    return count;
}

TEST(legs_are_read_one_by_one)
{
    struct leg_bytes legs[2];
    struct route_leg leg;
    struct route none = { 0 };

    legs[0] = leg_via(3, 1);
    legs[1] = leg_via(5, 9);
    legs[1].hop.rtnh_flags = RTNH_F_LINKDOWN;
    assert_int_equal(count_legs(legs, sizeof legs[0], &leg), 1);
    assert_int_equal(leg.oif, 3);
    assert_int_equal(leg.flags, 0);
    expect_text(&leg.gateway, "192.0.2.1");
    assert_int_equal(count_legs(legs, sizeof legs, &leg), 2);
    assert_int_equal(leg.oif, 5);
    assert_int_equal(leg.flags, RTNH_F_LINKDOWN);
    assert_true(leg.has_gateway);
    expect_text(&leg.gateway, "192.0.2.9");
    assert_false(reach_route_next_leg(&none, &leg));
}

TEST(a_leg_over_a_hop_of_another_family_has_a_gateway)
{
    struct leg_bytes leg_bytes = leg_via(3, 1);
    struct route_leg leg;

    leg_bytes.attribute.nla_type = RTA_VIA; /* a family, and the start of an address */
    memcpy(leg_bytes.address, &(uint16_t){ AF_INET6 }, 2);
    assert_int_equal(count_legs(&leg_bytes, sizeof leg_bytes, &leg), 1);
    assert_true(leg.has_gateway);
}

TEST(legs_with_a_bad_length_end_the_list)
{
    struct leg_bytes legs[2];
    struct route_leg leg;

    for (unsigned length = 0; length <= 64; length++) {
        legs[0] = leg_via(3, 1);
        legs[1] = leg_via(5, 9);
        legs[1].hop.rtnh_len = (unsigned short)length;
        /* After a short leg the remaining bytes may look like another leg. */
        if (length < sizeof(struct rtnexthop) || length > sizeof legs[0])
            assert_int_equal(count_legs(legs, sizeof legs, &leg), 1);
        else
            assert_true(count_legs(legs, sizeof legs, &leg) >= 2);
        legs[0].hop.rtnh_len = (unsigned short)length;
        (void)count_legs(legs, sizeof legs, &leg); /* ends, and reads nothing beyond */
    }
    for (size_t length = 0; length < sizeof legs; length++)
        (void)count_legs(legs, length, &leg);
}

TEST(a_leg_without_gateway_is_on_link)
{
    struct leg_bytes leg_bytes = leg_via(3, 1);
    struct route_leg leg;

    leg_bytes.hop.rtnh_len = sizeof leg_bytes.hop;
    assert_int_equal(count_legs(&leg_bytes.hop, sizeof leg_bytes.hop, &leg), 1);
    assert_false(leg.has_gateway);
    leg_bytes.attribute.nla_len = 200; /* longer than its leg */
    leg_bytes.hop.rtnh_len = sizeof leg_bytes;
    assert_int_equal(count_legs(&leg_bytes, sizeof leg_bytes, &leg), 1);
    assert_false(leg.has_gateway);
}

/* ---- Ends, and the rest ----------------------------------------------------------------------------------------- */

TEST(error_and_done_messages_carry_their_errno)
{
    static const struct {
        int error, wanted;
    } rows[] = {
        { 0, 0 }, { -ENETUNREACH, ENETUNREACH }, { -EACCES, EACCES }, { 5, 0 }, { -4096, 0 }, { INT32_MIN, 0 }
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct nlmsgerr payload = { .error = rows[i].error };

        start(NLMSG_ERROR, &payload, sizeof payload);
        assert_int_equal(parsed().kind, MESSAGE_ERROR);
        assert_int_equal(parsed().error, rows[i].wanted);
        start(NLMSG_DONE, &rows[i].error, sizeof rows[i].error);
        assert_int_equal(reach_message_error(header_of()), rows[i].wanted);
    }
    start(NLMSG_DONE, NULL, 0);
    assert_int_equal(reach_message_error(header_of()), 0);
    start(NLMSG_ERROR, "\1\2", 2);
    header_of()->nlmsg_len = sizeof(struct nlmsghdr) + 2;
    assert_int_equal(parse(bytes.length), bytes.length);
    assert_int_equal(message.kind, MESSAGE_OTHER);
    assert_int_equal(reach_message_error(header_of()), EBADMSG);
}

TEST(kinds_follow_from_types)
{
    static const struct {
        uint16_t type;
        enum message_kind kind;
    } rows[] = {
        { RTM_NEWRULE, MESSAGE_RULE },       { RTM_DELRULE, MESSAGE_RULE },   { RTM_NEWNEXTHOP, MESSAGE_NEXTHOP },
        { RTM_DELNEXTHOP, MESSAGE_NEXTHOP }, { RTM_NEWNEIGH, MESSAGE_OTHER }, { RTM_NEWPREFIX, MESSAGE_PREFIX },
        { NLMSG_NOOP, MESSAGE_OTHER },       { 0xffff, MESSAGE_OTHER },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        start(rows[i].type, "payload", 8);
        assert_int_equal(parsed().kind, rows[i].kind);
        start(rows[i].type, NULL, 0);
        assert_int_equal(parsed().kind, rows[i].kind);
    }
}

TEST(a_message_about_an_address_names_its_link)
{
    struct ifaddrmsg info = { .ifa_family = AF_INET6, .ifa_index = 5, .ifa_prefixlen = 64 };

    start(RTM_NEWADDR, &info, sizeof info);
    message = parsed();
    assert_int_equal(message.kind, MESSAGE_ADDRESS);
    assert_int_equal(message.address.family, AF_INET6);
    assert_int_equal(message.address.index, 5);
    assert_false(message.address.gone);
    start(RTM_DELADDR, &info, sizeof info);
    assert_true(parsed().address.gone);
    start(RTM_DELADDR, NULL, 0);
    assert_int_equal(parsed().kind, MESSAGE_OTHER);
}

static void start_netconf(uint16_t type, uint8_t family, int32_t index)
{
    const struct netconfmsg info = { .ncm_family = family };

    start(type, &info, sizeof info);
    put(NETCONFA_IFINDEX, &index, sizeof index);
}

TEST(a_message_about_settings_says_whether_routes_without_a_carrier_are_ignored)
{
    static const struct {
        int32_t index;
        uint32_t expected;
    } rows[] = { { 5, 5 }, { NETCONFA_IFINDEX_ALL, 0 }, { NETCONFA_IFINDEX_DEFAULT, 0 } };
    static const uint32_t off = 0, on = 1;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        start_netconf(RTM_NEWNETCONF, AF_INET, rows[i].index);
        message = parsed();
        assert_int_equal(message.kind, MESSAGE_NETCONF);
        assert_int_equal(message.netconf.index, rows[i].expected);
        assert_false(message.netconf.ignore_linkdown);
    }
    put(NETCONFA_IGNORE_ROUTES_WITH_LINKDOWN, &off, sizeof off);
    message = parsed();
    assert_false(message.netconf.ignore_linkdown);
    assert_true(message.netconf.switches_linkdown);
    put(NETCONFA_FORWARDING, &on, sizeof on);
    assert_false(parsed().netconf.switches_linkdown);
    start_netconf(RTM_DELNETCONF, AF_INET, 5);
    put(NETCONFA_IGNORE_ROUTES_WITH_LINKDOWN, &on, sizeof on);
    assert_true(parsed().netconf.ignore_linkdown);
    start(RTM_NEWNETCONF, NULL, 0);
    assert_int_equal(parsed().kind, MESSAGE_OTHER);
}

TEST(a_message_about_a_neighbour_has_its_state)
{
    static const struct {
        uint16_t type, state;
        const char *address;
        uint16_t expected;
    } rows[] = { { RTM_NEWNEIGH, NUD_FAILED, "fe80::1", NUD_FAILED },
                 { RTM_NEWNEIGH, NUD_REACHABLE, "fe80::1", NUD_REACHABLE },
                 { RTM_NEWNEIGH, NUD_INCOMPLETE, "192.0.2.1", NUD_INCOMPLETE },
                 { RTM_DELNEIGH, NUD_FAILED, "fe80::1", NUD_NONE },
                 { RTM_NEWNEIGH, NUD_FAILED, "192.0.2.1", NUD_FAILED } };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct address address = make(rows[i].address);
        const struct ndmsg neighbour = { .ndm_family = address.family, .ndm_ifindex = 3, .ndm_state = rows[i].state };

        start(rows[i].type, &neighbour, sizeof neighbour);
        assert_int_equal(parsed().kind, MESSAGE_OTHER); /* no address */
        put(NDA_DST, address.bytes, address_length(&address));
        message = parsed();
        assert_int_equal(message.kind, MESSAGE_NEIGHBOUR);
        assert_int_equal(message.neighbour.index, 3);
        assert_true(reach_address_equal(&message.neighbour.address, &address));
        assert_int_equal(message.neighbour.state, rows[i].expected);
    }
}

TEST(a_message_about_a_nexthop_names_its_gateway)
{
    static const char *const gateways[] = { "192.0.2.1", "fe80::1" };

    for (size_t i = 0; i < 2; i++) {
        const struct address address = make(gateways[i]);
        const struct nhmsg info = { .nh_family = address.family };

        start(RTM_NEWNEXTHOP, &info, sizeof info);
        put_u32(NHA_OIF, 3);
        message = parsed();
        assert_int_equal(message.kind, MESSAGE_NEXTHOP);
        assert_int_equal(message.neighbour.index, 0);
        put(NHA_GATEWAY, address.bytes, address_length(&address));
        message = parsed();
        assert_int_equal(message.neighbour.index, 3);
        assert_true(reach_address_equal(&message.neighbour.address, &address));
    }
    start(RTM_NEWNEXTHOP, NULL, 0);
    assert_int_equal(parsed().neighbour.index, 0);
}

TEST(messages_follow_one_another)
{
    make_link();
    struct bytes first = bytes;
    make_route();
    unsigned char *both = malloc(first.length + bytes.length);
    assert_non_null(both);
    memcpy(both, first.at, first.length);
    memcpy(both + first.length, bytes.at, bytes.length);
    size_t step = reach_message_parse(both, first.length + bytes.length, &message);
    assert_int_equal(step, first.length);
    assert_int_equal(message.kind, MESSAGE_LINK);
    assert_int_equal(reach_message_parse(both + step, bytes.length, &message), bytes.length);
    assert_int_equal(message.kind, MESSAGE_ROUTE);
    free(both);
}

/* ---- Nonsense --------------------------------------------------------------------------------------------------- */

static void make_link_or_route(bool link)
{
    if (link)
        make_link();
    else
        make_route();
}

/* A truncated message is refused, and nothing beyond its end is read. */
TEST(a_truncated_message_is_refused)
{
    for (size_t i = 0; i < 2; i++) {
        make_link_or_route(i == 0);
        for (size_t length = 0; length < bytes.length; length++)
            assert_int_equal(parse(length), 0);
    }
}

/* A shorter message with a matching header: complete attributes are read, and nothing beyond. */
TEST(a_short_message_has_fewer_fields)
{
    struct bytes whole;

    for (int i = 0; i < 2; i++) {
        make_link_or_route(i == 0);
        whole = bytes;
        for (size_t length = sizeof(struct nlmsghdr); length < whole.length; length++) {
            bytes = whole;
            header_of()->nlmsg_len = (uint32_t)length;
            assert_int_equal(parse(length), length);
            if (length < sizeof(struct nlmsghdr) + (i == 0 ? sizeof(struct ifinfomsg) : sizeof(struct rtmsg)))
                assert_int_equal(message.kind, MESSAGE_OTHER);
        }
    }
}

/* libmnl takes such a length for a negative number, and reads on behind the datagram. */
TEST(a_message_with_the_sign_bit_in_its_length_ends_the_datagram)
{
    make_link();
    header_of()->nlmsg_len = 0xfffff0f0u;
    assert_int_equal(reach_message_step(bytes.at, bytes.length), 0);
    assert_int_equal(parse(bytes.length), 0);
}

TEST(a_header_with_a_wrong_length_ends_the_datagram)
{
    static const uint32_t lengths[] = { 0, 1, 15, 0x7fffffff, 0xffffffff, 0xfffffffd };

    make_link();
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        header_of()->nlmsg_len = lengths[i];
        assert_int_equal(parse(bytes.length), 0);
    }
    header_of()->nlmsg_len = (uint32_t)bytes.length + 1;
    assert_int_equal(parse(bytes.length), 0);
}

/* Every byte of every message, changed to some values: no crash, no read beyond the end, no endless loop. */
TEST(any_changed_byte_is_safe)
{
    static const unsigned char values[] = { 0, 1, 3, 4, 5, 8, 0x7f, 0x80, 0xfe, 0xff };
    struct leg_bytes legs[2];
    struct bytes whole[3];

    legs[0] = leg_via(3, 1);
    legs[1] = leg_via(5, 9);
    make_link();
    whole[0] = bytes;
    make_route();
    whole[1] = bytes;
    start_route(RTM_NEWROUTE, AF_INET, 0);
    put(RTA_MULTIPATH, legs, sizeof legs);
    whole[2] = bytes;
    for (size_t i = 0; i < 3; i++)
        for (size_t at = 0; at < whole[i].length; at++)
            for (size_t value = 0; value < sizeof values; value++) {
                bytes = whole[i];
                bytes.at[at] = values[value];
                (void)parse(bytes.length);
            }
}

/* ---- Requests --------------------------------------------------------------------------------------------------- */

/* The header is in the machine's byte order. */
static bool has_attribute(const void *request, size_t length, uint16_t type, const char *value, size_t size)
{
    const struct nlattr header = { .nla_len = (uint16_t)(sizeof header + size), .nla_type = type };
    unsigned char attribute[8];

    memcpy(attribute, &header, sizeof header);
    memcpy(attribute + sizeof header, value, size);
    return memmem(request, length, attribute, sizeof header + size) != NULL;
}

TEST(requests_fit_their_buffer_and_hold_the_query)
{
    const struct {
        struct nlattr header;
        uint32_t user;
    } user = { .header = { .nla_len = sizeof user, .nla_type = RTA_UID }, .user = 1000 };
    _Alignas(struct nlmsghdr) unsigned char buffer[MESSAGE_REQUEST_SIZE];
    const struct nlmsghdr *header = (const struct nlmsghdr *)(const void *)buffer;
    const struct rtmsg *info = (const struct rtmsg *)(const void *)(buffer + NLMSG_HDRLEN);
    const struct ifinfomsg *link = (const struct ifinfomsg *)(const void *)(buffer + NLMSG_HDRLEN);
    struct route_request request = { .oif = 3, .mark = 7, .fib_match = true };

    request.destination = address_make(AF_INET6, "0123456789abcdef", 16);
    request.source = address_make(AF_INET6, "fedcba9876543210", 16);
    size_t length = reach_message_put_route_query(buffer, 77, 1000, &request);
    assert_true(length <= MESSAGE_REQUEST_SIZE);
    assert_non_null(memmem(buffer, length, &user, sizeof user));
    assert_int_equal(header->nlmsg_len, length);
    assert_int_equal(header->nlmsg_seq, 77);
    assert_int_equal(header->nlmsg_type, RTM_GETROUTE);
    assert_int_equal(header->nlmsg_flags, NLM_F_REQUEST);
    assert_int_equal(info->rtm_family, AF_INET6);
    assert_int_equal(info->rtm_dst_len, 128);
    assert_int_equal(info->rtm_src_len, 128);
    assert_true((info->rtm_flags & RTM_F_FIB_MATCH) != 0);

    request = (struct route_request){ .destination = address_make(AF_INET, destination, 4) };
    length = reach_message_put_route_query(buffer, 78, MESSAGE_NO_USER, &request);
    assert_int_equal(info->rtm_dst_len, 32);
    assert_int_equal(info->rtm_src_len, 0);
    assert_int_equal(info->rtm_flags & RTM_F_FIB_MATCH, 0);
    assert_int_equal(length, NLMSG_HDRLEN + sizeof *info + 8); /* the destination, and nothing else */

    request.source = request.destination;
    request.oif = request.mark = 9;
    request.flow = (struct flow){ IPPROTO_TCP, 0x10, 4000, 443 };
    length = reach_message_put_route_query(buffer, 78, 1000, &request);
    assert_true(length <= MESSAGE_REQUEST_SIZE);
    assert_int_equal(info->rtm_tos, 0x10);
    assert_true(has_attribute(buffer, length, RTA_IP_PROTO, "\x06", 1));
    assert_true(has_attribute(buffer, length, RTA_SPORT, "\x0f\xa0", 2));
    assert_true(has_attribute(buffer, length, RTA_DPORT, "\x01\xbb", 2));
    request.flow.protocol = IPPROTO_ICMPV6;
    length = reach_message_put_route_query(buffer, 78, 1000, &request);
    assert_true(has_attribute(buffer, length, RTA_IP_PROTO, "\x01", 1)); /* that of IPv4, without ports */
    assert_false(has_attribute(buffer, length, RTA_SPORT, "\x0f\xa0", 2));

    length = reach_message_put_link_query(buffer, 79, 12);
    assert_true(length <= MESSAGE_REQUEST_SIZE);
    assert_int_equal(header->nlmsg_type, RTM_GETLINK);
    assert_int_equal(header->nlmsg_flags, NLM_F_REQUEST);
    assert_int_equal(link->ifi_index, 12);
    length = reach_message_put_barrier(buffer, 80);
    assert_true(length <= MESSAGE_REQUEST_SIZE);
    assert_int_equal(header->nlmsg_type, RTM_GETSTATS);
    assert_int_equal(header->nlmsg_flags, NLM_F_REQUEST);
    assert_int_equal(link->ifi_index, INT32_MAX); /* if_stats_msg has the index at the same place */
    length = reach_message_put_link_dump(buffer, 0);
    assert_true(length <= MESSAGE_REQUEST_SIZE);
    assert_int_equal(header->nlmsg_flags, NLM_F_REQUEST | NLM_F_DUMP);
    assert_int_equal(link->ifi_index, 0);
    length = reach_message_put_kind_dump(buffer, "ip6erspan-of-15");
    assert_true(length <= MESSAGE_REQUEST_SIZE);
    assert_int_equal(header->nlmsg_len, length);
    assert_int_equal(header->nlmsg_flags, NLM_F_REQUEST | NLM_F_DUMP);
    assert_non_null(memmem(buffer, length, "ip6erspan-of-15", 15));
}
