#include <reachability/reachability.h>
#include <stdio.h>

static void changed(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    char text[128];

    (void)target;
    SCNetworkReachabilityFlagsGetString(flags, text, sizeof text);
    printf("%s: %s\n", (const char *)info, text);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    SCNetworkReachabilityContext context = kSCNetworkReachabilityContextInitializer;
    char *name = argc > 1 ? argv[1] : "localhost";
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, name);

    context.info = name;
    SCNetworkReachabilitySetCallback(target, changed, &context);
    SCNetworkReachabilityScheduleWithRunLoop(target, SCRunLoopGetCurrent(), kSCRunLoopDefaultMode);
    SCRunLoopRunInMode(kSCRunLoopDefaultMode, 10.0, 0);
    SCNetworkReachabilityUnscheduleFromRunLoop(target, SCRunLoopGetCurrent(), kSCRunLoopDefaultMode);
    SCNetworkReachabilityRelease(target);
    return 0;
}
