/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NETWORK_SERVICE_H
#define REACHABILITY_NETWORK_SERVICE_H

/*
 * Keeps the network path of a namespace up to date, for one run loop, and reports each change to the targets that want
 * to know it. Names must be looked up again when a resolver file, a default path or the path to the name servers has
 * changed. If changes go on, there are pauses between these reports.
 */

#include "base/heap.h"
#include "route/network_path.h"
#include "watch/monitor.h"
#include "watch/service.h"

struct network_service;

/* The owner sets `user.owner` and `report`. */
struct network_user {
    struct service_user user;
    struct network_service *service; /* NULL: none */
    struct heap_node deadline;       /* of a name; in the service's heap */
    /* Called on the driving thread, without a lock. Takes a reference if it keeps the network path.
     * Of a network target: once with the whole path, then after each change.
     * Of a name: once soon after it has joined, then after each change of the default path. `changed`: something
     * changed that affects names. `network` NULL: the deadline has passed; there is none now. */
    void (*report)(struct network_user *user, struct network_path *network, bool changed);
};

/* From any thread. Adds the user to the loop's service for the namespace, until reach_network_service_leave. Returns 0
 * or an errno. */
int reach_network_service_join(SCRunLoopRef loop, struct netns *netns, struct network_user *user, bool is_name);

/* Does nothing if the user is in no service. From any thread. */
void reach_network_service_leave(SCRunLoopRef loop, struct network_user *user);

/* The network path for a network target that has joined, with a reference; some uplinks may be missing. Does not wait
 * for RTNL. Returns 0 or an errno. */
int reach_network_service_first(SCRunLoopRef loop, const struct network_user *user, struct network_path **ret);

/* Of a name. From any thread. */
void reach_network_service_set_deadline(SCRunLoopRef loop, struct network_user *user, int64_t deadline);

/* IPv4's path if that is usable, then IPv6's. If neither is, IPv4's reason counts, unless it has no default route. */
const struct path *reach_network_service_default_path(const struct network_path *network);

/* Reads which name servers there are, and gets the questions about the network path, with a reference. Returns 0 or an
 * errno. */
int reach_network_service_questions(struct questions **ret);

#endif
