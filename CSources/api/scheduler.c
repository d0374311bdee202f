/* SPDX-License-Identifier: MIT */
/*
 * A user's scheduler. It may run its work at once, late or never, and long after the target was freed. So the work has
 * a reference: it is the struct itself.
 *
 * What this file must never do: call `perform`, a hook or the owner's `run` with the lock held.
 */
#ifdef __linux__
#include "api/target.h"

#include <stdlib.h>

#include "base/netns_handle.h"

struct scheduler {
    struct counted counted; /* of the owner, of work that waits, and of a call */
    SCNetworkReachabilityScheduler calls;
    void (*run)(struct counted *owner);
    struct counted *owner; /* NULL after reach_scheduler_end; under reach_process_lock */
    bool posted;           /* the scheduler has work that has not begun; likewise */
};

static void free_scheduler(struct counted *counted)
{
    struct scheduler *scheduler = container_of(counted, struct scheduler, counted);

    if (scheduler->calls.release != NULL)
        scheduler->calls.release(scheduler->calls.info);
    free(scheduler);
}

struct scheduler *reach_scheduler_create(const SCNetworkReachabilityScheduler *calls,
                                         void (*run)(struct counted *owner), struct counted *owner)
{
    struct scheduler *scheduler = calloc(1, sizeof *scheduler);

    if (scheduler == NULL)
        return NULL;
    counted_init(&scheduler->counted, free_scheduler);
    scheduler->calls = *calls;
    if (calls->retain != NULL)
        scheduler->calls.info = (void *)(uintptr_t)calls->retain(calls->info);
    scheduler->run = run;
    scheduler->owner = owner;
    return scheduler;
}

struct scheduler *reach_scheduler_retain(struct scheduler *scheduler)
{
    counted_retain(&scheduler->counted);
    return scheduler;
}

/* The function that the scheduler is given to run. Consumes the work's reference. */
static void run_work(void *argument)
{
    struct scheduler *scheduler = argument;
    struct counted *owner;

    reach_process_lock();
    scheduler->posted = false;
    owner = scheduler->owner;
    if (owner != NULL)
        counted_retain(owner);
    reach_process_unlock();
    if (owner != NULL) {
        scheduler->run(owner);
        counted_release(owner);
    }
    counted_release(&scheduler->counted);
}

void reach_scheduler_post(struct scheduler *scheduler)
{
    bool may_post;

    reach_process_lock();
    may_post = scheduler->owner != NULL && !scheduler->posted;
    if (may_post) {
        scheduler->posted = true;
        counted_retain(&scheduler->counted); /* the work's, until it has run */
    }
    reach_process_unlock();
    if (may_post) {
        reach_netns_enter_process_namespace(); /* threads that `perform` starts inherit the namespace */
        scheduler->calls.perform(scheduler->calls.info, run_work, scheduler);
    }
    counted_release(&scheduler->counted);
}

void reach_scheduler_end(struct scheduler *scheduler)
{
    reach_process_lock();
    scheduler->owner = NULL;
    reach_process_unlock();
    counted_release(&scheduler->counted);
}
#endif
