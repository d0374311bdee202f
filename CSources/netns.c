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
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "device.h"
#include "socket.h"

#define OWN_NAMESPACE     "/proc/thread-self/ns/net"
#define PROCESS_NAMESPACE "/proc/self/ns/net"
#define PEER_SECONDS      30 /* until a peer is looked at again, as it may have moved */
#define LOST_PEER_SECONDS 2  /* the same of one that could not be reached */

struct netns_id {
    dev_t device;
    ino_t inode; /* 0: cannot be told, and then the process is taken to have one */
};

struct netns {
    struct list       node;
    unsigned          era;        /* of the process: a child's registry begins empty */
    unsigned          references; /* under process_lock */
    struct netns_id   id;
    struct descriptor way_back;   /* closed: cannot be told */
    pthread_mutex_t   lock;
    atomic_bool       peers_hidden; /* from this process: those of WireGuard */
    bool              denied;     /* netlink is: sockets are asked instead. Under the lock, as the view */
    struct view       view;
};

static struct list registry = { &registry, &registry }; /* those in which targets exist, under process_lock */
static unsigned    registry_era;

/* 0 or an errno. Where there is no /proc, or none for us, there is no identity. */
static int read_id(const char *path, struct netns_id *ret)
{
    struct stat status;

    *ret = (struct netns_id){ 0 };
    if (stat(path, &status) != 0)
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == EPERM ? 0 : errno;
    *ret = (struct netns_id){ .device = status.st_dev, .inode = status.st_ino };
    return 0;
}

static int own_id(struct netns_id *ret)
{
    return read_id(OWN_NAMESPACE, ret);
}

static bool id_equal(struct netns_id a, struct netns_id b)
{
    return a.device == b.device && a.inode == b.inode;
}

/* ---- Making and ending ------------------------------------------------------------------------------------------ */

/* In a child another thread may have been about to change the view: then it is left as it is. */
static void netns_free(struct netns *netns)
{
    if (pthread_mutex_trylock(&netns->lock) == 0) {
        pthread_mutex_unlock(&netns->lock);
        view_close(&netns->view);
    }
    descriptor_close(&netns->way_back);
    pthread_mutex_destroy(&netns->lock);
    free(netns);
}

static int open_way_back(struct netns *netns)
{
    return netns->id.inode == 0 ? 0 : descriptor_open(OWN_NAMESPACE, 0, &netns->way_back);
}

static int netns_create(struct netns_id id, struct netns **ret)
{
    struct netns *netns = calloc(1, sizeof *netns);
    int           error;

    if (netns == NULL)
        return ENOMEM;
    list_init(&netns->node);
    netns->era = process_era();
    netns->references = 1;
    netns->id = id;
    netns->way_back = DESCRIPTOR_CLOSED;
    netns->view = (struct view){ .events = NETLINK_CLOSED, .requests = NETLINK_CLOSED };
    error = pthread_mutex_init(&netns->lock, NULL);
    if (error != 0) {
        free(netns);
        return error;
    }
    error = open_way_back(netns);
    if (error == 0)
        error = view_open(&netns->view, VIEW_LINKS);
    if (error == NETLINK_DENIED) {
        netns->denied = true;
        error = 0;
    }
    if (error != 0) {
        netns_free(netns);
        return error;
    }
    *ret = netns;
    return 0;
}

/* The one with this identity, with a reference. If there is none, it becomes `fresh`. */
static struct netns *find(struct netns_id id, struct netns *fresh)
{
    struct netns *found = NULL;

    process_lock();
    if (registry_era != process_era()) {
        list_init(&registry);
        registry_era = process_era();
    }
    list_for_each(node, &registry) {
        struct netns *netns = container_of(node, struct netns, node);

        if (id_equal(netns->id, id)) {
            netns->references++;
            found = netns;
            break;
        }
    }
    if (found == NULL && fresh != NULL) {
        list_append(&registry, &fresh->node);
        found = fresh;
    }
    process_unlock();
    return found;
}

int netns_current(struct netns **ret)
{
    struct netns   *found, *fresh;
    struct netns_id id;
    int             error = own_id(&id);

    if (error != 0)
        return error;
    found = find(id, NULL);
    if (found == NULL) {
        error = netns_create(id, &fresh);
        if (error != 0)
            return error;
        found = find(id, fresh);
        if (found != fresh)
            netns_free(fresh); /* another thread was quicker */
    }
    *ret = found;
    return 0;
}

void netns_retain_locked(struct netns *netns)
{
    netns->references++;
}

