/* SPDX-License-Identifier: MIT */
/*
 * getaddrinfo(3) can neither be cancelled nor given a time: a server that is silent keeps it for half a minute. So it
 * is called on detached threads, as few as will do, which end when there is nothing to look up. A thread that is stuck
 * holds its look-up, and that nobody who has gone.
 *
 * What this file must never do: let a caller wait, hold a lock while the resolver is asked or somebody is told, or let
 * names on a dead server keep one from /etc/hosts waiting.
 */
#include "names/lookup.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted.h"
#include "base/list.h"
#include "names/resolvconf.h"

#define THREAD_NAME "reach-resolver"
#define ADDRESSES   64 /* of one name that are looked at */
#define BUCKETS     1024

/* Where a look-up waits; the lower goes first. In that which is not sorted it is not known yet where it belongs. */
enum queue { QUEUE_QUICK, QUEUE_UNSORTED, QUEUE_FIRST, QUEUE_AGAIN, QUEUES };

/* Who takes it. One thread is kept for what should be quick, and sorts. */
enum lane { LANE_QUICK, LANE_ANY, LANES };
static const int threads_limit[LANES] = { 1, 3 };

/* A thread, and what it looks up: in memory of its own, as those who want to know may go. */
struct worker {
    struct list   node; /* while it has one */
    enum lane     lane;
    struct lookup lookup;
    char          name[LOOKUP_NAME_LIMIT + 1];
};

/* Under process_lock. A child begins with an empty one: the threads stayed with the parent. */
static struct {
    unsigned       era;
    bool           ready;
    int            threads[LANES], starting[LANES]; /* threads counts those that are starting, too */
    struct list    queues[QUEUES];
    struct list    busy; /* threads that have a look-up */
    struct lookup *buckets[BUCKETS];
} pool;

static void check_pool_locked(void)
{
    if (pool.ready && pool.era == process_era())
        return;
    memset(&pool, 0, sizeof pool);
    for (size_t i = 0; i < QUEUES; i++)
        list_init(&pool.queues[i]);
    list_init(&pool.busy);
    pool.era = process_era();
    pool.ready = true;
}

/* FNV-1a. */
static uint32_t hash_of(const char *name)
{
    uint32_t hash = 2166136261u;

    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

/* ---- Asking the resolver ---------------------------------------------------------------------------------------- */

static enum lookup_outcome outcome_of(int error)
{
    switch (error) {
    case 0:
        return LOOKUP_FOUND;
    case EAI_NONAME:
    case EAI_NODATA:
    case EAI_ADDRFAMILY:
        return LOOKUP_NO_SUCH_NAME;
    default:
        return LOOKUP_FAILED;
    }
}

static size_t read_addresses(const struct addrinfo *list, struct found_address ret[ADDRESSES])
{
    size_t count = 0;

    for (; list != NULL && count < ADDRESSES; list = list->ai_next) {
        struct found_address *item = &ret[count];

        item->scope = 0;
        item->address = address_from_sockaddr(list->ai_addr, &item->scope);
        count += item->address.family != AF_UNSPEC;
    }
    return count;
}

static void resolve(const char *name, struct lookup_result *ret)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo      *list = NULL;
    const int             error = getaddrinfo(name, NULL, &hints, &list);

    ret->outcome = outcome_of(error);
    if (error == 0) {
        ret->count = read_addresses(list, ret->items);
        freeaddrinfo(list);
        if (ret->count == 0)
            ret->outcome = LOOKUP_NO_SUCH_NAME;
    }
}

/* ---- Threads ---------------------------------------------------------------------------------------------------- */

static void unlink_locked(struct lookup *lookup)
{
    struct lookup **place = &pool.buckets[lookup->hash % BUCKETS];

    while (*place != lookup)
        place = &(*place)->next;
    *place = lookup->next;
}

/* Elsewhere from now on, in the same place of its queue and of its bucket. */
static void move_locked(struct lookup *to, struct lookup *from)
{
    struct lookup **place = &pool.buckets[from->hash % BUCKETS];

    while (*place != from)
        place = &(*place)->next;
    *place = to;
    *to = *from;
    list_init(&to->waiters);
    list_move(&to->waiters, &from->waiters);
    list_init(&to->node);
    if (!list_is_empty(&from->node))
        list_append(&from->node, &to->node); /* in front of it */
    list_remove(&from->node);
}

