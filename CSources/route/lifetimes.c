/* SPDX-License-Identifier: MIT */
/*
 * The lifetimes of routes, shared by the paths of one monitor.
 *
 * What this file must never do: replace an end that is near by "never". In the last tick of a route, the kernel reports
 * that it does not expire.
 */
#include "route/lifetimes.h"

#include <search.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

/* More than two ticks and two jiffies (of at most 10 ms). */
#define NEAR_TICKS 5

static int compare_shared(const void *a, const void *b)
{
    return lifetime_compare(a, b);
}

void lifetimes_init(struct lifetimes *lifetimes)
{
    *lifetimes = (struct lifetimes){ 0 };
    list_init(&lifetimes->shared);
    list_init(&lifetimes->unshared);
}

void lifetimes_free(struct lifetimes *lifetimes)
{
    tdestroy(lifetimes->by_route, free);
}

void lifetime_member_init(struct lifetime_member *member)
{
    list_init(&member->node);
    member->shared = NULL;
    heap_node_init(&member->end);
}

/* ---- Shared lifetimes ------------------------------------------------------------------------------------------- */

/* Returns NULL if there is no memory. */
static struct shared_lifetime *create_shared(struct lifetimes *lifetimes, const struct lifetime *lifetime)
{
    struct shared_lifetime *shared = malloc(sizeof *shared);

    if (shared == NULL)
        return NULL;
    shared->lifetime = *lifetime;
    heap_node_init(&shared->end);
    if (tsearch(shared, &lifetimes->by_route, compare_shared) == NULL) {
        free(shared);
        return NULL;
    }
    list_init(&shared->members);
    list_append(&lifetimes->shared, &shared->node);
    return shared;
}

static struct shared_lifetime *find_or_create_shared(struct lifetimes *lifetimes, const struct lifetime *lifetime)
{
    void *const found = tfind(lifetime, &lifetimes->by_route, compare_shared);

    return found != NULL ? *(struct shared_lifetime **)found : create_shared(lifetimes, lifetime);
}

/* The member shares no lifetime any more. */
static void leave_shared(struct lifetimes *lifetimes, struct lifetime_member *member)
{
    struct shared_lifetime *shared = member->shared;

    list_remove(&member->node);
    member->shared = NULL;
    if (shared == NULL || !list_is_empty(&shared->members))
        return;
    tdelete(shared, &lifetimes->by_route, compare_shared);
    list_remove(&shared->node);
    heap_set(&lifetimes->shared_ends, &shared->end, NEVER);
    free(shared);
}

void lifetimes_leave(struct lifetimes *lifetimes, struct lifetime_member *member)
{
    leave_shared(lifetimes, member);
    heap_set(&lifetimes->ends, &member->end, NEVER);
}

/* Without memory, the member has a lifetime of its own. */
static void join_lifetime(struct lifetimes *lifetimes, struct lifetime_member *member,
                          const struct dependencies *dependencies)
{
    const bool is_shared = dependencies->lifetime.prefix.address.family != AF_UNSPEC;

    if (is_shared)
        member->shared = find_or_create_shared(lifetimes, &dependencies->lifetime);
    if (member->shared != NULL)
        list_append(&member->shared->members, &member->node);
    else if (is_shared || dependencies->many_lifetimes)
        list_append(&lifetimes->unshared, &member->node);
}

/* ---- Ends ------------------------------------------------------------------------------------------------------- */

static int64_t ticks_time(uint32_t ticks)
{
    return ticks * (SECOND / sysconf(_SC_CLK_TCK));
}

/* Two ticks after the kernel's figure, because the kernel rounds down twice. Rounding also makes it report "never" in
 * the last tick. */
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

bool lifetime_member_moves(const struct lifetime_member *member, const struct dependencies *dependencies)
{
    return member->shared != NULL && lifetime_compare(&member->shared->lifetime, &dependencies->lifetime) != 0;
}

/* The earlier of two ticks; 0: never. */
static uint32_t earlier_ticks(uint32_t a, uint32_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

/* The end that a member had. A path that is evaluated for the first time may be in its last tick. Then it is evaluated
 * again. */
static int64_t previous_end(const struct lifetime_member *member, bool is_first)
{
    const int64_t end = is_first ? clock_now() + ticks_time(NEAR_TICKS) : member->end.deadline;

    return member->shared != NULL && member->shared->end.deadline < end ? member->shared->end.deadline : end;
}

static void update_own_end(struct lifetimes *lifetimes, struct lifetime_member *member, int64_t before,
                           const struct dependencies *dependencies)
{
    const uint32_t ticks = member->shared == NULL ? dependencies->lifetime.expires : 0;

    heap_set(&lifetimes->ends, &member->end, end_after(before, earlier_ticks(dependencies->expires, ticks)));
}

void lifetimes_update(struct lifetimes *lifetimes, struct lifetime_member *member,
                      const struct dependencies *dependencies, bool is_first)
{
    int64_t before = member->end.deadline;

    if (member->shared == NULL || lifetime_member_moves(member, dependencies)) {
        before = previous_end(member, is_first && dependencies->lifetime.expires == 0);
        leave_shared(lifetimes, member);
        join_lifetime(lifetimes, member, dependencies);
    }
    update_own_end(lifetimes, member, before, dependencies);
    if (member->shared != NULL)
        heap_set(&lifetimes->shared_ends, &member->shared->end,
                 end_after(member->shared->end.deadline, dependencies->lifetime.expires));
}

int64_t lifetimes_next_end(const struct lifetimes *lifetimes)
{
    const int64_t end = heap_nearest(&lifetimes->ends), shared_end = heap_nearest(&lifetimes->shared_ends);

    return end < shared_end ? end : shared_end;
}

/* Returns the first node if it is due by `now`, and removes it. NULL: there is none. */
static struct heap_node *take_due(struct heap *heap, int64_t now)
{
    struct heap_node *node = heap_first(heap);

    if (node == NULL || node->deadline > now)
        return NULL;
    heap_set(heap, node, NEVER);
    return node;
}

struct lifetime_member *lifetimes_take_ended(struct lifetimes *lifetimes, int64_t now)
{
    struct heap_node *node = take_due(&lifetimes->ends, now);

    return node == NULL ? NULL : container_of(node, struct lifetime_member, end);
}

struct shared_lifetime *lifetimes_take_ended_shared(struct lifetimes *lifetimes, int64_t now)
{
    struct heap_node *node = take_due(&lifetimes->shared_ends, now);

    return node == NULL ? NULL : container_of(node, struct shared_lifetime, end);
}

bool lifetimes_can_shorten(const struct lifetimes *lifetimes)
{
    return !list_is_empty(&lifetimes->unshared) || heap_first(&lifetimes->shared_ends) != NULL;
}
