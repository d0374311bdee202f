/* SPDX-License-Identifier: MIT */
/*
 * fork(2): a child may use inherited objects and end in any way, and the parent still receives everything. The child
 * starts with nothing. In most tests the parent schedules a target in one of four ways, and forks between two changes.
 */
#include <malloc.h>
#include <semaphore.h>
#include <spawn.h>

#include "support/test.h"

extern char **environ;

#define TIME_LIMIT 30.0 /* seconds: an event that takes longer has failed */

static const char *program;            /* the path of this program, for exec */
static char at_start[DESCRIPTORS + 1]; /* the descriptors at the start of this program: '1' each */
static struct writer writer;
static unsigned link_a;
static struct descriptors before; /* open descriptors that do not belong to the library */

/* gcc's thread sanitizer cannot follow a child of a process that had several threads. */
static void require_threads(void)
{
    if (unit_is_under("tsan"))
        SKIP("the thread sanitizer cannot follow a fork among threads");
}

/* For a test in which another thread may run at the fork, not only wait. */
static void require_running_threads(void)
{
    require_threads();
    if (unit_is_under("asan"))
        SKIP("the address sanitizer's allocator, locked by another thread at a fork, stays so in the child");
}

static void begin(void)
{
    namespace_require_pair();
    link_a = writer_index("a");
    assert_int_equal(writer_open(&writer), 0);
    descriptors_read(&before);
}

static void finish(void)
{
    writer_close(&writer);
}

/* 198.51.NUMBER.0/24 */
static void change_route(struct writer *by, enum writer_action action, unsigned number)
{
    char prefix[32];
    struct writer_route route = { .prefix = prefix, .gateway = "192.0.2.1" };

    snprintf(prefix, sizeof prefix, "198.51.%u.0/24", number);
    assert_int_equal(writer_route(by, action, &route), 0);
}

static SCNetworkReachabilityRef target_behind(unsigned number)
{
    return expect_target(unit_text("198.51.%u.7", number));
}

/* ---- Receiving -------------------------------------------------------------------------------------------------- */

enum way {
    OWN_LOOP,     /* the calling thread's, with RunInMode */
    MADE_LOOP,    /* made for the test, driven by the caller */
    THREADS_LOOP, /* made for the test, driven by another thread */
    SCHEDULER,    /* its work is run by the caller */
    WAYS
};

/* The last way to test if another thread may run at the fork. That thread may hold the lock of the address sanitizer's
 * allocator, which then stays locked in the child. */
static enum way last_way(void)
{
    return unit_is_under("tsan") || unit_is_under("asan") ? MADE_LOOP : SCHEDULER;
}

struct receiver {
    enum way way;
    SCNetworkReachabilityRef target;
    SCRunLoopRef loop; /* NULL: a scheduler */
    pthread_t driver;
    atomic_bool done;
    sem_t called, handed;
    void (*work)(void *argument);
    void *argument;
    atomic_bool released;
    atomic_int calls;
    int expected_calls; /* how many of the calls the test has expected so far */
    _Atomic(SCNetworkReachabilityFlags) flags;

    /* The next callback, and the next perform, call these first. */
    void (*_Atomic inside)(struct receiver *receiver);
    void (*_Atomic performing)(struct receiver *receiver);
    /* The result of a fork there (0 in the child), and of the call that drove the loop. */
    _Atomic(pid_t) child;
    atomic_bool forked;
    int result, error;
};

static bool wait_for(sem_t *semaphore, double seconds)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += (long)((seconds - (double)(long)seconds) * 1e9);
    time.tv_sec += (long)seconds + time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    while (sem_timedwait(semaphore, &time) != 0)
        if (errno != EINTR)
            return false;
    return true;
}

static void called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct receiver *receiver = info;
    void (*inside)(struct receiver *) = atomic_exchange(&receiver->inside, NULL);

    (void)target;
    if (inside != NULL)
        inside(receiver);
    receiver->flags = flags;
    receiver->calls++;
    sem_post(&receiver->called);
}

/* A target has at most one pending work. */
static void perform(void *info, void (*work)(void *), void *argument)
{
    struct receiver *receiver = info;
    void (*performing)(struct receiver *) = atomic_exchange(&receiver->performing, NULL);

    if (performing != NULL)
        performing(receiver);
    receiver->work = work;
    receiver->argument = argument;
    sem_post(&receiver->handed);
}

static void note_release(const void *info)
{
    struct receiver *receiver = (struct receiver *)(uintptr_t)info;

    receiver->released = true;
    sem_post(&receiver->handed);
}

/* Check what a child can do with inherited objects, and that it starts with nothing. */
static void expect_inherited(struct receiver *receiver);
static void expect_fresh_start(unsigned number);

/* Ends a child that was forked inside a callback, after it has returned from the callback and from the call that drove
 * the loop. */
static void end_if_child(struct receiver *receiver)
{
    if (!receiver->forked || receiver->child != 0)
        return;
    switch (receiver->way) {
    case OWN_LOOP:
        assert_int_equal(receiver->result, -1);
        assert_int_equal(receiver->error, ECHILD);
        break;
    case SCHEDULER:
        break;
    default:
        assert_int_equal(receiver->result, 1);
    }
    expect_inherited(receiver);
    expect_fresh_start(60);
    child_end();
}

static void *drive(void *argument)
{
    struct receiver *receiver = argument;

    while (!receiver->done) {
        receiver->result = SCRunLoopPerform(receiver->loop, -1);
        end_if_child(receiver);
    }
    return NULL;
}

/* Takes over the reference to the target. The receiver stays where it is. */
static void receiver_open(struct receiver *receiver, enum way way, SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityScheduler scheduler = { .info = receiver, .release = note_release, .perform = perform };

    memset(receiver, 0, sizeof *receiver);
    receiver->way = way;
    receiver->target = target;
    sem_init(&receiver->called, 0, 0);
    sem_init(&receiver->handed, 0, 0);
    expect_callback_set(target, called, receiver);
    if (way == SCHEDULER) {
        if (!SCNetworkReachabilitySetScheduler(target, &scheduler))
            fail_msg("not on a scheduler: %s", SCErrorString(SCError()));
        return;
    }
    receiver->loop = way == OWN_LOOP ? SCRunLoopRetain(SCRunLoopGetCurrent()) : SCRunLoopCreate();
    assert_non_null(receiver->loop);
    if (!SCNetworkReachabilityScheduleWithRunLoop(target, receiver->loop, kSCRunLoopDefaultMode))
        fail_msg("not scheduled: %s", SCErrorString(SCError()));
    if (way == THREADS_LOOP)
        assert_int_equal(pthread_create(&receiver->driver, NULL, drive, receiver), 0);
    else
        assert_int_equal(SCRunLoopPerform(receiver->loop, 0), 0);
}

