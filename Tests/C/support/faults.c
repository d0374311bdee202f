/* SPDX-License-Identifier: MIT */
/*
 * The stand-ins for system calls and allocations. The Makefile reads the names faulty_NAME in this file: the library
 * then calls faulty_NAME in place of NAME. Some stand-ins are not used yet.
 */
#include "support/faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <search.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

ssize_t (*faults_send)(int fd, const void *bytes, size_t length, int flags);
int (*faults_socket)(int domain, int type, int protocol);

/* Any thread and signal handler may read these: no lock. */
static atomic_bool armed;
static atomic_int error_wanted;
static atomic_uint to_pass, to_fail, struck;
static atomic_bool loses;
static _Atomic(const char *) function_wanted, function_struck;
static atomic_long blocks;

/* Calls, by the errors that they can have. */
enum kind {
    PLAIN,
    SLOW,    /* can be interrupted */
    SENDING, /* can be interrupted or get EAGAIN. A receive gets EAGAIN only if its queue is empty */
    MEMORY,
    THREAD,
};

static bool can_fail_with(enum kind kind, int error)
{
    switch (kind) {
    case PLAIN:
        return error != EINTR && error != EAGAIN;
    case SLOW:
        return error != EAGAIN;
    case MEMORY:
        return error == ENOMEM;
    case THREAD:
        return error == ENOMEM || error == EAGAIN;
    default:
        return true;
    }
}

/* Decrements a number unless it is 0. */
static bool take_one(atomic_uint *number)
{
    unsigned left = atomic_load(number);

    while (left > 0 && !atomic_compare_exchange_weak(number, &left, left - 1))
        continue;
    return left > 0;
}

/* The places of the library that a fault has struck: the return addresses of the calls, for all processes of this
 * program. */
#define PLACES 1024
static struct {
    _Atomic(const void *) places[PLACES];
    atomic_ulong count; /* of all faults */
} * visited;

