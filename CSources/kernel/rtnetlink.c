/* SPDX-License-Identifier: MIT */
/*
 * The kernel's state as far as we keep it: links, and nothing else.
 *
 * What this file must never do: dump, store or subscribe to in order to store the routing table. It can hold a million
 * routes, and only the kernel knows how rules, marks, multipath, nexthop objects and VRFs come together. The route
 * messages that are listened to say that an answer may have changed; the answer itself is asked for.
 */
#include "kernel/rtnetlink.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/probes.h"
#include "base/text.h"
#include "kernel/ioctl.h"
#include "kernel/sysfs.h"
#include "pure/path.h"

#define DRAIN_LIMIT 1024 /* datagrams in one pass, so that a storm does not keep answers back for ever */
#define ASK_TRIES   3    /* an answer that was lost among too many events */

/* An index that no link can have. Asking for it answers ENODEV as soon as the RTNL lock was free: the kernel tells of a
 * link, an address or a route *before* it changes the routes, and a route query does not wait for that. */
#define NO_SUCH_LINK 0x7fffffffu

/* Not every kernel has IPv6, nexthop objects or netconf: of groups that are not there nothing is heard. */
static const unsigned groups[] = { RTNLGRP_LINK,         RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV4_RULE,
                                   RTNLGRP_IPV6_IFADDR,  RTNLGRP_IPV6_ROUTE,  RTNLGRP_IPV6_RULE,  RTNLGRP_IPV4_NETCONF,
                                   RTNLGRP_IPV6_NETCONF, RTNLGRP_NEXTHOP };

int rtnetlink_open(struct rtnetlink *ret, enum rtnetlink_scope scope)
{
    int error;

    *ret = (struct rtnetlink){ .events = NETLINK_CLOSED, .requests = NETLINK_CLOSED };
    ret->buffer = malloc(NETLINK_BUFFER_SIZE);
    error = ret->buffer == NULL ? ENOMEM : netlink_open_requests(&ret->requests);
    if (error == 0 && scope == RTNETLINK_ALL)
        error = netlink_open_events(&ret->events, groups, sizeof groups / sizeof groups[0], &ret->deaf);
    else if (error == 0)
        ret->deaf = netlink_join(&ret->requests, RTNLGRP_LINK) != 0;
    if (error != 0)
        rtnetlink_close(ret);
    return error;
}

void rtnetlink_close(struct rtnetlink *rtnetlink)
{
    netlink_close(&rtnetlink->events);
    netlink_close(&rtnetlink->requests);
    link_table_clear(&rtnetlink->links);
    free(rtnetlink->buffer);
    rtnetlink->buffer = NULL;
}

static void note_overrun(struct rtnetlink *rtnetlink)
{
    const unsigned long count = atomic_fetch_add(&rtnetlink->overruns, 1) + 1;

    probe_overrun(count);
}

/* ---- Events ----------------------------------------------------------------------------------------------------- */

static bool is_link(const struct message *message)
{
    return message->kind == MESSAGE_LINK || message->kind == MESSAGE_LINK_GONE;
}

/* Goes through the messages of a datagram. False: there are no more. */
static bool next_message(struct span *datagram, struct message *ret)
{
    const size_t step = message_parse(datagram->start, datagram->length, ret);

    datagram->start += step;
    datagram->length -= step;
    return step != 0;
}

/* One datagram. False: a link could not be noted. */
static bool take_in(struct rtnetlink *rtnetlink, size_t length, void (*tell)(void *, const struct message *),
                    void *info)
{
    struct span    datagram = { .start = rtnetlink->buffer, .length = length };
    struct message message;
    bool           noted = true;

    while (next_message(&datagram, &message)) {
        if (is_link(&message))
            noted = link_table_apply(&rtnetlink->links, &message) == 0 && noted;
        if (message.kind == MESSAGE_OTHER)
            continue;
        probe_event((int)message.kind, is_link(&message) ? message.link.index : 0);
        tell(info, &message);
    }
    return noted;
}

