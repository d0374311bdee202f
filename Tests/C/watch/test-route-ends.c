/* SPDX-License-Identifier: MIT */
/* IPv6 routes of each type end, and the message comes up to 31 s late. */
#include "support/test.h"

#define SECONDS  2   /* until the routes end */
#define EARLIEST 1.9 /* a route may not be reported before */
#define LATE     1.0 /* after the end */
#define SHORTER  6.5 /* after the end of one that was shortened without a message */
#define SLOW     4.0 /* more, under a tool */

UNIT(.setup = namespace_require_two_pairs)

/* ---- Each type -------------------------------------------------------------------------------------------------- */

/* The kernel ignores the end of routes that refuse packets, and of throw routes. */
static const struct kind {
    const char *name, *route, *target, *legs;
} kinds[] = { { "unicast", "fd00:1::/64 via 2001:db8::1 dev a", "fd00:1::77" },
              { "local", "local fd00:2::/64 dev lo table local", "fd00:2::77" },
              { "anycast", "anycast fd00:3::77/128 dev a table local", "fd00:3::77" },
              { "multipath", "fd00:8::/64", "fd00:8::77",
                "nexthop via 2001:db8::1 dev a nexthop via 2001:db8:c::1 dev c" } };

enum { KINDS = sizeof kinds / sizeof kinds[0] };

static struct watcher watchers[KINDS];
static double reported[KINDS]; /* when the flags changed; 0: not yet */
static double begun;           /* before the first route with an end was added */

static void watch_all(void)
{
    memset(reported, 0, sizeof reported);
    watcher_start(&watchers[0], expect_target(kinds[0].target));
    for (unsigned i = 1; i < KINDS; i++)
        watcher_schedule_on(&watchers[i], expect_target(kinds[i].target), watchers[0].loop);
    EXPECT_QUIET(&watchers[0]);
}

/* Drives the loop until all have reported the end, and checks when. */
static void expect_ends(const SCNetworkReachabilityFlags before[KINDS], double ends, double late)
{
    const double last = ends + late + (unit_is_under(NULL) ? SLOW : 0);
    unsigned left = KINDS;

    while (left > 0) {
        assert_true(SCRunLoopPerform(watchers[0].loop, 0.05) >= 0);
        for (unsigned i = 0; i < KINDS; i++) {
            if (reported[i] == 0 && expect_flags_of(watchers[i].target) != before[i]) {
                reported[i] = watcher_now();
                if (reported[i] < begun + EARLIEST)
                    fail_msg("%s: %.2f s before its end", kinds[i].name, begun + SECONDS - reported[i]);
                left--;
            } else if (reported[i] == 0 && watcher_now() > time_limit_of(last)) {
                fail_msg("%s: not reported", kinds[i].name);
            }
        }
    }
    for (unsigned i = 0; i < KINDS; i++) {
        SCOPED_TARGET fresh = expect_target(kinds[i].target);

        assert_int_equal(expect_flags_of(fresh), expect_flags_of(watchers[i].target));
    }
}

static const char *legs_of(const struct kind *kind)
{
    return kind->legs != NULL ? kind->legs : "";
}

static void add_routes(unsigned seconds)
{
    begun = watcher_now();
    for (unsigned i = 0; i < KINDS; i++)
        namespace_ip("-6 route add %s expires %u %s", kinds[i].route, seconds, legs_of(&kinds[i]));
}

static void note_flags(SCNetworkReachabilityFlags ret[KINDS])
{
    for (unsigned i = 0; i < KINDS; i++)
        ret[i] = expect_flags_of(watchers[i].target);
}

TEST(routes_of_each_type_end)
{
    SCNetworkReachabilityFlags before[KINDS];

    add_routes(SECONDS);
    double ends = watcher_now() + SECONDS;
    watch_all();
    note_flags(before);
    expect_ends(before, ends, LATE);
}

TEST(routes_of_each_type_that_come_later_end)
{
    SCNetworkReachabilityFlags before[KINDS];

    watch_all();
    add_routes(SECONDS);
    double ends = watcher_now() + SECONDS;
    for (unsigned i = 0; i < KINDS; i++)
        while (expect_flags_of(watchers[i].target) == 0)
            assert_true(SCRunLoopPerform(watchers[0].loop, 0.1) >= 0);
    note_flags(before);
    expect_ends(before, ends, LATE);
}

/* The kernel sends no message about that. Each leg has its own end. */
TEST(routes_of_each_type_whose_end_is_brought_forward)
{
    SCNetworkReachabilityFlags before[KINDS];

    add_routes(1000);
    watch_all();
    note_flags(before);
    begun = watcher_now();
    for (unsigned i = 0; i < KINDS; i++)
        if (kinds[i].legs == NULL)
            (void)namespace_try_ip("-6 route append %s expires %u", kinds[i].route, SECONDS);
    (void)namespace_try_ip("-6 route append fd00:8::/64 via 2001:db8::1 dev a expires %u", SECONDS);
    (void)namespace_try_ip("-6 route append fd00:8::/64 via 2001:db8:c::1 dev c expires %u", SECONDS);
    double ends = watcher_now() + SECONDS;
    expect_ends(before, ends, SHORTER);
}

/* ---- Routes that come back -------------------------------------------------------------------------------------- */

static void await_direct(const struct watcher pair[2], bool direct)
{
    const double end = watcher_now() + time_limit_of(SECONDS + LATE);

    for (unsigned i = 0; i < 2; i++)
        while (((expect_flags_of(pair[i].target) & kSCNetworkReachabilityFlagsIsDirect) != 0) != direct) {
            if (watcher_now() > end)
                fail_msg("the target %u is still %s", i, direct ? "behind the default route" : "direct");
            assert_true(SCRunLoopPerform(pair[0].loop, 0.05) >= 0);
        }
}

/* The kernel keeps the route to a network after its end for a while. An address of the network revives it, without a
 * message about the route. A machine that forwards packets has no other reason to look for longer routes. */
TEST(the_route_to_a_network_that_an_address_revives)
{
    struct watcher pair[2];

    namespace_sysctl("net.ipv6.conf.all.forwarding", "1");
    namespace_ip("-6 route replace default via 2001:db8::1 dev a");
    namespace_ip("neigh replace 2001:db8::1 dev a lladdr 02:00:00:00:00:01 nud reachable");
    watcher_start(&pair[0], expect_target("2001:db8:c::11"));
    watcher_schedule_on(&pair[1], expect_target("2001:db8:c::12"), pair[0].loop);
    EXPECT_QUIET(&pair[0]);
    namespace_ip("-6 address replace 2001:db8:c::2/64 dev c nodad valid_lft %d preferred_lft 1", SECONDS);
    await_direct(pair, false);
    EXPECT_QUIET(&pair[0]);
    namespace_ip("-6 address replace 2001:db8:c::2/64 dev c nodad");
    await_direct(pair, true);
}
