/* SPDX-License-Identifier: MIT */
/* A program in Objective-C as it is written for macOS, in the shape of Apple's sample: a Reachability with a notifier on
 * the current run loop, which posts notifications. It has no blocks, so it compiles with gcc. It prints the flags of
 * 192.0.2.1, waits for their change, and prints them again. */
#import <Foundation/Foundation.h>
#import <SystemConfiguration/SystemConfiguration.h>
#import <arpa/inet.h>
#import <netdb.h>
#import <netinet/in.h>
#import <netinet6/in6.h>
#import <sys/socket.h>

typedef enum { NotReachable = 0, ReachableViaWiFi, ReachableViaWWAN } NetworkStatus;

static NSString *kReachabilityChangedNotification = @"kNetworkReachabilityChangedNotification";

@interface Reachability : NSObject {
    SCNetworkReachabilityRef _reachabilityRef;
}
+ (Reachability *)reachabilityWithHostName:(NSString *)hostName;
+ (Reachability *)reachabilityWithAddress:(const struct sockaddr *)hostAddress;
+ (Reachability *)reachabilityForInternetConnection;
- (BOOL)startNotifier;
- (void)stopNotifier;
- (NetworkStatus)currentReachabilityStatus;
- (SCNetworkReachabilityFlags)flags;
@end

static void ReachabilityCallback(SCNetworkReachabilityRef __unused target, SCNetworkReachabilityFlags __unused flags,
                                 void *info)
{
    NSCAssert(info != NULL, @"info was NULL in ReachabilityCallback");
    NSCAssert([(NSObject *)info isKindOfClass:[Reachability class]], @"info was of another class");
    [[NSNotificationCenter defaultCenter] postNotificationName:kReachabilityChangedNotification
                                                        object:(Reachability *)info];
}

@implementation Reachability

+ (Reachability *)reachabilityWithReference:(SCNetworkReachabilityRef)reference
{
    Reachability *result = NULL;

    if (reference != NULL) {
        result = [[[self alloc] init] autorelease];
        if (result != NULL)
            result->_reachabilityRef = reference;
        else
            CFRelease(reference);
    }
    return result;
}

+ (Reachability *)reachabilityWithHostName:(NSString *)hostName
{
    return [self reachabilityWithReference:SCNetworkReachabilityCreateWithName(NULL, [hostName UTF8String])];
}

+ (Reachability *)reachabilityWithAddress:(const struct sockaddr *)hostAddress
{
    return [self reachabilityWithReference:SCNetworkReachabilityCreateWithAddress(kCFAllocatorDefault, hostAddress)];
}

+ (Reachability *)reachabilityForInternetConnection
{
    struct sockaddr_in zeroAddress;

    memset(&zeroAddress, 0, sizeof(zeroAddress));
    zeroAddress.sin_len = sizeof(zeroAddress);
    zeroAddress.sin_family = AF_INET;
    return [self reachabilityWithAddress:(const struct sockaddr *)&zeroAddress];
}

- (BOOL)startNotifier
{
    SCNetworkReachabilityContext context = { 0, (void *)self, NULL, NULL, NULL };

    return SCNetworkReachabilitySetCallback(_reachabilityRef, ReachabilityCallback, &context) &&
           SCNetworkReachabilityScheduleWithRunLoop(_reachabilityRef, CFRunLoopGetCurrent(), kCFRunLoopDefaultMode);
}

- (void)stopNotifier
{
    if (_reachabilityRef != NULL)
        SCNetworkReachabilityUnscheduleFromRunLoop(_reachabilityRef, CFRunLoopGetCurrent(), kCFRunLoopDefaultMode);
}

- (void)dealloc
{
    [self stopNotifier];
    if (_reachabilityRef != NULL)
        CFRelease(_reachabilityRef);
    [super dealloc];
}

- (SCNetworkReachabilityFlags)flags
{
    SCNetworkReachabilityFlags flags = 0;

    NSAssert(_reachabilityRef != NULL, @"flags called with NULL SCNetworkReachabilityRef");
    return SCNetworkReachabilityGetFlags(_reachabilityRef, &flags) ? flags : 0;
}

- (NetworkStatus)currentReachabilityStatus
{
    SCNetworkReachabilityFlags flags = [self flags];

    if ((flags & kSCNetworkReachabilityFlagsReachable) == 0)
        return NotReachable;
    if ((flags & kSCNetworkReachabilityFlagsIsWWAN) == kSCNetworkReachabilityFlagsIsWWAN)
        return ReachableViaWWAN;
    return ReachableViaWiFi;
}

@end

@interface Observer : NSObject {
@public
    int _notifications;
}
- (void)reachabilityChanged:(NSNotification *)notification;
@end

@implementation Observer

- (void)reachabilityChanged:(NSNotification *)notification
{
    NSParameterAssert([[notification object] isKindOfClass:[Reachability class]]);
    _notifications++;
}

@end

int main(void)
{
    NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
    struct sockaddr_in address;
    Observer *observer = [[[Observer alloc] init] autorelease];
    NSDate *end = [NSDate dateWithTimeIntervalSinceNow:20];
    Reachability *host;
    NetworkStatus status;

    memset(&address, 0, sizeof(address));
    address.sin_len = sizeof(address);
    address.sin_family = AF_INET;
    inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);
    host = [Reachability reachabilityWithAddress:(const struct sockaddr *)&address];
    if ([[Reachability reachabilityWithHostName:@"127.0.0.1"] currentReachabilityStatus] != ReachableViaWiFi ||
        [[Reachability reachabilityForInternetConnection] currentReachabilityStatus] == NotReachable) {
        NSLog(@"127.0.0.1 or the default path is not reachable: %s", SCErrorString(SCError()));
        return 1;
    }
    [[NSNotificationCenter defaultCenter] addObserver:observer
                                             selector:@selector(reachabilityChanged:)
                                                 name:kReachabilityChangedNotification
                                               object:host];
    if (![host startNotifier])
        return 1;
    printf("before %#x\n", (unsigned int)[host flags]);
    fflush(stdout);
    while (observer->_notifications == 0 && [end timeIntervalSinceNow] > 0)
        [[NSRunLoop currentRunLoop] runMode:NSDefaultRunLoopMode beforeDate:end];
    printf("after %#x\n", (unsigned int)[host flags]);
    status = [host currentReachabilityStatus];
    [host stopNotifier];
    [[NSNotificationCenter defaultCenter] removeObserver:observer];
    [pool release];
    return status == NotReachable && observer != nil ? 0 : 1;
}
