/* SPDX-License-Identifier: MIT */
/* A process ends in every way while targets are scheduled. It ends at once, with its own status and without output. It
 * may use the library to the end. */
#include "support/busy.h"
#include "support/test.h"

#define THREADS 3

static int chosen = 7; /* the status that a part ends with */

/* ---- Ways to end ------------------------------------------------------------------------------------------------ */

PART(by_exit)
{
    busy_begin();
    exit(chosen);
}

PART(by_return)
{
    busy_begin();
    return chosen;
}

PART(by_quick_exit)
{
    busy_begin();
    quick_exit(chosen);
}

PART(at_once)
{
    busy_begin();
    _exit(chosen);
}

/* The process ends with its last thread, with status 0. The last thread may be the library thread, which has no work
 * left. */
PART(by_pthread_exit)
{
    busy_begin();
    busy_leave_scheduler();
    pthread_exit(NULL);
}

/* ---- What is called at the end ---------------------------------------------------------------------------------- */

static bool says_so, own_loop_ended;

static void use_it_once_more(void)
{
    busy_end(own_loop_ended);
    dprintf(1, "used\n");
}

static void query_once_more(void)
{
    SCNetworkReachabilityFlags flags;

    for (int i = 0; i < BUSY_TARGETS; i++)
        MUST(SCNetworkReachabilityGetFlags(busy.targets[i], &flags));
    dprintf(1, "queried\n");
}

/* Like the destructors of static C++ objects: they run after every handler that main() has registered. */
__attribute__((destructor)) static void at_the_very_end(void)
{
    SCNetworkReachabilityFlags flags;

    if (!says_so)
        return;
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, "127.0.0.1");
    MUST(target != NULL);
    MUST(SCNetworkReachabilityGetFlags(target, &flags));
    SCNetworkReachabilityRelease(target);
    dprintf(1, "made\n");
}

/* The first handler is called last. */
static void register_uses(void)
{
    says_so = true;
    MUST(atexit(use_it_once_more) == 0);
    busy_begin();
    MUST(atexit(query_once_more) == 0);
}

PART(by_exit_with_uses)
{
    register_uses();
    exit(chosen);
}

PART(by_return_with_uses)
{
    register_uses();
    return chosen;
}

PART(by_pthread_exit_with_uses)
{
    own_loop_ended = true;
    register_uses();
    busy_leave_scheduler();
    pthread_exit(NULL);
}

PART(by_quick_exit_with_uses)
{
    MUST(at_quick_exit(use_it_once_more) == 0);
    busy_begin();
    MUST(at_quick_exit(query_once_more) == 0);
    quick_exit(chosen);
}

/* ---- With other threads in the library -------------------------------------------------------------------------- */

static pthread_barrier_t barrier;

static void *drive(void *unused)
{
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, "127.0.0.1");

    MUST(target != NULL);
    MUST(SCNetworkReachabilityScheduleWithRunLoop(target, SCRunLoopGetCurrent(), kSCRunLoopDefaultMode));
    pthread_barrier_wait(&barrier);
    SCRunLoopRun(); /* for ever: there is no stop */
    return unused;
}

static void *drive_other(void *unused)
{
    pthread_barrier_wait(&barrier);
    SCRunLoopPerform(busy.loop, -1);
    return unused;
}

