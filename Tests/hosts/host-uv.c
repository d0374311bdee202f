/* SPDX-License-Identifier: MIT */
/* libuv: a uv_poll_t on the library's descriptor. */
#include <uv.h>

#include "scenario.h"

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)events;
    MUST(status == 0);
    MUST(SCRunLoopPerform((SCRunLoopRef)poll->data, 0) >= 0);
    if (scenario_is_over())
        uv_close((uv_handle_t *)poll, NULL);
}

int main(void)
{
    uv_loop_t uv;
    uv_poll_t poll;
    SCNetworkReachabilityRef target;
    SCRunLoopRef loop;
    struct host host = { .name = "libuv", .wake = SCRunLoopWakeUp };

    scenario_enter();
    MUST(uv_loop_init(&uv) == 0);
    target = scenario_target();

    loop = host.loop = SCRunLoopCreate();
    poll.data = loop;
    MUST(uv_poll_init(&uv, &poll, SCRunLoopGetFileDescriptor(loop)) == 0);
    MUST(uv_poll_start(&poll, UV_READABLE, on_readable) == 0);
    MUST(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    scenario_run(&host);
    MUST(uv_run(&uv, UV_RUN_DEFAULT) == 0); /* until the handle is closed */
    MUST(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    SCRunLoopRelease(loop);

    MUST(uv_loop_close(&uv) == 0);
    return scenario_end();
}