__attribute__((constructor)) static void map_visited(void)
{
    visited = mmap(NULL, sizeof *visited, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (visited == MAP_FAILED)
        abort();
}

static void note_place(const void *place)
{
    atomic_fetch_add(&visited->count, 1);
    for (size_t i = 0; i < PLACES; i++) {
        const void *none = NULL;

        if (atomic_compare_exchange_strong(&visited->places[i], &none, place) || none == place)
            return;
    }
}

unsigned long faults_count(void)
{
    return atomic_load(&visited->count);
}

size_t faults_places(void)
{
    size_t count = 0;

    while (count < PLACES && atomic_load(&visited->places[count]) != NULL)
        count++;
    return count;
}

const void *faults_place(size_t i)
{
    return atomic_load(&visited->places[i]);
}

/* True if this call must fail. Sets errno. */
#define strikes(function, kind) strikes_at(function, kind, __builtin_return_address(0))
static bool strikes_at(const char *function, enum kind kind, const void *place)
{
    const char *wanted, *none = NULL;

    if (!atomic_load(&armed) || !can_fail_with(kind, atomic_load(&error_wanted)))
        return false;
    wanted = atomic_load(&function_wanted);
    if (wanted != NULL && strcmp(wanted, function) != 0)
        return false;
    if (take_one(&to_pass) || !take_one(&to_fail))
        return false;
    atomic_fetch_add(&struck, 1);
    note_place(place);
    atomic_compare_exchange_strong(&function_struck, &none, function);
    errno = atomic_load(&error_wanted);
    return true;
}

void faults_arm(const struct fault *fault)
{
    atomic_store(&error_wanted, fault->error);
    atomic_store(&to_pass, fault->nth > 0 ? fault->nth - 1 : 0);
    atomic_store(&to_fail, fault->count > 0 ? fault->count : 1);
    atomic_store(&struck, 0);
    atomic_store(&loses, fault->loses);
    atomic_store(&function_wanted, fault->function);
    atomic_store(&function_struck, NULL);
    atomic_store(&armed, true);
}

const char *faults_disarm(void)
{
    atomic_store(&armed, false);
    return atomic_load(&function_struck);
}

unsigned faults_struck(void)
{
    return atomic_load(&struck);
}

long faults_blocks(void)
{
    return atomic_load(&blocks);
}

/* ---- Memory ----------------------------------------------------------------------------------------------------- */

static void *counted(void *block)
{
    if (block != NULL)
        atomic_fetch_add(&blocks, 1);
    return block;
}

#define MEMORY_CALL(result, name, parameters, ...) \
    result faulty_##name parameters; \
    result faulty_##name parameters \
    { \
        return strikes(#name, MEMORY) ? NULL : counted(name(__VA_ARGS__)); \
    }

MEMORY_CALL(void *, malloc, (size_t size), size)
MEMORY_CALL(void *, calloc, (size_t count, size_t size), count, size)
MEMORY_CALL(char *, strdup, (const char *text), text)
MEMORY_CALL(char *, strndup, (const char *text, size_t size), text, size)

void *faulty_realloc(void *block, size_t size);
void *faulty_realloc(void *block, size_t size)
{
    if (strikes("realloc", MEMORY))
        return NULL;
    return block == NULL ? counted(malloc(size)) : realloc(block, size);
}

/* Not counted: this memory is never freed. */
void *faulty_aligned_alloc(size_t alignment, size_t size);
void *faulty_aligned_alloc(size_t alignment, size_t size)
{
    return strikes("aligned_alloc", MEMORY) ? NULL : aligned_alloc(alignment, size);
}

/* Not counted: tdelete(3) frees the memory without a call of faulty_free. */
void *faulty_tsearch(const void *key, void **root, int (*compare)(const void *, const void *));
void *faulty_tsearch(const void *key, void **root, int (*compare)(const void *, const void *))
{
    return strikes("tsearch", MEMORY) ? NULL : tsearch(key, root, compare);
}

void faulty_free(void *block);
void faulty_free(void *block)
{
    if (block != NULL)
        atomic_fetch_sub(&blocks, 1);
    free(block);
}

/* ---- System calls ----------------------------------------------------------------------------------------------- */

#define SYSTEM_CALL(kind, result, name, parameters, ...) \
    result faulty_##name parameters; \
    result faulty_##name parameters \
    { \
        return strikes(#name, kind) ? -1 : name(__VA_ARGS__); \
    }

SYSTEM_CALL(PLAIN, int, bind, (int fd, const struct sockaddr *address, socklen_t length), fd, address, length)
SYSTEM_CALL(PLAIN, int, connect, (int fd, const struct sockaddr *address, socklen_t length), fd, address, length)
SYSTEM_CALL(PLAIN, int, getsockname, (int fd, struct sockaddr *ret, socklen_t *length), fd, ret, length)
SYSTEM_CALL(PLAIN, int, getpeername, (int fd, struct sockaddr *ret, socklen_t *length), fd, ret, length)
SYSTEM_CALL(PLAIN, int, getsockopt, (int fd, int level, int option, void *ret, socklen_t *length), fd, level, option,
            ret, length)
SYSTEM_CALL(PLAIN, int, setsockopt, (int fd, int level, int option, const void *value, socklen_t length), fd, level,
            option, value, length)
SYSTEM_CALL(SENDING, ssize_t, sendto,
            (int fd, const void *bytes, size_t size, int flags, const struct sockaddr *to, socklen_t length), fd, bytes,
            size, flags, to, length)
SYSTEM_CALL(SENDING, ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), fd, message, flags)
SYSTEM_CALL(PLAIN, int, epoll_create1, (int flags), flags)
SYSTEM_CALL(PLAIN, int, epoll_ctl, (int fd, int operation, int which, struct epoll_event *event), fd, operation, which,
            event)
SYSTEM_CALL(SLOW, int, epoll_wait, (int fd, struct epoll_event *ret, int count, int milliseconds), fd, ret, count,
            milliseconds)
SYSTEM_CALL(PLAIN, int, eventfd, (unsigned count, int flags), count, flags)
SYSTEM_CALL(PLAIN, int, timerfd_create, (clockid_t clock, int flags), clock, flags)
SYSTEM_CALL(PLAIN, int, timerfd_settime,
            (int fd, int flags, const struct itimerspec *value, struct itimerspec *ret_before), fd, flags, value,
            ret_before)
SYSTEM_CALL(SLOW, ssize_t, read, (int fd, void *bytes, size_t size), fd, bytes, size)
SYSTEM_CALL(SLOW, ssize_t, write, (int fd, const void *bytes, size_t size), fd, bytes, size)
SYSTEM_CALL(PLAIN, int, stat, (const char *path, struct stat *ret), path, ret)
SYSTEM_CALL(PLAIN, int, lstat, (const char *path, struct stat *ret), path, ret)
SYSTEM_CALL(PLAIN, int, fstat, (int fd, struct stat *ret), fd, ret)
SYSTEM_CALL(PLAIN, int, setns, (int fd, int type), fd, type)
SYSTEM_CALL(PLAIN, int, inotify_init1, (int flags), flags)
SYSTEM_CALL(PLAIN, int, inotify_add_watch, (int fd, const char *path, uint32_t events), fd, path, events)
SYSTEM_CALL(PLAIN, ssize_t, readlink, (const char *path, char *ret, size_t size), path, ret, size)
SYSTEM_CALL(PLAIN, ssize_t, getdents64, (int fd, void *ret, size_t size), fd, ret, size)
SYSTEM_CALL(PLAIN, int, dup3, (int from, int to, int flags), from, to, flags)

/* The library's pauses end at once here: a test has thousands of rounds. */
int faulty_poll(struct pollfd *polled, nfds_t count, int milliseconds);
int faulty_poll(struct pollfd *polled, nfds_t count, int milliseconds)
{
    if (count == 0)
        return sched_yield();
    return strikes("poll", SLOW) ? -1 : poll(polled, count, milliseconds);
}

int faulty_socket(int domain, int type, int protocol);
int faulty_socket(int domain, int type, int protocol)
{
    return strikes("socket", PLAIN) ? -1 : (faults_socket != NULL ? faults_socket : socket)(domain, type, protocol);
}

ssize_t faulty_send(int fd, const void *bytes, size_t length, int flags);
ssize_t faulty_send(int fd, const void *bytes, size_t length, int flags)
{
    return strikes("send", SENDING) ? -1 : (faults_send != NULL ? faults_send : send)(fd, bytes, length, flags);
}

/* The kernel discards a datagram that it could not copy. */
static bool receive_strikes(const char *function, int fd, const void *place)
{
    char byte;

    if (!strikes_at(function, SLOW, place))
        return false;
    if (atomic_load(&loses))
        (void)!recv(fd, &byte, 1, MSG_DONTWAIT);
    errno = atomic_load(&error_wanted);
    return true;
}

#define RECEIVE_CALL(name, parameters, ...) \
    ssize_t faulty_##name parameters; \
    ssize_t faulty_##name parameters \
    { \
        return receive_strikes(#name, fd, __builtin_return_address(0)) ? -1 : name(__VA_ARGS__); \
    }

RECEIVE_CALL(recv, (int fd, void *bytes, size_t size, int flags), fd, bytes, size, flags)
RECEIVE_CALL(recvfrom, (int fd, void *bytes, size_t size, int flags, struct sockaddr *from, socklen_t *length), fd,
             bytes, size, flags, from, length)
RECEIVE_CALL(recvmsg, (int fd, struct msghdr *message, int flags), fd, message, flags)

/* The last argument exists only with certain flags. Without them it is never used. */
#define LAST_ARGUMENT(type, after) \
    va_list arguments; \
    type last_argument; \
    va_start(arguments, after); \
    last_argument = va_arg(arguments, type); \
    va_end(arguments)

int faulty_ioctl(int fd, unsigned long request, ...);
int faulty_ioctl(int fd, unsigned long request, ...)
{
    LAST_ARGUMENT(void *, request);
    return strikes("ioctl", PLAIN) ? -1 : ioctl(fd, request, last_argument);
}

int faulty_fcntl(int fd, int operation, ...);
int faulty_fcntl(int fd, int operation, ...)
{
    LAST_ARGUMENT(long, operation);
    return strikes("fcntl", PLAIN) ? -1 : fcntl(fd, operation, last_argument);
}

int faulty_open(const char *path, int flags, ...);
int faulty_open(const char *path, int flags, ...)
{
    LAST_ARGUMENT(mode_t, flags);
    return strikes("open", SLOW) ? -1 : open(path, flags, last_argument);
}

int faulty_openat(int fd, const char *path, int flags, ...);
int faulty_openat(int fd, const char *path, int flags, ...)
{
    LAST_ARGUMENT(mode_t, flags);
    return strikes("openat", SLOW) ? -1 : openat(fd, path, flags, last_argument);
}

/* ---- Threads: the errno is the result --------------------------------------------------------------------------- */

#define THREAD_CALL(name, parameters, ...) \
    int faulty_##name parameters; \
    int faulty_##name parameters \
    { \
        return strikes(#name, THREAD) ? atomic_load(&error_wanted) : name(__VA_ARGS__); \
    }

THREAD_CALL(pthread_create, (pthread_t * ret, const pthread_attr_t *attributes, void *(*run)(void *), void *argument),
            ret, attributes, run, argument)
THREAD_CALL(pthread_attr_init, (pthread_attr_t * ret), ret)
THREAD_CALL(pthread_attr_setdetachstate, (pthread_attr_t * attributes, int state), attributes, state)
THREAD_CALL(pthread_attr_setstacksize, (pthread_attr_t * attributes, size_t size), attributes, size)
THREAD_CALL(pthread_mutex_init, (pthread_mutex_t * ret, const pthread_mutexattr_t *attributes), ret, attributes)
THREAD_CALL(pthread_cond_init, (pthread_cond_t * ret, const pthread_condattr_t *attributes), ret, attributes)
THREAD_CALL(pthread_condattr_init, (pthread_condattr_t * ret), ret)
THREAD_CALL(pthread_key_create, (pthread_key_t * ret, void (*ended)(void *)), ret, ended)
THREAD_CALL(pthread_setspecific, (pthread_key_t key, const void *value), key, value)
THREAD_CALL(pthread_atfork, (void (*prepare)(void), void (*parent)(void), void (*child)(void)), prepare, parent, child)
