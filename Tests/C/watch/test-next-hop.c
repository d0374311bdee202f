/* SPDX-License-Identifier: MIT */
/*
 * The next hop of a path, and targets that report it. The oracle is the kernel's neighbour table, as ip(8) changes and
 * shows it. Real failures: nobody has the address on the other end of the link, and the kernel gives up soon.
 */
#include <linux/neighbour.h>

#include "support/test.h"

#define NOTIFY   kSCNetworkReachabilityOptionNotifyNextHop
#define PATH     kSCNetworkReachabilityOptionNotifyPath
#define LLADDR   " lladdr 02:00:00:00:00:01 "
#define NH(word) kSCNetworkReachabilityNextHop##word

static struct watcher watcher;

static const struct family {
    const char *ip, *far, *gateway, *other_gateway, *direct;
} families[] = {
    { "", "198.51.100.7", "192.0.2.1", "192.0.2.3", "192.0.2.9" },
    { "-6 ", "2001:db8:7::7", "2001:db8::1", "2001:db8::3", "2001:db8::9" },
};
#define EACH_FAMILY \
    const struct family *family = families; \
    family < families + 2; \
    family++

static void begin(void)
{
    namespace_require_pair();
    namespace_sysctl("net.ipv4.neigh.a.retrans_time_ms", "10");
    namespace_sysctl("net.ipv6.neigh.a.retrans_time_ms", "10");
    namespace_sysctl("net.ipv4.neigh.a.mcast_solicit", "1");
    namespace_sysctl("net.ipv6.neigh.a.mcast_solicit", "1");
    for (EACH_FAMILY)
        namespace_ip("%sroute add default via %s dev a", family->ip, family->gateway);
}

UNIT(.setup = begin)

static void set_state(const char *address, const char *state)
{
    const bool has_address = strcmp(state, "failed") != 0 && strcmp(state, "incomplete") != 0;

    namespace_ip("neigh replace %s dev a%snud %s", address, has_address ? LLADDR : " ", state);
}

static SCNetworkReachabilityNextHop next_hop_of(SCNetworkReachabilityRef target)
{
    return expect_path_of(target).nextHop;
}

#define EXPECT_HOP(address, word) expect_hop(address, NH(word), __LINE__)
static void expect_hop(const char *address, SCNetworkReachabilityNextHop expected, int line)
{
    SCOPED_TARGET target = expect_target(address);
    const SCNetworkReachabilityNextHop found = next_hop_of(target);

    if (found != expected)
        fail_msg("line %d: %s: next hop %u, not %u", line, address, found, expected);
}

/* A packet leaves, so the kernel asks for the neighbour. */
static void send_packet(const char *address)
{
    struct sockaddr_storage to = expect_sockaddr(address);
    const int fd = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    ((struct sockaddr_in *)&to)->sin_port = htons(9);
    assert_true(fd >= 0);
    assert_int_equal(sendto(fd, "", 1, 0, (const struct sockaddr *)&to, sizeof to), 1);
    close(fd);
}

/* ---- The state -------------------------------------------------------------------------------------------------- */

TEST(each_state_of_the_neighbour_is_that_of_the_next_hop)
{
    static const struct state {
        const char *name;
        SCNetworkReachabilityNextHop expected;
    } states[] = { { "permanent", NH(Confirmed) }, { "noarp", NH(Confirmed) },   { "reachable", NH(Confirmed) },
                   { "stale", NH(Unconfirmed) },   { "delay", NH(Unconfirmed) }, { "probe", NH(Unconfirmed) },
                   { "failed", NH(Failed) },       { "incomplete", NH(Unknown) } };

    namespace_sysctl("net.ipv4.neigh.a.retrans_time_ms", "30000"); /* probe and incomplete stay */
    namespace_sysctl("net.ipv6.neigh.a.retrans_time_ms", "30000");
    for (EACH_FAMILY)
        for (const char *const *hop = (const char *const[]){ family->gateway, family->direct, NULL }; *hop != NULL;
             hop++) {
            const char *address = *hop == family->gateway ? family->far : family->direct;

            expect_hop(address, NH(Unknown), __LINE__); /* the kernel has not tried */
            for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
                set_state(*hop, states[i].name);
                expect_hop(address, states[i].expected, __LINE__);
                namespace_ip("neigh del %s dev a", *hop); /* a reply to a probe may still be awaited */
            }
            expect_hop(address, NH(Unknown), __LINE__);
        }
}

