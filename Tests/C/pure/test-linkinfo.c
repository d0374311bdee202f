/* SPDX-License-Identifier: MIT */
/* Parsing of IFLA_LINKINFO for each kind of link. No kernel. */
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/if_tunnel.h>

#include "pure/message.h"
#include "support/exact.h"
#include "support/literal.h"

#define LIMIT 1024

/* IFLA_LINKINFO under construction. */
struct nest {
    _Alignas(struct nlmsghdr) unsigned char bytes[LIMIT];
    struct nlmsghdr *message;
    struct nlattr *info, *data;
};

static void begin(struct nest *nest, const char *kind)
{
    nest->message = mnl_nlmsg_put_header(nest->bytes);
    nest->info = mnl_attr_nest_start(nest->message, IFLA_LINKINFO);
    if (kind != NULL)
        mnl_attr_put_strz(nest->message, IFLA_INFO_KIND, kind);
    nest->data = mnl_attr_nest_start(nest->message, IFLA_INFO_DATA);
}

static struct linkinfo end(struct nest *nest)
{
    struct attribute attribute = { .type = IFLA_LINKINFO };
    struct linkinfo info;

    mnl_attr_nest_end(nest->message, nest->data);
    mnl_attr_nest_end(nest->message, nest->info);
    attribute.length = mnl_attr_get_payload_len(nest->info);
    void *exact = exact_copy(mnl_attr_get_payload(nest->info), attribute.length);
    attribute.payload = exact;
    reach_message_parse_linkinfo(&attribute, &info);
    free(exact);
    return info;
}

static void put_address(struct nest *nest, uint16_t type, const char *text)
{
    const struct address address = make(text);

    if (text != NULL)
        mnl_attr_put(nest->message, type, address_length(&address), address.bytes);
}

TEST(tunnels_publish_their_endpoints)
{
    static const struct {
        const char *kind;
        uint16_t oif_type, local_type, remote_type, mark_type;
        uint32_t oif, mark;
        const char *local, *remote;
    } rows[] = {
        { "gre", IFLA_GRE_LINK, IFLA_GRE_LOCAL, IFLA_GRE_REMOTE, IFLA_GRE_FWMARK, 3, 7, "192.0.2.2", "192.0.2.9" },
        { "gretap", IFLA_GRE_LINK, IFLA_GRE_LOCAL, IFLA_GRE_REMOTE, 0, 0, 0, NULL, "192.0.2.9" },
        { "erspan", IFLA_GRE_LINK, IFLA_GRE_LOCAL, IFLA_GRE_REMOTE, 0, 0, 0, NULL, "192.0.2.9" },
        { "ip6gre", IFLA_GRE_LINK, IFLA_GRE_LOCAL, IFLA_GRE_REMOTE, IFLA_GRE_FWMARK, 3, 7, "2001:db8::2",
          "2001:db8::9" },
        { "ip6gretap", IFLA_GRE_LINK, IFLA_GRE_LOCAL, IFLA_GRE_REMOTE, 0, 0, 0, NULL, "2001:db8::9" },
        { "ip6erspan", IFLA_GRE_LINK, IFLA_GRE_LOCAL, IFLA_GRE_REMOTE, 0, 0, 0, NULL, "2001:db8::9" },
        { "ipip", IFLA_IPTUN_LINK, IFLA_IPTUN_LOCAL, IFLA_IPTUN_REMOTE, IFLA_IPTUN_FWMARK, 3, 7, "192.0.2.2",
          "192.0.2.9" },
        { "sit", IFLA_IPTUN_LINK, IFLA_IPTUN_LOCAL, IFLA_IPTUN_REMOTE, IFLA_IPTUN_FWMARK, 3, 7, "192.0.2.2",
          "192.0.2.9" },
        { "ip6tnl", IFLA_IPTUN_LINK, IFLA_IPTUN_LOCAL, IFLA_IPTUN_REMOTE, IFLA_IPTUN_FWMARK, 3, 7, "2001:db8::2",
          "2001:db8::9" },
        { "vti", IFLA_VTI_LINK, IFLA_VTI_LOCAL, IFLA_VTI_REMOTE, IFLA_VTI_FWMARK, 3, 7, "192.0.2.2", "192.0.2.9" },
        { "vti6", IFLA_VTI_LINK, IFLA_VTI_LOCAL, IFLA_VTI_REMOTE, IFLA_VTI_FWMARK, 3, 7, "2001:db8::2", "2001:db8::9" },
        { "vxlan", IFLA_VXLAN_LINK, IFLA_VXLAN_LOCAL, IFLA_VXLAN_GROUP, 0, 3, 0, "192.0.2.2", "192.0.2.9" },
        { "vxlan", IFLA_VXLAN_LINK, IFLA_VXLAN_LOCAL6, IFLA_VXLAN_GROUP6, 0, 3, 0, "2001:db8::2", "2001:db8::9" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct address local = make(rows[i].local), remote = make(rows[i].remote);
        struct nest nest;

        begin(&nest, rows[i].kind);
        if (rows[i].oif != 0)
            mnl_attr_put_u32(nest.message, rows[i].oif_type, rows[i].oif);
        put_address(&nest, rows[i].local_type, rows[i].local);
        put_address(&nest, rows[i].remote_type, rows[i].remote);
        if (rows[i].mark != 0)
            mnl_attr_put_u32(nest.message, rows[i].mark_type, rows[i].mark);
        struct linkinfo info = end(&nest);
        assert_true(info.has_kind);
        assert_string_equal(info.kind, rows[i].kind);
        if (info.tunnel.oif != rows[i].oif || info.tunnel.mark != rows[i].mark ||
            !reach_address_equal(&info.tunnel.local, &local) || !reach_address_equal(&info.tunnel.remote, &remote))
            fail_msg("row %zu, %s", i, rows[i].kind);
    }
}

TEST(an_unspecified_endpoint_is_none)
{
    static const struct {
        const char *kind, *remote;
        uint16_t type;
    } rows[] = { { "gre", "0.0.0.0", IFLA_GRE_REMOTE },
                 { "ip6gre", "::", IFLA_GRE_REMOTE },
                 { "sit", "0.0.0.0", IFLA_IPTUN_REMOTE },
                 { "gre", "239.1.1.1", IFLA_GRE_REMOTE },
                 { "vxlan", "239.1.1.1", IFLA_VXLAN_GROUP },
                 { "vxlan", "ff05::1", IFLA_VXLAN_GROUP6 },
                 { "gre", NULL, IFLA_GRE_REMOTE } };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nest nest;

        begin(&nest, rows[i].kind);
        put_address(&nest, rows[i].type, rows[i].remote);
        assert_int_equal(end(&nest).tunnel.remote.family, AF_UNSPEC);
    }
}

