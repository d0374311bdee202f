/* SPDX-License-Identifier: MIT */
#include "toggle.h"

#include <fcntl.h>
#include <pthread.h>
#include <reachability/reachability.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TOGGLES 50 /* deletions and additions in a block, that count */
#define WARM    10

static struct {
    const struct listener *listener;
    const char *target;
    atomic_int noticed; /* changes that the reader noticed; -1: it is not ready */
    atomic_int reader;  /* its thread's number */
    int64_t sent_at, heard_at;
    double latencies[2][TOGGLES]; /* of deletions, of additions */
} shared;

void toggle_noticed(void)
{
    shared.heard_at = bench_now();
}

/* ---- The library ------------------------------------------------------------------------------------------------ */

static SCRunLoopRef loop;
static SCNetworkReachabilityRef target;
static bool is_reachable;

static void called(SCNetworkReachabilityRef from, SCNetworkReachabilityFlags flags, void *info)
{
    toggle_noticed();
    (void)from;
    (void)info;
    is_reachable = (flags & kSCNetworkReachabilityFlagsReachable) != 0;
}

static void start_ours(const char *name)
{
    loop = SCRunLoopCreate();
    target = SCNetworkReachabilityCreateWithName(NULL, name);
    if (!SCNetworkReachabilitySetCallback(target, called, NULL) ||
        !SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode))
        bench_fail("the target could not be scheduled");
    while (SCRunLoopPerform(loop, 0.02) > 0)
        continue;
}

static void wait_ours(bool present)
{
    is_reachable = !present;
    while (is_reachable != present)
        if (SCRunLoopPerform(loop, -1) < 0)
            bench_fail("SCRunLoopPerform failed");
}

static void stop_ours(void)
{
    SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode);
    SCNetworkReachabilityRelease(target);
    SCRunLoopRelease(loop);
}

const struct listener toggle_ours = { start_ours, wait_ours, stop_ours };

/* ---- The two threads -------------------------------------------------------------------------------------------- */

static void *read_changes(void *unused)
{
    (void)unused;
    bench_pin(1);
    atomic_store(&shared.reader, (int)syscall(SYS_gettid));
    shared.listener->start(shared.target);
    atomic_store(&shared.noticed, 0);
    for (int i = 0; i < 2 * (WARM + TOGGLES); i++) {
        shared.listener->wait(i % 2 != 0); /* the route exists at first */
        atomic_store(&shared.noticed, i + 1);
    }
    shared.listener->stop();
    return NULL;
}

/* Waits until the reader's thread sleeps in the kernel: a change that is sent earlier would find it awake. */
static void await_sleep(int status)
{
    char text[128], *end;

    do {
        const ssize_t length = pread(status, text, sizeof text - 1, 0);

        text[length > 0 ? length : 0] = '\0';
        end = strrchr(text, ')');
    } while (end == NULL || end[2] != 'S');
}

double toggle_measure(const struct listener *listener, const char *name, struct writer *writer)
{
    pthread_t thread;
    char path[64];
    int status;

    shared.listener = listener;
    shared.target = name;
    atomic_store(&shared.noticed, -1);
    bench_check(pthread_create(&thread, NULL, read_changes, NULL), "thread");
    while (atomic_load(&shared.noticed) < 0)
        continue;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", atomic_load(&shared.reader));
    status = open(path, O_RDONLY | O_CLOEXEC);
    for (int i = 0; i < 2 * (WARM + TOGGLES); i++) {
        await_sleep(status);
        shared.sent_at = bench_now();
        bench_check(writer_route(writer, i % 2 != 0 ? WRITER_ADD : WRITER_DELETE, &bench_default_route), "the toggle");
        while (atomic_load(&shared.noticed) != i + 1)
            continue;
        if (i >= 2 * WARM)
            shared.latencies[i % 2][i / 2 - WARM] = (double)(shared.heard_at - shared.sent_at);
    }
    pthread_join(thread, NULL);
    close(status);
    return (bench_median(shared.latencies[0], TOGGLES) + bench_median(shared.latencies[1], TOGGLES)) / 2;
}
