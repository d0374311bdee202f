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

/* A test that comes out otherwise where sockets are asked, and why. */
struct denial_row {
    const char *test, *reason;
};

/* Runs tests as cmocka does, and answers as cmocka does: with what the environment's TEST_DENIED names imposed
 * ("socket-eperm"). Where sockets are asked, the rows are skipped with their reasons. TEST_ONLY picks tests, with * and
 * ?. */
#define DENIAL_RUN(name, tests) denial_run(name, tests, sizeof(tests) / sizeof(tests)[0], NULL, 0)
#define DENIAL_RUN_BUT(name, tests, rows) \
    denial_run(name, tests, sizeof(tests) / sizeof(tests)[0], rows, sizeof(rows) / sizeof(rows)[0])
int denial_run(const char *name, const struct CMUnitTest *tests, size_t count, const struct denial_row *rows,
               size_t row_count);

/* Groups of tests, each with a denial imposed: in processes of their own, as no denial is ever taken back, and at the
 * same time, as they mostly wait. What they print comes one after the other. */
struct denial_group {
    const char              *name;
    enum denial              denial;
    const struct CMUnitTest *tests;
    size_t                   count;
};
#define DENIAL_GROUP(denial, tests) \
    { \
#tests, denial, tests, sizeof(tests) / sizeof(tests)[0] \
    }
int denial_run_groups(const struct denial_group *groups, size_t count);

#endif
