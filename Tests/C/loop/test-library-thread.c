/* SPDX-License-Identifier: MIT */
/*
 * The one thread of the library: it exists only while it is needed, no call waits for it, and it leaves the program's
 * signals, namespaces and descriptors alone.
 */
#include <dirent.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "api/target.h"
#include "support/observer.h"
#include "support/queue.h"
#include "support/test.h"

#define TIME_LIMIT 20 /* seconds: an event that takes longer has failed */

extern char **environ;

/* ---- Threads of this process ------------------------------------------------------------------------------------ */

/* Counts the threads of this name (NULL: all), and returns one of them. */
static int count_threads(const char *name, pid_t *ret_one)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    int count = 0;

    if (tasks == NULL)
        return -1;
    while ((entry = readdir(tasks)) != NULL) {
        char path[300], text[32] = "";
        FILE *file;

        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        if (entry->d_name[0] == '.' || (file = fopen(path, "re")) == NULL)
            continue; /* it ended a moment ago */
        if (fgets(text, sizeof text, file) != NULL) {
            text[strcspn(text, "\n")] = '\0';
            if (name == NULL || strcmp(text, name) == 0) {
                count++;
                if (ret_one != NULL)
                    *ret_one = (pid_t)atoi(entry->d_name);
            }
        }
        fclose(file);
    }
    closedir(tasks);
    return count;
}

static int others; /* threads of this program: a new one has no name yet */

static bool await_threads(int wanted, pid_t *ret_one)
{
    const double end = watcher_now() + TIME_LIMIT;

    while (count_threads("reachability", ret_one) != wanted || count_threads(NULL, NULL) != others + wanted) {
        if (watcher_now() > end)
            return false;
        sched_yield();
    }
    return true;
}

/* Waits until the library has this many threads. */
static void expect_threads(int wanted)
{
    if (!await_threads(wanted, NULL))
        fail_msg("%d threads of %d, not %d of %d", count_threads("reachability", NULL), count_threads(NULL, NULL),
                 wanted, others + wanted);
}

/* Waits until the library has one thread, and that waits for events of the target's loop. Nothing but a change wakes it
 * then. */
static void expect_waiting_thread(SCNetworkReachabilityRef target)
{
    const double end = watcher_now() + TIME_LIMIT;
    pid_t thread = 0;

    assert_true(idle_await(target->schedule->loop));
    assert_true(await_threads(1, &thread));
    while (!idle_thread_waits(thread)) {
        assert_true(watcher_now() < end);
        sched_yield();
    }
}

static void count_call(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)flags;
    atomic_fetch_add((atomic_int *)info, 1);
}

/* ---- From the first to the last --------------------------------------------------------------------------------- */

TEST(the_thread_starts_with_the_first_target_and_ends_after_the_last)
{
    SCNetworkReachabilityRef first, second;
    struct queue queue;

    expect_threads(0);
    const struct descriptors before = descriptors_now();
    queue_open(&queue, 0);
    for (int i = 0; i < 3; i++) {
        first = expect_name("localhost");
        second = expect_name("localhost");
        assert_int_equal(count_threads("reachability", NULL), 0);
        assert_true(queue_set(&queue, first));
        expect_threads(1);
        assert_true(queue_set(&queue, second));
        assert_true(SCNetworkReachabilitySetScheduler(first, NULL));
        expect_threads(1);
        assert_true(SCNetworkReachabilitySetScheduler(second, NULL));
        expect_threads(0);
        SCNetworkReachabilityRelease(first);
        SCNetworkReachabilityRelease(second);
    }
    descriptors_expect(&before);
    queue_close(&queue);
}

TEST(many_targets_share_one_thread)
{
    enum { MANY = 100 };
    static struct queue queues[MANY];
    SCNetworkReachabilityRef targets[MANY];

    expect_threads(0);
    for (int i = 0; i < MANY; i++) {
        queue_open(&queues[i], 0);
        targets[i] = expect_name("localhost");
        assert_true(queue_set(&queues[i], targets[i]));
    }
    expect_threads(1);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(count_threads("reachability", NULL), 1);
        assert_true(SCNetworkReachabilitySetScheduler(targets[i], NULL));
        SCNetworkReachabilityRelease(targets[i]);
        queue_close(&queues[i]);
    }
    expect_threads(0);
}

