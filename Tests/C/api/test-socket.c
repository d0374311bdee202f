/* SPDX-License-Identifier: MIT */
/*
 * Targets for sockets. Most are UDP sockets, which need no other end: connect(2) sends nothing. The oracles are the
 * socket itself and a new one.
 */
#include <linux/netlink.h>
#include <netinet/tcp.h>

#include "support/test.h"

#define FAR_IPV4 "198.51.100.7"

static struct watcher watcher; /* stopped at the end of each test */

enum { BETTER = kSCNetworkReachabilityFlowBetterPath, FOREIGN = kSCNetworkReachabilityFlowSourceForeign };

static const struct family {
    const char *name, *ip, *far, *near, *gateway, *other_gateway;
} families[] = {
    { "IPv4", "", FAR_IPV4, "192.0.2.2", "192.0.2.1", "203.0.113.1" },
    { "IPv6", "-6 ", "2001:db8:7::7", "2001:db8::2", "2001:db8::1", "2001:db8:c::1" },
};

static void set_port(struct sockaddr_storage *address, uint16_t port)
{
    ((struct sockaddr_in *)address)->sin_port = htons(port); /* at the same place in sockaddr_in6 */
}

static int open_socket(int family, int type)
{
    const int one = 1, fd = socket(family, type | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one), 0);
    return fd;
}

static void bind_socket(int fd, const char *local, uint16_t port)
{
    struct sockaddr_storage address = expect_sockaddr(local);

    set_port(&address, port);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
}

static void connect_socket(int fd, const char *remote, uint16_t port)
{
    struct sockaddr_storage address = expect_sockaddr(remote);

    set_port(&address, port);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
}

/* A connected UDP socket. `local` NULL: the kernel chooses. */
static int udp_socket(const char *local, uint16_t local_port, const char *remote, uint16_t port)
{
    const int fd = open_socket(expect_sockaddr(remote).ss_family, SOCK_DGRAM);

    if (local != NULL)
        bind_socket(fd, local, local_port);
    connect_socket(fd, remote, port);
    return fd;
}

/* Closes the descriptor: the target does not keep it. */
static SCNetworkReachabilityRef target_of(int fd)
{
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithSocket(NULL, fd);

    if (target == NULL)
        fail_msg("CreateWithSocket: %s", SCErrorString(SCError()));
    close(fd);
    return target;
}

static void add_default(const struct family *family)
{
    namespace_ip("%sroute add default via %s metric 2000", family->ip, family->gateway);
}

static void add_better(const struct family *family)
{
    namespace_ip("%sroute add default via %s metric 50", family->ip, family->other_gateway);
}

/* ---- Bad sockets ------------------------------------------------------------------------------------------------ */

static void expect_error(int fd, int error)
{
    assert_null(SCNetworkReachabilityCreateWithSocket(NULL, fd));
    assert_int_equal(SCError(), error);
    if (error == kSCStatusInvalidArgument)
        assert_memory_equal(SCErrorDetail(), "socket: ", strlen("socket: "));
    if (fd >= 0)
        close(fd);
}

TEST(a_socket_that_has_no_other_end_is_refused)
{
    const int listening = open_socket(AF_INET, SOCK_STREAM);
    int pair[2];

    assert_int_equal(listen(listening, 1), 0);
    expect_error(listening, ENOTCONN);
    expect_error(open_socket(AF_INET, SOCK_STREAM), ENOTCONN);
    expect_error(open_socket(AF_INET, SOCK_DGRAM), ENOTCONN);
    expect_error(open_socket(AF_INET6, SOCK_DGRAM), ENOTCONN);
    expect_error(-1, EBADF);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    expect_error(pair[0], kSCStatusInvalidArgument);
    expect_error(pair[0], EBADF); /* it is closed */
    close(pair[1]);
    expect_error(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), kSCStatusInvalidArgument);
    expect_error(open("/dev/null", O_RDONLY), ENOTSOCK);
}

/* ---- What is read of a socket ----------------------------------------------------------------------------------- */

