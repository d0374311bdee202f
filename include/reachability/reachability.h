/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_REACHABILITY_H
#define REACHABILITY_REACHABILITY_H

/*
 * libreachability: can a packet leave this machine for a host now, over which interface, and if not, why not? Calls
 * back when that changes. The calls are those of Apple's SCNetworkReachability, for Linux.
 *
 * "Reachable" means that a packet to the host can leave this machine now. It does not mean that the host responds, that
 * a packet filter lets the packet pass, or that the machine is online.
 *
 *     #include <reachability/reachability.h>
 *     #include <stdio.h>
 *
 *     static void changed(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
 *     {
 *         puts(flags & kSCNetworkReachabilityFlagsReachable ? "reachable" : "not reachable");
 *         (void)target, (void)info;
 *     }
 *
 *     int main(void)
 *     {
 *         SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, "example.com");
 *         SCNetworkReachabilitySetCallback(target, changed, NULL);
 *         SCNetworkReachabilityScheduleWithRunLoop(target, SCRunLoopGetCurrent(), kSCRunLoopDefaultMode);
 *         SCRunLoopRun();
 *     }
 *
 * ---- Which call?
 *
 *     a target for an address               SCNetworkReachabilityCreateWithAddress; 0.0.0.0: the default path;
 *                                           169.254.0.0: the local network
 *     ... from a source to a destination    SCNetworkReachabilityCreateWithAddressPair
 *     ... for a name or an address as text  SCNetworkReachabilityCreateWithName
 *     ... for one interface, with a mark,   SCNetworkReachabilityCreateWithOptions
 *         for a protocol and a port
 *     ... for a connection                  SCNetworkReachabilityCreateWithSocket
 *     retain a target, release it           SCNetworkReachabilityRetain, SCNetworkReachabilityRelease
 *     its flags                             SCNetworkReachabilityGetFlags
 *     reason, interface, gateway, source    SCNetworkReachabilityGetPath; in a callback, ...GetLastPath
 *     all interfaces with a default path    SCNetworkReachabilityGetNetwork
 *     the addresses of a name               SCNetworkReachabilityGetResolvedAddresses
 *     is it reachable, within N seconds     SCNetworkReachabilityWait
 *     when to connect again                SCNetworkReachabilityWait, with ...ConditionChanged; in an event loop,
 *                                           SCNetworkReachabilityRetryInit
 *     what does a path mean                 SCNetworkReachabilityPathIsReachable, ...PathIsViable, ...PathDiffers
 *     text                                  SCNetworkReachabilityGetDescription, ...PathGetString, ...FlagsGetString,
 *                                           ...ReasonString
 *     which function is called back         SCNetworkReachabilitySetCallback
 *     why a call failed                     SCError, SCErrorString; which argument is wrong: SCErrorDetail
 *
 * ---- How do I want to be notified?
 *
 *     this thread only waits                SCNetworkReachabilityScheduleWithRunLoop with SCRunLoopGetCurrent(), then
 *                                           SCRunLoopRun or SCRunLoopRunInMode
 *     in my own event loop                  SCNetworkReachabilityScheduleWithRunLoop; watch the descriptor of
 *                                           SCRunLoopGetFileDescriptor; when readable, SCRunLoopPerform(loop, 0)
 *     on a queue or a thread pool           SCNetworkReachabilitySetScheduler; on a dispatch queue,
 *                                           SCNetworkReachabilitySetDispatchQueue in <reachability/dispatch.h>
 *     not at all, I poll                    SCNetworkReachabilityGetFlags, without scheduling
 *     without callbacks                     SCNetworkReachabilityScheduleWithRunLoop; SCRunLoopPerform, then
 *                                           SCRunLoopCopyNextChange until it returns NULL
 *
 * A name is looked up only while its target is scheduled. Before the first result, GetFlags and GetPath are about the
 * default path, not about the host, and the reason is NamePending. Schedule the target and wait for the callback, or
 * call SCNetworkReachabilityWait.
 *
 * ---- Rules for all calls
 *
 * Errors. A call that fails returns NULL, 0 or -1 and writes no output. It sets the calling thread's SCError() to an
 *   errno value (below 1000, never EINTR or EAGAIN) or to a kSCStatus... constant. A call that succeeds does not reset
 *   it. An argument that makes no sense, or that is NULL without being SC_NULLABLE, gives kSCStatusInvalidArgument, and
 *   SCErrorDetail() says which one. Most pointers to foreign or released objects give it, too, but do not rely on that.
 *   "Fails:" at a call lists the other errors. The library never prints.
 * Ownership. Create and Copy return a reference that the caller releases. Get returns a reference that the caller does
 *   not release. Retain(NULL) and Release(NULL) do nothing. Arguments (addresses, names, contexts, options) are copied.
 *   A scheduled target stays alive until it is unscheduled.
 * Threads. Any thread may make any call, but only one at a time drives a run loop (SCRunLoopPerform,
 *   SCRunLoopRunInMode, SCRunLoopRun): in a second thread these calls fail with EBUSY. Signal handlers may call
 *   SCRunLoopStop and SCRunLoopWakeUp. Callbacks and context functions run with no lock held and may make any call. Do
 *   not leave them by longjmp(3), pthread_exit(3) or a C++ exception. Do not pthread_cancel(3) a thread inside a call.
 * The library's threads. Targets on run loops need none, except that each look-up under way has a thread, at most 128
 *   in all, and that one closes watches on files after the last target of a name or of the network. All targets on
 *   schedulers and queues share one thread. A call that needs a socket in another network namespace uses a thread for
 *   that moment.
 * Stopping. If SetCallback, Unschedule or SetScheduler(NULL) is called on the thread or queue that delivers, the old
 *   callback is not called after it returns. If it is called on another thread, a callback that has begun may finish
 *   later, and no other begins.
 * Waiting. Create, Schedule, Unschedule, GetFlags and Release never wait for a name server or the kernel's RTNL
 *   lock, with two exceptions: for 169.254.0.0, and with an interface's alternative name of more than 15 bytes,
 *   Schedule and the GetFlags of a target that is not scheduled may wait for the lock. Driving a run loop waits until
 *   the kernel has finished the change behind an event. This usually takes microseconds. GetPath, GetLastPath,
 *   GetNetwork, GetResolvedAddresses, GetDescription and Wait may wait for the lock. If the target is not scheduled,
 *   GetFlags ignores the other end of a tunnel, and sometimes the type of an interface, until GetPath or GetLastPath
 *   has read them.
 * Structures. In Context, which is Apple's, and in Scheduler, `version` is 0 and the layout never changes. Options,
 *   Path and Network may grow: set `size` to sizeof (the ...Initializer macros do). A size is invalid if it is less
 *   than that of version 0.1.0, or more than 4096. On output, the library does not write fields that are not
 *   entirely within `size`, and zeroes the bytes after the last field that it knows. On input, these bytes must be
 *   zero: unknown options are refused.
 * Text. Calls write a text as snprintf(3) does: at most `capacity` bytes, with the NUL. They return the length of the
 *   whole text, without the NUL. The buffer may be NULL if `capacity` is 0.
 * Network namespaces. A target belongs to the network namespace of the thread that creates it, and keeps that namespace
 *   alive. If a later call needs a new socket there, and the process may not use setns(2), the call fails with EPERM.
 * Fork. A child can create and use its own targets and loops. It can retain and release inherited targets and loops;
 *   other calls on these fail with ECHILD. The memory of inherited scheduled targets stays until the child ends. The
 *   parent is not affected. All descriptors are closed on exec. Children of clone(2) and _Fork(3), which run no fork
 *   handlers, must not call the library.
 * Closed descriptors. A program that closes descriptors that are not its own (closefrom(3)) must not use the library
 *   after that. The library closes no file of the program's that has got the number of such a descriptor.
 * User. Policy rules for users (uidrange) are those of the effective user, as for a new socket. After setuid(2) or
 *   seteuid(2), a scheduled target is evaluated for the new user when its run loop is driven next, or, on a scheduler,
 *   at the latest at the next change of the network.
 * Sandboxes. If rtnetlink(7) is denied, the library connects a UDP socket instead, which sends nothing. Then the path's
 *   `evidence` is Socket, the only flags are Reachable and IsLocalAddress, and a scheduled target is evaluated every 2
 *   seconds. If a socket cannot be opened for any other reason, the call fails.
 *
 * docs/behaviour.md has the details.
 */

