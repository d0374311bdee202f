/* SPDX-License-Identifier: MIT */
/* A program in C as it is written for macOS: addresses, a name, a pair, a run loop, a queue, a context. It prints the
 * flags of 192.0.2.1, waits for their change, and prints them again. */
#include <CoreFoundation/CoreFoundation.h>
#include <SystemConfiguration/SystemConfiguration.h>
#include <arpa/inet.h>
#include <dispatch/dispatch.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define TIMEOUT 20.0

struct watcher {
    int references;
    int calls;
    SCNetworkReachabilityFlags flags;
    dispatch_semaphore_t called; /* for a queue */
};

static const CFStringRef watcherName = CFSTR("watcher");

static void check(Boolean condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "failed: %s (%s)\n", what, SCErrorString(SCError()));
    exit(1);
}

static const void *retainWatcher(const void *info)
{
    ((struct watcher *)(uintptr_t)info)->references++;
    return info;
}

static void releaseWatcher(const void *info)
{
    ((struct watcher *)(uintptr_t)info)->references--;
}

static CFStringRef copyWatcherDescription(const void *info)
{
    return CFStringCreateWithFormat(kCFAllocatorDefault, NULL, CFSTR("<watcher %p>"), info);
}

static void changed(__unused SCNetworkReachabilityRef target, SCNetworkConnectionFlags flags, void *info)
{
    struct watcher *watcher = info;

    watcher->calls++;
    watcher->flags = flags;
    if (watcher->called != NULL)
        dispatch_semaphore_signal(watcher->called);
    else
        CFRunLoopStop(CFRunLoopGetCurrent());
}

static SCNetworkReachabilityRef createWithIPv4(const char *text)
{
    struct sockaddr_in address;

    memset(&address, 0, sizeof(address));
    address.sin_len = sizeof(address);
    address.sin_family = AF_INET;
    inet_pton(AF_INET, text, &address.sin_addr);
    return SCNetworkReachabilityCreateWithAddress(kCFAllocatorDefault, (const struct sockaddr *)&address);
}

static SCNetworkReachabilityRef createWithIPv6(const char *text)
{
    struct sockaddr_in6 address;

    memset(&address, 0, sizeof(address));
    address.sin6_len = sizeof(address);
    address.sin6_family = AF_INET6;
    inet_pton(AF_INET6, text, &address.sin6_addr);
    return SCNetworkReachabilityCreateWithAddress(kCFAllocatorDefault, (const struct sockaddr *)&address);
}

static Boolean isReachable(SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityFlags flags = 0;
    Boolean ok = SCNetworkReachabilityGetFlags(target, &flags);

    CFRelease(target);
    return ok && (flags & kSCNetworkReachabilityFlagsReachable) && !(flags & kSCNetworkFlagsConnectionRequired);
}

/* Targets of every kind have flags. */
static void checkKinds(void)
{
    struct sockaddr zero, localWiFi;
    struct sockaddr_in pair = { .sin_len = sizeof(pair), .sin_family = AF_INET };
    SCNetworkConnectionFlags flags;

    memset(&zero, 0, sizeof(zero));
    zero.sa_len = sizeof(zero);
    zero.sa_family = AF_INET;
    check(isReachable(SCNetworkReachabilityCreateWithAddress(NULL, &zero)), "the default path is reachable");
    localWiFi = zero;
    ((struct sockaddr_in *)&localWiFi)->sin_addr.s_addr = htonl(IN_LINKLOCALNETNUM);
    check(isReachable(SCNetworkReachabilityCreateWithAddress(NULL, &localWiFi)), "the local network is reachable");
    pair.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    check(isReachable(
              SCNetworkReachabilityCreateWithAddressPair(NULL, (struct sockaddr *)&pair, (struct sockaddr *)&pair)),
          "a pair of addresses is reachable");
    check(isReachable(createWithIPv6("::1")), "::1 is reachable");
    check(isReachable(SCNetworkReachabilityCreateWithName(NULL, "localhost")), "a name is reachable");
    check(SCNetworkCheckReachabilityByName("127.0.0.1", &flags) && flags & kSCNetworkFlagsIsLocalAddress,
          "127.0.0.1 is local");
    check(SCNetworkReachabilityCreateWithName(NULL, "") == NULL && SCError() == kSCStatusInvalidArgument,
          "an empty name is refused");
}

