/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ROUTE_QUERY_H
#define REACHABILITY_ROUTE_QUERY_H

/* The RTM_GETROUTE queries of one question, and what those of a round share. */

#include "kernel/rtnetlink.h"
#include "kernel/wireguard.h"
#include "pure/path.h"
#include "pure/question.h"

/* What to find for a path besides flags, reason and interface. Bits. */
enum query_extras {
    QUERY_EXPIRY = 1, /* the time at which the route expires: the kernel sends no message then */
    QUERY_SOURCE = 2, /* the source address, also if that takes another query */
    QUERY_EXPIRY_KNOWN =
        4,              /* the caller knows when the route expires; QUERY_EXPIRY is about the other end of a tunnel */
    QUERY_FLOW = 8,     /* what SCNetworkReachabilityPath.flow says */
    QUERY_NEXT_HOP = 16 /* whether the next hop responds */
};

/* What many evaluations of one round need. They share it, so a round with many paths reads it once. */
struct round_cache {
    struct wireguard wireguard;

    /* Is called for each IPv6 gateway on which a result depends, besides that of its path: the kernel ignores a route
     * while its gateway does not respond. Not under a namespace's lock. NULL: no message about it comes. */
    void (*hold_gateway)(struct round_cache *cache, uint32_t index, const struct address *gateway);
};

#define ROUND_CACHE_EMPTY ((struct round_cache){ 0 })

/* Nothing announces that what was read has changed: the next round reads it again. */
static inline void round_cache_end(struct round_cache *cache)
{
    reach_wireguard_clear(&cache->wireguard);
}

static inline void round_cache_hold_gateway(struct round_cache *cache, uint32_t index, const struct address *gateway)
{
    if (cache->hold_gateway != NULL && gateway->family == AF_INET6)
        cache->hold_gateway(cache, index, gateway);
}

struct route_query {
    struct rtnetlink *rtnetlink;
    struct round_cache *cache;
    const struct question *question;
    unsigned extras;
    struct route_request request; /* the parameters that all queries share */
    bool bound;                   /* the question names an interface, not just the scope of an IPv6 address */
    unsigned depth;               /* how many more tunnels inside one another to follow */
    int link_error;               /* the errno of a failure to read a link, or 0 */
    uint32_t unknown_link;        /* the path may change when all is known about this link; 0: there is none */
};

struct route_query reach_route_query_make(struct rtnetlink *rtnetlink, struct round_cache *cache,
                                          const struct question *question, unsigned extras);

/* The calls below return 0, or an errno if the kernel could not be queried. */

/* Finds the interface, and checks the local address. *ret_open false: *ret is the path already. */
int reach_route_query_begin(struct route_query *query, bool *ret_open, struct path *ret);

/* Adds to the path what it depends on besides routes. Call it last. */
int reach_route_query_end(const struct route_query *query, struct path *path);

/* Query the route to `request.destination`. reach_route_query_plain returns the way that a packet takes out of an
 * interface (0: any), reach_route_query_match the route that matches. A returned errno can be the kernel's reply: pass
 * it to reach_route_query_path_from_error or reach_route_query_failure. */
#define ROUTE_QUERY_PREFIX_UNKNOWN UINT8_MAX /* prefix_length of a route that no query returns: a socket uses it */
int reach_route_query_plain(struct route_query *query, uint32_t oif, struct route *ret);
int reach_route_query_match(struct route_query *query, struct route *ret);

/* Whether an interface is another one than the question names. If that is a VRF, its ports are not. */
bool reach_route_query_is_outside(struct route_query *query, uint32_t index);

/* Converts the errno of a query. Returns 0 and a path if it is the kernel's reply, else the errno. */
int reach_route_query_path_from_error(struct route_query *query, int error, struct path *ret);

/* The same for a further query, whose reply cannot make the path worse: returns 0 if the errno is the kernel's
 * reply. */
int reach_route_query_failure(int error);

/* Returns the link, valid until the next query. NULL: there is no such link, or `link_error` is set. */
const struct link *reach_route_query_link(struct route_query *query, uint32_t index);

/* Makes the path stale after some seconds, for changes that the kernel does not announce. */
void reach_route_query_recheck_after(struct path *path, uint32_t seconds);

#endif