TEST_EACH(a_socket_is_the_pair_of_its_addresses, families)
{
    char text[512];

    add_default(row);
    SCOPED_TARGET target = target_of(udp_socket(row->near, 4000, row->far, 53));
    EXPECT(target, R, None);
    EXPECT_SOURCE(target, row->near);
    EXPECT_INTERFACE(target, "a");
    SCNetworkReachabilityPath path = expect_path_of(target);
    assert_int_equal(path.addressCount, 1);
    assert_int_equal(path.flow, 0);
    SCNetworkReachabilityGetDescription(target, text, sizeof text);
    assert_non_null(strstr(text, row->near));
    namespace_ip("%saddress del %s/%s dev a", row->ip, row->near, row->ip[0] == '-' ? "64" : "24");
    EXPECT(target, 0, LocalAddressNotAssigned);
}

/* A rule prohibits the packets of one socket and not those of a like one. */
static void expect_prohibited(const char *rule, int prohibited, int allowed)
{
    SCOPED_TARGET target = target_of(prohibited), other = target_of(allowed);

    EXPECT(target, R, None);
    namespace_ip("rule add %s prohibit", rule);
    EXPECT(target, 0, RouteProhibited);
    EXPECT(other, R, None);
    assert_int_equal(expect_path_of(other).flow, 0); /* a socket says all that rules can select by */
    namespace_ip("rule del %s prohibit", rule);
    EXPECT(target, R, None);
}

static int udp_with_option(int level, int option, int value)
{
    const int fd = open_socket(AF_INET, SOCK_DGRAM);

    if (option != 0)
        assert_int_equal(setsockopt(fd, level, option, &value, sizeof value), 0);
    connect_socket(fd, FAR_IPV4, 53);
    return fd;
}

TEST(rules_select_by_all_that_the_socket_says)
{
    add_default(&families[0]);
    expect_prohibited("ipproto udp dport 53", udp_socket(NULL, 0, FAR_IPV4, 53), udp_socket(NULL, 0, FAR_IPV4, 54));
    expect_prohibited("ipproto udp sport 4000", udp_socket("0.0.0.0", 4000, FAR_IPV4, 53),
                      udp_socket("0.0.0.0", 4001, FAR_IPV4, 53));
    expect_prohibited("fwmark 7", udp_with_option(SOL_SOCKET, SO_MARK, 7), udp_with_option(0, 0, 0));
    expect_prohibited("tos 0x10", udp_with_option(IPPROTO_IP, IP_TOS, 0x10), udp_with_option(0, 0, 0));
    int owned = udp_with_option(0, 0, 0);
    if (fchown(owned, 1000, 0) != 0)
        SKIP("this user namespace has no user 1000");
    expect_prohibited("uidrange 1000-1000", owned, udp_with_option(0, 0, 0));
}

TEST(an_ipv4_address_in_an_ipv6_socket_is_ipv4)
{
    const int fd = open_socket(AF_INET6, SOCK_DGRAM), class = 0x10;
    struct sockaddr_in6 mapped = { .sin6_family = AF_INET6, .sin6_port = htons(53) };

    add_default(&families[0]);
    assert_int_equal(inet_pton(AF_INET6, "::ffff:" FAR_IPV4, &mapped.sin6_addr), 1);
    assert_int_equal(setsockopt(fd, IPPROTO_IP, IP_TOS, &class, sizeof class), 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&mapped, sizeof mapped), 0);
    SCOPED_TARGET target = target_of(fd);
    EXPECT(target, R, None, .source = "192.0.2.2");
    AFTER("rule add tos 0x10 ipproto udp dport 53 prohibit", EXPECT(target, 0, RouteProhibited));
}

TEST_EACH(a_socket_that_is_bound_to_a_device_takes_its_routes, families)
{
    int fd = open_socket(expect_sockaddr(row->far).ss_family, SOCK_DGRAM);

    add_default(row);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "a", 1), 0);
    connect_socket(fd, row->far, 53);
    SCOPED_TARGET target = target_of(fd);
    EXPECT(target, R, None);
    add_better(row); /* not for this socket, and not for a new one like it */
    EXPECT(target, R, None, .interface = "a");
    assert_int_equal(expect_path_of(target).flow, 0);
    namespace_ip("%sroute del default metric 2000", row->ip);
    EXPECT(target, 0, NoRoute);
}

