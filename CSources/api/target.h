/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_TARGET_H
#define REACHABILITY_TARGET_H

/* A target, its schedule, and what the files of this folder do with them. */

#include <pthread.h>

#include "base/counted.h"
#include "loop/runloop.h"
#include "names/lookup.h"
#include "names/network_service.h"

/* ---- callback.c: what a user gives SCNetworkReachabilitySetCallback, a function, and a context with hooks. All
 * functions but callback_retain can call user code: never call them with a lock held. */

/* A function, and a copy of its context that has a retain or release hook. The target holds a reference. So does a
 * delivery, at most until the callback returns. The last reference calls `release`. */
struct callback_context {
    struct counted counted;
    SCNetworkReachabilityCallBack function;
    void *info;
    const void *(*retain)(const void *info);
    void (*release)(const void *info);
};

/* Most contexts have no hooks: then there is nothing to count or to release. */
struct callback {
    SCNetworkReachabilityCallBack
        function; /* reach_callback_with_hooks: `info` is a context. NULL: there is no callback */
    void *info;
};

/* Copies and retains a user's context. `context` NULL: no info. Returns 0 or ENOMEM. */
int reach_callback_create(SCNetworkReachabilityCallBack function, const SCNetworkReachabilityContext *context,
                          struct callback *ret);

/* Calls the function of a context. Consumes a reference to it. */
void reach_callback_with_hooks(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *context);

static inline void callback_retain(const struct callback *callback)
{
    if (callback->function == reach_callback_with_hooks)
        counted_retain(&((struct callback_context *)callback->info)->counted);
}

static inline void callback_release(const struct callback *callback)
{
    if (callback->function == reach_callback_with_hooks)
        counted_release(&((struct callback_context *)callback->info)->counted);
}

/* ---- scheduler.c: a user's SCNetworkReachabilityScheduler, and the one work that it can have of a schedule */

struct scheduler;

/* Copies the scheduler and retains its info. Where it runs its work, `run` is called with a reference to `owner` held.
 * Returns NULL if there is no memory. */
struct scheduler *reach_scheduler_create(const SCNetworkReachabilityScheduler *calls,
                                         void (*run)(struct counted *owner), struct counted *owner);

struct scheduler *reach_scheduler_retain(struct scheduler *scheduler);

/* Calls `perform`, on the calling thread. Does nothing if the scheduler already has work, or after reach_scheduler_end.
 * Consumes a reference. */
void reach_scheduler_post(struct scheduler *scheduler);

/* Ends the owner's part: work that the scheduler still has does nothing when it runs. The info is released now, or
 * after that work ran. */
void reach_scheduler_end(struct scheduler *scheduler);

/* ---- The target */

enum target_kind { TARGET_ADDRESS, TARGET_PAIR, TARGET_NAME, TARGET_DEFAULT };

/* What the arguments of a Create call mean. */
struct target_spec {
    enum target_kind kind;
    const char *name;             /* NULL: not a TARGET_NAME */
    uint8_t family;               /* of the addresses; AF_UNSPEC: a name, whose addresses can be of both */
    struct question questions[2]; /* localhost has two addresses */
    size_t count;
    bool needs_lookup, notify_path, notify_network, notify_next_hop, reports_flow;
    struct netns *netns; /* NULL: that of the calling thread */
};

/* The paths of which `current` and `delivered` are a part, for a target that reports details (option NotifyPath). */
struct details {
    struct path current, delivered;
};

/* What the program knows of the next hop, for a target that reports it (option NotifyNextHop). The first evaluation of
 * a schedule does not read it.
 *
 *   state     what happens                  then
 *   UNREAD    a call returns it             RETURNED, delivered = failed = what it returned
 *   RETURNED  the same                      the same
 *   UNREAD    a pass reads it               SETTLED, delivered = failed: no news
 *   RETURNED  a pass reads it               SETTLED; a callback comes if it is not what was returned
 *   SETTLED   it fails, or responds again   a callback comes
 *   any       the path has another one      failed = false
 *   any       a callback, or a fetch        delivered = failed
 *   any       Unschedule                    UNREAD
 */
enum hop_state { HOP_UNREAD, HOP_RETURNED, HOP_SETTLED };

struct target_hop {
    struct address address; /* of the next hop of `current` */
    uint32_t index;
    enum hop_state state;
    bool failed, delivered; /* has it failed: now, and as far as the program knows */
};

/* The look-ups of a target's name. */
struct lookups {
    struct SCNetworkReachability *target;
    struct lookup_waiter waiter;
    bool running;
    bool failure_hidden; /* the last result was a failure that is not reported */
    bool doubted;        /* the last look-up failed, or was slow */
    int64_t retry_delay;
};

