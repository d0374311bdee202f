/* SPDX-License-Identifier: MIT */
/*
 * Links that come and go, as those of containers do, and no target uses them: the processor time of a loop with many
 * targets, which a sweep evaluates again. The reference is a program that only reads the same messages from a socket:
 * it has the library's groups, and no filter.
 *
 * The processor time is that of the thread, so other programs do not count. Between two links the loop is driven until
 * its second evaluation is over.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "watched.h"

#define BLOCKS       7
#define BLOCKS_SHORT 2
#define LINKS        10 /* that come and go in each block */
#define WARM         2  /* blocks that do not count */
#define CROWD        1000
#define CROWD_SHORT  50
#define RATE         17   /* links a second, for the share of a processor */
#define QUIET        0.01 /* seconds: the second evaluation comes after 5 ms */

struct crowd {
    const char *title;
    unsigned factor; /* of CROWD */
    bool pairs, ipv6;
    SCNetworkReachabilityOption options;
};

static const struct crowd crowds[] = {
    { .title = "plain targets", .factor = 1 },
    { .title = "with NotifyPath", .factor = 1, .options = kSCNetworkReachabilityOptionNotifyPath },
    { .title = "pairs", .factor = 1, .pairs = true },
    { .title = "IPv6 without a route", .factor = 2, .ipv6 = true },
};

#define CROWDS (sizeof crowds / sizeof crowds[0])

struct place {
    int namespace;
    struct writer writer;
    struct watched watched;
    int reader; /* the reference */
};

static double thread_time(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* ---- Targets ---------------------------------------------------------------------------------------------------- */

static void note_call(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target;
    (void)flags;
    (void)info;
}

static SCNetworkReachabilityRef create_target(const struct crowd *crowd, unsigned i)
{
    const struct sockaddr_in local = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xc0000202) };
    struct sockaddr_in ipv4 = { .sin_family = AF_INET };
    struct sockaddr_in6 ipv6 = { .sin6_family = AF_INET6 };
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
    char text[64];

    if (crowd->ipv6) {
        snprintf(text, sizeof text, "2001:db8:1::%x", 1 + i);
        inet_pton(AF_INET6, text, &ipv6.sin6_addr);
        options.remoteAddress = (const struct sockaddr *)&ipv6;
    } else {
        watched_address(i, text);
        inet_pton(AF_INET, text, &ipv4.sin_addr);
        options.remoteAddress = (const struct sockaddr *)&ipv4;
    }
    if (crowd->pairs)
        options.localAddress = (const struct sockaddr *)&local;
    options.options = crowd->options;
    return SCNetworkReachabilityCreateWithOptions(NULL, &options);
}

static struct watched create_crowd(const struct crowd *crowd, unsigned count)
{
    struct watched watched = { .loop = SCRunLoopCreate(),
                               .targets = malloc(count * sizeof *watched.targets),
                               .count = count };

    if (watched.targets == NULL || watched.loop == NULL)
        bench_fail("no memory");
    for (unsigned i = 0; i < count; i++) {
        SCNetworkReachabilityRef target = watched.targets[i] = create_target(crowd, i);

        if (target == NULL || !SCNetworkReachabilitySetCallback(target, note_call, NULL) ||
            !SCNetworkReachabilityScheduleWithRunLoop(target, watched.loop, kSCRunLoopDefaultMode))
            bench_fail("%s: %s", crowd->title, SCErrorString(SCError()));
    }
    return watched;
}

/* ---- The reference ---------------------------------------------------------------------------------------------- */

static int open_reader(void)
{
    static const int groups[] = { RTNLGRP_LINK,         RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE,
                                  RTNLGRP_IPV6_ROUTE,   RTNLGRP_IPV4_RULE,   RTNLGRP_IPV6_RULE,   RTNLGRP_IPV4_NETCONF,
                                  RTNLGRP_IPV6_NETCONF, RTNLGRP_NEXTHOP,     RTNLGRP_NEIGH };
    const int size = 8 * 1024 * 1024;
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &groups[i], sizeof groups[i]) != 0)
            bench_fail("the reference cannot receive messages: %s", strerror(errno));
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
    return fd;
}