TEST(a_path_without_a_next_hop_says_nothing)
{
    for (EACH_FAMILY)
        set_state(family->gateway, "failed");
    EXPECT_HOP("127.0.0.1", Unknown);
    EXPECT_HOP("192.0.2.2", Unknown);
    EXPECT_HOP("2001:db8::2", Unknown);
    EXPECT_HOP("0.0.0.0", Failed); /* the gateway of the default path */
    AFTER("route replace default dev a; -6 route replace default dev a", EXPECT_HOP("0.0.0.0", Unknown));
    set_state("192.0.2.9", "failed");
    AFTER("route add prohibit 192.0.2.9", EXPECT_HOP("192.0.2.9", Unknown));
    int tun = namespace_require_tun("t");
    namespace_ip("address add 10.0.0.1/24 dev t; -6 address add 2001:db8:9::1/64 dev t nodad");
    namespace_ip("neigh replace 10.0.0.9 dev t nud noarp; neigh replace 2001:db8:9::9 dev t nud noarp");
    EXPECT_HOP("10.0.0.9", Unknown);
    EXPECT_HOP("2001:db8:9::9", Unknown);
    close(tun);
}

TEST(of_a_multipath_route_the_leg_counts)
{
    namespace_ip("route replace default nexthop via 192.0.2.1 dev a nexthop via 192.0.2.3 dev a");
    set_state("192.0.2.1", "permanent");
    set_state("192.0.2.3", "stale");
    for (unsigned i = 1; i < 20; i++) {
        SCOPED_TARGET target = expect_target(unit_text("198.51.100.%u", i));
        SCNetworkReachabilityPath path = expect_path_of(target);
        assert_int_equal(path.nextHop,
                         (((const struct sockaddr_in *)&path.gateway)->sin_addr.s_addr == inet_addr("192.0.2.1")
                              ? NH(Confirmed)
                              : NH(Unconfirmed)));
    }
}

/* The library keeps a socket for it until the last target is released. */
TEST(one_socket_serves_all_questions_about_next_hops)
{
    set_state("192.0.2.1", "reachable");
    const struct descriptors before = descriptors_now();
    SCNetworkReachabilityRef target = expect_target("198.51.100.7");
    (void)expect_flags_of(target);
    const struct descriptors without = descriptors_now();
    assert_int_equal(next_hop_of(target), NH(Confirmed));
    const struct descriptors kept = descriptors_now();
    assert_true(memcmp(&kept, &without, sizeof kept) != 0);
    if (child_begin()) {
        descriptors_expect(&before);
        child_end();
    }
    set_state("192.0.2.1", "stale");
    assert_int_equal(next_hop_of(target), NH(Unconfirmed));
    descriptors_expect(&kept);
    SCNetworkReachabilityRelease(target);
    descriptors_expect(&before);
}

TEST(a_description_has_the_next_hop)
{
    SCOPED_TARGET target = expect_target("198.51.100.7");
    char text[1024];

    SCNetworkReachabilityGetDescription(target, text, sizeof text);
    assert_null(strstr(text, "next hop"));
    set_state("192.0.2.1", "failed");
    SCNetworkReachabilityGetDescription(target, text, sizeof text);
    assert_non_null(strstr(text, " next hop failed\n"));
    set_state("192.0.2.1", "reachable");
    SCNetworkReachabilityGetDescription(target, text, sizeof text);
    assert_non_null(strstr(text, " next hop confirmed\n"));
}

/* ---- Callbacks -------------------------------------------------------------------------------------------------- */

