/* SPDX-License-Identifier: MIT */
/*
 * Create, Schedule, Unschedule, GetFlags and Release never wait for the RTNL lock of the kernel, nor for a thread that
 * waits for it. Requests about links wait; RTM_GETROUTE and the SIOCGIF... of the library do not. The calls are wrapped
 * at link time: the test counts the requests of these calls. Whenever another call is about to wait, a second thread
 * makes all of these calls first.
 */
#include <libmnl/libmnl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "support/names.h"
#include "support/test.h"

#define TIME_LIMIT 20 /* seconds until a call that must return has failed to */

/* ---- The requests of a thread ----------------------------------------------------------------------------------- */

static _Thread_local unsigned waits;            /* requests of the thread that may wait */
static _Thread_local unsigned hardware_queries; /* these wait while any link gets another hardware address */
static _Thread_local bool is_second;
static atomic_bool is_watched; /* before each wait the second thread makes its calls */
static atomic_uint watching;

static _Thread_local unsigned link_queries; /* requests for a link, or for all */

#define ALIAS "an-alternative-name-of-a"
static bool has_alias; /* the kernel knows them */

static void run_second_thread(void);

static bool may_wait(const void *bytes, size_t length)
{
    const struct nlmsghdr *header = bytes;

    for (int left = (int)length; mnl_nlmsg_ok(header, left); header = mnl_nlmsg_next(header, &left))
        if (header->nlmsg_type != RTM_GETROUTE)
            return true;
    return false;
}

WRAP(ssize_t, send, int fd, const void *bytes, size_t length, int flags)
{
    link_queries += ((const struct nlmsghdr *)bytes)->nlmsg_type == RTM_GETLINK;
    if (may_wait(bytes, length)) {
        waits++;
        atomic_fetch_add(&watching, 1);
        if (atomic_load(&is_watched) && !is_second)
            run_second_thread();
        atomic_fetch_sub(&watching, 1);
    }
    return __real_send(fd, bytes, length, flags);
}

WRAP(int, ioctl, int fd, unsigned long request, ...)
{
    va_list arguments;

    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (request != SIOCGIFNAME && request != SIOCGIFINDEX && request != SIOCGIFFLAGS && request != SIOCGIFHWADDR &&
        request != SIOCGIFMTU && request != FIONREAD)
        waits++;
    hardware_queries += request == SIOCGIFHWADDR;
    return __real_ioctl(fd, request, argument);
}

/* ---- The calls that never wait ---------------------------------------------------------------------------------- */

static const char *const literals[] = { "0.0.0.0",         "::",          "192.0.2.9",      "192.0.2.2",
                                        "198.51.100.7",    "2001:db8::9", "2001:db8::2",    "fe80::1%a",
                                        "ff02::fb%a",      "224.0.0.251", "fe80::1%nosuch", "127.0.0.1",
                                        "example.invalid", "localhost" };

#define LITERALS (sizeof literals / sizeof literals[0])

static atomic_uint failures;

static void note(bool went_well)
{
    if (!went_well)
        atomic_fetch_add(&failures, 1);
}

static void get_flags(SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityFlags flags;

    note(SCNetworkReachabilityGetFlags(target, &flags));
}

static void make_calls_on(SCNetworkReachabilityRef target, SCRunLoopRef loop)
{
    static const SCNetworkReachabilityScheduler scheduler = { .perform = perform_at_once };

    note(target != NULL);
    get_flags(target);
    note(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    note(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopCommonModes));
    get_flags(target);
    note(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    note(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopCommonModes));
    note(SCNetworkReachabilitySetScheduler(target, &scheduler));
    get_flags(target);
    note(SCNetworkReachabilitySetScheduler(target, NULL));
    SCNetworkReachabilityRelease(target);
}

/* Uses a new loop and the given one. */
static void make_calls(SCRunLoopRef loop)
{
    SCOPED_LOOP own = SCRunLoopCreate();

    for (size_t i = 0; i < LITERALS; i++) {
        SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

        make_calls_on(SCNetworkReachabilityCreateWithName(NULL, literals[i]), i % 2 == 0 ? loop : own);
        if (strchr(literals[i], '%') != NULL)
            continue;
        options.nodename = literals[i];
        options.interfaceName = i % 3 == 0 ? "nosuch" : "a";
        options.options = kSCNetworkReachabilityOptionNotifyPath | kSCNetworkReachabilityOptionNotifyNextHop;
        make_calls_on(SCNetworkReachabilityCreateWithOptions(NULL, &options), i % 2 == 0 ? own : loop);
    }
}

