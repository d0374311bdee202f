/* SPDX-License-Identifier: MIT */
/*
 * Makes each system call and allocation of the library fail: the first, then the second, and so on to the last. Each
 * fails with every errno that makes sense, alone or together with all later calls. The caller gets an error, with
 * nothing written and nothing leaked, or the right result. After an event the last callback is right, even if no other
 * event follows.
 *
 * Under the tools, which are slow, each run visits a part of these points, and another run visits others.
 * TEST_FAULT_SEED: the part that a run visited that printed this number.
 */
#include <linux/sock_diag.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "support/faults.h"
#include "support/names.h"
#include "support/test.h"

extern const char __executable_start; /* of the linker */

#define TIME_LIMIT (unit_is_under(NULL) ? 30.0 : 5.0) /* seconds: the library must recover earlier */
#define MANY       500                                /* calls: every scenario makes fewer */

/* ---- Sweeping --------------------------------------------------------------------------------------------------- */

static const struct fault ways[] = {
    { .error = ENOMEM },
    { .error = ENOMEM, .loses = true },
    { .error = ENOMEM, .count = FAULT_LASTS },
#define MEMORY_WAYS 3 /* those above */
    { .error = ENOBUFS, .loses = true },
    { .error = ENOBUFS, .count = 20 }, /* each loss is reported once, until it is read */
#define SHORTAGE_WAYS 5                /* those above: nothing is denied */
    { .error = EACCES, .count = FAULT_LASTS },
    { .error = EAGAIN },
    { .error = EINTR, .count = 3 },
#define EVENT_WAYS 8 /* those above: an event opens nothing, and a retry takes a moment */
    { .error = EAGAIN, .count = FAULT_LASTS },
    { .error = ENOBUFS },
    { .error = EMFILE },
    { .error = EMFILE, .count = FAULT_LASTS },
    { .error = EPERM },
    { .error = EPERM, .count = FAULT_LASTS },
    { .error = EACCES },
    { .error = EINTR },
};
#define WAYS (sizeof ways / sizeof ways[0])

static struct fault fault;   /* the current fault */
static const char *function; /* the function that failed; NULL: none */
static bool sweeping, struck;
static unsigned points; /* that were visited: each with one kind of target, one call and one way to fail */

static struct descriptors before; /* open when the scenario began */

/* Without a tool, every call fails. Under the tools, which are slower, a part that each run draws. */
static unsigned step(void)
{
    return unit_is_under("valgrind") ? 16 : unit_is_under("tsan") ? 24 : unit_is_under("asan") ? 8 : 1;
}

/* Which of them fail: the first of each sweep is drawn. */
static unsigned first_seed, seed;

static void draw_seed(void)
{
    const char *text = getenv("TEST_FAULT_SEED");

    first_seed = seed = text != NULL ? (unsigned)strtoul(text, NULL, 10) : (unsigned)time(NULL);
}

static void fault_begin(void)
{
    SCNetworkReachabilityGetFlags(NULL, NULL); /* sets SCError() to a value that no fault causes */
    faults_arm(&fault);
}

static void fault_end(void)
{
    function = faults_disarm();
    struck = struck || function != NULL;
}

/* The result of a call of the library while the fault is armed. */
#define UNDER_FAULT(call) \
    ({ \
        fault_begin(); \
        __typeof__(call) answer = (call); \
        fault_end(); \
        answer; \
    })

/* True if a call failed and had to. The library retries interrupted calls. */
static bool is_refused(void)
{
    const int status = SCError();

    if (function == NULL || fault.error == EINTR)
        return false;
    return status == kSCStatusReachabilityUnknown ||
           (status > 0 && status < 1000 && status != EINTR && status != EAGAIN);
}

static void expect_refused(void)
{
    if (!is_refused())
        fail_msg("refused with %d", SCError());
}

/* A thread that closes descriptors frees its memory last. If the count was taken before that, fewer blocks are left. */
static void await_blocks(long blocks)
{
    const double end = watcher_now() + TIME_LIMIT;

    while (faults_blocks() > blocks && watcher_now() < end)
        sched_yield();
    assert_in_range(faults_blocks(), 0, blocks);
}

/* Runs a scenario until each of its calls has failed once, or each that a tool leaves time for. */
static void sweep(size_t way_count, void (*scenario)(void))
{
    long blocks;

    sweeping = true;
    for (size_t i = 0; i < way_count; i++) {
        fault = ways[i];
        fault.nth = 1 + (unsigned)rand_r(&seed) % step();
        for (struck = true; struck; fault.nth += step()) {
            assert_true(fault.nth < MANY);
            struck = false;
            descriptors_read(&before);
            blocks = faults_blocks();
            scenario();
            points += struck;
            names_await_no_thread();
            descriptors_await(&before);
            await_blocks(blocks);
        }
    }
    sweeping = false;
}

#define NAME "name.test" /* it is in hosts: no server is needed */

/* ---- The network ------------------------------------------------------------------------------------------------ */

static struct writer writer = { .fd = -1 };
static unsigned peer; /* the other end of the link that all routes leave over */
static const struct writer_route defaults[] = { { .prefix = "0.0.0.0/0", .gateway = "192.0.2.1" },
                                                { .prefix = "::/0", .gateway = "2001:db8::1", .expires = 100000 } };

