/* SPDX-License-Identifier: MIT */
/*
 * The library thread: one thread that runs a loop for all schedulers, and ends with its last user.
 *
 * What this file must never do: let a caller wait for the thread, or keep a thread that has no users. The thread may
 * still run after dlclose(3), so the library is linked with -z nodelete.
 */
#include "loop/library_thread.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/netns_handle.h"
#include "base/process.h"

#define LIBRARY_THREAD_NAME "reachability"
#define RETRY_AFTER         100 /* milliseconds, after the loop could not wait */

struct library_thread {
    SCRunLoopRef loop;
    unsigned     users; /* under process_lock */
    unsigned     era;   /* of its creation: after a fork only the parent has the thread */
};

static struct library_thread *current_thread; /* under process_lock */

/* Whether the thread must end. If so, it is no longer the current one. */
static bool library_thread_must_end(struct library_thread *thread)
{
    bool must_end;

    process_lock();
    must_end = thread->users == 0 || thread->era != process_era(); /* the era changes if a callback forks */
    if (must_end && current_thread == thread)
        current_thread = NULL;
    process_unlock();
    return must_end;
}

static void serve_users(void *argument)
{
    struct library_thread *thread = argument;

    while (!library_thread_must_end(thread)) {
        netns_enter_process_namespace();
        /* Some programs close descriptors that are not theirs: without this pause the thread would spin. */
        if (SCRunLoopPerform(thread->loop, -1) < 0)
            poll(NULL, 0, RETRY_AFTER);
    }
}

static void *run_library_thread(void *argument);

/* If a callback has ended the thread, starts another one for the users that are left. */
static void end_library_thread(void *argument)
{
    struct library_thread *thread = argument;
    pthread_t              detached;

    while (!library_thread_must_end(thread)) {
        if (process_start_thread(run_library_thread, thread, true, &detached) == 0)
            return;
        poll(NULL, 0, RETRY_AFTER);
    }
    SCRunLoopRelease(thread->loop);
    free(thread);
}

static void *run_library_thread(void *argument)
{
    (void)pthread_setname_np(pthread_self(), LIBRARY_THREAD_NAME);
    cleanup_run(serve_users, end_library_thread, argument);
    return NULL;
}

/* Starts a thread with one user. Returns 0 or an errno. */
static int start_library_thread(struct library_thread **ret)
{
    struct library_thread *thread = calloc(1, sizeof *thread);
    pthread_t              detached;
    int                    error;

    if (thread == NULL)
        return ENOMEM;
    thread->users = 1;
    thread->era = process_era();
    thread->loop = SCRunLoopCreate();
    error = thread->loop == NULL ? error_get() : process_start_thread(run_library_thread, thread, true, &detached);
    if (error != 0) {
        SCRunLoopRelease(thread->loop);
        free(thread);
        return error;
    }
    *ret = thread;
    return 0;
}

/* Wakes the thread after each user, not only the last: it must leave that user's namespace, which may have no other
 * user. */
static void remove_user_locked(struct library_thread *thread)
{
    thread->users--;
    SCRunLoopWakeUp(thread->loop);
}

/* False: the thread is the parent's, or the program has closed its loop's descriptors, so no events arrive. */
static bool library_thread_is_usable(const struct library_thread *thread)
{
    return thread->era == process_era() && runloop_is_whole(thread->loop);
}

/* Adds a user to the current thread. If there is none, `fresh` (NULL: none), which has one user, becomes current. */
static struct library_thread *add_user(struct library_thread *fresh)
{
    struct library_thread *thread;

    process_lock();
    if (current_thread != NULL && !library_thread_is_usable(current_thread))
        current_thread = NULL;
    if (current_thread == NULL)
        current_thread = fresh;
    else
        current_thread->users++;
    if (fresh != NULL && fresh != current_thread)
        remove_user_locked(fresh); /* another caller was quicker */
    thread = current_thread;
    process_unlock();
    return thread;
}

int library_thread_acquire(struct library_thread **ret)
{
    struct library_thread *fresh;
    int                    error = 0;

    *ret = add_user(NULL);
    if (*ret == NULL) {
        error = start_library_thread(&fresh);
        if (error == 0)
            *ret = add_user(fresh);
    }
    return error;
}

SCRunLoopRef library_thread_loop(const struct library_thread *thread)
{
    return thread->loop;
}

void library_thread_release(struct library_thread *thread)
{
    process_lock();
    remove_user_locked(thread);
    process_unlock();
}