struct SCNetworkReachability {
    uint32_t type;          /* must be first: object_is reads it */
    unsigned era;           /* process_era() at creation */
    atomic_uint references; /* of users, its schedule and a delivery; the last one ends the target */
    struct counted memory;  /* a reference for all of `references`, and one of each struct schedule */

    /* PUBLISHED_... and, in the low 32 bits, the flags. GetFlags of a scheduled target uses nothing else. 0: not
     * scheduled. */
    _Atomic uint64_t published;

    /* Constant. */
    enum target_kind kind;
    bool notify_network, notify_next_hop, reports_flow;
    char *name;                /* NULL: not a TARGET_NAME */
    struct netns *netns;       /* a reference */
    struct questions *initial; /* a reference; of a name, until it is resolved: one, about the default path */
    struct lookups *lookups;   /* NULL: no name, or localhost */
    struct details *details;   /* NULL: the target does not report them */

    pthread_mutex_t lock;        /* for all that follows; taken before a loop's lock, not held while user code runs */
    struct questions *questions; /* the current ones; a reference */
    struct outcome current;      /* of the last evaluation */
    struct outcome delivered;    /* of the last callback, or of the last fetch by SCRunLoopCopyNextChange */
    bool owed;                   /* a delivery must come, even if nothing changed */
    bool owed_next;              /* the next evaluation sets `owed` */
    bool is_delivering;          /* a callback is running */
    bool change_queued;          /* SCRunLoopCopyNextChange will return the current value */
    unsigned evaluations, deliveries; /* counters for GetDescription */
    struct target_hop hop;
    struct network_path *network; /* that was reported last; NULL: not scheduled */
    struct schedule *schedule;    /* NULL: not scheduled */
    struct callback callback;
};

#define PUBLISHED_SCHEDULED (UINT64_C(1) << 32)
#define PUBLISHED_DUE       (UINT64_C(1) << 33) /* no callback has reported the current value yet */
#define PUBLISHED_READ      (UINT64_C(1) << 34) /* GetFlags has returned the value; only with PUBLISHED_DUE */

enum { MODE_DEFAULT, MODE_COMMON, MODES };

/* A target on a loop. The target holds a reference, and so does the loop's queue in which the member is. A schedule
 * holds the target's memory and the loop; that of the target also holds the target. It is an object of its own, as a
 * monitor can still call it after Unschedule and another Schedule. */
struct schedule {
    struct member member; /* of the loop; its job delivers. Its count is that of the schedule */
    struct SCNetworkReachability *target;
    SCRunLoopRef loop;                /* with a scheduler: the library thread's */
    struct scheduler *scheduler;      /* NULL: callbacks come on the loop */
    struct library_thread *thread;    /* NULL: no scheduler */
    unsigned times[MODES];            /* how often a user scheduled it; under the target's lock, like the next one */
    struct path_watch watch;          /* in the loop's monitor; not if it follows the default path */
    struct network_user network_user; /* if the target needs look-ups, or reports the network: never both */
};

/* ---- target.c --------------------------------------------------------------------------------------------------- */

/* Returns NULL and sets SCError() if it fails. */
struct SCNetworkReachability *reach_target_create(const struct target_spec *spec);

static inline void target_retain(struct SCNetworkReachability *target)
{
    atomic_fetch_add_explicit(&target->references, 1, memory_order_relaxed);
}

/* The last reference runs the user's hook. */
void reach_target_release(struct SCNetworkReachability *target);

/* The current questions, with a reference. */
struct questions *reach_target_retain_questions(struct SCNetworkReachability *target);

static inline void target_lock(struct SCNetworkReachability *target)
{
    pthread_mutex_lock(&target->lock);
}

static inline void target_unlock(struct SCNetworkReachability *target)
{
    pthread_mutex_unlock(&target->lock);
}

/* Returns true in a child that was forked after the target was created. The child must not take the target's lock:
 * another thread of the parent may have held it. A hook or callback can fork, so check after calling one. */
static inline bool target_is_inherited(const struct SCNetworkReachability *target)
{
    return !process_is_in_era(target->era);
}

/* Sets SCError() for a caller's pointer that is no target of this process. */
void reach_target_refuse(SCNetworkReachabilityRef target);

/* Returns true if a caller's pointer is a target that this process created. Else sets SCError(). */
static inline bool target_check(SCNetworkReachabilityRef target, struct SCNetworkReachability **ret)
{
    if (!object_is(target, OBJECT_TARGET) || target_is_inherited(target)) {
        reach_target_refuse(target);
        return false;
    }
    *ret = (struct SCNetworkReachability *)(uintptr_t)target;
    return true;
}

/* ---- delivery.c: when a callback is due, and where it is made ---------------------------------------------------- */

