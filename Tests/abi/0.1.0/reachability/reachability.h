#ifndef REACHABILITY_REACHABILITY_H
#define REACHABILITY_REACHABILITY_H
#ifdef __swift__
#include <features.h>
#ifdef __GLIBC__
#pragma clang module import SwiftGlibc
#endif
#endif
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#define REACHABILITY_VERSION       "0.1.0"
#define REACHABILITY_VERSION_MAJOR 0
#define REACHABILITY_VERSION_MINOR 1
#define REACHABILITY_VERSION_PATCH 0
#include <reachability/declarations.h>
SC_BEGIN_DECLS
#ifdef __swift__
typedef _Bool SCBoolean;
#else
typedef unsigned char SCBoolean;
#if !defined(SC_NO_BOOLEAN) && !defined(__COREFOUNDATION_CFBASE__)
typedef SCBoolean Boolean;
#endif
#endif
SC_ENUM(int, SCStatus) {
    kSCStatusOK                  = 0,
    kSCStatusFailed              = 1001,
    kSCStatusInvalidArgument     = 1002,
    kSCStatusAccessError         = 1003,
    kSCStatusReachabilityUnknown = 4001,
};
int SCError(void);
const char *SCErrorString(int status);
const char *SCErrorDetail(void);
const char *SCNetworkReachabilityGetVersion(void);
SC_FLAGS(SCNetworkReachabilityFlags) {
    kSCNetworkReachabilityFlagsTransientConnection  = 1u << 0,
    kSCNetworkReachabilityFlagsReachable            = 1u << 1,
    kSCNetworkReachabilityFlagsConnectionRequired   = 1u << 2,
    kSCNetworkReachabilityFlagsConnectionOnTraffic  = 1u << 3,
    kSCNetworkReachabilityFlagsInterventionRequired = 1u << 4,
    kSCNetworkReachabilityFlagsConnectionOnDemand   = 1u << 5,
    kSCNetworkReachabilityFlagsIsLocalAddress       = 1u << 16,
    kSCNetworkReachabilityFlagsIsDirect             = 1u << 17,
    kSCNetworkReachabilityFlagsIsWWAN               = 1u << 18,
    kSCNetworkReachabilityFlagsConnectionAutomatic  = kSCNetworkReachabilityFlagsConnectionOnTraffic
} SC_FLAGS_END(SCNetworkReachabilityFlags);
#ifndef __swift__
typedef SCNetworkReachabilityFlags SCNetworkConnectionFlags;
enum {
    kSCNetworkFlagsTransientConnection  = kSCNetworkReachabilityFlagsTransientConnection,
    kSCNetworkFlagsReachable            = kSCNetworkReachabilityFlagsReachable,
    kSCNetworkFlagsConnectionRequired   = kSCNetworkReachabilityFlagsConnectionRequired,
    kSCNetworkFlagsConnectionAutomatic  = kSCNetworkReachabilityFlagsConnectionAutomatic,
    kSCNetworkFlagsInterventionRequired = kSCNetworkReachabilityFlagsInterventionRequired,
    kSCNetworkFlagsIsLocalAddress       = kSCNetworkReachabilityFlagsIsLocalAddress,
    kSCNetworkFlagsIsDirect             = kSCNetworkReachabilityFlagsIsDirect
};
#endif
SC_OPEN_ENUM(SCNetworkReachabilityReason) {
    kSCNetworkReachabilityReasonNone                    = 0,
    kSCNetworkReachabilityReasonNoRoute                 = 1,
    kSCNetworkReachabilityReasonRouteUnreachable        = 2,
    kSCNetworkReachabilityReasonRouteProhibited         = 3,
    kSCNetworkReachabilityReasonRouteBlackhole          = 4,
    kSCNetworkReachabilityReasonInterfaceDown           = 5,
    kSCNetworkReachabilityReasonNoCarrier               = 6,
    kSCNetworkReachabilityReasonNoSourceAddress         = 7,
    kSCNetworkReachabilityReasonLocalAddressNotAssigned = 8,
    kSCNetworkReachabilityReasonNamePending             = 9,
    kSCNetworkReachabilityReasonNameNotFound            = 10,
    kSCNetworkReachabilityReasonNameServerFailure       = 11,
    kSCNetworkReachabilityReasonNameServerUnreachable   = 12,
    kSCNetworkReachabilityReasonInterfaceMissing        = 13
} SC_OPEN_ENUM_END(SCNetworkReachabilityReason);
SC_OPEN_ENUM(SCNetworkReachabilityInterfaceType) {
    kSCNetworkReachabilityInterfaceTypeOther         = 0,
    kSCNetworkReachabilityInterfaceTypeLoopback      = 1,
    kSCNetworkReachabilityInterfaceTypeWiredEthernet = 2,
    kSCNetworkReachabilityInterfaceTypeWiFi          = 3,
    kSCNetworkReachabilityInterfaceTypeCellular      = 4,
    kSCNetworkReachabilityInterfaceTypePointToPoint  = 5,
    kSCNetworkReachabilityInterfaceTypeTunnel        = 6,
    kSCNetworkReachabilityInterfaceTypeVirtual       = 7
} SC_OPEN_ENUM_END(SCNetworkReachabilityInterfaceType);
SC_OPEN_ENUM(SCNetworkReachabilityEvidence) {
    kSCNetworkReachabilityEvidenceKernel = 0,
    kSCNetworkReachabilityEvidenceSocket = 1
} SC_OPEN_ENUM_END(SCNetworkReachabilityEvidence);
size_t SCNetworkReachabilityFlagsGetString(SCNetworkReachabilityFlags flags, char *SC_NULLABLE buffer, size_t capacity);
const char *SCNetworkReachabilityReasonString(SCNetworkReachabilityReason reason);
#ifdef __swift__
struct SC_SWIFT_CLASS(SCNetworkReachabilityRetain, SCNetworkReachabilityRelease) SCNetworkReachability;
#define SCNetworkReachabilityRef struct SCNetworkReachability *
#else
typedef const struct SCNetworkReachability *SCNetworkReachabilityRef;
#endif
SC_RETURNS_RETAINED SCNetworkReachabilityRef SC_NULLABLE SCNetworkReachabilityCreateWithAddress(
    const void *SC_NULLABLE allocator, const struct sockaddr *address);