#define STARTERS 6

static struct {
    struct queue queue;
    pthread_barrier_t together;
    atomic_int refused;
    int rounds;
} race;

static void *start_together(void *unused)
{
    for (int i = 0; i < race.rounds; i++) {
        SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, "localhost");

        pthread_barrier_wait(&race.together);
        if (!queue_set(&race.queue, target))
            atomic_fetch_add(&race.refused, 1);
        pthread_barrier_wait(&race.together);
        pthread_barrier_wait(&race.together); /* the test has counted the threads */
        if (!SCNetworkReachabilitySetScheduler(target, NULL))
            atomic_fetch_add(&race.refused, 1);
        SCNetworkReachabilityRelease(target);
        pthread_barrier_wait(&race.together);
        pthread_barrier_wait(&race.together); /* and again */
    }
    return unused;
}

TEST(concurrent_first_users_start_one_thread)
{
    pthread_t threads[STARTERS];

    expect_threads(0);
    queue_open(&race.queue, 0);
    race.rounds = unit_is_under(NULL) ? 20 : 200;
    atomic_store(&race.refused, 0);
    others += STARTERS;
    assert_int_equal(pthread_barrier_init(&race.together, NULL, STARTERS + 1), 0);
    for (int i = 0; i < STARTERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, start_together, NULL), 0);
    for (int i = 0; i < race.rounds; i++) {
        pthread_barrier_wait(&race.together);
        pthread_barrier_wait(&race.together);
        expect_threads(1); /* surplus threads have ended */
        pthread_barrier_wait(&race.together);
        pthread_barrier_wait(&race.together);
        expect_threads(0);
        pthread_barrier_wait(&race.together);
    }
    for (int i = 0; i < STARTERS; i++)
        pthread_join(threads[i], NULL);
    others -= STARTERS;
    assert_int_equal(atomic_load(&race.refused), 0);
    assert_int_equal(atomic_load(&race.queue.references), 0);
    pthread_barrier_destroy(&race.together);
    queue_close(&race.queue);
}

/* The last target ends while another one starts: the library keeps the thread or starts another. In the end none is
 * left. */
TEST(the_thread_may_be_needed_again_while_it_ends)
{
    const int rounds = unit_is_under(NULL) ? 100 : 2000;
    atomic_int calls = 0;
    struct queue queue;

    expect_threads(0);
    const struct descriptors before = descriptors_now();
    queue_open(&queue, 0);
    SCNetworkReachabilityRef target = expect_name("localhost");
    expect_callback_set(target, count_call, &calls);
    for (int i = 0; i < rounds; i++) {
        struct queue_work work;

        assert_true(queue_set(&queue, target));
        assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
        while (queue_take(&queue, &work))
            work.run(work.argument);
    }
    SCNetworkReachabilityRelease(target);
    expect_threads(0);
    queue_close(&queue); /* a late work may be pending */
    assert_int_equal(atomic_load(&queue.references), 0);
    assert_int_equal(atomic_load(&calls), 0);
    descriptors_expect(&before);
}

TEST(the_thread_ends_though_work_is_pending)
{
    atomic_int calls = 0;
    struct queue queue;

    expect_threads(0);
    queue_open(&queue, 0);
    SCNetworkReachabilityRef target = expect_name("localhost");
    expect_callback_set(target, count_call, &calls);
    assert_true(queue_set(&queue, target));
    queue_await(&queue, 1);
    assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
    SCNetworkReachabilityRelease(target);
    expect_threads(0);
    assert_int_equal(atomic_load(&queue.references), 1);
    assert_true(queue_run(&queue));
    assert_int_equal(atomic_load(&queue.references), 0);
    assert_int_equal(atomic_load(&calls), 0);
    queue_close(&queue);
}

static void unschedule(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)flags;
    SCNetworkReachabilitySetScheduler(target, NULL);
    SCNetworkReachabilityRelease(target);
    sem_post(info);
}

