/* SPDX-License-Identifier: MIT */
/*
 * Exact flows: rules and multipath routes that select by protocol, ports and traffic class. The oracle is connect(2): a
 * socket with the same protocol, ports and class. Its IP_MTU tells the leg, as the legs have different MTUs.
 */
#include <sys/personality.h>

#include "api/target.h"
#include "kernel/query_batch.h"
#include "support/idle.h"
#include "support/test.h"

#define FAR4      "198.51.100.7"
#define LEG_MTU   1400 /* of c; that of a is 1500 */
#define LEG_PORTS 40

static const struct family {
    const char *name, *ip, *far, *any, *source, *gateway, *other_gateway;
    int family;
} families[] = {
    { "IPv4", "", "198.51.100.7", "0.0.0.0", "192.0.2.2", "192.0.2.1", "203.0.113.1", AF_INET },
    { "IPv6", "-6 ", "2001:db8:7::7", "::", "2001:db8::2", "2001:db8::1", "2001:db8:c::1", AF_INET6 },
};

struct flow_case {
    const char *local; /* NULL: none */
    const char *remote;
    uint8_t protocol, class;
    uint16_t local_port, remote_port;
    uint32_t options;
    bool broadcasts; /* SO_BROADCAST */
};

static void set_port(struct sockaddr_storage *address, uint16_t port)
{
    ((struct sockaddr_in *)address)->sin_port = htons(port); /* at the same place in sockaddr_in6 */
}

static SCNetworkReachabilityRef target_of(const struct flow_case *flow)
{
    struct sockaddr_storage local = expect_sockaddr(flow->local != NULL ? flow->local : "0.0.0.0");
    struct sockaddr_storage remote = expect_sockaddr(flow->remote);
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    set_port(&local, flow->local_port);
    set_port(&remote, flow->remote_port);
    options.localAddress = flow->local != NULL ? (const struct sockaddr *)&local : NULL;
    options.remoteAddress = (const struct sockaddr *)&remote;
    options.protocol = flow->protocol;
    options.trafficClass = flow->class;
    options.options = flow->options;
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithOptions(NULL, &options);
    if (target == NULL)
        fail_msg("CreateWithOptions: %s", SCErrorString(SCError()));
    return target;
}

/* ---- The oracle ------------------------------------------------------------------------------------------------- */

struct verdict {
    int error; /* of connect(2) */
    int mtu;
    struct sockaddr_storage source;
};

/* Connects a socket as the flow says. A TCP socket does not wait for a reply, which nobody sends. */
static struct verdict connect_as(const struct flow_case *flow)
{
    struct sockaddr_storage local = expect_sockaddr(flow->local != NULL ? flow->local : "0.0.0.0");
    struct sockaddr_storage remote = expect_sockaddr(flow->remote);
    const bool is_ipv6 = remote.ss_family == AF_INET6;
    const int class = flow->class, one = 1, broadcasts = flow->broadcasts;
    const int fd = socket(remote.ss_family, (flow->protocol == IPPROTO_TCP ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK,
                          0);
    struct verdict verdict = { 0 };
    socklen_t length = sizeof verdict.source;

    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one), 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &broadcasts, sizeof broadcasts), 0);
    assert_int_equal(
        setsockopt(fd, is_ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, is_ipv6 ? IPV6_TCLASS : IP_TOS, &class, sizeof class), 0);
    set_port(&local, flow->local_port);
    set_port(&remote, flow->remote_port);
    if (flow->local != NULL)
        assert_int_equal(bind(fd, (const struct sockaddr *)&local, sizeof local), 0);
    verdict.error = connect(fd, (const struct sockaddr *)&remote, sizeof remote) == 0 ? 0 : errno;
    if (verdict.error == EINPROGRESS)
        verdict.error = 0;
    if (verdict.error == 0) {
        assert_int_equal(getsockname(fd, (struct sockaddr *)&verdict.source, &length), 0);
        length = sizeof verdict.mtu;
        assert_int_equal(
            getsockopt(fd, is_ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, is_ipv6 ? IPV6_MTU : IP_MTU, &verdict.mtu, &length), 0);
    }
    close(fd);
    return verdict;
}

/* GetFlags and GetPath agree with connect(2), which gives this errno. */
static void expect_flow(const struct flow_case *flow, int error)
{
    SCOPED_TARGET target = target_of(flow);

    assert_int_equal(connect_as(flow).error, error);
    if (error == 0)
        EXPECT(target, R, None);
    else if (error == EACCES)
        EXPECT(target, 0, RouteProhibited);
    else
        EXPECT(target, 0, NoRoute);
}

