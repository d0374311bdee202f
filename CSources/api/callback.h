/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_CALLBACK_H
#define REACHABILITY_CALLBACK_H

/* What a user gives SCNetworkReachabilitySetCallback: a function, and a context with hooks. All functions but
 * callback_retain can call user code: never call them with a lock held. */

#include <reachability/reachability.h>

#include "base/counted.h"

/* A function, and a copy of its context that has a retain or release hook. The target holds a reference. So does a
 * delivery, at most until the callback returns. The last reference calls `release`. */
struct callback_context {
    struct counted counted;
    SCNetworkReachabilityCallBack function;
    void *info;
    const void *(*retain)(const void *info);
    void (*release)(const void *info);
};

/* Most contexts have no hooks: then there is nothing to count or to release. */
struct callback {
    SCNetworkReachabilityCallBack function; /* callback_with_hooks: `info` is a context. NULL: there is no callback */
    void *info;
};

/* Copies and retains a user's context. `context` NULL: no info. Returns 0 or ENOMEM. */
int callback_create(SCNetworkReachabilityCallBack function, const SCNetworkReachabilityContext *context,
                    struct callback *ret);

/* Calls the function of a context. Consumes a reference to it. */
void callback_with_hooks(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *context);

static inline void callback_retain(const struct callback *callback)
{
    if (callback->function == callback_with_hooks)
        counted_retain(&((struct callback_context *)callback->info)->counted);
}

static inline void callback_release(const struct callback *callback)
{
    if (callback->function == callback_with_hooks)
        counted_release(&((struct callback_context *)callback->info)->counted);
}

#endif
