/* SPDX-License-Identifier: MIT */
#ifndef TESTS_NAMESPACE_H
#define TESTS_NAMESPACE_H

/* A network namespace of a test's own, and what tests do in it. What goes wrong fails the test. */

#include <stdbool.h>
#include <sys/types.h>

/* Puts the calling thread into a new, empty network namespace (lo is down), as root or through a user namespace of its
 * own. False: this machine does not allow it. */
bool namespace_enter(void);

/* The same, at the start of a test, which is skipped where this machine does not allow it. */
void namespace_require(void);
void namespace_require_lo(void);   /* with lo up */
void namespace_require_pair(void); /* with lo up, and namespace_add_pair */

/* Puts the process into a mount namespace of its own as well: what it mounts nobody else sees. False: this machine does
 * not allow it. */
bool namespace_enter_mounts(void);

/* For a thread that denies netlink to itself. From here on what this file does with netlink, and the commands that it
 * runs, are done on a thread that is without the denial, in the network namespace of the calling one. */
void namespace_set_aside(void);
void namespace_end_aside(void);

/* Does something else there, or on this thread when none was set aside. It must not fail a test. */
void namespace_aside(void (*run)(void *argument), void *argument);

/* A descriptor of the calling thread's namespace, and the way back. Only this thread goes. */
int  namespace_keep(void);
void namespace_go(int fd);

/* Runs one command of ip(8) in it: namespace_ip("link add name %s type veth peer name %s", "a", "b"). Fails the test
 * when ip does, with what it printed. */
__attribute__((format(printf, 1, 2))) void namespace_ip(const char *format, ...);

/* The same, for commands that may fail (a kind of device that this kernel has not): whether it succeeded. */
__attribute__((format(printf, 1, 2))) bool namespace_try_ip(const char *format, ...);

/* Writes a sysctl, "net.ipv4.conf.all.ignore_routes_with_linkdown". */
void namespace_sysctl(const char *name, const char *value);

/* A socket, non-blocking, that hears of these RTMGRP_... */
int namespace_listen(unsigned groups);

/* Waits until an interface has, or has not, a carrier as IFF_RUNNING tells: the kernel reports it with a delay. */
void namespace_await_running(const char *interface, bool running);

/* Waits until there is no interface of this name. */
void namespace_await_gone(const char *interface);

/* Waits until the IPv6 addresses have settled: none is tentative, and each has the local route that makes it our own.
 * The kernel does both after `address add` has returned. */
void namespace_await_addresses(void);

/* Waits until duplicate address detection has failed for an IPv6 address. */
void namespace_await_duplicate(void);

/* A veth pair a-b with 192.0.2.2/24 and 2001:db8::2/64 on a, no DAD, both up and running. */
void namespace_add_pair(void);

/* After it: another, c-d, with 203.0.113.2/24 and 2001:db8:c::2/64 on c. */
void namespace_add_second_pair(void);

/* A tun (layer 3) device, not up. -1: no /dev/net/tun here. It lives as long as the descriptor. */
int namespace_add_tun(const char *name);

/* A second namespace, in which a child process lives: `ip link set dev b netns PID` moves an interface there. */
struct namespace_other {
    pid_t pid;
    int   socket;
};
void namespace_other_open(struct namespace_other *ret);
void namespace_other_ip(const struct namespace_other *other, const char *command);
void namespace_other_close(const struct namespace_other *other);

#endif
