/* SPDX-License-Identifier: MIT */
#ifndef TESTS_EXPECT_H
#define TESTS_EXPECT_H

/* Targets from text, and assertions about their flags and paths. */

#include <reachability/reachability.h>
#include <stdbool.h>

#include "support/scoped.h"
#include "support/unit.h"

/* One letter for each flag that a test can see on this kernel. */
enum {
    R = kSCNetworkReachabilityFlagsReachable,
    T = kSCNetworkReachabilityFlagsTransientConnection,
    L = kSCNetworkReachabilityFlagsIsLocalAddress,
    D = kSCNetworkReachabilityFlagsIsDirect,
    W = kSCNetworkReachabilityFlagsIsWWAN
};

/* A socket address: "198.51.100.7", "2001:db8::1", "fe80::1%a". */
struct sockaddr_storage expect_sockaddr(const char *text);

/* Targets. An error fails the test. */
SCNetworkReachabilityRef expect_target(const char *address);
SCNetworkReachabilityRef expect_name(const char *name);
SCNetworkReachabilityRef expect_pair(const char *local, const char *remote);
SCNetworkReachabilityRef expect_bound(const char *address, const char *interface);
SCNetworkReachabilityRef expect_bound_pair(const char *local, const char *remote, const char *interface);
SCNetworkReachabilityRef expect_option(const char *address, uint32_t option);

/* Sets the callback, and the pointer that it gets. */
void expect_callback_set(SCNetworkReachabilityRef target, SCNetworkReachabilityCallBack callback, void *info);

SCNetworkReachabilityFlags expect_flags_of(SCNetworkReachabilityRef target);
SCNetworkReachabilityPath expect_path_of(SCNetworkReachabilityRef target);

/* GetFlags and GetPath both fail, with this status, and write nothing. */
void expect_failure(SCNetworkReachabilityRef target, int status);

/* The counters in the description of a target. */
struct expect_counters {
    unsigned long evaluations, callbacks, queries, overruns;
};
struct expect_counters expect_counters_of(SCNetworkReachabilityRef target);

/* Returns these flags or, if netlink is denied (denial.h), those of them that a socket shows. The assertions below use
 * it. */
SCNetworkReachabilityFlags expect_detectable(SCNetworkReachabilityFlags flags);

/* What else GetPath returns, as the assertions below; NULL: not compared. */
struct expect_path {
    const char *interface, *gateway, *source;
};

/* GetFlags and GetPath return these flags, GetPath this reason: the last word of kSCNetworkReachabilityReason...
 * EXPECT(target, R, None, .gateway = "192.0.2.1") also compares the gateway. */
#define EXPECT(target, flags, reason, ...) \
    expect_result(target, flags, kSCNetworkReachabilityReason##reason, &(const struct expect_path){ __VA_ARGS__ }, \
                  __FILE__, __LINE__)
void expect_result(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags,
                   SCNetworkReachabilityReason reason, const struct expect_path *path, const char *file, int line);

/* The same of each of these targets: EXPECT_EACH(R, None, ipv4, ipv6). */
#define EXPECT_EACH(flags, reason, ...) \
    expect_results((const SCNetworkReachabilityRef[]){ __VA_ARGS__, NULL }, flags, \
                   kSCNetworkReachabilityReason##reason, __FILE__, __LINE__)
void expect_results(const SCNetworkReachabilityRef *targets, SCNetworkReachabilityFlags flags,
                    SCNetworkReachabilityReason reason, const char *file, int line);

/* The same of a new target for each of these addresses: EXPECT_EACH_ADDRESS(R, None, "192.0.2.9", "2001:db8::9"). */
#define EXPECT_EACH_ADDRESS(flags, reason, ...) \
    expect_results_of((const char *const[]){ __VA_ARGS__, NULL }, flags, kSCNetworkReachabilityReason##reason, \
                      __FILE__, __LINE__)
void expect_results_of(const char *const *addresses, SCNetworkReachabilityFlags flags,
                       SCNetworkReachabilityReason reason, const char *file, int line);

/* The same of a new target. */
#define EXPECT_ADDRESS(address, ...)          EXPECT_ONCE(expect_target(address), __VA_ARGS__)
#define EXPECT_PAIR(local, remote, ...)       EXPECT_ONCE(expect_pair(local, remote), __VA_ARGS__)
#define EXPECT_BOUND(address, interface, ...) EXPECT_ONCE(expect_bound(address, interface), __VA_ARGS__)
#define EXPECT_BOUND_PAIR(local, remote, interface, ...) \
    EXPECT_ONCE(expect_bound_pair(local, remote, interface), __VA_ARGS__)
#define EXPECT_ONCE(creation, ...) \
    do { \
        SCOPED_TARGET once = (creation); \
        EXPECT(once, __VA_ARGS__); \
    } while (0)

/* The interface, gateway or source that GetPath names, as text; "" or "none": there is none. */
#define EXPECT_INTERFACE(target, name)  expect_interface(target, name, __FILE__, __LINE__)
#define EXPECT_GATEWAY(target, address) expect_gateway(target, address, __FILE__, __LINE__)
#define EXPECT_SOURCE(target, address)  expect_source(target, address, __FILE__, __LINE__)
void expect_interface(SCNetworkReachabilityRef target, const char *name, const char *file, int line);
void expect_gateway(SCNetworkReachabilityRef target, const char *address, const char *file, int line);
void expect_source(SCNetworkReachabilityRef target, const char *address, const char *file, int line);

/* The last word of kSCNetworkReachabilityInterfaceType..., and the number of the routing table. */
#define EXPECT_TYPE(target, type)   expect_type(target, kSCNetworkReachabilityInterfaceType##type, __FILE__, __LINE__)
#define EXPECT_TABLE(target, table) expect_table(target, table, __FILE__, __LINE__)
void expect_type(SCNetworkReachabilityRef target, SCNetworkReachabilityInterfaceType type, const char *file, int line);
void expect_table(SCNetworkReachabilityRef target, uint32_t table, const char *file, int line);

#endif
