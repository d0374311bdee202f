/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_APPLE_AVAILABILITYMACROS_H
#define REACHABILITY_APPLE_AVAILABILITYMACROS_H

/* See Availability.h. */

#include <TargetConditionals.h>

#define MAC_OS_X_VERSION_10_0  1000
#define MAC_OS_X_VERSION_10_4  1040
#define MAC_OS_X_VERSION_10_6  1060
#define MAC_OS_X_VERSION_10_9  1090
#define MAC_OS_X_VERSION_10_15 101500

#if TARGET_OS_OSX
#ifndef MAC_OS_X_VERSION_MIN_REQUIRED
#define MAC_OS_X_VERSION_MIN_REQUIRED MAC_OS_X_VERSION_10_15
#endif
#ifndef MAC_OS_X_VERSION_MAX_ALLOWED
#define MAC_OS_X_VERSION_MAX_ALLOWED MAC_OS_X_VERSION_10_15
#endif
#endif

#define DEPRECATED_ATTRIBUTE  __attribute__((deprecated))
#define UNAVAILABLE_ATTRIBUTE __attribute__((unavailable))
#define WEAK_IMPORT_ATTRIBUTE __attribute__((weak_import))
#define AVAILABLE_MAC_OS_X_VERSION_10_3_AND_LATER

#endif
