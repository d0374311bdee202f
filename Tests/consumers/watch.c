/* SPDX-License-Identifier: MIT */
/* Prints the flags of an address, and each change, for Tests/consumers/toggle: `watch ADDRESS CHANGES`. */
#include <reachability/reachability.h>
#include <stdio.h>
#include <stdlib.h>

static int changes; /* until the program ends */

static void print_flags(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target;
    (void)info;
    printf("0x%08x\n", (unsigned)flags);
    changes--;
}

int main(int argc, char **argv)
{
    SCNetworkReachabilityContext context = kSCNetworkReachabilityContextInitializer;
    SCNetworkReachabilityRef target = argc == 3 ? SCNetworkReachabilityCreateWithName(NULL, argv[1]) : NULL;
    SCNetworkReachabilityFlags flags;

    if (target == NULL || !SCNetworkReachabilitySetCallback(target, print_flags, &context) ||
        !SCNetworkReachabilityScheduleWithRunLoop(target, SCRunLoopGetCurrent(), kSCRunLoopDefaultMode) ||
        !SCNetworkReachabilityGetFlags(target, &flags))
        return 1;
    changes = 1 + atoi(argv[2]);
    print_flags(target, flags, NULL);
    while (changes > 0 && SCRunLoopRunInMode(kSCRunLoopDefaultMode, 60, 1) == kSCRunLoopRunHandledSource)
        continue;
    SCNetworkReachabilityUnscheduleFromRunLoop(target, SCRunLoopGetCurrent(), kSCRunLoopDefaultMode);
    SCNetworkReachabilityRelease(target);
    return changes > 0;
}
