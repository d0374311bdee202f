/* SPDX-License-Identifier: MIT */
/*
 * The process-wide lock, the library's descriptors, what happens after fork(2), and thread creation.
 *
 * What this file must never do: use an inherited descriptor in a child, except to close it (the parent shares the epoll
 * set, timer, eventfd or socket behind it, so any other use changes the parent's); or close a file of the program's.
 * The program may have closed our descriptor and got its number.
 */
#ifdef __linux__
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* old headers of musl lack it */
#endif

struct process_era process_era_page;
static bool is_cleared_in_children; /* process_era_page */
static unsigned last_era;           /* the parent's, in a child that has not begun its era */

static pthread_mutex_t process_mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool fork_handlers_registered; /* changed under the lock */

#define BUCKETS     256
#define SMALL_STACK (256 * 1024) /* the resolver uses less than 100 KiB */

/* The open descriptors, by number; each number has one. Under the lock. */
static struct descriptor *open_descriptors[BUCKETS];

/* The lock of a child is made anew when its era begins, so that comes first. */
void process_lock(void)
{
    (void)process_era();
    pthread_mutex_lock(&process_mutex);
}

void process_unlock(void)
{
    pthread_mutex_unlock(&process_mutex);
}

/* ---- Fork ------------------------------------------------------------------------------------------------------- */

/* `closes`: closes the descriptors, except where it is not certain that they are ours. */
static void forget_descriptors(bool closes)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        struct descriptor *descriptor;

        while ((descriptor = open_descriptors[i]) != NULL) {
            open_descriptors[i] = descriptor->next;
            if (closes && fcntl(descriptor->fd, F_GETSIG) == DESCRIPTOR_MARK)
                close(descriptor->fd);
            descriptor->fd = -1;
        }
    }
}

/* The era has begun already if a handler of the program's has called the library. */
static void handle_fork_in_child(void)
{
    if (is_cleared_in_children && atomic_load(&process_era_page.current) != 0)
        return;
    atomic_store(&process_era_page.current, ++last_era);
    forget_descriptors(true);
    process_unlock();
}

/* The first call in the process, or in a child that has run no fork handlers. There, another thread of the parent may
 * have held the lock. If there are several threads by now, one of them does this. */
unsigned process_begin_era(void)
{
    sigset_t all, before;

    sigfillset(&all); /* a signal handler may call the library */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (atomic_fetch_add(&process_era_page.begun, 1) == 0) {
        pthread_mutex_init(&process_mutex, NULL);
        forget_descriptors(false);
        atomic_store(&process_era_page.current, ++last_era);
    }
    while (atomic_load(&process_era_page.current) == 0)
        (void)poll(NULL, 0, 1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return atomic_load(&process_era_page.current);
}

/* Linux before 4.14 cannot do this, and a sandbox may refuse it. Then a child that runs no fork handlers is taken for
 * its parent. */
static void clear_era_in_children(void)
{
    (void)process_era();
    is_cleared_in_children = madvise(&process_era_page, sizeof process_era_page, MADV_WIPEONFORK) == 0;
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
__attribute__((constructor)) static void prepare_for_forks(void)
{
    clear_era_in_children();
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

void descriptor_forget_locked(struct descriptor *descriptor)
{
    struct descriptor **place = find_descriptor_locked(descriptor->fd);

    if (*place == descriptor)
        *place = descriptor->next;
    descriptor->fd = -1;
}

/* Field by field, `fd` last: another thread may be reading the fields of the descriptor that was here before. */
int descriptor_register_locked(struct descriptor *ret, int fd)
{
    const int error = fd < 0 ? errno : 0;

    ret->next = NULL;
    ret->replaced = false;
    ret->marked = fd >= 0 && fcntl(fd, F_SETSIG, DESCRIPTOR_MARK) == 0;
    ret->fd = fd;
    if (fd >= 0)
        add_descriptor_locked(ret);
    return error;
}

/* close(2) can wait, so it runs without the lock. If the process forks meanwhile, the child still finds the descriptor
 * among the open ones, and closes its copy only if it has one. */
void descriptor_close(struct descriptor *descriptor)
{
    if (descriptor->fd < 0)
        return;
    if (descriptor_is_ours(descriptor))
        close(descriptor->fd);
    process_lock();
    descriptor_forget_locked(descriptor);
    process_unlock();
}

int descriptor_open(const char *path, int flags, struct descriptor *ret)
{
    *ret = DESCRIPTOR_CLOSED;
    return descriptor_reopen(path, flags, ret);
}

int descriptor_reopen(const char *path, int flags, struct descriptor *descriptor)
{
    int error = 0;

    do {
        process_lock();
        if (!descriptor_is_ours(descriptor)) {
            descriptor_forget_locked(descriptor);
            error = descriptor_register_locked(descriptor, open(path, O_RDONLY | O_CLOEXEC | flags));
        }
        process_unlock();
    } while (error == EINTR);
    return error;
}

int descriptor_read(const struct descriptor *descriptor, void *bytes, size_t size, size_t *ret_length)
{
    ssize_t got;

    do
        got = read(descriptor->fd, bytes, size);
    while (got < 0 && errno == EINTR);
    *ret_length = got > 0 ? (size_t)got : 0;
    return got < 0 ? errno : 0;
}

/* ---- Threads ---------------------------------------------------------------------------------------------------- */

/* `stack`: the bytes of its stack; 0: as many as a thread of the program has. */
static int start_thread(void *(*run)(void *argument), void *argument, bool detached, size_t stack, pthread_t *ret)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int error = pthread_attr_init(&attributes);

    if (error != 0)
        return error;
    error = pthread_attr_setdetachstate(&attributes, detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
    if (error == 0 && stack != 0)
        error = pthread_attr_setstacksize(&attributes, stack);
    if (error == 0) {
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        error = pthread_create(ret, &attributes, run, argument);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
    return error;
}

int process_start_thread(void *(*run)(void *argument), void *argument, bool detached, pthread_t *ret)
{
    return start_thread(run, argument, detached, 0, ret);
}

/* The variables of each thread are on its stack, and a program can have more of them than there is room for. */
int process_start_small_thread(void *(*run)(void *argument), void *argument)
{
    pthread_t thread;
    int error = start_thread(run, argument, true, SMALL_STACK, &thread);

    if (error == EINVAL)
        error = start_thread(run, argument, true, 0, &thread);
    return error;
}
#endif
