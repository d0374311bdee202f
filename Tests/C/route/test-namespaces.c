/* SPDX-License-Identifier: MIT */
/* Targets of several network namespaces in one process: which changes affect them, which processes may query and
 * schedule them from other namespaces, and when a namespace can die. */
#include <semaphore.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "support/test.h"

#define PARTS 3

/* Three namespaces, each with a veth pair a-b, up, and 192.0.2.2/24 on a, and one for the test's thread. */
static struct world {
    int home, parts[PARTS];
    SCRunLoopRef loop;
    struct watcher watchers[PARTS];
} world;

static const struct writer_route far_route = { .prefix = "198.51.100.0/24", .gateway = "192.0.2.1" };

#define for_each_part(i) for (int i = 0; i < PARTS; i++)

/* Like namespace_add_pair, but for IPv4 and without ip(8), which starts slowly under valgrind. */
static void add_pair(void)
{
    struct writer writer;

    namespace_sysctl("net.ipv6.conf.default.accept_dad", "0");
    assert_int_equal(writer_open(&writer), 0);
    assert_int_equal(writer_link_add_pair(&writer, "a", "b"), 0);
    assert_int_equal(writer_link_up(&writer, writer_index("lo"), true), 0);
    assert_int_equal(writer_link_up(&writer, writer_index("b"), true), 0);
    assert_int_equal(writer_link_up(&writer, writer_index("a"), true), 0);
    assert_int_equal(writer_address(&writer, WRITER_ADD, writer_index("a"), "192.0.2.2/24"), 0);
    writer_close(&writer);
    namespace_await_running("a", true);
    namespace_await_running("b", true);
}

static void begin(void)
{
    namespace_require();
    world = (struct world){ .home = namespace_keep(), .loop = SCRunLoopCreate() };
    for_each_part(i)
    {
        namespace_require();
        add_pair();
        world.parts[i] = namespace_keep();
    }
    namespace_go(world.home);
}

static void end(void)
{
    for_each_part(i) close(world.parts[i]);
    SCRunLoopRelease(world.loop);
    close(world.home);
}

/* Runs a command of ip(8) in the namespace. */
#define IP(fd, ...) \
    do { \
        namespace_go(fd); \
        namespace_ip(__VA_ARGS__); \
        namespace_go(world.home); \
    } while (0)

/* The target that `creation` makes in the namespace. */
#define THERE(fd, creation) \
    ({ \
        SCNetworkReachabilityRef made_there; \
        namespace_go(fd); \
        made_there = (creation); \
        namespace_go(world.home); \
        made_there; \
    })

/* Makes the target on another thread, which has ended when make_on_a_thread returns. */
struct creation {
    int fd;
    const char *address;
};

static void *create_there(void *argument)
{
    const struct creation *creation = argument;

    if (setns(creation->fd, CLONE_NEWNET) != 0)
        return NULL;
    return (void *)SCNetworkReachabilityCreateWithName(NULL, creation->address);
}

static SCNetworkReachabilityRef make_on_a_thread(int fd, const char *address)
{
    struct creation creation = { .fd = fd, .address = address };
    void *target = NULL;
    pthread_t thread = unit_thread(create_there, &creation);

    assert_int_equal(pthread_join(thread, &target), 0);
    assert_non_null(target);
    return target;
}

static SCNetworkReachabilityRef make_on_this_thread(int fd, const char *address)
{
    return THERE(fd, expect_target(address));
}

/* ---- Changes ---------------------------------------------------------------------------------------------------- */

/* The flags of a new target in the namespace. */
#define EXPECT_FRESH(fd, creation, flags) \
    do { \
        SCNetworkReachabilityRef fresh = THERE(fd, creation); \
        assert_int_equal(expect_flags_of(fresh), flags); \
        SCNetworkReachabilityRelease(fresh); \
    } while (0)

/* Only the changed part gets a callback. In every part the target agrees with a new one. */
static void expect_change_in(int part, SCNetworkReachabilityFlags flags, SCNetworkReachabilityFlags wanted[PARTS],
                             const char *address)
{
    wanted[part] = flags;
    EXPECT_CHANGE(&world.watchers[part], flags);
    for_each_part(i)
    {
        assert_int_equal(expect_flags_of(world.watchers[i].target), wanted[i]);
        EXPECT_FRESH(world.parts[i], expect_target(address), wanted[i]);
    }
}

