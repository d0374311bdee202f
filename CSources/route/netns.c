/* SPDX-License-Identifier: MIT */
/*
 * The registry of the network namespaces with targets.
 *
 * What this file must never do: keep a namespace open that no target needs. The kernel could not free it after its
 * deletion.
 */
#ifdef __linux__
#include "route/netns.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/netns_handle.h"
#include "base/tree.h"
#include "route/shared_socket.h"

struct netns {
    struct tree_node node;
    unsigned era;        /* process_era of its creation */
    unsigned references; /* under reach_process_lock */
    struct netns_handle handle;
    _Atomic int64_t peers_at; /* when to read WireGuard's peers, which was refused to this user */
    _Atomic uid_t peers_user;
    struct shared_socket shared_socket;
};

static struct tree_node *netns_registry; /* under reach_process_lock */
static unsigned registry_era;            /* a fork's child starts with an empty registry */

/* ---- Registry --------------------------------------------------------------------------------------------------- */

/* Both numbers have 32 bits. */
static uint64_t netns_key(struct netns_id id)
{
    return (uint64_t)id.device << 32 ^ id.inode;
}

static void netns_free(struct netns *netns)
{
    reach_shared_socket_close(&netns->shared_socket);
    reach_netns_handle_close(&netns->handle);
    free(netns);
}

static int netns_create(struct netns_id id, struct netns **ret)
{
    struct netns *netns = calloc(1, sizeof *netns);
    int error;

    if (netns == NULL)
        return ENOMEM;
    netns->node.key = netns_key(id);
    netns->era = process_era();
    netns->references = 1;
    netns->handle.descriptor = DESCRIPTOR_CLOSED;
    error = reach_shared_socket_init(&netns->shared_socket, &netns->handle);
    if (error != 0) {
        free(netns);
        return error;
    }
    error = reach_netns_handle_open(id, &netns->handle);
    if (error == 0)
        error = reach_shared_socket_open(&netns->shared_socket);
    if (error != 0) {
        netns_free(netns);
        return error;
    }
    *ret = netns;
    return 0;
}

/* Returns the namespace with this identity, with a reference. If the registry has none, adds and returns `fresh`. */
static struct netns *find_or_register(struct netns_id id, struct netns *fresh)
{
    struct netns *found = NULL;
    struct tree_node *node;

    reach_process_lock();
    if (registry_era != process_era()) {
        netns_registry = NULL;
        registry_era = process_era();
    }
    node = *tree_place(&netns_registry, netns_key(id));
    if (node != NULL) {
        found = container_of(node, struct netns, node);
        found->references++;
    } else if (fresh != NULL) {
        tree_add(&netns_registry, &fresh->node);
        found = fresh;
    }
    reach_process_unlock();
    return found;
}

int reach_netns_current(struct netns **ret)
{
    struct netns *found, *fresh = NULL;
    struct netns_id id;
    int error = reach_netns_id_current(&id);

    if (error != 0)
        return error;
    found = find_or_register(id, NULL);
    if (found == NULL) {
        error = netns_create(id, &fresh);
        if (error != 0)
            return error;
        found = find_or_register(id, fresh);
        if (found != fresh)
            netns_free(fresh); /* another thread was quicker */
    }
    *ret = found;
    return 0;
}

void reach_netns_retain_locked(struct netns *netns)
{
    netns->references++;
}

void reach_netns_retain(struct netns *netns)
{
    reach_process_lock();
    reach_netns_retain_locked(netns);
    reach_process_unlock();
}

void reach_netns_release(struct netns *netns)
{
    bool last;

    reach_process_lock();
    last = --netns->references == 0;
    if (last && netns->era == process_era())
        tree_remove(&netns_registry, &netns->node);
    reach_process_unlock();
    if (last)
        netns_free(netns);
}

const struct netns_handle *reach_netns_handle(const struct netns *netns)
{
    return &netns->handle;
}

struct shared_socket *reach_netns_socket(struct netns *netns)
{
    return &netns->shared_socket;
}

int reach_netns_enter(struct netns *netns)
{
    return reach_netns_handle_enter(&netns->handle);
}

/* ---- WireGuard -------------------------------------------------------------------------------------------------- */

uint32_t reach_netns_peers_pause(struct netns *netns, bool refused)
{
    const uid_t user = process_user();
    const int64_t now = clock_now();

    if (refused) {
        netns->peers_user = user;
        netns->peers_at = now + REFUSED_LAST;
    }
    return netns->peers_user != user || netns->peers_at <= now ? 0 : (uint32_t)((netns->peers_at - now) / SECOND + 1);
}
#endif
