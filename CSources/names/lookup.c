/* SPDX-License-Identifier: MIT */
/*
 * The threads that call getaddrinfo(3), and the look-ups that wait for them. getaddrinfo can neither be cancelled nor
 * given a time limit: with a silent server it takes many seconds. So detached threads call it, one for each look-up
 * that may start, at most 128. One thread starts at a time, and then starts the next. A thread takes the next look-up
 * when its own has ended, and ends if none may start.
 *
 * The rule, which lookup_queue.c keeps: **a name that gets no reply delays no other.** Names have an *account*: that of
 * their domain, which is the name without its first label, in its namespace; as a rule, one server has all names of a
 * domain. Names that failed or were slow the last time have another one. An account may begin a look-up while it has
 * fewer than half as many as there are places left: a silent domain has 43 of the 128, the next one 29, then 19. So ten
 * silent domains leave a place for another one. First look-ups start before repeated ones, and accounts take turns.
 *
 * Of a name and address family in a namespace there is one look-up that targets can join. Those that a change of the
 * resolver's files has overtaken run beside it until getaddrinfo returns. If a thread cannot be started, the name waits
 * for those that there are.
 *
 * What this file must never do: let a caller wait, or hold a lock while it calls the resolver or a waiter.
 */
#ifdef __linux__
#include "names/lookup.h"

#include <errno.h>
#include <search.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define THREAD_NAME "reach-resolver"
#define SLOW        (SECOND / 2)

/* One look-up, shared by all who wait for the name and family in the namespace. It has one owner: the queue, then the
 * thread that took it. A queued look-up is freed with its last waiter; one under way is freed when getaddrinfo
 * returns. */
struct lookup {
    struct lookup_turn turn;
    struct list waiters;
    struct netns *netns; /* retained while a thread has the look-up; before that the waiters' owners retain it */
    sa_family_t family;  /* AF_UNSPEC: both */
    bool outdated : 1, in_pause : 1; /* as of struct lookup_result */
    bool overtaken : 1;              /* not in pool.lookups any more */
    char name[];
};

/* Under reach_process_lock. A process or a child starts with an empty pool: the threads stayed with the parent. */
static struct {
    unsigned era;
    bool is_growing; /* a thread is being started */
    struct lookup_queue queue;
    void *lookups; /* of tsearch(3): those that others may join */
} pool;

static void prepare_pool_locked(void)
{
    if (pool.era == process_era())
        return;
    memset(&pool, 0, sizeof pool);
    reach_lookup_queue_init(&pool.queue);
    pool.era = process_era();
}

/* ---- Look-ups --------------------------------------------------------------------------------------------------- */

static struct lookup *lookup_create(struct netns *netns, const char *name, int family, enum lookup_kind kind)
{
    const size_t size = strlen(name) + 1;
    struct lookup *lookup = malloc(offsetof(struct lookup, name) + size);

    if (lookup == NULL)
        return NULL;
    memset(lookup, 0, offsetof(struct lookup, name)); /* the memory may end before the structure does */
    lookup->netns = netns;
    lookup->family = (sa_family_t)family;
    lookup->turn.is_first = kind == LOOKUP_FIRST;
    list_init(&lookup->waiters);
    memcpy(lookup->name, name, size);
    return lookup;
}

static int compare_lookups(const void *a, const void *b)
{
    const struct lookup *one = a, *other = b;

    if (one->netns != other->netns)
        return (uintptr_t)one->netns < (uintptr_t)other->netns ? -1 : 1;
    if (one->family != other->family)
        return one->family < other->family ? -1 : 1;
    return strcmp(one->name, other->name);
}

static void remove_from_pool_locked(struct lookup *lookup)
{
    if (!lookup->overtaken)
        tdelete(lookup, &pool.lookups, compare_lookups);
    lookup->overtaken = true;
    reach_lookup_queue_remove(&pool.queue, &lookup->turn);
}

/* ---- Results ---------------------------------------------------------------------------------------------------- */

static void deliver_result(struct lookup *lookup, const struct lookup_result *result)
{
    struct list *node;

    reach_process_lock();
    while ((node = list_pop(&lookup->waiters)) != NULL) {
        struct lookup_waiter *waiter = container_of(node, struct lookup_waiter, node);
        struct counted *owner = waiter->owner;
        const unsigned turn = waiter->turn;

        waiter->lookup = NULL;
        counted_retain(owner);
        reach_process_unlock();
        waiter->completed(waiter, turn, result);
        counted_release(owner);
        reach_process_lock();
    }
    reach_process_unlock();
    reach_netns_release(lookup->netns);
    free(lookup);
}

/* ---- Threads ---------------------------------------------------------------------------------------------------- */

/* Returns the next look-up for a thread. NULL: it must end. */
static struct lookup *begin_next_locked(void)
{
    struct lookup_turn *turn = reach_lookup_queue_begin(&pool.queue);
    struct lookup *lookup = container_of(turn, struct lookup, turn);

    if (turn == NULL)
        return NULL;
    lookup->outdated = lookup->in_pause = false;
    reach_netns_retain_locked(lookup->netns);
    return lookup;
}

/* Begins the thread's next look-up at once: otherwise another thread would be started for it. The one that ended leaves
 * the pool before its result is delivered, so that a later reach_lookup_start begins a new one. Returns the next one.
 * */
