/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_MONITOR_H
#define REACHABILITY_MONITOR_H

/* The live view of one network namespace on one run loop, and who is interested in it. */

#include "base/counted.h"
#include "base/list.h"
#include "loop/runloop.h"
#include "route/netns.h"

struct monitor;

/* One interest. All but the lists, the questions and the deadline is the owner's, and constant while it is watched. */
struct watch {
    struct list       node, dirty;
    struct counted   *owner;
    struct questions *questions; /* a reference; monitor_set_questions changes it */
    unsigned          extras;    /* query_extras */
    /* Counts the answers that the owner took, on whichever loop. */
    atomic_ulong *answers;
    /* The answer, on the driving thread, without a lock. Comes after every change that may matter, changed or not.
     * False: another answer was taken since there were `answers`, before the question was put. It may be the newer
     * one, so the question has to be put again. */
    bool (*answered)(struct watch *watch, const struct path *path, unsigned long answers);
    struct monitor     *monitor; /* NULL: not watched */
    int64_t             expires;
    bool                asked;      /* since it is watched */
    struct dependencies depends_on; /* of the last answer */
};

/* From now on until monitor_unwatch, from any thread. It is answered once in the next pass of the loop. 0 or an
 * errno. */
int monitor_watch(SCRunLoopRef loop, struct netns *netns, struct watch *watch);

/* Puts other questions from now on, from any thread; takes a reference. */
void monitor_set_questions(SCRunLoopRef loop, struct watch *watch, struct questions *questions);

/* From any thread. At most the answer that is under way still comes. */
void monitor_unwatch(SCRunLoopRef loop, struct watch *watch);

/* What the monitor has done so far, for people. */
struct monitor_counters {
    unsigned long overruns, queries;
};
struct monitor_counters monitor_count(SCRunLoopRef loop, const struct watch *watch);

#endif
