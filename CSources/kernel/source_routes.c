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
    enum source_routes result;
    bool               ended;
};

/* Reads one datagram of the dump. After a change that interrupts it, the result is not known. */
static void read_datagram(struct reading *reading, struct span datagram)
{
    struct message message;
    size_t         step;

    while (!reading->ended && (step = message_parse(datagram.start, datagram.length, &message)) != 0) {
        const struct nlmsghdr *header = (const void *)datagram.start;
        const bool             interrupted = (header->nlmsg_flags & NLM_F_DUMP_INTR) != 0;

        if (message.kind == MESSAGE_ROUTE && message.route.source_length > 0)
            reading->result = SOURCE_ROUTES_SOME;
        else if (header->nlmsg_type == NLMSG_DONE && !interrupted && message_error(header) == 0)
            reading->result = SOURCE_ROUTES_NONE;
        reading->ended = interrupted || reading->result != SOURCE_ROUTES_UNKNOWN || header->nlmsg_type == NLMSG_DONE ||
                         header->nlmsg_type == NLMSG_ERROR;
        datagram.start += step;
        datagram.length -= step;
    }
}

/* Reads the first IPv6 routes, on a socket of its own: to close it ends the dump. */
static int read_first_routes(void *argument)
{
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    struct rtnetlink              *rtnetlink = argument;
    struct reading                 reading = { 0 };
    struct netlink                 netlink;
    int                            error = netlink_open_requests(&netlink);

    if (error != 0)
        return error;
    error = netlink_send(&netlink, request, message_put_table_dump(request, AF_INET6, RT_TABLE_UNSPEC));
    for (int i = 0; error == 0 && i < DATAGRAM_LIMIT && !reading.ended; i++) {
        const ssize_t length = netlink_receive(&netlink, rtnetlink->buffer, NETLINK_BUFFER_SIZE);

        if (length > 0)
            read_datagram(&reading, (struct span){ .start = rtnetlink->buffer, .length = (size_t)length });
        else
            reading.ended = true;
    }
    netlink_close(&netlink);
    rtnetlink->source_routes = reading.ended || error != 0 ? reading.result : SOURCE_ROUTES_HIDDEN;
    return 0;
}

static enum source_routes read_routes_and_rules(struct rtnetlink *rtnetlink)
{
    bool is_standard;

    if (routing_policy_is_standard(rtnetlink, &is_standard) != 0)
        return SOURCE_ROUTES_UNKNOWN;
    if (!is_standard)
        return SOURCE_ROUTES_SOME;
    return netns_handle_run(rtnetlink->netns, read_first_routes, rtnetlink) == 0 ? rtnetlink->source_routes
                                                                                 : SOURCE_ROUTES_UNKNOWN;
}

/* Later, messages say so. With RTNETLINK_LINKS none come. */
enum source_routes source_routes_find(struct rtnetlink *rtnetlink)
{
    const bool hears_of_them = rtnetlink->events.socket.fd >= 0 && !rtnetlink->groups_refused;

    if (hears_of_them && rtnetlink->source_routes == SOURCE_ROUTES_UNKNOWN && rtnetlink->netns != NULL)
        rtnetlink->source_routes = read_routes_and_rules(rtnetlink);
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

/* Whether a call failed for lack of descriptors or memory. Any other errno is about the destination, or a sandbox
 * refuses the call. */
static bool is_shortage(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

int source_routes_choose(struct rtnetlink *rtnetlink, const struct route_request *request, struct address *ret)
{
    struct choice choice = { .request = request, .source = ret };
    int           error = 0;

    *ret = (struct address){ 0 };
    if (rtnetlink->netns != NULL && source_routes_find(rtnetlink) != SOURCE_ROUTES_NONE)
        error = netns_handle_run(rtnetlink->netns, choose_in_namespace, &choice);
    return is_shortage(error) ? error : 0;
}