TEST(the_thread_ends_after_it_unscheduled_the_last_target_itself)
{
    const SCNetworkReachabilityScheduler scheduler = { .perform = perform_at_once };
    static sem_t called; /* not on the stack: helgrind does not know sem_timedwait */

    expect_threads(0);
    assert_int_equal(sem_init(&called, 0, 0), 0);
    for (int i = 0; i < 100; i++) {
        SCNetworkReachabilityRef target = expect_name("localhost");

        expect_callback_set(target, unschedule, &called);
        assert_true(SCNetworkReachabilitySetScheduler(target, &scheduler));
        time_limit_await(&called, "nothing came");
    }
    expect_threads(0);
}

TEST_WITH(NULL, NULL, run_loops_start_no_thread)
{
    struct watcher watcher;

    namespace_require_pair();
    expect_threads(0);
    int before = count_threads(NULL, NULL);
    watcher_start(&watcher, expect_target(FAR));
    AFTER("route add 198.51.100.0/24 via 192.0.2.1", EXPECT_CHANGE(&watcher, R));
    assert_int_equal(count_threads(NULL, NULL), before);
}

/* ---- Nothing waits for it --------------------------------------------------------------------------------------- */

static struct {
    SCNetworkReachabilityRef target, other;
    struct queue queue;
    sem_t entered, go_on, made;
    int refused;
} stuck;

static void perform_stuck(void *info, void (*work)(void *argument), void *argument)
{
    (void)info;
    sem_post(&stuck.entered);
    sem_wait(&stuck.go_on);
    work(argument);
}

static void check(SCBoolean done)
{
    stuck.refused += !done;
}

static void *make_calls(void *unused)
{
    SCNetworkReachabilityFlags flags;
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;
    SCNetworkReachabilityRef fresh = SCNetworkReachabilityCreateWithName(NULL, "localhost");
    char text[512];

    for (int i = 0; i < 2; i++) {
        const SCNetworkReachabilityRef target = i == 0 ? stuck.other : fresh;

        check(queue_set(&stuck.queue, target));
        check(SCNetworkReachabilityGetFlags(target, &flags));
        check(SCNetworkReachabilitySetCallback(target, ignore_call, NULL));
        check(SCNetworkReachabilityGetPath(target, &path));
        check(SCNetworkReachabilityGetDescription(target, text, sizeof text) > 0);
        check(SCNetworkReachabilitySetScheduler(target, NULL));
    }
    SCNetworkReachabilityRelease(fresh);
    /* Then the target of that work. */
    check(SCNetworkReachabilityGetFlags(stuck.target, &flags));
    check(SCNetworkReachabilitySetCallback(stuck.target, NULL, NULL));
    check(SCNetworkReachabilitySetScheduler(stuck.target, NULL));
    check(queue_set(&stuck.queue, stuck.target));
    check(SCNetworkReachabilitySetScheduler(stuck.target, NULL));
    SCNetworkReachabilityRelease(stuck.target);
    sem_post(&stuck.made);
    return unused;
}

TEST(no_call_waits_for_the_thread)
{
    const SCNetworkReachabilityScheduler scheduler = { .perform = perform_stuck };

    memset(&stuck, 0, sizeof stuck);
    queue_open(&stuck.queue, 0);
    assert_int_equal(sem_init(&stuck.entered, 0, 0), 0);
    assert_int_equal(sem_init(&stuck.go_on, 0, 0), 0);
    assert_int_equal(sem_init(&stuck.made, 0, 0), 0);
    stuck.target = expect_name("localhost");
    stuck.other = expect_target(FAR);
    assert_true(SCNetworkReachabilitySetCallback(stuck.target, ignore_call, NULL));
    assert_true(SCNetworkReachabilitySetScheduler(stuck.target, &scheduler));
    time_limit_await(&stuck.entered, "nothing came");
    pthread_t thread = unit_thread(make_calls, NULL);
    time_limit_await(&stuck.made, "a call waits for the thread");
    pthread_join(thread, NULL);
    assert_int_equal(stuck.refused, 0);
    assert_int_equal(count_threads("reachability", NULL), 1);
    sem_post(&stuck.go_on);
    expect_threads(0);
    SCNetworkReachabilityRelease(stuck.other);
    queue_close(&stuck.queue);
    assert_int_equal(atomic_load(&stuck.queue.references), 0);
}