static void follow(SCNetworkReachabilityRef (*make)(int, const char *))
{
    static const char address[] = "198.51.100.7";
    SCNetworkReachabilityFlags wanted[PARTS] = { 0 };
    int calls = 0;

    for_each_part(i) watcher_schedule_on(&world.watchers[i], make(world.parts[i], address), world.loop);
    assert_int_equal(SCRunLoopPerform(world.loop, 0), 0);
    for_each_part(i)
    {
        const int fd = world.parts[i];

        IP(fd, "route add default via 192.0.2.1");
        expect_change_in(i, R, wanted, address);
        IP(fd, "route delete default");
        expect_change_in(i, 0, wanted, address);
        IP(fd, "route add default dev a");
        expect_change_in(i, R | D, wanted, address);
        IP(fd, "link set dev a down");
        expect_change_in(i, 0, wanted, address);
        IP(fd, "link set dev a up");
        IP(fd, "route add default via 192.0.2.1");
        expect_change_in(i, R, wanted, address);
        IP(fd, "address delete 192.0.2.2/24 dev a");
        expect_change_in(i, 0, wanted, address);
        IP(fd, "address add 192.0.2.2/24 dev a");
        IP(fd, "route add default via 192.0.2.1");
        expect_change_in(i, R, wanted, address);
        EXPECT_QUIET(&world.watchers[i]);
    }
    for_each_part(i) calls += world.watchers[i].calls;
    assert_int_equal(calls, PARTS * 7);
    /* Then undo the changes, in another order. */
    for (int i = PARTS - 1; i >= 0; i--) {
        IP(world.parts[i], "route delete default");
        expect_change_in(i, 0, wanted, address);
    }
    EXPECT_QUIET(&world.watchers[0]);
}

TEST(a_change_concerns_only_targets_of_its_namespace)
{
    follow(make_on_this_thread);
}

TEST(targets_may_be_made_by_any_thread)
{
    follow(make_on_a_thread);
}

static const SCNetworkReachabilityScheduler scheduler = { .perform = perform_at_once };

static void await_post(sem_t *done)
{
    time_limit_await(done, "no callback came");
}

/* The last flags of a target on a scheduler. */
struct record {
    sem_t called;
    atomic_int calls;
    _Atomic(SCNetworkReachabilityFlags) flags;
};

static void record_call(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct record *record = info;

    (void)target;
    record->flags = flags;
    record->calls++;
    sem_post(&record->called);
}

TEST(a_scheduler_serves_targets_of_all_namespaces)
{
    struct record record[PARTS] = { 0 };
    SCNetworkReachabilityRef targets[PARTS];
    struct writer writers[PARTS];

    for_each_part(i)
    {
        assert_int_equal(sem_init(&record[i].called, 0, 0), 0);
        namespace_go(world.parts[i]);
        assert_int_equal(writer_open(&writers[i]), 0);
        namespace_go(world.home);
        targets[i] = make_on_this_thread(world.parts[i], "198.51.100.7");
        expect_callback_set(targets[i], record_call, &record[i]);
        assert_true(SCNetworkReachabilitySetScheduler(targets[i], &scheduler));
    }
    for (int round = 0; round < 20; round++)
        for_each_part(i)
        {
            const bool add = round % 2 == 0;

            assert_int_equal(writer_route(&writers[i], add ? WRITER_ADD : WRITER_DELETE, &far_route), 0);
            await_post(&record[i].called);
            assert_int_equal(record[i].flags, add ? R : 0);
            EXPECT_FRESH(world.parts[i], expect_target("198.51.100.7"), add ? R : 0);
            for_each_part(j) assert_int_equal(record[j].calls, round + (j <= i));
        }
    for_each_part(i)
    {
        assert_true(SCNetworkReachabilitySetScheduler(targets[i], NULL));
        SCNetworkReachabilityRelease(targets[i]);
        writer_close(&writers[i]);
    }
}

