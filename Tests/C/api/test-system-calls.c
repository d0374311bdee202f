/* SPDX-License-Identifier: MIT */
/*
 * The system calls of the first use of the library in a process: create a loop and a target, schedule it, make the
 * first pass. The limits are in support/limits.h.
 *
 * What is left, for an address behind an IPv4 gateway over a link that sysfs does not show, in the order of the calls:
 *
 *  8  the loop: an epoll set, an eventfd, a timerfd, their marks (process.h); the last two in the first
 *  3  create: the namespace of the thread, from /proc; it is not registered yet, so it is opened; its mark
 *  5  the namespace's socket: the namespace of the thread, socket, mark, groups for links and rules, connect against
 *     forged messages
 *  1  schedule: the namespace of the thread
 *  3  the monitor's socket for queries: socket, mark, connect
 *  5  that for messages: socket, mark, room for bursts, groups; into the epoll set
 *  3  the first flags: the user (rules select by it), a route query, its reply
 *  5  the link: its name, flags, type and MTU, and whether the name is still that of the index; without RTNL
 *  1  its device: sysfs shows another namespace
 *  2  the pass: the user, epoll_wait
 *  3  all links: a dump, and its end
 *  2  the nexthop objects: a dump, and its end
 *  3  the barrier and the query in one send, and both replies
 *  1  the device again: only one that sysfs shows is lent by the namespace's link table
 *  6  the gateway: a filter for messages about it, their group; the barrier and the query again, as some may have come
 *
 * The allocator's calls are not counted.
 */
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "support/fake_sysfs.h"
#include "support/limits.h"
#include "support/test.h"

static void begin(void)
{
    if (unit_is_under(NULL))
        SKIP("a tool makes system calls of its own");
    namespace_require_pair();
}

UNIT(.setup = begin)

static bool is_of_allocator(uint64_t number)
{
    static const uint64_t numbers[] = { SYS_brk, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_madvise, SYS_getrandom };

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

/* In the child: kill(2) of no process marks the begin and the end. */
static void use_once(const char *address)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(2);
    raise(SIGSTOP);
    syscall(SYS_kill, 0, -1);
    SCRunLoopRef loop = SCRunLoopCreate();
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, address);
    bool worked = SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode) &&
                  SCRunLoopPerform(loop, 0) >= 0;
    syscall(SYS_kill, 0, -1);
    SCNetworkReachabilityRelease(target);
    SCRunLoopRelease(loop);
    _exit(worked ? 0 : 1);
}

/* Returns whether the child has stopped at the begin of a system call. */
static bool is_at_call(pid_t child, uint64_t *ret_number)
{
    struct __ptrace_syscall_info info = { 0 };

    if (ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) <= 0)
        fail_msg("PTRACE_GET_SYSCALL_INFO: %s", strerror(errno));
    *ret_number = info.entry.nr;
    return info.op == PTRACE_SYSCALL_INFO_ENTRY;
}

/* Counts the calls of use_once between its marks. */
static unsigned count_calls(const char *address)
{
    const pid_t child = fork();
    unsigned count = 0, marks = 0;
    uint64_t number;
    int status;

    if (child == 0)
        use_once(address);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
        SKIP("this machine does not allow ptrace(2)");
    assert_true(WIFSTOPPED(status));
    assert_int_equal(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL), 0);
    for (;;) {
        assert_int_equal(ptrace(PTRACE_SYSCALL, child, NULL, NULL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFSTOPPED(status))
            break;
        if (WSTOPSIG(status) != (SIGTRAP | 0x80) || !is_at_call(child, &number))
            continue;
        if (number == SYS_kill)
            marks++;
        else if (marks == 1 && !is_of_allocator(number))
            count++;
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(marks, 2);
    print_message("%s: %u system calls\n", address, count);
    return count;
}

TEST(the_first_use_makes_few_system_calls)
{
    namespace_ip("route add default via 192.0.2.1");
    assert_in_range(count_calls("198.51.100.1"), 1, FIRST_USE_CALLS);
}

/* IPv4 and IPv6 are queried, and a socket shows whether a route is for packets from a prefix. */
TEST(the_default_path_without_a_route_takes_more_system_calls)
{
    assert_in_range(count_calls("0.0.0.0"), 1, DEFAULT_PATH_CALLS);
}

/* Four files and a link show the device. They are read once: the monitor has it from the namespace's link table. */
TEST(the_device_is_read_once)
{
    fake_sysfs_require();
    fake_sysfs_set_type("a", "wlan");
    namespace_ip("route add default via 192.0.2.1");
    assert_in_range(count_calls("198.51.100.1"), 1, DEVICE_CALLS);
}
