/* SPDX-License-Identifier: MIT */
#include "support/crowd.h"

#include <linux/rtnetlink.h>

#include "support/idle.h"
#include "support/namespace.h"

struct crowd crowd;

void crowd_begin(void)
{
    namespace_require_pair();
    crowd = (struct crowd){ .loop = SCRunLoopCreate() };
    unit_check(writer_open(&crowd.writer), "writer_open");
}

void crowd_end(void)
{
    for (unsigned i = 0; i < CROWD_LIMIT; i++)
        if (crowd.targets[i] != NULL)
            crowd_unwatch(i);
    SCRunLoopRelease(crowd.loop);
    writer_close(&crowd.writer);
}

static void note_call(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target;
    *(SCNetworkReachabilityFlags *)info = flags;
    if (crowd.calls++ == 0 && crowd.at_first_call != NULL)
        crowd.at_first_call();
}

void crowd_schedule(unsigned i, SCNetworkReachabilityRef target)
{
    crowd.targets[i] = target;
    expect_callback_set(target, note_call, &crowd.flags[i]);
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(crowd.targets[i], crowd.loop, kSCRunLoopDefaultMode));
    crowd.flags[i] = expect_flags_of(crowd.targets[i]);
}

void crowd_watch(unsigned i, const char *address)
{
    crowd_schedule(i, expect_target(address));
}

void crowd_unwatch(unsigned i)
{
    SCNetworkReachabilityUnscheduleFromRunLoop(crowd.targets[i], crowd.loop, kSCRunLoopDefaultMode);
    SCNetworkReachabilityRelease(crowd.targets[i]);
    crowd.targets[i] = NULL;
}

void crowd_watch_ipv4(unsigned count)
{
    char address[32];

    for (unsigned i = 0; i < count; i++) {
        snprintf(address, sizeof address, "198.51.%u.%u", 100 + i / 250, 1 + i % 250);
        crowd_watch(i, address);
    }
    assert_int_equal(crowd_settle(), 0);
}

void crowd_watch_ipv6(unsigned count)
{
    char address[64];

    for (unsigned i = 0; i < count; i++) {
        snprintf(address, sizeof address, "2001:db8:1::%x", 1 + i);
        crowd_watch(i, address);
    }
    assert_int_equal(crowd_settle(), 0);
}

void crowd_route(bool present, const char *prefix, const char *gateway)
{
    const struct writer_route route = { .prefix = prefix,
                                        .gateway = gateway,
                                        .type = gateway == NULL ? RTN_BLACKHOLE : 0 };

    unit_check(writer_route(&crowd.writer, present ? WRITER_ADD : WRITER_DELETE, &route), prefix);
}

unsigned crowd_settle(void)
{
    unsigned count = 0;
    int calls;

    do {
        calls = SCRunLoopPerform(crowd.loop, 0.1); /* the kernel adds IPv6 addresses on another thread */
        if (calls == 0)
            calls = idle_perform(crowd.loop); /* on a slow machine, paths are evaluated again later than that */
        assert_true(calls >= 0);
        count += (unsigned)calls;
    } while (calls > 0);
    return count;
}

void crowd_expect_agreement(void)
{
    for (unsigned i = 0; i < CROWD_LIMIT; i++) {
        if (crowd.targets[i] == NULL)
            continue;
        assert_int_equal(expect_flags_of(crowd.targets[i]), crowd.flags[i]);
        assert_int_equal(expect_path_of(crowd.targets[i]).flags, crowd.flags[i]);
    }
}

void crowd_expect_all(SCNetworkReachabilityFlags flags)
{
    crowd_expect_agreement();
    for (unsigned i = 0; i < CROWD_LIMIT; i++)
        if (crowd.targets[i] != NULL)
            assert_int_equal(crowd.flags[i], flags);
}
