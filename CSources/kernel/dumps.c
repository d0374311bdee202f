/* SPDX-License-Identifier: MIT */
/*
 * What a route query does not say of a network namespace.
 *
 * What this file must never do: read a large routing table to its end (to close the socket ends a dump; without a
 * strict check of the request, the kernel dumps all tables), or take a setting that cannot be read for one that is
 * off.
 */
#ifdef __linux__
#include "kernel/dumps.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include "pure/route.h"

_Static_assert(offsetof(struct netlink, socket) == 0, "what reach_netns_handle_close frees");

#define REQUEST(name) _Alignas(struct nlmsghdr) char name[MESSAGE_REQUEST_SIZE]

/* A kernel without this family has nothing of it. EAGAIN: changes have interrupted each try; they send messages. */
static int dump(struct netlink *requests, void *buffer, uint16_t type, uint8_t family, int tries,
                void (*handle)(void *info, const struct nlmsghdr *message), void *info)
{
    REQUEST(request);
    int error = EAGAIN;

    (void)reach_message_put_dump(request, type, family);
    while (error == EAGAIN && tries-- > 0)
        error = reach_netlink_exchange(requests, (struct nlmsghdr *)request, buffer, handle, info);
    return error == EAFNOSUPPORT || error == EOPNOTSUPP ? 0 : error;
}

/* ---- Requests of any thread ------------------------------------------------------------------------------------- */

/* To open and close a socket takes as long as all else that GetPath does, so the namespace keeps one. */
struct spare {
    struct netlink *requests;
    void *buffer;
};

static int take_spare(const struct netns_handle *netns, struct spare *ret)
{
    _Atomic(struct descriptor *) *kept = &((struct netns_handle *)netns)->spare;
    struct descriptor *socket = atomic_exchange(kept, NULL);

    ret->requests = socket == NULL ? NULL : container_of(socket, struct netlink, socket);
    ret->buffer = malloc(NETLINK_BUFFER_SIZE);
    if (ret->requests == NULL && (ret->requests = malloc(sizeof *ret->requests)) != NULL) {
        const int error = reach_netlink_open_requests(netns, NETLINK_ROUTE, ret->requests);

        if (error != 0)
            return error;
    }
    return ret->requests == NULL || ret->buffer == NULL ? ENOMEM : 0;
}

/* `keep`: not after a failure, as a late reply may be in the socket's queue. */
static void put_spare_back(const struct netns_handle *netns, struct spare *spare, bool keep)
{
    _Atomic(struct descriptor *) *kept = &((struct netns_handle *)netns)->spare;
    struct descriptor *none = NULL;

    free(spare->buffer);
    if (keep && atomic_compare_exchange_strong(kept, &none, &spare->requests->socket))
        return;
    if (spare->requests != NULL)
        reach_netlink_close(spare->requests);
    free(spare->requests);
}

/* ---- Rules ------------------------------------------------------------------------------------------------------ */

static void check_rule(void *info, const struct nlmsghdr *message)
{
    struct rules *rules = info;

    if (message->nlmsg_type != RTM_NEWRULE)
        return;
    rules->is_standard = rules->is_standard && reach_rule_is_standard(message);
    rules->chooses_tables = rules->chooses_tables && reach_rule_chooses_table(message);
}

int reach_rules_read(struct rtnetlink *rtnetlink, uint8_t family, struct rules *ret)
{
    struct rule_reading *known = &rtnetlink->rules.readings[family == AF_INET6];

    *ret = (struct rules){ .is_standard = known->is_standard, .chooses_tables = known->chooses_tables };
    if (known->read)
        return known->error;
    *ret = (struct rules){ .is_standard = true, .chooses_tables = true };
    known->error = dump(&rtnetlink->requests, rtnetlink->buffer, RTM_GETRULE, family, 1, check_rule, ret);
    if (known->error != 0)
        *ret = (struct rules){ 0 };
    if (known->error == EAGAIN) /* the message about the change makes it unknown again */
        known->error = 0;
    known->is_standard = ret->is_standard;
    known->chooses_tables = ret->chooses_tables;
    known->read = (known->error == 0 || rtnetlink_is_refused(rtnetlink, known->error)) && !rtnetlink->groups_refused;
    return known->error;
}

static void add_selectors(void *info, const struct nlmsghdr *message)
{
    unsigned *selectors = info;

    if (message->nlmsg_type == RTM_NEWRULE)
        *selectors |= reach_rule_selectors(message);
}

/* After an interrupted dump, the selectors of both sets of rules are in *ret. */
static int read_selectors(struct netlink *requests, void *buffer, unsigned ret[2])
{
    static const uint8_t families[2] = { AF_INET, AF_INET6 };
    int error = 0;

    ret[0] = ret[1] = 0;
    for (size_t i = 0; i < 2 && error == 0; i++) {
        error = dump(requests, buffer, RTM_GETRULE, families[i], NETLINK_DUMP_TRIES, add_selectors, &ret[i]);
        if (error == EAGAIN)
            error = 0;
    }
    return error;
}

