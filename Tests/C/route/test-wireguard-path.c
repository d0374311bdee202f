/* SPDX-License-Identifier: MIT */
/* Paths over WireGuard links: how often a link is read, and where its packets leave. The links are tun devices, and the
 * test replies in place of generic netlink and sock_diag(7). The calls are wrapped at link time. Tests/VM has real
 * links. */
#include <libmnl/libmnl.h>
#include <limits.h>
#include <linux/genetlink.h>
#include <linux/wireguard.h>

#include "base/clock.h"
#include "kernel/genetlink.h"
#include "pure/link.h"
#include "support/test.h"

#define FIRST_PORT 51820
#define TARGETS    200 /* enough to share answers, if WireGuard's could */

static unsigned link_reads, socket_reads;
static const char *endpoint; /* of the one peer of each link; NULL: it has none */
static uint32_t send_buffer; /* of the socket that is here on the port of each link; 0: no socket */
static int socket_error;
static int tuns[3]; /* descriptors; 0: none */
static int peers_error;
static uid_t user;
static int64_t later; /* nanoseconds by which the clock is ahead */

WRAP(uid_t, geteuid, void)
{
    return user;
}

WRAP(int, clock_gettime, clockid_t clock, struct timespec *now)
{
    const int result = __real_clock_gettime(clock, now);

    if (clock == CLOCK_BOOTTIME)
        now->tv_sec += later / SECOND;
    return result;
}

WRAP(int, reach_genetlink_open, const struct netns_handle *netns, const char *name, struct genetlink *ret)
{
    (void)netns;
    assert_string_equal(name, WG_GENL_NAME);
    *ret = GENETLINK_CLOSED;
    return 0;
}

WRAP(void, reach_genetlink_close, struct genetlink *genetlink)
{
    (void)genetlink;
}

WRAP(bool, reach_link_is_wireguard, const struct link *link)
{
    return strncmp(link->name, "wg", 2) == 0;
}

WRAP(int, reach_sock_diag_udp_send_buffer, const struct netns_handle *netns, uint16_t port, uint32_t *ret)
{
    (void)netns;
    assert_in_range(port, FIRST_PORT, FIRST_PORT + 100);
    socket_reads++;
    if (socket_error == 0)
        *ret = send_buffer;
    return socket_error;
}

static void put_peer(struct nlmsghdr *header)
{
    const uint8_t any[4] = { 0 }, key[32] = { 1 };
    const struct sockaddr_storage address = expect_sockaddr(endpoint == NULL ? "192.0.2.9" : endpoint);
    struct nlattr *peers = mnl_attr_nest_start(header, WGDEVICE_A_PEERS);
    struct nlattr *peer = mnl_attr_nest_start(header, 0), *all, *one;

    mnl_attr_put(header, WGPEER_A_PUBLIC_KEY, sizeof key, key);
    if (endpoint != NULL)
        mnl_attr_put(header, WGPEER_A_ENDPOINT, sizeof(struct sockaddr_in), &address);
    all = mnl_attr_nest_start(header, WGPEER_A_ALLOWEDIPS);
    one = mnl_attr_nest_start(header, 0);
    mnl_attr_put_u16(header, WGALLOWEDIP_A_FAMILY, AF_INET);
    mnl_attr_put(header, WGALLOWEDIP_A_IPADDR, sizeof any, any);
    mnl_attr_put_u8(header, WGALLOWEDIP_A_CIDR_MASK, 0);
    mnl_attr_nest_end(header, one);
    mnl_attr_nest_end(header, all);
    mnl_attr_nest_end(header, peer);
    mnl_attr_nest_end(header, peers);
}

WRAP(int, reach_genetlink_query, struct genetlink *genetlink, uint8_t command, uint16_t flags, uint16_t attribute,
     uint32_t index, void (*handle)(void *info, const struct nlmsghdr *message), void *info)
{
    _Alignas(struct nlmsghdr) char bytes[1024] = { 0 };
    struct nlmsghdr *header = mnl_nlmsg_put_header(bytes);

    (void)genetlink, (void)flags;
    assert_int_equal(command, WG_CMD_GET_DEVICE);
    assert_int_equal(attribute, WGDEVICE_A_IFINDEX);
    link_reads++;
    if (peers_error != 0)
        return peers_error;
    mnl_nlmsg_put_extra_header(header, sizeof(struct genlmsghdr));
    mnl_attr_put_u16(header, WGDEVICE_A_LISTEN_PORT, (uint16_t)(FIRST_PORT + index));
    put_peer(header);
    handle(info, header);
    return 0;
}

/* Makes a link with a route to 10.N.0.0/16. */
static void add_link(int n)
{
    const char *name = unit_text("wg%d", n);
    tuns[n] = namespace_require_tun(name);
    namespace_ip("address add 10.%d.0.1/16 dev %s", n, name);
}

static void begin(void)
{
    namespace_require_pair();
    link_reads = socket_reads = 0;
    socket_error = peers_error = 0;
    user = getuid();
    send_buffer = INT_MAX;
    endpoint = "192.0.2.9";
    add_link(1);
}

static void end(void)
{
    for (size_t i = 0; i < sizeof tuns / sizeof tuns[0]; i++) {
        if (tuns[i] > 0)
            close(tuns[i]);
        tuns[i] = 0;
    }
}

/* ---- How often a link is read ----------------------------------------------------------------------------------- */

