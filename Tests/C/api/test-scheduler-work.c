/* SPDX-License-Identifier: MIT */
/*
 * Schedulers that misbehave: they run work at once, late, never, twice or on many threads at a time, and their
 * `perform` calls the library. All of this is safe. Work never makes the callback of another target.
 */
#include <malloc.h>

#include "support/observer.h"
#include "support/queue.h"
#include "support/test.h"

#define MANY 1000

/* Counts the calls of a target, and those outside its queue. */
struct listener {
    const struct queue *queue; /* NULL: anywhere */
    atomic_int calls, elsewhere;
    sem_t called;
};

static void count_call(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct listener *listener = info;

    (void)target, (void)flags;
    atomic_fetch_add(&listener->elsewhere, listener->queue != NULL && !queue_is_here(listener->queue));
    atomic_fetch_add(&listener->calls, 1);
    sem_post(&listener->called);
}

static void listener_set(struct listener *listener, const struct queue *queue, SCNetworkReachabilityRef target)
{
    memset(listener, 0, sizeof *listener);
    listener->queue = queue;
    assert_int_equal(sem_init(&listener->called, 0, 0), 0);
    expect_callback_set(target, count_call, listener);
}

static void run(const struct queue_work *work)
{
    work->run(work->argument);
}

/* A target with pending work in the queue. */
static SCNetworkReachabilityRef make_due(struct queue *queue, struct listener *listener)
{
    SCNetworkReachabilityRef target = expect_name("localhost");
    const unsigned long before = queue_performs(queue);

    listener_set(listener, queue, target);
    assert_true(queue_set(queue, target));
    queue_await(queue, before + 1);
    return target;
}

/* Opens the queue, and takes the work of a new target from it. */
static SCNetworkReachabilityRef open_and_take(struct queue *queue, struct listener *listener, struct queue_work *work)
{
    queue_open(queue, 0);
    SCNetworkReachabilityRef target = expect_target(FAR);
    listener_set(listener, queue, target);
    assert_true(queue_set(queue, target));
    observer_add_gateway_route();
    assert_true(queue_take(queue, work));
    return target;
}

/* A queue, and a target whose work was taken from it. */
static struct {
    struct queue queue;
    struct listener listener;
    struct queue_work work;
    SCNetworkReachabilityRef target;
} due;

static void due_open(void)
{
    queue_open(&due.queue, 0);
    due.target = make_due(&due.queue, &due.listener);
    assert_true(queue_take(&due.queue, &due.work));
}

static void due_unschedule(void)
{
    assert_true(SCNetworkReachabilitySetScheduler(due.target, NULL));
}

static void due_expect(int calls, int references)
{
    assert_int_equal(atomic_load(&due.listener.calls), calls);
    assert_int_equal(atomic_load(&due.queue.references), references);
}

/* Other targets are scheduled, get their callback, and are released. */
static void come_and_go(int count)
{
    struct queue queue;
    struct listener listener;

    queue_open(&queue, 0);
    for (int i = 0; i < count; i++) {
        SCOPED_TARGET target = make_due(&queue, &listener);

        assert_true(queue_run(&queue));
        assert_int_equal(atomic_load(&listener.calls), 1);
        assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
    }
    observer_settle();
    assert_int_equal(atomic_load(&queue.references), 0);
    queue_close(&queue);
}

/* ---- At once ---------------------------------------------------------------------------------------------------- */

static struct {
    char name[16];
    bool all_blocked;
    int calls, inside, overlaps;
    sem_t called;
} at_once;

static void look_at_the_thread(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    sigset_t blocked;

    (void)target, (void)flags, (void)info;
    pthread_getname_np(pthread_self(), at_once.name, sizeof at_once.name);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    at_once.all_blocked = true;
    for (int number = 1; number <= SIGRTMAX; number++) {
        const bool can_be = number != SIGKILL && number != SIGSTOP && (number < 32 || number >= SIGRTMIN);

        if (can_be && sigismember(&blocked, number) == 0)
            at_once.all_blocked = false;
    }
    sem_post(&at_once.called);
}

