/* SPDX-License-Identifier: MIT */
/*
 * Policy rules that select by user. They apply to the effective user, as for a socket that the program opens now; a
 * connected UDP socket is the oracle. After setuid(2) or seteuid(2) targets are evaluated again.
 */
#include "support/queue.h"
#include "support/test.h"

#define USER 1000

/* They are evaluated with one batch of queries, and their callbacks come in one pass. */
#define CROWD 10

static struct writer writer;

/* Whether a packet of a new socket can leave. */
static bool can_connect(const char *destination)
{
    struct sockaddr_storage address = expect_sockaddr(destination);
    const int fd = socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    ((struct sockaddr_in *)&address)->sin_port = htons(9); /* at the same place in sockaddr_in6 */
    bool can = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    if (!can)
        assert_int_equal(errno, EACCES);
    close(fd);
    return can;
}

static void become(uid_t real, uid_t effective)
{
    assert_int_equal(setresuid(real, effective, 0), 0);
}

static const struct {
    const char *name, *destination, *rule;
} families[] = {
    { "IPv4", "198.51.100.7", "rule add uidrange 1000-1000 prohibit" },
    { "IPv6", "2001:db8:7::7", "-6 rule add uidrange 1000-1000 prohibit" },
};
static const __typeof__(families[0]) *family;

static void expect_now(SCNetworkReachabilityRef target, bool reachable)
{
    assert_true(can_connect(family->destination) == reachable);
    if (reachable)
        EXPECT(target, R, None);
    else
        EXPECT(target, 0, RouteProhibited);
}

/* ---- Targets that are not scheduled ----------------------------------------------------------------------------- */

static void change_user(void)
{
    SCOPED_TARGET target = expect_target(family->destination);

    expect_now(target, true);
    become(USER, 0);
    expect_now(target, true);
    become(0, USER);
    expect_now(target, false);
    EXPECT_ADDRESS(family->destination, 0, RouteProhibited);
    become(0, 0);
    expect_now(target, true);
}

TEST_EACH(the_effective_user_counts_and_not_the_real_one, families)
{
    family = row;
    namespace_ip("%s", family->rule);
    child_run(change_user);
}

/* A query without a source finds no route: a socket finds it, and a socket belongs to the user who opened it. */
TEST_BY(child_run, the_effective_user_counts_for_routes_that_a_socket_finds)
{
    SCOPED_TARGET target = expect_target("2001:db8:7::7");

    namespace_ip("-6 route delete default; -6 route add default via 2001:db8::1 table 100");
    AFTER("-6 rule add from 2001:db8::/64 uidrange 1000-1000 table 100", EXPECT(target, 0, NoRoute));
    become(0, USER);
    EXPECT(target, R, None);
    become(0, 0);
    EXPECT(target, 0, NoRoute);
}

/* ---- Scheduled targets ------------------------------------------------------------------------------------------ */

static void expect_callbacks(struct watcher watchers[CROWD], SCNetworkReachabilityFlags flags)
{
    for (size_t i = 0; i < CROWD; i++) {
        assert_int_equal(watchers[i].calls, 1);
        assert_int_equal(watchers[i].flags, flags);
        watchers[i].calls = 0;
    }
}

static void change_user_of_a_loop(void)
{
    struct watcher watchers[CROWD];
    SCRunLoopRef loop = SCRunLoopGetCurrent();

    for (size_t i = 0; i < CROWD; i++)
        watcher_schedule_on(&watchers[i], expect_target(family->destination), loop);
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    become(0, USER);
    assert_int_equal(SCRunLoopPerform(loop, 0), CROWD);
    expect_callbacks(watchers, 0);
    become(USER, 0);
    assert_int_equal(SCRunLoopPerform(loop, 60), CROWD); /* does not wait */
    expect_callbacks(watchers, R);
    become(0, USER);
    assert_int_equal(SCRunLoopRunInMode(kSCRunLoopDefaultMode, 60, 1), kSCRunLoopRunHandledSource);
    expect_callbacks(watchers, 0);
    become(0, 0);
    assert_int_equal(SCRunLoopRunInMode(kSCRunLoopDefaultMode, 60, 1), kSCRunLoopRunHandledSource);
    expect_callbacks(watchers, R);
}

TEST_EACH(the_next_run_of_a_loop_evaluates_for_the_new_user, families)
{
    family = row;
    namespace_ip("%s", family->rule);
    child_run(change_user_of_a_loop);
}

/* Keeps the right to change the network. Changes it as soon as something is written to the pipe. */
static pid_t start_helper(int *ret_pipe)
{
    pid_t helper;
    int ends[2];
    char byte;

    assert_int_equal(pipe(ends), 0);
    if (child_fork(&helper)) {
        assert_int_equal(read(ends[0], &byte, 1), 1);
        assert_int_equal(writer_open(&writer), 0);
        assert_int_equal(writer_address(&writer, WRITER_ADD, writer_index("a"), "192.0.2.77/24"), 0);
        child_end();
    }
    *ret_pipe = ends[1];
    return helper;
}

static void change_user_of_the_thread(void)
{
    SCNetworkReachabilityRef target = expect_target(family->destination);
    struct queue queue;
    int pipe;
    const pid_t helper = start_helper(&pipe);

    queue_open(&queue, 0);
    assert_true(SCNetworkReachabilitySetCallback(target, ignore_call, NULL));
    assert_true(queue_set(&queue, target));
    assert_int_equal(expect_flags_of(target), R);
    become(0, USER);
    assert_int_equal(write(pipe, "", 1), 1);
    queue_await(&queue, 1);
    assert_int_equal(expect_flags_of(target), 0);
    child_expect_end(helper);
}

TEST_EACH(the_library_thread_evaluates_for_the_new_user, families)
{
    family = row;
    namespace_ip("%s", family->rule);
    child_run(change_user_of_the_thread);
}

/* ---- Set-up ----------------------------------------------------------------------------------------------------- */

static void begin(void)
{
    namespace_require_pair();
    if (seteuid(USER) != 0)
        SKIP("this user namespace has no user %d", USER);
    assert_int_equal(seteuid(0), 0);
    namespace_add_default_routes();
}

UNIT(.setup = begin)
