/* SPDX-License-Identifier: MIT */
#include "support/witness.h"

#include <linux/rtnetlink.h>
#include <string.h>

#include "support/namespace.h"
#include "support/patience.h"

struct witness witness;

static const struct writer_route own_route = { .prefix = "198.51.101.0/24", .gateway = "192.0.2.1" };
static const struct writer_route far_route = { .prefix = "198.51.100.0/24", .gateway = "192.0.2.1" };
static const struct writer_route any_route = { .prefix = "198.51.100.0/24" };

static void called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target;
    (void)flags;
    sem_post(info);
}

/* Runs the work at once, on the library thread. */
static void perform(void *info, void (*work)(void *argument), void *argument)
{
    (void)info;
    work(argument);
}

static void await(void)
{
    patience_await(&witness.called, "the library did not notice a change");
}

static void close_deferred(void *unused)
{
    (void)unused;
    witness_close();
}

void witness_open(void)
{
    SCNetworkReachabilityContext context = { .info = &witness.called };
    const SCNetworkReachabilityScheduler scheduler = { .perform = perform };

    namespace_require_pair();
    unit_check(writer_open(&witness.writer), "writer");
    unit_check(writer_route(&witness.writer, WRITER_ADD, &own_route), "route");
    witness.index = writer_index("a");
    assert_int_equal(sem_init(&witness.called, 0, 0), 0);
    witness.target = expect_target("198.51.101.7");
    assert_true(SCNetworkReachabilitySetCallback(witness.target, called, &context));
    if (!SCNetworkReachabilitySetScheduler(witness.target, &scheduler))
        fail_msg("not scheduled: %s", SCErrorString(SCError()));
    witness.close = unit_defer(close_deferred, NULL);
}

/* After witness_settle no callback is in progress that could post to the semaphore. */
void witness_close(void)
{
    unit_cancel(witness.close);
    witness_settle();
    assert_true(SCNetworkReachabilitySetScheduler(witness.target, NULL));
    SCNetworkReachabilityRelease(witness.target);
    writer_close(&witness.writer);
}

/* Twice: the witness may be the first target to be called in the pass that reads the first change. The second change is
 * read in a later pass. */
void witness_settle(void)
{
    const struct writer_route direct = { .prefix = own_route.prefix, .index = witness.index };

    unit_check(writer_route(&witness.writer, WRITER_REPLACE, &direct), "route");
    await();
    unit_check(writer_route(&witness.writer, WRITER_REPLACE, &own_route), "route");
    await();
}

void witness_appear(void)
{
    unit_check(writer_route(&witness.writer, WRITER_REPLACE, &far_route), "route");
    witness_settle();
}

void witness_attach(void)
{
    const struct writer_route direct = { .prefix = any_route.prefix, .index = witness.index };

    unit_check(writer_route(&witness.writer, WRITER_REPLACE, &direct), "route");
    witness_settle();
}

void witness_vanish(void)
{
    unit_check(writer_route(&witness.writer, WRITER_DELETE, &any_route), "route");
    witness_settle();
}
