/* SPDX-License-Identifier: MIT */
/* The shared library, loaded and unloaded a thousand times by a program that is not linked with it, as in a plug-in
 * host or another language. */
#include <dirent.h>
#include <dlfcn.h>
#include <malloc.h>
#include <semaphore.h>

#include "support/test.h"

#define WARM_UP 50

/* Sanitizers keep data about every thread and allocation, and refuse RTLD_DEEPBIND. */
static bool is_sanitized(void)
{
    return unit_is_under("asan") || unit_is_under("tsan");
}

static int rounds(void)
{
    return is_sanitized() ? 100 : 1000;
}

/* ---- The library ------------------------------------------------------------------------------------------------ */

/* Every test program is linked with the static library. This file does not call it. */
#define FUNCTIONS(F) \
    F(SCError) \
    F(SCNetworkReachabilityCreateWithName) \
    F(SCNetworkReachabilityGetFlags) \
    F(SCNetworkReachabilityGetVersion) \
    F(SCNetworkReachabilityRelease) \
    F(SCNetworkReachabilityScheduleWithRunLoop) \
    F(SCNetworkReachabilitySetCallback) \
    F(SCNetworkReachabilitySetScheduler) \
    F(SCNetworkReachabilityUnscheduleFromRunLoop) \
    F(SCRunLoopCreate) \
    F(SCRunLoopGetCurrent) \
    F(SCRunLoopPerform) \
    F(SCRunLoopRelease)

struct functions {
#define MEMBER(name) __typeof__(&name) name;
    FUNCTIONS(MEMBER)
};

struct library {
    void *handle;
    struct functions call;
};

/* The library that was built with this program: PROGRAM/../../libreachability.so.0. */
static const char *library_path(void)
{
    static char path[4096 + 32];
    char *end;

    snprintf(path, sizeof path, "%s", program_path());
    for (int i = 0; i < 2; i++) {
        end = strrchr(path, '/');
        MUST(end != NULL);
        *end = '\0';
    }
    strcat(path, "/libreachability.so.0");
    return path;
}

static bool library_open(struct library *ret, int mode)
{
    memset(ret, 0, sizeof *ret);
    ret->handle = dlopen(library_path(), mode);
    if (ret->handle == NULL) {
        dprintf(2, "%s\n", dlerror());
        return false;
    }
#define LOOK_UP(name) \
    ret->call.name = (__typeof__(&name))dlsym(ret->handle, #name); \
    if (ret->call.name == NULL) \
        return false;
    FUNCTIONS(LOOK_UP)
    return true;
}

/* ---- Parts ------------------------------------------------------------------------------------------------------ */

static struct writer writer;
static int calls;
static const struct writer_route route = { .prefix = "198.51.100.0/24", .gateway = "192.0.2.1" };

static void called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)info;
    MUST(flags == kSCNetworkReachabilityFlagsReachable);
    calls++;
}

