/* SPDX-License-Identifier: MIT */
/*
 * The buckets of a monitor's entries.
 *
 * What this file must never do: leave an answer without a bucket if there is no memory.
 */
#ifdef __linux__
#include "watch/bucket.h"

#include <stdlib.h>

#include "base/clock.h"

struct bucket_key {
    uint32_t link;
    bool is_ipv6;
    struct lifetime lifetime;
};

static void add_bucket(struct buckets *buckets, struct bucket *bucket, const struct bucket_key *key)
{
    *bucket = (struct bucket){ .link = key->link, .is_ipv6 = key->is_ipv6, .lifetime = key->lifetime };
    list_init(&bucket->all);
    list_init(&bucket->any);
    list_init(&bucket->work);
    list_init(&bucket->entries);
    heap_node_init(&bucket->end);
    list_append(&buckets->all, &bucket->all);
    if (key->link == BUCKET_ANY_LINK)
        list_append(&buckets->any, &bucket->any);
    else if (key->is_ipv6)
        list_append(&buckets->ipv6, &bucket->any);
}

void buckets_init(struct buckets *buckets)
{
    *buckets = (struct buckets){ 0 };
    list_init(&buckets->all);
    list_init(&buckets->any);
    list_init(&buckets->ipv6);
    list_init(&buckets->work);
    add_bucket(buckets, &buckets->none, &(struct bucket_key){ .link = BUCKET_NO_LINK });
    add_bucket(buckets, &buckets->any_link, &(struct bucket_key){ .link = BUCKET_ANY_LINK });
    add_bucket(buckets, &buckets->many, &(struct bucket_key){ .link = BUCKET_ANY_LINK });
}

/* ---- Finding ---------------------------------------------------------------------------------------------------- */

/* The kernel counts indexes up. The factor spreads them over all bits. */
static uint64_t hash_key(const struct bucket_key *key)
{
    const struct address *address = &key->lifetime.prefix.address;
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = (key->link + UINT64_C(1)) * factor;

    for (size_t i = 0; i < address_length(address); i++)
        hash = (hash + address->bytes[i] + 256U * key->lifetime.gateway.bytes[i]) * factor;
    return hash + key->lifetime.oif + key->is_ipv6;
}

static bool has_key(const struct hash_node *node, const void *info)
{
    const struct bucket *bucket = container_of(node, const struct bucket, node);
    const struct bucket_key *key = info;

    return bucket->link == key->link && bucket->is_ipv6 == key->is_ipv6 &&
           lifetime_compare(&bucket->lifetime, &key->lifetime) == 0;
}

static struct bucket *find(const struct buckets *buckets, const struct bucket_key *key)
{
    struct hash_node *node = hash_tree_find(buckets->tree, hash_key(key), has_key, key);

    return node == NULL ? NULL : container_of(node, struct bucket, node);
}

struct bucket *bucket_find_link(const struct buckets *buckets, uint32_t link)
{
    return find(buckets, &(struct bucket_key){ .link = link });
}

struct bucket *bucket_get(struct buckets *buckets, uint32_t link, bool is_ipv6, const struct lifetime *lifetime)
{
    const bool expires = lifetime->prefix.address.family != AF_UNSPEC;
    struct bucket_key key = { link, is_ipv6 && link != BUCKET_ANY_LINK && link != BUCKET_NO_LINK, *lifetime };
    struct bucket *bucket;

    if (expires && !key.is_ipv6)
        key.link = BUCKET_ANY_LINK;

    if (!expires && link == BUCKET_NO_LINK)
        return &buckets->none;
    if (!expires && link == BUCKET_ANY_LINK)
        return &buckets->any_link;
    bucket = find(buckets, &key);
    if (bucket != NULL)
        return bucket;
    bucket = malloc(sizeof *bucket);
    if (bucket == NULL)
        return &buckets->many;
    add_bucket(buckets, bucket, &key);
    bucket->node.hash = hash_key(&key);
    hash_tree_add(&buckets->tree, &bucket->node);
    return bucket;
}

void bucket_delete(struct buckets *buckets, struct bucket *bucket)
{
    if (bucket == &buckets->none || bucket == &buckets->any_link || bucket == &buckets->many)
        return;
    hash_tree_remove(&buckets->tree, &bucket->node);
    heap_set(&buckets->ends, &bucket->end, NEVER);
    list_remove(&bucket->all);
    list_remove(&bucket->any);
    list_remove(&bucket->work);
    free(bucket);
}

void bucket_mark(struct buckets *buckets, struct bucket *bucket, uint64_t now)
{
    bucket->needed = now;
    list_remove(&bucket->work);
    list_append(&buckets->work, &bucket->work);
}
#endif
