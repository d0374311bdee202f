/* SPDX-License-Identifier: MIT */
/* A user's callback: the lifetime of its context, the hooks, and the call itself. */
#ifdef __linux__
#include "api/callback.h"

#include <errno.h>
#include <stdlib.h>

#include "base/process.h"

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

int callback_create(SCNetworkReachabilityCallBack function, const SCNetworkReachabilityContext *context,
                    struct callback *ret)
{
    *ret = (struct callback){ .function = function, .info = context == NULL ? NULL : context->info };
    if (context == NULL || (context->retain == NULL && context->release == NULL))
        return 0;
    *ret = (struct callback){ .function = callback_with_hooks, .info = create_context(function, context) };
    return ret->info == NULL ? ENOMEM : 0;
}

/* A call of a context's function, and what to release after it. */
struct running_callback {
    struct callback_context *context; /* NULL: it was released */
    SCNetworkReachabilityRef target;
    SCNetworkReachabilityFlags flags;
    void *info;
    void (*release_info)(const void *info); /* NULL: `info` was not retained for this call */
};

/* If there are both hooks, the callback gets an `info` retained for this call, and the context is released before it.
 * So a callback that replaces its own context sees the old one released at once. Else the context must live until the
 * callback has returned. */
static void make_callback(void *argument)
{
    struct running_callback *running = argument;
    struct callback_context *context = running->context;
    const SCNetworkReachabilityCallBack function = context->function;

    running->info = context->info;
    if (context->retain != NULL && context->release != NULL) {
        running->info = (void *)(uintptr_t)context->retain(context->info);
        running->release_info = context->release;
        running->context = NULL;
        counted_release(&context->counted);
    }
    function(running->target, running->flags, running->info);
}

static void end_callback(void *argument)
{
    const struct running_callback *running = argument;

    if (running->release_info != NULL)
        running->release_info(running->info);
    if (running->context != NULL)
        counted_release(&running->context->counted);
}

void callback_with_hooks(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *context)
{
    process_run(make_callback, end_callback,
                &(struct running_callback){ .context = context, .target = target, .flags = flags });
}
#endif
