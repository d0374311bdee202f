/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NETNS_H
#define REACHABILITY_NETNS_H

/* A network namespace with targets. */

#include "kernel/rtnetlink.h"

struct neighbour_socket;
struct netns;
struct shared_socket;

/* Sets *ret to the namespace of the calling thread, with a reference. Returns 0 or an errno. */
int netns_current(struct netns **ret);
void netns_retain(struct netns *netns);
void netns_retain_locked(struct netns *netns); /* under process_lock */
void netns_release(struct netns *netns);

/* For the calls of base/netns_handle.h, kernel/neighbours.h and route/shared_socket.h, while the caller has a
 * reference. */
struct netns_handle *netns_handle(struct netns *netns);
struct neighbour_socket *netns_neighbours(struct netns *netns);
struct shared_socket *netns_socket(struct netns *netns);

/* netns_handle_run: runs `run` in the namespace, from a thread in any namespace. */
int netns_run(struct netns *netns, int (*run)(void *argument), void *argument);

/* Moves the calling thread into the namespace: only for threads of the library. Returns 0 or an errno. */
int netns_enter(struct netns *netns);

/* Opens sockets in the namespace. Returns 0, an errno (EPERM: this process may not enter the namespace), or
 * NETLINK_DENIED. */
int netns_open_rtnetlink(struct netns *netns, enum rtnetlink_scope scope, struct rtnetlink *ret);

/* Whether this process may not read the peers of WireGuard links in this namespace. The first failure sets it. */
bool netns_hides_peers(const struct netns *netns);
void netns_set_hides_peers(struct netns *netns);

#endif
