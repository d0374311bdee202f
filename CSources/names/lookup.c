/* SPDX-License-Identifier: MIT */
/*
 * The threads that call getaddrinfo(3), and the queues of look-ups that wait for them. getaddrinfo can neither be
 * cancelled nor given a time limit: with a silent server it takes half a minute. So a few detached threads call it.
 * They end when the queues are empty. A thread that is stuck holds its look-up, but no cancelled waiter.
 *
 * What this file must never do: let a caller wait, hold a lock while it calls the resolver or a waiter, or let names on
 * a dead server delay a name from /etc/hosts.
 */
#include "names/lookup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted.h"
#include "base/hash_tree.h"
#include "base/list.h"
#include "base/siphash.h"
#include "names/resolvconf.h"

#define THREAD_NAME "reach-resolver"

/* In the order of priority. QUEUE_UNSORTED: it is not known whether /etc/hosts has the name, as the file has to be read
 * first. */
enum queue { QUEUE_QUICK, QUEUE_UNSORTED, QUEUE_FIRST, QUEUE_AGAIN, QUEUES };

/* One thread is reserved for the first two queues. */
enum worker_kind { WORKER_QUICK, WORKER_ANY, WORKER_KINDS };
static const int workers_limit[WORKER_KINDS] = { 1, 3 };

/* One look-up, shared by all who wait for the name in the namespace. It has one owner: the queue, then the worker that
 * took it. A queued look-up is freed with its last waiter; one under way is freed when getaddrinfo returns. */
struct lookup {
    struct list      node; /* in a queue, or in pool.running */
    struct list      waiters;
    struct hash_node tree_node; /* in pool.lookups */
    struct netns    *netns;     /* retained while a worker has the look-up; before that the waiters' owners retain it */
    uint8_t          queue, slow_queue;  /* where it is; where it belongs if /etc/hosts does not have the name */
    bool             running;            /* a worker has it */
    bool             outdated, in_pause; /* as of struct lookup_result */
    char             name[];
};

/* Under process_lock. A child starts with an empty pool: the threads stayed with the parent. */
static struct {
    unsigned          era;
    bool              prepared;
    int               workers[WORKER_KINDS]; /* including those that are being started */
    int               starting[WORKER_KINDS];
    struct list       queues[QUEUES];
    struct list       running; /* look-ups that workers have */
    struct hash_node *lookups; /* all, by name and namespace */
} pool;

static void prepare_pool_locked(void)
{
    if (pool.prepared && pool.era == process_era())
        return;
    memset(&pool, 0, sizeof pool);
    for (size_t i = 0; i < QUEUES; i++)
        list_init(&pool.queues[i]);
    list_init(&pool.running);
    pool.era = process_era();
    pool.prepared = true;
}

/* ---- Look-ups --------------------------------------------------------------------------------------------------- */

/* With a secret key, so that nobody can choose names that make look-ups slow. */
static uint64_t hash_name(const struct netns *netns, const char *name)
{
    unsigned char        key[SIPHASH_KEY_SIZE];
    const unsigned char *address = (const unsigned char *)&netns;

    memcpy(key, siphash_process_key(), sizeof key);
    for (size_t i = 0; i < sizeof netns; i++)
        key[i] ^= address[i];
    return siphash(name, strlen(name), key);
}

static struct lookup *lookup_create(struct netns *netns, const char *name, enum queue queue, enum queue slow_queue,
                                    struct lookup_waiter *waiter)
{
    const size_t   size = strlen(name) + 1;
    struct lookup *lookup = waiter->spare != NULL ? waiter->spare : malloc(sizeof *lookup + size);

    waiter->spare = NULL;
    if (lookup == NULL)
        return NULL;
    *lookup = (struct lookup){ .netns = netns,
                               .tree_node = { .hash = hash_name(netns, name) },
                               .queue = (uint8_t)queue,
                               .slow_queue = (uint8_t)slow_queue };
    list_init(&lookup->node);
    list_init(&lookup->waiters);
    memcpy(lookup->name, name, size);
    return lookup;
}

