// SPDX-License-Identifier: MIT

/*
 * Lists TCP connections by sock_diag(7), and reads policy rules by rtnetlink(7).
 *
 * What this file must never do: believe a datagram that is not the kernel's, or read an attribute beyond its length.
 */
#ifdef __linux__
#include "connections.h"

#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_SIZE (1 << 16)
#define DUMP_TRIES  8 /* of a dump that changes interrupt */

/* ---- Dumps ------------------------------------------------------------------------------------------------------ */

struct dump {
    int protocol;  /* NETLINK_... */
    void *request; /* begins with the header */
    uint16_t type; /* of the messages */
    /* Returns 0 or an errno, which ends the dump. */
    int (*handle)(void *info, const struct nlmsghdr *message);
    void *info;
};

/* Handles the messages of a datagram. Returns an errno, or 0; *ret_done: that was the last one. EAGAIN: a change has
 * interrupted the dump. */
static int handle_datagram(const struct dump *dump, const struct nlmsghdr *message, size_t length, bool *ret_done,
                           bool *interrupted)
{
    for (; NLMSG_OK(message, length); message = NLMSG_NEXT(message, length)) {
        int error = 0;

        *interrupted = *interrupted || (message->nlmsg_flags & NLM_F_DUMP_INTR) != 0;
        if (message->nlmsg_type == NLMSG_ERROR || message->nlmsg_type == NLMSG_DONE) {
            *ret_done = true;
            if (message->nlmsg_len >= NLMSG_LENGTH(sizeof error))
                memcpy(&error, NLMSG_DATA(message), sizeof error);
            return -error;
        }
        if (message->nlmsg_type == dump->type)
            error = dump->handle(dump->info, message);
        if (error != 0)
            return error;
    }
    return 0;
}

static int receive_dump(const struct dump *dump, int fd, void *buffer)
{
    bool done = false, interrupted = false;
    int error = 0;

    while (error == 0 && !done) {
        struct sockaddr_nl sender;
        socklen_t sender_length = sizeof sender;
        const ssize_t got = recvfrom(fd, buffer, BUFFER_SIZE, 0, (struct sockaddr *)&sender, &sender_length);

        if (got < 0 && errno != EINTR)
            return errno;
        if (got >= 0 && sender_length == sizeof sender && sender.nl_pid == 0)
            error = handle_datagram(dump, buffer, (size_t)got, &done, &interrupted);
    }
    return error == 0 && interrupted ? EAGAIN : error;
}

static int run_dump(const struct dump *dump)
{
    const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
    const struct nlmsghdr *header = dump->request;
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, dump->protocol);
    void *buffer;
    int error = 0;

    if (fd < 0)
        return errno;
    buffer = malloc(BUFFER_SIZE);
    if (buffer == NULL)
        error = ENOMEM;
    else if (connect(fd, (const struct sockaddr *)&kernel, sizeof kernel) != 0 ||
             send(fd, header, header->nlmsg_len, 0) < 0)
        error = errno;
    else
        error = receive_dump(dump, fd, buffer);
    free(buffer);
    close(fd);
    return error;
}

/* Calls `visit` for each attribute after the first `length` bytes of a message. */
static void visit_attributes(const struct nlmsghdr *message, size_t length,
                             void (*visit)(void *info, uint16_t type, const void *payload, size_t size), void *info)
{
    const char *at = (const char *)message + NLMSG_LENGTH(NLMSG_ALIGN(length));
    const char *end = (const char *)message + message->nlmsg_len;

    while (end - at >= (ptrdiff_t)sizeof(struct nlattr)) {
        struct nlattr attribute;

        memcpy(&attribute, at, sizeof attribute);
        if (attribute.nla_len < sizeof attribute || attribute.nla_len > end - at)
            return;
        visit(info, attribute.nla_type & NLA_TYPE_MASK, at + NLA_HDRLEN, attribute.nla_len - sizeof attribute);
        at += NLA_ALIGN(attribute.nla_len) < end - at ? NLA_ALIGN(attribute.nla_len) : end - at;
    }
}

/* ---- Connections ------------------------------------------------------------------------------------------------ */

struct list {
    struct reachability_connection *items;
    size_t count, room;
};

/* The kernel keeps the ports in the network's byte order, and an IPv4 address in the first word. */
static void set_address(struct sockaddr_storage *ret, uint8_t family, const void *bytes, uint16_t port, uint32_t scope)
{
    if (family == AF_INET) {
        struct sockaddr_in *in = (struct sockaddr_in *)ret;

        *in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = port };
        memcpy(&in->sin_addr, bytes, sizeof in->sin_addr);
    } else {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ret;

        *in6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = port };
        memcpy(&in6->sin6_addr, bytes, sizeof in6->sin6_addr);
        if (IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr))
            in6->sin6_scope_id = scope;
    }
}

