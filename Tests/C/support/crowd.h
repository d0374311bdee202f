/* SPDX-License-Identifier: MIT */
#ifndef TESTS_CROWD_H
#define TESTS_CROWD_H

/* Many targets on one run loop, in a namespace with a pair of interfaces, and the routes that they use. */

#include "support/expect.h"
#include "support/writer.h"

enum { CROWD_LIMIT = 1000 };

struct crowd {
    SCRunLoopRef loop;
    SCNetworkReachabilityRef targets[CROWD_LIMIT]; /* NULL: not scheduled */
    SCNetworkReachabilityFlags flags[CROWD_LIMIT]; /* of the last callback, or when it was scheduled */
    unsigned calls;
    void (*at_first_call)(void); /* NULL: nothing */
    struct writer writer;
};

extern struct crowd crowd;

/* The set-up and the teardown of a test. */
void crowd_begin(void);
void crowd_end(void);

/* Schedules target i: the given one, whose reference it takes, or a new one for an address. crowd_unwatch unschedules
 * and releases it. */
void crowd_schedule(unsigned i, SCNetworkReachabilityRef target);
void crowd_watch(unsigned i, const char *address);
void crowd_unwatch(unsigned i);

/* Schedules targets 0 to `count` - 1, for addresses from 198.51.100.1 on, or from 2001:db8:1::1 on, and makes the first
 * passes. */
void crowd_watch_ipv4(unsigned count);
void crowd_watch_ipv6(unsigned count);

/* Adds or deletes a route. `gateway` NULL: a blackhole route. */
void crowd_route(bool present, const char *prefix, const char *gateway);

/* Drives the loop until no callback comes. Returns how many came. */
unsigned crowd_settle(void);

/* The last callback of each target, GetFlags and GetPath have the same flags. */
void crowd_expect_agreement(void);

/* The same, and these are the flags. */
void crowd_expect_all(SCNetworkReachabilityFlags flags);

#endif
