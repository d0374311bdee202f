/* Inside a poll(2) loop of the program's own: one descriptor for all targets. */
#include <poll.h>
#include <reachability/reachability.h>
#include <stdio.h>
#include <unistd.h>

static void changed(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    char text[128];

    (void)target;
    (void)info;
    SCNetworkReachabilityFlagsGetString(flags, text, sizeof text);
    printf("the default path: %s\n", text);
}

/* Until standard input ends. */
int main(void)
{
    SCRunLoopRef loop = SCRunLoopGetCurrent();
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, "0.0.0.0");
    struct pollfd ready[] = { { .fd = SCRunLoopGetFileDescriptor(loop), .events = POLLIN },
                              { .fd = STDIN_FILENO, .events = POLLIN } };
    char byte;

    SCNetworkReachabilitySetCallback(target, changed, NULL);
    if (!SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode))
        return puts(SCErrorString(SCError())), 1;
    while (poll(ready, 2, -1) >= 0) {
        if (ready[0].revents != 0)
            SCRunLoopPerform(loop, 0);
        if (ready[1].revents != 0 && read(STDIN_FILENO, &byte, 1) <= 0)
            break;
    }
    SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode);
    SCNetworkReachabilityRelease(target);
    return 0;
}