#ifdef __swift__
/* This import must be first. Otherwise sockaddr, timespec and others belong to this module, and Swift code that imports
 * only Glibc cannot use their members if another file of its module extends one of them. */
#include <features.h>
#ifdef __GLIBC__
#pragma clang module import SwiftGlibc
#endif
#endif

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* The version of this header. SCNetworkReachabilityGetVersion() returns the version of the loaded library. */
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
/* Apple's name. Define SC_NO_BOOLEAN if other headers define it: X11's, or CoreFoundation's after this one. */
#if !defined(SC_NO_BOOLEAN) && !defined(__COREFOUNDATION_CFBASE__)
typedef SCBoolean Boolean;
#endif
#endif

/* The values of SCError() from 1000. They are Apple's. */
/* clang-format off */
SC_ENUM(int, SCStatus) {
    kSCStatusOK                  = 0,
    kSCStatusFailed              = 1001, /* any other failure */
    kSCStatusInvalidArgument     = 1002, /* NULL, nonsense, or a call that the object's state does not allow */
    kSCStatusAccessError         = 1003,
    kSCStatusReachabilityUnknown = 4001, /* the kernel could not be queried just now */
};
/* clang-format on */

/* The last failure of the calling thread: a kSCStatus... value, or an errno below 1000. */
int SCError(void);

/* English text for a status. Static, never NULL. */
const char *SCErrorString(int status);

/* If SCError() is kSCStatusInvalidArgument: which argument of the calling thread's last failed call is wrong, and why,
 * in English: "mode: neither kSCRunLoopDefaultMode nor kSCRunLoopCommonModes". Otherwise "". For logs: the wording may
 * change. Static, never NULL. */
const char *SCErrorDetail(void);

/* The version of the loaded library: "0.1.0". */
const char *SCNetworkReachabilityGetVersion(void);

/* ---- Flags, reasons, types of interface ------------------------------------------------------------------------- */

/*
 * What is known about a target's path. The bits are Apple's. No bit set: no packet can leave for the target.
 *
 * Linux does not say that a ppp connection is dialled on demand: such an interface counts as connected.
 */
/* clang-format off */
SC_FLAGS(SCNetworkReachabilityFlags) {
    kSCNetworkReachabilityFlagsTransientConnection  = 1u << 0,  /* point-to-point: over ppp, a tunnel, cellular */
    kSCNetworkReachabilityFlagsReachable            = 1u << 1,  /* a packet can leave */
    kSCNetworkReachabilityFlagsConnectionRequired   = 1u << 2,  /* never set: Linux has no source for it */
    kSCNetworkReachabilityFlagsConnectionOnTraffic  = 1u << 3,  /* never set: Linux has no source for it */
    kSCNetworkReachabilityFlagsInterventionRequired = 1u << 4,  /* never set: Linux has no source for it */
    kSCNetworkReachabilityFlagsConnectionOnDemand   = 1u << 5,  /* never set: Linux has no source for it */
    kSCNetworkReachabilityFlagsIsLocalAddress       = 1u << 16, /* one of this machine's own addresses */
    kSCNetworkReachabilityFlagsIsDirect             = 1u << 17, /* on a directly attached network: no gateway */
    kSCNetworkReachabilityFlagsIsWWAN               = 1u << 18, /* over a cellular interface */
    kSCNetworkReachabilityFlagsConnectionAutomatic  = kSCNetworkReachabilityFlagsConnectionOnTraffic
} SC_FLAGS_END(SCNetworkReachabilityFlags);
/* clang-format on */

/* The names that old sources use for the flags. In Swift, SCReachability declares them. */
#ifndef __swift__
typedef SCNetworkReachabilityFlags SCNetworkConnectionFlags;
/* clang-format off */
enum {
    kSCNetworkFlagsTransientConnection  = kSCNetworkReachabilityFlagsTransientConnection,
    kSCNetworkFlagsReachable            = kSCNetworkReachabilityFlagsReachable,
    kSCNetworkFlagsConnectionRequired   = kSCNetworkReachabilityFlagsConnectionRequired,
    kSCNetworkFlagsConnectionAutomatic  = kSCNetworkReachabilityFlagsConnectionAutomatic,
    kSCNetworkFlagsInterventionRequired = kSCNetworkReachabilityFlagsInterventionRequired,
    kSCNetworkFlagsIsLocalAddress       = kSCNetworkReachabilityFlagsIsLocalAddress,
    kSCNetworkFlagsIsDirect             = kSCNetworkReachabilityFlagsIsDirect
};
/* clang-format on */
#endif

/*
 * Why a target is not reachable, as the kernel reports it. An "unreachable" rule is reported as NoRoute.
 *
 * Over a tunnel that publishes its other end, the path to that end counts. Over WireGuard, the path to the
 * destination's peer counts in GetPath and for scheduled targets, if the process may read the peers (CAP_NET_ADMIN) and
 * the interface was created in the target's network namespace.
 */