static void expect_incomplete(const struct flow_case *flow, bool incomplete)
{
    SCOPED_TARGET target = target_of(flow);

    assert_int_equal(expect_path_of(target).flow, incomplete ? kSCNetworkReachabilityFlowIncomplete : 0);
}

static void add_default(const struct family *family)
{
    namespace_ip("%sroute add default via %s", family->ip, family->gateway);
}

/* ---- Rules ------------------------------------------------------------------------------------------------------ */

TEST_EACH(a_rule_for_a_port_decides_for_the_flows_to_that_port, families)
{
    add_default(row);
    namespace_ip("%srule add ipproto tcp dport 443 prohibit", row->ip);
    expect_flow(&(struct flow_case){ .remote = row->far, .protocol = IPPROTO_TCP, .remote_port = 443 }, EACCES);
    expect_flow(&(struct flow_case){ .remote = row->far, .protocol = IPPROTO_TCP, .remote_port = 80 }, 0);
    expect_flow(&(struct flow_case){ .remote = row->far, .protocol = IPPROTO_UDP, .remote_port = 443 }, 0);
    expect_flow(
        &(struct flow_case){
            .local = row->source, .remote = row->far, .protocol = IPPROTO_TCP, .local_port = 4000, .remote_port = 443 },
        EACCES);
    EXPECT_ADDRESS(row->far, R, None);
}

TEST_EACH(a_rule_for_a_local_port_decides_for_the_flows_from_that_port, families)
{
    add_default(row);
    namespace_ip("%srule add ipproto udp sport 4000-4010 prohibit", row->ip);
    for (uint16_t port = 3999; port <= 4011; port++) {
        struct flow_case flow = {
            .local = row->any, .remote = row->far, .protocol = IPPROTO_UDP, .local_port = port, .remote_port = 53
        };

        expect_flow(&flow, port >= 4000 && port <= 4010 ? EACCES : 0);
        flow.local = row->source;
        expect_flow(&flow, port >= 4000 && port <= 4010 ? EACCES : 0);
    }
    expect_flow(&(struct flow_case){ .remote = row->far, .protocol = IPPROTO_UDP, .remote_port = 53 }, 0);
}

TEST_EACH(a_rule_for_the_traffic_class_decides_and_ecn_does_not, families)
{
    add_default(row);
    namespace_ip("%srule add tos 0x10 prohibit", row->ip);
    expect_flow(&(struct flow_case){ .remote = row->far, .protocol = IPPROTO_UDP, .class = 0x10, .remote_port = 9 },
                EACCES);
    expect_flow(&(struct flow_case){ .remote = row->far, .protocol = IPPROTO_UDP, .class = 0x13, .remote_port = 9 },
                EACCES);
    expect_flow(&(struct flow_case){ .remote = row->far, .protocol = IPPROTO_UDP, .class = 0x08, .remote_port = 9 }, 0);
    EXPECT_ONCE(target_of(&(struct flow_case){ .remote = row->far, .class = 0x10 }), 0, RouteProhibited);
    EXPECT_ONCE(target_of(&(struct flow_case){ .remote = row->far, .class = 0x08 }), R, None);
}

TEST(the_reply_about_one_port_is_no_reply_about_another)
{
    const struct route_request one = { .destination = { AF_INET, { 198, 51, 100, 7 } },
                                       .flow = { .protocol = IPPROTO_UDP, .remote_port = 53 } };
    struct route_request another = one;
    struct query_batch *batch = reach_query_batch_create();
    struct netlink netlink;
    struct message reply;

    another.flow.remote_port++;
    unit_check(reach_netlink_open_requests(NULL, NETLINK_ROUTE, &netlink), "reach_netlink_open_requests");
    unit_check(reach_query_batch_send(batch, &netlink, false, 0, &one, 1), "reach_query_batch_send");
    assert_false(reach_query_batch_take(batch, &another, &reply));
    assert_true(reach_query_batch_take(batch, &one, &reply));
    reach_netlink_close(&netlink);
    free(batch);
}

/* The query itself is examined, because Linux 6.18 ignores these bits. */
TEST(no_query_has_ecn)
{
    SCOPED_TARGET target = target_of(&(struct flow_case){ .remote = FAR4, .class = 0x13 });
    struct questions *questions = reach_target_retain_questions((struct SCNetworkReachability *)(uintptr_t)target);

    assert_int_equal(questions->items[0].flow.traffic_class, 0x10);
    reach_questions_release(questions);
}

