/* SPDX-License-Identifier: MIT */
#ifndef TESTS_REPLIES_H
#define TESTS_REPLIES_H

/*
 * A kernel for the fuzzers: each receive of a netlink socket takes the next datagram of the input. The program wraps
 * the functions below (LINK, in the fuzzers' first comments). A datagram whose first message
 * has the port REPLIES_PORT is a reply, any other was sent to a group. Sequence numbers start at 1, so the input can
 * have right ones.
 *
 * The input: for each receive a byte that says what happens, two bytes with the length of the datagram, the lower one
 * first, and the datagram. At its end, the queue is empty.
 */

#include <errno.h>
#include <linux/netlink.h>
#include <sanitizer/asan_interface.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "kernel/netlink.h"

#define REPLIES_PORT 0x1234

enum { REPLY_FROM_KERNEL, REPLY_FROM_OTHERS, REPLY_OVERRUN, REPLY_INTERRUPTED, REPLY_TOO_LONG, REPLY_KINDS };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *replies_next;
static size_t replies_left;

static void replies_begin(const uint8_t *data, size_t size)
{
    replies_next = data;
    replies_left = size;
}

static const uint8_t *replies_take(size_t size)
{
    const uint8_t *taken = replies_next;

    replies_next += size;
    replies_left -= size;
    return taken;
}

static int open_netlink(struct netlink *ret)
{
    *ret = NETLINK_CLOSED;
    return 0;
}

int __wrap_reach_netlink_open_requests(const struct netns_handle *netns, int protocol, struct netlink *ret);
int __wrap_reach_netlink_open_requests(const struct netns_handle *netns, int protocol, struct netlink *ret)
{
    (void)netns, (void)protocol;
    return open_netlink(ret);
}

int __wrap_reach_netlink_open_events(const struct netns_handle *netns, struct netlink *ret, const unsigned *groups,
                                     size_t count, bool *ret_groups_refused);
int __wrap_reach_netlink_open_events(const struct netns_handle *netns, struct netlink *ret, const unsigned *groups,
                                     size_t count, bool *ret_groups_refused)
{
    (void)netns, (void)groups, (void)count;
    *ret_groups_refused = false;
    return open_netlink(ret);
}

ssize_t __wrap_send(int fd, const void *bytes, size_t size, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t size, int flags)
{
    (void)fd, (void)flags;
    for (size_t i = 0; i < size; i++) /* the sanitizer reports bytes outside the request */
        (void)((const volatile char *)bytes)[i];
    return (ssize_t)size;
}

/* The sanitizer reports a read behind the end of the datagram. */
static ssize_t deliver(void *buffer, size_t size, const uint8_t *datagram, size_t length, size_t real_length)
{
    __asan_unpoison_memory_region(buffer, size);
    memset(buffer, 0xaa, size);
    memcpy(buffer, datagram, length < size ? length : size);
    if (length < size)
        __asan_poison_memory_region((char *)buffer + length, size - length);
    return (ssize_t)real_length;
}

static bool is_reply(const uint8_t *datagram, size_t length)
{
    struct nlmsghdr header;

    if (length < sizeof header)
        return false;
    memcpy(&header, datagram, sizeof header);
    return header.nlmsg_pid == REPLIES_PORT;
}

ssize_t __wrap_recvfrom(int fd, void *buffer, size_t size, int flags, struct sockaddr *from, socklen_t *from_length);
ssize_t __wrap_recvfrom(int fd, void *buffer, size_t size, int flags, struct sockaddr *from, socklen_t *from_length)
{
    struct sockaddr_nl sender = { .nl_family = AF_NETLINK };
    const uint8_t *head;
    size_t length;

    (void)fd, (void)flags;
    if (replies_left < 3) {
        errno = EAGAIN;
        return -1;
    }
    head = replies_take(3);
    length = head[1] | (size_t)head[2] << 8;
    if (length > replies_left)
        length = replies_left;
    sender.nl_pid = head[0] % REPLY_KINDS == REPLY_FROM_OTHERS;
    sender.nl_groups = is_reply(replies_next, length) ? 0 : 1;
    memcpy(from, &sender, sizeof sender);
    *from_length = sizeof sender;
    if (head[0] % REPLY_KINDS == REPLY_OVERRUN || head[0] % REPLY_KINDS == REPLY_INTERRUPTED) {
        errno = head[0] % REPLY_KINDS == REPLY_OVERRUN ? ENOBUFS : EINTR;
        return -1;
    }
    return deliver(buffer, size, replies_take(length), length,
                   head[0] % REPLY_KINDS == REPLY_TOO_LONG ? size + 1 : length);
}

void __wrap_explicit_bzero(void *bytes, size_t size);
void __wrap_explicit_bzero(void *bytes, size_t size)
{
    __asan_unpoison_memory_region(bytes, size);
    memset(bytes, 0, size);
}

/* No link exists outside the input. */
int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...)
{
    (void)fd, (void)request;
    errno = ENODEV;
    return -1;
}

#endif