static void add_defaults(void)
{
    unit_check(writer_route(&writer, WRITER_ADD, &defaults[0]), "writer");
    unit_check(writer_route(&writer, WRITER_ADD, &defaults[1]), "writer");
}

static void delete_defaults(void)
{
    unit_check(writer_route(&writer, WRITER_DELETE, &defaults[0]), "writer");
    unit_check(writer_route(&writer, WRITER_DELETE, &defaults[1]), "writer");
}

/* Called at the start of a test, the only place that may skip it. */
static void begin(void)
{
    namespace_require();
    etc_require("192.0.2.53");
    etc_write(ETC_HOSTS, "192.0.2.9 " NAME "\n");
    namespace_ip("link set dev lo up");
    namespace_add_pair();
    unit_check(writer_open(&writer), "writer");
    peer = writer_index("b");
    add_defaults();
}

static void end(void)
{
    faults_disarm();
    faults_socket = NULL;
    writer_close(&writer);
    if (sweeping)
        print_error("TEST_FAULT_SEED=%u, at call %u, %s%s%s, in %s\n", first_seed, fault.nth, strerror(fault.error),
                    fault.count > 1 ? ", lasting" : "", fault.loses ? ", with what was received" : "",
                    function != NULL ? function : "none");
    sweeping = false;
}

/* ---- Targets ---------------------------------------------------------------------------------------------------- */

static const struct kind {
    const char *name, *local, *remote, *interface;
    uint32_t options;
    bool socket; /* one that is connected to `remote` */
} kinds[] = {
    { .remote = "198.51.100.1" },
    { .remote = "2001:db8:1::1" },
    { .remote = "0.0.0.0" },
    { .remote = "0.0.0.0", .options = kSCNetworkReachabilityOptionNotifyNetwork }, /* makes a first callback */
    { .local = "192.0.2.2", .remote = "198.51.100.1" },
    { .remote = "198.51.100.1", .interface = "a", .options = kSCNetworkReachabilityOptionNotifyPath },
    { .remote = "2001:db8:1::1", .interface = "a" },
    { .remote = "169.254.0.0" },
    { .remote = "198.51.100.1", .socket = true },
    { .name = "localhost" },
    { .name = NAME },
};
#define KINDS (sizeof kinds / sizeof kinds[0])
#define FAR   3 /* the first of them: reachable over the default routes alone */
#define PAIR  3
#define BOUND 4

static const struct kind *kind;
static SCNetworkReachabilityPath right; /* its path without a fault */

static SCNetworkReachabilityRef make_for_socket(void)
{
    struct sockaddr_storage remote = expect_sockaddr(kind->remote);
    const int fd = socket(remote.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    ((struct sockaddr_in *)&remote)->sin_port = htons(9);
    assert_int_equal(connect(fd, (const struct sockaddr *)&remote, sizeof remote), 0);
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithSocket(NULL, fd);
    close(fd);
    return target;
}

static SCNetworkReachabilityRef make(void)
{
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
    struct sockaddr_storage local, remote;

    if (kind->socket)
        return make_for_socket();
    options.nodename = kind->name;
    options.interfaceName = kind->interface;
    options.options = kind->options;
    if (kind->local != NULL) {
        local = expect_sockaddr(kind->local);
        options.localAddress = (const struct sockaddr *)&local;
    }
    if (kind->remote != NULL) {
        remote = expect_sockaddr(kind->remote);
        options.remoteAddress = (const struct sockaddr *)&remote;
    }
    return SCNetworkReachabilityCreateWithOptions(NULL, &options);
}

/* Makes the target without a fault. */
static SCNetworkReachabilityRef made(void)
{
    SCNetworkReachabilityRef target = make();

    assert_non_null(target);
    return target;
}

/* The library reads the resolver files now and keeps the contents. */
static void have_files_read(SCNetworkReachabilityRef target)
{
    descriptors_read(&before);
    SCRunLoopRef loop = SCRunLoopCreate();
    assert_non_null(loop);
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    SCRunLoopRelease(loop);
    names_await_no_thread();
    descriptors_await(&before);
}

/* The same for the first so many kinds of target. */
static void sweep_kinds(size_t kind_count, size_t way_count, void (*scenario)(void))
{
    for (kind = kinds; kind < kinds + kind_count; kind++) {
        SCNetworkReachabilityRef target = made();

        have_files_read(target);
        right = expect_path_of(target);
        SCNetworkReachabilityRelease(target);
        sweep(way_count, scenario);
    }
}

/* A test whose body is the scenario. */
#define SWEEP(kind_count, way_count, name) \
    static void name##_scenario(void); \
    TEST(name) \
    { \
        sweep_kinds(kind_count, way_count, name##_scenario); \
    } \
    static void name##_scenario(void)

/* True if the failure looks like a sandbox. Then the library may probe with a socket, which shows less
 * (test-denied). */
static bool is_denied(void)
{
    return function != NULL && (fault.error == EPERM || fault.error == EACCES);
}

/* True if the sandbox denied a file. An unreadable file counts as missing, and then the default path is reported. */
static bool is_file_denied(void)
{
    return is_denied() && (strcmp(function, "stat") == 0 || strcmp(function, "open") == 0);
}

static void expect_right_flags(SCNetworkReachabilityFlags flags)
{
    if (is_denied())
        assert_int_equal(flags & R, right.flags & R);
    else
        assert_int_equal(flags, right.flags);
}

/* The type of the interface may be unknown. It affects nothing else. */
static void expect_right_path(SCNetworkReachabilityPath path)
{
    if (is_file_denied() || (is_denied() && path.evidence == kSCNetworkReachabilityEvidenceSocket)) {
        expect_right_flags(path.flags);
        assert_int_equal(path.reason, right.reason);
        return;
    }
    if (path.interfaceType == kSCNetworkReachabilityInterfaceTypeWiredEthernet)
        path.interfaceType = right.interfaceType;
    assert_memory_equal(&path, &right, sizeof path);
}

static SCBoolean schedule(SCNetworkReachabilityRef target, SCRunLoopRef loop)
{
    return SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode);
}

static SCBoolean unschedule(SCNetworkReachabilityRef target, SCRunLoopRef loop)
{
    return SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode);
}

