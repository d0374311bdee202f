#include <reachability/reachability.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    SCNetworkReachabilityRef   target = SCNetworkReachabilityCreateWithName(NULL, argc > 1 ? argv[1] : "192.0.2.1");
    SCNetworkReachabilityFlags flags = 0;

    if (!SCNetworkReachabilityGetFlags(target, &flags))
        return puts(SCErrorString(SCError())), 1;
    puts(flags & kSCNetworkReachabilityFlagsReachable ? "a packet can leave for it" : "no packet can leave for it");
    SCNetworkReachabilityRelease(target);
    return 0;
}