/* ---- A connection ----------------------------------------------------------------------------------------------- */

/* A TCP connection over a and b, which is in a namespace of its own. The listening socket keeps that. */
static int open_connection(int *ret_listening)
{
    const int here = namespace_keep();
    int fd;

    assert_true(namespace_enter());
    int there = namespace_keep();
    int listening = open_socket(AF_INET, SOCK_STREAM);
    namespace_go(here);
    namespace_ip("link set dev b netns /proc/%d/fd/%d", getpid(), there);
    namespace_go(there);
    namespace_ip("link set dev lo up; link set dev b up; address add 192.0.2.1/24 dev b");
    namespace_ip("address add " FAR_IPV4 " dev lo");
    bind_socket(listening, "0.0.0.0", 80);
    assert_int_equal(listen(listening, 1), 0);
    namespace_go(here);
    namespace_await_running("a", true);
    fd = open_socket(AF_INET, SOCK_STREAM);
    connect_socket(fd, FAR_IPV4, 80);
    close(there);
    close(here);
    *ret_listening = listening;
    return fd;
}

static void expect_established(int fd)
{
    struct tcp_info info;
    socklen_t length = sizeof info;
    int error = -1;

    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length), 0);
    assert_int_equal(info.tcpi_state, TCP_ESTABLISHED);
    length = sizeof error;
    assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length), 0);
    assert_int_equal(error, 0);
    assert_int_equal(send(fd, "x", 1, MSG_DONTWAIT), 1);
}

/* TCP says that all is well. */
TEST(a_better_default_route_makes_the_source_of_a_connection_foreign)
{
    int listening;

    add_default(&families[0]);
    int fd = open_connection(&listening);
    watcher_start(&watcher, SCNetworkReachabilityCreateWithSocket(NULL, fd));
    assert_int_equal(watcher.calls, 0);
    assert_int_equal(expect_path_of(watcher.target).flow, 0);
    add_better(&families[0]);
    EXPECT_CHANGE_OVER(&watcher, R, "c");
    assert_int_equal(expect_path_of(watcher.target).flow, BETTER | FOREIGN);
    expect_established(fd);
    AFTER("route del default metric 50", EXPECT_CHANGE(&watcher, R));
    assert_int_equal(expect_path_of(watcher.target).flow, 0);
    AFTER("address del 192.0.2.2/24 dev a", EXPECT_CHANGE(&watcher, 0));
    EXPECT(watcher.target, 0, LocalAddressNotAssigned);
    expect_established(fd);
    close(fd);
    close(listening);
}

/* A change of the flow alone is a change. */
TEST_EACH(a_change_of_the_flow_makes_a_callback, families)
{
    add_default(row);
    namespace_ip("%srule add from %s table 100", row->ip, row->near);
    namespace_ip("%sroute add default via %s table 100", row->ip, row->gateway);
    watcher_start(&watcher, target_of(udp_socket(row->near, 4000, row->far, 53)));
    add_better(row);
    EXPECT_CHANGE_OVER(&watcher, R, "a");
    assert_int_equal(expect_path_of(watcher.target).flow, BETTER);
    namespace_ip("%sroute del default metric 50", row->ip);
    EXPECT_CHANGE(&watcher, R);
    assert_int_equal(expect_path_of(watcher.target).flow, 0);
}

/* The path stays the same: the local address moves to another link. */
TEST(a_change_of_the_flow_alone_reaches_all_that_share_an_answer)
{
    struct watcher one, other;

    add_default(&families[0]);
    namespace_ip("address add 10.99.0.9/32 dev a");
    watcher_start(&one, target_of(udp_socket("10.99.0.9", 4000, "198.51.100.7", 53)));
    watcher_schedule_on(&other, target_of(udp_socket("10.99.0.9", 4001, "198.51.100.8", 53)), one.loop);
    EXPECT_QUIET(&one);
    namespace_ip("address del 10.99.0.9/32 dev a; address add 10.99.0.9/32 dev c");
    assert_true(idle_perform(one.loop) >= 0);
    assert_int_equal(one.calls, 1);
    assert_int_equal(other.calls, 1);
    assert_int_equal(expect_path_of(one.target).flow, BETTER | FOREIGN);
    assert_int_equal(expect_path_of(other.target).flow, BETTER | FOREIGN);
    namespace_ip("address del 10.99.0.9/32 dev c"); /* the route leads out of "a" */
    assert_true(idle_perform(one.loop) >= 0);
    assert_int_equal(expect_flags_of(one.target), 0);
    assert_int_equal(expect_flags_of(other.target), 0);
}

