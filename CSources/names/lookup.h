/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LOOKUP_H
#define REACHABILITY_LOOKUP_H

/* Names to addresses, by the system's resolver, which may take half a minute: on threads of their own. */

#include "base/counted.h"
#include "base/list.h"
#include "route/netns.h"

#define LOOKUP_NAME_LIMIT 1024 /* bytes of a name, without its NUL */

enum lookup_outcome {
    LOOKUP_FOUND,
    LOOKUP_NO_SUCH_NAME,
    LOOKUP_FAILED /* nobody could say */
};

struct found_address {
    struct address address;
    uint32_t       scope;
};

struct lookup_result {
    enum lookup_outcome   outcome;
    size_t                count;    /* not 0 when found */
    struct found_address *items;    /* in the resolver's order */
    bool                  doubtful; /* it may be of before a change */
};

/* Of one name. While it waits in a queue it is lent by one of those who want to know, so that it costs nobody memory;
 * then a thread has it. */
struct lookup {
    struct list    node; /* in a queue, until it is taken */
    struct lookup *next; /* in its bucket */
    struct netns  *netns;
    const char    *name;
    uint32_t       hash;
    unsigned       queue, slow_queue; /* where it is; where it belongs if it is not quick */
    bool           doubtful;          /* it was taken before a change that its answer may hang on */
    struct list    waiters;
};

/* Somebody who wants to know. */
struct lookup_waiter {
    struct list     node;
    struct counted *owner;
    const char     *name; /* as long as the owner lives */
    bool            waits;
    bool            lends; /* `lookup` is in a queue */
    unsigned        turn;  /* another one after each lookup_cancel */
    struct lookup   lookup;
    /* The result, on a resolver's thread, without a lock. `turn` is that in which it was wanted: if it has passed, the
     * result is late, and to be thrown away. */
    void (*found)(struct lookup_waiter *waiter, unsigned turn, const struct lookup_result *result);
};

/* Looks the inquirer's name up in a namespace, which its owner keeps. One look-up of a name is made at a time, and
 * shared. `again`: those that are made for the first time go before. `trusted`: see resolvconf_hosts_say. Never waits.
 * 0; EINPROGRESS: whatever thread there is to be is only being started by somebody else, and if that fails nobody says
 * so; or another errno: nobody will be told. */
int lookup_start(struct netns *netns, bool again, bool trusted, struct lookup_waiter *waiter);

/* Answers in a namespace may be others from now on: those that are under way are doubtful, to whoever joins them, too. */
void lookup_doubt(const struct netns *netns);

/* Ends the turn. At most a result that is being told already is told. */
void lookup_cancel(struct lookup_waiter *waiter);

#endif