static bool is_ipv4(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET || IN6_IS_ADDR_V4MAPPED(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

static void set_attribute(void *info, uint16_t type, const void *payload, size_t size)
{
    struct reachability_connection *connection = info;

    if (type == INET_DIAG_MARK && size >= sizeof connection->mark) {
        memcpy(&connection->mark, payload, sizeof connection->mark);
        connection->hides_mark = false;
    }
    if (type == (is_ipv4(&connection->remote) ? INET_DIAG_TOS : INET_DIAG_TCLASS) && size >= 1)
        memcpy(&connection->traffic_class, payload, 1);
}

static struct reachability_connection *add(struct list *list)
{
    if (list->count == list->room) {
        const size_t room = list->room == 0 ? 256 : 2 * list->room;
        struct reachability_connection *items = reallocarray(list->items, room, sizeof *items);

        if (items == NULL)
            return NULL;
        list->items = items;
        list->room = room;
    }
    return memset(&list->items[list->count++], 0, sizeof *list->items);
}

static int add_connection(void *info, const struct nlmsghdr *message)
{
    struct inet_diag_msg socket;
    struct reachability_connection *connection;

    if (message->nlmsg_len < NLMSG_LENGTH(sizeof socket))
        return 0;
    memcpy(&socket, NLMSG_DATA(message), sizeof socket);
    connection = add(info);
    if (connection == NULL)
        return ENOMEM;
    set_address(&connection->local, socket.idiag_family, socket.id.idiag_src, socket.id.idiag_sport,
                socket.id.idiag_if);
    set_address(&connection->remote, socket.idiag_family, socket.id.idiag_dst, socket.id.idiag_dport,
                socket.id.idiag_if);
    /* The kernel sends over that interface or not at all, also when its name belongs to another one. */
    if (socket.id.idiag_if != 0 && if_indextoname(socket.id.idiag_if, connection->interface) == NULL)
        snprintf(connection->interface, sizeof connection->interface, "%u/", socket.id.idiag_if);
    connection->user = socket.idiag_uid;
    connection->inode = socket.idiag_inode;
    connection->retransmits = socket.idiag_timer == 1 ? socket.idiag_retrans : 0; /* 1: the timer of retransmissions */
    connection->hides_mark = true;
    visit_attributes(message, sizeof socket, set_attribute, connection);
    return 0;
}

static int list_family(struct list *list, uint8_t family)
{
    enum { ESTABLISHED = 1 }; /* TCP_ESTABLISHED */
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 request;
    } message = {
        .header = { .nlmsg_len = sizeof message,
                    .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
        .request = { .sdiag_family = family,
                     .sdiag_protocol = IPPROTO_TCP,
                     .idiag_ext = 1 << (INET_DIAG_TOS - 1) | 1 << (INET_DIAG_TCLASS - 1),
                     .idiag_states = 1u << ESTABLISHED },
    };
    const size_t before = list->count;
    int error = EAGAIN;

    for (int tries = 0; error == EAGAIN && tries < DUMP_TRIES; tries++) {
        list->count = before;
        error = run_dump(&(struct dump){ .protocol = NETLINK_SOCK_DIAG,
                                         .request = &message,
                                         .type = SOCK_DIAG_BY_FAMILY,
                                         .handle = add_connection,
                                         .info = list });
    }
    return error == EAGAIN ? 0 : error; /* busy machine: the last list will do */
}

int reachability_connections(struct reachability_connection **ret, size_t *ret_count)
{
    struct list list = { 0 };
    int error = list_family(&list, AF_INET);

    if (error == 0) {
        error = list_family(&list, AF_INET6);
        if (error == ENOENT) /* a kernel without IPv6 */
            error = 0;
    }
    if (error != 0) {
        free(list.items);
        return error;
    }
    *ret = list.items;
    *ret_count = list.count;
    return 0;
}

/* ---- Rules ------------------------------------------------------------------------------------------------------ */

static void find_mark(void *info, uint16_t type, const void *payload, size_t size)
{
    bool *found = info;

    (void)payload, (void)size;
    *found = *found || type == FRA_FWMARK || type == FRA_FWMASK;
}

static int read_rule(void *info, const struct nlmsghdr *message)
{
    if (message->nlmsg_len >= NLMSG_LENGTH(sizeof(struct fib_rule_hdr)))
        visit_attributes(message, sizeof(struct fib_rule_hdr), find_mark, info);
    return 0;
}

int reachability_rules_select_by_mark(bool *ret)
{
    struct {
        struct nlmsghdr header;
        struct fib_rule_hdr request;
    } message = {
        .header = { .nlmsg_len = sizeof message, .nlmsg_type = RTM_GETRULE, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
        .request = { .family = AF_UNSPEC },
    };
    bool found = false;
    const int error = run_dump(&(struct dump){
        .protocol = NETLINK_ROUTE, .request = &message, .type = RTM_NEWRULE, .handle = read_rule, .info = &found });

    if (error != 0 && error != EAGAIN && error != EOPNOTSUPP) /* EOPNOTSUPP: a kernel without policy rules */
        return error;
    *ret = found;
    return 0;
}
#endif
