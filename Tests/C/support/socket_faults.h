/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOCKET_FAULTS_H
#define TESTS_SOCKET_FAULTS_H

/* Calls on UDP sockets for IPv6 that fail, and sandboxes without netlink. For programs that are linked with
 * -Wl,--wrap=socket -Wl,--wrap=bind -Wl,--wrap=connect. */

#include <stdbool.h>

struct socket_faults {
    unsigned opened;                           /* UDP sockets for IPv6 */
    int open_error, bind_error, connect_error; /* for these sockets; 0: the call does not fail */
    bool denies_netlink;
    unsigned netlink_denials;
};

/* A test sets it to { 0 } at its beginning. */
extern struct socket_faults socket_faults;

#endif