/* Nobody responds on the link; then somebody does. */
TEST(a_next_hop_that_fails_and_one_that_responds_again_make_a_callback)
{
    for (EACH_FAMILY)
        for (uint32_t options = NOTIFY; options <= (NOTIFY | PATH); options += PATH) {
            for (int direct = 0; direct < 2; direct++) {
                const char *hop = direct ? family->direct : family->gateway;
                const SCNetworkReachabilityFlags flags = direct ? R | D : R;

                namespace_try_ip("neigh del %s dev a", hop);
                watcher_start(&watcher, expect_option(direct ? family->direct : family->far, options));
                EXPECT_QUIET(&watcher);
                send_packet(direct ? family->direct : family->far);
                EXPECT_CHANGE(&watcher, flags);
                assert_int_equal(next_hop_of(watcher.target), NH(Failed));
                EXPECT_QUIET(&watcher);
                set_state(hop, "reachable");
                EXPECT_CHANGE(&watcher, flags);
                assert_int_equal(next_hop_of(watcher.target), NH(Confirmed));
                set_state(hop, "stale");
                EXPECT_QUIET(&watcher);
                watcher_stop(&watcher);
            }
        }
}

/* The kernel tries again, fails again, forgets it. */
TEST(a_next_hop_counts_as_failed_until_it_responds)
{
    for (EACH_FAMILY) {
        SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;

        watcher_start(&watcher, expect_option(family->far, NOTIFY | PATH));
        EXPECT_QUIET(&watcher);
        set_state(family->gateway, "reachable");
        EXPECT_QUIET(&watcher);
        set_state(family->gateway, "failed");
        EXPECT_CHANGE(&watcher, R);
        set_state(family->gateway, "incomplete");
        EXPECT_QUIET(&watcher);
        assert_true(SCNetworkReachabilityGetLastPath(watcher.target, &path));
        assert_int_equal(path.nextHop, NH(Failed));
        set_state(family->gateway, "failed");
        EXPECT_QUIET(&watcher);
        namespace_ip("neigh del %s dev a", family->gateway);
        EXPECT_QUIET(&watcher);
        assert_int_equal(next_hop_of(watcher.target), NH(Unknown));
        set_state(family->gateway, "stale");
        EXPECT_CHANGE(&watcher, R);
        namespace_ip("neigh del %s dev a", family->gateway);
        EXPECT_QUIET(&watcher);
        watcher_stop(&watcher);
    }
}

TEST(a_next_hop_that_had_failed_before_is_no_news)
{
    for (EACH_FAMILY) {
        set_state(family->gateway, "failed");
        watcher_start(&watcher, expect_option(family->far, NOTIFY));
        EXPECT_QUIET(&watcher);
        assert_int_equal(next_hop_of(watcher.target), NH(Failed));
        set_state(family->gateway, "reachable");
        EXPECT_CHANGE(&watcher, R);
        watcher_stop(&watcher);
    }
}

/* The first pass of the loop comes later. */
TEST(what_getpath_returned_before_the_first_pass_counts)
{
    for (int scheduled = 0; scheduled < 2; scheduled++) {
        SCNetworkReachabilityRef target = expect_option("198.51.100.7", NOTIFY);

        set_state("192.0.2.1", "reachable");
        if (scheduled == 0)
            assert_int_equal(next_hop_of(target), NH(Confirmed));
        watcher_schedule(&watcher, target);
        if (scheduled == 1)
            assert_int_equal(next_hop_of(target), NH(Confirmed));
        set_state("192.0.2.1", "failed");
        EXPECT_CHANGE(&watcher, R);
        EXPECT_QUIET(&watcher);
        watcher_stop(&watcher);
    }
}

TEST(a_failure_that_getpath_returned_before_schedule_is_no_news)
{
    SCNetworkReachabilityRef target = expect_option("198.51.100.7", NOTIFY);

    set_state("192.0.2.1", "failed");
    assert_int_equal(next_hop_of(target), NH(Failed));
    watcher_schedule(&watcher, target);
    EXPECT_QUIET(&watcher);
    set_state("192.0.2.1", "reachable");
    EXPECT_CHANGE(&watcher, R);
    EXPECT_QUIET(&watcher);
}

/* The library cannot see that it responds later. */
TEST(a_failure_that_the_kernel_forgets_before_the_first_pass_ends)
{
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;
    SCNetworkReachabilityRef target = expect_option("198.51.100.7", NOTIFY | PATH);

    set_state("192.0.2.1", "failed");
    assert_int_equal(next_hop_of(target), NH(Failed));
    watcher_schedule(&watcher, target);
    AFTER("neigh del 192.0.2.1 dev a", EXPECT_CHANGE(&watcher, R));
    assert_true(SCNetworkReachabilityGetLastPath(target, &path));
    assert_int_equal(path.nextHop, NH(Unknown));
    EXPECT_QUIET(&watcher);
}

