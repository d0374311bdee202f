/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_REACHABILITY_H
#define REACHABILITY_REACHABILITY_H

/*
 * libreachability: can a packet leave this machine for that host now, over what, why not, and tell me when that
 * changes. The calls of Apple's SCNetworkReachability, answered by the Linux kernel through rtnetlink(7).
 *
 * What reachability promises. "Reachable" means that a packet addressed to the target can leave this machine now. It
 * never means that the target answers, that a packet filter lets the packet pass, or that the machine is "online". A
 * remote host that is switched off is still reachable. To know whether a host answers, talk to it.
 *
 * The rules for all calls; the comments below say only what is particular.
 *
 * Errors. A call that fails answers NULL, FALSE (0), 0 or -1, writes none of its outputs, and sets SCError() of the
 *   calling thread. Success does not reset it. Statuses below 1000 are errno values (never EINTR or EAGAIN), the others
 *   are Apple's kSCStatus... NULL and nonsense are answered so too: kSCStatusInvalidArgument (1002). A pointer that is
 *   not one of ours, or that was released, gets 1002 wherever that can be told; do not count on it. Nothing is ever
 *   printed.
 * Ownership. Create and Copy calls give a reference that the caller releases; Get calls lend. Release(NULL) and
 *   Retain(NULL) are fine. What is passed in (addresses, names, contexts, options) is copied. A scheduled target keeps
 *   itself alive until it is unscheduled.
 * Threads. Every call may come from any thread, but for the calls that drive a run loop (SCRunLoopPerform,
 *   SCRunLoopRunInMode, SCRunLoopRun): one thread at a time drives a given loop, a second one is answered -1 (EBUSY).
 *   SCRunLoopStop and SCRunLoopWakeUp may also be called from signal handlers. Callbacks and context hooks are called
 *   with no lock held: every call is allowed inside them. A process that only uses run loops gets no thread from us
 *   (but while names are looked up and a moment longer, see CreateWithName, and for a moment when a call needs a socket
 *   in another network namespace than the calling thread's); targets on schedulers and queues share one. Do not pthread_cancel(3) a thread
 *   inside a call of ours.
 * Waiting. Create, Schedule, Unschedule, GetFlags and Release never wait for a name server, nor for the kernel's RTNL
 *   lock. Handling an event (inside the calls that drive a loop) waits for the change behind it to be finished in the
 *   kernel: microseconds as a rule, longer while a network namespace is torn down or a driver is stuck. GetPath and
 *   GetLastPath may wait for the same lock, when they name an interface that nothing has asked about since it changed,
 *   and GetPath behind WireGuard.
 * Kinds of link. What an interface is, sysfs(5) tells without waiting, where it shows the target's network namespace.
 *   Elsewhere (after setns(2), in a sandbox without /sys) rtnetlink, nl80211 and the driver are asked, which may wait:
 *   by GetPath and where events are handled. Until one of these has asked, GetFlags of a target that is not scheduled
 *   does not know there that an interface is cellular. The same goes for the other end of a tunnel, everywhere.
 * Structures with a `size`. The caller sets it to sizeof the structure (the ...Initializer macros do); 0, less than the
 *   first version's, or more than 4096 is 1002. On output, only fields that lie whole inside `size` are written and
 *   bytes beyond those that the library knows are zeroed. On input, bytes beyond those must be zero, else 1002: an
 *   option that the library does not know is refused, never ignored.
 * Strings written to a buffer follow snprintf's rule: at most `capacity` bytes with the terminating NUL, and the
 *   return value is the length that the whole text has, without the NUL. A `capacity` of 0 writes nothing; the buffer
 *   may then be NULL.
 * Network namespaces. A target belongs to the network namespace of the thread that creates it, and keeps it alive until
 *   the last target there is released. A later call that needs a new socket there, and may not setns(2), fails with
 *   EPERM.
 * Fork. A child can make and use targets and loops of its own. What it inherited is good for nothing but to be retained
 *   and released: any other call fails with ECHILD, and the memory of targets that were scheduled stays until the child
 *   ends. The parent notices nothing. No descriptor of ours outlives exec.
 * Sandboxes. Where rtnetlink(7) is refused (seccomp, RestrictAddressFamilies, a security module) a UDP socket is
 *   connected instead, which sends nothing, and the path's evidence says Socket. It tells Reachable and IsLocalAddress;
 *   IsDirect, TransientConnection and IsWWAN are not known then and not set. A lost carrier is seen only of an
 *   interface that was asked for by name or scope; an IPv4 target that is bound to an interface counts as reachable
 *   while that is usable, and the default path while 0.0.0.1 or 128.0.0.1 is. A scheduled target is asked every 2
 *   seconds. A routing mark that the process may not set makes GetFlags fail with EPERM. Any other failure to open a
 *   socket is an error of the call.
 */

