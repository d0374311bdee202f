/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_MONITOR_STATE_H
#define REACHABILITY_MONITOR_STATE_H

/* The internals of a monitor, for monitor.c, news.c, round.c, reply.c and match.c only. The calls are made on the
 * driving thread. */

#include "kernel/netconf.h"
#include "watch/equal_routes.h"
#include "watch/event_filter.h"
#include "watch/hidden_routes.h"
#include "watch/late_routes.h"
#include "watch/plan.h"
#include "watch/route_ends.h"
#include "watch/service.h"
#include "watch/store.h"

/* What messages have changed. */
struct changes {
    bool all, dissolve, dissolve_ipv6;        /* see stale_mark_all and stale_dissolve */
    bool again_dissolve, again_dissolve_ipv6; /* the same again when the kernel has finished the changes */
    bool unfinished;                          /* the kernel may not have finished a change of any link */
    bool prefix;                              /* a router has advertised a prefix */
    bool any;                                 /* there was a message, not only about a prefix */
    bool failed;                              /* messages or links could not be read */
};

/* The current round, or the last one: see round.c. */
struct round {
    bool active;
    int64_t began;
    unsigned slice;  /* steps in the next run, at most */
    size_t left;     /* steps of the round, at most */
    bool failed;     /* an evaluation, or reading messages or links */
    bool reread;     /* the lifetimes are read in this round */
    bool quiet;      /* no change but the time is the cause */
    bool incomplete; /* it was not quiet, and left work: then the next one is not quiet */
};

/* Which watches may share answers. store.c has the reasons. */
enum sharing {
    SHARING_NONE,
    SHARING_PLAIN_IPV4, /* there are other rules than the kernel's own, but those of IPv4 only choose tables */
    SHARING_ALL
};

struct monitor {
    struct service service;
    struct rtnetlink rtnetlink; /* closed if netlink is denied: then shared_socket_evaluate_in_round is used */
    struct event_filter filter;
    struct gateways gateways;
    struct equal_routes equal_routes;
    struct route_ends route_ends;
    struct hidden_routes hidden_routes;
    struct late_routes late_routes;
    struct store store; /* under the loop's lock */
    struct plan plan;
    struct round_cache cache;
    struct round round;
    uint64_t unfinished; /* the answers since then are stale when the kernel has finished; NEVER_SENT: none */
    bool again_dissolve, again_dissolve_ipv6; /* the same */
    bool links_known, rules_known, settings_known;
    bool links_denied;        /* a sandbox refuses to list the links: evaluate as if netlink was denied */
    bool neighbours_withheld; /* one neighbour cannot be read */
    enum sharing shares;
    struct netconf settings; /* known if `settings_known` */
};

#define NEVER_SENT UINT64_MAX

/* Whether a watch of the monitor may share answers now, if it can. */
static inline bool monitor_shares(const struct monitor *monitor, const struct path_watch *watch)
{
    const bool is_plain_ipv4 = watch->questions == NULL && watch->key.address.address.family == AF_INET;

    return (monitor->shares == SHARING_ALL || (monitor->shares == SHARING_PLAIN_IPV4 && is_plain_ipv4)) &&
           plan_relies_on_messages(&monitor->plan);
}

static inline bool monitor_can_query(const struct monitor *monitor)
{
    return monitor->rtnetlink.events.socket.fd >= 0 && !monitor->links_denied;
}

/* Whether the filter passes all messages that affect a watch. Under the loop's lock. */
static inline bool monitor_filter_passes_all(const struct monitor *monitor)
{
    return event_filter_passes_all(&monitor->filter, &monitor->store, &monitor->gateways);
}

/* ---- round.c: a round is the monitor's steps until nothing is stale and all watches have their paths ------------- */

/* Notes what messages have changed, and begins a round unless there is one. `first`: the stamp of the first change. */
void round_note_changes(struct monitor *monitor, const struct changes *changes, uint64_t first);

/* Makes the next slice of the round. After the last slice, ends the round and plans the next run. `more`: messages are
 * left to be read. */
void round_continue(struct monitor *monitor, bool more);

/* Ends the round early. What is stale stays stale. */
void round_end(struct monitor *monitor, bool more);

/* ---- news.c: what one run of a monitor has read ------------------------------------------------------------------ */

struct news {
    struct monitor *monitor;
    struct changes changes;
};

/* Notes a message. `info`: struct news. */
void news_note_message(void *info, const struct message *message);

/* Any route may have come without a message. `unfinished`: the kernel may not have finished that. */
void news_note_any(struct news *news, bool unfinished);

/* ---- match.c: the route that the kernel finds for a watch -------------------------------------------------------- */

/* The route that leads to a watch, if it leads to all addresses of its prefix. */
struct match {
    enum reply_kind kind;
    struct address_prefix prefix;
    uint32_t oif;
    bool has_gateway;
    struct dependencies dependencies; /* its lifetime */
    struct path refused;              /* the path, if the kernel refuses the query */
};

/* The query for it, or for the way that a packet takes. */
struct route_request match_request(const struct question *question, bool fib_match);

/* If a sandbox refuses the query, the watch is alone (REPLY_ALONE, as *ret was): each has another way to be evaluated.
 * Returns 0 or an errno. */
int match_query(struct monitor *monitor, const struct question *question, struct match *ret);

/* Whether the path is that of the route. If it is not, the kernel has an exception for the address alone: a router has
 * redirected its packets. */
bool match_has_path(const struct match *match, const struct path *path);

/* ---- reply.c: the query for one watch, its path, and for whom else that holds ------------------------------------ */

/* What the last answer to all members of an entry was, if only the time has made it stale. link 0: that is not so. */
struct repetition {
    uint32_t link, index;
    struct address gateway, source;
};

/* The query. */
struct inquiry {
    struct path_watch *watch;    /* with a reference to its owner */
    struct questions *questions; /* a reference, or in `memory` */
    bool can_share;              /* with others, of which there are some */
    bool for_others;             /* it is queried for other watches, too */
    bool seeks_link;             /* it cannot share, and only one link may matter */

    struct repetition repetition;
    struct question_memory memory;
};

/* Reads whether gateways respond, if the filter passes the messages about that. Before queries for routes are sent. */
void reply_read_gateways(struct monitor *monitor);

/* Finds the route that leads to the watch. If the watch can have the path of its entry, *ret_joined is set, and nothing
 * else; else *ret is the reply. Returns 0 or an errno. */
int reply_find(struct monitor *monitor, const struct inquiry *inquiry, bool *ret_joined, struct reply *ret);

/* Sets *ret to a query that the evaluation of the watch makes, unless a first look finds source-specific routes. It is
 * the first one, but for a pair that does not share. False: it is not known. */
bool reply_first_request(const struct monitor *monitor, const struct path_watch *watch, struct route_request *ret);

#endif