TEST(a_route_for_a_traffic_class_leads_its_flows)
{
    namespace_ip("route add default via 192.0.2.1; route add blackhole 198.51.100.7 tos 0x10");
    EXPECT_ONCE(target_of(&(struct flow_case){ .remote = FAR4, .class = 0x10 }), 0, RouteBlackhole);
    EXPECT_ADDRESS(FAR4, R, None);
}

/* IPv4's connect(2) chooses the source, and then searches again. */
TEST(a_rule_for_the_chosen_source_counts)
{
    namespace_ip("route add default via 192.0.2.1; rule add from 192.0.2.2 ipproto tcp prohibit");
    expect_flow(&(struct flow_case){ .remote = FAR4, .protocol = IPPROTO_TCP, .remote_port = 443 }, EACCES);
    expect_flow(&(struct flow_case){ .remote = FAR4, .protocol = IPPROTO_UDP, .remote_port = 443 }, 0);
}

TEST_EACH(a_rule_for_a_port_decides_for_the_default_path, families)
{
    add_default(row);
    namespace_ip("%srule add ipproto tcp dport 443 prohibit", row->ip);
    EXPECT_ONCE(target_of(&(struct flow_case){ .remote = row->any, .protocol = IPPROTO_TCP, .remote_port = 443 }), 0,
                RouteProhibited);
    EXPECT_ONCE(target_of(&(struct flow_case){ .remote = row->any, .protocol = IPPROTO_TCP, .remote_port = 80 }), R,
                None);
}

TEST_EACH(a_rule_for_icmp_is_that_of_the_family, families)
{
    const uint8_t icmp = row->family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6;

    add_default(row);
    namespace_ip("%srule add ipproto %d prohibit", row->ip, icmp);
    EXPECT_ONCE(target_of(&(struct flow_case){ .remote = row->far, .protocol = icmp }), 0, RouteProhibited);
    EXPECT_ONCE(target_of(&(struct flow_case){ .remote = row->far, .protocol = IPPROTO_UDP }), R, None);
}

TEST_EACH(the_port_of_a_literal_counts, families)
{
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    add_default(row);
    namespace_ip("%srule add ipproto tcp dport 443 prohibit", row->ip);
    options.nodename = row->far;
    options.protocol = IPPROTO_TCP;
    options.remotePort = 443;
    EXPECT_ONCE(SCNetworkReachabilityCreateWithOptions(NULL, &options), 0, RouteProhibited);
    options.remotePort = 444;
    EXPECT_ONCE(SCNetworkReachabilityCreateWithOptions(NULL, &options), R, None);
    options.remotePort = 0;
    EXPECT_ONCE(SCNetworkReachabilityCreateWithOptions(NULL, &options), R, None);
}

TEST_EACH(a_flow_out_of_an_interface_follows_rules_for_its_port, families)
{
    struct sockaddr_storage remote = expect_sockaddr(row->far);
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    add_default(row);
    namespace_ip("%srule add ipproto tcp dport 443 prohibit", row->ip);
    set_port(&remote, 443);
    options.remoteAddress = (const struct sockaddr *)&remote;
    options.interfaceName = "a";
    options.protocol = IPPROTO_UDP;
    EXPECT_ONCE(SCNetworkReachabilityCreateWithOptions(NULL, &options), R, None);
    options.protocol = IPPROTO_TCP;
    if (row->family == AF_INET6)
        EXPECT_ONCE(SCNetworkReachabilityCreateWithOptions(NULL, &options), 0, RouteProhibited);
    else /* IPv4 does not say why no route leaves the interface */
        EXPECT_ONCE(SCNetworkReachabilityCreateWithOptions(NULL, &options), 0, NoRoute);
}

/* ---- Broadcast and multicast ------------------------------------------------------------------------------------- */

/* connect(2) refuses TCP to many hosts, and IPv6 multicast that needs a scope and has none. */
TEST(flows_to_broadcast_and_multicast_addresses_agree_with_connect)
{
    static const struct {
        const char *address;
        bool udp; /* whether UDP can be connected */
    } rows[] = {
        { "192.0.2.255", true },     { "255.255.255.255", true }, { "224.0.0.251", true }, { "239.1.1.1", true },
        { "127.255.255.255", true }, { "ff02::fb%a", true },      { "ff05::2", true },     { "ff02::fb", false },
        { "ff01::1", false },        { "ff01::1%a", true },       { "ff0e::1", true },
    };
    static const uint8_t protocols[] = { IPPROTO_TCP, IPPROTO_UDP };

    namespace_add_default_routes();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t j = 0; j < 2; j++) {
            const struct flow_case flow = {
                .remote = rows[i].address, .protocol = protocols[j], .remote_port = 80, .broadcasts = true
            };
            const bool reachable = rows[i].udp && protocols[j] == IPPROTO_UDP;
            SCOPED_TARGET target = target_of(&flow);

            if ((connect_as(&flow).error == 0) != reachable)
                fail_msg("connect(2) to %s: %s", rows[i].address, strerror(connect_as(&flow).error));
            if (((expect_flags_of(target) & R) != 0) != reachable)
                fail_msg("%s, protocol %d: flags 0x%x", rows[i].address, protocols[j], expect_flags_of(target));
            if (!reachable)
                EXPECT(target, 0, NoRoute);
        }
}

