/* SPDX-License-Identifier: MIT */
/*
 * A scheduler may run its work at once, late, never, twice or from many threads, and long after the target is gone. So
 * the argument that it is given stays readable for ever: handovers are never freed, only used again, and what a piece
 * of work may do is looked up under the lock. Which of a handover's pieces of work it is, the argument says too: it
 * points at one of the handover's bytes, at the next one each time. (A plain number would do, but garbage collectors
 * and other runtimes want pointers to be pointers.)
 *
 * What this file must never do: call `perform`, a hook or the work with the lock held.
 */
#include "api/scheduler.h"

#include <stdlib.h>
#include <string.h>

#include "base/counted.h"
#include "base/list.h"
#include "base/process.h"

enum state { STATE_IDLE, STATE_WAITING, STATE_RUNNING };

#define BYTES 128 /* a second run is told from the first of as many pieces of work */

struct scheduler_work {
    _Alignas(BYTES) struct list node; /* among the unused */
    SCNetworkReachabilityScheduler scheduler;
    struct counted                *owner; /* NULL: it let go */
    void (*run)(struct counted *owner);
    enum state state;
    unsigned   turn;       /* of the work that was handed over last */
    unsigned   references; /* the owner's, that of each call of perform, that of the work in hand */
};

#define BLOCK_SIZE 32

struct block {
    struct scheduler_work handovers[BLOCK_SIZE];
    struct block         *next;
};

_Static_assert(sizeof(struct scheduler_work) == BYTES, "arguments of one handover must not be another's");

/* Under process_lock, as every handover is. */
static struct block *blocks;
static struct list   unused = { &unused, &unused };

/* One that is unused, after adding a block if there is one. */
static struct scheduler_work *take_unused(struct block *block)
{
    struct list *node;

    process_lock();
    if (block != NULL) {
        block->next = blocks;
        blocks = block;
        for (size_t i = 0; i < BLOCK_SIZE; i++)
            list_append(&unused, &block->handovers[i].node);
    }
    node = list_pop(&unused);
    process_unlock();
    return node == NULL ? NULL : container_of(node, struct scheduler_work, node);
}

static struct scheduler_work *take(void)
{
    struct scheduler_work *work = take_unused(NULL);
    struct block          *block;

    if (work != NULL)
        return work;
    block = aligned_alloc(BYTES, sizeof *block);
    if (block == NULL)
        return NULL;
    memset(block, 0, sizeof *block);
    return take_unused(block);
}

struct scheduler_work *scheduler_work_create(const SCNetworkReachabilityScheduler *scheduler,
                                             void (*run)(struct counted *owner), struct counted *owner)
{
    struct scheduler_work *work = take();
    void                  *info = scheduler->info;

    if (work == NULL)
        return NULL;
    if (scheduler->retain != NULL)
        info = (void *)(uintptr_t)scheduler->retain(info);
    process_lock();
    work->scheduler = *scheduler;
    work->scheduler.info = info;
    work->owner = owner;
    work->run = run;
    work->state = STATE_IDLE;
    work->references = 1;
    process_unlock();
    return work;
}

static void drop(struct scheduler_work *work)
{
    SCNetworkReachabilityScheduler scheduler = { 0 };

    process_lock();
    if (--work->references == 0) {
        scheduler = work->scheduler;
        work->state = STATE_IDLE;
        list_append(&unused, &work->node);
    }
    process_unlock();
    if (scheduler.release != NULL)
        scheduler.release(scheduler.info);
}

/* What schedulers are given to run. */
static void run_work(void *argument)
{
    const unsigned         turn = (uintptr_t)argument % BYTES;
    struct scheduler_work *work = (struct scheduler_work *)(void *)((char *)argument - turn);
    struct counted        *owner = NULL;
    void (*run)(struct counted *) = NULL;
    bool is_first;

    process_lock();
    is_first = work->state == STATE_WAITING && work->turn == turn;
    if (is_first) {
        work->state = STATE_RUNNING;
        owner = work->owner;
        run = work->run;
        if (owner != NULL)
            counted_retain(owner);
    }
    process_unlock();
    if (!is_first)
        return;
    if (owner != NULL) {
        run(owner);
        counted_release(owner);
    }
    drop(work);
}

void scheduler_work_post(struct scheduler_work *work, const struct counted *owner)
{
    void *argument = NULL;
    bool  may;

    process_lock();
    may = work->owner == owner && work->state == STATE_IDLE; /* it may be another one's by now */
    if (may) {
        work->state = STATE_WAITING;
        work->turn = (work->turn + 1) % BYTES;
        work->references += 2;
        argument = (char *)work + work->turn;
    }
    process_unlock();
    if (!may)
        return;
    work->scheduler.perform(work->scheduler.info, run_work, argument);
    drop(work);
}

void scheduler_work_done(struct scheduler_work *work)
{
    process_lock();
    work->state = STATE_IDLE;
    process_unlock();
}

void scheduler_work_end(struct scheduler_work *work)
{
    process_lock();
    work->owner = NULL;
    process_unlock();
    drop(work);
}