/* ---- The second thread ------------------------------------------------------------------------------------------ */

static struct {
    int network;       /* the namespace of the test */
    SCRunLoopRef loop; /* driven by the first thread */
    SCNetworkReachabilityRef unscheduled, scheduled;
    atomic_uint rounds, waits;
    atomic_bool stuck;
} second;

static void *run_second(void *unused)
{
    (void)unused;
    is_second = true;
    note(setns(second.network, CLONE_NEWNET) == 0);
    get_flags(second.unscheduled);
    get_flags(second.scheduled);
    make_calls(second.loop);
    atomic_fetch_add(&second.waits, waits);
    return NULL;
}

/* Returns when the calls have returned, or too much time has passed. */
static void run_second_thread(void)
{
    struct timespec limit;
    pthread_t thread;

    note(pthread_create(&thread, NULL, run_second, NULL) == 0);
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += TIME_LIMIT;
    if (pthread_timedjoin_np(thread, NULL, &limit) != 0) {
        atomic_store(&second.stuck, true);
        atomic_store(&is_watched, false);
        pthread_detach(thread); /* it continues when the first thread does */
    }
    atomic_fetch_add(&second.rounds, 1);
}

/* A target for the whole network: Schedule finds the ways that the kernel chooses. */
static void make_calls_for_the_network(SCRunLoopRef loop)
{
    const struct sockaddr_in any = { .sin_family = AF_INET };
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
    SCNetworkReachabilityNetwork network = kSCNetworkReachabilityNetworkInitializer;

    options.remoteAddress = (const struct sockaddr *)&any;
    options.options = kSCNetworkReachabilityOptionNotifyNetwork;
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithOptions(NULL, &options);
    note(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    note(SCNetworkReachabilityGetNetwork(target, &network, NULL, 0, 0));
    note(network.ipv4.flags == kSCNetworkReachabilityFlagsReachable && network.uplinkCount == 1);
    note(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    make_calls_on(target, loop);
}

static void begin(void)
{
    namespace_require();
    etc_require("192.0.2.53");
    etc_set_servers("192.0.2.53", 1);
    namespace_ip("link set dev lo up");
    namespace_add_pair();
    namespace_ip("route add default via 192.0.2.1");
    atomic_store(&failures, 0);
    atomic_store(&second.rounds, 0);
    atomic_store(&second.waits, 0);
    second.network = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    assert_true(second.network >= 0);
    second.loop = SCRunLoopCreate();
}

static void end(void)
{
    SCRunLoopRelease(second.loop);
    close(second.network);
    names_await_no_thread();
    assert_int_equal(failures, 0);
}

/* Since the last call of this function, the second thread ran, returned and never waited. */
static void expect_second_unhindered(const char *where)
{
    if (second.stuck)
        fail_msg("%s: the second thread was delayed", where);
    if (second.rounds == 0)
        fail_msg("%s: no call waited, so nothing is proven", where);
    if (second.waits != 0)
        fail_msg("%s: the second thread waited", where);
    atomic_store(&second.rounds, 0);
}

/* ---- The tests -------------------------------------------------------------------------------------------------- */

TEST(calls_send_no_request_that_waits_for_the_rtnl_lock)
{
    waits = 0;
    make_calls(second.loop); /* no link is known */
    make_calls(second.loop);
    make_calls_for_the_network(second.loop);
    assert_int_equal(waits, 0);
    /* The calls that may wait are counted. */
    SCOPED_TARGET target = expect_target("192.0.2.9");
    expect_path_of(target);
    assert_int_equal(waits, 4); /* the type of the interface, the rules of both families, and the neighbour */
    expect_path_of(target);
    assert_int_equal(waits, 5); /* the neighbour */
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, second.loop, kSCRunLoopDefaultMode));
    assert_int_equal(waits, 5);
    assert_int_equal(SCRunLoopPerform(second.loop, 0), 0);
    assert_true(waits >= 7); /* all links, and the barrier */
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, second.loop, kSCRunLoopDefaultMode));
}

