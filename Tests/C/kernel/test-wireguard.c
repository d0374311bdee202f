/* SPDX-License-Identifier: MIT */
/* Reads from messages which peer of a WireGuard link gets a packet, and the endpoint of this peer. Tests/VM has a real
 * link. */
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/wireguard.h>

#include "kernel/wireguard.h"
#include "support/exact.h"
#include "support/literal.h"
#include "support/test.h"

/* One message under construction. */
struct bytes {
    _Alignas(struct nlmsghdr) unsigned char at[2048];
    struct nlmsghdr *header;
    struct nlattr *peers, *peer, *allowed;
};

static void begin(struct bytes *bytes)
{
    memset(bytes, 0, sizeof *bytes);
    bytes->header = mnl_nlmsg_put_header(bytes->at);
    mnl_nlmsg_put_extra_header(bytes->header, sizeof(struct genlmsghdr));
}

static void begin_peers(struct bytes *bytes)
{
    bytes->peers = mnl_attr_nest_start(bytes->header, WGDEVICE_A_PEERS);
}

/* Endpoint NULL: no endpoint. */
static void begin_peer(struct bytes *bytes, char key, const char *endpoint)
{
    char key_bytes[32];

    memset(key_bytes, key, sizeof key_bytes);
    bytes->peer = mnl_attr_nest_start(bytes->header, 0);
    mnl_attr_put(bytes->header, WGPEER_A_PUBLIC_KEY, sizeof key_bytes, key_bytes);
    if (endpoint != NULL) {
        const struct sockaddr_storage address = expect_sockaddr(endpoint);

        mnl_attr_put(bytes->header, WGPEER_A_ENDPOINT,
                     address.ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6), &address);
    }
    bytes->allowed = mnl_attr_nest_start(bytes->header, WGPEER_A_ALLOWEDIPS);
}

static void put_allowed(struct bytes *bytes, const char *prefix, uint8_t length)
{
    const struct address address = make(prefix);
    struct nlattr *nest = mnl_attr_nest_start(bytes->header, 0);

    mnl_attr_put_u16(bytes->header, WGALLOWEDIP_A_FAMILY, address.family);
    mnl_attr_put(bytes->header, WGALLOWEDIP_A_IPADDR, address_length(&address), address.bytes);
    mnl_attr_put_u8(bytes->header, WGALLOWEDIP_A_CIDR_MASK, length);
    mnl_attr_nest_end(bytes->header, nest);
}

static void end_peer(struct bytes *bytes)
{
    mnl_attr_nest_end(bytes->header, bytes->allowed);
    mnl_attr_nest_end(bytes->header, bytes->peer);
}

static void end_peers(struct bytes *bytes)
{
    mnl_attr_nest_end(bytes->header, bytes->peers);
}

static void apply_message(struct wireguard_link *link, const struct bytes *bytes)
{
    void *exact = exact_copy(bytes->at, bytes->header->nlmsg_len);

    reach_wireguard_link_apply(link, exact);
    free(exact);
}

struct allowed {
    const char *address;
    uint8_t length;
};

/* A message with one peer. */
static void apply_peer(struct wireguard_link *link, char key, const char *endpoint, size_t count,
                       const struct allowed *allowed)
{
    struct bytes bytes;

    begin(&bytes);
    begin_peers(&bytes);
    begin_peer(&bytes, key, endpoint);
    for (size_t i = 0; i < count; i++)
        put_allowed(&bytes, allowed[i].address, allowed[i].length);
    end_peer(&bytes);
    end_peers(&bytes);
    apply_message(link, &bytes);
}

/* Four peers, each with its own prefixes. Peer a has the default routes. */
static void make_mesh(struct bytes *bytes)
{
    begin(bytes);
    mnl_attr_put_u32(bytes->header, WGDEVICE_A_FWMARK, 51820);
    mnl_attr_put_u16(bytes->header, WGDEVICE_A_LISTEN_PORT, 51821);
    begin_peers(bytes);
    begin_peer(bytes, 'a', "192.0.2.9");
    put_allowed(bytes, "0.0.0.0", 0);
    put_allowed(bytes, "::", 0);
    end_peer(bytes);
    begin_peer(bytes, 'b', "2001:db8::9");
    put_allowed(bytes, "10.0.0.0", 8);
    end_peer(bytes);
    begin_peer(bytes, 'c', NULL);
    put_allowed(bytes, "10.7.0.0", 16);
    end_peer(bytes);
    begin_peer(bytes, 'd', "203.0.113.9");
    put_allowed(bytes, "10.7.7.7", 32);
    end_peer(bytes);
    end_peers(bytes);
}

TEST(the_longest_prefix_decides)
{
    static const struct {
        const char *destination, *remote;
    } rows[] = {
        { "198.51.100.7", "192.0.2.9" },
        { "2001:db8:1::1", "192.0.2.9" },
        { NULL, "192.0.2.9" },
        { "10.1.2.3", "2001:db8::9" },
        { "10.7.1.1", NULL },
        { "10.7.7.7", "203.0.113.9" },
    };
    struct wireguard_link link = WIREGUARD_LINK_EMPTY;
    struct bytes bytes;

    make_mesh(&bytes);
    apply_message(&link, &bytes);
    assert_int_equal(link.port, 51821);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct address destination = make(rows[i].destination), remote = make(rows[i].remote);
        struct tunnel tunnel;

        assert_true(reach_wireguard_link_find_peer(&link, &destination, &tunnel));
        assert_int_equal(tunnel.mark, 51820);
        assert_true(reach_address_equal(&tunnel.remote, &remote));
    }
    reach_wireguard_link_clear(&link);
}

