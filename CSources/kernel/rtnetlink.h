/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_RTNETLINK_H
#define REACHABILITY_RTNETLINK_H

/*
 * A view of one network namespace: an event socket, a request socket, and the link table that the events keep in step.
 * Not locked: one thread at a time.
 *
 * Those who only ask have one socket for both: what the kernel has told of links lies in front of the answer, and is
 * taken in on the way to it. That spares them a system call a question.
 */

#include <stdatomic.h>

#include "kernel/netlink.h"
#include "pure/link_table.h"
#include "pure/message.h"

struct rtnetlink {
    struct netlink    events, requests;
    struct link_table links;
    bool              barrier; /* see rtnetlink_set_barrier */
    bool              deaf;    /* a sandbox keeps some of what is told from it */
    void             *buffer;
    atomic_ulong      overruns, queries; /* for people */
};

/* What is listened to. */
enum rtnetlink_scope {
    RTNETLINK_LINKS, /* links alone, on the way to an answer: for those who only ask. Nothing to drain */
    RTNETLINK_ALL    /* whatever can change an answer */
};

/* In the network namespace of the calling thread. 0 or an errno; NETLINK_DENIED. */
int  rtnetlink_open(struct rtnetlink *ret, enum rtnetlink_scope scope);
void rtnetlink_close(struct rtnetlink *rtnetlink);

enum rtnetlink_news {
    RTNETLINK_NOTHING = 0,
    RTNETLINK_MORE = 1, /* the limit of one pass was reached: there may be more */
    RTNETLINK_LOST = 2  /* messages were lost: the link table and every answer are in doubt */
};

/* Takes in what the kernel has told, without waiting: links go to the table, and every message that can matter is
 * passed on, until some are lost. Returns rtnetlink_news bits. A socket that cannot be read counts as a loss, and ret_error
 * is set to the errno. */
unsigned rtnetlink_drain(struct rtnetlink *rtnetlink, void (*tell)(void *info, const struct message *message),
                         void *info, int *ret_error);

/* Reads all links anew. Waits for the RTNL lock: only where events are handled. 0 or an errno. */
int rtnetlink_read_links(struct rtnetlink *rtnetlink);

/* Finds a link, and reads it from the kernel if it is not known, as far as that does not wait for RTNL. *ret NULL: there
 * is none. It is valid until the next call. Returns 0 or an errno. */
int rtnetlink_link(struct rtnetlink *rtnetlink, uint32_t index, const struct link **ret);

/* For those who only ask: takes in what was told of links. */
void rtnetlink_update_links(struct rtnetlink *rtnetlink);

/* For those who only ask, before they do: forgets the links if it is deaf to their changes. */
void rtnetlink_forget_unheard_links(struct rtnetlink *rtnetlink);

/* The index of the link that has this name now; 0: there is none. Returns 0 or an errno. */
int rtnetlink_link_index(struct rtnetlink *rtnetlink, const char *name, uint32_t *ret);

/* The next rtnetlink_query waits in the kernel until the RTNL lock is free, that is until the change of which a message told
 * is finished. */
void rtnetlink_set_barrier(struct rtnetlink *rtnetlink);

/* Asks for a route. 0 and the answer, which lives until the next call on the view; or an errno, which is the kernel's
 * answer or a failure to ask (path_from_error tells them apart). */
int rtnetlink_query(struct rtnetlink *rtnetlink, const struct route_request *request, struct route *ret);

/* Asks for several routes at once, when it is enough to know what each was answered with: 0, or an errno as above.
 * 0, or an errno: not all could be asked. */
#define RTNETLINK_QUERY_LIMIT 3
int rtnetlink_query_each(struct rtnetlink *rtnetlink, const struct route_request *requests, size_t count,
                         int *ret_errors);

#endif