#ifdef __swift__
/* First: else sockaddr, timespec and their kin count as ours, and Swift code that imports Glibc alone cannot use their
 * members as soon as another file of its module extends one of them. */
#include <features.h>
#ifdef __GLIBC__
#pragma clang module import SwiftGlibc
#endif
#endif

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* The version of this header. SCNetworkReachabilityGetVersion() tells that of the library that is loaded. */
#define REACHABILITY_VERSION       "0.1.0"
#define REACHABILITY_VERSION_MAJOR 0
#define REACHABILITY_VERSION_MINOR 1
#define REACHABILITY_VERSION_PATCH 0

#include <reachability/declarations.h>

SC_BEGIN_DECLS

/* ---- Basic types ------------------------------------------------------------------------------------------------ */

/* 0 or 1. In Swift: Bool. */
#ifdef __swift__
typedef _Bool SCBoolean;
#else
typedef unsigned char SCBoolean;
#ifndef SC_NO_BOOLEAN
typedef SCBoolean     Boolean; /* Apple's name. Define SC_NO_BOOLEAN beside headers that have their own (X11's). */
#endif
#endif

/* SCError(): statuses, equal to Apple's. */
SC_ENUM(int, SCStatus){
    kSCStatusOK = 0,
    kSCStatusFailed = 1001,          /* a failure that no other status tells */
    kSCStatusInvalidArgument = 1002, /* NULL, nonsense, or a call that does not fit the object's state */
    kSCStatusAccessError = 1003,
    kSCStatusReachabilityUnknown = 4001, /* the kernel could not be asked just now */
};

/* The calling thread's last failure: a kSCStatus... value, or an errno below 1000. */
SC_EXPORT int SCError(void);

/* Static English text for a status, never NULL. */
SC_EXPORT const char *SC_NONNULL SCErrorString(int status);

/* "0.1.0": the version of the library that is loaded. */
SC_EXPORT const char *SC_NONNULL SCNetworkReachabilityGetVersion(void);

/* ---- Flags, reasons, kinds of interface ------------------------------------------------------------------------- */

/*
 * What is known of a target's path. Bit values are Apple's. No bit set: no packet can leave for it.
 *
 * ConnectionRequired and ConnectionOnTraffic come together, of a ppp link that pppd(8) dials on demand while it is not
 * connected. Only pppd knows, so its database is read, /run/pppd2.tdb or /run/pppd/pppd2.tdb: where there is none, or
 * none for us, the link counts as connected. A scheduled target looks every 2 seconds, as nobody tells of a change. After
 * the first connection the database does not tell dialling from connected.
 *
 * ConnectionOnDemand and InterventionRequired have no source on Linux: they are never set today, and never guessed.
 */
SC_FLAGS(SCNetworkReachabilityFlags){
    kSCNetworkReachabilityFlagsTransientConnection = 1u << 0,  /* over a point-to-point link: ppp, tunnel, cellular */
    kSCNetworkReachabilityFlagsReachable = 1u << 1,            /* a packet can leave for it */
    kSCNetworkReachabilityFlagsConnectionRequired = 1u << 2,   /* ... but a connection must be made first */
    kSCNetworkReachabilityFlagsConnectionOnTraffic = 1u << 3,  /* ... which traffic brings about */
    kSCNetworkReachabilityFlagsInterventionRequired = 1u << 4, /* never set on Linux today */
    kSCNetworkReachabilityFlagsConnectionOnDemand = 1u << 5,   /* never set on Linux today */
    kSCNetworkReachabilityFlagsIsLocalAddress = 1u << 16,      /* one of this machine's own addresses */
    kSCNetworkReachabilityFlagsIsDirect = 1u << 17,            /* on a directly attached network: no gateway */
    kSCNetworkReachabilityFlagsIsWWAN = 1u << 18,              /* over a cellular interface, or ppp by way of a modem */
    kSCNetworkReachabilityFlagsConnectionAutomatic = kSCNetworkReachabilityFlagsConnectionOnTraffic
} SC_FLAGS_END(SCNetworkReachabilityFlags);

