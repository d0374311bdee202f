/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ADDRESS_PATH_H
#define REACHABILITY_ADDRESS_PATH_H

/* The path to an address: the route, the usable leg of a multipath route, and what is behind a tunnel or a ppp link. */

#include "route/route_query.h"

/* The calls below return 0, or an errno: the kernel could not be queried. */

/* The path to the question's destination. After route_query_begin. */
int address_path_find(struct route_query *query, struct path *ret);

/* Parts of that, for the destination of `query->request`. An errno may be the kernel's answer: path_from_error. */
int address_path_plain(struct route_query *query, struct path *ret);
int address_path_from_match(struct route_query *query, struct route *match, struct path *ret);

/* If the path's leg is dead or leads nowhere, takes another leg of the route. */
int address_path_try_other_legs(struct route_query *query, struct path *path);

/* Adds the source address, if it is one of the query's extras. */
int address_path_add_source(struct route_query *query, struct path *path);

#endif
