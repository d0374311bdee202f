/* SPDX-License-Identifier: MIT */
/*
 * The RTM_GETROUTE queries of one question.
 *
 * The reply to a plain query is the way that a packet takes. The reply to a query with RTM_F_FIB_MATCH is the route
 * that matches. For an address, the plain query is right. RTM_F_FIB_MATCH is needed for IPv4 out of a given interface
 * (if no route leaves the interface, the plain reply is a route that does not exist), for the length of the prefix, for
 * the legs of a multipath route, and for the time at which an IPv6 route expires.
 *
 * What this file must never do: wait for RTNL (GetFlags runs here), or treat a failed query as a reply.
 */
#include "route/route_query.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <unistd.h>

#define TUNNEL_DEPTH 4 /* tunnels inside one another that are followed */

struct route_query route_query_make(struct rtnetlink *rtnetlink, struct round *round, const struct question *question,
                                    unsigned extras)
{
    return (struct route_query){ .rtnetlink = rtnetlink,
                                 .round = round,
                                 .question = question,
                                 .extras = extras,
                                 .request = { .mark = question->mark },
                                 .depth = TUNNEL_DEPTH };
}

/* ---- Queries ---------------------------------------------------------------------------------------------------- */

/* Whether the route leaves another interface than the query names. IPv6 obeys the interface strictly only in queries
 * without a source. */
static bool leaves_other_interface(const struct route_request *request, const struct route *route)
{
    return request->destination.family == AF_INET6 && request->source.family != AF_UNSPEC && request->oif != 0 &&
           route->legs == NULL && route->oif != request->oif;
}

static int query_route(struct route_query *query, bool fib_match, struct route *ret)
{
    struct route_request strict;
    int                  error;

    query->request.fib_match = fib_match;
    error = rtnetlink_query(query->rtnetlink, &query->request, ret);
    if (error != 0 || !leaves_other_interface(&query->request, ret))
        return error;
    strict = query->request;
    strict.source = (struct address){ 0 };
    return rtnetlink_query(query->rtnetlink, &strict, ret);
}

int route_query_plain(struct route_query *query, uint32_t oif, struct route *ret)
{
    const uint32_t bound = query->request.oif;
    int            error;

    query->request.oif = oif;
    error = query_route(query, false, ret);
    query->request.oif = bound;
    return error;
}

int route_query_match(struct route_query *query, struct route *ret)
{
    return query_route(query, true, ret);
}

/* The kernel refuses packets with a source in 127.0.0.0/8 that would leave this machine, with the errno of a blackhole
 * route. The destination has a blackhole route if it has the errno without the source, too. */
static bool source_cannot_leave(struct route_query *query, int error)
{
    struct route_request request = query->request;
    struct route         route;

    if (error != EINVAL || !address_is_loopback(&request.source))
        return false;
    request.source = (struct address){ 0 };
    return rtnetlink_query(query->rtnetlink, &request, &route) != EINVAL;
}

int route_query_path_from_error(struct route_query *query, int error, struct path *ret)
{
    if (!path_from_error(error, query->bound, ret))
        return error;
    if (source_cannot_leave(query, error))
        *ret = path_unreachable(kSCNetworkReachabilityReasonNoSourceAddress);
    return 0;
}

int route_query_failure(int error)
{
    struct path path;

    return error == 0 || path_from_error(error, false, &path) ? 0 : error;
}

const struct link *route_query_link(struct route_query *query, uint32_t index)
{
    const struct link *link;
    const int          error = rtnetlink_link(query->rtnetlink, index, &link);

    if (error == 0)
        return link;
    query->link_error = error;
    return NULL;
}

void route_query_recheck_after(struct path *path, uint32_t seconds)
{
    dependencies_add(&path->dependencies,
                     &(struct dependencies){ .expires = seconds * (uint32_t)sysconf(_SC_CLK_TCK) });
}

/* ---- Interface and local address -------------------------------------------------------------------------------- */

/* Whether the local address belongs to this machine. Needed because IPv6 queries accept any source address. Returns 0
 * or an errno. */
static int query_local_address(struct route_query *query, bool *ret)
{
    const struct address *local = &query->question->local;
    struct route_request  request = { .destination = *local,
                                      .mark = query->request.mark,
                                      .oif = address_is_link_local(local) ? query->request.oif : 0 };
    struct route          route;
    const int             error = rtnetlink_query(query->rtnetlink, &request, &route);

    *ret = error == 0 && route.type == RTN_LOCAL;
    return route_query_failure(error);
}

int route_query_begin(struct route_query *query, bool *ret_open, struct path *ret)
{
    const struct question *question = query->question;
    uint32_t               named = 0;
    bool                   is_local = true;
    int                    error = 0;

    /* An IPv4 address has a scope only in questions about a tunnel, which names its interface. */
    query->bound = question->interface[0] != '\0' || (question->scope != 0 && question->destination.family == AF_INET);
    if (question->interface[0] != '\0')
        error = rtnetlink_link_index(query->rtnetlink, question->interface, &named);
    if (error != 0)
        return error;
    query->request.destination = question->destination;
    query->request.source = question->local;
    *ret_open = question_choose_interface(question, named, &query->request.oif, ret);
    if (!*ret_open || question->local.family == AF_UNSPEC)
        return 0;
    error = query_local_address(query, &is_local);
    if (!is_local)
        *ret = path_unreachable(kSCNetworkReachabilityReasonLocalAddressNotAssigned);
    *ret_open = is_local;
    return error;
}