SC_RETURNS_RETAINED SCNetworkReachabilityRef SC_NULLABLE SCNetworkReachabilityCreateWithAddressPair(
    const void *SC_NULLABLE allocator, const struct sockaddr *SC_NULLABLE localAddress,
    const struct sockaddr *SC_NULLABLE remoteAddress);
SC_RETURNS_RETAINED SCNetworkReachabilityRef SC_NULLABLE SCNetworkReachabilityCreateWithName(
    const void *SC_NULLABLE allocator, const char *nodename);
SC_FLAGS(SCNetworkReachabilityOption) {
    kSCNetworkReachabilityOptionNotifyPath = 1u << 0,
    kSCNetworkReachabilityOptionNotifyNetwork = 1u << 1,
    kSCNetworkReachabilityOptionNotifyNextHop = 1u << 2,
    kSCNetworkReachabilityOptionIPv4Only SC_SWIFT_NAME(ipv4Only) = 1u << 3,
    kSCNetworkReachabilityOptionIPv6Only SC_SWIFT_NAME(ipv6Only) = 1u << 4
} SC_FLAGS_END(SCNetworkReachabilityOption);
typedef struct {
    size_t size;
    const char *SC_NULLABLE nodename;
    const struct sockaddr *SC_NULLABLE localAddress;
    const struct sockaddr *SC_NULLABLE remoteAddress;
    const char *SC_NULLABLE interfaceName;
    socklen_t localAddressLength;
    socklen_t remoteAddressLength;
    uint32_t routingMark;
    uint32_t options;
    uint8_t protocol;
    uint8_t trafficClass;
    uint16_t remotePort;
    uint32_t reserved;
} SCNetworkReachabilityOptions;
#define kSCNetworkReachabilityOptionsInitializer \
    SC_SIZED(SCNetworkReachabilityOptions, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})
SC_RETURNS_RETAINED SCNetworkReachabilityRef SC_NULLABLE SCNetworkReachabilityCreateWithOptions(
    const void *SC_NULLABLE allocator, const SCNetworkReachabilityOptions *options);
SC_RETURNS_RETAINED SCNetworkReachabilityRef SC_NULLABLE SCNetworkReachabilityCreateWithSocket(
    const void *SC_NULLABLE allocator, int socket);
