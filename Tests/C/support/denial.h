/* SPDX-License-Identifier: MIT */
#ifndef TESTS_DENIAL_H
#define TESTS_DENIAL_H

/*
 * What a sandbox refuses: seccomp filters on the calling thread and on those that it starts from then on. What tests do
 * with netlink themselves goes on, as they do it aside (see namespace.h).
 */

#include <stdbool.h>
#include <stddef.h>

#include "support/unit.h"

enum denial {
    DENIAL_NONE,
    /* Netlink as a whole: sockets are asked instead. */
    DENIAL_SOCKET_EPERM,
    DENIAL_SOCKET_EACCES,
    DENIAL_SOCKET_EAFNOSUPPORT, /* systemd's RestrictAddressFamilies= */
    DENIAL_SOCKET_ENOSYS,
    DENIAL_CONNECT,
    /* Parts of it: the kernel is asked. */
    DENIAL_BIND,
    DENIAL_OPTIONS_EPERM, /* of nexthop objects nothing can be heard */
    DENIAL_OPTIONS_ENOPROTOOPT,
    DENIAL_BIND_AND_OPTIONS, /* nothing can be heard */
    /* Further refusals, beside one of those above. */
    DENIAL_UDP_BIND,
    DENIAL_IPV6,
    DENIAL_INTERNET,    /* no socket at all */
    DENIAL_DEVICE,      /* SO_BINDTODEVICE, as kernels before 5.7 refuse it */
    DENIAL_DEVICE_GONE, /* the same, as if the interface had gone that moment */
    DENIALS
};

/* Imposes one more, for good. False: there is no seccomp here, or what the program runs under hides it. */
bool denial_impose(enum denial denial);

/* Whether netlink as a whole is denied, so that the library asks sockets. */
bool denial_asks_sockets(void);

/* The denial of this name, "socket-eperm". False: there is none. */
bool denial_find(const char *name, enum denial *ret);

/* Skips the test where sockets are asked, for this reason. */
void denial_require_netlink(const char *reason);

/* A test under a denial, in a process of its own. All tests of such a program are of this kind, and run at the same
 * time. */
#define TEST_DENIED(kind, name) UNIT_TEST(name, .uses_unit = 1, .apart = 1, .denial = (kind))

#endif
