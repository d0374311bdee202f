/* SPDX-License-Identifier: MIT */
#ifndef TESTS_WRITER_H
#define TESTS_WRITER_H

/*
 * Changes the network of the namespace in which it was opened, over rtnetlink. ip(8) takes two milliseconds for a
 * change, this takes microseconds: thousands of changes a second are possible.
 *
 * It shares no code with the library, so that it does not share its mistakes. It needs no test framework, so that
 * benchmarks can use it. One thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct nlmsghdr;

struct writer {
    int fd;
    uint32_t sequence;
    char *batch;   /* NULL: every change is sent at once */
    size_t filled; /* bytes of it */
    int failed;    /* the first errno of a batch */
};

/* Each call below returns 0 or the errno of the kernel. */
int writer_open(struct writer *ret);
void writer_close(struct writer *writer);

/* From now on until writer_flush, changes are collected and sent many at a time. The flush returns the first errno. */
int writer_batch(struct writer *writer);
int writer_flush(struct writer *writer);

/* WRITER_APPEND: beside the routes with the same prefix and metric. Only for routes. */
enum writer_action { WRITER_ADD, WRITER_DELETE, WRITER_REPLACE, WRITER_APPEND };

/* ---- Links. By index, which writer_index finds (0: there is none). */
unsigned writer_index(const char *name);
int writer_link_add_pair(struct writer *writer, const char *name, const char *peer);
int writer_link_add_pair_at(struct writer *writer, unsigned index, const char *name, const char *peer);
int writer_link_delete(struct writer *writer, unsigned index);
int writer_link_up(struct writer *writer, unsigned index, bool up);
int writer_link_rename(struct writer *writer, unsigned index, const char *name);
int writer_link_move(struct writer *writer, unsigned index, pid_t to); /* to the namespace of a process */

/* ---- Addresses: "192.0.2.2/24", "2001:db8::2/64" (without duplicate address detection; _tentative: with it). */
int writer_address(struct writer *writer, enum writer_action action, unsigned index, const char *prefix);
int writer_address_tentative(struct writer *writer, unsigned index, const char *prefix);

/* ---- Neighbours: sets the state (NUD_...) of the entry for an address. */
int writer_neighbour(struct writer *writer, unsigned index, const char *address, uint16_t state);

/* ---- Routes. 0 and NULL: not given. */
#define WRITER_LEGS 300 /* too many for a reply to a query, and for ip(8) */

struct writer_leg {
    unsigned index;
    const char *gateway;
};

struct writer_route {
    const char *prefix; /* "198.51.100.0/24"; "0.0.0.0/0" and "::/0" are defaults */
    unsigned index;
    const char *gateway; /* of the other family: a next hop of that family (IPv4 over IPv6) */
    const char *source;  /* the preferred source address */
    const char *from;    /* IPv6: a prefix; the route is for packets from it only */
    unsigned type;       /* RTN_...; 0: RTN_UNICAST */
    unsigned metric, table, nexthop, expires;
    struct writer_leg legs[2]; /* both given: a multipath route */
    unsigned leg_count;        /* more than 2: the legs alternate. Not in a batch. 0: both */
};
int writer_route(struct writer *writer, enum writer_action action, const struct writer_route *route);

/* ---- Nexthop objects: a gateway over a link or, with members, a group. */
int writer_nexthop(struct writer *writer, enum writer_action action, unsigned id, const struct writer_leg *leg);
int writer_nexthop_group(struct writer *writer, enum writer_action action, unsigned id, const unsigned *members,
                         size_t count);

/* ---- Rules: packets to a prefix ("0.0.0.0/0": all) do what FR_ACT_... says, FR_ACT_TO_TBL with a table. */
struct writer_rule {
    const char *prefix;
    unsigned priority, action, table;
    const char *from, *iif, *oif;   /* a source prefix and interfaces; NULL: any */
    unsigned mark;                  /* 0: any */
    unsigned protocol, remote_port; /* 0: any */
    bool suppress_default;          /* the table's default routes do not count: suppress_prefixlength 0 */
};
int writer_rule(struct writer *writer, enum writer_action action, const struct writer_rule *rule);

#endif