/* Has one of those who wait lend it. */
static void lend_locked(struct lookup *lookup)
{
    struct lookup_waiter *lender = container_of(lookup->waiters.next, struct lookup_waiter, node);

    move_locked(&lender->lookup, lookup);
    lender->lookup.name = lender->name;
    lender->lends = true;
}

static struct lookup_waiter *next_waiter(struct lookup *lookup, unsigned *ret_turn)
{
    struct lookup_waiter *waiter = NULL;
    struct list          *node;

    process_lock();
    node = list_pop(&lookup->waiters);
    if (node != NULL) {
        waiter = container_of(node, struct lookup_waiter, node);
        waiter->waits = false;
        *ret_turn = waiter->turn;
    }
    process_unlock();
    return waiter;
}

/* From here on, who asks for the name starts a new look-up. */
static void finish(struct worker *worker, struct lookup_result *result)
{
    struct lookup        *lookup = &worker->lookup;
    struct lookup_waiter *waiter;
    unsigned              turn;

    process_lock();
    unlink_locked(lookup);
    list_remove(&worker->node);
    result->doubtful = lookup->doubtful;
    process_unlock();
    while ((waiter = next_waiter(lookup, &turn)) != NULL) {
        struct counted *owner = waiter->owner;

        waiter->found(waiter, turn, result);
        counted_release(owner);
    }
    netns_release(lookup->netns);
}

static void run(struct worker *worker)
{
    struct found_address items[ADDRESSES];
    struct lookup_result result = { .outcome = LOOKUP_FAILED, .items = items };

    if (netns_enter(worker->lookup.netns) == 0)
        resolve(worker->name, &result);
    finish(worker, &result);
}

/* The first of these queues. */
static struct list *pop_locked(size_t queues)
{
    struct list *node = NULL;

    for (size_t i = 0; i < queues && node == NULL; i++)
        node = list_pop(&pool.queues[i]);
    return node;
}

static void take_over_locked(struct worker *worker, struct lookup *lookup)
{
    container_of(lookup, struct lookup_waiter, lookup)->lends = false;
    strcpy(worker->name, lookup->name);
    move_locked(&worker->lookup, lookup);
    worker->lookup.name = worker->name;
    worker->lookup.doubtful = false;
    list_append(&pool.busy, &worker->node);
    netns_retain_locked(worker->lookup.netns);
}

static bool has_room_locked(enum lane lane)
{
    return pool.threads[lane] < threads_limit[lane];
}

/* Those that there are for sure: what is being started may yet fail. Each of them looks into the queues before it ends.
 * (For a moment it may be one too few: a thread ended before it was known that it started.) */
static int running_locked(enum lane lane)
{
    return pool.threads[lane] - pool.starting[lane];
}

/* What a quick thread takes when nothing is quick. Another one may have taken what it was started for: what that one was
 * started for is left then, and the quick one goes over to its lane. Nor does it leave anything to threads that are all
 * only being started. */
static struct list *pop_any_locked(struct worker *worker)
{
    const bool   goes_over = has_room_locked(LANE_ANY);
    struct list *node = goes_over || running_locked(LANE_ANY) <= 0 ? pop_locked(QUEUES) : NULL;

    if (node != NULL && goes_over) {
        pool.threads[LANE_QUICK]--;
        pool.threads[LANE_ANY]++;
        worker->lane = LANE_ANY;
    }
    return node;
}

/* What a thread does next; false: it ends. */
static bool take(struct worker *worker)
{
    struct list *node;

    process_lock();
    node = pop_locked(worker->lane == LANE_QUICK ? QUEUE_UNSORTED + 1 : QUEUES);
    if (node == NULL && worker->lane == LANE_QUICK)
        node = pop_any_locked(worker);
    if (node == NULL)
        pool.threads[worker->lane]--;
    else
        take_over_locked(worker, container_of(node, struct lookup, node));
    process_unlock();
    return node != NULL;
}

