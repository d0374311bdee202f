/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_MONITOR_STATE_H
#define REACHABILITY_MONITOR_STATE_H

/* The internals of a monitor, for monitor.c, round.c and step.c only. */

#include "loop/runloop.h"
#include "route/event_filter.h"
#include "route/netns.h"
#include "route/plan.h"
#include "route/watch_set.h"

/* The current round, or the last one: see round.h. */
struct round {
    bool     active;
    int64_t  began;
    unsigned slice;      /* steps in the next run, at most */
    bool     failed;     /* an evaluation, or reading messages or links */
    bool     unfinished; /* the kernel may not have finished a change */
    bool     reread;     /* the lifetimes are read in this round */

    /* What messages during this round mean for the next. */
    bool next_all;        /* all answers are stale then */
    bool next_unfinished; /* see `unfinished` */
    bool next_is_due;     /* it begins at once */
};

struct monitor {
    struct source       source; /* under the loop's lock, as far as runloop.h says */
    SCRunLoopRef        loop;
    struct netns       *netns;
    struct rtnetlink    rtnetlink; /* closed if netlink is denied: then netns_evaluate_in_round is used */
    struct event_filter filter;
    struct gateways     gateways;
    struct watch_set    watches; /* under the loop's lock */
    struct plan         plan;
    struct round_cache  cache;
    struct round        round;
    bool                links_known, rules_known;
    bool                links_denied; /* a sandbox refuses to list the links: evaluate as if netlink was denied */
    bool                shares;       /* watches may share answers: the rules are standard, and all messages come */
};

#endif
