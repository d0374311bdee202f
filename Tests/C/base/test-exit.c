/* SPDX-License-Identifier: MIT */
/* A process ends, however it likes to, while targets are scheduled: with the status it has chosen, at once, without a
 * word, and may use the library to the last. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/busy.h"
#include "support/namespace.h"
#include "support/program.h"
#include "support/unit.h"
#include "support/writer.h"

#define THREADS 3

static int chosen = 7; /* the status that a part ends with */

/* ---- Ways to end ------------------------------------------------------------------------------------------------ */

static int by_exit(void)
{
    busy_begin();
    exit(chosen);
}

static int by_return(void)
{
    busy_begin();
    return chosen;
}

static int by_quick_exit(void)
{
    busy_begin();
    quick_exit(chosen);
}

static int at_once(void)
{
    busy_begin();
    _exit(chosen);
}

/* The process ends with its last thread, and with 0. That may be the library's, which has nothing left to do. */
static int by_pthread_exit(void)
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

static void ask_it_once_more(void)
{
    SCNetworkReachabilityFlags flags;

    for (int i = 0; i < BUSY_TARGETS; i++)
        MUST(SCNetworkReachabilityGetFlags(busy.targets[i], &flags));
    dprintf(1, "asked\n");
}

/* As the destructors of a C++ program's statics are, which come after all that main() has registered. */
__attribute__((destructor)) static void at_the_very_end(void)
{
    SCNetworkReachabilityRef   target;
    SCNetworkReachabilityFlags flags;

    if (!says_so)
        return;
    target = SCNetworkReachabilityCreateWithName(NULL, "127.0.0.1");
    MUST(target != NULL);
    MUST(SCNetworkReachabilityGetFlags(target, &flags));
    SCNetworkReachabilityRelease(target);
    dprintf(1, "made\n");
}

/* The one that is registered first is called last. */
static void register_uses(void)
{
    says_so = true;
    MUST(atexit(use_it_once_more) == 0);
    busy_begin();
    MUST(atexit(ask_it_once_more) == 0);
}

static int by_exit_with_uses(void)
{
    register_uses();
    exit(chosen);
}

static int by_return_with_uses(void)
{
    register_uses();
    return chosen;
}

static int by_pthread_exit_with_uses(void)
{
    own_loop_ended = true;
    register_uses();
    busy_leave_scheduler();
    pthread_exit(NULL);
}

