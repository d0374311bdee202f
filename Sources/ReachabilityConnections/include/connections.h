// SPDX-License-Identifier: MIT

#ifndef REACHABILITY_CONNECTIONS_H
#define REACHABILITY_CONNECTIONS_H

/* The established TCP connections of the calling thread's network namespace, those of all users, as sock_diag(7) lists
 * them. */

#ifdef __swift__
/* As in reachability.h: otherwise sockaddr_storage belongs to this module. */
#include <features.h>
#ifdef __GLIBC__
#pragma clang module import SwiftGlibc
#endif
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct reachability_connection {
    struct sockaddr_storage local, remote;
    char interface[16]; /* SO_BINDTODEVICE; "": none; "7/": number 7, which is not there any more */
    uint32_t user;
    uint32_t mark;   /* SO_MARK */
    bool hides_mark; /* this process may not know it: CAP_NET_ADMIN is needed */
    uint8_t traffic_class;
    uint8_t retransmits; /* of the oldest packet that has no reply */
    uint64_t inode;      /* of the socket, as in /proc/PID/fd; 0: no process has it */
};

/* Sets *ret to an array, for free(3), and returns 0; or returns an errno. ENOENT: the kernel has no tcp_diag. */
int reachability_connections(struct reachability_connection *_Nullable *_Nonnull ret, size_t *_Nonnull ret_count);

/* Whether a policy rule selects by mark: none does in a kernel without policy rules. Returns 0 or an errno. */
int reachability_rules_select_by_mark(bool *_Nonnull ret);

#endif