static void receiver_wait(struct receiver *receiver, double seconds)
{
    switch (receiver->way) {
    case OWN_LOOP:
        receiver->result = SCRunLoopRunInMode(kSCRunLoopDefaultMode, seconds, true);
        receiver->error = SCError();
        break;
    case MADE_LOOP:
        receiver->result = SCRunLoopPerform(receiver->loop, seconds);
        break;
    case THREADS_LOOP:
        wait_for(&receiver->called, seconds);
        break;
    default:
        if (wait_for(&receiver->handed, seconds))
            receiver->work(receiver->argument);
    }
    end_if_child(receiver);
}

#define EXPECT_CALLBACK(receiver, flags) expect_callback(receiver, flags, __LINE__)
static void expect_callback(struct receiver *receiver, SCNetworkReachabilityFlags flags, int line)
{
    const double end = watcher_now() + TIME_LIMIT;

    while (receiver->calls == receiver->expected_calls || receiver->flags != flags) {
        if (watcher_now() >= end)
            fail_msg("line %d: no callback with 0x%x in way %d; 0x%x after %d calls", line, (unsigned)flags,
                     (int)receiver->way, (unsigned)receiver->flags, receiver->calls);
        receiver_wait(receiver, end - watcher_now());
    }
    receiver->expected_calls = receiver->calls;
    assert_int_equal(expect_flags_of(receiver->target), flags);
}

static void receiver_close(struct receiver *receiver)
{
    if (receiver->way == SCHEDULER) {
        assert_true(SCNetworkReachabilitySetScheduler(receiver->target, NULL));
        while (wait_for(&receiver->handed, TIME_LIMIT) && !receiver->released)
            receiver->work(receiver->argument);
        assert_true(receiver->released);
    } else {
        assert_true(
            SCNetworkReachabilityUnscheduleFromRunLoop(receiver->target, receiver->loop, kSCRunLoopDefaultMode));
    }
    if (receiver->way == THREADS_LOOP) {
        receiver->done = true;
        SCRunLoopWakeUp(receiver->loop);
        pthread_join(receiver->driver, NULL);
    }
    SCNetworkReachabilityRelease(receiver->target);
    SCRunLoopRelease(receiver->loop);
    sem_destroy(&receiver->called);
    sem_destroy(&receiver->handed);
}

/* Its callback comes when a route is added and deleted. */
static void expect_callbacks(struct receiver *receiver, struct writer *by, unsigned number)
{
    change_route(by, WRITER_ADD, number);
    EXPECT_CALLBACK(receiver, R);
    change_route(by, WRITER_DELETE, number);
    EXPECT_CALLBACK(receiver, 0);
}

/* ---- What a child can do ---------------------------------------------------------------------------------------- */

/* The call sets SCError() to ECHILD. */
#define EXPECT_REFUSED(succeeded) \
    do { \
        SCNetworkReachabilityFlagsGetString(0, NULL, 1); \
        assert_int_equal(SCError(), kSCStatusInvalidArgument); \
        assert_false(succeeded); \
        assert_int_equal(SCError(), ECHILD); \
    } while (0)

static void expect_target_refused(SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityScheduler scheduler = { .perform = perform };
    SCNetworkReachabilityFlags flags = 0xdeadbeef;
    SCNetworkReachabilityPath untouched;
    struct sockaddr_storage address;
    char text[64] = "untouched";
    SCOPED_LOOP loop = SCRunLoopCreate();

    memset(&untouched, 0x5a, sizeof untouched);
    untouched.size = sizeof untouched;
    SCNetworkReachabilityPath path = untouched;
    memcpy(&address, &untouched.source, sizeof address);
    EXPECT_REFUSED(SCNetworkReachabilityGetFlags(target, &flags));
    assert_int_equal(flags, 0xdeadbeef);
    EXPECT_REFUSED(SCNetworkReachabilityGetPath(target, &path));
    assert_memory_equal(&path, &untouched, sizeof path);
    EXPECT_REFUSED(SCNetworkReachabilityGetResolvedAddresses(target, &address, 1));
    assert_memory_equal(&address, &untouched.source, sizeof address);
    EXPECT_REFUSED(SCNetworkReachabilityGetDescription(target, text, sizeof text));
    assert_string_equal(text, "untouched");
    EXPECT_REFUSED(SCNetworkReachabilitySetCallback(target, ignore_call, NULL));
    EXPECT_REFUSED(SCNetworkReachabilitySetCallback(target, NULL, NULL));
    EXPECT_REFUSED(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    EXPECT_REFUSED(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    EXPECT_REFUSED(SCNetworkReachabilitySetScheduler(target, &scheduler));
    EXPECT_REFUSED(SCNetworkReachabilitySetScheduler(target, NULL));
}

static void expect_loop_refused(SCRunLoopRef loop)
{
    SCNetworkReachabilityFlags flags = 0xdeadbeef;
    SCOPED_TARGET target = expect_target("192.0.2.9");

    EXPECT_REFUSED(SCRunLoopGetFileDescriptor(loop) >= 0);
    EXPECT_REFUSED(SCRunLoopPerform(loop, 0) >= 0);
    EXPECT_REFUSED(SCRunLoopPerform(loop, -1) >= 0);
    EXPECT_REFUSED(SCRunLoopCopyNextChange(loop, &flags) != NULL);
    assert_int_equal(flags, 0xdeadbeef);
    EXPECT_REFUSED((SCRunLoopStop(loop), false));
    EXPECT_REFUSED((SCRunLoopWakeUp(loop), false));
    EXPECT_REFUSED(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopCommonModes));
    EXPECT_REFUSED(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopCommonModes));
}

/* Every call is refused, except Retain and Release. */
static void expect_inherited(struct receiver *receiver)
{
    expect_target_refused(receiver->target);
    EXPECT_REFUSED(SCNetworkReachabilityUnscheduleFromRunLoop(receiver->target, receiver->loop, kSCRunLoopDefaultMode));
    assert_ptr_equal(SCNetworkReachabilityRetain(receiver->target), receiver->target);
    SCNetworkReachabilityRelease(receiver->target);
    if (receiver->loop == NULL)
        return;
    expect_loop_refused(receiver->loop);
    assert_ptr_equal(SCRunLoopRetain(receiver->loop), receiver->loop);
    SCRunLoopRelease(receiver->loop);
}

