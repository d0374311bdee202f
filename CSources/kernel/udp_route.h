/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_UDP_ROUTE_H
#define REACHABILITY_UDP_ROUTE_H

/*
 * What an IPv6 UDP socket shows about a route request that a route query does not show. No packet is sent.
 *
 * For a packet with a source address from a socket that is bound to an interface, the kernel uses only routes over that
 * interface. A query with both uses the others, too. And a query without a source does not choose a source.
 *
 * A machine without IPv6 routes needs this for each IPv6 question outside run loops. To open and close a socket takes
 * as long as all else, so one is kept. It is not connected between requests.
 */

#include "kernel/rtnetlink.h"

struct udp_route {
    bool is_known;         /* false: a sandbox refuses the socket, or bind(2) refuses the source */
    int error;             /* of connect(2), for reach_path_from_error; 0: a packet can leave */
    struct address source; /* of the packet */
};

/* Connects a socket as the request says. Returns 0, or an errno for a lack of resources. */
int reach_udp_route_find(struct rtnetlink *rtnetlink, const struct route_request *request, struct udp_route *ret);

/* Finds the source address of packets to a destination to which a query without a source has found no route, as it is
 * source-specific. AF_UNSPEC: connect(2) finds no route either, or a sandbox refuses it. Returns as above. */
int reach_udp_route_choose_source(struct rtnetlink *rtnetlink, const struct route_request *request,
                                  struct address *ret);

/* Opens sockets for queries where netlink is denied. connect(2) of a UDP socket shows whether there is a route, whether
 * it is local, broadcast or multicast, and the source address; not the prefix, and neither gateway nor interface nor
 * carrier. Returns 0 or an errno. */
int reach_udp_route_open(struct rtnetlink *ret, const struct netns_handle *netns);

#endif
