/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_APPLE_COREFOUNDATION_H
#define REACHABILITY_APPLE_COREFOUNDATION_H

/* The part of CoreFoundation that reachability programs use: see CFBase.h. Apple's header includes the standard
 * headers, and programs rely on that. */

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <Availability.h>
#include <CoreFoundation/CFBase.h>
#include <CoreFoundation/CFOpaque.h>
#include <CoreFoundation/CFRunLoop.h>
#include <CoreFoundation/CFString.h>

#endif
