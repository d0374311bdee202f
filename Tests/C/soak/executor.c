/* SPDX-License-Identifier: MIT */
#include "soak/executor.h"

#include "support/unit.h"

/* ---- The threads of the loops ----------------------------------------------------------------------------------- */

/* Waits while the loops are stopped. Returns false at the end. */
static bool wait_for_turn(struct executors *executors)
{
    bool over;

    pthread_mutex_lock(&executors->lock);
    executors->waiting++;
    pthread_cond_broadcast(&executors->news);
    while (executors->stopped && !executors->over)
        pthread_cond_wait(&executors->news, &executors->lock);
    executors->waiting--;
    over = executors->over;
    pthread_mutex_unlock(&executors->lock);
    return !over;
}

static void *drive(void *argument)
{
    struct executors *executors = argument;

    pthread_mutex_lock(&executors->lock);
    SCRunLoopRef loop = executors->loops[executors->started++];
    pthread_cond_broadcast(&executors->news);
    pthread_mutex_unlock(&executors->lock);
    while (wait_for_turn(executors))
        unit_complain_if(SCRunLoopPerform(loop, -1) < 0, "SCRunLoopPerform failed");
    return NULL;
}

static void wake_loops(struct executors *executors)
{
    for (unsigned i = 0; i < EXECUTOR_THREADS; i++)
        SCRunLoopWakeUp(executors->loops[i]);
}

void executors_stop(struct executors *executors)
{
    pthread_mutex_lock(&executors->lock);
    if (!executors->stopped) {
        executors->stopped = true;
        wake_loops(executors);
        while (executors->waiting < EXECUTOR_THREADS)
            pthread_cond_wait(&executors->news, &executors->lock);
    }
    pthread_mutex_unlock(&executors->lock);
}

void executors_resume(struct executors *executors)
{
    pthread_mutex_lock(&executors->lock);
    executors->stopped = false;
    pthread_cond_broadcast(&executors->news);
    pthread_mutex_unlock(&executors->lock);
}

void executors_open(struct executors *ret)
{
    memset(ret, 0, sizeof *ret);
    pthread_mutex_init(&ret->lock, NULL);
    pthread_cond_init(&ret->news, NULL);
    queue_open(&ret->queue, 1);
    ret->driven = SCRunLoopCreate();
    assert_non_null(ret->driven);
    for (unsigned i = 0; i < EXECUTOR_THREADS; i++)
        assert_non_null(ret->loops[i] = SCRunLoopCreate());
    for (unsigned i = 0; i < EXECUTOR_THREADS; i++)
        assert_int_equal(pthread_create(&ret->threads[i], NULL, drive, ret), 0);
    pthread_mutex_lock(&ret->lock);
    while (ret->started < EXECUTOR_THREADS)
        pthread_cond_wait(&ret->news, &ret->lock);
    pthread_mutex_unlock(&ret->lock);
}

void executors_close(struct executors *executors)
{
    pthread_mutex_lock(&executors->lock);
    executors->over = true;
    pthread_cond_broadcast(&executors->news);
    pthread_mutex_unlock(&executors->lock);
    wake_loops(executors);
    for (unsigned i = 0; i < EXECUTOR_THREADS; i++) {
        pthread_join(executors->threads[i], NULL);
        SCRunLoopRelease(executors->loops[i]);
    }
    SCRunLoopRelease(executors->driven);
    queue_close(&executors->queue);
    pthread_cond_destroy(&executors->news);
    pthread_mutex_destroy(&executors->lock);
}

/* ---- Schedules -------------------------------------------------------------------------------------------------- */

/* Runs the work at once, on the library thread. */
static void perform(void *info, void (*work)(void *argument), void *argument)
{
    (void)info;
    work(argument);
}

static SCRunLoopRef loop_of(const struct executors *executors, enum executor executor)
{
    switch (executor) {
    case EXECUTOR_FETCHED:
    case EXECUTOR_DRIVEN:
        return executors->driven;
    case EXECUTOR_OTHER_LOOP:
        return executors->loops[1];
    default:
        return executors->loops[0];
    }
}

bool executor_schedule(struct executors *executors, enum executor executor, SCNetworkReachabilityRef target)
{
    static const SCNetworkReachabilityScheduler library_thread = { .perform = perform };

    if (executor == EXECUTOR_LIBRARY_THREAD)
        return SCNetworkReachabilitySetScheduler(target, &library_thread);
    if (executor == EXECUTOR_QUEUE)
        return queue_set(&executors->queue, target);
    return SCNetworkReachabilityScheduleWithRunLoop(target, loop_of(executors, executor), kSCRunLoopDefaultMode);
}

bool executor_unschedule(struct executors *executors, enum executor executor, SCNetworkReachabilityRef target)
{
    if (executor == EXECUTOR_LIBRARY_THREAD || executor == EXECUTOR_QUEUE)
        return SCNetworkReachabilitySetScheduler(target, NULL);
    return SCNetworkReachabilityUnscheduleFromRunLoop(target, loop_of(executors, executor), kSCRunLoopDefaultMode);
}
