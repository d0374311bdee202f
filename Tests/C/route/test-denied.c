/* SPDX-License-Identifier: MIT */
/*
 * Denied netlink: the results of socket probes, polling, and denials that start while targets exist.
 * Tests/checks/denied runs test-flags and test-watch under each denial.
 */
#include <dirent.h>
#include <linux/capability.h>
#include <semaphore.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "support/denial.h"
#include "support/etc.h"
#include "support/faults.h"
#include "support/test.h"

#define POLL 2.0              /* seconds between two polls of the library */
#define SOON (2 * POLL + 0.5) /* seconds: a poll that runs during a change can miss it, the next one does not */

static struct watcher watcher; /* stopped at the end of each test */

static void impose(enum denial denial)
{
    if (!denial_impose(denial))
        SKIP("no seccomp filter works here");
}

/* Machines are shared, and tools slow the tests down. */
static double soon(void)
{
    return !unit_is_under(NULL) ? SOON : 3 * SOON;
}

/* Expects the change within two polls. */
#define EXPECT_SOON(watcher, flags) \
    do { \
        const double before = watcher_now(); \
        EXPECT_CHANGE(watcher, flags); \
        assert_true(watcher_now() - before < soon()); \
    } while (0)

/* ---- Results of sockets ----------------------------------------------------------------------------------------- */

TEST_DENIED(DENIAL_SOCKET_EPERM, a_path_from_a_socket_has_only_its_addresses)
{
    SCNetworkReachabilityPath path;
    const struct sockaddr_in *const source = (const struct sockaddr_in *)&path.source;
    char description[1024];

    namespace_ip("route add default via 192.0.2.1");
    SCOPED_TARGET target = expect_target("198.51.100.7");
    path = expect_path_of(target);
    assert_int_equal(path.evidence, kSCNetworkReachabilityEvidenceSocket);
    assert_int_equal(path.flags, R);
    assert_int_equal(path.reason, kSCNetworkReachabilityReasonNone);
    EXPECT_SOURCE(target, "192.0.2.2");
    assert_int_equal(source->sin_port, 0);
    assert_int_equal(path.destination.ss_family, AF_INET);
    assert_int_equal(path.gateway.ss_family, AF_UNSPEC);
    assert_int_equal(path.interfaceIndex, 0);
    assert_string_equal(path.interfaceName, "");
    assert_int_equal(path.interfaceType, kSCNetworkReachabilityInterfaceTypeOther);
    assert_int_equal(path.mtu, 0);
    assert_int_equal(path.table, 0);
    assert_int_equal(path.addressCount, 1);
    SCNetworkReachabilityGetDescription(target, description, sizeof description);
    assert_non_null(strstr(description, "from a UDP socket"));
    assert_non_null(strstr(description, "src 192.0.2.2"));
}

/* Neighbours, own addresses and tunnels: a socket does not show whether they are direct or transient. */
TEST_DENIED(DENIAL_SOCKET_EPERM, flags_unknown_to_a_socket_are_not_set)
{
    static const struct {
        const char *address;
        SCNetworkReachabilityFlags flags;
    } rows[] = { { "192.0.2.9", R },           { "192.0.2.2", R | L }, { "127.0.0.1", R | L }, { "::1", R | L },
                 { "2001:db8::2", R | L },     { "2001:db8::9", R },   { "0.0.0.0", R },       { "::", R },
                 { "255.255.255.255", R },     { "203.0.113.9", R },   { "239.1.2.3", R },     { "fe80::1%a", R },
                 { "::ffff:192.0.2.2", R | L } };

    int tun = namespace_add_tun("t0");
    if (tun >= 0) {
        namespace_ip("link set dev t0 up; address add 203.0.113.2/24 dev t0");
    }
    namespace_ip("route add default dev a");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED_TARGET target = expect_target(rows[i].address);

        if (expect_flags_of(target) != rows[i].flags || expect_path_of(target).flags != rows[i].flags)
            fail_msg("%s: 0x%x", rows[i].address, expect_flags_of(target));
    }
    if (tun >= 0)
        close(tun);
}

/* A second address in a subnet, and one that only a local route has. */
TEST_DENIED(DENIAL_SOCKET_EPERM, an_own_address_shows_whatever_can_be_bound)
{
    namespace_ip("address add 192.0.2.3/24 dev a; route add default via 192.0.2.1; route add local 128.0.0.0/1 dev lo");
    for (unsigned i = 0; i < 2; i++) {
        namespace_sysctl("net.ipv4.ip_nonlocal_bind", i == 0 ? "0" : "1");
        EXPECT_PAIR("192.0.2.2", "192.0.2.3", R | L, None);
        EXPECT_PAIR("192.0.2.2", "198.51.100.7", R | L, None);
        EXPECT_PAIR("192.0.2.2", "100.64.7.1", R, None);
    }
}