TEST(one_address_differs_between_namespaces)
{
    static const SCNetworkReachabilityFlags flags[PARTS] = { R | L | D, R | D, 0 };
    static const SCNetworkReachabilityReason reasons[PARTS] = { 0, 0, kSCNetworkReachabilityReasonRouteBlackhole };
    SCNetworkReachabilityRef targets[PARTS];

    IP(world.parts[1], "address delete 192.0.2.2/24 dev a");
    IP(world.parts[1], "address add 192.0.2.1/24 dev a");
    IP(world.parts[2], "address delete 192.0.2.2/24 dev a");
    IP(world.parts[2], "route add blackhole 192.0.2.2/32");
    for_each_part(i)
    {
        targets[i] = make_on_this_thread(world.parts[i], "192.0.2.2");
        watcher_schedule_on(&world.watchers[i], make_on_this_thread(world.parts[i], "192.0.2.2"), world.loop);
    }
    assert_int_equal(SCRunLoopPerform(world.loop, 0), 0);
    for (int round = 0; round < 3; round++)
        for_each_part(i)
        {
            expect_result(targets[i], flags[i], reasons[i], NULL, __FILE__, __LINE__);
            expect_result(world.watchers[i].target, flags[i], reasons[i], NULL, __FILE__, __LINE__);
        }
    EXPECT_ADDRESS("192.0.2.2", 0, NoRoute); /* the home namespace has no routes */
    EXPECT_QUIET(&world.watchers[0]);
    for_each_part(i) SCNetworkReachabilityRelease(targets[i]);
}

TEST(an_interface_is_renamed_in_one_namespace)
{
    for_each_part(i)
        watcher_schedule_on(&world.watchers[i], THERE(world.parts[i], expect_bound("192.0.2.9", "a")), world.loop);
    assert_int_equal(SCRunLoopPerform(world.loop, 0), 0);
    for_each_part(i)
    {
        /* Not every kernel renames a link that is up. */
        IP(world.parts[i], "link set dev a down");
        EXPECT_CHANGE(&world.watchers[i], 0);
        EXPECT(world.watchers[i].target, 0, NoRoute);
        IP(world.parts[i], "link set dev a name z");
        IP(world.parts[i], "link set dev z up");
        namespace_go(world.parts[i]);
        namespace_await_running("z", true);
        namespace_go(world.home);
        EXPECT_QUIET(&world.watchers[i]);
        EXPECT(world.watchers[i].target, 0, InterfaceMissing);
        EXPECT_FRESH(world.parts[i], expect_bound("192.0.2.9", "a"), 0);
        EXPECT_FRESH(world.parts[i], expect_bound("192.0.2.9", "z"), R | D);
        for_each_part(j) if (j > i) EXPECT(world.watchers[j].target, R | D, None);
        IP(world.parts[i], "link set dev z down");
        IP(world.parts[i], "link set dev z name a");
        IP(world.parts[i], "link set dev a up");
        EXPECT_CHANGE(&world.watchers[i], R | D);
        EXPECT_FRESH(world.parts[i], expect_bound("192.0.2.9", "a"), R | D);
    }
    EXPECT_QUIET(&world.watchers[0]);
}

/* "c", whose peer stays in the first namespace. */
static void move(int from, int to)
{
    IP(world.parts[from], "link set dev c netns /proc/%d/fd/%d", (int)getpid(), world.parts[to]);
}

TEST(an_interface_moves_between_namespaces)
{
    namespace_go(world.parts[0]);
    namespace_add_second_pair();
    namespace_go(world.home);
    for_each_part(i)
        watcher_schedule_on(&world.watchers[i], THERE(world.parts[i], expect_bound("203.0.113.9", "c")), world.loop);
    assert_int_equal(SCRunLoopPerform(world.loop, 0), 0);
    for_each_part(from)
    {
        const int to = (from + 1) % PARTS, other = (from + 2) % PARTS;

        EXPECT(world.watchers[from].target, R | D, None);
        EXPECT(world.watchers[to].target, 0, InterfaceMissing);
        move(from, to);
        EXPECT_CHANGE(&world.watchers[from], 0);
        EXPECT(world.watchers[from].target, 0, InterfaceMissing);
        EXPECT_FRESH(world.parts[from], expect_bound("203.0.113.9", "c"), 0);
        IP(world.parts[to], "link set dev c up");
        IP(world.parts[to], "address add 203.0.113.2/24 dev c");
        EXPECT_END(&world.watchers[to], R | D);
        EXPECT_FRESH(world.parts[to], expect_bound("203.0.113.9", "c"), R | D);
        EXPECT(world.watchers[other].target, 0, InterfaceMissing);
        EXPECT_QUIET(&world.watchers[other]);
    }
}

/* ---- Queries from other namespaces ------------------------------------------------------------------------------ */

/* Each namespace's z has an index that no other namespace has. */
static unsigned index_in(int part)
{
    return 100 + 10 * (unsigned)part;
}