/* clang-format off */
SC_OPEN_ENUM(SCNetworkReachabilityReason) {
    kSCNetworkReachabilityReasonNone                    = 0,  /* it is reachable */
    kSCNetworkReachabilityReasonNoRoute                 = 1,
    kSCNetworkReachabilityReasonRouteUnreachable        = 2,  /* an "unreachable" route */
    kSCNetworkReachabilityReasonRouteProhibited         = 3,  /* a "prohibit" route or rule */
    kSCNetworkReachabilityReasonRouteBlackhole          = 4,  /* a "blackhole" route or rule */
    kSCNetworkReachabilityReasonInterfaceDown           = 5,  /* the route's interface is administratively down */
    kSCNetworkReachabilityReasonNoCarrier               = 6,  /* up, but not running: no cable, dormant */
    kSCNetworkReachabilityReasonNoSourceAddress         = 7,  /* no address to send from, or a pair's local address
                                                                   * is 127.x.x.x */
    kSCNetworkReachabilityReasonLocalAddressNotAssigned = 8,  /* this machine does not have a pair's local address */
    kSCNetworkReachabilityReasonNamePending             = 9,  /* not resolved: the flags are the default path's */
    kSCNetworkReachabilityReasonNameNotFound            = 10,
    kSCNetworkReachabilityReasonNameServerFailure       = 11,
    kSCNetworkReachabilityReasonNameServerUnreachable   = 12,
    kSCNetworkReachabilityReasonInterfaceMissing        = 13  /* the target's interface does not exist (yet) */
} SC_OPEN_ENUM_END(SCNetworkReachabilityReason);
/* clang-format on */

/*
 * The type of the interface that the packet leaves over. It depends on the device, never on the interface's name. A
 * VLAN, bond, bridge or other interface on top of others has the type of the device that carries it. If no real device
 * carries it, the type is Virtual.
 */
/* clang-format off */
SC_OPEN_ENUM(SCNetworkReachabilityInterfaceType) {
    kSCNetworkReachabilityInterfaceTypeOther         = 0,
    kSCNetworkReachabilityInterfaceTypeLoopback      = 1,
    kSCNetworkReachabilityInterfaceTypeWiredEthernet = 2,
    kSCNetworkReachabilityInterfaceTypeWiFi          = 3,
    kSCNetworkReachabilityInterfaceTypeCellular      = 4,
    kSCNetworkReachabilityInterfaceTypePointToPoint  = 5, /* ppp */
    kSCNetworkReachabilityInterfaceTypeTunnel        = 6, /* tun, tap, gre, ipip, sit, ip6tnl, vti, xfrm, wireguard */
    kSCNetworkReachabilityInterfaceTypeVirtual       = 7  /* veth, dummy, vxlan, and a bridge of these */
} SC_OPEN_ENUM_END(SCNetworkReachabilityInterfaceType);
/* clang-format on */

/* The source of a path. */
/* clang-format off */
SC_OPEN_ENUM(SCNetworkReachabilityEvidence) {
    kSCNetworkReachabilityEvidenceKernel = 0, /* a route query to the kernel, over rtnetlink */
    kSCNetworkReachabilityEvidenceSocket = 1  /* a connected UDP socket, as rtnetlink is denied: see "Sandboxes" */
} SC_OPEN_ENUM_END(SCNetworkReachabilityEvidence);
/* clang-format on */

/*
 * Writes flags as text, in the words of Apple's scutil -r, separated by commas without spaces: "Reachable,Directly
 * Reachable Address". No flag: "Not Reachable". Unknown bits come last, as one hexadecimal number.
 */
size_t SCNetworkReachabilityFlagsGetString(SCNetworkReachabilityFlags flags, char *SC_NULLABLE buffer, size_t capacity);

/* English text for a reason: "no route", "no carrier". Static, never NULL. */
const char *SCNetworkReachabilityReasonString(SCNetworkReachabilityReason reason);

/* ---- Making targets --------------------------------------------------------------------------------------------- */

/* A target: an address, a pair of addresses, or a host name. */
#ifdef __swift__
struct SC_SWIFT_CLASS(SCNetworkReachabilityRetain, SCNetworkReachabilityRelease) SCNetworkReachability;
#define SCNetworkReachabilityRef struct SCNetworkReachability *
#else
typedef const struct SCNetworkReachability *SCNetworkReachabilityRef;
#endif

/*
 * Makes a target for an address: AF_INET or AF_INET6. The port is ignored; the length depends on the family. An
 * IPv4-mapped IPv6 address becomes the IPv4 address. A link-local IPv6 address is reachable only with its scope
 * (interface index). 0.0.0.0 and :: stand for the default path: reachable if IPv4 or IPv6 has a usable default route.
 * 169.254.0.0 stands for the local network, as in Apple's sample code: Reachable and IsDirect while an interface is up
 * and has a carrier. Loopback and point-to-point interfaces do not count. With a local address, an interface or a mark,
 * it is an address like any other.
 *
 * In all Create calls, `allocator` exists only because Apple's calls have it: pass NULL.
 *
 * Fails: ENOMEM, or an errno if the calling thread's network namespace cannot be opened.
 */
SC_RETURNS_RETAINED SCNetworkReachabilityRef SC_NULLABLE SCNetworkReachabilityCreateWithAddress(
    const void *SC_NULLABLE allocator, const struct sockaddr *address);

/*
 * Makes a target for the path from `localAddress` to `remoteAddress`, both of one family. One of them may be NULL.
 * Without a remote address, the local address is the target. If the local address is 0.0.0.0 or ::, the kernel chooses
 * it. While this machine does not have the local address, there are no flags and the reason is LocalAddressNotAssigned.
 * A link-local local address must have a scope, which is then the target's interface. Without a scope, the options must
 * name the interface.
 * Everything else is as for CreateWithAddress.
 */
SC_RETURNS_RETAINED SCNetworkReachabilityRef SC_NULLABLE SCNetworkReachabilityCreateWithAddressPair(
    const void *SC_NULLABLE allocator, const struct sockaddr *SC_NULLABLE localAddress,
    const struct sockaddr *SC_NULLABLE remoteAddress);

/*
 * Makes a target for a host name of 1 to 1024 bytes. If the whole name is an address, the target is that address: IPv4
 * as inet_aton(3) reads it, or IPv6 with an optional %zone, an interface's index or name (see interfaceName below).
 * Other texts with ':' and '%' are invalid, as is the zone of a URL (fe80::1%25eth0). "localhost" and names below
 * ".localhost" are 127.0.0.1 and ::1.
 *
 * Any other name is looked up with getaddrinfo(3), in the background, while the target is scheduled. A name is UTF-8,
 * whatever the locale is. One that cannot be converted to an international name (IDNA) is not found. Until the first
 * result, and while the target is not scheduled, the reason is NamePending, and flags and path are those of the default
 * path, over the target's interface and with its mark. IsDirect and IsLocalAddress are not set then.
 *
 * An address 0.0.0.0 or :: of a name is this machine, as for connect(2): 127.0.0.1 or ::1.
 *
 * The first result or failure makes a callback; so does a change of the addresses. The best address counts; of equals,
 * the first in the resolver's order. A name that does not exist has no flags (NameNotFound). If the name servers fail,
 * earlier addresses stay; without any, there are no flags (NameServerFailure, NameServerUnreachable). A name is looked
 * up again after a change of the network, after 5 minutes, and after a failure. If changes go on, there are pauses
 * between the look-ups.
 *
 * Fails as CreateWithAddress does.
 */
