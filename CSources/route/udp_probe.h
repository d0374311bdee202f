/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_UDP_PROBE_H
#define REACHABILITY_UDP_PROBE_H

/*
 * Questions put to a UDP socket, for processes to which netlink is refused: it is connected, which sends nothing, and
 * tells whether there is a route and which source address packets would carry. Gateways, interfaces and what becomes of
 * a carrier it does not tell.
 */

#include "route/evaluate.h"

/* As evaluate_questions, in the network namespace of the calling thread. Nothing tells when the answer changes. */
int udp_probe_evaluate(const struct questions *questions, struct path *ret);

/* The index of the interface that has this name now, 0: there is none. */
uint32_t udp_probe_link_index(const char *name);

#endif