/* After a fault, everything works as before. */
static void expect_sound(SCNetworkReachabilityRef target)
{
    SCOPED_LOOP loop = SCRunLoopCreate();

    assert_non_null(loop);
    assert_int_equal(expect_flags_of(target), right.flags);
    expect_right_path(expect_path_of(target));
    if (!schedule(target, loop))
        fail_msg("not scheduled: %s", SCErrorString(SCError()));
    assert_int_equal(expect_flags_of(target), right.flags);
    assert_true(unschedule(target, loop));
}

/* ---- A thread's own loop ---------------------------------------------------------------------------------------- */

/* The tests of this section come first, before any other test of this process uses the library. */
static void *use_current(void *target)
{
    SCRunLoopRef loop = UNDER_FAULT(SCRunLoopGetCurrent());

    unit_complain_if(loop == NULL && !is_refused(), "no loop, and no reason");
    loop = SCRunLoopGetCurrent();
    unit_complain_if(loop == NULL, "no loop, though nothing fails any more");
    unit_complain_if(loop != SCRunLoopGetCurrent(), "another loop");
    if (unit_complaint() != NULL || !schedule(target, loop)) {
        unit_complain_if(true, "not scheduled");
        return NULL;
    }
    SCRunLoopRunResult result = UNDER_FAULT(SCRunLoopRunInMode(kSCRunLoopDefaultMode, 0, 0));
    unit_complain_if(result == -1 ? !is_refused() : result != kSCRunLoopRunTimedOut, "another result of a run");
    result = SCRunLoopRunInMode(kSCRunLoopDefaultMode, 0, 0);
    unit_complain_if(result != kSCRunLoopRunTimedOut, "another result of a run, though nothing fails any more");
    return NULL; /* the thread's end unschedules */
}

static void *use_main(void *unused)
{
    SCRunLoopRef loop = UNDER_FAULT(SCRunLoopGetMain());

    unit_complain_if(loop == NULL && !is_refused(), "no main loop, and no reason");
    unit_complain_if(SCRunLoopGetMain() == NULL, "no main loop, though nothing fails any more");
    unit_complain_if(loop != NULL && loop != SCRunLoopGetMain(), "another main loop");
    return unused;
}

enum outcome { DONE, STRUCK, WRONG };

static bool same_descriptors(const struct descriptors *then)
{
    const struct descriptors now = descriptors_now();
    return memcmp(now.open, then->open, sizeof now.open) == 0;
}

static _Noreturn void run_first(void *(*use)(void *))
{
    pthread_t thread;
    const long blocks = faults_blocks();
    SCNetworkReachabilityRef target = make();

    unit_complain_if(target == NULL || pthread_create(&thread, NULL, use, (void *)(uintptr_t)target) != 0, "no thread");
    if (unit_complaint() == NULL)
        pthread_join(thread, NULL);
    SCNetworkReachabilityRelease(target);
    if (use == use_current)
        unit_complain_if(faults_blocks() != blocks || !same_descriptors(&before), "something is left");
    if (unit_complaint() != NULL)
        fprintf(stderr, "%s\n", unit_complaint());
    _exit(unit_complaint() != NULL ? WRONG : struck ? STRUCK : DONE);
}

static SCBoolean set_scheduler(SCNetworkReachabilityRef target);

/* The first work for schedulers is allocated for many targets. */
static void *use_scheduler(void *target)
{
    const SCBoolean set = UNDER_FAULT(set_scheduler(target));

    unit_complain_if(!set && !is_refused(), "no scheduler, and no reason");
    unit_complain_if(!set && !set_scheduler(target), "no scheduler, though nothing fails any more");
    unit_complain_if(!SCNetworkReachabilitySetScheduler(target, NULL), "the scheduler is not removed");
    return NULL;
}

static void *(*first_use)(void *);

