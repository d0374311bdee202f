/* SPDX-License-Identifier: MIT */
/*
 * The cost of route changes when one loop watches many targets, compared with a loop that watches one. A library that
 * walks over its targets for each message fails here.
 */
#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <reachability/reachability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

#define BLOCKS        21
#define BLOCKS_SHORT  5
#define CHANGES       200 /* in each block */
#define TARGETS       100000
#define TARGETS_SHORT 1000

/* Targets are 10.A.B.1, with even B: routes to odd ones lie between them. The first target is 10.0.0.1. */
#define ADDRESS   "10.%u.%u.1"
#define BETWEEN   "10.%u.%u.0/24"
#define FIRST     "10.0.0.1/32"
#define ELSEWHERE "172.16.%u.0/24"

struct watched {
    SCRunLoopRef              loop;
    SCNetworkReachabilityRef *targets;
    unsigned                  count;
    int64_t                   first_call; /* when, of the last Perform; 0: none came */
};

static void note_callback(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct watched *watched = info;

    (void)target;
    (void)flags;
    if (watched->first_call == 0)
        watched->first_call = bench_now();
}

static SCNetworkReachabilityRef watch_address(struct watched *watched, unsigned i)
{
    SCNetworkReachabilityContext context = { .info = watched };
    SCNetworkReachabilityRef     target;
    char                         address[32];

    snprintf(address, sizeof address, ADDRESS, i / 100 % 256, i % 100 * 2);
    if (i >= 25600) /* more targets than /24 prefixes: other addresses of the same prefixes */
        snprintf(address, sizeof address, "10.%u.%u.%u", i / 100 % 256, i % 100 * 2, 1 + i / 25600);
    target = SCNetworkReachabilityCreateWithName(NULL, address);
    if (!SCNetworkReachabilitySetCallback(target, note_callback, &context) ||
        !SCNetworkReachabilityScheduleWithRunLoop(target, watched->loop, kSCRunLoopDefaultMode))
        bench_fail("%s could not be watched: %s", address, SCErrorString(SCError()));
    return target;
}

static struct watched begin(unsigned count)
{
    struct watched watched = { .loop = SCRunLoopCreate(),
                               .targets = calloc(count, sizeof *watched.targets),
                               .count = count };

    if (watched.targets == NULL || watched.loop == NULL)
        bench_fail("no memory");
    return watched;
}

static void watch_all(struct watched *watched)
{
    for (unsigned i = 0; i < watched->count; i++)
        watched->targets[i] = watch_address(watched, i);
    SCRunLoopPerform(watched->loop, 0);
    SCRunLoopPerform(watched->loop, 0.1); /* the second evaluation */
}

static void end(struct watched *watched)
{
    for (unsigned i = 0; i < watched->count; i++) {
        SCNetworkReachabilityUnscheduleFromRunLoop(watched->targets[i], watched->loop, kSCRunLoopDefaultMode);
        SCNetworkReachabilityRelease(watched->targets[i]);
    }
    SCRunLoopRelease(watched->loop);
    free(watched->targets);
}

static void change(struct writer *writer, const char *prefix, bool add)
{
    const struct writer_route route = { .prefix = prefix, .type = RTN_BLACKHOLE };

    bench_check(writer_route(writer, add ? WRITER_ADD : WRITER_DELETE, &route), prefix);
}

static double perform(const struct watched *watched, int expected)
{
    const int64_t start = bench_now();
    const int     calls = SCRunLoopPerform(watched->loop, 0);
    const int64_t now = bench_now();

    if (calls != expected)
        bench_fail("%d callbacks, expected %d", calls, expected);
    return (double)(now - start);
}

/* Opens a socket for messages about IPv4 routes. */
static int listen_to_routes(void)
{
    const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_IPV4_ROUTE };
    const int                fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);

    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) != 0)
        bench_fail("there is no socket for messages about routes");
    return fd;
}

/* The least that a program does for a message: it waits for it and reads the socket to its end. */
static double receive(int fd)
{
    const int64_t start = bench_now();
    struct pollfd event = { .fd = fd, .events = POLLIN };
    char          buffer[8192];

    poll(&event, 1, 0);
    while (recv(fd, buffer, sizeof buffer, 0) > 0) {
    }
    return (double)(bench_now() - start);
}

static void change_prefix(struct writer *writer, const char *format, unsigned i)
{
    char prefix[32];

    snprintf(prefix, sizeof prefix, format, i / 2 % 100, 1 + i / 2 % 50 * 2);
    change(writer, prefix, i % 2 == 0);
}

