/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_RTNETLINK_H
#define REACHABILITY_RTNETLINK_H

/*
 * One network namespace, by rtnetlink(7): a socket for events, a socket for requests, and a link table that the events
 * keep current. It has no lock: use it from one thread at a time.
 *
 * With RTNETLINK_LINKS one socket does both. Link messages arrive on it before the reply to a query, and are applied
 * while the reply is read. This saves a system call per query.
 */

#include <stdatomic.h>

#include "base/clock.h"
#include "kernel/netlink.h"
#include "kernel/query_batch.h"
#include "pure/link.h"
#include "pure/message.h"

/* Whether there are source-specific IPv6 routes: see dumps.h. */
enum source_routes {
    SOURCE_ROUTES_UNKNOWN,
    SOURCE_ROUTES_NONE,
    SOURCE_ROUTES_UNREAD, /* the table is too large, or a sandbox refuses to read it */
    SOURCE_ROUTES_SOME    /* there is one, or was one, or a rule can make routes so */
};

/* The policy rules: see dumps.h. */
struct rule_knowledge {
    bool known;
    unsigned selectors[2]; /* enum rule_selectors bits, for IPv4 and IPv6 */
    unsigned version;      /* grows with each message about a rule, and when messages were lost */
    struct rule_reading {
        bool read, is_standard, chooses_tables;
        int error; /* a sandbox hides the rules */
    } readings[2]; /* the same families */
};

struct rtnetlink {
    struct netlink events, requests;
    struct link_table links;
    bool barrier;        /* see reach_rtnetlink_set_barrier */
    bool groups_refused; /* a sandbox refuses some groups, so not every change sends us a message */
    bool refused;        /* that, or what is known lacks something: see reach_rtnetlink_should_reopen */
    enum source_routes source_routes;

    struct rule_knowledge rules;

    uid_t user; /* see rtnetlink_set_user */

    struct descriptor udp; /* kept between questions: see udp_route.h */
    uid_t udp_user;        /* who opened it */

    const struct netns_handle *netns; /* of the sockets */

    /* Replies to queries where netlink is denied; `requests` is then a UDP socket for ioctls. NULL: the kernel does. */
    int (*query_udp)(struct rtnetlink *rtnetlink, const struct route_request *request, struct route *ret);

    void *buffer;
    struct query_batch *batch;      /* NULL: there was none so far */
    atomic_ulong overruns, queries; /* counters for SCNetworkReachabilityGetDescription */
};

#define RTNETLINK_CLOSED \
    ((struct rtnetlink){ .events = NETLINK_CLOSED, \
                         .requests = NETLINK_CLOSED, \
                         .user = PROCESS_USER_UNKNOWN, \
                         .udp = DESCRIPTOR_CLOSED })

/* Which messages are received. */
enum rtnetlink_scope {
    /* Links and rules, on the socket for requests: for callers that do not watch. There is nothing to drain. */
    RTNETLINK_LINKS,
    RTNETLINK_ALL /* all that can affect a path */
};

/* Opens the sockets in a network namespace (NULL: that of the calling thread), for no user: see rtnetlink_set_user.
 * Returns 0, NETLINK_DENIED or an errno. */
int reach_rtnetlink_open(struct rtnetlink *ret, enum rtnetlink_scope scope, const struct netns_handle *netns);
void reach_rtnetlink_close(struct rtnetlink *rtnetlink);

/* Whether something was refused, and other sockets would receive all messages: then close and open it. Tries that with
 * growing pauses. A sandbox that was entered later can refuse other sockets, so those that are open stay meanwhile. */
bool reach_rtnetlink_should_reopen(const struct rtnetlink *rtnetlink, enum rtnetlink_scope scope, struct retry *retry);

static inline bool rtnetlink_is_udp(const struct rtnetlink *rtnetlink)
{
    return rtnetlink->query_udp != NULL;
}

/* Queries are for the packets of this user (process_user) from now on: policy rules can select by user. Call it before
 * the queries of an evaluation or a round. Returns whether it is another user than before, so that all paths are
 * stale. */
static inline bool rtnetlink_set_user(struct rtnetlink *rtnetlink, uid_t user)
{
    const bool is_another = rtnetlink->user != user;

    rtnetlink->user = user;
    return is_another;
}

/* netlink_is_withheld for a request whose refusal is remembered. */
static inline bool rtnetlink_is_refused(struct rtnetlink *rtnetlink, int error)
{
    rtnetlink->refused = rtnetlink->refused || netlink_is_withheld(error);
    return netlink_is_withheld(error);
}

/* What reach_rtnetlink_drain returns: bits. */
enum rtnetlink_drain_result {
    RTNETLINK_NOTHING = 0,
    RTNETLINK_MORE = 1, /* the limit of one call was reached: more messages may be waiting */
    RTNETLINK_LOST = 2, /* messages were lost: the link table and all paths are stale */
    RTNETLINK_FULL = 4  /* after a loss, the queue has no end: open another socket */
};

/* Reads the waiting messages, without waiting for more: applies link messages to the table, and passes each message
 * that can affect a path to `handle`. After a loss it discards the rest. A socket that cannot be read counts as a loss;
 * *ret_error is then the errno. */
unsigned reach_rtnetlink_drain(struct rtnetlink *rtnetlink, void (*handle)(void *info, const struct message *message),
                               void *info, int *ret_error);

/* Replaces the link table by a dump. Waits for RTNL, so only event handling calls it. Returns 0 or an errno. */
int reach_rtnetlink_read_links(struct rtnetlink *rtnetlink);

/* Finds a link, and reads what is missing from the kernel if that needs no wait for RTNL. Returns 0 or an errno. *ret
 * is valid until the next call; NULL: there is no such link. */
int reach_rtnetlink_link(struct rtnetlink *rtnetlink, uint32_t index, const struct link **ret);

/* With RTNETLINK_LINKS: applies the messages that are waiting. */
void reach_rtnetlink_update_links(struct rtnetlink *rtnetlink);

/* With RTNETLINK_LINKS, before queries: if `groups_refused`, clears the link table and what is known about rules,
 * because they may be stale. */
void reach_rtnetlink_clear_unwatched(struct rtnetlink *rtnetlink);

/* What is known about rules is stale. */
void reach_rtnetlink_forget_rules(struct rtnetlink *rtnetlink);

/* Reads the index of the link that has this name now; 0: there is no such link. Returns 0 or an errno. */
int reach_rtnetlink_link_index(struct rtnetlink *rtnetlink, const char *name, uint32_t *ret);

/* Makes the next reach_rtnetlink_query wait in the kernel until the RTNL lock is free: then the change that sent a
 * message is complete. */
void reach_rtnetlink_set_barrier(struct rtnetlink *rtnetlink);

/* Queries a route. Returns 0 and the route, valid until the next call on the same structure, or an errno: the kernel's
 * reply, or a failure to query (reach_path_from_error distinguishes them). For a route with too many legs for one
 * reply, RTM_F_FIB_MATCH returns the way that a packet takes, and sets `hides_legs`. */
int reach_rtnetlink_query(struct rtnetlink *rtnetlink, const struct route_request *request, struct route *ret);

/* Sends queries ahead: the calls of reach_rtnetlink_query with these requests need no system call then, until
 * reach_rtnetlink_end_batch. If there is no memory, or a reply was lost, reach_rtnetlink_query sends its own query. */
void reach_rtnetlink_begin_batch(struct rtnetlink *rtnetlink, const struct route_request *requests, size_t count);
void reach_rtnetlink_end_batch(struct rtnetlink *rtnetlink);

#endif
