#include <reachability/reachability.h>
#include <stdio.h>

static void changed(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target;
    printf("%s: 0x%08x\n", (const char *)info, (unsigned)flags);
}

int main(void)
{
    SCNetworkReachabilityContext context = { 0, "192.0.2.1", NULL, NULL, NULL };
    SCNetworkReachabilityRef     target = SCNetworkReachabilityCreateWithName(NULL, "192.0.2.1");
    SCNetworkReachabilityFlags   flags = 0;

    SCNetworkReachabilitySetCallback(target, changed, &context);
    SCNetworkReachabilityScheduleWithRunLoop(target, SCRunLoopGetCurrent(), kSCRunLoopDefaultMode);
    if (SCNetworkReachabilityGetFlags(target, &flags))
        changed(target, flags, context.info);
    SCRunLoopRunInMode(kSCRunLoopDefaultMode, 10.0, 0);
    SCNetworkReachabilityUnscheduleFromRunLoop(target, SCRunLoopGetCurrent(), kSCRunLoopDefaultMode);
    SCNetworkReachabilityRelease(target);
    return 0;
}
