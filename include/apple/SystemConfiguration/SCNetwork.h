/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_APPLE_SCNETWORK_H
#define REACHABILITY_APPLE_SCNETWORK_H

#ifdef __cplusplus
#pragma GCC system_header /* no warnings about C casts */
#endif

/* The calls that Apple's systems had before SCNetworkReachability. */

#include <CoreFoundation/CoreFoundation.h>
#include <sys/socket.h>

/* Gets the flags and releases the target. */
static inline SCBoolean reachability_sc_check(SCNetworkReachabilityRef target, SCNetworkConnectionFlags *flags)
{
    const SCBoolean known = SCNetworkReachabilityGetFlags(target, flags);

    SCNetworkReachabilityRelease(target);
    return known;
}

/* The name is not looked up: unless it is an address, the flags are those of the default path. */
static inline SCBoolean SCNetworkCheckReachabilityByName(const char *nodename, SCNetworkConnectionFlags *flags)
{
    return reachability_sc_check(SCNetworkReachabilityCreateWithName(NULL, nodename), flags);
}

static inline SCBoolean SCNetworkCheckReachabilityByAddress(const struct sockaddr *address, socklen_t length,
                                                            SCNetworkConnectionFlags *flags)
{
    (void)length;
    return reachability_sc_check(SCNetworkReachabilityCreateWithAddress(NULL, address), flags);
}

#endif