TEST_DENIED(DENIAL_SOCKET_EPERM, a_bound_path_names_its_interface)
{
    namespace_ip("route add default via 192.0.2.1; link set dev a mtu 1400");
    SCOPED_TARGET scoped = SCNetworkReachabilityCreateWithName(NULL, "fe80::1%a");
    SCOPED_TARGET bound = expect_bound("198.51.100.7", "a"), any = expect_bound("0.0.0.0", "a");
    SCNetworkReachabilityPath path = expect_path_of(scoped);
    assert_string_equal(path.interfaceName, "a");
    assert_int_equal(path.interfaceIndex, if_nametoindex("a"));
    assert_int_equal(path.mtu, 1400);
    assert_int_equal(((const struct sockaddr_in6 *)&path.source)->sin6_scope_id, path.interfaceIndex);
    assert_int_equal(((const struct sockaddr_in6 *)&path.destination)->sin6_scope_id, path.interfaceIndex);
    path = expect_path_of(bound);
    assert_string_equal(path.interfaceName, "a");
    assert_int_equal(path.interfaceIndex, if_nametoindex("a"));
    EXPECT(any, R, None);
}

/* The library reads the state of the interface by ioctl, which shows a lost carrier. */
TEST_DENIED(DENIAL_SOCKET_EPERM, a_bound_path_reports_why_its_interface_is_unusable)
{
    static const char *const addresses[] = { "198.51.100.7", "192.0.2.9", "2001:db8::9", "0.0.0.0", "fe80::1" };
    SCNetworkReachabilityRef targets[5], zone;

    namespace_require();
    zone = SCNetworkReachabilityCreateWithName(NULL, "fe80::1%a");
    for (int i = 0; i < 5; i++) {
        targets[i] = expect_bound(addresses[i], "a");
        EXPECT(targets[i], 0, InterfaceMissing);
    }
    EXPECT(zone, 0, InterfaceMissing);
    namespace_ip("link set dev lo up");
    namespace_add_pair();
    namespace_ip("route add default via 192.0.2.1");
    for (int i = 0; i < 5; i++)
        EXPECT(targets[i], R, None);
    EXPECT(zone, R, None);
    namespace_set_carrier("a", "b", false);
    for (int i = 0; i < 5; i++)
        EXPECT(targets[i], 0, NoCarrier);
    EXPECT(zone, 0, NoCarrier);
    EXPECT_ADDRESS("fe80::1%a", 0, NoCarrier);
    namespace_ip("link set dev a down");
    for (int i = 0; i < 5; i++) {
        EXPECT(targets[i], 0, InterfaceDown);
        SCNetworkReachabilityRelease(targets[i]);
    }
    EXPECT(zone, 0, InterfaceDown);
    SCNetworkReachabilityRelease(zone);
}

TEST_DENIED(DENIAL_SOCKET_EPERM, an_unknown_interface_index_is_missing)
{
    EXPECT_ONCE(SCNetworkReachabilityCreateWithName(NULL, "fe80::1%4711"), 0, InterfaceMissing);
}

TEST_DENIED(DENIAL_SOCKET_EPERM, a_foreign_namespace_is_queried_from_inside)
{
    struct sockaddr_storage address;

    namespace_ip("route add default via 192.0.2.1");
    SCOPED_TARGET there = expect_target("198.51.100.7"), missing = expect_bound("198.51.100.7", "z");
    SCOPED_TARGET zone = SCNetworkReachabilityCreateWithName(NULL, "fe80::1%a");
    unsigned index = if_nametoindex("a");
    namespace_require();
    EXPECT_ADDRESS("198.51.100.7", 0, NoRoute);
    EXPECT(there, R, None, .source = "192.0.2.2");
    EXPECT(zone, R, None);
    assert_int_equal(SCNetworkReachabilityGetResolvedAddresses(zone, &address, 1), 1);
    assert_int_equal(((const struct sockaddr_in6 *)&address)->sin6_scope_id, index);
    EXPECT(missing, 0, InterfaceMissing);
    namespace_ip("link add name z type veth peer name y"); /* here, not there */
    AFTER("link set dev z up", EXPECT(missing, 0, InterfaceMissing));
}

/* ---- Failures --------------------------------------------------------------------------------------------------- */

