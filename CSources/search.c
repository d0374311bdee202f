/* SPDX-License-Identifier: MIT */
/*
 * Which RTM_GETROUTE to send, and which answer counts. What an answer means is path.c's.
 *
 * The kernel answers a plain query with the way that a packet would take, and one with RTM_F_FIB_MATCH with the route
 * that matched. Plain is right for addresses. FIB_MATCH is needed where a plain IPv4 answer is made up (an interface
 * was asked for and no route leaves it), for the length of the prefix that matched, for the legs of a multipath route,
 * and for the time at which an IPv6 route expires.
 *
 * What this file must never do: wait for RTNL (those who only ask are here, too), or take a failure to ask for an
 * answer.
 */
#include "search.h"

#include <errno.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <unistd.h>

#include "pppd.h"

#define LOOPBACK_INDEX 1 /* of the loopback interface, in every network namespace */
#define TUNNEL_DEPTH   4 /* tunnels in tunnels that are followed */
#define LEG_LIMIT      16 /* of one route that are looked at */
#define PPP_SECONDS    2 /* how long what pppd noted is good */

struct search search_make(struct view *view, const struct question *question, unsigned extras)
{
    return (struct search){ .view = view,
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
static int ask(struct search *search, bool fib_match, struct route *ret)
{
    struct route_request strict;
    int                  error;

    search->request.fib_match = fib_match;
    error = view_ask(search->view, &search->request, ret);
    if (error != 0 || !is_elsewhere(&search->request, ret))
        return error;
    strict = search->request;
    strict.source = (struct address){ 0 };
    return view_ask(search->view, &strict, ret);
}

/* The plain one, out of an interface; 0: any. */
static int ask_plain(struct search *search, uint32_t oif, struct route *ret)
{
    const uint32_t bound = search->request.oif;
    int            error;

    search->request.oif = oif;
    error = ask(search, false, ret);
    search->request.oif = bound;
    return error;
}

/* FIB_MATCH names the interface that has the address, but a packet to oneself goes over loopback. */
static uint32_t leaving_index(const struct search *search, const struct route *route)
{
    return search->request.fib_match && route->type == RTN_LOCAL ? LOOPBACK_INDEX : route->oif;
}

static const struct link *leaving_link(const struct search *search, const struct route *route)
{
    return view_link(search->view, leaving_index(search, route));
}

static void judge_route(const struct search *search, const struct route *route, const struct link *link,
                        struct path *ret)
{
    const bool chosen = search->question->local.family != AF_UNSPEC;

    path_judge(&search->request.destination, chosen, route, link, ret);
    ret->index = leaving_index(search, route);
}

static bool is_about_link(const struct path *path)
{
    return path->reason == kSCNetworkReachabilityReasonInterfaceDown ||
           path->reason == kSCNetworkReachabilityReasonNoCarrier;
}

/* ---- Legs ------------------------------------------------------------------------------------------------------- */

/* The legs of a route that are usable, or one that says why none is: the first, those that the kernel calls dead last.
 * With an interface, only legs over that one. */
struct legs {
    size_t           count;
    uint32_t         usable[LEG_LIMIT]; /* the interfaces */
    struct route_leg other;             /* its oif is 0 when there is none */
};

static bool is_usable(const struct search *search, const struct route_leg *leg)
{
    const struct link *link = (leg->flags & RTNH_F_DEAD) == 0 ? view_link(search->view, leg->oif) : NULL;

    return link != NULL && link_is_usable(link);
}

static struct legs read_legs(const struct search *search, struct route *route)
{
    struct legs      legs = { 0 };
    struct route_leg leg;

    while (route_next_leg(route, &leg)) {
        const bool dead = (leg.flags & RTNH_F_DEAD) != 0;

        if (search->request.oif != 0 && leg.oif != search->request.oif)
            continue;
        if (legs.count < LEG_LIMIT && is_usable(search, &leg))
            legs.usable[legs.count++] = leg.oif;
        else if (legs.other.oif == 0 || ((legs.other.flags & RTNH_F_DEAD) != 0 && !dead))
            legs.other = leg;
    }
    return legs;
}

/* A leg that is not usable says why by its link; one whose link is in order has lost its route. It is not asked about:
 * out of an interface that no route leaves, IPv4 makes an answer up. */
static struct path judge_leg(const struct search *search, const struct route *route, const struct route_leg *leg)
{
    struct route single = *route;
    struct path  path;

    single.oif = leg->oif;
    single.has_gateway = leg->has_gateway;
    single.gateway = leg->gateway;
    judge_route(search, &single, leaving_link(search, &single), &path);
    return is_about_link(&path) ? path : path_without(kSCNetworkReachabilityReasonNoRoute);
}

/* ---- What is behind an interface -------------------------------------------------------------------------------- */

/* A tunnel that says where its own packets go is as good as the way there. */
static int follow_tunnel(struct search *search, const struct tunnel *tunnel, struct path *path)
{
    const struct question outer = { .destination = tunnel->remote,
                                    .local = tunnel->local,
                                    .scope = tunnel->oif,
                                    .mark = tunnel->mark };
    struct search         way = search_make(search->view, &outer, search->extras & SEARCH_EXPIRY);
    struct path           found;
    bool                  open;
    int                   error;

    way.depth = search->depth - 1;
    error = search_begin(&way, &open, &found);
    if (error == 0 && open)
        error = search_address(&way, &found);
    if (error == 0)
        path_hang_on(path, &outer.destination, &found);
    return error;
}

void search_again(struct path *path, uint32_t seconds)
{
    const struct needs needs = { .expires = seconds * (uint32_t)sysconf(_SC_CLK_TCK) };

    needs_add(&path->needs, &needs);
}

/* Of a ppp link only pppd knows whether it is connected. */
static int follow_ppp(const char *name, struct path *path)
{
    struct pppd pppd;
    const int   error = pppd_look(name, &pppd);

    if (error != 0)
        return error;
    if (pppd.idle)
        path->flags |= kSCNetworkReachabilityFlagsConnectionRequired | kSCNetworkReachabilityFlagsConnectionOnTraffic;
    if (pppd.modem)
        path->flags |= kSCNetworkReachabilityFlagsIsWWAN;
    if (pppd.kept)
        search_again(path, PPP_SECONDS);
    return 0;
}

/* What is behind the interface counts, too. Asks further questions. */
static int judge(struct search *search, const struct route *route, struct path *ret)
{
    const struct link *link = leaving_link(search, route);
    struct tunnel      tunnel;

    judge_route(search, route, link, ret);
    if (link == NULL || path_rank(ret) == 0)
        return 0;
    if (link->hardware == ARPHRD_PPP)
        return follow_ppp(link->name, ret);
    if (link->tunnel.remote.family == AF_UNSPEC || search->depth == 0)
        return 0;
    tunnel = link->tunnel;
    return follow_tunnel(search, &tunnel, ret);
}

/* ---- One destination -------------------------------------------------------------------------------------------- */

/* Where an interface is named, FIB_MATCH has said that a route leaves it. */
static int find_plain(struct search *search, uint32_t oif, struct path *ret)
{
    struct route route;
    const int    error = ask_plain(search, oif, &route);

    return error == 0 ? judge(search, &route, ret) : error;
}

/* One that is refused leads nowhere, and says why. */
static int find_by_leg(struct search *search, uint32_t oif, struct path *ret)
{
    const int error = find_plain(search, oif, ret);

    return error != 0 && path_from_error(error, search->bound, ret) ? 0 : error;
}

/* The first of the usable legs that leads anywhere or, failing that, the first. The plain answer tells more of each. */
static int find_leg(struct search *search, const struct legs *legs, struct path *ret)
{
    int error = find_by_leg(search, legs->usable[0], ret);

    for (size_t i = 1; i < legs->count && error == 0 && path_rank(ret) == 0; i++) {
        struct path path;

        error = find_by_leg(search, legs->usable[i], &path);
        if (error != 0)
            return error;
        needs_add(&path.needs, &ret->needs);
        if (path_rank(&path) > 0)
            *ret = path;
        else
            ret->needs = path.needs;
    }
    return error;
}

int search_plain(struct search *search, struct path *ret)
{
    return find_plain(search, search->request.oif, ret);
}

int search_match(struct search *search, struct route *ret)
{
    return ask(search, true, ret);
}

/* Where nexthop objects hide the interface, the plain answer tells more. */
int search_judge_match(struct search *search, struct route *match, struct path *ret)
{
    struct legs legs;

    if (match->legs == NULL && match->oif == 0)
        return search_plain(search, ret);
    if (match->legs == NULL)
        return judge(search, match, ret);
    legs = read_legs(search, match);
    if (legs.count > 0)
        return find_leg(search, &legs, ret);
    *ret = judge_leg(search, match, &legs.other);
    return 0;
}

/* What a further query may fail with: an answer leaves what is known as it is, a failure to ask does not. */
static int failure(int error)
{
    struct path path;

    return error == 0 || path_from_error(error, false, &path) ? 0 : error;
}

/* The kernel expires IPv6 routes at their time but tells of it up to half a minute later. Only FIB_MATCH says when. */
static int note_expiry(struct search *search, struct path *path)
{
    struct route route;
    int          error;

    if ((search->extras & SEARCH_EXPIRY) == 0 || search->request.destination.family != AF_INET6 || path->index == 0)
        return 0;
    error = search_match(search, &route);
    if (error == 0)
        needs_add(&path->needs, &(struct needs){ .expires = route.expires });
    return failure(error);
}

/* IPv4 out of one interface: a plain answer would be an on-link route that does not exist. */
static int find_bound_ipv4(struct search *search, struct path *ret)
{
    struct route route;
    const int    error = search_match(search, &route);

    if (error != 0)
        return error;
    /* Multicast is on-link even where its route has a gateway. */
    if (address_is_multicast(&search->request.destination))
        return search_plain(search, ret);
    return search_judge_match(search, &route, ret);
}

int search_other_leg(struct search *search, struct path *path)
{
    const bool   is_tunnel = path_rank(path) == 0 && path->needs.outer.family != AF_UNSPEC;
    struct route route;
    struct legs  legs;
    struct path  other;
    int          error;

    if ((!is_about_link(path) && !is_tunnel) || search->request.oif != 0)
        return 0;
    error = search_match(search, &route);
    if (error != 0 || route.legs == NULL)
        return failure(error);
    legs = read_legs(search, &route);
    if (legs.count == 0)
        return 0;
    error = find_leg(search, &legs, &other);
    if (error != 0)
        return error;
    needs_add(&other.needs, &path->needs);
    *path = other;
    return 0;
}

/* FIB_MATCH does not say which source packets will carry. A plain query over the interface that was found does. */
int search_note_source(struct search *search, struct path *path)
{
    struct route route;
    int          error;

    if ((search->extras & SEARCH_SOURCE) == 0 || path->source.family != AF_UNSPEC || !path_is_usable(path))
        return 0;
    error = ask_plain(search, path->index, &route);
    if (error == 0)
        path->source = route.source;
    return failure(error);
}

/* While lo is down nothing reaches a loopback address, whatever the kernel says: before lo was up for the first time it
 * would send such packets out by the default route, and later it still calls the address local. */
static bool is_lost_loopback(const struct search *search)
{
    const struct link *lo = address_is_loopback(&search->request.destination)
                                ? view_link(search->view, LOOPBACK_INDEX)
                                : NULL;

    return lo != NULL && !link_is_up(lo);
}

/* The kernel sends these out of the interface that is asked for without a look at the routes. */
static bool needs_match(const struct search *search)
{
    return search->request.oif != 0 && search->request.destination.family == AF_INET &&
           !address_is_on_every_link(&search->request.destination);
}

/* A scope by number, of which the kernel only says that no route leaves it. What it told of links is taken in with the
 * answer. */
static bool is_missing(const struct search *search, const struct path *path)
{
    return path->reason == kSCNetworkReachabilityReasonNoRoute && search->request.oif != 0 &&
           view_link(search->view, search->request.oif) == NULL;
}

int search_address(struct search *search, struct path *ret)
{
    int error = needs_match(search) ? find_bound_ipv4(search, ret) : search_plain(search, ret);

    if (error != 0 && !path_from_error(error, search->bound, ret))
        return error;
    if (is_lost_loopback(search)) {
        *ret = path_without(kSCNetworkReachabilityReasonInterfaceDown);
        return 0;
    }
    if (is_missing(search, ret)) {
        *ret = path_without(kSCNetworkReachabilityReasonInterfaceMissing);
        return 0;
    }
    error = search_other_leg(search, ret);
    if (error == 0)
        error = search_note_source(search, ret);
    return error == 0 ? note_expiry(search, ret) : error;
}

/* ---- Beginning -------------------------------------------------------------------------------------------------- */

/* Whether the local address is this machine's: IPv6 accepts any source without a word. 0 or an errno. */
static int find_local(struct search *search, bool *ret)
{
    const struct address *local = &search->question->local;
    struct route_request  request = { .destination = *local,
                                      .mark = search->request.mark,
                                      .oif = address_is_link_local(local) ? search->request.oif : 0 };
    struct route          route;
    const int             error = view_ask(search->view, &request, &route);

    *ret = error == 0 && route.type == RTN_LOCAL;
    return failure(error);
}

int search_begin(struct search *search, bool *ret_open, struct path *ret)
{
    const struct question *question = search->question;
    uint32_t               named = 0;
    bool                   is_local = true;
    int                    error = 0;

    /* Of an IPv4 address a scope is a tunnel's interface. */
    search->bound = question->interface[0] != '\0' || (question->scope != 0 && question->destination.family == AF_INET);
    if (question->interface[0] != '\0')
        named = view_index_of(search->view, question->interface);
    search->request.destination = question->destination;
    search->request.source = question->local;
    *ret_open = question_interface(question, named, &search->request.oif, ret);
    if (!*ret_open || question->local.family == AF_UNSPEC)
        return 0;
    error = find_local(search, &is_local);
    if (!is_local)
        *ret = path_without(kSCNetworkReachabilityReasonLocalAddressNotAssigned);
    *ret_open = is_local;
    return error;
}
