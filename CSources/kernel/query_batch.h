/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_QUERY_BATCH_H
#define REACHABILITY_QUERY_BATCH_H

/* Route queries that are sent together, before their replies are needed: one send(2) for many. */

#include "kernel/netlink.h"
#include "pure/message.h"

#define QUERY_BATCH_LIMIT 128 /* their replies fit into the receive buffer of a socket */

struct query_batch;

/* The caller frees it. NULL: no memory. */
struct query_batch *reach_query_batch_create(void);

/* Sends the queries, behind the barrier if `barrier`, and reads the replies. Replaces the previous ones.
 * Returns 0, or an errno: then there are no replies. A lost reply is missing, and is no error. */
int reach_query_batch_send(struct query_batch *batch, struct netlink *netlink, bool barrier, uid_t user,
                           const struct route_request *requests, size_t count);

/* Takes the reply to a query. It is valid until the next reach_query_batch_send. False: there is none. */
bool reach_query_batch_take(struct query_batch *batch, const struct route_request *request, struct message *ret);

/* Forgets the replies: they may be outdated. */
void reach_query_batch_clear(struct query_batch *batch);

#endif