/* ---- Signals ---------------------------------------------------------------------------------------------------- */

static pthread_t main_thread;
static atomic_int signals, elsewhere;

static void handle(int number)
{
    (void)number;
    atomic_fetch_add(&signals, 1);
    if (!pthread_equal(pthread_self(), main_thread))
        atomic_fetch_add(&elsewhere, 1);
}

TEST_WITH(NULL, NULL, signal_handlers_never_run_on_the_thread)
{
    static const int numbers[] = { SIGUSR1, SIGTERM, SIGALRM, SIGCHLD, SIGWINCH, SIGHUP };
    enum { NUMBERS = sizeof numbers / sizeof numbers[0] };
    const struct sigaction handling = { .sa_handler = handle };
    struct sigaction before[NUMBERS];
    sigset_t some, mask, pending;

    observer_open(); /* while this thread blocks no signal: the library thread must not inherit a mask */
    expect_threads(1);
    main_thread = pthread_self();
    atomic_store(&signals, 0);
    atomic_store(&elsewhere, 0);
    sigemptyset(&some);
    for (int i = 0; i < NUMBERS; i++) {
        sigaddset(&some, numbers[i]);
        assert_int_equal(sigaction(numbers[i], &handling, &before[i]), 0);
    }
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &some, &mask), 0);
    for (int i = 0; i < NUMBERS; i++)
        assert_int_equal(kill(getpid(), numbers[i]), 0);
    observer_settle(); /* the thread has run meanwhile, and could have received them */
    assert_int_equal(atomic_load(&signals), 0);
    assert_int_equal(sigpending(&pending), 0);
    for (int i = 0; i < NUMBERS; i++)
        assert_int_equal(sigismember(&pending, numbers[i]), 1);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &mask, NULL), 0);
    assert_int_equal(atomic_load(&signals), NUMBERS);
    assert_int_equal(atomic_load(&elsewhere), 0);
    for (int i = 0; i < NUMBERS; i++)
        assert_int_equal(sigaction(numbers[i], &before[i], NULL), 0);
    observer_close();
}

/* ---- Network namespaces ----------------------------------------------------------------------------------------- */

static struct {
    struct queue queue;
    sem_t there, leave;
    pid_t thread;
    bool failed;
} other_namespace;

/* Starts the library thread in a new namespace. */
static void *use_other_namespace(void *unused)
{
    SCOPED_TARGET target = NULL;

    other_namespace.thread = gettid();
    if (!namespace_enter() || (target = SCNetworkReachabilityCreateWithName(NULL, "localhost")) == NULL ||
        !queue_set(&other_namespace.queue, target))
        other_namespace.failed = true;
    sem_post(&other_namespace.there);
    sem_wait(&other_namespace.leave);
    if (!other_namespace.failed && !SCNetworkReachabilitySetScheduler(target, NULL))
        other_namespace.failed = true;
    return unused;
}

TEST_WITH(namespace_require_lo, NULL, the_thread_keeps_no_namespace_without_targets_alive)
{
    namespace_add_second_pair();
    expect_threads(0);
    other_namespace.failed = false;
    queue_open(&other_namespace.queue, 0);
    assert_int_equal(sem_init(&other_namespace.there, 0, 0), 0);
    assert_int_equal(sem_init(&other_namespace.leave, 0, 0), 0);
    pthread_t thread = unit_thread(use_other_namespace, NULL);
    others++;
    time_limit_await(&other_namespace.there, "nothing came");
    assert_false(other_namespace.failed);
    namespace_ip("link set dev d netns %d", (int)other_namespace.thread);
    SCNetworkReachabilityRef target = expect_target("127.0.0.1");
    assert_true(queue_set(&other_namespace.queue, target));
    expect_threads(1);
    assert_int_not_equal(writer_index("c"), 0);
    sem_post(&other_namespace.leave);
    pthread_join(thread, NULL);
    others--;
    assert_false(other_namespace.failed);
    namespace_await_gone("c");
    assert_int_equal(count_threads("reachability", NULL), 1);
    assert_int_equal(expect_flags_of(target), R | L | D);
    assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
    SCNetworkReachabilityRelease(target);
    queue_close(&other_namespace.queue);
}