static void set_descriptor_limit(bool none)
{
    static struct rlimit before;

    if (none)
        assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit limit = before;
    if (none)
        limit.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

TEST_DENIED(DENIAL_SOCKET_EACCES, running_out_of_descriptors_is_an_error)
{
    SCNetworkReachabilityRef targets[5];

    targets[0] = expect_target("192.0.2.9");
    targets[1] = expect_target("2001:db8::9");
    targets[2] = expect_target("0.0.0.0");
    targets[3] = expect_bound("192.0.2.9", "a");
    targets[4] = expect_pair("192.0.2.2", "192.0.2.9");
    watcher_start(&watcher, expect_target("198.51.100.7"));
    double started = watcher_now();
    set_descriptor_limit(true);
    for (int i = 0; i < 5; i++)
        expect_failure(targets[i], EMFILE);
    while (watcher_now() - started < POLL + 0.2)
        assert_int_equal(SCRunLoopPerform(watcher.loop, POLL + 0.2 - (watcher_now() - started)), 0);
    set_descriptor_limit(false);
    /* It is evaluated again before the next poll is due. */
    unsigned long count = expect_counters_of(watcher.target).evaluations;
    started = watcher_now();
    assert_int_equal(SCRunLoopPerform(watcher.loop, POLL / 2), 0);
    assert_true(expect_counters_of(watcher.target).evaluations > count);
    assert_true(expect_counters_of(watcher.target).evaluations <=
                count + 1 + (unsigned long)((watcher_now() - started) / (POLL / 2)));
    for (int i = 0; i < 5; i++) {
        assert_int_equal(expect_flags_of(targets[i]), i == 2 ? 0 : R);
        SCNetworkReachabilityRelease(targets[i]);
    }
    AFTER("route add default via 192.0.2.1", EXPECT_SOON(&watcher, R));
}

/* Sets the capabilities of the calling thread. */
static void set_capabilities(uint32_t without)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    assert_int_equal(syscall(SYS_capget, &header, data), 0);
    data[0].effective = data[0].permitted & ~without;
    assert_int_equal(syscall(SYS_capset, &header, data), 0);
}

#define CAPABILITY(name) (UINT32_C(1) << (name))

TEST_DENIED(DENIAL_SOCKET_EACCES, a_forbidden_routing_mark_is_an_error)
{
    const struct sockaddr_storage address = expect_sockaddr("192.0.2.9");
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    options.remoteAddress = (const struct sockaddr *)&address;
    options.routingMark = 7;
    SCOPED_TARGET target = SCNetworkReachabilityCreateWithOptions(NULL, &options);
    EXPECT(target, R, None);
    set_capabilities(CAPABILITY(CAP_NET_ADMIN) | CAPABILITY(CAP_NET_RAW));
    expect_failure(target, EPERM);
    assert_false(SCNetworkReachabilityScheduleWithRunLoop(target, SCRunLoopGetCurrent(), kSCRunLoopDefaultMode));
    assert_int_equal(SCError(), EPERM);
    EXPECT_ADDRESS("192.0.2.9", R, None);
    EXPECT_BOUND("192.0.2.9", "a", R, None); /* needs no capability since Linux 5.7 */
    set_capabilities(0);
    EXPECT(target, R, None);
}

/* ---- Without /proc ---------------------------------------------------------------------------------------------- */

static void hide_proc(void)
{
    static bool apart;

    if (!apart && !namespace_enter_mounts())
        SKIP("no private mounts are possible here");
    apart = true;
    if (mount("none", "/proc", "tmpfs", 0, NULL) != 0)
        SKIP("/proc cannot be hidden here");
}

static void show_proc(void)
{
    assert_int_equal(umount2("/proc", MNT_DETACH), 0);
}

/* The socket is of UDP. What rules say of TCP is not known. */
TEST_DENIED(DENIAL_SOCKET_EACCES, rules_for_udp_ports_are_those_of_the_socket)
{
    static const struct {
        uint8_t protocol;
        uint16_t port;
        bool reachable, incomplete;
    } rows[] = { { IPPROTO_UDP, 53, false, false }, { IPPROTO_UDP, 54, true, false }, { IPPROTO_TCP, 54, true, true } };

    namespace_ip("route add default via 192.0.2.1; rule add ipproto udp dport 53 prohibit");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

        options.nodename = "198.51.100.7";
        options.protocol = rows[i].protocol;
        options.remotePort = rows[i].port;
        SCOPED_TARGET target = SCNetworkReachabilityCreateWithOptions(NULL, &options);
        assert_int_equal(expect_flags_of(target), rows[i].reachable ? R : 0);
        assert_int_equal(expect_path_of(target).flow, rows[i].incomplete ? kSCNetworkReachabilityFlowIncomplete : 0);
    }
}