static void add_z(int part)
{
    IP(world.parts[part], "link add name z index %u type veth peer name y", index_in(part));
    IP(world.parts[part], "link set dev y up");
    IP(world.parts[part], "link set dev z up");
    namespace_go(world.parts[part]);
    namespace_await_running("z", true);
    namespace_await_addresses();
    namespace_go(world.home);
}

static unsigned resolved_scope_of(SCNetworkReachabilityRef target)
{
    struct sockaddr_storage address = { 0 };

    assert_int_equal(SCNetworkReachabilityGetResolvedAddresses(target, &address, 1), 1);
    assert_int_equal(address.ss_family, AF_INET6);
    return ((const struct sockaddr_in6 *)&address)->sin6_scope_id;
}

static void expect_over_z(SCNetworkReachabilityRef target, unsigned index)
{
    const SCNetworkReachabilityPath path = expect_path_of(target);

    EXPECT(target, index == 0 ? 0 : R | D, None + (index == 0 ? kSCNetworkReachabilityReasonInterfaceMissing : 0));
    assert_int_equal(path.interfaceIndex, index);
    assert_int_equal(resolved_scope_of(target), index);
    if (index == 0)
        return;
    assert_string_equal(path.interfaceName, "z");
    assert_int_equal(path.interfaceType, kSCNetworkReachabilityInterfaceTypeVirtual);
    assert_int_equal(((const struct sockaddr_in6 *)&path.destination)->sin6_scope_id, index);
    assert_int_equal(((const struct sockaddr_in6 *)&path.source)->sin6_scope_id, index);
}

TEST(interface_names_belong_to_the_target_namespace)
{
    SCNetworkReachabilityRef zoned[PARTS], bound[PARTS];

    for_each_part(i)
    {
        add_z(i);
        zoned[i] = THERE(world.parts[i], SCNetworkReachabilityCreateWithName(NULL, "fe80::1%z"));
        bound[i] = THERE(world.parts[i], expect_bound("fe80::1", "z"));
        assert_non_null(zoned[i]);
    }
    assert_int_equal(if_nametoindex("z"), 0);
    for_each_part(i)
    {
        expect_over_z(zoned[i], index_in(i));
        expect_over_z(bound[i], index_in(i));
        watcher_schedule_on(&world.watchers[i], zoned[i], world.loop);
    }
    assert_int_equal(SCRunLoopPerform(world.loop, 0), 0);
    IP(world.parts[1], "link delete dev z");
    EXPECT_CHANGE(&world.watchers[1], 0);
    for_each_part(i)
    {
        expect_over_z(zoned[i], i == 1 ? 0 : index_in(i));
        expect_over_z(bound[i], i == 1 ? 0 : index_in(i));
    }
    add_z(1);
    EXPECT_END(&world.watchers[1], R | D);
    for_each_part(i)
    {
        expect_over_z(zoned[i], index_in(i));
        expect_over_z(bound[i], index_in(i));
        SCNetworkReachabilityRelease(bound[i]);
    }
}

struct foreign_query {
    int fd;
    SCNetworkReachabilityRef target;
    bool right;
};

static void *query_from_namespace(void *argument)
{
    struct foreign_query *query = argument;
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;
    SCNetworkReachabilityFlags flags = 0;
    struct sockaddr_storage address = { 0 };

    query->right = setns(query->fd, CLONE_NEWNET) == 0 && if_nametoindex("z") != 0;
    for (int i = 0; i < 100 && query->right; i++)
        query->right = SCNetworkReachabilityGetFlags(query->target, &flags) && flags == (R | D) &&
                       SCNetworkReachabilityGetPath(query->target, &path) && path.flags == (R | D) &&
                       path.interfaceIndex == index_in(0) &&
                       SCNetworkReachabilityGetResolvedAddresses(query->target, &address, 1) == 1 &&
                       ((const struct sockaddr_in6 *)&address)->sin6_scope_id == index_in(0);
    return NULL;
}

TEST(threads_of_all_namespaces_may_query_at_once)
{
    struct foreign_query queries[PARTS];
    pthread_t threads[PARTS];

    for_each_part(i)
    {
        add_z(i);
        queries[i] = (struct foreign_query){ .fd = world.parts[i] };
    }
    queries[0].target = THERE(world.parts[0], SCNetworkReachabilityCreateWithName(NULL, "fe80::1%z"));
    assert_non_null(queries[0].target);
    for_each_part(i)
    {
        queries[i].target = queries[0].target;
        assert_int_equal(pthread_create(&threads[i], NULL, query_from_namespace, &queries[i]), 0);
    }
    for_each_part(i) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for_each_part(i) assert_true(queries[i].right);
    SCNetworkReachabilityRelease(queries[0].target);
}

