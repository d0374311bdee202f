/* SPDX-License-Identifier: MIT */
#include "context.h"

#include <stdlib.h>

static void context_free(struct counted *counted)
{
    struct context *context = container_of(counted, struct context, counted);

    if (context->release != NULL)
        context->release(context->info);
    free(context);
}

struct context *context_create(const SCNetworkReachabilityContext *original)
{
    struct context *context = calloc(1, sizeof *context);

    if (context == NULL)
        return NULL;
    counted_init(&context->counted, context_free);
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
void context_call(struct context *context, SCNetworkReachabilityCallBack callback, SCNetworkReachabilityRef target,
                  SCNetworkReachabilityFlags flags)
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
