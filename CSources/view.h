/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_VIEW_H
#define REACHABILITY_VIEW_H

/*
 * A view of one network namespace: an event socket, a request socket, and the link table that the events keep in step.
 * Not locked: one thread at a time.
 *
 * Those who only ask have one socket for both: what the kernel has told of links lies in front of the answer, and is
 * taken in on the way to it. That spares them a system call a question.
 */

#include "links.h"
#include "message.h"
#include "netlink.h"
#include "util.h"

struct view {
    struct netlink events, requests;
    struct links   links;
    bool           behind_rtnl; /* see view_ask_behind_rtnl */
    bool           deaf;        /* a sandbox keeps some of what is told from it */
    int            link_error;  /* why a link could not be asked for, since the caller set this to 0 */
    void          *buffer;
    atomic_ulong   overruns, queries; /* for people */
};

/* What is listened to. */
enum view_scope {
    VIEW_LINKS,     /* links alone, on the way to an answer: for those who only ask. Nothing to drain */
    VIEW_EVERYTHING /* whatever can change an answer */
};

/* In the network namespace of the calling thread. 0 or an errno; NETLINK_DENIED. */
int  view_open(struct view *ret, enum view_scope scope);
void view_close(struct view *view);

enum view_news {
    VIEW_NOTHING = 0,
    VIEW_MORE = 1, /* the limit of one pass was reached: there may be more */
    VIEW_LOST = 2  /* messages were lost: the link table and every answer are in doubt */
};

/* Takes in what the kernel has told, without waiting: links go to the table, and every message that can matter is
 * passed on, until some are lost. Returns view_news bits. A socket that cannot be read counts as a loss, and ret_error
 * is set to the errno. */
unsigned view_drain(struct view *view, void (*tell)(void *info, const struct message *message), void *info,
                    int *ret_error);

/* Reads all links anew. Waits for the RTNL lock: only where events are handled. 0 or an errno. */
int view_read_links(struct view *view);

/* The link with an index, asked for if it is not known, as far as that does not wait for RTNL. NULL: there is none, or
 * see link_error. Valid until the next call on the view. */
const struct link *view_link(struct view *view, uint32_t index);

/* For those who only ask: takes in what was told of links. */
void view_hear(struct view *view);

/* For those who only ask, before they do: forgets the links if it is deaf to their changes. */
void view_doubt_links(struct view *view);

/* The index of the link that has this name now, 0: there is none, or see link_error. */
uint32_t view_index_of(struct view *view, const char *name);

/* The next view_ask waits in the kernel until the RTNL lock is free, that is until the change of which a message told
 * is finished. */
void view_ask_behind_rtnl(struct view *view);

/* Asks for a route. 0 and the answer, which lives until the next call on the view; or an errno, which is the kernel's
 * answer or a failure to ask (path_from_error tells them apart). */
int view_ask(struct view *view, const struct route_request *request, struct route *ret);

/* Asks for several routes at once, when it is enough to know what each was answered with: 0, or an errno as above.
 * 0, or an errno: not all could be asked. */
#define VIEW_ASK_LIMIT 3
int view_ask_each(struct view *view, const struct route_request *requests, size_t count, int *ret_errors);

#endif
