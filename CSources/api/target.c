/* SPDX-License-Identifier: MIT */
/* Targets: the check of a caller's pointer, the object, and its reference counts. */
#ifdef __linux__
#include "api/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/list.h"
#include "base/object.h"
#include "names/name_servers.h"
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

/* ---- The state -------------------------------------------------------------------------------------------------- */

const struct target_parts target_no_parts = { 0 };

const struct target_parts *target_parts(const struct SCNetworkReachability *target)
{
    const struct target_state *state = target_state(target);

    return state == NULL ? &target_no_parts : state_parts(state);
}

static void free_state(struct target_state *state)
{
    if (state == NULL)
        return;
    if (state_parts(state)->network != NULL)
        network_path_release(state_parts(state)->network->path);
    questions_release(state_questions_locked(state)); /* nobody else uses the state any more */
    pthread_mutex_destroy(&state->lock);
    free(state);
}

struct target_state *target_require_state(struct SCNetworkReachability *target)
{
    struct target_state *present = target_state(target), *state;

    if (present != NULL)
        return present;
    state = calloc(1, sizeof *state);
    if (state == NULL)
        return NULL;
    if (pthread_mutex_init(&state->lock, NULL) != 0) {
        free(state);
        return NULL;
    }
    if (atomic_compare_exchange_strong(&target->state, &present, state))
        return state;
    free_state(state); /* another thread was faster */
    return present;
}

static void keep_questions(struct counted *counted)
{
    (void)counted;
}

/* About the default path: the initial questions of all names that are bound to nothing. The question is all zero. */
static union {
    struct questions questions;
    struct question_memory memory;
} default_path_questions = {
    .questions = { .counted = { 1, keep_questions }, .reason = kSCNetworkReachabilityReasonNamePending, .count = 1 }
};

_Static_assert(_Alignof(struct target_parts) <= PART_ALIGNMENT && _Alignof(struct questions) <= PART_ALIGNMENT &&
                   _Alignof(struct lookups) <= PART_ALIGNMENT && _Alignof(struct details) <= PART_ALIGNMENT &&
                   _Alignof(struct target_hop) <= PART_ALIGNMENT && _Alignof(struct target_network) <= PART_ALIGNMENT,
               "each part is aligned");

/* Makes the state of a target that is not plain, with all its parts. Returns NULL if it fails. */
static struct target_state *create_full_state(const struct target_spec *spec)
{
    const bool is_plain_name = spec->needs_lookup && question_is_default_path(&spec->questions[0]) &&
                               spec->questions[0].family == AF_UNSPEC;
    const size_t questions_length = is_plain_name ? 0 : questions_size(spec->count);
    const size_t name_size = spec->name == NULL ? 0 : strlen(spec->name) + 1;
    const size_t lookups_size = spec->needs_lookup ? sizeof(struct lookups) : 0;
    const size_t details_size = spec->notify_path ? sizeof(struct details) : 0;
    const size_t hop_size = spec->notify_next_hop ? sizeof(struct target_hop) : 0;
    const size_t network_size = spec->notify_network ? sizeof(struct target_network) : 0;
    struct target_parts *parts;
    struct target_state *state = calloc(
        1, part_size(sizeof *state) + part_size(sizeof *parts) + part_size(questions_length) + part_size(lookups_size) +
               part_size(details_size) + part_size(hop_size) + part_size(network_size) + name_size);
    char *next = (char *)state + part_size(sizeof *state);

    if (state == NULL)
        return NULL;
    if (pthread_mutex_init(&state->lock, NULL) != 0) {
        free(state);
        return NULL;
    }
    state->has_parts = true;
    parts = part_take(&next, sizeof *parts);
    parts->initial = part_take(&next, questions_length);
    if (is_plain_name)
        counted_retain(&(parts->initial = &default_path_questions.questions)->counted);
    else
        questions_init(parts->initial, spec->questions, spec->count,
                       spec->needs_lookup ? kSCNetworkReachabilityReasonNamePending : kSCNetworkReachabilityReasonNone);
    parts->lookups = part_take(&next, lookups_size);
    if (parts->lookups != NULL)
        parts->lookups->questions = parts->initial;
    parts->details = part_take(&next, details_size);
    parts->reports_flow = spec->reports_flow;
    state->delivered.flow_unsettled = true;
    parts->hop = part_take(&next, hop_size);
    parts->network = part_take(&next, network_size);
    if (name_size > 0)
        parts->name = memcpy(next, spec->name, name_size);
    return state;
}

