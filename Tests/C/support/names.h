/* SPDX-License-Identifier: MIT */
#ifndef TESTS_NAMES_H
#define TESTS_NAMES_H

/* What tests of host names share: a network with a name server in it, and waiting for what that is asked. */

#include "support/etc.h"
#include "support/nameserver.h"
#include "support/namespace.h"
#include "support/watcher.h"

/* The server of the test under way, which names_end closes. */
extern struct nameserver *names_server;

/* A veth pair as namespace_add_pair makes it, lo, a default route of each family, and the server: at 192.0.2.2, which
 * resolv.conf names, and at every other address of ours. */
void names_begin(void);

/* Another such network and server, while the files stay as they are. */
void names_begin_another(void);

/* The server lives at the other end of the pair, in a namespace of its own: at 192.0.2.1, on the same link, and at
 * 198.51.100.53, over the default route, which is that of IPv4 alone. */
void names_begin_far(const char *servers);

/* The end of each test: waits until the library's resolver threads have ended. */
void names_end(void);

/* After the last test: waits for the thread that closes what was watched, too, which ends 50 ms later. */
void names_end_group(void);

/* A target that is bound to something ("" and 0: nothing). */
SCNetworkReachabilityRef names_bound_target(const char *name, const char *interface, uint32_t mark);

/* Schedules a name, and has its first answer: the only callback, with these flags. */
#define NAMES_RESOLVE(watcher, name, flags) \
    do { \
        watcher_schedule(watcher, expect_name(name)); \
        EXPECT_CHANGE(watcher, flags); \
    } while (0)

/* The addresses that a target stands for, as text separated by blanks, in order; GetPath counts as many. */
#define EXPECT_ADDRESSES(target, text) names_expect_addresses(target, text, __FILE__, __LINE__)
void names_expect_addresses(SCNetworkReachabilityRef target, const char *text, const char *file, int line);

/* The address that GetPath is about. */
#define EXPECT_DESTINATION(target, text) names_expect_destination(target, text, __FILE__, __LINE__)
void names_expect_destination(SCNetworkReachabilityRef target, const char *text, const char *file, int line);

/* How often a name was asked for (its IPv4 address). */
unsigned names_asked(const char *name);

/* Drives the watcher's loop until a name was asked for so many times; fails the test when that does not come. */
void names_drive_until(const struct watcher *watcher, const char *name, unsigned count);

/* Drives it until no look-up is under way for its target. */
void names_settle(const struct watcher *watcher);

bool names_is_looking(SCNetworkReachabilityRef target);

/* Waits for that without driving any loop. */
void names_await_answer(SCNetworkReachabilityRef target);

/* The resolver threads that the library has now, and waiting until there are so many at most, or none. */
unsigned names_count_threads(void);
void     names_await_threads(unsigned limit);
void     names_await_no_thread(void);

#endif
