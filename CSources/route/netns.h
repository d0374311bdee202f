/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NETNS_H
#define REACHABILITY_NETNS_H

/* A network namespace with targets. Its targets share one socket for queries outside run loops, and one link table. */

#include "route/evaluate.h"

struct neighbour_socket;
struct netns;

/* Sets *ret to the namespace of the calling thread, with a reference. Returns 0 or an errno. */
int netns_current(struct netns **ret);
void netns_retain(struct netns *netns);
void netns_retain_locked(struct netns *netns); /* under process_lock */
void netns_release(struct netns *netns);

/* For the calls of base/netns_handle.h and kernel/neighbours.h, while the caller has a reference. */
struct netns_handle *netns_handle(struct netns *netns);
struct neighbour_socket *netns_neighbours(struct netns *netns);

/* netns_handle_run: runs `run` in the namespace, from a thread in any namespace. */
int netns_run(struct netns *netns, int (*run)(void *argument), void *argument);

/* Moves the calling thread into the namespace: only for threads of the library. Returns 0 or an errno. */
int netns_enter(struct netns *netns);

/* Opens sockets in the namespace. Returns 0, an errno (EPERM: this process may not enter the namespace), or
 * NETLINK_DENIED. */
int netns_open_rtnetlink(struct netns *netns, enum rtnetlink_scope scope, struct rtnetlink *ret);

/* evaluate_questions over the shared socket, or udp_probe_evaluate if netlink is denied. From any thread. Does not wait
 * for RTNL, except for a question about the local network, which needs a list of all links. */
int netns_evaluate(struct netns *netns, const struct questions *questions, unsigned extras, struct path *ret);

/* The same, as one of the evaluations of a round. */
int netns_evaluate_in_round(struct netns *netns, struct round_cache *cache, const struct questions *questions,
                            unsigned extras, struct path *ret);

/* Sets the devices of links that the shared link table knows: sysfs need not be read for them again. */
void netns_lend_devices(struct netns *netns, struct link_table *links);

/* Finds out all about a link, for the caller and for the shared link table. May wait for RTNL, on sockets of its own.
 * Returns 0, also if nothing more can be found out, or an errno. ret->index 0: there is no such link. */
int netns_learn_link(struct netns *netns, uint32_t index, struct link *ret);

/* Adds to the flow of a path whether it is incomplete, if the path does not say so yet. May wait for RTNL, on a socket
 * of its own. Returns 0 or an errno. */
int netns_settle_flow(struct netns *netns, const struct questions *questions, struct path *path);

/* link_type_query in the namespace, for a caller with a link table of its own. */
int netns_query_link_type(struct netns *netns, uint32_t index, struct link *ret);

/* The current index of the interface with this name; 0: there is none. */
uint32_t netns_link_index(struct netns *netns, const char *name);

/* Whether this process may not read the peers of WireGuard links in this namespace. The first failure sets it. */
bool netns_hides_peers(const struct netns *netns);
void netns_set_hides_peers(struct netns *netns);

#endif
