/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NEIGHBOURS_H
#define REACHABILITY_NEIGHBOURS_H

#include <pthread.h>

#include "kernel/rtnetlink.h"

/* Reads the state of the kernel's entry for a neighbour; NUD_NONE: there is none. No packet is sent. Returns 0 or an
 * errno. EOPNOTSUPP: a kernel before 5.0. */
int neighbours_query(struct rtnetlink *rtnetlink, uint32_t index, const struct address *address, uint16_t *ret_state);

/* A socket for neighbours_query, kept between two calls of the program. It is not the socket for routes: this query may
 * wait for RTNL, and route queries would wait with it. */
struct neighbour_socket {
    pthread_mutex_t lock;
    struct netlink requests;
};

int neighbour_socket_init(struct neighbour_socket *ret); /* it is not open. Returns 0 or an errno */
void neighbour_socket_close(struct neighbour_socket *socket);

/* As neighbours_query, from any thread. Unless `open`, returns EBADF if the socket is not open, or the program has
 * closed it. With `open`, opens it then, in the calling thread's network namespace. */
int neighbour_socket_query(struct neighbour_socket *socket, bool open, uint32_t index, const struct address *address,
                           uint16_t *ret_state);

/* Whether an IPv6 neighbour does not respond: its entry has failed, or the kernel probes it. True also if that is not
 * known. Only the thread that handles events calls it: it waits for RTNL. */
bool neighbours_any_failed(struct rtnetlink *rtnetlink);

#endif
