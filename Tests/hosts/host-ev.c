/* SPDX-License-Identifier: MIT */
/* libev: an ev_io on the library's descriptor. */
#include <ev.h>

#include "scenario.h"

static void on_readable(struct ev_loop *ev, ev_io *io, int events)
{
    (void)events;
    MUST(SCRunLoopPerform((SCRunLoopRef)io->data, 0) >= 0);
    if (scenario_is_over())
        ev_break(ev, EVBREAK_ALL);
}

int main(void)
{
    struct ev_loop *ev;
    ev_io io;
    SCNetworkReachabilityRef target;
    SCRunLoopRef loop;
    struct host host = { .name = "libev", .wake = SCRunLoopWakeUp };

    scenario_enter();
    MUST((ev = ev_loop_new(EVFLAG_AUTO)) != NULL);
    target = scenario_target();

    loop = host.loop = SCRunLoopCreate();
    ev_io_init(&io, on_readable, SCRunLoopGetFileDescriptor(loop), EV_READ);
    io.data = loop;
    ev_io_start(ev, &io);
    MUST(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    scenario_run(&host);
    ev_run(ev, 0);
    MUST(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    ev_io_stop(ev, &io);
    SCRunLoopRelease(loop);

    ev_loop_destroy(ev);
    return scenario_end();
}
