/* SPDX-License-Identifier: MIT */
/*
 * The parser for IFLA_LINKINFO.
 *
 * What this file must never do: read the data of a kind that it does not know. Each kind numbers its attributes itself.
 */
#ifdef __linux__
#include "pure/linkinfo.h"

#include <linux/if_link.h>
#include <linux/if_tunnel.h>

#define LAST_DATA 20 /* IFLA_GRE_FWMARK, the largest type that is read */

/* The attributes of a tunnel kind that say where its packets go. 0: there is none. */
static const struct tunnel_layout {
    const char *kind;
    uint16_t oif, local, remote, local6, remote6, mark; /* some kinds have separate ones for IPv6 */
} tunnel_layouts[] = {
/* Not geneve: a geneve link can move to another network namespace, its packets leave in the first one, and no attribute
 * reports that. The other kinds have IFLA_LINK_NETNSID then. */
#define GRE(name) \
    { \
        name, IFLA_GRE_LINK, IFLA_GRE_LOCAL, IFLA_GRE_REMOTE, 0, 0, IFLA_GRE_FWMARK \
    }
#define IPTUN(name) \
    { \
        name, IFLA_IPTUN_LINK, IFLA_IPTUN_LOCAL, IFLA_IPTUN_REMOTE, 0, 0, IFLA_IPTUN_FWMARK \
    }
#define VTI(name) \
    { \
        name, IFLA_VTI_LINK, IFLA_VTI_LOCAL, IFLA_VTI_REMOTE, 0, 0, IFLA_VTI_FWMARK \
    }
    GRE("gre"),
    GRE("gretap"),
    GRE("erspan"),
    GRE("ip6gre"),
    GRE("ip6gretap"),
    GRE("ip6erspan"),
    IPTUN("ipip"),
    IPTUN("sit"),
    IPTUN("ip6tnl"),
    VTI("vti"),
    VTI("vti6"),
    { "vxlan", IFLA_VXLAN_LINK, IFLA_VXLAN_LOCAL, IFLA_VXLAN_GROUP, IFLA_VXLAN_LOCAL6, IFLA_VXLAN_GROUP6, 0 },
};

/* The unspecified address means that there is none. */
static struct address tunnel_end(const struct attribute *data, uint16_t ipv4, uint16_t ipv6)
{
    struct address end;

    if (!attribute_any_address(&data[ipv6 != 0 && data[ipv6].payload != NULL ? ipv6 : ipv4], &end) ||
        address_is_unspecified(&end))
        return (struct address){ 0 };
    return end;
}

static void parse_tunnel(const struct attribute *data, const char *kind, struct tunnel *ret)
{
    for (size_t i = 0; i < sizeof tunnel_layouts / sizeof tunnel_layouts[0]; i++) {
        const struct tunnel_layout *layout = &tunnel_layouts[i];

        if (strcmp(layout->kind, kind) != 0)
            continue;
        ret->oif = attribute_number(&data[layout->oif]);
        ret->mark = layout->mark == 0 ? 0 : attribute_number(&data[layout->mark]);
        ret->local = tunnel_end(data, layout->local, layout->local6);
        ret->remote = tunnel_end(data, layout->remote, layout->remote6);
        /* A multicast group receives only packets for unknown hosts. The other packets go to other addresses. */
        if (address_is_multicast(&ret->remote))
            *ret = (struct tunnel){ 0 };
    }
}

void linkinfo_parse(const struct attribute *nest, struct linkinfo *ret)
{
    struct attribute info[IFLA_INFO_DATA + 1], data[LAST_DATA + 1];

    *ret = (struct linkinfo){ 0 };
    attributes_parse(attribute_walk_nest(nest), info);
    attributes_parse(attribute_walk_nest(&info[IFLA_INFO_DATA]), data);
    ret->has_kind = attribute_name(&info[IFLA_INFO_KIND], ret->kind);
    parse_tunnel(data, ret->kind, &ret->tunnel);
    if (strcmp(ret->kind, "bond") == 0)
        ret->active = attribute_number(&data[IFLA_BOND_ACTIVE_SLAVE]);
    else if (strcmp(ret->kind, "vrf") == 0)
        ret->vrf_table = attribute_number(&data[IFLA_VRF_TABLE]);
}
#endif