static void read_messages(int fd)
{
    char bytes[32768];

    while (recv(fd, bytes, sizeof bytes, 0) > 0)
        continue;
}

/* ---- Measuring -------------------------------------------------------------------------------------------------- */

static void make_place(struct place *ret, const struct crowd *crowd, unsigned count)
{
    const unsigned index = bench_enter_namespace(&ret->writer);

    watched_toggle(&ret->writer, true);
    if (crowd->ipv6) { /* no address is in its prefix */
        const struct writer_route route = {
            .prefix = "::/0", .from = "2001:db8:ff::/64", .gateway = "2001:db8::1", .index = index
        };

        bench_check(writer_route(&ret->writer, WRITER_ADD, &route), "the route from a prefix");
    }
    ret->reader = open_reader();
    ret->namespace = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (ret->namespace < 0)
        bench_fail("the namespace cannot be opened: %s", strerror(errno));
    ret->watched = create_crowd(crowd, count);
    while (SCRunLoopPerform(ret->watched.loop, 0.1) > 0)
        continue;
}

static void release_place(struct place *place)
{
    watched_unschedule(&place->watched);
    watched_release(&place->watched);
    writer_close(&place->writer);
    close(place->reader);
    close(place->namespace);
}

/* One container: a pair whose end gets addresses and comes up, and is deleted. */
static void change_container(struct place *place, unsigned step)
{
    switch (step) {
    case 0:
        bench_check(writer_link_add_pair(&place->writer, "e", "f"), "veth pair");
        return;
    case 1:
        bench_check(writer_address(&place->writer, WRITER_ADD, writer_index("e"), "172.17.0.2/16"), "address");
        return;
    case 2:
        bench_check(writer_link_up(&place->writer, writer_index("e"), true), "link");
        return;
    default:
        bench_check(writer_link_delete(&place->writer, writer_index("e")), "link");
    }
}

enum { STEPS = 4 };

/* The nanoseconds of the thread for each link, of the loop and of the reference. */
static void measure(struct place *place, double *ret_ours, double *ret_reference)
{
    double ours = 0, reference = 0, start;

    for (unsigned i = 0; i < LINKS * STEPS; i++) {
        change_container(place, i % STEPS);
        start = thread_time();
        read_messages(place->reader);
        reference += thread_time() - start;
        start = thread_time();
        while (SCRunLoopPerform(place->watched.loop, QUIET) > 0)
            continue;
        ours += thread_time() - start;
        start = thread_time(); /* what has come since then: a carrier */
        read_messages(place->reader);
        reference += thread_time() - start;
    }
    *ret_ours = ours / LINKS;
    *ret_reference = reference / LINKS;
}

static bool compare(const struct crowd *crowd, size_t blocks, unsigned size)
{
    const unsigned count = crowd->factor * size;
    double ours[BLOCKS], reference[BLOCKS];
    struct place place;
    char title[80];
    bool within;

    make_place(&place, crowd, count);
    for (unsigned i = 0; i < WARM; i++) /* what was saved for sweeps is spent */
        measure(&place, &ours[0], &reference[0]);
    for (size_t i = 0; i < blocks; i++)
        measure(&place, &ours[i], &reference[i]);
    snprintf(title, sizeof title, "a container, %u %s", count, crowd->title);
    within = bench_report(title, "messages read only", ours, reference, blocks, 0);
    snprintf(title, sizeof title, "%u %s, share at %d/s", count, crowd->title, RATE);
    within = bench_report_number(title, bench_median(ours, blocks) * RATE / 1e7, "%", 2) && within;
    release_place(&place);
    return within;
}

int main(int argc, char **argv)
{
    const bool is_short = bench_is_short(argc, argv);
    bool within = true;

    bench_pin(0);
    for (size_t i = 0; i < CROWDS; i++)
        within = compare(&crowds[i], is_short ? BLOCKS_SHORT : BLOCKS, is_short ? CROWD_SHORT : CROWD) && within;
    return within || is_short ? 0 : 1;
}
