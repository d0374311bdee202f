/* SPDX-License-Identifier: MIT */
/*
 * Look-ups by the system's own resolver, of a name server whose replies are late or do not come: how long a good name
 * waits behind dead ones, how long a thousand names take, and what ten thousand names on a silent server cost.
 */
#include <malloc.h>
#include <reachability/reachability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "delayserver.h"
#include "support/resolver.h"

#define BLOCKS       5
#define BLOCKS_SHORT 1
#define DEAD         8
#define LIVING       1000
#define FEW          2000
#define MANY         10000
#define MILLISECOND  1e6 /* nanoseconds */

static void check(bool good, const char *what)
{
    if (!good)
        bench_fail("%s: %s", what, SCErrorString(SCError()));
}

/* ---- Names on a loop -------------------------------------------------------------------------------------------- */

static SCRunLoopRef loop;
static unsigned calls;
static double worst_call; /* nanoseconds */

static void count_call(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target;
    (void)flags;
    ++*(unsigned *)info;
}

static void note_duration(int64_t start)
{
    const double duration = (double)(bench_now() - start);

    worst_call = duration > worst_call ? duration : worst_call;
}

static SCNetworkReachabilityRef schedule(const char *name, unsigned *counter)
{
    SCNetworkReachabilityContext context = { .info = counter };
    const int64_t start = bench_now();
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, name);

    check(target != NULL && SCNetworkReachabilitySetCallback(target, counter == NULL ? NULL : count_call, &context) &&
              SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode),
          name);
    note_duration(start);
    return target;
}

static void release(SCNetworkReachabilityRef target)
{
    const int64_t start = bench_now();

    check(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode), "unschedule");
    SCNetworkReachabilityRelease(target);
    note_duration(start);
}

static void drive(double seconds)
{
    check(SCRunLoopPerform(loop, seconds) >= 0, "perform");
}

/* The nanoseconds from Schedule to the first callback. Each call is for another name. */
static double time_good(const char *domain)
{
    static unsigned number;
    char name[64];
    unsigned called = 0;
    int64_t start;
    double time;
    SCNetworkReachabilityRef target;

    snprintf(name, sizeof name, "good-%u.%s", number++, domain);
    start = bench_now();
    target = schedule(name, &called);
    while (called == 0)
        drive(1);
    time = (double)(bench_now() - start);
    release(target);
    return time;
}

static double time_wait(const char *domain)
{
    static unsigned number;
    char name[64];
    const int64_t start = bench_now();
    SCNetworkReachabilityRef target;
    double time;

    snprintf(name, sizeof name, "wait-%u.%s", number++, domain);
    target = SCNetworkReachabilityCreateWithName(NULL, name);
    check(target != NULL, name);
    check(SCNetworkReachabilityWait(target, kSCNetworkReachabilityConditionKnown, 30, NULL) == 1, name);
    time = (double)(bench_now() - start);
    SCNetworkReachabilityRelease(target);
    return time;
}

static void await_threads(unsigned count)
{
    while (resolver_threads() != count)
        drive(0.01);
}

/* ---- Behind dead names ------------------------------------------------------------------------------------------ */

enum place { OWN_DOMAIN, OTHER_DOMAIN, OWN_AFTER_FAILURE, OTHER_AFTER_FAILURE, OWN_WAIT, PLACES };

static const char *const places[PLACES] = {
    [OWN_DOMAIN] = "behind 8 dead names of its domain, more",
    [OTHER_DOMAIN] = "behind 8 dead names of another, more",
    [OWN_AFTER_FAILURE] = "behind 8 that failed, of its domain, more",
    [OTHER_AFTER_FAILURE] = "behind 8 that failed, of another, more",
    [OWN_WAIT] = "SCNetworkReachabilityWait behind 8, more",
};

static double time_behind(enum place place)
{
    SCNetworkReachabilityRef dead[DEAD];
    unsigned failures = 0;
    double time;

    for (unsigned i = 0; i < DEAD; i++) {
        char name[64];

        snprintf(name, sizeof name, "drop-%u.example.com", i);
        dead[i] = schedule(name, &failures);
    }
    if (place == OWN_AFTER_FAILURE || place == OTHER_AFTER_FAILURE) {
        while (failures < DEAD)
            drive(1);
        while (resolver_threads() < DEAD / 2) /* again, a second later */
            drive(0.01);
    }
    if (place == OWN_WAIT)
        time = time_wait("example.com");
    else
        time = time_good(place == OWN_DOMAIN || place == OWN_AFTER_FAILURE ? "example.com" : "example.org");
    for (unsigned i = 0; i < DEAD; i++)
        release(dead[i]);
    await_threads(0);
    return time;
}

