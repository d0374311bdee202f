/* Inside an sd-event loop, as in systemd's own programs. Ends on Ctrl-C. */
#include <reachability/reachability.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>

static void changed(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *name)
{
    (void)target;
    printf("%s: %s\n", (const char *)name,
           flags & kSCNetworkReachabilityFlagsReachable ? "reachable" : "not reachable");
    fflush(stdout);
}

static int perform(sd_event_source *source, int fd, uint32_t events, void *loop)
{
    (void)source;
    (void)fd;
    (void)events;
    SCRunLoopPerform(loop, 0);
    return 0;
}

int main(int argc, char **argv)
{
    sd_event *event = NULL;
    sd_event_source *source = NULL;
    SCRunLoopRef loop = SCRunLoopCreate();
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, argc > 1 ? argv[1] : "localhost");
    SCNetworkReachabilityContext context = kSCNetworkReachabilityContextInitializer;
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    context.info = argc > 1 ? argv[1] : "localhost";
    SCNetworkReachabilitySetCallback(target, changed, &context);
    if (!SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode))
        return fprintf(stderr, "%s %s\n", SCErrorString(SCError()), SCErrorDetail()), 1;
    sd_event_default(&event);
    sd_event_add_io(event, &source, SCRunLoopGetFileDescriptor(loop), EPOLLIN, perform, loop);
    sd_event_add_signal(event, NULL, SIGINT, NULL, NULL); /* ends the loop */
    sd_event_loop(event);

    /* The reverse order: the event loop gives up the descriptor before the library closes it. */
    sd_event_source_disable_unref(source);
    sd_event_unref(event);
    SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode);
    SCNetworkReachabilityRelease(target);
    SCRunLoopRelease(loop);
    return 0;
}
