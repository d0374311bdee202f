/* SPDX-License-Identifier: MIT */
/* A user's callback: the lifetime of its context, the hooks, and the call with them. */
#ifdef __linux__
#include "api/target.h"

#include <errno.h>
#include <stdlib.h>

static void free_callback_context(struct counted *counted)
{
    struct callback_context *context = container_of(counted, struct callback_context, counted);

    if (context->release != NULL)
        context->release(context->info);
    free(context);
}

/* Returns NULL if there is no memory. */
static struct callback_context *create_context(SCNetworkReachabilityCallBack function,
                                               const SCNetworkReachabilityContext *original)
{
    struct callback_context *context = calloc(1, sizeof *context);

    if (context == NULL)
        return NULL;
    counted_init(&context->counted, free_callback_context);
    context->function = function;
    context->retain = original->retain;
    context->release = original->release;
    context->info = original->info;
    if (original->retain != NULL)
        context->info = (void *)(uintptr_t)original->retain(original->info);
    return context;
}

int reach_callback_create(SCNetworkReachabilityCallBack function, const SCNetworkReachabilityContext *context,
                          struct callback *ret)
{
    *ret = (struct callback){ .function = function, .info = context == NULL ? NULL : context->info };
    if (context == NULL || (context->retain == NULL && context->release == NULL))
        return 0;
    *ret = (struct callback){ .function = reach_callback_with_hooks, .info = create_context(function, context) };
    return ret->info == NULL ? ENOMEM : 0;
}

/* If there are both hooks, the callback gets an `info` retained for this call, and the context is released before it.
 * So a callback that replaces its own context sees the old one released at once. Else the context must live until the
 * callback has returned. */
void reach_callback_with_hooks(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *pointer)
{
    struct callback_context *context = pointer;
    const SCNetworkReachabilityCallBack function = context->function;
    void (*const release)(const void *info) = context->release;
    void *info = context->info;

    if (context->retain == NULL || release == NULL) {
        function(target, flags, info);
        counted_release(&context->counted);
        return;
    }
    info = (void *)(uintptr_t)context->retain(info);
    counted_release(&context->counted);
    function(target, flags, info);
    release(info);
}
#endif
