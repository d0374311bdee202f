/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_MONITOR_STATE_H
#define REACHABILITY_MONITOR_STATE_H

/* The internals of a monitor, for monitor.c, round.c, step.c, answer_update.c and share_mode.c only. */

#include "kernel/netconf.h"
#include "loop/runloop.h"
#include "route/event_filter.h"
#include "route/netns.h"
#include "route/plan.h"
#include "route/stale.h"
#include "route/watch_set.h"

/* The current round, or the last one: see round.h. */
struct round {
    bool       active;
    int64_t    began;
    unsigned   slice;      /* steps in the next run, at most */
    bool       failed;     /* an evaluation, or reading messages or links */
    enum stale unfinished; /* see struct changes */
    bool       reread;     /* the lifetimes are read in this round */

    /* What messages during this round mean for the next. */
    enum stale next_stale, next_unfinished;
    bool       next_is_due; /* it begins at once */
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
    enum stale          recheck; /* what is evaluated again at the time in `plan` */
    bool                links_known, rules_known, settings_known;
    bool                links_denied; /* a sandbox refuses to list the links: evaluate as if netlink was denied */
    bool                shares;       /* watches may share answers: the rules are standard, and all messages come */
    struct netconf      settings;     /* known if `settings_known` */
};

/* Whether watches of the monitor may share answers now. */
static inline bool monitor_shares(const struct monitor *monitor)
{
    return monitor->shares && plan_relies_on_messages(&monitor->plan);
}

static inline bool monitor_can_query(const struct monitor *monitor)
{
    return monitor->rtnetlink.events.socket.fd >= 0 && !monitor->links_denied;
}

/* Whether the filter passes all messages that affect a watch. Under the loop's lock. */
static inline bool monitor_filter_passes_all(const struct monitor *monitor)
{
    return event_filter_passes_all(&monitor->filter, &monitor->watches, &monitor->gateways);
}

#endif
