/* SPDX-License-Identifier: MIT */
#ifndef BENCHMARKS_BARE_H
#define BENCHMARKS_BARE_H

/* The least that a program without a library does over rtnetlink: the references of the benchmarks. */

#include <linux/rtnetlink.h>
#include <stddef.h>

struct bare_query {
    struct nlmsghdr header;
    struct rtmsg route;
    struct rtattr attribute;
    unsigned char destination[16];
};

int bare_open(void);

/* Opens a socket for messages about IPv4 routes. */
int bare_listen(void);

/* Waits for a message, and reads the socket to its end. */
void bare_receive(int fd);

struct bare_query bare_make_query(int family, const char *destination, unsigned flags);

/* Sends the query and receives the reply, of which only the type is read. */
void bare_query(int fd, struct bare_query *query);

/* The same with many IPv4 queries a send, for addresses that begin at a number in host order. */
#define BARE_BATCH 128
void bare_query_batch(int fd, unsigned address, size_t count);

#endif
