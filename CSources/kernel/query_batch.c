/* SPDX-License-Identifier: MIT */
/*
 * Route queries that are sent together.
 *
 * What this file must never do: return the reply to another request, or keep replies while messages are read. A reply
 * is as old as its batch.
 */
#ifdef __linux__
#include "kernel/query_batch.h"

#include <stdlib.h>

#define REPLY_SIZE 512 /* bytes; the reply for a route with many legs can be longer, and counts as lost */

struct query {
    struct route_request request;
    size_t length; /* of the reply; 0: there is none */
    _Alignas(struct nlmsghdr) char reply[REPLY_SIZE];
};

struct query_batch {
    size_t count, next; /* replies are usually taken in order */
    struct query queries[QUERY_BATCH_LIMIT];
    _Alignas(struct nlmsghdr) char bytes[(QUERY_BATCH_LIMIT + 1) * MESSAGE_REQUEST_SIZE]; /* the requests */
};

struct query_batch *reach_query_batch_create(void)
{
    return calloc(1, sizeof(struct query_batch));
}

void reach_query_batch_clear(struct query_batch *batch)
{
    batch->count = batch->next = 0;
}

/* Stores each reply with the query that has its sequence number. The kernel replies inside send, so a reply that is not
 * there now never comes. Returns 0 or an errno. */
static int receive_replies(struct query_batch *batch, struct netlink *netlink, uint32_t first)
{
    _Alignas(struct nlmsghdr) char bytes[REPLY_SIZE];
    struct message message;

    for (;;) {
        const ssize_t length = netlink_receive(netlink, bytes, sizeof bytes);

        if (length == -EMSGSIZE || length == NETLINK_FOREIGN)
            continue;
        if (length <= 0)
            return (int)-length;
        if (netlink->to_group || reach_message_parse(bytes, (size_t)length, &message) == 0 ||
            message.sequence - first >= batch->count) /* the barrier's */
            continue;
        memcpy(batch->queries[message.sequence - first].reply, bytes, (size_t)length);
        batch->queries[message.sequence - first].length = (size_t)length;
    }
}

int reach_query_batch_send(struct query_batch *batch, struct netlink *netlink, bool barrier, uid_t user,
                           const struct route_request *requests, size_t count)
{
    size_t length = 0;
    uint32_t first;
    int error;

    reach_query_batch_clear(batch);
    if (barrier)
        length = reach_message_put_barrier(batch->bytes, ++netlink->sequence);
    first = netlink->sequence + 1;
    for (size_t i = 0; i < count; i++) {
        batch->queries[i].request = requests[i];
        batch->queries[i].length = 0;
        length += reach_message_put_route_query(batch->bytes + length, ++netlink->sequence, user, &requests[i]);
    }
    batch->count = count;
    reach_netlink_make_room(netlink);
    error = netlink_send(netlink, batch->bytes, length);
    if (error == 0)
        error = receive_replies(batch, netlink, first);
    if (error != 0)
        reach_query_batch_clear(batch);
    return error;
}

static bool is_same_request(const struct route_request *a, const struct route_request *b)
{
    return a->fib_match == b->fib_match && a->oif == b->oif && a->mark == b->mark &&
           reach_address_equal(&a->destination, &b->destination) && reach_address_equal(&a->source, &b->source) &&
           flow_equal(&a->flow, &b->flow);
}

bool reach_query_batch_take(struct query_batch *batch, const struct route_request *request, struct message *ret)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct query *query = &batch->queries[(batch->next + i) % batch->count];

        if (!is_same_request(&query->request, request))
            continue;
        batch->next = (batch->next + i + 1) % batch->count;
        if (query->length == 0)
            return false;
        (void)reach_message_parse(query->reply, query->length, ret);
        query->length = 0;
        return true;
    }
    return false;
}
#endif