/*
 * Why a target is not reachable. What the kernel says decides; a rule that is "unreachable" is told as NoRoute. Behind a
 * tunnel that publishes its other end (gre, ipip, sit, ip6tnl, vti, vxlan, geneve and their kin), that is the way there.
 * Behind WireGuard it is the way to the peer that the destination is allowed to, where the process may see the peers
 * (CAP_NET_ADMIN): in GetPath and of a scheduled target, as the kernel has to be waited for, and of the chosen address
 * alone. Nobody tells of a change of peers: a scheduled target looks every 30 seconds, every 2 when there is no way.
 */
SC_OPEN_ENUM(SCNetworkReachabilityReason){
    kSCNetworkReachabilityReasonNone = 0, /* it is reachable */
    kSCNetworkReachabilityReasonNoRoute = 1,
    kSCNetworkReachabilityReasonRouteUnreachable = 2,        /* an "unreachable" route */
    kSCNetworkReachabilityReasonRouteProhibited = 3,         /* a "prohibit" route or rule */
    kSCNetworkReachabilityReasonRouteBlackhole = 4,          /* a "blackhole" route or rule */
    kSCNetworkReachabilityReasonInterfaceDown = 5,           /* the route's interface is administratively down */
    kSCNetworkReachabilityReasonNoCarrier = 6,               /* up, but not running: cable out, dormant */
    kSCNetworkReachabilityReasonNoSourceAddress = 7,         /* IPv6 without an address to send from */
    kSCNetworkReachabilityReasonLocalAddressNotAssigned = 8, /* a pair's local address is not this machine's */
    kSCNetworkReachabilityReasonNamePending = 9,             /* not resolved: the flags are the name servers' */
    kSCNetworkReachabilityReasonNameNotFound = 10,
    kSCNetworkReachabilityReasonNameServerFailure = 11,
    kSCNetworkReachabilityReasonNameServerUnreachable = 12,
    kSCNetworkReachabilityReasonInterfaceMissing = 13 /* the interface asked for does not exist (yet) */
} SC_OPEN_ENUM_END(SCNetworkReachabilityReason);

/*
 * What kind of link the packet leaves over: told by what the device is, never by its name. A VLAN, macvlan, ipvlan, bond,
 * team, bridge or VRF is what carries it: the link below; the port that a bond uses; else the best port with a carrier,
 * in the order WiredEthernet, WiFi, Cellular. It is Virtual when nothing real does.
 */
SC_OPEN_ENUM(SCNetworkReachabilityInterfaceType){
    kSCNetworkReachabilityInterfaceTypeOther = 0,         kSCNetworkReachabilityInterfaceTypeLoopback = 1,
    kSCNetworkReachabilityInterfaceTypeWiredEthernet = 2, kSCNetworkReachabilityInterfaceTypeWiFi = 3,
    kSCNetworkReachabilityInterfaceTypeCellular = 4,      kSCNetworkReachabilityInterfaceTypePointToPoint = 5, /* ppp */
    kSCNetworkReachabilityInterfaceTypeTunnel = 6, /* tun, tap, gre, ipip, sit, ip6tnl, vti, xfrm, wireguard */
    kSCNetworkReachabilityInterfaceTypeVirtual = 7 /* veth, dummy, vxlan, and a bridge of such */
} SC_OPEN_ENUM_END(SCNetworkReachabilityInterfaceType);

/* How a path was found out. */
SC_OPEN_ENUM(SCNetworkReachabilityEvidence){
    kSCNetworkReachabilityEvidenceKernel = 0, /* the kernel's own route look-up, over rtnetlink */
    kSCNetworkReachabilityEvidenceSocket = 1  /* a connected UDP socket, as netlink is refused: see "Sandboxes" */
} SC_OPEN_ENUM_END(SCNetworkReachabilityEvidence);

/*
 * Flags as text, in Apple's words (those of scutil -r), joined by commas without spaces: "Reachable,Directly Reachable
 * Address". No flag: "Not Reachable". Bits without a name come last as one hexadecimal number. A NULL buffer with a
 * capacity: 0, 1002.
 */
SC_EXPORT size_t SCNetworkReachabilityFlagsGetString(SCNetworkReachabilityFlags flags, char *SC_NULLABLE buffer,
                                                     size_t capacity);

/* Static English text for a reason, never NULL: "no route", "no carrier". */
SC_EXPORT const char *SC_NONNULL SCNetworkReachabilityReasonString(SCNetworkReachabilityReason reason);

