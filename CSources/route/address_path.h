/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ADDRESS_PATH_H
#define REACHABILITY_ADDRESS_PATH_H

/* The path to an address: over the usable leg of a multipath route, through tunnels, and over ppp links. */

#include "route/route_query.h"

/* The calls below return 0, or an errno if the kernel could not be queried. If the kernel refuses a query, the call
 * returns 0 and the path says why. */

/* Finds the path to the question's destination. Call it after reach_route_query_begin. */
int reach_address_path_find(struct route_query *query, struct path *ret);

/* Steps of reach_address_path_find, for the destination in `query->request`: find the path by a plain query, or from
 * the route that matches. */
int reach_address_path_plain(struct route_query *query, struct path *ret);
int reach_address_path_from_match(struct route_query *query, struct route *match, struct path *ret);

/* If the path is not usable because of its leg, replaces it by the path over another leg of the route. */
int reach_address_path_try_other_legs(struct route_query *query, struct path *path);

/* Adds the source address to the path, if it is one of the query's extras. */
int reach_address_path_add_source(struct route_query *query, struct path *path);

#endif
