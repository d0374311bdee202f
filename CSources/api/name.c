/* SPDX-License-Identifier: MIT */
/*
 * What this file must never do: wait for a look-up, or take the addresses of a name away because nobody could be asked.
 * They are what its connections use, and what it has when the network is back.
 */
#include "api/name.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "api/schedule.h"
#include "base/clock.h"
#include "names/resolvconf.h"

#define LOOK_AGAIN_FIRST (1 * SECOND) /* after a failure; twice as long after each further one */
#define LOOK_AGAIN_LAST  (60 * SECOND)
#define REFRESH          (300 * SECOND) /* so that an address that moved is noticed */

static bool is_resolved(const struct questions *questions)
{
    return questions->reason == kSCNetworkReachabilityReasonNone;
}

static bool is_pending(const struct questions *questions)
{
    return questions->reason == kSCNetworkReachabilityReasonNamePending;
}

/* ---- Results ---------------------------------------------------------------------------------------------------- */

static struct questions *questions_about(const struct SCNetworkReachability *target, const struct lookup_result *result)
{
    struct question  *items = calloc(result->count, sizeof *items);
    struct questions *questions;

    if (items == NULL)
        return NULL;
    for (size_t i = 0; i < result->count; i++) {
        items[i] = target->form;
        items[i].destination = result->items[i].address;
        items[i].scope = address_is_of_link(&items[i].destination) ? result->items[i].scope : 0;
    }
    questions = questions_create(items, result->count, kSCNetworkReachabilityReasonNone);
    free(items);
    return questions;
}

static bool can_reach_servers(const struct SCNetworkReachability *target)
{
    struct questions *questions;
    struct path       path;
    bool              can = true;

    if (resolvconf_pending_questions(&questions) != 0)
        return true;
    if (netns_evaluate(target->netns, questions, 0, &path) == 0)
        can = path_is_usable(&path);
    questions_release(questions);
    return can;
}

/* What a result makes of the target. NULL: no memory. */
static struct questions *questions_from(const struct SCNetworkReachability *target, const struct lookup_result *result)
{
    switch (result->outcome) {
    case LOOKUP_FOUND:
        return questions_about(target, result);
    case LOOKUP_NO_SUCH_NAME:
        return questions_create(NULL, 0, kSCNetworkReachabilityReasonNameNotFound);
    default:
        return questions_create(NULL, 0,
                                can_reach_servers(target) ? kSCNetworkReachabilityReasonNameServerFailure
                                                          : kSCNetworkReachabilityReasonNameServerUnreachable);
    }
}

static bool is_same_address(const struct question *a, const struct question *b)
{
    return address_equal(&a->destination, &b->destination) && a->scope == b->scope;
}

static bool has_address(const struct questions *questions, const struct question *wanted)
{
    for (size_t i = 0; i < questions->count; i++)
        if (is_same_address(&questions->items[i], wanted))
            return true;
    return false;
}

/* In the same order, for the same reason. */
static bool are_equal(const struct questions *a, const struct questions *b)
{
    if (a->reason != b->reason || a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!is_same_address(&a->items[i], &b->items[i]))
            return false;
    return true;
}

/* In whatever order: servers turn it round. */
static bool have_same_addresses(const struct questions *a, const struct questions *b)
{
    for (size_t i = 0; i < a->count; i++)
        if (!has_address(b, &a->items[i]))
            return false;
    for (size_t i = 0; i < b->count; i++)
        if (!has_address(a, &b->items[i]))
            return false;
    return true;
}

/* Takes over a reference. */
static void put_locked(struct SCNetworkReachability *target, struct questions *questions)
{
    struct questions *before = target->questions;

    target->questions = questions;
    atomic_fetch_add(&target->answers, 1); /* to questions that are no longer put */
    schedule_put_questions_locked(target);
    questions_release(before);
}

static void take_over_locked(struct SCNetworkReachability *target, struct questions *questions)
{
    const bool first = is_pending(target->questions);

    /* Addresses outlast a server that cannot be asked. */
    if (are_equal(target->questions, questions) ||
        (is_resolved(target->questions) && questions->reason != kSCNetworkReachabilityReasonNone &&
         questions->reason != kSCNetworkReachabilityReasonNameNotFound)) {
        questions_release(questions);
        return;
    }
    target->announce_answer = target->announce_answer || first || !have_same_addresses(target->questions, questions);
    put_locked(target, questions);
}

