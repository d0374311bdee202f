/* SPDX-License-Identifier: MIT */
/* SCRunLoop: its creation and release, the loops of threads, and its lists. runloop_perform.c drives it. */
#ifdef __linux__
#include "loop/runloop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/list.h"
#include "base/object.h"
#include "loop/runloop_state.h"

static pthread_key_t own_loop_key; /* the thread's own loop */
static atomic_bool own_loop_key_created;
static SCRunLoopRef main_loop; /* the main thread's own loop, for all threads; under process_lock */

void runloop_lock(SCRunLoopRef loop)
{
    pthread_mutex_lock(&loop->lock);
}

void runloop_unlock(SCRunLoopRef loop)
{
    pthread_mutex_unlock(&loop->lock);
}

int runloop_status(SCRunLoopRef loop)
{
    if (!object_is(loop, OBJECT_LOOP))
        return error_invalid("runLoop: NULL, not a run loop, or released");
    return loop->era == process_era() ? 0 : ECHILD;
}

bool runloop_check(SCRunLoopRef loop)
{
    const int status = runloop_status(loop);

    if (status != 0)
        error_set(status);
    return status == 0;
}

bool runloop_mode_is_valid(SCRunLoopMode mode)
{
    return mode != NULL && (strcmp(mode, kSCRunLoopDefaultMode) == 0 || strcmp(mode, kSCRunLoopCommonModes) == 0);
}

/* ---- Creation and release --------------------------------------------------------------------------------------- */

static void runloop_free(struct counted *counted)
{
    SCRunLoopRef loop = container_of(counted, struct SCRunLoop, counted);

    SCRunLoopRelease(loop->inherited);
    loop_descriptors_close(loop);
    pthread_mutex_destroy(&loop->lock);
    loop->type = OBJECT_FREED;
    free(loop);
}

static int runloop_init(SCRunLoopRef loop)
{
    int error = process_prepare();

    loop->epoll = loop->wake = loop->timer = DESCRIPTOR_CLOSED;
    if (error == 0)
        error = pthread_mutex_init(&loop->lock, NULL);
    if (error != 0)
        return error;
    error = loop_descriptors_open(loop);
    if (error != 0) {
        loop_descriptors_close(loop);
        pthread_mutex_destroy(&loop->lock);
    }
    return error;
}

SCRunLoopRef SCRunLoopCreate(void)
{
    SCRunLoopRef loop = calloc(1, sizeof *loop);
    const int error = loop == NULL ? ENOMEM : runloop_init(loop);

    if (error != 0) {
        free(loop);
        error_set(error);
        return NULL;
    }
    loop->type = OBJECT_LOOP;
    loop->era = process_era();
    counted_init(&loop->counted, runloop_free);
    list_init(&loop->sources);
    list_init(&loop->jobs);
    list_init(&loop->changes);
    list_init(&loop->members);
    loop->armed = NEVER;
    loop->user = PROCESS_USER_UNKNOWN;
    return loop;
}

SCRunLoopRef SCRunLoopRetain(SCRunLoopRef loop)
{
    int status;

    if (loop == NULL)
        return NULL;
    status = runloop_status(loop);
    if (status == kSCStatusInvalidArgument) {
        error_set(status);
        return NULL;
    }
    counted_retain(&loop->counted);
    return loop;
}

void SCRunLoopRelease(SCRunLoopRef loop)
{
    int status;

    if (loop == NULL)
        return;
    status = runloop_status(loop);
    if (status == kSCStatusInvalidArgument)
        error_set(status);
    else
        counted_release(&loop->counted);
}

/* The destructor of own_loop_key: the thread ends, and no other thread will run its loop. */
static void end_own_loop(void *pointer)
{
    SCRunLoopRef loop = pointer;

    while (loop->era == process_era()) {
        struct member *member = NULL;

        runloop_lock(loop);
        loop->ended = true;
        if (!list_is_empty(&loop->members)) {
            member = container_of(loop->members.next, struct member, node);
            counted_retain(&member->counted);
        }
        runloop_unlock(loop);
        if (member == NULL)
            break;
        member->type->ended(member);
    }
    counted_release(&loop->counted);
}

