/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: let a caller wait for the thread, or keep the thread without a user. It may outlive
 * dlclose(3), so the library is linked with -z nodelete.
 */
#include "service.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "error.h"
#include "netns.h"

#define THREAD_NAME "reachability"
#define PAUSE       100 /* milliseconds before a loop that could not wait is tried again */

struct service {
    SCRunLoopRef loop;
    unsigned     users; /* under process_lock */
    unsigned     era;   /* of the process: a thread stays with the parent */
};

static struct service *current; /* likewise */

static bool is_over(struct service *service)
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
    struct service *service = argument;

    (void)pthread_setname_np(pthread_self(), THREAD_NAME);
    netns_go_home();
    while (!is_over(service))
        /* A program that closes descriptors that are not its own must not make this thread spin. */
        if (SCRunLoopPerform(service->loop, -1) < 0)
            poll(NULL, 0, PAUSE);
    SCRunLoopRelease(service->loop);
    free(service);
    return NULL;
}

static int start(struct service **ret)
{
    struct service *service = calloc(1, sizeof *service);
    pthread_t       thread;
    int             error;

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

static void leave_locked(struct service *service)
{
    if (--service->users == 0)
        SCRunLoopWakeUp(service->loop);
}

/* One more user of the service that there is. If there is none, `fresh`, which has one, becomes it. */
static SCRunLoopRef join(struct service *fresh)
{
    SCRunLoopRef loop = NULL;

    process_lock();
    if (current != NULL && current->era != process_era())
        current = NULL;
    if (current == NULL)
        current = fresh;
    else
        current->users++;
    if (fresh != NULL && fresh != current)
        leave_locked(fresh); /* another thread was quicker */
    if (current != NULL)
        loop = current->loop;
    process_unlock();
    return loop;
}

int service_acquire(SCRunLoopRef *ret)
{
    struct service *fresh;
    int             error;

    *ret = join(NULL);
    if (*ret != NULL)
        return 0;
    error = start(&fresh);
    if (error != 0)
        return error;
    *ret = join(fresh);
    return 0;
}

void service_release(SCRunLoopRef loop)
{
    process_lock();
    if (current != NULL && current->loop == loop)
        leave_locked(current);
    process_unlock();
}
