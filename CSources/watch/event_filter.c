/* SPDX-License-Identifier: MIT */
/*
 * When a monitor's filter is attached and detached.
 *
 * What this file must never do: leave a filter attached that was built before a watch depended on its addresses.
 */
#include "watch/event_filter.h"

#include <errno.h>
#include <linux/rtnetlink.h>

#include "base/clock.h"

/* The kernel needs up to 0.2 ms to compile a filter. So the next one is attached after a pause. If it only drops more
 * messages than the attached one, it can wait longer. */
#define ATTACH_PAUSE  (10 * MILLISECOND)
#define REPLACE_PAUSE (250 * MILLISECOND)

bool event_filter_passes_all(const struct event_filter *filter, const struct store *store,
                             const struct gateways *gateways)
{
    return (!filter->attached || filter->additions == store->additions) &&
           (filter->refused || filter->gateways == gateways->version);
}

/* Whether the last filter was attached long enough ago. */
static bool pause_is_over(const struct event_filter *filter)
{
    const int64_t passed = clock_now() - filter->attached_at;

    return passed < 0 || passed >= (filter->attached ? REPLACE_PAUSE : ATTACH_PAUSE);
}

bool event_filter_prepare(struct event_filter *filter, const struct store *store, const struct gateways *gateways,
                          struct route_filter *ret)
{
    struct address_prefix prefixes[ADDRESS_TREE_PREFIXES];
    size_t                count;

    if (!filter->wanted || filter->refused || !pause_is_over(filter) ||
        (filter->attached && filter->changes == store->changes && filter->edits == gateways->edits))
        return false;
    filter->wanted = false;
    count = address_tree_cover(&store->addresses, &store->members, prefixes);
    filter->changes = store->changes;
    filter->additions = store->additions;
    filter->gateways = gateways->version;
    filter->edits = gateways->edits;
    route_filter_build(ret, gateways->items, gateways->count, prefixes, count, !list_is_empty(&store->any_route));
    return true;
}

/* Lets all messages pass. Returns an errno if that fails and the filter drops messages that affect a watch. */
static int remove_filter(struct event_filter *filter, const struct netlink *events)
{
    const bool drops = filter->attached;
    const int  error = netlink_detach_filter(events);

    filter->attached = false;
    return drops ? error : 0;
}

/* Messages about neighbours are many, and few matter, so the socket joins their group with the first gateway. They come
 * in any case: without a filter, if that cannot be attached. A sandbox may refuse the group. */
static void join_neighbours(struct event_filter *filter, const struct netlink *events)
{
    if (filter->gateways > 0 && !filter->joined)
        (void)netlink_join(events, RTNLGRP_NEIGH);
    filter->joined = filter->gateways > 0;
}

int event_filter_attach(struct event_filter *filter, const struct netlink *events, const struct route_filter *program)
{
    int error = netlink_attach_filter(events, program->code, program->length);

    filter->attached_at = clock_now();
    filter->refused = error != 0 && error != ENOMEM;
    if (error != 0) /* the previous one is still there */
        error = remove_filter(filter, events);
    else
        filter->attached = true;
    join_neighbours(filter, events);
    return error;
}

int event_filter_detach(struct event_filter *filter, const struct netlink *events, const struct gateways *gateways)
{
    struct route_filter program;
    int                 error = 0;

    route_filter_build_open(&program, gateways->items, gateways->count);
    filter->gateways = gateways->version;
    filter->edits = gateways->edits;
    if (gateways->version == 0 || netlink_attach_filter(events, program.code, program.length) != 0)
        error = remove_filter(filter, events);
    else
        filter->attached = false;
    join_neighbours(filter, events);
    return error;
}
