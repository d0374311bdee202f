/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NETNS_HANDLE_H
#define REACHABILITY_NETNS_HANDLE_H

/* A network namespace: its identity, and a descriptor for entering it. */

#include <stdbool.h>
#include <sys/types.h>

#include "base/process.h"

struct netns_id {
    dev_t device;
    ino_t inode; /* 0: no identity; the process is then assumed to have one namespace */
};

struct netns_handle {
    struct netns_id id;
    struct descriptor descriptor; /* for setns(2); closed if there is no identity */
};

#define NETNS_HANDLE_CLOSED ((struct netns_handle){ .descriptor = { .fd = -1 } })

/* Reads the calling thread's namespace. Returns 0 or an errno. The inode is 0 without access to /proc. */
int netns_id_current(struct netns_id *ret);
bool netns_id_equal(struct netns_id a, struct netns_id b);

/* Opens the calling thread's namespace, whose identity the caller has read. Returns 0 or an errno. */
int netns_handle_open(struct netns_id id, struct netns_handle *ret);
void netns_handle_close(struct netns_handle *handle);

/* Calls `run` in the namespace and returns its result, or an errno. The calling thread does not change its namespace:
 * if it is in another one, a short-lived thread makes the call. EPERM: this process may not enter the namespace. EBADF:
 * the program has closed the handle's descriptor. The next call from a thread in the namespace opens another one. */
int netns_handle_run(struct netns_handle *handle, int (*run)(void *argument), void *argument);

/* Moves the calling thread, one of the library's, into the namespace. Returns 0 or an errno, as above. */
int netns_handle_enter(struct netns_handle *handle);
int netns_handle_enter_locked(struct netns_handle *handle); /* under process_lock */

/* Moves the calling thread, one of the library's, to the namespace of the process, which is that of the main thread. If
 * that fails, the thread stays in its namespace. */
void netns_enter_process_namespace(void);

/* Whether the process is in the namespace in which it loaded the library, or cannot tell. */
bool netns_process_is_home(void);

#endif
