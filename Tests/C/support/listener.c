/* SPDX-License-Identifier: MIT */
#include "support/listener.h"

#include "support/unit.h"

const void *listener_retain(const void *info)
{
    atomic_fetch_add(&((struct listener *)(uintptr_t)info)->references, 1);
    return info;
}

void listener_release(const void *info)
{
    struct listener *listener = (struct listener *)(uintptr_t)info;
    sem_t *news = listener->news; /* after the last release a test may use the listener again */

    atomic_fetch_add(&listener->releases, 1);
    unit_complain_if(atomic_fetch_sub(&listener->references, 1) <= 0, "released more often than retained");
    if (news != NULL)
        sem_post(news);
}

void listener_called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct listener *listener = info;
    SCNetworkReachabilityFlags inside;

    unit_complain_if(atomic_fetch_add(&listener->inside, 1) != 0, "two calls at a time");
    unit_complain_if(listener->queue != NULL && !queue_is_here(listener->queue),
                     "a call where the scheduler runs no work");
    unit_complain_if(atomic_load(&listener->references) <= 0, "a call with a context that was released");
    unit_complain_if((flags & listener->never) != 0, "flags that never were");
    unit_complain_if(!SCNetworkReachabilityGetFlags(target, &inside), "GetFlags failed during a call");
    atomic_fetch_add(&listener->calls, 1);
    atomic_fetch_sub(&listener->inside, 1);
    if (listener->news != NULL)
        sem_post(listener->news);
}

void listener_set(struct listener *listener, SCNetworkReachabilityRef target, SCNetworkReachabilityCallBack callback)
{
    SCNetworkReachabilityContext context = { .info = listener, .retain = listener_retain, .release = listener_release };

    assert_true(SCNetworkReachabilitySetCallback(target, callback, &context));
}
