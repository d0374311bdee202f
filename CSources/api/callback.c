/* SPDX-License-Identifier: MIT */
/* A user's context for callbacks: its lifetime, its hooks, and the callback itself. */
#include "api/callback.h"

#include <stdlib.h>

#include "base/counted.h"

static void free_callback_context(struct counted *counted)
{
    struct callback_context *context = container_of(counted, struct callback_context, counted);

    if (context->release != NULL)
        context->release(context->info);
    free(context);
}

struct callback_context *callback_context_create(const SCNetworkReachabilityContext *original)
{
    struct callback_context *context = calloc(1, sizeof *context);

    if (context == NULL)
        return NULL;
    counted_init(&context->counted, free_callback_context);
    if (original != NULL) {
        context->retain = original->retain;
        context->release = original->release;
        context->info = original->info;
        if (original->retain != NULL)
            context->info = (void *)(uintptr_t)original->retain(original->info);
    }
    return context;
}

/* If there are both hooks, the callback gets an `info` retained for this call, and the context is released before it.
 * So a callback that replaces its own context sees the old one released at once. Else the context must live until the
 * callback has returned. */
void callback_context_call(struct callback_context *context, SCNetworkReachabilityCallBack callback,
                           SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags)
{
    void (*release)(const void *) = context->release;

    if (context->retain != NULL && release != NULL) {
        void *info = (void *)(uintptr_t)context->retain(context->info);

        counted_release(&context->counted);
        callback(target, flags, info);
        release(info);
    } else {
        callback(target, flags, context->info);
        counted_release(&context->counted);
    }
}
