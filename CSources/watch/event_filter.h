/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_EVENT_FILTER_H
#define REACHABILITY_EVENT_FILTER_H

/*
 * The filter on a monitor's socket for events: route messages that affect no watch do not wake the thread.
 *
 * It is attached after such a message has come, unless another filter was attached a short time ago. When a watch
 * depends on more addresses, the filter is detached before the watch is evaluated. So a watch never misses a message.
 * Only the thread that drives the loop uses it.
 */

#include "kernel/rtnetlink.h"
#include "pure/route_filter.h"
#include "watch/gateways.h"
#include "watch/store.h"

struct event_filter {
    bool wanted; /* a message has come that affects no watch */
    bool attached;
    bool refused;                         /* by a sandbox */
    bool joined;                          /* the group of neighbours: there is or was one that matters */
    unsigned long store_edits, additions; /* the counts of the store when the filter was built */
    unsigned long gateways, hops;         /* the versions of the gateways and of the next hops then */
    unsigned long edits;                  /* the edits of both */
    int64_t attached_at;                  /* the last one, by clock_now() */
};

/* Whether the filter passes every message that affects a watch. False: detach it before the next evaluation. The store
 * is under the loop's lock, here and below. */
bool event_filter_passes_all(const struct event_filter *filter, const struct store *store,
                             const struct gateways *gateways);

/* Builds the program of the filter, if another one is of use. True: attach it. */
bool event_filter_prepare(struct event_filter *filter, const struct store *store, const struct gateways *gateways,
                          struct route_filter *ret);

/* Return 0, or an errno: messages that affect a watch may not come, as a filter drops them or a group is refused. */
int event_filter_attach(struct event_filter *filter, const struct netlink *events, const struct route_filter *program);

/* From now on, all route messages pass. Those about neighbours pass if they are about gateways or next hops. */
int event_filter_detach(struct event_filter *filter, const struct netlink *events, const struct store *store,
                        const struct gateways *gateways);

#endif
