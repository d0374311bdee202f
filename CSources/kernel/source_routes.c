/* SPDX-License-Identifier: MIT */
/*
 * Source-specific IPv6 routes.
 *
 * What this file must never do: read a large routing table to its end.
 */
#include "kernel/source_routes.h"

#include <linux/rtnetlink.h>

#include "base/netns_handle.h"
#include "base/text.h"
#include "kernel/routing_policy.h"
#include "kernel/udp_route.h"

/* ---- Whether there are any -------------------------------------------------------------------------------------- */

/* A datagram of the dump has about 250 routes. */
#define DATAGRAM_LIMIT 8

struct reading {
    struct rtnetlink  *rtnetlink; /* for its buffer */
    struct netlink     netlink;
    enum source_routes result;
    bool               ended;
};

/* If a route changes between two datagrams, the kernel can skip another one, and does not say so. So this socket also
 * receives the messages about changes. */
static bool is_change(const struct reading *reading, const struct nlmsghdr *header)
{
    return header->nlmsg_pid != reading->netlink.port || header->nlmsg_seq != reading->netlink.sequence;
}

static void read_message(struct reading *reading, const struct nlmsghdr *header, const struct message *message)
{
    const bool interrupted = is_change(reading, header) || (header->nlmsg_flags & NLM_F_DUMP_INTR) != 0;

    if (message->kind == MESSAGE_ROUTE && message->route.source_length > 0)
        reading->result = SOURCE_ROUTES_SOME;
    else if (header->nlmsg_type == NLMSG_DONE && !interrupted && message_error(header) == 0)
        reading->result = SOURCE_ROUTES_NONE;
    reading->ended = interrupted || reading->result != SOURCE_ROUTES_UNKNOWN || header->nlmsg_type == NLMSG_DONE ||
                     header->nlmsg_type == NLMSG_ERROR;
}

static void read_datagram(struct reading *reading)
{
    struct span    datagram = { .start = reading->rtnetlink->buffer };
    const ssize_t  length = netlink_receive(&reading->netlink, reading->rtnetlink->buffer, NETLINK_BUFFER_SIZE);
    struct message message;
    size_t         step;

    if (length > 0)
        datagram.length = (size_t)length;
    else
        reading->ended = true;
    while (!reading->ended && (step = message_parse(datagram.start, datagram.length, &message)) != 0) {
        read_message(reading, (const void *)datagram.start, &message);
        datagram.start += step;
        datagram.length -= step;
    }
}

static int start_dump(struct reading *reading)
{
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    struct nlmsghdr               *header = (struct nlmsghdr *)request;
    const int                      error = netlink_join(&reading->netlink, RTNLGRP_IPV6_ROUTE);

    message_put_table_dump(request, AF_INET6, RT_TABLE_UNSPEC);
    header->nlmsg_seq = ++reading->netlink.sequence;
    return error != 0 ? netlink_denial(error) : netlink_send(&reading->netlink, request, header->nlmsg_len);
}

/* Reads the first routes, on a socket of its own: to close it ends the dump. Returns 0 or an errno. */
static int read_first_routes(void *argument)
{
    struct reading *reading = argument;
    int             error = netlink_open_requests(&reading->netlink);

    if (error != 0)
        return error;
    error = start_dump(reading);
    for (int i = 0; error == 0 && !reading->ended && i < DATAGRAM_LIMIT; i++)
        read_datagram(reading);
    if (error == 0 && !reading->ended)
        reading->result = SOURCE_ROUTES_UNREAD;
    if (reading->result == SOURCE_ROUTES_NONE &&
        netlink_receive(&reading->netlink, reading->rtnetlink->buffer, NETLINK_BUFFER_SIZE) != 0)
        reading->result = SOURCE_ROUTES_UNKNOWN; /* the message about a change came at the end */
    netlink_close(&reading->netlink);
    return error;
}

static enum source_routes read_rules_and_routes(struct rtnetlink *rtnetlink)
{
    struct reading reading = { .rtnetlink = rtnetlink };
    bool           is_standard = true;
    int            error = routing_policy_family_is_standard(rtnetlink, AF_INET6, &is_standard);

    if (error == 0 && is_standard)
        error = netns_handle_run(rtnetlink->netns, read_first_routes, &reading);
    if (error != 0)
        return netlink_is_withheld(error) ? SOURCE_ROUTES_UNREAD : SOURCE_ROUTES_UNKNOWN;
    return is_standard ? reading.result : SOURCE_ROUTES_SOME;
}

/* Later, messages say so. With RTNETLINK_LINKS none come. */
enum source_routes source_routes_find(struct rtnetlink *rtnetlink)
{
    const bool receives_messages = rtnetlink->events.socket.fd >= 0 && !rtnetlink->groups_refused;

    if (receives_messages && rtnetlink->source_routes == SOURCE_ROUTES_UNKNOWN && rtnetlink->netns != NULL)
        rtnetlink->source_routes = read_rules_and_routes(rtnetlink);
    return rtnetlink->source_routes;
}

/* ---- The source address ----------------------------------------------------------------------------------------- */

int source_routes_choose(struct rtnetlink *rtnetlink, const struct route_request *request, struct address *ret)
{
    struct udp_route route = { 0 };
    int              error = 0;

    if (source_routes_find(rtnetlink) != SOURCE_ROUTES_NONE)
        error = udp_route_find(rtnetlink, request, &route);
    *ret = route.source;
    return error;
}