/* Runs in a process that has not used the library, so that the fault can hit the one-time initialization. */
static void run_apart(void)
{
    const pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0)
        run_first(first_use);
    while (waitpid(child, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    assert_true(WIFEXITED(status));
    assert_int_not_equal(WEXITSTATUS(status), WRONG);
    struck = WEXITSTATUS(status) == STRUCK;
}

static void sweep_first(void *(*use)(void *))
{
    kind = kinds;
    first_use = use;
    sweep(WAYS, run_apart);
}

TEST(a_thread_gets_its_loop_or_an_error)
{
    sweep_first(use_current);
}

TEST(a_process_gets_its_main_loop_or_an_error)
{
    sweep_first(use_main);
}

TEST(a_process_gets_its_first_scheduler_or_an_error)
{
    sweep_first(use_scheduler);
}

/* ---- Queries ---------------------------------------------------------------------------------------------------- */

SWEEP(KINDS, WAYS, a_target_is_created_completely_or_not_at_all)
{
    SCOPED_TARGET target = UNDER_FAULT(make());

    if (target == NULL)
        expect_refused();
    else
        expect_sound(target);
}

static void get_flags(void)
{
    SCOPED_TARGET target = made();
    SCNetworkReachabilityFlags flags = 77;

    if (UNDER_FAULT(SCNetworkReachabilityGetFlags(target, &flags))) {
        expect_right_flags(flags);
    } else {
        expect_refused();
        assert_int_equal(flags, 77);
    }
    expect_sound(target);
}

TEST(getflags_is_right_or_fails)
{
    sweep_kinds(KINDS, WAYS, get_flags);
}

static void get_path(void)
{
    SCOPED_TARGET target = made();
    SCNetworkReachabilityPath untouched;

    memset(&untouched, 77, sizeof untouched);
    untouched.size = sizeof untouched;
    SCNetworkReachabilityPath path = untouched;
    if (UNDER_FAULT(SCNetworkReachabilityGetPath(target, &path))) {
        expect_right_path(path);
    } else {
        expect_refused();
        assert_memory_equal(&path, &untouched, sizeof path);
    }
    expect_sound(target);
}

TEST(getpath_is_right_or_fails)
{
    sweep_kinds(KINDS, WAYS, get_path);
}

static void wait_until_known(void)
{
    SCOPED_TARGET target = made();
    SCNetworkReachabilityPath untouched;
    int result;

    memset(&untouched, 77, sizeof untouched);
    untouched.size = sizeof untouched;
    SCNetworkReachabilityPath path = untouched;
    result = UNDER_FAULT(SCNetworkReachabilityWait(target, kSCNetworkReachabilityConditionKnown, TIME_LIMIT, &path));
    if (result < 0) {
        expect_refused();
        assert_memory_equal(&path, &untouched, sizeof path);
    } else {
        assert_int_equal(result, 1);
    }
    expect_sound(target);
}

TEST(a_wait_has_a_result_or_fails)
{
    SCNetworkReachabilityRef target;

    kind = &kinds[KINDS - 1]; /* a name: only its target is copied and scheduled */
    target = made();
    have_files_read(target);
    right = expect_path_of(target);
    SCNetworkReachabilityRelease(target);
    sweep(MEMORY_WAYS, wait_until_known);
}

/* A bridge whose port is in a sysfs that shows this namespace. */
static void make_bridge(void)
{
    namespace_ip("link add name bridge0 type bridge; link add name c type veth peer name d");
    namespace_ip("link set dev c master bridge0 up; link set dev d up; address add 203.0.113.2/24 dev bridge0");
    namespace_set_up("bridge0");
    if (mount("none", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
        SKIP("no sysfs can be mounted here");
}

TEST(getpath_reads_devices_or_fails)
{
    static const struct kind over_bridge = { .remote = "203.0.113.9" };

    make_bridge();
    kind = &over_bridge;
    SCNetworkReachabilityRef target = made();
    right = expect_path_of(target);
    SCNetworkReachabilityRelease(target);
    sweep(WAYS, get_path);
    umount2("/sys", MNT_DETACH);
}

static int refuse_netlink(int domain, int type, int protocol)
{
    if (domain != AF_NETLINK)
        return socket(domain, type, protocol);
    errno = EPERM;
    return -1;
}

/* In a sandbox that refuses netlink, a UDP socket shows the flags. (If it refused that socket too, the errno would mean
 * a route that refuses packets.) */
TEST(flags_from_a_udp_socket_are_right_or_fail)
{
    faults_socket = refuse_netlink;
    sweep_kinds(BOUND + 1, SHORTAGE_WAYS, get_flags);
}

SWEEP(KINDS, WAYS, a_description_is_right_or_incomplete)
{
    static const char start[] = "<SCNetworkReachability";
    SCOPED_TARGET target = made();
    char text[1024] = "", flags[64], wanted[128];
    const size_t length = UNDER_FAULT(SCNetworkReachabilityGetDescription(target, text, sizeof text));

    assert_int_equal(length, strlen(text));
    assert_memory_equal(text, start, strlen(start));
    SCNetworkReachabilityFlagsGetString(right.flags, flags, sizeof flags);
    snprintf(wanted, sizeof wanted, "\n  flags: %s\n", flags);
    if (strstr(text, "\n  flags: ") != NULL && strstr(text, wanted) == NULL && !is_file_denied() &&
        !(is_denied() && strstr(text, "(from a UDP socket)") != NULL))
        fail_msg("%s", text);
}

/* ---- Loops and hooks -------------------------------------------------------------------------------------------- */

static const void *hold(const void *info)
{
    ++*(int *)(uintptr_t)info;
    return info;
}

static void release_info(const void *info)
{
    --*(int *)(uintptr_t)info;
}

static SCNetworkReachabilityFlags reported_flags;
static int reports, held; /* held: references to the context of made_with_callback */

static void called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)info;
    reported_flags = flags;
    reports++;
}

static SCBoolean set_callback(SCNetworkReachabilityRef target, int *references)
{
    SCNetworkReachabilityContext context = { .info = references, .retain = hold, .release = release_info };

    return SCNetworkReachabilitySetCallback(target, called, &context);
}

static SCNetworkReachabilityRef made_with_callback(void)
{
    SCNetworkReachabilityRef target = made();

    held = reports = 0;
    assert_true(set_callback(target, &held));
    return target;
}

SWEEP(1, WAYS, setcallback_replaces_or_keeps_the_callback)
{
    SCNetworkReachabilityRef target = made();
    int old = 0, fresh = 0;

    assert_true(set_callback(target, &old));
    if (UNDER_FAULT(set_callback(target, &fresh))) {
        assert_int_equal(old, 0);
        assert_int_equal(fresh, 1);
    } else {
        expect_refused();
        assert_int_equal(old, 1);
        assert_int_equal(fresh, 0);
    }
    SCNetworkReachabilityRelease(target);
    assert_int_equal(old + fresh, 0);
}

static SCRunLoopRef create_and_retain(void)
{
    SCRunLoopRef loop = SCRunLoopCreate();

    assert_ptr_equal(SCRunLoopRetain(loop), loop);
    SCRunLoopRelease(loop);
    return loop;
}

static void create_loop(void)
{
    SCOPED_LOOP loop = UNDER_FAULT(create_and_retain());

    if (loop == NULL) {
        expect_refused();
        return;
    }
    assert_true(SCRunLoopGetFileDescriptor(loop) >= 0);
    SCRunLoopWakeUp(loop);
    assert_int_equal(SCRunLoopPerform(loop, TIME_LIMIT), 0);
}

TEST(a_loop_is_created_completely_or_not_at_all)
{
    sweep(WAYS, create_loop);
}

/* ---- Notifications ---------------------------------------------------------------------------------------------- */

/* Waits without a fault, and without another event. */
static void await(SCNetworkReachabilityRef target, SCRunLoopRef loop, SCNetworkReachabilityFlags flags)
{
    const double end = watcher_now() + TIME_LIMIT;

    while (expect_flags_of(target) != flags && watcher_now() < end)
        assert_true(SCRunLoopPerform(loop, end - watcher_now()) >= 0);
    if (expect_flags_of(target) != flags || watcher_now() >= end)
        fail_msg("no callback reports the flags 0x%08x", (unsigned)flags);
}

/* The library receives messages again. */
static void expect_changes_reported(SCNetworkReachabilityRef target, SCRunLoopRef loop)
{
    await(target, loop, right.flags);
    delete_defaults();
    await(target, loop, 0);
    add_defaults();
    await(target, loop, right.flags);
}

static SCRunLoopRef loop_made(void)
{
    SCRunLoopRef loop = SCRunLoopCreate();

    assert_non_null(loop);
    return loop;
}

/* A loop on which the target is scheduled. */
static SCRunLoopRef loop_with(SCNetworkReachabilityRef target)
{
    SCRunLoopRef loop = loop_made();

    assert_true(schedule(target, loop));
    return loop;
}

static SCBoolean stop(SCNetworkReachabilityRef target, SCRunLoopRef loop)
{
    const SCBoolean stopped = unschedule(target, loop);

    SCRunLoopRelease(loop);
    SCNetworkReachabilityRelease(target);
    return stopped;
}

static void schedule_and_report(void)
{
    SCNetworkReachabilityRef target = made_with_callback();
    SCRunLoopRef loop = loop_made();

    if (!UNDER_FAULT(schedule(target, loop))) {
        expect_refused();
        assert_int_equal(expect_flags_of(target), right.flags);
        if (!schedule(target, loop))
            fail_msg("not scheduled: %s (%d)", SCErrorString(SCError()), SCError());
    }
    assert_true(SCRunLoopPerform(loop, 0) >= 0);
    if (!is_denied())
        expect_changes_reported(target, loop);
    assert_true(stop(target, loop));
}

TEST(a_scheduled_target_misses_no_change)
{
    sweep_kinds(FAR + 1, WAYS, schedule_and_report);
}

/* The first pass evaluates behind the barrier, and finds out when routes expire. */
static void run_first_pass(void)
{
    SCNetworkReachabilityRef target = made_with_callback();
    SCRunLoopRef loop = loop_with(target);

    SCRunLoopWakeUp(loop);
    if (UNDER_FAULT(SCRunLoopPerform(loop, 0)) < 0)
        expect_refused();
    if (!is_denied())
        expect_changes_reported(target, loop);
    assert_true(stop(target, loop));
}

TEST(a_target_whose_first_pass_fails_misses_no_change)
{
    sweep_kinds(FAR, EVENT_WAYS, run_first_pass);
    kind = &kinds[PAIR];
    sweep(MEMORY_WAYS, schedule_and_report);
}

SWEEP(KINDS, WAYS, unscheduling_and_releasing_never_fail)
{
    SCNetworkReachabilityRef target = made_with_callback();
    SCRunLoopRef loop = loop_with(target);

    assert_true(UNDER_FAULT(stop(target, loop)));
    names_await_no_thread(); /* a resolver thread may release the last reference */
    assert_int_equal(held, 0);
}

static int home, abroad; /* network namespaces */

static void schedule_from_abroad(void)
{
    SCNetworkReachabilityRef target = made_with_callback();
    SCRunLoopRef loop = loop_made();

    assert_int_equal(setns(abroad, CLONE_NEWNET), 0);
    if (!UNDER_FAULT(schedule(target, loop))) {
        expect_refused();
        assert_int_equal(expect_flags_of(target), right.flags);
        if (!schedule(target, loop))
            fail_msg("not scheduled: %s (%d)", SCErrorString(SCError()), SCError());
    }
    assert_true(SCRunLoopPerform(loop, 0) >= 0);
    if (!is_denied())
        expect_changes_reported(target, loop);
    assert_true(stop(target, loop));
    assert_int_equal(setns(home, CLONE_NEWNET), 0);
}

/* If no namespace can be identified (EPERM, EACCES) the process counts as having one; not if memory is short. */
static void create_and_go_abroad(void)
{
    SCNetworkReachabilityRef target = UNDER_FAULT(make());

    if (target == NULL) {
        expect_refused();
        return;
    }
    SCRunLoopRef loop = loop_made();
    assert_true(set_callback(target, &held));
    assert_int_equal(setns(abroad, CLONE_NEWNET), 0);
    assert_true(schedule(target, loop));
    expect_changes_reported(target, loop);
    assert_true(stop(target, loop));
    assert_int_equal(setns(home, CLONE_NEWNET), 0);
}

TEST(a_target_scheduled_from_another_namespace_misses_no_change)
{
    home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    namespace_require();
    abroad = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    assert_true(home >= 0 && abroad >= 0);
    assert_int_equal(setns(home, CLONE_NEWNET), 0);
    sweep_kinds(1, WAYS, schedule_from_abroad);
    sweep_kinds(1, MEMORY_WAYS, create_and_go_abroad);
    close(home);
    close(abroad);
}

/* ---- Events ----------------------------------------------------------------------------------------------------- */

/* The event, and its reversal. */
static void (*happen)(SCRunLoopRef loop), (*undo)(void);

/* Makes one pass under a fault, after the event. The callback comes even so. */
static void expect_event_reported(void)
{
    SCNetworkReachabilityRef target = made_with_callback();
    SCRunLoopRef loop = loop_with(target);

    assert_true(SCRunLoopPerform(loop, 0) >= 0);
    assert_int_equal(reports, 0);
    happen(loop);
    if (UNDER_FAULT(SCRunLoopPerform(loop, 0)) < 0)
        expect_refused();
    double until = watcher_now() + TIME_LIMIT;
    while ((reports == 0 || reported_flags != 0) && watcher_now() < until)
        assert_true(SCRunLoopPerform(loop, until - watcher_now()) >= 0);
    if (reports != 1 || reported_flags != 0 || expect_flags_of(target) != 0 || watcher_now() >= until)
        fail_msg("%d callbacks, the last with 0x%08x", reports, (unsigned)reported_flags);
    assert_int_equal(held, 1);
    undo();
    await(target, loop, right.flags);
    assert_true(stop(target, loop));
    assert_int_equal(held, 0);
}

static void lose_defaults(SCRunLoopRef loop)
{
    (void)loop;
    delete_defaults();
}

TEST(a_lost_route_is_finally_reported)
{
    happen = lose_defaults;
    undo = add_defaults;
    sweep_kinds(FAR, EVENT_WAYS, expect_event_reported);
}

static void lose_carrier(SCRunLoopRef loop)
{
    (void)loop;
    unit_check(writer_link_up(&writer, peer, false), "writer");
    namespace_await_running("a", false);
}

static void regain_carrier(void)
{
    unit_check(writer_link_up(&writer, peer, true), "writer");
    namespace_await_running("a", true);
}

TEST(a_lost_carrier_is_finally_reported)
{
    happen = lose_carrier;
    undo = regain_carrier;
    sweep_kinds(1, EVENT_WAYS, expect_event_reported);
}

/* The socket on which the library receives messages about routes. */
static int find_event_socket(void)
{
    int found = -1;
    const struct descriptors now = descriptors_now();

    for (int fd = 0; fd <= now.highest; fd++) {
        struct sockaddr_nl address = { 0 };
        socklen_t length = sizeof address;

        if (!now.open[fd] || before.open[fd] || getsockname(fd, (struct sockaddr *)&address, &length) != 0 ||
            address.nl_family != AF_NETLINK || (address.nl_groups & RTMGRP_IPV4_ROUTE) == 0)
            continue;
        assert_int_equal(found, -1);
        found = fd;
    }
    assert_true(found >= 0);
    return found;
}

static unsigned drops(int fd)
{
    uint32_t figures[SK_MEMINFO_VARS];
    socklen_t length = sizeof figures;

    assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_MEMINFO, figures, &length), 0);
    return figures[SK_MEMINFO_DROPS];
}

