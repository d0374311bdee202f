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
#ifdef __linux__
#include "route/route_query.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <unistd.h>

#include "kernel/dumps.h"
#include "kernel/udp_route.h"

#define TUNNEL_DEPTH 4 /* tunnels inside one another that are followed */

struct route_query reach_route_query_make(struct rtnetlink *rtnetlink, struct round_cache *cache,
                                          const struct question *question, unsigned extras)
{
    return (struct route_query){ .rtnetlink = rtnetlink,
                                 .cache = cache,
                                 .question = question,
                                 .extras = extras,
                                 .request = { .mark = question->mark, .flow = question->flow },
                                 .depth = TUNNEL_DEPTH };
}

/* ---- Queries ---------------------------------------------------------------------------------------------------- */

/* Whether the kernel's reply is that no packet can leave. */
static bool is_refusal(int error)
{
    return error == ENETUNREACH || error == EHOSTUNREACH || error == EACCES || error == EINVAL;
}

/* The VRF that an interface is, or is a port of. index 0: there is none, or it is not known. */
struct vrf {
    uint32_t index, table;
};

/* Returns the link if all is known about it, else NULL. */
static const struct link *find_complete_link(struct route_query *query, uint32_t index)
{
    const struct link *link = reach_link_table_find(&query->rtnetlink->links, index);

    if (link != NULL && link->complete)
        return link;
    if (!rtnetlink_is_udp(query->rtnetlink))
        query->unknown_link = index;
    return NULL;
}

static struct vrf find_vrf(struct route_query *query, uint32_t index)
{
    const struct link *link = index == 0 ? NULL : find_complete_link(query, index);

    if (link != NULL && link->vrf_table == 0 && link->master != 0)
        link = find_complete_link(query, link->master);
    return link == NULL || link->vrf_table == 0 ? (struct vrf){ 0 }
                                                : (struct vrf){ .index = link->index, .table = link->vrf_table };
}

/* Whether a source-specific route can lead to the destination, although a query without a source was refused. */
static bool needs_source(const struct route_request *request, int error)
{
    return is_refusal(error) && request->destination.family == AF_INET6 && request->source.family == AF_UNSPEC;
}

bool reach_route_query_is_outside(struct route_query *query, uint32_t index)
{
    const uint32_t oif = query->request.oif;

    return oif != 0 && index != oif && find_vrf(query, index).index != oif;
}

static bool leaves_bound_interface(struct route_query *query, const struct route *route)
{
    return route->legs == NULL && reach_route_query_is_outside(query, route->oif);
}

/* A route over the interface of the request that a socket uses, and no query returns. It may have a gateway. */
static struct route route_of_socket(const struct route_request *request)
{
    return (struct route){ .family = request->destination.family,
                           .prefix_length = ROUTE_QUERY_PREFIX_UNKNOWN,
                           .type = RTN_UNICAST,
                           .oif = request->oif,
                           .has_gateway = true,
                           .source = request->source };
}

/* Whether the kernel decides alike for UDP packets: a connected UDP socket shows what it decides. */
static bool is_alike_for_udp(struct route_query *query, int error, uint32_t oif)
{
    struct route_request request = query->request;
    struct route route = { 0 };

    if (request.flow.protocol == 0 || request.flow.protocol == IPPROTO_UDP)
        return true;
    request.flow.protocol = IPPROTO_UDP;
    return reach_rtnetlink_query(query->rtnetlink, &request, &route) == error && (error != 0 || route.oif == oif);
}

/* Queries again, with the source address that the kernel chooses for a socket. If no route leads to the destination
 * then either, returns `error`. */
static int query_with_source(struct route_query *query, int error, struct route *ret)
{
    struct route_request request = query->request;
    int failure = reach_udp_route_choose_source(query->rtnetlink, &request, &request.source);

    if (failure != 0 || request.source.family == AF_UNSPEC)
        return failure != 0 ? failure : error;
    failure = reach_rtnetlink_query(query->rtnetlink, &request, ret);
    if (failure != 0 && !is_refusal(failure))
        return failure;
    if (failure != 0 && (request.oif == 0 || !is_alike_for_udp(query, error, 0)))
        return error;
    if (failure != 0 || leaves_bound_interface(query, ret))
        *ret = route_of_socket(&request);
    ret->source = request.source; /* the reply has the one that the kernel prefers on the link */
    return 0;
}

/* Whether the kernel may have used routes that it does not use for a socket bound to the interface. A query with a
 * source is not strict. A query without one can leave a VRF by a route that gives the packet no source. */
static bool needs_socket(struct route_query *query, int error, const struct route *route)
{
    const struct route_request *request = &query->request;

    if (request->destination.family != AF_INET6 || request->oif == 0)
        return false;
    return error == 0 ? leaves_bound_interface(query, route) : request->source.family != AF_UNSPEC && is_refusal(error);
}