/* Reports one change on this loop. The target stays scheduled. */
static SCNetworkReachabilityRef follow(const struct functions *call, SCRunLoopRef loop)
{
    SCNetworkReachabilityRef target = call->SCNetworkReachabilityCreateWithName(NULL, "198.51.100.7");
    SCNetworkReachabilityFlags flags = 0xdeadbeef;

    calls = 0;
    MUST(target != NULL && loop != NULL);
    MUST(call->SCNetworkReachabilityGetFlags(target, &flags) && flags == 0);
    MUST(call->SCNetworkReachabilitySetCallback(target, called, NULL));
    MUST(call->SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    MUST(call->SCRunLoopPerform(loop, 0) == 0);
    MUST(writer_route(&writer, WRITER_ADD, &route) == 0);
    MUST(call->SCRunLoopPerform(loop, 10) == 1 && calls == 1);
    MUST(call->SCNetworkReachabilityGetFlags(target, &flags) && flags == kSCNetworkReachabilityFlagsReachable);
    MUST(writer_route(&writer, WRITER_DELETE, &route) == 0);
    return target;
}

/* From dlopen to dlclose. */
static void use(int mode)
{
    static struct functions first;
    struct library library;
    const struct functions *const call = &library.call;

    MUST(library_open(&library, mode));
    if (first.SCError == NULL)
        first = *call;
    MUST(memcmp(&first, call, sizeof first) == 0);
    SCRunLoopRef loop = call->SCRunLoopCreate();
    SCNetworkReachabilityRef target = follow(call, loop);
    MUST(call->SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    call->SCNetworkReachabilityRelease(target);
    call->SCRunLoopRelease(loop);
    MUST(!call->SCNetworkReachabilityGetFlags(NULL, NULL) && call->SCError() == kSCStatusInvalidArgument);
    MUST(dlclose(library.handle) == 0);
}

/* The thread's own loop, and its schedules, end with the thread, after dlclose. */
static void *use_and_end(void *mode)
{
    struct library library;

    use(*(const int *)mode);
    MUST(library_open(&library, *(const int *)mode));
    SCNetworkReachabilityRef target = follow(&library.call, library.call.SCRunLoopGetCurrent());
    library.call.SCNetworkReachabilityRelease(target);
    MUST(dlclose(library.handle) == 0);
    return NULL;
}

static void use_on_a_thread(int mode)
{
    pthread_t thread;

    MUST(pthread_create(&thread, NULL, use_and_end, &mode) == 0);
    MUST(pthread_join(thread, NULL) == 0);
}

static sem_t call_made;

static bool await_post(sem_t *semaphore)
{
    struct timespec end;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 10;
    return sem_timedwait(semaphore, &end) == 0;
}

static void note_call(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)flags, (void)info;
    sem_post(&call_made);
}

/* The library's thread outlives dlclose. */
static void use_a_scheduler(int mode)
{
    const SCNetworkReachabilityScheduler scheduler = { .perform = perform_at_once };
    struct library library;

    MUST(library_open(&library, mode));
    SCNetworkReachabilityRef target = library.call.SCNetworkReachabilityCreateWithName(NULL, "198.51.100.7");
    MUST(target != NULL);
    MUST(library.call.SCNetworkReachabilitySetCallback(target, note_call, NULL));
    MUST(library.call.SCNetworkReachabilitySetScheduler(target, &scheduler));
    MUST(writer_route(&writer, WRITER_ADD, &route) == 0);
    MUST(await_post(&call_made));
    MUST(library.call.SCNetworkReachabilitySetScheduler(target, NULL));
    MUST(writer_route(&writer, WRITER_DELETE, &route) == 0);
    library.call.SCNetworkReachabilityRelease(target);
    MUST(dlclose(library.handle) == 0);
}

/* Resources that must not grow. */
struct measure {
    size_t memory;
    int descriptors, threads, maps;
};

static int count_entries(const char *path)
{
    DIR *folder = opendir(path);
    int count = 0;

    MUST(folder != NULL);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

static int count_lines(const char *path)
{
    FILE *file = fopen(path, "re");
    int count = 0;

    MUST(file != NULL);
    for (int c; (c = getc(file)) != EOF;)
        count += c == '\n';
    fclose(file);
    return count;
}

static struct measure measure(void)
{
    const struct mallinfo2 info = mallinfo2();

    return (struct measure){ .memory = info.uordblks + info.hblkhd,
                             .descriptors = count_entries("/proc/self/fd"),
                             .threads = count_entries("/proc/self/task"),
                             .maps = count_lines("/proc/self/maps") };
}

/* Entries for one thread, ".", ".." and the thread sanitizer's own thread. */
static int own_threads(void)
{
    return 3 + unit_is_under("tsan");
}

/* The library's thread ends by itself after the last target on a scheduler. */
static void await_threads(void)
{
    const double end = watcher_now() + 10;

    while (count_entries("/proc/self/task") > own_threads() && watcher_now() < end)
        sched_yield();
}

static int use_many_times(void (*once)(int), int mode)
{
    struct measure before;

    /* The test waits for each thread: threads that overlap would need more memory. */
    MUST(mallopt(M_ARENA_MAX, 1) == 1 || is_sanitized());
    MUST(writer_open(&writer) == 0);
    MUST(sem_init(&call_made, 0, 0) == 0);
    for (int i = 0; i < WARM_UP; i++) {
        once(mode);
        await_threads();
        before = measure(); /* the first rounds allocate permanent buffers */
    }
    before = measure();
    for (int i = rounds(); i > 0; i--)
        once(mode);
    await_threads();
    struct measure after = measure();
    MUST(after.descriptors == before.descriptors);
    MUST(after.threads <= own_threads());
    /* A leak in each round is at least 24 bytes. */
    if (!is_sanitized()) {
        MUST(after.memory <= before.memory + 4096 + 8 * (size_t)rounds());
        MUST(after.maps <= before.maps + rounds() / 10);
    }
    return 0;
}

PART(open_lazy)
{
    return use_many_times(use, RTLD_LAZY);
}

PART(open_local)
{
    return use_many_times(use, RTLD_NOW | RTLD_LOCAL);
}

PART(open_global)
{
    return use_many_times(use, RTLD_NOW | RTLD_GLOBAL);
}

PART(open_deep)
{
    return use_many_times(use, RTLD_NOW | RTLD_DEEPBIND);
}

PART(open_for_scheduler)
{
    return use_many_times(use_a_scheduler, RTLD_NOW | RTLD_LOCAL);
}

PART(open_for_thread)
{
    return use_many_times(use_on_a_thread, RTLD_NOW | RTLD_LOCAL);
}

/* The library is closed, and a target is still scheduled when the process exits. */
PART(use_and_exit)
{
    struct library library;

    MUST(writer_open(&writer) == 0);
    MUST(library_open(&library, RTLD_NOW));
    follow(&library.call, library.call.SCRunLoopGetCurrent());
    MUST(dlclose(library.handle) == 0);
    exit(7);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------ */

TEST(dlclose_does_not_unload_the_library)
{
    struct library library, again;

    assert_true(library_open(&library, RTLD_NOW));
    assert_string_equal(library.call.SCNetworkReachabilityGetVersion(), REACHABILITY_VERSION);
    assert_ptr_not_equal(library.call.SCError, SCError); /* not the copy in this program */
    assert_int_equal(dlclose(library.handle), 0);
    assert_non_null(dlopen(library_path(), RTLD_NOW | RTLD_NOLOAD));
    assert_int_equal(library.call.SCError(), 0);
    assert_true(library_open(&again, RTLD_NOW));
    assert_memory_equal(&again.call, &library.call, sizeof again.call);
    assert_int_equal(dlclose(again.handle), 0);
    assert_int_equal(dlclose(again.handle), 0); /* from the dlopen that must not load it */
}

TEST(the_library_may_be_opened_and_closed_a_thousand_times)
{
    EXPECT_PROGRAM(open_lazy, 0, "");
    EXPECT_PROGRAM(open_local, 0, "");
    EXPECT_PROGRAM(open_global, 0, "");
}

TEST(the_library_may_be_opened_with_deepbind)
{
    if (is_sanitized())
        SKIP("sanitizers end a program that uses RTLD_DEEPBIND");
    EXPECT_PROGRAM(open_deep, 0, "");
}

TEST(ending_threads_may_open_and_close_the_library)
{
    EXPECT_PROGRAM(open_for_thread, 0, "");
}

TEST(the_library_thread_may_outlive_dlclose)
{
    EXPECT_PROGRAM(open_for_scheduler, 0, "");
}

TEST(a_process_may_exit_after_dlclose)
{
    EXPECT_PROGRAM(use_and_exit, 7, "");
}

UNIT(.setup = namespace_require_pair)
