/* SPDX-License-Identifier: MIT */
/*
 * The library's descriptors: which calls may wait while another thread forks or creates, and what happens to the files
 * of a program that has closed the library's descriptors, as closefrom(3) does, and uses their numbers.
 */
#include <linux/netlink.h>
#include <netdb.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>

#include "support/denial.h"
#include "support/names.h"
#include "support/resolver.h"
#include "support/test.h"

static struct descriptors before; /* open descriptors that do not belong to the library */

static void begin(void)
{
    namespace_require_lo();
    etc_require("192.0.2.53");
    descriptors_read(&before);
}

/* ---- Calls that wait -------------------------------------------------------------------------------------------- */

/* The next such call on such a file waits until the gate is opened. */
static struct {
    const char *call, *file; /* the beginning of what /proc/self/fd shows */
    pid_t process;
    atomic_bool closed, waits; /* a thread waits at it */
    sem_t reached, open;
} gate;

static void close_gate(const char *call, const char *file)
{
    gate.call = call;
    gate.file = file;
    gate.process = getpid();
    sem_init(&gate.reached, 0, 0);
    sem_init(&gate.open, 0, 0);
    atomic_store(&gate.closed, true);
}

static void open_gate(void)
{
    atomic_store(&gate.closed, false);
    if (atomic_exchange(&gate.waits, false))
        sem_post(&gate.open);
}

static void pass_gate(const char *call, const char *file)
{
    if (strcmp(gate.call, call) == 0 && strncmp(gate.file, file, strlen(gate.file)) == 0 && getpid() == gate.process &&
        atomic_exchange(&gate.closed, false)) {
        atomic_store(&gate.waits, true);
        sem_post(&gate.reached);
        sem_wait(&gate.open);
    }
}

static void pass_gate_with(const char *call, int fd)
{
    char path[32], file[256] = "";

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (readlink(path, file, sizeof file - 1) > 0)
        pass_gate(call, file);
}

WRAP(int, open, const char *path, int flags, ...)
{
    va_list arguments;

    va_start(arguments, flags);
    mode_t mode = va_arg(arguments, mode_t);
    va_end(arguments);
    if (atomic_load(&gate.closed))
        pass_gate("open", path);
    return __real_open(path, flags, mode);
}

WRAP(ssize_t, read, int fd, void *bytes, size_t size)
{
    if (atomic_load(&gate.closed))
        pass_gate_with("read", fd);
    return __real_read(fd, bytes, size);
}

WRAP(int, close, int fd)
{
    if (atomic_load(&gate.closed))
        pass_gate_with("close", fd);
    return __real_close(fd);
}

/* Reads the resolver files, and opens and closes descriptors of every kind. */
static void *use_a_name(void *unused)
{
    SCOPED_LOOP loop = SCRunLoopCreate();
    SCOPED_TARGET target = expect_name("name.example");

    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    return unused;
}

static sem_t finished;

/* `kept`: the file that a child keeps open, as closing it may wait; NULL: none. */
static void expect_no_inherited_descriptor(const char *kept)
{
    char path[32], file[256] = "";
    bool keeps = false;
    const struct descriptors now = descriptors_now();

    for (int fd = 0; fd <= now.highest; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (!now.open[fd] || before.open[fd] || readlink(path, file, sizeof file - 1) < 0)
            continue;
        if (kept != NULL && strcmp(file, kept) == 0)
            keeps = true;
        else if (strncmp(file, "/etc/", 5) != 0) /* a thread may be reading another resolver file just now */
            fail_msg("descriptor %d was inherited: %s", fd, file);
    }
    assert_true(keeps == (kept != NULL));
}

static void *fork_and_create(void *kept)
{
    if (child_begin()) {
        expect_no_inherited_descriptor(kept);
        child_end();
    }
    SCRunLoopRelease(SCRunLoopCreate());
    SCNetworkReachabilityRelease(expect_target("127.0.0.1"));
    SCNetworkReachabilityRelease(expect_name("another.example"));
    sem_post(&finished);
    return NULL;
}

static const struct {
    const char *name, *call, *file;
    char *kept; /* by a child */
} waits[] = {
    { "open_resolv_conf", "open", ETC_RESOLV_CONF, NULL },
    { "read_resolv_conf", "read", ETC_RESOLV_CONF, ETC_RESOLV_CONF },
    { "close_resolv_conf", "close", ETC_RESOLV_CONF, ETC_RESOLV_CONF },
    { "close_socket", "close", "socket:", NULL },
    { "close_inotify", "close", "anon_inode:inotify", NULL },
    { "close_epoll", "close", "anon_inode:[eventpoll]", NULL },
};

