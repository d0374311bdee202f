/* SPDX-License-Identifier: MIT */
/*
 * One thread drives a loop, or several run the work of a scheduler. Another thread changes a route without a pause, so
 * that callbacks come all the time. A third thread ends the callbacks in every way, thousands of times. After that at
 * most the callback in progress comes, and a context is released as often as it was retained.
 *
 * TEST_STORM_ROUNDS: how often (default 4000 on loops, and as often on schedulers).
 */
#include "support/listener.h"
#include "support/queue.h"
#include "support/test.h"

#define ROUNDS     4000
#define TIME_LIMIT 20 /* seconds: an event that takes longer has failed */

static const struct writer_route default_route = { .prefix = "0.0.0.0/0", .gateway = "192.0.2.1" };

static unsigned rounds_wanted(void)
{
    const char *text = getenv("TEST_STORM_ROUNDS");

    if (text != NULL && atoi(text) > 0)
        return (unsigned)atoi(text);
    /* valgrind's tools run one thread at a time, and twenty to a hundred times slower; the sanitizers two to ten times.
     * `make storm` runs more. */
    if (unit_is_under("valgrind"))
        return ROUNDS / 200;
    if (unit_is_under("tsan") || unit_is_under("asan"))
        return ROUNDS / 16;
    return unit_is_under("helgrind") ? ROUNDS / 200 : ROUNDS;
}

/* ---- The storm -------------------------------------------------------------------------------------------------- */

/* Where calls are made. */
enum place { LOOP, SERIAL, POOL };

static const struct {
    const char *name;
    enum place place;
} places[] = { { "on_a_loop", LOOP }, { "on_a_serial_scheduler", SERIAL }, { "on_a_pool", POOL } };

static struct {
    enum place place;
    SCRunLoopRef loop;
    struct queue queue;
    struct writer writer;
    SCNetworkReachabilityRef keeper; /* stays scheduled: otherwise each round opens and closes sockets and a thread */
    pthread_t driver, changer;
    atomic_bool over;
    bool raging;
} storm;

static void *drive(void *loop)
{
    while (!atomic_load(&storm.over))
        unit_complain_if(SCRunLoopPerform(loop, -1) < 0, "SCRunLoopPerform failed");
    return NULL;
}

static void *change(void *unused)
{
    while (!atomic_load(&storm.over)) {
        unit_complain_if(writer_route(&storm.writer, WRITER_ADD, &default_route) != 0, "the route could not be added");
        unit_complain_if(writer_route(&storm.writer, WRITER_DELETE, &default_route) != 0,
                         "the route could not be deleted");
    }
    return unused;
}

static sem_t news; /* a call was made, or a context or a scheduler released */

static void release_queue(const void *info)
{
    queue_scheduler(&storm.queue).release(info);
    sem_post(&news);
}

static void schedule(SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityScheduler scheduler = queue_scheduler(&storm.queue);

    scheduler.release = release_queue;
    if (target == storm.keeper) { /* which is not counted */
        scheduler.retain = NULL;
        scheduler.release = NULL;
    }
    if (storm.place == LOOP)
        assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, storm.loop, kSCRunLoopDefaultMode));
    else
        assert_true(SCNetworkReachabilitySetScheduler(target, &scheduler));
}

static void unschedule(SCNetworkReachabilityRef target)
{
    if (storm.place == LOOP)
        assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, storm.loop, kSCRunLoopDefaultMode));
    else
        assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
}

static void storm_begin(enum place place)
{
    namespace_require_pair();
    unit_check(writer_open(&storm.writer), "writer");
    atomic_store(&storm.over, false);
    storm.place = place;
    if (place == LOOP) {
        storm.loop = SCRunLoopCreate();
        assert_non_null(storm.loop);
        assert_int_equal(pthread_create(&storm.driver, NULL, drive, storm.loop), 0);
    } else {
        queue_open(&storm.queue, place == SERIAL ? 1 : QUEUE_THREADS);
    }
    storm.keeper = expect_target("127.0.0.1");
    schedule(storm.keeper);
    assert_int_equal(pthread_create(&storm.changer, NULL, change, NULL), 0);
    storm.raging = true;
}

static void storm_end(void)
{
    storm.raging = false;
    atomic_store(&storm.over, true);
    pthread_join(storm.changer, NULL);
    if (storm.place == LOOP) {
        SCRunLoopWakeUp(storm.loop);
        pthread_join(storm.driver, NULL);
        SCRunLoopRelease(storm.loop);
    } else {
        queue_close(&storm.queue);
    }
    writer_close(&storm.writer);
    unit_expect_no_complaint();
}