/* A moved geneve link does not publish where its packets leave, so nothing is concluded from its remote address. */
TEST(a_geneve_link_publishes_no_tunnel)
{
    struct nest nest;

    begin(&nest, "geneve");
    put_address(&nest, IFLA_GENEVE_REMOTE, "192.0.2.9");
    assert_int_equal(end(&nest).tunnel.remote.family, AF_UNSPEC);
}

TEST(a_vrf_has_a_table)
{
    static const struct {
        const char *kind;
        uint32_t table;
    } rows[] = { { "vrf", 1000 }, { "bond", 0 }, { "gre", 0 }, { "macvlan", 0 } };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nest nest;

        begin(&nest, rows[i].kind);
        mnl_attr_put_u32(nest.message, IFLA_VRF_TABLE, 1000);
        assert_int_equal(end(&nest).vrf_table, rows[i].table);
    }
}

/* The attribute numbers of one kind mean something else for another kind. */
TEST(data_of_an_unknown_kind_is_ignored)
{
    static const char *const kinds[] = { NULL,     "",     "veth", "wireguard",
                                         "geneve", "grex", "gr",   "a-kind-of-more-than-fifteen" };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct nest nest;

        begin(&nest, kinds[i]);
        for (uint16_t type = 1; type < 32; type++)
            put_address(&nest, type, "192.0.2.9");
        struct linkinfo info = end(&nest);
        assert_int_equal(info.tunnel.remote.family, AF_UNSPEC);
        assert_int_equal(info.tunnel.oif, 0);
        assert_int_equal(info.active, 0);
    }
}

TEST(attributes_of_a_wrong_length_are_ignored)
{
    for (size_t length = 0; length < 20; length++) {
        static const unsigned char bytes[20] = { 192, 0, 2, 9 };
        struct nest nest;

        if (length == 4 || length == 16)
            continue;
        begin(&nest, "gre");
        mnl_attr_put(nest.message, IFLA_GRE_REMOTE, length, bytes);
        mnl_attr_put(nest.message, IFLA_GRE_LINK, length, bytes);
        struct linkinfo info = end(&nest);
        assert_int_equal(info.tunnel.remote.family, AF_UNSPEC);
        assert_int_equal(info.tunnel.oif, 0);
    }
}

TEST(a_bond_publishes_its_active_port)
{
    struct nest nest;

    begin(&nest, "bond");
    mnl_attr_put_u32(nest.message, IFLA_BOND_ACTIVE_SLAVE, 9);
    assert_int_equal(end(&nest).active, 9);
    begin(&nest, "bond");
    assert_int_equal(end(&nest).active, 0);
}
