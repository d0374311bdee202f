/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LOOKUP_H
#define REACHABILITY_LOOKUP_H

/* Looks up host names with the system's resolver. That can take half a minute, so threads of the library do it. */

#include "base/counted.h"
#include "base/list.h"
#include "names/lookup_queue.h"
#include "names/resolver.h"
#include "route/netns.h"

#define LOOKUP_NAME_LIMIT 1024 /* bytes of a name, without its NUL */

struct lookup;

/* Waits for the result of look-ups of one name. The caller sets `owner` and `completed` before the first
 * reach_lookup_start, for good. While the waiter waits, the caller holds a reference to the owner: it calls
 * reach_lookup_cancel before it drops the last one. */
struct lookup_waiter {
    struct list node;
    struct counted *owner; /* retained during `completed` */
    /* Delivers the result on a resolver thread, without a lock. `turn` is the turn in which the waiter began to wait.
     * If the waiter has another turn by now, the result is late and must be dropped. */
    void (*completed)(struct lookup_waiter *waiter, unsigned turn, const struct lookup_result *result);
    struct lookup *lookup; /* NULL: does not wait */
    unsigned turn;         /* reach_lookup_cancel increments it */
};

/* Queues a look-up of the name's addresses of one family, or of both (AF_UNSPEC), in the namespace, or joins the one
 * that is queued or under way. The waiter always waits for the same name. If it waits already, and the look-up was not
 * overtaken, this only makes sure that there is a thread. Never waits for the resolver. Returns 0, or an errno if it is
 * not certain that `completed` will be called: there is no memory, or no thread, or (EINPROGRESS) none yet. Then the
 * caller tries again after a while. */
int reach_lookup_start(struct netns *netns, const char *name, int family, enum lookup_kind kind,
                       struct lookup_waiter *waiter);

/* Name servers may return other addresses in the namespace from now on. The results of look-ups under way: */
enum lookup_age {
    LOOKUP_IN_PAUSE,  /* the change counts at the end of the pause. The look-ups are repeated then */
    LOOKUP_OUTDATED,  /* they are repeated when they have ended */
    LOOKUP_OVERTAKEN, /* or at once: nobody joins those under way any more */
};
void reach_lookup_mark_outdated(const struct netns *netns, enum lookup_age age);

/* Ends the waiter's turn, if it waits. Afterwards `completed` can only be called if that call has begun already. */
void reach_lookup_cancel(struct lookup_waiter *waiter);

#endif
