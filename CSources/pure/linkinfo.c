/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: read the data of a kind that it does not know. Each kind has numbers of its own.
 */
#include "pure/linkinfo.h"

#include <linux/if_link.h>
#include <linux/if_tunnel.h>

/* Which attributes say where a tunnel's packets go; 0: none does. `remote6` and `local6` are for kinds that have other
 * ones for IPv6. */
struct layout {
    const char *kind;
    uint16_t    oif, local, remote, local6, remote6, mark;
};

static const struct layout layouts[] = {
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
    { "geneve", 0, 0, IFLA_GENEVE_REMOTE, 0, IFLA_GENEVE_REMOTE6, 0 },
};

static const struct layout *layout_of(const char *kind)
{
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
        if (strcmp(layouts[i].kind, kind) == 0)
            return &layouts[i];
    return NULL;
}

/* All zero is "any", which is no address. */
static void get_end(const struct attribute *attribute, struct address *ret)
{
    struct address end;

    if (attribute_any_address(attribute, &end) && !address_is_unspecified(&end))
        *ret = end;
}

static bool is(const struct attribute *attribute, uint16_t type)
{
    return type != 0 && attribute->type == type;
}

static void parse_tunnel(struct walk walk, const struct layout *layout, struct tunnel *ret)
{
    struct attribute attribute;

    while (walk_next(&walk, &attribute)) {
        if (is(&attribute, layout->oif))
            attribute_u32(&attribute, &ret->oif);
        else if (is(&attribute, layout->mark))
            attribute_u32(&attribute, &ret->mark);
        else if (is(&attribute, layout->local) || is(&attribute, layout->local6))
            get_end(&attribute, &ret->local);
        else if (is(&attribute, layout->remote) || is(&attribute, layout->remote6))
            get_end(&attribute, &ret->remote);
    }
    /* To a group go the packets whose receiver is not known yet: no one address that all of them need. */
    if (address_is_multicast(&ret->remote))
        *ret = (struct tunnel){ 0 };
}

static void parse_bond(struct walk walk, uint32_t *ret_active)
{
    struct attribute attribute;

    while (walk_next(&walk, &attribute))
        if (attribute.type == IFLA_BOND_ACTIVE_SLAVE)
            attribute_u32(&attribute, ret_active);
}

static void parse_data(struct walk walk, struct linkinfo *ret)
{
    const struct layout *layout = layout_of(ret->kind);

    if (layout != NULL)
        parse_tunnel(walk, layout, &ret->tunnel);
    else if (strcmp(ret->kind, "bond") == 0)
        parse_bond(walk, &ret->active);
}

void linkinfo_parse(const struct attribute *nest, struct linkinfo *ret)
{
    struct walk      walk = walk_nest(nest), data = { 0 };
    struct attribute attribute;

    *ret = (struct linkinfo){ 0 };
    while (walk_next(&walk, &attribute)) {
        if (attribute.type == IFLA_INFO_KIND)
            ret->has_kind = attribute_name(&attribute, ret->kind);
        else if (attribute.type == IFLA_INFO_DATA)
            data = walk_nest(&attribute);
    }
    parse_data(data, ret);
}
