/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_TARGET_H
#define REACHABILITY_TARGET_H

/* A target, as the files of the top floor share it. */

#include <pthread.h>

#include "context.h"
#include "monitor.h"

enum target_kind { TARGET_ADDRESS, TARGET_PAIR, TARGET_NAME, TARGET_DEFAULT };

#define TARGET_QUESTIONS 2 /* at most: localhost stands for two addresses */

struct SCNetworkReachability {
    uint32_t         type; /* first: see object_is */
    unsigned         era;  /* of the process: what a child inherited is good for nothing but to be released */
    struct counted   counted;

    /* What was asked for: constant. */
    enum target_kind kind;
    char            *name;
    struct question  questions[TARGET_QUESTIONS];
    size_t           question_count;
    bool             pending;     /* a name that nobody has looked up: the questions are about the default path */
    bool             notify_path;
    struct netns    *netns;

    /* The flags of the last evaluation, and whether the target is scheduled: GetFlags is one load of this. */
    _Atomic uint64_t state;

    pthread_mutex_t  lock; /* for all below; taken before a loop's lock, never held while user code runs */
    struct list      schedules;
    struct path      current, delivered;
    atomic_ulong     answers;    /* how many `current` has been; read without the lock */
    bool             announce;   /* deliver once even if nothing changed */
    bool             delivering;
    SCNetworkReachabilityCallBack callback;
    struct context  *context;
    unsigned long    evaluations, deliveries;
};

#define STATE_SCHEDULED (UINT64_C(1) << 32)

/* Whether a caller gave us a target of this process's; sets SCError() if not. The cast takes away the const of the
 * public type: what changes is ours and guarded. */
bool target_check(SCNetworkReachabilityRef target, struct SCNetworkReachability **ret);

/* False in a child that was forked inside user code that we called: then nothing is left to do, and its locks may
 * be held for ever. */
bool target_is_ours(const struct SCNetworkReachability *target);

/* Evaluates now through the shared view. 0 or an errno. */
int target_ask(struct SCNetworkReachability *target, unsigned extras, struct path *ret);

/* What a name's being unresolved does to an answer. */
void target_finish(const struct SCNetworkReachability *target, struct path *path);

/* How many schedules there are, and what their monitors counted. */
struct schedule_summary {
    unsigned                loops, times;
    bool                    handed; /* on a scheduler */
    struct monitor_counters counters;
};
struct schedule_summary schedule_summarize(struct SCNetworkReachability *target);

#endif
