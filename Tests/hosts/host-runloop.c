/* SPDX-License-Identifier: MIT */
/* SCRunLoop: a thread without a loop of its own runs the library's loop for that thread. */
#include <pthread.h>

#include "scenario.h"

static void *run_loop(void *unused)
{
    SCNetworkReachabilityRef target = scenario_target();
    SCRunLoopRef loop = SCRunLoopGetCurrent();
    const struct host host = { .name = "SCRunLoop", .wake = SCRunLoopStop, .loop = loop };

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
    MUST(pthread_create(&thread, NULL, run_loop, NULL) == 0);
    MUST(pthread_join(thread, NULL) == 0); /* the thread's loop ends with it */
    return scenario_end();
}
