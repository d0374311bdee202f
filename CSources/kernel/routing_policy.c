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

/* A kernel without this family has no rules for it. A change that interrupts the dump sends a message. */
int routing_policy_family_is_standard(struct rtnetlink *rtnetlink, uint8_t family, bool *ret)
{
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    bool                           standard = true;
    int                            error;

    message_put_rule_dump(request, family);
    error = netlink_exchange(&rtnetlink->requests, (struct nlmsghdr *)request, rtnetlink->buffer, check_rule,
                             &standard);
    *ret = standard && error != EAGAIN;
    return error == EAFNOSUPPORT || error == EOPNOTSUPP || error == EAGAIN ? 0 : error;
}

int routing_policy_is_standard(struct rtnetlink *rtnetlink, bool *ret)
{
    bool ipv4 = false, ipv6 = false;
    int  error = routing_policy_family_is_standard(rtnetlink, AF_INET, &ipv4);

    if (error == 0)
        error = routing_policy_family_is_standard(rtnetlink, AF_INET6, &ipv6);
    *ret = error == 0 && ipv4 && ipv6;
    return error;
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
