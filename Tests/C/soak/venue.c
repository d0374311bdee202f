/* SPDX-License-Identifier: MIT */
#include "soak/venue.h"

#include <errno.h>
#include <string.h>

#include "support/unit.h"

/* ---- The threads of the loops ----------------------------------------------------------------------------------- */

/* Waits while the loops are stopped. Returns false at the end. */
static bool wait_for_turn(struct venues *venues)
{
    bool over;

    pthread_mutex_lock(&venues->lock);
    venues->waiting++;
    pthread_cond_broadcast(&venues->news);
    while (venues->stopped && !venues->over)
        pthread_cond_wait(&venues->news, &venues->lock);
    venues->waiting--;
    over = venues->over;
    pthread_mutex_unlock(&venues->lock);
    return !over;
}

static void *drive(void *argument)
{
    struct venues *venues = argument;
    SCRunLoopRef loop;

    pthread_mutex_lock(&venues->lock);
    loop = venues->loops[venues->started++];
    pthread_cond_broadcast(&venues->news);
    pthread_mutex_unlock(&venues->lock);
    while (wait_for_turn(venues))
        unit_complain_if(SCRunLoopPerform(loop, -1) < 0, "SCRunLoopPerform failed");
    return NULL;
}

static void wake_loops(struct venues *venues)
{
    for (unsigned i = 0; i < VENUE_THREADS; i++)
        SCRunLoopWakeUp(venues->loops[i]);
}

void venues_stop(struct venues *venues)
{
    pthread_mutex_lock(&venues->lock);
    if (!venues->stopped) {
        venues->stopped = true;
        wake_loops(venues);
        while (venues->waiting < VENUE_THREADS)
            pthread_cond_wait(&venues->news, &venues->lock);
    }
    pthread_mutex_unlock(&venues->lock);
}

void venues_resume(struct venues *venues)
{
    pthread_mutex_lock(&venues->lock);
    venues->stopped = false;
    pthread_cond_broadcast(&venues->news);
    pthread_mutex_unlock(&venues->lock);
}

void venues_open(struct venues *ret)
{
    memset(ret, 0, sizeof *ret);
    pthread_mutex_init(&ret->lock, NULL);
    pthread_cond_init(&ret->news, NULL);
    queue_open(&ret->queue, 1);
    ret->driven = SCRunLoopCreate();
    assert_non_null(ret->driven);
    for (unsigned i = 0; i < VENUE_THREADS; i++)
        assert_non_null(ret->loops[i] = SCRunLoopCreate());
    for (unsigned i = 0; i < VENUE_THREADS; i++)
        assert_int_equal(pthread_create(&ret->threads[i], NULL, drive, ret), 0);
    pthread_mutex_lock(&ret->lock);
    while (ret->started < VENUE_THREADS)
        pthread_cond_wait(&ret->news, &ret->lock);
    pthread_mutex_unlock(&ret->lock);
}

void venues_close(struct venues *venues)
{
    pthread_mutex_lock(&venues->lock);
    venues->over = true;
    pthread_cond_broadcast(&venues->news);
    pthread_mutex_unlock(&venues->lock);
    wake_loops(venues);
    for (unsigned i = 0; i < VENUE_THREADS; i++) {
        pthread_join(venues->threads[i], NULL);
        SCRunLoopRelease(venues->loops[i]);
    }
    SCRunLoopRelease(venues->driven);
    queue_close(&venues->queue);
    pthread_cond_destroy(&venues->news);
    pthread_mutex_destroy(&venues->lock);
}

/* ---- Schedules -------------------------------------------------------------------------------------------------- */

/* Runs the work at once, on the library thread. */
static void perform(void *info, void (*work)(void *argument), void *argument)
{
    (void)info;
    work(argument);
}

static SCRunLoopRef loop_of(const struct venues *venues, enum venue venue)
{
    switch (venue) {
    case VENUE_FETCHED:
    case VENUE_DRIVEN:
        return venues->driven;
    case VENUE_OTHER_LOOP:
        return venues->loops[1];
    default:
        return venues->loops[0];
    }
}

bool venue_schedule(struct venues *venues, enum venue venue, SCNetworkReachabilityRef target)
{
    static const SCNetworkReachabilityScheduler library_thread = { .perform = perform };

    if (venue == VENUE_LIBRARY_THREAD)
        return SCNetworkReachabilitySetScheduler(target, &library_thread);
    if (venue == VENUE_QUEUE)
        return queue_set(&venues->queue, target);
    return SCNetworkReachabilityScheduleWithRunLoop(target, loop_of(venues, venue), kSCRunLoopDefaultMode) &&
           (venue != VENUE_BOTH_LOOPS ||
            SCNetworkReachabilityScheduleWithRunLoop(target, venues->loops[1], kSCRunLoopDefaultMode));
}

bool venue_unschedule(struct venues *venues, enum venue venue, SCNetworkReachabilityRef target)
{
    if (venue == VENUE_LIBRARY_THREAD || venue == VENUE_QUEUE)
        return SCNetworkReachabilitySetScheduler(target, NULL);
    return SCNetworkReachabilityUnscheduleFromRunLoop(target, loop_of(venues, venue), kSCRunLoopDefaultMode) &&
           (venue != VENUE_BOTH_LOOPS ||
            SCNetworkReachabilityUnscheduleFromRunLoop(target, venues->loops[1], kSCRunLoopDefaultMode));
}
