/* SPDX-License-Identifier: MIT */
/*
 * Events and queries of rtnetlink(7), and the table of links. Links are the only kernel state that we store.
 *
 * What this file must never do: dump the routing table, or store the routes that messages contain. There may be a
 * million routes, and only the kernel can combine rules, marks, multipath, nexthop objects and VRFs. A route message
 * only means that a path may have changed; a query then reads it.
 */
#ifdef __linux__
#include "kernel/rtnetlink.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/probes.h"
#include "base/text.h"
#include "kernel/device.h"
#include "kernel/link_alias.h"
#include "pure/path.h"

#define DRAIN_LIMIT 1024  /* datagrams in one call, so that many events do not delay deliveries without end */
#define LOST_LIMIT  65536 /* datagrams after a loss: more than a queue of 2 MiB can hold */
#define QUERY_TRIES 3     /* for a reply that an overrun dropped */

_Static_assert(PROCESS_USER_UNKNOWN == MESSAGE_NO_USER, "the request has no user if it is not known");

/* The groups whose messages can affect a path. Not every kernel has IPv6, nexthop objects and netconf. */
static const unsigned event_groups[] = { RTNLGRP_LINK,        RTNLGRP_IPV4_IFADDR,  RTNLGRP_IPV4_ROUTE,
                                         RTNLGRP_IPV4_RULE,   RTNLGRP_IPV6_IFADDR,  RTNLGRP_IPV6_ROUTE,
                                         RTNLGRP_IPV6_RULE,   RTNLGRP_IPV4_NETCONF, RTNLGRP_IPV6_NETCONF,
                                         RTNLGRP_IPV6_IFINFO, RTNLGRP_IPV6_PREFIX,  RTNLGRP_NEXTHOP };

static const unsigned link_groups[] = { RTNLGRP_LINK, RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE };

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

int reach_rtnetlink_open(struct rtnetlink *ret, enum rtnetlink_scope scope, const struct netns_handle *netns)
{
    int error;

    *ret = RTNETLINK_CLOSED;
    ret->netns = netns;
    ret->buffer = malloc(NETLINK_BUFFER_SIZE);
    if (ret->buffer == NULL)
        return ENOMEM;
    if (netns != NULL && reach_netns_handle_is_current(netns))
        netns = NULL; /* read once for both sockets */
    if (scope == RTNETLINK_LINKS) {
        error = reach_netlink_open_both(netns, &ret->requests, link_groups, COUNT(link_groups), &ret->groups_refused);
    } else {
        error = reach_netlink_open_requests(netns, NETLINK_ROUTE, &ret->requests);
        if (error == 0)
            error = reach_netlink_open_events(netns, &ret->events, event_groups, COUNT(event_groups),
                                              &ret->groups_refused);
        if (error == 0)
            reach_netlink_make_room(&ret->events);
    }
    ret->refused = ret->groups_refused;
    if (error != 0)
        reach_rtnetlink_close(ret);
    return error;
}

void reach_rtnetlink_close(struct rtnetlink *rtnetlink)
{
    reach_netlink_close(&rtnetlink->events);
    reach_netlink_close(&rtnetlink->requests);
    reach_descriptor_close(&rtnetlink->udp);
    reach_link_table_clear(&rtnetlink->links);
    free(rtnetlink->batch);
    free(rtnetlink->buffer);
    rtnetlink->batch = NULL;
    rtnetlink->buffer = NULL;
}

bool reach_rtnetlink_should_reopen(const struct rtnetlink *rtnetlink, enum rtnetlink_scope scope, struct retry *retry)
{
    struct rtnetlink other;
    bool is_allowed;

    if (!rtnetlink->refused || clock_now() < retry->at)
        return false;
    retry_later(retry, clock_now(), REFUSED_FIRST, REFUSED_LAST);
    is_allowed = reach_rtnetlink_open(&other, scope, rtnetlink->netns) == 0 && !other.groups_refused;
    reach_rtnetlink_close(&other);
    return is_allowed;
}

static void count_overrun(struct rtnetlink *rtnetlink)
{
    const unsigned long count = atomic_fetch_add(&rtnetlink->overruns, 1) + 1;

    probe_overrun(count);
}

/* ---- Events ----------------------------------------------------------------------------------------------------- */

static bool is_link(const struct message *message)
{
    return message->kind == MESSAGE_LINK || message->kind == MESSAGE_LINK_GONE;
}

/* Removes the first message from a datagram. Returns false if there are no more. */
static bool next_message(struct span *datagram, struct message *ret)
{
    const size_t step = reach_message_parse(datagram->start, datagram->length, ret);

    datagram->start += step;
    datagram->length -= step;
    return step != 0;
}

