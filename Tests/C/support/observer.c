/* SPDX-License-Identifier: MIT */
#include "support/observer.h"
#include "support/callbacks.h"

#include "support/namespace.h"
#include "support/time_limit.h"

struct observer observer;

static const struct writer_route own_route = { .prefix = "198.51.101.0/24", .gateway = "192.0.2.1" };
static const struct writer_route far_route = { .prefix = "198.51.100.0/24", .gateway = "192.0.2.1" };
static const struct writer_route any_route = { .prefix = "198.51.100.0/24" };

static void called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target, (void)flags;
    sem_post(info);
}

static void await(void)
{
    time_limit_await(&observer.called, "the library did not notice a change");
}

static void close_deferred(void *unused)
{
    (void)unused;
    observer_close();
}

void observer_open(void)
{
    const SCNetworkReachabilityScheduler scheduler = { .perform = perform_at_once };

    namespace_require_pair();
    unit_check(writer_open(&observer.writer), "writer");
    unit_check(writer_route(&observer.writer, WRITER_ADD, &own_route), "route");
    observer.index = writer_index("a");
    assert_int_equal(sem_init(&observer.called, 0, 0), 0);
    observer.target = expect_target("198.51.101.7");
    expect_callback_set(observer.target, called, &observer.called);
    if (!SCNetworkReachabilitySetScheduler(observer.target, &scheduler))
        fail_msg("not scheduled: %s", SCErrorString(SCError()));
    observer.close = unit_defer(close_deferred, NULL);
}

/* After observer_settle no callback is in progress that could post to the semaphore. */
void observer_close(void)
{
    unit_cancel(observer.close);
    observer_settle();
    assert_true(SCNetworkReachabilitySetScheduler(observer.target, NULL));
    SCNetworkReachabilityRelease(observer.target);
    writer_close(&observer.writer);
}

/* Twice: the observer may be the first target to be called in the pass that reads the first change. The second change
 * is read in a later pass. */
void observer_settle(void)
{
    const struct writer_route direct = { .prefix = own_route.prefix, .index = observer.index };

    unit_check(writer_route(&observer.writer, WRITER_REPLACE, &direct), "route");
    await();
    unit_check(writer_route(&observer.writer, WRITER_REPLACE, &own_route), "route");
    await();
}

void observer_add_gateway_route(void)
{
    unit_check(writer_route(&observer.writer, WRITER_REPLACE, &far_route), "route");
    observer_settle();
}

void observer_add_link_route(void)
{
    const struct writer_route direct = { .prefix = any_route.prefix, .index = observer.index };

    unit_check(writer_route(&observer.writer, WRITER_REPLACE, &direct), "route");
    observer_settle();
}

void observer_delete_route(void)
{
    unit_check(writer_route(&observer.writer, WRITER_DELETE, &any_route), "route");
    observer_settle();
}