SC_RETURNS_RETAINED SCNetworkReachabilityRef SC_NULLABLE SCNetworkReachabilityCreateWithName(
    const void *SC_NULLABLE allocator, const char *nodename);

/* The bits of SCNetworkReachabilityOptions.options. Any other bit is invalid. */
/* clang-format off */
SC_FLAGS(SCNetworkReachabilityOption) {
    /* The callback also runs when reason, gateway, source or flow changed and the flags did not. */
    kSCNetworkReachabilityOptionNotifyPath = 1u << 0,
    /* SCNetworkReachabilityGetNetwork can be called. The callback also runs once after the target is scheduled, and
     * when the result of that call changes. Only for the default path of all interfaces and both families,
     * without a mark and a flow. */
    kSCNetworkReachabilityOptionNotifyNetwork = 1u << 1,
    /* The callback also runs when the next hop fails (NextHopFailed), when it responds again, and when the path gets
     * another one because it has failed. While the kernel tries again, it still counts as failed. */
    kSCNetworkReachabilityOptionNotifyNextHop = 1u << 2,
    /* Only addresses of this family count. A name without one is not found (NameNotFound), and the default path is that
     * of the family. Both bits, or an address of the other family: invalid. */
    kSCNetworkReachabilityOptionIPv4Only SC_SWIFT_NAME(ipv4Only) = 1u << 3,
    kSCNetworkReachabilityOptionIPv6Only SC_SWIFT_NAME(ipv6Only) = 1u << 4
} SC_FLAGS_END(SCNetworkReachabilityOption);
/* clang-format on */

typedef struct {
    size_t size;
    const char *SC_NULLABLE nodename; /* either a name, or one or two addresses */
    const struct sockaddr *SC_NULLABLE localAddress;
    const struct sockaddr *SC_NULLABLE remoteAddress;
    /* Only routes out of this interface count; 224.0.0.0/4 and 255.255.255.255 need none. 1 to 15 bytes. While it does
     * not exist, the target has no flags and the reason InterfaceMissing. The name counts, also after the interface is
     * deleted, renamed or gets a new index. An alternative name can have up to 127 bytes: one with more than 15 is
     * invalid if no interface has it when the target is created. */
    const char *SC_NULLABLE interfaceName;
    socklen_t localAddressLength; /* 0: from the family. Too short for the family: invalid */
    socklen_t remoteAddressLength;
    uint32_t routingMark; /* SO_MARK of the sockets that the program will use; 0: none */
    uint32_t options;     /* kSCNetworkReachabilityOption... */
    /* IPPROTO_TCP, IPPROTO_UDP, or the family's ICMP; any other is invalid. With a protocol, the ports of both
     * addresses count, also that of a local address 0.0.0.0. 0: ports do not count. As for connect(2), there is no
     * route for TCP to a broadcast or multicast address, or for any protocol to ff01:: or ff02:: without a scope. */
    uint8_t protocol;
    uint8_t trafficClass; /* IP_TOS or IPV6_TCLASS of the sockets; the two bits for congestion (ECN) are ignored */
    uint16_t remotePort;  /* of `nodename`, in host byte order. Beside an address or without a protocol: invalid */
    uint32_t reserved;    /* 0 */
} SCNetworkReachabilityOptions;
#define kSCNetworkReachabilityOptionsInitializer \
    SC_SIZED(SCNetworkReachabilityOptions, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})

/*
 * Makes a target from a structure. The fields mean what the arguments of the calls above mean. For the default path of
 * one interface, set the remote address to 0.0.0.0.
 *
 * With a protocol the target is an exact flow: rules for a protocol or a port count (ip rule add ipproto tcp dport 443
 * prohibit), and so does the leg of a multipath route that the kernel chooses by the ports. The answer is that of
 * connect(2) for a socket of this program. In a sandbox without rtnetlink, rules for TCP are not seen.
 *
 * Fails: ENOTSUP with a protocol, if the kernel is older than Linux 4.18, which cannot be asked about ports.
 */
SC_RETURNS_RETAINED SCNetworkReachabilityRef SC_NULLABLE SCNetworkReachabilityCreateWithOptions(
    const void *SC_NULLABLE allocator, const SCNetworkReachabilityOptions *options);

/*
 * Makes a target for the packets of a connected socket: TCP, MPTCP, UDP or another protocol over IPv4 or IPv6. It says
 * whether packets of this socket can leave, and with `flow` in the path whether they leave as those of a new connection
 * would. IT SAYS NOTHING ABOUT THE OTHER END: a connection that is dead at the other end, or on the way, is reachable.
 *
 * This call reads both addresses and ports, protocol, interface, mark, traffic class and owner of the socket. The
 * descriptor is not kept: closing it is no change. Call it on a thread in the network namespace of the socket, after
 * connect(2) or accept(2). Flags and reason are those of the address pair. The callback also runs when `flow` changes.
 * MPTCP counts as TCP. With a protocol that the kernel's queries do not take, ports do not count, and the flow is
 * Incomplete.
 *
 * A listening server can have a target for each of 100,000 connections: those with one local address share the queries.
 *
 * Fails: EBADF, ENOTSOCK; ENOTCONN if the socket has no other end, or listens; ENOTSUP as CreateWithOptions with a
 * protocol does; ENOMEM, or an errno of reading the socket. Invalid: a socket of another family.
 */
SC_RETURNS_RETAINED SCNetworkReachabilityRef SC_NULLABLE SCNetworkReachabilityCreateWithSocket(
    const void *SC_NULLABLE allocator, int socket);

/* Adds a reference and returns its argument. */
SC_RETURNS_UNRETAINED SCNetworkReachabilityRef SC_NULLABLE SCNetworkReachabilityRetain(
    SCNetworkReachabilityRef SC_NULLABLE target);

/* Drops a reference. The last one frees the target and releases its context. */
void SCNetworkReachabilityRelease(SCNetworkReachabilityRef SC_NULLABLE target);

/* The same number for all targets, never 0. */
unsigned long SCNetworkReachabilityGetTypeID(void);

/* ---- Reading a target's state ----------------------------------------------------------------------------------- */

/*
 * Gets the flags. While a name is not resolved, they are about the default path, not about the host: see
 * CreateWithName.
 *
 * If the target is not scheduled, this queries the kernel, which takes some microseconds. If it is scheduled, this
 * loads the result of the latest evaluation, without a system call or a lock. On a run loop, the result changes only
 * while the loop is driven. It does not change during a callback, unless the callback drives the loop. A program that
 * does not drive the loop should not schedule its targets.
 *
 * No bit set is a result, not a failure. Fails: an errno or kSCStatusReachabilityUnknown if the kernel could not be
 * queried.
 */
SCBoolean SCNetworkReachabilityGetFlags(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags *flags);