/* A child's new threads may have the memory of the parent's, and with it, in glibc, the sockets that these were
 * asking name servers over. They are begun with as a thread's should be; what they inherited is not closed, as
 * nobody knows whose the numbers are by now. */
static void forget_inherited_resolver(void)
{
    if (process_era() != 0)
        memset(&_res, 0, sizeof _res);
}

static void *work(void *argument);

static int start_worker(enum lane lane)
{
    struct worker *worker = malloc(sizeof *worker);
    pthread_t      thread;
    int            error;

    if (worker == NULL)
        return ENOMEM;
    list_init(&worker->node);
    worker->lane = lane;
    error = process_start_thread(work, worker, true, &thread);
    if (error != 0)
        free(worker);
    return error;
}

/* One thread more, if there may be one. 0; EBUSY: there are others, of which all may only be starting if there are as
 * many as there may be; or another errno: there is none, or none that has started. */
static int add_thread(enum lane lane)
{
    bool may;
    int  error;

    process_lock();
    may = has_room_locked(lane);
    if (may) {
        pool.threads[lane]++;
        pool.starting[lane]++;
    }
    process_unlock();
    if (!may)
        return EBUSY;
    error = start_worker(lane);
    process_lock();
    pool.starting[lane]--;
    if (error != 0)
        pool.threads[lane]--;
    if (error != 0 && running_locked(lane) > 0)
        error = EBUSY; /* there are others, which get round to it */
    process_unlock();
    return error;
}

static bool is_any_running(void)
{
    bool is;

    process_lock();
    is = running_locked(LANE_QUICK) + running_locked(LANE_ANY) > 0;
    process_unlock();
    return is;
}

/* Somebody has to take what waits. What should be quick may stand behind what was not, and then any will do. */
static int add_threads(enum queue queue)
{
    const int quick = queue <= QUEUE_UNSORTED ? add_thread(LANE_QUICK) : ENOMEM;
    int       any;

    if (quick == 0)
        return 0;
    any = add_thread(LANE_ANY);
    if (any == 0 || (any != EBUSY && quick != EBUSY))
        return any;
    return is_any_running() ? 0 : EINPROGRESS;
}

/* Whether it is another lane's. Reading hosts may take a while, so that who starts a look-up does not. */
static bool has_to_be_put_back(const struct worker *worker)
{
    return worker->lane == LANE_QUICK && worker->lookup.queue == QUEUE_UNSORTED &&
           !resolvconf_hosts_has(worker->lookup.name);
}

/* Into the queue of those that may take long, unless nobody waits for it any more. */
static void put_back(struct worker *worker)
{
    struct lookup *lookup = &worker->lookup;
    struct netns  *netns = lookup->netns;

    process_lock();
    list_remove(&worker->node);
    if (list_is_empty(&lookup->waiters)) {
        unlink_locked(lookup);
    } else {
        lookup->queue = lookup->slow_queue;
        list_append(&pool.queues[lookup->queue], &lookup->node);
        lend_locked(lookup);
    }
    process_unlock();
    netns_release(netns);
}

static void *work(void *argument)
{
    struct worker *worker = argument;

    (void)pthread_setname_np(pthread_self(), THREAD_NAME);
    forget_inherited_resolver();
    while (take(worker)) {
        if (has_to_be_put_back(worker)) {
            put_back(worker);
            (void)add_thread(LANE_ANY); /* if none can be had, this one gets round to it */
        } else {
            run(worker);
        }
    }
    free(worker);
    return NULL;
}

/* ---- Starting and cancelling ------------------------------------------------------------------------------------ */

static bool is_queued(const struct lookup *lookup)
{
    return !list_is_empty(&lookup->node);
}

static void wait_locked(struct lookup *lookup, struct lookup_waiter *waiter)
{
    if (waiter->waits)
        return;
    waiter->waits = true;
    if (!is_queued(lookup) && list_is_empty(&lookup->waiters))
        lookup->doubtful = true; /* nobody had to hear of changes */
    counted_retain(waiter->owner);
    list_append(&lookup->waiters, &waiter->node);
}