/* Runs after a failed test too: ends its storm. */
static void calm(void)
{
    if (storm.raging) {
        atomic_store(&storm.over, true);
        pthread_join(storm.changer, NULL);
        if (storm.place == LOOP) {
            SCRunLoopWakeUp(storm.loop);
            pthread_join(storm.driver, NULL);
        }
    }
    storm.raging = false;
}

/* ---- Ending callbacks ------------------------------------------------------------------------------------------- */

static struct listener storm_listener(void)
{
    return (struct listener){ .queue = storm.place == LOOP ? NULL : &storm.queue,
                              .never = ~(SCNetworkReachabilityFlags)R,
                              .news = &news };
}

/* Release without retain: once, and not while a call is under way. */
static void release_listener_alone(const void *info)
{
    struct listener *listener = (struct listener *)(uintptr_t)info;

    unit_complain_if(atomic_load(&listener->inside) != 0, "released during a call");
    unit_complain_if(atomic_fetch_add(&listener->releases, 1) != 0, "released twice");
    atomic_store(&listener->references, 0);
    sem_post(&news);
}

/* Waits without taking processor time from the storm. */
static void await(const atomic_int *value, bool wanted)
{
    while ((atomic_load(value) != 0) != wanted)
        time_limit_await(&news, wanted ? "no callback came" : "not all that was retained is released");
}

enum ending { UNSCHEDULE, CLEAR, REPLACE, RELEASE, ENDINGS };

/* Ends the callbacks to a listener. What the target needs after that is still done by the caller. */
static void end_callbacks(enum ending ending, SCNetworkReachabilityRef target, struct listener *next)
{
    switch (ending) {
    case CLEAR:
        assert_true(SCNetworkReachabilitySetCallback(target, NULL, NULL));
        break;
    case REPLACE:
        listener_set(next, target, listener_called);
        break;
    default:
        unschedule(target);
    }
}

static void end_one(enum ending ending, bool both_hooks)
{
    static struct listener listener, next;
    SCNetworkReachabilityRef target = expect_target("198.51.100.7");
    SCNetworkReachabilityContext context = { .info = &listener,
                                             .retain = both_hooks ? listener_retain : NULL,
                                             .release = both_hooks ? listener_release : release_listener_alone };
    int calls;

    listener = storm_listener();
    next = storm_listener();
    atomic_store(&listener.references, both_hooks ? 0 : 1);
    assert_true(SCNetworkReachabilitySetCallback(target, listener_called, &context));
    schedule(target);
    await(&listener.calls, true);
    end_callbacks(ending, target, &next);
    calls = atomic_load(&listener.calls);
    if (ending == RELEASE) {
        SCNetworkReachabilityRelease(target);
    } else if (ending == REPLACE) {
        await(&next.calls, true);
        unschedule(target);
        SCNetworkReachabilityRelease(target);
        await(&next.references, false);
    } else {
        if (ending == CLEAR)
            unschedule(target);
        SCNetworkReachabilityRelease(target);
    }
    /* Any thread may make the last release. After it the library does not use the listener. */
    await(&listener.references, false);
    if (storm.place != LOOP)
        await(&storm.queue.references, false); /* and not the queue */
    if (atomic_load(&listener.calls) > calls + 1)
        fail_msg("%d calls after it had ended", atomic_load(&listener.calls) - calls);
    unit_expect_no_complaint();
}

static void end_many(enum place place, enum ending ending)
{
    const unsigned rounds = rounds_wanted() / ENDINGS / (place == LOOP ? 1 : 2);

    storm_begin(place);
    for (unsigned i = 0; i < rounds; i++) {
        if (i == rounds / 10 * 9) { /* from now on they do */
            unschedule(storm.keeper);
            SCNetworkReachabilityRelease(storm.keeper);
        }
        end_one(ending, i % 2 == 0);
    }
    storm_end();
}

TEST_EACH(only_the_callback_in_progress_comes_after_unscheduling, places)
{
    end_many(row->place, UNSCHEDULE);
}

TEST_EACH(only_the_callback_in_progress_comes_after_clearing_the_callback, places)
{
    end_many(row->place, CLEAR);
}

TEST_EACH(only_the_callback_in_progress_comes_after_replacing_the_callback, places)
{
    end_many(row->place, REPLACE);
}

TEST_EACH(a_target_may_be_released_while_it_is_delivered, places)
{
    end_many(row->place, RELEASE);
}

/* ---- Callbacks that come and go --------------------------------------------------------------------------------- */