static bool is_same_lookup(const struct hash_node *node, const void *info)
{
    const struct lookup *lookup = container_of(node, const struct lookup, tree_node), *wanted = info;

    return lookup->netns == wanted->netns && strcmp(lookup->name, wanted->name) == 0;
}

/* Returns the look-up of the same name in the same namespace, or NULL. */
static struct lookup *find_lookup_locked(const struct lookup *wanted)
{
    struct hash_node *node = hash_tree_find(pool.lookups, wanted->tree_node.hash, is_same_lookup, wanted);

    return node == NULL ? NULL : container_of(node, struct lookup, tree_node);
}

static void add_to_pool_locked(struct lookup *lookup)
{
    hash_tree_add(&pool.lookups, &lookup->tree_node);
    list_append(&pool.queues[lookup->queue], &lookup->node);
}

static void remove_from_pool_locked(struct lookup *lookup)
{
    hash_tree_remove(&pool.lookups, &lookup->tree_node);
    list_remove(&lookup->node);
}

static void move_to_queue_locked(struct lookup *lookup, enum queue queue)
{
    list_remove(&lookup->node);
    lookup->queue = (uint8_t)queue;
    lookup->running = false;
    list_append(&pool.queues[queue], &lookup->node);
}

/* ---- Results ---------------------------------------------------------------------------------------------------- */

/* Takes the next waiter out of the list, with a reference to its owner. */
static struct lookup_waiter *next_waiter(struct lookup *lookup, unsigned *ret_turn)
{
    struct lookup_waiter *waiter = NULL;
    struct list          *node;

    process_lock();
    node = list_pop(&lookup->waiters);
    if (node != NULL) {
        waiter = container_of(node, struct lookup_waiter, node);
        waiter->lookup = NULL;
        *ret_turn = waiter->turn;
        counted_retain(waiter->owner);
    }
    process_unlock();
    return waiter;
}

/* The look-up leaves the pool first, so that a later lookup_start begins a new one. */
static void deliver_result(struct lookup *lookup, struct lookup_result *result)
{
    struct lookup_waiter *waiter;
    unsigned              turn;

    process_lock();
    remove_from_pool_locked(lookup);
    result->outdated = lookup->outdated;
    result->in_pause = lookup->in_pause;
    process_unlock();
    while ((waiter = next_waiter(lookup, &turn)) != NULL) {
        struct counted *owner = waiter->owner;

        waiter->completed(waiter, turn, result);
        counted_release(owner);
    }
    netns_release(lookup->netns);
    free(lookup);
}

static void run_lookup(struct lookup *lookup)
{
    struct found_address items[RESOLVER_ADDRESSES_LIMIT];
    struct lookup_result result = { .outcome = LOOKUP_FAILED, .items = items };

    if (netns_enter(lookup->netns) == 0)
        resolver_resolve(lookup->name, &result);
    deliver_result(lookup, &result);
}

/* ---- Workers ---------------------------------------------------------------------------------------------------- */

static bool may_add_worker_locked(enum worker_kind kind)
{
    return pool.workers[kind] < workers_limit[kind];
}

/* Starting a thread can still fail, so threads that are being started do not count. Each thread that counts looks into
 * the queues before it ends. (A thread that ended before pthread_create returned makes this one too few for a
 * moment.) */
static int count_started_workers_locked(enum worker_kind kind)
{
    return pool.workers[kind] - pool.starting[kind];
}

/* Takes the first look-up of the first `queues` queues; NULL: there is none. */
static struct lookup *pop_lookup_locked(size_t queues)
{
    struct list *node = NULL;

    for (size_t i = 0; i < queues && node == NULL; i++)
        node = list_pop(&pool.queues[i]);
    return node == NULL ? NULL : container_of(node, struct lookup, node);
}

/* What a quick worker takes when its own queues are empty. Another worker may have taken the look-up for which this one
 * was started; then the look-up of the other worker is left. So the quick worker becomes one of the other kind, if
 * there may be one more. It also takes a look-up if all workers of the other kind are only being started. */
