/* SPDX-License-Identifier: MIT */
/* A program that uses the installed library. Its argument is the version that the library must have. */
#include <netinet/in.h>
#include <reachability/reachability.h>
#include <stdio.h>
#include <string.h>

static int calls;

static void changed(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target;
    (void)flags;
    (void)info;
    calls++;
}

int main(int count, char **arguments)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    SCNetworkReachabilityRef target;
    SCNetworkReachabilityFlags flags, scheduled;
    char text[256];

    if (count != 2 || strcmp(arguments[1], SCNetworkReachabilityGetVersion()) != 0 ||
        strcmp(arguments[1], REACHABILITY_VERSION) != 0) {
        fprintf(stderr, "version %s\n", SCNetworkReachabilityGetVersion());
        return 1;
    }
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    target = SCNetworkReachabilityCreateWithAddress(NULL, (const struct sockaddr *)&address);
    if (!SCNetworkReachabilityGetFlags(target, &flags) || !SCNetworkReachabilitySetCallback(target, changed, NULL) ||
        !SCNetworkReachabilityScheduleWithRunLoop(target, SCRunLoopGetCurrent(), kSCRunLoopDefaultMode) ||
        SCRunLoopPerform(SCRunLoopGetCurrent(), 0) < 0 || !SCNetworkReachabilityGetFlags(target, &scheduled)) {
        fprintf(stderr, "%s\n", SCErrorString(SCError()));
        return 1;
    }
    if (flags != scheduled || calls != 0 || SCNetworkReachabilityFlagsGetString(flags, text, sizeof text) == 0) {
        fprintf(stderr, "flags %#x, scheduled %#x, %d calls\n", flags, scheduled, calls);
        return 1;
    }
    SCNetworkReachabilityUnscheduleFromRunLoop(target, SCRunLoopGetCurrent(), kSCRunLoopDefaultMode);
    SCNetworkReachabilityRelease(target);
    return 0;
}
