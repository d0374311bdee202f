/* SPDX-License-Identifier: MIT */
#ifndef TESTS_NAMES_H
#define TESTS_NAMES_H

/* For tests of host names: a network with a name server, and waiting for its queries. */

#include "support/etc.h"
#include "support/nameserver.h"
#include "support/namespace.h"
#include "support/watcher.h"

/* The server of the current test. names_end closes it. */
extern struct nameserver *names_server;

/* A veth pair as namespace_add_pair makes it, lo, a default route of each family, and the server: at 192.0.2.2, which
 * resolv.conf names, and at every other address of this machine. */
void names_begin(void);

/* Another such network and server. The files stay as they are. */
void names_begin_another(void);

/* The server is at the other end of the pair, in its own namespace: at 192.0.2.1, on the same link, and at
 * 198.51.100.53, behind the default route. There is no default route for IPv6. */
void names_begin_far(const char *servers);

/* The clean-up of each test: waits until the resolver threads of the library have ended. */
void names_end(void);

/* After the last test: also waits for the thread that closes inotify instances, which ends 50 ms later. */
void names_end_group(void);

/* A target that is bound to something ("" and 0: nothing). */
SCNetworkReachabilityRef names_bound_target(const char *name, const char *interface, uint32_t mark);

/* Schedules a name, and waits for its result: one callback, with these flags. */
#define NAMES_RESOLVE(watcher, name, flags) \
    do { \
        watcher_schedule(watcher, expect_name(name)); \
        EXPECT_CHANGE(watcher, flags); \
    } while (0)

/* The resolved addresses of a target in order, separated by blanks. GetPath counts as many. */
#define EXPECT_ADDRESSES(target, text) names_expect_addresses(target, text, __FILE__, __LINE__)
void names_expect_addresses(SCNetworkReachabilityRef target, const char *text, const char *file, int line);

/* The address whose path GetPath returns. */
#define EXPECT_DESTINATION(target, text) names_expect_destination(target, text, __FILE__, __LINE__)
void names_expect_destination(SCNetworkReachabilityRef target, const char *text, const char *file, int line);

/* How often the IPv4 address of a name was queried. */
unsigned names_queried(const char *name);

/* Waits until both addresses of a name were queried this many times. Then the look-up waits for replies alone: a query
 * that comes after nameserver_release would be held until glibc's resolver gives up. */
void names_await_queries(const char *name, unsigned count);

/* Drives the loop of the watcher until a name was queried this many times. A time limit fails the test. */
void names_drive_until(const struct watcher *watcher, const char *name, unsigned count);

/* Drives the loop until no look-up is in progress for its target. */
void names_settle(const struct watcher *watcher);

bool names_is_looking(SCNetworkReachabilityRef target);

/* Waits until no look-up is in progress, without driving a loop. */
void names_await_result(SCNetworkReachabilityRef target);

/* Counts the resolver threads of the library, or waits until there are this many at most, or none. */
unsigned names_count_threads(void);
void names_await_threads(unsigned limit);
void names_await_no_thread(void);

#endif
