/* Inside libuv's loop. Ends on Ctrl-C. */
#include <reachability/reachability.h>
#include <signal.h>
#include <stdio.h>
#include <uv.h>

static uv_poll_t poll_handle;
static uv_signal_t signal_handle;

static void changed(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *name)
{
    (void)target;
    printf("%s: %s\n", (const char *)name,
           flags & kSCNetworkReachabilityFlagsReachable ? "reachable" : "not reachable");
    fflush(stdout);
}

static void perform(uv_poll_t *handle, int status, int events)
{
    (void)status;
    (void)events;
    SCRunLoopPerform(handle->data, 0);
}

/* Without open handles, uv_run returns. */
static void quit(uv_signal_t *handle, int number)
{
    (void)number;
    uv_close((uv_handle_t *)handle, NULL);
    uv_close((uv_handle_t *)&poll_handle, NULL);
}

int main(int argc, char **argv)
{
    uv_loop_t *uv = uv_default_loop();
    SCRunLoopRef loop = SCRunLoopCreate();
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, argc > 1 ? argv[1] : "localhost");
    SCNetworkReachabilityContext context = kSCNetworkReachabilityContextInitializer;

    context.info = argc > 1 ? argv[1] : "localhost";
    SCNetworkReachabilitySetCallback(target, changed, &context);
    if (!SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode))
        return fprintf(stderr, "%s %s\n", SCErrorString(SCError()), SCErrorDetail()), 1;
    uv_poll_init(uv, &poll_handle, SCRunLoopGetFileDescriptor(loop));
    poll_handle.data = loop;
    uv_poll_start(&poll_handle, UV_READABLE, perform);
    uv_signal_init(uv, &signal_handle);
    uv_signal_start(&signal_handle, quit, SIGINT);
    uv_run(uv, UV_RUN_DEFAULT); /* until both handles are closed */

    /* The reverse order: the event loop gives up the descriptor before the library closes it. */
    SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode);
    SCNetworkReachabilityRelease(target);
    SCRunLoopRelease(loop);
    uv_loop_close(uv);
    uv_library_shutdown();
    return 0;
}
