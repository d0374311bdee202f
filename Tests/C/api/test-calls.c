/* SPDX-License-Identifier: MIT */
/*
 * Random calls on shared targets, loops and schedulers, from eight threads that start and end all the time, while the
 * network changes and the process forks. A model says what each call must return:
 *
 * Each thread remembers its own schedules: an unschedule of one of them succeeds, and one on a fresh loop fails.
 * At most one thread can have a target on a scheduler. The flags are those of one of the states of the network.
 * Callbacks of one target never overlap. A context is not used after its release, and is released in the end, like all
 * targets. After the last call, the last callback of each target has the right flags.
 *
 * TEST_CALLS: how many calls. TEST_SEED: the numbers of the threads' random choices; the order of the threads differs
 * from run to run.
 */
#include <sys/wait.h>

#include "support/names.h"
#include "support/queue.h"
#include "support/test.h"

#define CALLS      200000
#define THREADS    8
#define SUBJECTS   12   /* shared targets */
#define LOOPS      3    /* shared loops */
#define ENTRIES    8    /* schedules of one thread */
#define TIME_LIMIT 30   /* seconds */
#define LIFE       2000 /* calls of a thread, at most */

static unsigned long calls_wanted(void)
{
    const char *text = getenv("TEST_CALLS");

    if (text != NULL && atol(text) > 0)
        return (unsigned long)atol(text);
    if (unit_is_under("valgrind") || unit_is_under("helgrind"))
        return CALLS / 100;
    return unit_is_under(NULL) ? CALLS / 10 : CALLS;
}

/* ---- The model --------------------------------------------------------------------------------------------------- */

static const struct kind {
    const char *address, *name;
    uint32_t options;
    bool on_scheduler; /* targets of this kind are never on a loop */
    size_t addresses;  /* GetResolvedAddresses; a name may have none yet */
} kinds[] = {
    { .address = "198.51.100.7", .addresses = 1 },
    { .address = "2001:db8:1::7", .addresses = 1 },
    { .address = "0.0.0.0" },
    { .address = "198.51.100.8", .options = kSCNetworkReachabilityOptionNotifyPath, .addresses = 1 },
    { .address = "0.0.0.0", .options = kSCNetworkReachabilityOptionNotifyNetwork },
    { .name = "name.test", .addresses = 1 },
    { .name = "localhost", .addresses = 2 },
    { .address = "198.51.100.9", .on_scheduler = true, .addresses = 1 },
    { .name = "name.test", .on_scheduler = true, .addresses = 1 },
};
#define KINDS (sizeof kinds / sizeof kinds[0])

/* A target and what is known about it. */
struct subject {
    SCNetworkReachabilityRef target;
    const struct kind *kind;
    atomic_int references; /* of slots, threads and contexts */
    atomic_int inside;     /* callbacks that run now */
    atomic_bool posted;    /* a thread has put it on a scheduler */
    atomic_bool called;
    _Atomic(SCNetworkReachabilityFlags) last; /* of the last callback */
};

/* A callback's context. */
#define ALIVE 0x616c6976u
struct info {
    atomic_uint alive;
    atomic_int references;
    struct subject *subject;
};

/* A schedule that a thread has made. `loop` NULL: on the scheduler. */
struct entry {
    struct subject *subject;
    SCRunLoopRef loop;
    SCRunLoopMode mode;
};

struct worker {
    pthread_t manager;
    unsigned random;
    unsigned long calls; /* left */
    unsigned life;       /* calls left of the thread */
    bool in_callback;
    struct entry entries[ENTRIES];
    size_t count;
    struct entry own[ENTRIES]; /* on the thread's own loop */
    size_t own_count;
};

static struct {
    struct subject *slots[SUBJECTS];
    pthread_mutex_t slots_lock;
    SCRunLoopRef loops[LOOPS];
    struct queue pool, handed; /* one with threads, one that the workers run */
    struct writer writer;
    pthread_mutex_t writer_lock;
    bool has_default;
    struct worker workers[THREADS];
    atomic_int subjects, infos; /* that exist */
    atomic_ulong callbacks, threads, children;
} shared;

static _Thread_local struct worker *worker_here;

static const struct writer_route defaults[] = { { .prefix = "0.0.0.0/0", .gateway = "192.0.2.1" },
                                                { .prefix = "::/0", .gateway = "2001:db8::1" } };