static struct lookup *pop_slow_lookup_locked(enum worker_kind *kind)
{
    const bool     changes_kind = may_add_worker_locked(WORKER_ANY);
    const bool     may_take = changes_kind || count_started_workers_locked(WORKER_ANY) <= 0;
    struct lookup *lookup = may_take ? pop_lookup_locked(QUEUES) : NULL;

    if (lookup != NULL && changes_kind) {
        pool.workers[WORKER_QUICK]--;
        pool.workers[WORKER_ANY]++;
        *kind = WORKER_ANY;
    }
    return lookup;
}

/* Returns the worker's next look-up. NULL: the worker must end. */
static struct lookup *take_lookup(enum worker_kind *kind)
{
    struct lookup *lookup;

    process_lock();
    lookup = pop_lookup_locked(*kind == WORKER_QUICK ? QUEUE_UNSORTED + 1 : QUEUES);
    if (lookup == NULL && *kind == WORKER_QUICK)
        lookup = pop_slow_lookup_locked(kind);
    if (lookup != NULL) {
        lookup->running = true;
        lookup->outdated = lookup->in_pause = false;
        list_append(&pool.running, &lookup->node);
        netns_retain_locked(lookup->netns);
    } else {
        pool.workers[*kind]--;
    }
    process_unlock();
    return lookup;
}

static void *run_worker(void *argument);

/* Starts one more worker of the kind. Returns 0; EBUSY: there are others, but if they are as many as the limit, all of
 * them may only be being started; or another errno: there is none that has started. */
static int add_worker(enum worker_kind kind)
{
    pthread_t thread;
    bool      may_add;
    int       error;

    process_lock();
    may_add = may_add_worker_locked(kind);
    if (may_add) {
        pool.workers[kind]++;
        pool.starting[kind]++;
    }
    process_unlock();
    if (!may_add)
        return EBUSY;
    error = process_start_thread(run_worker, (void *)(intptr_t)kind, true, &thread);
    process_lock();
    pool.starting[kind]--;
    if (error != 0)
        pool.workers[kind]--;
    if (error != 0 && count_started_workers_locked(kind) > 0)
        error = EBUSY; /* the others empty the queues */
    process_unlock();
    return error;
}

static bool has_started_workers(void)
{
    bool has;

    process_lock();
    has = count_started_workers_locked(WORKER_QUICK) + count_started_workers_locked(WORKER_ANY) > 0;
    process_unlock();
    return has;
}

/* Makes sure that a worker takes what is in the queue. A quick name can be queued behind one that is not quick: then a
 * worker of the other kind takes it. Returns what lookup_start returns. */
static int ensure_worker(enum queue queue)
{
    const int quick = queue <= QUEUE_UNSORTED ? add_worker(WORKER_QUICK) : ENOMEM;
    int       any;

    if (quick == 0)
        return 0;
    any = add_worker(WORKER_ANY);
    if (any == 0 || (any != EBUSY && quick != EBUSY))
        return any;
    return has_started_workers() ? 0 : EINPROGRESS;
}

/* Reading /etc/hosts may take a while. So a worker does it, and not the caller of lookup_start. */
static bool belongs_to_slow_queue(const struct lookup *lookup, enum worker_kind kind)
{
    return kind == WORKER_QUICK && lookup->queue == QUEUE_UNSORTED && !resolvconf_hosts_has(lookup->name);
}

/* Moves the look-up to its slow queue, or frees it if it has no waiter any more. */
static void return_to_queue(struct lookup *lookup)
{
    struct netns *netns = lookup->netns;
    bool          has_waiters;

    process_lock();
    has_waiters = !list_is_empty(&lookup->waiters);
    if (has_waiters)
        move_to_queue_locked(lookup, (enum queue)lookup->slow_queue);
    else
        remove_from_pool_locked(lookup);
    process_unlock();
    if (!has_waiters)
        free(lookup);
    netns_release(netns);
}