/* ---- Targets ---------------------------------------------------------------------------------------------------- */

#ifdef __swift__
struct SC_SWIFT_CLASS(SCNetworkReachabilityRetain, SCNetworkReachabilityRelease) SCNetworkReachability;
#define SCNetworkReachabilityRef struct SCNetworkReachability *
#else
typedef const struct SCNetworkReachability *SCNetworkReachabilityRef;
#endif

/*
 * Whether an address can be reached. AF_INET or AF_INET6; the port is ignored and the length follows from the family.
 * An IPv4-mapped IPv6 address is treated as the IPv4 address. A link-local IPv6 address needs its scope (interface
 * index) to be reachable at all. 0.0.0.0 and :: stand for the default path: whether either family has a usable default
 * route. Fails: 1002 (NULL, other family), ENOMEM, or an errno of opening what is needed to come back to the calling
 * thread's network namespace.
 *
 * In each creator, `allocator` is kept for the shape of Apple's call: pass NULL.
 */
SC_RETURNS_RETAINED SC_EXPORT SCNetworkReachabilityRef SC_NULLABLE SCNetworkReachabilityCreateWithAddress(
    const void *SC_NULLABLE allocator, const struct sockaddr *SC_NONNULL address);

/*
 * Whether `remoteAddress` can be reached from `localAddress`. Either may be NULL, not both, and the families must
 * agree, else 1002. While the local address is not assigned to this machine: no flags, reason LocalAddressNotAssigned.
 * With a local address alone, that address itself is the target. A local 0.0.0.0 or :: leaves the choice of the source
 * to the kernel. Otherwise as CreateWithAddress.
 */
SC_RETURNS_RETAINED SC_EXPORT SCNetworkReachabilityRef SC_NULLABLE SCNetworkReachabilityCreateWithAddressPair(
    const void *SC_NULLABLE allocator, const struct sockaddr *SC_NULLABLE localAddress,
    const struct sockaddr *SC_NULLABLE remoteAddress);

/*
 * Whether a host can be reached. 1 to 1024 bytes, else 1002. A name that is, as a whole, an address literal makes an
 * address target: IPv4 as inet_aton(3) reads it, IPv6 with an optional %zone, which is followed by name as
 * SCNetworkReachabilityOptions.interfaceName is, or is an interface's index. "localhost" and names below ".localhost"
 * are 127.0.0.1 and ::1.
 *
 * Any other name is looked up by the system's resolver, getaddrinfo(3), while the target is scheduled: on at most four
 * threads of the library's, "reach-resolver", which exist only while there is something to look up. No call waits for
 * one. When the last name has left a run loop, another, "reach-closer", closes what watched the resolver's files; it
 * ends about 50 ms later. Until the first answer, and while the target is not scheduled, the flags are those of the path to the configured
 * name servers (of the default path, where these are on this machine) and the reason is NamePending. The first answer,
 * or failure, brings a callback. Then each address is looked at in the resolver's order, and the best one's flags,
 * path and interface count, the first of equals. A name that does not exist has no flags (NameNotFound), nor has one
 * that nobody could be asked about (NameServerFailure, NameServerUnreachable); but addresses that are known stay while
 * nobody can be asked. A name is looked up again when the network or the resolver's files change in a way that can
 * matter, after 5 minutes and, after a failure, in 1, 2, 4, ... up to 60 seconds. A change of its addresses brings a
 * callback, too.
 */
SC_RETURNS_RETAINED SC_EXPORT SCNetworkReachabilityRef SC_NULLABLE SCNetworkReachabilityCreateWithName(
    const void *SC_NULLABLE allocator, const char *SC_NONNULL nodename);

/* SCNetworkReachabilityOptions.options: bits. Any other bit is refused (1002). */
SC_FLAGS(SCNetworkReachabilityOption){
    /* The callback also comes when reason, gateway or source changed while the flags stayed equal. */
    kSCNetworkReachabilityOptionNotifyPath = 1u << 0
} SC_FLAGS_END(SCNetworkReachabilityOption);