/* A route makes the address local. It goes with the last address of its link, and no message is about it. */
TEST(a_local_address_that_goes_silently_makes_connections_unreachable)
{
    struct watcher one, other;

    add_default(&families[0]);
    namespace_ip("route add local 10.99.0.9 dev c table local");
    watcher_start(&one, target_of(udp_socket("10.99.0.9", 4000, "198.51.100.7", 53)));
    watcher_schedule_on(&other, target_of(udp_socket("10.99.0.9", 4001, "198.51.100.8", 53)), one.loop);
    EXPECT_QUIET(&one);
    namespace_ip("address del 203.0.113.2/24 dev c");
    assert_true(idle_perform(one.loop) >= 0);
    assert_int_equal(one.calls, 1);
    assert_int_equal(other.calls, 1);
    EXPECT_EACH(0, LocalAddressNotAssigned, one.target, other.target);
}

/* ---- Between Schedule and the first pass ------------------------------------------------------------------------- */

/* A change that leaves the packets where they are: only the flow differs. Or their interface differs, too. */
static const struct early_change {
    const char *name;
    bool stays;    /* on its interface, by a rule for its source */
    char order[5]; /* S: Schedule, P: GetPath, C: the change */
    int calls;     /* in the first pass */
} early_changes[] = {
    { "the flow, after GetPath and Schedule", true, "PSC", 1 },
    { "the flow, between GetPath and Schedule", true, "PCS", 1 },
    { "the flow, after Schedule and GetPath", true, "SPC", 1 },
    { "the flow, before GetPath", true, "SCP", 0 },
    { "the flow, between two GetPath", true, "PCPS", 0 },
    { "the flow, which nobody has read", true, "SC", 0 },
    { "all, after GetPath and Schedule", false, "PSC", 1 },
    { "all, after Schedule", false, "SC", 1 },
    { "all, between Schedule and GetPath", false, "SCP", 1 },
    { "all, between GetPath and Schedule", false, "PCS", 1 },
    { "nothing, after GetPath", true, "PS", 0 },
};

TEST_EACH(a_change_before_the_first_pass_is_reported_once, early_changes)
{
    const struct family *family = &families[0];

    add_default(family);
    if (row->stays) {
        namespace_ip("rule add from %s table 100", family->near);
        namespace_ip("route add default via %s table 100", family->gateway);
    }
    SCNetworkReachabilityRef target = target_of(udp_socket(family->near, 4000, family->far, 53));
    for (const char *step = row->order; *step != '\0'; step++) {
        if (*step == 'S')
            watcher_schedule(&watcher, target);
        if (*step == 'P')
            (void)expect_path_of(target).flow;
        if (*step == 'C')
            add_better(family);
    }
    if (row->calls == 1)
        EXPECT_CHANGE(&watcher, R);
    EXPECT_QUIET(&watcher);
}

/* ---- Many connections of one server ----------------------------------------------------------------------------- */

enum { MANY = 500 };

static struct {
    struct watcher watchers[MANY];
    SCRunLoopRef loop;
} many;

static unsigned long count_queries(void)
{
    return expect_counters_of(many.watchers[0].target).queries;
}

static void schedule_many(const struct family *family)
{
    for (uint16_t i = 0; i < MANY; i++) {
        char far[INET6_ADDRSTRLEN];

        if (family->ip[0] == '-')
            snprintf(far, sizeof far, "2001:db8:7::%x", i + 1);
        else
            snprintf(far, sizeof far, "198.51.%d.%d", 100 + i / 250, 1 + i % 250);
        SCNetworkReachabilityRef target = target_of(udp_socket(family->near, 80, far, (uint16_t)(2000 + i)));
        if (i == 0)
            watcher_start(&many.watchers[i], target);
        else
            watcher_schedule_on(&many.watchers[i], target, many.watchers[0].loop);
    }
    many.loop = many.watchers[0].loop;
    EXPECT_QUIET(&many.watchers[0]);
}