static int count_threads(void)
{
    char line[256];
    int count = -1;
    FILE *status = fopen("/proc/self/status", "re");

    assert_non_null(status);
    while (fgets(line, sizeof line, status) != NULL && sscanf(line, "Threads: %d", &count) != 1)
        continue;
    fclose(status);
    return count;
}

/* The kernel counts a thread for a moment after its end. */
static void await_threads(int count)
{
    const double end = watcher_now() + TIME_LIMIT;

    if (unit_is_under("tsan")) /* which has its own thread */
        return;
    while (count_threads() != count && watcher_now() < end)
        sched_yield();
    assert_int_equal(count_threads(), count);
}

static void expect_fresh_start_in(enum way way, struct writer *by, unsigned number)
{
    struct receiver receiver;

    receiver_open(&receiver, way, target_behind(number));
    expect_callbacks(&receiver, by, number);
    await_threads(way == SCHEDULER || way == THREADS_LOOP ? 2 : 1);
    receiver_close(&receiver);
}

/* A child has one thread. In it everything works in every way, and only the thread's own loop stays open. */
static void expect_fresh_start(unsigned number)
{
    struct writer own;
    SCNetworkReachabilityRef target = target_behind(number);

    EXPECT(target, 0, NoRoute);
    SCNetworkReachabilityRelease(target);
    assert_non_null(SCRunLoopGetCurrent());
    const struct descriptors then = descriptors_now();
    assert_int_equal(writer_open(&own), 0);
    for (enum way way = OWN_LOOP; way < WAYS; way++)
        expect_fresh_start_in(way, &own, number);
    writer_close(&own);
    descriptors_await(&then);
}

/* ---- How children end ------------------------------------------------------------------------------------------- */

static void leave(struct receiver *changing, struct receiver *expiring)
{
    (void)changing, (void)expiring;
}

static void call_everything_and_release(struct receiver *receiver)
{
    expect_inherited(receiver);
    SCNetworkReachabilityRelease(receiver->target);
    SCRunLoopRelease(receiver->loop);
}

static void call_everything_and_release_both(struct receiver *changing, struct receiver *expiring)
{
    call_everything_and_release(changing);
    call_everything_and_release(expiring);
}

static void end_now(void)
{
    _exit(0);
}

static void end_with_exit(void)
{
    /* This handler runs first. It ends the process before the leak check, which would wait for the parent's threads. */
    if (unit_is_under("asan"))
        atexit(end_now);
    exit(0);
}

/* Checks that exec has closed all other descriptors. */
PART(compare_descriptors)
{
    return strcmp(program_argument, at_start) != 0;
}

static void execute(void)
{
    execl(program, program, "compare_descriptors", at_start, (char *)NULL);
    _exit(127);
}

static void use_library_and_be_killed(void)
{
    struct receiver mine[WAYS];

    for (enum way way = OWN_LOOP; way < WAYS; way++)
        if (!unit_is_under("tsan") || way < THREADS_LOOP)
            receiver_open(&mine[way], way, target_behind(61));
    raise(SIGKILL);
}

static const struct {
    void (*prepare)(struct receiver *changing, struct receiver *expiring);
    void (*end)(void);
    bool is_killed;
} endings[] = {
    { call_everything_and_release_both, end_now }, { leave, end_with_exit }, { leave, end_now }, { leave, execute },
    { leave, use_library_and_be_killed, true },
};

#define ENDINGS (sizeof endings / sizeof endings[0])

/* Changes and expiry of routes are reported while children start and end. */
static void receive_all_changes(enum way first, enum way last)
{
    struct writer_route route = { .prefix = "2001:db8:e::/64", .index = link_a, .expires = 1000 };
    struct receiver changing[WAYS], expiring[WAYS];
    pid_t child;

    assert_int_equal(writer_route(&writer, WRITER_ADD, &route), 0);
    for (enum way way = first; way <= last; way++) {
        receiver_open(&changing[way], way, target_behind(way));
        receiver_open(&expiring[way], way, expect_target("2001:db8:e::7"));
    }
    route.expires = 1; /* set after all have received the route, so that none misses it */
    assert_int_equal(writer_route(&writer, WRITER_REPLACE, &route), 0);
    for (size_t i = 0; i < ENDINGS; i++) {
        if (child_fork(&child)) {
            for (enum way way = first; way <= last; way++)
                endings[i].prepare(&changing[way], &expiring[way]);
            endings[i].end();
        }
        if (endings[i].is_killed)
            child_expect_killed(child);
        else
            child_expect_end(child);
        for (enum way way = first; way <= last; way++)
            expect_callbacks(&changing[way], &writer, way);
    }
    for (enum way way = first; way <= last; way++) {
        EXPECT_CALLBACK(&expiring[way], 0);
        receiver_close(&changing[way]);
        receiver_close(&expiring[way]);
    }
}

TEST_BY(child_run, a_loop_still_receives_however_a_child_ends)
{
    receive_all_changes(OWN_LOOP, MADE_LOOP);
}

TEST(another_threads_loop_and_a_scheduler_still_receive_however_a_child_ends)
{
    require_running_threads();
    receive_all_changes(THREADS_LOOP, SCHEDULER);
    descriptors_await(&before);
}

/* ---- Descriptors ------------------------------------------------------------------------------------------------ */

TEST_BY(child_run, a_child_has_no_descriptor_of_the_parent_and_passes_none_to_exec)
{
    SCOPED_LOOP other = SCRunLoopCreate();
    struct receiver receivers[WAYS + 1];

    for (enum way way = OWN_LOOP; way <= last_way(); way++)
        receiver_open(&receivers[way], way, target_behind(1));
    if (child_begin()) {
        descriptors_expect(&before);
        expect_fresh_start(2);
        execute();
    }
    for (enum way way = OWN_LOOP; way <= last_way(); way++)
        receiver_close(&receivers[way]);
}

static sem_t held_up, go_on;

static void hold_up(struct receiver *receiver)
{
    (void)receiver;
    sem_post(&held_up);
    sem_wait(&go_on);
}

static void fork_while_something_is_queued(struct receiver *receiver)
{
    if (child_begin()) {
        expect_inherited(receiver);
        expect_fresh_start(2);
        call_everything_and_release(receiver);
        child_end();
    }
}

