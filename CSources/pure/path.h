/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_PATH_H
#define REACHABILITY_PATH_H

/* What a route and a link mean for a target: flags and reason. Pure: the semantics live here. */

#include "pure/link.h"

/* What an answer hangs on besides routes to the destination. */
struct dependencies {
    uint32_t       expires;   /* USER_HZ ticks until it may be another one; 0: never */
    uint32_t       unknown;   /* a link of which more has to be known; 0: none */
    struct address outer;     /* where the packets of a tunnel go; AF_UNSPEC: none */
    bool           any_route; /* there are several of these */
};

struct path {
    SCNetworkReachabilityFlags         flags;
    SCNetworkReachabilityReason        reason;
    uint32_t                           index; /* of the interface; 0: none */
    SCNetworkReachabilityInterfaceType type;
    char                               name[16];
    uint32_t                           mtu, table;
    struct address                     destination, source, gateway;
    SCNetworkReachabilityEvidence      evidence;
    bool                               untyped;   /* its interface is not known well enough for its type */
    bool                               wireguard; /* it hangs on where a peer is */
    struct dependencies                depends_on;
};

/* No flags, for a reason. */
struct path path_unreachable(SCNetworkReachabilityReason reason);

/* What the errno of a route query means. `bound`: an interface was asked for. False: it is no answer, the kernel could
 * not be asked. */
bool path_from_error(int error, bool bound, struct path *ret);

/* What a route, of one leg, means for a packet to `destination`. `link` is that of the route's oif, NULL when it is
 * gone. `source_chosen`: the caller brings its own source address. */
void path_evaluate(const struct address *destination, bool source_chosen, const struct route *route,
                   const struct link *link, struct path *ret);

/* What it means for a tunnel's path that its own packets, which go to `end`, take this one. */
void path_apply_outer(struct path *path, const struct address *end, const struct path *outer);

/* Of both. */
void dependencies_add(struct dependencies *depends_on, const struct dependencies *more);

/* What it means that a connected UDP socket took this source for a packet to `destination`. Whether a gateway or which
 * interface is on the way, a socket does not tell. */
struct path path_from_source(const struct address *destination, bool source_chosen, const struct address *source);

bool path_is_usable(const struct path *path);

/* Usable before connection required before none. */
int path_rank(const struct path *path);

/* Whether a callback is due when `b` follows `a`. `whole`: also for reason, gateway and source. */
bool path_differs(const struct path *a, const struct path *b, bool whole);

#endif