typedef struct {
    size_t                             size;
    const char *SC_NULLABLE            nodename; /* this, or addresses: exactly one of the two */
    const struct sockaddr *SC_NULLABLE localAddress;
    const struct sockaddr *SC_NULLABLE remoteAddress;
    /* Only routes out of this interface count. 1 to 15 bytes. It need not exist: the target then has no flags and the
     * reason InterfaceMissing, and follows the name through creation, deletion, renaming and a new index. */
    const char *SC_NULLABLE interfaceName;
    socklen_t               localAddressLength; /* 0: from the family. Too short for it: 1002 */
    socklen_t               remoteAddressLength;
    uint32_t                routingMark; /* as SO_MARK of the sockets that will be used; 0: none */
    uint32_t                options;     /* kSCNetworkReachabilityOption... */
} SCNetworkReachabilityOptions;
#define kSCNetworkReachabilityOptionsInitializer SC_SIZED(SCNetworkReachabilityOptions, {}, {}, {}, {}, {}, {}, {}, {})

/* As the creators above, by a structure (see the rules for those with a size). To bind the default path to an
 * interface, give 0.0.0.0 as the remote address. */
SC_RETURNS_RETAINED SC_EXPORT SCNetworkReachabilityRef SC_NULLABLE SCNetworkReachabilityCreateWithOptions(
    const void *SC_NULLABLE allocator, const SCNetworkReachabilityOptions *SC_NONNULL options);

/* Adds a reference and returns its argument. */
SC_RETURNS_UNRETAINED SC_EXPORT SCNetworkReachabilityRef SC_NULLABLE SCNetworkReachabilityRetain(
    SCNetworkReachabilityRef SC_NULLABLE target);

/* Drops a reference. The last one frees the target and releases its context. */
SC_EXPORT void SCNetworkReachabilityRelease(SCNetworkReachabilityRef SC_NULLABLE target);

/* One number for the type of all targets, not 0. */
SC_EXPORT unsigned long SCNetworkReachabilityGetTypeID(void);

/* ---- Asking ----------------------------------------------------------------------------------------------------- */

/*
 * The target's flags now.
 *
 * Not scheduled: the kernel is asked, one round trip of some microseconds. Scheduled: the latest evaluation, one atomic
 * load and never a system call. On a run loop that is what the loop saw when it was last driven, constant for the whole
 * of a callback (but for a nested drive, and for a target that is on several loops): a program that schedules on a
 * loop and does not drive it should ask an unscheduled target instead. Scheduling evaluates once before it returns.
 *
 * No bit set is an answer, not a failure. FALSE: 1002, or the kernel could not be asked (errno, or 4001).
 */
SC_EXPORT SCBoolean SCNetworkReachabilityGetFlags(SCNetworkReachabilityRef SC_NONNULL    target,
                                                  SCNetworkReachabilityFlags *SC_NONNULL flags);

/* All that is known of the way to a target. An address with ss_family AF_UNSPEC: there is none. */
typedef struct {
    size_t                             size;
    SCNetworkReachabilityFlags         flags;
    SCNetworkReachabilityReason        reason;
    uint32_t                           interfaceIndex; /* 0: none */
    SCNetworkReachabilityInterfaceType interfaceType;
    char                               interfaceName[16];
    uint32_t                           mtu;          /* bytes; the route's, or else the interface's; 0: not known */
    uint32_t                           table;        /* routing table that answered, rtnetlink(7); 0: not known */
    uint32_t                           addressCount; /* as SCNetworkReachabilityGetResolvedAddresses */
    uint32_t                           evidence;     /* kSCNetworkReachabilityEvidence... */
    struct sockaddr_storage            destination;  /* the address that was asked for; none for the default path */
    struct sockaddr_storage            source;       /* the address that packets will carry */
    struct sockaddr_storage            gateway;      /* none: on-link */
} SCNetworkReachabilityPath;
#define kSCNetworkReachabilityPathInitializer \
    SC_SIZED(SCNetworkReachabilityPath, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})

/*
 * Asks the kernel now, also when the target is scheduled: the fields agree with one another, and the flags may be newer
 * than those of GetFlags. When the target is not reachable, the interface and gateway are those of the route that
 * would be used, where there is one. Fails as GetFlags does.
 */
SC_EXPORT SCBoolean SCNetworkReachabilityGetPath(SCNetworkReachabilityRef SC_NONNULL   target,
                                                 SCNetworkReachabilityPath *SC_NONNULL path);

/*
 * The same of the last evaluation, for a target that was created with kSCNetworkReachabilityOptionNotifyPath and is
 * scheduled: that which its flags are from, and after which another one brings a callback. In a callback, GetPath may
 * see a state that has passed before anybody is told; this does not. It asks the kernel nothing but what kind of
 * interface it is, where that is not known yet. For any other target it is GetPath.
 */
