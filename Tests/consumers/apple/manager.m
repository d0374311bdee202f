/* SPDX-License-Identifier: MIT */
/* A program in Objective-C as it is written for macOS. A manager in the shape of AFNetworking, on the main run loop: the
 * context of its callback is a block, which goes on to the main queue, where the manager sets its status and posts a
 * notification. And a Reachability in the shape of tonymillion, with a serial queue and blocks. The program prints the
 * flags of 192.0.2.1, waits for their change, and prints them again. */
#import <Foundation/Foundation.h>
#import <SystemConfiguration/SystemConfiguration.h>
#import <TargetConditionals.h>

#import <arpa/inet.h>
#import <netinet/in.h>
#import <netinet6/in6.h>

NSString *const ManagerDidChangeNotification = @"ManagerDidChangeNotification";
NSString *const ManagerStatusItem = @"ManagerStatusItem";

typedef NS_ENUM(NSInteger, ManagerStatus) {
    ManagerStatusUnknown = -1,
    ManagerStatusNotReachable = 0,
    ManagerStatusReachableViaWWAN = 1,
    ManagerStatusReachableViaWiFi = 2,
};

typedef void (^StatusBlock)(ManagerStatus status);

static ManagerStatus StatusForFlags(SCNetworkReachabilityFlags flags)
{
    BOOL isReachable = ((flags & kSCNetworkReachabilityFlagsReachable) != 0);
    BOOL needsConnection = ((flags & kSCNetworkReachabilityFlagsConnectionRequired) != 0);
    BOOL canConnectAutomatically = (((flags & kSCNetworkReachabilityFlagsConnectionOnDemand) != 0) ||
                                    ((flags & kSCNetworkReachabilityFlagsConnectionOnTraffic) != 0));
    BOOL canConnectWithoutUser =
        (canConnectAutomatically && (flags & kSCNetworkReachabilityFlagsInterventionRequired) == 0);

    if (!isReachable || (needsConnection && !canConnectWithoutUser))
        return ManagerStatusNotReachable;
#if TARGET_OS_IPHONE
    if ((flags & kSCNetworkReachabilityFlagsIsWWAN) != 0)
        return ManagerStatusReachableViaWWAN;
#endif
    return ManagerStatusReachableViaWiFi;
}

static void PostStatusChange(SCNetworkReachabilityFlags flags, StatusBlock block)
{
    ManagerStatus status = StatusForFlags(flags);

    dispatch_async(dispatch_get_main_queue(), ^{
        NSDictionary *userInfo = @{ ManagerStatusItem : @(status) };

        if (block)
            block(status);
        [[NSNotificationCenter defaultCenter] postNotificationName:ManagerDidChangeNotification
                                                            object:nil
                                                          userInfo:userInfo];
    });
}

static void ManagerCallback(SCNetworkReachabilityRef __unused target, SCNetworkReachabilityFlags flags, void *info)
{
    PostStatusChange(flags, (__bridge StatusBlock)info);
}

static const void *ManagerRetainCallback(const void *info)
{
    return Block_copy(info);
}

static void ManagerReleaseCallback(const void *info)
{
    if (info)
        Block_release(info);
}

@interface Manager : NSObject {
    SCNetworkReachabilityRef _networkReachability;
    ManagerStatus _status;
}
@property(nonatomic, assign) ManagerStatus status;
- (instancetype)initWithReachability:(SCNetworkReachabilityRef)reachability;
- (void)startMonitoring;
- (void)stopMonitoring;
@end

@implementation Manager

@synthesize status = _status;

- (instancetype)initWithReachability:(SCNetworkReachabilityRef)reachability
{
    self = [super init];
    if (!self)
        return nil;
    _networkReachability = CFRetain(reachability);
    self.status = ManagerStatusUnknown;
    return self;
}

- (void)dealloc
{
    [self stopMonitoring];
    if (_networkReachability != NULL)
        CFRelease(_networkReachability);
    [super dealloc];
}

- (void)startMonitoring
{
    __unsafe_unretained Manager *weakSelf = self;
    StatusBlock                  callback = ^(ManagerStatus status) {
        weakSelf.status = status;
    };
    SCNetworkReachabilityContext context = { 0, (__bridge void *)callback, ManagerRetainCallback,
                                             ManagerReleaseCallback, NULL };
    SCNetworkReachabilityRef reachability = _networkReachability;

    [self stopMonitoring];
    SCNetworkReachabilitySetCallback(reachability, ManagerCallback, &context);
    SCNetworkReachabilityScheduleWithRunLoop(reachability, CFRunLoopGetMain(), kCFRunLoopCommonModes);
    dispatch_async(dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_BACKGROUND, 0), ^{
        SCNetworkReachabilityFlags flags;

        if (SCNetworkReachabilityGetFlags(reachability, &flags))
            PostStatusChange(flags, callback);
    });
}

