/* SPDX-License-Identifier: MIT */
/*
 * To close an instance takes the kernel milliseconds, in which it waits for readers of its watches. A thread does that.
 * It waits a moment first: to start it takes longer than all else that is done when the last name leaves a loop, so it
 * serves many; and who comes meanwhile takes over what is there. Where no thread can be had the caller waits, as nobody
 * else may ever come.
 *
 * What this file must never do: read from a descriptor, or close one, that the program has closed and has got anew for
 * something of its own (closefrom(3) does not ask whose they are).
 */
#include "names/inotify.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/list.h"
#include "base/netns_handle.h"

#define THREAD_NAME "reach-closer"
#define KEPT_FOR    50 /* milliseconds, at most, that an instance waits for who comes next */

/* Those that were closed. Under process_lock. */
static struct {
    struct list instances;
    unsigned    era;     /* of the process: the thread stays with the parent */
    bool        closing; /* the thread is there */
} retired = { .instances = { &retired.instances, &retired.instances } };

/* ---- Whose it is ------------------------------------------------------------------------------------------------ */

static void add_anchor(struct inotify *inotify)
{
    inotify->anchor = inotify_add_watch(inotify->descriptor.fd, "/", IN_DELETE_SELF);
}

/* Takes the anchor away, which only our own has. (In a child the descriptor is closed.) */
static bool is_still_ours(struct inotify *inotify)
{
    return inotify->descriptor.fd >= 0 &&
           (inotify->anchor < 0 || inotify_rm_watch(inotify->descriptor.fd, inotify->anchor) == 0);
}

static void forget(struct inotify *inotify)
{
    descriptor_forget(&inotify->descriptor);
    free(inotify);
}

/* ---- Closing ---------------------------------------------------------------------------------------------------- */

static struct inotify *take_retired(bool to_close)
{
    struct list *node;

    process_lock();
    node = list_pop(&retired.instances);
    if (node == NULL && to_close)
        retired.closing = false;
    process_unlock();
    return node == NULL ? NULL : container_of(node, struct inotify, node);
}

/* Another file takes the number before it is given back, and that takes so long: not under the lock then, and a child
 * that is forked meanwhile still knows the number for one of ours. */
static void close_slowly(struct inotify *inotify)
{
    struct descriptor other;
    int               error;

    process_lock();
    error = descriptor_keep_locked(&other, eventfd(0, EFD_CLOEXEC));
    process_unlock();
    if (error == 0) {
        (void)dup3(other.fd, inotify->descriptor.fd, O_CLOEXEC);
        descriptor_close(&other);
    }
    descriptor_close(&inotify->descriptor);
    free(inotify);
}

static void close_retired(void)
{
    struct inotify *inotify;

    while ((inotify = take_retired(true)) != NULL) {
        if (is_still_ours(inotify))
            close_slowly(inotify);
        else
            forget(inotify);
    }
}

static void *close_later(void *unused)
{
    (void)pthread_setname_np(pthread_self(), THREAD_NAME);
    netns_enter_process_namespace();
    (void)poll(NULL, 0, KEPT_FOR);
    close_retired();
    return unused;
}

/* Whether there is no thread that will close it. */
static bool retire(struct inotify *inotify)
{
    bool is_first;

    process_lock();
    list_append(&retired.instances, &inotify->node);
    is_first = !retired.closing || retired.era != process_era();
    retired.closing = true;
    retired.era = process_era();
    process_unlock();
    return is_first;
}

void inotify_close(struct inotify *inotify)
{
    pthread_t thread;

    if (inotify == NULL)
        return;
    if (inotify->descriptor.fd < 0)
        forget(inotify);
    else if (retire(inotify) && process_start_thread(close_later, NULL, true, &thread) != 0)
        close_retired();
}

/* ---- Opening ---------------------------------------------------------------------------------------------------- */

static struct inotify *create(void)
{
    struct inotify *inotify = calloc(1, sizeof *inotify);
    int             error;

    if (inotify == NULL)
        return NULL;
    process_lock();
    error = descriptor_keep_locked(&inotify->descriptor, inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    process_unlock();
    if (error == 0)
        return inotify;
    free(inotify);
    return NULL;
}

struct inotify *inotify_open(void)
{
    struct inotify *inotify;

    while ((inotify = take_retired(false)) != NULL && !is_still_ours(inotify))
        forget(inotify);
    if (inotify == NULL)
        inotify = create();
    if (inotify != NULL)
        add_anchor(inotify);
    return inotify;
}
