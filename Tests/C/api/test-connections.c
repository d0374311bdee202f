/* SPDX-License-Identifier: MIT */
/*
 * An established TCP connection to a server behind a gateway, in another network namespace, and what becomes of it:
 * what TCP says, what connect(2) says, and what the target says, and when. The lines that begin with | are the table
 * in docs/connections.md.
 */
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>

#include "support/test.h"

#define SERVER "198.51.100.7"

enum { BETTER = kSCNetworkReachabilityFlowBetterPath, FOREIGN = kSCNetworkReachabilityFlowSourceForeign };

static struct namespace_other other; /* of the server */
static int here, there, listener;
static struct sockaddr_in server;
static struct watcher watcher;
static int client;

/* ---- The network ------------------------------------------------------------------------------------------------ */

static void enter(int namespace)
{
    namespace_go(namespace);
}

static void listen_there(void)
{
    socklen_t length = sizeof server;

    server = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = inet_addr(SERVER) };
    enter(there);
    namespace_try_sysctl("net.ipv4.conf.d.rp_filter", "1"); /* the network drops packets with a foreign source */
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (const struct sockaddr *)&server, sizeof server), 0);
    assert_int_equal(listen(listener, 8), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&server, &length), 0);
    enter(here);
}

/* Two ways to the server: over a, and over c. */
static void begin(void)
{
    namespace_require_two_pairs();
    namespace_other_open(&other);
    const char *path = unit_text("/proc/%d/ns/net", other.pid);
    here = namespace_keep();
    there = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(there >= 0);
    namespace_ip("link set dev b netns %d", other.pid);
    namespace_ip("link set dev d netns %d", other.pid);
    namespace_other_ip(&other, "link set dev lo up");
    namespace_other_ip(&other, "address add " SERVER "/32 dev lo");
    namespace_other_ip(&other, "address add 192.0.2.1/24 dev b");
    namespace_other_ip(&other, "address add 203.0.113.1/24 dev d");
    namespace_other_ip(&other, "link set dev b up");
    namespace_other_ip(&other, "link set dev d up");
    namespace_await_running("a", true);
    namespace_await_running("c", true);
    namespace_ip("route add default via 192.0.2.1 dev a metric 100");
    namespace_sysctl("net.ipv4.neigh.a.retrans_time_ms", "10");
    namespace_sysctl("net.ipv4.neigh.a.mcast_solicit", "1");
    listen_there();
    client = -1;
}

static void end(void)
{
    if (client >= 0)
        close(client);
    close(listener);
    close(there);
    close(here);
    namespace_other_close(&other);
}

UNIT(.setup = begin, .cleanup = end)

/* ---- The connection --------------------------------------------------------------------------------------------- */

static SCNetworkReachabilityRef target_of(int fd)
{
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
    struct sockaddr_storage local, remote;
    socklen_t length = sizeof local;

    assert_int_equal(getsockname(fd, (struct sockaddr *)&local, &length), 0);
    assert_int_equal(getpeername(fd, (struct sockaddr *)&remote, &length), 0);
    options.localAddress = (const struct sockaddr *)&local;
    options.remoteAddress = (const struct sockaddr *)&remote;
    options.protocol = IPPROTO_TCP;
    options.options = kSCNetworkReachabilityOptionNotifyPath | kSCNetworkReachabilityOptionNotifyNextHop;
    return SCNetworkReachabilityCreateWithOptions(NULL, &options);
}

static void connect_and_watch(void)
{
    client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(client, (const struct sockaddr *)&server, sizeof server), 0);
    watcher_start(&watcher, target_of(client));
    EXPECT_QUIET(&watcher);
    EXPECT(watcher.target, R, None);
    assert_int_equal(expect_path_of(watcher.target).flow, 0);
}

static struct tcp_info info_of(int fd)
{
    struct tcp_info info;
    socklen_t length = sizeof info;

    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length), 0);
    return info;
}

/* What connect(2) of a new socket says, or bind(2) before it; `source` NULL: it binds no address. *ret: the source
 * address that the kernel has chosen. */
static int try_connect(const char *source, struct sockaddr_in *ret)
{
    const struct timeval limit = { .tv_sec = 10 };
    const struct sockaddr_in local = { .sin_family = AF_INET,
                                       .sin_addr.s_addr = inet_addr(source ? source : "0.0.0.0") };
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t length = sizeof *ret;
    int error = 0;

    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit), 0);
    if (bind(fd, (const struct sockaddr *)&local, sizeof local) != 0 ||
        connect(fd, (const struct sockaddr *)&server, sizeof server) != 0)
        error = errno;
    assert_int_equal(getsockname(fd, (struct sockaddr *)ret, &length), 0);
    close(fd);
    return error;
}

static int connect_error(const char *source)
{
    struct sockaddr_in chosen;

    return try_connect(source, &chosen);
}

/* A new connection is made, from this address. */
static void expect_connection_from(const char *address)
{
    struct sockaddr_in chosen;

    assert_int_equal(try_connect(NULL, &chosen), 0);
    assert_string_equal(inet_ntoa(chosen.sin_addr), address);
}

/* The callback has come. TCP goes on as if nothing had happened. */
static void expect_tcp_says_nothing(void)
{
    int error = -1;
    socklen_t length = sizeof error;

    assert_int_equal(send(client, "x", 1, MSG_NOSIGNAL), 1);
    assert_int_equal(getsockopt(client, SOL_SOCKET, SO_ERROR, &error, &length), 0);
    assert_int_equal(error, 0);
    assert_int_equal(info_of(client).tcpi_state, TCP_ESTABLISHED);
}