/* A route that refuses comes first. An interface does not make TCP to many hosts possible. */
TEST(tcp_to_many_hosts_is_refused_after_the_route)
{
    struct flow_case flow = { .remote = "239.1.1.1", .protocol = IPPROTO_TCP, .remote_port = 80 };

    namespace_ip("route add prohibit 224.0.0.0/4");
    expect_flow(&flow, EACCES);
    struct sockaddr_storage remote = expect_sockaddr("239.1.1.1");
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
    options.remoteAddress = (const struct sockaddr *)&remote;
    options.interfaceName = "a";
    options.protocol = IPPROTO_TCP;
    EXPECT_ONCE(SCNetworkReachabilityCreateWithOptions(NULL, &options), 0, NoRoute);
    options.protocol = IPPROTO_UDP;
    EXPECT_ONCE(SCNetworkReachabilityCreateWithOptions(NULL, &options), R | D, None);
}

/* The address becomes that of a host when its network becomes larger. */
TEST(tcp_to_an_address_that_is_broadcast_no_more)
{
    struct watcher flow;

    namespace_add_second_pair();
    namespace_ip("route add default via 203.0.113.1");
    watcher_start(
        &flow, target_of(&(struct flow_case){ .remote = "192.0.2.255", .protocol = IPPROTO_TCP, .remote_port = 80 }));
    EXPECT(flow.target, 0, NoRoute);
    AFTER("address add 192.0.2.3/16 dev a; address del 192.0.2.2/24 dev a", EXPECT_END(&flow, R | D));
    AFTER("address add 192.0.2.2/24 brd + dev a", EXPECT_END(&flow, 0));
    AFTER("link set dev a down", EXPECT_END(&flow, R));
}

/* Sockets of the program: bound, and with an interface for multicast. */
TEST(sockets_to_many_hosts_follow_the_kernel)
{
    static const struct {
        const char *address, *device;
    } rows[] = { { "239.1.1.1", "a" }, { "255.255.255.255", "a" }, { "192.0.2.255", NULL }, { "ff02::fb", NULL } };
    const int one = 1, index = (int)if_nametoindex("a");

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sockaddr_storage remote = expect_sockaddr(rows[i].address);
        const int fd = socket(remote.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

        set_port(&remote, 9);
        assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &one, sizeof one), 0);
        if (rows[i].device != NULL)
            assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, rows[i].device, 1), 0);
        if (remote.ss_family == AF_INET6)
            assert_int_equal(setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &index, sizeof index), 0);
        assert_int_equal(connect(fd, (const struct sockaddr *)&remote, sizeof remote), 0);
        EXPECT_ONCE(SCNetworkReachabilityCreateWithSocket(NULL, fd), R | D, None);
        close(fd);
    }
}

/* ---- Legs ------------------------------------------------------------------------------------------------------- */

static void add_legs(const struct family *family)
{
    namespace_add_second_pair();
    namespace_ip("link set dev c mtu %d", LEG_MTU);
    namespace_sysctl("net.ipv4.fib_multipath_hash_policy", "1");
    namespace_sysctl("net.ipv6.fib_multipath_hash_policy", "1");
    namespace_ip("%sroute add default nexthop via %s nexthop via %s", family->ip, family->gateway,
                 family->other_gateway);
}

/* Returns the interface on which both agree. */
static char expect_leg(const struct flow_case *flow)
{
    SCOPED_TARGET target = target_of(flow);
    const SCNetworkReachabilityPath path = expect_path_of(target);
    const struct verdict verdict = connect_as(flow);
    const char leg = verdict.mtu == LEG_MTU ? 'c' : 'a';

    assert_int_equal(verdict.error, 0);
    if (path.interfaceName[0] != leg)
        fail_msg("port %d: %s, and connect(2) chose %c", flow->local_port, path.interfaceName, leg);
    assert_memory_equal((const char *)&path.source + 4, (const char *)&verdict.source + 4,
                        path.source.ss_family == AF_INET ? 4 : 20);
    return leg;
}

/* For each local port: the kernel's own leg. Both legs are used, but IPv4 can prefer the leg of a bound address (Linux
 * 6.14 and later). */
