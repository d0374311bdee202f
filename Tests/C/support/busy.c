/* SPDX-License-Identifier: MIT */
#include "support/busy.h"

#include <fcntl.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include "support/callbacks.h"
#include "support/program.h"

struct busy busy;

static void count(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)flags, (void)info;
    busy.calls++;
}

static sem_t called;

static void count_call(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)flags, (void)info;
    sem_post(&called);
}

/* The first callback of a name shows that the library thread runs when this returns. */
static void begin_scheduler(SCNetworkReachabilityRef target)
{
    const SCNetworkReachabilityScheduler scheduler = { .perform = perform_at_once };
    struct timespec end;

    MUST(SCNetworkReachabilitySetCallback(target, count_call, NULL));
    MUST(SCNetworkReachabilitySetScheduler(target, &scheduler));
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 10;
    MUST(sem_timedwait(&called, &end) == 0);
}

static SCRunLoopRef loop_of(int number)
{
    return number == BUSY_OWN ? busy.own : busy.loop;
}

static bool is_name(int number)
{
    return number == BUSY_NAME || number == BUSY_SCHEDULER;
}

static void begin_one(int number)
{
    const char *const name = is_name(number) ? "localhost" : "127.0.0.1";
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, name);

    MUST(target != NULL);
    busy.targets[number] = target;
    MUST(SCNetworkReachabilityGetPath(target, &path));
    MUST(SCNetworkReachabilitySetCallback(target, count, NULL));
}

void busy_begin(void)
{
    const int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

    busy.own = SCRunLoopGetCurrent();
    busy.loop = SCRunLoopCreate();
    MUST(sem_init(&called, 0, 0) == 0);
    MUST(busy.own != NULL && busy.loop != NULL && home >= 0);
    for (int i = 0; i < BUSY_FOREIGN; i++)
        begin_one(i);
    MUST(unshare(CLONE_NEWNET) == 0);
    begin_one(BUSY_FOREIGN);
    MUST(setns(home, CLONE_NEWNET) == 0);
    close(home);
    for (int i = BUSY_OWN; i < BUSY_TARGETS; i++)
        if (i == BUSY_SCHEDULER)
            begin_scheduler(busy.targets[i]);
        else
            MUST(SCNetworkReachabilityScheduleWithRunLoop(busy.targets[i], loop_of(i), kSCRunLoopDefaultMode));
    MUST(SCRunLoopPerform(busy.loop, 0) == 1); /* the first callback of a name */
    MUST(SCRunLoopRunInMode(kSCRunLoopDefaultMode, 0, 0) == kSCRunLoopRunTimedOut);
    MUST(SCRunLoopCopyNextChange(busy.loop, NULL) == NULL);
    MUST(busy.calls == 1);
}

static SCNetworkReachabilityFlags expected_flags(int number)
{
    const SCNetworkReachabilityFlags own = kSCNetworkReachabilityFlagsReachable |
                                           kSCNetworkReachabilityFlagsIsLocalAddress |
                                           kSCNetworkReachabilityFlagsIsDirect;

    return number == BUSY_FOREIGN ? 0 : own; /* lo is down in that namespace */
}

static void must_return_flags(int number)
{
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;
    SCNetworkReachabilityFlags flags = 0xdeadbeef;

    MUST(SCNetworkReachabilityGetFlags(busy.targets[number], &flags));
    MUST(flags == expected_flags(number));
    MUST(SCNetworkReachabilityGetPath(busy.targets[number], &path));
    MUST(path.flags == flags);
}

void busy_leave_scheduler(void)
{
    MUST(SCNetworkReachabilitySetScheduler(busy.targets[BUSY_SCHEDULER], NULL));
    busy.left_scheduler = true;
}

void busy_end(bool own_loop_ended)
{
    for (int i = 0; i < BUSY_TARGETS; i++)
        must_return_flags(i);
    MUST(SCRunLoopPerform(busy.loop, 0) == 0);
    for (int i = BUSY_OWN; i < BUSY_TARGETS; i++) {
        const bool gone = i == BUSY_OWN && own_loop_ended;

        if (i == BUSY_SCHEDULER)
            MUST(SCNetworkReachabilitySetScheduler(busy.targets[i], NULL) != busy.left_scheduler);
        else
            MUST(SCNetworkReachabilityUnscheduleFromRunLoop(busy.targets[i], loop_of(i), kSCRunLoopDefaultMode) !=
                 gone);
    }
    for (int i = 0; i < BUSY_TARGETS; i++) {
        SCNetworkReachabilityRelease(busy.targets[i]);
        begin_one(i);
        if (i == BUSY_SCHEDULER)
            begin_scheduler(busy.targets[i]);
        else if (i != BUSY_QUERIED)
            MUST(SCNetworkReachabilityScheduleWithRunLoop(busy.targets[i], busy.loop, kSCRunLoopCommonModes));
    }
    MUST(SCRunLoopPerform(busy.loop, 0) == 1);
    SCRunLoopRelease(busy.loop);
}