#define EXPECT_HOME() \
    do { \
        struct stat here; \
        assert_int_equal(stat("/proc/thread-self/ns/net", &here), 0); \
        assert_int_equal(here.st_ino, home.st_ino); \
    } while (0)

/* The library opens sockets in other namespaces, but on the calling thread nothing changes. */
TEST(no_call_moves_the_calling_thread)
{
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;
    struct watcher *watcher = &world.watchers[0];
    struct writer writer;
    struct stat home;

    assert_int_equal(fstat(world.home, &home), 0);
    namespace_go(world.parts[0]);
    assert_int_equal(writer_open(&writer), 0);
    namespace_go(world.home);
    watcher_schedule_on(watcher, make_on_this_thread(world.parts[0], "198.51.100.7"), world.loop);
    EXPECT_HOME();
    assert_int_equal(writer_route(&writer, WRITER_ADD, &far_route), 0);
    EXPECT_CHANGE(watcher, R);
    EXPECT_HOME();
    assert_true(SCNetworkReachabilityGetPath(watcher->target, &path));
    EXPECT_HOME();
    assert_int_equal(writer_route(&writer, WRITER_DELETE, &far_route), 0);
    EXPECT_CHANGE(watcher, 0);
    EXPECT_HOME();
    watcher_stop(watcher);
    EXPECT_HOME();
    watcher->target = NULL;
    writer_close(&writer);
}

/* ---- The death of a namespace ----------------------------------------------------------------------------------- */

/*
 * Makes a namespace that only the returned descriptor holds. It has one end of a veth pair, "x". The other end,
 * `marker`, is in the home namespace and is deleted with it.
 */
static int mortal_open(const char *marker)
{
    namespace_require();
    int fd = namespace_keep();
    namespace_go(world.home);
    namespace_ip("link add name %s type veth peer name x", marker);
    namespace_ip("link set dev x netns /proc/%d/fd/%d", (int)getpid(), fd);
    return fd;
}

/* The kernel deletes namespaces in the order in which they were released. So if a namespace that is released now is
 * deleted and an older one still exists, the older one is still held. The loop runs twice, because the remains of
 * closed sockets may hold the namespace during the first round. */
static void expect_alive(const char *marker)
{
    for (int i = 0; i < 2; i++) {
        close(mortal_open("control"));
        namespace_await_gone("control");
    }
    if (if_nametoindex(marker) == 0)
        fail_msg("the namespace of %s died while a target held it", marker);
}

/* A target in a namespace that nothing else holds, with the link w. */
static SCNetworkReachabilityRef make_sole_target(SCNetworkReachabilityRef (*make)(int fd, const char *address))
{
    const int fd = mortal_open("w");
    const SCNetworkReachabilityRef target = make(fd, "192.0.2.9");

    close(fd);
    return target;
}

static void begin_alone(void)
{
    namespace_require();
    world = (struct world){ .home = namespace_keep(), .loop = SCRunLoopCreate() };
}

static void end_alone(void)
{
    SCRunLoopRelease(world.loop);
    close(world.home);
}

TEST_WITH(begin_alone, end_alone, a_namespace_dies_when_its_last_target_is_released)
{
    int fd = mortal_open("w");
    SCNetworkReachabilityRef first = make_on_this_thread(fd, "192.0.2.9");
    SCNetworkReachabilityRef second = THERE(fd, expect_bound("fe80::1", "x"));
    close(fd);
    EXPECT_EACH(0, NoRoute, first, second);
    SCNetworkReachabilityRelease(first);
    expect_alive("w");
    EXPECT(second, 0, NoRoute);
    SCNetworkReachabilityRelease(second);
    namespace_await_gone("w");
}

TEST_WITH(begin_alone, end_alone, a_namespace_dies_when_its_last_target_is_unscheduled)
{
    const SCNetworkReachabilityRef target = make_sole_target(make_on_this_thread);

    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, world.loop, kSCRunLoopDefaultMode));
    assert_int_equal(SCRunLoopPerform(world.loop, 0), 0);
    SCNetworkReachabilityRelease(target);
    expect_alive("w");
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, world.loop, kSCRunLoopDefaultMode));
    namespace_await_gone("w");
    assert_int_equal(SCRunLoopPerform(world.loop, 0), 0);
}

