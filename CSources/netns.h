/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NETNS_H
#define REACHABILITY_NETNS_H

/* A network namespace in which targets exist: the way back to it, and one shared view for those who only ask. */

#include "route.h"
#include "util.h"
#include "wireguard.h"

struct netns;

/* That of the calling thread, with a reference. 0 or an errno. */
int  netns_current(struct netns **ret);
void netns_retain(struct netns *netns);
void netns_retain_locked(struct netns *netns); /* under process_lock */
void netns_release(struct netns *netns);

/* Takes the calling thread, one of ours, to the namespace of the process as a whole, so that it keeps no other one
 * alive; where that cannot be, it stays. */
void netns_go_home(void);

/* Takes the calling thread, one of ours, to the namespace for good, and runs something there. 0, what `run`
 * answered, or an errno: it could not go there. */
int netns_stay(const struct netns *netns, int (*run)(void *argument), void *argument);

/* Opens a view in the namespace, whichever one the calling thread is in. 0 or an errno; EPERM when the process may
 * not go there; NETLINK_DENIED. */
int netns_open_view(struct netns *netns, enum view_scope scope, struct view *ret);

/* route_find over the shared view, or socket_find where netlink is denied; from any thread. Does not wait for RTNL. */
int netns_ask(struct netns *netns, const struct questions *questions, unsigned extras, struct path *ret);

/* All about a link, for the caller and for the shared view. What that one does not know is asked for over sockets of
 * its own, as that may wait for RTNL. 0, also where there is no more to be found out (ret->index 0: nothing), or an
 * errno. */
int netns_learn(struct netns *netns, uint32_t index, struct link *ret);

/* The same, for a view of the caller's own: device_find in the namespace. */
int netns_find_link(struct netns *netns, uint32_t index, struct link *ret);

/* Behind a WireGuard link the way to the peer counts, where the process may see the peers. Nobody tells when these
 * move, so the path is to be asked for again after a while. Peers that were read a moment ago serve for many paths. May
 * wait for RTNL. 0 or an errno. */
int netns_follow_wireguard(struct netns *netns, struct peers *peers, struct path *path);

/* The index of the interface that has this name now, 0: there is none. */
uint32_t netns_index_of(struct netns *netns, const char *name);

#endif