static unsigned draw(unsigned below)
{
    return (unsigned)rand_r(&worker_here->random) % below;
}

/* The flags that a state of the network can give. An unresolved name has those of the default path. */
static void check_flags(const struct subject *subject, SCNetworkReachabilityFlags flags)
{
    const bool is_localhost = subject->kind->name != NULL && subject->kind->addresses == 2;

    unit_complain_if(is_localhost ? flags != (R | L | D) : flags != 0 && flags != R, "flags that no state gives");
}

/* ---- Subjects ---------------------------------------------------------------------------------------------------- */

static SCNetworkReachabilityRef make_target(const struct kind *kind)
{
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
    struct sockaddr_storage address;

    options.options = kind->options;
    options.nodename = kind->name;
    if (kind->address != NULL) {
        address = expect_sockaddr(kind->address);
        options.remoteAddress = (const struct sockaddr *)&address;
    }
    return SCNetworkReachabilityCreateWithOptions(NULL, &options);
}

static struct subject *make_subject(const struct kind *kind)
{
    struct subject *subject = calloc(1, sizeof *subject);

    if (subject == NULL)
        abort();
    subject->target = make_target(kind);
    unit_complain_if(subject->target == NULL, "a target could not be created");
    subject->kind = kind;
    atomic_store(&subject->references, 1);
    atomic_fetch_add(&shared.subjects, 1);
    return subject;
}

static void release_subject(struct subject *subject)
{
    if (atomic_fetch_sub(&subject->references, 1) != 1)
        return;
    unit_complain_if(atomic_load(&subject->inside) != 0, "a target is freed in its callback");
    atomic_fetch_sub(&shared.subjects, 1);
    free(subject);
}

static struct subject *retain_subject(struct subject *subject)
{
    atomic_fetch_add(&subject->references, 1);
    unit_complain_if(SCNetworkReachabilityRetain(subject->target) != subject->target, "Retain returned another target");
    return subject;
}

/* Drops a reference to both. */
static void drop_subject(struct subject *subject)
{
    SCNetworkReachabilityRelease(subject->target);
    release_subject(subject);
}

/* Returns a shared target with a reference. */
static struct subject *pick_subject(void)
{
    pthread_mutex_lock(&shared.slots_lock);
    struct subject *subject = retain_subject(shared.slots[draw(SUBJECTS)]);
    pthread_mutex_unlock(&shared.slots_lock);
    return subject;
}

static void replace_subject(void)
{
    const unsigned place = draw(SUBJECTS);
    struct subject *fresh = make_subject(&kinds[place % KINDS]), *old;

    pthread_mutex_lock(&shared.slots_lock);
    old = shared.slots[place];
    shared.slots[place] = fresh;
    pthread_mutex_unlock(&shared.slots_lock);
    drop_subject(old);
}

/* ---- Callbacks --------------------------------------------------------------------------------------------------- */

static const void *retain_info(const void *pointer)
{
    struct info *info = (struct info *)(uintptr_t)pointer;

    unit_complain_if(atomic_load(&info->alive) != ALIVE, "a context is retained after its release");
    atomic_fetch_add(&info->references, 1);
    return info;
}

static void release_info(const void *pointer)
{
    struct info *info = (struct info *)(uintptr_t)pointer;

    if (atomic_fetch_sub(&info->references, 1) != 1)
        return;
    unit_complain_if(atomic_exchange(&info->alive, 0) != ALIVE, "a context is released twice");
    release_subject(info->subject);
    atomic_fetch_sub(&shared.infos, 1);
    free(info);
}

static void called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *pointer);

/* Without the retain hook the library takes over the only reference. */
static void set_callback(struct subject *subject, bool with_retain)
{
    SCNetworkReachabilityContext context = { .retain = with_retain ? retain_info : NULL, .release = release_info };
    struct info *info = calloc(1, sizeof *info);

    if (info == NULL)
        abort();
    atomic_store(&info->alive, ALIVE);
    atomic_store(&info->references, 1);
    atomic_fetch_add(&shared.infos, 1);
    atomic_fetch_add(&subject->references, 1);
    info->subject = subject;
    context.info = info;
    unit_complain_if(!SCNetworkReachabilitySetCallback(subject->target, called, &context), "SetCallback failed");
    if (with_retain)
        release_info(info);
}

