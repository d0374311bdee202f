/* SPDX-License-Identifier: MIT */
/*
 * IPv6 routes expire on time, but the kernel reports it up to half a minute later. It rounds the remaining time down
 * twice, and in the last hundredth of a second reports 0, which means "never". So the routes here expire at all offsets
 * below that, and each of them counts.
 */
#include <math.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/namespace.h"
#include "support/watcher.h"
#include "support/writer.h"

#define COUNT           200
#define STEP            0.00013 /* seconds from one route to the next: no divisor of any tick */
#define TICK            0.01    /* the kernel's clock is as coarse as this, at most */
#define LATE            1.0 /* seconds after the expiry: the kernel may report it after 31, a busy machine takes some */
#define LATE_UNDER_TOOL 15.0 /* and half a minute without the question */

/* A route of its own to a target of its own. */
struct fate {
    SCNetworkReachabilityRef   target;
    char                       address[40], prefix[44];
    double                     ends_after, ends_by; /* what is known of its end; INFINITY: it has none */
    double                     told;                /* when the expiry was reported; 0: not yet */
    int                        ends_told;
    SCNetworkReachabilityFlags flags;
};

static struct fate   fates[COUNT];
static size_t        count;
static SCRunLoopRef  loop;
static struct writer writer;
static unsigned      link_a;
static double        late;

static void called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct fate *fate = info;

    (void)target;
    if (fate->flags != 0 && flags == 0) {
        fate->told = watcher_now();
        fate->ends_told++;
    }
    fate->flags = flags;
}

static void enter(void)
{
    namespace_require();
    namespace_add_pair();
    link_a = writer_index("a");
    assert_int_equal(writer_open(&writer), 0);
}

static void begin(size_t wanted)
{
    const bool slow = unit_is_under("valgrind");

    enter();
    count = slow ? wanted / 5 : wanted;
    late = unit_is_under(NULL) ? LATE_UNDER_TOOL : LATE;
    loop = SCRunLoopCreate();
    memset(fates, 0, sizeof fates);
    for (size_t i = 0; i < count; i++) {
        snprintf(fates[i].address, sizeof fates[i].address, "2001:db8:1::%zx", i + 1);
        snprintf(fates[i].prefix, sizeof fates[i].prefix, "%s/128", fates[i].address);
    }
}

static void end(void)
{
    for (size_t i = 0; i < count; i++) {
        assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(fates[i].target, loop, kSCRunLoopDefaultMode));
        SCNetworkReachabilityRelease(fates[i].target);
    }
    SCRunLoopRelease(loop);
    writer_close(&writer);
}

/* Drives the loop until a time. */
static void drive_until(double time)
{
    for (double left; (left = time - watcher_now()) > 0;)
        assert_true(SCRunLoopPerform(loop, left) >= 0);
}

/* Adds or replaces the route, to expire after so many seconds; 0: never. */
static void set_route(struct fate *fate, enum writer_action action, unsigned seconds)
{
    const struct writer_route route = {
        .prefix = fate->prefix, .index = link_a, .gateway = "2001:db8::1", .expires = seconds
    };

    fate->ends_after = seconds == 0 ? INFINITY : watcher_now() + seconds - TICK;
    assert_int_equal(writer_route(&writer, action, &route), 0);
    fate->ends_by = seconds == 0 ? INFINITY : watcher_now() + seconds + TICK;
}

static void watch(struct fate *fate, SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityContext context = { .info = fate };

    fate->target = target;
    assert_true(SCNetworkReachabilitySetCallback(target, called, &context));
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    fate->flags = expect_flags_of(target);
}

/* Every other target is scheduled before its route is added. */
static void start_all(unsigned (*seconds_of)(size_t i))
{
    const double start = watcher_now();

    for (size_t i = 0; i < count; i++) {
        if (i % 2 == 0)
            watch(&fates[i], expect_target(fates[i].address));
        drive_until(start + (double)i * STEP);
        set_route(&fates[i], WRITER_ADD, seconds_of(i));
        if (i % 2 != 0)
            watch(&fates[i], expect_target(fates[i].address));
    }
}

/* The first that is not yet as it should be for good. */
static const struct fate *find_unfinished(void)
{
    for (size_t i = 0; i < count; i++)
        if (isfinite(fates[i].ends_by) && fates[i].told == 0)
            return &fates[i];
    return NULL;
}

static double last_end(void)
{
    double last = 0;

    for (size_t i = 0; i < count; i++)
        if (isfinite(fates[i].ends_by) && fates[i].ends_by > last)
            last = fates[i].ends_by;
    return last;
}