/*
 * What else is known about the flow of packets to a target: SCNetworkReachabilityPath.flow. BetterPath and
 * SourceForeign are for reachable targets with a local and a remote address; the legs of one multipath route are
 * equals. A change makes a callback for the target of a socket, and with NotifyPath.
 */
/* clang-format off */
SC_FLAGS(SCNetworkReachabilityFlow) {
    /* A new connection like this one, without a bound address, would leave over another interface than this flow, or
     * than the one that has this flow's source address. Another address of the same interface is no better path. */
    kSCNetworkReachabilityFlowBetterPath    = 1u << 0,
    /* Packets leave over an interface that does not have the source address, and a new connection over it would get
     * another one. The network may drop them, and an established TCP connection then hangs. An address of lo, a dummy
     * interface, a bridge or a VRF is not foreign. */
    kSCNetworkReachabilityFlowSourceForeign = 1u << 1,
    /* A policy rule selects by what the target does not say: protocol, ports, traffic class, or another user than the
     * effective one. For a program's socket, the kernel may decide otherwise. */
    kSCNetworkReachabilityFlowIncomplete    = 1u << 2
} SC_FLAGS_END(SCNetworkReachabilityFlow);
/* clang-format on */

/*
 * Whether the next hop responds: SCNetworkReachabilityPath.nextHop. The next hop is the gateway, or without one the
 * destination itself. This is what the kernel knows from its neighbour table: no packet is sent. If the next hop does
 * not respond, connect(2) of TCP fails with EHOSTUNREACH after some seconds, and packets of UDP are lost. Flags and
 * reason do not depend on it.
 */
/* clang-format off */
SC_OPEN_ENUM(SCNetworkReachabilityNextHop) {
    kSCNetworkReachabilityNextHopUnknown     = 0, /* the kernel has not tried, waits for a reply, or has forgotten it;
                                                   * or there is none: not reachable, this machine, point-to-point */
    kSCNetworkReachabilityNextHopConfirmed   = 1, /* it responds, or nobody needs to ask it */
    kSCNetworkReachabilityNextHopUnconfirmed = 2, /* it has responded some time ago */
    kSCNetworkReachabilityNextHopFailed      = 3  /* it has not responded */
} SC_OPEN_ENUM_END(SCNetworkReachabilityNextHop);
/* clang-format on */

/* All that is known about the path to a target. ss_family AF_UNSPEC: there is no such address. */
typedef struct {
    size_t size;
    SCNetworkReachabilityFlags flags;
    SCNetworkReachabilityReason reason;
    uint32_t interfaceIndex; /* 0: none */
    SCNetworkReachabilityInterfaceType interfaceType;
    char interfaceName[16];
    uint32_t mtu;                        /* bytes; the route's, otherwise the interface's; 0: unknown */
    uint32_t table;                      /* routing table of the route, rtnetlink(7); 0: unknown */
    uint32_t addressCount;               /* as SCNetworkReachabilityGetResolvedAddresses returns */
    uint32_t evidence;                   /* kSCNetworkReachabilityEvidence... */
    struct sockaddr_storage destination; /* the evaluated address; none for the default path */
    struct sockaddr_storage source;      /* the source address of packets */
    struct sockaddr_storage gateway;     /* none: on-link */
    SCNetworkReachabilityFlow flow;
    SCNetworkReachabilityNextHop nextHop;
} SCNetworkReachabilityPath;
#define kSCNetworkReachabilityPathInitializer \
    SC_SIZED(SCNetworkReachabilityPath, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})

/*
 * Gets the path by a query to the kernel, also if the target is scheduled. The fields agree with one another; the flags
 * may be newer than those of GetFlags. If the target is not reachable, interface and gateway are those of the route
 * that packets would take, if there is such a route. Fails as GetFlags does.
 */
SCBoolean SCNetworkReachabilityGetPath(SCNetworkReachabilityRef target, SCNetworkReachabilityPath *path);

/*
 * Gets the path of the latest evaluation: GetFlags returns its flags, and any later difference makes a callback. So in
 * a callback, this gets the path that the callback reports, while GetPath may get a newer one. It queries at most the
 * type of the interface. This is only for scheduled targets with kSCNetworkReachabilityOptionNotifyPath. For any other
 * target, it does the same as GetPath.
 */
SCBoolean SCNetworkReachabilityGetLastPath(SCNetworkReachabilityRef target, SCNetworkReachabilityPath *path);

/*
 * The default path of one family: the way of packets for which only a default route matches. If packets cannot take a
 * default path, no flag is set, and `reason` says why.
 */
typedef struct {
    SCNetworkReachabilityFlags flags;
    SCNetworkReachabilityReason reason;
    uint32_t interfaceIndex;         /* 0: none, or not known */
    uint32_t metric;                 /* of the default route; the kernel prefers the smaller */
    struct sockaddr_storage source;  /* the source address of packets; ss_family AF_UNSPEC: not known */
    struct sockaddr_storage gateway; /* ss_family AF_UNSPEC: none */
} SCNetworkReachabilityDefaultPath;

/* An uplink: an interface that is up, has a carrier, and has a usable default path in one family or in both. */
typedef struct {
    uint32_t interfaceIndex;
    SCNetworkReachabilityInterfaceType interfaceType;
    char interfaceName[16];
    /* For a tunnel, the types of the interfaces over which its packets leave, as far as the kernel shows: a bit
     * (1 << type) for each. 0: no tunnel, or not known. */
    uint32_t ipv4UnderlayTypes;
    uint32_t ipv6UnderlayTypes;
    SCNetworkReachabilityDefaultPath ipv4; /* out of this interface */
    SCNetworkReachabilityDefaultPath ipv6;
    /* 1, or 0: the kernel must still be queried for the type, which may wait for RTNL, or does not show it. Then
     * interfaceType is the usual one for this hardware. If uplinksAreComplete is 1, it does not become known later. */
    uint32_t interfaceTypeIsKnown;
    /* 1: it leads out of a container or a virtual machine: a veth, netkit, macvlan, ipvlan, or an interface above one
     * of these. Its type is Virtual. A dummy, tap or vxlan does not lead out. */
    uint32_t interfaceLeadsOut;
    uint32_t ipv4UnderlayLeadsOut; /* 1: one of ipv4UnderlayTypes is such an interface */
    uint32_t ipv6UnderlayLeadsOut;
} SCNetworkReachabilityUplink;