/* The message is lost: the queue is almost without room. */
static void lose_carrier_and_messages(SCRunLoopRef loop)
{
    const struct writer_route other = { .prefix = "203.0.113.0/24", .gateway = "192.0.2.1" };
    const int fd = find_event_socket(), smallest = 1;

    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &smallest, sizeof smallest), 0);
    for (int i = 0; i < 10; i++) {
        unit_check(writer_route(&writer, WRITER_ADD, &other), "writer");
        unit_check(writer_route(&writer, WRITER_DELETE, &other), "writer");
    }
    unsigned dropped = drops(fd);
    lose_carrier(loop);
    assert_true(dropped > 0 && drops(fd) > dropped);
}

TEST(changes_of_lost_messages_are_finally_reported)
{
    happen = lose_carrier_and_messages;
    undo = regain_carrier;
    sweep_kinds(1, EVENT_WAYS, expect_event_reported);
}

/* ---- Fetching --------------------------------------------------------------------------------------------------- */

static SCNetworkReachabilityRef perform_and_fetch(SCRunLoopRef loop, SCNetworkReachabilityFlags *flags)
{
    return SCRunLoopPerform(loop, 0) < 0 ? NULL : SCRunLoopCopyNextChange(loop, flags);
}

SWEEP(1, EVENT_WAYS, a_change_is_finally_fetched)
{
    SCNetworkReachabilityRef target = made(), changed;
    SCNetworkReachabilityFlags flags = 77;
    SCRunLoopRef loop = loop_with(target);

    assert_true(SCRunLoopPerform(loop, 0) >= 0);
    assert_null(SCRunLoopCopyNextChange(loop, &flags));
    delete_defaults();
    changed = UNDER_FAULT(perform_and_fetch(loop, &flags));
    if (changed == NULL) {
        assert_int_equal(flags, 77);
        assert_int_equal(SCRunLoopPerform(loop, TIME_LIMIT), 0);
        changed = SCRunLoopCopyNextChange(loop, &flags);
    }
    assert_ptr_equal(changed, target);
    assert_int_equal(flags, 0);
    SCNetworkReachabilityRelease(changed);
    add_defaults();
    await(target, loop, right.flags);
    assert_true(stop(target, loop));
}