/* Generic netlink says whether there is such a name. */
TEST(a_target_with_a_long_alternative_name_is_created_without_a_query_for_links)
{
    if (!namespace_try_ip("link property add dev a altname " ALIAS))
        SKIP("this kernel has no alternative names");
    link_queries = 0;
    SCOPED_TARGET bound = expect_bound("192.0.2.9", ALIAS);
    assert_int_equal(link_queries, 0);
    EXPECT(bound, R | D, None);
    assert_true(link_queries > 0);
}

/* The flags of a down link are queried for each evaluation, as it may be up again; its hardware is not. */
TEST(the_hardware_of_a_down_link_is_queried_once)
{
    namespace_set_carrier("a", "b", false);
    SCOPED_TARGET target = expect_target("198.51.100.7");
    hardware_queries = 0;
    get_flags(target);
    assert_int_equal(hardware_queries, 1);
    for (int i = 0; i < 3; i++)
        get_flags(target);
    assert_int_equal(expect_flags_of(target), 0);
    assert_int_equal(hardware_queries, 1);
}

/* The library may wait in GetPath's first query of an interface, in the calls that evaluate 169.254.0.0 or find a
 * long alternative name, in the first pass of a loop, after a change of a link, and in all of these on the library
 * thread. */
TEST(waiting_threads_do_not_delay_other_calls)
{
    static const SCNetworkReachabilityScheduler scheduler = { .perform = perform_at_once };
    const double limit = watcher_now() + TIME_LIMIT;

    second.unscheduled = expect_target("192.0.2.9");
    second.scheduled = expect_target("2001:db8::9");
    SCOPED_TARGET served = expect_target("198.51.100.7"), local = expect_target("169.254.0.0");
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(second.scheduled, second.loop, kSCRunLoopDefaultMode));
    atomic_store(&is_watched, true);

    expect_path_of(second.unscheduled);
    expect_second_unhindered("GetPath");
    get_flags(local);
    expect_second_unhindered("GetFlags of the local network");
    has_alias = namespace_try_ip("link property add dev a altname " ALIAS);
    if (has_alias) {
        SCOPED_TARGET bound = expect_bound("192.0.2.9", ALIAS);
        atomic_store(&second.rounds, 0);
        get_flags(bound);
        expect_second_unhindered("GetFlags with an alternative name");
    }
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(local, second.loop, kSCRunLoopDefaultMode));
    expect_second_unhindered("Schedule of the local network");
    assert_int_equal(SCRunLoopPerform(second.loop, 0), 0);
    expect_second_unhindered("the first pass");
    namespace_ip("link set dev a mtu 1400");
    assert_int_equal(SCRunLoopPerform(second.loop, 0), 0);
    expect_second_unhindered("a link's change");
    assert_true(SCNetworkReachabilitySetScheduler(served, &scheduler));
    while (second.rounds == 0 && watcher_now() < limit)
        sched_yield();
    atomic_store(&is_watched, false);
    while (watching != 0)
        sched_yield();
    assert_true(SCNetworkReachabilitySetScheduler(served, NULL));
    expect_second_unhindered("a scheduler");

    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(second.scheduled, second.loop, kSCRunLoopDefaultMode));
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(local, second.loop, kSCRunLoopDefaultMode));
    SCNetworkReachabilityRelease(second.scheduled);
    SCNetworkReachabilityRelease(second.unscheduled);
}

/* ---- The kernel's part ------------------------------------------------------------------------------------------ */

/* The counts above assume that the kernel looks up routes, handles these ioctls and opens sockets while the lock is
 * held. Here the kernel holds the lock for long, while it deletes a namespace with many links. One thread waits for the
 * lock again and again, and another makes the calls. The test compares the longest wait of the first thread with the
 * longest sleep in a call of the second. */
#define TRIES 6
#define PAIRS 300
#define HOLD  0.02 /* seconds: shorter waits do not count */
#define RATIO 4    /* every sleep must be shorter by this factor */

static atomic_bool is_over;

static void *make_and_leave_namespace(void *unused)
{
    struct writer links;

    (void)unused;
    note(unshare(CLONE_NEWNET) == 0);
    note(writer_open(&links) == 0);
    note(writer_batch(&links) == 0);
    for (unsigned i = 0; i < PAIRS; i++) {
        char name[16], peer[16];

        snprintf(name, sizeof name, "v%u", i);
        snprintf(peer, sizeof peer, "w%u", i);
        note(writer_link_add_pair(&links, name, peer) == 0);
    }
    note(writer_flush(&links) == 0);
    writer_close(&links);
    return NULL;
}

