/* SPDX-License-Identifier: MIT */
/*
 * Work for a user's scheduler, valid for as long as the scheduler may run it.
 *
 * A scheduler may run its work at once, late, never, twice or on many threads, and long after the target was freed. So
 * a struct scheduler_work is never freed, only reused, and each post has a number. The argument that `perform` receives
 * is the address of the struct plus that number: it points into the struct, so it stays valid, and it differs for each
 * post. It is not a plain number, because garbage collectors and other runtimes expect real pointers.
 *
 * What this file must never do: call `perform`, a hook or the owner's `run` with the lock held.
 */
#ifdef __linux__
#include "api/scheduler_work.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/counted.h"
#include "base/list.h"
#include "base/process.h"

enum work_state { WORK_IDLE, WORK_POSTED, WORK_RUNNING };

/* Size and alignment of a struct scheduler_work, and so the number of posts that can be told apart. */
#define WORK_SIZE 128

struct scheduler_work {
    _Alignas(WORK_SIZE) struct list node; /* in unused_work */
    SCNetworkReachabilityScheduler scheduler;
    struct counted *owner; /* NULL after scheduler_work_end */
    void (*run)(struct counted *owner);
    enum work_state state;
    unsigned post_number; /* of the last post, modulo WORK_SIZE */
    unsigned references;  /* one of the owner, one for each call of `perform`, one for work that is posted */
};

_Static_assert(sizeof(struct scheduler_work) == WORK_SIZE, "a post's argument must not point into another work");

#define BLOCK_LENGTH 32

struct work_block {
    struct scheduler_work works[BLOCK_LENGTH];
    struct work_block *next;
};

/* Under process_lock, as every struct scheduler_work is. */
static struct work_block *blocks; /* never freed; linked so that leak checkers find them */
static struct list unused_work = { &unused_work, &unused_work };

/* ---- Memory ----------------------------------------------------------------------------------------------------- */

static struct scheduler_work *pop_unused_work(void)
{
    struct list *node;

    process_lock();
    node = list_pop(&unused_work);
    process_unlock();
    return node == NULL ? NULL : container_of(node, struct scheduler_work, node);
}

static struct scheduler_work *allocate_work(void)
{
    struct scheduler_work *work = pop_unused_work();
    struct work_block *block;

    if (work != NULL)
        return work;
    block = aligned_alloc(WORK_SIZE, sizeof *block);
    if (block == NULL)
        return NULL;
    memset(block, 0, sizeof *block);
    process_lock();
    block->next = blocks;
    blocks = block;
    for (size_t i = 1; i < BLOCK_LENGTH; i++)
        list_append(&unused_work, &block->works[i].node);
    process_unlock();
    return &block->works[0];
}

static void release_work(struct scheduler_work *work)
{
    SCNetworkReachabilityScheduler scheduler = { 0 };

    process_lock();
    if (--work->references == 0) {
        scheduler = work->scheduler;
        work->state = WORK_IDLE;
        list_append(&unused_work, &work->node);
    }
    process_unlock();
    if (scheduler.release != NULL)
        scheduler.release(scheduler.info);
}

/* ---- Work ------------------------------------------------------------------------------------------------------- */

struct scheduler_work *scheduler_work_create(const SCNetworkReachabilityScheduler *scheduler,
                                             void (*run)(struct counted *owner), struct counted *owner)
{
    struct scheduler_work *work = allocate_work();
    void *info = scheduler->info;

    if (work == NULL)
        return NULL;
    if (scheduler->retain != NULL)
        info = (void *)(uintptr_t)scheduler->retain(info);
    process_lock();
    work->scheduler = *scheduler;
    work->scheduler.info = info;
    work->owner = owner;
    work->run = run;
    work->state = WORK_IDLE;
    work->references = 1;
    process_unlock();
    return work;
}

/* One run of posted work, with a reference to both. */
struct work_run {
    struct scheduler_work *work;
    struct counted *owner; /* NULL: scheduler_work_end was called */
    void (*run)(struct counted *owner);
};

static void run_for_owner(void *argument)
{
    const struct work_run *run = argument;

    if (run->owner != NULL)
        run->run(run->owner);
}

static void end_work_run(void *argument)
{
    const struct work_run *run = argument;

    if (run->owner != NULL)
        counted_release(run->owner);
    release_work(run->work);
}

/* The function that schedulers are given to run. Does nothing if this post already ran. */
static void run_posted_work(void *argument)
{
    const unsigned number = (uintptr_t)argument % WORK_SIZE;
    struct scheduler_work *work = (struct scheduler_work *)(void *)((char *)argument - number);
    struct work_run run = { .work = work };
    bool is_first_run;

    process_lock();
    is_first_run = work->state == WORK_POSTED && work->post_number == number;
    if (is_first_run) {
        work->state = WORK_RUNNING;
        run.owner = work->owner;
        run.run = work->run;
        if (run.owner != NULL)
            counted_retain(run.owner);
    }
    process_unlock();
    if (is_first_run)
        cleanup_run(run_for_owner, end_work_run, &run);
}

/* One call of `perform`, with a reference to the work. */
struct work_post {
    struct scheduler_work *work;
    void *argument;
};

static void perform_post(void *argument)
{
    const struct work_post *post = argument;
    const SCNetworkReachabilityScheduler *scheduler = &post->work->scheduler;

    scheduler->perform(scheduler->info, run_posted_work, post->argument);
}

static void end_post(void *argument)
{
    const struct work_post *post = argument;

    release_work(post->work);
}

void scheduler_work_post(struct scheduler_work *work, const struct counted *owner)
{
    struct work_post post = { .work = work };
    bool may_post;

    process_lock();
    may_post = work->owner == owner && work->state == WORK_IDLE; /* another owner: the struct was reused */
    if (may_post) {
        work->state = WORK_POSTED;
        work->post_number = (work->post_number + 1) % WORK_SIZE;
        work->references += 2;
        post.argument = (char *)work + work->post_number;
    }
    process_unlock();
    if (may_post)
        cleanup_run(perform_post, end_post, &post);
}

void scheduler_work_done(struct scheduler_work *work)
{
    process_lock();
    work->state = WORK_IDLE;
    process_unlock();
}

void scheduler_work_end(struct scheduler_work *work)
{
    process_lock();
    work->owner = NULL;
    process_unlock();
    release_work(work);
}
#endif