TEST_DENIED(DENIAL_SOCKET_EACCES, rules_for_the_resolvers_packets_count)
{
    SCNetworkReachabilityNetwork network = kSCNetworkReachabilityNetworkInitializer;

    etc_require("192.0.2.53");
    etc_set_servers("192.0.2.53 2001:db8::53", 1);
    SCOPED_TARGET target = expect_option("0.0.0.0", kSCNetworkReachabilityOptionNotifyNetwork);
    assert_true(SCNetworkReachabilityGetNetwork(target, &network, NULL, 0, 0));
    assert_int_equal(network.nameServerIsReachable, 1);
    namespace_ip("rule add ipproto udp dport 53 prohibit; -6 rule add ipproto udp dport 53 prohibit");
    assert_true(SCNetworkReachabilityGetNetwork(target, &network, NULL, 0, 0));
    assert_int_equal(network.nameServerIsReachable, 0);
}

/* A UDP socket shows which addresses are those of many hosts. */
TEST_DENIED(DENIAL_SOCKET_EACCES, flows_to_many_hosts_are_as_connect_has_them)
{
    static const struct {
        const char *address, *interface;
        bool udp; /* TCP to none */
    } rows[] = {
        { "192.0.2.255", NULL, true },     { "255.255.255.255", NULL, true }, { "224.0.0.251", NULL, true },
        { "127.255.255.255", NULL, true }, { "ff02::fb%a", NULL, true },      { "ff05::2", NULL, true },
        { "ff02::fb", NULL, false },       { "239.1.1.1", "a", true },        { "255.255.255.255", "a", true }
    };

    namespace_add_default_routes();
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
        const bool reachable = i % 2 == 0 && rows[i / 2].udp;

        options.nodename = rows[i / 2].address;
        options.interfaceName = rows[i / 2].interface;
        options.protocol = i % 2 == 0 ? IPPROTO_UDP : IPPROTO_TCP;
        options.remotePort = 80;
        SCOPED_TARGET target = SCNetworkReachabilityCreateWithOptions(NULL, &options);
        const SCNetworkReachabilityPath path = expect_path_of(target);
        if (((path.flags & R) != 0) != reachable || (!reachable && path.reason != kSCNetworkReachabilityReasonNoRoute))
            fail_msg("%s, protocol %d: 0x%x, %s", options.nodename, options.protocol, path.flags,
                     SCNetworkReachabilityReasonString(path.reason));
    }
    EXPECT_ADDRESS("ff02::fb", 0, NoRoute);
}

TEST_DENIED(DENIAL_SOCKET_EACCES, a_target_made_without_proc_is_queried_in_place)
{
    SCNetworkReachabilityFlags flags[2] = { 0 };
    bool succeeded[2];

    hide_proc();
    SCNetworkReachabilityRef target = expect_target("192.0.2.9");
    succeeded[0] = SCNetworkReachabilityGetFlags(target, &flags[0]);
    show_proc();
    succeeded[1] = SCNetworkReachabilityGetFlags(target, &flags[1]);
    SCNetworkReachabilityRelease(target);
    for (int i = 0; i < 2; i++) {
        assert_true(succeeded[i]);
        assert_int_equal(flags[i], R);
    }
}

/* A program makes its targets, then changes its root and gives up its capabilities. */
TEST_DENIED(DENIAL_SOCKET_EACCES, a_target_is_queried_in_place_after_proc_is_unmounted)
{
    SCNetworkReachabilityFlags flags = 0;
    SCNetworkReachabilityRef target = expect_target("192.0.2.9");

    hide_proc();
    set_capabilities(~UINT32_C(0));
    bool succeeded = SCNetworkReachabilityGetFlags(target, &flags);
    int status = SCError();
    set_capabilities(0);
    show_proc();
    SCNetworkReachabilityRelease(target);
    if (!succeeded)
        fail_msg("%s", SCErrorString(status));
    assert_int_equal(flags, R);
}

/* ---- Polling ---------------------------------------------------------------------------------------------------- */

