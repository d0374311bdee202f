/* SPDX-License-Identifier: MIT */
#include "api/callback.h"

#include <stdlib.h>

#include "base/counted.h"

static void callback_context_free(struct counted *counted)
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
    counted_init(&context->counted, callback_context_free);
    if (original != NULL) {
        context->retain = original->retain;
        context->release = original->release;
        context->info = original->info;
        if (original->retain != NULL)
            context->info = (void *)(uintptr_t)original->retain(original->info);
    }
    return context;
}

/* With both hooks the call takes a reference of the user's and lets go of the context, so that replacing it inside the
 * callback releases it there. Else the context is held until the callback has returned. */
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
