/* SPDX-License-Identifier: MIT */
#ifndef TESTS_NAMESPACE_H
#define TESTS_NAMESPACE_H

/* A network namespace for a test, and commands in it. An error fails the test. */

#include <stdbool.h>
#include <sys/types.h>

/* Moves the calling thread into a new, empty network namespace (lo is down), as root or through a user namespace.
 * False: this machine does not allow it. */
bool namespace_enter(void);

/* The set-up of a test: the same, or skips the test if this machine does not allow it. */
void namespace_require(void);
void namespace_require_lo(void);        /* with lo up */
void namespace_require_pair(void);      /* with lo up, and namespace_add_pair */
void namespace_require_two_pairs(void); /* and namespace_add_second_pair */

/* Moves the process into a new mount namespace, so that its mounts are private. False: this machine does not allow
 * it. */
bool namespace_enter_mounts(void);

/* For a thread that denies netlink to itself. From now on this file uses netlink and runs commands on another thread,
 * which has no denial, in the network namespace of the calling thread. */
void namespace_set_aside(void);
void namespace_end_aside(void);

/* Runs a function there, or on this thread if there is no other. It must not fail a test. */
void namespace_aside(void (*run)(void *argument), void *argument);

/* A descriptor of the namespace of the calling thread, and the way back to it. Only this thread moves. */
int namespace_keep(void);
void namespace_go(int fd);

/* Makes a sandbox: the calling thread can no longer enter another namespace, but it can still change its own.
 * `to_other_user`: the process belongs to another user, and its other threads have no privileges left. False: this
 * machine does not allow it. */
bool namespace_drop_privilege(bool to_other_user);

/* Runs commands of ip(8) in it: namespace_ip("link add name %s type bridge; link set dev %s up", "x", "x"). The first
 * failure fails the test and prints the output. */
__attribute__((format(printf, 1, 2))) void namespace_ip(const char *format, ...);

/* A step of a test, which changes the network, and what follows: AFTER("route delete default", EXPECT_QUIET(&one)); */
#define AFTER(commands, ...) \
    do { \
        namespace_ip(commands); \
        __VA_ARGS__; \
    } while (0)

/* The same for a command that may fail (this kernel may lack a kind of device). Returns whether it succeeded. */
__attribute__((format(printf, 1, 2))) bool namespace_try_ip(const char *format, ...);

/* Adds two IPv6 routes with one nexthop object. Linux caches one of the routes that share it, for each processor, and
 * returns it for all of them: here the one to `found`. The thread stays on its processor until the test ends. */
void namespace_share_nexthop(const char *gateway, const char *link, const char *prefix, const char *found);

/* The thread goes to another processor, which has cached nothing. Skips the test if there is none. */
void namespace_change_processor(void);

/* Writes a sysctl, "net.ipv4.conf.all.ignore_routes_with_linkdown". */
void namespace_sysctl(const char *name, const char *value);

/* The same for one that may not exist. Returns whether it was written. */
bool namespace_try_sysctl(const char *name, const char *value);

/* Whether the kernel is older than this version. */
bool namespace_kernel_is_older(int major, int minor);

/* A non-blocking socket that receives the messages of these RTMGRP_... */
int namespace_listen(unsigned groups);

/* Waits until the IFF_RUNNING flag of an interface is set, or not: the kernel changes it with a delay. With a carrier,
 * IPv6 addresses begin to settle, so this waits for them, too: what they report would disturb a test that counts. */
void namespace_await_running(const char *interface, bool running);

/* Sets the interface up, or the peer of a veth up or down, and waits for what the first then is. */
void namespace_set_up(const char *interface);
void namespace_set_carrier(const char *interface, const char *peer, bool running);

/* Waits until there is no interface of this name. */
void namespace_await_gone(const char *interface);

/* Waits until no IPv6 address is tentative and each has its local route. The kernel does both after `address add` has
 * returned. */
void namespace_await_addresses(void);

/* Waits until duplicate address detection has failed for an IPv6 address. */
void namespace_await_duplicate(void);

/* A veth pair a-b with 192.0.2.2/24 and 2001:db8::2/64 on a, no DAD, both up and running. */
void namespace_add_pair(void);

/* After it: another, c-d, with 203.0.113.2/24 and 2001:db8:c::2/64 on c. */
void namespace_add_second_pair(void);

/* After namespace_add_pair: default routes over a, through 192.0.2.1 and 2001:db8::1. */
void namespace_add_default_routes(void);

/* A tun (layer 3) or tap (layer 2) device, not up. -1: no /dev/net/tun here. It lives as long as the descriptor. */
int namespace_add_tun(const char *name);
int namespace_add_tap(const char *name);

/* The same for a tun device that is up. Skips the test without /dev/net/tun. */
int namespace_require_tun(const char *name);

/* A macvlan device over a link, and a vxlan tunnel v with 10.7.0.1/24 ("remote 198.51.100.9"), both up. Skip the test
 * if this kernel has none. */
void namespace_require_macvlan(const char *name, const char *link);
void namespace_require_tunnel(const char *to);

/* A second namespace, with a child process in it: `ip link set dev b netns PID` moves an interface there. */
struct namespace_other {
    pid_t pid;
    int socket;
};
void namespace_other_open(struct namespace_other *ret);
void namespace_other_ip(const struct namespace_other *other, const char *command);
bool namespace_other_try_ip(const struct namespace_other *other, const char *command); /* whether it succeeded */
void namespace_other_close(const struct namespace_other *other);

#endif