void reach_rtnetlink_forget_rules(struct rtnetlink *rtnetlink)
{
    rtnetlink->rules.known = rtnetlink->rules.readings[0].read = rtnetlink->rules.readings[1].read = false;
    rtnetlink->rules.version++;
}

/* Applies one datagram of events. Returns false if a link could not be stored. */
static bool apply_events(struct rtnetlink *rtnetlink, size_t length, void (*handle)(void *, const struct message *),
                         void *info)
{
    struct span datagram = { .start = rtnetlink->buffer, .length = length };
    struct message message;
    bool stored = true;

    while (next_message(&datagram, &message)) {
        if (is_link(&message))
            stored = reach_link_table_apply(&rtnetlink->links, &message) == 0 && stored;
        if (message.kind == MESSAGE_ROUTE && message.route.source_length > 0)
            rtnetlink->source_routes = SOURCE_ROUTES_SOME;
        if (message.kind == MESSAGE_RULE) {
            rtnetlink->source_routes = SOURCE_ROUTES_UNKNOWN;
            reach_rtnetlink_forget_rules(rtnetlink);
        }
        if (message.kind == MESSAGE_OTHER)
            continue;
        probe_event((int)message.kind, is_link(&message) ? message.link.index : 0);
        handle(info, &message);
    }
    return stored;
}