TEST_WITH(namespace_require_lo, NULL, the_thread_leaves_the_namespace_in_which_it_started)
{
    struct queue queue;

    namespace_add_second_pair();
    int home = namespace_keep();
    expect_threads(0);
    queue_open(&queue, 0);
    assert_true(namespace_enter());
    SCNetworkReachabilityRef there = expect_name("localhost");
    assert_true(queue_set(&queue, there));
    expect_waiting_thread(there); /* otherwise it could leave at once */
    int new = namespace_keep();
    namespace_go(home);
    close(home);
    namespace_ip("link set dev d netns /proc/%d/fd/%d", (int)getpid(), new);
    close(new);
    SCNetworkReachabilityRef here = expect_name("localhost");
    assert_true(queue_set(&queue, here));
    assert_int_not_equal(writer_index("c"), 0);
    assert_true(SCNetworkReachabilitySetScheduler(there, NULL));
    SCNetworkReachabilityRelease(there);
    namespace_await_gone("c");
    assert_true(SCNetworkReachabilitySetScheduler(here, NULL));
    SCNetworkReachabilityRelease(here);
    queue_close(&queue);
}

/* A namespace that only the returned descriptor keeps alive. It has d, one end of a pair; c is in this namespace. */
static int make_namespace(int home)
{
    namespace_add_second_pair();
    assert_true(namespace_enter());
    int fd = namespace_keep();
    namespace_go(home);
    namespace_ip("link set dev d netns /proc/%d/fd/%d", (int)getpid(), fd);
    return fd;
}

static struct {
    atomic_ulong seen; /* the namespace of the last perform */
    sem_t done;
} performed;

static void note_namespace(void *info, void (*work)(void *argument), void *argument)
{
    struct stat here = { 0 };

    (void)info;
    (void)stat("/proc/thread-self/ns/net", &here);
    performed.seen = here.st_ino;
    work(argument);
    sem_post(&performed.done);
}

/* A target of another namespace, which is scheduled there or here. Threads that `perform` starts inherit its
 * namespace. */
static void expect_perform_here(bool schedules_there)
{
    static const SCNetworkReachabilityScheduler noting = { .perform = note_namespace };
    const int home = namespace_keep();
    const int there = make_namespace(home);
    struct writer writer;
    struct stat here;

    namespace_go(there);
    SCNetworkReachabilityRef target = expect_target("127.0.0.1");
    assert_int_equal(writer_open(&writer), 0);
    assert_true(SCNetworkReachabilitySetCallback(target, ignore_call, NULL));
    assert_int_equal(sem_init(&performed.done, 0, 0), 0);
    if (!schedules_there)
        namespace_go(home);
    assert_true(SCNetworkReachabilitySetScheduler(target, &noting));
    expect_threads(1);
    namespace_go(home);
    close(there);
    assert_int_equal(stat("/proc/thread-self/ns/net", &here), 0);
    performed.seen = 0;
    /* The thread may have entered the namespace of the process before the process returned. */
    for (int here_for = 0, i = 1; here_for < 3; i++) {
        assert_in_range(i, 1, schedules_there ? 100 : 3);
        assert_int_equal(writer_link_up(&writer, 1, i % 2 != 0), 0);
        time_limit_await(&performed.done, "nothing came");
        here_for = performed.seen == here.st_ino ? here_for + 1 : 0;
    }
    writer_close(&writer);
    assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
    SCNetworkReachabilityRelease(target);
    namespace_await_gone("c");
    sem_destroy(&performed.done);
    close(home);
}

TEST_WITH(namespace_require_lo, NULL, perform_is_called_in_the_namespace_of_the_process)
{
    expect_threads(0);
    expect_perform_here(false);
}

TEST_WITH(namespace_require_lo, NULL, perform_is_called_in_the_namespace_to_which_the_process_returned)
{
    expect_threads(0);
    expect_perform_here(true);
}

#define NOT_HERE 77 /* exit status: another user is not allowed here */