static void checkObjects(SCNetworkReachabilityRef target)
{
    char text[64];
    CFStringRef description = copyWatcherDescription(target);

    CFRetain(target);
    CFRelease(target);
    check(CFGetTypeID(target) == SCNetworkReachabilityGetTypeID(), "a target has the type of targets");
    check(CFStringGetCString(description, text, sizeof(text), kCFStringEncodingUTF8) && strncmp(text, "<wa", 3) == 0,
          "a string has a text");
    check(CFStringGetLength(watcherName) == 7 && !CFEqual(watcherName, description), "strings differ");
    CFRelease(description);
}

/* The target of a name calls back on its queue after it was scheduled. */
static void checkQueue(void)
{
    struct watcher watcher = { .called = dispatch_semaphore_create(0) };
    SCNetworkReachabilityContext context = { 0, &watcher, NULL, NULL, NULL };
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, "localhost");
    dispatch_queue_t queue = dispatch_queue_create("watcher", DISPATCH_QUEUE_SERIAL);

    check(SCNetworkReachabilitySetCallback(target, changed, &context), "a target has a callback");
    check(SCNetworkReachabilitySetDispatchQueue(target, queue), "a target is on a queue");
    check(dispatch_semaphore_wait(watcher.called, dispatch_time(DISPATCH_TIME_NOW, 20 * NSEC_PER_SEC)) == 0,
          "the queue's callback comes");
    SCNetworkReachabilitySetCallback(target, NULL, NULL);
    SCNetworkReachabilitySetDispatchQueue(target, NULL);
    CFRelease(target);
    dispatch_release(queue);
}

/* The main run loop serves the main queue. */
static void setTrue(void *context)
{
    *(Boolean *)context = TRUE;
    CFRunLoopStop(CFRunLoopGetMain());
}

static void checkMainQueue(void)
{
    Boolean ran = FALSE;

    dispatch_async_f(dispatch_get_main_queue(), &ran, setTrue);
    CFRunLoopRun();
    check(ran, "the main run loop serves the main queue");
}

int main(void)
{
    struct watcher watcher = { 0, 0, 0, NULL };
    SCNetworkReachabilityContext context = { 0, &watcher, retainWatcher, releaseWatcher, copyWatcherDescription };
    SCNetworkReachabilityRef target = createWithIPv4("192.0.2.1");
    SCNetworkReachabilityFlags flags;
    SInt32 result;

    checkKinds();
    checkObjects(target);
    checkQueue();
    checkMainQueue();
    check(SCNetworkReachabilitySetCallback(target, changed, &context), "a target has a callback");
    check(SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetCurrent(), kCFRunLoopDefaultMode),
          "a target is on a run loop");
    check(SCNetworkReachabilityGetFlags(target, &flags), "a target has flags");
    printf("before %#x\n", (unsigned int)flags);
    fflush(stdout);
    result = CFRunLoopRunInMode(kCFRunLoopDefaultMode, TIMEOUT, FALSE);
    check(result == kCFRunLoopRunStopped && watcher.calls == 1, "the run loop's callback comes once");
    printf("after %#x\n", (unsigned int)watcher.flags);
    SCNetworkReachabilityUnscheduleFromRunLoop(target, CFRunLoopGetCurrent(), kCFRunLoopDefaultMode);
    CFRelease(target);
    check(watcher.references == 0, "the context is released");
    return watcher.flags & kSCNetworkReachabilityFlagsReachable ? 1 : 0;
}
