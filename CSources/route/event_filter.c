/* SPDX-License-Identifier: MIT */
/*
 * When a monitor's filter is attached and detached.
 *
 * What this file must never do: leave a filter attached that was built before a watch depended on its addresses.
 */
#include "route/event_filter.h"

#include <errno.h>

bool event_filter_passes_all(const struct event_filter *filter, const struct watch_set *set)
{
    return !filter->attached || filter->additions == set->routes.additions;
}

static unsigned long count_changes(const struct watch_set *set)
{
    return set->routes.changes + set->sharing.changes;
}

bool event_filter_prepare(struct event_filter *filter, const struct watch_set *set, struct route_filter *ret)
{
    struct address_prefix prefixes[ADDRESS_TREE_PREFIXES];
    size_t                count;

    if (!filter->wanted || filter->refused || (filter->attached && filter->changes == count_changes(set)))
        return false;
    filter->wanted = false;
    if (!route_index_cover(&set->routes, &set->sharing.watches, prefixes, &count))
        return false;
    filter->changes = count_changes(set);
    filter->additions = set->routes.additions;
    route_filter_build(ret, prefixes, count);
    return true;
}

int event_filter_attach(struct event_filter *filter, const struct netlink *events, const struct route_filter *program)
{
    const int error = netlink_attach_filter(events, program->code, program->length);

    filter->refused = error != 0 && error != ENOMEM;
    if (error != 0) /* the previous one is still there */
        return filter->attached ? event_filter_detach(filter, events) : 0;
    filter->attached = true;
    return 0;
}

int event_filter_detach(struct event_filter *filter, const struct netlink *events)
{
    filter->attached = false;
    return netlink_detach_filter(events);
}