static void expect_each_at_its_end(void)
{
    const double limit = last_end() + late;

    while (find_unfinished() != NULL && watcher_now() < limit)
        assert_true(SCRunLoopPerform(loop, limit - watcher_now()) >= 0);
    for (size_t i = 0; i < count; i++) {
        const struct fate *fate = &fates[i];
        const bool         ends = isfinite(fate->ends_by);

        if (fate->ends_told != (ends ? 1 : 0))
            fail_msg("%s: its end was told %d times", fate->address, fate->ends_told);
        if (ends && fate->told < fate->ends_after)
            fail_msg("%s: told %.3f s before its end", fate->address, fate->ends_after - fate->told);
        if (ends && fate->told > fate->ends_by + late)
            fail_msg("%s: told %.3f s after its end", fate->address, fate->told - fate->ends_by);
        if (ends)
            EXPECT(fate->target, 0, NoRoute);
        else
            EXPECT(fate->target, R, None);
    }
}

static unsigned one_or_two(size_t i)
{
    return 1 + i / 2 % 2;
}

static unsigned one(size_t i)
{
    (void)i;
    return 1;
}

/* ---- The tests -------------------------------------------------------------------------------------------------- */

/* Makes every result stale, twice: now, and at the second evaluation. */
static void disturb(const char *address)
{
    assert_int_equal(writer_address(&writer, WRITER_ADD, link_a, address), 0);
}

/* The disturbances come when some routes are in their last hundredth, and then nothing comes that would help. */
TEST(each_of_many_routes_is_reported_when_it_expires)
{
    double first;

    begin(COUNT);
    start_all(one_or_two);
    first = fates[0].ends_by - TICK;
    drive_until(first);
    disturb("203.0.113.1/24");
    drive_until(first + 1);
    disturb("203.0.113.2/24");
    expect_each_at_its_end();
    end();
}

/* The kernel takes the new end of a route that is there already, says that it is there already, and tells nobody.
 * Router advertisements renew default routes as silently. */
static void renew_silently(struct fate *fate, unsigned seconds)
{
    assert_false(namespace_try_ip("-6 route append %s via 2001:db8::1 dev a expires %u", fate->prefix, seconds));
    fate->ends_after = fate->ends_by = INFINITY;
}

TEST(a_route_renewed_in_time_is_not_reported)
{
    begin(50);
    start_all(one);
    for (size_t i = 0; i < count; i++) {
        drive_until(fates[i].ends_after - 0.5);
        switch (i % 5) {
        case 1:
            set_route(&fates[i], WRITER_REPLACE, 60);
            fates[i].ends_after = fates[i].ends_by = INFINITY;
            break;
        case 2:
            set_route(&fates[i], WRITER_REPLACE, 0);
            break;
        case 3:
            renew_silently(&fates[i], 60);
            break;
        case 4:
            set_route(&fates[i], WRITER_REPLACE, 1);
            break;
        default:
            break;
        }
    }
    expect_each_at_its_end();
    end();
}

/* Of a target that stands for the default path: its route. */
static void set_default(struct fate *fate, const char *prefix, unsigned seconds)
{
    snprintf(fate->prefix, sizeof fate->prefix, "%s", prefix);
    set_route(fate, WRITER_ADD, seconds);
}

/* In three namespaces. In the second, the other half of the default route stays. In the third, a better route is hidden
 * by one that ends and has no carrier, and what the target has until then is IPv4's reason. */
TEST(the_default_path_ends_with_its_route)
{
    struct watcher hidden;
    double         hidden_until;

    begin(15);
    count = 3;
    set_default(&fates[0], "::/0", 1);
    fates[1] = fates[0];
    watch(&fates[0], expect_target("::"));
    watch(&fates[1], expect_bound("::", "a"));
    writer_close(&writer);

    enter();
    set_default(&fates[2], "8000::/1", 0);
    set_default(&fates[2], "::/1", 1);
    fates[2].ends_after = fates[2].ends_by = INFINITY;
    watch(&fates[2], expect_target("::"));
    writer_close(&writer);

    enter();
    namespace_add_second_pair();
    namespace_ip("link set dev d down");
    namespace_await_running("c", false);
    namespace_ip("route add unreachable default");
    namespace_ip("-6 route add default via 2001:db8::1 metric 2000");
    namespace_ip("-6 route add default via 2001:db8:c::1 metric 10 expires 1");
    hidden_until = watcher_now() + 1 + TICK;
    watcher_start(&hidden, expect_target("0.0.0.0"));
    EXPECT(hidden.target, 0, RouteUnreachable);
    expect_each_at_its_end();
    EXPECT_CHANGE(&hidden, R);
    assert_true(watcher_now() < hidden_until + late);
    watcher_stop(&hidden);
    end();
}