/* All default paths of a network namespace, and its name servers. */
typedef struct {
    size_t size;
    SCNetworkReachabilityDefaultPath ipv4; /* the uplink that the kernel chooses */
    SCNetworkReachabilityDefaultPath ipv6;
    SCNetworkReachabilityFlags ipv4LoopbackFlags; /* of 127.0.0.1: Reachable while lo is up */
    SCNetworkReachabilityFlags ipv6LoopbackFlags; /* of ::1 */
    uint32_t evidence;                            /* kSCNetworkReachabilityEvidence... */
    uint32_t uplinkCount;                         /* all, also if the caller's array is smaller */
    uint32_t uplinksAreComplete;                  /* 1: all are known. 0: those that the kernel chooses */
    uint32_t nameServerCount;                     /* at most 3 */
    uint32_t nameServerIsReachable;               /* 1: UDP packets can leave for port 53 of at least one. Or 0 */
    uint32_t reserved;                            /* 0 */
    /* Those of /etc/resolv.conf. If all of these are systemd-resolved's stub, those that it uses. */
    struct sockaddr_storage nameServers[3];
} SCNetworkReachabilityNetwork;
#define kSCNetworkReachabilityNetworkInitializer \
    SC_SIZED(SCNetworkReachabilityNetwork, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})

/*
 * Gets all default paths, and writes at most `capacity` uplinks. First comes the interface that the kernel chooses for
 * IPv4, then the one that it chooses for IPv6, then all others by metric (IPv4's, without one IPv6's) and index. A port
 * of a bridge or bond is not an uplink. Nor is a VRF: its ports are. `uplinkSize` is
 * sizeof(SCNetworkReachabilityUplink), the distance between two uplinks. The rules for `size` apply to it: an uplink
 * may grow.
 *
 * Only for a target with kSCNetworkReachabilityOptionNotifyNetwork. If the target is scheduled, this gets the latest
 * evaluation, without a system call. Before the first callback, uplinksAreComplete and interfaceTypeIsKnown can be 0.
 * If the target is not scheduled, this queries the kernel, at least six queries for each interface, and may wait for
 * RTNL. In a sandbox without rtnetlink, the interfaces are not known: there are no uplinks.
 *
 * Fails as GetFlags does, or with an errno of reading /etc/resolv.conf.
 */
SCBoolean SCNetworkReachabilityGetNetwork(SCNetworkReachabilityRef target, SCNetworkReachabilityNetwork *network,
                                          SCNetworkReachabilityUplink *SC_NULLABLE uplinks, size_t uplinkSize,
                                          size_t capacity);

/*
 * Writes at most `capacity` of the target's addresses and returns how many there are: one for an address; all of a
 * resolved name; none for the default path and for a name that is not resolved. So 0 can mean a result or a failure.
 */
size_t SCNetworkReachabilityGetResolvedAddresses(SCNetworkReachabilityRef target,
                                                 struct sockaddr_storage *SC_NULLABLE addresses, size_t capacity);

/*
 * Writes a text for people and logs. The first line is as scutil prints it: "<SCNetworkReachability 0x...> {address =
 * A}". Indented lines follow: schedule, flags, reason, path, resolver state, counters. Their wording may change.
 *
 * In the names of hosts and interfaces, control characters, bytes that are not UTF-8, and backslashes are escaped as in
 * C: \n, \r, \t, \\, and all others as \x with two hexadecimal digits.
 */
size_t SCNetworkReachabilityGetDescription(SCNetworkReachabilityRef target, char *SC_NULLABLE buffer, size_t capacity);

/* ---- What a path means ------------------------------------------------------------------------------------------ */

/*
 * The rules for a path are the same in all languages, as all call the functions of this section. These only look at
 * their arguments: no system call, no lock, no memory of their own. Any thread may call them, also in a child after
 * fork, but only one thread at a time for one SCNetworkReachabilityRetry. A path may also be made by hand: start with
 * kSCNetworkReachabilityPathInitializer. With a NULL, or a path of a wrong `size`, they change nothing and return 0
 * (GetDue: UINT64_MAX), and SCError() is kSCStatusInvalidArgument.
 *
 * Whether a packet can leave for the target now. The flags have Reachable, and the reason is not NamePending. If a path
 * made by hand has ConnectionRequired, it must also have ConnectionOnTraffic or ConnectionOnDemand, and not
 * InterventionRequired.
 */
SCBoolean SCNetworkReachabilityPathIsReachable(const SCNetworkReachabilityPath *path);

/* Whether an established connection can go on: the path is reachable, and its flow does not have SourceForeign. */
SCBoolean SCNetworkReachabilityPathIsViable(const SCNetworkReachabilityPath *path);

/*
 * Whether a callback with NotifyPath reports the change from one path of a target to the other: flags, reason, gateway,
 * source or flow differ; or both are reachable, and their interfaces differ. Other fields do not count. A callback also
 * comes for other addresses of a name, and with NotifyNextHop for the next hop.
 */
SCBoolean SCNetworkReachabilityPathDiffers(const SCNetworkReachabilityPath *path,
                                           const SCNetworkReachabilityPath *other);

/*
 * Writes a path as one line for people and logs, in the words of ip-route(8): "reachable dev eth0 via 192.0.2.1 src
 * 192.0.2.2", "reachable on-link dev eth0 src 192.0.2.2", "reachable local dev lo src 127.0.0.1", "not reachable: no
 * carrier dev eth0", "pending". The type follows the interface if it is Wi-Fi, cellular, ppp or a tunnel. Remarks come
 * last: ", foreign source". Names are escaped as in GetDescription. The wording may change.
 */
size_t SCNetworkReachabilityPathGetString(const SCNetworkReachabilityPath *path, char *SC_NULLABLE buffer,
                                          size_t capacity);

/* Why the sleep between two attempts to connect ends. */
/* clang-format off */
SC_OPEN_ENUM(SCNetworkReachabilityWake) {
    kSCNetworkReachabilityWakeNone      = 0, /* it does not end yet */
    kSCNetworkReachabilityWakeTime      = 1, /* the time is over */
    kSCNetworkReachabilityWakeReachable = 2, /* the target was not reachable, and is */
    kSCNetworkReachabilityWakePath      = 3  /* packets leave over another interface or gateway, or from another
                                              * source */
} SC_OPEN_ENUM_END(SCNetworkReachabilityWake);
/* clang-format on */

/*
 * Decides which changes are worth an attempt to connect, and when. The memory is the caller's and may be copied;
 * nothing has to be released. The times are nanoseconds of any clock that does not go back. Examples/retry.c is a
 * program.
 */
typedef struct {
    uint64_t state[16];
} SCNetworkReachabilityRetry;

/* Begins. If changes go on, they end one sleep in `minInterval`. */
void SCNetworkReachabilityRetryInit(SCNetworkReachabilityRetry *retry, uint64_t minInterval);

/*
 * Takes the next path: first the current one, then that of each callback with NotifyPath. A change is pending if the
 * target was not reachable and is, or if it has another interface, gateway or source (with scope) than when it was
 * reachable last. It ends the sleep `delay` after `now`. If one server has many clients, `delay` should be random, up
 * to 250 milliseconds. The first of several changes counts, until it is taken, or until the target is not reachable
 * again. A pending name says nothing.
 */
void SCNetworkReachabilityRetryObserve(SCNetworkReachabilityRetry *retry, const SCNetworkReachabilityPath *path,
                                       uint64_t now, uint64_t delay);

