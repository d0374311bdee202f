/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: act on a descriptor in a child but to close it. An epoll set, a timer, an event counter
 * and a socket are the parent's too, and whatever is done to them is done to the parent.
 */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/list.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list     descriptors = { &descriptors, &descriptors };
static atomic_uint     era;
static bool            prepared; /* under the lock */

void process_lock(void)
{
    pthread_mutex_lock(&lock);
}

void process_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

unsigned process_era(void)
{
    return atomic_load_explicit(&era, memory_order_relaxed);
}

/* ---- Fork ------------------------------------------------------------------------------------------------------- */

static void in_child(void)
{
    struct list *node;

    atomic_fetch_add(&era, 1);
    while ((node = list_pop(&descriptors)) != NULL) {
        struct descriptor *descriptor = container_of(node, struct descriptor, node);

        close(descriptor->fd);
        descriptor->fd = -1;
    }
    process_unlock();
}

/* No pthread_once: what failed for want of memory may succeed the next time. */
int process_prepare(void)
{
    int error = 0;

    process_lock();
    if (!prepared)
        error = pthread_atfork(process_lock, process_unlock, in_child);
    prepared = error == 0;
    process_unlock();
    return error;
}

/* Before the program that is linked with us registers handlers of its own: these may call us, and then run outside of
 * ours, that is before the lock is taken and after the child has closed what it inherited. */
__attribute__((constructor)) static void at_load(void)
{
    (void)process_prepare();
}

/* ---- Descriptors ------------------------------------------------------------------------------------------------ */

int descriptor_keep_locked(struct descriptor *ret, int fd)
{
    *ret = (struct descriptor){ .fd = fd };
    if (fd < 0)
        return errno;
    list_append(&descriptors, &ret->node);
    return 0;
}

void descriptor_close(struct descriptor *descriptor)
{
    process_lock();
    if (descriptor->fd >= 0) {
        list_remove(&descriptor->node);
        close(descriptor->fd);
        descriptor->fd = -1;
    }
    process_unlock();
}

void descriptor_forget(struct descriptor *descriptor)
{
    process_lock();
    if (descriptor->fd >= 0)
        list_remove(&descriptor->node);
    descriptor->fd = -1;
    process_unlock();
}

int descriptor_open(const char *path, int flags, struct descriptor *ret)
{
    int error;

    do {
        process_lock();
        error = descriptor_keep_locked(ret, open(path, O_RDONLY | O_CLOEXEC | flags));
        process_unlock();
    } while (error == EINTR);
    return error;
}

int descriptor_read(const struct descriptor *descriptor, void *bytes, size_t size, size_t *ret_length)
{
    ssize_t got = 1;

    for (*ret_length = 0; got != 0 && *ret_length<size; *ret_length += got> 0 ? (size_t)got : 0) {
        got = read(descriptor->fd, (char *)bytes + *ret_length, size - *ret_length);
        if (got < 0 && errno != EINTR)
            return errno;
    }
    return 0;
}

/* ---- Threads ---------------------------------------------------------------------------------------------------- */

int process_start_thread(void *(*run)(void *argument), void *argument, bool detached, pthread_t *ret)
{
    pthread_attr_t attributes;
    sigset_t       all, before;
    int            error = pthread_attr_init(&attributes);

    if (error != 0)
        return error;
    error = pthread_attr_setdetachstate(&attributes, detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
    if (error == 0) {
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        error = pthread_create(ret, &attributes, run, argument);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
    return error;
}
