/* SPDX-License-Identifier: MIT */
#include "support/queue.h"

#include "support/time_limit.h"
#include "support/unit.h"

#define TIME_LIMIT 20 /* seconds: an event that takes longer has failed */

static _Thread_local const struct queue *here;

/* ---- Running ---------------------------------------------------------------------------------------------------- */

static bool take_locked(struct queue *queue, struct queue_work *ret)
{
    if (queue->count == 0)
        return false;
    *ret = queue->works[0];
    queue->count--;
    memmove(queue->works, queue->works + 1, queue->count * sizeof *queue->works);
    return true;
}

bool queue_take(struct queue *queue, struct queue_work *ret)
{
    pthread_mutex_lock(&queue->lock);
    bool taken = take_locked(queue, ret);
    pthread_mutex_unlock(&queue->lock);
    return taken;
}

static void run(struct queue *queue, const struct queue_work *work)
{
    const struct queue *before = here;

    here = queue;
    work->run(work->argument);
    here = before;
}

bool queue_run(struct queue *queue)
{
    struct queue_work work;
    const bool taken = queue_take(queue, &work);

    if (taken)
        run(queue, &work);
    return taken;
}

bool queue_is_here(const struct queue *queue)
{
    return here == queue;
}

static void *serve(void *argument)
{
    struct queue *queue = argument;
    struct queue_work work;

    pthread_mutex_lock(&queue->lock);
    for (;;) {
        if (take_locked(queue, &work)) {
            pthread_mutex_unlock(&queue->lock);
            run(queue, &work);
            pthread_mutex_lock(&queue->lock);
        } else if (queue->over) {
            break;
        } else {
            pthread_cond_wait(&queue->news, &queue->lock);
        }
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

/* ---- The scheduler ---------------------------------------------------------------------------------------------- */

static const void *retain(const void *info)
{
    atomic_fetch_add(&((struct queue *)(uintptr_t)info)->references, 1);
    return info;
}

/* queue_close waits for it. */
static void release(const void *info)
{
    struct queue *queue = (struct queue *)(uintptr_t)info;

    pthread_mutex_lock(&queue->lock);
    atomic_fetch_add(&queue->releases, 1);
    atomic_fetch_sub(&queue->references, 1);
    pthread_cond_broadcast(&queue->news);
    pthread_mutex_unlock(&queue->lock);
}

static void perform(void *info, void (*work)(void *argument), void *argument)
{
    struct queue *queue = info;

    pthread_mutex_lock(&queue->lock);
    if (queue->count == queue->capacity) {
        queue->capacity = queue->capacity * 2 + 16;
        queue->works = realloc(queue->works, queue->capacity * sizeof *queue->works);
        if (queue->works == NULL)
            abort();
    }
    queue->works[queue->count++] = (struct queue_work){ .run = work, .argument = argument };
    if (queue->count > queue->most)
        queue->most = queue->count;
    queue->performs++;
    pthread_cond_broadcast(&queue->news);
    pthread_mutex_unlock(&queue->lock);
}

SCNetworkReachabilityScheduler queue_scheduler(struct queue *queue)
{
    return (SCNetworkReachabilityScheduler){ .info = queue, .retain = retain, .release = release, .perform = perform };
}

SCBoolean queue_set(struct queue *queue, SCNetworkReachabilityRef target)
{
    const SCNetworkReachabilityScheduler scheduler = queue_scheduler(queue);

    return SCNetworkReachabilitySetScheduler(target, &scheduler);
}

/* ---- Opening, closing, counting --------------------------------------------------------------------------------- */

void queue_open(struct queue *queue, unsigned threads)
{
    memset(queue, 0, sizeof *queue);
    assert_int_equal(pthread_mutex_init(&queue->lock, NULL), 0);
    assert_int_equal(pthread_cond_init(&queue->news, NULL), 0);
    assert_true(threads <= QUEUE_THREADS);
    for (unsigned i = 0; i < threads; i++)
        assert_int_equal(pthread_create(&queue->threads[queue->thread_count++], NULL, serve, queue), 0);
}

/* Waits until the condition holds, under the lock. */
static bool await_news(struct queue *queue, bool (*holds)(const struct queue *queue, unsigned long value),
                       unsigned long value)
{
    struct timespec end;
    int error = 0;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += time_limit_of(TIME_LIMIT);
    pthread_mutex_lock(&queue->lock);
    while (!holds(queue, value) && error == 0)
        error = pthread_cond_timedwait(&queue->news, &queue->lock, &end);
    bool done = holds(queue, value);
    pthread_mutex_unlock(&queue->lock);
    return done;
}

static bool has_performed(const struct queue *queue, unsigned long performs)
{
    return queue->performs >= performs;
}

void queue_await(struct queue *queue, unsigned long performs)
{
    if (!await_news(queue, has_performed, performs))
        fail_msg("no work was handed over");
}

static bool has_references(const struct queue *queue, unsigned long count)
{
    return (unsigned long)atomic_load(&queue->references) == count;
}

void queue_close(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->over = true;
    pthread_cond_broadcast(&queue->news);
    pthread_mutex_unlock(&queue->lock);
    for (unsigned i = 0; i < queue->thread_count; i++)
        pthread_join(queue->threads[i], NULL);
    while (queue_run(queue))
        continue;
    if (!await_news(queue, has_references, 0))
        fail_msg("the library keeps a queue that is closed");
    free(queue->works);
    pthread_cond_destroy(&queue->news);
    pthread_mutex_destroy(&queue->lock);
}

static size_t read_number(struct queue *queue, const size_t *number)
{
    pthread_mutex_lock(&queue->lock);
    size_t value = *number;
    pthread_mutex_unlock(&queue->lock);
    return value;
}

size_t queue_performs(struct queue *queue)
{
    return read_number(queue, &queue->performs);
}

size_t queue_count(struct queue *queue)
{
    return read_number(queue, &queue->count);
}

size_t queue_most(struct queue *queue)
{
    return read_number(queue, &queue->most);
}
