/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOAK_ORACLE_H
#define TESTS_SOAK_ORACLE_H

/*
 * The flags that a spec must have now. The oracle shares no code with the library: it has its own rules, queries and
 * parser, and reads link flags by ioctl. One thread at a time may use it, in the namespace in which it was opened.
 */

#include "soak/spec.h"

void oracle_open(void);
void oracle_close(void);

SCNetworkReachabilityFlags oracle_flags(const struct spec *spec);

/* The same for GetFlags of a target that is not scheduled: it does not read the peers of WireGuard. */
SCNetworkReachabilityFlags oracle_flags_without_peers(const struct spec *spec);

/* Whether an IPv6 default route, or half of one, is a group of nexthop objects. Then the kernel sends the packets of a
 * socket that is bound to one leg over another: no way out of an interface is right. */
bool oracle_ipv6_default_is_group(void);

/* The same for the packets of a connected UDP socket: of IPv4, rules by the source that connect(2) chooses count. IPv6
 * searches with that source only after the next change of a route. False: not known, as the kernel chooses one of
 * several legs, or a sandbox refuses the socket. */
bool oracle_connected_flags(const struct spec *spec, SCNetworkReachabilityFlags *ret);

/* The flags of the default path of a family: of the one that the kernel chooses, or out of an interface ("": any). */
SCNetworkReachabilityFlags oracle_default_flags(int family, const char *interface);

/* The source address of packets that take it. False: not known. */
bool oracle_default_source(int family, const char *interface, struct sockaddr_storage *ret);

/* Calls a function with each message of a dump of the links. */
struct nlmsghdr;
void oracle_dump_links(void (*add)(const struct nlmsghdr *message, void *info), void *info);

/* Whether two IPv6 routes have one nexthop object. Linux may return one of them for the other, with its metric. */
bool oracle_ipv6_routes_share_a_nexthop(void);

/* The source address of packets to a spec that is reachable. False: not known. */
bool oracle_source(const struct spec *spec, struct sockaddr_storage *ret);

#endif