/* The target is scheduled in two modes, and its loop is never driven. */
TEST_WITH(begin_alone, end_alone, a_namespace_dies_with_its_last_schedule)
{
    const SCNetworkReachabilityRef target = make_sole_target(make_on_this_thread);

    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, world.loop, kSCRunLoopDefaultMode));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, world.loop, kSCRunLoopCommonModes));
    SCNetworkReachabilityRelease(target);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, world.loop, kSCRunLoopDefaultMode));
    expect_alive("w");
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, world.loop, kSCRunLoopCommonModes));
    namespace_await_gone("w");
}

static void release_inside(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    int *calls = info;

    (*calls)++;
    assert_int_equal(flags, R | L | D);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, world.loop, kSCRunLoopDefaultMode));
    SCNetworkReachabilityRelease(target);
}

TEST_WITH(begin_alone, end_alone, a_namespace_dies_when_its_last_target_is_released_in_its_own_callback)
{
    int calls = 0;
    int fd = mortal_open("w");
    SCNetworkReachabilityRef target = make_on_this_thread(fd, "127.0.0.1");

    expect_callback_set(target, release_inside, &calls);
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, world.loop, kSCRunLoopDefaultMode));
    assert_int_equal(SCRunLoopPerform(world.loop, 0), 0);
    IP(fd, "link set dev lo up");
    close(fd);
    expect_alive("w");
    assert_int_equal(SCRunLoopPerform(world.loop, 10), 1);
    assert_int_equal(calls, 1);
    namespace_await_gone("w");
}

TEST_WITH(begin_alone, end_alone, a_namespace_dies_without_the_thread_that_made_the_target)
{
    const SCNetworkReachabilityRef target = make_sole_target(make_on_a_thread);

    EXPECT(target, 0, NoRoute);
    expect_alive("w");
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, world.loop, kSCRunLoopDefaultMode));
    assert_int_equal(SCRunLoopPerform(world.loop, 0), 0);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, world.loop, kSCRunLoopDefaultMode));
    expect_alive("w");
    SCNetworkReachabilityRelease(target);
    namespace_await_gone("w");
}

/* Schedules a target on the loop of this thread and returns. */
static void *leave_scheduled(void *argument)
{
    const SCNetworkReachabilityRef target = create_there(argument);

    if (target == NULL)
        return NULL;
    bool left = SCNetworkReachabilityScheduleWithRunLoop(target, SCRunLoopGetCurrent(), kSCRunLoopCommonModes) &&
                SCRunLoopRunInMode(kSCRunLoopDefaultMode, 0, 0) == kSCRunLoopRunTimedOut;
    SCNetworkReachabilityRelease(target);
    return left ? argument : NULL;
}

TEST_WITH(begin_alone, end_alone, a_namespace_dies_with_the_thread_whose_loop_had_its_last_target)
{
    struct creation creation = { .address = "192.0.2.9" };
    void *left = NULL;

    creation.fd = mortal_open("w");
    pthread_t thread = unit_thread(leave_scheduled, &creation);
    assert_int_equal(pthread_join(thread, &left), 0);
    assert_non_null(left);
    expect_alive("w"); /* the descriptor holds it */
    close(creation.fd);
    namespace_await_gone("w");
}

struct release {
    sem_t done;
    bool right;
};

static void release_on_the_scheduler(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct release *release = info;

    release->right = flags == (R | L | D) && SCNetworkReachabilitySetScheduler(target, NULL);
    SCNetworkReachabilityRelease(target);
    sem_post(&release->done);
}

TEST_WITH(begin_alone, end_alone, a_namespace_dies_when_its_last_target_leaves_its_scheduler)
{
    struct release release = { .right = false };

    assert_int_equal(sem_init(&release.done, 0, 0), 0);
    for (int inside = 0; inside < 2; inside++) {
        const int fd = mortal_open("w");
        SCNetworkReachabilityRef target = make_on_this_thread(fd, "127.0.0.1");

        if (inside)
            expect_callback_set(target, release_on_the_scheduler, &release);
        assert_true(SCNetworkReachabilitySetScheduler(target, &scheduler));
        expect_alive("w");
        if (inside) {
            IP(fd, "link set dev lo up");
            await_post(&release.done);
            assert_true(release.right);
            close(fd);
        } else {
            close(fd);
            expect_alive("w");
            assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
            SCNetworkReachabilityRelease(target);
        }
        namespace_await_gone("w");
    }
    sem_destroy(&release.done);
}