/* Milliseconds until the first retransmission. */
static double await_retransmission(void)
{
    const double begin = watcher_now(), end = begin + time_limit_of(10);

    while (info_of(client).tcpi_retransmits == 0) {
        assert_true(watcher_now() < end);
        SCRunLoopPerform(watcher.loop, 0.01);
    }
    assert_int_equal(info_of(client).tcpi_state, TCP_ESTABLISHED);
    return 1000 * (watcher_now() - begin);
}

/* When the change was complete. */
static double changed;

/* After the change: a callback with these flags. */
#define EXPECT_CHANGE_NOW(flags) \
    do { \
        changed = watcher_now(); \
        EXPECT_CHANGE(&watcher, flags); \
    } while (0)

/* TCP counts no retransmission that cannot leave. */
static void expect_report(const char *name, const char *connects, const char *says)
{
    const double reported = 1000 * (watcher_now() - changed);
    char text[64] = "none";
    int waiting;

    expect_tcp_says_nothing();
    if (watcher.flags != 0)
        snprintf(text, sizeof text, "from %.0f ms on", await_retransmission());
    assert_int_equal(ioctl(client, SIOCOUTQ, &waiting), 0);
    assert_int_equal(waiting, 1); /* the byte has no reply */
    printf("| %s | %s | %s | %s, after %.1f ms |\n", name, text, connects, says, reported);
}

/* ---- The cases -------------------------------------------------------------------------------------------------- */

TEST(the_address_is_deleted)
{
    connect_and_watch();
    AFTER("address delete 192.0.2.2/24 dev a", EXPECT_CHANGE_NOW(0));
    EXPECT(watcher.target, 0, LocalAddressNotAssigned);
    assert_int_equal(connect_error("192.0.2.2"), EADDRNOTAVAIL);
    expect_report("the local address is deleted", "bind(2): EADDRNOTAVAIL", "LocalAddressNotAssigned");
}

/* Packets leave over c from now on, with a's address. */
static void expect_foreign_source(const char *route, const char *event)
{
    connect_and_watch();
    namespace_ip("route add %s via 203.0.113.1 dev c", route);
    EXPECT_CHANGE_NOW(R);
    assert_int_equal(expect_path_of(watcher.target).flow, BETTER | FOREIGN);
    expect_connection_from("203.0.113.2");
    expect_report(event, "succeeds, with another source", "BetterPath, SourceForeign");
}

TEST(a_better_route_comes)
{
    expect_foreign_source("default", "a better default route comes");
}

TEST(a_vpn_comes)
{
    expect_foreign_source("128.0.0.0/1", "a VPN comes (0/1 and 128/1)");
}

/* The packets of the connection still leave over a. */
TEST(a_vpn_comes_beside_a_rule_for_the_source)
{
    namespace_ip("route add default via 192.0.2.1 dev a table 9; rule add from 192.0.2.2 lookup 9");
    connect_and_watch();
    AFTER("route add 128.0.0.0/1 via 203.0.113.1 dev c", EXPECT_CHANGE(&watcher, R));
    assert_int_equal(expect_path_of(watcher.target).flow, BETTER);
    expect_connection_from("203.0.113.2");
}

TEST(the_route_is_gone)
{
    connect_and_watch();
    AFTER("route delete default", EXPECT_CHANGE_NOW(0));
    EXPECT(watcher.target, 0, NoRoute);
    assert_int_equal(connect_error(NULL), ENETUNREACH);
    expect_report("the route is gone", "ENETUNREACH", "NoRoute");
}

TEST(a_vpn_goes)
{
    namespace_ip("route add 128.0.0.0/1 via 203.0.113.1 dev c");
    connect_and_watch();
    AFTER("link delete dev c", EXPECT_CHANGE_NOW(0));
    EXPECT(watcher.target, 0, LocalAddressNotAssigned);
    assert_int_equal(connect_error("203.0.113.2"), EADDRNOTAVAIL);
    expect_connection_from("192.0.2.2");
    expect_report("a connection's VPN goes, with its interface", "succeeds, with another source",
                  "LocalAddressNotAssigned");
}

TEST(a_rule_prohibits_the_port)
{
    connect_and_watch();
    namespace_ip("rule add ipproto tcp dport %u prohibit", ntohs(server.sin_port));
    EXPECT_CHANGE_NOW(0);
    EXPECT(watcher.target, 0, RouteProhibited);
    assert_int_equal(connect_error(NULL), EACCES);
    expect_report("a rule prohibits the port", "EACCES", "RouteProhibited");
}

/* Nobody has the gateway's address any more, and the kernel asks again. */
TEST(the_gateway_does_not_respond)
{
    connect_and_watch();
    namespace_other_ip(&other, "address delete 192.0.2.1/24 dev b");
    changed = watcher_now();
    AFTER("neigh change 192.0.2.1 dev a nud probe", EXPECT_CHANGE(&watcher, R));
    assert_int_equal(expect_path_of(watcher.target).nextHop, kSCNetworkReachabilityNextHopFailed);
    assert_int_equal(connect_error(NULL), EHOSTUNREACH);
    expect_report("the gateway does not respond (the kernel asks for 30 ms here; by default for 3 s)",
                  "EHOSTUNREACH, after the kernel has asked", "the next hop is Failed");
}

TEST(the_interface_is_moved)
{
    connect_and_watch();
    namespace_ip("link set dev a netns %d", other.pid);
    EXPECT_CHANGE_NOW(0);
    assert_int_equal(connect_error(NULL), ENETUNREACH);
    expect_report("the interface is moved to another namespace", "ENETUNREACH",
                  SCNetworkReachabilityReasonString(expect_path_of(watcher.target).reason));
}
