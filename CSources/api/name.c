/* SPDX-License-Identifier: MIT */
/*
 * Targets that need a look-up: when their name is looked up, and what the result changes.
 *
 * What this file must never do: wait for a look-up, or remove known addresses because no name server replied. The
 * program's connections use these addresses, and they are right again when the network is back.
 */
#ifdef __linux__
#include "api/target.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "names/name_servers.h"
#include "route/shared_socket.h"

#define RETRY_DELAY_FIRST (1 * SECOND) /* after a failure; doubles with each further failure */
#define RETRY_DELAY_LAST  (60 * SECOND)
#define REFRESH_DELAY     (300 * SECOND) /* after a success, to notice new addresses */

/* ---- Questions -------------------------------------------------------------------------------------------------- */

static bool are_resolved(const struct questions *questions)
{
    return questions->reason == kSCNetworkReachabilityReasonNone;
}

static bool is_same_address(const struct question *a, const struct question *b)
{
    return reach_address_equal(&a->destination, &b->destination) && a->scope == b->scope;
}

/* Compares the order, too, and the reason. */
static bool questions_are_equal(const struct questions *a, const struct questions *b)
{
    bool equal = a->reason == b->reason && a->count == b->count;

    for (size_t i = 0; equal && i < a->count; i++)
        equal = is_same_address(&a->items[i], &b->items[i]);
    return equal;
}

/* Whether `a` has all addresses of `b`. */
static bool contain_addresses(const struct questions *a, const struct questions *b)
{
    bool contain = true;

    for (size_t i = 0; contain && i < b->count; i++) {
        contain = false;
        for (size_t j = 0; j < a->count; j++)
            contain = contain || is_same_address(&a->items[j], &b->items[i]);
    }
    return contain;
}

/* Consumes a reference. */
static void replace_questions_locked(struct SCNetworkReachability *target, struct questions *questions)
{
    struct questions *previous = target->questions;

    target->questions = questions;
    if (target->schedule != NULL)
        reach_monitor_set_questions(target->schedule->loop, &target->schedule->watch, questions);
    reach_questions_release(previous);
}

/* ---- Results ---------------------------------------------------------------------------------------------------- */

static struct questions *questions_of_addresses(const struct SCNetworkReachability *target,
                                                const struct lookup_result *result)
{
    const struct question *initial = &target->initial->items[0];
    struct question *items = calloc(result->count, sizeof *items);
    struct questions *questions;

    if (items == NULL)
        return NULL;
    for (size_t i = 0; i < result->count; i++) {
        struct question *item = &items[i];

        *item = *initial; /* the same interface and mark */
        item->destination = result->items[i].address;
        item->scope = reach_address_needs_scope(&item->destination) ? result->items[i].scope : 0;
    }
    questions = reach_questions_create(items, result->count, kSCNetworkReachabilityReasonNone);
    free(items);
    return questions;
}

static bool name_servers_are_reachable(const struct SCNetworkReachability *target)
{
    struct questions *questions;
    struct path path;
    bool reachable = true;

    if (reach_name_servers_questions(&questions) != 0)
        return true;
    if (reach_shared_socket_evaluate(reach_netns_socket(target->netns), questions, 0, &path) == 0)
        reachable = reach_path_is_usable(&path);
    reach_questions_release(questions);
    return reachable;
}

/* Returns NULL if there is no memory. */
static struct questions *questions_of_result(const struct SCNetworkReachability *target,
                                             const struct lookup_result *result)
{
    SCNetworkReachabilityReason reason = kSCNetworkReachabilityReasonNameNotFound;

    if (result->outcome == LOOKUP_FOUND)
        return questions_of_addresses(target, result);
    if (result->outcome != LOOKUP_NO_SUCH_NAME)
        reason = name_servers_are_reachable(target) ? kSCNetworkReachabilityReasonNameServerFailure
                                                    : kSCNetworkReachabilityReasonNameServerUnreachable;
    return reach_questions_create(NULL, 0, reason);
}

/* Consumes a reference. */
static void apply_result_locked(struct SCNetworkReachability *target, struct questions *questions)
{
    const bool is_first_result = target->questions == target->initial;
    const bool is_failure = !are_resolved(questions) && questions->reason != kSCNetworkReachabilityReasonNameNotFound;

    if (questions_are_equal(target->questions, questions) || (is_failure && are_resolved(target->questions))) {
        reach_questions_release(questions);
        return;
    }
    if (is_first_result || !contain_addresses(target->questions, questions) ||
        !contain_addresses(questions, target->questions)) /* name servers rotate the order */
        target->owed_next = true;
    replace_questions_locked(target, questions);
}

