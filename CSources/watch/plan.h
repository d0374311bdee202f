/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_PLAN_H
#define REACHABILITY_PLAN_H

/* When a monitor must evaluate paths though no message has come. Times are those of clock_now; NEVER: not planned. The
 * times are planned at the end of a round, which can take longer than the delays. */

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

struct plan {
    int64_t poll;                    /* NEVER: the kernel announces all changes */
    int64_t recheck, recheck_latest; /* the second evaluation after a change */
    int64_t changed;                 /* the kernel has announced a change that it may not have finished */
    int64_t reread;                  /* of lifetimes; NEVER: there are none that a router can shorten */
    int64_t retry, retry_delay;
    int64_t pppd; /* NEVER: no path depends on pppd's database */
};

void plan_init(struct plan *plan);

int64_t plan_nearest(const struct plan *plan);

/* The kernel no longer announces all changes. */
void plan_begin_polling(struct plan *plan);

/* Whether the kernel announces all changes. */
static inline bool plan_relies_on_messages(const struct plan *plan)
{
    return plan->poll == NEVER;
}

/* Whether the kernel may not have finished a change that it announced at this time. */
bool plan_is_recent(int64_t announced, int64_t now);

/* A round has ended. It began at `began`, and made the polls that were due then. */
void plan_poll(struct plan *plan, int64_t began, int64_t now);
void plan_recheck(struct plan *plan, int64_t now);
void plan_reread(struct plan *plan, int64_t now, bool can_shorten, bool reread); /* `reread`: in this round */
void plan_retry(struct plan *plan, int64_t now, bool failed);
void plan_pppd(struct plan *plan, int64_t now, bool needed);

#endif