static void expect_queued_messages(enum way way)
{
    struct receiver receiver;

    receiver_open(&receiver, way, target_behind(1));
    assert_false(idle_loop_is_readable(receiver.loop));
    change_route(&writer, WRITER_ADD, 1);
    assert_true(idle_loop_is_readable(receiver.loop));
    fork_while_something_is_queued(&receiver);
    assert_true(idle_loop_is_readable(receiver.loop));
    assert_int_equal(receiver.calls, 0);
    EXPECT_CALLBACK(&receiver, R);
    assert_int_equal(receiver.calls, 1);
    change_route(&writer, WRITER_DELETE, 1);
    receiver_close(&receiver);
}

static void expect_queued_messages_on_own_loop(void)
{
    expect_queued_messages(OWN_LOOP);
}

TEST(messages_queued_at_a_fork_are_received_afterwards)
{
    child_run(expect_queued_messages_on_own_loop);
    expect_queued_messages(MADE_LOOP);
    descriptors_expect(&before);
}

static void expect_queued_messages_elsewhere(enum way way)
{
    struct receiver receivers[2];

    sem_init(&held_up, 0, 0);
    sem_init(&go_on, 0, 0);
    receiver_open(&receivers[0], way, target_behind(1));
    receiver_open(&receivers[1], way, target_behind(3));
    if (way == THREADS_LOOP)
        receivers[0].inside = hold_up;
    else
        receivers[0].performing = hold_up;
    change_route(&writer, WRITER_ADD, 1);
    assert_true(wait_for(&held_up, TIME_LIMIT));
    /* This message stays unread until the thread resumes. With separate loops, only the first loop's thread is held
     * up. */
    change_route(&writer, way == THREADS_LOOP ? WRITER_DELETE : WRITER_ADD, way == THREADS_LOOP ? 1 : 3);
    fork_while_something_is_queued(&receivers[0]);
    sem_post(&go_on);
    if (way == THREADS_LOOP) {
        EXPECT_CALLBACK(&receivers[0], 0);
    } else {
        EXPECT_CALLBACK(&receivers[1], R);
        EXPECT_CALLBACK(&receivers[0], R);
        change_route(&writer, WRITER_DELETE, 1);
        change_route(&writer, WRITER_DELETE, 3);
    }
    for (size_t i = 0; i < 2; i++)
        receiver_close(&receivers[i]);
    sem_destroy(&held_up);
    sem_destroy(&go_on);
}

TEST(messages_queued_for_another_thread_at_a_fork_are_received_afterwards)
{
    require_running_threads();
    expect_queued_messages_elsewhere(THREADS_LOOP);
    expect_queued_messages_elsewhere(SCHEDULER);
    descriptors_await(&before);
}

/* ---- In the child ----------------------------------------------------------------------------------------------- */

static int retained, given_up;

static const void *count_retain(const void *info)
{
    retained++;
    return info;
}

static void count_release(const void *info)
{
    (void)info;
    given_up++;
}

TEST(inherited_objects_can_only_be_retained_and_released)
{
    SCNetworkReachabilityContext context = { 0, &retained, count_retain, count_release, NULL };
    SCNetworkReachabilityRef targets[3];
    struct receiver receiver;

    retained = given_up = 0;
    SCRunLoopRef loop = SCRunLoopCreate();
    targets[0] = expect_target("192.0.2.9");
    targets[1] = SCNetworkReachabilityCreateWithName(NULL, "example.com");
    targets[2] = expect_pair("192.0.2.2", "192.0.2.9");
    for (size_t i = 0; i < 3; i++)
        assert_true(SCNetworkReachabilitySetCallback(targets[i], ignore_call, &context));
    receiver_open(&receiver, MADE_LOOP, target_behind(1));
    if (child_begin()) {
        for (size_t i = 0; i < 3; i++) {
            expect_target_refused(targets[i]);
            assert_ptr_equal(SCNetworkReachabilityRetain(targets[i]), targets[i]);
            SCNetworkReachabilityRelease(targets[i]);
            assert_int_equal(given_up, i);
            SCNetworkReachabilityRelease(targets[i]);
            assert_int_equal(given_up, i + 1);
        }
        assert_int_equal(retained, 3);
        expect_loop_refused(loop);
        assert_ptr_equal(SCRunLoopRetain(loop), loop);
        SCRunLoopRelease(loop);
        SCRunLoopRelease(loop);
        expect_fresh_start(2);
        call_everything_and_release(&receiver);
        child_end();
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(expect_flags_of(targets[i]), i == 1 ? 0 : R | D);
        SCNetworkReachabilityRelease(targets[i]);
        assert_int_equal(given_up, i + 1);
    }
    expect_callbacks(&receiver, &writer, 1);
    receiver_close(&receiver);
    SCRunLoopRelease(loop);
    descriptors_expect(&before);
}

TEST_BY(child_run, a_child_has_loops_of_its_own)
{
    const SCRunLoopRef own = SCRunLoopGetCurrent(), main_loop = SCRunLoopGetMain();

    assert_ptr_equal(own, main_loop);
    if (child_begin()) {
        assert_ptr_not_equal(SCRunLoopGetMain(), main_loop);
        assert_ptr_not_equal(SCRunLoopGetCurrent(), own);
        assert_ptr_equal(SCRunLoopGetCurrent(), SCRunLoopGetMain());
        assert_int_equal(SCRunLoopRunInMode(kSCRunLoopDefaultMode, 0, false), kSCRunLoopRunFinished);
        SCRunLoopRun();
        /* The caller may still have this pointer. */
        expect_loop_refused(own);
        expect_fresh_start(1);
        child_end();
    }
    assert_ptr_equal(SCRunLoopGetCurrent(), own);
    assert_ptr_equal(SCRunLoopGetMain(), own);
    expect_fresh_start(1);
}

static void *fork_elsewhere(void *argument)
{
    const SCRunLoopRef main_loop = argument, own = SCRunLoopGetCurrent();
    pid_t *child = malloc(sizeof *child);

    if (child_fork(child)) { /* this thread is the child's main thread */
        assert_ptr_not_equal(SCRunLoopGetCurrent(), own);
        assert_ptr_not_equal(SCRunLoopGetCurrent(), main_loop);
        assert_ptr_equal(SCRunLoopGetCurrent(), SCRunLoopGetMain());
        expect_loop_refused(own);
        expect_loop_refused(main_loop);
        expect_fresh_start(1);
        child_end();
    }
    return child;
}