unsigned reach_rtnetlink_drain(struct rtnetlink *rtnetlink, void (*handle)(void *info, const struct message *message),
                               void *info, int *ret_error)
{
    unsigned result = RTNETLINK_NOTHING;

    /* After an overrun the kernel drops messages, without another error, until the queue is empty. So empty the queue,
     * and discard what is read: everything is stale. The kernel adds nothing meanwhile. A process of root that sends to
     * this socket can: then it is never empty. */
    for (unsigned count = 0; count < ((result & RTNETLINK_LOST) == 0 ? DRAIN_LIMIT : LOST_LIMIT); count++) {
        const ssize_t length = netlink_receive(&rtnetlink->events, rtnetlink->buffer, NETLINK_BUFFER_SIZE);

        if (length == 0)
            return result;
        if (length == -ENOBUFS || length == -EMSGSIZE) {
            result |= RTNETLINK_LOST;
            count_overrun(rtnetlink);
        } else if (length == NETLINK_FOREIGN) {
            continue;
        } else if (length < 0) {
            *ret_error = (int)-length;
            return result | RTNETLINK_LOST;
        } else if ((result & RTNETLINK_LOST) == 0 && !apply_events(rtnetlink, (size_t)length, handle, info)) {
            result |= RTNETLINK_LOST;
        }
    }
    return result | ((result & RTNETLINK_LOST) == 0 ? RTNETLINK_MORE : RTNETLINK_FULL);
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

/* The links of a dump so far. */
struct link_dump {
    struct link_table links;
    int error;
};

static void add_dumped_link(void *info, const struct nlmsghdr *header)
{
    struct link_dump *dump = info;
    struct message message;

    (void)reach_message_parse(header, header->nlmsg_len, &message);
    if (message.kind == MESSAGE_LINK && reach_link_table_apply(&dump->links, &message) != 0)
        dump->error = ENOMEM;
}

int reach_rtnetlink_read_links(struct rtnetlink *rtnetlink)
{
    _Alignas(struct nlmsghdr) char request[MESSAGE_REQUEST_SIZE];
    struct link_dump dump = { .links = LINK_TABLE_EMPTY };
    int error = EAGAIN;

    for (int tries = 0; tries < NETLINK_DUMP_TRIES && error == EAGAIN; tries++) {
        reach_link_table_clear(&dump.links);
        reach_message_put_link_dump(request, 0);
        error = reach_netlink_exchange(&rtnetlink->requests, (struct nlmsghdr *)request, rtnetlink->buffer,
                                       add_dumped_link, &dump);
        if (dump.error != 0)
            error = dump.error;
    }
    /* Each try was interrupted. The changes have sent messages of their own, which will correct the table. */
    if (error != 0 && error != EAGAIN) {
        reach_link_table_clear(&dump.links);
        return error;
    }
    reach_link_table_clear(&rtnetlink->links);
    rtnetlink->links = dump.links;
    return 0;
}

/* Whether no device has to be read. The device of a link that is not usable does not matter: a lack of descriptors must
 * not prevent the evaluation. */
static bool needs_no_device(const struct link *link)
{
    return link->device != DEVICE_UNKNOWN || !reach_link_is_usable(link);
}

int reach_rtnetlink_link(struct rtnetlink *rtnetlink, uint32_t index, const struct link **ret)
{
    const int fd = rtnetlink->requests.socket.fd;
    const struct link *known = index == 0 ? NULL : reach_link_table_find(&rtnetlink->links, index);
    struct link link;
    int error = 0;

    /* The kernel routes over a link as soon as it is up, and sends the message later, so a route may be newer than the
     * table. The stale flags would report a loss that did not happen. */
    if (known != NULL && !reach_link_is_usable(known)) {
        link = *known;
        if (reach_ioctl_link_flags(fd, index, &link.flags) == 0 && reach_link_is_usable(&link)) {
            struct message news = { .kind = MESSAGE_LINK };

            news.link = (struct message_link){ .index = index, .flags = link.flags, .hardware = link.hardware };
            reach_link_table_apply(&rtnetlink->links, &news); /* cannot fail: the table has the link */
            known = reach_link_table_find(&rtnetlink->links, index);
        }
    }
    /* Reads what the table lacks. */
    if (index != 0 && (known == NULL || !needs_no_device(known))) {
        if (known != NULL)
            link = *known;
        else
            error = reach_ioctl_link(fd, index, &link);
        if (error == 0 && !needs_no_device(&link))
            error = reach_sysfs_read_device(fd, &link);
        if (error == 0)
            error = reach_link_table_put(&rtnetlink->links, &link);
        known = error == 0 ? reach_link_table_find(&rtnetlink->links, index) : NULL;
    }
    *ret = known;
    return error == ENODEV ? 0 : error;
}

int reach_rtnetlink_link_index(struct rtnetlink *rtnetlink, const char *name, uint32_t *ret)
{
    int error;

    if (link_alias_is(name))
        return reach_link_alias_index(rtnetlink->netns, name, ret);
    error = reach_ioctl_link_index(rtnetlink->requests.socket.fd, name, ret);
    if (error != 0)
        *ret = 0;
    return error == ENODEV ? 0 : error;
}

void reach_rtnetlink_clear_unwatched(struct rtnetlink *rtnetlink)
{
    if (!rtnetlink->groups_refused)
        return;
    reach_link_table_clear(&rtnetlink->links);
    reach_rtnetlink_forget_rules(rtnetlink);
}

/* ---- Queries ---------------------------------------------------------------------------------------------------- */

/* Translates the errno of a failed send or receive, so that it does not look like the kernel's reply to a query. */
static int local_failure(int error)
{
    struct path path;

    if (error == EPERM || error == EACCES) /* by a sandbox */
        return NETLINK_DENIED;
    return error == EMSGSIZE || reach_path_from_error(error, false, &path) ? kSCStatusReachabilityUnknown : error;
}

/* netlink_receive on the socket for requests. If only other processes fill its queue, messages were lost: -ENOBUFS. */
static ssize_t receive_datagram(struct rtnetlink *rtnetlink, struct span *ret)
{
    ssize_t length = NETLINK_FOREIGN;

    for (unsigned count = 0; count < LOST_LIMIT && length == NETLINK_FOREIGN; count++)
        length = netlink_receive(&rtnetlink->requests, rtnetlink->buffer, NETLINK_BUFFER_SIZE);
    if (length == NETLINK_FOREIGN)
        length = -ENOBUFS;
    *ret = (struct span){ .start = rtnetlink->buffer, .length = length > 0 ? (size_t)length : 0 };
    return length;
}

/* Applies a message that has come over the socket for requests. Returns false if a link could not be stored. */
static bool apply_event(struct rtnetlink *rtnetlink, const struct message *message)
{
    if (message->kind == MESSAGE_RULE)
        reach_rtnetlink_forget_rules(rtnetlink);
    return !is_link(message) || reach_link_table_apply(&rtnetlink->links, message) == 0;
}

/* Reads up to the reply to a request, and applies the messages before it. Returns 0 and the reply, or an errno;
 * ENOBUFS: messages were lost. */
static int receive_reply(struct rtnetlink *rtnetlink, uint32_t sequence, struct message *ret)
{
    for (;;) {
        struct span datagram;
        const ssize_t length = receive_datagram(rtnetlink, &datagram);

        /* The kernel replies inside send: without a reply, there was no room for it. */
        if (length <= 0)
            return length == 0 || length == -EMSGSIZE ? ENOBUFS : local_failure((int)-length);
        while (next_message(&datagram, ret)) {
            if (ret->sequence == sequence && !rtnetlink->requests.to_group)
                return ret->kind == MESSAGE_ERROR ? ret->error : 0;
            if (!apply_event(rtnetlink, ret))
                return ENOBUFS;
        }
    }
}

/* After an overrun the kernel drops messages, without another error, until the queue is empty. With RTNETLINK_LINKS,
 * messages about links and rules may be among them: both are read again when they are needed. A process of root that
 * sends to their groups can keep the queue full: then the next use finds the loss. */
static void recover_from_overrun(struct rtnetlink *rtnetlink)
{
    ssize_t length = 1;

    count_overrun(rtnetlink);
    for (unsigned count = 0;
         count < LOST_LIMIT && (length > 0 || length == -ENOBUFS || length == -EMSGSIZE || length == NETLINK_FOREIGN);
         count++)
        length = netlink_receive(&rtnetlink->requests, rtnetlink->buffer, NETLINK_BUFFER_SIZE);
    if (rtnetlink->events.socket.fd >= 0)
        return;
    reach_link_table_clear(&rtnetlink->links);
    reach_rtnetlink_forget_rules(rtnetlink);
}

void reach_rtnetlink_update_links(struct rtnetlink *rtnetlink)
{
    struct span datagram;
    struct message message;
    ssize_t length;

    while ((length = receive_datagram(rtnetlink, &datagram)) > 0)
        while (next_message(&datagram, &message))
            if (!apply_event(rtnetlink, &message))
                reach_link_table_clear(&rtnetlink->links);
    if (length < 0)
        recover_from_overrun(rtnetlink);
}

/* A route query does not wait for the RTNL lock, and the kernel sends the message about a link, an address or a route
 * *before* it changes the routes. The barrier does wait for the lock. */
void reach_rtnetlink_set_barrier(struct rtnetlink *rtnetlink)
{
    rtnetlink->barrier = true;
}

void reach_rtnetlink_begin_batch(struct rtnetlink *rtnetlink, const struct route_request *requests, size_t count)
{
    int error;

    if (rtnetlink->batch == NULL)
        rtnetlink->batch = reach_query_batch_create();
    if (rtnetlink->batch == NULL)
        return;
    error = reach_query_batch_send(rtnetlink->batch, &rtnetlink->requests, rtnetlink->barrier, rtnetlink->user,
                                   requests, count);
    if (error == 0) {
        rtnetlink->barrier = false;
        rtnetlink->queries += count;
    } else if (error == ENOBUFS) {
        recover_from_overrun(rtnetlink);
    }
}

void reach_rtnetlink_end_batch(struct rtnetlink *rtnetlink)
{
    if (rtnetlink->batch != NULL)
        reach_query_batch_clear(rtnetlink->batch);
}

/* Sends the query and reads the reply. Returns 0, or the kernel's errno, or that of a failure to query. */
static int exchange_query(struct rtnetlink *rtnetlink, const struct route_request *request, struct message *ret)
{
    _Alignas(struct nlmsghdr) char requests[2 * MESSAGE_REQUEST_SIZE];
    int error = ENOBUFS;

    for (int tries = 0; tries < QUERY_TRIES && error == ENOBUFS; tries++) {
        size_t length = 0;

        /* In one send: the kernel handles the requests in order, on this thread. */
        if (rtnetlink->barrier)
            length = reach_message_put_barrier(requests, ++rtnetlink->requests.sequence);
        length += reach_message_put_route_query(requests + length, ++rtnetlink->requests.sequence, rtnetlink->user,
                                                request);
        rtnetlink->queries++;
        error = local_failure(netlink_send(&rtnetlink->requests, requests, length));
        if (error == 0) {
            error = receive_reply(rtnetlink, rtnetlink->requests.sequence, ret);
            rtnetlink->barrier = rtnetlink->barrier && error == ENOBUFS;
        }
        if (error == ENOBUFS)
            recover_from_overrun(rtnetlink);
    }
    return error;
}

/* The kernel replies EMSGSIZE if the legs need more than 4 KiB: about 250 of IPv4, 130 of IPv6. One of them matched. */
static int query_without_legs(struct rtnetlink *rtnetlink, struct route_request request, struct route *ret)
{
    int error;

    request.fib_match = false;
    error = reach_rtnetlink_query(rtnetlink, &request, ret);
    if (error == 0)
        ret->hides_legs = true;
    return error;
}

int reach_rtnetlink_query(struct rtnetlink *rtnetlink, const struct route_request *request, struct route *ret)
{
    struct message reply;
    int error;

    if (rtnetlink_is_udp(rtnetlink))
        return rtnetlink->query_udp(rtnetlink, request, ret);
    if (rtnetlink->batch != NULL && reach_query_batch_take(rtnetlink->batch, request, &reply))
        error = reply.kind == MESSAGE_ERROR ? reply.error : 0;
    else
        error = exchange_query(rtnetlink, request, &reply);
    probe_query(request->destination.family, request->oif, error);
    if (error != 0)
        return error == EMSGSIZE && request->fib_match ? query_without_legs(rtnetlink, *request, ret) : error;
    if (reply.kind != MESSAGE_ROUTE)
        return EIO;
    *ret = reply.route;
    return 0;
}
#endif