static void expect_legs(const struct family *family, const char *local, uint8_t protocol)
{
    const bool can_prefer = family->family == AF_INET && local == family->source;
    unsigned on_c = 0;

    for (uint16_t i = 0; i < LEG_PORTS; i++)
        on_c += expect_leg(&(struct flow_case){ .local = local,
                                                .remote = family->far,
                                                .protocol = protocol,
                                                .local_port = (uint16_t)(4000 + i),
                                                .remote_port = 53 }) == 'c';
    assert_in_range(on_c, can_prefer ? 0 : 1, LEG_PORTS - 1);
}

TEST_EACH(the_ports_choose_the_leg, families)
{
    add_legs(row);
    expect_legs(row, row->source, IPPROTO_UDP);
    expect_legs(row, row->source, IPPROTO_TCP);
}

TEST_EACH(a_local_port_without_an_address_chooses_the_leg, families)
{
    add_legs(row);
    expect_legs(row, row->any, IPPROTO_UDP);
    if (row->family == AF_INET)
        expect_legs(row, row->any, IPPROTO_TCP);
}

TEST_EACH(without_a_protocol_the_ports_choose_nothing, families)
{
    struct flow_case flow = { .local = row->source, .remote = row->far, .local_port = 1, .remote_port = 53 };

    add_legs(row);
    SCNetworkReachabilityRef first = target_of(&flow);
    char leg = expect_path_of(first).interfaceName[0];
    SCNetworkReachabilityRelease(first);
    for (; flow.local_port < LEG_PORTS; flow.local_port++) {
        SCOPED_TARGET target = target_of(&flow);

        assert_int_equal(expect_path_of(target).interfaceName[0], leg);
    }
}

/* The packets of the flow are lost, though the other leg is alive. */
TEST_EACH(a_flow_on_a_dead_leg_is_not_reachable, families)
{
    unsigned dead = 0;

    add_legs(row);
    namespace_set_carrier("c", "d", false);
    for (uint16_t i = 0; i < LEG_PORTS; i++) {
        const struct flow_case flow = { .local = row->any,
                                        .remote = row->far,
                                        .protocol = IPPROTO_UDP,
                                        .local_port = (uint16_t)(4000 + i),
                                        .remote_port = 53 };
        SCOPED_TARGET target = target_of(&flow);
        const struct verdict verdict = connect_as(&flow);

        if (verdict.mtu == LEG_MTU)
            EXPECT(target, 0, NoCarrier);
        else
            EXPECT(target, R, None);
        dead += verdict.mtu == LEG_MTU;
    }
    assert_in_range(dead, 1, LEG_PORTS - 1);
    EXPECT_ADDRESS(row->far, R, None);
}

static void set_gateway(char leg, const char *state)
{
    namespace_ip("neigh replace %s dev %c lladdr 02:00:00:00:00:01 nud %s",
                 leg == 'a' ? families[0].gateway : families[0].other_gateway, leg, state);
}

/* The kernel avoids a leg whose gateway does not respond. */
TEST(a_flow_leaves_a_leg_whose_gateway_fails_and_returns_to_it)
{
    const char *const locals[] = { "192.0.2.2", "203.0.113.2", "0.0.0.0" };
    struct flow_case flow = { .remote = FAR4,
                              .protocol = IPPROTO_UDP,
                              .local_port = 4000,
                              .remote_port = 53,
                              .options = kSCNetworkReachabilityOptionNotifyPath };

    add_legs(&families[0]);
    namespace_sysctl("net.ipv4.fib_multipath_use_neigh", "1");
    set_gateway('a', "reachable");
    set_gateway('c', "reachable");
    for (size_t i = 0; i < 3; i++) {
        struct watcher watcher;

        flow.local = locals[i];
        char leg = expect_leg(&flow);
        char other = leg == 'a' ? 'c' : 'a';
        watcher_start(&watcher, target_of(&flow));
        EXPECT_QUIET(&watcher);
        set_gateway(leg, "failed");
        EXPECT_CHANGE(&watcher, R);
        assert_int_equal(expect_leg(&flow), other);
        assert_int_equal(expect_path_of(watcher.target).interfaceName[0], other);
        assert_int_equal(expect_path_of(watcher.target).flow, 0); /* the legs are equals */
        EXPECT_QUIET(&watcher);
        set_gateway(leg, "reachable");
        EXPECT_CHANGE(&watcher, R);
        assert_int_equal(expect_leg(&flow), leg);
        watcher_stop(&watcher);
    }
}