static void fork_on_another_thread(void)
{
    void *child;
    pthread_t thread = unit_thread(fork_elsewhere, SCRunLoopGetMain());

    assert_int_equal(pthread_join(thread, &child), 0);
    child_expect_end(*(pid_t *)child);
    free(child);
}

TEST(a_child_of_another_thread_has_that_thread_as_its_main_thread)
{
    require_threads();
    child_run(fork_on_another_thread);
}

TEST(a_child_starts_afresh_and_its_end_disturbs_nothing)
{
    struct receiver receiver;
    pid_t child;

    receiver_open(&receiver, MADE_LOOP, target_behind(1));
    if (child_begin()) {
        expect_fresh_start(2);
        child_end();
    }
    expect_callbacks(&receiver, &writer, 1);
    if (child_fork(&child)) {
        expect_fresh_start(2);
        use_library_and_be_killed();
    }
    child_expect_killed(child);
    expect_callbacks(&receiver, &writer, 1);
    receiver_close(&receiver);
    descriptors_expect(&before);
}

/* Nested children. Each receives callbacks in each way before, during and after the life of the next one. They share
 * one writer, which one of them uses at a time. */
static void fork_nested_children(struct receiver *inherited, size_t count, unsigned depth)
{
    const enum way last = last_way();
    struct receiver receivers[WAYS];

    descriptors_expect(&before);
    for (size_t i = 0; i < count; i++)
        expect_inherited(&inherited[i]);
    if (depth == 0) {
        expect_fresh_start(2);
        return;
    }
    for (enum way way = OWN_LOOP; way <= last; way++)
        receiver_open(&receivers[way], way, target_behind(10 * depth + way));
    for (enum way way = OWN_LOOP; way <= last; way++)
        change_route(&writer, WRITER_ADD, 10 * depth + way);
    if (child_begin()) {
        fork_nested_children(receivers, (size_t)last + 1, depth - 1);
        child_end();
    }
    for (enum way way = OWN_LOOP; way <= last; way++) {
        EXPECT_CALLBACK(&receivers[way], R);
        change_route(&writer, WRITER_DELETE, 10 * depth + way);
        EXPECT_CALLBACK(&receivers[way], 0);
        receiver_close(&receivers[way]);
    }
}

TEST(grandchildren_start_afresh_too)
{
    struct receiver receiver;

    receiver_open(&receiver, MADE_LOOP, target_behind(1));
    if (child_begin()) {
        fork_nested_children(&receiver, 1, 3);
        child_end();
    }
    expect_callbacks(&receiver, &writer, 1);
    receiver_close(&receiver);
    descriptors_expect(&before);
}

/* ---- In callbacks ----------------------------------------------------------------------------------------------- */

/* Forks. True in the child. */
static bool fork_at(struct receiver *receiver)
{
    pid_t child;

    (void)child_fork(&child);
    receiver->child = child;
    receiver->forked = true;
    return child == 0;
}

static void fork_and_return(struct receiver *receiver)
{
    if (fork_at(receiver)) {
        descriptors_expect(&before);
        expect_inherited(receiver);
    }
}

static void fork_and_live(struct receiver *receiver)
{
    if (fork_at(receiver)) {
        expect_inherited(receiver);
        expect_fresh_start(60);
        child_end();
    }
}

static void fork_and_execute(struct receiver *receiver)
{
    if (fork_at(receiver))
        execute();
}

static void vfork_and_execute(struct receiver *receiver)
{
    const pid_t child = vfork();

    if (child == 0)
        execute();
    receiver->child = child;
    receiver->forked = true;
}

static pid_t spawn(void)
{
    char *const arguments[] = { (char *)(uintptr_t)program, "compare_descriptors", at_start, NULL };
    pid_t child;

    if (posix_spawn(&child, program, NULL, NULL, arguments, environ) != 0)
        abort();
    return child;
}

static void spawn_at(struct receiver *receiver)
{
    receiver->child = spawn();
    receiver->forked = true;
}

static void expect_child_and_callback(struct receiver *receiver)
{
    assert_true(receiver->forked);
    child_expect_end(receiver->child);
    receiver->forked = false;
    change_route(&writer, WRITER_DELETE, 1);
    EXPECT_CALLBACK(receiver, 0);
    expect_callbacks(receiver, &writer, 1);
}

/* Forks in callbacks, and then, with a scheduler, in `perform`, on the library thread. */
static void fork_inside(enum way way)
{
    static void (*const forks[])(struct receiver *) = { fork_and_live, fork_and_execute, vfork_and_execute, spawn_at,
                                                        fork_and_return };
    const size_t count = sizeof forks / sizeof forks[0];
    struct receiver receiver;

    receiver_open(&receiver, way, target_behind(1));
    for (size_t i = 0; i < (way == SCHEDULER ? 2 * count - 1 : count); i++) {
        if (i < count)
            receiver.inside = forks[i];
        else
            receiver.performing = forks[i - count];
        change_route(&writer, WRITER_ADD, 1);
        EXPECT_CALLBACK(&receiver, R);
        expect_child_and_callback(&receiver);
    }
    receiver_close(&receiver);
}

static void fork_inside_with_the_own_loop(void)
{
    fork_inside(OWN_LOOP);
}

TEST(a_child_may_return_from_a_callback_or_execute_or_end_inside)
{
    child_run(fork_inside_with_the_own_loop);
    fork_inside(MADE_LOOP);
    descriptors_expect(&before);
}

TEST(a_child_may_return_from_a_callback_on_another_thread_or_execute_or_end_inside)
{
    require_threads();
    fork_inside(THREADS_LOOP);
    descriptors_expect(&before);
}

TEST(a_child_may_return_from_a_schedulers_callback_or_execute_or_end_inside)
{
    require_threads();
    fork_inside(SCHEDULER);
    descriptors_await(&before);
}

/* The child has only the library thread, and ends with it. */
static void fork_and_return_on_the_librarys_thread(struct receiver *receiver)
{
    fork_and_return(receiver);
    if (receiver->child == 0)
        atexit(end_now); /* otherwise the memory of the parent's other threads counts as leaked */
}

TEST(a_child_that_returns_on_the_librarys_thread_ends)
{
    struct receiver receiver;

    require_threads();
    receiver_open(&receiver, SCHEDULER, target_behind(1));
    receiver.performing = fork_and_return_on_the_librarys_thread;
    change_route(&writer, WRITER_ADD, 1);
    EXPECT_CALLBACK(&receiver, R);
    expect_child_and_callback(&receiver);
    receiver_close(&receiver);
    descriptors_await(&before);
}

