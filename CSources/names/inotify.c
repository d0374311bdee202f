/* SPDX-License-Identifier: MIT */
/*
 * The inotify instances that no loop uses any more, and the thread that closes them. Closing takes 6 to 16 ms, because
 * the kernel waits until nothing reads the watches. Starting a thread takes longer than the rest of an unschedule. So
 * the thread waits 50 ms first and closes all instances that came meanwhile; and inotify_open takes one of them if it
 * can.
 *
 * (One idle instance for the process would need no thread. But the last unschedule of a second loop would take 14 ms
 * instead of 0.01, and a program that has released everything would have one descriptor more than before.)
 */
#ifdef __linux__
#include "names/inotify.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/inotify.h>

#include "base/list.h"
#include "base/netns_handle.h"

#define THREAD_NAME "reach-closer"
#define CLOSE_DELAY 50 /* milliseconds in which inotify_open can still take an instance */

/* Under process_lock. */
static struct {
    struct list instances;
    unsigned era;    /* a fork leaves the thread in the parent */
    bool has_thread; /* it will close the instances */
} unused = { .instances = { &unused.instances, &unused.instances } };

/* ---- Closing ---------------------------------------------------------------------------------------------------- */

/* `ends`: if there is none, the thread ends. */
static struct inotify *take_unused_instance(bool ends)
{
    struct list *node;

    process_lock();
    node = list_pop(&unused.instances);
    if (node == NULL && ends)
        unused.has_thread = false;
    process_unlock();
    return node == NULL ? NULL : container_of(node, struct inotify, node);
}

static void close_instance(struct inotify *inotify)
{
    descriptor_close(&inotify->descriptor);
    free(inotify);
}

static void close_unused_instances(void)
{
    struct inotify *inotify;

    while ((inotify = take_unused_instance(true)) != NULL)
        close_instance(inotify);
}

static void *run_closer(void *argument)
{
    (void)pthread_setname_np(pthread_self(), THREAD_NAME);
    netns_enter_process_namespace();
    (void)poll(NULL, 0, CLOSE_DELAY);
    close_unused_instances();
    return argument;
}

/* Returns whether the caller must start the thread. */
static bool add_unused_instance(struct inotify *inotify)
{
    bool needs_thread;

    process_lock();
    list_append(&unused.instances, &inotify->node);
    needs_thread = !unused.has_thread || unused.era != process_era();
    unused.has_thread = true;
    unused.era = process_era();
    process_unlock();
    return needs_thread;
}

void inotify_close(struct inotify *inotify)
{
    if (inotify != NULL && add_unused_instance(inotify) && process_start_thread(run_closer, NULL, NULL) != 0)
        close_unused_instances(); /* a later call may never come */
}

/* ---- Opening ---------------------------------------------------------------------------------------------------- */

static struct inotify *create_instance(void)
{
    struct inotify *inotify = calloc(1, sizeof *inotify);
    int error;

    if (inotify == NULL)
        return NULL;
    error = descriptor_adopt(&inotify->descriptor, inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (error == 0)
        return inotify;
    free(inotify);
    return NULL;
}

struct inotify *inotify_open(void)
{
    struct inotify *inotify = take_unused_instance(false);

    return inotify != NULL ? inotify : create_instance();
}
#endif
