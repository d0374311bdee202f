/* SPDX-License-Identifier: MIT */
/*
 * Whether packets with a given source address leave as those of a new connection would.
 *
 * A connection keeps its source address, whatever becomes of the routes. If another default route is better, packets
 * leave over another interface with the old address. The other end, or the network in between, then drops them, and
 * nobody tells the program.
 *
 * What this file must never do: count the legs of one multipath route as different ways, or an address of lo, a dummy
 * link, a bridge or a VRF as foreign: hosts with such addresses use them over any interface.
 */
#ifdef __linux__
#include "route/flow_path.h"

#include <linux/rtnetlink.h>

#include "route/address_path.h"

/* A flow, and a new connection like it. */
struct ways {
    struct route_query *query;
    struct question fresh_question; /* no address is bound */
    struct path fresh;              /* of a new connection */
    uint32_t index;                 /* over which the flow's packets leave */
    uint32_t source_index;          /* of the interface with the source address; 0: not known */
};

/* ---- Interfaces ------------------------------------------------------------------------------------------------- */

/* Finds the interface that has the local address, for packets out of an interface (0: any). *ret 0: none has it. */
static int find_address(struct route_query *query, uint32_t oif, uint32_t *ret)
{
    const struct route_request request = {
        .destination = query->question->local, .mark = query->request.mark, .oif = oif, .fib_match = true
    };
    struct route route = { 0 };
    const int error = reach_rtnetlink_query(query->rtnetlink, &request, &route);

    *ret = error == 0 && route.type == RTN_LOCAL ? route.oif : 0;
    return reach_route_query_failure(error);
}

/* The interface of the path comes first: several can have the address. */
static int find_source(struct ways *ways)
{
    int error = find_address(ways->query, ways->index, &ways->source_index);

    if (error == 0 && ways->source_index != ways->index)
        error = find_address(ways->query, 0, &ways->source_index);
    return error;
}

/* What the address of an interface says. */
enum holder { HOLDER_UNKNOWN, HOLDER_ORDINARY, HOLDER_BRIDGE, HOLDER_NOWHERE };

/* An address of lo or a dummy link is nowhere: it is used over all interfaces. */
static enum holder find_holder(struct route_query *query, uint32_t index)
{
    const struct link *link = index == 0 ? NULL : reach_route_query_link(query, index);

    if (link == NULL)
        return HOLDER_UNKNOWN;
    if (reach_link_is_loopback(link))
        return HOLDER_NOWHERE;
    if (!link->complete) {
        query->unknown_link = index;
        return HOLDER_UNKNOWN;
    }
    if (strcmp(link->kind, "dummy") == 0)
        return HOLDER_NOWHERE;
    return link->vrf_table != 0 || strcmp(link->kind, "bridge") == 0 ? HOLDER_BRIDGE : HOLDER_ORDINARY;
}

/* ---- Legs ------------------------------------------------------------------------------------------------------- */

/* Whether a route has legs over both interfaces. One that hides its legs may have them, as a nexthop object may. */
static bool has_both_legs(struct route *route, uint32_t a, uint32_t b)
{
    bool has_a = false, has_b = false;
    struct route_leg leg;

    if (route->legs == NULL)
        return route->oif == 0 || route->hides_legs;
    while (reach_route_next_leg(route, &leg)) {
        has_a = has_a || leg.oif == a;
        has_b = has_b || leg.oif == b;
    }
    return has_a && has_b;
}

/* Whether two interfaces are one way: they are the same, or legs of the route that leads to the destination, with the
 * source address or without. */
static int are_one_way(struct ways *ways, uint32_t a, uint32_t b, bool *ret)
{
    struct route_request request = ways->query->request;
    int error = 0;

    *ret = a == b;
    request.fib_match = true;
    for (int i = 0; i < 2 && error == 0 && !*ret; i++) {
        struct route route;
        const int failure = reach_rtnetlink_query(ways->query->rtnetlink, &request, &route);

        *ret = failure == 0 && has_both_legs(&route, a, b);
        error = reach_route_query_failure(failure);
        request.source = (struct address){ 0 };
        request.flow.local_port = 0;
    }
    return error;
}

