/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_CALLBACK_H
#define REACHABILITY_CALLBACK_H

/* A user's context for callbacks, and the hooks around it. They are never called under a lock. */

#include <reachability/reachability.h>

#include "base/counted.h"

/* Its release is called when the last one lets go: the target, or a delivery that has begun and, with both hooks,
 * has not taken its own reference yet. */
struct callback_context {
    struct counted counted;
    void          *info;
    const void *(*retain)(const void *info);
    void (*release)(const void *info);
};

/* A copy of the caller's, retained; NULL stands for one without info. NULL: no memory. */
struct callback_context *callback_context_create(const SCNetworkReachabilityContext *original);

/* Makes the callback, and drops the reference that the caller holds. */
void callback_context_call(struct callback_context *context, SCNetworkReachabilityCallBack callback,
                           SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags);

#endif