SC_RETURNS_UNRETAINED SCNetworkReachabilityRef SC_NULLABLE SCNetworkReachabilityRetain(
    SCNetworkReachabilityRef SC_NULLABLE target);
void SCNetworkReachabilityRelease(SCNetworkReachabilityRef SC_NULLABLE target);
unsigned long SCNetworkReachabilityGetTypeID(void);
SCBoolean SCNetworkReachabilityGetFlags(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags *flags);
SC_FLAGS(SCNetworkReachabilityFlow) {
    kSCNetworkReachabilityFlowBetterPath    = 1u << 0,
    kSCNetworkReachabilityFlowSourceForeign = 1u << 1,
    kSCNetworkReachabilityFlowIncomplete    = 1u << 2
} SC_FLAGS_END(SCNetworkReachabilityFlow);
SC_OPEN_ENUM(SCNetworkReachabilityNextHop) {
    kSCNetworkReachabilityNextHopUnknown     = 0,
    kSCNetworkReachabilityNextHopConfirmed   = 1,
    kSCNetworkReachabilityNextHopUnconfirmed = 2,
    kSCNetworkReachabilityNextHopFailed      = 3
} SC_OPEN_ENUM_END(SCNetworkReachabilityNextHop);
typedef struct {
    size_t size;
    SCNetworkReachabilityFlags flags;
    SCNetworkReachabilityReason reason;
    uint32_t interfaceIndex;
    SCNetworkReachabilityInterfaceType interfaceType;
    char interfaceName[16];
    uint32_t mtu;
    uint32_t table;
    uint32_t addressCount;
    uint32_t evidence;
    struct sockaddr_storage destination;
    struct sockaddr_storage source;
    struct sockaddr_storage gateway;
    SCNetworkReachabilityFlow flow;
    SCNetworkReachabilityNextHop nextHop;
} SCNetworkReachabilityPath;
#define kSCNetworkReachabilityPathInitializer \
    SC_SIZED(SCNetworkReachabilityPath, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})
SCBoolean SCNetworkReachabilityGetPath(SCNetworkReachabilityRef target, SCNetworkReachabilityPath *path);
SCBoolean SCNetworkReachabilityGetLastPath(SCNetworkReachabilityRef target, SCNetworkReachabilityPath *path);
typedef struct {
    SCNetworkReachabilityFlags flags;
    SCNetworkReachabilityReason reason;
    uint32_t interfaceIndex;
    uint32_t metric;
    struct sockaddr_storage source;
    struct sockaddr_storage gateway;
} SCNetworkReachabilityDefaultPath;
typedef struct {
    uint32_t interfaceIndex;
    SCNetworkReachabilityInterfaceType interfaceType;
    char interfaceName[16];
    uint32_t ipv4UnderlayTypes;
    uint32_t ipv6UnderlayTypes;
    SCNetworkReachabilityDefaultPath ipv4;
    SCNetworkReachabilityDefaultPath ipv6;
    uint32_t interfaceTypeIsKnown;
    uint32_t interfaceLeadsOut;
    uint32_t ipv4UnderlayLeadsOut;
    uint32_t ipv6UnderlayLeadsOut;
} SCNetworkReachabilityUplink;
typedef struct {
    size_t size;
    SCNetworkReachabilityDefaultPath ipv4;
    SCNetworkReachabilityDefaultPath ipv6;
    SCNetworkReachabilityFlags ipv4LoopbackFlags;
    SCNetworkReachabilityFlags ipv6LoopbackFlags;
    uint32_t evidence;
    uint32_t uplinkCount;
    uint32_t uplinksAreComplete;
    uint32_t nameServerCount;
    uint32_t nameServerIsReachable;
    uint32_t reserved;
    struct sockaddr_storage nameServers[3];
} SCNetworkReachabilityNetwork;
#define kSCNetworkReachabilityNetworkInitializer \
    SC_SIZED(SCNetworkReachabilityNetwork, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})
SCBoolean SCNetworkReachabilityGetNetwork(SCNetworkReachabilityRef target, SCNetworkReachabilityNetwork *network,
                                          SCNetworkReachabilityUplink *SC_NULLABLE uplinks, size_t uplinkSize,
                                          size_t capacity);
