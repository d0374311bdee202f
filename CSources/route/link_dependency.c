/* SPDX-License-Identifier: MIT */
/*
 * The link on which a path depends.
 *
 * What this file must never do: name one link if the kernel can change the path with another link, without a message
 * about a route.
 */
#include "route/link_dependency.h"

#include "kernel/source_routes.h"
#include "pure/path.h"
#include "route/link_index.h"

/* Whether there is no path, and only the message about a new route can change that. A route that refuses packets is not
 * enough: the kernel can prefer it to one whose IPv6 gateway does not respond. A source-specific IPv6 route leads to
 * the destination as soon as a link has an address in the prefix. */
static bool depends_on_no_link(const struct rtnetlink *rtnetlink, const struct path *path)
{
    if (path->destination.family == AF_INET6 && source_routes_are_possible(rtnetlink))
        return false;
    return path->index == 0 && path->reason == kSCNetworkReachabilityReasonNoRoute &&
           !address_is_multicast(&path->destination) && !address_is_loopback(&path->destination);
}

/* Whether the path changes with no other link than its own, as far as no message says that a route has changed. Another
 * link can carry the path, or give it its type. IPv6 packets can have the address of another link as their source. If
 * an IPv6 gateway does not respond, the kernel prefers other routes. Its link can end that, by going down for
 * example. */
static bool depends_on_own_link(const struct link_table *links, const struct path *path)
{
    const struct dependencies *dependencies = &path->dependencies;
    const struct link         *link = link_table_find(links, path->index);

    return path->destination.family == AF_INET && path->gateway.family != AF_INET6 && link != NULL && link->complete &&
           !link->carried && !link_is_carried(link) && !path->wireguard && !dependencies->pppd &&
           dependencies->outer.family == AF_UNSPEC && !dependencies->any_route && dependencies->unknown_link == 0;
}

/* Among IPv4 default routes with the same metric, the kernel prefers one whose gateway responds. */
static bool can_have_equal_routes(const struct extent *extent)
{
    return extent->prefix.length == 0 && extent->has_gateway;
}

uint32_t link_dependency(const struct rtnetlink *rtnetlink, const struct extent *extent, const struct path *path)
{
    if (extent->kind == EXTENT_REFUSED && depends_on_no_link(rtnetlink, path))
        return LINK_INDEX_NONE;
    if (extent->kind == EXTENT_ROUTE && extent_has_path(extent, path) && !can_have_equal_routes(extent) &&
        depends_on_own_link(&rtnetlink->links, path))
        return path->index;
    return LINK_INDEX_ANY;
}
