/* SPDX-License-Identifier: MIT */
/*
 * The library thread: one thread that runs a loop for all schedulers, and ends with its last user. It calls users in
 * the network namespace of the process, because the threads that they start inherit it.
 *
 * What this file must never do: let a caller wait for the thread, or keep a thread that has no users. The thread may
 * still run after dlclose(3), so the library is linked with -z nodelete.
 */
#ifdef __linux__
#include "loop/runloop.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/netns_handle.h"

#define LIBRARY_THREAD_NAME "reachability"
#define RETRY_AFTER         100 /* milliseconds, after the loop could not wait */

struct library_thread {
    SCRunLoopRef loop;
    unsigned users; /* under reach_process_lock */
    unsigned era;   /* of its creation: after a fork only the parent has the thread */
};

static struct library_thread *current_thread; /* under reach_process_lock */

static void *run_library_thread(void *argument)
{
    struct library_thread *thread = argument;

    (void)pthread_setname_np(pthread_self(), LIBRARY_THREAD_NAME);
    for (;;) {
        bool ends;

        reach_process_lock();
        ends = thread->users == 0 || !process_is_in_era(thread->era); /* it changes if a callback forks */
        if (ends && current_thread == thread)
            current_thread = NULL;
        reach_process_unlock();
        if (ends)
            break;
        reach_netns_enter_process_namespace();
        if (SCRunLoopPerform(thread->loop, -1) < 0)
            (void)poll(NULL, 0, RETRY_AFTER);
    }
    SCRunLoopRelease(thread->loop);
    free(thread);
    return NULL;
}

/* Adds a user to the current thread, if there is one. `fresh` (NULL: none), which has one user, becomes the current one
 * if there is none; else it loses the user. */
static struct library_thread *join_current_thread(struct library_thread *fresh)
{
    reach_process_lock();
    if (current_thread == NULL || !process_is_in_era(current_thread->era))
        current_thread = fresh;
    else
        current_thread->users++;
    if (fresh != NULL && current_thread != fresh) {
        fresh->users = 0;
        SCRunLoopWakeUp(fresh->loop);
    }
    fresh = current_thread;
    reach_process_unlock();
    return fresh;
}

int reach_library_thread_acquire(struct library_thread **ret)
{
    struct library_thread *fresh;
    int error;

    *ret = join_current_thread(NULL);
    if (*ret != NULL)
        return 0;
    fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL)
        return ENOMEM;
    fresh->era = process_era();
    fresh->users = 1;
    fresh->loop = SCRunLoopCreate();
    error = fresh->loop == NULL ? SCError() : reach_process_start_thread(run_library_thread, fresh, NULL);
    if (error != 0) {
        SCRunLoopRelease(fresh->loop);
        free(fresh);
        return error;
    }
    *ret = join_current_thread(fresh);
    return 0;
}

SCRunLoopRef reach_library_thread_loop(const struct library_thread *thread)
{
    return thread->loop;
}

/* Wakes the thread, also if it has users left: it may be in a namespace that the process has left. */
void reach_library_thread_release(struct library_thread *thread)
{
    reach_process_lock();
    thread->users--;
    SCRunLoopWakeUp(thread->loop);
    reach_process_unlock();
}
#endif