/* Expects that this process has so many armed timers. Each ends before the next poll is due. */
static void expect_armed_timers(unsigned expected)
{
    DIR *directory = opendir("/proc/self/fdinfo");
    unsigned armed = 0;
    char path[300], line[128];
    long seconds, nanoseconds;

    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        snprintf(path, sizeof path, "/proc/self/fdinfo/%s", entry->d_name);
        FILE *file = fopen(path, "re");
        while (file != NULL && fgets(line, sizeof line, file) != NULL)
            if (sscanf(line, "it_value: (%ld, %ld)", &seconds, &nanoseconds) == 2 && (seconds | nanoseconds) != 0) {
                assert_true((double)seconds + (double)nanoseconds / 1e9 <= POLL);
                armed++;
            }
        if (file != NULL)
            fclose(file);
    }
    closedir(directory);
    assert_int_equal(armed, expected);
}

struct record {
    int calls;
    SCNetworkReachabilityFlags flags;
};

static void record_call(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct record *record = info;

    (void)target;
    record->calls++;
    record->flags = flags;
}

static SCNetworkReachabilityRef create_recorded_target(const char *address, struct record *record)
{
    SCNetworkReachabilityRef target = expect_target(address);

    expect_callback_set(target, record_call, record);
    return target;
}

TEST_DENIED(DENIAL_SOCKET_EPERM, a_run_loop_polls_while_a_target_is_scheduled)
{
    SCOPED_LOOP loop = SCRunLoopCreate();
    struct record record = { 0 };
    SCOPED_TARGET target = create_recorded_target("198.51.100.7", &record);

    assert_true(SCRunLoopGetFileDescriptor(loop) >= 0); /* the loop opens its timer */
    const struct descriptors descriptors = descriptors_now();
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    expect_armed_timers(1);
    descriptors_expect(&descriptors);
    /* It does not poll more often. */
    unsigned long count = expect_counters_of(target).evaluations;
    double until = watcher_now() + POLL / 2;
    while (watcher_now() < until)
        assert_int_equal(SCRunLoopPerform(loop, until - watcher_now()), 0);
    assert_int_equal(expect_counters_of(target).evaluations, count);
    namespace_ip("route add default via 192.0.2.1");
    assert_int_equal(SCRunLoopPerform(loop, soon()), 1);
    assert_int_equal(record.flags, R);
    /* It polled once. A slow machine may also poll before the route is added. */
    assert_true(expect_counters_of(target).evaluations > count);
    assert_true((double)(expect_counters_of(target).evaluations - count) <= 1 + (watcher_now() - until) / POLL);
    descriptors_expect(&descriptors);
    namespace_ip("route delete default");
    assert_int_equal(SCRunLoopPerform(loop, soon()), 1);
    assert_int_equal(record.flags, 0);
    assert_int_equal(record.calls, 2);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    assert_int_equal(SCRunLoopPerform(loop, 0), 0);
    expect_armed_timers(0);
    descriptors_expect(&descriptors);
}

TEST_DENIED(DENIAL_CONNECT, path_changes_are_reported_with_notify_path)
{
    struct watcher plain, whole, reason;

    namespace_ip("route add default via 192.0.2.1; route add unreachable 203.0.113.0/24");
    watcher_start(&plain, expect_target("198.51.100.7"));
    watcher_start(&whole, expect_option("198.51.100.7", kSCNetworkReachabilityOptionNotifyPath));
    watcher_start(&reason, expect_option("203.0.113.7", kSCNetworkReachabilityOptionNotifyPath));
    namespace_ip("address add 192.0.2.3/24 dev a; route replace default via 192.0.2.1 src 192.0.2.3");
    AFTER("route replace prohibit 203.0.113.0/24", EXPECT_SOON(&whole, R));
    EXPECT_SOURCE(whole.target, "192.0.2.3");
    EXPECT_SOON(&reason, 0);
    EXPECT(reason.target, 0, RouteProhibited);
    EXPECT_QUIET(&plain);
}

static SCNetworkReachabilityNetwork network_of(SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityNetwork network = kSCNetworkReachabilityNetworkInitializer;

    assert_true(SCNetworkReachabilityGetNetwork(target, &network, NULL, 0, 0));
    return network;
}

/* A socket shows the families and their sources, and no interface. */
TEST_DENIED(DENIAL_SOCKET_EPERM, the_default_paths_are_polled)
{
    namespace_ip("route add default via 192.0.2.1");
    watcher_schedule(&watcher, expect_option("0.0.0.0", kSCNetworkReachabilityOptionNotifyNetwork));
    EXPECT_SOON(&watcher, R);
    SCNetworkReachabilityNetwork network = network_of(watcher.target);
    assert_int_equal(network.ipv4.flags, R);
    assert_int_equal(network.ipv4.source.ss_family, AF_INET);
    assert_int_equal(network.ipv4.interfaceIndex, 0);
    assert_int_equal(network.ipv6.flags, 0);
    assert_int_equal(network.ipv4LoopbackFlags, R | L);
    assert_int_equal(network.evidence, kSCNetworkReachabilityEvidenceSocket);
    assert_int_equal(network.uplinkCount, 0);
    assert_int_equal(network.uplinksAreComplete, 1);
    AFTER("-6 route add default via 2001:db8::1", EXPECT_SOON(&watcher, R));
    assert_int_equal(network_of(watcher.target).ipv6.flags, R);
}

