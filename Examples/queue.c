#include <reachability/dispatch.h>
#include <stdio.h>

static void changed(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target;
    printf("%s: 0x%08x\n", (const char *)info, (unsigned)flags);
}

int main(void)
{
    SCNetworkReachabilityContext context = { 0, "192.0.2.1", NULL, NULL, NULL };
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, "192.0.2.1");

    SCNetworkReachabilitySetCallback(target, changed, &context);
    SCNetworkReachabilitySetDispatchQueue(target, dispatch_get_main_queue());
    dispatch_main();
}
