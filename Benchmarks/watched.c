/* SPDX-License-Identifier: MIT */
#include "watched.h"

#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void note_call(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct watched *watched = info;

    (void)target;
    (void)flags;
    if (watched->first_call == 0)
        watched->first_call = bench_now();
}

void watched_address(unsigned i, char ret[32])
{
    snprintf(ret, 32, "10.%u.%u.%u", i % 256, i / 256 % 128 * 2, 1 + i / (256 * 128));
}

struct watched watched_create(unsigned count)
{
    struct watched watched = { .loop = SCRunLoopCreate(),
                               .targets = malloc(count * sizeof *watched.targets),
                               .count = count };
    char address[32];

    if (watched.targets == NULL || watched.loop == NULL)
        bench_fail("no memory");
    memset(watched.targets, 1, count * sizeof *watched.targets); /* resident before the first target */
    for (unsigned i = 0; i < count; i++) {
        watched_address(i, address);
        watched.targets[i] = SCNetworkReachabilityCreateWithName(NULL, address);
        if (watched.targets[i] == NULL)
            bench_fail("%s: %s", address, SCErrorString(SCError()));
    }
    return watched;
}

void watched_release(struct watched *watched)
{
    for (unsigned i = 0; i < watched->count; i++)
        SCNetworkReachabilityRelease(watched->targets[i]);
    SCRunLoopRelease(watched->loop);
    free(watched->targets);
}

void watched_schedule(struct watched *watched, bool with_callbacks)
{
    SCNetworkReachabilityContext context = { .info = watched };

    for (unsigned i = 0; i < watched->count; i++)
        if (!SCNetworkReachabilitySetCallback(watched->targets[i], with_callbacks ? note_call : NULL, &context) ||
            !SCNetworkReachabilityScheduleWithRunLoop(watched->targets[i], watched->loop, kSCRunLoopDefaultMode))
            bench_fail("a target could not be scheduled: %s", SCErrorString(SCError()));
    (void)watched_settle(watched, 0);
}

void watched_unschedule(struct watched *watched)
{
    for (unsigned i = 0; i < watched->count; i++)
        SCNetworkReachabilityUnscheduleFromRunLoop(watched->targets[i], watched->loop, kSCRunLoopDefaultMode);
}

static double perform(struct watched *watched, double seconds, unsigned expected_calls)
{
    const int64_t start = bench_now();
    const int calls = SCRunLoopPerform(watched->loop, seconds);
    const int64_t now = bench_now();

    if (calls != (int)expected_calls)
        bench_fail("%d callbacks, expected %u", calls, expected_calls);
    return (double)(now - start);
}

double watched_perform(struct watched *watched, unsigned expected_calls)
{
    return perform(watched, 0, expected_calls);
}

double watched_settle(struct watched *watched, unsigned expected_calls)
{
    const double time = perform(watched, 0, expected_calls);

    (void)perform(watched, 0.1, 0); /* the second evaluation */
    return time;
}

unsigned long watched_queries(const struct watched *watched)
{
    static const char title[] = " callbacks, ";
    char text[2048];
    const char *counter;

    SCNetworkReachabilityGetDescription(watched->targets[0], text, sizeof text);
    counter = strstr(text, title);
    if (counter == NULL)
        bench_fail("there is no counter of queries in: %s", text);
    return strtoul(counter + strlen(title), NULL, 10);
}

void watched_change(struct writer *writer, const char *prefix, bool add)
{
    const struct writer_route route = { .prefix = prefix, .type = RTN_BLACKHOLE };

    bench_check(writer_route(writer, add ? WRITER_ADD : WRITER_DELETE, &route), prefix);
}

void watched_change_between(struct writer *writer, unsigned i)
{
    char prefix[32];

    snprintf(prefix, sizeof prefix, WATCHED_BETWEEN, i / 2 % 256, 1 + i / 2 % 128 * 2);
    watched_change(writer, prefix, i % 2 == 0);
}

void watched_change_elsewhere(struct writer *writer, unsigned i)
{
    char prefix[32];

    snprintf(prefix, sizeof prefix, "172.16.%u.0/24", i / 2 % 256);
    watched_change(writer, prefix, i % 2 == 0);
}

void watched_toggle(struct writer *writer, bool add)
{
    bench_check(writer_route(writer, add ? WRITER_ADD : WRITER_DELETE, &bench_default_route), "default route");
}
