/* SPDX-License-Identifier: MIT */
/* Targets: the check of a caller's pointer, the object, and its reference counts. */
#include "api/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/list.h"
#include "base/object.h"
#include "names/resolvconf.h"
#include "route/network_path.h"

#define TYPE_ID   0x5343524cul
#define NO_TARGET "target: NULL, not a target, or released"

/* ---- The check of a caller's pointer ---------------------------------------------------------------------------- */

/* Returns true for a living target, also an inherited one. */
static bool check_type(SCNetworkReachabilityRef target, struct SCNetworkReachability **ret)
{
    if (!object_is(target, OBJECT_TARGET)) {
        error_set(error_invalid(NO_TARGET));
        return false;
    }
    *ret = (struct SCNetworkReachability *)(uintptr_t)target;
    return true;
}

void target_refuse(SCNetworkReachabilityRef target)
{
    error_set(object_is(target, OBJECT_TARGET) ? ECHILD : error_invalid(NO_TARGET));
}

/* ---- The object ------------------------------------------------------------------------------------------------- */

/* Called for the last reference of a user, a schedule or a delivery. */
static void close_target(struct counted *counted)
{
    struct SCNetworkReachability *target = container_of(counted, struct SCNetworkReachability, counted);

    target->type = OBJECT_FREED; /* first: the user's hook may still use the pointer */
    if (target->context != NULL)
        counted_release(&target->context->counted);
    counted_release(&target->memory);
}

/* Called when no schedule and no look-up uses the memory any more. */
static void free_target(struct counted *counted)
{
    struct SCNetworkReachability *target = container_of(counted, struct SCNetworkReachability, memory);

    if (target->lookups != NULL) {
        lookup_waiter_close(&target->lookups->waiter);
        resolvconf_release();
    }
    netns_release(target->netns);
    pthread_mutex_destroy(&target->lock);
    network_path_release(target->network);
    questions_release(target->questions);
    free(target);
}

/* Makes the members that can fail. Returns 0 or an errno. */
static int make_members(struct SCNetworkReachability *target, const struct target_spec *spec)
{
    int error = process_prepare();

    if (error != 0)
        return error;
    if (spec->netns != NULL)
        netns_retain(target->netns = spec->netns);
    else
        error = netns_current(&target->netns);
    if (error != 0)
        return error;
    error = pthread_mutex_init(&target->lock, NULL);
    if (error != 0)
        netns_release(target->netns);
    return error;
}

/* Returns a target and what follows it, or NULL. */
static struct SCNetworkReachability *allocate_target(const struct target_spec *spec)
{
    const size_t                  questions_length = questions_size(spec->count);
    const size_t                  name_size = spec->name == NULL ? 0 : strlen(spec->name) + 1;
    const size_t                  lookups_size = spec->needs_lookup ? sizeof(struct lookups) : 0;
    const size_t                  details_size = spec->notify_path ? sizeof(struct details) : 0;
    struct SCNetworkReachability *target = calloc(1, sizeof *target + questions_length + lookups_size + details_size +
                                                         name_size);
    char                         *next = (char *)(target + 1) + questions_length;

    if (target == NULL)
        return NULL;
    target->initial = target->questions = (void *)(target + 1);
    questions_init(target->initial, spec->questions, spec->count,
                   spec->needs_lookup ? kSCNetworkReachabilityReasonNamePending : kSCNetworkReachabilityReasonNone);
    if (lookups_size > 0)
        target->lookups = (void *)next;
    if (details_size > 0)
        target->details = (void *)(next + lookups_size);
    if (name_size > 0)
        target->name = memcpy(next + lookups_size + details_size, spec->name, name_size);
    return target;
}

static void begin_lookups(struct SCNetworkReachability *target)
{
    resolvconf_retain();
    target->lookups->target = target;
    list_init(&target->lookups->waiter.node);
    target->lookups->next = NEVER;
}

struct SCNetworkReachability *target_create(const struct target_spec *spec)
{
    struct SCNetworkReachability *target = allocate_target(spec);
    int                           error;

    if (target == NULL) {
        error_set(ENOMEM);
        return NULL;
    }
    error = make_members(target, spec);
    if (error != 0) {
        free(target);
        error_set(error);
        return NULL;
    }
    target->type = OBJECT_TARGET;
    target->era = process_era();
    counted_init(&target->counted, close_target);
    counted_init(&target->memory, free_target);
    target->kind = (uint8_t)spec->kind;
    if (target->lookups != NULL)
        begin_lookups(target);
    target->notify_network = spec->notify_network;
    list_init(&target->schedules);
    return target;
}

/* ---- References ------------------------------------------------------------------------------------------------- */

SCNetworkReachabilityRef SCNetworkReachabilityRetain(SCNetworkReachabilityRef target)
{
    struct SCNetworkReachability *self;

    if (target == NULL || !check_type(target, &self))
        return NULL;
    counted_retain(&self->counted);
    return target;
}

void SCNetworkReachabilityRelease(SCNetworkReachabilityRef target)
{
    struct SCNetworkReachability *self;

    if (target != NULL && check_type(target, &self))
        counted_release(&self->counted);
}

unsigned long SCNetworkReachabilityGetTypeID(void)
{
    return TYPE_ID;
}
