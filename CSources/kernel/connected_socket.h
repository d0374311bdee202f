/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_CONNECTED_SOCKET_H
#define REACHABILITY_CONNECTED_SOCKET_H

/* What a connected socket of the program says of its packets. */

#include "pure/question.h"

/* Reads a socket, which stays as it is. Returns 0, an errno (EBADF, ENOTSOCK; ENOTCONN: no other end, or it listens),
 * or EAFNOSUPPORT for a family other than IPv4 and IPv6. */
int reach_connected_socket_read(int fd, struct question *ret);

#endif