static SCNetworkReachabilityRef begin_at_once(SCNetworkReachabilityCallBack callback)
{
    const SCNetworkReachabilityScheduler scheduler = { .perform = perform_at_once };
    SCNetworkReachabilityRef target = expect_name("localhost");

    memset(&at_once, 0, sizeof at_once);
    assert_int_equal(sem_init(&at_once.called, 0, 0), 0);
    assert_true(SCNetworkReachabilitySetCallback(target, callback, NULL));
    assert_true(SCNetworkReachabilitySetScheduler(target, &scheduler));
    return target;
}

TEST(work_run_at_once_calls_on_the_library_thread)
{
    SCOPED_TARGET target = begin_at_once(look_at_the_thread);

    time_limit_await(&at_once.called, "nothing came");
    assert_string_equal(at_once.name, "reachability");
    assert_true(at_once.all_blocked);
    assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
}

/* Each schedule reports the name again. Other targets must get their callbacks even so. */
static void start_over(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    const SCNetworkReachabilityScheduler scheduler = { .perform = perform_at_once };

    (void)flags, (void)info;
    at_once.overlaps += at_once.inside++ != 0;
    at_once.calls++;
    SCNetworkReachabilitySetScheduler(target, NULL);
    SCNetworkReachabilitySetScheduler(target, &scheduler);
    at_once.inside--;
    sem_post(&at_once.called);
}

TEST(a_callback_at_once_that_sets_its_scheduler_again_does_not_block_others)
{
    SCOPED_TARGET target = begin_at_once(start_over);

    for (int i = 0; i < 100; i++)
        time_limit_await(&at_once.called, "nothing came");
    observer_settle();
    /* The target is almost always on a scheduler. */
    assert_true(SCNetworkReachabilitySetCallback(target, NULL, NULL));
    observer_settle();
    assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
    assert_int_equal(at_once.overlaps, 0);
}

/* ---- Late ------------------------------------------------------------------------------------------------------- */

TEST(work_may_be_run_after_everything_is_gone)
{
    for (int others = 0; others <= MANY; others += MANY) {
        due_open();
        due_unschedule();
        SCNetworkReachabilityRelease(due.target);
        come_and_go(others);
        due_expect(0, 1);
        run(&due.work);
        due_expect(0, 0);
        queue_close(&due.queue);
    }
}

TEST(work_may_be_run_when_the_target_is_on_another_scheduler)
{
    struct queue second;

    due_open();
    queue_open(&second, 0);
    due_unschedule();
    due.listener.queue = &second;
    assert_true(queue_set(&second, due.target));
    queue_await(&second, 1);
    observer_settle();
    run(&due.work);
    due_expect(0, 0);
    assert_true(queue_run(&second));
    due_expect(1, 0);
    assert_int_equal(atomic_load(&due.listener.elsewhere), 0);
    due_unschedule();
    SCNetworkReachabilityRelease(due.target);
    queue_close(&due.queue);
    queue_close(&second);
}

/* ---- Never ------------------------------------------------------------------------------------------------------ */

TEST(a_target_whose_work_is_never_run_gets_no_more_callbacks)
{
    struct queue queue;
    struct listener listener;
    struct queue_work lost;
    SCNetworkReachabilityRef target = open_and_take(&queue, &listener, &lost);

    observer_delete_route();
    observer_add_gateway_route();
    assert_int_equal(queue_performs(&queue), 1);
    assert_int_equal(expect_flags_of(target), R);
    /* Until it is scheduled again. */
    assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
    assert_true(queue_set(&queue, target));
    observer_delete_route();
    assert_true(queue_run(&queue));
    assert_int_equal(atomic_load(&listener.calls), 1);
    assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
    SCNetworkReachabilityRelease(target);
    run(&lost); /* it still has a reference */
    assert_int_equal(atomic_load(&listener.calls), 1);
    queue_close(&queue);
}

static atomic_int freed;

static void count_freed(const void *info)
{
    (void)info;
    atomic_fetch_add(&freed, 1);
}

static atomic_int performs;

static void perform_never(void *info, void (*work)(void *argument), void *argument)
{
    (void)info, (void)work, (void)argument;
    atomic_fetch_add(&performs, 1);
}

