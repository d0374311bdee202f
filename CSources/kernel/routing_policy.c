/* SPDX-License-Identifier: MIT */
/*
 * Policy routing: rules, and the table "default".
 *
 * What this file must never do: dump a table that can be large. Without a strict check of the request, the kernel dumps
 * all tables.
 */
#include "kernel/routing_policy.h"

#include <linux/rtnetlink.h>

#include "pure/rule.h"

/* ---- Rules ------------------------------------------------------------------------------------------------------ */

static void check_rule(void *info, const struct nlmsghdr *message)
{
    bool *standard = info;

    if (message->nlmsg_type == RTM_NEWRULE && !rule_is_standard(message))
        *standard = false;
}

/* Returns 0 or an errno. A kernel without this family has no rules for it. */
static int check_rules_of_family(struct rtnetlink *rtnetlink, uint8_t family, bool *standard)
{
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    int                            error;

    message_put_rule_dump(request, family);
    error = netlink_exchange(&rtnetlink->requests, (struct nlmsghdr *)request, rtnetlink->buffer, check_rule, standard);
    return error == EAFNOSUPPORT || error == EOPNOTSUPP ? 0 : error;
}

int routing_policy_is_standard(struct rtnetlink *rtnetlink, bool *ret)
{
    bool standard = true;
    int  error = check_rules_of_family(rtnetlink, AF_INET, &standard);

    if (error == 0)
        error = check_rules_of_family(rtnetlink, AF_INET6, &standard);
    *ret = error == 0 && standard;
    return error == EAGAIN ? 0 : error; /* interrupted by a change, which sends a message */
}

/* ---- The table "default" ---------------------------------------------------------------------------------------- */

static void note_route(void *info, const struct nlmsghdr *message)
{
    bool *empty = info;

    if (message->nlmsg_type == RTM_NEWROUTE)
        *empty = false;
}

bool routing_policy_default_table_is_empty(struct rtnetlink *rtnetlink)
{
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    bool                           empty = true;
    int                            error;

    if (netlink_set_strict(&rtnetlink->requests, true) != 0)
        return false;
    message_put_table_dump(request, AF_INET, RT_TABLE_DEFAULT);
    error = netlink_exchange(&rtnetlink->requests, (struct nlmsghdr *)request, rtnetlink->buffer, note_route, &empty);
    if (netlink_set_strict(&rtnetlink->requests, false) != 0)
        return false;
    return error == ENOENT || (error == 0 && empty);
}
