/* SPDX-License-Identifier: MIT */
/* Targets: the check of a caller's pointer, the object, and its reference counts. */
#ifdef __linux__
#include "api/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "names/name_servers.h"
#include "route/network_path.h"

#define TYPE_ID   0x5343524cul
#define NO_TARGET "target: NULL, not a target, or released"

/* Returns true for a living target, also an inherited one. */
static bool check_type(SCNetworkReachabilityRef target, struct SCNetworkReachability **ret)
{
    if (!object_is(target, OBJECT_TARGET)) {
        reach_error_set(reach_error_invalid(NO_TARGET));
        return false;
    }
    *ret = (struct SCNetworkReachability *)(uintptr_t)target;
    return true;
}

void reach_target_refuse(SCNetworkReachabilityRef target)
{
    reach_error_set(object_is(target, OBJECT_TARGET) ? ECHILD : reach_error_invalid(NO_TARGET));
}

struct questions *reach_target_retain_questions(struct SCNetworkReachability *target)
{
    struct questions *questions;

    if (target->lookups == NULL) { /* they never change */
        counted_retain(&target->initial->counted);
        return target->initial;
    }
    target_lock(target);
    questions = target->questions;
    counted_retain(&questions->counted);
    target_unlock(target);
    return questions;
}

/* ---- The object ------------------------------------------------------------------------------------------------- */

/* Called when no schedule and no look-up uses the memory any more, also if the target was not made completely. */
static void free_target(struct counted *counted)
{
    struct SCNetworkReachability *target = container_of(counted, struct SCNetworkReachability, memory);

    if (target->netns != NULL)
        reach_netns_release(target->netns);
    reach_network_path_release(target->network);
    reach_questions_release(target->questions);
    reach_questions_release(target->initial);
    free(target->lookups);
    free(target->details);
    free(target->name);
    pthread_mutex_destroy(&target->lock);
    free(target);
}

void reach_target_release(struct SCNetworkReachability *target)
{
    if (atomic_fetch_sub_explicit(&target->references, 1, memory_order_acq_rel) != 1)
        return;
    target->type = OBJECT_FREED; /* first: the user's hook may still use the pointer */
    callback_release(&target->callback);
    counted_release(&target->memory);
}

/* Makes what can fail. Returns 0 or an errno. */
static int make_members(struct SCNetworkReachability *target, const struct target_spec *spec)
{
    const bool pending = spec->needs_lookup;

    if (pending && (target->lookups = calloc(1, sizeof *target->lookups)) == NULL)
        return ENOMEM;
    if (pending) {
        list_init(&target->lookups->waiter.node);
        target->lookups->target = target;
    }
    if (spec->name != NULL && (target->name = strdup(spec->name)) == NULL)
        return ENOMEM;
    if (spec->notify_path && (target->details = calloc(1, sizeof *target->details)) == NULL)
        return ENOMEM;
    target->initial = reach_questions_create(spec->questions, spec->count,
                                             pending ? kSCNetworkReachabilityReasonNamePending
                                                     : kSCNetworkReachabilityReasonNone);
    if (target->initial == NULL)
        return ENOMEM;
    counted_retain(&(target->questions = target->initial)->counted);
    if (spec->netns == NULL)
        return reach_netns_current(&target->netns);
    reach_netns_retain(target->netns = spec->netns);
    return 0;
}

struct SCNetworkReachability *reach_target_create(const struct target_spec *spec)
{
    struct SCNetworkReachability *target = calloc(1, sizeof *target);
    int error = target == NULL ? ENOMEM : reach_process_prepare();

    if (error == 0)
        error = pthread_mutex_init(&target->lock, NULL);
    if (error != 0) {
        free(target);
        reach_error_set(error);
        return NULL;
    }
    error = make_members(target, spec);
    if (error != 0) {
        free_target(&target->memory);
        reach_error_set(error);
        return NULL;
    }
    target->type = OBJECT_TARGET;
    target->era = process_era();
    atomic_init(&target->references, 1);
    counted_init(&target->memory, free_target);
    target->kind = spec->kind;
    target->notify_network = spec->notify_network;
    target->notify_next_hop = spec->notify_next_hop;
    target->reports_flow = spec->reports_flow;
    target->delivered.flow_unsettled = true;
    return target;
}

/* ---- References ------------------------------------------------------------------------------------------------- */

SCNetworkReachabilityRef SCNetworkReachabilityRetain(SCNetworkReachabilityRef target)
{
    struct SCNetworkReachability *self;

    if (target == NULL || !check_type(target, &self))
        return NULL;
    target_retain(self);
    return target;
}

void SCNetworkReachabilityRelease(SCNetworkReachabilityRef target)
{
    struct SCNetworkReachability *self;

    if (target != NULL && check_type(target, &self))
        reach_target_release(self);
}

unsigned long SCNetworkReachabilityGetTypeID(void)
{
    return TYPE_ID;
}
#endif
