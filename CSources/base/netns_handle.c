/* SPDX-License-Identifier: MIT */
/*
 * Identifies network namespaces, and opens sockets in them.
 *
 * What this file must never do: move a caller's thread to another namespace. The thread may not be allowed to return.
 */
#ifdef __linux__
#include "base/netns_handle.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
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
        return reach_filestamp_means_absent(errno) ? 0 : errno;
    *ret = (struct netns_id){ .device = status.st_dev, .inode = status.st_ino };
    return 0;
}

int reach_netns_id_current(struct netns_id *ret)
{
    return read_netns_id(THREAD_NAMESPACE, ret);
}

static bool ids_equal(struct netns_id a, struct netns_id b)
{
    return a.device == b.device && a.inode == b.inode;
}

int reach_netns_handle_open(struct netns_id id, struct netns_handle *ret)
{
    *ret = (struct netns_handle){ .id = id, .descriptor = DESCRIPTOR_CLOSED };
    return id.inode == 0 ? 0 : reach_descriptor_adopt(&ret->descriptor, reach_file_open(THREAD_NAMESPACE, 0));
}

void reach_netns_handle_close(struct netns_handle *handle)
{
    struct descriptor *spare = atomic_exchange(&handle->spare, NULL);

    if (spare != NULL)
        reach_descriptor_close(spare);
    free(spare);
    reach_descriptor_close(&handle->descriptor);
}

bool reach_netns_handle_is_current(const struct netns_handle *handle)
{
    struct netns_id current;

    return handle->id.inode == 0 || (reach_netns_id_current(&current) == 0 && ids_equal(handle->id, current));
}

/* A call of socket(2) on a thread of its own. */
struct socket_call {
    const struct netns_handle *handle;
    int family, type, protocol;
    struct descriptor *socket;
    bool has_entered;
    int error;
};

/* A sandbox that refuses the socket is no lack of privileges: EACCES. */
static int open_socket(const struct socket_call *call)
{
    const int fd = socket(call->family, call->type | SOCK_CLOEXEC | SOCK_NONBLOCK, call->protocol);
    const int error = reach_descriptor_adopt(call->socket, fd);

    return error == EPERM ? EACCES : error;
}

static void *open_socket_in_namespace(void *argument)
{
    struct socket_call *call = argument;

    call->has_entered = setns(call->handle->descriptor.fd, CLONE_NEWNET) == 0;
    call->error = call->has_entered ? open_socket(call) : errno;
    return NULL;
}

int reach_netns_handle_socket(const struct netns_handle *handle, int family, int type, int protocol,
                              struct descriptor *ret)
{
    struct socket_call call = { .handle = handle, .family = family, .type = type, .protocol = protocol, .socket = ret };
    struct netns_id current;
    pthread_t thread;
    int error = handle == NULL ? 0 : reach_netns_id_current(&current);

    *ret = DESCRIPTOR_CLOSED;
    if (error != 0)
        return error;
    if (handle == NULL || handle->id.inode == 0 || ids_equal(handle->id, current))
        return open_socket(&call);
    error = reach_process_start_thread(open_socket_in_namespace, &call, &thread);
    if (error != 0)
        return error;
    pthread_join(thread, NULL);
    /* The process has dropped its privileges, and its current namespace is unknown: assume that it has not changed. */
    if (!call.has_entered && call.error == EPERM && current.inode == 0)
        return open_socket(&call);
    return call.error;
}

int reach_netns_handle_enter(const struct netns_handle *handle)
{
    struct netns_id current;
    const int error = reach_netns_id_current(&current);

    if (error != 0 || handle->id.inode == 0 || ids_equal(handle->id, current))
        return error;
    return setns(handle->descriptor.fd, CLONE_NEWNET) == 0 ? 0 : errno;
}

void reach_netns_enter_process_namespace(void)
{
    struct netns_id current, wanted;
    int fd;

    if (reach_netns_id_current(&current) != 0 || read_netns_id(PROCESS_NAMESPACE, &wanted) != 0 ||
        ids_equal(current, wanted))
        return;
    fd = reach_file_open(PROCESS_NAMESPACE, 0);
    if (fd < 0)
        return;
    (void)setns(fd, CLONE_NEWNET);
    (void)close(fd);
}
#endif
