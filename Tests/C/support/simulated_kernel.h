/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SIMULATED_KERNEL_H
#define TESTS_SIMULATED_KERNEL_H

/*
 * A small kernel under a real monitor: routes of both families, in the tables of some rules; gateways that do not
 * respond and hide IPv6 routes; carriers, nexthop objects, ends of routes. It changes routes silently where Linux does.
 * It can announce a change before it makes it, and late. It applies the monitor's filter. The clock is its own.
 *
 * The functions of kernel/ and route/ that a monitor calls are wrapped at link time: SIMULATED_KERNEL in the Makefile.
 */

#include "kernel/rtnetlink.h"
#include "pure/question.h"
#include "watch/watch.h"

enum {
    SIMULATED_ROUTES = 48,
    SIMULATED_LINKS = 4,
    SIMULATED_GATEWAYS = 3,
    SIMULATED_REDIRECT = 100, /* added to the index of the interface, if a router has redirected the address */
    TABLE_BEFORE = 100,       /* before and after "main", if there are rules */
    TABLE_AFTER = 101
};

extern const uint32_t simulated_links[SIMULATED_LINKS]; /* two have the same number modulo 32; the third is a tunnel */
#define SIMULATED_TUNNEL 3

enum simulated_kind { KIND_ROUTE, KIND_UNREACHABLE, KIND_MULTIPATH, KIND_THROW, KINDS };

struct simulated_route {
    bool exists, expired;
    enum simulated_kind kind;
    uint32_t table, oif, other_oif; /* other_oif: the second leg */
    uint8_t gateway;                /* its number; 0: none */
    uint8_t object;                 /* of its nexthop; 0: none */
    int64_t end;                    /* NEVER: none */
    struct address_prefix prefix;
};

struct simulated_state {
    struct simulated_route routes[SIMULATED_ROUTES];
    bool carrier[SIMULATED_LINKS];
    bool failed[2][SIMULATED_LINKS][SIMULATED_GATEWAYS + 1]; /* IPv4, IPv6 */
    bool redirected[2][256];                                 /* by the last byte of the address */
    bool ignores_linkdown;
};

/* The path that the kernel gives to questions. */
struct simulated_answer {
    uint32_t index, second; /* of the interface; of the tunnel's packets, or of the second question */
    uint32_t group;         /* of the questions, if there is an interface */
    struct address gateway, outer;
};

/* A part of a change that is yet to come: the change itself, or the message. */
struct simulated_rest {
    bool exists, is_late; /* is_late: no barrier waits for it */
    int64_t when;         /* at the latest */
    bool changes, sends;
    struct simulated_state state;
    struct message message;
};

extern struct simulated_kernel {
    struct simulated_state now;
    bool has_rules;
    int64_t clock, processor;         /* nanoseconds */
    int64_t query_takes, query_costs; /* of both */
    int64_t late;                     /* when the kernel last finished a change late */
    struct simulated_rest rest;
    unsigned faults;                                  /* of so many queries and allocations, one fails; 0: none */
    unsigned queries, asked;                          /* asked: since the last path was accepted */
    unsigned version, asked_version;                  /* of the state: now, and that of the last reply */
    void (*interrupt)(void);                          /* during queries: others change the kernel, and the watches */
    void (*delivered)(const struct message *message); /* before the monitor reads it; NULL: messages were lost */
} simulated;

void simulated_begin(void); /* a kernel without routes, all links have a carrier */
void simulated_end(void);

unsigned simulated_draw(unsigned limit);

/* `after` replaces the kernel's state, and a message says so. */
enum simulated_order {
    ORDER_AT_ONCE,
    ORDER_MESSAGE_LATER, /* the barrier waits for it */
    ORDER_CHANGE_LATER,  /* likewise */
    ORDER_CHANGE_LATE    /* a few milliseconds: the barrier does not wait for it */
};
void simulated_change(const struct simulated_state *after, const struct message *message, enum simulated_order order);
void simulated_finish(void);                        /* what is to come comes */
bool simulated_send(const struct message *message); /* returns whether it passes the filter */
void simulated_lose(void);                          /* all messages that the monitor has not read */
bool simulated_has_news(void); /* messages that it has not read, or changes that are not finished */

/* Moves the clock. Routes end. */
void simulated_advance(int64_t nanoseconds);

struct simulated_answer simulated_evaluate(const struct simulated_state *state, const struct questions *questions);

struct address simulated_gateway(uint8_t family, uint8_t number);
size_t simulated_place(uint32_t index); /* of a link in simulated_links */

#endif
