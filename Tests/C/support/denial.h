/* SPDX-License-Identifier: MIT */
#ifndef TESTS_DENIAL_H
#define TESTS_DENIAL_H

/*
 * The refusals of a sandbox: seccomp filters on the calling thread and on the threads that it starts later. The tests
 * themselves still use netlink, on another thread (namespace_set_aside).
 */

#include <stdbool.h>
#include <stddef.h>

#include "support/unit.h"

enum denial {
    DENIAL_NONE,
    /* All of netlink: the library probes with sockets instead. */
    DENIAL_SOCKET_EPERM,
    DENIAL_SOCKET_EACCES,
    DENIAL_SOCKET_EAFNOSUPPORT, /* systemd's RestrictAddressFamilies= */
    DENIAL_SOCKET_ENOSYS,
    DENIAL_CONNECT,
    /* Parts of netlink: the library queries the kernel. */
    DENIAL_BIND,
    DENIAL_OPTIONS_EPERM, /* no messages about nexthop objects arrive */
    DENIAL_OPTIONS_ENOPROTOOPT,
    DENIAL_BIND_AND_OPTIONS, /* no messages arrive */
    /* Further refusals, beside one of those above. */
    DENIAL_UDP_BIND,
    DENIAL_IPV6,
    DENIAL_INTERNET,    /* no socket at all */
    DENIAL_DEVICE,      /* SO_BINDTODEVICE and SO_BINDTOIFINDEX, as kernels before 5.7 refuse them */
    DENIAL_MARKS,       /* fcntl(2), F_SETSIG */
    DENIAL_DEVICE_GONE, /* the same option fails as if the interface had just been deleted */
    DENIALS
};

/* Adds a denial, which cannot be removed. False: there is no seccomp here, or a tool such as valgrind hides it. */
bool denial_impose(enum denial denial);

/* Whether all of netlink is denied, so that the library probes with sockets. */
bool denial_uses_sockets(void);

/* The denial of this name, "socket-eperm". False: there is none. */
bool denial_find(const char *name, enum denial *ret);

/* Skips the test, for this reason, if the library probes with sockets. */
void denial_require_netlink(const char *reason);

/* A test under a denial, in a separate process. All tests of such a program are of this kind, and run at the same
 * time. */
#define TEST_DENIED(kind, name) UNIT_TEST(name, .uses_unit = 1, .apart = 1, .denial = (kind))

#endif