size_t SCNetworkReachabilityGetResolvedAddresses(SCNetworkReachabilityRef target,
                                                 struct sockaddr_storage *SC_NULLABLE addresses, size_t capacity);
size_t SCNetworkReachabilityGetDescription(SCNetworkReachabilityRef target, char *SC_NULLABLE buffer, size_t capacity);
SCBoolean SCNetworkReachabilityPathIsReachable(const SCNetworkReachabilityPath *path);
SCBoolean SCNetworkReachabilityPathIsViable(const SCNetworkReachabilityPath *path);
SCBoolean SCNetworkReachabilityPathDiffers(const SCNetworkReachabilityPath *path,
                                           const SCNetworkReachabilityPath *other);
size_t SCNetworkReachabilityPathGetString(const SCNetworkReachabilityPath *path, char *SC_NULLABLE buffer,
                                          size_t capacity);
SC_OPEN_ENUM(SCNetworkReachabilityWake) {
    kSCNetworkReachabilityWakeNone      = 0,
    kSCNetworkReachabilityWakeTime      = 1,
    kSCNetworkReachabilityWakeReachable = 2,
    kSCNetworkReachabilityWakePath      = 3
} SC_OPEN_ENUM_END(SCNetworkReachabilityWake);
typedef struct {
    uint64_t state[16];
} SCNetworkReachabilityRetry;
void SCNetworkReachabilityRetryInit(SCNetworkReachabilityRetry *retry, uint64_t minInterval);
void SCNetworkReachabilityRetryObserve(SCNetworkReachabilityRetry *retry, const SCNetworkReachabilityPath *path,
                                       uint64_t now, uint64_t delay);
uint64_t SCNetworkReachabilityRetryGetDue(const SCNetworkReachabilityRetry *retry);
SCNetworkReachabilityWake SCNetworkReachabilityRetryTake(SCNetworkReachabilityRetry *retry, uint64_t now, uint64_t end);
SC_OPEN_ENUM(SCNetworkReachabilityCondition) {
    kSCNetworkReachabilityConditionKnown        = 0,
    kSCNetworkReachabilityConditionReachable    = 1,
    kSCNetworkReachabilityConditionNotReachable = 2,
    kSCNetworkReachabilityConditionChanged      = 3
} SC_OPEN_ENUM_END(SCNetworkReachabilityCondition);
int SCNetworkReachabilityWait(SCNetworkReachabilityRef target, SCNetworkReachabilityCondition condition, double seconds,
                              SCNetworkReachabilityPath *SC_NULLABLE path);
typedef void (*SCNetworkReachabilityCallBack)(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags,
                                              void *SC_NULLABLE info) SC_SWIFT_NAME(CNetworkReachabilityCallBack);
typedef struct SC_SWIFT_NAME(CNetworkReachabilityContext) SCNetworkReachabilityContext {
    long version;
    void *SC_NULLABLE info;
    const void *SC_NONNULL (*SC_NULLABLE retain)(const void *info);
    void (*SC_NULLABLE release)(const void *info);
    const void *SC_NULLABLE (*SC_NULLABLE copyDescription)(const void *info);
} SCNetworkReachabilityContext;
#define kSCNetworkReachabilityContextInitializer \
    { \
        0, NULL, NULL, NULL, NULL \
    }
SC_REFINED SCBoolean SCNetworkReachabilitySetCallback(SCNetworkReachabilityRef target,
                                                      SCNetworkReachabilityCallBack SC_NULLABLE callout,
                                                      SCNetworkReachabilityContext *SC_NULLABLE context);