/* Each has had `calls` callbacks since the last time, and has these flags. */
static void expect_all(int calls, SCNetworkReachabilityFlags flags)
{
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(many.watchers[i].calls, calls);
        assert_int_equal(expect_flags_of(many.watchers[i].target), flags);
        many.watchers[i].calls = 0;
    }
}

static void settle(void)
{
    while (SCRunLoopPerform(many.loop, 0.05) > 0)
        ;
}

TEST_EACH(many_connections_with_one_local_address_share_their_queries, families)
{
    add_default(row);
    schedule_many(row);
    expect_all(0, R);
    unsigned long before = count_queries();
    add_better(row);
    settle();
    expect_all(1, R);
    assert_int_equal(expect_path_of(many.watchers[MANY - 1].target).flow, BETTER | FOREIGN);
    assert_in_range(count_queries() - before, 1, 32); /* with the repetition a few milliseconds later */
    before = count_queries();
    namespace_ip("%sroute del default metric 50", row->ip);
    namespace_ip("%sroute del default metric 2000", row->ip);
    settle();
    expect_all(1, 0);
    add_default(row);
    settle();
    expect_all(1, R);
    assert_in_range(count_queries() - before, 1, 64);
}

/* The connection whose packets a rule prohibits. */
enum { SEVENTH = 7 };

static void expect_others(int calls, SCNetworkReachabilityFlags flags)
{
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(many.watchers[i].calls, i == SEVENTH ? 0 : calls);
        assert_int_equal(expect_flags_of(many.watchers[i].target), i == SEVENTH ? 0 : flags);
        many.watchers[i].calls = 0;
    }
}

TEST_EACH(a_rule_for_one_remote_port_stops_exactly_that_connection, families)
{
    add_default(row);
    schedule_many(row);
    for (int i = 0; i < 2; i++) {
        namespace_ip("%srule add ipproto udp sport 80 dport 2007 prohibit", row->ip);
        EXPECT_CHANGE(&many.watchers[SEVENTH], 0);
        settle();
        many.watchers[SEVENTH].calls = 0;
        expect_others(0, R);
        namespace_ip("%sroute del default", row->ip); /* while nothing is shared */
        settle();
        expect_others(1, 0);
        add_default(row);
        settle();
        expect_others(1, R);
        namespace_ip("%srule del ipproto udp sport 80 dport 2007 prohibit", row->ip);
        EXPECT_CHANGE(&many.watchers[SEVENTH], R);
        many.watchers[SEVENTH].calls = 0;
        settle();
        expect_all(0, R);
    }
}

/* Two groups, with one route: an answer for one source is none for the other. */
TEST(connections_with_different_local_addresses_do_not_share)
{
    static struct watcher near, other;

    add_default(&families[0]);
    watcher_start(&near, target_of(udp_socket("192.0.2.2", 80, FAR_IPV4, 2000)));
    many.loop = near.loop;
    watcher_schedule_on(&other, target_of(udp_socket("203.0.113.2", 80, FAR_IPV4, 2000)), many.loop);
    EXPECT_QUIET(&near);
    assert_int_equal(expect_path_of(near.target).flow, 0);
    assert_int_equal(expect_path_of(other.target).flow, BETTER | FOREIGN);
    add_better(&families[0]);
    assert_int_equal(SCRunLoopPerform(many.loop, 60), 2);
    assert_int_equal(expect_path_of(near.target).flow, BETTER | FOREIGN);
    assert_int_equal(expect_path_of(other.target).flow, 0);
    near.calls = other.calls = 0;
    namespace_ip("address del 203.0.113.2/24 dev c"); /* and with it the better route */
    settle();
    assert_int_equal(expect_flags_of(near.target), R);
    assert_int_equal(expect_flags_of(other.target), 0);
}

/* ---- Set-up ----------------------------------------------------------------------------------------------------- */

UNIT(.setup = namespace_require_two_pairs)