/* ---- Schedulers and forks ---------------------------------------------------------------------------------------- */

static atomic_int scheduler_reports;
static atomic_uint scheduler_flags;

static void note_scheduler_call(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)info;
    atomic_store(&scheduler_flags, flags);
    atomic_fetch_add(&scheduler_reports, 1);
}

static void run_at_once(void *info, void (*work)(void *argument), void *argument)
{
    (void)info;
    work(argument);
}

static SCBoolean set_scheduler(SCNetworkReachabilityRef target)
{
    const SCNetworkReachabilityScheduler scheduler = { .perform = run_at_once };

    return SCNetworkReachabilitySetScheduler(target, &scheduler);
}

/* Waits until the library's thread has called back, or a fault has struck; then nothing fails any more. */
static void fault_end_after_event(int calls)
{
    const double until = watcher_now() + TIME_LIMIT;

    while (atomic_load(&scheduler_reports) <= calls && faults_struck() == 0 && watcher_now() < until)
        sched_yield();
    fault_end();
}

static void await_scheduler_call(int calls, SCNetworkReachabilityFlags flags)
{
    const double until = watcher_now() + TIME_LIMIT;

    while ((atomic_load(&scheduler_reports) <= calls || atomic_load(&scheduler_flags) != flags) &&
           watcher_now() < until)
        sched_yield();
    if (atomic_load(&scheduler_reports) <= calls || atomic_load(&scheduler_flags) != flags)
        fail_msg("no callback reports the flags 0x%08x", (unsigned)flags);
}

