/* SPDX-License-Identifier: MIT */
/*
 * What a path means for a program: is it reachable, does it differ, is it worth an attempt. Every language calls these.
 *
 * What this file must never do: look at the clock, the kernel or a target. The caller brings paths and times.
 */
#ifdef __linux__
#include "api/target.h"
#include "base/error.h"

SCBoolean SCNetworkReachabilityPathIsReachable(const SCNetworkReachabilityPath *path)
{
    struct path own;

    return reach_getters_read_path(path, &own) && reach_path_is_reachable(&own);
}

SCBoolean SCNetworkReachabilityPathIsViable(const SCNetworkReachabilityPath *path)
{
    return SCNetworkReachabilityPathIsReachable(path) && (path->flow & kSCNetworkReachabilityFlowSourceForeign) == 0;
}

SCBoolean SCNetworkReachabilityPathDiffers(const SCNetworkReachabilityPath *path,
                                           const SCNetworkReachabilityPath *other)
{
    struct outcome from, to;
    struct path a, b;

    if (!reach_getters_read_path(path, &a) || !reach_getters_read_path(other, &b))
        return 0;
    from = path_outcome(&a);
    to = path_outcome(&b);
    return reach_details_differ(&from, &to, &a, &b);
}

/* ---- When it is worth an attempt -------------------------------------------------------------------------------- */

/* In the caller's SCNetworkReachabilityRetry. Times are nanoseconds. */
struct __attribute__((may_alias)) retry_state {
    uint64_t min_interval;
    uint64_t due;        /* of `wake` */
    uint64_t not_before; /* the end of the interval after the last sleep that a change has ended */
    struct way {
        struct address gateway, source;
        uint32_t index, gateway_scope, source_scope;
    } way;         /* over which the target was reachable last */
    bool has_way;  /* it was reachable before */
    bool was_lost; /* it is not reachable, or was not since */
    uint8_t wake;  /* the change that is pending, kSCNetworkReachabilityWake... */
};
_Static_assert(sizeof(struct retry_state) <= sizeof(SCNetworkReachabilityRetry), "it fits");
_Static_assert(_Alignof(struct retry_state) <= _Alignof(SCNetworkReachabilityRetry), "it is aligned");

/* NULL sets SCError(). */
static struct retry_state *check(const SCNetworkReachabilityRetry *retry)
{
    if (retry == NULL)
        reach_error_set(reach_error_invalid("retry: NULL"));
    return (struct retry_state *)(uintptr_t)retry;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

static bool ways_equal(const struct way *a, const struct way *b)
{
    return a->index == b->index && reach_address_equal(&a->gateway, &b->gateway) &&
           a->gateway_scope == b->gateway_scope && reach_address_equal(&a->source, &b->source) &&
           a->source_scope == b->source_scope;
}

void SCNetworkReachabilityRetryInit(SCNetworkReachabilityRetry *retry, uint64_t minInterval)
{
    struct retry_state *self = check(retry);

    if (self == NULL)
        return;
    *retry = (SCNetworkReachabilityRetry){ { 0 } };
    self->min_interval = minInterval;
}

void SCNetworkReachabilityRetryObserve(SCNetworkReachabilityRetry *retry, const SCNetworkReachabilityPath *path,
                                       uint64_t now, uint64_t delay)
{
    struct retry_state *self = check(retry);
    struct way way;
    struct path own;

    if (self == NULL || !reach_getters_read_path(path, &own) || own.reason == kSCNetworkReachabilityReasonNamePending)
        return;
    if (!reach_path_is_reachable(&own)) {
        self->was_lost = true;
        self->wake = kSCNetworkReachabilityWakeNone;
        return;
    }
    way.index = own.index;
    way.gateway = reach_address_from_sockaddr((const struct sockaddr *)&path->gateway, &way.gateway_scope);
    way.source = reach_address_from_sockaddr((const struct sockaddr *)&path->source, &way.source_scope);
    if (self->wake == kSCNetworkReachabilityWakeNone &&
        (self->was_lost || (self->has_way && !ways_equal(&self->way, &way)))) {
        self->wake = self->was_lost ? kSCNetworkReachabilityWakeReachable : kSCNetworkReachabilityWakePath;
        self->due = add(now, delay);
    }
    self->way = way;
    self->has_way = true;
    self->was_lost = false;
}

uint64_t SCNetworkReachabilityRetryGetDue(const SCNetworkReachabilityRetry *retry)
{
    const struct retry_state *self = check(retry);

    if (self == NULL || self->wake == kSCNetworkReachabilityWakeNone)
        return UINT64_MAX;
    return self->due > self->not_before ? self->due : self->not_before;
}

SCNetworkReachabilityWake SCNetworkReachabilityRetryTake(SCNetworkReachabilityRetry *retry, uint64_t now, uint64_t end)
{
    const uint64_t due = SCNetworkReachabilityRetryGetDue(retry);
    struct retry_state *self = check(retry);
    SCNetworkReachabilityWake wake = kSCNetworkReachabilityWakeTime;

    if (self == NULL || (now < due && now < end))
        return kSCNetworkReachabilityWakeNone;
    if (now >= due && self->wake != kSCNetworkReachabilityWakeNone) {
        wake = self->wake;
        self->not_before = add(now, self->min_interval);
    }
    self->wake = kSCNetworkReachabilityWakeNone;
    return wake;
}
#endif
