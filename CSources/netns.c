/* SPDX-License-Identifier: MIT */
/*
 * Network namespaces. Sockets belong to the namespace of the thread that opened them, so what is opened later, by
 * whichever thread, has to go back to the one of the target.
 *
 * What this file must never do: hold a namespace open that no target needs (a deleted one could not die), or take a
 * caller's thread to another namespace (it might not get back).
 */
#include "netns.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
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

/* What a thread of ours opens over there, so that the caller's never leaves its own namespace. */
struct errand {
    const struct netns *netns;
    enum view_scope     scope;
    struct view        *view;
    int                 error;
};

static void *run_errand(void *argument)
{
    struct errand *errand = argument;

    errand->error = setns(errand->netns->fd, CLONE_NEWNET) == 0 ? view_open(errand->view, errand->scope) : errno;
    return NULL;
}

/* The thread lives for these few system calls: it is waited for, and takes no signal. */
static int open_abroad(const struct netns *netns, enum view_scope scope, struct view *ret)
{
    struct errand errand = { .netns = netns, .scope = scope, .view = ret };
    sigset_t      all, before;
    pthread_t     thread;
    int           error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, NULL, run_errand, &errand);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return error;
    pthread_join(thread, NULL);
    return errand.error;
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

void netns_find_type(struct netns *netns, struct path *path)
{
    struct link        whole = { 0 };
    const struct link *link;
    struct view        view;

    pthread_mutex_lock(&netns->lock);
    link = path->index != 0 ? view_link(&netns->view, path->index) : NULL;
    if (link != NULL)
        whole = *link;
    pthread_mutex_unlock(&netns->lock);
    if (whole.index == 0 || whole.complete || netns_open_view(netns, VIEW_LINKS, &view) != 0)
        return;
    link = view_whole_link(&view, path->index);
    if (link != NULL && link->complete)
        whole = *link;
    view_close(&view);
    if (!whole.complete)
        return;
    path->type = whole.type;
    pthread_mutex_lock(&netns->lock);
    links_tell_kind(&netns->view.links, whole.index, whole.kind);
    pthread_mutex_unlock(&netns->lock);
}

uint32_t netns_index_of(struct netns *netns, const char *name)
{
    uint32_t index;

    pthread_mutex_lock(&netns->lock);
    index = view_index_of(&netns->view, name);
    pthread_mutex_unlock(&netns->lock);
    return index;
}
