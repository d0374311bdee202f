/* SPDX-License-Identifier: MIT */
/* Changes of policy rules and sysctls. */
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>

#include "soak/change_kind.h"
#include "support/namespace.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void choose_selector(change *bits, unsigned family, struct writer_rule *rule, struct text *text)
{
    static const char *const everything[] = { "0.0.0.0/0", "::/0" };

    rule->prefix = everything[family];
    switch (random_take(bits, 7)) {
    case 0:
        rule->from = family == 0 ? "192.0.2.2" : "2001:db8::2";
        text_add(text, " from %s", rule->from);
        break;
    case 1:
        rule->iif = random_take(bits, 2) == 0 ? "lo" : "c";
        text_add(text, " iif %s", rule->iif);
        break;
    case 2:
        rule->oif = random_take(bits, 2) == 0 ? "a" : "c";
        text_add(text, " oif %s", rule->oif);
        break;
    case 3:
        rule->mark = 1 + random_take(bits, 2);
        text_add(text, " fwmark %u", rule->mark);
        break;
    default:
        rule->prefix = change_prefixes[family][random_take(bits, CHANGE_PREFIXES)];
        text_add(text, " to %s", rule->prefix);
        break;
    }
}

static int set_rule(change bits, struct world *world, struct change_made *ret)
{
    static const struct {
        unsigned action, table;
        bool suppress_default;
        const char *text;
    } actions[] = { { FR_ACT_TO_TBL, 100, false, "lookup 100" },
                    { FR_ACT_TO_TBL, 100, false, "lookup 100" },
                    { FR_ACT_TO_TBL, 101, false, "lookup 101" },
                    { FR_ACT_TO_TBL, 101, true, "lookup 101 suppress_prefixlength 0" },
                    { FR_ACT_TO_TBL, RT_TABLE_MAIN, true, "lookup main suppress_prefixlength 0" },
                    { FR_ACT_UNREACHABLE, 0, false, "unreachable" },
                    { FR_ACT_PROHIBIT, 0, false, "prohibit" },
                    { FR_ACT_BLACKHOLE, 0, false, "blackhole" } };
    const unsigned which = random_take(&bits, COUNT(actions)), family = random_take(&bits, 2);
    const enum writer_action action = random_take(&bits, 5) < 2 ? WRITER_ADD : WRITER_DELETE; /* rules hide a lot */
    struct writer_rule rule = { .priority = 100 + random_take(&bits, 2),
                                .action = actions[which].action,
                                .table = actions[which].table,
                                .suppress_default = actions[which].suppress_default };

    text_add(&ret->text, "%srule %s priority %u", family == 1 ? "-6 " : "", change_actions[action], rule.priority);
    /* A deletion needs only the priority: otherwise few would match. */
    if (action == WRITER_DELETE) {
        rule = (struct writer_rule){ .prefix = family == 1 ? "::/0" : "0.0.0.0/0", .priority = rule.priority };
        return writer_rule(&world->writer, action, &rule);
    }
    choose_selector(&bits, family, &rule, &ret->text);
    text_add(&ret->text, " %s", actions[which].text);
    return writer_rule(&world->writer, action, &rule);
}

static int set_sysctl(change bits, struct world *world, struct change_made *ret)
{
    static const char *const names[] = { "net.ipv6.conf.a.disable_ipv6", "net.ipv6.conf.c.disable_ipv6",
                                         "net.ipv4.conf.all.ignore_routes_with_linkdown",
                                         "net.ipv6.conf.all.ignore_routes_with_linkdown",
                                         "net.ipv4.nexthop_compat_mode" };
    const char *name = names[random_take(&bits, COUNT(names))];
    const char *value = random_take(&bits, 3) == 0 ? "1" : "0";

    (void)world;
    text_add(&ret->text, "sysctl %s=%s", name, value);
    return namespace_try_sysctl(name, value) ? 0 : ENOENT;
}

const struct change_kind rule_changes[] = { { .make = set_rule, .weight = 36 },
                                            { .make = set_sysctl, .weight = 25 },
                                            { .weight = 0 } };
