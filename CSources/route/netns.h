/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NETNS_H
#define REACHABILITY_NETNS_H

/* A network namespace with targets. */

#include "kernel/rtnetlink.h"

struct netns;
struct shared_socket;

/* Sets *ret to the namespace of the calling thread, with a reference. Returns 0 or an errno. */
int reach_netns_current(struct netns **ret);
void reach_netns_retain(struct netns *netns);
void reach_netns_retain_locked(struct netns *netns); /* under reach_process_lock */
void reach_netns_release(struct netns *netns);

/* For the calls that take a namespace, and those of route/shared_socket.h, while the caller has a reference. */
const struct netns_handle *reach_netns_handle(const struct netns *netns);
struct shared_socket *reach_netns_socket(struct netns *netns);

/* Moves the calling thread into the namespace: only for threads of the library. Returns 0 or an errno. */
int reach_netns_enter(struct netns *netns);

/* Returns for how many seconds reading the peers of WireGuard links is of no use, because this user was refused; 0: try
 * it. `refused`: the kernel has just done that. */
uint32_t reach_netns_peers_pause(struct netns *netns, bool refused);

#endif