TEST_DENIED(DENIAL_CONNECT, a_foreign_namespace_is_polled_from_inside)
{
    int there = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

    assert_true(there >= 0);
    SCNetworkReachabilityRef target = expect_target("198.51.100.7");
    namespace_require();
    watcher_start(&watcher, target);
    const struct descriptors descriptors = descriptors_now();
    assert_int_equal(setns(there, CLONE_NEWNET), 0);
    namespace_ip("route add default via 192.0.2.1");
    namespace_require();
    EXPECT_SOON(&watcher, R);
    EXPECT_ADDRESS("198.51.100.7", 0, NoRoute);
    descriptors_expect(&descriptors);
    watcher_stop(&watcher);
    close(there);
}

/* The kernel is queried, but no messages arrive. */
TEST_DENIED(DENIAL_BIND_AND_OPTIONS, without_multicast_groups_the_kernel_is_polled)
{
    struct watcher near, far;

    namespace_ip("route add default via 192.0.2.1");
    WATCH(&near, "192.0.2.9", &far, "198.51.100.7");
    EXPECT(near.target, R | D, None);
    EXPECT_GATEWAY(far.target, "192.0.2.1");
    namespace_set_carrier("a", "b", false);
    EXPECT_SOON(&near, 0);
    EXPECT(near.target, 0, NoCarrier);
    EXPECT_SOON(&far, 0);
    namespace_set_carrier("a", "b", true);
    EXPECT_SOON(&near, R | D);
    EXPECT_SOON(&far, R);
}

TEST_DENIED(DENIAL_BIND_AND_OPTIONS, without_multicast_groups_the_uplinks_are_polled)
{
    namespace_add_second_pair();
    namespace_ip("link set dev c down; route add default via 192.0.2.1 metric 1");
    watcher_schedule(&watcher, expect_option("0.0.0.0", kSCNetworkReachabilityOptionNotifyNetwork));
    EXPECT_SOON(&watcher, R);
    assert_int_equal(network_of(watcher.target).uplinkCount, 1);
    AFTER("link set dev c up; route add default via 203.0.113.1 metric 2", EXPECT_SOON(&watcher, R));
    assert_int_equal(network_of(watcher.target).uplinkCount, 2);
    AFTER("link delete dev c", EXPECT_SOON(&watcher, R));
    assert_int_equal(network_of(watcher.target).uplinkCount, 1);
    watcher_stop(&watcher);
}

/* One of the two ways to receive messages is enough. */
static void expect_no_polling(void)
{
    watcher_start(&watcher, expect_target("192.0.2.9"));
    EXPECT(watcher.target, R | D, None);
    namespace_set_carrier("a", "b", false);
    assert_int_equal(SCRunLoopPerform(watcher.loop, POLL / 2), 1);
    EXPECT(watcher.target, 0, NoCarrier);
    EXPECT_ADDRESS("192.0.2.9", 0, NoCarrier);
    AFTER("link set dev a down", EXPECT_ADDRESS("192.0.2.9", 0, NoRoute));
    assert_int_equal(idle_perform(watcher.loop), 0);
    watcher_stop(&watcher);
}

TEST_DENIED(DENIAL_BIND, subscribed_changes_are_not_polled)
{
    expect_no_polling();
}

TEST_DENIED(DENIAL_OPTIONS_ENOPROTOOPT, nexthop_objects_alone_are_polled)
{
    expect_no_polling();
}

/* ---- On a scheduler --------------------------------------------------------------------------------------------- */

static struct {
    sem_t given;
    void (*work)(void *argument);
    void *argument;
} handed;

static void hand(void *info, void (*work)(void *argument), void *argument)
{
    (void)info;
    handed.work = work;
    handed.argument = argument;
    sem_post(&handed.given);
}

/* Does the work that the scheduler receives within this time. Returns whether there was any. */
static bool do_work(double seconds)
{
    struct timespec until;
    int result;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)seconds;
    until.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    do
        result = sem_timedwait(&handed.given, &until);
    while (result != 0 && errno == EINTR);
    if (result == 0)
        handed.work(handed.argument);
    return result == 0;
}

