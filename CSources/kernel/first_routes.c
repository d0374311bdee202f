/* SPDX-License-Identifier: MIT */
/*
 * The first routes of a table.
 *
 * What this file must never do: read a large routing table to its end, unless no other socket can be opened; or close
 * the only one.
 */
#ifdef __linux__
#include "kernel/first_routes.h"

#include <limits.h>
#include <linux/rtnetlink.h>

#include "base/netns_handle.h"
#include "base/text.h"

struct reading {
    struct rtnetlink *rtnetlink; /* for its buffer */
    const struct first_routes *what;
    struct netlink *netlink;
    size_t length;   /* of the last datagram */
    unsigned routes; /* visited */
    bool (*visit)(void *info, const struct route *route);
    void *info;
    enum first_routes_end result;
    bool ended;
};

/* If a route changes between two datagrams, the kernel can skip another one, and does not say so. So a socket for more
 * than one also receives the messages about changes. */
static bool is_change(const struct reading *reading, const struct nlmsghdr *header)
{
    return reading->netlink->to_group || header->nlmsg_seq != reading->netlink->sequence;
}

static void end(struct reading *reading, enum first_routes_end result)
{
    reading->result = result;
    reading->ended = true;
}

static void read_message(struct reading *reading, const struct nlmsghdr *header, const struct message *message)
{
    if (is_change(reading, header) || (header->nlmsg_flags & NLM_F_DUMP_INTR) != 0)
        end(reading, FIRST_ROUTES_CHANGED);
    else if (message->kind == MESSAGE_ROUTE && (++reading->routes, !reading->visit(reading->info, &message->route)))
        end(reading, FIRST_ROUTES_MORE);
    else if (header->nlmsg_type == NLMSG_DONE && message_error(header) == 0)
        end(reading, FIRST_ROUTES_ALL);
    else if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR)
        end(reading, message_error(header) == ENOENT ? FIRST_ROUTES_ALL : FIRST_ROUTES_CHANGED);
}

static void read_datagram(struct reading *reading)
{
    struct span datagram = { .start = reading->rtnetlink->buffer };
    const ssize_t length = netlink_receive(reading->netlink, reading->rtnetlink->buffer, NETLINK_BUFFER_SIZE);
    struct message message;
    size_t step;

    if (length <= 0)
        end(reading, FIRST_ROUTES_CHANGED);
    reading->length = datagram.length = length > 0 ? (size_t)length : 0;
    while (!reading->ended && (step = message_parse(datagram.start, datagram.length, &message)) != 0) {
        read_message(reading, (const void *)datagram.start, &message);
        datagram.start += step;
        datagram.length -= step;
    }
}

static int start_dump(struct reading *reading)
{
    const struct first_routes *what = reading->what;
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    struct nlmsghdr *header = (struct nlmsghdr *)request;
    int error;

    if (what->table != RT_TABLE_UNSPEC)
        (void)netlink_set_strict(reading->netlink, true);
    message_put_table_dump(request, what->family, what->table);
    header->nlmsg_seq = ++reading->netlink->sequence;
    error = netlink_send(reading->netlink, request, header->nlmsg_len);
    if (what->table != RT_TABLE_UNSPEC)
        (void)netlink_set_strict(reading->netlink, false);
    return error;
}

/* ---- A few routes, over the socket for requests ------------------------------------------------------------------ */

#define REST_LIMIT 2                            /* datagrams; it is cheaper to read so many than to open a socket */
#define FULL       (NETLINK_BUFFER_SIZE - 4096) /* bytes */

static bool has_end_of_dump(const struct reading *reading)
{
    const char *next = reading->rtnetlink->buffer;

    for (size_t left = reading->length, step; (step = message_step(next, left)) != 0; left -= step, next += step) {
        const uint16_t type = ((const struct nlmsghdr *)(const void *)next)->nlmsg_type;

        if (type == NLMSG_DONE || type == NLMSG_ERROR)
            return true;
    }
    return false;
}

