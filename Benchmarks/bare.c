/* SPDX-License-Identifier: MIT */
#include "bare.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "bench.h"

int bare_open(void)
{
    const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

    if (fd < 0 || connect(fd, (const struct sockaddr *)&kernel, sizeof kernel) != 0)
        bench_fail("bare netlink socket: %s", strerror(errno));
    return fd;
}

int bare_listen(void)
{
    const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_IPV4_ROUTE };
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);

    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) != 0)
        bench_fail("there is no socket for messages about routes: %s", strerror(errno));
    return fd;
}

void bare_receive(int fd)
{
    struct pollfd event = { .fd = fd, .events = POLLIN };
    char buffer[8192];

    poll(&event, 1, 0);
    while (recv(fd, buffer, sizeof buffer, 0) > 0 || errno == ENOBUFS)
        continue;
}

struct bare_query bare_make_query(int family, const char *destination, unsigned flags)
{
    const unsigned short length = family == AF_INET ? 4 : 16;
    struct bare_query query = { .header = { .nlmsg_type = RTM_GETROUTE, .nlmsg_flags = NLM_F_REQUEST },
                                .route = { .rtm_family = (unsigned char)family,
                                           .rtm_dst_len = (unsigned char)(length * 8),
                                           .rtm_flags = flags },
                                .attribute = { .rta_type = RTA_DST } };

    query.attribute.rta_len = (unsigned short)RTA_LENGTH(length);
    query.header.nlmsg_len = (uint32_t)(NLMSG_LENGTH(sizeof query.route) + query.attribute.rta_len);
    inet_pton(family, destination, query.destination);
    return query;
}

static void receive_route(int fd)
{
    _Alignas(struct nlmsghdr) char reply[4096];

    if (recv(fd, reply, sizeof reply, 0) < 0 || ((const struct nlmsghdr *)reply)->nlmsg_type != RTM_NEWROUTE)
        bench_fail("the bare query failed");
}

void bare_query(int fd, struct bare_query *query)
{
    query->header.nlmsg_seq++;
    if (send(fd, query, query->header.nlmsg_len, 0) < 0)
        bench_fail("the bare query failed: %s", strerror(errno));
    receive_route(fd);
}

void bare_query_batch(int fd, unsigned address, size_t count)
{
    struct bare_query query = bare_make_query(AF_INET, "0.0.0.0", 0);
    char batch[BARE_BATCH * sizeof query];

    for (size_t i = 0; i < count; i++) {
        const in_addr_t destination = htonl(address + (unsigned)i);

        memcpy(query.destination, &destination, sizeof destination);
        query.header.nlmsg_seq++;
        memcpy(batch + i * query.header.nlmsg_len, &query, query.header.nlmsg_len);
    }
    if (send(fd, batch, count * query.header.nlmsg_len, 0) < 0)
        bench_fail("the bare batch failed: %s", strerror(errno));
    for (size_t i = 0; i < count; i++)
        receive_route(fd);
}
