/* SPDX-License-Identifier: MIT */
/*
 * The process-wide lock, the library's descriptors, what happens after fork(2), and thread creation.
 *
 * What this file must never do: use an inherited descriptor in a child, except to close it. The parent shares the epoll
 * set, timer, eventfd or socket behind it.
 */
#ifdef __linux__
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>

#define SMALL_STACK (256 * 1024) /* the resolver uses less than 100 KiB */

atomic_uint reach_process_current_era = 1;

static pthread_mutex_t process_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct list descriptors = { &descriptors, &descriptors }; /* the open ones; under the lock */
static int fork_error;                                           /* constant after the constructor */

void reach_process_lock(void)
{
    pthread_mutex_lock(&process_mutex);
}

void reach_process_unlock(void)
{
    pthread_mutex_unlock(&process_mutex);
}

int reach_process_prepare(void)
{
    return fork_error;
}

/* The mark of our files: a signal that is never sent, and that the C libraries keep for themselves. A program may close
 * descriptors that are not its own (closefrom(3)), and get their numbers for other files: these are not closed. */
#define MARK 32

static void close_ours(const struct descriptor *descriptor)
{
    const int mark = descriptor->marked ? fcntl(descriptor->fd, F_GETSIG) : MARK;

    if (mark == MARK || (mark < 0 && errno != EBADF))
        close(descriptor->fd);
}

/* ---- Fork ------------------------------------------------------------------------------------------------------- */

static void begin_era_in_child(void)
{
    struct list *node;

    atomic_fetch_add(&reach_process_current_era, 1);
    while ((node = list_pop(&descriptors)) != NULL) {
        struct descriptor *descriptor = container_of(node, struct descriptor, node);

        close_ours(descriptor);
        descriptor->fd = -1;
    }
    reach_process_unlock();
}

/* Before the program registers its own handlers, which may call the library: then they run before ours take the lock,
 * and in the child after ours have closed the inherited descriptors. */
__attribute__((constructor)) static void register_fork_handlers(void)
{
    fork_error = pthread_atfork(reach_process_lock, reach_process_unlock, begin_era_in_child);
}

/* ---- Descriptors ------------------------------------------------------------------------------------------------ */

int reach_descriptor_adopt(struct descriptor *ret, int fd)
{
    const int error = fd < 0 ? errno : 0;

    list_init(&ret->node);
    ret->fd = fd;
    if (fd < 0)
        return error;
    ret->marked = fcntl(fd, F_SETSIG, MARK) == 0;
    reach_process_lock();
    list_append(&descriptors, &ret->node);
    reach_process_unlock();
    return 0;
}

/* If the process forks after close(2), the child finds that the number is not its own. */
void reach_descriptor_close(struct descriptor *descriptor)
{
    if (descriptor->fd < 0)
        return;
    close_ours(descriptor);
    reach_process_lock();
    list_remove(&descriptor->node);
    descriptor->fd = -1;
    reach_process_unlock();
}

/* ---- Threads ---------------------------------------------------------------------------------------------------- */

/* `stack`: the bytes of its stack; 0: as many as a thread of the program has. */
static int start_thread(void *(*run)(void *argument), void *argument, size_t stack, pthread_t *ret)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t detached;
    int error = pthread_attr_init(&attributes);

    if (error != 0)
        return error;
    error = pthread_attr_setdetachstate(&attributes, ret == NULL ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
    if (error == 0 && stack != 0)
        error = pthread_attr_setstacksize(&attributes, stack);
    if (error == 0) {
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        error = pthread_create(ret == NULL ? &detached : ret, &attributes, run, argument);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
    return error;
}

int reach_process_start_thread(void *(*run)(void *argument), void *argument, pthread_t *ret)
{
    return start_thread(run, argument, 0, ret);
}

static int add_thread_locals(struct dl_phdr_info *object, size_t size, void *ret_bytes)
{
    (void)size;
    for (size_t i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_TLS)
            *(size_t *)ret_bytes += object->dlpi_phdr[i].p_memsz + object->dlpi_phdr[i].p_align;
    return 0;
}

/* glibc puts the variables of each thread onto its stack. A private symbol (__pthread_get_minstack) has their size. */
int reach_process_start_small_thread(void *(*run)(void *argument), void *argument)
{
    size_t stack = SMALL_STACK;
    int error;

    (void)dl_iterate_phdr(add_thread_locals, &stack);
    error = start_thread(run, argument, (stack + 0xffff) & ~(size_t)0xffff, NULL);
    return error == EINVAL ? start_thread(run, argument, 0, NULL) : error; /* dlmopen(3) hides some */
}
#endif