static struct lookup *run_lookup(struct lookup *lookup)
{
    struct found_address items[RESOLVER_ADDRESSES_LIMIT];
    struct lookup_result result = { .outcome = LOOKUP_FAILED, .items = items };
    const int64_t began = clock_now();
    struct lookup *next;

    if (reach_netns_enter(lookup->netns) == 0)
        reach_resolver_resolve(lookup->name, lookup->family, &result);
    result.slow = clock_now() - began > SLOW;
    reach_process_lock();
    remove_from_pool_locked(lookup);
    result.outdated = lookup->outdated;
    result.in_pause = lookup->in_pause;
    next = begin_next_locked();
    reach_process_unlock();
    deliver_result(lookup, &result);
    return next;
}

static int add_thread(void);

static void *run_thread(void *unused)
{
    struct lookup *lookup;

    (void)pthread_setname_np(pthread_self(), THREAD_NAME);
    reach_resolver_prepare_thread();
    reach_process_lock();
    pool.is_growing = false;
    lookup = begin_next_locked();
    reach_process_unlock();
    for (; lookup != NULL; lookup = run_lookup(lookup))
        (void)add_thread(); /* this one may be stuck for long */
    return unused;
}

/* Starts a thread if a look-up may start. While another one is being started, does nothing: that one will call this
 * again. Returns 0 or an errno; EINPROGRESS: none is needed. */
static int add_thread(void)
{
    bool is_needed;
    int error;

    reach_process_lock();
    is_needed = !pool.is_growing && reach_lookup_queue_next(&pool.queue) != NULL;
    pool.is_growing = pool.is_growing || is_needed;
    reach_process_unlock();
    if (!is_needed)
        return EINPROGRESS;
    error = reach_process_start_small_thread(run_thread, NULL);
    if (error == 0)
        return 0;
    reach_process_lock();
    pool.is_growing = false;
    reach_process_unlock();
    return error;
}

/* ---- Starting and cancelling ------------------------------------------------------------------------------------ */

/* Consumes `fresh`. It is queued, unless there is a look-up of the same name and family: then the waiter joins that
 * one. Returns 0 or ENOMEM. */
static int join_or_queue(struct lookup *fresh, bool is_doubted, struct lookup_waiter *waiter)
{
    struct lookup **place, *lookup;

    reach_process_lock();
    prepare_pool_locked();
    place = tsearch(fresh, &pool.lookups, compare_lookups);
    lookup = place == NULL ? NULL : *place;
    if (lookup == fresh &&
        reach_lookup_queue_add(&pool.queue, &fresh->turn, fresh->netns, fresh->name, is_doubted) != 0) {
        tdelete(fresh, &pool.lookups, compare_lookups);
        lookup = NULL;
    }
    if (lookup != NULL) {
        /* While a look-up has no waiter, changes may have passed without a reach_lookup_mark_outdated. */
        if (lookup->turn.running && list_is_empty(&lookup->waiters))
            lookup->outdated = true;
        waiter->lookup = lookup;
        list_append(&lookup->waiters, &waiter->node);
    }
    reach_process_unlock();
    if (lookup != fresh)
        free(fresh);
    return lookup == NULL ? ENOMEM : 0;
}

/* Whether the waiter must join another look-up: its own was overtaken, or has ended, and no change marks its result. */
static bool must_join(const struct lookup_waiter *waiter)
{
    bool must;

    reach_process_lock();
    must = waiter->lookup == NULL || waiter->lookup->overtaken;
    reach_process_unlock();
    return must;
}

int reach_lookup_start(struct netns *netns, const char *name, int family, enum lookup_kind kind,
                       struct lookup_waiter *waiter)
{
    int error;

    if (must_join(waiter)) {
        struct lookup *lookup = lookup_create(netns, name, family, kind);

        reach_lookup_cancel(waiter);
        if (lookup == NULL || join_or_queue(lookup, kind == LOOKUP_DOUBTED, waiter) != 0)
            return ENOMEM;
    }
    error = add_thread();
    reach_process_lock();
    if (waiter->lookup == NULL || pool.queue.count > 0) /* each thread looks into the queue before it ends */
        error = 0;
    reach_process_unlock();
    return error;
}

void reach_lookup_mark_outdated(const struct netns *netns, enum lookup_age age)
{
    reach_process_lock();
    prepare_pool_locked();
    list_for_each(node, &pool.queue.running) {
        struct lookup *lookup = container_of(node, struct lookup, turn.node);

        if (lookup->netns != netns)
            continue;
        lookup->in_pause = lookup->in_pause || age == LOOKUP_IN_PAUSE;
        lookup->outdated = lookup->outdated || age != LOOKUP_IN_PAUSE;
        if (age == LOOKUP_OVERTAKEN && !lookup->overtaken) {
            tdelete(lookup, &pool.lookups, compare_lookups);
            lookup->overtaken = true;
        }
    }
    reach_process_unlock();
}

void reach_lookup_cancel(struct lookup_waiter *waiter)
{
    struct lookup *lookup;
    bool is_last = false;

    reach_process_lock();
    waiter->turn++;
    lookup = waiter->lookup;
    waiter->lookup = NULL;
    if (lookup != NULL) {
        list_remove(&waiter->node);
        is_last = !lookup->turn.running && list_is_empty(&lookup->waiters);
        if (is_last)
            remove_from_pool_locked(lookup);
    }
    reach_process_unlock();
    if (is_last)
        free(lookup);
}
#endif