static void *wait_for_lock(void *longest)
{
    struct {
        struct nlmsghdr header;
        struct if_stats_msg stats;
    } request = { .header = { .nlmsg_len = sizeof request, .nlmsg_type = RTM_GETSTATS, .nlmsg_flags = NLM_F_REQUEST },
                  .stats = { .ifindex = 0x7fffffff } };
    char reply[1024];
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

    while (!atomic_load(&is_over)) {
        const double start = watcher_now();

        note(__real_send(fd, &request, sizeof request, 0) == sizeof request && recv(fd, reply, sizeof reply, 0) > 0);
        double took = watcher_now() - start;
        if (took > *(double *)longest)
            *(double *)longest = took;
    }
    close(fd);
    return NULL;
}

/* The times of the calling thread so far. */
struct thread_times {
    double time, awake; /* seconds; awake: running, or ready to run */
    long sleeps;
};

static struct thread_times read_thread_times(void)
{
    const int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    struct thread_times thread_times = { .time = watcher_now() };
    struct rusage usage;
    char text[128];
    ssize_t length = -1;
    long long running, ready;

    if (fd >= 0) {
        length = read(fd, text, sizeof text - 1);
        close(fd);
    }
    text[length > 0 ? length : 0] = '\0';
    if (sscanf(text, "%lld %lld", &running, &ready) == 2) /* not on every kernel */
        thread_times.awake = (double)(running + ready) / 1e9;
    getrusage(RUSAGE_THREAD, &usage);
    thread_times.sleeps = usage.ru_nvcsw;
    return thread_times;
}

/* Only sleep counts: on a busy machine any call can take long. */
static void note_longest(struct thread_times *start, double *longest)
{
    const struct thread_times now = read_thread_times();
    const double asleep = now.time - start->time - (now.awake - start->awake);

    if (now.sleeps != start->sleeps && asleep > *longest)
        *longest = asleep;
    *start = read_thread_times();
}

/* Makes calls until this time. Returns the longest sleep in a call. */
static double make_timed_calls(double until)
{
    struct thread_times start = read_thread_times();
    double longest = 0;

    while (start.time < until) {
        SCNetworkReachabilityRef target = expect_target("198.51.100.7");

        note_longest(&start, &longest);
        get_flags(target);
        note_longest(&start, &longest);
        note(SCNetworkReachabilityScheduleWithRunLoop(target, second.loop, kSCRunLoopDefaultMode));
        note_longest(&start, &longest);
        get_flags(target);
        note_longest(&start, &longest);
        note(SCNetworkReachabilityUnscheduleFromRunLoop(target, second.loop, kSCRunLoopDefaultMode));
        note_longest(&start, &longest);
        SCNetworkReachabilityRelease(target);
        note_longest(&start, &longest);
        target = has_alias ? expect_bound("198.51.100.7", ALIAS) : NULL;
        note_longest(&start, &longest);
        SCNetworkReachabilityRelease(target);
    }
    return longest;
}

TEST_WITH(begin, NULL, calls_return_while_the_rtnl_lock_is_held)
{
    double waited = 0, longest = 0;
    bool is_held = false, is_short = false;

    has_alias = namespace_try_ip("link property add dev a altname " ALIAS);
    for (int i = 0; i < TRIES && !is_short; i++) {
        pthread_t holder, waiter;

        waited = 0;
        atomic_store(&is_over, false);
        assert_int_equal(pthread_create(&holder, NULL, make_and_leave_namespace, NULL), 0);
        pthread_join(holder, NULL);
        assert_int_equal(pthread_create(&waiter, NULL, wait_for_lock, &waited), 0);
        longest = make_timed_calls(watcher_now() + 0.5);
        atomic_store(&is_over, true);
        pthread_join(waiter, NULL);
        print_message("RTNL was held for %.1f ms, the longest sleep in a call took %.1f ms\n", waited * 1000,
                      longest * 1000);
        is_held = is_held || waited >= HOLD;
        is_short = waited >= HOLD && longest * RATIO <= waited;
    }
    end();
    if (!is_held)
        SKIP("the kernel never held RTNL for long, so nothing is proven");
    if (!is_short)
        fail_msg("the last try: RTNL was held for %.1f ms, and a call slept for %.1f ms", waited * 1000,
                 longest * 1000);
}

UNIT(.setup = begin, .teardown = end)
