/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_APPLE_SYSTEMCONFIGURATION_H
#define REACHABILITY_APPLE_SYSTEMCONFIGURATION_H

/* The part of SystemConfiguration that is SCNetworkReachability, and its errors. */

#include <CoreFoundation/CoreFoundation.h>
#include <SystemConfiguration/SCNetwork.h>
#include <SystemConfiguration/SCNetworkReachability.h>

/* Apple's other errors that reachability programs name. The library never reports them. */
enum { kSCStatusNoKey = 1004 };

#endif
