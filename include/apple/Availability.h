/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_APPLE_AVAILABILITY_H
#define REACHABILITY_APPLE_AVAILABILITY_H

/* Apple's words for the versions of a system that have a call. There are no such versions on Linux. A source for a
 * system that TargetConditionals.h selects sees a recent version of it, so it uses no call that is deprecated there. */

#include <AvailabilityMacros.h>

#define API_AVAILABLE(...)
#define API_UNAVAILABLE(...)
#define API_DEPRECATED(...)
#define API_DEPRECATED_WITH_REPLACEMENT(...)
#define __OSX_AVAILABLE(version)
#define __IOS_AVAILABLE(version)
#define __OSX_AVAILABLE_STARTING(osx, ios)
#define __OSX_AVAILABLE_BUT_DEPRECATED(osx, osx_deprecated, ios, ios_deprecated)

#define __MAC_10_0    1000
#define __MAC_10_9    1090
#define __MAC_10_15   101500
#define __MAC_11_0    110000
#define __IPHONE_2_0  20000
#define __IPHONE_6_0  60000
#define __IPHONE_7_0  70000
#define __IPHONE_8_0  80000
#define __IPHONE_13_0 130000

#if TARGET_OS_OSX
#ifndef __MAC_OS_X_VERSION_MIN_REQUIRED
#define __MAC_OS_X_VERSION_MIN_REQUIRED MAC_OS_X_VERSION_MIN_REQUIRED
#endif
#ifndef __MAC_OS_X_VERSION_MAX_ALLOWED
#define __MAC_OS_X_VERSION_MAX_ALLOWED MAC_OS_X_VERSION_MAX_ALLOWED
#endif
#elif TARGET_OS_IPHONE
#ifndef __IPHONE_OS_VERSION_MIN_REQUIRED
#define __IPHONE_OS_VERSION_MIN_REQUIRED 130000
#endif
#ifndef __IPHONE_OS_VERSION_MAX_ALLOWED
#define __IPHONE_OS_VERSION_MAX_ALLOWED 130000
#endif
#endif

#endif
