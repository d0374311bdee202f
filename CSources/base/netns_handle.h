/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NETNS_HANDLE_H
#define REACHABILITY_NETNS_HANDLE_H

/* The identity of a network namespace, and running code in it. */

#include <sys/types.h>

#include "base/process.h"

struct netns_id {
    dev_t device;
    ino_t inode; /* 0: not known; then the process is taken to have one namespace */
};

struct netns_handle {
    struct netns_id   id;
    struct descriptor descriptor; /* for setns(2); closed if the identity is not known */
};

#define NETNS_HANDLE_CLOSED ((struct netns_handle){ .descriptor = { .fd = -1 } })

/* The calling thread's namespace. Returns 0 or an errno. Without /proc, or without access to it, *ret has no identity. */
int  netns_id_current(struct netns_id *ret);
bool netns_id_equal(struct netns_id a, struct netns_id b);

/* Opens the namespace of the calling thread, which `id` names. Returns 0 or an errno. */
int  netns_handle_open(struct netns_id id, struct netns_handle *ret);
void netns_handle_close(struct netns_handle *handle);

/* Calls `run` in the namespace and waits for it. The caller's own thread never changes its namespace: where it is in
 * another one, a short-lived thread makes the call. Returns what `run` returned, or an errno; EPERM: this process may
 * not enter the namespace. */
int netns_handle_run(const struct netns_handle *handle, int (*run)(void *argument), void *argument);

/* Moves the calling thread, one of the library's, into the namespace for good. Returns 0 or an errno. */
int netns_handle_enter(const struct netns_handle *handle);

/* Moves the calling thread, one of the library's, back to the namespace of the process, so that it keeps no other
 * namespace alive. If that fails, the thread stays where it is. */
void netns_go_home(void);

#endif