static void become_other_user(void)
{
    if (!namespace_drop_privilege(true))
        _exit(NOT_HERE);
    MUST(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0); /* for the leak checker */
}

static void limit_descriptors(void)
{
    const struct rlimit none = { .rlim_max = 1024 };

    MUST(setrlimit(RLIMIT_NOFILE, &none) == 0);
}

/* A daemon that was started in this namespace. It makes a target in another one, comes back, and lacks something after
 * the first perform. */
static void serve_other_namespace(void (*begin_lack)(void))
{
    static const SCNetworkReachabilityScheduler noting = { .perform = note_namespace };
    const int here = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    struct writer writer;
    struct stat status;

    MUST(here >= 0 && fstat(here, &status) == 0);
    MUST(unshare(CLONE_NEWNET) == 0);
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, "127.0.0.1");
    MUST(target != NULL && writer_open(&writer) == 0);
    MUST(setns(here, CLONE_NEWNET) == 0);
    MUST(sem_init(&performed.done, 0, 0) == 0);
    MUST(SCNetworkReachabilitySetCallback(target, ignore_call, NULL));
    MUST(SCNetworkReachabilitySetScheduler(target, &noting));
    for (int i = 1; i <= 3; i++) {
        MUST(writer_link_up(&writer, 1, i % 2 != 0) == 0);
        MUST(sem_wait(&performed.done) == 0);
        MUST(performed.seen == status.st_ino);
        if (i == 1)
            begin_lack();
    }
}

PART(serve_other_namespace_as_other_user)
{
    serve_other_namespace(become_other_user);
    return 0;
}

PART(serve_other_namespace_without_descriptors)
{
    const struct rlimit before = { .rlim_cur = 1024, .rlim_max = 1024 };

    MUST(setrlimit(RLIMIT_NOFILE, &before) == 0);
    serve_other_namespace(limit_descriptors);
    MUST(setrlimit(RLIMIT_NOFILE, &before) == 0); /* for the leak checker */
    return 0;
}

TEST_WITH(namespace_require_lo, NULL, perform_is_called_here_also_after_privileges_are_gone)
{
    struct program program;

    program_run("serve_other_namespace_as_other_user", &program);
    if (WIFEXITED(program.status) && WEXITSTATUS(program.status) == NOT_HERE)
        SKIP("another user is not allowed here");
    assert_string_equal(program.output, "");
    assert_int_equal(program.status, 0);
}

TEST_WITH(namespace_require_lo, NULL, perform_is_called_here_also_without_free_descriptors)
{
    EXPECT_PROGRAM(serve_other_namespace_without_descriptors, 0, "");
}

/* ---- Other programs --------------------------------------------------------------------------------------------- */

static double processor_time(pid_t thread)
{
    const clockid_t clock = (clockid_t)((~(unsigned)thread << 3) | 6); /* the kernel's clock of a thread */
    struct timespec time;

    return clock_gettime(clock, &time) != 0 ? -1 : (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int complain(const char *what)
{
    fprintf(stderr, "%s\n", what);
    return 1;
}

/* Closes descriptors of the library, and may replace them by descriptors that are always readable. The thread is inside
 * perform meanwhile: inside epoll_wait it would stay asleep. Then measures its processor time over a second. */
static int close_everything(bool reuse)
{
    const SCNetworkReachabilityScheduler scheduler = { .perform = perform_stuck };
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, "localhost");
    pid_t thread = 0;
    int zero;

    if (sem_init(&stuck.entered, 0, 0) != 0 || sem_init(&stuck.go_on, 0, 0) != 0)
        return complain("no semaphore");
    if (!SCNetworkReachabilitySetCallback(target, ignore_call, NULL) ||
        !SCNetworkReachabilitySetScheduler(target, &scheduler))
        return complain("not scheduled");
    while (sem_wait(&stuck.entered) != 0)
        continue;
    if (!await_threads(1, &thread))
        return complain("no thread");
    /* Direct system calls: a sanitizer would report such a program. */
    syscall(SYS_close_range, 3, ~0u, 0);
    zero = reuse ? open("/dev/zero", O_RDONLY) : -1;
    for (int fd = zero + 1; reuse && fd < 64; fd++)
        syscall(SYS_dup3, zero, fd, 0);
    double before = processor_time(thread);
    sem_post(&stuck.go_on);
    poll(NULL, 0, 1000); /* the time of the measurement */
    double spent = processor_time(thread) - before;
    if (before < 0 || spent > 0.1) {
        fprintf(stderr, "in one second it ran for %.3f s\n", spent);
        return 1;
    }
    if (!SCNetworkReachabilitySetScheduler(target, NULL))
        return complain("not unscheduled");
    SCNetworkReachabilityRelease(target);
    return await_threads(0, NULL) ? 0 : complain("the thread does not end");
}

PART(close_descriptors)
{
    _exit(close_everything(false));
}

PART(replace_descriptors)
{
    _exit(close_everything(true));
}

/* Ends the process while everything is in use. */
PART(leave)
{
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, "localhost");
    static struct queue queue;

    queue_open(&queue, 1);
    return SCNetworkReachabilitySetCallback(target, NULL, NULL) && queue_set(&queue, target) ? 0 : 1;
}