/* When the pending change ends the sleep. UINT64_MAX: none is pending. */
uint64_t SCNetworkReachabilityRetryGetDue(const SCNetworkReachabilityRetry *retry);

/*
 * Why to wake up now, if the sleep lasts until `end`. Call it when the sleep begins, after each Observe, and at the
 * earlier of GetDue and `end`. A result other than None ends the sleep: nothing is pending then. A change that is due
 * counts also after `end`.
 */
SCNetworkReachabilityWake SCNetworkReachabilityRetryTake(SCNetworkReachabilityRetry *retry, uint64_t now, uint64_t end);

/* ---- Waiting ---------------------------------------------------------------------------------------------------- */

/* clang-format off */
SC_OPEN_ENUM(SCNetworkReachabilityCondition) {
    kSCNetworkReachabilityConditionKnown        = 0, /* reachable or not: the reason is not NamePending */
    kSCNetworkReachabilityConditionReachable    = 1, /* SCNetworkReachabilityPathIsReachable */
    kSCNetworkReachabilityConditionNotReachable = 2, /* known, and not reachable */
    kSCNetworkReachabilityConditionChanged      = 3  /* reachable, and it was not, or packets left in another way */
} SC_OPEN_ENUM_END(SCNetworkReachabilityCondition);
/* clang-format on */

/*
 * Waits at most `seconds` until the condition holds. Returns 1 if it holds, and 0 if the time is over. In both cases
 * `path` gets the target's path. If the result is 0, path->reason says why: NamePending means that the look-up of the
 * name has not ended. `path` may be NULL.
 *
 *     SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;
 *
 *     if (SCNetworkReachabilityWait(target, kSCNetworkReachabilityConditionKnown, 5.0, &path) == 1)
 *         puts(SCNetworkReachabilityPathIsReachable(&path) ? "reachable" : "not reachable");
 *
 * The target may be scheduled or not. Nothing about it changes: the call watches a copy of the target, on a run loop of
 * its own. So it makes no callback, takes none from another loop, and drives no other loop. A name that is not
 * scheduled is looked up for the copy, and its target stays pending. Any thread may make the call, several at a time,
 * also for one target. In a callback, it delays the other callbacks of that thread.
 *
 * Changed is for a loop that tries again and again to connect. In place of its sleep between two attempts:
 *
 *     while (!try_to_connect())
 *         SCNetworkReachabilityWait(target, kSCNetworkReachabilityConditionChanged, seconds, NULL);
 *
 * It holds if the target is reachable now, and was evaluated since the call began as not reachable, or with another
 * interface, gateway or source. The first evaluation of the call counts: what changes before that does not. A name
 * whose look-up has not ended is neither. Nothing else ends the wait: with an unreachable target it lasts `seconds`.
 * Each change ends one wait, so a loop should have a limit if changes go on: Examples/retry.c has, and loses no change
 * while it tries.
 *
 * A state that ends before the library has evaluated it does not count. `seconds` 0 does not wait: the path is that of
 * GetPath. A negative number waits without limit, as in SCRunLoopPerform. NaN is invalid. Signals do not end the wait,
 * and the time that the machine is suspended counts. If another thread must be able to end the wait, use
 * SCRunLoopCreate, SCRunLoopPerform and SCRunLoopWakeUp instead.
 *
 * Fails with -1, as GetPath, SCRunLoopCreate and SCNetworkReachabilityScheduleWithRunLoop do.
 */
int SCNetworkReachabilityWait(SCNetworkReachabilityRef target, SCNetworkReachabilityCondition condition, double seconds,
                              SCNetworkReachabilityPath *SC_NULLABLE path);

/* ---- Callbacks -------------------------------------------------------------------------------------------------- */

/*
 * Called when the flags, or the interface that packets leave over, have changed since the last delivery. With
 * NotifyPath, it is also called when the reason, gateway, source or flow have changed. For a name, it is also called
 * once after the target is scheduled. `flags` is the current value, never an old one. Several changes before a delivery
 * make one callback, or none if they cancel out. Callbacks of one target never overlap and come in the order of the
 * changes. A callback may make any call on the target: unschedule it, set another callback, release the last reference.
 */
typedef void (*SCNetworkReachabilityCallBack)(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags,
                                              void *SC_NULLABLE info) SC_SWIFT_NAME(CNetworkReachabilityCallBack);

/*
 * The `info` that a callback receives, and how long it lives.
 *
 * With retain, the library keeps what retain(info) returns. With both hooks, each delivery retains, calls back, and
 * releases. With release alone, release is called exactly once: when the context was replaced or the target freed, and
 * no delivery runs. With neither, `info` must stay valid until the last callback has returned.
 *
 * The hooks have Apple's types. free(3) and g_free take `void *`, not `const void *`, so they do not fit, and a call
 * through a cast is undefined in C. Write a function of one line: { free((void *)info); }
 */
typedef struct SC_SWIFT_NAME(CNetworkReachabilityContext) SCNetworkReachabilityContext {
    long version; /* 0 */
    void *SC_NULLABLE info;
    const void *SC_NONNULL (*SC_NULLABLE retain)(const void *info);
    void (*SC_NULLABLE release)(const void *info);
    const void *SC_NULLABLE (*SC_NULLABLE copyDescription)(const void *info); /* Apple's; never called */
} SCNetworkReachabilityContext;
#define kSCNetworkReachabilityContextInitializer \
    { \
        0, NULL, NULL, NULL, NULL \
    }

/*
 * Sets, replaces or (callout NULL) removes the callback. A NULL context stands for one with a NULL info.
 *
 * The new context is retained first. Then the old one is released: on this thread or, if a delivery is running, on the
 * thread of that delivery. The new callback is first called at the next change. Fails: ENOMEM.
 */
SC_REFINED SCBoolean SCNetworkReachabilitySetCallback(SCNetworkReachabilityRef target,
                                                      SCNetworkReachabilityCallBack SC_NULLABLE callout,
                                                      SCNetworkReachabilityContext *SC_NULLABLE context);

/* ---- Run loops -------------------------------------------------------------------------------------------------- */

/*
 * A small run loop, for programs without an event loop. It has one descriptor, so any other event loop can host it.
 * Each thread has a run loop of its own; SCRunLoopCreate makes more.
 */
#ifdef __swift__
struct SC_SWIFT_CLASS(SCRunLoopRetain, SCRunLoopRelease) SCRunLoop;
#define SCRunLoopRef struct SCRunLoop *
#else
typedef struct SCRunLoop *SCRunLoopRef;
#endif

/* Modes are compared as text; there are only these two. A loop that runs in either mode serves the targets of both.
 * Unschedule in the mode of the schedule. */
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

/* The calling thread's loop, created by the first call. When the thread ends, the loop's targets are unscheduled.
 * Fails: an errno. */
SC_RETURNS_UNRETAINED SCRunLoopRef SC_NULLABLE SCRunLoopGetCurrent(void);

