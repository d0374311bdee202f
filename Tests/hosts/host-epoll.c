/* SPDX-License-Identifier: MIT */
/* epoll(7): the library's descriptor is in the program's epoll set, level-triggered. */
#include <sys/epoll.h>
#include <unistd.h>

#include "scenario.h"

int main(void)
{
    SCNetworkReachabilityRef target;
    SCRunLoopRef loop;
    struct host host = { .name = "epoll(7)", .wake = SCRunLoopWakeUp };
    struct epoll_event event = { .events = EPOLLIN };
    int set;

    scenario_enter();
    MUST((set = epoll_create1(EPOLL_CLOEXEC)) >= 0);
    target = scenario_target();

    loop = host.loop = SCRunLoopCreate();
    event.data.ptr = loop;
    MUST(epoll_ctl(set, EPOLL_CTL_ADD, SCRunLoopGetFileDescriptor(loop), &event) == 0);
    MUST(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    scenario_run(&host);
    while (!scenario_is_over()) {
        MUST(epoll_wait(set, &event, 1, -1) == 1);
        MUST(SCRunLoopPerform((SCRunLoopRef)event.data.ptr, 0) >= 0);
    }
    MUST(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    MUST(epoll_ctl(set, EPOLL_CTL_DEL, SCRunLoopGetFileDescriptor(loop), NULL) == 0);
    SCRunLoopRelease(loop);

    close(set);
    return scenario_end();
}