int reach_rules_find_selectors(struct rtnetlink *rtnetlink)
{
    int error;

    if (rtnetlink->rules.known)
        return 0;
    error = read_selectors(&rtnetlink->requests, rtnetlink->buffer, rtnetlink->rules.selectors);
    if (rtnetlink_is_refused(rtnetlink, error))
        error = 0;
    rtnetlink->rules.known = error == 0 && !rtnetlink->groups_refused;
    return error;
}

int reach_rules_read_selectors(const struct netns_handle *netns, unsigned ret_selectors[2])
{
    struct spare spare;
    int error = take_spare(netns, &spare);

    if (error == 0)
        error = read_selectors(spare.requests, spare.buffer, ret_selectors);
    put_spare_back(netns, &spare, false); /* read once, until a rule changes */
    return error;
}

/* ---- Settings --------------------------------------------------------------------------------------------------- */

static void add_setting(void *info, const struct nlmsghdr *header)
{
    struct netconf *netconf = info;
    struct message message;

    if (reach_message_parse(header, header->nlmsg_len, &message) == 0 || message.kind != MESSAGE_NETCONF)
        return;
    netconf->ignores_linkdown = netconf->ignores_linkdown || message.netconf.ignore_linkdown;
}

int reach_netconf_read(struct rtnetlink *rtnetlink, struct netconf *ret)
{
    struct netlink *requests = &rtnetlink->requests;
    int error;

    *ret = (struct netconf){ 0 };
    error = dump(requests, rtnetlink->buffer, RTM_GETNETCONF, AF_INET, NETLINK_DUMP_TRIES, add_setting, ret);
    if (error == 0 || error == EAGAIN)
        error = dump(requests, rtnetlink->buffer, RTM_GETNETCONF, AF_INET6, NETLINK_DUMP_TRIES, add_setting, ret);
    return error;
}

/* ---- Neighbours ------------------------------------------------------------------------------------------------- */

/* Sets the bits of the states that a neighbour, or one of all, has. */
static void add_state(void *info, const struct nlmsghdr *header)
{
    uint16_t *states = info;
    struct message message;

    if (reach_message_parse(header, header->nlmsg_len, &message) != 0 && message.kind == MESSAGE_NEIGHBOUR)
        *states |= message.neighbour.state;
}

static int query_neighbour(struct netlink *requests, void *buffer, uint32_t index, const struct address *address,
                           uint16_t *ret_state)
{
    REQUEST(request);
    uint16_t state = NUD_NONE;
    int error;

    (void)reach_message_put_neighbour_query(request, index, address);
    error = reach_netlink_exchange(requests, (struct nlmsghdr *)request, buffer, add_state, &state);
    if (error == ENOENT || error == ENODEV) /* there is no entry, or no such link */
        error = 0;
    if (error == 0)
        *ret_state = state;
    return error;
}

int reach_neighbours_query(struct rtnetlink *rtnetlink, uint32_t index, const struct address *address,
                           uint16_t *ret_state)
{
    return query_neighbour(&rtnetlink->requests, rtnetlink->buffer, index, address, ret_state);
}

int reach_neighbours_query_in(const struct netns_handle *netns, uint32_t index, const struct address *address,
                              uint16_t *ret_state)
{
    struct spare spare;
    int error = take_spare(netns, &spare);

    if (error == 0)
        error = query_neighbour(spare.requests, spare.buffer, index, address, ret_state);
    put_spare_back(netns, &spare, error == 0);
    return error;
}

bool reach_neighbours_any_failed(struct rtnetlink *rtnetlink)
{
    uint16_t states = 0;
    const int error = dump(&rtnetlink->requests, rtnetlink->buffer, RTM_GETNEIGH, AF_INET6, 1, add_state, &states);

    return error != 0 || (states & (NUD_FAILED | NUD_INCOMPLETE)) != 0;
}

int reach_nexthops_read(struct rtnetlink *rtnetlink, void (*handle)(void *info, const struct nlmsghdr *message),
                        void *info)
{
    return dump(&rtnetlink->requests, rtnetlink->buffer, RTM_GETNEXTHOP, AF_UNSPEC, 1, handle, info);
}

/* ---- Routes ----------------------------------------------------------------------------------------------------- */

/* Handles a datagram of the dump. Returns false, and sets *ret, if it is the last one. If a route changes between two
 * datagrams, the kernel can skip another one, and does not say so: but the socket also receives the message. */
