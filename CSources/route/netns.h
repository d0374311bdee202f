/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NETNS_H
#define REACHABILITY_NETNS_H

/* A network namespace in which targets exist, and what its targets share: one socket for unscheduled queries, and the
 * link table that goes with it. */

#include "route/evaluate.h"

struct netns;

/* Returns the calling thread's namespace in *ret, with a reference. Returns 0 or an errno. */
int  netns_current(struct netns **ret);
void netns_retain(struct netns *netns);
void netns_retain_locked(struct netns *netns); /* under process_lock */
void netns_release(struct netns *netns);

/* Runs a call in the namespace, whichever one the calling thread is in: netns_handle_run. */
int netns_run(const struct netns *netns, int (*run)(void *argument), void *argument);

/* Moves the calling thread, one of the library's, into the namespace for good. Returns 0 or an errno. */
int netns_enter(const struct netns *netns);

/* Opens sockets in the namespace. Returns 0 or an errno; EPERM: this process may not enter it; NETLINK_DENIED. */
int netns_open_rtnetlink(struct netns *netns, enum rtnetlink_scope scope, struct rtnetlink *ret);

/* evaluate_questions over the shared socket, or udp_probe_evaluate where netlink is denied. From any thread. Does not
 * wait for RTNL. */
int netns_evaluate(struct netns *netns, const struct questions *questions, unsigned extras, struct path *ret);

/* Finds out the type of a link, for the caller and for the shared link table. May wait for RTNL, on sockets of its own.
 * Returns 0, also where nothing more can be found out (ret->index 0: no such link), or an errno. */
int netns_learn_link(struct netns *netns, uint32_t index, struct link *ret);

/* link_type_query in the namespace, for a caller with a link table of its own. */
int netns_query_link_type(struct netns *netns, uint32_t index, struct link *ret);

/* The index of the interface that has this name now, 0: there is none. */
uint32_t netns_link_index(struct netns *netns, const char *name);

/* Whether this process may not read the peers of WireGuard links here. Found out once. */
bool netns_hides_peers(const struct netns *netns);
void netns_set_hides_peers(struct netns *netns);

#endif
