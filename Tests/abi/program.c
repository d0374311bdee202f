/* SPDX-License-Identifier: MIT */
/* A program built with the header of an old version. It passes structures of that version's sizes to today's library,
 * and needs every function of that version (SYMBOLS, written by Tests/checks/abi). */
#include <netinet/in.h>
#include <reachability/reachability.h>
#include <stdio.h>
#include <string.h>

#define SYMBOL(name) (void (*)(void))(name),
static void (*const functions[])(void) = { SYMBOLS };

static void changed(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target;
    (void)flags;
    (void)info;
}

static int fail(const char *call)
{
    fprintf(stderr, "%s: %s\n", call, SCErrorString(SCError()));
    return 1;
}

int main(void)
{
    struct {
        SCNetworkReachabilityPath path;
        unsigned char after[64]; /* of this program, not the library's */
    } room = { .path = kSCNetworkReachabilityPathInitializer };
    struct sockaddr_in loopback = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
    SCNetworkReachabilityContext context = { 0, NULL, NULL, NULL, NULL };
    SCNetworkReachabilityRef target;

    memset(room.after, 0xa5, sizeof room.after);
    options.remoteAddress = (const struct sockaddr *)&loopback;
    options.remoteAddressLength = sizeof loopback;
    target = SCNetworkReachabilityCreateWithOptions(NULL, &options);
    if (target == NULL)
        return fail("CreateWithOptions");
    if (!SCNetworkReachabilitySetCallback(target, changed, &context) ||
        !SCNetworkReachabilityScheduleWithRunLoop(target, SCRunLoopGetCurrent(), kSCRunLoopDefaultMode))
        return fail("ScheduleWithRunLoop");
    if (!SCNetworkReachabilityGetPath(target, &room.path))
        return fail("GetPath");
    for (size_t i = 0; i < sizeof room.after; i++)
        if (room.after[i] != 0xa5)
            return fputs("GetPath wrote beyond the structure\n", stderr), 1;
    SCNetworkReachabilityUnscheduleFromRunLoop(target, SCRunLoopGetCurrent(), kSCRunLoopDefaultMode);
    SCNetworkReachabilityRelease(target);
    return functions[0] == NULL;
}