static void end_scheduled(SCNetworkReachabilityRef target)
{
    assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
    SCNetworkReachabilityRelease(target);
}

SWEEP(FAR, WAYS, a_target_on_a_scheduler_misses_no_change)
{
    SCNetworkReachabilityRef target = made();

    assert_true(SCNetworkReachabilitySetCallback(target, note_scheduler_call, NULL));
    if (!UNDER_FAULT(set_scheduler(target))) {
        expect_refused();
        assert_int_equal(expect_flags_of(target), right.flags);
        assert_true(set_scheduler(target));
    }
    int calls = atomic_load(&scheduler_reports);
    if (!is_denied()) {
        delete_defaults();
        await_scheduler_call(calls, 0);
        add_defaults();
        await_scheduler_call(calls + 1, right.flags);
    }
    end_scheduled(target);
}

SWEEP(1, EVENT_WAYS, the_library_thread_finally_reports_a_lost_route)
{
    SCNetworkReachabilityRef target = made();

    assert_true(SCNetworkReachabilitySetCallback(target, note_scheduler_call, NULL));
    assert_true(set_scheduler(target));
    int calls = atomic_load(&scheduler_reports);
    fault_begin();
    delete_defaults();
    fault_end_after_event(calls);
    await_scheduler_call(calls, 0);
    add_defaults();
    await_scheduler_call(calls + 1, right.flags);
    end_scheduled(target);
}

SWEEP(1, WAYS, a_fork_harms_neither_process)
{
    SCNetworkReachabilityRef target = made_with_callback();
    SCRunLoopRef loop = loop_with(target);
    pid_t pid;

    assert_true(SCRunLoopPerform(loop, 0) >= 0);
    fault_begin();
    bool is_child = child_fork(&pid);
    fault_end();
    if (is_child) {
        SCNetworkReachabilityRelease(target);
        SCRunLoopRelease(loop);
        target = made();
        expect_sound(target);
        SCNetworkReachabilityRelease(target);
        _exit(function == NULL ? DONE : STRUCK);
    }
    struck = child_status(pid) == STRUCK || struck;
    expect_changes_reported(target, loop);
    assert_true(stop(target, loop));
}

/* ---- The kernel's filter ---------------------------------------------------------------------------------------- */

static const struct writer_route unrelated = { .prefix = "203.0.113.0/24", .gateway = "192.0.2.1" };

