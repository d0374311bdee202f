/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_TARGET_H
#define REACHABILITY_TARGET_H

/* The structure of a target, for the files of this folder. */

#include <pthread.h>

#include "api/callback.h"
#include "base/counted.h"
#include "base/list.h"
#include "base/object.h"
#include "base/part.h"
#include "base/process.h"
#include "names/lookup.h"
#include "route/network_path.h"
#include "watch/monitor.h"

enum target_kind { TARGET_ADDRESS, TARGET_PAIR, TARGET_NAME, TARGET_DEFAULT };

struct SCNetworkReachability {
    uint32_t type;          /* must be first: object_is reads it */
    unsigned era;           /* process_era() at creation */
    atomic_uint references; /* of users, active schedules and a delivery; the last one ends the target */
    uint8_t kind;           /* enum target_kind; constant */
    struct address address; /* of a plain target: its only question is question_of_address */

    /* PUBLISHED_... and, in the low 32 bits, the flags. GetFlags of a scheduled target uses nothing else. 0: not
     * scheduled. */
    _Atomic uint64_t published;

    /* NULL: the target is plain, and no call has needed a state. A program can have many such targets, so
     * target_require_state makes the state for the first callback or schedule. It is freed with the target. */
    struct target_state *_Atomic state;

    struct counted memory; /* a reference for all of `references`, and one of each struct schedule */
    struct netns *netns;
};

/* What a target needs to report changes. Under `lock`, unless a comment says otherwise. */
struct target_state {
    /* An evaluation uses these, which is why they are together. */
    pthread_mutex_t lock;             /* taken before a loop's lock, never held while user code runs */
    struct outcome current;           /* of the last evaluation */
    struct outcome delivered;         /* of the last callback, or of the last fetch by SCRunLoopCopyNextChange */
    bool owed;                        /* a delivery must come, even if nothing changed */
    bool owed_next;                   /* the next evaluation sets `owed` */
    bool is_delivering;               /* a callback is running */
    bool change_queued;               /* SCRunLoopCopyNextChange will return the current value, on one of the loops */
    bool has_parts;                   /* constant */
    unsigned evaluations, deliveries; /* counters for GetDescription */

    struct schedule *schedules; /* the first; NULL: not scheduled */
    struct callback callback;
};

/* What only some targets have. In the memory that follows their state. Constant, from the Create call. */
struct target_parts {
    struct questions *initial;      /* of a name until it is resolved: one, about the default path. NULL: plain */
    const char *name;               /* NULL: not a TARGET_NAME */
    struct lookups *lookups;        /* NULL: no name, or localhost */
    struct details *details;        /* NULL: the target reports no details (option NotifyPath) */
    bool reports_flow;              /* a change of the path's flow makes a callback */
    struct target_hop *hop;         /* NULL: the target does not report the next hop (option NotifyNextHop) */
    struct target_network *network; /* NULL: the target does not report the network (option NotifyNetwork) */
};

extern const struct target_parts target_no_parts;

static inline const struct target_parts *state_parts(const struct target_state *state)
{
    return state->has_parts ? part_after(state, sizeof *state) : &target_no_parts;
}

/* The look-ups of a target's name. Under the target's lock. */
struct lookups {
    struct SCNetworkReachability *target;
    struct questions *questions; /* the current ones */
    struct lookup_waiter waiter;
    bool running;
    bool outdated;       /* something changed while it was running: repeat it */
    bool failure_hidden; /* the last result was a failure that is not reported */
    bool doubted;        /* the last look-up failed, or was slow */
    int64_t retry_delay;
    int64_t next; /* when, by clock_now(); NEVER: when the current one ends */
};

/* The paths of which `current` and `delivered` are a part. Under the target's lock. */
struct details {
    struct path current, delivered;
};

/* The next hop of `current`. Under the target's lock. */
struct target_hop {
    struct address address;
    uint32_t index;
    bool failed, delivered; /* has it failed: now, and by the last callback */
    bool settled;           /* the first pass has read it: the first evaluation of a schedule does not */
    bool returned;          /* a call has returned it before that: `delivered` is what it returned */
};