static int open_requests(void *argument)
{
    return netlink_open_requests(argument);
}

static bool read_rest(struct reading *reading, unsigned limit)
{
    bool ended = has_end_of_dump(reading);

    for (unsigned i = 0; !ended && reading->length > 0 && i < limit; i++) {
        const ssize_t length = netlink_receive(reading->netlink, reading->rtnetlink->buffer, NETLINK_BUFFER_SIZE);

        reading->length = length > 0 ? (size_t)length : 0;
        ended = has_end_of_dump(reading);
    }
    return ended;
}

/* Another dump can only begin when this one has ended: by its end, or by that of the socket. It is closed only if
 * another one can be opened: a sandbox may refuse that. After a full datagram, the rest is not tried: for each that is
 * read, the kernel fills another one, which takes longer than to open a socket. */
static int end_dump(struct reading *reading)
{
    struct netns_handle *netns = reading->rtnetlink->netns;
    struct netlink probe, *netlink = reading->netlink;
    const uint32_t sequence = netlink->sequence;
    int error;

    if (reading->length < FULL && read_rest(reading, REST_LIMIT))
        return 0;
    error = netns_handle_run(netns, open_requests, &probe);
    if (error != 0)
        return read_rest(reading, UINT_MAX) ? 0 : error;
    netlink_close(&probe);
    netlink_close(netlink);
    error = netns_handle_run(netns, open_requests, netlink);
    netlink->sequence = sequence;
    return error;
}

/* *ret_more: one datagram was not enough. After a deletion between two datagrams, the kernel can skip routes. But it
 * lists the table "local", which is not empty, at the end: if the second datagram has no route, it has skipped none. */
static int read_one_datagram(struct reading *reading, bool *ret_more)
{
    int error = start_dump(reading);
    unsigned routes;

    *ret_more = false;
    if (error != 0)
        return error;
    read_datagram(reading);
    routes = reading->routes;
    if (!reading->ended && reading->what->datagrams > 1) {
        read_datagram(reading);
        *ret_more = !reading->ended || reading->routes > routes;
    }
    return end_dump(reading);
}

/* ---- More routes, over a socket of their own --------------------------------------------------------------------- */

static int read_all(void *argument)
{
    struct reading *reading = argument;
    const unsigned group = reading->what->family == AF_INET6 ? RTNLGRP_IPV6_ROUTE : RTNLGRP_IPV4_ROUTE;
    bool refused;
    struct netlink own;
    int error = netlink_open_both(&own, &group, 1, &refused);

    if (error != 0)
        return error;
    reading->netlink = &own;
    error = refused ? NETLINK_DENIED : start_dump(reading);
    for (unsigned i = 0; error == 0 && !reading->ended && i < reading->what->datagrams; i++)
        read_datagram(reading);
    if (reading->result == FIRST_ROUTES_ALL &&
        netlink_receive(reading->netlink, reading->rtnetlink->buffer, NETLINK_BUFFER_SIZE) != 0)
        reading->result = FIRST_ROUTES_CHANGED; /* the message about a change came at the end */
    netlink_close(reading->netlink);
    return error;
}

int first_routes_read(struct rtnetlink *rtnetlink, const struct first_routes *what,
                      bool (*visit)(void *info, const struct route *route), void *info, enum first_routes_end *ret)
{
    struct reading reading = { .rtnetlink = rtnetlink,
                               .netlink = &rtnetlink->requests,
                               .what = what,
                               .visit = visit,
                               .info = info,
                               .result = FIRST_ROUTES_MORE };
    bool more;
    int error;

    error = read_one_datagram(&reading, &more);
    if (error == 0 && more) {
        reading.ended = false;
        reading.result = FIRST_ROUTES_MORE;
        error = netns_handle_run(rtnetlink->netns, read_all, &reading);
    }
    if (error == 0)
        *ret = reading.result;
    return error;
}
#endif