static void set_deadline_locked(struct SCNetworkReachability *target, int64_t deadline)
{
    target->look_again_at = deadline;
    schedule_set_deadline_locked(target);
}

static void plan_locked(struct SCNetworkReachability *target, bool failed)
{
    set_deadline_locked(target, clock_now() + (failed ? target->look_again_delay : REFRESH));
    if (!failed)
        target->look_again_delay = LOOK_AGAIN_FIRST;
    else if (target->look_again_delay < LOOK_AGAIN_LAST)
        target->look_again_delay *= 2;
    if (target->look_again_delay > LOOK_AGAIN_LAST)
        target->look_again_delay = LOOK_AGAIN_LAST;
}

/* Takes over the questions; NULL: no memory. When something changed while they were asked for, a failure says nothing;
 * and what was found is looked for again. */
static void finish_locked(struct SCNetworkReachability *target, struct questions *questions,
                          const struct lookup_result *result)
{
    const bool again = target->look_again || result->stale;

    target->looking = false;
    plan_locked(target, questions == NULL || result->outcome == LOOKUP_FAILED);
    if (questions != NULL && (!again || result->outcome == LOOKUP_FOUND))
        take_over_locked(target, questions);
    else
        questions_release(questions);
    if (again)
        name_look_again_locked(target, false);
}

static void found(struct lookup_waiter *waiter, unsigned turn, const struct lookup_result *result)
{
    struct SCNetworkReachability *target = container_of(waiter, struct SCNetworkReachability, waiter);
    struct questions             *questions = questions_from(target, result);

    pthread_mutex_lock(&target->lock);
    if (turn == target->waiter.turn) {
        finish_locked(target, questions, result);
        questions = NULL;
    }
    pthread_mutex_unlock(&target->lock);
    questions_release(questions);
}

/* ---- Looking up ------------------------------------------------------------------------------------------------- */

/* What is not sure to come to anything has a deadline though it is under way. */
static void look_locked(struct SCNetworkReachability *target, bool again, bool trusted)
{
    const int error = lookup_start(target->netns, target->name, again, trusted, &target->waiter);

    target->looking = error == 0 || error == EINPROGRESS;
    target->look_again = false;
    if (target->looking)
        set_deadline_locked(target, error == 0 ? NEVER : clock_now() + LOOK_AGAIN_FIRST);
    else
        plan_locked(target, true);
}

void name_set_questions_locked(struct SCNetworkReachability *target, struct questions *questions)
{
    if (questions == NULL || questions == target->questions)
        questions_release(questions);
    else
        put_locked(target, questions);
}

int name_refresh_pending_locked(struct SCNetworkReachability *target)
{
    struct questions *questions;
    const int         error = resolvconf_pending_questions(&questions);

    if (error == 0)
        name_set_questions_locked(target, questions);
    return error;
}

void name_begin_locked(struct SCNetworkReachability *target, bool trusted)
{
    if (target->waiter.completed == NULL) { /* constant from here on: a resolver's thread may be reading it */
        target->waiter.owner = &target->memory;
        target->waiter.completed = found;
    }
    target->look_again_delay = LOOK_AGAIN_FIRST;
    look_locked(target, false, trusted);
}

void name_end_locked(struct SCNetworkReachability *target)
{
    lookup_cancel(&target->waiter);
    target->looking = target->look_again = target->announce_answer = false;
    if (!is_pending(target->questions))
        name_set_questions_locked(target, resolvconf_last_pending_questions());
}

void name_look_again_locked(struct SCNetworkReachability *target, bool changed)
{
    if (changed && is_pending(target->questions))
        (void)name_refresh_pending_locked(target); /* those of before will do if that fails */
    if (changed)
        target->look_again_delay = LOOK_AGAIN_FIRST;
    if (target->looking && clock_now() < target->look_again_at) {
        target->look_again = target->look_again || changed; /* what is under way may ask the network of before */
        return;
    }
    if (target->looking)
        lookup_cancel(&target->waiter);
    look_locked(target, true, false);
}
