/* SPDX-License-Identifier: MIT */
/* Source-specific IPv6 routes. */
#ifdef __linux__
#include "kernel/source_routes.h"

#include <linux/rtnetlink.h>

#include "kernel/first_routes.h"
#include "kernel/routing_policy.h"
#include "kernel/udp_route.h"

/* ---- Whether there are any -------------------------------------------------------------------------------------- */

#define DATAGRAM_LIMIT 8

static bool is_without_source(void *info, const struct route *route)
{
    bool *found = info;

    *found = route->source_length > 0;
    return !*found;
}

static int read_first_routes(struct rtnetlink *rtnetlink, enum source_routes *ret)
{
    const struct first_routes what = { .family = AF_INET6, .table = RT_TABLE_UNSPEC, .datagrams = DATAGRAM_LIMIT };
    enum first_routes_end end;
    bool found = false;
    const int error = first_routes_read(rtnetlink, &what, is_without_source, &found, &end);

    if (error != 0)
        return error;
    if (found)
        *ret = SOURCE_ROUTES_SOME;
    else
        *ret = end == FIRST_ROUTES_ALL    ? SOURCE_ROUTES_NONE
               : end == FIRST_ROUTES_MORE ? SOURCE_ROUTES_UNREAD
                                          : SOURCE_ROUTES_UNKNOWN;
    return 0;
}

static enum source_routes read_rules_and_routes(struct rtnetlink *rtnetlink)
{
    enum source_routes result = SOURCE_ROUTES_SOME;
    bool is_standard = true;
    int error = routing_policy_family_is_standard(rtnetlink, AF_INET6, &is_standard);

    if (error == 0 && is_standard)
        error = read_first_routes(rtnetlink, &result);
    if (error != 0)
        return netlink_is_withheld(error) ? SOURCE_ROUTES_UNREAD : SOURCE_ROUTES_UNKNOWN;
    return result;
}

/* Later, messages say so. With RTNETLINK_LINKS none come. */
enum source_routes source_routes_find(struct rtnetlink *rtnetlink)
{
    const bool receives_messages = rtnetlink->events.socket.fd >= 0 && !rtnetlink->groups_refused;

    if (receives_messages && rtnetlink->source_routes == SOURCE_ROUTES_UNKNOWN && rtnetlink->netns != NULL)
        rtnetlink->source_routes = read_rules_and_routes(rtnetlink);
    return rtnetlink->source_routes;
}

/* ---- The source address ----------------------------------------------------------------------------------------- */

int source_routes_choose(struct rtnetlink *rtnetlink, const struct route_request *request, struct address *ret)
{
    struct udp_route route = { 0 };
    int error = 0;

    if (source_routes_find(rtnetlink) != SOURCE_ROUTES_NONE)
        error = udp_route_find(rtnetlink, request, &route);
    *ret = route.source;
    return error;
}
#endif