/* Queries without the source. That is strict, but ignores what rules and routes say of the source. `error`: of the
 * query with the source. */
static int query_strictly(struct route_query *query, const struct udp_route *packet, int error, struct route *ret)
{
    struct route_request strict = query->request;

    if (!packet->is_known && error != 0)
        return error;
    strict.source = (struct address){ 0 };
    error = reach_rtnetlink_query(query->rtnetlink, &strict, ret);
    if (!packet->is_known || !is_refusal(error))
        return error;
    *ret = route_of_socket(&query->request);
    return 0;
}

/* Connects a socket, which decides whether a packet can leave. `error` and `ret`: of the query, which stay if the
 * socket's packets would not be like those of the question. */
static int query_with_socket(struct route_query *query, int error, struct route *ret)
{
    struct udp_route packet;
    int failure;

    if (!is_alike_for_udp(query, error, error == 0 ? ret->oif : 0))
        return error; /* the route has no legs, which another query would overwrite */
    failure = reach_udp_route_find(query->rtnetlink, &query->request, &packet);
    if (failure != 0)
        return failure;
    if (packet.is_known && packet.error != 0)
        return packet.error;
    if (query->request.source.family != AF_UNSPEC)
        return query_strictly(query, &packet, error, ret);
    if (packet.is_known)
        ret->source = packet.source; /* the reply can have one that is not in the VRF */
    return error;
}

/* IPv4's connect(2) searches again, with the source that it has chosen: it counts for rules, and for the leg. */
static int query_again_with_source(struct route_query *query, struct route *ret)
{
    struct route_request request = query->request;
    int error;

    if (request.destination.family != AF_INET || request.source.family != AF_UNSPEC || request.flow.protocol == 0 ||
        request.fib_match || ret->source.family == AF_UNSPEC)
        return 0;
    request.source = ret->source;
    error = reach_rtnetlink_query(query->rtnetlink, &request, ret);
    if (error == 0)
        ret->source = request.source;
    return error;
}

static int query_route(struct route_query *query, bool fib_match, struct route *ret)
{
    int error;

    query->request.fib_match = fib_match;
    error = reach_rtnetlink_query(query->rtnetlink, &query->request, ret);
    if (rtnetlink_is_udp(query->rtnetlink)) /* that is what the socket does */
        return error;
    if (needs_source(&query->request, error))
        return query_with_source(query, error, ret);
    if (needs_socket(query, error, ret))
        return query_with_socket(query, error, ret);
    return error == 0 ? query_again_with_source(query, ret) : error;
}

int reach_route_query_plain(struct route_query *query, uint32_t oif, struct route *ret)
{
    const uint32_t bound = query->request.oif;
    int error;

    query->request.oif = oif;
    error = query_route(query, false, ret);
    query->request.oif = bound;
    return error;
}

int reach_route_query_match(struct route_query *query, struct route *ret)
{
    return query_route(query, true, ret);
}

/* The kernel refuses packets from 127.0.0.0/8 that would leave this machine. The errno is that of a blackhole route. If
 * a query without the source fails with the same errno, there is a blackhole route. Returns 0, or an errno if the
 * kernel could not be queried. */
static int check_refused_source(struct route_query *query, int error, bool *ret_cannot_leave)
{
    struct route_request request = query->request;
    struct route route;

    *ret_cannot_leave = false;
    if (error != EINVAL || !reach_address_is_loopback(&request.source))
        return 0;
    request.source = (struct address){ 0 };
    error = reach_rtnetlink_query(query->rtnetlink, &request, &route);
    *ret_cannot_leave = error != EINVAL;
    return reach_route_query_failure(error);
}

int reach_route_query_path_from_error(struct route_query *query, int error, struct path *ret)
{
    bool cannot_leave;

    if (!reach_path_from_error(error, query->bound, ret))
        return error;
    error = check_refused_source(query, error, &cannot_leave);
    if (error == 0 && cannot_leave)
        *ret = reach_path_unreachable(kSCNetworkReachabilityReasonNoSourceAddress);
    return error;
}

int reach_route_query_failure(int error)
{
    struct path path;

    return error == 0 || reach_path_from_error(error, false, &path) ? 0 : error;
}

const struct link *reach_route_query_link(struct route_query *query, uint32_t index)
{
    const struct link *link;
    const int error = reach_rtnetlink_link(query->rtnetlink, index, &link);

    if (error == 0)
        return link;
    query->link_error = error;
    return NULL;
}

void reach_route_query_recheck_after(struct path *path, uint32_t seconds)
{
    reach_dependencies_add(&path->dependencies, &(struct dependencies){ .recheck = seconds });
}

/* ---- Interface and local address -------------------------------------------------------------------------------- */