static void require_lo(void)
{
    namespace_require_lo();
}

TEST_WITH(require_lo, NULL, the_thread_does_not_spin_when_its_descriptors_are_closed)
{
    EXPECT_PROGRAM(close_descriptors, 0, "");
}

TEST_WITH(require_lo, NULL, the_thread_does_not_spin_when_its_descriptors_are_replaced)
{
    EXPECT_PROGRAM(replace_descriptors, 0, "");
}

TEST_WITH(require_lo, NULL, a_program_may_end_while_the_thread_runs)
{
    const int rounds = unit_is_under(NULL) ? 2 : 20; /* a sanitizer waits a second before it ends */

    for (int i = 0; i < rounds; i++)
        EXPECT_PROGRAM(leave, 0, "");
}

static struct {
    pthread_t caller;
    int here, elsewhere;
} hooks;

static void note_hook(const void *info)
{
    (void)info;
    if (pthread_equal(pthread_self(), hooks.caller))
        hooks.here++;
    else
        hooks.elsewhere++;
}

static void drop_work(void *info, void (*work)(void *argument), void *argument)
{
    (void)info, (void)work, (void)argument;
}

/* The thread may hold a target for a moment, but never its last reference. */
TEST_WITH(require_lo, NULL, the_thread_never_releases_the_last_context)
{
    const int rounds = unit_is_under(NULL) ? 500 : 20000;
    const SCNetworkReachabilityScheduler scheduler = { .perform = drop_work };
    SCNetworkReachabilityContext context = { .info = &hooks, .release = note_hook };

    hooks.caller = pthread_self();
    SCNetworkReachabilityRef other = expect_name("localhost");
    assert_true(SCNetworkReachabilitySetScheduler(other, &scheduler));
    for (int i = 0; i < rounds; i++) {
        SCNetworkReachabilityRef target = expect_target("127.0.0.1");

        assert_true(SCNetworkReachabilitySetCallback(target, ignore_call, &context));
        assert_true(SCNetworkReachabilitySetScheduler(target, &scheduler));
        for (int j = i % 50; j > 0; j--)
            (void)expect_flags_of(target); /* the thread may handle the target now */
        assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
        SCNetworkReachabilityRelease(target);
        assert_int_equal(hooks.here, i + 1);
    }
    assert_int_equal(hooks.elsewhere, 0);
    assert_true(SCNetworkReachabilitySetScheduler(other, NULL));
    SCNetworkReachabilityRelease(other);
    expect_threads(0);
}

static void *note_thread(void *ret)
{
    *(pid_t *)ret = gettid();
    return NULL;
}

/* A sanitizer starts its own thread with the first thread. The kernel may list a joined thread for a moment. */
static void start(void)
{
    pthread_t thread;
    pid_t first;

    MUST(pthread_create(&thread, NULL, note_thread, &first) == 0);
    MUST(pthread_join(thread, NULL) == 0);
    const char *path = unit_text("/proc/self/task/%d", (int)first);
    while (access(path, F_OK) == 0)
        sched_yield();
    others = count_threads(NULL, NULL);
}

UNIT(.setup = namespace_require, .start = start)