static bool compare_behind(size_t blocks)
{
    double times[PLACES][BLOCKS], alone[BLOCKS];
    bool within = true;

    for (size_t i = 0; i < blocks; i++) {
        alone[i] = time_good("example.com");
        await_threads(0);
        for (int place = 0; place < PLACES; place++)
            times[place][i] = time_behind((enum place)place);
    }
    printf("a good name, alone: %.2f ms\n", bench_median(alone, blocks) / MILLISECOND);
    for (int place = 0; place < PLACES; place++) {
        const double more = bench_median(times[place], blocks) - bench_median(alone, blocks);

        within = bench_report_number(places[place], more > 0 ? more / MILLISECOND : 0, "ms", 100) && within;
    }
    return within;
}

/* ---- A living server -------------------------------------------------------------------------------------------- */

static bool measure_living(void)
{
    static SCNetworkReachabilityRef targets[LIVING];
    const int64_t start = bench_now();
    double time;

    calls = 0;
    for (unsigned i = 0; i < LIVING; i++) {
        char name[64];

        snprintf(name, sizeof name, "slow-%u.example.net", i);
        targets[i] = schedule(name, &calls);
    }
    while (calls < LIVING)
        drive(1);
    time = (double)(bench_now() - start);
    for (unsigned i = 0; i < LIVING; i++)
        release(targets[i]);
    await_threads(0);
    return bench_report_number("1000 names on a server with 100 ms", time / MILLISECOND / 1000, "s", 2.5);
}

/* ---- A silent server -------------------------------------------------------------------------------------------- */

/* Bytes of resident memory. */
static double resident(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    long pages = 0;

    if (file == NULL || fscanf(file, "%*d %ld", &pages) != 1)
        bench_fail("/proc/self/statm cannot be read");
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* `format` makes names of 22 letters. */
static bool measure_silent(const char *title, const char *format, bool one_domain)
{
    static SCNetworkReachabilityRef targets[MANY];
    char row[80];
    double before = 0, bytes, alone, worst = 0;
    unsigned most = 0;
    bool within;

    malloc_trim(0); /* otherwise names get memory that is resident already */
    alone = time_good("example.org");
    worst_call = 0;
    for (unsigned i = 0; i < MANY; i++) {
        char name[64];

        if (i == FEW) {
            drive(0.1);
            before = resident();
        }
        snprintf(name, sizeof name, format, i);
        targets[i] = schedule(name, NULL);
    }
    drive(0);
    bytes = (resident() - before) / (MANY - FEW);
    for (int64_t start = bench_now(); bench_now() - start < 2000 * MILLISECOND;) {
        const unsigned threads = resolver_threads();

        most = threads > most ? threads : most;
        if (one_domain) {
            const double more = time_good("example.org") - alone;

            worst = more > worst ? more : worst;
        }
        drive(0.05);
    }
    for (unsigned i = 0; i < MANY; i++)
        release(targets[i]);
    snprintf(row, sizeof row, "%s: threads", title);
    within = bench_report_number(row, most, "threads", 128);
    snprintf(row, sizeof row, "%s: a name", title);
    within = bench_report_number(row, bytes, "bytes", 900) && within;
    snprintf(row, sizeof row, "%s: the longest call", title);
    within = bench_report_number(row, worst_call / MILLISECOND, "ms", 100) && within;
    if (!one_domain)
        return within;
    snprintf(row, sizeof row, "%s: a good name, more", title);
    return bench_report_number(row, worst / MILLISECOND, "ms", 1000) && within;
}

/* With none pending or due. */
static bool measure_end(void)
{
    for (int64_t start = bench_now(); resolver_threads() > 0 && bench_now() - start < 60000 * MILLISECOND;)
        drive(0.1);
    return bench_report_number("threads after the last look-up", resolver_threads(), "threads", 0);
}

int main(int argc, char **argv)
{
    const bool is_short = bench_is_short(argc, argv);
    struct writer writer;
    bool within;

    bench_enter_namespace(&writer);
    bench_check(writer_route(&writer, WRITER_ADD, &bench_default_route), "default route");
    if (!delayserver_mount("timeout:1 attempts:1")) {
        printf("SKIP: /etc/resolv.conf cannot be replaced here\n");
        return 0;
    }
    delayserver_start();
    loop = SCRunLoopCreate();
    within = compare_behind(is_short ? BLOCKS_SHORT : BLOCKS);
    within = measure_living() && within;
    within = measure_silent("silent domain", "drop-%05u.silent.test.", true) && within;
    within = measure_silent("silent domains", "drop.silent-%05u.test.", false) && within;
    within = measure_end() && within;
    SCRunLoopRelease(loop);
    writer_close(&writer);
    return within || is_short ? 0 : 1;
}
