/* SPDX-License-Identifier: MIT */
/*
 * Children that run no fork handlers: of _Fork(3) and clone(2). They share the parent's sockets. A call on an inherited
 * object is an error, and never takes a reply from the parent; new objects work.
 */
#include <linux/sched.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "support/denial.h"
#include "support/test.h"

#define ROUNDS     50
#define TIME_LIMIT 30 /* seconds: a child that takes longer has failed */

static struct writer writer;
static const struct writer_route route = { .prefix = "198.51.100.0/24", .gateway = "192.0.2.1" };

/* ---- Children --------------------------------------------------------------------------------------------------- */

static bool stops_at_receive; /* in a child: before it reads a reply */

WRAP(ssize_t, recvfrom, int fd, void *bytes, size_t size, int flags, struct sockaddr *from, socklen_t *length)
{
    if (stops_at_receive)
        syscall(SYS_kill, syscall(SYS_getpid), SIGSTOP);
    return __real_recvfrom(fd, bytes, size, flags, from, length);
}

static pid_t make_by_fork(void)
{
    return _Fork();
}

static pid_t make_by_clone(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

/* With the parent's table of descriptors. */
static pid_t make_by_clone_with_files(void)
{
    return (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
}

static const struct maker {
    const char *name;
    pid_t (*make)(void);
} makers[] = { { "_Fork", make_by_fork }, { "clone", make_by_clone }, { "clone_files", make_by_clone_with_files } };

/* Returns true in the child. A child that hangs ends. */
static bool make_child(const struct maker *maker, pid_t *ret)
{
    *ret = maker->make();
    assert_true(*ret >= 0);
    if (*ret == 0)
        alarm((unsigned)time_limit_of(TIME_LIMIT));
    return *ret == 0;
}

static _Noreturn void end_child(bool is_right)
{
    _exit(is_right ? 0 : 1);
}

static void expect_right(pid_t child)
{
    int status = -1;

    while (waitpid(child, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("the child was wrong: status 0x%x", (unsigned)status);
}

static bool is_reachable(SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityFlags flags;

    return SCNetworkReachabilityGetFlags(target, &flags) && flags == R;
}

static bool is_refused(SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityFlags flags;

    return !SCNetworkReachabilityGetFlags(target, &flags) && SCError() == ECHILD;
}

/* ---- Tests ------------------------------------------------------------------------------------------------------ */

TEST_EACH(the_parent_never_gets_the_reply_to_a_child, makers)
{
    SCOPED_TARGET reachable = expect_target("198.51.100.7"), unreachable = expect_target("203.0.113.7");

    EXPECT(reachable, R, None);
    for (int i = 0; i < ROUNDS; i++) {
        pid_t child;
        int status;

        if (make_child(row, &child)) {
            stops_at_receive = true;
            end_child(is_refused(unreachable));
        }
        /* It stops between its query and the reply, if it makes one. */
        assert_int_equal(waitpid(child, &status, WUNTRACED), child);
        assert_true(is_reachable(reachable));
        if (WIFSTOPPED(status))
            kill(child, SIGKILL);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

TEST_EACH(such_a_child_releases_what_it_inherited_and_the_parent_is_told_of_changes, makers)
{
    struct watcher watcher;
    pid_t child;

    watcher_start(&watcher, expect_target("198.51.100.7"));
    int descriptor = SCRunLoopGetFileDescriptor(watcher.loop);
    if (make_child(row, &child)) {
        const bool performs = SCRunLoopPerform(watcher.loop, 0) != -1;
        SCBoolean unscheduled;

        SCRunLoopWakeUp(watcher.loop);
        unscheduled = SCNetworkReachabilityUnscheduleFromRunLoop(watcher.target, watcher.loop, kSCRunLoopDefaultMode);
        SCNetworkReachabilityRelease(watcher.target);
        SCRunLoopRelease(watcher.loop);
        end_child(!performs && !unscheduled && SCError() == ECHILD);
    }
    expect_right(child);
    assert_true(fcntl(descriptor, F_GETFD) >= 0); /* instead of a closed one, the loop would open another */
    assert_int_equal(writer_route(&writer, WRITER_DELETE, &route), 0);
    EXPECT_CHANGE(&watcher, 0);
    assert_int_equal(writer_route(&writer, WRITER_ADD, &route), 0);
    EXPECT_CHANGE(&watcher, R);
}

static void count_call(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target;
    *(SCNetworkReachabilityFlags *)info = flags;
}

/* Without assertions: they belong to the parent. */
static bool uses_new_objects(void)
{
    SCOPED_LOOP loop = SCRunLoopCreate();
    SCOPED_TARGET target = SCNetworkReachabilityCreateWithName(NULL, "198.51.100.7");
    SCNetworkReachabilityFlags told = R;
    SCNetworkReachabilityContext context = { .info = &told };
    struct writer own;
    bool is_right = loop != NULL && target != NULL && is_reachable(target);

    is_right = is_right && SCNetworkReachabilitySetCallback(target, count_call, &context);
    is_right = is_right && SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode);
    is_right = is_right && writer_open(&own) == 0 && writer_route(&own, WRITER_DELETE, &route) == 0;
    while (is_right && told == R)
        is_right = SCRunLoopPerform(loop, TIME_LIMIT) >= 0;
    is_right = is_right && writer_route(&own, WRITER_ADD, &route) == 0;
    SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode);
    return is_right;
}

TEST_EACH(such_a_child_uses_new_objects_and_so_does_its_child, makers)
{
    SCOPED_TARGET inherited = expect_target("198.51.100.7");
    pid_t child, grandchild;

    EXPECT(inherited, R, None);
    if (make_child(row, &child)) {
        SCNetworkReachabilityRef own = SCNetworkReachabilityCreateWithName(NULL, "198.51.100.7");
        int status = -1;

        if (!is_refused(inherited) || !is_reachable(own) || !uses_new_objects())
            end_child(false);
        grandchild = row->make();
        if (grandchild == 0)
            end_child(is_refused(inherited) && is_refused(own) && uses_new_objects());
        end_child(waitpid(grandchild, &status, 0) == grandchild && status == 0 && is_reachable(own));
    }
    expect_right(child);
    EXPECT(inherited, R, None);
}

TEST(after_such_a_child_fork_works_as_ever)
{
    SCOPED_TARGET inherited = expect_target("198.51.100.7");
    pid_t child, grandchild;

    EXPECT(inherited, R, None);
    if (make_child(&makers[0], &child)) {
        SCNetworkReachabilityRef own = SCNetworkReachabilityCreateWithName(NULL, "198.51.100.7");
        int status = -1;
        bool is_right = is_reachable(own);

        grandchild = fork();
        if (grandchild == 0)
            end_child(is_refused(inherited) && is_refused(own) && uses_new_objects());
        end_child(is_right && waitpid(grandchild, &status, 0) == grandchild && status == 0 && is_reachable(own));
    }
    expect_right(child);
}

/* ---- A lock of another thread ----------------------------------------------------------------------------------- */

static __thread bool waits_in_socket;
static sem_t is_in_socket, may_go_on;

WRAP(int, socket, int family, int type, int protocol)
{
    if (waits_in_socket) {
        waits_in_socket = false;
        sem_post(&is_in_socket);
        sem_wait(&may_go_on);
    }
    return __real_socket(family, type, protocol);
}

static void *create_slowly(void *unused)
{
    waits_in_socket = true;
    SCNetworkReachabilityRelease(SCNetworkReachabilityCreateWithName(NULL, "127.0.0.1"));
    return unused;
}

TEST(such_a_child_does_not_wait_for_a_lock_of_another_thread)
{
    pid_t child;

    if (unit_is_under("tsan") || unit_is_under("asan"))
        SKIP("the sanitizers' own locks stay locked in such a child");
    sem_init(&is_in_socket, 0, 0);
    sem_init(&may_go_on, 0, 0);
    pthread_t thread = unit_thread(create_slowly, NULL);
    time_limit_await(&is_in_socket, "no socket was opened");
    if (make_child(&makers[0], &child))
        end_child(uses_new_objects());
    sem_post(&may_go_on);
    pthread_join(thread, NULL);
    expect_right(child);
}

/* ---- Kernels that clear no memory ------------------------------------------------------------------------------- */

PART(fork_where_no_memory_is_cleared)
{
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, "198.51.100.7");

    MUST(is_reachable(target));
    pid_t child = fork();
    if (child == 0)
        end_child(is_refused(target) && uses_new_objects());
    MUST(child > 0 && waitpid(child, &(int){ 0 }, 0) == child);
    MUST(is_reachable(target));
    SCNetworkReachabilityRelease(target);
    return 0;
}

TEST_BY(child_run, where_the_kernel_clears_no_memory_a_child_of_fork_still_refuses_what_it_inherited)
{
    if (!denial_impose(DENIAL_CLEARING)) {
        print_message("SKIP: no seccomp here\n");
        child_end();
    }
    execl(program_path(), program_path(), "fork_where_no_memory_is_cleared", NULL);
    fail();
}

static void begin(void)
{
    if (unit_is_under("valgrind"))
        SKIP("valgrind does not know clone(2), and takes what such a child inherited for a leak");
    namespace_require_pair();
    assert_int_equal(writer_open(&writer), 0);
    assert_int_equal(writer_route(&writer, WRITER_ADD, &route), 0);
}

static void finish(void)
{
    writer_close(&writer);
}

UNIT(.setup = begin, .teardown = finish)
