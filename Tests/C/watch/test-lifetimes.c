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

/* Without a route, only the reason changes: a callback comes to targets that report it. */
static const struct local_row {
    const char *name, *address, *local, *remote;
} local_rows[] = { { "ipv4", "198.18.0.1/32", "198.18.0.1", "198.51.100.7" },
                   { "ipv6", "2001:db8:77::1/128", "2001:db8:77::1", "2001:db8:9::7" } };

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