static void *use(void *unused)
{
    pthread_barrier_wait(&barrier);
    for (;;) {
        SCOPED_TARGET target = SCNetworkReachabilityCreateWithName(NULL, "127.0.0.1");
        SCOPED_LOOP loop = SCRunLoopCreate();
        SCNetworkReachabilityFlags flags;

        MUST(target != NULL && loop != NULL);
        MUST(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
        MUST(SCRunLoopPerform(loop, 0) == 0);
        MUST(SCNetworkReachabilityGetFlags(busy.targets[BUSY_QUERIED], &flags));
        MUST(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    }
    return unused;
}

static void start(void *(*const bodies[THREADS])(void *))
{
    pthread_t thread;

    busy_begin();
    MUST(pthread_barrier_init(&barrier, NULL, THREADS + 1) == 0);
    for (int i = 0; i < THREADS; i++) {
        MUST(pthread_create(&thread, NULL, bodies[i], NULL) == 0);
        MUST(pthread_detach(thread) == 0);
    }
    pthread_barrier_wait(&barrier);
}

PART(while_others_drive)
{
    start((void *(*const[THREADS])(void *)){ drive, drive, drive_other });
    return chosen;
}

PART(while_others_use_it)
{
    start((void *(*const[THREADS])(void *)){ use, use, use });
    return chosen;
}

static void *end_it(void *unused)
{
    exit(chosen);
    return unused;
}

PART(by_another_thread)
{
    pthread_t thread;

    register_uses();
    MUST(pthread_create(&thread, NULL, end_it, NULL) == 0);
    SCRunLoopRun(); /* until a handler unschedules the targets */
    for (;;)
        pause();
}

static void end_inside(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)flags, (void)info;
    exit(chosen);
}

PART(by_a_callback)
{
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, "host.example");

    register_uses();
    MUST(SCNetworkReachabilitySetCallback(target, end_inside, NULL));
    MUST(SCNetworkReachabilityScheduleWithRunLoop(target, busy.own, kSCRunLoopDefaultMode));
    SCRunLoopRun();
    return 1;
}

static pthread_t main_thread;

static void *outlive(void *unused)
{
    SCRunLoopRef own = SCRunLoopGetCurrent();

    MUST(pthread_join(main_thread, NULL) == 0);
    MUST(own != busy.own);
    MUST(!SCNetworkReachabilityScheduleWithRunLoop(busy.targets[BUSY_QUERIED], busy.own, kSCRunLoopDefaultMode));
    MUST(SCError() == kSCStatusInvalidArgument);
    MUST(SCNetworkReachabilityScheduleWithRunLoop(busy.targets[BUSY_QUERIED], own, kSCRunLoopDefaultMode));
    MUST(SCRunLoopRunInMode(kSCRunLoopDefaultMode, 0, 0) == kSCRunLoopRunTimedOut);
    busy_leave_scheduler();
    return unused;
}

PART(by_the_last_of_several_threads)
{
    pthread_t thread;

    own_loop_ended = true;
    main_thread = pthread_self();
    register_uses();
    MUST(pthread_create(&thread, NULL, outlive, NULL) == 0);
    MUST(pthread_detach(thread) == 0);
    pthread_exit(NULL);
}

/* The thread sanitizer waits at each exit, else for a second. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "atexit_sleep_ms=50";
}

/* ---- Tests ------------------------------------------------------------------------------------------------------ */

#define USES "queried\nused\nmade\n"

TEST(a_process_exits_with_its_own_status)
{
    EXPECT_PROGRAM(by_exit, chosen, "");
    EXPECT_PROGRAM(by_return, chosen, "");
    EXPECT_PROGRAM(by_quick_exit, chosen, "");
    EXPECT_PROGRAM(at_once, chosen, "");
}

/* How often a race is tried. Under valgrind each start of the program takes a second. */
static int times(void)
{
    return unit_is_under("valgrind") ? 2 : 10;
}

TEST(exit_handlers_may_use_the_library)
{
    EXPECT_PROGRAM(by_exit_with_uses, chosen, USES);
    EXPECT_PROGRAM(by_return_with_uses, chosen, USES);
    EXPECT_PROGRAM(by_quick_exit_with_uses, chosen, "queried\nused\n");
}

TEST(a_process_may_exit_while_threads_are_inside_the_library)
{
    for (int i = 0; i < times(); i++) {
        EXPECT_PROGRAM(while_others_drive, chosen, "");
        EXPECT_PROGRAM(while_others_use_it, chosen, "");
    }
}

TEST(another_thread_may_exit_while_the_main_thread_drives)
{
    EXPECT_PROGRAM(by_another_thread, chosen, USES);
}

TEST(a_callback_may_exit)
{
    EXPECT_PROGRAM(by_a_callback, chosen, USES);
}

TEST(the_main_thread_may_end_before_the_process)
{
    if (unit_is_under("tsan"))
        SKIP("a main thread that ends leaves every program hanging under gcc's thread sanitizer");
    for (int i = 0; i < times(); i++) {
        EXPECT_PROGRAM(by_pthread_exit, 0, "");
        EXPECT_PROGRAM(by_pthread_exit_with_uses, 0, USES);
        EXPECT_PROGRAM(by_the_last_of_several_threads, 0, USES);
    }
}

UNIT(.setup = namespace_require_lo)