/* Returns true if the current value was not delivered yet, or if a delivery is owed. */
bool reach_delivery_is_due_locked(const struct SCNetworkReachability *target);

/* Sets the result of an evaluation. Publishes it for GetFlags, as the two functions below do. */
void reach_delivery_set_current_locked(struct schedule *schedule, const struct path *path);

/* The program has the current value. */
void reach_delivery_set_delivered_locked(struct SCNetworkReachability *target);

/* A delivery must come, even if nothing changes. */
void reach_delivery_set_owed_locked(struct SCNetworkReachability *target);

/* A call has returned this path to the program, so only a difference from it makes a callback: also after a schedule
 * that comes later. `extras`: QUERY_FLOW, QUERY_NEXT_HOP, or both: what the first evaluation of a schedule does not
 * read. */
void reach_delivery_settle(struct SCNetworkReachability *target, unsigned extras, const struct path *path);

/* Queues a check on the schedule's loop: it delivers if a delivery is due by then. */
void reach_delivery_queue_locked(struct schedule *schedule);

/* These get what a Get call returns. If no callback has reported it yet, one must come, even if the value changes back
 * first. Otherwise a program that relies on callbacks keeps an old value. */

/* The target has details. */
void reach_delivery_read_path_locked(struct SCNetworkReachability *target, struct path *ret);

/* Takes no lock: another thread can hold the target's for long. Returns false if the target is not scheduled. */
static inline bool delivery_read_flags(struct SCNetworkReachability *target, SCNetworkReachabilityFlags *ret)
{
    uint64_t published = atomic_load_explicit(&target->published, memory_order_acquire);

    while ((published & (PUBLISHED_DUE | PUBLISHED_READ)) == PUBLISHED_DUE &&
           !atomic_compare_exchange_weak(&target->published, &published, published | PUBLISHED_READ))
        continue;
    if ((published & PUBLISHED_SCHEDULED) == 0)
        return false;
    *ret = (SCNetworkReachabilityFlags)published;
    return true;
}

/* The fast path: returns false if the target is not scheduled, or a delivery is due. */
static inline bool delivery_read_reported_flags(const struct SCNetworkReachability *target,
                                                SCNetworkReachabilityFlags *ret)
{
    const uint64_t published = atomic_load_explicit(&target->published, memory_order_acquire);

    if ((published & (PUBLISHED_SCHEDULED | PUBLISHED_DUE)) != PUBLISHED_SCHEDULED)
        return false;
    *ret = (SCNetworkReachabilityFlags)published;
    return true;
}

/* The functions of a schedule's job, scheduler (`owner`: schedule->member.counted) and watch. */
bool reach_delivery_run_job(struct member *member);
void reach_delivery_run_work(struct counted *owner);
void reach_delivery_prefetch(const struct path_watch *watch);
bool reach_delivery_accept_path(struct path_watch *watch, const struct path *path);

/* The same for a pending name that follows the default path. */
void reach_delivery_follow_path(struct schedule *schedule, const struct path *path);

/* ---- name.c: when the name of a target is looked up, and what the result changes --------------------------------- */

/* Looks the name up from now on: the target is scheduled. */
void reach_name_start_lookups_locked(struct SCNetworkReachability *target);

/* Stops the look-ups: the target is not scheduled any more. Ignores a late result, and forgets the addresses. */
void reach_name_stop_lookups_locked(struct SCNetworkReachability *target);

/* Looks the name up again. `changed`: because a result may differ now, not because time has passed. */
void reach_name_repeat_lookup_locked(struct SCNetworkReachability *target, bool changed);

/* ---- network.c: the network paths of targets with notify_network ------------------------------------------------- */

/* Begins to watch, until reach_network_service_leave. Returns 0 or an errno. */
int reach_network_join_locked(struct schedule *schedule);

/* ---- getters.c -------------------------------------------------------------------------------------------------- */

/* Evaluates the target now, through its namespace's shared socket. `extras`: query_extras. Returns 0 or an errno. */
int reach_getters_evaluate(struct SCNetworkReachability *target, unsigned extras, struct path *ret);

/* Checks the `size` of a caller's structure. Returns false and sets SCError() if it is invalid. */
bool reach_getters_check_size(const SCNetworkReachabilityPath *path);

/* Checks it, and reads a caller's path: what a callback with NotifyPath reports, and what a text says. */
bool reach_getters_read_path(const SCNetworkReachabilityPath *path, struct path *ret);

/* Writes a path into a caller's structure, which may be larger. */
void reach_getters_write_path(const SCNetworkReachabilityPath *path, SCNetworkReachabilityPath *ret);

/* The largest `size` of a public structure. More means that the caller never set it. */
#define STRUCTURE_SIZE_LIMIT 4096

#endif