/* ---- A new connection ------------------------------------------------------------------------------------------- */

static int find_fresh_path(struct ways *ways)
{
    struct route_query query = reach_route_query_make(ways->query->rtnetlink, ways->query->cache, &ways->fresh_question,
                                                      ways->query->extras & ~(unsigned)QUERY_FLOW);
    bool open;
    int error = reach_route_query_begin(&query, &open, &ways->fresh);

    if (error == 0 && open)
        error = reach_address_path_find(&query, &ways->fresh);
    return error == 0 ? reach_route_query_end(&query, &ways->fresh) : error;
}

/* Finds the source of a new connection that leaves over the flow's interface. AF_UNSPEC: none can. */
static int find_fresh_source(const struct ways *ways, struct address *ret)
{
    struct route_query query = reach_route_query_make(ways->query->rtnetlink, ways->query->cache, &ways->fresh_question,
                                                      0);
    struct route route;
    int error;

    *ret = ways->fresh.source;
    if (ways->fresh.index == ways->index && reach_path_is_usable(&ways->fresh))
        return 0;
    query.request.destination = ways->fresh_question.destination;
    error = reach_route_query_plain(&query, ways->index, &route);
    *ret = error == 0 ? route.source : (struct address){ 0 };
    return reach_route_query_failure(error);
}

/* ---- The flow --------------------------------------------------------------------------------------------------- */

static int add_better_path(struct ways *ways, enum holder holder, struct path *path)
{
    const uint32_t fresh = ways->fresh.index;
    bool same;
    int error;

    if (!reach_path_is_usable(&ways->fresh) || fresh == 0)
        return 0;
    error = are_one_way(ways, fresh, ways->index, &same);
    if (error == 0 && same && (holder == HOLDER_ORDINARY || holder == HOLDER_BRIDGE))
        error = are_one_way(ways, fresh, ways->source_index, &same);
    if (error == 0 && !same)
        path->flow |= kSCNetworkReachabilityFlowBetterPath;
    return error;
}

static int add_foreign_source(struct ways *ways, enum holder holder, struct path *path)
{
    struct address source;
    bool same;
    int error;

    if (holder != HOLDER_ORDINARY)
        return 0;
    error = are_one_way(ways, ways->source_index, ways->index, &same);
    if (error != 0 || same)
        return error;
    error = find_fresh_source(ways, &source);
    if (error == 0 && source.family != AF_UNSPEC && !reach_address_equal(&source, &ways->query->question->local))
        path->flow |= kSCNetworkReachabilityFlowSourceForeign;
    return error;
}

int reach_flow_path_find(struct route_query *query, struct path *path)
{
    struct ways ways = { .query = query, .fresh_question = *query->question, .index = path->index };
    enum holder holder;
    int error;

    if (query->question->local.family == AF_UNSPEC || query->question->destination.family == AF_UNSPEC ||
        reach_path_rank(path) == 0 || path->index == 0 ||
        (path->flags & kSCNetworkReachabilityFlagsIsLocalAddress) != 0)
        return 0;
    ways.fresh_question.local = (struct address){ 0 };
    ways.fresh_question.local_scope = 0;
    ways.fresh_question.flow.local_port = 0;
    error = find_source(&ways);
    if (error == 0)
        error = find_fresh_path(&ways);
    if (error != 0)
        return error;
    reach_dependencies_add(&path->dependencies, &ways.fresh.dependencies);
    holder = find_holder(query, ways.source_index);
    path->source_index = ways.source_index;
    path->flow_unsettled = query->unknown_link != 0;
    error = add_better_path(&ways, holder, path);
    return error == 0 ? add_foreign_source(&ways, holder, path) : error;
}
#endif
