/* SPDX-License-Identifier: MIT */
/*
 * Policy rules.
 *
 * What this file must never do: count a rule as standard if it has an attribute that this file does not know.
 */
#ifdef __linux__
#include "pure/route.h"

#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "pure/attribute.h"

/* Newer than the oldest headers that this is built with. */
enum { DSCP = 25, FLOW_LABEL = 26, FLOW_LABEL_MASK = 27, DSCP_MASK = 30 };

/* The last one exists for IPv4 only. */
static const struct {
    uint32_t priority, table;
} standard_rules[] = { { 0, RT_TABLE_LOCAL }, { 32766, RT_TABLE_MAIN }, { 32767, RT_TABLE_DEFAULT } };

struct rule {
    uint32_t priority, table;
    bool is_special; /* it does not apply to all packets, or does more than use a table */
    bool is_for_forwarding;
    bool is_by_source; /* it selects by the source or the traffic class, or by something unknown */
    bool suppresses;
    unsigned selectors;
};

static void parse_rule_attribute(const struct attribute *attribute, struct rule *rule)
{
    uint32_t number = 0;

    switch (attribute->type) {
    case FRA_PRIORITY:
        attribute_u32(attribute, &rule->priority);
        break;
    case FRA_TABLE:
        attribute_u32(attribute, &rule->table);
        break;
    case FRA_SUPPRESS_PREFIXLEN: /* the kernel always sends it; all bits set: nothing is suppressed */
        rule->suppresses = rule->suppresses || !attribute_u32(attribute, &number) || number != UINT32_MAX;
        break;
    case FRA_SUPPRESS_IFGROUP:
        rule->suppresses = true;
        break;
    case FRA_PROTOCOL: /* who installed the rule */
    case FRA_PAD:
        break;
    case FRA_IIFNAME: /* packets of this machine come in over lo */
        rule->is_special = true;
        rule->is_for_forwarding = attribute->length != sizeof "lo" ||
                                  memcmp(attribute->payload, "lo", sizeof "lo") != 0;
        break;
    case FRA_DST:
    case FRA_FWMARK:
    case FRA_FWMASK:
    case FRA_GOTO:
    case FRA_L3MDEV:
        rule->is_special = true;
        break;
    case FRA_UID_RANGE:
        rule->is_special = true;
        rule->selectors |= RULE_BY_USER;
        break;
    default:
        rule->is_special = rule->is_by_source = true;
        rule->selectors |= attribute->type == FRA_IP_PROTO                                       ? RULE_BY_PROTOCOL
                           : attribute->type == FRA_SPORT_RANGE                                  ? RULE_BY_LOCAL_PORT
                           : attribute->type == FRA_DPORT_RANGE                                  ? RULE_BY_REMOTE_PORT
                           : attribute->type == DSCP || attribute->type == DSCP_MASK             ? RULE_BY_CLASS
                           : attribute->type == FLOW_LABEL || attribute->type == FLOW_LABEL_MASK ? RULE_BY_OTHER
                                                                                                 : 0;
    }
}

/* Returns false if the message is too short. */
static bool parse_rule(const struct nlmsghdr *message, struct rule *ret)
{
    const struct fib_rule_hdr *header = NLMSG_DATA(message);
    struct attribute_walk walk = attribute_walk_message(message, sizeof *header);
    struct attribute attribute;

    if (!message_has(message, sizeof *header))
        return false;
    *ret = (struct rule){ .table = header->table,
                          .is_special = header->action != FR_ACT_TO_TBL || header->src_len != 0 ||
                                        header->dst_len != 0 || header->tos != 0 ||
                                        (header->flags & FIB_RULE_INVERT) != 0,
                          .is_by_source = header->src_len != 0 || header->tos != 0,
                          .selectors = header->tos != 0 ? RULE_BY_CLASS : 0 };
    while (attribute_next(&walk, &attribute))
        parse_rule_attribute(&attribute, ret);
    return true;
}

unsigned reach_rule_selectors(const struct nlmsghdr *message)
{
    struct rule rule;

    return parse_rule(message, &rule) && !rule.is_for_forwarding ? rule.selectors : 0;
}

bool reach_rule_is_standard(const struct nlmsghdr *message)
{
    const struct fib_rule_hdr *header = NLMSG_DATA(message);
    struct rule rule;

    if (!parse_rule(message, &rule))
        return false;
    if (rule.table == RT_TABLE_DEFAULT && header->family != AF_INET)
        return false;
    for (size_t i = 0; i < sizeof standard_rules / sizeof standard_rules[0]; i++)
        if (rule.priority == standard_rules[i].priority && rule.table == standard_rules[i].table)
            return !rule.is_special && !rule.suppresses;
    return false;
}

bool reach_rule_chooses_table(const struct nlmsghdr *message)
{
    struct rule rule;

    return parse_rule(message, &rule) && !rule.is_by_source && !rule.suppresses;
}
#endif
