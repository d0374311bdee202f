/* SPDX-License-Identifier: MIT */
/*
 * When a monitor's filter is attached and detached.
 *
 * What this file must never do: leave a filter attached that was built before a watch depended on its addresses.
 */
#ifdef __linux__
#include "watch/event_filter.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "base/clock.h"

/* The kernel needs up to 0.2 ms to compile a filter. So the next one is attached after a pause. If it only drops more
 * messages than the attached one, it can wait longer. */
#define ATTACH_PAUSE  (10 * MILLISECOND)
#define REPLACE_PAUSE (250 * MILLISECOND)

bool event_filter_passes_all(const struct event_filter *filter, const struct store *store,
                             const struct gateways *gateways)
{
    return (!filter->attached || filter->additions == store->additions) &&
           ((filter->refused && filter->joined) ||
            (filter->gateways == gateways->version && filter->hops == store->hops.version));
}

/* Whether the last filter was attached long enough ago. */
static bool pause_is_over(const struct event_filter *filter)
{
    const int64_t passed = clock_now() - filter->attached_at;

    return passed < 0 || passed >= (filter->attached ? REPLACE_PAUSE : ATTACH_PAUSE);
}

/* Notes what the next filter passes of messages about neighbours. Returns the number of items: see hops_list. */
static size_t list_neighbours(struct event_filter *filter, const struct store *store, const struct gateways *gateways,
                              struct route_filter_gateway items[ROUTE_FILTER_GATEWAYS])
{
    memcpy(items, gateways->items, gateways->count * sizeof *items);
    filter->gateways = gateways->version;
    filter->hops = store->hops.version;
    filter->edits = gateways->edits + store->hops.edits;
    return hops_list(&store->hops, items, gateways->count);
}

bool event_filter_prepare(struct event_filter *filter, const struct store *store, const struct gateways *gateways,
                          struct route_filter *ret)
{
    struct address_prefix prefixes[ADDRESS_TREE_PREFIXES];
    struct route_filter_gateway neighbours[ROUTE_FILTER_GATEWAYS];
    size_t count, neighbour_count;

    if (!filter->wanted || filter->refused || !pause_is_over(filter) ||
        (filter->attached && filter->store_edits == store->edits &&
         filter->edits == gateways->edits + store->hops.edits))
        return false;
    filter->wanted = false;
    count = address_tree_cover(&store->addresses, &store->members, prefixes);
    filter->store_edits = store->edits;
    filter->additions = store->additions;
    neighbour_count = list_neighbours(filter, store, gateways, neighbours);
    route_filter_build(ret, neighbours, neighbour_count, prefixes, count, !list_is_empty(&store->any_route));
    return true;
}

/* Lets all messages pass. Returns an errno if that fails and the filter drops messages that affect a watch. */
static int remove_filter(struct event_filter *filter, const struct netlink *events)
{
    const bool drops = filter->attached;
    const int error = netlink_detach_filter(events);

    filter->attached = false;
    return drops ? error : 0;
}

/* Whether there is or was a gateway or a next hop that matters. */
static bool needs_neighbours(const struct event_filter *filter)
{
    return filter->gateways > 0 || filter->hops > 0;
}

/* Messages about neighbours are many, and few matter, so the socket joins their group with the first that does. Returns
 * 0, or an errno: a sandbox refuses the group. */
static int join_neighbours(struct event_filter *filter, const struct netlink *events)
{
    int error = 0;

    if (needs_neighbours(filter) && !filter->joined)
        error = netlink_join(events, RTNLGRP_NEIGH);
    filter->joined = needs_neighbours(filter) && error == 0;
    return error;
}

int event_filter_attach(struct event_filter *filter, const struct netlink *events, const struct route_filter *program)
{
    int error = netlink_attach_filter(events, program->code, program->length), join_error;

    filter->attached_at = clock_now();
    filter->refused = error != 0 && error != ENOMEM;
    if (error != 0) /* the previous one is still there */
        error = remove_filter(filter, events);
    else
        filter->attached = true;
    join_error = join_neighbours(filter, events);
    return error != 0 ? error : join_error;
}

int event_filter_detach(struct event_filter *filter, const struct netlink *events, const struct store *store,
                        const struct gateways *gateways)
{
    struct route_filter_gateway neighbours[ROUTE_FILTER_GATEWAYS];
    struct route_filter program;
    int error = 0, join_error;

    route_filter_build_open(&program, neighbours, list_neighbours(filter, store, gateways, neighbours));
    if (!needs_neighbours(filter) || netlink_attach_filter(events, program.code, program.length) != 0)
        error = remove_filter(filter, events);
    else
        filter->attached = false;
    join_error = join_neighbours(filter, events);
    return error != 0 ? error : join_error;
}
#endif
