#include <reachability/reachability.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, argc > 1 ? argv[1] : "192.0.2.1");
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;
    char text[256];

    if (!SCNetworkReachabilityGetPath(target, &path))
        return puts(SCErrorString(SCError())), 1;
    if (path.reason == kSCNetworkReachabilityReasonNamePending)
        puts("not known yet: a name is looked up while its target is scheduled");
    else if (SCNetworkReachabilityPathGetString(&path, text, sizeof text))
        puts(text);
    SCNetworkReachabilityRelease(target);
    return 0;
}