/* Finds the table in which the local address is local, for packets out of an interface (0: any). *ret 0: in none.
 * Needed because IPv6 queries accept any source address. Returns 0 or an errno. */
static int find_local_table(struct route_query *query, uint32_t oif, uint32_t *ret)
{
    struct route_request request = { .destination = query->question->local, .mark = query->request.mark, .oif = oif };
    struct route route;
    const int error = reach_rtnetlink_query(query->rtnetlink, &request, &route);

    *ret = error != 0 || route.type != RTN_LOCAL ? 0 : route.table == 0 ? RT_TABLE_LOCAL : route.table;
    return reach_route_query_failure(error);
}

/* Finds the interface that packets to the destination leave over. *ret 0: there is none. Returns 0 or an errno. */
static int find_outgoing_index(struct route_query *query, uint32_t *ret)
{
    struct route_request request = { .destination = query->question->destination,
                                     .mark = query->request.mark,
                                     .oif = query->request.oif,
                                     .flow = query->request.flow };
    struct route route;
    int error;

    *ret = 0;
    if (request.destination.family == AF_UNSPEC)
        return 0;
    error = reach_rtnetlink_query(query->rtnetlink, &request, &route);
    if (error == 0)
        *ret = route.oif;
    return reach_route_query_failure(error);
}

/* Whether the VRF's own table has the local address. The rule for the table "local" usually comes first: if an
 * interface outside the VRF has the same address, only queries out of the port that has the address find it in the
 * VRF. */
static int query_address_in_vrf(struct route_query *query, const struct vrf *vrf, bool *ret)
{
    uint32_t table, outgoing = 0;
    int error = find_local_table(query, vrf->index, &table);

    if (error == 0 && table != 0 && table != vrf->table)
        error = find_outgoing_index(query, &outgoing);
    if (error == 0 && outgoing != 0)
        error = find_local_table(query, outgoing, &table);
    *ret = error == 0 && table == vrf->table;
    return error;
}

/* Whether the local address belongs to this machine; if the question names an interface in a VRF, to that VRF. */
static int query_local_address(struct route_query *query, bool *ret)
{
    const bool is_link_local = reach_address_is_link_local(&query->question->local);
    const uint32_t oif = query->request.oif;
    uint32_t table;
    struct vrf vrf = { 0 };
    int error;

    if (!is_link_local)
        vrf = find_vrf(query, oif);
    if (vrf.index != 0)
        return query_address_in_vrf(query, &vrf, ret);
    error = find_local_table(query, is_link_local ? oif : 0, &table);
    /* The interface may be in a VRF that is not known. */
    if (error == 0 && table == 0 && query->unknown_link != 0)
        error = find_local_table(query, oif, &table);
    *ret = table != 0;
    return error;
}

/* A socket does not say why no packet leaves its interface. False: *ret says why. */
static bool interface_is_usable(struct route_query *query, struct path *ret)
{
    const struct link *link = query->request.oif == 0 ? NULL : reach_route_query_link(query, query->request.oif);

    if (link != NULL)
        reach_path_evaluate_local(link, ret);
    return link == NULL || reach_path_is_usable(ret);
}

/* A socket that is bound to a VRF sends IPv4 multicast as one that is not bound. */
static bool ignores_vrf(struct route_query *query)
{
    const uint32_t oif = query->request.oif;

    return oif != 0 && query->request.destination.family == AF_INET &&
           reach_address_is_multicast(&query->request.destination) && find_vrf(query, oif).index == oif;
}

int reach_route_query_begin(struct route_query *query, bool *ret_open, struct path *ret)
{
    const struct question *question = query->question;
    uint32_t named = 0;
    bool is_local = true;
    int error = 0;

    /* An IPv4 address has a scope only in questions about a tunnel, which names its interface. */
    query->bound = question->interface != NULL || (question->scope != 0 && question->destination.family == AF_INET);
    if (question->interface != NULL)
        error = reach_rtnetlink_link_index(query->rtnetlink, question->interface, &named);
    if (error != 0)
        return error;
    query->request.destination = question->destination;
    query->request.source = question->local;
    *ret_open = reach_question_choose_interface(question, named, &query->request.oif, ret) &&
                (!rtnetlink_is_udp(query->rtnetlink) || interface_is_usable(query, ret));
    if (!*ret_open)
        return 0;
    if (question->local.family != AF_UNSPEC)
        error = query_local_address(query, &is_local);
    if (!is_local)
        *ret = reach_path_unreachable(kSCNetworkReachabilityReasonLocalAddressNotAssigned);
    *ret_open = is_local;
    if (ignores_vrf(query))
        query->request.oif = 0;
    return error;
}

int reach_route_query_end(const struct route_query *query, struct path *path)
{
    reach_dependencies_add(&path->dependencies, &(struct dependencies){ .unknown_link = query->unknown_link });
    return query->link_error;
}
#endif
