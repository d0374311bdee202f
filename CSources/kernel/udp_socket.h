/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_UDP_SOCKET_H
#define REACHABILITY_UDP_SOCKET_H

/* UDP sockets. connect(2) sends no packet. It shows whether the kernel has a route, and which source address packets
 * have. */

#include <errno.h>

#include "base/netns_handle.h"
#include "pure/address.h"

/* These return 0 or an errno. */

/* Opens a socket in a network namespace; NULL: that of the calling thread. EAFNOSUPPORT: the kernel does not have the
 * family. */
int reach_udp_socket_open(const struct netns_handle *netns, int family, struct descriptor *ret);

/* Binds to an address, and any port. `scope`: as below. */
int reach_udp_socket_bind(int fd, const struct address *source, uint32_t scope);

/* Connects to an address. `scope`: of an IPv6 address that needs one, or 0. `port`: 0: any. */
int reach_udp_socket_connect(int fd, const struct address *destination, uint32_t scope, uint16_t port);

/* Whether the socket is bound to an interface. */
bool reach_udp_socket_has_device(int fd);

/* Ends the connection. The socket has no device any more, and no address that bind(2) did not set. */
int reach_udp_socket_disconnect(int fd);

/* Sets the traffic class of the socket's packets. */
int reach_udp_socket_set_class(int fd, uint8_t family, uint8_t traffic_class);

/* Reads the socket's own address. */
int reach_udp_socket_own_address(int fd, struct address *ret);

/* Whether a call failed for lack of memory, descriptors, ports or threads. (EAGAIN can also mean that IPsec waits for
 * its keys.) Any other errno is about the address, or a sandbox refuses the call. */
static inline bool udp_socket_lacks_resources(int error)
{
    return error == ENOMEM || error == ENOBUFS || error == EMFILE || error == ENFILE || error == EAGAIN;
}

#endif