/* Returns how often links were read in a round with this number of targets, over two links in turn. */
static unsigned reads_with(int count)
{
    SCNetworkReachabilityRef targets[TARGETS];
    SCOPED_LOOP loop = SCRunLoopCreate();

    for (int i = 0; i < count; i++) {
        targets[i] = expect_target(unit_text("10.%d.0.%d", 1 + i % 2, 2 + i));
        assert_true(SCNetworkReachabilityScheduleWithRunLoop(targets[i], loop, kSCRunLoopDefaultMode));
    }
    link_reads = socket_reads = 0;
    SCRunLoopPerform(loop, 0);
    for (int i = 0; i < count; i++) {
        assert_int_equal(expect_flags_of(targets[i]), R | T);
        SCNetworkReachabilityUnscheduleFromRunLoop(targets[i], loop, kSCRunLoopDefaultMode);
        SCNetworkReachabilityRelease(targets[i]);
    }
    return link_reads;
}

TEST(a_round_reads_each_of_two_links_once)
{
    add_link(2);
    assert_int_equal(reads_with(2), 2);
    assert_int_equal(reads_with(TARGETS), 2);
    assert_int_equal(socket_reads, 2);
}

TEST(each_round_reads_the_links_again)
{
    struct watcher watcher;

    watcher_start(&watcher, expect_target("10.1.0.9"));
    endpoint = "203.0.113.1";
    AFTER("route add 10.1.0.8/30 dev wg1", EXPECT_CHANGE(&watcher, 0));
    namespace_ip("route add 203.0.113.1 via 192.0.2.1"); /* to the new endpoint */
    EXPECT_CHANGE(&watcher, R | T);
}

/* ---- Where packets leave ---------------------------------------------------------------------------------------- */

/* The link was created here, was moved here, or its port is that of a program here. */
TEST(a_path_to_a_peer_counts_where_packets_leave)
{
    static const struct {
        uint32_t send_buffer;
        SCNetworkReachabilityFlags flags;
        SCNetworkReachabilityReason reason;
    } rows[] = { { INT_MAX, 0, kSCNetworkReachabilityReasonNoRoute },
                 { 0, R | T, kSCNetworkReachabilityReasonNone },
                 { 212992, R | T, kSCNetworkReachabilityReasonNone },
                 { INT_MAX - 1, R | T, kSCNetworkReachabilityReasonNone } };
    static const char *const addresses[] = { "10.1.0.9", "198.51.100.7", "0.0.0.0" };

    endpoint = "203.0.113.1"; /* the route to it is through the link itself */
    namespace_ip("route add default dev wg1");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t j = 0; j < sizeof addresses / sizeof addresses[0]; j++) {
            struct watcher watcher;

            send_buffer = rows[i].send_buffer;
            watcher_schedule(&watcher, expect_target(addresses[j]));
            while (watcher_pass(&watcher) > 0)
                continue;
            SCNetworkReachabilityPath path = expect_path_of(watcher.target);
            assert_int_equal(path.flags, rows[i].flags);
            assert_int_equal(path.reason, rows[i].reason);
            assert_int_equal(expect_flags_of(watcher.target), rows[i].flags); /* scheduled */
            watcher_stop(&watcher);
            if (rows[i].flags != 0)
                EXPECT_ADDRESS(addresses[j], R | T, None);
        }
}

/* The kernel drops such packets, in whichever namespace they would leave. */
TEST(a_peer_without_an_endpoint_is_no_path)
{
    SCOPED_TARGET target = expect_target("10.1.0.9");

    endpoint = NULL;
    send_buffer = 0;
    assert_int_equal(expect_path_of(target).reason, kSCNetworkReachabilityReasonNoRoute);
}

TEST(a_socket_that_cannot_be_read_is_an_error)
{
    SCOPED_TARGET target = expect_target("10.1.0.9");
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;

    socket_error = EMFILE;
    assert_false(SCNetworkReachabilityGetPath(target, &path));
    assert_int_equal(SCError(), EMFILE);
    socket_error = 0;
    assert_int_equal(expect_path_of(target).flags, R | T);
}

/* ---- Peers that may not be read --------------------------------------------------------------------------------- */

/* Only administrators may read them. Then the link counts as it is. */
TEST(refused_peers_are_read_after_a_minute)
{
    struct watcher watcher;

    peers_error = EPERM;
    endpoint = "203.0.113.1"; /* to which no route leads */
    watcher_start(&watcher, expect_target("10.1.0.9"));
    link_reads = 0;
    EXPECT(watcher.target, R | T, None);
    later += 59 * SECOND;
    watcher_pass(&watcher);
    EXPECT_ADDRESS("10.1.0.9", R | T, None);
    assert_int_equal(link_reads, 0);
    peers_error = 0;
    later += 2 * SECOND;
    EXPECT_CHANGE(&watcher, 0);
    EXPECT(watcher.target, 0, NoRoute);
}

TEST(another_user_may_read_the_peers_at_once)
{
    struct watcher watcher;

    peers_error = EPERM;
    endpoint = "203.0.113.1";
    watcher_start(&watcher, expect_target("10.1.0.9"));
    EXPECT(watcher.target, R | T, None);
    peers_error = 0;
    user++;
    EXPECT_CHANGE(&watcher, 0);
    peers_error = EPERM;
    user--;
    EXPECT_CHANGE(&watcher, R | T);
}

UNIT(.setup = begin, .teardown = end)
