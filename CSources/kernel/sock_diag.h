/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SOCK_DIAG_H
#define REACHABILITY_SOCK_DIAG_H

/* Sockets of any process, and of the kernel itself: sock_diag(7). */

#include <stdint.h>

/* Reads the size of the send buffer, in bytes, of the UDP socket that receives on a port on all IPv4 addresses, in the
 * calling thread's network namespace. 0: there is no such socket, or this kernel or a sandbox does not say. Returns 0
 * or an errno. */
int sock_diag_udp_send_buffer(uint16_t port, uint32_t *ret);

#endif
