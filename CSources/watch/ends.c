/* SPDX-License-Identifier: MIT */
/*
 * When answers end without a message.
 *
 * What this file must never do: replace an end that is near by "never". In the last tick of a route, the kernel reports
 * that it does not expire.
 */
#ifdef __linux__
#include "watch/store.h"

#include <unistd.h>

#include "base/clock.h"

static int64_t ticks_time(uint32_t ticks)
{
    return ticks * (SECOND / sysconf(_SC_CLK_TCK));
}

/* More than two ticks and two jiffies (of at most 10 ms). */
#define NEAR_TICKS 5

/* Two ticks after the kernel's figure, because the kernel rounds down twice. Rounding also makes it report "never" in
 * the last tick: an end that is near is not replaced by "never". */
static int64_t end_after(int64_t before, uint32_t ticks)
{
    int64_t now;

    if (ticks == 0 && before == NEVER)
        return NEVER;
    now = clock_now();
    if (ticks != 0)
        return now + ticks_time(ticks) + ticks_time(2);
    return before > now ? clock_earlier(before, now + ticks_time(NEAR_TICKS)) : NEVER;
}

/* The earlier of two ticks; 0: never. */
static uint32_t earlier_ticks(uint32_t a, uint32_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

static bool route_may_expire(const struct path_watch *watch)
{
    const struct questions *questions = watch->questions;

    for (size_t i = 0; i < questions->count; i++)
        if (questions->items[i].destination.family != AF_INET)
            return true;
    return false;
}

/* The end that the entry had. The first answer may be one of the last tick: then it is queried again. */
static int64_t previous_end(const struct entry *entry, const struct dependencies *dependencies)
{
    int64_t end = entry->timer.deadline;

    if (entry->stamp == 0 && dependencies->lifetime.expires == 0 && route_may_expire(entry->queried))
        end = clock_now() + ticks_time(NEAR_TICKS);
    return entry->bucket == NULL ? end : clock_earlier(end, entry->bucket->end.deadline);
}

void ends_set(struct store *store, struct entry *entry, struct bucket *bucket, const struct dependencies *dependencies)
{
    const bool stays = bucket == entry->bucket && entry->stamp != 0;
    const int64_t before = stays ? entry->timer.deadline : previous_end(entry, dependencies);
    uint32_t ticks = dependencies->expires;

    if (bucket_has_lifetime(bucket))
        heap_set(&store->buckets.ends, &bucket->end, end_after(bucket->end.deadline, dependencies->lifetime.expires));
    else
        ticks = earlier_ticks(ticks, dependencies->lifetime.expires);
    heap_set(&store->timers, &entry->timer, end_after(before, ticks));
}

int64_t ends_nearest(const struct store *store)
{
    return clock_earlier(heap_nearest(&store->timers), heap_nearest(&store->buckets.ends));
}

static void probe(struct store *store, struct bucket *bucket)
{
    if (list_is_empty(&bucket->entries))
        return; /* all are due */
    bucket->probe = container_of(bucket->entries.next, struct entry, node);
    entry_mark(store, bucket->probe);
}

void ends_note_time(struct store *store, int64_t now)
{
    while (heap_nearest(&store->timers) <= now) {
        struct entry *entry = container_of(heap_first(&store->timers), struct entry, timer);

        heap_set(&store->timers, &entry->timer, NEVER);
        entry_mark(store, entry);
    }
    while (heap_nearest(&store->buckets.ends) <= now) {
        struct bucket *bucket = container_of(heap_first(&store->buckets.ends), struct bucket, end);

        heap_set(&store->buckets.ends, &bucket->end, NEVER);
        probe(store, bucket);
    }
}

void ends_probe(struct store *store, bool all)
{
    list_for_each(node, &store->buckets.all) {
        struct bucket *bucket = container_of(node, struct bucket, all);

        if (bucket_has_lifetime(bucket) && (all || bucket->end.deadline != NEVER))
            probe(store, bucket);
    }
    bucket_mark(&store->buckets, &store->buckets.many, ++store->now);
}

bool ends_can_shorten(const struct store *store)
{
    return store->buckets.many.count > 0 || heap_first(&store->buckets.ends) != NULL;
}
#endif