static void get_flags(const struct subject *subject)
{
    SCNetworkReachabilityFlags flags = 77;

    unit_complain_if(!SCNetworkReachabilityGetFlags(subject->target, &flags), "GetFlags failed");
    check_flags(subject, flags);
}

/* Calls that a callback may make. */
static void act_in_callback(struct subject *subject)
{
    switch (draw(12)) {
    case 0:
        unit_complain_if(!SCNetworkReachabilitySetCallback(subject->target, NULL, NULL), "SetCallback(NULL) failed");
        break;
    case 1:
        set_callback(subject, true);
        break;
    case 2:
        SCNetworkReachabilityRelease(SCNetworkReachabilityRetain(subject->target));
        break;
    default:
        get_flags(subject);
    }
}

static void called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *pointer)
{
    struct info *info = pointer;
    struct subject *subject = info->subject;

    unit_complain_if(atomic_load(&info->alive) != ALIVE, "a callback has a released context");
    unit_complain_if(target != subject->target, "a callback has the context of another target");
    unit_complain_if(atomic_fetch_add(&subject->inside, 1) != 0, "two callbacks of a target overlap");
    check_flags(subject, flags);
    atomic_store(&subject->last, flags);
    atomic_store(&subject->called, true);
    atomic_fetch_add(&shared.callbacks, 1);
    if (worker_here != NULL)
        act_in_callback(subject);
    atomic_fetch_sub(&subject->inside, 1);
}

/* ---- Calls on targets -------------------------------------------------------------------------------------------- */

static void get_path(struct subject *subject)
{
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;
    const bool last = draw(2) == 0;

    unit_complain_if(!(last ? SCNetworkReachabilityGetLastPath : SCNetworkReachabilityGetPath)(subject->target, &path),
                     "GetPath failed");
    check_flags(subject, path.flags);
}

static void get_text_and_addresses(struct subject *subject)
{
    static const char start[] = "<SCNetworkReachability";
    struct sockaddr_storage addresses[3];
    char text[1024];
    const size_t length = SCNetworkReachabilityGetDescription(subject->target, text, sizeof text),
                 count = SCNetworkReachabilityGetResolvedAddresses(subject->target, addresses, 3);

    unit_complain_if(length == 0 || memcmp(text, start, sizeof start - 1) != 0, "another description");
    unit_complain_if(count != subject->kind->addresses && (subject->kind->name == NULL || count != 0),
                     "another number of addresses");
}

static void change_callback(struct subject *subject)
{
    if (draw(4) == 0)
        unit_complain_if(!SCNetworkReachabilitySetCallback(subject->target, NULL, NULL), "SetCallback(NULL) failed");
    else
        set_callback(subject, draw(3) != 0);
}

static void expect_invalid(SCBoolean result, const char *what)
{
    unit_complain_if(result || SCError() != kSCStatusInvalidArgument, what);
}

static void get_network(struct subject *subject)
{
    const bool can = subject->kind->options == kSCNetworkReachabilityOptionNotifyNetwork;
    SCNetworkReachabilityNetwork network = kSCNetworkReachabilityNetworkInitializer;
    SCNetworkReachabilityUplink uplink;

    if (!can) {
        expect_invalid(SCNetworkReachabilityGetNetwork(subject->target, &network, &uplink, sizeof uplink, 1),
                       "GetNetwork of another target");
        return;
    }
    unit_complain_if(!SCNetworkReachabilityGetNetwork(subject->target, &network, &uplink, sizeof uplink, 1),
                     "GetNetwork failed");
    unit_complain_if(network.uplinkCount > 0 && uplink.interfaceName[0] == '\0', "an uplink without a name");
}

static void call_badly(struct subject *subject)
{
    SCNetworkReachabilityPath path = { .size = 1 };

    expect_invalid(SCNetworkReachabilityGetFlags(NULL, NULL), "GetFlags of no target");
    expect_invalid(SCNetworkReachabilityGetFlags((SCNetworkReachabilityRef)(void *)shared.loops[0], NULL),
                   "GetFlags of a loop");
    expect_invalid(SCNetworkReachabilityGetPath(subject->target, &path), "GetPath with a short structure");
    expect_invalid(SCNetworkReachabilityScheduleWithRunLoop(subject->target, shared.loops[0], "mode"), "another mode");
    expect_invalid(SCNetworkReachabilityScheduleWithRunLoop(subject->target, NULL, kSCRunLoopDefaultMode), "no loop");
    if (!subject->kind->on_scheduler)
        expect_invalid(SCNetworkReachabilitySetScheduler(subject->target, NULL), "no scheduler to end");
}