/* First look-ups go before those that are repeated. */
static void advance_locked(struct lookup *lookup, enum queue queue, enum queue slow_queue)
{
    if (slow_queue < lookup->slow_queue)
        lookup->slow_queue = slow_queue;
    if (!is_queued(lookup) || queue >= lookup->queue)
        return;
    list_remove(&lookup->node);
    lookup->queue = queue;
    list_append(&pool.queues[queue], &lookup->node);
}

static struct lookup *find_locked(const struct netns *netns, const char *name, uint32_t hash)
{
    struct lookup *lookup = pool.buckets[hash % BUCKETS];

    while (lookup != NULL && (lookup->hash != hash || lookup->netns != netns || strcmp(lookup->name, name) != 0))
        lookup = lookup->next;
    return lookup;
}

/* A new one, which the inquirer lends. */
static struct lookup *begin_locked(struct netns *netns, uint32_t hash, enum queue queue, enum queue slow_queue,
                                   struct lookup_waiter *waiter)
{
    struct lookup *lookup = &waiter->lookup;

    *lookup = (struct lookup){ .next = pool.buckets[hash % BUCKETS],
                               .netns = netns,
                               .name = waiter->name,
                               .hash = hash,
                               .queue = queue,
                               .slow_queue = slow_queue };
    waiter->lends = true;
    pool.buckets[hash % BUCKETS] = lookup;
    list_init(&lookup->waiters);
    list_append(&pool.queues[queue], &lookup->node);
    return lookup;
}

/* Joins the look-up of the name that there is, or begins one. Whether a thread has yet to take it. */
static bool join(struct netns *netns, enum queue queue, enum queue slow_queue, struct lookup_waiter *waiter)
{
    const uint32_t hash = hash_of(waiter->name);
    struct lookup *lookup;
    bool           queued;

    process_lock();
    check_pool_locked();
    lookup = find_locked(netns, waiter->name, hash);
    if (lookup == NULL)
        lookup = begin_locked(netns, hash, queue, slow_queue, waiter);
    advance_locked(lookup, queue, slow_queue);
    wait_locked(lookup, waiter);
    queued = is_queued(lookup);
    process_unlock();
    return queued;
}

int lookup_start(struct netns *netns, bool again, bool trusted, struct lookup_waiter *waiter)
{
    const enum queue slow_queue = again ? QUEUE_AGAIN : QUEUE_FIRST;
    enum queue       queue = slow_queue;
    int              error;

    switch (resolvconf_hosts_say(waiter->name, trusted)) {
    case HOSTS_HAS:
        queue = QUEUE_QUICK;
        break;
    case HOSTS_UNREAD:
        queue = QUEUE_UNSORTED;
        break;
    case HOSTS_HAS_NOT:
        break;
    }
    if (!join(netns, queue, slow_queue, waiter))
        return 0;
    error = add_threads(queue);
    if (error != 0 && error != EINPROGRESS)
        lookup_cancel(waiter);
    return error;
}

void lookup_doubt(const struct netns *netns)
{
    process_lock();
    check_pool_locked();
    list_for_each(node, &pool.busy) {
        struct worker *worker = container_of(node, struct worker, node);

        worker->lookup.doubtful = worker->lookup.doubtful || worker->lookup.netns == netns;
    }
    process_unlock();
}

/* In a queue, nobody has begun with it: if nobody else waits, it is no more. */
static void give_up_locked(struct lookup_waiter *waiter)
{
    list_remove(&waiter->node);
    if (!waiter->lends)
        return;
    waiter->lends = false;
    if (!list_is_empty(&waiter->lookup.waiters)) {
        lend_locked(&waiter->lookup);
        return;
    }
    list_remove(&waiter->lookup.node);
    unlink_locked(&waiter->lookup);
}

void lookup_cancel(struct lookup_waiter *waiter)
{
    bool waited;

    process_lock();
    waiter->turn++;
    waited = waiter->waits;
    waiter->waits = false;
    if (waited)
        give_up_locked(waiter);
    process_unlock();
    if (waited)
        counted_release(waiter->owner);
}
