/* SPDX-License-Identifier: MIT */
/*
 * Router advertisements change the lifetime of IPv6 routes, and the kernel sends no message about the route. If the
 * advertisement contains a prefix, it sends one about the prefix. See also test-clock, which counts queries.
 */
#include "support/router.h"
#include "support/test.h"

#define LIFETIME 1   /* seconds: the shorter lifetime */
#define SHORTEST 0.9 /* until it ends */
#define LATE     1.0 /* until its end is reported: a busy machine takes some time */
#define SILENT   5.0 /* the same, if the kernel sends no message at all */
#define SLOW     3.0 /* more, under a tool */

static void advertise_default(const struct router *router, unsigned seconds)
{
    router_advertise(router, &(struct router_advertisement){ .router_lifetime = seconds });
}

static void advertise_prefix(const struct router *router, unsigned seconds)
{
    router_advertise(router, &(struct router_advertisement){ .prefix = "2001:db8:5::", .prefix_lifetime = seconds });
}

static void advertise_default_and_prefix(const struct router *router, unsigned seconds)
{
    router_advertise(router,
                     &(struct router_advertisement){
                         .router_lifetime = seconds, .prefix = "2001:db8:6::", .prefix_lifetime = ROUTER_FOREVER });
}

static void advertise_route(const struct router *router, unsigned seconds)
{
    router_advertise(router, &(struct router_advertisement){ .route = "2001:db8:7::", .route_lifetime = seconds });
}

static const struct lifetime_row {
    const char *name, *target;
    void (*advertise)(const struct router *router, unsigned seconds);
    unsigned before; /* the longer lifetime */
    double late;
} lifetime_rows[] = { { "default_route", "2001:db8:1::7", advertise_default, 1800, SILENT },
                      { "default_path", "::", advertise_default, 1800, SILENT },
                      { "default_route_and_prefix", "2001:db8:1::7", advertise_default_and_prefix, 1800, LATE },
                      { "prefix", "2001:db8:5::9", advertise_prefix, 1800, LATE },
                      { "prefix_without_end", "2001:db8:5::9", advertise_prefix, ROUTER_FOREVER, LATE },
                      { "route", "2001:db8:7::9", advertise_route, 1800, SILENT } };

TEST_EACH(a_route_whose_lifetime_is_shortened_is_reported_when_it_ends, lifetime_rows)
{
    struct watcher watcher;
    struct router router;
    double started, late = row->late + (unit_is_under(NULL) ? SLOW : 0);

    namespace_require();
    namespace_add_pair();
    router_open(&router, "b", "a");
    watcher_start(&watcher, expect_target(row->target));
    EXPECT(watcher.target, 0, NoRoute);
    row->advertise(&router, row->before);
    EXPECT_CHANGE(&watcher, row->advertise == advertise_prefix ? R | D : R);
    started = watcher_now();
    row->advertise(&router, LIFETIME);
    EXPECT_CHANGE(&watcher, 0);
    if (watcher_now() - started < SHORTEST || watcher_now() - started > LIFETIME + late)
        fail_msg("reported %.3f s after the advertisement", watcher_now() - started);
    EXPECT(watcher.target, 0, NoRoute);
}

/* The end of the other route shows that the first lifetime has passed. */
TEST(a_route_whose_lifetime_is_renewed_is_not_reported)
{
    struct watcher renewed, shortened;
    struct router router;

    namespace_require();
    namespace_add_pair();
    router_open(&router, "b", "a");
    WATCH(&renewed, "2001:db8:5::9", &shortened, "2001:db8:7::9");
    advertise_prefix(&router, 2);
    advertise_route(&router, 3);
    EXPECT_CHANGE(&renewed, R | D, &shortened, R);
    advertise_prefix(&router, 1800);
    EXPECT_CHANGE(&shortened, 0);
    EXPECT_QUIET(&renewed);
    EXPECT(renewed.target, R | D, None);
}

/* ---- Routes that come back -------------------------------------------------------------------------------------- */

/* The kernel keeps a route for up to 31 s after its end. An advertisement brings it back, without a message. */
static void expect_soon(const struct watcher *watcher, SCNetworkReachabilityFlags flags, double late)
{
    const double started = watcher_now();

    late += unit_is_under(NULL) ? SLOW : 0;
    while (expect_flags_of(watcher->target) != flags) {
        assert_true(watcher_now() < started + time_limit_of(late));
        assert_true(SCRunLoopPerform(watcher->loop, 0.1) >= 0);
    }
}