/* A message that affects no target, after which the monitor attaches its filter. */
static void change_unrelated(enum writer_action action)
{
    unit_check(writer_route(&writer, action, &unrelated), "writer");
}

static void attach_filter(void)
{
    SCNetworkReachabilityRef target = made_with_callback();
    SCRunLoopRef loop = loop_with(target);

    assert_true(SCRunLoopPerform(loop, 0) >= 0);
    change_unrelated(WRITER_ADD);
    if (UNDER_FAULT(SCRunLoopPerform(loop, 0)) < 0)
        expect_refused();
    change_unrelated(WRITER_DELETE);
    expect_changes_reported(target, loop);
    assert_true(stop(target, loop));
}

/* The filter does not pass the messages about the second target. */
static void detach_filter(void)
{
    SCNetworkReachabilityRef first = made_with_callback(), second;
    SCRunLoopRef loop = loop_with(first);

    assert_true(SCRunLoopPerform(loop, 0) >= 0);
    change_unrelated(WRITER_ADD);
    assert_true(SCRunLoopPerform(loop, 0) >= 0);
    second = expect_target("203.0.113.7");
    if (!UNDER_FAULT(schedule(second, loop))) {
        expect_refused();
        assert_true(schedule(second, loop));
    }
    if (!is_denied()) {
        fault_begin();
        (void)SCRunLoopPerform(loop, 0);
        fault_end();
        await(second, loop, R);
        change_unrelated(WRITER_DELETE);
        delete_defaults();
        await(second, loop, 0);
        change_unrelated(WRITER_ADD);
        await(second, loop, R);
        add_defaults();
    }
    change_unrelated(WRITER_DELETE);
    assert_true(unschedule(second, loop));
    SCNetworkReachabilityRelease(second);
    assert_true(stop(first, loop));
}

TEST(the_filter_hides_no_change)
{
    sweep_kinds(2, WAYS, attach_filter);
    sweep_kinds(1, WAYS, detach_filter);
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* The name's address is in hosts. */
static void await_result(SCNetworkReachabilityRef target, SCRunLoopRef loop, const char *address)
{
    const struct sockaddr_storage wanted = expect_sockaddr(address);
    const double until = watcher_now() + TIME_LIMIT;
    struct sockaddr_storage found = { 0 };

    while (watcher_now() < until) {
        if (SCNetworkReachabilityGetResolvedAddresses(target, &found, 1) == 1 &&
            memcmp(&found, &wanted, sizeof wanted) == 0)
            return;
        assert_true(SCRunLoopPerform(loop, 0.01) >= 0);
    }
    fail_msg("no result of the look-up");
}

/* Waits until the look-up has a result, or a fault has struck; then nothing fails any more. */
static void fault_end_after_lookup(SCNetworkReachabilityRef target)
{
    const double until = watcher_now() + TIME_LIMIT;

    while (SCNetworkReachabilityGetResolvedAddresses(target, NULL, 0) == 0 && faults_struck() == 0 &&
           watcher_now() < until)
        sched_yield();
    fault_end();
}

static void look_up(void)
{
    SCNetworkReachabilityRef target = made_with_callback();
    SCRunLoopRef loop = loop_made();

    fault_begin();
    bool scheduled = schedule(target, loop);
    if (scheduled)
        fault_end_after_lookup(target);
    else
        fault_end();
    if (!scheduled) {
        expect_refused();
        assert_true(schedule(target, loop));
    }
    await_result(target, loop, "192.0.2.9");
    assert_true(stop(target, loop));
}

TEST(a_look_up_has_a_result_in_the_end)
{
    kind = &kinds[KINDS - 1];
    sweep(WAYS, look_up);
}

/* A pass under a fault, after hosts has changed. */
static void move_name(void)
{
    SCNetworkReachabilityRef target = made_with_callback();
    SCRunLoopRef loop = loop_with(target);

    await_result(target, loop, "192.0.2.9");
    etc_replace(ETC_HOSTS, "192.0.2.10 " NAME "\n");
    if (UNDER_FAULT(SCRunLoopPerform(loop, 0)) < 0)
        expect_refused();
    await_result(target, loop, "192.0.2.10");
    etc_replace(ETC_HOSTS, "192.0.2.9 " NAME "\n");
    await_result(target, loop, "192.0.2.9");
    assert_true(stop(target, loop));
}

TEST(a_name_that_moves_in_hosts_is_finally_noticed)
{
    kind = &kinds[KINDS - 1];
    sweep(EVENT_WAYS, move_name);
}

/* ---- The figures ------------------------------------------------------------------------------------------------- */

/* TEST_FAULT_PLACES: a file that receives the places, for Tests/fault-places. */
static void write_places(const char *path)
{
    FILE *file = fopen(path, "we");

    if (file == NULL)
        abort();
    for (size_t i = 0; i < faults_places(); i++)
        fprintf(file, "%zx\n", (size_t)((const char *)faults_place(i) - &__executable_start));
    fclose(file);
}

static void report(void)
{
    const char *path = getenv("TEST_FAULT_PLACES");

    print_message("| %u points visited, %lu failed calls, at %zu places in the library's code\n", points,
                  faults_count(), faults_places());
    if (path != NULL)
        write_places(path);
}

UNIT(.start = draw_seed, .setup = begin, .cleanup = end, .end = report)
