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

#include "api/target.h"
#include "base/clock.h"
#include "base/error.h"

struct wait {
    SCNetworkReachabilityCondition condition;
    int64_t until;
    SCNetworkReachabilityPath path; /* the latest */
    SCNetworkReachabilityRetry retry;
};

/* Notes the latest path. Returns whether it ends the wait. Each evaluation counts, from the first one on. That of a
 * pending name is about the default path, and says nothing: a name in /etc/hosts can be reachable without a default
 * route, and would end each wait at once. */
static bool note_path(struct wait *wait)
{
    const bool reachable = SCNetworkReachabilityPathIsReachable(&wait->path);

    if (wait->path.reason == kSCNetworkReachabilityReasonNamePending)
        return false;
    SCNetworkReachabilityRetryObserve(&wait->retry, &wait->path, 0, 0);
    switch (wait->condition) {
    case kSCNetworkReachabilityConditionChanged:
        return SCNetworkReachabilityRetryGetDue(&wait->retry) == 0;
    case kSCNetworkReachabilityConditionReachable:
        return reachable;
    case kSCNetworkReachabilityConditionNotReachable:
        return !reachable;
    default:
        return true;
    }
}

/* Returns NULL and sets SCError() if it fails. The copy starts with the addresses of a name that is looked up. */
static struct SCNetworkReachability *copy_target(struct SCNetworkReachability *from)
{
    const struct questions *initial = from->initial;
    struct target_spec spec = { .kind = from->kind,
                                .name = from->name,
                                .count = initial->count,
                                .needs_lookup = from->lookups != NULL,
                                .notify_path = true, /* GetLastPath is for such targets */
                                .reports_flow = true,
                                .netns = from->netns };
    struct SCNetworkReachability *copy;
    struct questions *questions = reach_target_retain_questions(from);

    memcpy(spec.questions, initial->items, spec.count * sizeof *spec.questions);
    copy = reach_target_create(&spec);
    if (copy != NULL && questions != initial) {
        reach_questions_release(copy->questions);
        counted_retain(&(copy->questions = questions)->counted);
    }
    reach_questions_release(questions);
    return copy;
}

/* Drives a loop on which a copy is scheduled. The first pass does not wait: it evaluates what Schedule leaves out, such
 * as the other end of a tunnel. Returns the result of the public call. */
static int wait_on_copy(struct wait *wait, struct SCNetworkReachability *target)
{
    struct SCNetworkReachability *copy = copy_target(target);
    SCRunLoopRef loop = copy == NULL ? NULL : SCRunLoopCreate();
    SCNetworkReachabilityRef changed;
    double left = 0;
    int result = -1;

    if (loop != NULL && SCNetworkReachabilityScheduleWithRunLoop(copy, loop, kSCRunLoopDefaultMode)) {
        while (SCRunLoopPerform(loop, left) >= 0 && SCNetworkReachabilityGetLastPath(copy, &wait->path)) {
            const int64_t now = clock_now();

            result = note_path(wait) ? 1 : now >= wait->until ? 0 : -1;
            if (result >= 0)
                break;
            while ((changed = SCRunLoopCopyNextChange(loop, NULL)) != NULL) /* else it would end only one Perform */
                SCNetworkReachabilityRelease(changed);
            left = wait->until == NEVER ? -1 : (double)(wait->until - now) / (double)SECOND;
        }
        SCNetworkReachabilityUnscheduleFromRunLoop(copy, loop, kSCRunLoopDefaultMode);
    }
    SCRunLoopRelease(loop);
    SCNetworkReachabilityRelease(copy);
    return result;
}

int SCNetworkReachabilityWait(SCNetworkReachabilityRef target, SCNetworkReachabilityCondition condition, double seconds,
                              SCNetworkReachabilityPath *path)
{
    struct wait wait = { .condition = condition, .path = kSCNetworkReachabilityPathInitializer };
    struct SCNetworkReachability *self;
    int result = 0;

    if (!target_check(target, &self) || (path != NULL && !reach_getters_check_size(path)))
        return -1;
    if (condition > kSCNetworkReachabilityConditionChanged || isnan(seconds)) {
        reach_error_set(reach_error_invalid(isnan(seconds) ? "seconds: not a number"
                                                           : "condition: not a kSCNetworkReachabilityCondition..."));
        return -1;
    }
    wait.until = seconds < 0 || seconds > 1e9 ? NEVER : clock_now() + (int64_t)(seconds * (double)SECOND);
    SCNetworkReachabilityRetryInit(&wait.retry, 0);
    if (!SCNetworkReachabilityGetPath(target, &wait.path))
        return -1;
    if (note_path(&wait))
        result = 1;
    else if (seconds != 0)
        result = wait_on_copy(&wait, self);
    if (result >= 0 && path != NULL)
        reach_getters_write_path(&wait.path, path);
    return result;
}
#endif
