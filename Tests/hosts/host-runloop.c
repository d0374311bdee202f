/* SPDX-License-Identifier: MIT */
/* SCRunLoop: a thread without a loop of its own drives the one that the library has for it. */
#include <pthread.h>

#include "scenario.h"

static void *serve(void *unused)
{
    SCNetworkReachabilityRef target = scenario_target();
    SCRunLoopRef             loop = SCRunLoopGetCurrent();
    const struct host        host = { .name = "SCRunLoop", .end = SCRunLoopStop, .loop = loop };

    MUST(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    scenario_run(&host);
    while (!scenario_is_over())
        MUST(SCRunLoopRunInMode(kSCRunLoopDefaultMode, 60, 0) == kSCRunLoopRunStopped);
    MUST(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    return unused;
}

int main(void)
{
    pthread_t thread;

    scenario_enter();
    MUST(pthread_create(&thread, NULL, serve, NULL) == 0);
    MUST(pthread_join(thread, NULL) == 0); /* and its loop ends with it */
    return scenario_end();
}