/* The network path that was reported last. Under the target's lock. */
struct target_network {
    struct network_path *path; /* NULL: not scheduled */
    bool told;                 /* a loop's monitor has reported it: another one need not do it again */
};

#define PUBLISHED_SCHEDULED (UINT64_C(1) << 32)
#define PUBLISHED_DUE       (UINT64_C(1) << 33) /* no callback has reported the current value yet */
#define PUBLISHED_READ      (UINT64_C(1) << 34) /* GetFlags has returned the value; only with PUBLISHED_DUE */

#define TARGET_SPEC_QUESTIONS 2 /* localhost has two addresses */

/* What the arguments of a Create call mean. */
struct target_spec {
    enum target_kind kind;
    const char *name; /* NULL: not a TARGET_NAME */
    uint8_t family;   /* of the addresses; AF_UNSPEC: a name, whose addresses can be of both */
    struct question questions[TARGET_SPEC_QUESTIONS];
    size_t count; /* of questions */
    bool needs_lookup, notify_path, notify_network, notify_next_hop, reports_flow;
    struct netns *netns; /* NULL: that of the calling thread */
};

/* Returns NULL and sets SCError() if it fails. */
struct SCNetworkReachability *target_create(const struct target_spec *spec);

static inline void target_retain(struct SCNetworkReachability *target)
{
    atomic_fetch_add_explicit(&target->references, 1, memory_order_relaxed);
}

/* The last reference runs the user's hook. */
void target_release(struct SCNetworkReachability *target);

/* The state of a target; NULL: none yet. Under the lock, target->state is enough: there is one then. */
static inline struct target_state *target_state(const struct SCNetworkReachability *target)
{
    return atomic_load_explicit(&target->state, memory_order_acquire);
}

/* Returns the state of a target, and makes it if there is none. NULL: no memory. */
struct target_state *target_require_state(struct SCNetworkReachability *target);

/* The parts of a target with or without a state. */
const struct target_parts *target_parts(const struct SCNetworkReachability *target);

/* Returns the questions of the Create call. Those of a plain target are made in `memory`. */
struct questions *target_initial_questions(const struct SCNetworkReachability *target, struct question_memory *memory);

/* The same for the current questions, with a reference. */
struct questions *target_retain_questions(struct SCNetworkReachability *target, struct question_memory *memory);

/* The current questions, under the lock. NULL: plain. */
static inline struct questions *state_questions_locked(const struct target_state *state)
{
    const struct target_parts *parts = state_parts(state);

    return parts->lookups != NULL ? parts->lookups->questions : parts->initial;
}

static inline void target_lock(struct SCNetworkReachability *target)
{
    pthread_mutex_lock(&target_state(target)->lock);
}

static inline void target_unlock(struct SCNetworkReachability *target)
{
    pthread_mutex_unlock(&target_state(target)->lock);
}

/* Returns true in a child that was forked after the target was created. The child must not take the target's lock:
 * another thread of the parent may have held it. A hook or callback can fork, so check after calling one. */
static inline bool target_is_inherited(const struct SCNetworkReachability *target)
{
    return !process_is_in_era(target->era);
}

/* Sets SCError() for a caller's pointer that is no target of this process. */
void target_refuse(SCNetworkReachabilityRef target);

/* Returns true if a caller's pointer is a target that this process created. Else sets SCError(). */
static inline bool target_check(SCNetworkReachabilityRef target, struct SCNetworkReachability **ret)
{
    if (!object_is(target, OBJECT_TARGET) || target_is_inherited(target)) {
        target_refuse(target);
        return false;
    }
    *ret = (struct SCNetworkReachability *)(uintptr_t)target;
    return true;
}

/* The largest `size` of a public structure. More means that the caller never set it. */
#define STRUCTURE_SIZE_LIMIT 4096

/* Whether a field is entirely within the first `size` bytes of a structure. */
#define STRUCTURE_HAS(type, field, size) (offsetof(type, field) + sizeof((type *)0)->field <= (size))

#endif
