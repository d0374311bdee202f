/* SPDX-License-Identifier: MIT */
/*
 * Policy rules.
 *
 * What this file must never do: count a rule as standard if it has an attribute that this file does not know.
 */
#include "pure/rule.h"

#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "pure/attribute.h"

/* The last one exists for IPv4 only. */
static const struct {
    uint32_t priority, table;
} standard_rules[] = { { 0, RT_TABLE_LOCAL }, { 32766, RT_TABLE_MAIN }, { 32767, RT_TABLE_DEFAULT } };

struct rule {
    uint32_t priority, table;
    bool     is_special; /* it does not apply to all packets, or does more than use a table */
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
        rule->is_special = rule->is_special || !attribute_u32(attribute, &number) || number != UINT32_MAX;
        break;
    case FRA_PROTOCOL: /* who installed the rule */
    case FRA_PAD:
        break;
    default:
        rule->is_special = true;
    }
}

bool rule_is_standard(const struct nlmsghdr *message)
{
    const struct fib_rule_hdr *header = NLMSG_DATA(message);
    struct attribute_walk      walk = attribute_walk_message(message, sizeof *header);
    struct attribute           attribute;
    struct rule                rule;

    if (!message_has(message, sizeof *header))
        return false;
    rule = (struct rule){ .table = header->table,
                          .is_special = header->action != FR_ACT_TO_TBL || header->src_len != 0 ||
                                        header->dst_len != 0 || header->tos != 0 ||
                                        (header->flags & FIB_RULE_INVERT) != 0 };
    while (attribute_next(&walk, &attribute))
        parse_rule_attribute(&attribute, &rule);
    if (rule.table == RT_TABLE_DEFAULT && header->family != AF_INET)
        return false;
    for (size_t i = 0; i < sizeof standard_rules / sizeof standard_rules[0]; i++)
        if (rule.priority == standard_rules[i].priority && rule.table == standard_rules[i].table)
            return !rule.is_special;
    return false;
}
