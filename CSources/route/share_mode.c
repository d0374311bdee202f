/* SPDX-License-Identifier: MIT */
/*
 * What the evaluation of a shared answer means for its watches.
 *
 * What this file must never do: let a watch follow the leader if another route can lead to the watch.
 */
#include "route/share_mode.h"

#include "kernel/neighbours.h"
#include "kernel/routing_policy.h"
#include "kernel/source_routes.h"
#include "route/monitor_state.h"

/* Whether there can be an IPv6 route that was not used before: one that the kernel has hidden until now, because its
 * gateway does not respond, or one for packets from a prefix. */
static bool can_have_unused_route(struct monitor *monitor)
{
    return source_routes_find(&monitor->rtnetlink) != SOURCE_ROUTES_NONE ||
           (!monitor->settings.forwards && neighbours_any_failed(&monitor->rtnetlink));
}

/* If no route in "main" leads to the leader, others can have one that was not used before. For IPv4, it is in the table
 * "default". */
enum share_mode share_mode_choose(struct monitor *monitor, const struct question *question, bool must_check,
                                  const struct extent *extent, const struct path *path)
{
    const bool is_ipv4 = question->destination.family == AF_INET;

    if (!monitor_shares(monitor) || path->wireguard || extent->kind == EXTENT_ALONE)
        return SHARE_LEAVE;
    if (extent->kind == EXTENT_ROUTE && !extent_has_path(extent, path))
        return SHARE_LEAVE;
    if (extent->kind == EXTENT_ROUTE)
        return must_check ? SHARE_CHECK : SHARE_FOLLOW;
    if (must_check ||
        (is_ipv4 ? !routing_policy_default_table_is_empty(&monitor->rtnetlink) : can_have_unused_route(monitor)))
        return SHARE_LEAVE;
    return SHARE_FOLLOW;
}

bool share_mode_keeps_path(const struct shared_answer *shared, enum share_mode mode, const struct path *path)
{
    const struct outcome before = path_outcome(&shared->path), now = path_outcome(path);

    return shared->settled && shared->mode == SHARE_FOLLOW && mode == SHARE_FOLLOW && !shared->must_check &&
           before.index == now.index && !path_differs(&shared->path, path);
}
