/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_UDP_PROBE_H
#define REACHABILITY_UDP_PROBE_H

/*
 * The evaluation of questions with UDP sockets, for processes that may not use netlink. The connect(2) of a UDP socket
 * sends no packet. It shows whether there is a route, and the source address of packets. It shows neither gateway nor
 * interface nor carrier.
 */

#include "route/evaluate.h"

/* Like evaluate_questions, in the network namespace of the calling thread. No message announces a change of the
 * path. */
int udp_probe_evaluate(const struct netns_handle *netns, const struct questions *questions, struct path *ret);

/* Reads the current index of the interface with this name; 0: there is none. Returns 0 or an errno. */
int udp_probe_link_index(const struct netns_handle *netns, const char *name, uint32_t *ret);

#endif
