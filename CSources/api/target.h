/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_TARGET_H
#define REACHABILITY_TARGET_H

/* A target, as the files of the top floor share it. */

#include <pthread.h>

#include "api/callback.h"
#include "base/counted.h"
#include "base/list.h"
#include "names/lookup.h"
#include "route/monitor.h"

enum target_kind { TARGET_ADDRESS, TARGET_PAIR, TARGET_NAME, TARGET_DEFAULT };

struct SCNetworkReachability {
    uint32_t       type;    /* first: see object_is */
    unsigned       era;     /* of the process: what a child inherited is good for nothing but to be released */
    struct counted counted; /* the users', that of each schedule until it ends, that of a delivery */
    struct counted memory;  /* the above together, and each schedule's for as long as anybody has it */

    /* What was asked for: constant. */
    enum target_kind kind;
    char            *name;
    bool             pending; /* a name that has to be looked up */
    struct question  form;    /* what the questions about its addresses have in common */
    bool             notify_path;
    struct netns    *netns;

    /* The flags of the last evaluation, and whether the target is scheduled: GetFlags is one load of this. */
    _Atomic uint64_t state;

    pthread_mutex_t               lock; /* for all below; taken before a loop's lock, never held while user code runs */
    struct questions             *questions; /* constant, but for a name that is pending */
    struct list                   schedules;
    struct path                   current, delivered;
    atomic_ulong                  answers;         /* how many `current` has been; read without the lock */
    bool                          announce;        /* deliver once even if nothing changed */
    bool                          announce_answer; /* the next answer sets that */
    struct lookup_waiter          waiter;
    bool                          looking, look_again; /* a look-up is under way; it may come too early */
    int64_t                       look_again_delay, look_again_at;
    bool                          delivering;
    SCNetworkReachabilityCallBack callback;
    struct callback_context      *context;
    unsigned long                 evaluations, deliveries;
};

#define STATE_SCHEDULED (UINT64_C(1) << 32)
#define STATE_DUE       (UINT64_C(1) << 33) /* no callback has told of these flags yet */

/* Whether a caller gave us a target of this process's; sets SCError() if not. The cast takes away the const of the
 * public type: what changes is ours and guarded. */
bool target_check(SCNetworkReachabilityRef target, struct SCNetworkReachability **ret);

/* False in a child that was forked inside user code that we called: then nothing is left to do, and its locks may
 * be held for ever. */
bool target_is_ours(const struct SCNetworkReachability *target);

#define SIZE_LIMIT 4096 /* of a structure that a caller hands us: more is a size that was never set */

/* Evaluates now through the shared view. 0 or an errno. */
int target_evaluate(struct SCNetworkReachability *target, unsigned extras, struct path *ret);

#endif