static int by_quick_exit_with_uses(void)
{
    MUST(at_quick_exit(use_it_once_more) == 0);
    busy_begin();
    MUST(at_quick_exit(ask_it_once_more) == 0);
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
    SCRunLoopRun(); /* for ever: nobody stops it */
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
        SCNetworkReachabilityRef   target = SCNetworkReachabilityCreateWithName(NULL, "127.0.0.1");
        SCRunLoopRef               loop = SCRunLoopCreate();
        SCNetworkReachabilityFlags flags;

        MUST(target != NULL && loop != NULL);
        MUST(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
        MUST(SCRunLoopPerform(loop, 0) == 0);
        MUST(SCNetworkReachabilityGetFlags(busy.targets[BUSY_ASKED], &flags));
        MUST(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
        SCNetworkReachabilityRelease(target);
        SCRunLoopRelease(loop);
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

static int while_others_drive(void)
{
    start((void *(*const[THREADS])(void *)){ drive, drive, drive_other });
    return chosen;
}

static int while_others_use_it(void)
{
    start((void *(*const[THREADS])(void *)){ use, use, use });
    return chosen;
}

static void *end_it(void *unused)
{
    exit(chosen);
    return unused;
}

static int by_another_thread(void)
{
    pthread_t thread;

    register_uses();
    MUST(pthread_create(&thread, NULL, end_it, NULL) == 0);
    SCRunLoopRun(); /* until a handler unschedules what is there */
    for (;;)
        pause();
}

static void end_inside(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target;
    (void)flags;
    (void)info;
    exit(chosen);
}

static int by_a_callback(void)
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
    MUST(!SCNetworkReachabilityScheduleWithRunLoop(busy.targets[BUSY_ASKED], busy.own, kSCRunLoopDefaultMode));
    MUST(SCError() == kSCStatusInvalidArgument);
    MUST(SCNetworkReachabilityScheduleWithRunLoop(busy.targets[BUSY_ASKED], own, kSCRunLoopDefaultMode));
    MUST(SCRunLoopRunInMode(kSCRunLoopDefaultMode, 0, 0) == kSCRunLoopRunTimedOut);
    busy_leave_scheduler();
    return unused;
}

static int by_the_last_of_several_threads(void)
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

#define USES "asked\nused\nmade\n"

static const struct part {
    const char *name;
    int (*play)(void);
} parts[] = {
    { "exit", by_exit },
    { "return", by_return },
    { "quick_exit", by_quick_exit },
    { "_exit", at_once },
    { "pthread_exit", by_pthread_exit },
    { "exit with uses", by_exit_with_uses },
    { "return with uses", by_return_with_uses },
    { "quick_exit with uses", by_quick_exit_with_uses },
    { "pthread_exit with uses", by_pthread_exit_with_uses },
    { "return while others drive", while_others_drive },
    { "return while others use it", while_others_use_it },
    { "exit by another thread", by_another_thread },
    { "exit in a callback", by_a_callback },
    { "the last thread", by_the_last_of_several_threads },
};

static int play(const char *name)
{
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strcmp(parts[i].name, name) == 0)
            return parts[i].play();
    MUST(!"there is such a part");
    return 1;
}

static int begin(void **state)
{
    (void)state;
    namespace_require();
    namespace_ip("link set dev lo up");
    return 0;
}

static void a_process_that_exits_does_so_with_its_status(void **state)
{
    (void)state;
    EXPECT_PROGRAM("exit", chosen, "");
    EXPECT_PROGRAM("return", chosen, "");
    EXPECT_PROGRAM("quick_exit", chosen, "");
    EXPECT_PROGRAM("_exit", chosen, "");
}

static void exit_handlers_may_go_on_using_what_there_is(void **state)
{
    (void)state;
    EXPECT_PROGRAM("exit with uses", chosen, USES);
    EXPECT_PROGRAM("return with uses", chosen, USES);
    EXPECT_PROGRAM("quick_exit with uses", chosen, "asked\nused\n");
}

static bool runs_under(const char *tool)
{
    const char *under = getenv("TEST_UNDER");

    return under != NULL && strcmp(under, tool) == 0;
}

static void other_threads_may_be_inside_the_library(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        EXPECT_PROGRAM("return while others drive", chosen, "");
        EXPECT_PROGRAM("return while others use it", chosen, "");
    }
}

static void another_thread_may_end_it_while_the_main_one_drives(void **state)
{
    (void)state;
    EXPECT_PROGRAM("exit by another thread", chosen, USES);
}

static void a_callback_may_end_it(void **state)
{
    (void)state;
    EXPECT_PROGRAM("exit in a callback", chosen, USES);
}

static void the_main_thread_may_end_before_the_process(void **state)
{
    (void)state;
    if (runs_under("tsan"))
        SKIP("a main thread that ends leaves every program hanging under gcc's thread sanitizer");
    for (int i = 0; i < 10; i++) {
        EXPECT_PROGRAM("pthread_exit", 0, "");
        EXPECT_PROGRAM("pthread_exit with uses", 0, USES);
        EXPECT_PROGRAM("the last thread", 0, USES);
    }
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_process_that_exits_does_so_with_its_status, begin),
        cmocka_unit_test_setup(exit_handlers_may_go_on_using_what_there_is, begin),
        cmocka_unit_test_setup(other_threads_may_be_inside_the_library, begin),
        cmocka_unit_test_setup(another_thread_may_end_it_while_the_main_one_drives, begin),
        cmocka_unit_test_setup(a_callback_may_end_it, begin),
        cmocka_unit_test_setup(the_main_thread_may_end_before_the_process, begin),
    };

    return count > 1 ? play(arguments[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}