void netns_retain(struct netns *netns)
{
    process_lock();
    netns_retain_locked(netns);
    process_unlock();
}

void netns_release(struct netns *netns)
{
    bool last;

    process_lock();
    last = --netns->references == 0;
    if (last && netns->era == process_era())
        list_remove(&netns->node);
    process_unlock();
    if (last)
        netns_free(netns);
}

/* ---- Going there ------------------------------------------------------------------------------------------------ */

/* What has to be done in a namespace. */
struct errand {
    const struct netns *netns;
    int (*run)(void *argument);
    void *argument;
    bool  has_arrived;
    int   error;
};

static void *run_errand(void *argument)
{
    struct errand *errand = argument;

    errand->has_arrived = setns(errand->netns->way_back.fd, CLONE_NEWNET) == 0;
    errand->error = errand->has_arrived ? errand->run(errand->argument) : errno;
    return NULL;
}

/* Runs something in the namespace. From another one a thread goes there, so that the caller's need not: it lives
 * for these few system calls and is waited for. EPERM: the process may not go there. */
static int visit(const struct netns *netns, int (*run)(void *argument), void *argument)
{
    struct errand   errand = { .netns = netns, .run = run, .argument = argument };
    struct netns_id id;
    pthread_t       thread;
    int             error = own_id(&id);

    if (error != 0)
        return error;
    if (netns->id.inode == 0 || id_equal(netns->id, id))
        return run(argument);
    error = process_start_thread(run_errand, &errand, false, &thread);
    if (error != 0)
        return error;
    pthread_join(thread, NULL);
    /* Where the caller is cannot be told any more: it has given up its rights and is taken to be where it was. */
    if (!errand.has_arrived && errand.error == EPERM && id.inode == 0)
        return run(argument);
    return errand.error;
}

void netns_go_home(void)
{
    struct netns_id   here, there;
    struct descriptor home;

    if (own_id(&here) != 0 || read_id(PROCESS_NAMESPACE, &there) != 0 || id_equal(here, there))
        return;
    if (descriptor_open(PROCESS_NAMESPACE, 0, &home) != 0)
        return;
    (void)setns(home.fd, CLONE_NEWNET);
    descriptor_close(&home);
}

int netns_stay(const struct netns *netns, int (*run)(void *argument), void *argument)
{
    struct netns_id id;
    const int       error = own_id(&id);

    if (error != 0)
        return error;
    if (netns->id.inode != 0 && !id_equal(netns->id, id) && setns(netns->way_back.fd, CLONE_NEWNET) != 0)
        return errno;
    return run(argument);
}

struct opening {
    enum view_scope scope;
    struct view    *view;
};

static int run_opening(void *argument)
{
    const struct opening *opening = argument;

    return view_open(opening->view, opening->scope);
}

int netns_open_view(struct netns *netns, enum view_scope scope, struct view *ret)
{
    return visit(netns, run_opening, &(struct opening){ .scope = scope, .view = ret });
}

/* ---- Asking ----------------------------------------------------------------------------------------------------- */

struct inquiry {
    struct netns           *netns;
    const struct questions *questions;
    unsigned                extras;
    struct path            *path;
};

/* 0, NETLINK_DENIED or another errno. */
static int ask_view(const struct inquiry *inquiry)
{
    struct netns *netns = inquiry->netns;
    int           error = NETLINK_DENIED;

    pthread_mutex_lock(&netns->lock);
    if (!netns->denied) {
        view_doubt_links(&netns->view);
        error = route_find(&netns->view, inquiry->questions, inquiry->extras, inquiry->path);
    }
    pthread_mutex_unlock(&netns->lock);
    return error;
}

/* In the namespace. What was denied may be allowed by now. */
static int run_inquiry(void *argument)
{
    const struct inquiry *inquiry = argument;
    struct netns         *netns = inquiry->netns;
    int                   error;

    pthread_mutex_lock(&netns->lock);
    if (netns->denied)
        netns->denied = view_open(&netns->view, VIEW_LINKS) != 0;
    pthread_mutex_unlock(&netns->lock);
    error = ask_view(inquiry);
    return error == NETLINK_DENIED ? socket_find(inquiry->questions, inquiry->path) : error;
}

