/* SPDX-License-Identifier: MIT */
/*
 * Policy routing: rules, and the table "default".
 *
 * What this file must never do: dump a table that can be large. Without a strict check of the request, the kernel dumps
 * all tables.
 */
#ifdef __linux__
#include "kernel/routing_policy.h"

#include <linux/rtnetlink.h>
#include <stdlib.h>

#include "pure/rule.h"

/* ---- Rules ------------------------------------------------------------------------------------------------------ */

static void check_rule(void *info, const struct nlmsghdr *message)
{
    struct rule_reading *reading = info;

    if (message->nlmsg_type != RTM_NEWRULE)
        return;
    reading->is_standard = reading->is_standard && rule_is_standard(message);
    reading->chooses_tables = reading->chooses_tables && rule_chooses_table(message);
}

static void add_selectors(void *info, const struct nlmsghdr *message)
{
    unsigned *selectors = info;

    if (message->nlmsg_type == RTM_NEWRULE)
        *selectors |= rule_selectors(message);
}

/* A kernel without this family has no rules for it. Returns 0 or an errno; EAGAIN: a change has interrupted the dump,
 * and sends a message. */
static int dump_rules(struct netlink *requests, void *buffer, uint8_t family,
                      void (*handle)(void *info, const struct nlmsghdr *message), void *info)
{
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    int error;

    message_put_rule_dump(request, family);
    error = netlink_exchange(requests, (struct nlmsghdr *)request, buffer, handle, info);
    return error == EAFNOSUPPORT || error == EOPNOTSUPP ? 0 : error;
}

static const struct rule_reading *read_rules(struct rtnetlink *rtnetlink, uint8_t family)
{
    struct rule_reading *reading = &rtnetlink->rules.readings[family == AF_INET6];
    int error;

    if (reading->read)
        return reading;
    *reading = (struct rule_reading){ .is_standard = true, .chooses_tables = true };
    error = dump_rules(&rtnetlink->requests, rtnetlink->buffer, family, check_rule, reading);
    if (error != 0)
        *reading = (struct rule_reading){ .error = error == EAGAIN ? 0 : error };
    reading->read = (reading->error == 0 || netlink_is_withheld(error)) && !rtnetlink->groups_refused;
    return reading;
}

int routing_policy_family_is_standard(struct rtnetlink *rtnetlink, uint8_t family, bool *ret)
{
    const struct rule_reading *reading = read_rules(rtnetlink, family);

    *ret = reading->is_standard;
    return reading->error;
}

bool routing_policy_chooses_tables(struct rtnetlink *rtnetlink, uint8_t family)
{
    const struct rule_reading *reading = read_rules(rtnetlink, family);

    return reading->error == 0 && reading->chooses_tables;
}

/* After an interrupted dump, the selectors of both sets of rules are in *ret. */
static int read_selectors(struct netlink *requests, void *buffer, uint8_t family, unsigned *ret)
{
    int error = EAGAIN;

    *ret = 0;
    for (int tries = 0; tries < NETLINK_DUMP_TRIES && error == EAGAIN; tries++)
        error = dump_rules(requests, buffer, family, add_selectors, ret);
    return error == EAGAIN || netlink_is_withheld(error) ? 0 : error;
}

static int read_all_selectors(struct netlink *requests, void *buffer, unsigned ret[2])
{
    const int error = read_selectors(requests, buffer, AF_INET, &ret[0]);

    return error == 0 ? read_selectors(requests, buffer, AF_INET6, &ret[1]) : error;
}

int routing_policy_find_selectors(struct rtnetlink *rtnetlink)
{
    int error;

    if (rtnetlink->rules.known)
        return 0;
    error = read_all_selectors(&rtnetlink->requests, rtnetlink->buffer, rtnetlink->rules.selectors);
    rtnetlink->rules.known = error == 0 && !rtnetlink->groups_refused;
    return error;
}

int routing_policy_read_selectors(unsigned ret_selectors[2])
{
    struct netlink requests;
    void *buffer = malloc(NETLINK_BUFFER_SIZE);
    int error = buffer == NULL ? ENOMEM : netlink_open_requests(&requests);

    if (error == 0) {
        error = read_all_selectors(&requests, buffer, ret_selectors);
        netlink_close(&requests);
    }
    free(buffer);
    return error;
}

int routing_policy_is_standard(struct rtnetlink *rtnetlink, bool *ret)
{
    bool ipv4 = false, ipv6 = false;
    int error = routing_policy_family_is_standard(rtnetlink, AF_INET, &ipv4);

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
    bool empty = true;
    int error;

    if (netlink_set_strict(&rtnetlink->requests, true) != 0)
        return false;
    message_put_table_dump(request, AF_INET, RT_TABLE_DEFAULT);
    error = netlink_exchange(&rtnetlink->requests, (struct nlmsghdr *)request, rtnetlink->buffer, note_route, &empty);
    if (netlink_set_strict(&rtnetlink->requests, false) != 0)
        return false;
    return error == ENOENT || (error == 0 && empty);
}
#endif
