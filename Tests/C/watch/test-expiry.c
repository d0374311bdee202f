/* SPDX-License-Identifier: MIT */
/*
 * IPv6 routes expire on time, but the kernel reports it up to half a minute later. It rounds the remaining time down
 * twice, and in the last hundredth of a second reports 0, which means "never". So the routes here expire at all offsets
 * below that, and each of them counts.
 */
#include <math.h>

#include "support/test.h"

#define COUNT           200
#define STEP            0.00013 /* seconds from one route to the next: no divisor of any tick */
#define TICK            0.01    /* the kernel's clock is as coarse as this, at most */
#define LATE            1.0 /* seconds after the expiry: the kernel may report it after 31, a busy machine takes some */
#define LATE_UNDER_TOOL 15.0 /* the kernel's own report takes half a minute */

/* A target, and a route to this target only. */
struct entry {
    SCNetworkReachabilityRef target;
    char address[40], prefix[44];
    double ends_after, ends_by; /* the earliest and latest expiry; INFINITY: never */
    double reported;            /* when the expiry was reported; 0: not yet */
    int reports;
    SCNetworkReachabilityFlags flags;
};

static struct entry entries[COUNT];
static size_t count;
static SCRunLoopRef loop;
static struct writer writer;
static unsigned link_a;
static double late;

static void called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct entry *entry = info;

    (void)target;
    if (entry->flags != 0 && flags == 0) {
        entry->reported = watcher_now();
        entry->reports++;
    }
    entry->flags = flags;
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
    memset(entries, 0, sizeof entries);
    for (size_t i = 0; i < count; i++) {
        snprintf(entries[i].address, sizeof entries[i].address, "2001:db8:1::%zx", i + 1);
        snprintf(entries[i].prefix, sizeof entries[i].prefix, "%s/128", entries[i].address);
    }
}

static void end(void)
{
    for (size_t i = 0; i < count; i++) {
        assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(entries[i].target, loop, kSCRunLoopDefaultMode));
        SCNetworkReachabilityRelease(entries[i].target);
    }
    SCRunLoopRelease(loop);
    writer_close(&writer);
}

/* Drives the loop until a time, and at least once: a route that comes and expires meanwhile is not reported. */
static void drive_until(double time)
{
    double left;

    do {
        left = time - watcher_now();
        assert_true(SCRunLoopPerform(loop, left > 0 ? left : 0) >= 0);
    } while (left > 0);
}

/* Adds or replaces the route, to expire after so many seconds; 0: never. */
static void set_route(struct entry *entry, enum writer_action action, unsigned seconds)
{
    const struct writer_route route = {
        .prefix = entry->prefix, .index = link_a, .gateway = "2001:db8::1", .expires = seconds
    };

    entry->ends_after = seconds == 0 ? INFINITY : watcher_now() + seconds - TICK;
    assert_int_equal(writer_route(&writer, action, &route), 0);
    entry->ends_by = seconds == 0 ? INFINITY : watcher_now() + seconds + TICK;
}

static void watch(struct entry *entry, SCNetworkReachabilityRef target)
{
    entry->target = target;
    expect_callback_set(target, called, entry);
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    entry->flags = expect_flags_of(target);
}

/* Every other target is scheduled before its route is added. */
static void start_all(unsigned (*seconds_of)(size_t i))
{
    const double start = watcher_now();

    for (size_t i = 0; i < count; i++) {
        if (i % 2 == 0)
            watch(&entries[i], expect_target(entries[i].address));
        drive_until(start + (double)i * STEP);
        set_route(&entries[i], WRITER_ADD, seconds_of(i));
        if (i % 2 != 0)
            watch(&entries[i], expect_target(entries[i].address));
    }
}

/* The first entry whose route expires but was not reported. */
static const struct entry *find_unfinished(void)
{
    for (size_t i = 0; i < count; i++)
        if (isfinite(entries[i].ends_by) && entries[i].reported == 0)
            return &entries[i];
    return NULL;
}

static double last_end(void)
{
    double last = 0;

    for (size_t i = 0; i < count; i++)
        if (isfinite(entries[i].ends_by) && entries[i].ends_by > last)
            last = entries[i].ends_by;
    return last;
}

