/* SPDX-License-Identifier: MIT */
/*
 * The threads that call getaddrinfo(3), and the look-ups that wait for them. getaddrinfo can neither be cancelled nor
 * given a time limit: with a silent server it takes many seconds. So detached threads call it, one for each look-up
 * that may start, at most 64. A thread takes the next look-up when its own has ended, and ends if none may start.
 *
 * The rule, which lookup_queue.c keeps: **a name that gets no reply delays no other.**
 *
 * - The *domain* of a name is the name without its first label, in its namespace. As a rule, one server has all names
 *   of a domain.
 * - A look-up is *trusted* or *doubtful*. Doubtful are those of a domain of which no name was answered yet, or whose
 *   last trusted look-up was slow (it took more than 500 ms); those of a name that failed or was slow the last time;
 *   and all that have become slow.
 * - Doubtful look-ups start only while they are fewer than half of the 64. So trusted ones always find a thread.
 * - Of these 32, a domain has at most half of what the other domains leave: a silent domain has 16, the second one 8.
 *   So a domain that is new finds a thread, too. Names that failed have a share of their own: they do not delay the
 *   other names of their domain.
 * - Of the trusted look-ups, 16 of one domain start at once. Each quick answer lets one more start. So a living domain
 *   doubles its speed in each round trip, up to 64, and one that falls silent has few threads when that is noticed.
 * - First look-ups start before repeated ones, and those before names that failed. Domains take turns.
 *
 * There is one look-up of a name and address family in a namespace at a time, and all who want these wait for it. If a
 * thread cannot be started, the name waits for those that there are.
 *
 * What this file must never do: let a caller wait, or hold a lock while it calls the resolver or a waiter.
 */
#ifdef __linux__
#include "names/lookup.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/counted.h"
#include "base/hash_tree.h"
#include "base/list.h"
#include "base/siphash.h"

#define THREAD_NAME "reach-resolver"

/* One look-up, shared by all who wait for the name and family in the namespace. It has one owner: the queue, then the
 * thread that took it. A queued look-up is freed with its last waiter; one under way is freed when getaddrinfo
 * returns. */
struct lookup {
    struct lookup_turn turn;
    struct list waiters;
    struct hash_node tree_node; /* in pool.lookups */
    struct netns *netns;        /* retained while a thread has the look-up; before that the waiters' owners retain it */
    sa_family_t family;         /* AF_UNSPEC: both */
    bool outdated : 1, in_pause : 1; /* as of struct lookup_result */
    char name[];
};

/* Under process_lock. A child starts with an empty pool: the threads stayed with the parent. */
static struct {
    unsigned era;
    bool prepared;
    unsigned threads; /* including those that are being started: queue.coming */
    struct lookup_queue queue;
    struct hash_node *lookups; /* all, by name, family and namespace */
} pool;

static void prepare_pool_locked(void)
{
    if (pool.prepared && pool.era == process_era())
        return;
    memset(&pool, 0, sizeof pool);
    lookup_queue_init(&pool.queue);
    pool.era = process_era();
    pool.prepared = true;
}

static struct lookup *lookup_of_turn(struct lookup_turn *turn)
{
    return turn == NULL ? NULL : container_of(turn, struct lookup, turn);
}

/* ---- Look-ups --------------------------------------------------------------------------------------------------- */

/* With a secret key, so that nobody can choose names that make look-ups slow. */
static uint64_t hash_text(const struct netns *netns, const char *text, size_t length)
{
    unsigned char key[SIPHASH_KEY_SIZE];
    const unsigned char *address = (const unsigned char *)&netns;

    memcpy(key, siphash_process_key(), sizeof key);
    for (size_t i = 0; i < sizeof netns; i++)
        key[i] ^= address[i];
    return siphash(text, length, key);
}