static void set_next_lookup_locked(struct SCNetworkReachability *target, int64_t deadline)
{
    if (target->schedule != NULL)
        reach_network_service_set_deadline(target->schedule->loop, &target->schedule->network_user, deadline);
}

/* After a look-up. */
static void plan_next_lookup_locked(struct SCNetworkReachability *target, bool failed)
{
    struct lookups *lookups = target->lookups;
    const int64_t retry_delay = lookups->retry_delay;

    set_next_lookup_locked(target, clock_now() + (failed ? retry_delay : REFRESH_DELAY));
    if (!failed)
        lookups->retry_delay = RETRY_DELAY_FIRST;
    else
        lookups->retry_delay = 2 * retry_delay < RETRY_DELAY_LAST ? 2 * retry_delay : RETRY_DELAY_LAST;
}

/* A pending name may follow the default path. From now on, the loop's monitor evaluates the path of its own addresses.
 * Returns 0 or an errno. */
static int watch_own_path_locked(struct schedule *schedule)
{
    if (schedule == NULL || schedule->watch.monitor != NULL)
        return 0;
    return reach_monitor_watch(schedule->loop, schedule->target->netns, &schedule->watch);
}

/* `questions` are the result's, NULL if there was no memory. Consumes the reference. If something changed during the
 * look-up, a failure is ignored, and the look-up is repeated in any case. */
static void finish_lookup_locked(struct SCNetworkReachability *target, struct questions *questions,
                                 const struct lookup_result *result)
{
    struct lookups *lookups = target->lookups;
    /* One failure in a row at most: changes can go on for ever. */
    const bool hides_failure = result->outdated || (result->in_pause && !lookups->failure_hidden);

    if (questions != NULL && watch_own_path_locked(target->schedule) != 0) {
        reach_questions_release(questions);
        questions = NULL;
    }
    lookups->running = false;
    lookups->doubted = result->slow || result->outcome == LOOKUP_FAILED;
    lookups->failure_hidden = hides_failure && result->outcome != LOOKUP_FOUND;
    plan_next_lookup_locked(target, questions == NULL || result->outcome == LOOKUP_FAILED || lookups->failure_hidden);
    if (questions != NULL && !lookups->failure_hidden)
        apply_result_locked(target, questions);
    else
        reach_questions_release(questions);
    if (result->outdated)
        reach_name_repeat_lookup_locked(target, false);
}

/* Called on a resolver thread. */
static void receive_lookup_result(struct lookup_waiter *waiter, unsigned turn, const struct lookup_result *result)
{
    struct SCNetworkReachability *target = container_of(waiter, struct lookups, waiter)->target;
    struct questions *questions = questions_of_result(target, result);

    target_lock(target);
    if (turn == target->lookups->waiter.turn) { /* not cancelled */
        finish_lookup_locked(target, questions, result);
        questions = NULL;
    }
    target_unlock(target);
    reach_questions_release(questions);
}

/* ---- Look-ups --------------------------------------------------------------------------------------------------- */

static void start_lookup_locked(struct SCNetworkReachability *target, enum lookup_kind kind)
{
    struct lookups *lookups = target->lookups;
    const int family = target->initial->items[0].family;
    const int error = reach_lookup_start(target->netns, target->name, family, kind, &lookups->waiter);

    lookups->running = error == 0 || error == EINPROGRESS;
    if (error == 0)
        set_next_lookup_locked(target, NEVER);
    else /* there may never be a result */
        plan_next_lookup_locked(target, true);
}

void reach_name_start_lookups_locked(struct SCNetworkReachability *target)
{
    struct lookups *lookups = target->lookups;

    if (lookups->waiter.owner == NULL) { /* set only once: a resolver thread may be reading it */
        lookups->waiter.owner = &target->memory;
        lookups->waiter.completed = receive_lookup_result;
    }
    lookups->retry_delay = RETRY_DELAY_FIRST;
    start_lookup_locked(target, LOOKUP_FIRST);
}

void reach_name_stop_lookups_locked(struct SCNetworkReachability *target)
{
    struct lookups *lookups = target->lookups;

    reach_lookup_cancel(&lookups->waiter);
    lookups->running = lookups->failure_hidden = target->owed_next = false;
    if (target->questions != target->initial) {
        counted_retain(&target->initial->counted);
        replace_questions_locked(target, target->initial);
    }
}

void reach_name_repeat_lookup_locked(struct SCNetworkReachability *target, bool changed)
{
    struct lookups *lookups = target->lookups;

    if (changed)
        lookups->retry_delay = RETRY_DELAY_FIRST;
    start_lookup_locked(target, lookups->doubted ? LOOKUP_DOUBTED : LOOKUP_AGAIN);
}
#endif
