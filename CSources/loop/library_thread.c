/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: let a caller wait for the thread, or keep the thread without a user. It may outlive
 * dlclose(3), so the library is linked with -z nodelete.
 */
#include "loop/library_thread.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/netns_handle.h"

#define THREAD_NAME "reachability"
#define PAUSE       100 /* milliseconds before a loop that could not wait is tried again */

struct library_thread {
    SCRunLoopRef loop;
    unsigned     users; /* under process_lock */
    unsigned     era;   /* of the process: a thread stays with the parent */
};

static struct library_thread *current; /* likewise */

static bool is_over(struct library_thread *service)
{
    bool over;

    process_lock();
    over = service->users == 0 || service->era != process_era(); /* the latter: a fork inside perform */
    if (over && current == service)
        current = NULL;
    process_unlock();
    return over;
}

static void *serve(void *argument)
{
    struct library_thread *service = argument;

    (void)pthread_setname_np(pthread_self(), THREAD_NAME);
    while (!is_over(service)) {
        netns_go_home();
        /* A program that closes descriptors that are not its own must not make this thread spin. */
        if (SCRunLoopPerform(service->loop, -1) < 0)
            poll(NULL, 0, PAUSE);
    }
    SCRunLoopRelease(service->loop);
    free(service);
    return NULL;
}

static int start(struct library_thread **ret)
{
    struct library_thread *service = calloc(1, sizeof *service);
    pthread_t              thread;
    int                    error;

    if (service == NULL)
        return ENOMEM;
    service->users = 1;
    service->era = process_era();
    service->loop = SCRunLoopCreate();
    error = service->loop == NULL ? error_get() : process_start_thread(serve, service, true, &thread);
    if (error != 0) {
        SCRunLoopRelease(service->loop);
        free(service);
        return error;
    }
    *ret = service;
    return 0;
}

/* It is woken whether or not that was the last: the namespace that it is in may be nobody's any more. */
static void leave_locked(struct library_thread *service)
{
    service->users--;
    SCRunLoopWakeUp(service->loop);
}

/* A thread stays with the parent; and one whose descriptors the program closed hears nothing any more. */
static bool is_usable(const struct library_thread *service)
{
    return service->era == process_era() && runloop_is_whole(service->loop);
}

/* The service that there is, with one more user. If there is none, `fresh`, which has one, becomes it. */
static struct library_thread *join(struct library_thread *fresh)
{
    struct library_thread *joined;

    process_lock();
    if (current != NULL && !is_usable(current))
        current = NULL;
    if (current == NULL)
        current = fresh;
    else
        current->users++;
    if (fresh != NULL && fresh != current)
        leave_locked(fresh); /* another thread was quicker */
    joined = current;
    process_unlock();
    return joined;
}

int library_thread_acquire(struct library_thread **ret)
{
    struct library_thread *fresh;
    int                    error = 0;

    *ret = join(NULL);
    if (*ret == NULL) {
        error = start(&fresh);
        if (error == 0)
            *ret = join(fresh);
    }
    return error;
}

SCRunLoopRef library_thread_loop(const struct library_thread *service)
{
    return service->loop;
}

void library_thread_release(struct library_thread *service)
{
    process_lock();
    leave_locked(service);
    process_unlock();
}