/* Case and a final dot do not matter. */
static uint64_t hash_domain(const struct netns *netns, const char *name)
{
    const char *dot = strchr(name, '.');
    char domain[LOOKUP_NAME_LIMIT];
    size_t length = dot == NULL ? 0 : strlen(dot + 1);

    if (length > 0 && dot[length] == '.')
        length--;
    for (size_t i = 0; i < length; i++)
        domain[i] = (char)(dot[1 + i] >= 'A' && dot[1 + i] <= 'Z' ? dot[1 + i] - 'A' + 'a' : dot[1 + i]);
    return hash_text(netns, domain, length);
}

static struct lookup *lookup_create(struct netns *netns, const char *name, int family, enum lookup_kind kind,
                                    struct lookup_waiter *waiter)
{
    const size_t size = strlen(name) + 1;
    struct lookup *lookup = waiter->spare != NULL ? waiter->spare : malloc(offsetof(struct lookup, name) + size);

    waiter->spare = NULL;
    if (lookup == NULL)
        return NULL;
    memset(lookup, 0, offsetof(struct lookup, name)); /* the memory may end before the structure does */
    lookup->netns = netns;
    lookup->family = (sa_family_t)family;
    lookup->tree_node.hash = hash_text(netns, name, size - 1);
    lookup->turn.kind = (uint8_t)kind;
    list_init(&lookup->turn.node);
    list_init(&lookup->waiters);
    memcpy(lookup->name, name, size);
    return lookup;
}

static bool is_same_lookup(const struct hash_node *node, const void *info)
{
    const struct lookup *lookup = container_of(node, const struct lookup, tree_node), *wanted = info;

    return lookup->netns == wanted->netns && lookup->family == wanted->family &&
           strcmp(lookup->name, wanted->name) == 0;
}

/* Returns the look-up of the same name and family in the same namespace, or NULL. */
static struct lookup *find_lookup_locked(const struct lookup *wanted)
{
    struct hash_node *node = hash_tree_find(pool.lookups, wanted->tree_node.hash, is_same_lookup, wanted);

    return node == NULL ? NULL : container_of(node, struct lookup, tree_node);
}

static void add_to_pool_locked(struct lookup *lookup, struct lookup_domain *domain)
{
    hash_tree_add(&pool.lookups, &lookup->tree_node);
    lookup->turn.domain = domain;
    domain->references++;
    lookup_queue_add(&pool.queue, &lookup->turn);
}

/* The look-up is not under way, or was ended. Returns what lookup_queue_release returns. */
static struct lookup_domain *remove_from_pool_locked(struct lookup *lookup)
{
    hash_tree_remove(&pool.lookups, &lookup->tree_node);
    if (!lookup->turn.running)
        lookup_queue_remove(&pool.queue, &lookup->turn);
    return lookup_queue_release(&pool.queue, lookup->turn.domain);
}

/* ---- Results ---------------------------------------------------------------------------------------------------- */

/* Takes the next waiter out of the list, with a reference to its owner. */
static struct lookup_waiter *next_waiter(struct lookup *lookup, unsigned *ret_turn)
{
    struct lookup_waiter *waiter = NULL;
    struct list *node;

    process_lock();
    node = list_pop(&lookup->waiters);
    if (node != NULL) {
        waiter = container_of(node, struct lookup_waiter, node);
        waiter->lookup = NULL;
        *ret_turn = waiter->turn;
        counted_retain(waiter->type->owner(waiter));
    }
    process_unlock();
    return waiter;
}

static void deliver_result(struct lookup *lookup, const struct lookup_result *result)
{
    struct lookup_waiter *waiter;
    unsigned turn;

    while ((waiter = next_waiter(lookup, &turn)) != NULL) {
        struct counted *owner = waiter->type->owner(waiter);

        waiter->type->completed(waiter, turn, result);
        counted_release(owner);
    }
    netns_release(lookup->netns);
    free(lookup);
}

/* ---- Threads ---------------------------------------------------------------------------------------------------- */