int netns_ask(struct netns *netns, const struct questions *questions, unsigned extras, struct path *ret)
{
    struct inquiry inquiry = { .netns = netns, .questions = questions, .extras = extras, .path = ret };
    const int      error = ask_view(&inquiry);

    return error == NETLINK_DENIED ? visit(netns, run_inquiry, &inquiry) : error;
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

struct finding {
    uint32_t     index;
    struct link *link;
};

static int run_finding(void *argument)
{
    const struct finding *finding = argument;

    return device_find(finding->index, finding->link);
}

int netns_find_link(struct netns *netns, uint32_t index, struct link *ret)
{
    return visit(netns, run_finding, &(struct finding){ .index = index, .link = ret });
}

/* What the shared view knows of a link, or finds out without waiting, and of how many changes. */
static bool look_up(struct netns *netns, uint32_t index, struct link *ret, unsigned *ret_changes)
{
    const struct link *link = NULL;

    pthread_mutex_lock(&netns->lock);
    if (!netns->denied) {
        view_hear(&netns->view);
        link = view_link(&netns->view, index);
        *ret_changes = netns->view.links.changes;
    }
    if (link != NULL)
        *ret = *link;
    pthread_mutex_unlock(&netns->lock);
    return link != NULL;
}

/* It went a moment ago, or there is nobody to tell: what is known of it has to do. */
static bool has_to_do(int error)
{
    return error == ENODEV || netlink_is_withheld(error);
}

int netns_learn(struct netns *netns, uint32_t index, struct link *ret)
{
    unsigned    changes = 0;
    struct link whole;
    int         error;

    *ret = (struct link){ 0 };
    if (index == 0 || !look_up(netns, index, ret, &changes) || link_type_is_known(ret))
        return 0;
    error = netns_find_link(netns, index, &whole);
    if (error != 0)
        return has_to_do(error) ? 0 : error;
    *ret = whole;
    pthread_mutex_lock(&netns->lock);
    links_learn(&netns->view.links, ret, changes);
    pthread_mutex_unlock(&netns->lock);
    return 0;
}

/* ---- Peers ------------------------------------------------------------------------------------------------------ */

struct peering {
    struct peers *peers;
    uint32_t      index;
};

static int run_peering(void *argument)
{
    const struct peering *peering = argument;

    return peers_read(peering->peers, peering->index);
}

/* The way that packets to the peer take. */
static int ask_way(struct netns *netns, const struct tunnel *tunnel, struct path *ret)
{
    const struct question question = { .destination = tunnel->remote, .scope = tunnel->oif, .mark = tunnel->mark };
    struct questions     *questions = questions_create(&question, 1, kSCNetworkReachabilityReasonNone);
    const int             error = questions == NULL ? ENOMEM : netns_ask(netns, questions, 0, ret);

    questions_release(questions);
    return error;
}

/* Packets that no peer may have, or one of which nobody knows where it is, are dropped. */
static int follow_peer(struct netns *netns, const struct peers *peers, struct path *path)
{
    struct tunnel tunnel = { 0 };
    struct path   way = path_without(kSCNetworkReachabilityReasonNoRoute);
    int           error = 0;

    if (peers_find(peers, &path->destination, &tunnel) && tunnel.remote.family != AF_UNSPEC)
        error = ask_way(netns, &tunnel, &way);
    if (error != 0)
        return error;
    path_hang_on(path, &tunnel.remote, &way);
    search_again(path, path_rank(path) == 0 ? LOST_PEER_SECONDS : PEER_SECONDS);
    return 0;
}

int netns_follow_wireguard(struct netns *netns, struct peers *peers, struct path *path)
{
    struct peering peering = { .peers = peers, .index = path->index };
    int            error = 0;

    if (!path->wireguard || path_rank(path) == 0 || atomic_load(&netns->peers_hidden))
        return 0;
    if (peers->index != path->index)
        error = visit(netns, run_peering, &peering);
    if (error == 0)
        return follow_peer(netns, peers, path);
    if (netlink_is_withheld(error))
        atomic_store(&netns->peers_hidden, true);
    /* One that is of another implementation is no failure to ask. */
    return has_to_do(error) || error == ENOENT || error == EOPNOTSUPP ? 0 : error;
}

/* ---- Names of links --------------------------------------------------------------------------------------------- */

struct naming {
    const char *name;
    uint32_t    index;
};

static int run_naming(void *argument)
{
    struct naming *naming = argument;

    naming->index = socket_index_of(naming->name);
    return 0;
}

uint32_t netns_index_of(struct netns *netns, const char *name)
{
    struct naming naming = { .name = name };
    bool          denied;

    pthread_mutex_lock(&netns->lock);
    denied = netns->denied;
    if (!denied)
        naming.index = view_index_of(&netns->view, name);
    pthread_mutex_unlock(&netns->lock);
    if (denied)
        (void)visit(netns, run_naming, &naming);
    return naming.index;
}
