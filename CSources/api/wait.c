/* SPDX-License-Identifier: MIT */
/*
 * SCNetworkReachabilityWait: watches a copy of a target on a run loop of its own, until a condition holds.
 *
 * What this file must never do: schedule the caller's target. Its loops deliver each change once, so a callback would
 * come on the waiting thread, and not on the thread that the program chose.
 */
#ifdef __linux__
#include <math.h>
#include <string.h>

#include "api/getters.h"
#include "base/clock.h"
#include "base/error.h"

/* ---- The copy --------------------------------------------------------------------------------------------------- */

/* The addresses of a name that is looked up already. The copy starts with them. */
static void copy_questions(struct SCNetworkReachability *from, struct SCNetworkReachability *copy)
{
    struct question_memory memory;
    struct questions *questions;

    if (target_parts(from)->lookups == NULL)
        return;
    questions = target_retain_questions(from, &memory);
    if (questions == target_parts(from)->initial) {
        questions_release(questions);
        return;
    }
    questions_release(target_parts(copy)->lookups->questions);
    target_parts(copy)->lookups->questions = questions;
}

/* Returns NULL and sets SCError() if it fails. */
static struct SCNetworkReachability *copy_target(struct SCNetworkReachability *from)
{
    struct question_memory memory;
    const struct questions *initial = target_initial_questions(from, &memory);
    struct target_spec spec = { .kind = from->kind,
                                .name = target_parts(from)->name,
                                .count = initial->count,
                                .needs_lookup = target_parts(from)->lookups != NULL,
                                .notify_path = true, /* GetLastPath is for such targets */
                                .reports_flow = target_parts(from)->reports_flow,
                                .netns = from->netns };
    struct SCNetworkReachability *copy;

    memcpy(spec.questions, initial->items, spec.count * sizeof *spec.questions);
    copy = target_create(&spec);
    if (copy != NULL)
        copy_questions(from, copy);
    return copy;
}

/* ---- The wait --------------------------------------------------------------------------------------------------- */

struct wait {
    SCNetworkReachabilityCondition condition;
    int64_t until;
    SCNetworkReachabilityPath path;  /* the latest */
    SCNetworkReachabilityPath first; /* the first one that is known and reachable; size 0: there was none */
    bool changed;                    /* a known path was not reachable, or other than the first */
};

static bool is_known(const SCNetworkReachabilityPath *path)
{
    return path->reason != kSCNetworkReachabilityReasonNamePending;
}

static bool is_reachable(const SCNetworkReachabilityPath *path)
{
    return (path->flags & kSCNetworkReachabilityFlagsReachable) != 0;
}

/* Whether packets leave in another way. The addresses have no ports, and the bytes after them are zero. */
static bool leaves_otherwise(const SCNetworkReachabilityPath *a, const SCNetworkReachabilityPath *b)
{
    return a->interfaceIndex != b->interfaceIndex || memcmp(&a->gateway, &b->gateway, sizeof a->gateway) != 0 ||
           memcmp(&a->source, &b->source, sizeof a->source) != 0;
}

/* Each evaluation counts, from the first one on. That of a pending name is about the default path, and says nothing:
 * a name in /etc/hosts can be reachable without a default route, and would end each wait at once. */
static void note_change(struct wait *wait)
{
    if (!is_known(&wait->path))
        return;
    if (!is_reachable(&wait->path))
        wait->changed = true;
    else if (wait->first.size == 0)
        wait->first = wait->path;
    else if (leaves_otherwise(&wait->first, &wait->path))
        wait->changed = true;
}

static bool condition_holds(const struct wait *wait)
{
    const bool known = is_known(&wait->path);
    const bool reachable = is_reachable(&wait->path);

    switch (wait->condition) {
    case kSCNetworkReachabilityConditionChanged:
        return known && reachable && wait->changed;
    case kSCNetworkReachabilityConditionReachable:
        return known && reachable;
    case kSCNetworkReachabilityConditionNotReachable:
        return known && !reachable;
    default:
        return known;
    }
}

