/* SPDX-License-Identifier: MIT */
/* A scheduler: a pool of four threads and a queue of work. */
#include <pthread.h>

#include "scenario.h"

#define THREADS 4

struct item {
    struct item *next;
    void (*work)(void *argument);
    void *argument;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct item *first, **last;
    bool closed;
};

static _Thread_local bool is_worker;

static bool is_pool_thread(void)
{
    return is_worker;
}

/* The library calls this on its own thread. A thread of the pool runs `work` later. */
static void enqueue_work(void *info, void (*work)(void *argument), void *argument)
{
    struct pool *pool = info;
    struct item *item = malloc(sizeof *item);

    MUST(item != NULL);
    *item = (struct item){ .work = work, .argument = argument };
    pthread_mutex_lock(&pool->lock);
    *pool->last = item;
    pool->last = &item->next;
    pthread_cond_signal(&pool->filled);
    pthread_mutex_unlock(&pool->lock);
}

static struct item *next_item(struct pool *pool)
{
    struct item *item;

    pthread_mutex_lock(&pool->lock);
    while ((item = pool->first) == NULL && !pool->closed)
        pthread_cond_wait(&pool->filled, &pool->lock);
    if (item != NULL && (pool->first = item->next) == NULL)
        pool->last = &pool->first;
    pthread_mutex_unlock(&pool->lock);
    return item;
}

static void *run_items(void *pool)
{
    is_worker = true;
    for (struct item *item; (item = next_item(pool)) != NULL; free(item))
        item->work(item->argument);
    return NULL;
}

int main(void)
{
    struct pool pool = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, &pool.first, false };
    const SCNetworkReachabilityScheduler scheduler = { .info = &pool, .perform = enqueue_work };
    const struct host host = { .name = "thread pool", .threads = 1, .is_callback_thread = is_pool_thread };
    SCNetworkReachabilityRef target;
    pthread_t threads[THREADS];

    scenario_enter();
    for (int i = 0; i < THREADS; i++)
        MUST(pthread_create(&threads[i], NULL, run_items, &pool) == 0);
    target = scenario_target();

    MUST(SCNetworkReachabilitySetScheduler(target, &scheduler));
    scenario_run(&host);
    scenario_wait();
    MUST(SCNetworkReachabilitySetScheduler(target, NULL));

    /* The pool may still have work. It is safe to run: it does nothing any more. */
    pthread_mutex_lock(&pool.lock);
    pool.closed = true;
    pthread_cond_broadcast(&pool.filled);
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < THREADS; i++)
        MUST(pthread_join(threads[i], NULL) == 0);
    return scenario_end();
}
