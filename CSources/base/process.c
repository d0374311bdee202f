/* SPDX-License-Identifier: MIT */
/*
 * The process-wide lock, the list of the library's descriptors, what happens after fork(2), and thread creation.
 *
 * What this file must never do: use an inherited descriptor in a child, except to close it. The parent shares the epoll
 * set, timer, eventfd or socket behind it, so any other use changes the parent's.
 */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/list.h"

static pthread_mutex_t process_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct list     descriptors = { &descriptors, &descriptors }; /* open ones; under the lock */
static atomic_uint     current_era;
static bool            fork_handlers_registered; /* under the lock */

void process_lock(void)
{
    pthread_mutex_lock(&process_mutex);
}

void process_unlock(void)
{
    pthread_mutex_unlock(&process_mutex);
}

unsigned process_era(void)
{
    return atomic_load_explicit(&current_era, memory_order_relaxed);
}

/* ---- Fork ------------------------------------------------------------------------------------------------------- */

static void handle_fork_in_child(void)
{
    struct list *node;

    atomic_fetch_add(&current_era, 1);
    while ((node = list_pop(&descriptors)) != NULL) {
        struct descriptor *descriptor = container_of(node, struct descriptor, node);

        close(descriptor->fd);
        descriptor->fd = -1;
    }
    process_unlock();
}

/* Without pthread_once: a call that fails for lack of memory can be repeated. */
int process_prepare(void)
{
    int error = 0;

    process_lock();
    if (!fork_handlers_registered)
        error = pthread_atfork(process_lock, process_unlock, handle_fork_in_child);
    fork_handlers_registered = error == 0;
    process_unlock();
    return error;
}

/* Registers our fork handlers before the program registers its own, which may call the library. The program's handlers
 * then run before ours take the lock, and in the child after ours have closed the inherited descriptors. */
__attribute__((constructor)) static void register_fork_handlers(void)
{
    (void)process_prepare();
}

/* ---- Descriptors ------------------------------------------------------------------------------------------------ */

int descriptor_register_locked(struct descriptor *ret, int fd)
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
        error = descriptor_register_locked(ret, open(path, O_RDONLY | O_CLOEXEC | flags));
        process_unlock();
    } while (error == EINTR);
    return error;
}

int descriptor_read(const struct descriptor *descriptor, void *bytes, size_t size, size_t *ret_length)
{
    *ret_length = 0;
    while (*ret_length < size) {
        const ssize_t got = read(descriptor->fd, (char *)bytes + *ret_length, size - *ret_length);

        if (got > 0)
            *ret_length += (size_t)got;
        else if (got == 0)
            break;
        else if (errno != EINTR)
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