/* Notes the latest path. Returns whether it ends the wait. */
static bool note_path(struct wait *wait)
{
    note_change(wait);
    return condition_holds(wait);
}

/* As SCRunLoopPerform wants them: negative: without limit. */
static double seconds_left(const struct wait *wait)
{
    const int64_t left = wait->until == NEVER ? NEVER : wait->until - clock_now();

    if (left == NEVER)
        return -1;
    return left > 0 ? (double)left / (double)SECOND : 0;
}

/* Changes that are not fetched end only one Perform. */
static void fetch_changes(SCRunLoopRef loop)
{
    SCNetworkReachabilityRef changed;

    while ((changed = SCRunLoopCopyNextChange(loop, NULL)) != NULL)
        SCNetworkReachabilityRelease(changed);
}

/* Drives the loop on which the copy is scheduled. The first pass does not wait: it evaluates what Schedule leaves out,
 * such as the other end of a tunnel. Returns the result of the public call. */
static int drive(struct wait *wait, SCRunLoopRef loop, SCNetworkReachabilityRef copy)
{
    double left = 0;

    for (;;) {
        if (SCRunLoopPerform(loop, left) < 0 || !SCNetworkReachabilityGetLastPath(copy, &wait->path))
            return -1;
        if (note_path(wait))
            return 1;
        fetch_changes(loop);
        if (clock_now() >= wait->until)
            return 0;
        left = seconds_left(wait);
    }
}

static int drive_copy(struct wait *wait, SCNetworkReachabilityRef copy)
{
    SCRunLoopRef loop = SCRunLoopCreate();
    int result = -1;

    if (loop == NULL)
        return -1;
    if (SCNetworkReachabilityScheduleWithRunLoop(copy, loop, kSCRunLoopDefaultMode)) {
        result = drive(wait, loop, copy);
        SCNetworkReachabilityUnscheduleFromRunLoop(copy, loop, kSCRunLoopDefaultMode);
    }
    SCRunLoopRelease(loop);
    return result;
}

/* Returns the result of the public call. */
static int wait_for_condition(struct wait *wait, struct SCNetworkReachability *target)
{
    struct SCNetworkReachability *copy;
    int result;

    if (!SCNetworkReachabilityGetPath(target, &wait->path))
        return -1;
    if (note_path(wait))
        return 1;
    if (wait->until == 0)
        return 0;
    copy = copy_target(target);
    if (copy == NULL)
        return -1;
    result = drive_copy(wait, copy);
    SCNetworkReachabilityRelease(copy);
    return result;
}

/* ---- The call --------------------------------------------------------------------------------------------------- */

/* Returns when the wait ends; 0: it does not begin. */
static int64_t end_of_wait(double seconds)
{
    if (seconds < 0 || seconds > 1e9)
        return NEVER;
    return seconds == 0 ? 0 : clock_now() + (int64_t)(seconds * (double)SECOND);
}

static bool check_arguments(SCNetworkReachabilityCondition condition, double seconds,
                            const SCNetworkReachabilityPath *path)
{
    const char *wrong = NULL;

    if (condition > kSCNetworkReachabilityConditionChanged)
        wrong = "condition: not a kSCNetworkReachabilityCondition...";
    else if (isnan(seconds))
        wrong = "seconds: not a number";
    else
        return path == NULL || getters_check_size(path);
    error_set(error_invalid(wrong));
    return false;
}

int SCNetworkReachabilityWait(SCNetworkReachabilityRef target, SCNetworkReachabilityCondition condition, double seconds,
                              SCNetworkReachabilityPath *path)
{
    struct wait wait = { .condition = condition, .path = kSCNetworkReachabilityPathInitializer };
    struct SCNetworkReachability *self;
    int result;

    if (!target_check(target, &self) || !check_arguments(condition, seconds, path))
        return -1;
    wait.until = end_of_wait(seconds);
    result = wait_for_condition(&wait, self);
    if (result >= 0 && path != NULL)
        getters_write_path(&wait.path, path);
    return result;
}
#endif