TEST(a_destination_of_no_peer_has_no_endpoint)
{
    const struct address destination = make("198.51.100.7");
    struct wireguard_link link = WIREGUARD_LINK_EMPTY;
    struct tunnel tunnel;

    assert_false(reach_wireguard_link_find_peer(&link, &destination, &tunnel));
    apply_peer(&link, 'a', "192.0.2.9", 1, (const struct allowed[]){ { "10.0.0.0", 8 } });
    assert_false(reach_wireguard_link_find_peer(&link, &destination, &tunnel));
    reach_wireguard_link_clear(&link);
}

TEST(the_default_path_may_be_ipv6)
{
    const struct address remote = make("192.0.2.9");
    struct wireguard_link link = WIREGUARD_LINK_EMPTY;
    struct tunnel tunnel;

    apply_peer(&link, 'a', "192.0.2.9", 3, (const struct allowed[]){ { "fd00::", 8 }, { "::", 1 }, { "8000::", 1 } });
    assert_true(reach_wireguard_link_find_peer(&link, &(struct address){ 0 }, &tunnel));
    assert_true(reach_address_equal(&tunnel.remote, &remote));
    reach_wireguard_link_clear(&link);
}

/* A peer that does not fit into one message continues in the next, without its endpoint. Other peers do not inherit the
 * endpoint. */
TEST(a_peer_may_continue_in_the_next_message)
{
    static const char keys[] = { 'a', 'b' };

    for (size_t i = 0; i < sizeof keys; i++) {
        const struct address destination = make("198.51.100.7"), remote = make("192.0.2.9");
        struct wireguard_link link = WIREGUARD_LINK_EMPTY;
        struct tunnel tunnel;

        apply_peer(&link, 'a', "192.0.2.9", 1, (const struct allowed[]){ { "10.0.0.0", 8 } });
        apply_peer(&link, keys[i], NULL, 1, (const struct allowed[]){ { "198.51.100.0", 24 } });
        assert_true(reach_wireguard_link_find_peer(&link, &destination, &tunnel));
        assert_int_equal(reach_address_equal(&tunnel.remote, &remote), keys[i] == 'a');
        reach_wireguard_link_clear(&link);
    }
}

TEST(an_endpoint_may_have_a_scope)
{
    struct sockaddr_in6 endpoint = { .sin6_family = AF_INET6, .sin6_scope_id = 3 };
    const struct address destination = make("10.1.1.1");
    struct wireguard_link link = WIREGUARD_LINK_EMPTY;
    struct tunnel tunnel;
    struct bytes bytes;

    endpoint.sin6_addr.s6_addr[0] = 0xfe;
    endpoint.sin6_addr.s6_addr[1] = 0x80;
    endpoint.sin6_addr.s6_addr[15] = 1;
    begin(&bytes);
    begin_peers(&bytes);
    bytes.peer = mnl_attr_nest_start(bytes.header, 0);
    mnl_attr_put(bytes.header, WGPEER_A_ENDPOINT, sizeof endpoint, &endpoint);
    bytes.allowed = mnl_attr_nest_start(bytes.header, WGPEER_A_ALLOWEDIPS);
    put_allowed(&bytes, "10.0.0.0", 8);
    end_peer(&bytes);
    end_peers(&bytes);
    apply_message(&link, &bytes);
    assert_true(reach_wireguard_link_find_peer(&link, &destination, &tunnel));
    assert_int_equal(tunnel.oif, 3);
    assert_true(reach_address_is_link_local(&tunnel.remote));
    reach_wireguard_link_clear(&link);
}

/* The message is truncated at every byte. Then each of its lengths is replaced. */
TEST(no_bytes_are_read_past_the_end)
{
    static const uint16_t lengths[] = { 0, 1, 3, 4, 5, 8, 0x7fff, 0xffff };
    struct wireguard_link link = WIREGUARD_LINK_EMPTY;
    struct bytes bytes;

    make_mesh(&bytes);
    uint32_t whole = bytes.header->nlmsg_len;
    for (uint32_t length = sizeof *bytes.header; length <= whole; length++) {
        bytes.header->nlmsg_len = length;
        apply_message(&link, &bytes);
        reach_wireguard_link_clear(&link);
    }
    for (size_t at = sizeof *bytes.header + sizeof(struct genlmsghdr); at + 2 <= whole; at += 2) {
        uint16_t before;

        memcpy(&before, bytes.at + at, sizeof before);
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            memcpy(bytes.at + at, &lengths[i], sizeof before);
            apply_message(&link, &bytes);
            reach_wireguard_link_clear(&link);
        }
        memcpy(bytes.at + at, &before, sizeof before);
    }
}

TEST(many_prefixes_are_kept)
{
    struct wireguard_link link = WIREGUARD_LINK_EMPTY;

    for (unsigned i = 0; i < 250; i++) {
        const char *prefix = unit_text("10.%u.0.0", i);
        apply_peer(&link, (char)i, i % 2 == 0 ? "192.0.2.9" : NULL, 1, (const struct allowed[]){ { prefix, 16 } });
    }
    for (unsigned i = 0; i < 250; i++) {
        struct tunnel tunnel;
        struct address destination = make(unit_text("10.%u.1.1", i));

        assert_true(reach_wireguard_link_find_peer(&link, &destination, &tunnel));
        assert_int_equal(tunnel.remote.family, i % 2 == 0 ? AF_INET : AF_UNSPEC);
    }
    reach_wireguard_link_clear(&link);
}
