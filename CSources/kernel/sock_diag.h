/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SOCK_DIAG_H
#define REACHABILITY_SOCK_DIAG_H

/* Sockets of any process, and of the kernel itself: sock_diag(7). */

#include <stdint.h>

struct netns_handle;

/* Reads the size of the send buffer, in bytes, of the UDP socket that receives on a port on all IPv4 addresses, in a
 * network namespace (NULL: that of the calling thread). 0: there is no such socket, or this kernel or a sandbox does
 * not say. Returns 0 or an errno. */
int reach_sock_diag_udp_send_buffer(const struct netns_handle *netns, uint16_t port, uint32_t *ret);

#endif