/* In the parent the run ends. In the child it cannot continue. */
static void fork_and_stop(struct receiver *receiver)
{
    fork_and_return(receiver);
    SCRunLoopStop(receiver->loop);
}

TEST_BY(child_run, a_run_without_limit_ends_in_a_child)
{
    struct receiver receiver;

    receiver_open(&receiver, OWN_LOOP, target_behind(1));
    receiver.inside = fork_and_stop;
    change_route(&writer, WRITER_ADD, 1);
    SCRunLoopRun();
    if (receiver.forked && receiver.child == 0) {
        expect_inherited(&receiver);
        child_end();
    }
    expect_child_and_callback(&receiver);
    receiver_close(&receiver);
}

static void nest(struct receiver *receiver)
{
    const SCRunLoopRunResult result = SCRunLoopRunInMode(kSCRunLoopDefaultMode, TIME_LIMIT, true);

    /* The other receiver was called inside this callback. */
    if (receiver[1].forked && receiver[1].child == 0) {
        assert_int_equal(result, -1);
        assert_int_equal(SCError(), ECHILD);
    } else if (result != kSCRunLoopRunHandledSource) {
        abort();
    }
}

/* The inner callback forks. Both runs end in the child. */
TEST_BY(child_run, nested_runs_end_in_a_child)
{
    struct receiver receivers[2];

    receiver_open(&receivers[0], OWN_LOOP, target_behind(1));
    receiver_open(&receivers[1], OWN_LOOP, target_behind(2));
    receivers[0].inside = nest;
    receivers[1].inside = fork_and_return;
    change_route(&writer, WRITER_ADD, 1);
    change_route(&writer, WRITER_ADD, 2);
    receiver_wait(&receivers[0], TIME_LIMIT);
    receivers[1].result = receivers[0].result;
    receivers[1].error = receivers[0].error;
    end_if_child(&receivers[1]);
    EXPECT_CALLBACK(&receivers[0], R);
    EXPECT_CALLBACK(&receivers[1], R);
    change_route(&writer, WRITER_DELETE, 2);
    EXPECT_CALLBACK(&receivers[1], 0);
    receivers[0].forked = receivers[1].forked;
    receivers[0].child = receivers[1].child;
    expect_child_and_callback(&receivers[0]);
    for (size_t i = 0; i < 2; i++)
        receiver_close(&receivers[i]);
}

/* ---- In hooks --------------------------------------------------------------------------------------------------- */

static pid_t hook_child;
static int hooks_until_fork;

static void fork_in_hook(void)
{
    if (hooks_until_fork-- == 0)
        (void)child_fork(&hook_child);
}

static const void *fork_in_retain(const void *info)
{
    fork_in_hook();
    return count_retain(info);
}

static void fork_in_release(const void *info)
{
    fork_in_hook();
    count_release(info);
}

static void end_if_hooks_child(SCNetworkReachabilityRef target)
{
    if (hook_child != 0)
        return;
    assert_int_equal(retained, given_up);
    if (target != NULL)
        expect_target_refused(target);
    expect_fresh_start(60);
    child_end();
}

/* The first hook has number 0. */
static void fork_in_hook_number(int number)
{
    hook_child = -1;
    hooks_until_fork = number;
}

/* `set` is what the call returned that forked in a hook. It succeeds in the parent and fails in the child. */
static void expect_set_in_parent_alone(SCNetworkReachabilityRef target, SCBoolean set)
{
    if (hook_child == 0) {
        assert_false(set);
        assert_int_equal(SCError(), ECHILD);
    }
    end_if_hooks_child(target);
    child_expect_end(hook_child);
    assert_true(set);
}

TEST(a_child_of_a_contexts_hook_is_refused)
{
    SCNetworkReachabilityContext context = { 0, &retained, fork_in_retain, fork_in_release, NULL };
    SCNetworkReachabilityRef target = target_behind(1);

    retained = given_up = 0;

    fork_in_hook_number(0);
    expect_set_in_parent_alone(target, SCNetworkReachabilitySetCallback(target, ignore_call, &context));

    fork_in_hook_number(1); /* the retain of the new context, then the release of the old */
    assert_true(SCNetworkReachabilitySetCallback(target, ignore_call, &context));
    if (hook_child == 0)
        SCNetworkReachabilityRelease(target);
    end_if_hooks_child(NULL);
    child_expect_end(hook_child);

    fork_in_hook_number(0);
    SCNetworkReachabilityRelease(target);
    end_if_hooks_child(NULL);
    child_expect_end(hook_child);
    assert_int_equal(retained, given_up);
    descriptors_expect(&before);
}

TEST(a_child_of_a_schedulers_hook_is_refused)
{
    SCNetworkReachabilityScheduler scheduler = { 0, &retained, fork_in_retain, fork_in_release, perform };

    require_threads();
    SCNetworkReachabilityRef target = target_behind(1);
    retained = given_up = 0;

    fork_in_hook_number(0);
    expect_set_in_parent_alone(target, SCNetworkReachabilitySetScheduler(target, &scheduler));

    fork_in_hook_number(0);
    assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
    end_if_hooks_child(target);
    child_expect_end(hook_child);
    assert_int_equal(retained, given_up);
    SCNetworkReachabilityRelease(target);
    descriptors_await(&before);
}

/* ---- Work in a scheduler's hands -------------------------------------------------------------------------------- */

TEST(work_queued_before_a_fork_does_nothing_in_the_child)
{
    struct receiver receiver;

    require_running_threads();
    receiver_open(&receiver, SCHEDULER, target_behind(1));
    for (int unscheduled = 0; unscheduled < 2; unscheduled++) {
        change_route(&writer, unscheduled ? WRITER_DELETE : WRITER_ADD, 1);
        assert_true(wait_for(&receiver.handed, TIME_LIMIT));
        if (unscheduled)
            assert_true(SCNetworkReachabilitySetScheduler(receiver.target, NULL));
        if (child_begin()) {
            const int calls = receiver.calls;

            receiver.work(receiver.argument);
            assert_int_equal(receiver.calls, calls);
            expect_inherited(&receiver);
            expect_fresh_start(2);
            call_everything_and_release(&receiver);
            child_end();
        }
        receiver.work(receiver.argument);
        assert_int_equal(receiver.calls, 1);
    }
    assert_true(receiver.released);
    SCNetworkReachabilityRelease(receiver.target);
    descriptors_await(&before);
}

