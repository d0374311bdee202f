/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_CALLBACK_H
#define REACHABILITY_CALLBACK_H

/* The context that a user gives SCNetworkReachabilitySetCallback, and its hooks. Never call these with a lock held. */

#include <reachability/reachability.h>

#include "base/counted.h"

/* The target holds a reference. So does a delivery, at most until the callback returns. The last reference calls
 * `release`. */
struct callback_context {
    struct counted counted;
    void          *info;
    const void *(*retain)(const void *info);
    void (*release)(const void *info);
};

/* Copies and retains a user's context. `original` NULL: a context without info. Returns NULL if there is no memory. */
struct callback_context *callback_context_create(const SCNetworkReachabilityContext *original);

/* Makes the callback. Consumes a reference to the context, also if the callback ends the thread. */
void callback_context_call(struct callback_context *context, SCNetworkReachabilityCallBack callback,
                           SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags);

#endif
