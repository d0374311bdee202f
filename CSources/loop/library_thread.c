/* SPDX-License-Identifier: MIT */
/*
 * The library thread: one thread that runs a loop for all schedulers, and ends with its last user.
 *
 * The thread calls users in the network namespace of the process, because the threads that they start inherit it. That
 * is the namespace of the main thread, which may be there only for a moment. A thread that waited there could keep it
 * alive without need. So if it is not the namespace in which the process began, the thread waits in that of a user,
 * which the user keeps alive anyway. (If the process gives up its privileges meanwhile, the thread cannot leave again.)
 *
 * What this file must never do: let a caller wait for the thread, or keep a thread that has no users. The thread may
 * still run after dlclose(3), so the library is linked with -z nodelete.
 */
#ifdef __linux__
#include "loop/library_thread.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/list.h"
#include "base/process.h"

#define LIBRARY_THREAD_NAME "reachability"
#define RETRY_AFTER         100 /* milliseconds, after the loop could not wait */

struct library_thread {
    SCRunLoopRef loop;
    struct list users; /* under process_lock */
    unsigned era;      /* of its creation: after a fork only the parent has the thread */
};

struct library_thread_user {
    struct list node;              /* in thread->users */
    struct library_thread *thread; /* constant after library_thread_acquire */
    struct netns_handle *netns;
};

static struct library_thread *current_thread; /* under process_lock */

/* Whether the thread must end. If so, it is no longer the current one. */
static bool library_thread_must_end(struct library_thread *thread)
{
    bool must_end;

    process_lock();
    must_end = list_is_empty(&thread->users) || thread->era != process_era(); /* it changes if a callback forks */
    if (must_end && current_thread == thread)
        current_thread = NULL;
    process_unlock();
    return must_end;
}

static void enter_namespace_of_users(struct library_thread *thread)
{
    process_lock();
    if (!list_is_empty(&thread->users))
        (void)netns_handle_enter_locked(container_of(thread->users.next, struct library_thread_user, node)->netns);
    process_unlock();
}

/* Waits for events, and calls the users to whom these matter. Returns false if the loop cannot wait. */
static bool serve_once(struct library_thread *thread)
{
    if (netns_process_is_home()) {
        netns_enter_process_namespace();
        return SCRunLoopPerform(thread->loop, -1) >= 0;
    }
    enter_namespace_of_users(thread);
    if (runloop_is_whole(thread->loop) && !runloop_await_work(thread->loop))
        return false;
    netns_enter_process_namespace();
    return SCRunLoopPerform(thread->loop, 0) >= 0;
}

static void serve_users(void *argument)
{
    struct library_thread *thread = argument;

    while (!library_thread_must_end(thread)) {
        /* Some programs close descriptors that are not theirs: without this pause the thread would spin. */
        if (!serve_once(thread))
            poll(NULL, 0, RETRY_AFTER);
    }
}

static void *run_library_thread(void *argument);

/* If a callback has ended the thread, starts another one for the users that are left. */
static void end_library_thread(void *argument)
{
    struct library_thread *thread = argument;
    pthread_t detached;

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

/* Starts a thread with this user. Returns 0 or an errno. */
static int start_library_thread(struct library_thread_user *user)
{
    struct library_thread *thread = calloc(1, sizeof *thread);
    pthread_t detached;
    int error;

    if (thread == NULL)
        return ENOMEM;
    list_init(&thread->users);
    list_append(&thread->users, &user->node);
    thread->era = process_era();
    thread->loop = SCRunLoopCreate();
    user->thread = thread;
    error = thread->loop == NULL ? error_get() : process_start_thread(run_library_thread, thread, true, &detached);
    if (error != 0) {
        SCRunLoopRelease(thread->loop);
        free(thread);
    }
    return error;
}

/* Wakes the thread if it may be in this user's namespace, which it must leave, or if it must end. */
static void remove_user_locked(struct library_thread_user *user)
{
    const bool is_first = user->thread->users.next == &user->node;

    list_remove(&user->node);
    if (is_first)
        SCRunLoopWakeUp(user->thread->loop);
}

/* False: the thread is the parent's, or the program has closed its loop's descriptors, so no events arrive. */
static bool library_thread_is_usable(const struct library_thread *thread)
{
    return thread->era == process_era() && runloop_is_whole(thread->loop);
}

/* Makes the user one of the current thread. If there is none, the user's own thread (NULL: none) becomes current. */
static void join_current_thread(struct library_thread_user *user)
{
    process_lock();
    if (current_thread != NULL && !library_thread_is_usable(current_thread))
        current_thread = NULL;
    if (current_thread == NULL)
        current_thread = user->thread;
    if (current_thread != user->thread) {
        if (user->thread != NULL)
            remove_user_locked(user); /* another caller was quicker */
        list_append(&current_thread->users, &user->node);
        user->thread = current_thread;
    }
    process_unlock();
}

int library_thread_acquire(struct netns_handle *netns, struct library_thread_user **ret)
{
    struct library_thread_user *user = calloc(1, sizeof *user);
    int error = 0;

    if (user == NULL)
        return ENOMEM;
    list_init(&user->node);
    user->netns = netns;
    join_current_thread(user);
    if (user->thread == NULL) {
        error = start_library_thread(user);
        if (error != 0) {
            free(user);
            return error;
        }
        join_current_thread(user);
    }
    *ret = user;
    return 0;
}

SCRunLoopRef library_thread_loop(const struct library_thread_user *user)
{
    return user->thread->loop;
}

void library_thread_release(struct library_thread_user *user)
{
    process_lock();
    remove_user_locked(user);
    process_unlock();
    free(user);
}
#endif