/* The time to handle a route between the targets, and to receive the message. */
static void measure_between(struct writer *writer, const struct watched *many, double *ret_many, double *ret_bare)
{
    const int fd = listen_to_routes();
    double    many_times[CHANGES], bare_times[CHANGES];

    for (unsigned i = 0; i < CHANGES; i++) {
        change_prefix(writer, BETWEEN, i);
        bare_times[i] = receive(fd);
        many_times[i] = perform(many, 0);
    }
    *ret_many = bench_median(many_times, CHANGES);
    *ret_bare = bench_median(bare_times, CHANGES);
    close(fd);
}

/* The time to handle a change of one target, of the loop with many targets and of the one with a single target. */
static void measure_callback(struct writer *writer, const struct watched *many, const struct watched *one,
                             double *ret_many, double *ret_one)
{
    double many_times[CHANGES], one_times[CHANGES];

    for (unsigned i = 0; i < CHANGES; i++) {
        change_prefix(writer, FIRST, i);
        one_times[i] = perform(one, 1);
        many_times[i] = perform(many, 1);
    }
    *ret_many = bench_median(many_times, CHANGES);
    *ret_one = bench_median(one_times, CHANGES);
}

/* The time until the first callback after the default route has changed. */
static double first_callback(struct watched *watched)
{
    const int64_t start = bench_now();

    watched->first_call = 0;
    if (SCRunLoopPerform(watched->loop, 0) != (int)watched->count)
        bench_fail("not all callbacks came");
    return (double)(watched->first_call - start);
}

static void measure_first_callback(struct writer *writer, struct watched *many, struct watched *one, double *ret_many,
                                   double *ret_one)
{
    double sums[2] = { 0 };

    for (int i = 0; i < 2; i++) {
        bench_check(writer_route(writer, i == 0 ? WRITER_DELETE : WRITER_ADD, &bench_default_route), "default route");
        sums[0] += first_callback(one);
        sums[1] += first_callback(many);
    }
    *ret_one = sums[0] / 2;
    *ret_many = sums[1] / 2;
}

/* The time of a change that affects no target, for the program that makes it. `fd`: a listener, which is emptied after
 * each change; -1: none. */
static double measure_writer(struct writer *writer, int fd)
{
    double times[CHANGES];

    for (unsigned i = 0; i < CHANGES; i++) {
        const int64_t start = bench_now();

        change_prefix(writer, ELSEWHERE, i);
        times[i] = (double)(bench_now() - start);
        if (fd >= 0)
            (void)receive(fd);
    }
    return bench_median(times, CHANGES);
}

int main(int argc, char **argv)
{
    const bool     is_short = bench_is_short(argc, argv);
    const size_t   blocks = is_short ? BLOCKS_SHORT : BLOCKS;
    const unsigned targets = is_short ? TARGETS_SHORT : TARGETS;
    double         ours[BLOCKS], reference[BLOCKS];
    struct watched many = begin(targets), one = begin(1);
    struct writer  writer;
    char           title[80];
    bool           within = true;
    int            fd;

    bench_pin(0);
    bench_enter_namespace(&writer);
    bench_check(writer_route(&writer, WRITER_ADD, &bench_default_route), "default route");
    fd = listen_to_routes();
    for (size_t i = 0; i < blocks; i++)
        reference[i] = measure_writer(&writer, fd);
    close(fd);
    watch_all(&many);
    watch_all(&one);
    (void)measure_writer(&writer, -1);
    SCRunLoopPerform(many.loop, 0); /* after the first message that affects no target, there is a filter */
    SCRunLoopPerform(one.loop, 0);
    for (size_t i = 0; i < blocks; i++)
        ours[i] = measure_writer(&writer, -1);
    snprintf(title, sizeof title, "unrelated change, %u targets watched", targets);
    within = bench_report(title, "the same with a listener", ours, reference, blocks, 1.25) && within;

    for (size_t i = 0; i < blocks; i++)
        measure_between(&writer, &many, &ours[i], &reference[i]);
    snprintf(title, sizeof title, "route between %u targets", targets);
    within = bench_report(title, "poll and recv", ours, reference, blocks, 5) && within;

    for (size_t i = 0; i < blocks; i++)
        measure_callback(&writer, &many, &one, &ours[i], &reference[i]);
    snprintf(title, sizeof title, "callback of 1 of %u targets", targets);
    within = bench_report(title, "of the only target", ours, reference, blocks, 1.2) && within;

    for (size_t i = 0; i < blocks; i++)
        measure_first_callback(&writer, &many, &one, &ours[i], &reference[i]);
    snprintf(title, sizeof title, "first callback of %u, default toggle", targets);
    within = bench_report(title, "of the only target", ours, reference, blocks, 2000) && within;

    end(&many);
    end(&one);
    writer_close(&writer);
    return within || is_short ? 0 : 1;
}
