/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_NETNS_HANDLE_H
#define REACHABILITY_NETNS_HANDLE_H

/* A network namespace: its identity, and a descriptor for entering it. A socket belongs to the namespace of the thread
 * that opens it, for good: all else that is done with it can be done by any thread. */

#include <stdatomic.h>
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
    /* A socket that is kept between the calls of kernel/dumps.c, the first member of what is allocated; NULL: none, or
     * a call uses it. */
    _Atomic(struct descriptor *) spare;
};

/* Reads the calling thread's namespace. Returns 0 or an errno. The inode is 0 without access to /proc. */
int reach_netns_id_current(struct netns_id *ret);

/* Opens the calling thread's namespace, whose identity the caller has read. Returns 0 or an errno. */
int reach_netns_handle_open(struct netns_id id, struct netns_handle *ret);
void reach_netns_handle_close(struct netns_handle *handle);

/* Whether the calling thread is in the namespace. True also if that is not known. */
bool reach_netns_handle_is_current(const struct netns_handle *handle);

/* Opens a socket in the namespace; NULL: in that of the calling thread. If the calling thread is in another one, a
 * short-lived thread does it. Returns 0 or an errno. EPERM: this process may not enter the namespace. */
int reach_netns_handle_socket(const struct netns_handle *handle, int family, int type, int protocol,
                              struct descriptor *ret);

/* Moves the calling thread, one of the library's, into the namespace. Returns 0 or an errno, as above. */
int reach_netns_handle_enter(const struct netns_handle *handle);

/* Moves the calling thread, one of the library's, to the namespace of the process, which is that of the main thread. If
 * that fails, the thread stays in its namespace. */
void reach_netns_enter_process_namespace(void);

#endif