/* ---- Incomplete ------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *rule;
    /* Whether each is incomplete: a plain target, and TCP with nothing, with a remote port, with a class, with both
     * ports, and with both and a class. */
    bool plain, tcp, remote, class, ports, all;
} rules[] = {
    { "no rule", NULL, 0, 0, 0, 0, 0, 0 },
    { "a destination", "to 203.0.113.0/24 prohibit", 0, 0, 0, 0, 0, 0 },
    { "a mark", "fwmark 7 prohibit", 0, 0, 0, 0, 0, 0 },
    { "a protocol", "ipproto udp prohibit", 1, 0, 0, 0, 0, 0 },
    { "a remote port", "ipproto tcp dport 443 prohibit", 1, 1, 0, 1, 0, 0 },
    { "a local port", "ipproto tcp sport 443 prohibit", 1, 1, 1, 1, 0, 0 },
    { "a class", "tos 0x10 prohibit", 1, 1, 1, 0, 1, 0 },
    { "a user", "uidrange 1000-1000 prohibit", 1, 1, 1, 1, 1, 1 },
    { "forwarding", "iif a ipproto tcp dport 443 prohibit", 0, 0, 0, 0, 0, 0 },
    { "packets of this machine", "iif lo ipproto tcp dport 443 prohibit", 1, 1, 0, 1, 0, 0 },
};

TEST_EACH(a_flow_is_incomplete_if_a_rule_selects_by_what_it_does_not_say, rules)
{
    namespace_ip("route add default via 192.0.2.1");
    if (row->rule != NULL)
        namespace_ip("rule add %s", row->rule);
    expect_incomplete(&(struct flow_case){ .remote = FAR4 }, row->plain);
    expect_incomplete(&(struct flow_case){ .remote = FAR4, .protocol = IPPROTO_TCP }, row->tcp);
    expect_incomplete(&(struct flow_case){ .remote = FAR4, .protocol = IPPROTO_TCP, .remote_port = 80 }, row->remote);
    expect_incomplete(&(struct flow_case){ .remote = FAR4, .protocol = IPPROTO_TCP, .class = 0x20 }, row->class);
    expect_incomplete(
        &(struct flow_case){
            .local = "192.0.2.2", .remote = FAR4, .protocol = IPPROTO_TCP, .local_port = 9, .remote_port = 80 },
        row->ports);
    expect_incomplete(&(struct flow_case){ .local = "192.0.2.2",
                                           .remote = FAR4,
                                           .protocol = IPPROTO_TCP,
                                           .class = 0x20,
                                           .local_port = 9,
                                           .remote_port = 80 },
                      row->all);
    expect_incomplete(&(struct flow_case){ .remote = "2001:db8::7" }, false); /* rules of the other family */
}

TEST(an_unreachable_flow_can_be_incomplete)
{
    AFTER("rule add ipproto tcp dport 443 table 100", EXPECT_ADDRESS(FAR4, 0, NoRoute));
    expect_incomplete(&(struct flow_case){ .remote = FAR4 }, true);
}

/* What is known of rules is read again after each change. */
TEST(a_target_notices_that_rules_change)
{
    SCOPED_TARGET target = expect_target(FAR4);

    for (int i = 0; i < 3; i++) {
        assert_int_equal(expect_path_of(target).flow, 0);
        namespace_ip("rule add ipproto tcp dport 443 prohibit");
        assert_int_equal(expect_path_of(target).flow, kSCNetworkReachabilityFlowIncomplete);
        namespace_ip("rule del ipproto tcp dport 443 prohibit");
    }
}

/* ---- Scheduled targets ------------------------------------------------------------------------------------------ */

/* Two targets that differ in their port only must not share an answer. */
TEST_EACH(a_rule_for_a_port_that_comes_and_goes_changes_the_flows_to_that_port, families)
{
    struct watcher https, http, plain;
    SCRunLoopRef loop;

    add_default(row);
    watcher_start(&https,
                  target_of(&(struct flow_case){ .remote = row->far, .protocol = IPPROTO_TCP, .remote_port = 443 }));
    loop = https.loop;
    watcher_schedule_on(
        &http, target_of(&(struct flow_case){ .remote = row->far, .protocol = IPPROTO_TCP, .remote_port = 80 }), loop);
    watcher_schedule_on(&plain, expect_target(row->far), loop);
    EXPECT_QUIET(&https);
    for (int i = 0; i < 3; i++) {
        namespace_ip("%srule add ipproto tcp dport 443 prohibit", row->ip);
        EXPECT_CHANGE(&https, 0);
        namespace_ip("%sroute del default", row->ip);
        assert_int_equal(SCRunLoopPerform(loop, 60), 2);
        assert_int_equal(http.flags | plain.flags, 0);
        add_default(row);
        assert_int_equal(SCRunLoopPerform(loop, 60), 2);
        assert_int_equal(http.flags & plain.flags, R);
        http.calls = plain.calls = 0;
        namespace_ip("%srule del ipproto tcp dport 443 prohibit", row->ip);
        EXPECT_CHANGE(&https, R);
    }
}

