/* SPDX-License-Identifier: MIT */
/* SCRunLoop: its creation and release, the loops of threads, its descriptors and lists. drive.c drives it. */
#ifdef __linux__
#include "loop/runloop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include "base/clock.h"
#include "base/counted.h"
#include "base/error.h"

static pthread_key_t own_loop_key; /* the thread's own loop */
static bool own_loop_key_created;  /* under reach_process_lock, as the next */
static SCRunLoopRef main_loop;     /* the main thread's own loop, for all threads */

static int runloop_status(SCRunLoopRef loop)
{
    if (!object_is(loop, OBJECT_LOOP))
        return reach_error_invalid("runLoop: NULL, not a run loop, or released");
    return process_is_in_era(loop->era) ? 0 : ECHILD;
}

bool reach_runloop_check(SCRunLoopRef loop)
{
    const int status = runloop_status(loop);

    if (status != 0)
        reach_error_set(status);
    return status == 0;
}

bool reach_runloop_mode_is_valid(SCRunLoopMode mode)
{
    return mode != NULL && (strcmp(mode, kSCRunLoopDefaultMode) == 0 || strcmp(mode, kSCRunLoopCommonModes) == 0);
}

/* ---- Creation and release --------------------------------------------------------------------------------------- */

static int epoll_add(SCRunLoopRef loop, const struct descriptor *descriptor, uint64_t key)
{
    struct epoll_event event = { .events = EPOLLIN, .data = { .u64 = key } };

    if (epoll_ctl(loop->epoll.fd, EPOLL_CTL_ADD, descriptor->fd, &event) == 0 || errno == EEXIST)
        return 0;
    return errno;
}

static void close_descriptors(SCRunLoopRef loop)
{
    reach_descriptor_close(&loop->epoll);
    reach_descriptor_close(&loop->wake);
    reach_descriptor_close(&loop->timer);
}

static void runloop_free(struct counted *counted)
{
    SCRunLoopRef loop = container_of(counted, struct SCRunLoop, counted);

    close_descriptors(loop);
    pthread_mutex_destroy(&loop->lock);
    loop->type = OBJECT_FREED;
    free(loop);
}

