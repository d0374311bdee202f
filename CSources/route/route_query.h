/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ROUTE_QUERY_H
#define REACHABILITY_ROUTE_QUERY_H

/* The RTM_GETROUTE queries of one question. */

#include "kernel/rtnetlink.h"
#include "pure/path.h"
#include "pure/question.h"

/* What a path has besides flags, reason and interface. Bits. */
enum query_extras {
    QUERY_EXPIRY = 1, /* when the kernel will let the route expire without a message */
    QUERY_SOURCE = 2  /* the source address, where that takes another query */
};

struct route_query {
    struct rtnetlink      *rtnetlink;
    const struct question *question;
    unsigned               extras;
    struct route_request   request;    /* what all queries have in common */
    bool                   bound;      /* to an interface, and not just by the scope of an address */
    unsigned               depth;      /* how many more tunnels inside one another are followed */
    int                    link_error; /* why a link could not be read; 0: each could */
};

struct route_query route_query_make(struct rtnetlink *rtnetlink, const struct question *question, unsigned extras);

/* The calls below return 0, or an errno: the kernel could not be queried. */

/* Finds the interface, and checks the local address. *ret_open false: `ret` is the answer already. */
int route_query_begin(struct route_query *query, bool *ret_open, struct path *ret);

/* Query `request.destination`: the way that a packet takes out of an interface (0: any), and the route that matches.
 * An errno may be the kernel's answer: path_from_error tells. */
int route_query_plain(struct route_query *query, uint32_t oif, struct route *ret);
int route_query_match(struct route_query *query, struct route *ret);

/* What a second query may fail with, after a first one was answered. 0: the kernel's answer, which leaves the path as
 * it is. */
int route_query_failure(int error);

/* Returns the link, or NULL: there is none, or `link_error` is set. Valid until the next query. */
const struct link *route_query_link(struct route_query *query, uint32_t index);

/* Has the path evaluated again after some seconds, as no message will say that it changed. */
void route_query_recheck_after(struct path *path, uint32_t seconds);

#endif
