/* SPDX-License-Identifier: MIT */
/*
 * Network namespaces. Sockets belong to the namespace of the thread that opened them, so what is opened later, by
 * whichever thread, has to go back to the one of the target.
 *
 * What this file must never do: hold a namespace open that no target needs (a deleted one could not die), or leave a
 * thread in another namespace than the one it came in.
 */
#include "netns.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN_NAMESPACE "/proc/thread-self/ns/net"

struct netns_id {
    dev_t device;
    ino_t inode; /* 0: cannot be told, and then the process is taken to have one */
};

struct netns {
    struct list     node;
    unsigned        references; /* under registry_lock */
    struct netns_id id;
    int             fd; /* -1: cannot be told */
    pthread_mutex_t lock;
    struct view     view;
};

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct list     registry = { &registry, &registry }; /* those in which targets exist */

static struct netns_id own_id(void)
{
    struct stat status;

    if (stat(OWN_NAMESPACE, &status) != 0)
        return (struct netns_id){ 0 };
    return (struct netns_id){ .device = status.st_dev, .inode = status.st_ino };
}

static bool id_equal(struct netns_id a, struct netns_id b)
{
    return a.device == b.device && a.inode == b.inode;
}

static void netns_free(struct netns *netns)
{
    view_close(&netns->view);
    if (netns->fd >= 0)
        close(netns->fd);
    pthread_mutex_destroy(&netns->lock);
    free(netns);
}

static int netns_create(struct netns_id id, struct netns **ret)
{
    struct netns *netns = calloc(1, sizeof *netns);
    int           error;

    if (netns == NULL)
        return ENOMEM;
    netns->references = 1;
    netns->id = id;
    netns->view = (struct view){ .events = NETLINK_CLOSED, .requests = NETLINK_CLOSED };
    error = pthread_mutex_init(&netns->lock, NULL);
    if (error != 0) {
        free(netns);
        return error;
    }
    netns->fd = id.inode == 0 ? -1 : open(OWN_NAMESPACE, O_RDONLY | O_CLOEXEC);
    error = id.inode != 0 && netns->fd < 0 ? errno : view_open(&netns->view, VIEW_LINKS);
    if (error != 0) {
        netns_free(netns);
        return error;
    }
    *ret = netns;
    return 0;
}

int netns_current(struct netns **ret)
{
    const struct netns_id id = own_id();
    int                   error = 0;

    pthread_mutex_lock(&registry_lock);
    *ret = NULL;
    list_for_each(node, &registry) {
        struct netns *netns = container_of(node, struct netns, node);

        if (id_equal(netns->id, id)) {
            netns->references++;
            *ret = netns;
            break;
        }
    }
    if (*ret == NULL) {
        error = netns_create(id, ret);
        if (error == 0)
            list_append(&registry, &(*ret)->node);
    }
    pthread_mutex_unlock(&registry_lock);
    return error;
}

void netns_retain(struct netns *netns)
{
    pthread_mutex_lock(&registry_lock);
    netns->references++;
    pthread_mutex_unlock(&registry_lock);
}

void netns_release(struct netns *netns)
{
    bool last;

    pthread_mutex_lock(&registry_lock);
    last = --netns->references == 0;
    if (last)
        list_remove(&netns->node);
    pthread_mutex_unlock(&registry_lock);
    if (last)
        netns_free(netns);
}

/* Opens a view over there and comes back. The way back is tried before the way out is taken. */
static int open_abroad(const struct netns *netns, enum view_scope scope, struct view *ret)
{
    const int home = open(OWN_NAMESPACE, O_RDONLY | O_CLOEXEC);
    int       error;

    if (home < 0)
        return errno;
    error = setns(home, CLONE_NEWNET) == 0 && setns(netns->fd, CLONE_NEWNET) == 0 ? 0 : errno;
    if (error == 0) {
        error = view_open(ret, scope);
        if (setns(home, CLONE_NEWNET) != 0)
            abort(); /* cannot happen: it was possible a moment ago. Going on elsewhere would be worse. */
    }
    close(home);
    return error;
}

int netns_open_view(struct netns *netns, enum view_scope scope, struct view *ret)
{
    if (id_equal(netns->id, own_id()))
        return view_open(ret, scope);
    return open_abroad(netns, scope, ret);
}

int netns_ask(struct netns *netns, const struct question *questions, size_t count, unsigned extras, struct path *ret)
{
    int error;

    pthread_mutex_lock(&netns->lock);
    error = route_find(&netns->view, questions, count, extras, ret);
    pthread_mutex_unlock(&netns->lock);
    return error;
}
