/* Is a host reachable, within 5 seconds? */
#include <reachability/reachability.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, argc > 1 ? argv[1] : "localhost");
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;
    const int result = SCNetworkReachabilityWait(target, kSCNetworkReachabilityConditionReachable, 5.0, &path);

    if (result < 0)
        return fprintf(stderr, "%s %s\n", SCErrorString(SCError()), SCErrorDetail()), 2;
    puts(result ? "reachable" : SCNetworkReachabilityReasonString(path.reason));
    SCNetworkReachabilityRelease(target);
    return !result;
}
