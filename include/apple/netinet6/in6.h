/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_APPLE_IN6_H
#define REACHABILITY_APPLE_IN6_H

/*
 * Names for socket addresses that sources for Apple's systems use, and that Linux does not have.
 *
 * Apple's socket addresses begin with their length. On Linux nothing reads a length: it follows from the family. For
 * sources that set it, the length is another name of bytes that do no harm: in sockaddr_in and sockaddr_storage, bytes
 * without a use; in sockaddr_in6, the flow information, which counts only for sockets with IPV6_FLOWINFO_SEND. Set the
 * length before the flow information. A length that the program did not set has no meaning.
 *
 * A sockaddr has such bytes only if it is an IPv4 address: setting sa_len of an IPv6 address changes the address.
 */

#include <netinet/in.h>
#include <sys/socket.h>

#define sin_len  sin_zero[0]
#define sa_len   sa_data[6] /* the same byte */
#define sin6_len sin6_flowinfo
#define ss_len   __ss_align

/* 169.254.0.0, in the byte order of the machine. */
#ifndef IN_LINKLOCALNETNUM
#define IN_LINKLOCALNETNUM ((in_addr_t)0xA9FE0000)
#endif
#ifndef IN_LINKLOCAL
#define IN_LINKLOCAL(address) (((in_addr_t)(address)&IN_CLASSB_NET) == IN_LINKLOCALNETNUM)
#endif

#endif