TEST_EACH(fork_and_create_do_not_wait_for_a_call_of_another_thread, waits)
{
    pthread_t user, other;

    if (unit_is_under("tsan"))
        SKIP("the thread sanitizer cannot follow a fork among threads");
    sem_init(&finished, 0, 0);
    close_gate(row->call, row->file);
    assert_int_equal(pthread_create(&user, NULL, use_a_name, NULL), 0);
    time_limit_await(&gate.reached, "the call is not made");
    assert_int_equal(pthread_create(&other, NULL, fork_and_create, row->kept), 0);
    time_limit_await(&finished, "fork or Create waits");
    open_gate();
    pthread_join(user, NULL);
    pthread_join(other, NULL);
}

/* ---- Numbers that the program uses again ------------------------------------------------------------------------ */

static int open_pipe(void)
{
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    close(ends[1]);
    return ends[0];
}

/* A file of the program's, of the same kind as the descriptor. */
static int open_same_kind(int fd)
{
    char path[32], file[256] = "";

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert_true(readlink(path, file, sizeof file - 1) > 0);
    if (strcmp(file, "anon_inode:[eventpoll]") == 0)
        return epoll_create1(EPOLL_CLOEXEC);
    if (strcmp(file, "anon_inode:[eventfd]") == 0)
        return eventfd(0, EFD_CLOEXEC);
    if (strcmp(file, "anon_inode:[timerfd]") == 0)
        return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
    if (strcmp(file, "anon_inode:inotify") == 0)
        return inotify_init1(IN_CLOEXEC);
    if (strncmp(file, "net:", 4) == 0)
        return open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (strncmp(file, "/proc/", 6) == 0)
        return open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    assert_memory_equal(file, "socket:", 7);
    return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
}

/* Puts files of the program's in the place of all descriptors of the library's. Returns how many. */
static int replace_descriptors(bool by_same_kind)
{
    int count = 0;
    const struct descriptors now = descriptors_now();

    for (int fd = 0; fd <= now.highest; fd++) {
        if (!now.open[fd] || before.open[fd])
            continue;
        const int file = by_same_kind ? open_same_kind(fd) : open_pipe();

        assert_int_equal(dup3(file, fd, O_CLOEXEC), fd);
        close(file);
        count++;
    }
    return count;
}

struct uses {
    SCRunLoopRef loop;
    SCNetworkReachabilityRef address, name;
};

static void begin_uses(struct uses *ret)
{
    *ret = (struct uses){ .loop = SCRunLoopCreate(),
                          .address = expect_target("127.0.0.1"),
                          .name = expect_name("name.example") };
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(ret->address, ret->loop, kSCRunLoopDefaultMode));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(ret->name, ret->loop, kSCRunLoopDefaultMode));
    names_await_threads(0);
}

static void end_uses(struct uses *uses)
{
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(uses->address, uses->loop, kSCRunLoopDefaultMode));
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(uses->name, uses->loop, kSCRunLoopDefaultMode));
    SCNetworkReachabilityRelease(uses->address);
    SCNetworkReachabilityRelease(uses->name);
    SCRunLoopRelease(uses->loop);
    names_await_no_thread();
}

static const struct {
    const char *name;
    bool by_same_kind;
} files[] = { { "pipe", false }, { "same_kind", true } };

TEST_EACH(a_child_closes_no_file_with_the_number_of_a_closed_descriptor, files)
{
    struct uses uses;

    begin_uses(&uses);
    assert_true(replace_descriptors(row->by_same_kind) >= 6);
    const struct descriptors replaced = descriptors_now();
    if (child_begin()) {
        descriptors_expect(&replaced);
        child_end();
    }
    end_uses(&uses);
    descriptors_close_others(&before);
}

TEST_EACH(releasing_closes_no_file_with_the_number_of_a_closed_descriptor, files)
{
    struct uses uses;

    begin_uses(&uses);
    assert_true(replace_descriptors(row->by_same_kind) >= 6);
    const struct descriptors replaced = descriptors_now();
    end_uses(&uses);
    descriptors_expect(&replaced);
    descriptors_close_others(&before);
}

TEST_BY(child_run, a_sandbox_that_refuses_marks_leaks_nothing)
{
    struct uses uses;

    if (unit_is_under("tsan"))
        SKIP("the thread sanitizer cannot follow a fork among threads");
    if (!denial_impose(DENIAL_MARKS))
        return;
    begin_uses(&uses);
    end_uses(&uses);
    descriptors_await(&before); /* a thread of the library closes one */
}

/* Also after a failed test. */
static void end(void)
{
    open_gate();
    names_await_no_thread();
}

static struct resolver_reply find_no_name(const char *name)
{
    (void)name;
    return (struct resolver_reply){ .error = EAI_NONAME };
}

static void start(void)
{
    resolver_begin(find_no_name);
}

UNIT(.start = start, .setup = begin, .cleanup = end)
