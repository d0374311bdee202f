/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_BUCKET_H
#define REACHABILITY_BUCKET_H

/* Buckets: the entries whose answers depend on the same link, or on the same IPv6 route that can expire. To mark all of
 * them is one assignment. store.c has the algorithm. Under the loop's lock. */

#include <stdbool.h>

#include "base/hash_tree.h"
#include "base/heap.h"
#include "base/list.h"
#include "pure/path.h"

struct entry;

/* What an answer depends on. */
#define BUCKET_NO_LINK  0u               /* no link: a message announces the route that is missing */
#define BUCKET_ANY_LINK UINT32_MAX       /* any link */
#define BUCKET_ADDRESS  (UINT32_MAX - 1) /* no link, but any IPv6 address */

struct bucket {
    struct hash_node node;      /* of the tree in struct buckets */
    struct list all, any, work; /* any: of `any` or `ipv6` in struct buckets */
    struct list entries;        /* those that are not to be queried again, by stamp */
    size_t count;               /* of all entries */
    uint64_t needed;            /* an older answer is stale */
    uint32_t link;
    bool is_ipv6;             /* the answers also depend on any IPv6 address, and on whether gateways respond */
    struct lifetime lifetime; /* of a route. Without a prefix: there is none */
    struct heap_node end;     /* of the lifetime */
    struct entry *probe;      /* is queried to see whether the lifetime has changed */
};

struct buckets {
    struct hash_node *tree;
    struct list all, any, ipv6; /* all buckets; those of any link; others for IPv6 */
    struct list work;           /* buckets that can have stale entries */
    struct bucket none, any_link;
    struct bucket many; /* any link, and several lifetimes, or one that is not shared */
    struct heap ends;   /* of lifetimes */
};

void buckets_init(struct buckets *buckets);

/* Finds or creates the bucket. Without memory, it is one that is marked more often. `is_ipv6`: of answers about IPv6
 * addresses. `lifetime` without a prefix: none. */
struct bucket *bucket_get(struct buckets *buckets, uint32_t link, bool is_ipv6, const struct lifetime *lifetime);
struct bucket *bucket_find_link(const struct buckets *buckets, uint32_t link); /* for IPv4. NULL: there is none */

/* No entry is left in it. */
void bucket_delete(struct buckets *buckets, struct bucket *bucket);

/* All answers in it from before `now` are stale. */
void bucket_mark(struct buckets *buckets, struct bucket *bucket, uint64_t now);

static inline bool bucket_has_lifetime(const struct bucket *bucket)
{
    return bucket->lifetime.prefix.address.family != AF_UNSPEC;
}

#endif
