/* Inside an epoll(7) loop of the program's own. Ends on Ctrl-C. */
#include <reachability/reachability.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void changed(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *name)
{
    (void)target;
    printf("%s: %s\n", (const char *)name,
           flags & kSCNetworkReachabilityFlagsReachable ? "reachable" : "not reachable");
    fflush(stdout);
}

static void add(int epoll, int fd)
{
    struct epoll_event event = { .events = EPOLLIN, .data = { .fd = fd } };

    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

int main(int argc, char **argv)
{
    SCNetworkReachabilityContext context = kSCNetworkReachabilityContextInitializer;
    struct epoll_event event;
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_BLOCK, &signals, NULL);

    SCRunLoopRef loop = SCRunLoopCreate();
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, argc > 1 ? argv[1] : "localhost");
    const int epoll = epoll_create1(EPOLL_CLOEXEC), quit = signalfd(-1, &signals, SFD_CLOEXEC);

    context.info = argc > 1 ? argv[1] : "localhost";
    SCNetworkReachabilitySetCallback(target, changed, &context);
    if (!SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode))
        return fprintf(stderr, "%s %s\n", SCErrorString(SCError()), SCErrorDetail()), 1;
    add(epoll, SCRunLoopGetFileDescriptor(loop));
    add(epoll, quit);
    while (epoll_wait(epoll, &event, 1, -1) < 0 || event.data.fd != quit)
        SCRunLoopPerform(loop, 0);

    /* The reverse order: the event loop gives up the descriptor before the library closes it. */
    epoll_ctl(epoll, EPOLL_CTL_DEL, SCRunLoopGetFileDescriptor(loop), NULL);
    SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode);
    SCNetworkReachabilityRelease(target);
    SCRunLoopRelease(loop);
    close(quit);
    close(epoll);
    return 0;
}
