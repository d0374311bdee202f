/* SPDX-License-Identifier: MIT */
/* What the reason of questions changes in a path. No kernel. */
#include "pure/question.h"

#include "support/unit.h"

#define FLAG(name) kSCNetworkReachabilityFlags##name

/* A path with every flag, after an evaluation of questions with this reason. */
static struct path adjusted_path(SCNetworkReachabilityReason reason)
{
    static const struct question question = { 0 };
    struct questions *questions = reach_questions_create(&question, 1, reason);
    struct path path = { .flags = UINT32_MAX,
                         .reason = kSCNetworkReachabilityReasonNoCarrier,
                         .index = 3,
                         .destination = { AF_INET, { 198, 51, 100, 7 } },
                         .gateway = { AF_INET, { 192, 0, 2, 1 } } };

    assert_non_null(questions);
    reach_questions_adjust_path(questions, &path);
    reach_questions_release(questions);
    return path;
}

TEST(questions_without_a_reason_change_no_path)
{
    const struct path path = adjusted_path(kSCNetworkReachabilityReasonNone);

    assert_int_equal(path.flags, UINT32_MAX);
    assert_int_equal(path.reason, kSCNetworkReachabilityReasonNoCarrier);
    assert_int_equal(path.destination.family, AF_INET);
}

TEST(the_path_of_a_pending_name_is_neither_direct_nor_local)
{
    const struct path path = adjusted_path(kSCNetworkReachabilityReasonNamePending);

    assert_int_equal(path.flags, (uint32_t) ~(FLAG(IsDirect) | FLAG(IsLocalAddress)));
    assert_int_equal(path.reason, kSCNetworkReachabilityReasonNamePending);
    assert_int_equal(path.destination.family, AF_UNSPEC);
    assert_int_equal(path.gateway.family, AF_INET);
    assert_int_equal(path.index, 3);
}