SC_EXPORT SCBoolean SCNetworkReachabilityGetLastPath(SCNetworkReachabilityRef SC_NONNULL   target,
                                                     SCNetworkReachabilityPath *SC_NONNULL path);

/*
 * The addresses that the target stands for: one for an address, those of a resolved name, none for the default path and
 * for a name that is not resolved. Writes at most `capacity` and returns how many there are. 0 is no failure unless
 * the arguments were bad (1002).
 */
SC_EXPORT size_t SCNetworkReachabilityGetResolvedAddresses(SCNetworkReachabilityRef SC_NONNULL  target,
                                                           struct sockaddr_storage *SC_NULLABLE addresses,
                                                           size_t                               capacity);

/*
 * For people and logs. The first line is the one that scutil prints, "<SCNetworkReachability 0x...> {address = A}";
 * indented lines follow with schedule, flags, reason, path, resolver state and counters. Their wording may change.
 */
SC_EXPORT size_t SCNetworkReachabilityGetDescription(SCNetworkReachabilityRef SC_NONNULL target,
                                                     char *SC_NULLABLE buffer, size_t capacity);

/* ---- Being told ------------------------------------------------------------------------------------------------- */

/*
 * Called when the target's flags or the interface that packets leave over changed since the last delivery (with
 * NotifyPath: also reason, gateway or source), and for a name once after it was scheduled. `flags` is the current
 * value, never an old one: changes that come while nobody drives the loop are one callback, or none if they cancelled
 * out. Calls for one target never overlap and come in the order of the changes. Every call on the target is allowed
 * inside: unschedule, SetCallback, releasing the last reference.
 */
typedef void (*SCNetworkReachabilityCallBack)(SCNetworkReachabilityRef SC_NONNULL target,
                                              SCNetworkReachabilityFlags flags, void *SC_NULLABLE info)
    SC_SWIFT_NAME(CNetworkReachabilityCallBack);

/*
 * What a callback is given, and how long that lives. Copied.
 *
 * With retain, the library keeps retain(info) and passes that; with both hooks, each delivery does retain, callback,
 * release. With release alone, it is called exactly once, when the context was replaced or the target freed, and no
 * delivery is under way. With neither, `info` must outlive the call in flight.
 */
typedef struct SC_SWIFT_NAME(CNetworkReachabilityContext) SCNetworkReachabilityContext {
    long              version; /* 0 */
    void *SC_NULLABLE info;
    const void *SC_NONNULL (*SC_NULLABLE retain)(const void *SC_NONNULL info);
    void (*SC_NULLABLE release)(const void *SC_NONNULL info);
    /* Kept for the shape; not called. */
    const void *SC_NULLABLE (*SC_NULLABLE copyDescription)(const void *SC_NONNULL info);
} SCNetworkReachabilityContext;

/*
 * Sets, replaces or (callout NULL) clears the callback. context NULL: info is NULL. The new context is retained first,
 * then the old one released, on the calling thread or, for a delivery under way, on that one's. Nothing is replayed:
 * the next change is delivered. On the thread that delivers, nothing more is delivered to the old callback once this
 * has returned; from another thread, at most the call in flight finishes. Fails: 1002 (also a version other than 0),
 * ENOMEM.
 */
SC_EXPORT SC_REFINED SCBoolean SCNetworkReachabilitySetCallback(SCNetworkReachabilityRef SC_NONNULL       target,
                                                                SCNetworkReachabilityCallBack SC_NULLABLE callout,
                                                                SCNetworkReachabilityContext *SC_NULLABLE context);

/* ---- Run loops -------------------------------------------------------------------------------------------------- */

/*
 * A small run loop, for programs that have none and for those that poll: it has one descriptor, so that any other loop
 * can host it. Every thread has one of its own; SCRunLoopCreate makes further ones, driven with SCRunLoopPerform.
 */
#ifdef __swift__
struct SC_SWIFT_CLASS(SCRunLoopRetain, SCRunLoopRelease) SCRunLoop;
#define SCRunLoopRef struct SCRunLoop *
#else
typedef struct SCRunLoop                   *SCRunLoopRef;
#endif

/* Compared as text; any other mode is refused (1002). Both belong to one set: a loop serves the targets of both
 * whichever it is run in. A schedule is ended in the mode in which it was made. */
typedef const char *SCRunLoopMode SC_SWIFT_NAME(CRunLoopMode);
#define kSCRunLoopDefaultMode "kSCRunLoopDefaultMode"
#define kSCRunLoopCommonModes "kSCRunLoopCommonModes"