/* Without pthread_once: a call that fails can be repeated. */
static int create_own_loop_key(void)
{
    int error = 0;

    if (atomic_load(&own_loop_key_created))
        return 0;
    process_lock();
    if (!atomic_load(&own_loop_key_created)) {
        error = pthread_key_create(&own_loop_key, end_own_loop);
        atomic_store(&own_loop_key_created, error == 0);
    }
    process_unlock();
    return error;
}

static bool is_main_thread(void)
{
    return getpid() == (pid_t)syscall(SYS_gettid);
}

static bool loop_is_inherited(SCRunLoopRef loop)
{
    return loop != NULL && loop->era != process_era();
}

/* Returns the main thread's loop of this era. If there is none, `fresh` (NULL: none) becomes that loop. */
static SCRunLoopRef get_or_set_main_loop(SCRunLoopRef fresh)
{
    SCRunLoopRef loop;

    process_lock();
    if (fresh != NULL && loop_is_inherited(main_loop)) {
        fresh->inherited = main_loop;
        main_loop = NULL;
    }
    if (main_loop == NULL)
        main_loop = fresh;
    loop = loop_is_inherited(main_loop) ? NULL : main_loop;
    process_unlock();
    return loop;
}

SCRunLoopRef SCRunLoopGetMain(void)
{
    SCRunLoopRef loop = get_or_set_main_loop(NULL), fresh;

    if (loop != NULL)
        return loop;
    fresh = SCRunLoopCreate();
    if (fresh == NULL)
        return NULL;
    loop = get_or_set_main_loop(fresh);
    if (loop != fresh)
        SCRunLoopRelease(fresh); /* another caller was quicker */
    return loop;
}

/* Gives a thread's own loop the reference to the inherited loop that it replaces. */
static void keep_inherited(SCRunLoopRef loop, SCRunLoopRef inherited)
{
    while (loop->inherited != NULL && loop->inherited != inherited)
        loop = loop->inherited;
    if (loop->inherited == NULL)
        loop->inherited = inherited;
    else
        SCRunLoopRelease(inherited);
}

SCRunLoopRef SCRunLoopGetCurrent(void)
{
    SCRunLoopRef loop, inherited;
    int error = create_own_loop_key();

    if (error != 0) {
        error_set(error);
        return NULL;
    }
    loop = pthread_getspecific(own_loop_key);
    if (loop != NULL && !loop_is_inherited(loop))
        return loop;
    inherited = loop;
    loop = is_main_thread() ? SCRunLoopRetain(SCRunLoopGetMain()) : SCRunLoopCreate();
    if (loop == NULL)
        return NULL;
    error = pthread_setspecific(own_loop_key, loop);
    if (error != 0) {
        SCRunLoopRelease(loop);
        error_set(error);
        return NULL;
    }
    if (inherited != NULL)
        keep_inherited(loop, inherited);
    return loop;
}

int SCRunLoopGetFileDescriptor(SCRunLoopRef loop)
{
    int error;

    if (!runloop_check(loop))
        return -1;
    error = loop_descriptors_repair(loop);
    if (error == 0) {
        runloop_begin_polling(loop);
        runloop_lock(loop);
        error = loop_descriptors_arm_timer_locked(loop);
        runloop_unlock(loop);
    }
    if (error != 0)
        error_set(error);
    return error == 0 ? loop->epoll.fd : -1;
}

/* ---- For the rest of the library -------------------------------------------------------------------------------- */

/* The write fails with EAGAIN if the counter is full; the descriptor is readable then too. */
void runloop_signal(SCRunLoopRef loop)
{
    const uint64_t one = 1;
    const int saved = errno;

    while (descriptor_is_ours(&loop->wake) && write(loop->wake.fd, &one, sizeof one) < 0 && errno == EINTR)
        continue;
    errno = saved;
}

