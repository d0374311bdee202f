/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer: the input is what rtnetlink sockets receive: replies to queries and to batches of them, dumps, messages
 * about changes, losses. Its first byte chooses what the library does with it.
 *
 * LINK: reach_netlink_open_requests reach_netlink_open_events send recvfrom ioctl
 * COVERS: kernel/rtnetlink.c kernel/netlink.c pure/message.c pure/route.c pure/link.c
 */
#include <stdlib.h>

#include "kernel/rtnetlink.h"
#include "replies.h"

#define QUERIES 32

static const struct address destinations[QUERIES] = { { AF_INET, { 198, 51, 100, 7 } },
                                                      { AF_INET6, { 0x20, 1 } },
                                                      { AF_INET, { 0, 0, 0, 1 } } };

static void read_every_leg(struct route *route)
{
    struct route_leg leg;

    while (reach_route_next_leg(route, &leg))
        continue;
}

static void query_one(struct rtnetlink *rtnetlink)
{
    const struct route_request request = { .destination = destinations[0] };
    struct route route;

    reach_rtnetlink_set_barrier(rtnetlink);
    if (reach_rtnetlink_query(rtnetlink, &request, &route) == 0)
        read_every_leg(&route);
}

static void query_many(struct rtnetlink *rtnetlink)
{
    struct route_request requests[QUERIES] = { 0 };
    struct route route;

    for (size_t i = 0; i < QUERIES; i++)
        requests[i].destination = destinations[i];
    reach_rtnetlink_begin_batch(rtnetlink, requests, QUERIES);
    for (size_t i = 0; i < QUERIES; i++)
        if (reach_rtnetlink_query(rtnetlink, &requests[i], &route) == 0)
            read_every_leg(&route);
    reach_rtnetlink_end_batch(rtnetlink);
}

static void use_message(void *info, const struct message *message)
{
    struct message copy = *message;

    (void)info;
    if (copy.kind == MESSAGE_ROUTE)
        read_every_leg(&copy.route);
}

static void drain(struct rtnetlink *rtnetlink)
{
    int error = 0;

    (void)reach_rtnetlink_drain(rtnetlink, use_message, NULL, &error);
}

/* The table is sorted, has each index once, and whole names. */
static void check_links(struct rtnetlink *rtnetlink)
{
    const struct link_table *links = &rtnetlink->links;
    const struct link *link;

    for (size_t i = 0; i < links->count; i++) {
        if (i > 0 && links->items[i - 1].index >= links->items[i].index)
            abort();
        if (memchr(links->items[i].name, '\0', sizeof links->items[i].name) == NULL ||
            memchr(links->items[i].kind, '\0', sizeof links->items[i].kind) == NULL)
            abort();
        (void)reach_rtnetlink_link(rtnetlink, links->items[i].index, &link);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const actions[])(struct rtnetlink *) = { query_one, query_many, drain, reach_rtnetlink_update_links };
    struct rtnetlink rtnetlink;
    unsigned action;

    if (size == 0)
        return 0;
    action = *data % 5;
    replies_begin(data + 1, size - 1);
    if (reach_rtnetlink_open(&rtnetlink, *data & 0x80 ? RTNETLINK_LINKS : RTNETLINK_ALL, NULL) != 0)
        abort();
    if (action == 4)
        (void)reach_rtnetlink_read_links(&rtnetlink);
    else
        actions[action](&rtnetlink);
    check_links(&rtnetlink);
    reach_rtnetlink_close(&rtnetlink);
    return 0;
}