/* Returns the next look-up for a thread. NULL: it must end. */
static struct lookup *begin_next_locked(int64_t now)
{
    struct lookup *lookup = lookup_of_turn(lookup_queue_begin(&pool.queue, now));

    if (lookup == NULL) {
        pool.threads--;
        return NULL;
    }
    lookup->outdated = lookup->in_pause = false;
    netns_retain_locked(lookup->netns);
    return lookup;
}

/* The first look-up of a new thread, which was started for this domain. */
static struct lookup *begin_first(struct lookup_domain *domain)
{
    const int64_t now = clock_now();
    struct lookup_domain *unused;
    struct lookup *lookup;

    process_lock();
    lookup_queue_arrive(&pool.queue, domain);
    unused = lookup_queue_release(&pool.queue, domain);
    lookup = begin_next_locked(now);
    process_unlock();
    free(unused);
    return lookup;
}

/* Begins the next look-up at once: otherwise another thread would be started for it. The one that ended leaves the pool
 * before its result is delivered, so that a later lookup_start begins a new one. */
static struct lookup *end_and_begin_next(struct lookup *lookup, struct lookup_result *result)
{
    const int64_t now = clock_now();
    struct lookup_domain *unused;
    struct lookup *next;

    process_lock();
    result->slow = lookup_queue_end(&pool.queue, &lookup->turn, result->outcome != LOOKUP_FAILED, now);
    unused = remove_from_pool_locked(lookup);
    result->outdated = lookup->outdated;
    result->in_pause = lookup->in_pause;
    next = begin_next_locked(now);
    process_unlock();
    free(unused);
    return next;
}

/* Returns the next look-up of the thread. */
static struct lookup *run_lookup(struct lookup *lookup)
{
    struct found_address items[RESOLVER_ADDRESSES_LIMIT];
    struct lookup_result result = { .outcome = LOOKUP_FAILED, .items = items };
    struct lookup *next;

    if (netns_enter(lookup->netns) == 0)
        resolver_resolve(lookup->name, lookup->family, &result);
    next = end_and_begin_next(lookup, &result);
    deliver_result(lookup, &result);
    return next;
}

static int add_thread(void);

static void *run_thread(void *domain)
{
    struct lookup *lookup;

    (void)pthread_setname_np(pthread_self(), THREAD_NAME);
    resolver_prepare_thread();
    for (lookup = begin_first(domain); lookup != NULL; lookup = run_lookup(lookup))
        (void)add_thread(); /* this one may be stuck for long */
    return NULL;
}

#define NOT_NEEDED (-1)

/* Starts a thread if a look-up may start for which none is coming. Returns 0, an errno, or NOT_NEEDED. */
static int add_thread(void)
{
    const int64_t now = clock_now();
    struct lookup_domain *domain = NULL, *unused = NULL;
    int error;

    process_lock();
    if (pool.threads < LOOKUP_LIMIT)
        domain = lookup_queue_call_thread(&pool.queue, now);
    pool.threads += domain != NULL;
    process_unlock();
    if (domain == NULL)
        return NOT_NEEDED;
    error = process_start_small_thread(run_thread, domain);
    if (error == 0)
        return 0;
    process_lock();
    pool.threads--;
    lookup_queue_arrive(&pool.queue, domain);
    unused = lookup_queue_release(&pool.queue, domain);
    process_unlock();
    free(unused);
    return error;
}

/* ---- Starting and cancelling ------------------------------------------------------------------------------------ */

static void add_waiter_locked(struct lookup *lookup, struct lookup_waiter *waiter)
{
    /* While a look-up has no waiter, changes may have passed without a lookup_mark_outdated. */
    if (lookup->turn.running && list_is_empty(&lookup->waiters))
        lookup->outdated = true;
    waiter->lookup = lookup;
    list_append(&lookup->waiters, &waiter->node);
}

