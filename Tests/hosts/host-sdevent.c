/* SPDX-License-Identifier: MIT */
/* sd-event: an I/O source on the library's descriptor. */
#include <sys/epoll.h>
#include <systemd/sd-event.h>

#include "scenario.h"

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *loop)
{
    (void)fd, (void)events;
    MUST(SCRunLoopPerform((SCRunLoopRef)loop, 0) >= 0);
    return scenario_is_over() ? sd_event_exit(sd_event_source_get_event(source), 0) : 0;
}

int main(void)
{
    sd_event *event = NULL;
    sd_event_source *source = NULL;
    SCNetworkReachabilityRef target;
    SCRunLoopRef loop;
    struct host host = { .name = "sd-event", .wake = SCRunLoopWakeUp };

    scenario_enter();
    MUST(sd_event_new(&event) >= 0);
    target = scenario_target();

    loop = host.loop = SCRunLoopCreate();
    MUST(sd_event_add_io(event, &source, SCRunLoopGetFileDescriptor(loop), EPOLLIN, on_readable, loop) >= 0);
    MUST(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    scenario_run(&host);
    MUST(sd_event_loop(event) == 0);
    MUST(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    sd_event_source_unref(source);
    SCRunLoopRelease(loop);

    sd_event_unref(event);
    return scenario_end();
}
