/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_PATH_H
#define REACHABILITY_PATH_H

/* From a route and a link to flags and reason. Only path.c decides what the flags mean. */

#include "pure/link.h"

/* What a path depends on, besides the routes to its destination. */
struct dependencies {
    uint32_t expires;      /* USER_HZ ticks until an IPv6 route ends; 0: never */
    uint32_t recheck;      /* seconds after which the path is stale, as nothing announces a change; 0: never */
    uint32_t unknown_link; /* the flags may change when this link's type is known; 0: there is none */
    struct address outer;  /* the remote address of a tunnel; AF_UNSPEC: there is none */
    bool any_route;        /* every route matters: there are several remote addresses */
};

/* Whether the next hop responds, for targets that report it. */
enum path_hop {
    PATH_HOP_UNREAD,  /* not known yet */
    PATH_HOP_UNKNOWN, /* the kernel does not know, or there is none */
    PATH_HOP_RESPONDS,
    PATH_HOP_FAILED, /* and has not responded since */
};

struct path {
    SCNetworkReachabilityFlags flags;
    SCNetworkReachabilityReason reason;
    uint32_t index; /* of the interface; 0: there is none */
    SCNetworkReachabilityInterfaceType type;
    char name[16];
    uint32_t mtu, table;
    struct address destination, source, gateway;
    SCNetworkReachabilityEvidence evidence;
    SCNetworkReachabilityFlow flow;
    SCNetworkReachabilityNextHop next_hop; /* with QUERY_NEXT_HOP */
    uint8_t hop;                           /* enum path_hop */
    bool left_failed_hop;                  /* the next hop before this one has failed */
    bool flow_unsettled;                   /* more is to be known of rules or links for `flow` */
    uint32_t source_index;                 /* of the interface with the local address; 0: not known */
    bool type_unknown;                     /* the type of the interface is not known yet */
    bool leads_out;                        /* reach_link_leads_out of the interface */
    bool point_to_point;                   /* there is no next hop: the other end of the link is it */
    bool wireguard;                        /* the path depends on the endpoint of a WireGuard peer */
    uint32_t metric;                       /* of a default route */
    uint32_t underlay;                     /* path_underlay_bits of what the packets of a tunnel leave over */
    uint32_t unknown_underlay;             /* of it, an interface whose type is not known yet; 0: there is none */
    struct dependencies dependencies;
};

/* In `underlay`: one of the interfaces leads out. */
#define PATH_UNDERLAY_LEADS_OUT (1u << 31)

/* 1 << type, and perhaps PATH_UNDERLAY_LEADS_OUT. */
static inline uint32_t path_underlay_bits(SCNetworkReachabilityInterfaceType type, bool leads_out)
{
    return 1u << type | (leads_out ? PATH_UNDERLAY_LEADS_OUT : 0);
}

/* A path without flags. */
struct path reach_path_unreachable(SCNetworkReachabilityReason reason);

/* Converts the errno of a route query, or of connect(2), to a path. `bound`: the query named an interface. False: the
 * errno is not the kernel's reply; the query itself failed. */
bool reach_path_from_error(int error, bool bound, struct path *ret);

/* Evaluates a route with one leg, for packets to `destination`. `link` is the link of the route's oif; NULL: it is
 * gone. `source_chosen`: the question names the source address. */
void reach_path_evaluate(const struct address *destination, bool source_chosen, const struct route *route,
                         const struct link *link, struct path *ret);

/* Evaluates a link to the local network. */
void reach_path_evaluate_local(const struct link *link, struct path *ret);

/* Applies the path of a tunnel's own packets to a path through the tunnel. `remote` is the tunnel's remote address. */
void reach_path_apply_outer(struct path *path, const struct address *remote, const struct path *outer);

/* Adds how a route on the path can end without a message: the reply to a query with RTM_F_FIB_MATCH. */
void reach_dependencies_add_lifetime(struct dependencies *dependencies, const struct route *match);

/* Adds the dependencies in `more`. */
void reach_dependencies_add(struct dependencies *dependencies, const struct dependencies *more);

/* Evaluates the source address that the kernel gave to a UDP socket connected to `destination`. A socket shows neither
 * gateway nor interface. */
struct path reach_path_from_source(const struct address *destination, bool source_chosen, const struct address *source);

bool reach_path_is_usable(const struct path *path);

/* Usable, and not the default path in place of a pending name. */
bool reach_path_is_reachable(const struct path *path);

/* Orders paths: 2 usable, 1 needs a connection by hand first, 0 not reachable. */
int reach_path_rank(const struct path *path);

/* What a target reports of a path. */
struct outcome {
    SCNetworkReachabilityFlags flags;
    uint32_t index; /* of the interface */
    uint16_t reason;
    uint8_t flow; /* all its bits fit */
    bool flow_unsettled;
};

static inline struct outcome path_outcome(const struct path *path)
{
    return (struct outcome){ .flags = path->flags,
                             .index = path->index,
                             .reason = (uint16_t)path->reason,
                             .flow = (uint8_t)path->flow,
                             .flow_unsettled = path->flow_unsettled };
}

/* Whether the change from `a` to `b` makes a callback due. */
bool reach_outcome_differs(const struct outcome *a, const struct outcome *b);

/* The same for a target that reports its flow. What is not known yet is no difference. */
bool reach_outcome_flow_differs(const struct outcome *a, const struct outcome *b);

/* Whether more differs than the flow: flags, interface, reason, gateway or source. */
bool reach_path_differs(const struct path *a, const struct path *b);

/* Whether the change makes a callback due for a target that reports details. `from` and `to`: of `a` and `b`. */
bool reach_details_differ(const struct outcome *from, const struct outcome *to, const struct path *a,
                          const struct path *b);

#endif