static void *run_worker(void *argument)
{
    enum worker_kind kind = (enum worker_kind)(intptr_t)argument;
    struct lookup   *lookup;

    (void)pthread_setname_np(pthread_self(), THREAD_NAME);
    resolver_prepare_thread();
    while ((lookup = take_lookup(&kind)) != NULL) {
        if (belongs_to_slow_queue(lookup, kind)) {
            return_to_queue(lookup);
            (void)add_worker(WORKER_ANY); /* if that fails, this worker takes it later */
        } else {
            run_lookup(lookup);
        }
    }
    return NULL;
}

/* ---- Starting and cancelling ------------------------------------------------------------------------------------ */

static void raise_priority_locked(struct lookup *lookup, enum queue queue, enum queue slow_queue)
{
    if (slow_queue < lookup->slow_queue)
        lookup->slow_queue = (uint8_t)slow_queue;
    if (!lookup->running && queue < lookup->queue)
        move_to_queue_locked(lookup, queue);
}

static void add_waiter_locked(struct lookup *lookup, struct lookup_waiter *waiter)
{
    /* While a look-up has no waiter, changes may have passed without a lookup_mark_outdated. */
    if (lookup->running && list_is_empty(&lookup->waiters))
        lookup->outdated = true;
    waiter->lookup = lookup;
    list_append(&lookup->waiters, &waiter->node);
}

/* Consumes `fresh`. It is queued, unless there is a look-up of the same name: then the waiter joins that one. Returns
 * whether a worker has to take the look-up. */
static bool join_or_queue(struct lookup *fresh, struct lookup_waiter *waiter)
{
    struct lookup *lookup;
    bool           is_queued;

    process_lock();
    prepare_pool_locked();
    lookup = find_lookup_locked(fresh);
    if (lookup != NULL) {
        raise_priority_locked(lookup, (enum queue)fresh->queue, (enum queue)fresh->slow_queue);
    } else {
        lookup = fresh;
        add_to_pool_locked(lookup);
    }
    add_waiter_locked(lookup, waiter);
    is_queued = !lookup->running;
    process_unlock();
    if (lookup != fresh)
        waiter->spare = fresh;
    return is_queued;
}

static enum queue choose_queue(const char *name, enum queue slow_queue, bool hosts_known)
{
    switch (resolvconf_check_hosts(name, hosts_known)) {
    case HOSTS_HAS:
        return QUEUE_QUICK;
    case HOSTS_UNREAD:
        return QUEUE_UNSORTED;
    default:
        return slow_queue;
    }
}

int lookup_start(struct netns *netns, const char *name, bool again, bool hosts_known, struct lookup_waiter *waiter)
{
    const enum queue slow_queue = again ? QUEUE_AGAIN : QUEUE_FIRST;
    const enum queue queue = choose_queue(name, slow_queue, hosts_known);
    struct lookup   *lookup = lookup_create(netns, name, queue, slow_queue, waiter);
    int              error;

    if (lookup == NULL)
        return ENOMEM;
    if (!join_or_queue(lookup, waiter))
        return 0;
    error = ensure_worker(queue);
    if (error != 0 && error != EINPROGRESS)
        lookup_cancel(waiter);
    return error;
}

void lookup_mark_outdated(const struct netns *netns, bool in_pause)
{
    process_lock();
    prepare_pool_locked();
    list_for_each(node, &pool.running) {
        struct lookup *lookup = container_of(node, struct lookup, node);

        if (lookup->netns == netns)
            *(in_pause ? &lookup->in_pause : &lookup->outdated) = true;
    }
    process_unlock();
}

void lookup_cancel(struct lookup_waiter *waiter)
{
    struct lookup *lookup;
    bool           is_last = false;

    process_lock();
    waiter->turn++;
    lookup = waiter->lookup;
    waiter->lookup = NULL;
    if (lookup != NULL) {
        list_remove(&waiter->node);
        is_last = !lookup->running && list_is_empty(&lookup->waiters);
        if (is_last)
            remove_from_pool_locked(lookup);
    }
    process_unlock();
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