typedef int32_t SCRunLoopRunResult;
enum {
    kSCRunLoopRunFinished = 1, /* nothing is scheduled on the loop */
    kSCRunLoopRunStopped = 2,
    kSCRunLoopRunTimedOut = 3,
    kSCRunLoopRunHandledSource = 4
};

/* The calling thread's loop, made at the first call; NULL with an errno when it cannot be. When the thread ends,
 * targets still scheduled on it are unscheduled. */
SC_RETURNS_UNRETAINED SC_EXPORT SCRunLoopRef SC_NULLABLE SCRunLoopGetCurrent(void);

/* The main thread's loop, from any thread. */
SC_RETURNS_UNRETAINED SC_EXPORT SCRunLoopRef SC_NULLABLE SCRunLoopGetMain(void);

/* A loop of nobody's, for whichever thread calls SCRunLoopPerform on it. Releasing it unschedules nothing: targets stay
 * scheduled on it, and keep it alive with its descriptors, until they are unscheduled. */
SC_RETURNS_RETAINED SC_EXPORT SCRunLoopRef SC_NULLABLE SCRunLoopCreate(void);

/* Adds a reference and returns its argument. */
SC_RETURNS_UNRETAINED SC_EXPORT SCRunLoopRef SC_NULLABLE SCRunLoopRetain(SCRunLoopRef SC_NULLABLE runLoop);

/* Drops a reference. The last one frees the loop; each target that is scheduled on it has one, too. */
SC_EXPORT void SCRunLoopRelease(SCRunLoopRef SC_NULLABLE runLoop);

/* One descriptor for poll(2), epoll(7) and their kin: readable, level-triggered, while there is something for
 * SCRunLoopPerform or SCRunLoopCopyNextChange to do. Never read from it, never close it. -1: 1002. */
SC_EXPORT int SCRunLoopGetFileDescriptor(SCRunLoopRef SC_NONNULL runLoop);

/*
 * Handles what is due, and first waits at most `seconds` for the first thing: 0 not at all, less than 0 without limit.
 * Returns how many callbacks ran. It goes on waiting after events that called nobody; it returns early, possibly with
 * 0, on SCRunLoopWakeUp and when SCRunLoopCopyNextChange has something. Inside a callback it may be called again: the
 * target that is being delivered is then not delivered a second time. Fails with -1: 1002 (also NaN), EBUSY (another
 * thread drives the loop), or the errno of the wait.
 */
SC_EXPORT int SCRunLoopPerform(SCRunLoopRef SC_NONNULL runLoop, double seconds);

/*
 * For languages that cannot be called back: the next target without a callback that changed on this loop, retained for
 * the caller, with its current flags; NULL when there is none. A target is queued at most once, unscheduling removes
 * it, the queue holds no reference. Queueing starts with the first call on the loop. `flags` may be NULL.
 */
SC_RETURNS_RETAINED SC_EXPORT SCNetworkReachabilityRef SC_NULLABLE SCRunLoopCopyNextChange(
    SCRunLoopRef SC_NONNULL runLoop, SCNetworkReachabilityFlags *SC_NULLABLE flags);

/*
 * Drives the calling thread's own loop for `seconds` (0 or less: one pass), or until a callback ran if
 * returnAfterSourceHandled, until SCRunLoopStop, or until nothing is scheduled on it. A stop that came before the run
 * ends it at once. Returns a kSCRunLoopRun... value (where several are true: stopped, handled, finished, timed out), or
 * -1 as SCRunLoopPerform does.
 */
SC_EXPORT SC_REFINED SCRunLoopRunResult SCRunLoopRunInMode(SCRunLoopMode SC_NONNULL mode, double seconds,
                                                           SCBoolean returnAfterSourceHandled);

/* Drives the calling thread's own loop until it is stopped or nothing is scheduled on it. */
SC_EXPORT void SCRunLoopRun(void);

/* Ends the run under way, the innermost one where they are nested, or else the next. Any thread, any signal handler. */
SC_EXPORT void SCRunLoopStop(SCRunLoopRef SC_NONNULL runLoop);

/* Ends a wait in SCRunLoopPerform, now or the next, with 0. Any thread, any signal handler. */
SC_EXPORT void SCRunLoopWakeUp(SCRunLoopRef SC_NONNULL runLoop);