unsigned rtnetlink_drain(struct rtnetlink *rtnetlink, void (*tell)(void *info, const struct message *message),
                         void *info, int *ret_error)
{
    unsigned news = RTNETLINK_NOTHING;

    /* After an overrun the kernel drops, without a further word, until the queue is empty: then there is no limit, and
     * nothing to read in what is thrown away, as everything is asked for anew. */
    for (unsigned count = 0; count < DRAIN_LIMIT || (news & RTNETLINK_LOST) != 0; count++) {
        const ssize_t length = netlink_receive(&rtnetlink->events, rtnetlink->buffer, NETLINK_BUFFER_SIZE);

        if (length == 0)
            return news;
        if (length == -ENOBUFS || length == -EMSGSIZE) {
            news |= RTNETLINK_LOST;
            note_overrun(rtnetlink);
        } else if (length == NETLINK_FOREIGN) {
            continue;
        } else if (length < 0) {
            *ret_error = (int)-length;
            return news | RTNETLINK_LOST;
        } else if ((news & RTNETLINK_LOST) == 0 && !take_in(rtnetlink, (size_t)length, tell, info)) {
            news |= RTNETLINK_LOST;
        }
    }
    return news | RTNETLINK_MORE;
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

static bool is_answer(const struct rtnetlink *rtnetlink, uint32_t sequence, const struct message *message)
{
    return message->sequence == sequence && message->port == rtnetlink->requests.port;
}

struct reading {
    struct link_table links;
    int               error;
};

static void take_link(void *info, const struct nlmsghdr *header)
{
    struct reading *reading = info;
    struct message  message;

    (void)message_parse(header, header->nlmsg_len, &message);
    if (message.kind == MESSAGE_LINK && link_table_apply(&reading->links, &message) != 0)
        reading->error = ENOMEM;
}

int rtnetlink_read_links(struct rtnetlink *rtnetlink)
{
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    struct reading                 reading = { .links = LINK_TABLE_EMPTY };
    int                            error = EAGAIN;

    for (int tries = 0; tries < NETLINK_DUMP_TRIES && error == EAGAIN; tries++) {
        link_table_clear(&reading.links);
        message_put_link_dump(request);
        error = netlink_exchange(&rtnetlink->requests, (struct nlmsghdr *)request, rtnetlink->buffer, take_link,
                                 &reading);
        if (reading.error != 0)
            error = reading.error;
    }
    /* Interrupted to the last: every change since has sent a message of its own, which corrects the table. */
    if (error != 0 && error != EAGAIN) {
        link_table_clear(&reading.links);
        return error;
    }
    link_table_clear(&rtnetlink->links);
    rtnetlink->links = reading.links;
    return 0;
}

/* What device it is counts while it can carry anything. Until then no lack of descriptors keeps an answer back. */
static bool is_enough(const struct link *link)
{
    return link->device != DEVICE_UNKNOWN || !link_is_usable(link);
}

/* The kernel routes over a link from the moment it is up, which it tells later, and messages are read a round at a
 * time: an answer may be newer than the table. To believe the table then would report a loss that never was. */
static void look_whether_it_is_up_by_now(struct rtnetlink *rtnetlink, const struct link *known)
{
    struct message news = { .kind = MESSAGE_LINK };
    struct link    now = *known;

    if (ioctl_link_flags(rtnetlink->requests.socket.fd, known->index, &now.flags) != 0 || !link_is_usable(&now))
        return;
    news.link = (struct message_link){ .index = now.index, .flags = now.flags, .hardware = now.hardware };
    link_table_apply(&rtnetlink->links, &news); /* does not fail: there is a place for it */
}

/* Reads what is not known of a link. Returns 0 or an errno; ENODEV: there is none. */
static int read_link(struct rtnetlink *rtnetlink, uint32_t index, const struct link *known)
{
    const int   fd = rtnetlink->requests.socket.fd;
    struct link link;
    int         error = 0;

    if (known != NULL)
        link = *known;
    else
        error = ioctl_link(fd, index, &link);
    if (error == 0 && !is_enough(&link))
        error = sysfs_read_device(fd, &link);
    return error == 0 ? link_table_put(&rtnetlink->links, &link) : error;
}

int rtnetlink_link(struct rtnetlink *rtnetlink, uint32_t index, const struct link **ret)
{
    const struct link *known = link_table_find(&rtnetlink->links, index);
    int                error = 0;

    if (index != 0 && known != NULL && !link_is_usable(known)) {
        look_whether_it_is_up_by_now(rtnetlink, known);
        known = link_table_find(&rtnetlink->links, index);
    }
    if (index != 0 && (known == NULL || !is_enough(known))) {
        error = read_link(rtnetlink, index, known);
        known = error == 0 ? link_table_find(&rtnetlink->links, index) : NULL;
    }
    *ret = known;
    return error == ENODEV ? 0 : error;
}

int rtnetlink_link_index(struct rtnetlink *rtnetlink, const char *name, uint32_t *ret)
{
    const int error = ioctl_link_index(rtnetlink->requests.socket.fd, name, ret);

    if (error != 0)
        *ret = 0;
    return error == ENODEV ? 0 : error;
}

void rtnetlink_forget_unheard_links(struct rtnetlink *rtnetlink)
{
    if (rtnetlink->deaf)
        link_table_clear(&rtnetlink->links);
}

/* ---- Questions -------------------------------------------------------------------------------------------------- */

/* Our own failure to ask, which must not read like an answer of the kernel's. */
static int not_an_answer(int error)
{
    struct path path;

    if (error == EPERM || error == EACCES) /* by a sandbox */
        return NETLINK_DENIED;
    return path_from_error(error, false, &path) ? kSCStatusReachabilityUnknown : error;
}

/* netlink_receive on the socket of requests. What somebody else sent came before that was connected, so it ends. */
static ssize_t next_datagram(struct rtnetlink *rtnetlink, struct span *ret)
{
    ssize_t length;

    do
        length = netlink_receive(&rtnetlink->requests, rtnetlink->buffer, NETLINK_BUFFER_SIZE);
    while (length == NETLINK_FOREIGN);
    *ret = (struct span){ .start = rtnetlink->buffer, .length = length > 0 ? (size_t)length : 0 };
    return length;
}

/* Reads until the answer to a request is there, and takes in what is told of links on the way. 0 and the answer, or an
 * errno; ENOBUFS when messages were lost. */
static int receive_answer(struct rtnetlink *rtnetlink, uint32_t sequence, struct message *ret)
{
    for (;;) {
        struct span   datagram;
        const ssize_t length = next_datagram(rtnetlink, &datagram);

        /* The kernel answers inside the send: no answer means that there was no room for one. */
        if (length <= 0)
            return length == 0 || length == -EMSGSIZE ? ENOBUFS : not_an_answer((int)-length);
        while (next_message(&datagram, ret)) {
            if (is_answer(rtnetlink, sequence, ret))
                return ret->kind == MESSAGE_ERROR ? ret->error : 0;
            if (is_link(ret) && link_table_apply(&rtnetlink->links, ret) != 0)
                return ENOBUFS;
        }
    }
}

/* After a loss the kernel drops, without a further word, until the queue is empty. On the socket of those who only ask,
 * links may have changed unheard: they are asked for again when they are needed. */
static void start_over(struct rtnetlink *rtnetlink)
{
    struct span datagram;
    ssize_t     length;

    note_overrun(rtnetlink);
    do
        length = next_datagram(rtnetlink, &datagram);
    while (length > 0 || length == -ENOBUFS || length == -EMSGSIZE);
    if (rtnetlink->events.socket.fd < 0)
        link_table_clear(&rtnetlink->links);
}

void rtnetlink_update_links(struct rtnetlink *rtnetlink)
{
    struct span    datagram;
    struct message message;
    ssize_t        length;

    while ((length = next_datagram(rtnetlink, &datagram)) > 0)
        while (next_message(&datagram, &message))
            if (is_link(&message) && link_table_apply(&rtnetlink->links, &message) != 0)
                link_table_clear(&rtnetlink->links);
    if (length < 0)
        start_over(rtnetlink);
}

void rtnetlink_set_barrier(struct rtnetlink *rtnetlink)
{
    rtnetlink->barrier = true;
}

int rtnetlink_query(struct rtnetlink *rtnetlink, const struct route_request *request, struct route *ret)
{
    _Alignas(struct nlmsghdr) char requests[2 * MESSAGE_REQUEST_SIZE];
    struct message                 answer;
    int                            error = ENOBUFS;

    for (int tries = 0; tries < ASK_TRIES && error == ENOBUFS; tries++) {
        size_t length = 0;

        /* In the same send: the kernel takes the requests in order, on this thread. */
        if (rtnetlink->barrier)
            length = message_put_link_query(requests, ++rtnetlink->requests.sequence, NO_SUCH_LINK);
        length += message_put_route_query(requests + length, ++rtnetlink->requests.sequence, request);
        rtnetlink->queries++;
        error = not_an_answer(netlink_send(&rtnetlink->requests, requests, length));
        if (error == 0)
            error = receive_answer(rtnetlink, rtnetlink->requests.sequence, &answer);
        if (error == ENOBUFS)
            start_over(rtnetlink);
    }
    rtnetlink->barrier = rtnetlink->barrier && error == ENOBUFS;
    probe_query(request->destination.family, request->oif, error);
    if (error != 0)
        return error;
    if (answer.kind != MESSAGE_ROUTE)
        return EIO;
    *ret = answer.route;
    return 0;
}

int rtnetlink_query_each(struct rtnetlink *rtnetlink, const struct route_request *requests, size_t count,
                         int *ret_errors)
{
    _Alignas(struct nlmsghdr) char bytes[RTNETLINK_QUERY_LIMIT * MESSAGE_REQUEST_SIZE];
    const uint32_t                 first = rtnetlink->requests.sequence + 1;
    struct message                 answer;
    size_t                         length = 0;
    int                            error;

    for (size_t i = 0; i < count; i++)
        length += message_put_route_query(bytes + length, ++rtnetlink->requests.sequence, &requests[i]);
    rtnetlink->queries += count;
    error = netlink_send(&rtnetlink->requests, bytes, length);
    for (size_t i = 0; i < count && error == 0; i++) {
        ret_errors[i] = receive_answer(rtnetlink, first + (uint32_t)i, &answer);
        probe_query(requests[i].destination.family, requests[i].oif, ret_errors[i]);
        if (ret_errors[i] == ENOBUFS) {
            start_over(rtnetlink);
            error = ENOBUFS;
        }
    }
    return error;
}