#ifdef __swift__
struct SC_SWIFT_CLASS(SCRunLoopRetain, SCRunLoopRelease) SCRunLoop;
#define SCRunLoopRef struct SCRunLoop *
#else
typedef struct SCRunLoop *SCRunLoopRef;
#endif
typedef const char *SCRunLoopMode SC_SWIFT_NAME(CRunLoopMode);
#define kSCRunLoopDefaultMode "kSCRunLoopDefaultMode"
#define kSCRunLoopCommonModes "kSCRunLoopCommonModes"
typedef int32_t SCRunLoopRunResult;
enum {
    kSCRunLoopRunFinished = 1,
    kSCRunLoopRunStopped = 2,
    kSCRunLoopRunTimedOut = 3,
    kSCRunLoopRunHandledSource = 4
};
SC_RETURNS_UNRETAINED SCRunLoopRef SC_NULLABLE SCRunLoopGetCurrent(void);
SC_RETURNS_UNRETAINED SCRunLoopRef SC_NULLABLE SCRunLoopGetMain(void);
SC_RETURNS_RETAINED SCRunLoopRef SC_NULLABLE SCRunLoopCreate(void);
SC_RETURNS_UNRETAINED SCRunLoopRef SC_NULLABLE SCRunLoopRetain(SCRunLoopRef SC_NULLABLE runLoop);
void SCRunLoopRelease(SCRunLoopRef SC_NULLABLE runLoop);
int SCRunLoopGetFileDescriptor(SCRunLoopRef runLoop);
int SCRunLoopPerform(SCRunLoopRef runLoop, double seconds);
SC_RETURNS_RETAINED SCNetworkReachabilityRef SC_NULLABLE SCRunLoopCopyNextChange(
    SCRunLoopRef runLoop, SCNetworkReachabilityFlags *SC_NULLABLE flags);
SC_REFINED SCRunLoopRunResult SCRunLoopRunInMode(SCRunLoopMode mode, double seconds,
                                                 SCBoolean returnAfterSourceHandled);
void SCRunLoopRun(void);
void SCRunLoopStop(SCRunLoopRef runLoop);
void SCRunLoopWakeUp(SCRunLoopRef runLoop);
SC_REFINED SCBoolean SCNetworkReachabilityScheduleWithRunLoop(SCNetworkReachabilityRef target, SCRunLoopRef runLoop,
                                                              SCRunLoopMode runLoopMode);
SC_REFINED SCBoolean SCNetworkReachabilityUnscheduleFromRunLoop(SCNetworkReachabilityRef target, SCRunLoopRef runLoop,
                                                                SCRunLoopMode runLoopMode);
typedef struct {
    long version;
    void *SC_NULLABLE info;
    const void *SC_NULLABLE (*SC_NULLABLE retain)(const void *SC_NULLABLE info);
    void (*SC_NULLABLE release)(const void *SC_NULLABLE info);
    void (*SC_NULLABLE perform)(void *SC_NULLABLE info, void (*work)(void *SC_NULLABLE argument),
                                void *SC_NULLABLE argument);
} SCNetworkReachabilityScheduler;
SCBoolean SCNetworkReachabilitySetScheduler(SCNetworkReachabilityRef target,
                                            const SCNetworkReachabilityScheduler *SC_NULLABLE scheduler);
SC_ASSERT(sizeof(SCBoolean) == 1);
SC_ASSERT(sizeof(SCNetworkReachabilityFlags) == 4 && sizeof(SCNetworkReachabilityReason) == 4);
SC_ASSERT(sizeof(SCNetworkReachabilityInterfaceType) == 4);
SC_ASSERT(sizeof(SCNetworkReachabilityContext) == 5 * sizeof(void *));
SC_ASSERT(sizeof(SCNetworkReachabilityScheduler) == 5 * sizeof(void *));
SC_ASSERT(sizeof(SCNetworkReachabilityOptions) == 5 * sizeof(void *) + 6 * 4);
SC_ASSERT(sizeof(SCNetworkReachabilityPath) == sizeof(size_t) + 10 * 4 + 16 + 3 * sizeof(struct sockaddr_storage));
SC_ASSERT(sizeof(SCNetworkReachabilityFlow) == 4 && sizeof(SCNetworkReachabilityNextHop) == 4);
SC_ASSERT(sizeof(SCNetworkReachabilityWake) == 4 && sizeof(SCNetworkReachabilityRetry) == 16 * 8);
SC_ASSERT(sizeof(SCNetworkReachabilityDefaultPath) == 4 * 4 + 2 * sizeof(struct sockaddr_storage));
SC_ASSERT(sizeof(SCNetworkReachabilityUplink) == 8 * 4 + 16 + 2 * sizeof(SCNetworkReachabilityDefaultPath));
SC_ASSERT(sizeof(SCNetworkReachabilityNetwork) ==
          sizeof(size_t) + 2 * sizeof(SCNetworkReachabilityDefaultPath) + 8 * 4 + 3 * sizeof(struct sockaddr_storage));
SC_END_DECLS
#endif