void runloop_signal_locked(SCRunLoopRef loop)
{
    /* The thread that runs the loop needs no signal: it checks the lists before it waits, and signals for work left. */
    const bool can_wait = loop->running ? !pthread_equal(loop->runner, pthread_self()) : loop->polled;

    if (can_wait && !loop->signalled) {
        loop->signalled = true;
        runloop_signal(loop);
    }
}

int runloop_add_source_locked(SCRunLoopRef loop, struct source *source)
{
    const int error = loop_descriptors_add_source(loop, source);

    if (error != 0) {
        loop_descriptors_remove_source(loop, source); /* the caller frees it */
        return error;
    }
    counted_retain(&source->counted);
    list_append(&loop->sources, &source->node);
    return 0;
}

void runloop_remove_source_locked(SCRunLoopRef loop, struct source *source)
{
    if (list_is_empty(&source->node))
        return;
    loop_descriptors_remove_source(loop, source);
    list_remove(&source->node);
    counted_release(&source->counted);
}

int64_t runloop_deadline_locked(SCRunLoopRef loop)
{
    int64_t nearest = NEVER;

    list_for_each(node, &loop->sources) {
        const struct source *source = container_of(node, struct source, node);

        if (source->deadline < nearest)
            nearest = source->deadline;
    }
    return nearest;
}

uid_t runloop_user(SCRunLoopRef loop)
{
    return loop->user;
}

void runloop_source_due_locked(SCRunLoopRef loop, struct source *source)
{
    source->due = true;
    runloop_signal_locked(loop);
}

void runloop_source_continues(SCRunLoopRef loop, struct source *source)
{
    runloop_lock(loop);
    source->is_partial = true;
    if (source->done_in != loop->run_number)
        loop->continues = true;
    runloop_source_due_locked(loop, source);
    runloop_unlock(loop);
}

struct source *runloop_find_source_locked(SCRunLoopRef loop, bool (*matches)(const struct source *, const void *),
                                          const void *key)
{
    list_for_each(node, &loop->sources) {
        struct source *source = container_of(node, struct source, node);

        if (matches(source, key))
            return source;
    }
    return NULL;
}

void member_init(struct member *member, const struct member_type *type)
{
    list_init(&member->node);
    list_init(&member->queued);
    member->type = type;
}

bool runloop_add_member_locked(SCRunLoopRef loop, struct member *member)
{
    if (!loop->ended)
        list_append(&loop->members, &member->node);
    return !loop->ended;
}

void runloop_remove_member_locked(SCRunLoopRef loop, struct member *member)
{
    list_remove(&member->node);
    if (list_is_empty(&loop->members))
        runloop_signal_locked(loop); /* nothing is scheduled any more: SCRunLoopRun must return */
}

static void add_to_queue(struct list *queue, struct member *member)
{
    counted_retain(&member->counted);
    list_append(queue, &member->queued);
}

bool runloop_add_job_locked(SCRunLoopRef loop, struct member *member)
{
    const bool has_change = !list_is_empty(&member->queued);

    if (has_change)
        runloop_add_change_locked(loop, member);
    else
        add_to_queue(&loop->jobs, member);
    runloop_signal_locked(loop);
    return !has_change;
}

bool runloop_cancel_locked(SCRunLoopRef loop, struct member *member)
{
    const bool was_queued = !list_is_empty(&member->queued);

    (void)loop;
    list_remove(&member->queued);
    return was_queued;
}

void runloop_add_change_locked(SCRunLoopRef loop, struct member *member)
{
    if (list_is_empty(&member->queued))
        add_to_queue(&loop->changes, member);
    loop->change_is_new = true;
    loop->change_is_announced = false;
}

struct member *runloop_next_change_locked(SCRunLoopRef loop)
{
    struct list *next = list_pop(&loop->changes);

    if (!loop->fetches_changes && !list_is_empty(&loop->changes))
        runloop_signal_locked(loop); /* from now on the descriptor is readable until the queue is empty */
    loop->fetches_changes = true;
    return next == NULL ? NULL : container_of(next, struct member, queued);
}
#endif
