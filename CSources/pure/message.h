/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_MESSAGE_H
#define REACHABILITY_MESSAGE_H

/* rtnetlink(7) messages: a parser, and builders of requests. */

#include <linux/netlink.h>

#include "pure/route.h"

/* Addresses and route of a tunnel's own packets. */
struct tunnel {
    struct address local, remote; /* remote AF_UNSPEC: there is none, or there are many */
    uint32_t oif, mark;           /* 0: any interface, no mark */
};

/* IFLA_LINKINFO: the kind of a link, and the attributes of a few kinds. All zero if the link has no kind. */
struct linkinfo {
    bool has_kind;
    char kind[16];
    uint32_t active;    /* the port that a bond uses; 0: several, or none */
    uint32_t vrf_table; /* the routing table of a VRF; 0: not a VRF */
    struct tunnel tunnel;
};

enum message_kind {
    MESSAGE_OTHER, /* of an unknown type, or malformed */
    MESSAGE_LINK,
    MESSAGE_LINK_GONE,
    MESSAGE_ADDRESS, /* new or deleted */
    MESSAGE_ROUTE,   /* new or deleted, or the reply to a query */
    MESSAGE_RULE,
    MESSAGE_NEXTHOP,
    MESSAGE_NETCONF,
    MESSAGE_PREFIX,    /* a router has advertised a prefix */
    MESSAGE_NEIGHBOUR, /* new, changed or deleted */
    MESSAGE_ERROR,     /* an acknowledgement has error 0 */
};

/* An RTM_NEWLINK. An absent attribute is not a change: see `has_...`. */
struct message_link {
    uint32_t index, flags;
    uint16_t hardware; /* ARPHRD_... */
    bool has_name, has_mtu;
    char name[16];
    uint32_t mtu;
    uint32_t lower;  /* the link that carries it; 0: there is none in this network namespace */
    uint32_t master; /* the link that it is a port of; 0: there is none */
    struct linkinfo info;
};

struct message_address {
    uint8_t family;
    uint32_t index; /* of the link that has the address */
    bool gone;
    struct address_prefix prefix; /* the address and the length of its network; AF_UNSPEC: not known */
};

/* Settings of a link, or of all links, for one family. */
struct message_netconf {
    uint32_t index;         /* 0: of all links, or of new ones */
    bool ignore_linkdown;   /* the kernel ignores routes over links without a carrier */
    bool switches_linkdown; /* that was switched on or off: no other setting is in the message */
};

struct message_neighbour {
    uint32_t index;
    struct address address;
    uint16_t state; /* NUD_...; 0 (NUD_NONE) also if the kernel has deleted the entry */
};

struct message {
    enum message_kind kind;
    uint32_t sequence;
    int error; /* MESSAGE_ERROR: an errno or 0 */
    union {
        struct message_link link; /* MESSAGE_LINK, MESSAGE_LINK_GONE: the index alone */
        struct route route;       /* MESSAGE_ROUTE */

        struct message_address address;     /* MESSAGE_ADDRESS */
        struct message_netconf netconf;     /* MESSAGE_NETCONF */
        struct message_neighbour neighbour; /* MESSAGE_NEIGHBOUR; MESSAGE_NEXTHOP: index 0: it has no gateway */
    };
};

/* Returns the distance from the message at the start of `bytes` to the next one; 0: there is no whole message. */
size_t reach_message_step(const void *bytes, size_t length);

/* Parses the message at the start of `bytes`. Returns the distance to the next message; 0: there is no whole message.
 * *ret keeps pointers into `bytes`. */
size_t reach_message_parse(const void *bytes, size_t length, struct message *ret);

/* Parses IFLA_LINKINFO. */
void reach_message_parse_linkinfo(const struct attribute *nest, struct linkinfo *ret);

/* The errno in an NLMSG_ERROR or NLMSG_DONE, or 0. EBADMSG: the message is too short. */
int reach_message_error(const struct nlmsghdr *header);

#define MESSAGE_REQUEST_SIZE 128 /* bytes; every request fits */

#define MESSAGE_NO_USER UINT32_MAX

/* Each writes one request to `buffer` (MESSAGE_REQUEST_SIZE bytes, aligned as nlmsghdr) and returns its length. `user`:
 * for whose packets; MESSAGE_NO_USER: those of the thread's real user. */
size_t reach_message_put_route_query(void *buffer, uint32_t sequence, uint32_t user,
                                     const struct route_request *request);
size_t reach_message_put_link_query(void *buffer, uint32_t sequence, uint32_t index);
size_t reach_message_put_barrier(void *buffer, uint32_t sequence);

/* The same, for dumps of links: of those with this master (0: of all), of those of this kind (an old kernel ignores
 * that). reach_netlink_exchange sets the sequence number. */
size_t reach_message_put_link_dump(void *buffer, uint32_t master);
size_t reach_message_put_kind_dump(void *buffer, const char *kind);

/* The same, for one neighbour. Kernels before 5.0 do not know the request. */
size_t reach_message_put_neighbour_query(void *buffer, uint32_t index, const struct address *address);

/* The same, for a dump of neighbours, settings of links, or rules (RTM_GET...) of a family. That of the routes of one
 * table needs a socket that checks requests strictly; without that the kernel sends the routes of all tables. */
size_t reach_message_put_dump(void *buffer, uint16_t type, uint8_t family);
size_t reach_message_put_table_dump(void *buffer, uint8_t family, uint32_t table);

#endif
