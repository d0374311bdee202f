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

/* The attributes of a tunnel kind that say where its packets go; 0: there is none. `local6` and `remote6`: for kinds
 * that have separate attributes for IPv6. */
struct tunnel_layout {
    const char *kind;
    uint16_t oif, local, remote, local6, remote6, mark;
};

/* Not geneve: a geneve link can move to another network namespace, its packets leave in the first one, and no attribute
 * reports that. The other kinds have IFLA_LINK_NETNSID then. */
static const struct tunnel_layout tunnel_layouts[] = {
#define GRE(name) \
    { \
        name, IFLA_GRE_LINK, IFLA_GRE_LOCAL, IFLA_GRE_REMOTE, 0, 0, IFLA_GRE_FWMARK \
    }
    GRE("gre"),
    GRE("gretap"),
    GRE("erspan"),
    GRE("ip6gre"),
    GRE("ip6gretap"),
    GRE("ip6erspan"),
#define IPTUN(name) \
    { \
        name, IFLA_IPTUN_LINK, IFLA_IPTUN_LOCAL, IFLA_IPTUN_REMOTE, 0, 0, IFLA_IPTUN_FWMARK \
    }
    IPTUN("ipip"),
    IPTUN("sit"),
    IPTUN("ip6tnl"),
#define VTI(name) \
    { \
        name, IFLA_VTI_LINK, IFLA_VTI_LOCAL, IFLA_VTI_REMOTE, 0, 0, IFLA_VTI_FWMARK \
    }
    VTI("vti"),
    VTI("vti6"),
    { "vxlan", IFLA_VXLAN_LINK, IFLA_VXLAN_LOCAL, IFLA_VXLAN_GROUP, IFLA_VXLAN_LOCAL6, IFLA_VXLAN_GROUP6, 0 },
};

static const struct tunnel_layout *find_tunnel_layout(const char *kind)
{
    for (size_t i = 0; i < sizeof tunnel_layouts / sizeof tunnel_layouts[0]; i++)
        if (strcmp(tunnel_layouts[i].kind, kind) == 0)
            return &tunnel_layouts[i];
    return NULL;
}

/* The unspecified address means that there is none. */
static void get_tunnel_end(const struct attribute *attribute, struct address *ret)
{
    struct address end;

    if (attribute_any_address(attribute, &end) && !address_is_unspecified(&end))
        *ret = end;
}

static bool attribute_is(const struct attribute *attribute, uint16_t type)
{
    return type != 0 && attribute->type == type;
}

static void parse_tunnel(struct attribute_walk walk, const struct tunnel_layout *layout, struct tunnel *ret)
{
    struct attribute attribute;

    while (attribute_next(&walk, &attribute)) {
        if (attribute_is(&attribute, layout->oif))
            attribute_u32(&attribute, &ret->oif);
        else if (attribute_is(&attribute, layout->mark))
            attribute_u32(&attribute, &ret->mark);
        else if (attribute_is(&attribute, layout->local) || attribute_is(&attribute, layout->local6))
            get_tunnel_end(&attribute, &ret->local);
        else if (attribute_is(&attribute, layout->remote) || attribute_is(&attribute, layout->remote6))
            get_tunnel_end(&attribute, &ret->remote);
    }
    /* A multicast group receives only packets for unknown hosts. The other packets go to other addresses. */
    if (address_is_multicast(&ret->remote))
        *ret = (struct tunnel){ 0 };
}

static void find_u32(struct attribute_walk walk, uint16_t type, uint32_t *ret)
{
    struct attribute attribute;

    while (attribute_next(&walk, &attribute))
        if (attribute.type == type)
            attribute_u32(&attribute, ret);
}

static void parse_kind_data(struct attribute_walk walk, struct linkinfo *ret)
{
    const struct tunnel_layout *layout = find_tunnel_layout(ret->kind);

    if (layout != NULL)
        parse_tunnel(walk, layout, &ret->tunnel);
    else if (strcmp(ret->kind, "bond") == 0)
        find_u32(walk, IFLA_BOND_ACTIVE_SLAVE, &ret->active);
    else if (strcmp(ret->kind, "vrf") == 0)
        find_u32(walk, IFLA_VRF_TABLE, &ret->vrf_table);
}

void linkinfo_parse(const struct attribute *nest, struct linkinfo *ret)
{
    struct attribute_walk walk = attribute_walk_nest(nest), data = { 0 };
    struct attribute attribute;

    *ret = (struct linkinfo){ 0 };
    while (attribute_next(&walk, &attribute)) {
        if (attribute.type == IFLA_INFO_KIND)
            ret->has_kind = attribute_name(&attribute, ret->kind);
        else if (attribute.type == IFLA_INFO_DATA)
            data = attribute_walk_nest(&attribute);
    }
    parse_kind_data(data, ret);
}
#endif