static bool read_routes(struct netlink *netlink, void *buffer, bool (*visit)(void *info, const struct route *route),
                        void *info, enum first_routes_end *ret)
{
    const ssize_t length = netlink_receive(netlink, buffer, NETLINK_BUFFER_SIZE);
    struct message message;
    const char *next = buffer;

    *ret = FIRST_ROUTES_CHANGED;
    if (length <= 0 || netlink->to_group)
        return false;
    for (size_t left = (size_t)length, step; (step = reach_message_parse(next, left, &message)) != 0; left -= step) {
        const struct nlmsghdr *header = (const void *)next;

        next += step;
        if (message.sequence != netlink->sequence || (header->nlmsg_flags & NLM_F_DUMP_INTR) != 0)
            return false;
        if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR) {
            if (reach_message_error(header) == ENOENT ||
                (reach_message_error(header) == 0 && header->nlmsg_type == NLMSG_DONE))
                *ret = FIRST_ROUTES_ALL;
            return false;
        }
        if (message.kind == MESSAGE_ROUTE && !visit(info, &message.route)) {
            *ret = FIRST_ROUTES_MORE;
            return false;
        }
    }
    *ret = FIRST_ROUTES_MORE;
    return true;
}

/* The kernel ends a dump, without an error, at a route whose legs do not fit into a datagram. The first one has a page,
 * unless the socket has received into a larger buffer: the reply to an empty request. */
int reach_first_routes_read(struct rtnetlink *rtnetlink, const struct first_routes *what,
                            bool (*visit)(void *info, const struct route *route), void *info,
                            enum first_routes_end *ret)
{
    const struct nlmsghdr empty = { sizeof empty, NLMSG_NOOP, NLM_F_REQUEST | NLM_F_ACK, 0, 0 };
    const unsigned group = what->family == AF_INET6 ? RTNLGRP_IPV6_ROUTE : RTNLGRP_IPV4_ROUTE;
    enum first_routes_end end = FIRST_ROUTES_MORE;
    unsigned left = what->datagrams;
    REQUEST(request);
    struct netlink netlink;
    bool refused; /* then the socket could not be opened */
    int error = reach_netlink_open_events(rtnetlink->netns, &netlink, &group, 1, &refused);

    if (error != 0)
        return error;
    if (what->table != RT_TABLE_UNSPEC)
        error = reach_netlink_set_strict(&netlink, true);
    if (error == 0)
        error = netlink_send(&netlink, &empty, sizeof empty);
    (void)netlink_receive(&netlink, rtnetlink->buffer, NETLINK_BUFFER_SIZE);
    (void)reach_message_put_table_dump(request, what->family, what->table);
    ((struct nlmsghdr *)request)->nlmsg_seq = ++netlink.sequence;
    if (error == 0)
        error = netlink_send(&netlink, request, ((struct nlmsghdr *)request)->nlmsg_len);
    while (error == 0 && left > 0 && read_routes(&netlink, rtnetlink->buffer, visit, info, &end))
        left--;
    if (end == FIRST_ROUTES_ALL && netlink_receive(&netlink, rtnetlink->buffer, NETLINK_BUFFER_SIZE) != 0)
        end = FIRST_ROUTES_CHANGED; /* the message about a change came at the end */
    reach_netlink_close(&netlink);
    if (error == 0)
        *ret = end;
    return error;
}

static bool stop_at_route(void *info, const struct route *route)
{
    (void)info, (void)route;
    return false;
}

bool reach_default_table_is_empty(struct rtnetlink *rtnetlink)
{
    const struct first_routes what = { .family = AF_INET, .table = RT_TABLE_DEFAULT, .datagrams = 1 };
    enum first_routes_end end;

    return reach_first_routes_read(rtnetlink, &what, stop_at_route, NULL, &end) == 0 && end == FIRST_ROUTES_ALL;
}

static bool is_without_source(void *info, const struct route *route)
{
    bool *found = info;

    *found = route->source_length > 0;
    return !*found;
}

/* Later, messages say so. With RTNETLINK_LINKS none come. */
enum source_routes reach_source_routes_find(struct rtnetlink *rtnetlink)
{
    const struct first_routes what = { .family = AF_INET6, .table = RT_TABLE_UNSPEC, .datagrams = 32 };
    enum first_routes_end end = FIRST_ROUTES_CHANGED;
    enum source_routes *ret = &rtnetlink->source_routes;
    bool found = false;
    struct rules rules;
    int error;

    if (rtnetlink->events.socket.fd < 0 || rtnetlink->groups_refused || *ret != SOURCE_ROUTES_UNKNOWN)
        return *ret;
    error = reach_rules_read(rtnetlink, AF_INET6, &rules);
    found = error == 0 && !rules.is_standard;
    if (error == 0 && !found)
        error = reach_first_routes_read(rtnetlink, &what, is_without_source, &found, &end);
    if (found)
        *ret = SOURCE_ROUTES_SOME;
    else if (rtnetlink_is_refused(rtnetlink, error) || (error == 0 && end == FIRST_ROUTES_MORE))
        *ret = SOURCE_ROUTES_UNREAD;
    else if (error == 0 && end == FIRST_ROUTES_ALL)
        *ret = SOURCE_ROUTES_NONE;
    return *ret;
}
#endif