TEST_DENIED(DENIAL_SOCKET_EAFNOSUPPORT, a_scheduler_polls_too)
{
    const SCNetworkReachabilityScheduler scheduler = { .perform = hand };
    struct record record = { 0 };

    assert_int_equal(sem_init(&handed.given, 0, 0), 0);
    SCOPED_TARGET target = create_recorded_target("198.51.100.7", &record);
    assert_true(SCNetworkReachabilitySetScheduler(target, &scheduler));
    assert_int_equal(expect_flags_of(target), 0);
    namespace_ip("route add default via 192.0.2.1");
    assert_true(do_work(soon()));
    assert_int_equal(record.flags, R);
    assert_int_equal(expect_flags_of(target), R);
    assert_int_equal(expect_path_of(target).evidence, kSCNetworkReachabilityEvidenceSocket);
    namespace_ip("route delete default");
    assert_true(do_work(soon()));
    assert_int_equal(record.flags, 0);
    assert_int_equal(record.calls, 2);
    assert_true(SCNetworkReachabilitySetScheduler(target, NULL));
    namespace_ip("route add default via 192.0.2.1");
    assert_int_equal(expect_flags_of(target), R); /* by a new query */
    assert_false(do_work(POLL + 0.3));
    sem_destroy(&handed.given);
}

/* ---- A sandbox that is entered later ---------------------------------------------------------------------------- */

/* On another thread: only the main thread can change the network here. */
static void *wait_until_reachable(void *argument)
{
    SCNetworkReachabilityRef target = argument;
    const int result = SCNetworkReachabilityWait(target, kSCNetworkReachabilityConditionReachable, time_limit_of(20),
                                                 NULL);

    unit_complain_if(result != 1, "a wait missed the change");
    return NULL;
}

TEST_DENIED(DENIAL_SOCKET_EPERM, a_wait_polls)
{
    SCOPED_TARGET target = expect_target("198.51.100.7");
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;

    assert_int_equal(SCNetworkReachabilityWait(target, kSCNetworkReachabilityConditionReachable, 0.01, &path), 0);
    assert_int_equal(path.evidence, kSCNetworkReachabilityEvidenceSocket);
    pthread_t thread = unit_thread(wait_until_reachable, (void *)(uintptr_t)target);
    namespace_ip("route add default via 192.0.2.1");
    assert_int_equal(pthread_join(thread, NULL), 0);
    unit_expect_no_complaint();
}

TEST_DENIED(DENIAL_NONE, targets_made_before_the_sandbox_still_query_the_kernel)
{
    struct watcher early, late;
    SCNetworkReachabilityRef unscheduled = expect_target("192.0.2.9");

    watcher_start(&early, expect_target("198.51.100.7"));
    impose(DENIAL_SOCKET_EPERM);
    assert_int_equal(expect_flags_of(unscheduled), R | D);
    assert_int_equal(expect_path_of(unscheduled).evidence, kSCNetworkReachabilityEvidenceKernel);
    watcher_start(&late, expect_target("198.51.100.7"));
    namespace_ip("route add default via 192.0.2.1");
    assert_int_equal(SCRunLoopPerform(early.loop, POLL / 2), 1); /* by a message */
    assert_int_equal(early.flags, R);
    assert_int_equal(expect_path_of(early.target).evidence, kSCNetworkReachabilityEvidenceKernel);
    EXPECT_SOON(&late, R); /* it polls, with the sockets of the namespace */
    assert_int_equal(expect_path_of(late.target).evidence, kSCNetworkReachabilityEvidenceKernel);
    namespace_set_carrier("a", "b", false);
    assert_int_equal(SCRunLoopPerform(early.loop, POLL / 2), 1);
    EXPECT_SOON(&late, 0);
    watcher_stop(&early);
    watcher_stop(&late);
    SCNetworkReachabilityRelease(unscheduled);
    /* The last target is released, and the netlink sockets are closed. */
    SCOPED_TARGET fresh = expect_target("192.0.2.9");
    EXPECT(fresh, R, None); /* a socket shows no carrier */
}

/* ---- Further refusals ------------------------------------------------------------------------------------------- */