TEST(a_flow_that_becomes_incomplete_is_reported_with_notify_path)
{
    struct watcher pair, single, silent;

    namespace_ip("route add default via 192.0.2.1; rule add ipproto tcp dport 443 prohibit");
    watcher_start(&pair,
                  target_of(&(struct flow_case){
                      .local = "192.0.2.2", .remote = FAR4, .options = kSCNetworkReachabilityOptionNotifyPath }));
    watcher_start(&single,
                  target_of(&(struct flow_case){ .remote = FAR4, .options = kSCNetworkReachabilityOptionNotifyPath }));
    watcher_start(&silent, target_of(&(struct flow_case){ .remote = FAR4 }));
    /* The first evaluation does not read the rules, and that is no change. */
    assert_int_equal(pair.calls + single.calls, 0);
    assert_int_equal(expect_path_of(pair.target).flow, kSCNetworkReachabilityFlowIncomplete);
    AFTER("rule del ipproto tcp dport 443 prohibit", EXPECT_CHANGE(&pair, R); EXPECT_CHANGE(&single, R));
    assert_int_equal(expect_path_of(pair.target).flow, 0);
    AFTER("rule add ipproto tcp dport 443 prohibit", EXPECT_CHANGE(&pair, R); EXPECT_CHANGE(&single, R));
    EXPECT_QUIET(&silent);
}

static uint32_t last_flow_of(SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;

    assert_true(SCNetworkReachabilityGetLastPath(target, &path));
    return path.flow;
}

/* Also of a target that is no pair, and of one that cannot be reached. */
TEST(the_last_path_is_incomplete_where_the_path_is)
{
    static const struct flow_case cases[] = { { .remote = FAR4 },
                                              { .remote = "0.0.0.0" },
                                              { .remote = "192.0.2.2" },
                                              { .remote = "127.0.0.1" },
                                              { .remote = "2001:db8:7::7" },
                                              { .remote = FAR4, .protocol = IPPROTO_TCP },
                                              { .local = "192.0.2.2", .remote = FAR4 } };
    static const char *const steps[] = { "route add default via 192.0.2.1", "rule del ipproto tcp dport 443 prohibit",
                                         "route del default", "rule add ipproto tcp dport 443 prohibit" };
    enum { CASES = sizeof cases / sizeof cases[0] };
    static struct watcher watchers[CASES];

    namespace_ip("%s; -6 rule add ipproto udp prohibit", steps[3]);
    for (size_t i = 0; i < CASES; i++) {
        struct flow_case flow = cases[i];

        flow.options = kSCNetworkReachabilityOptionNotifyPath;
        watcher_schedule(&watchers[i], target_of(&flow));
        assert_int_equal(last_flow_of(watchers[i].target), expect_path_of(watchers[i].target).flow);
    }
    for (int step = 0; step < 8; step++) {
        for (size_t i = 0; i < CASES; i++) {
            idle_perform(watchers[i].loop);
            if (last_flow_of(watchers[i].target) != expect_path_of(watchers[i].target).flow)
                fail_msg("step %d: the last path to %s has the flow %u", step, cases[i].remote,
                         last_flow_of(watchers[i].target));
        }
        namespace_ip("%s", steps[step % 4]);
    }
}

/* ---- What a callback reports ------------------------------------------------------------------------------------ */

struct reporter {
    SCNetworkReachabilityRef target;
    SCNetworkReachabilityPath reported;
    int calls;
};

static void note_report(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct reporter *reporter = info;
    const SCNetworkReachabilityPath before = reporter->reported;

    (void)flags;
    assert_true(SCNetworkReachabilityGetLastPath(target, &reporter->reported));
    reporter->calls++;
    if (!SCNetworkReachabilityPathDiffers(&before, &reporter->reported))
        fail_msg("a callback reports a path that does not differ");
}