/* ---- Schedules --------------------------------------------------------------------------------------------------- */

/* Takes over the reference. */
static void remember(struct entry *entries, size_t *count, struct subject *subject, SCRunLoopRef loop,
                     SCRunLoopMode mode)
{
    entries[(*count)++] = (struct entry){ subject, loop, mode };
}

/* Only the thread that sets `posted` tries, so it succeeds. Takes over the reference if it does. */
static bool post_to_scheduler(struct subject *subject)
{
    const SCNetworkReachabilityScheduler at_once = { .perform = perform_at_once },
                                         schedulers[] = { queue_scheduler(&shared.pool),
                                                          queue_scheduler(&shared.handed), at_once };
    const SCNetworkReachabilityScheduler *scheduler = &schedulers[draw(3)];

    if (atomic_exchange(&subject->posted, true))
        return false; /* the other thread may be in the middle of its call */
    unit_complain_if(!SCNetworkReachabilitySetScheduler(subject->target, scheduler), "SetScheduler failed");
    expect_invalid(SCNetworkReachabilitySetScheduler(subject->target, scheduler), "a second scheduler");
    expect_invalid(SCNetworkReachabilityScheduleWithRunLoop(subject->target, shared.loops[0], kSCRunLoopDefaultMode),
                   "a loop besides a scheduler");
    remember(worker_here->entries, &worker_here->count, subject, NULL, NULL);
    return true;
}

/* A target can be on one loop at a time, which another thread may have chosen. */
static bool schedule_or_be_refused(struct subject *subject, SCRunLoopRef loop, SCRunLoopMode mode)
{
    if (SCNetworkReachabilityScheduleWithRunLoop(subject->target, loop, mode))
        return true;
    unit_complain_if(SCError() != kSCStatusInvalidArgument, "Schedule failed");
    return false;
}

static bool schedule_on_loop(struct subject *subject)
{
    const SCRunLoopRef loop = shared.loops[draw(4) == 0 ? draw(LOOPS) : (uintptr_t)subject / 64 % LOOPS];
    const SCRunLoopMode mode = draw(2) == 0 ? kSCRunLoopDefaultMode : kSCRunLoopCommonModes;

    if (!schedule_or_be_refused(subject, loop, mode))
        return false;
    remember(worker_here->entries, &worker_here->count, subject, loop, mode);
    return true;
}

/* Returns whether the schedule keeps the reference. */
static bool schedule(struct subject *subject)
{
    if (worker_here->count == ENTRIES)
        return false;
    return subject->kind->on_scheduler ? post_to_scheduler(subject) : schedule_on_loop(subject);
}

static void end_entry(const struct entry *entry)
{
    struct subject *subject = entry->subject;

    if (entry->loop != NULL) {
        unit_complain_if(!SCNetworkReachabilityUnscheduleFromRunLoop(subject->target, entry->loop, entry->mode),
                         "Unschedule failed");
    } else {
        unit_complain_if(!SCNetworkReachabilitySetScheduler(subject->target, NULL), "SetScheduler(NULL) failed");
        atomic_store(&subject->posted, false);
    }
    drop_subject(subject);
}