static void expect_each_on_time(void)
{
    const double limit = last_end() + late;

    while (find_unfinished() != NULL && watcher_now() < limit)
        assert_true(SCRunLoopPerform(loop, limit - watcher_now()) >= 0);
    for (size_t i = 0; i < count; i++) {
        const struct entry *entry = &entries[i];
        const bool ends = isfinite(entry->ends_by);

        if (entry->reports != (ends ? 1 : 0))
            fail_msg("%s: its expiry was reported %d times", entry->address, entry->reports);
        if (ends && entry->reported < entry->ends_after)
            fail_msg("%s: reported %.3f s before its expiry", entry->address, entry->ends_after - entry->reported);
        if (ends && entry->reported > entry->ends_by + late)
            fail_msg("%s: reported %.3f s after its expiry", entry->address, entry->reported - entry->ends_by);
        if (ends)
            EXPECT(entry->target, 0, NoRoute);
        else
            EXPECT(entry->target, R, None);
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

/* The disturbances come when some routes are in their last hundredth of a second. No other event follows. */
TEST(each_of_many_routes_is_reported_when_it_expires)
{
    begin(COUNT);
    start_all(one_or_two);
    double first = entries[0].ends_by - TICK;
    drive_until(first);
    disturb("203.0.113.1/24");
    drive_until(first + 1);
    disturb("203.0.113.2/24");
    expect_each_on_time();
    end();
}

/* The kernel sets the new expiry of an existing route, returns EEXIST, and sends no message. Router advertisements also
 * renew default routes without a message. */
static void renew_silently(struct entry *entry, unsigned seconds)
{
    assert_false(namespace_try_ip("-6 route append %s via 2001:db8::1 dev a expires %u", entry->prefix, seconds));
    entry->ends_after = entry->ends_by = INFINITY;
}

TEST(a_renewed_route_is_not_reported_early)
{
    begin(50);
    start_all(one);
    for (size_t i = 0; i < count; i++) {
        drive_until(entries[i].ends_after - 0.5);
        switch (i % 5) {
        case 1:
            set_route(&entries[i], WRITER_REPLACE, 60);
            entries[i].ends_after = entries[i].ends_by = INFINITY;
            break;
        case 2:
            set_route(&entries[i], WRITER_REPLACE, 0);
            break;
        case 3:
            renew_silently(&entries[i], 60);
            break;
        case 4:
            set_route(&entries[i], WRITER_REPLACE, 1);
            break;
        default:
            break;
        }
    }
    expect_each_on_time();
    end();
}

/* Adds the route of a target for the default path. */
static void set_default(struct entry *entry, const char *prefix, unsigned seconds)
{
    snprintf(entry->prefix, sizeof entry->prefix, "%s", prefix);
    set_route(entry, WRITER_ADD, seconds);
}

/* There are three namespaces. In the second, the other half of the default route stays. In the third, an expiring route
 * without a carrier hides a usable route; until it expires, the target has the reason of IPv4. */
TEST(the_default_path_expires_with_its_route)
{
    struct watcher hidden;

    begin(15);
    count = 3;
    set_default(&entries[0], "::/0", 1);
    entries[1] = entries[0];
    watch(&entries[0], expect_target("::"));
    watch(&entries[1], expect_bound("::", "a"));
    writer_close(&writer);

    enter();
    set_default(&entries[2], "8000::/1", 0);
    set_default(&entries[2], "::/1", 1);
    entries[2].ends_after = entries[2].ends_by = INFINITY;
    watch(&entries[2], expect_target("::"));
    writer_close(&writer);

    enter();
    namespace_add_second_pair();
    namespace_set_carrier("c", "d", false);
    namespace_ip("route add unreachable default; -6 route add default via 2001:db8::1 metric 2000");
    namespace_ip("-6 route add default via 2001:db8:c::1 metric 10 expires 1");
    double hidden_until = watcher_now() + 1 + TICK;
    watcher_start(&hidden, expect_target("0.0.0.0"));
    EXPECT(hidden.target, 0, RouteUnreachable);
    expect_each_on_time();
    EXPECT_CHANGE(&hidden, R);
    assert_true(watcher_now() < hidden_until + late);
    watcher_stop(&hidden);
    end();
}
