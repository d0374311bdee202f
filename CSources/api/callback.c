/* SPDX-License-Identifier: MIT */
/* A user's context for callbacks: its lifetime, its hooks, and the callback itself. */
#include "api/callback.h"

#include <stdlib.h>

#include "base/cleanup.h"
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

/* The arguments of callback_context_call, and what to release after it. */
struct callback_call {
    struct callback_context      *context; /* NULL: released */
    SCNetworkReachabilityCallBack callback;
    SCNetworkReachabilityRef      target;
    SCNetworkReachabilityFlags    flags;
    void                         *info;
    void (*release_info)(const void *info); /* NULL: `info` was not retained for this call */
};

/* If there are both hooks, the callback gets an `info` retained for this call, and the context is released before it.
 * So a callback that replaces its own context sees the old one released at once. Else the context must live until the
 * callback has returned. */
static void make_callback(void *argument)
{
    struct callback_call    *call = argument;
    struct callback_context *context = call->context;

    call->info = context->info;
    if (context->retain != NULL && context->release != NULL) {
        call->info = (void *)(uintptr_t)context->retain(context->info);
        call->release_info = context->release;
        call->context = NULL;
        counted_release(&context->counted);
    }
    call->callback(call->target, call->flags, call->info);
}

static void end_callback(void *argument)
{
    const struct callback_call *call = argument;

    if (call->release_info != NULL)
        call->release_info(call->info);
    if (call->context != NULL)
        counted_release(&call->context->counted);
}

void callback_context_call(struct callback_context *context, SCNetworkReachabilityCallBack callback,
                           SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags)
{
    struct callback_call call = { .context = context, .callback = callback, .target = target, .flags = flags };

    cleanup_run(make_callback, end_callback, &call);
}