static SCNetworkReachabilityReason last_reason(SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;

    assert_true(SCNetworkReachabilityGetLastPath(target, &path));
    return path.reason;
}

static void await_reason(const struct watcher *watcher, SCNetworkReachabilityReason reason)
{
    const double end = watcher_now() + time_limit_of(10);

    while (last_reason(watcher->target) != reason) {
        assert_true(watcher_now() < end);
        assert_true(SCRunLoopPerform(watcher->loop, 0.1) >= 0);
    }
}

/* The routes that the router has advertised end with its default route. */
static void await_end(void)
{
    const double end = watcher_now() + time_limit_of(LIFETIME + LATE);
    SCOPED_TARGET bound = expect_bound("2001:db8:1::7", "a");

    while (expect_flags_of(bound) != 0) {
        assert_true(watcher_now() < end);
        (void)poll(NULL, 0, 10); /* there is no event to wait for */
    }
}

TEST_EACH(a_route_that_had_ended_is_advertised_again, lifetime_rows)
{
    struct watcher watcher;
    struct router router;

    namespace_require();
    namespace_add_pair();
    router_open(&router, "b", "a");
    watcher_start(&watcher, expect_target(row->target));
    row->advertise(&router, LIFETIME);
    EXPECT_CHANGE(&watcher, row->advertise == advertise_prefix ? R | D : R);
    EXPECT_CHANGE(&watcher, 0);
    EXPECT_QUIET(&watcher);
    row->advertise(&router, row->before);
    expect_soon(&watcher, row->advertise == advertise_prefix ? R | D : R, row->late);
}

TEST(a_route_that_had_ended_before_its_target_was_scheduled)
{
    struct watcher before, after;
    struct router router;

    namespace_require();
    namespace_add_pair();
    router_open(&router, "b", "a");
    watcher_start(&before, expect_target("2001:db8:1::7"));
    advertise_default(&router, LIFETIME);
    EXPECT_CHANGE(&before, R);
    EXPECT_CHANGE(&before, 0);
    watcher_start(&after, expect_target("2001:db8:1::8"));
    EXPECT_QUIET(&after);
    advertise_default(&router, 1800);
    expect_soon(&after, R, SILENT);
}

TEST(a_route_that_had_ended_while_its_interface_had_no_carrier)
{
    struct watcher watcher;
    struct router router;

    namespace_require();
    namespace_add_pair();
    router_open(&router, "b", "a");
    watcher_start(&watcher, expect_option("2001:db8:1::7", kSCNetworkReachabilityOptionNotifyPath));
    advertise_default(&router, 2 * LIFETIME);
    expect_soon(&watcher, R, LATE);
    namespace_set_carrier("a", "b", false);
    await_reason(&watcher, kSCNetworkReachabilityReasonNoCarrier);
    await_reason(&watcher, kSCNetworkReachabilityReasonNoRoute);
    namespace_set_carrier("a", "b", true);
    EXPECT_QUIET(&watcher);
    advertise_default(&router, 1800);
    expect_soon(&watcher, R, SILENT);
}

/* No answer names it when it ends. */
TEST(a_route_that_had_ended_behind_a_better_one)
{
    struct watcher watcher;
    struct router router;

    namespace_require_two_pairs();
    router_open(&router, "b", "a");
    watcher_start(&watcher, expect_target("2001:db8:1::7"));
    advertise_default(&router, LIFETIME);
    EXPECT_CHANGE(&watcher, R);
    AFTER("-6 route add default dev c metric 10", EXPECT_CHANGE(&watcher, R | D));
    await_end();
    AFTER("-6 route delete default dev c", EXPECT_CHANGE(&watcher, 0));
    EXPECT_QUIET(&watcher);
    advertise_default(&router, 1800);
    expect_soon(&watcher, R, SILENT);
}