/* The main thread's loop, from any thread. */
SC_RETURNS_UNRETAINED SCRunLoopRef SC_NULLABLE SCRunLoopGetMain(void);

/* Creates a loop that belongs to no thread: any thread may drive it, with SCRunLoopPerform. Releasing it does not
 * unschedule its targets: they keep it and its descriptors until they are unscheduled. */
SC_RETURNS_RETAINED SCRunLoopRef SC_NULLABLE SCRunLoopCreate(void);

/* Adds a reference and returns its argument. */
SC_RETURNS_UNRETAINED SCRunLoopRef SC_NULLABLE SCRunLoopRetain(SCRunLoopRef SC_NULLABLE runLoop);

/* Drops a reference. The last one frees the loop. Each target that is scheduled on the loop has a reference too. */
void SCRunLoopRelease(SCRunLoopRef SC_NULLABLE runLoop);

/* One descriptor for poll(2), epoll(7) and the like. It is readable, level-triggered, while SCRunLoopPerform or
 * SCRunLoopCopyNextChange has something to do. Until the first SCRunLoopCopyNextChange, a change makes it readable only
 * once. Do not read from it or close it. Fails with -1. */
int SCRunLoopGetFileDescriptor(SCRunLoopRef runLoop);

/*
 * Handles what is due and returns the number of callbacks that ran. If nothing is due, waits at most `seconds`: 0 does
 * not wait, a negative number waits without limit (in SCRunLoopRunInMode, it means 0).
 *
 * Events that make no callback do not end the wait. SCRunLoopWakeUp ends it, and so does a change for
 * SCRunLoopCopyNextChange; the result may then be 0. A callback may call SCRunLoopPerform; that call makes no callback
 * of the same target.
 *
 * Fails with -1: EBUSY (another thread drives the loop), or the errno of the wait. NaN is invalid.
 */
int SCRunLoopPerform(SCRunLoopRef runLoop, double seconds);

/*
 * For languages that cannot be called back. Returns the next changed target among the loop's targets that have no
 * callback, with its current flags, or NULL if there is none. The caller releases it. A change is whatever would make a
 * callback if the target had one. Changes count from the moment the target is scheduled. A target that changed back
 * since the last call that returned it is skipped.
 *
 * A loop for such a language: call SCRunLoopPerform(loop, -1), then this function until it returns NULL. Repeat both.
 * While the queue is not empty, SCRunLoopPerform does not wait, and the loop's descriptor is readable. Before the first
 * call of this function on the loop, each change ends only one SCRunLoopPerform.
 *
 * A target is queued at most once. Unscheduling it or setting a callback removes it. The queue holds no references.
 */
SC_RETURNS_RETAINED SCNetworkReachabilityRef SC_NULLABLE SCRunLoopCopyNextChange(
    SCRunLoopRef runLoop, SCNetworkReachabilityFlags *SC_NULLABLE flags);

/*
 * Drives the calling thread's own loop for `seconds`. 0 or a negative number handles all that is due and does not wait
 * (in SCRunLoopPerform, a negative number waits without limit). Ends earlier after SCRunLoopStop, also if that was
 * called before the run; after a callback, if `returnAfterSourceHandled`; and when nothing is scheduled on the loop.
 *
 * Returns a kSCRunLoopRun... value; if several apply, the first of Stopped, HandledSource, Finished, TimedOut. Fails
 * with -1, as SCRunLoopPerform does.
 */
SC_REFINED SCRunLoopRunResult SCRunLoopRunInMode(SCRunLoopMode mode, double seconds,
                                                 SCBoolean returnAfterSourceHandled);

/* Drives the calling thread's own loop until it is stopped or nothing is scheduled on it. */
void SCRunLoopRun(void);

/* Ends the current run (the innermost, if runs are nested) or, if there is none, the next. Any thread and any signal
 * handler may call it. */
void SCRunLoopStop(SCRunLoopRef runLoop);

/* Ends the wait in the current SCRunLoopPerform or, if there is none, in the next: it returns 0. Any thread and any
 * signal handler may call it. */
void SCRunLoopWakeUp(SCRunLoopRef runLoop);

/*
 * Schedules the target: its callbacks run in the calls that drive the loop, on the thread that makes these calls.
 * Evaluates the flags once before it returns. Schedules are counted: a target that is scheduled twice on one loop and
 * mode must be unscheduled twice.
 *
 * Invalid: a target that is on another loop, or on a scheduler. Fails: ENOMEM, or an errno of opening the sockets.
 */
SC_REFINED SCBoolean SCNetworkReachabilityScheduleWithRunLoop(SCNetworkReachabilityRef target, SCRunLoopRef runLoop,
                                                              SCRunLoopMode runLoopMode);

/* Ends one schedule, which must exist on this loop in this mode. */
SC_REFINED SCBoolean SCNetworkReachabilityUnscheduleFromRunLoop(SCNetworkReachabilityRef target, SCRunLoopRef runLoop,
                                                                SCRunLoopMode runLoopMode);

/* ---- Schedulers ------------------------------------------------------------------------------------------------- */

/*
 * A queue, thread pool or event loop that can run a function later. The structure is copied. With `retain`, the library
 * keeps what retain(info) returns. `release` is called after the target was unscheduled and the last `work` was run.
 *
 * perform(info, work, argument) must make the scheduler run work(argument) exactly once, later, on the scheduler's own
 * thread or queue. perform may be called on any thread. Each target has at most one `work` waiting, so its callbacks
 * never overlap.
 *
 * `work` makes the callback. After the target is unscheduled, it does nothing. If perform runs it directly, the
 * callback is made on the library's thread. If it is never run, the target gets no more callbacks, and the memory of
 * this one `work` is never freed.
 */
typedef struct {
    long version; /* 0 */
    void *SC_NULLABLE info;
    const void *SC_NULLABLE (*SC_NULLABLE retain)(const void *SC_NULLABLE info);
    void (*SC_NULLABLE release)(const void *SC_NULLABLE info);
    void (*SC_NULLABLE perform)(void *SC_NULLABLE info, void (*work)(void *SC_NULLABLE argument),
                                void *SC_NULLABLE argument);
} SCNetworkReachabilityScheduler;

/*
 * Schedules the target: its callbacks run where the scheduler runs `work`. NULL unschedules the target. Evaluates the
 * flags once before it returns. GetFlags returns the library's latest evaluation, which may be newer than a callback's.
 *
 * Invalid: no `perform`; a target that is already scheduled in any way; with NULL, a target that is not on a scheduler.
 * Fails: ENOMEM, kSCStatusReachabilityUnknown (no thread could be started), or an errno of opening the sockets.
 */
SCBoolean SCNetworkReachabilitySetScheduler(SCNetworkReachabilityRef target,
                                            const SCNetworkReachabilityScheduler *SC_NULLABLE scheduler);

/* The layout is the same in C, C++ and Swift, without padding. */
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