/* The library finds out by other means that the address is local. It misses rules that match this address. */
TEST_DENIED(DENIAL_SOCKET_ENOSYS, a_pair_needs_no_bind)
{
    namespace_ip("address add fe80::2/64 dev a nodad");
    namespace_await_addresses();
    namespace_ip("route add default via 192.0.2.1");
    impose(DENIAL_UDP_BIND);
    EXPECT_PAIR("192.0.2.2", "198.51.100.7", R, None);
    EXPECT_PAIR("192.0.2.2", "192.0.2.2", R | L, None);
    EXPECT_PAIR("192.0.2.2", "0.0.0.0", R, None);
    EXPECT_PAIR("2001:db8::2", "2001:db8::9", R, None);
    EXPECT_PAIR("fe80::2%a", "fe80::1%a", R, None);
    EXPECT_PAIR("192.0.2.9", "198.51.100.7", 0, LocalAddressNotAssigned);
    EXPECT_PAIR("2001:db8::3", "2001:db8::9", 0, LocalAddressNotAssigned);
    EXPECT_PAIR("fe80::3%a", "fe80::1%a", 0, LocalAddressNotAssigned);
}

TEST_DENIED(DENIAL_SOCKET_EPERM, without_ipv6_there_is_no_route)
{
    SCNetworkReachabilityRef localhost;

    namespace_ip("route add default via 192.0.2.1");
    impose(DENIAL_IPV6);
    EXPECT_EACH_ADDRESS(0, NoRoute, "2001:db8::9", "2001:db8::2", "fe80::1%a");
    EXPECT_PAIR("2001:db8::2", "2001:db8::9", 0, LocalAddressNotAssigned);
    EXPECT_ADDRESS("::", R, None);
    localhost = SCNetworkReachabilityCreateWithName(NULL, "localhost");
    EXPECT(localhost, R | L, None);
    SCNetworkReachabilityRelease(localhost);
    AFTER("route delete default", EXPECT_ADDRESS("::", 0, NoRoute));
}

static sem_t created;

static void *create_loop(void *unused)
{
    SCRunLoopRelease(SCRunLoopCreate());
    sem_post(&created);
    return unused;
}

/* As on a kernel that runs modprobe(8) for each such socket and finds no module. */
static int load_no_module(int domain, int type, int protocol)
{
    if (domain != AF_INET6)
        return socket(domain, type, protocol);
    pthread_t thread = unit_thread(create_loop, NULL);
    time_limit_await(&created, "Create waits");
    pthread_join(thread, NULL);
    errno = EAFNOSUPPORT;
    return -1;
}

TEST_DENIED(DENIAL_SOCKET_EPERM, create_does_not_wait_for_the_module_of_ipv6)
{
    sem_init(&created, 0, 0);
    faults_socket = load_no_module;
    EXPECT_ADDRESS("2001:db8:1::1", 0, NoRoute);
    faults_socket = NULL;
}

TEST_DENIED(DENIAL_SOCKET_EPERM, without_any_socket_there_is_an_error)
{
    SCOPED_TARGET ipv4 = expect_target("192.0.2.9"), ipv6 = expect_target("2001:db8::9"), any = expect_target("::");
    SCOPED_TARGET bound = expect_bound("192.0.2.9", "a"), pair = expect_pair("192.0.2.2", "192.0.2.9");
    impose(DENIAL_INTERNET);
    expect_failure(ipv4, EACCES);
    expect_failure(ipv6, EACCES);
    expect_failure(any, EACCES);
    expect_failure(bound, EACCES);
    expect_failure(pair, EACCES);
    assert_false(SCNetworkReachabilityScheduleWithRunLoop(ipv4, SCRunLoopGetCurrent(), kSCRunLoopDefaultMode));
    assert_int_equal(SCError(), EACCES); /* EPERM: the process may not enter the namespace */
}

/* Before Linux 5.7, binding to a device needs a capability. A scope does not need it. */
TEST_DENIED(DENIAL_SOCKET_EPERM, only_a_bound_target_needs_the_device)
{
    namespace_ip("address add fe80::2/64 dev a nodad");
    namespace_await_addresses();
    SCOPED_TARGET bound = expect_bound("192.0.2.9", "a");
    impose(DENIAL_DEVICE);
    expect_failure(bound, EPERM);
    EXPECT_EACH_ADDRESS(R, None, "192.0.2.9", "fe80::1%a");
    EXPECT_PAIR("fe80::2%a", "fe80::1%a", R, None);
}

TEST_DENIED(DENIAL_SOCKET_EPERM, an_interface_deleted_during_a_query_is_missing)
{
    impose(DENIAL_DEVICE_GONE);
    EXPECT_BOUND("192.0.2.9", "a", 0, InterfaceMissing);
    EXPECT_BOUND("0.0.0.0", "a", 0, InterfaceMissing);
}

UNIT(.setup = namespace_require_pair)