/* ---- A program's own fork handlers ------------------------------------------------------------------------------ */

/* Registered before the first call of the library. NULL: does nothing. */
static void (*handlers[3])(void);

static void before_fork(void)
{
    if (handlers[0] != NULL)
        handlers[0]();
}

static void after_fork(void)
{
    if (handlers[1] != NULL)
        handlers[1]();
}

static void after_fork_in_child(void)
{
    if (handlers[2] != NULL)
        handlers[2]();
}

static SCNetworkReachabilityRef handled;
static SCRunLoopRef handled_loop;

static void stop_listening(void)
{
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(handled, handled_loop, kSCRunLoopDefaultMode));
    EXPECT_ADDRESS("192.0.2.9", R | D, None);
}

static void start_listening(void)
{
    EXPECT_ADDRESS("192.0.2.9", R | D, None);
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(handled, handled_loop, kSCRunLoopDefaultMode));
}

static void begin_anew(void)
{
    alarm((unsigned)TIME_LIMIT);
    expect_target_refused(handled);
    expect_loop_refused(handled_loop);
    SCNetworkReachabilityRelease(handled);
    SCRunLoopRelease(handled_loop);
    handled = expect_target("198.51.1.7");
    handled_loop = SCRunLoopCreate();
    start_listening();
}

TEST_BY(child_run, a_programs_own_fork_handlers_may_call_the_library)
{
    pid_t child;

    handled = target_behind(1);
    handled_loop = SCRunLoopCreate();
    start_listening();
    handlers[0] = stop_listening;
    handlers[1] = start_listening;
    handlers[2] = begin_anew;
    if (child_fork(&child)) {
        handlers[0] = handlers[1] = handlers[2] = NULL;
        assert_int_equal(SCRunLoopPerform(handled_loop, 0), 0);
        stop_listening();
        SCNetworkReachabilityRelease(handled);
        SCRunLoopRelease(handled_loop);
        descriptors_expect(&before);
        expect_fresh_start(2);
        child_end();
    }
    handlers[0] = handlers[1] = handlers[2] = NULL;
    child_expect_end(child);
    assert_int_equal(SCRunLoopPerform(handled_loop, 0), 0);
    stop_listening();
    SCNetworkReachabilityRelease(handled);
    SCRunLoopRelease(handled_loop);
    descriptors_expect(&before);
}

/* ---- Other threads inside calls --------------------------------------------------------------------------------- */

/* Wraps the calls of the library too: see the Makefile. The next thread that calls realloc is held up before it stores
 * the new pointer. The old memory must not be freed a second time. */
static atomic_bool realloc_is_held_up;
static void *_Atomic given_back;

WRAP(void *, realloc, void *memory, size_t size)
{
    if (!atomic_exchange(&realloc_is_held_up, false))
        return __real_realloc(memory, size);
    size_t usable = memory == NULL ? 0 : malloc_usable_size(memory); /* after lost messages the table starts empty */
    void *fresh = malloc(size);
    if (fresh == NULL)
        abort();
    if (memory != NULL)
        memcpy(fresh, memory, usable < size ? usable : size);
    given_back = memory;
    hold_up(NULL);
    return fresh;
}

WRAP(void, free, void *memory)
{
    if (memory != NULL && memory == given_back)
        abort();
    __real_free(memory);
}

/* From now on a thread whose call makes the library query the kernel is held up when the library stores new links. A
 * separate writer makes the links, because another thread may still wait for the result of its own change. */
static void prepare_to_hold_up(void)
{
    struct writer own;
    char names[2][16];

    assert_int_equal(writer_open(&own), 0);
    sem_init(&held_up, 0, 0);
    sem_init(&go_on, 0, 0);
    for (int i = 0; i < 9; i++) { /* so that the table of links grows */
        snprintf(names[0], sizeof names[0], "x%d", i);
        snprintf(names[1], sizeof names[1], "y%d", i);
        assert_int_equal(writer_link_add_pair(&own, names[0], names[1]), 0);
    }
    writer_close(&own);
    realloc_is_held_up = true;
}

static void resume(pthread_t thread)
{
    sem_post(&go_on);
    pthread_join(thread, NULL);
    __real_free(atomic_exchange(&given_back, NULL));
    sem_destroy(&held_up);
    sem_destroy(&go_on);
}

static void *query_once(void *target)
{
    SCNetworkReachabilityFlags flags;

    (void)SCNetworkReachabilityGetFlags(target, &flags);
    return NULL;
}

TEST(a_child_releases_what_another_thread_was_changing)
{
    pid_t child;

    require_threads();
    SCNetworkReachabilityRef target = expect_target("192.0.2.9");
    EXPECT(target, R | D, None);
    prepare_to_hold_up();
    pthread_t thread = unit_thread(query_once, (void *)(uintptr_t)target);
    assert_true(wait_for(&held_up, TIME_LIMIT));
    if (child_fork(&child)) {
        expect_target_refused(target);
        SCNetworkReachabilityRelease(target);
        expect_fresh_start(2);
        child_end();
    }
    resume(thread);
    child_expect_end(child);
    EXPECT(target, R | D, None);
    SCNetworkReachabilityRelease(target);
    descriptors_expect(&before);
}

static pthread_t scheduling;

static void *schedule_once(void *unused)
{
    SCOPED_LOOP loop = SCRunLoopCreate();
    SCOPED_TARGET target = target_behind(1);

    if (!SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode) ||
        !SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode))
        abort();
    return unused;
}

/* Another thread holds the locks of another target and of the namespace. */
static void fork_and_return_while_locked(struct receiver *receiver)
{
    prepare_to_hold_up();
    if (pthread_create(&scheduling, NULL, schedule_once, NULL) != 0 || !wait_for(&held_up, TIME_LIMIT))
        abort();
    fork_and_return(receiver);
    if (receiver->child != 0)
        resume(scheduling);
}

TEST_WITH(NULL, NULL, a_child_that_returns_from_a_callback_takes_no_lock_of_another_thread)
{
    static const enum way ways[] = { MADE_LOOP, THREADS_LOOP };
    struct receiver receiver;

    require_threads();
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        begin();
        receiver_open(&receiver, ways[i], target_behind(1));
        receiver.inside = fork_and_return_while_locked;
        change_route(&writer, WRITER_ADD, 1);
        EXPECT_CALLBACK(&receiver, R);
        expect_child_and_callback(&receiver);
        receiver_close(&receiver);
        descriptors_await(&before);
        finish();
    }
}