/* A new namespace may get the inode number of a deleted one. The library keeps no state of the old one. */
TEST_WITH(begin_alone, end_alone, many_namespaces_are_made_and_deleted)
{
    const struct descriptors before = descriptors_now();
    for (int i = 0; i < 8; i++) {
        const int fd = mortal_open("w");

        if (i % 2 != 0)
            IP(fd, "link set dev lo up");
        SCNetworkReachabilityRef target = make_on_this_thread(fd, "127.0.0.1");
        close(fd);
        assert_int_equal(expect_flags_of(target), i % 2 != 0 ? R | L | D : 0);
        SCNetworkReachabilityRelease(target);
        namespace_await_gone("w");
    }
    descriptors_expect(&before);
}

/* ---- Without privilege, and without /proc ----------------------------------------------------------------------- */

#define NOT_HERE 77 /* exit status: the child lacks a permission */

static void run_in_child(void (*body)(void))
{
    const pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        alarm((unsigned)time_limit_of(60)); /* a blocked child has failed */
        body();
        _exit(0);
    }
    while (waitpid(child, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_HERE)
        SKIP("neither another user nor another /proc is allowed here");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void drop_privilege(bool to_other_user)
{
    if (!namespace_drop_privilege(to_other_user))
        _exit(NOT_HERE);
}

static SCNetworkReachabilityRef create_in_child(const char *address)
{
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, address);

    MUST(target != NULL);
    return target;
}

static SCNetworkReachabilityFlags flags_in_child(SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityFlags flags = 0xdeadbeef;

    MUST(SCNetworkReachabilityGetFlags(target, &flags));
    return flags;
}

static bool schedule(SCNetworkReachabilityRef target, SCRunLoopRef loop)
{
    return SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode);
}

static bool unschedule(SCNetworkReachabilityRef target, SCRunLoopRef loop)
{
    return SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode);
}

static void count(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)flags;
    ++*(int *)info;
}

/* In the child's own namespace a scheduled target still gets its callback. */
static void must_watch(SCNetworkReachabilityRef target, struct writer *writer)
{
    int calls = 0;
    SCNetworkReachabilityContext context = { .info = &calls };
    SCOPED_LOOP loop = SCRunLoopCreate();

    MUST(loop != NULL);
    MUST(SCNetworkReachabilitySetCallback(target, count, &context));
    MUST(flags_in_child(target) == 0);
    MUST(schedule(target, loop));
    MUST(SCRunLoopPerform(loop, 0) == 0);
    MUST(writer_route(writer, WRITER_ADD, &far_route) == 0);
    MUST(SCRunLoopPerform(loop, 10) == 1);
    MUST(calls == 1 && flags_in_child(target) == R);
    MUST(writer_route(writer, WRITER_DELETE, &far_route) == 0);
    MUST(SCRunLoopPerform(loop, 10) == 1);
    MUST(calls == 2 && flags_in_child(target) == 0);
    MUST(unschedule(target, loop));
    MUST(flags_in_child(target) == 0);
    SCNetworkReachabilityRelease(target);
}

static void must_be_refused(SCNetworkReachabilityRef target, SCRunLoopRef loop)
{
    const struct descriptors before = descriptors_now();
    for (int i = 0; i < 3; i++) {
        MUST(!schedule(target, loop));
        MUST(SCError() == EPERM);
        MUST(!unschedule(target, loop) && SCError() == kSCStatusInvalidArgument);
        MUST(flags_in_child(target) == R);
    }
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        MUST((fcntl(fd, F_GETFD) >= 0) == before.open[fd]);
}

/* GetPath works, except for values that need a new socket in the namespace. */
static void must_have_path(SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;

    MUST(SCNetworkReachabilityGetPath(target, &path));
    MUST(path.flags == R && strcmp(path.interfaceName, "a") == 0);
}

