/* SPDX-License-Identifier: MIT */
/* poll(2): the program polls the library's one descriptor together with its own. */
#include <poll.h>

#include "scenario.h"

int main(void)
{
    SCNetworkReachabilityRef target;
    SCRunLoopRef loop;
    struct host host = { .name = "poll(2)", .wake = SCRunLoopWakeUp };
    struct pollfd ready = { .events = POLLIN };

    scenario_enter();
    target = scenario_target();

    loop = host.loop = SCRunLoopCreate();
    ready.fd = SCRunLoopGetFileDescriptor(loop);
    MUST(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    scenario_run(&host);
    while (!scenario_is_over()) {
        MUST(poll(&ready, 1, -1) == 1);
        MUST(SCRunLoopPerform(loop, 0) >= 0);
    }
    MUST(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    SCRunLoopRelease(loop);

    return scenario_end();
}