/* The same target all the time: its callback is set and cleared at every moment of a delivery. */
TEST_EACH(calls_stay_on_their_schedule_while_the_callback_is_set_and_cleared, places)
{
    static struct listener listener;
    const unsigned rounds = rounds_wanted() * 10;

    storm_begin(row->place);
    listener = storm_listener();
    SCNetworkReachabilityRef target = expect_target("198.51.100.7");
    schedule(target);
    for (unsigned i = 0; i < rounds && unit_complaint() == NULL; i++) {
        listener_set(&listener, target, listener_called);
        if (i % 100 == 0)
            await(&listener.calls, true);
        assert_true(SCNetworkReachabilitySetCallback(target, NULL, NULL));
        if (i % 100 == 0) {
            await(&listener.references, false);
            atomic_store(&listener.calls, 0);
        }
    }
    unschedule(target);
    SCNetworkReachabilityRelease(target);
    await(&listener.references, false);
    if (storm.place != LOOP)
        await(&storm.queue.references, false);
    unschedule(storm.keeper);
    SCNetworkReachabilityRelease(storm.keeper);
    storm_end();
}

/* ---- What is queued --------------------------------------------------------------------------------------------- */

/* Two targets have the same change. The first callback waits, so that the other is certainly queued. */
static struct {
    SCNetworkReachabilityRef targets[2];
    atomic_int first; /* which one was called; -1: none yet */
    sem_t entered, go_on;
} queued;

static void wait_inside(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    int none = -1;

    (void)flags, (void)info;
    if (atomic_compare_exchange_strong(&queued.first, &none, target == queued.targets[0] ? 0 : 1)) {
        sem_post(&queued.entered);
        sem_wait(&queued.go_on);
    } else {
        unit_complain_if(true, "a call that was queued was made after it had ended");
    }
}

static void end_queued(enum ending ending)
{
    SCNetworkReachabilityContext context = { 0 };

    atomic_store(&queued.first, -1);
    for (int i = 0; i < 2; i++) {
        queued.targets[i] = expect_target("198.51.100.7");
        assert_true(SCNetworkReachabilitySetCallback(queued.targets[i], wait_inside, &context));
        assert_true(SCNetworkReachabilityScheduleWithRunLoop(queued.targets[i], storm.loop, kSCRunLoopDefaultMode));
    }
    assert_int_equal(pthread_create(&storm.driver, NULL, drive, storm.loop), 0);
    unit_check(writer_route(&storm.writer, WRITER_ADD, &default_route), "default route");
    time_limit_await(&queued.entered, "no callback came");
    SCNetworkReachabilityRef other = queued.targets[1 - atomic_load(&queued.first)];
    end_callbacks(ending, other, NULL);
    if (ending == RELEASE)
        SCNetworkReachabilityRelease(other);
    atomic_store(&storm.over, true);
    sem_post(&queued.go_on);
    SCRunLoopWakeUp(storm.loop);
    pthread_join(storm.driver, NULL);
    /* The loop has emptied the queue. A call that is left would be made here. */
    SCRunLoopPerform(storm.loop, 0);
    atomic_store(&storm.over, false);
    for (int i = 0; i < 2; i++) {
        const bool is_other = queued.targets[i] == other;

        if (!is_other || ending == CLEAR)
            assert_true(
                SCNetworkReachabilityUnscheduleFromRunLoop(queued.targets[i], storm.loop, kSCRunLoopDefaultMode));
        if (!is_other || ending != RELEASE)
            SCNetworkReachabilityRelease(queued.targets[i]);
    }
    unit_check(writer_route(&storm.writer, WRITER_DELETE, &default_route), "default route");
    unit_expect_no_complaint();
}

TEST(queued_work_is_dropped_when_another_thread_unschedules)
{
    static const enum ending endings[] = { UNSCHEDULE, CLEAR, RELEASE };

    namespace_require_pair();
    unit_check(writer_open(&storm.writer), "writer");
    storm.loop = SCRunLoopCreate();
    assert_non_null(storm.loop);
    atomic_store(&storm.over, false);
    storm.place = LOOP;
    assert_int_equal(sem_init(&queued.entered, 0, 0), 0);
    assert_int_equal(sem_init(&queued.go_on, 0, 0), 0);
    for (unsigned i = 0; i < rounds_wanted() / 20; i++)
        end_queued(endings[i % 3]);
    SCRunLoopRelease(storm.loop);
    writer_close(&storm.writer);
}

static void start(void)
{
    MUST(sem_init(&news, 0, 0) == 0);
}

UNIT(.start = start, .cleanup = calm)
