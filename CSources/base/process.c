/* SPDX-License-Identifier: MIT */
/*
 * The process-wide lock, the library's descriptors, what happens after fork(2), and thread creation.
 *
 * What this file must never do: use an inherited descriptor in a child, except to close it (the parent shares the epoll
 * set, timer, eventfd or socket behind it, so any other use changes the parent's); or close a file of the program's.
 * The program may have closed our descriptor and got its number.
 */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

atomic_uint process_current_era;

static pthread_mutex_t process_mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool     fork_handlers_registered; /* changed under the lock */

#define BUCKETS 256

/* The open descriptors, by number; each number has one. Under the lock. */
static struct descriptor *open_descriptors[BUCKETS];

/* The mark of our files: the signal of fcntl(2), F_SETSIG. It is not sent, as nothing sets O_ASYNC. The C libraries
 * keep this number for themselves, so no file of a program has it. An inode number cannot be the mark: all eventfds,
 * timers, epoll sets and inotify instances share one. */
#define MARK_SIGNAL 32

void process_lock(void)
{
    pthread_mutex_lock(&process_mutex);
}

void process_unlock(void)
{
    pthread_mutex_unlock(&process_mutex);
}

/* ---- Fork ------------------------------------------------------------------------------------------------------- */

/* Leaves a descriptor open if it is not certain that it is ours. */
static void close_bucket_in_child(struct descriptor **bucket)
{
    struct descriptor *descriptor;

    while ((descriptor = *bucket) != NULL) {
        *bucket = descriptor->next;
        if (fcntl(descriptor->fd, F_GETSIG) == MARK_SIGNAL)
            close(descriptor->fd);
        descriptor->fd = -1;
    }
}

static void handle_fork_in_child(void)
{
    atomic_fetch_add(&process_current_era, 1);
    for (size_t i = 0; i < BUCKETS; i++)
        close_bucket_in_child(&open_descriptors[i]);
    process_unlock();
}

/* Without pthread_once: a call that fails for lack of memory can be repeated. */
int process_prepare(void)
{
    int error = 0;

    if (atomic_load_explicit(&fork_handlers_registered, memory_order_acquire))
        return 0;
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

/* Returns the place of the descriptor with this number; it contains NULL if there is none. */
static struct descriptor **find_descriptor_locked(int fd)
{
    struct descriptor **place = &open_descriptors[(unsigned)fd % BUCKETS];

    while (*place != NULL && (*place)->fd != fd)
        place = &(*place)->next;
    return place;
}

/* A descriptor that is open under this number was closed by the program. */
static void add_descriptor_locked(struct descriptor *descriptor)
{
    struct descriptor **place = find_descriptor_locked(descriptor->fd);

    if (*place != NULL) {
        descriptor->next = (*place)->next;
        atomic_store(&(*place)->replaced, true);
    }
    *place = descriptor;
}

static void remove_descriptor(struct descriptor *descriptor)
{
    struct descriptor **place;

    process_lock();
    place = find_descriptor_locked(descriptor->fd);
    if (*place == descriptor)
        *place = descriptor->next;
    process_unlock();
}

int descriptor_register_locked(struct descriptor *ret, int fd)
{
    *ret = (struct descriptor){ .fd = fd };
    if (fd < 0)
        return errno;
    ret->marked = fcntl(fd, F_SETSIG, MARK_SIGNAL) == 0;
    add_descriptor_locked(ret);
    return 0;
}

bool descriptor_is_ours(const struct descriptor *descriptor)
{
    int mark = MARK_SIGNAL;

    if (descriptor->fd < 0 || atomic_load(&descriptor->replaced))
        return false;
    if (descriptor->marked)
        mark = fcntl(descriptor->fd, F_GETSIG);
    return mark == MARK_SIGNAL || (mark < 0 && errno != EBADF);
}

/* close(2) can wait, so it runs without the lock. If the process forks meanwhile, the child still finds the descriptor
 * among the open ones, and closes its copy only if it has one. */
void descriptor_close(struct descriptor *descriptor)
{
    if (descriptor->fd < 0)
        return;
    if (descriptor_is_ours(descriptor))
        close(descriptor->fd);
    remove_descriptor(descriptor);
    descriptor->fd = -1;
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