TEST(paths_differ_exactly_if_a_callback_reports_it)
{
    static const struct flow_case cases[] = {
        { .remote = FAR4 },
        { .remote = "2001:db8:7::7" },
        { .remote = "0.0.0.0" },
        { .remote = "192.0.2.2" },
        { .remote = "192.0.2.9" },
        { .local = "192.0.2.2", .remote = FAR4 },
        { .local = "203.0.113.2", .remote = FAR4 },
        { .remote = FAR4, .protocol = IPPROTO_TCP, .remote_port = 443 },
    };
    /* Some fail, as there is nothing to delete. */
    static const char *const commands[] = {
        "route replace default via 192.0.2.1",
        "route replace default via 192.0.2.1 mtu 1300",
        "route replace default via 192.0.2.5 mtu 1300",
        "route replace default via 192.0.2.5 src 192.0.2.3",
        "route replace default via 203.0.113.1",
        "route replace unreachable default",
        "route replace prohibit default",
        "route del default",
        "-6 route replace default via 2001:db8::1",
        "-6 route replace default via 2001:db8::5",
        "-6 route del default",
        "rule add ipproto tcp dport 443 prohibit",
        "rule del ipproto tcp dport 443 prohibit",
        "rule add from 203.0.113.2 lookup 7",
        "rule del from 203.0.113.2 lookup 7",
        "route replace 198.51.100.0/24 via 203.0.113.1 table 7",
        "route del 198.51.100.0/24 table 7",
        "link set c down",
        "link set c up",
        "address del 192.0.2.3/24 dev a",
        "address add 192.0.2.3/24 dev a",
        "link set a mtu 1400",
    };
    enum { CASES = sizeof cases / sizeof cases[0], COMMANDS = sizeof commands / sizeof commands[0], STEPS = 100 };
    struct reporter reporters[CASES] = { { 0 } };
    SCOPED_LOOP loop = SCRunLoopCreate();
    int calls = 0;

    namespace_add_second_pair();
    for (size_t i = 0; i < CASES; i++) {
        SCNetworkReachabilityContext context = kSCNetworkReachabilityContextInitializer;
        struct flow_case flow = cases[i];

        flow.options = kSCNetworkReachabilityOptionNotifyPath;
        context.info = &reporters[i];
        reporters[i].target = target_of(&flow);
        reporters[i].reported = expect_path_of(reporters[i].target);
        assert_true(SCNetworkReachabilitySetCallback(reporters[i].target, note_report, &context));
        assert_true(SCNetworkReachabilityScheduleWithRunLoop(reporters[i].target, loop, kSCRunLoopDefaultMode));
    }
    srandom(1);
    for (int step = 0; step < STEPS; step++) {
        const char *const command = commands[random() % COMMANDS];

        namespace_try_ip("%s", command);
        idle_perform(loop);
        for (size_t i = 0; i < CASES; i++) {
            SCNetworkReachabilityPath last = kSCNetworkReachabilityPathInitializer;

            assert_true(SCNetworkReachabilityGetLastPath(reporters[i].target, &last));
            if (SCNetworkReachabilityPathDiffers(&reporters[i].reported, &last))
                fail_msg("%s, after \"%s\": no callback has reported the path", cases[i].remote, command);
        }
    }
    for (size_t i = 0; i < CASES; i++) {
        assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(reporters[i].target, loop, kSCRunLoopDefaultMode));
        SCNetworkReachabilityRelease(reporters[i].target);
        calls += reporters[i].calls;
    }
    assert_true(calls > STEPS);
}

/* ---- Old kernels ------------------------------------------------------------------------------------------------ */

static void create_on_an_old_kernel(void)
{
    const struct sockaddr_storage address = expect_sockaddr("127.0.0.1");
    const struct sockaddr_in other = { .sin_family = AF_INET,
                                       .sin_port = htons(9),
                                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    assert_true(personality(UNAME26) >= 0); /* uname(2) now says 2.6.60 or the like */
    options.remoteAddress = (const struct sockaddr *)&address;
    EXPECT_ONCE(SCNetworkReachabilityCreateWithOptions(NULL, &options), R | L | D, None);
    options.trafficClass = 0x10;
    EXPECT_ONCE(SCNetworkReachabilityCreateWithOptions(NULL, &options), R | L | D, None);
    options.protocol = IPPROTO_TCP;
    assert_null(SCNetworkReachabilityCreateWithOptions(NULL, &options));
    assert_int_equal(SCError(), ENOTSUP);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&other, sizeof other), 0);
    assert_null(SCNetworkReachabilityCreateWithSocket(NULL, fd));
    assert_int_equal(SCError(), ENOTSUP);
    close(fd);
}

TEST(a_kernel_that_ignores_ports_is_not_asked_about_them)
{
    if (unit_is_under("valgrind"))
        SKIP("valgrind does not run in another personality");
    child_run(create_on_an_old_kernel);
}

/* ---- Set-up ----------------------------------------------------------------------------------------------------- */

UNIT(.setup = namespace_require_pair)