- (void)stopMonitoring
{
    SCNetworkReachabilityUnscheduleFromRunLoop(_networkReachability, CFRunLoopGetMain(), kCFRunLoopCommonModes);
}

@end

/* In tonymillion's shape. */
@interface Reachability : NSObject {
    SCNetworkReachabilityRef _reachabilityRef;
    dispatch_queue_t         _reachabilitySerialQueue;
    id                       _reachabilityObject;
    void (^_unreachableBlock)(Reachability *reachability);
}
@property(nonatomic, assign) SCNetworkReachabilityRef reachabilityRef;
@property(nonatomic, assign) dispatch_queue_t         reachabilitySerialQueue;
@property(nonatomic, assign) id                       reachabilityObject;
@property(nonatomic, assign) void (^unreachableBlock)(Reachability *reachability);
- (void)reachabilityChanged:(SCNetworkReachabilityFlags)flags;
- (BOOL)startNotifier;
- (void)stopNotifier;
@end

static void TMReachabilityCallback(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
#pragma unused(target)
    Reachability *reachability = ((__bridge Reachability *)info);

    @autoreleasepool {
        [reachability reachabilityChanged:flags];
    }
}

@implementation Reachability

@synthesize reachabilityRef = _reachabilityRef;
@synthesize reachabilitySerialQueue = _reachabilitySerialQueue;
@synthesize reachabilityObject = _reachabilityObject;
@synthesize unreachableBlock = _unreachableBlock;

- (void)reachabilityChanged:(SCNetworkReachabilityFlags)flags
{
    if (!(flags & kSCNetworkReachabilityFlagsReachable) && self.unreachableBlock)
        self.unreachableBlock(self);
}

- (BOOL)startNotifier
{
    SCNetworkReachabilityContext context = { 0, NULL, NULL, NULL, NULL };

    if (self.reachabilityObject && (self.reachabilityObject == self))
        return YES;
    context.info = (__bridge void *)self;
    if (SCNetworkReachabilitySetCallback(self.reachabilityRef, TMReachabilityCallback, &context)) {
        if (SCNetworkReachabilitySetDispatchQueue(self.reachabilityRef, self.reachabilitySerialQueue)) {
            self.reachabilityObject = self;
            return YES;
        }
        SCNetworkReachabilitySetCallback(self.reachabilityRef, NULL, NULL);
    }
    return NO;
}

- (void)stopNotifier
{
    SCNetworkReachabilitySetCallback(self.reachabilityRef, NULL, NULL);
    SCNetworkReachabilitySetDispatchQueue(self.reachabilityRef, NULL);
    self.reachabilityObject = nil;
}

@end

static void runUntil(BOOL (^isTrue)(void))
{
    NSDate *end = [NSDate dateWithTimeIntervalSinceNow:20];

    while (!isTrue() && [end timeIntervalSinceNow] > 0) {
        @autoreleasepool {
            [[NSRunLoop currentRunLoop] runMode:NSDefaultRunLoopMode beforeDate:end];
        }
    }
}

int main(void)
{
    @autoreleasepool {
        struct sockaddr_in address;
        SCNetworkReachabilityRef reference;
        SCNetworkReachabilityFlags flags = 0;
        Reachability *host = [[Reachability alloc] init];
        Manager *manager;
        __block BOOL               isUnreachable = NO;

        bzero(&address, sizeof(address));
        address.sin_len = sizeof(address);
        address.sin_family = AF_INET;
        inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);
        reference = SCNetworkReachabilityCreateWithAddress(kCFAllocatorDefault, (const struct sockaddr *)&address);
        manager = [[Manager alloc] initWithReachability:reference];
        CFRelease(reference);
        [manager startMonitoring];

        host.reachabilityRef = SCNetworkReachabilityCreateWithName(NULL, [@"192.0.2.1" UTF8String]);
        host.reachabilitySerialQueue = dispatch_queue_create("reachability", NULL);
        host.unreachableBlock = ^(Reachability *__unused reachability) {
            dispatch_async(dispatch_get_main_queue(), ^{
                isUnreachable = YES;
            });
        };
        if (![host startNotifier])
            return 1;

        runUntil(^BOOL {
            return manager.status != ManagerStatusUnknown;
        });
        SCNetworkReachabilityGetFlags(reference, &flags);
        printf("before %#x\n", (unsigned int)flags);
        fflush(stdout);
        runUntil(^BOOL {
            return manager.status == ManagerStatusNotReachable && isUnreachable;
        });
        SCNetworkReachabilityGetFlags(reference, &flags);
        printf("after %#x\n", (unsigned int)flags);
        if (manager.status != ManagerStatusNotReachable || !isUnreachable)
            return 1;
        [manager release];
        [host stopNotifier];
        CFRelease(host.reachabilityRef);
        dispatch_release(host.reachabilitySerialQueue);
        [host release];
        return 0;
    }
}