#define FORKERS 2

static struct {
    SCNetworkReachabilityRef queried, watched, abroad;
    SCRunLoopRef loop;
    atomic_bool done;
    atomic_int calls, children;
    sem_t performed;
    _Atomic(pid_t) service; /* the library's thread */
} storm;

static void count_call(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)flags, (void)info;
    storm.calls++;
}

static void *query_repeatedly(void *unused)
{
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;
    char text[512];

    while (!storm.done) {
        (void)expect_flags_of(storm.queried);
        (void)SCNetworkReachabilityGetPath(storm.watched, &path);
        (void)SCNetworkReachabilityGetDescription(storm.watched, text, sizeof text);
        assert_true(SCNetworkReachabilitySetCallback(storm.watched, count_call, NULL));
    }
    return unused;
}

static void *drive_storm(void *unused)
{
    while (!storm.done)
        SCRunLoopPerform(storm.loop, 0.01);
    return unused;
}

static void create_and_release_once(SCNetworkReachabilityRef target)
{
    SCOPED_LOOP loop = SCRunLoopCreate();

    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    SCRunLoopPerform(loop, 0);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
}

static void *create_and_release(void *unused)
{
    while (!storm.done) {
        SCOPED_TARGET target = target_behind(1);

        create_and_release_once(target);
    }
    return unused;
}

/* In another network namespace than the targets, so that a thread enters theirs for each socket. */
static void *create_and_release_abroad(void *unused)
{
    assert_true(namespace_enter());
    while (!storm.done)
        create_and_release_once(storm.abroad);
    return unused;
}

static void work_at_once(void *info, void (*work)(void *), void *argument)
{
    (void)info;
    storm.service = gettid();
    work(argument);
    sem_post(&storm.performed);
}

/* The library thread starts and ends with the target. */
static void *create_and_release_on_schedulers(void *unused)
{
    SCNetworkReachabilityScheduler scheduler = { .perform = work_at_once };

    while (!storm.done) {
        SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, "localhost");

        assert_true(SCNetworkReachabilitySetCallback(target, count_call, NULL));
        assert_true(SCNetworkReachabilitySetScheduler(target, &scheduler));
        assert_true(wait_for(&storm.performed, TIME_LIMIT)); /* a scheduled name makes one callback at first */
        assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
        SCNetworkReachabilityRelease(target);
        while (tgkill(getpid(), storm.service, 0) == 0 && !storm.done)
            sched_yield();
    }
    return unused;
}

static void *change_routes(void *unused)
{
    while (!storm.done) {
        change_route(&writer, WRITER_ADD, 1);
        change_route(&writer, WRITER_DELETE, 1);
    }
    return unused;
}

static int forks(void)
{
    return unit_is_under("valgrind") ? 4 : 150;
}

static int count_open(const struct descriptors *descriptors)
{
    int count = 0;

    for (int fd = 0; fd <= descriptors->highest; fd++)
        count += descriptors->open[fd];
    return count;
}

#define STORM_THREADS 6

/* Each other thread may just have got a descriptor from the kernel: the child keeps that one. */
static void live_in_a_storm(unsigned number)
{
    const struct descriptors inherited = descriptors_now();
    pid_t grandchild;

    assert_in_range(count_open(&inherited) - count_open(&before), 0, STORM_THREADS + 1); /* and the library's */
    expect_target_refused(storm.queried);
    expect_target_refused(storm.watched);
    expect_loop_refused(storm.loop);
    SCNetworkReachabilityRelease(storm.queried);
    SCNetworkReachabilityRelease(storm.watched);
    SCNetworkReachabilityRelease(storm.abroad);
    SCRunLoopRelease(storm.loop);
    expect_fresh_start(number);
    if (number % 10 == 0 && child_fork(&grandchild)) {
        descriptors_expect(&inherited);
        expect_fresh_start(number);
        child_end();
    }
    if (number % 10 == 0)
        child_expect_end(grandchild);
    child_end();
}

/* Every tenth child executes another program: no handler runs, and exec must leave no descriptor open. */
static void *fork_in_a_storm(void *first_number)
{
    for (int i = 0; i < forks(); i++) {
        pid_t child;

        if (i % 10 == 5)
            child = spawn();
        else if (child_fork(&child))
            live_in_a_storm((unsigned)(uintptr_t)first_number + (unsigned)i % 100);
        child_expect_end(child);
        storm.children++;
    }
    return NULL;
}

TEST_WITH(NULL, NULL, a_child_forked_in_a_storm_of_calls_starts_afresh)
{
    static void *(*const bodies[STORM_THREADS])(void *) = {
        query_repeatedly, drive_storm, create_and_release, create_and_release_abroad, create_and_release_on_schedulers,
        change_routes
    };
    pthread_t threads[STORM_THREADS], forkers[FORKERS];

    require_running_threads();
    begin();
    memset(&storm, 0, sizeof storm);
    sem_init(&storm.performed, 0, 0);
    storm.queried = expect_target("192.0.2.9");
    storm.watched = target_behind(1);
    storm.abroad = target_behind(1);
    storm.loop = SCRunLoopCreate();
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(storm.watched, storm.loop, kSCRunLoopDefaultMode));
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, bodies[i], NULL), 0);
    for (uintptr_t i = 0; i < FORKERS; i++)
        assert_int_equal(pthread_create(&forkers[i], NULL, fork_in_a_storm, (void *)(10 + 110 * i)), 0);
    for (size_t i = 0; i < FORKERS; i++)
        pthread_join(forkers[i], NULL);
    storm.done = true;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(storm.children, FORKERS * forks());
    assert_true(storm.calls > 0);
    EXPECT(storm.queried, R | D, None);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(storm.watched, storm.loop, kSCRunLoopDefaultMode));
    SCNetworkReachabilityRelease(storm.queried);
    SCNetworkReachabilityRelease(storm.watched);
    SCNetworkReachabilityRelease(storm.abroad);
    SCRunLoopRelease(storm.loop);
    sem_destroy(&storm.performed);
    descriptors_await(&before);
    finish();
}

static void start(void)
{
    program = program_path();
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
    descriptors_read(&before);
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        at_start[fd] = before.open[fd] ? '1' : '0';
}

UNIT(.setup = begin, .teardown = finish, .start = start)
