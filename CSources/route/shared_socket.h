/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SHARED_SOCKET_H
#define REACHABILITY_SHARED_SOCKET_H

/* The targets of a network namespace share one socket for queries outside run loops, and one link table. The calls can
 * come from any thread, in any namespace. Those that return an int return 0 or an errno. */

#include <pthread.h>

#include "route/evaluate.h"

struct netns_handle;

struct shared_socket {
    const struct netns_handle *netns;
    pthread_mutex_t lock;       /* for the fields below */
    struct rtnetlink rtnetlink; /* closed: netlink is denied, use UDP sockets */
    struct retry reopen;        /* see reach_rtnetlink_should_reopen */
};

/* `netns` must outlive the socket. It can be opened after this call. */
int reach_shared_socket_init(struct shared_socket *shared, const struct netns_handle *netns);
void reach_shared_socket_close(struct shared_socket *shared);

/* Opens the socket. Without this call, the first question opens it. 0 also if netlink is denied. */
int reach_shared_socket_open(struct shared_socket *shared);

/* reach_evaluate_questions, or over UDP sockets if netlink is denied. Does not wait for RTNL, except for a question
 * about the local network, which needs a list of all links. */
int reach_shared_socket_evaluate(struct shared_socket *shared, const struct questions *questions, unsigned extras,
                                 struct path *ret);

/* The same, as one of the evaluations of a round. */
int reach_shared_socket_evaluate_in_round(struct shared_socket *shared, struct round_cache *cache,
                                          const struct questions *questions, unsigned extras, struct path *ret);

/* Sets the devices of links that the shared link table knows: sysfs need not be read for them again. */
void reach_shared_socket_lend_devices(struct shared_socket *shared, struct link_table *links);

/* Finds out all about a link, for the caller and for the shared link table. May wait for RTNL, on sockets of its own.
 * Returns 0 also if nothing more can be found out. ret->index 0: there is no such link. */
int reach_shared_socket_learn_link(struct shared_socket *shared, uint32_t index, struct link *ret);

/* Finds out the types that a path lacks: of its interface, and of what carries its tunnel. As above. */
int reach_shared_socket_learn_types(struct shared_socket *shared, struct path *path);

/* Adds to the flow of a path whether it is incomplete, if the path does not say so yet. May wait for RTNL, on a socket
 * of its own. */
int reach_shared_socket_settle_flow(struct shared_socket *shared, const struct questions *questions, struct path *path);

/* The current index of the interface with this name; 0: there is none. */
uint32_t reach_shared_socket_link_index(struct shared_socket *shared, const char *name);

#endif