/* What a call returned of the next hop before counts, too. */
TEST(another_next_hop_that_comes_before_schedule_is_a_difference)
{
    static const char *const states[][2] = { { "reachable", "failed" }, { "failed", "reachable" } };

    for (size_t i = 0; i < 2; i++) {
        SCNetworkReachabilityRef target = expect_option("198.51.100.7", NOTIFY);

        set_state("192.0.2.1", states[i][0]);
        set_state("192.0.2.9", states[i][1]);
        assert_int_equal(next_hop_of(target), i == 0 ? NH(Confirmed) : NH(Failed));
        namespace_ip("route add 198.51.100.0/24 via 192.0.2.9");
        watcher_schedule(&watcher, target);
        EXPECT_CHANGE(&watcher, R);
        EXPECT_QUIET(&watcher);
        assert_int_equal(next_hop_of(target), i == 0 ? NH(Failed) : NH(Confirmed));
        watcher_stop(&watcher);
        namespace_ip("route delete 198.51.100.0/24");
    }
}

/* What a call returned counts until Unschedule. */
TEST(a_second_schedule_begins_anew)
{
    SCNetworkReachabilityRef target = SCNetworkReachabilityRetain(expect_option("198.51.100.7", NOTIFY));

    set_state("192.0.2.1", "reachable");
    watcher_start(&watcher, target);
    assert_int_equal(next_hop_of(target), NH(Confirmed));
    watcher_stop(&watcher);
    set_state("192.0.2.1", "failed");
    watcher_schedule(&watcher, target);
    EXPECT_QUIET(&watcher);
}

TEST(another_route_ends_the_failure_of_the_next_hop)
{
    for (EACH_FAMILY) {
        set_state(family->gateway, "reachable"); /* the kernel announces no failure of an entry that it did not have */
        set_state(family->other_gateway, "reachable");
        watcher_start(&watcher, expect_option(family->far, NOTIFY));
        EXPECT_QUIET(&watcher);
        set_state(family->gateway, "failed");
        EXPECT_CHANGE(&watcher, R);
        namespace_ip("%sroute replace default via %s dev a", family->ip, family->other_gateway);
        EXPECT_CHANGE(&watcher, R);
        assert_int_equal(next_hop_of(watcher.target), NH(Confirmed));
        set_state(family->gateway, "reachable");
        EXPECT_QUIET(&watcher);
        set_state(family->other_gateway, "failed");
        EXPECT_CHANGE(&watcher, R);
        watcher_stop(&watcher);
    }
}

/* IPv6 leaves a gateway that does not respond for another route, and the flags stay. */
TEST(an_ipv6_path_that_leaves_a_failed_gateway_makes_a_callback)
{
    namespace_ip("-6 route replace default via 2001:db8::1 dev a metric 100");
    namespace_ip("-6 route add default via 2001:db8::3 dev a metric 2000");
    set_state("2001:db8::1", "reachable");
    set_state("2001:db8::3", "reachable");
    watcher_start(&watcher, expect_option("2001:db8:7::7", NOTIFY));
    EXPECT_QUIET(&watcher);
    EXPECT_GATEWAY(watcher.target, "2001:db8::1");
    set_state("2001:db8::1", "failed");
    EXPECT_END(&watcher, R);
    EXPECT_QUIET(&watcher);
    EXPECT_GATEWAY(watcher.target, "2001:db8::3");
    assert_int_equal(next_hop_of(watcher.target), NH(Confirmed));
}

TEST(targets_that_did_not_ask_get_no_callback)
{
    for (EACH_FAMILY) {
        watcher_start(&watcher, expect_option(family->far, PATH));
        EXPECT_QUIET(&watcher);
        set_state(family->gateway, "reachable");
        set_state(family->gateway, "failed");
        EXPECT_QUIET(&watcher);
        watcher_stop(&watcher);
    }
}

