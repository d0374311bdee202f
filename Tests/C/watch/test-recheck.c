/* SPDX-License-Identifier: MIT */
/*
 * What the second evaluation heals alone. The kernel sends some messages before it makes the change (test-race has more
 * about it). The library waits for the kernel's lock before it queries, and evaluates again a few milliseconds after
 * such a round, in case that a newer kernel no longer takes this lock. Here it does not wait: the barrier is switched
 * off. Then some results are stale when all messages are read. For each of them, a second evaluation must come, and if
 * the change was finished before that one, the result must be right then.
 *
 * What the kernel finishes after the second evaluation stays unnoticed, until the next change. The test counts this:
 * where other programs use the processors there may be some. The barrier is for them.
 *
 * TEST_RACE_ROUNDS: rounds of each change (default 600).
 */
#include "base/clock.h"
#include "kernel/rtnetlink.h"
#include "support/race.h"
#include "support/test.h"

#define ROUNDS            600
#define TIME_LIMIT        (10 * SECOND)     /* for all rounds of a change: a machine that is too slow does fewer */
#define SECOND_LOOK_AFTER (4 * MILLISECOND) /* a little less than in round.c */

/* The queries of a round: when the last one began, and the longest time between two. */
static struct {
    int64_t last, pause;
} queries;

WRAP(int, reach_rtnetlink_query, struct rtnetlink *rtnetlink, const struct route_request *request, struct route *ret)
{
    const int64_t now = clock_now();

    if (queries.last != 0 && now - queries.last > queries.pause)
        queries.pause = now - queries.last;
    queries.last = now;
    return __real_reach_rtnetlink_query(rtnetlink, request, ret);
}

WRAP(void, reach_rtnetlink_set_barrier, struct rtnetlink *rtnetlink)
{
    (void)rtnetlink;
}

struct counts {
    unsigned rounds, stale, healed;
};

static bool is_right(SCNetworkReachabilityRef target, const struct race_change *change)
{
    const SCNetworkReachabilityFlags flags = expect_flags_of(target);

    return change->after ? (flags & R) != 0 && (flags & D) == 0 : (flags & R) == 0;
}

static void run_round(SCNetworkReachabilityRef target, SCRunLoopRef loop, const struct race_change *change,
                      struct counts *counts)
{
    assert_true(idle_perform(loop) >= 0);
    assert_false(is_right(target, change));
    queries.last = queries.pause = 0;
    race_begin_round();
    while (!race_is_round_done())
        assert_true(SCRunLoopPerform(loop, 0) >= 0);
    int64_t done = clock_now();
    while (SCRunLoopPerform(loop, 0) > 0)
        continue;
    counts->rounds++;
    if (is_right(target, change))
        return;
    counts->stale++;
    assert_true(idle_perform(loop) >= 0);
    if (is_right(target, change)) {
        counts->healed++;
        return;
    }
    if (queries.last >= done)
        fail_msg("%s: the change was finished before the last evaluation, whose result is wrong", change->name);
    /* A slow machine may have used up the time for sweeps: then the second evaluation is planned. */
    if (queries.pause < SECOND_LOOK_AFTER && idle_next_deadline(loop) == NEVER)
        fail_msg("%s: a stale result, and no second evaluation", change->name);
}

static void heal(const struct race_change *change)
{
    const char *text = getenv("TEST_RACE_ROUNDS");
    const unsigned usual = unit_is_under(NULL) ? ROUNDS / 20 : ROUNDS;
    const unsigned rounds = text != NULL && atoi(text) > 0 ? (unsigned)atoi(text) : usual;
    const int64_t end = text != NULL ? NEVER : clock_now() + TIME_LIMIT;
    struct counts counts = { 0 };
    struct writer writer;
    SCNetworkReachabilityRef target = expect_target(RACE_FAR_AWAY);
    SCRunLoopRef loop = SCRunLoopCreate();

    assert_non_null(loop);
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    race_open(change, &writer);
    while (counts.rounds < rounds && clock_now() < end) {
        run_round(target, loop, change, &counts);
        change->restore(&writer);
    }
    race_close(&writer);
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    SCNetworkReachabilityRelease(target);
    SCRunLoopRelease(loop);
    print_message("%s, without the barrier: %u stale results in %u rounds, of which the second evaluation healed %u\n",
                  change->name, counts.stale, counts.rounds, counts.healed);
    /* A tool has checked the code. On a fast kernel a link is down before its messages are read. */
    if (counts.healed == 0 && change->slow && !unit_is_under(NULL))
        SKIP("%s: no stale result was healed in %u rounds, so nothing is proven", change->name, counts.rounds);
}

TEST(second_evaluation_heals_what_is_stale_after_an_address_was_deleted)
{
    race_prepare_address_deleted();
    heal(&race_address_deleted);
}

TEST(second_evaluation_heals_what_is_stale_after_a_link_went_down)
{
    race_prepare_link_lowered();
    heal(&race_link_lowered);
}

UNIT(.setup = race_require, .start = race_start)
