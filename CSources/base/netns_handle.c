/* SPDX-License-Identifier: MIT */
/*
 * Identifies network namespaces, and runs code in them. A socket belongs to the namespace of the thread that opens it,
 * so sockets for a target must be opened in the target's namespace.
 *
 * What this file must never do: move a caller's thread to another namespace. The thread may not be allowed to return.
 */
#ifdef __linux__
#include "base/netns_handle.h"

#include <errno.h>
#include <sched.h>
#include <sys/stat.h>

#include "base/file.h"

#define THREAD_NAMESPACE  "/proc/thread-self/ns/net"
#define PROCESS_NAMESPACE "/proc/self/ns/net"

/* Returns 0 or an errno. Without /proc, or without access to it, *ret has no identity. */
static int read_netns_id(const char *path, struct netns_id *ret)
{
    struct stat status;

    *ret = (struct netns_id){ 0 };
    if (stat(path, &status) != 0)
        return filestamp_means_absent(errno) ? 0 : errno;
    *ret = (struct netns_id){ .device = status.st_dev, .inode = status.st_ino };
    return 0;
}

static struct netns_id home; /* constant after the constructor */

__attribute__((constructor)) static void note_home(void)
{
    (void)read_netns_id(PROCESS_NAMESPACE, &home);
}

bool netns_process_is_home(void)
{
    struct netns_id current;

    return home.inode == 0 || read_netns_id(PROCESS_NAMESPACE, &current) != 0 || current.inode == 0 ||
           netns_id_equal(current, home);
}

int netns_id_current(struct netns_id *ret)
{
    return read_netns_id(THREAD_NAMESPACE, ret);
}

bool netns_id_equal(struct netns_id a, struct netns_id b)
{
    return a.device == b.device && a.inode == b.inode;
}

int netns_handle_open(struct netns_id id, struct netns_handle *ret)
{
    *ret = NETNS_HANDLE_CLOSED;
    ret->id = id;
    return id.inode == 0 ? 0 : descriptor_open(THREAD_NAMESPACE, 0, &ret->descriptor);
}

void netns_handle_close(struct netns_handle *handle)
{
    descriptor_close(&handle->descriptor);
}

/* Enters the namespace of the handle. The program may have a namespace of its own with the number. */
static int set_namespace_locked(const struct netns_handle *handle)
{
    if (!descriptor_is_ours(&handle->descriptor))
        return EBADF;
    return setns(handle->descriptor.fd, CLONE_NEWNET) == 0 ? 0 : errno;
}

static int set_namespace(const struct netns_handle *handle)
{
    int error;

    process_lock();
    error = set_namespace_locked(handle);
    process_unlock();
    return error;
}

/* A call on a thread of its own, in a namespace. */
struct namespace_call {
    const struct netns_handle *handle;
    int (*run)(void *argument);
    void *argument;
    bool has_entered;
    int error;
};

static void *call_in_namespace(void *argument)
{
    struct namespace_call *call = argument;

    call->error = set_namespace(call->handle);
    call->has_entered = call->error == 0;
    if (call->has_entered)
        call->error = call->run(call->argument);
    return NULL;
}

int netns_handle_run(struct netns_handle *handle, int (*run)(void *argument), void *argument)
{
    struct namespace_call call = { .handle = handle, .run = run, .argument = argument };
    struct netns_id current;
    pthread_t thread;
    int error = netns_id_current(&current);

    if (error != 0)
        return error;
    if (handle->id.inode == 0)
        return run(argument);
    if (netns_id_equal(handle->id, current)) {
        (void)descriptor_reopen(THREAD_NAMESPACE, 0, &handle->descriptor); /* without it, `run` works as well */
        return run(argument);
    }
    error = process_start_thread(call_in_namespace, &call, false, &thread);
    if (error != 0)
        return error;
    pthread_join(thread, NULL);
    /* The process has dropped its privileges, and its current namespace is unknown: assume that it has not changed. */
    if (!call.has_entered && call.error == EPERM && current.inode == 0)
        return run(argument);
    return call.error;
}

int netns_handle_enter_locked(struct netns_handle *handle)
{
    struct netns_id current;
    const int error = netns_id_current(&current);

    if (error != 0 || handle->id.inode == 0 || netns_id_equal(handle->id, current))
        return error;
    return set_namespace_locked(handle);
}

int netns_handle_enter(struct netns_handle *handle)
{
    int error;

    process_lock();
    error = netns_handle_enter_locked(handle);
    process_unlock();
    return error;
}

void netns_enter_process_namespace(void)
{
    struct netns_id current, wanted;
    struct descriptor descriptor;

    if (netns_id_current(&current) != 0 || read_netns_id(PROCESS_NAMESPACE, &wanted) != 0 ||
        netns_id_equal(current, wanted))
        return;
    if (descriptor_open(PROCESS_NAMESPACE, 0, &descriptor) != 0)
        return;
    (void)setns(descriptor.fd, CLONE_NEWNET);
    descriptor_close(&descriptor);
}
#endif
