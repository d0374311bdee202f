/* SPDX-License-Identifier: MIT */
/*
 * Which RTM_GETROUTE to send.
 *
 * The kernel answers a plain query with the way that a packet would take, and a query with RTM_F_FIB_MATCH with the
 * route that matched. Plain is right for addresses. FIB_MATCH is needed where IPv4 would make up a plain answer (an
 * interface was named and no route leaves it), for the length of the matched prefix, for the legs of a multipath route,
 * and for the time at which an IPv6 route expires.
 *
 * What this file must never do: wait for RTNL (GetFlags runs here), or take a failure to query for an answer.
 */
#include "route/route_query.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <unistd.h>

#define TUNNEL_DEPTH 4 /* tunnels inside one another */

struct route_query route_query_make(struct rtnetlink *rtnetlink, const struct question *question, unsigned extras)
{
    return (struct route_query){ .rtnetlink = rtnetlink,
                                 .question = question,
                                 .extras = extras,
                                 .request = { .mark = question->mark },
                                 .depth = TUNNEL_DEPTH };
}

/* ---- Queries ---------------------------------------------------------------------------------------------------- */

/* Whether IPv6 answered with another interface than the one that was asked for: it takes that strictly only where no
 * source is given. */
static bool is_elsewhere(const struct route_request *request, const struct route *route)
{
    return request->destination.family == AF_INET6 && request->source.family != AF_UNSPEC && request->oif != 0 &&
           route->legs == NULL && route->oif != request->oif;
}

/* Puts one query. 0: `ret` is the answer. An errno of path_from_error's is an answer too. */
static int query_route(struct route_query *query, bool fib_match, struct route *ret)
{
    struct route_request strict;
    int                  error;

    query->request.fib_match = fib_match;
    error = rtnetlink_query(query->rtnetlink, &query->request, ret);
    if (error != 0 || !is_elsewhere(&query->request, ret))
        return error;
    strict = query->request;
    strict.source = (struct address){ 0 };
    return rtnetlink_query(query->rtnetlink, &strict, ret);
}

/* The plain one, out of an interface; 0: any. */
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

/* What a further query may fail with: an answer leaves what is known as it is, a failure to ask does not. */
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
    const struct dependencies depends_on = { .expires = seconds * (uint32_t)sysconf(_SC_CLK_TCK) };

    dependencies_add(&path->depends_on, &depends_on);
}

/* ---- Beginning -------------------------------------------------------------------------------------------------- */

/* Whether the local address is this machine's: IPv6 accepts any source without a word. 0 or an errno. */
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

    /* Of an IPv4 address a scope is a tunnel's interface. */
    query->bound = question->interface[0] != '\0' || (question->scope != 0 && question->destination.family == AF_INET);
    if (question->interface[0] != '\0')
        error = rtnetlink_link_index(query->rtnetlink, question->interface, &named);
    if (error != 0)
        return error;
    query->request.destination = question->destination;
    query->request.source = question->local;
    *ret_open = question_interface(question, named, &query->request.oif, ret);
    if (!*ret_open || question->local.family == AF_UNSPEC)
        return 0;
    error = query_local_address(query, &is_local);
    if (!is_local)
        *ret = path_unreachable(kSCNetworkReachabilityReasonLocalAddressNotAssigned);
    *ret_open = is_local;
    return error;
}