static int open_descriptors(SCRunLoopRef loop)
{
    int error = reach_process_prepare();

    loop->epoll = loop->wake = loop->timer = DESCRIPTOR_CLOSED;
    if (error == 0)
        error = reach_descriptor_adopt(&loop->epoll, epoll_create1(EPOLL_CLOEXEC));
    if (error == 0)
        error = reach_descriptor_adopt(&loop->wake, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (error == 0)
        error = reach_descriptor_adopt(&loop->timer, timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
    if (error == 0)
        error = epoll_add(loop, &loop->wake, (uintptr_t)&loop->wake);
    if (error == 0)
        error = epoll_add(loop, &loop->timer, (uintptr_t)&loop->timer);
    if (error != 0)
        close_descriptors(loop);
    return error;
}

SCRunLoopRef SCRunLoopCreate(void)
{
    SCRunLoopRef loop = calloc(1, sizeof *loop);
    int error = loop == NULL ? ENOMEM : open_descriptors(loop);

    if (error == 0 && (error = pthread_mutex_init(&loop->lock, NULL)) != 0)
        close_descriptors(loop);
    if (error != 0) {
        free(loop);
        reach_error_set(error);
        return NULL;
    }
    loop->type = OBJECT_LOOP;
    loop->era = process_era();
    counted_init(&loop->counted, runloop_free);
    list_init(&loop->sources);
    list_init(&loop->due);
    list_init(&loop->ready);
    list_init(&loop->jobs);
    list_init(&loop->changes);
    list_init(&loop->members);
    loop->armed = NEVER;
    loop->user = PROCESS_USER_UNKNOWN;
    return loop;
}

SCRunLoopRef SCRunLoopRetain(SCRunLoopRef loop)
{
    const int status = loop == NULL ? 0 : runloop_status(loop);

    if (status == kSCStatusInvalidArgument)
        reach_error_set(status);
    if (loop == NULL || status == kSCStatusInvalidArgument)
        return NULL;
    counted_retain(&loop->counted);
    return loop;
}

void SCRunLoopRelease(SCRunLoopRef loop)
{
    const int status = loop == NULL ? 0 : runloop_status(loop);

    if (status == kSCStatusInvalidArgument)
        reach_error_set(status);
    else if (loop != NULL)
        counted_release(&loop->counted);
}

/* ---- The loops of threads --------------------------------------------------------------------------------------- */

/* The destructor of own_loop_key: the thread ends, and no other thread will drive its loop. */
static void end_own_loop(void *pointer)
{
    SCRunLoopRef loop = pointer;

    while (process_is_in_era(loop->era)) {
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

/* Returns the main thread's loop of this era. If there is none, `fresh` (NULL: none) becomes that loop. An inherited
 * one stays in memory: the program may have a pointer to it. */
static SCRunLoopRef get_or_set_main_loop(SCRunLoopRef fresh)
{
    SCRunLoopRef loop;

    reach_process_lock();
    if (main_loop == NULL || !process_is_in_era(main_loop->era))
        main_loop = fresh;
    loop = main_loop;
    reach_process_unlock();
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

SCRunLoopRef SCRunLoopGetCurrent(void)
{
    SCRunLoopRef loop;
    int error = 0;

    reach_process_lock(); /* without pthread_once: a call that fails can be repeated */
    if (!own_loop_key_created)
        error = pthread_key_create(&own_loop_key, end_own_loop);
    own_loop_key_created = error == 0;
    reach_process_unlock();
    if (error != 0) {
        reach_error_set(error);
        return NULL;
    }
    loop = pthread_getspecific(own_loop_key);
    if (loop != NULL && process_is_in_era(loop->era))
        return loop;
    loop = getpid() == (pid_t)syscall(SYS_gettid) ? SCRunLoopRetain(SCRunLoopGetMain()) : SCRunLoopCreate();
    if (loop == NULL)
        return NULL;
    error = pthread_setspecific(own_loop_key, loop);
    if (error == 0)
        return loop;
    SCRunLoopRelease(loop);
    reach_error_set(error);
    return NULL;
}

/* ---- Signals and sources ---------------------------------------------------------------------------------------- */

/* The write fails with EAGAIN if the counter is full; the descriptor is readable then too. */
void reach_runloop_signal(SCRunLoopRef loop)
{
    const uint64_t one = 1;
    const int saved = errno;

    while (write(loop->wake.fd, &one, sizeof one) < 0 && errno == EINTR)
        continue;
    errno = saved;
}

/* The thread that drives the loop needs no signal: it checks the lists before it waits, and signals for work left. */
void reach_runloop_signal_locked(SCRunLoopRef loop)
{
    if (loop->signalled || (loop->depth > 0 ? pthread_equal(loop->driver, pthread_self()) : !loop->polled))
        return;
    loop->signalled = true;
    reach_runloop_signal(loop);
}

int64_t reach_runloop_arm_timer_locked(SCRunLoopRef loop)
{
    const int64_t nearest = reach_heap_nearest(&loop->deadlines);
    struct itimerspec timer = { 0 };

    if (nearest == loop->armed)
        return NEVER;
    if (nearest != NEVER) {
        timer.it_value.tv_sec = (time_t)(nearest / SECOND);
        timer.it_value.tv_nsec = (long)(nearest % SECOND);
    }
    if (timerfd_settime(loop->timer.fd, TFD_TIMER_ABSTIME, &timer, NULL) != 0)
        return nearest; /* the next pass tries again */
    loop->armed = nearest;
    return NEVER;
}

static void epoll_remove(SCRunLoopRef loop, const struct descriptor *descriptor)
{
    if (descriptor != NULL && descriptor_is_open(descriptor))
        (void)epoll_ctl(loop->epoll.fd, EPOLL_CTL_DEL, descriptor->fd, NULL);
}

void reach_runloop_unwatch_locked(SCRunLoopRef loop, const struct source *source)
{
    epoll_remove(loop, source->descriptor);
}

int reach_runloop_watch_locked(SCRunLoopRef loop, struct source *source)
{
    if (source->descriptor == NULL || !descriptor_is_open(source->descriptor))
        return 0;
    return epoll_add(loop, source->descriptor, source->named.key);
}

void reach_source_init(struct source *source, uint64_t key)
{
    list_init(&source->node);
    list_init(&source->queued);
    reach_heap_node_init(&source->timer);
    source->named.key = key;
}

int reach_runloop_add_source_locked(SCRunLoopRef loop, struct source *source)
{
    const int error = reach_runloop_watch_locked(loop, source);

    if (error != 0)
        return error;
    counted_retain(&source->counted);
    tree_add(&loop->named, &source->named);
    list_append(&loop->sources, &source->node);
    return 0;
}

void reach_runloop_remove_source_locked(SCRunLoopRef loop, struct source *source)
{
    if (list_is_empty(&source->node))
        return;
    reach_runloop_unwatch_locked(loop, source);
    reach_runloop_set_deadline_locked(loop, source, NEVER);
    tree_remove(&loop->named, &source->named);
    list_remove(&source->queued);
    list_remove(&source->node);
    counted_release(&source->counted);
}

void reach_runloop_source_due_locked(SCRunLoopRef loop, struct source *source)
{
    if (list_is_empty(&source->node) || !list_is_empty(&source->queued))
        return;
    list_append(&loop->due, &source->queued);
    reach_runloop_signal_locked(loop);
}

void reach_runloop_set_deadline_locked(SCRunLoopRef loop, struct source *source, int64_t deadline)
{
    if (!list_is_empty(&source->node))
        reach_heap_set(&loop->deadlines, &source->timer, deadline);
}

struct source *reach_runloop_find_source_locked(SCRunLoopRef loop, uint64_t key)
{
    struct tree_node *node = *tree_place(&loop->named, key);

    return node == NULL ? NULL : container_of(node, struct source, named);
}

/* ---- Members ---------------------------------------------------------------------------------------------------- */

void reach_member_init(struct member *member, const struct member_type *type)
{
    list_init(&member->node);
    list_init(&member->queued);
    member->type = type;
}

bool reach_runloop_add_member(SCRunLoopRef loop, struct member *member)
{
    bool added;

    runloop_lock(loop);
    added = !loop->ended;
    if (added)
        list_append(&loop->members, &member->node);
    runloop_unlock(loop);
    return added;
}

static void cancel_locked(struct member *member)
{
    if (list_is_empty(&member->queued))
        return;
    list_remove(&member->queued);
    counted_release(&member->counted); /* never the last reference */
}

void reach_runloop_cancel(SCRunLoopRef loop, struct member *member)
{
    runloop_lock(loop);
    cancel_locked(member);
    runloop_unlock(loop);
}

void reach_runloop_remove_member(SCRunLoopRef loop, struct member *member)
{
    bool was_member;

    runloop_lock(loop);
    was_member = !list_is_empty(&member->node);
    cancel_locked(member);
    list_remove(&member->node);
    if (was_member && list_is_empty(&loop->members))
        reach_runloop_signal_locked(loop); /* nothing is scheduled any more: SCRunLoopRun must return */
    runloop_unlock(loop);
}

static void add_change_locked(SCRunLoopRef loop, struct member *member)
{
    if (list_is_empty(&member->queued)) {
        counted_retain(&member->counted);
        list_append(&loop->changes, &member->queued);
    }
    loop->news = true;
    loop->announced = false;
}

void reach_runloop_add_change(SCRunLoopRef loop, struct member *member)
{
    runloop_lock(loop);
    add_change_locked(loop, member);
    runloop_unlock(loop);
}

bool reach_runloop_add_job(SCRunLoopRef loop, struct member *member)
{
    bool has_change;

    runloop_lock(loop);
    has_change = !list_is_empty(&member->queued);
    if (has_change) {
        add_change_locked(loop, member);
    } else {
        counted_retain(&member->counted);
        list_append(&loop->jobs, &member->queued);
    }
    reach_runloop_signal_locked(loop);
    runloop_unlock(loop);
    return !has_change;
}

struct member *reach_runloop_next_change(SCRunLoopRef loop)
{
    struct list *next;

    runloop_lock(loop);
    next = list_pop(&loop->changes);
    if (!loop->fetches && !list_is_empty(&loop->changes))
        reach_runloop_signal_locked(loop); /* from now on the descriptor is readable until the queue is empty */
    loop->fetches = true;
    runloop_unlock(loop);
    return next == NULL ? NULL : container_of(next, struct member, queued);
}
#endif