/* The child's thread is in the second namespace. It has a writer for this namespace and for the first one. */
static void live_without_privilege(bool as_other_user)
{
    SCRunLoopRef open_there = SCRunLoopCreate(), fresh = SCRunLoopCreate();
    struct writer here, there;

    MUST(setns(world.parts[0], CLONE_NEWNET) == 0);
    MUST(writer_open(&there) == 0);
    MUST(writer_route(&there, WRITER_ADD, &far_route) == 0);
    SCNetworkReachabilityRef far = create_in_child("198.51.100.7");
    SCNetworkReachabilityRef watched = create_in_child("198.51.100.8");
    MUST(setns(world.parts[1], CLONE_NEWNET) == 0);
    MUST(writer_open(&here) == 0);
    SCNetworkReachabilityRef near = create_in_child("198.51.100.7");
    MUST(schedule(watched, open_there));
    MUST(SCRunLoopPerform(open_there, 0) == 0);
    drop_privilege(as_other_user);
    MUST(setns(world.parts[0], CLONE_NEWNET) != 0 && errno == EPERM);

    must_be_refused(far, fresh);
    must_have_path(far);
    /* This loop's sockets in the first namespace stay open until its last target there is unscheduled. */
    MUST(schedule(far, open_there));
    MUST(SCRunLoopPerform(open_there, 0) == 0);
    MUST(writer_route(&there, WRITER_DELETE, &far_route) == 0);
    MUST(SCRunLoopPerform(open_there, 0) == 0); /* there is no callback */
    MUST(flags_in_child(far) == 0 && flags_in_child(watched) == 0);
    MUST(writer_route(&there, WRITER_ADD, &far_route) == 0);
    MUST(SCRunLoopPerform(open_there, 0) == 0);
    MUST(flags_in_child(far) == R && flags_in_child(watched) == R);
    MUST(unschedule(far, open_there));
    MUST(unschedule(watched, open_there));
    must_be_refused(far, open_there);
    SCNetworkReachabilityRelease(watched);
    SCNetworkReachabilityRelease(far);
    SCRunLoopRelease(open_there);
    SCRunLoopRelease(fresh);

    must_watch(near, &here);
    must_watch(create_in_child("198.51.100.7"), &here);
}

static void live_without_capability(void)
{
    live_without_privilege(false);
}

static void live_as_other_user(void)
{
    live_without_privilege(true);
}

TEST(without_privilege_a_foreign_target_is_queried_but_not_scheduled)
{
    run_in_child(live_without_capability);
}

TEST(another_user_may_query_but_not_schedule_a_foreign_target)
{
    run_in_child(live_as_other_user);
}

static void hide_proc(void)
{
    if (!namespace_enter_mounts() || mount("none", "/proc", "tmpfs", 0, NULL) != 0)
        _exit(NOT_HERE);
    MUST(access("/proc/thread-self/ns/net", F_OK) != 0);
}

TEST_BY(run_in_child, without_proc_the_process_has_one_namespace)
{
    struct creation creation = { .fd = world.parts[1], .address = "198.51.100.7" };
    SCNetworkReachabilityRef target;
    struct writer writer;
    void *other = NULL;
    pthread_t thread;

    MUST(setns(world.parts[0], CLONE_NEWNET) == 0);
    MUST(writer_open(&writer) == 0);
    hide_proc();
    must_watch(create_in_child("198.51.100.7"), &writer);

    /* The process counts as having one namespace: the namespace of the first target. */
    target = create_in_child("198.51.100.7");
    MUST(writer_route(&writer, WRITER_ADD, &far_route) == 0);
    MUST(pthread_create(&thread, NULL, create_there, &creation) == 0);
    MUST(pthread_join(thread, &other) == 0);
    MUST(other != NULL);
    MUST(flags_in_child(target) == R && flags_in_child(other) == R);
    SCNetworkReachabilityRelease(target);
    MUST(flags_in_child(other) == R);
    MUST(writer_route(&writer, WRITER_DELETE, &far_route) == 0);
    must_watch(other, &writer);
}

/* A daemon that enters a sandbox after its start. */
TEST_BY(run_in_child, a_target_stays_usable_when_proc_and_privilege_are_given_up)
{
    struct writer writer;

    MUST(setns(world.parts[0], CLONE_NEWNET) == 0);
    MUST(writer_open(&writer) == 0);
    SCNetworkReachabilityRef target = create_in_child("198.51.100.7");
    hide_proc();
    drop_privilege(false);
    must_watch(target, &writer);
    must_watch(create_in_child("198.51.100.7"), &writer);
}

TEST_BY(run_in_child, a_target_stays_usable_when_proc_appears)
{
    struct writer writer;

    MUST(setns(world.parts[0], CLONE_NEWNET) == 0);
    MUST(writer_open(&writer) == 0);
    hide_proc();
    SCNetworkReachabilityRef target = create_in_child("198.51.100.7");
    MUST(umount2("/proc", MNT_DETACH) == 0);
    MUST(access("/proc/thread-self/ns/net", F_OK) == 0);
    must_watch(target, &writer);
    must_watch(create_in_child("198.51.100.7"), &writer);
}

UNIT(.setup = begin, .teardown = end)