/* The default route leads to both. Neither may copy the other's path. */
TEST(a_longer_route_that_had_ended_is_advertised_again)
{
    struct watcher near[2];
    struct router router;

    namespace_require_two_pairs();
    router_open(&router, "b", "a");
    namespace_ip("-6 route add default dev c");
    watcher_start(&near[0], expect_target("2001:db8:7::9"));
    watcher_schedule_on(&near[1], expect_target("2001:db8:7::a"), near[0].loop);
    EXPECT_QUIET(&near[0]);
    advertise_route(&router, LIFETIME);
    for (unsigned step = 0; step < 3; step++) {
        for (unsigned i = 0; i < 2; i++)
            expect_soon(&near[i], step == 1 ? R | D : R, step == 2 ? SILENT : LIFETIME + LATE);
        EXPECT_QUIET(&near[0]);
        if (step == 1)
            advertise_route(&router, 1800);
    }
}

/* ---- Routes to longer prefixes (RFC 4191) ----------------------------------------------------------------------- */

TEST(a_router_gives_a_route_an_end_later)
{
    struct watcher watcher;
    struct router router;
    double started;

    namespace_require();
    namespace_add_pair();
    router_open(&router, "b", "a");
    watcher_start(&watcher, expect_target("2001:db8:7::9"));
    advertise_route(&router, ROUTER_FOREVER);
    EXPECT_CHANGE(&watcher, R);
    EXPECT_QUIET(&watcher);
    started = watcher_now();
    advertise_route(&router, LIFETIME);
    EXPECT_CHANGE(&watcher, 0);
    assert_true(watcher_now() - started < time_limit_of(LIFETIME + SILENT));
}

static void advertise_preferred(const struct router *router, unsigned preference)
{
    router_advertise(router,
                     &(struct router_advertisement){
                         .route = "2001:db8:7::", .route_lifetime = ROUTER_FOREVER, .route_preference = preference });
}

static void await_interface(const struct watcher *watcher, const char *name)
{
    const double end = watcher_now() + time_limit_of(SILENT + LATE);
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;

    do {
        assert_true(watcher_now() < end);
        assert_true(SCRunLoopPerform(watcher->loop, 0.1) >= 0);
        assert_true(SCNetworkReachabilityGetLastPath(watcher->target, &path));
    } while (strcmp(path.interfaceName, name) != 0);
}

TEST(another_router_is_preferred_later)
{
    struct router first, second;
    struct watcher watcher;

    namespace_require_two_pairs();
    router_open(&first, "b", "a");
    router_open(&second, "d", "c");
    watcher_start(&watcher, expect_option("2001:db8:7::9", kSCNetworkReachabilityOptionNotifyPath));
    advertise_preferred(&first, ROUTER_MEDIUM);
    await_interface(&watcher, "a");
    advertise_preferred(&second, ROUTER_LOW);
    EXPECT_QUIET(&watcher);
    advertise_preferred(&second, ROUTER_HIGH);
    await_interface(&watcher, "c");
}

/* ---- Local addresses -------------------------------------------------------------------------------------------- */

/* Without a route, only the reason changes: a callback comes to targets that report it. */
static const struct local_row {
    const char *name, *address, *local, *remote;
} local_rows[] = { { "ipv4", "198.18.0.1/32", "198.18.0.1", "198.51.100.7" },
                   { "ipv6", "2001:db8:77::1/128", "2001:db8:77::1", "2001:db8:9::7" } };

TEST_EACH(a_pair_whose_local_address_has_ended_has_that_reason, local_rows)
{
    const struct sockaddr_storage local = expect_sockaddr(row->local), remote = expect_sockaddr(row->remote);
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;
    struct watcher pair, other;

    namespace_require();
    namespace_add_pair();
    namespace_ip("address add %s dev a valid_lft 2 preferred_lft 2", row->address);
    options.localAddress = (const struct sockaddr *)&local;
    options.remoteAddress = (const struct sockaddr *)&remote;
    options.options = kSCNetworkReachabilityOptionNotifyPath;
    watcher_start(&pair, SCNetworkReachabilityCreateWithOptions(NULL, &options));
    watcher_schedule_on(&other, expect_pair(row->local, row->remote), pair.loop);
    await_reason(&pair, kSCNetworkReachabilityReasonNoRoute);
    for (unsigned i = 0; i < 2; i++) {
        await_reason(&pair, kSCNetworkReachabilityReasonLocalAddressNotAssigned);
        EXPECT(other.target, 0, LocalAddressNotAssigned);
        namespace_ip("address replace %s dev a valid_lft 2 preferred_lft 2", row->address);
        await_reason(&pair, kSCNetworkReachabilityReasonNoRoute);
    }
}