/*
 * Callbacks of the target come on the thread that drives the loop, when it drives it. The flags are evaluated once
 * before this returns. Scheduling twice on one loop and mode counts: unschedule twice. On several loops, each change is
 * delivered once, by the one that sees it first. Fails: 1002, ENOMEM, or an errno of opening the sockets.
 */
SC_EXPORT SC_REFINED SCBoolean SCNetworkReachabilityScheduleWithRunLoop(SCNetworkReachabilityRef SC_NONNULL target,
                                                                        SCRunLoopRef SC_NONNULL             runLoop,
                                                                        SCRunLoopMode SC_NONNULL runLoopMode);

/* Ends one schedule. Not scheduled so: FALSE, 1002. On the thread that delivers, nothing more is delivered from this
 * loop once this has returned; from another thread, at most the call in flight finishes. */
SC_EXPORT SC_REFINED SCBoolean SCNetworkReachabilityUnscheduleFromRunLoop(SCNetworkReachabilityRef SC_NONNULL target,
                                                                          SCRunLoopRef SC_NONNULL             runLoop,
                                                                          SCRunLoopMode SC_NONNULL runLoopMode);

/* ---- Schedulers ------------------------------------------------------------------------------------------------- */

/*
 * Any queue, thread pool or foreign loop that can be handed a piece of work. <reachability/dispatch.h> makes one of a
 * dispatch queue. Copied; `info` is retained and released as a context's is: with `retain`, what it returns is kept.
 *
 * perform(info, work, argument) has to run work(argument) exactly once, later, on the scheduler's own thread or queue,
 * and may itself be called on any thread. No lock is held, and for each target at most one `work` is waiting, so that
 * callbacks do not overlap on a concurrent queue either. `work` makes the callback, or does nothing: after the target
 * was unscheduled, or when it is run a second time. It is always safe to run. Run inside perform, it makes the callback
 * on the library's thread. If it is never run, that target gets no more callbacks, and what one such call takes is
 * never freed. `release` comes after the target was unscheduled and the last `work` was run.
 */
typedef struct {
    long              version; /* 0 */
    void *SC_NULLABLE info;
    const void *SC_NULLABLE (*SC_NULLABLE retain)(const void *SC_NULLABLE info);
    void (*SC_NULLABLE release)(const void *SC_NULLABLE info);
    void (*SC_NULLABLE perform)(void *SC_NULLABLE info, void (*SC_NONNULL work)(void *SC_NULLABLE argument),
                                void *SC_NULLABLE argument);
} SCNetworkReachabilityScheduler;

/*
 * Callbacks of the target come where the scheduler runs its work; NULL unschedules. The flags are evaluated once before
 * this returns, and GetFlags answers the library's latest evaluation. The kernel is watched by one thread of the
 * library's own, "reachability", with all signals blocked: it starts with the first target on any scheduler and ends by
 * itself after the last; nothing waits for it. As any thread does, it keeps a process alive whose main thread has
 * called pthread_exit(3). On the thread or queue that delivers, nothing more is delivered once NULL was set; from
 * another thread, at most the call in flight finishes.
 *
 * Fails: 1002 (no `perform`, a version other than 0; already scheduled, in any way; with NULL: not on a scheduler),
 * ENOMEM, kSCStatusReachabilityUnknown (no thread can be had), or an errno of opening the sockets.
 */
SC_EXPORT SCBoolean SCNetworkReachabilitySetScheduler(SCNetworkReachabilityRef SC_NONNULL               target,
                                                      const SCNetworkReachabilityScheduler *SC_NULLABLE scheduler);

/* The layout is the same however the header is read: C, C++ or Swift. Nothing is padded, so a structure is its
 * fields. */
SC_ASSERT(sizeof(SCBoolean) == 1);
SC_ASSERT(sizeof(SCNetworkReachabilityFlags) == 4 && sizeof(SCNetworkReachabilityReason) == 4);
SC_ASSERT(sizeof(SCNetworkReachabilityInterfaceType) == 4);
SC_ASSERT(sizeof(SCNetworkReachabilityContext) == 5 * sizeof(void *));
SC_ASSERT(sizeof(SCNetworkReachabilityScheduler) == 5 * sizeof(void *));
SC_ASSERT(sizeof(SCNetworkReachabilityOptions) == 5 * sizeof(void *) + 4 * 4);
SC_ASSERT(sizeof(SCNetworkReachabilityPath) == sizeof(size_t) + 8 * 4 + 16 + 3 * sizeof(struct sockaddr_storage));

SC_END_DECLS

#endif
