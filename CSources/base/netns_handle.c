/* SPDX-License-Identifier: MIT */
/*
 * Network namespaces by device and inode. A socket belongs to the namespace of the thread that opens it, so a socket
 * that is opened later has to be opened in the namespace of its target.
 *
 * What this file must never do: move a caller's thread to another namespace. It may not be able to come back.
 */
#include "base/netns_handle.h"

#include <errno.h>
#include <sched.h>
#include <sys/stat.h>

#define THREAD_NAMESPACE  "/proc/thread-self/ns/net"
#define PROCESS_NAMESPACE "/proc/self/ns/net"

/* Returns 0 or an errno. Without /proc, or without access to it, there is no identity. */
static int read_netns_id(const char *path, struct netns_id *ret)
{
    struct stat status;

    *ret = (struct netns_id){ 0 };
    if (stat(path, &status) != 0)
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == EPERM ? 0 : errno;
    *ret = (struct netns_id){ .device = status.st_dev, .inode = status.st_ino };
    return 0;
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

/* A call to make in a namespace. */
struct visit {
    const struct netns_handle *handle;
    int (*run)(void *argument);
    void *argument;
    bool  has_entered;
    int   error;
};

static void *visit_on_thread(void *argument)
{
    struct visit *visit = argument;

    visit->has_entered = setns(visit->handle->descriptor.fd, CLONE_NEWNET) == 0;
    visit->error = visit->has_entered ? visit->run(visit->argument) : errno;
    return NULL;
}

int netns_handle_run(const struct netns_handle *handle, int (*run)(void *argument), void *argument)
{
    struct visit    visit = { .handle = handle, .run = run, .argument = argument };
    struct netns_id here;
    pthread_t       thread;
    int             error = netns_id_current(&here);

    if (error != 0)
        return error;
    if (handle->id.inode == 0 || netns_id_equal(handle->id, here))
        return run(argument);
    error = process_start_thread(visit_on_thread, &visit, false, &thread);
    if (error != 0)
        return error;
    pthread_join(thread, NULL);
    /* The caller's namespace is not known any more: the process has given up its rights. It is taken to be where it
     * was. */
    if (!visit.has_entered && visit.error == EPERM && here.inode == 0)
        return run(argument);
    return visit.error;
}

int netns_handle_enter(const struct netns_handle *handle)
{
    struct netns_id here;
    const int       error = netns_id_current(&here);

    if (error != 0 || handle->id.inode == 0 || netns_id_equal(handle->id, here))
        return error;
    return setns(handle->descriptor.fd, CLONE_NEWNET) == 0 ? 0 : errno;
}

void netns_go_home(void)
{
    struct netns_id   here, home_id;
    struct descriptor home;

    if (netns_id_current(&here) != 0 || read_netns_id(PROCESS_NAMESPACE, &home_id) != 0 ||
        netns_id_equal(here, home_id))
        return;
    if (descriptor_open(PROCESS_NAMESPACE, 0, &home) != 0)
        return;
    (void)setns(home.fd, CLONE_NEWNET);
    descriptor_close(&home);
}
