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
#include "kernel/udp_socket.h"

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

/* The arguments of choose_in_namespace. */
struct choice {
    const struct route_request *request;
    struct address             *source;
};

static int prepare_socket(int fd, const struct route_request *request)
{
    if (request->mark != 0 && setsockopt(fd, SOL_SOCKET, SO_MARK, &request->mark, sizeof request->mark) != 0)
        return errno;
    if (request->oif != 0 && setsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &request->oif, sizeof request->oif) != 0)
        return errno;
    return 0;
}

static int choose_in_namespace(void *argument)
{
    const struct choice        *choice = argument;
    const struct route_request *request = choice->request;
    struct descriptor           socket;
    int                         error = udp_socket_open(AF_INET6, &socket);

    if (error != 0)
        return error;
    error = prepare_socket(socket.fd, request);
    if (error == 0)
        error = udp_socket_connect(socket.fd, &request->destination, request->oif);
    if (error == 0)
        error = udp_socket_own_address(socket.fd, choice->source);
    descriptor_close(&socket);
    return error;
}

int source_routes_choose(struct rtnetlink *rtnetlink, const struct route_request *request, struct address *ret)
{
    struct choice choice = { .request = request, .source = ret };
    int           error = 0;

    *ret = (struct address){ 0 };
    if (rtnetlink->netns != NULL && source_routes_find(rtnetlink) != SOURCE_ROUTES_NONE)
        error = netns_handle_run(rtnetlink->netns, choose_in_namespace, &choice);
    return udp_socket_lacks_resources(error) ? error : 0;
}
