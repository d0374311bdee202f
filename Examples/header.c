#include <reachability/reachability.h>
#include <stdio.h>

static void changed(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    puts(flags & kSCNetworkReachabilityFlagsReachable ? "reachable" : "not reachable");
    (void)target, (void)info;
}

int main(void)
{
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, "example.com");
    SCNetworkReachabilitySetCallback(target, changed, NULL);
    SCNetworkReachabilityScheduleWithRunLoop(target, SCRunLoopGetCurrent(), kSCRunLoopDefaultMode);
    SCRunLoopRun();
}
