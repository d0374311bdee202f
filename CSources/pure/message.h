/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_MESSAGE_H
#define REACHABILITY_MESSAGE_H

/* rtnetlink(7) messages: bytes to values, and requests to bytes. */

#include <linux/netlink.h>

#include "pure/linkinfo.h"
#include "pure/route.h"

enum message_kind {
    MESSAGE_OTHER, /* nothing that we know, or bytes that make no sense */
    MESSAGE_LINK,
    MESSAGE_LINK_GONE,
    MESSAGE_ADDRESS, /* new or gone */
    MESSAGE_ROUTE,   /* new or gone, or the answer to a query */
    MESSAGE_RULE,
    MESSAGE_NEXTHOP,
    MESSAGE_NETCONF,
    MESSAGE_ERROR, /* also an acknowledgement: error 0 */
};

/* What an RTM_NEWLINK says. An attribute that is absent is not a change: see `has_...`. */
struct message_link {
    uint32_t        index, flags;
    uint16_t        hardware; /* ARPHRD_... */
    bool            has_name, has_mtu;
    char            name[16];
    uint32_t        mtu;
    uint32_t        lower;  /* the link that carries it; 0: none of this network namespace */
    uint32_t        master; /* the link that it is a port of; 0: none */
    struct linkinfo info;
};

struct message {
    enum message_kind kind;
    uint32_t          sequence, port;
    int               error; /* MESSAGE_ERROR: an errno, 0 for none */
    union {
        struct message_link link;  /* MESSAGE_LINK, MESSAGE_LINK_GONE: the index alone */
        struct route        route; /* MESSAGE_ROUTE */
    };
};

/* Reads the message at the start of `bytes`. Returns how far the next one is, 0 when there is no whole message. What
 * is read keeps pointers into `bytes`. */
size_t message_parse(const void *bytes, size_t length, struct message *ret);

/* What NLMSG_ERROR, or NLMSG_DONE, says: an errno, 0 for none; EBADMSG: it says nothing. */
int message_error(const struct nlmsghdr *header);

#define MESSAGE_REQUEST_SIZE 128 /* bytes that any of the requests fits */

/* Each writes one request to `buffer` (MESSAGE_REQUEST_SIZE bytes, aligned as nlmsghdr) and returns its length. */
size_t message_put_route_query(void *buffer, uint32_t sequence, const struct route_request *request);
size_t message_put_link_query(void *buffer, uint32_t sequence, uint32_t index);
size_t message_put_link_dump(void *buffer);                  /* for netlink_exchange, which numbers it */
size_t message_put_port_dump(void *buffer, uint32_t master); /* the same, of the links with this master */

#endif