/* ---- Many ------------------------------------------------------------------------------------------------------- */

/* The first message that affects nothing brings a filter that drops such messages, after a pause. */
static void await_filter(struct writer *writer, unsigned index, const char *hop)
{
    const double end = watcher_now() + time_limit_of(10);
    uint16_t state = NUD_REACHABLE;

    do {
        assert_true(watcher_now() < end);
        EXPECT_QUIET(&watcher);
        state = state == NUD_STALE ? NUD_REACHABLE : NUD_STALE;
        assert_int_equal(writer_neighbour(writer, index, hop, state), 0);
    } while (idle_loop_is_readable(watcher.loop));
}

/* A scan of a network. Each neighbour responds, or fails. */
TEST(other_neighbours_wake_nobody)
{
    enum { SCANNED = 10000 };
    struct writer writer;
    const unsigned index = if_nametoindex("a");
    char address[64];

    assert_int_equal(writer_open(&writer), 0);
    namespace_ip("address add 10.1.0.1/16 dev a");
    set_state("192.0.2.1", "reachable");
    watcher_start(&watcher, expect_option("198.51.100.7", NOTIFY));
    await_filter(&writer, index, "192.0.2.1");
    for (unsigned i = 0; i < SCANNED; i++) {
        snprintf(address, sizeof address, "10.1.%u.%u", 1 + i / 250, 1 + i % 250);
        assert_int_equal(writer_neighbour(&writer, index, address, i % 2 == 0 ? NUD_FAILED : NUD_REACHABLE), 0);
        if (idle_loop_is_readable(watcher.loop))
            fail_msg("at %u %s", i, address);
    }
    assert_int_equal(writer_neighbour(&writer, index, "192.0.2.1", NUD_STALE), 0);
    assert_false(idle_loop_is_readable(watcher.loop));
    assert_int_equal(writer_neighbour(&writer, index, "192.0.2.1", NUD_FAILED), 0);
    EXPECT_CHANGE(&watcher, R);
    writer_close(&writer);
}

/* More than the kernel's filter has room for. */
TEST(each_of_many_next_hops_is_reported)
{
    enum { HOPS = 300 };
    static struct watcher watchers[HOPS];
    struct writer writer;
    const unsigned index = if_nametoindex("a");
    char address[64];

    assert_int_equal(writer_open(&writer), 0);
    namespace_ip("address add 10.1.0.1/16 dev a");
    for (unsigned i = 0; i < HOPS; i++) {
        snprintf(address, sizeof address, "10.1.%u.%u", 1 + i / 250, 1 + i % 250);
        assert_int_equal(writer_neighbour(&writer, index, address, NUD_REACHABLE), 0);
        if (i == 0)
            watcher_start(&watchers[i], expect_option(address, NOTIFY));
        else
            watcher_schedule_on(&watchers[i], expect_option(address, NOTIFY), watchers[0].loop);
    }
    EXPECT_QUIET(&watchers[0]);
    for (unsigned i = 0; i < HOPS; i += HOPS - 1) {
        snprintf(address, sizeof address, "10.1.%u.%u", 1 + i / 250, 1 + i % 250);
        assert_int_equal(writer_neighbour(&writer, index, address, NUD_FAILED), 0);
        EXPECT_CHANGE(&watchers[i], R | D);
        EXPECT_QUIET(&watchers[i]);
        assert_int_equal(writer_neighbour(&writer, index, address, NUD_STALE), 0);
        EXPECT_CHANGE(&watchers[i], R | D);
    }
    for (unsigned i = HOPS; i-- > 0;)
        watcher_stop(&watchers[i]);
    writer_close(&writer);
}

/* Two targets share a next hop. */
TEST(a_next_hop_is_watched_until_its_last_target_is_released)
{
    struct watcher other;

    set_state("192.0.2.1", "reachable");
    watcher_start(&watcher, expect_option("198.51.100.7", NOTIFY));
    watcher_schedule_on(&other, expect_option("198.51.100.8", NOTIFY), watcher.loop);
    EXPECT_QUIET(&other);
    watcher_stop(&other);
    set_state("192.0.2.1", "failed");
    EXPECT_CHANGE(&watcher, R);
}