/* Consumes `fresh`. It is queued, unless there is a look-up of the same name and family: then the waiter joins that
 * one. Consumes `fresh_domain`, which is NULL if the waiter has a domain already. */
static void join_or_queue(struct lookup *fresh, struct lookup_domain *fresh_domain, struct lookup_waiter *waiter)
{
    struct lookup *lookup;

    process_lock();
    prepare_pool_locked();
    if (waiter->domain == NULL)
        waiter->domain = lookup_queue_domain(&pool.queue, hash_domain(fresh->netns, fresh->name), fresh_domain);
    if (waiter->domain == fresh_domain)
        fresh_domain = NULL;
    lookup = find_lookup_locked(fresh);
    if (lookup == NULL)
        add_to_pool_locked(lookup = fresh, waiter->domain);
    else if (!lookup->turn.running)
        lookup_queue_raise(&pool.queue, &lookup->turn, (enum lookup_kind)fresh->turn.kind);
    add_waiter_locked(lookup, waiter);
    process_unlock();
    if (lookup != fresh)
        waiter->spare = fresh;
    free(fresh_domain);
}

/* What lookup_start returns after add_thread has returned `error`. Each thread that has started looks into the queue
 * before it ends, so a look-up that waits for one will start. */
static int status_of_waiter(const struct lookup_waiter *waiter, int error)
{
    int status = error == NOT_NEEDED ? 0 : error;

    if (error == 0)
        return 0;
    process_lock();
    if (waiter->lookup == NULL || waiter->lookup->turn.running || pool.threads > pool.queue.coming)
        status = 0;
    else if (pool.queue.coming > 0)
        status = EINPROGRESS;
    process_unlock();
    return status;
}

int lookup_start(struct netns *netns, const char *name, int family, enum lookup_kind kind, struct lookup_waiter *waiter)
{
    struct lookup *lookup = lookup_create(netns, name, family, kind, waiter);
    struct lookup_domain *domain = NULL;
    int status;

    if (waiter->domain == NULL)
        domain = malloc(sizeof *domain);
    if (lookup == NULL || (waiter->domain == NULL && domain == NULL)) {
        free(domain);
        waiter->spare = lookup;
        return ENOMEM;
    }
    join_or_queue(lookup, domain, waiter);
    status = status_of_waiter(waiter, add_thread());
    if (status != 0 && status != EINPROGRESS)
        lookup_cancel(waiter);
    return status;
}

void lookup_mark_outdated(const struct netns *netns, bool in_pause)
{
    process_lock();
    prepare_pool_locked();
    for (size_t i = 0; i < 2; i++) {
        list_for_each(node, &pool.queue.running[i]) {
            struct lookup *lookup = lookup_of_turn(container_of(node, struct lookup_turn, node));

            if (lookup->netns != netns)
                continue;
            lookup->in_pause = lookup->in_pause || in_pause;
            lookup->outdated = lookup->outdated || !in_pause;
        }
    }
    process_unlock();
}

void lookup_cancel(struct lookup_waiter *waiter)
{
    struct lookup_domain *unused[2] = { NULL };
    struct lookup *lookup;
    bool is_last = false;

    process_lock();
    waiter->turn++;
    lookup = waiter->lookup;
    waiter->lookup = NULL;
    if (lookup != NULL) {
        list_remove(&waiter->node);
        is_last = !lookup->turn.running && list_is_empty(&lookup->waiters);
        if (is_last)
            unused[0] = remove_from_pool_locked(lookup);
    }
    if (waiter->domain != NULL)
        unused[1] = lookup_queue_release(&pool.queue, waiter->domain);
    waiter->domain = NULL;
    process_unlock();
    free(unused[0]);
    free(unused[1]);
    if (!is_last)
        return;
    free(waiter->spare); /* if it joined a look-up of another waiter */
    waiter->spare = lookup;
}

void lookup_waiter_close(struct lookup_waiter *waiter)
{
    free(waiter->spare);
    waiter->spare = NULL;
}
#endif