/* ---- Questions -------------------------------------------------------------------------------------------------- */

struct questions *target_initial_questions(const struct SCNetworkReachability *target, struct question_memory *memory)
{
    struct questions *const initial = target_parts(target)->initial;

    return initial != NULL ? initial : question_of_address(&target->address, memory);
}

struct questions *target_retain_questions(struct SCNetworkReachability *target, struct question_memory *memory)
{
    const struct target_parts *parts = target_parts(target);
    struct questions *questions;

    if (parts->initial == NULL)
        return question_of_address(&target->address, memory);
    if (parts->lookups == NULL) { /* they never change */
        counted_retain(&parts->initial->counted);
        return parts->initial;
    }
    target_lock(target);
    questions = parts->lookups->questions;
    counted_retain(&questions->counted);
    target_unlock(target);
    return questions;
}

/* ---- The object ------------------------------------------------------------------------------------------------- */

void target_release(struct SCNetworkReachability *target)
{
    const struct target_state *state;

    if (atomic_fetch_sub_explicit(&target->references, 1, memory_order_acq_rel) != 1)
        return;
    state = target_state(target);
    target->type = OBJECT_FREED; /* first: the user's hook may still use the pointer */
    if (state != NULL)
        callback_release(&state->callback);
    counted_release(&target->memory);
}

/* Called when no schedule and no look-up uses the memory any more. */
static void free_target(struct counted *counted)
{
    struct SCNetworkReachability *target = container_of(counted, struct SCNetworkReachability, memory);

    netns_release(target->netns);
    free_state(target->state);
    free(target);
}

/* Whether the path of the target, while it is on one loop, can be that of other targets, too. Then the target is its
 * address, and nothing else. Option NotifyPath reports more of the path than they share. */
static bool is_plain(const struct target_spec *spec)
{
    return spec->kind == TARGET_ADDRESS && !spec->notify_path && !spec->notify_next_hop && spec->count == 1 &&
           question_is_plain(&spec->questions[0]);
}

/* Makes the members that can fail. Returns 0 or an errno. */
static int make_members(struct SCNetworkReachability *target, const struct target_spec *spec)
{
    int error = process_prepare();

    if (error == 0 && !is_plain(spec)) {
        target->state = create_full_state(spec);
        error = target->state == NULL ? ENOMEM : 0;
    }
    if (error == 0 && spec->netns != NULL)
        netns_retain(target->netns = spec->netns);
    else if (error == 0)
        error = netns_current(&target->netns);
    return error;
}

static void begin_lookups(struct SCNetworkReachability *target, struct lookups *lookups)
{
    lookups->target = target;
    list_init(&lookups->waiter.node);
    lookups->next = NEVER;
}

struct SCNetworkReachability *target_create(const struct target_spec *spec)
{
    struct SCNetworkReachability *target = calloc(1, sizeof *target);
    int error;

    if (target == NULL) {
        error_set(ENOMEM);
        return NULL;
    }
    error = make_members(target, spec);
    if (error != 0) {
        free_state(target->state);
        free(target);
        error_set(error);
        return NULL;
    }
    target->type = OBJECT_TARGET;
    target->era = process_era();
    atomic_init(&target->references, 1);
    counted_init(&target->memory, free_target);
    target->kind = (uint8_t)spec->kind;
    target->address = spec->questions[0].destination;
    if (spec->needs_lookup)
        begin_lookups(target, target_parts(target)->lookups);
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
        target_release(self);
}

unsigned long SCNetworkReachabilityGetTypeID(void)
{
    return TYPE_ID;
}
#endif
