/* SPDX-License-Identifier: MIT */
/* The times at which a monitor evaluates paths though no message has come. */
#ifdef __linux__
#include "watch/plan.h"

#include "base/clock.h"

/* With one RTNL lock, a change is finished when the barrier returns. Newer kernels replace that lock by several locks,
 * so the paths that are evaluated up to RECHECK_WITHIN after a change are evaluated a second time, RECHECK_AFTER the
 * end of the round. If changes go on: at the latest RECHECK_WITHIN after the end of the first round. */
#define RECHECK_AFTER  (5 * MILLISECOND)
#define RECHECK_WITHIN (50 * MILLISECOND)

/* If a sandbox keeps the kernel's messages away, all paths are evaluated at this interval. */
#define POLL_INTERVAL (2 * SECOND)

/* A router advertisement can shorten the lifetime of a route. The kernel sends no message about that, or only one about
 * a prefix. So lifetimes are read again at this interval. */
#define LIFETIME_INTERVAL (5 * SECOND)

/* While a path depends on pppd's database, which announces no changes, a round begins at this interval. */
#define PPPD_INTERVAL (2 * SECOND)

/* If the kernel could not be queried, stale paths are evaluated again. The delay doubles from first to last. */
#define RETRY_FIRST (50 * MILLISECOND)
#define RETRY_LAST  (5 * SECOND)

void plan_init(struct plan *plan)
{
    *plan = (struct plan){ .poll = NEVER,
                           .changed = -RECHECK_WITHIN,
                           .recheck = NEVER,
                           .reread = NEVER,
                           .retry = NEVER,
                           .retry_delay = RETRY_FIRST,
                           .pppd = NEVER };
}

int64_t plan_nearest(const struct plan *plan)
{
    return clock_earlier(clock_earlier(plan->poll, plan->recheck),
                         clock_earlier(clock_earlier(plan->reread, plan->retry), plan->pppd));
}

void plan_begin_polling(struct plan *plan)
{
    if (plan->poll == NEVER)
        plan->poll = 0;
}

void plan_poll(struct plan *plan, int64_t began, int64_t now)
{
    if (plan->poll <= began)
        plan->poll = now + POLL_INTERVAL;
}

bool plan_is_recent(int64_t announced, int64_t now)
{
    return now < announced + RECHECK_WITHIN;
}

void plan_recheck(struct plan *plan, int64_t now)
{
    if (plan->recheck == NEVER)
        plan->recheck_latest = now + RECHECK_WITHIN;
    plan->recheck = clock_earlier(now + RECHECK_AFTER, plan->recheck_latest);
}

void plan_reread(struct plan *plan, int64_t now, bool can_shorten, bool reread)
{
    if (!can_shorten)
        plan->reread = NEVER;
    else if (reread || plan->reread == NEVER)
        plan->reread = now + LIFETIME_INTERVAL;
}

void plan_retry(struct plan *plan, int64_t now, bool failed)
{
    if (!failed) {
        plan->retry = NEVER;
        plan->retry_delay = RETRY_FIRST;
        return;
    }
    plan->retry = now + plan->retry_delay;
    plan->retry_delay = clock_earlier(2 * plan->retry_delay, RETRY_LAST);
}

void plan_pppd(struct plan *plan, int64_t now, bool needed)
{
    plan->pppd = needed ? now + PPPD_INTERVAL : NEVER;
}
#endif
