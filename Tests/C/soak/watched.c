/* SPDX-License-Identifier: MIT */
#include "soak/watched.h"

#include "support/unit.h"

long long watched_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* ---- Reports ---------------------------------------------------------------------------------------------------- */

static const void *retain_report(const void *info)
{
    atomic_fetch_add(&((struct report *)(uintptr_t)info)->references, 1);
    return info;
}

static void release_report(const void *info)
{
    struct report *report = (struct report *)(uintptr_t)info;

    if (atomic_fetch_sub(&report->references, 1) == 1)
        free(report);
}

static void note_flags(struct report *report, SCNetworkReachabilityFlags flags)
{
    const unsigned long long calls = atomic_load(&report->word) >> 32;

    atomic_store(&report->time, watched_now());
    atomic_store(&report->word, (calls + 1) << 32 | flags);
}

static void called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target;
    note_flags(info, flags);
}

/* The flags at the beginning, unless a callback was faster. */
static void note_first_flags(struct report *report, SCNetworkReachabilityFlags flags)
{
    unsigned long long none = 0;

    atomic_compare_exchange_strong(&report->word, &none, flags);
}

/* ---- Targets ---------------------------------------------------------------------------------------------------- */

void watched_open(struct watched *ret, const struct spec *spec, enum executor executor, struct executors *executors)
{
    struct report *report = calloc(1, sizeof *report);
    SCNetworkReachabilityContext context = { .info = report, .retain = retain_report, .release = release_report };
    SCNetworkReachabilityFlags flags = 0;

    if (report == NULL)
        abort();
    atomic_store(&report->references, 1);
    *ret = (struct watched){
        .target = spec_create_target(spec), .spec = *spec, .executor = executor, .report = report
    };
    unit_complain_if(ret->target == NULL, "a target was not created");
    if (executor != EXECUTOR_FETCHED)
        unit_complain_if(!SCNetworkReachabilitySetCallback(ret->target, called, &context), "SetCallback failed");
    unit_complain_if(!executor_schedule(executors, executor, ret->target), "a target was not scheduled");
    unit_complain_if(!SCNetworkReachabilityGetFlags(ret->target, &flags), "GetFlags failed");
    note_first_flags(report, flags);
}

void watched_close(struct watched *watched, struct executors *executors)
{
    unit_complain_if(!executor_unschedule(executors, watched->executor, watched->target),
                     "a target was not unscheduled");
    SCNetworkReachabilityRelease(watched->target);
    release_report(watched->report);
}

void watched_note_change(struct watched *watched, SCNetworkReachabilityFlags flags)
{
    note_flags(watched->report, flags);
}

SCNetworkReachabilityFlags watched_reported(const struct watched *watched)
{
    return (SCNetworkReachabilityFlags)atomic_load(&watched->report->word);
}

unsigned watched_calls(const struct watched *watched)
{
    return (unsigned)(atomic_load(&watched->report->word) >> 32);
}