static void unschedule_one(struct worker *worker)
{
    if (worker->count == 0)
        return;
    struct entry entry = worker->entries[--worker->count];
    end_entry(&entry);
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

static void perform(SCRunLoopRef loop)
{
    const int result = SCRunLoopPerform(loop, draw(4) == 0 ? 0.0001 : 0);

    unit_complain_if(result < 0 && SCError() != EBUSY, "Perform failed");
}

static void fetch(SCRunLoopRef loop)
{
    SCNetworkReachabilityFlags flags = 0;

    SCNetworkReachabilityRelease(SCRunLoopCopyNextChange(loop, &flags));
    unit_complain_if((flags & ~(SCNetworkReachabilityFlags)(R | L | D)) != 0, "a change with other flags");
}

static void use_shared_loop(void)
{
    const SCRunLoopRef loop = shared.loops[draw(LOOPS)];

    switch (draw(8)) {
    case 0:
        SCRunLoopWakeUp(loop);
        break;
    case 1:
        SCRunLoopStop(loop);
        break;
    case 2:
        unit_complain_if(SCRunLoopGetFileDescriptor(loop) < 0, "a loop without a descriptor");
        break;
    case 3:
        SCRunLoopRelease(SCRunLoopRetain(loop));
        break;
    case 4:
        fetch(loop);
        break;
    default:
        perform(loop);
    }
}

/* The loop lives shorter than its target, or longer. */
static void use_fresh_loop(struct subject *subject)
{
    const SCRunLoopRef loop = SCRunLoopCreate();

    unit_complain_if(loop == NULL, "a loop could not be created");
    expect_invalid(SCNetworkReachabilityUnscheduleFromRunLoop(subject->target, loop, kSCRunLoopDefaultMode),
                   "Unschedule without a schedule");
    if (subject->kind->on_scheduler || !schedule_or_be_refused(subject, loop, kSCRunLoopDefaultMode)) {
        SCRunLoopRelease(loop);
        return;
    }
    SCRunLoopRelease(loop); /* the schedule keeps it */
    perform(loop);
    expect_invalid(SCNetworkReachabilityUnscheduleFromRunLoop(subject->target, loop, kSCRunLoopCommonModes),
                   "Unschedule in another mode");
    unit_complain_if(!SCNetworkReachabilityUnscheduleFromRunLoop(subject->target, loop, kSCRunLoopDefaultMode),
                     "Unschedule from a fresh loop failed");
}

/* Returns whether the schedule keeps the reference. The end of the thread ends it. */
static bool schedule_on_own_loop(struct subject *subject)
{
    const SCRunLoopRef loop = SCRunLoopGetCurrent();

    if (worker_here->own_count == ENTRIES || subject->kind->on_scheduler)
        return false;
    unit_complain_if(loop == NULL || loop != SCRunLoopGetCurrent(), "no loop of the thread's own");
    if (!schedule_or_be_refused(subject, loop, kSCRunLoopDefaultMode))
        return false;
    remember(worker_here->own, &worker_here->own_count, subject, loop, kSCRunLoopDefaultMode);
    return true;
}

static void run_own_loop(void)
{
    SCRunLoopRunResult result = SCRunLoopRunInMode(kSCRunLoopDefaultMode, 0, draw(2) == 0);
    unit_complain_if(worker_here->own_count == 0
                         ? result != kSCRunLoopRunFinished
                         : result != kSCRunLoopRunTimedOut && result != kSCRunLoopRunHandledSource,
                     "another result of a run");
}

/* ---- Everything else --------------------------------------------------------------------------------------------- */

static void change_network(void)
{
    pthread_mutex_lock(&shared.writer_lock);
    for (size_t i = 0; i < 2; i++)
        unit_complain_if(writer_route(&shared.writer, shared.has_default ? WRITER_DELETE : WRITER_ADD, &defaults[i]) !=
                             0,
                         "a default route could not be changed");
    shared.has_default = !shared.has_default;
    pthread_mutex_unlock(&shared.writer_lock);
}

static void use_in_child(const struct subject *subject)
{
    SCNetworkReachabilityFlags flags = 77;

    assert_false(SCNetworkReachabilityGetFlags(subject->target, &flags));
    assert_int_equal(SCError(), ECHILD);
    assert_int_equal(SCRunLoopPerform(shared.loops[0], 0), -1);
    assert_int_equal(SCError(), ECHILD);
    SCNetworkReachabilityRelease(SCNetworkReachabilityRetain(subject->target));
    SCOPED_TARGET fresh = expect_target("198.51.100.7");
    flags = expect_flags_of(fresh);
    assert_true(flags == 0 || flags == R);
}

/* The sanitizers and helgrind cannot follow a child that was forked while other threads ran. There the child ends at
 * once, and only the parent counts. */
static void fork_and_end(void)
{
    const pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    unit_complain_if(pid < 0, "fork failed");
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static void fork_and_use(const struct subject *subject)
{
    atomic_fetch_add(&shared.children, 1);
    if (unit_is_under(NULL)) {
        fork_and_end();
        return;
    }
    if (child_begin()) {
        use_in_child(subject);
        child_end();
    }
}

/* Runs work that was handed over, some of it twice. */
static void run_handed_work(void)
{
    struct queue_work work;

    if (!queue_take(&shared.handed, &work))
        return;
    work.run(work.argument);
}

/* Returns whether the reference was taken over. */
static bool act(struct subject *subject)
{
    switch (draw(20)) {
    case 0:
    case 1:
        return schedule(subject);
    case 2:
        unschedule_one(worker_here);
        return false;
    case 3:
        return schedule_on_own_loop(subject);
    case 4:
    case 5:
        change_callback(subject);
        return false;
    case 6:
        if (draw(2) == 0)
            get_path(subject);
        else
            get_network(subject);
        return false;
    case 7:
        get_text_and_addresses(subject);
        return false;
    case 8:
        call_badly(subject);
        return false;
    case 9:
        use_fresh_loop(subject);
        return false;
    case 10:
        if (draw(20) == 0)
            fork_and_use(subject);
        return false;
    default:
        get_flags(subject);
        return false;
    }
}

/* One call, or a few that belong together. */
static void act_once(void)
{
    struct subject *subject;

    switch (draw(10)) {
    case 0:
    case 1:
    case 2:
        use_shared_loop();
        return;
    case 3:
        run_own_loop();
        return;
    case 4:
        run_handed_work();
        return;
    case 5:
        if (draw(10) == 0)
            change_network();
        else if (draw(10) == 0)
            replace_subject();
        else
            unschedule_one(worker_here);
        return;
    default:
        subject = pick_subject();
        if (!act(subject))
            drop_subject(subject);
    }
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static void *work_for_a_life(void *worker)
{
    worker_here = worker;
    for (worker_here->life = 1 + draw(LIFE);
         worker_here->life > 0 && worker_here->calls > 0 && unit_complaint() == NULL; worker_here->life--) {
        worker_here->calls--;
        act_once();
    }
    return NULL;
}

/* Starts one thread after the other. The end of a thread has unscheduled what was on its own loop. */
static void *manage(void *pointer)
{
    struct worker *worker = pointer;
    pthread_t thread;

    while (worker->calls > 0 && unit_complaint() == NULL) {
        if (pthread_create(&thread, NULL, work_for_a_life, worker) != 0)
            abort();
        atomic_fetch_add(&shared.threads, 1);
        pthread_join(thread, NULL);
        while (worker->own_count > 0)
            drop_subject(worker->own[--worker->own_count].subject);
    }
    return NULL;
}

static void start_workers(unsigned long calls, unsigned seed)
{
    for (unsigned i = 0; i < THREADS; i++) {
        shared.workers[i] = (struct worker){ .random = seed + i, .calls = calls / THREADS };
        assert_int_equal(pthread_create(&shared.workers[i].manager, NULL, manage, &shared.workers[i]), 0);
    }
}

static void join_workers(void)
{
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(shared.workers[i].manager, NULL);
}

/* ---- The test ---------------------------------------------------------------------------------------------------- */

static void begin(void)
{
    namespace_require();
    etc_require("192.0.2.53");
    etc_write(ETC_HOSTS, "198.51.100.7 name.test\n");
    namespace_ip("link set dev lo up");
    namespace_add_pair();
    memset(&shared, 0, sizeof shared);
    assert_int_equal(pthread_mutex_init(&shared.slots_lock, NULL), 0);
    assert_int_equal(pthread_mutex_init(&shared.writer_lock, NULL), 0);
    unit_check(writer_open(&shared.writer), "writer");
    queue_open(&shared.pool, 2);
    queue_open(&shared.handed, 0);
    for (size_t i = 0; i < LOOPS; i++)
        assert_non_null(shared.loops[i] = SCRunLoopCreate());
    for (size_t i = 0; i < SUBJECTS; i++)
        shared.slots[i] = make_subject(&kinds[i % KINDS]);
}

/* Handles everything that is due, on all loops. */
static void settle(void)
{
    for (size_t i = 0; i < LOOPS; i++) {
        while (idle_perform(shared.loops[i]) > 0)
            continue;
        for (SCNetworkReachabilityRef changed; (changed = SCRunLoopCopyNextChange(shared.loops[i], NULL)) != NULL;)
            SCNetworkReachabilityRelease(changed);
    }
    while (queue_run(&shared.handed))
        continue;
}

/* Settles until the target has these flags. A scheduler's target is evaluated on the library's thread. */
static void await_flags(struct subject *subject, SCNetworkReachabilityFlags flags)
{
    const double end = watcher_now() + time_limit_of(TIME_LIMIT);

    do {
        settle();
    } while (expect_flags_of(subject->target) != flags && watcher_now() < end);
    assert_int_equal(expect_flags_of(subject->target), flags);
}

/* Settles until the last callback of a target has these flags. */
static void await_last(struct subject *subject, SCNetworkReachabilityFlags flags)
{
    const double end = watcher_now() + time_limit_of(TIME_LIMIT);

    while ((!atomic_load(&subject->called) || atomic_load(&subject->last) != flags) && watcher_now() < end)
        settle();
    if (atomic_load(&subject->last) != flags)
        fail_msg("the last callback of %s has the flags 0x%x, not 0x%x",
                 subject->kind->name != NULL ? subject->kind->name : subject->kind->address,
                 (unsigned)atomic_load(&subject->last), (unsigned)flags);
}

static bool is_scheduled(const struct subject *subject)
{
    for (size_t i = 0; i < THREADS; i++)
        for (size_t j = 0; j < shared.workers[i].count; j++)
            if (shared.workers[i].entries[j].subject == subject)
                return true;
    return false;
}

/* Whether the target depends on the changes of the network, and has callbacks. */
static bool is_notified(const struct subject *subject)
{
    return is_scheduled(subject) && subject->kind->addresses != 2;
}

/* Removes the default routes and adds them again: each scheduled target calls back with the right flags. Two changes
 * that the library's thread sees as one cause no callback, so each target must have seen the first. */
static void expect_right_in_the_end(void)
{
    for (size_t i = 0; i < SUBJECTS; i++) {
        atomic_store(&shared.slots[i]->called, false);
        set_callback(shared.slots[i], true);
    }
    settle();
    if (shared.has_default)
        change_network();
    for (size_t i = 0; i < SUBJECTS; i++)
        if (is_notified(shared.slots[i]))
            await_flags(shared.slots[i], 0);
    change_network();
    for (size_t i = 0; i < SUBJECTS; i++)
        if (is_notified(shared.slots[i])) {
            await_flags(shared.slots[i], R);
            await_last(shared.slots[i], R);
        }
}

static void end_all(void)
{
    const double end = watcher_now() + time_limit_of(TIME_LIMIT);

    for (size_t i = 0; i < THREADS; i++)
        while (shared.workers[i].count > 0)
            unschedule_one(&shared.workers[i]);
    for (size_t i = 0; i < SUBJECTS; i++)
        drop_subject(shared.slots[i]);
    settle();
    for (size_t i = 0; i < LOOPS; i++)
        SCRunLoopRelease(shared.loops[i]);
    /* A delivery on another thread may still run. */
    while ((atomic_load(&shared.subjects) > 0 || atomic_load(&shared.infos) > 0) && watcher_now() < end)
        sched_yield();
    assert_int_equal(atomic_load(&shared.infos), 0);
    assert_int_equal(atomic_load(&shared.subjects), 0);
    queue_close(&shared.pool);
    queue_close(&shared.handed);
    writer_close(&shared.writer);
    names_await_no_thread();
}

TEST(random_calls_from_many_threads_follow_the_model)
{
    const unsigned long calls = calls_wanted();
    const char *text = getenv("TEST_SEED");
    const unsigned seed = text != NULL ? (unsigned)strtoul(text, NULL, 10) : (unsigned)time(NULL);
    const double began = watcher_now();

    start_workers(calls, seed);
    join_workers();
    print_message(
        "| %lu calls from %d threads at a time, %lu in all, with %lu callbacks and %lu children, %.0f calls a "
        "second, seed %u\n",
        calls, THREADS, atomic_load(&shared.threads), atomic_load(&shared.callbacks), atomic_load(&shared.children),
        (double)calls / (watcher_now() - began), seed);
    unit_expect_no_complaint();
    expect_right_in_the_end();
    end_all();
    unit_expect_no_complaint();
}

UNIT(.setup = begin)