/* Creates and releases targets whose work is never run. */
static void schedule_and_release(int count)
{
    const SCNetworkReachabilityScheduler scheduler = { .perform = perform_never };
    SCNetworkReachabilityContext context = { .release = count_freed };

    for (int i = 0; i < count; i++) {
        SCOPED_TARGET target = expect_name("localhost");
        const int before = atomic_load(&performs);

        assert_true(SCNetworkReachabilitySetCallback(target, ignore_call, &context));
        assert_true(SCNetworkReachabilitySetScheduler(target, &scheduler));
        observer_settle();
        assert_int_equal(atomic_load(&performs), before + 1);
        assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
    }
}

/* valgrind and the sanitizers have their own heaps, and their own leak checks. */
static long heap(void)
{
#ifdef __GLIBC__
    const struct mallinfo2 info = mallinfo2();

    return (long)(info.uordblks + info.hblkhd);
#else
    return 0;
#endif
}

TEST(work_never_run_leaks_one_argument_only)
{
    const long limit = 256; /* bytes for each: the argument of a work, not a target or a schedule */

    if (unit_is_under(NULL))
        SKIP("the tool reports the leak");
    schedule_and_release(100);
    atomic_store(&freed, 0);
    long before = heap();
    schedule_and_release(MANY);
    assert_int_equal(atomic_load(&freed), MANY);
    if (heap() > before + limit * MANY)
        fail_msg("%ld bytes leaked for each", (heap() - before) / MANY);
}

/* ---- What perform may do ---------------------------------------------------------------------------------------- */

static struct {
    SCNetworkReachabilityRef target;
    struct queue queue; /* receives the work in the end */
    struct queue other;
    SCRunLoopRef loop;
    struct listener listener;
    void (*inside)(void);
    int refused;
    sem_t performed;
} busy;

static void perform_busily(void *info, void (*work)(void *argument), void *argument)
{
    const SCNetworkReachabilityScheduler plain = queue_scheduler(&busy.queue);

    (void)info;
    if (busy.inside != NULL)
        busy.inside();
    plain.perform(&busy.queue, work, argument);
    sem_post(&busy.performed);
}

static void check(SCBoolean done)
{
    busy.refused += !done;
}

/* Its hooks count in the queue. Its perform first calls `inside`. */
static void busy_open(void (*inside)(void))
{
    memset(&busy, 0, sizeof busy);
    queue_open(&busy.queue, 0);
    queue_open(&busy.other, 0);
    busy.loop = SCRunLoopCreate();
    busy.inside = inside;
    assert_int_equal(sem_init(&busy.performed, 0, 0), 0);
    SCNetworkReachabilityScheduler scheduler = queue_scheduler(&busy.queue);
    scheduler.perform = perform_busily;
    busy.target = expect_target(FAR);
    listener_set(&busy.listener, NULL, busy.target);
    assert_true(SCNetworkReachabilitySetScheduler(busy.target, &scheduler));
    observer_add_gateway_route();
    time_limit_await(&busy.performed, "nothing came");
    assert_int_equal(busy.refused, 0);
}

static void busy_close(void)
{
    if (busy.target != NULL)
        (void)SCNetworkReachabilitySetScheduler(busy.target, NULL);
    while (queue_run(&busy.queue) || queue_run(&busy.other))
        continue;
    SCNetworkReachabilityRelease(busy.target);
    observer_settle();
    assert_int_equal(atomic_load(&busy.queue.references), 0);
    assert_int_equal(atomic_load(&busy.other.references), 0);
    SCRunLoopRelease(busy.loop);
    queue_close(&busy.queue);
    queue_close(&busy.other);
}

static void unschedule_in_perform(void)
{
    check(SCNetworkReachabilitySetScheduler(busy.target, NULL));
}

TEST(perform_may_unschedule)
{
    busy_open(unschedule_in_perform);
    assert_int_equal(atomic_load(&busy.queue.references), 1);
    assert_true(queue_run(&busy.queue));
    assert_int_equal(atomic_load(&busy.listener.calls), 0);
    assert_int_equal(atomic_load(&busy.queue.references), 0);
    busy_close();
}

static void let_go_in_perform(void)
{
    unschedule_in_perform();
    SCNetworkReachabilityRelease(busy.target);
    busy.target = NULL;
}

static void move_in_perform(void)
{
    unschedule_in_perform();
    check(queue_set(&busy.other, busy.target));
}

