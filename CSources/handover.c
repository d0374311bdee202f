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
#include "handover.h"

#include <stdlib.h>
#include <string.h>

#include "process.h"

enum state { STATE_IDLE, STATE_WAITING, STATE_RUNNING };

#define BYTES 128 /* a second run is told from the first of as many pieces of work */

struct handover {
    _Alignas(BYTES) struct list    node; /* among the unused */
    SCNetworkReachabilityScheduler scheduler;
    struct counted                *owner; /* NULL: it let go */
    void (*run)(struct counted *owner);
    enum state                     state;
    unsigned                       turn; /* of the work that was handed over last */
    unsigned                       references; /* the owner's, that of each call of perform, that of the work in hand */
};

#define BLOCK_SIZE 32

struct block {
    struct handover handovers[BLOCK_SIZE];
    struct block   *next;
};

_Static_assert(sizeof(struct handover) == BYTES, "arguments of one handover must not be another's");

/* Under process_lock, as every handover is. */
static struct block *blocks;
static struct list   unused = { &unused, &unused };

/* One that is unused, after adding a block if there is one. */
static struct handover *take_unused(struct block *block)
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
    return node == NULL ? NULL : container_of(node, struct handover, node);
}

static struct handover *take(void)
{
    struct handover *handover = take_unused(NULL);
    struct block    *block;

    if (handover != NULL)
        return handover;
    block = aligned_alloc(BYTES, sizeof *block);
    if (block == NULL)
        return NULL;
    memset(block, 0, sizeof *block);
    return take_unused(block);
}

struct handover *handover_create(const SCNetworkReachabilityScheduler *scheduler, void (*run)(struct counted *owner),
                                 struct counted *owner)
{
    struct handover *handover = take();
    void            *info = scheduler->info;

    if (handover == NULL)
        return NULL;
    if (scheduler->retain != NULL)
        info = (void *)(uintptr_t)scheduler->retain(info);
    process_lock();
    handover->scheduler = *scheduler;
    handover->scheduler.info = info;
    handover->owner = owner;
    handover->run = run;
    handover->state = STATE_IDLE;
    handover->references = 1;
    process_unlock();
    return handover;
}

static void drop(struct handover *handover)
{
    SCNetworkReachabilityScheduler scheduler = { 0 };

    process_lock();
    if (--handover->references == 0) {
        scheduler = handover->scheduler;
        handover->state = STATE_IDLE;
        list_append(&unused, &handover->node);
    }
    process_unlock();
    if (scheduler.release != NULL)
        scheduler.release(scheduler.info);
}

/* What schedulers are given to run. */
static void work(void *argument)
{
    const unsigned   turn = (uintptr_t)argument % BYTES;
    struct handover *handover = (struct handover *)(void *)((char *)argument - turn);
    struct counted  *owner = NULL;
    void (*run)(struct counted *) = NULL;
    bool is_first;

    process_lock();
    is_first = handover->state == STATE_WAITING && handover->turn == turn;
    if (is_first) {
        handover->state = STATE_RUNNING;
        owner = handover->owner;
        run = handover->run;
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
    drop(handover);
}

void handover_post(struct handover *handover, const struct counted *owner)
{
    void *argument = NULL;
    bool  may;

    process_lock();
    may = handover->owner == owner && handover->state == STATE_IDLE; /* it may be another one's by now */
    if (may) {
        handover->state = STATE_WAITING;
        handover->turn = (handover->turn + 1) % BYTES;
        handover->references += 2;
        argument = (char *)handover + handover->turn;
    }
    process_unlock();
    if (!may)
        return;
    handover->scheduler.perform(handover->scheduler.info, work, argument);
    drop(handover);
}

void handover_done(struct handover *handover)
{
    process_lock();
    handover->state = STATE_IDLE;
    process_unlock();
}

void handover_end(struct handover *handover)
{
    process_lock();
    handover->owner = NULL;
    process_unlock();
    drop(handover);
}