TEST(perform_may_set_another_scheduler)
{
    busy_open(move_in_perform);
    assert_true(queue_run(&busy.queue)); /* scheduling again has evaluated: no change is left */
    assert_int_equal(atomic_load(&busy.listener.calls), 0);
    busy.listener.queue = &busy.other;
    observer_delete_route();
    assert_true(queue_run(&busy.other));
    assert_int_equal(atomic_load(&busy.listener.calls), 1);
    assert_int_equal(atomic_load(&busy.listener.elsewhere), 0);
    busy_close();
}

static void again_in_perform(void)
{
    SCNetworkReachabilityScheduler scheduler = queue_scheduler(&busy.queue);

    busy.inside = NULL;
    scheduler.perform = perform_busily;
    unschedule_in_perform();
    check(SCNetworkReachabilitySetScheduler(busy.target, &scheduler));
}

TEST(perform_may_set_the_same_scheduler_again)
{
    busy_open(again_in_perform);
    observer_delete_route();
    assert_int_equal(queue_count(&busy.queue), 2);
    assert_true(queue_run(&busy.queue));
    assert_int_equal(atomic_load(&busy.listener.calls), 0);
    assert_true(queue_run(&busy.queue));
    assert_int_equal(atomic_load(&busy.listener.calls), 1);
    assert_int_equal(atomic_load(&busy.queue.references), 1);
    busy_close();
}

static void move_to_loop_in_perform(void)
{
    unschedule_in_perform();
    check(SCNetworkReachabilityScheduleWithRunLoop(busy.target, busy.loop, kSCRunLoopDefaultMode));
}

TEST(perform_may_schedule_on_a_run_loop)
{
    busy_open(move_to_loop_in_perform);
    assert_true(queue_run(&busy.queue));
    assert_int_equal(SCRunLoopPerform(busy.loop, 0), 0);
    assert_int_equal(atomic_load(&busy.listener.calls), 0);
    observer_delete_route();
    assert_int_equal(SCRunLoopPerform(busy.loop, 5), 1);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(busy.target, busy.loop, kSCRunLoopDefaultMode));
    busy_close();
}

static void clear_in_perform(void)
{
    check(SCNetworkReachabilitySetCallback(busy.target, NULL, NULL));
}

static struct listener replacement;

static void replace_in_perform(void)
{
    busy.inside = NULL;
    check(SCNetworkReachabilitySetCallback(busy.target, count_call,
                                           &(SCNetworkReachabilityContext){ .info = &replacement }));
}

TEST(perform_may_replace_the_callback)
{
    memset(&replacement, 0, sizeof replacement);
    assert_int_equal(sem_init(&replacement.called, 0, 0), 0);
    busy_open(replace_in_perform);
    assert_true(queue_run(&busy.queue));
    observer_delete_route();
    assert_true(queue_run(&busy.queue));
    assert_int_equal(atomic_load(&busy.listener.calls), 0);
    assert_true(atomic_load(&replacement.calls) > 0);
    busy_close();
}

static void ask_in_perform(void)
{
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;
    SCNetworkReachabilityFlags flags;
    char text[512];

    check(SCNetworkReachabilityGetFlags(busy.target, &flags) && flags == R);
    check(SCNetworkReachabilityGetPath(busy.target, &path) && path.flags == R);
    check(SCNetworkReachabilityGetDescription(busy.target, text, sizeof text) > 0);
    SCNetworkReachabilityRelease(SCNetworkReachabilityRetain(busy.target));
    SCOPED_TARGET fresh = SCNetworkReachabilityCreateWithName(NULL, "localhost");
    check(queue_set(&busy.other, fresh));
    check(SCNetworkReachabilitySetScheduler(fresh, NULL));
}

static const struct {
    const char *name;
    void (*inside)(void);
    int calls; /* of the callback */
} perform_rows[] = {
    { "release_the_last_reference", let_go_in_perform, 0 },
    { "clear_the_callback", clear_in_perform, 0 },
    { "make_every_call", ask_in_perform, 1 },
};

TEST_EACH(perform_may, perform_rows)
{
    busy_open(row->inside);
    assert_true(queue_run(&busy.queue));
    assert_int_equal(atomic_load(&busy.listener.calls), row->calls);
    busy_close();
}

UNIT(.setup = observer_open)
