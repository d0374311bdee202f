/* SPDX-License-Identifier: MIT */
/* What a path means: reachable, viable, another one, its text, worth an attempt. No kernel. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <reachability/reachability.h>

#include "support/unit.h"

enum {
    T = kSCNetworkReachabilityFlagsTransientConnection,
    R = kSCNetworkReachabilityFlagsReachable,
    C = kSCNetworkReachabilityFlagsConnectionRequired,
    ON_TRAFFIC = kSCNetworkReachabilityFlagsConnectionOnTraffic,
    INTERVENTION = kSCNetworkReachabilityFlagsInterventionRequired,
    ON_DEMAND = kSCNetworkReachabilityFlagsConnectionOnDemand,
    L = kSCNetworkReachabilityFlagsIsLocalAddress,
    D = kSCNetworkReachabilityFlagsIsDirect,
    W = kSCNetworkReachabilityFlagsIsWWAN,
    BETTER = kSCNetworkReachabilityFlowBetterPath,
    FOREIGN = kSCNetworkReachabilityFlowSourceForeign,
    INCOMPLETE = kSCNetworkReachabilityFlowIncomplete
};
#define REASON(reason) kSCNetworkReachabilityReason##reason
#define TYPE(type)     kSCNetworkReachabilityInterfaceType##type

/* An address as a path has it, "fe80::1%3" with a scope. NULL: none. */
static struct sockaddr_storage storage(const char *text)
{
    struct sockaddr_storage storage = { 0 };
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
    struct sockaddr_in in = { .sin_family = AF_INET };
    char digits[64];
    char *zone;

    if (text == NULL)
        return storage;
    snprintf(digits, sizeof digits, "%s", text);
    zone = strchr(digits, '%');
    if (zone != NULL) {
        in6.sin6_scope_id = (uint32_t)atoi(zone + 1);
        *zone = '\0';
    }
    if (inet_pton(AF_INET, digits, &in.sin_addr) == 1)
        memcpy(&storage, &in, sizeof in);
    else if (inet_pton(AF_INET6, digits, &in6.sin6_addr) == 1)
        memcpy(&storage, &in6, sizeof in6);
    else
        fail_msg("%s is no address", text);
    return storage;
}

static SCNetworkReachabilityPath make_path(SCNetworkReachabilityFlags flags, SCNetworkReachabilityReason reason,
                                           uint32_t index, const char *gateway, const char *source)
{
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;

    path.flags = flags;
    path.reason = reason;
    path.interfaceIndex = index;
    path.gateway = storage(gateway);
    path.source = storage(source);
    return path;
}

/* ---- Reachable, viable ------------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    SCNetworkReachabilityFlags flags;
    SCNetworkReachabilityReason reason;
    uint32_t flow;
    bool reachable, viable;
} meanings[] = {
    { "a_route", R, REASON(None), 0, true, true },
    { "more_flags", R | T | W | D | L, REASON(None), 0, true, true },
    { "no_route", 0, REASON(NoRoute), 0, false, false },
    { "a_pending_name", R, REASON(NamePending), 0, false, false },
    { "connection_required", R | C, REASON(None), 0, false, false },
    { "connection_on_traffic", R | C | ON_TRAFFIC, REASON(None), 0, true, true },
    { "connection_on_demand", R | C | ON_DEMAND, REASON(None), 0, true, true },
    { "intervention_required", R | C | ON_DEMAND | INTERVENTION, REASON(None), 0, false, false },
    { "intervention_for_no_connection", R | INTERVENTION, REASON(None), 0, true, true },
    { "automatic_without_reachable", C | ON_TRAFFIC, REASON(None), 0, false, false },
    { "a_foreign_source", R, REASON(None), FOREIGN, true, false },
    { "a_better_path", R, REASON(None), BETTER | INCOMPLETE, true, true },
    { "a_foreign_source_without_a_route", 0, REASON(NoRoute), FOREIGN, false, false },
};

TEST_EACH(a_path_is_reachable_and_viable, meanings)
{
    SCNetworkReachabilityPath path = make_path(row->flags, row->reason, 3, NULL, NULL);

    path.flow = row->flow;
    assert_int_equal(SCNetworkReachabilityPathIsReachable(&path), row->reachable);
    assert_int_equal(SCNetworkReachabilityPathIsViable(&path), row->viable);
}

/* ---- Another path ----------------------------------------------------------------------------------------------- */

static void change_flags(SCNetworkReachabilityPath *path)
{
    path->flags ^= D;
}

static void change_reason(SCNetworkReachabilityPath *path)
{
    path->reason = REASON(NamePending);
}

static void change_interface(SCNetworkReachabilityPath *path)
{
    path->interfaceIndex++;
}

static void change_gateway(SCNetworkReachabilityPath *path)
{
    path->gateway = storage("192.0.2.9");
}

static void change_source(SCNetworkReachabilityPath *path)
{
    path->source = storage(NULL);
}

static void change_flow(SCNetworkReachabilityPath *path)
{
    path->flow = INCOMPLETE;
}

/* All that makes no callback. */
static void change_the_rest(SCNetworkReachabilityPath *path)
{
    path->interfaceType = TYPE(WiFi);
    memcpy(path->interfaceName, "renamed", 8);
    path->mtu = 1400;
    path->table = 100;
    path->addressCount = 2;
    path->evidence = kSCNetworkReachabilityEvidenceSocket;
    path->destination = storage("198.51.100.8");
    path->nextHop = kSCNetworkReachabilityNextHopFailed;
}

static const struct {
    const char *name;
    void (*change)(SCNetworkReachabilityPath *path);
    bool differs, differs_unreachable;
} changes[] = {
    { "flags", change_flags, true, true },          { "reason", change_reason, true, true },
    { "interface", change_interface, true, false }, { "gateway", change_gateway, true, true },
    { "source", change_source, true, true },        { "flow", change_flow, true, true },
    { "the_rest", change_the_rest, false, false },
};

TEST_EACH(paths_differ_in_what_a_callback_reports, changes)
{
    const SCNetworkReachabilityPath reachable = make_path(R, REASON(None), 3, "192.0.2.1", "192.0.2.2");
    const SCNetworkReachabilityPath unreachable = make_path(0, REASON(NoCarrier), 3, "192.0.2.1", "192.0.2.2");
    SCNetworkReachabilityPath other = reachable;

    assert_int_equal(SCNetworkReachabilityPathDiffers(&reachable, &other), 0);
    row->change(&other);
    assert_int_equal(SCNetworkReachabilityPathDiffers(&reachable, &other), row->differs);
    assert_int_equal(SCNetworkReachabilityPathDiffers(&other, &reachable), row->differs);
    other = unreachable;
    row->change(&other);
    assert_int_equal(SCNetworkReachabilityPathDiffers(&unreachable, &other), row->differs_unreachable);
}

/* ---- Text ------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    SCNetworkReachabilityFlags flags;
    SCNetworkReachabilityReason reason;
    const char *interface, *gateway, *source;
    SCNetworkReachabilityInterfaceType type;
    uint32_t flow, next_hop, evidence;
} texts[] = {
    { "reachable", R, REASON(None) },
    { "reachable dev eth0 via 192.0.2.1 src 192.0.2.2", R, REASON(None), "eth0", "192.0.2.1", "192.0.2.2",
      TYPE(WiredEthernet) },
    { "reachable dev eth0 via fe80::1 src 2001:db8::2", R, REASON(None), "eth0", "fe80::1%3", "2001:db8::2" },
    { "reachable on-link dev eth0 src 192.0.2.2", R | D, REASON(None), "eth0", NULL, "192.0.2.2" },
    { "reachable local dev lo src 127.0.0.1", R | D | L, REASON(None), "lo", NULL, "127.0.0.1", TYPE(Loopback) },
    { "reachable dev wlan0 type wifi", R, REASON(None), "wlan0", NULL, NULL, TYPE(WiFi) },
    { "reachable dev wwan0 type cellular", R | T | W, REASON(None), "wwan0", NULL, NULL, TYPE(Cellular) },
    { "reachable dev ppp0 type ppp", R | T, REASON(None), "ppp0", NULL, NULL, TYPE(PointToPoint) },
    { "reachable dev wg0 type tunnel", R | T, REASON(None), "wg0", NULL, NULL, TYPE(Tunnel) },
    { "reachable dev veth0", R, REASON(None), "veth0", NULL, NULL, TYPE(Virtual) },
    { "reachable dev new0", R, REASON(None), "new0", NULL, NULL, 99 },
    { "reachable dev ?", R, REASON(None), "" },
    { "reachable dev a\\x1b[2J", R, REASON(None), "a\x1b[2J" },
    { "reachable dev fifteen-letters", R, REASON(None), "fifteen-letters" },
    { "not reachable: no carrier dev eth0", 0, REASON(NoCarrier), "eth0" },
    { "not reachable: no route", 0, REASON(NoRoute) },
    { "not reachable: name not found", 0, REASON(NameNotFound) },
    { "not reachable: unknown reason", 0, 99 },
    { "not reachable", 0, REASON(None) },
    { "not reachable: connection required dev ppp0 type ppp", R | T | C, REASON(None), "ppp0", NULL, NULL,
      TYPE(PointToPoint) },
    { "reachable dev ppp0", R | T | C | ON_TRAFFIC, REASON(None), "ppp0" },
    { "pending", R, REASON(NamePending), "eth0", "192.0.2.1", "192.0.2.2", 0, 7, 3, 1 },
    { "reachable src 192.0.2.2, from a UDP socket", R, REASON(None), NULL, NULL, "192.0.2.2", 0, 0, 0,
      kSCNetworkReachabilityEvidenceSocket },
    { "reachable dev eth0, better path", R, REASON(None), "eth0", NULL, NULL, 0, BETTER },
    { "reachable dev eth0, foreign source", R, REASON(None), "eth0", NULL, NULL, 0, FOREIGN },
    { "reachable dev eth0, flow incomplete", R, REASON(None), "eth0", NULL, NULL, 0, INCOMPLETE },
    { "reachable dev eth0, next hop failed", R, REASON(None), "eth0", NULL, NULL, 0, 0,
      kSCNetworkReachabilityNextHopFailed },
    { "reachable dev eth0", R, REASON(None), "eth0", NULL, NULL, 0, 8, kSCNetworkReachabilityNextHopConfirmed },
};

TEST(a_path_is_one_line_in_the_words_of_ip_route)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        SCNetworkReachabilityPath path = make_path(texts[i].flags, texts[i].reason, texts[i].interface != NULL ? 3 : 0,
                                                   texts[i].gateway, texts[i].source);
        char text[256], part[8];

        snprintf(path.interfaceName, sizeof path.interfaceName, "%s",
                 texts[i].interface != NULL ? texts[i].interface : "");
        path.interfaceType = texts[i].type;
        path.flow = texts[i].flow;
        path.nextHop = texts[i].next_hop;
        path.evidence = texts[i].evidence;
        assert_int_equal(SCNetworkReachabilityPathGetString(&path, text, sizeof text), strlen(texts[i].text));
        assert_string_equal(text, texts[i].text);
        assert_int_equal(SCNetworkReachabilityPathGetString(&path, NULL, 0), strlen(texts[i].text));
        assert_int_equal(SCNetworkReachabilityPathGetString(&path, part, sizeof part), strlen(texts[i].text));
        assert_memory_equal(part, texts[i].text, strlen(part));
        assert_true(strlen(part) == 7);
    }
}

TEST(a_name_without_its_nul_is_cut)
{
    SCNetworkReachabilityPath path = make_path(R, REASON(None), 3, NULL, NULL);
    char text[64];

    memset(path.interfaceName, 'e', sizeof path.interfaceName);
    path.mtu = UINT32_MAX;
    SCNetworkReachabilityPathGetString(&path, text, sizeof text);
    assert_string_equal(text, "reachable dev eeeeeeeeeeeeeee");
}

/* ---- Worth an attempt ------------------------------------------------------------------------------------------- */

#define NEVER UINT64_MAX
#define NONE  kSCNetworkReachabilityWakeNone
#define TIME  kSCNetworkReachabilityWakeTime
#define BACK  kSCNetworkReachabilityWakeReachable
#define PATH  kSCNetworkReachabilityWakePath

/* Paths: A is the first one; each of the others is another way. LOST has the way of B. */
enum {
    NOTHING,
    A,
    LOST,
    PENDING,
    B,
    OTHER_GATEWAY,
    OTHER_SOURCE,
    NO_SOURCE,
    OTHER_SCOPE,
    LINK_LOCAL,
    OTHER_LINK,
    SAME_WAY,
    PORTS,
    REQUIRED
};

static SCNetworkReachabilityPath path_of(int name)
{
    SCNetworkReachabilityPath path = make_path(R, REASON(None), 3, "fe80::1%3", "192.0.2.2");

    switch (name) {
    case LOST:
        return make_path(0, REASON(NoRoute), 4, "fe80::1%4", "192.0.2.2");
    case PENDING:
        return make_path(R, REASON(NamePending), 4, NULL, NULL);
    case REQUIRED:
        path.flags |= C;
        break;
    case B:
        path.interfaceIndex = 4;
        break;
    case OTHER_GATEWAY:
        path.gateway = storage("fe80::9%3");
        break;
    case OTHER_SOURCE:
        path.source = storage("192.0.2.3");
        break;
    case NO_SOURCE:
        path.source = storage(NULL);
        break;
    case OTHER_SCOPE:
        path.gateway = storage("fe80::1%4");
        break;
    case LINK_LOCAL:
        path.source = storage("fe80::2%3");
        break;
    case OTHER_LINK:
        path.source = storage("fe80::2%4");
        break;
    case SAME_WAY:
        path.flags |= T;
        path.mtu = 9000;
        path.flow = BETTER;
        path.destination = storage("198.51.100.8");
        path.nextHop = kSCNetworkReachabilityNextHopFailed;
        break;
    case PORTS:
        ((struct sockaddr_in6 *)&path.gateway)->sin6_port = htons(443);
        ((struct sockaddr_in *)&path.source)->sin_port = htons(443);
        break;
    }
    return path;
}

/* What happens at a time: a path comes, then the program asks whether its sleep ends. */
static const struct {
    const char *name;
    uint64_t min_interval;
    struct {
        uint64_t now;
        int path;
        uint64_t delay;
        uint64_t due; /* after the path */
        uint64_t end; /* of the sleep; 0: the program does not ask */
        SCNetworkReachabilityWake wake;
    } steps[6];
} retries[] = {
    { "time_ends_a_sleep_without_a_change", 1, { { 5, A, 0, NEVER, 10, NONE }, { 10, 0, 0, NEVER, 10, TIME } } },
    { "time_ends_a_sleep_before_any_path", 1, { { 9, 0, 0, NEVER, 10, NONE }, { 10, 0, 0, NEVER, 10, TIME } } },
    { "time_ends_a_sleep_of_a_lost_target", 1, { { 5, LOST, 0, NEVER, 10, NONE }, { 12, LOST, 0, NEVER, 10, TIME } } },
    { "the_first_path_is_no_change", 1, { { 5, A, 0, NEVER, NEVER, NONE }, { 6, A, 0, NEVER, NEVER, NONE } } },
    { "a_target_that_was_lost_at_first_returns", 1, { { 5, LOST, 0, NEVER, 0, NONE }, { 6, A, 0, 6, NEVER, BACK } } },
    { "a_target_returns",
      1,
      { { 5, A, 0, NEVER, 0, NONE },
        { 6, LOST, 0, NEVER, NEVER, NONE },
        { 7, A, 0, 7, NEVER, BACK },
        { 8, A, 0, NEVER, NEVER, NONE } } },
    { "a_return_over_another_way_is_a_return",
      1,
      { { 5, A, 0, NEVER, 0, NONE }, { 6, LOST, 0, NEVER, 0, NONE }, { 7, B, 0, 7, NEVER, BACK } } },
    { "the_way_of_a_lost_target_does_not_count",
      1,
      { { 5, A, 0, NEVER, 0, NONE },
        { 6, LOST, 0, NEVER, 0, NONE },
        { 7, A, 0, 7, NEVER, BACK },
        { 8, A, 0, NEVER, NEVER, NONE } } },
    { "a_return_is_over_when_the_target_is_lost_again",
      1,
      { { 5, LOST, 0, NEVER, 0, NONE },
        { 6, A, 0, 6, 0, NONE },
        { 7, LOST, 0, NEVER, 10, NONE },
        { 10, 0, 0, NEVER, 10, TIME } } },
    { "a_connection_that_is_required_is_a_loss",
      1,
      { { 5, A, 0, NEVER, 0, NONE }, { 6, REQUIRED, 0, NEVER, NEVER, NONE }, { 7, A, 0, 7, NEVER, BACK } } },
    { "another_interface", 1, { { 5, A, 0, NEVER, 0, NONE }, { 6, B, 0, 6, NEVER, PATH } } },
    { "another_gateway", 1, { { 5, A, 0, NEVER, 0, NONE }, { 6, OTHER_GATEWAY, 0, 6, NEVER, PATH } } },
    { "another_scope_of_the_gateway", 1, { { 5, A, 0, NEVER, 0, NONE }, { 6, OTHER_SCOPE, 0, 6, NEVER, PATH } } },
    { "another_scope_of_the_source",
      1,
      { { 5, LINK_LOCAL, 0, NEVER, 0, NONE }, { 6, OTHER_LINK, 0, 6, NEVER, PATH } } },
    { "another_source", 1, { { 5, A, 0, NEVER, 0, NONE }, { 6, OTHER_SOURCE, 0, 6, NEVER, PATH } } },
    { "no_source", 1, { { 5, A, 0, NEVER, 0, NONE }, { 6, NO_SOURCE, 0, 6, NEVER, PATH } } },
    { "what_is_no_way", 1, { { 5, A, 0, NEVER, 0, NONE }, { 6, SAME_WAY, 0, NEVER, NEVER, NONE } } },
    { "ports_do_not_count", 1, { { 5, A, 0, NEVER, 0, NONE }, { 6, PORTS, 0, NEVER, NEVER, NONE } } },
    { "the_new_way_is_compared_with_next",
      0,
      { { 5, A, 0, NEVER, 0, NONE },
        { 6, B, 0, 6, NEVER, PATH },
        { 7, B, 0, NEVER, NEVER, NONE },
        { 8, A, 0, 8, NEVER, PATH } } },
    { "a_pending_name_says_nothing",
      1,
      { { 5, PENDING, 0, NEVER, 0, NONE },
        { 6, A, 0, NEVER, NEVER, NONE },
        { 7, PENDING, 0, NEVER, NEVER, NONE },
        { 8, A, 0, NEVER, NEVER, NONE } } },
    { "a_pending_name_takes_back_no_change",
      1,
      { { 5, LOST, 0, NEVER, 0, NONE }, { 6, A, 0, 6, 0, NONE }, { 7, PENDING, 0, 6, NEVER, BACK } } },
    { "a_change_is_due_after_the_delay",
      1,
      { { 5, LOST, 0, NEVER, 0, NONE },
        { 6, A, 250, 256, NEVER, NONE },
        { 255, 0, 0, 256, NEVER, NONE },
        { 256, 0, 0, 256, NEVER, BACK } } },
    { "the_first_of_two_changes_counts",
      1,
      { { 5, LOST, 0, NEVER, 0, NONE },
        { 6, A, 250, 256, 0, NONE },
        { 7, B, 0, 256, 0, NONE },
        { 256, 0, 0, 256, NEVER, BACK } } },
    { "a_loss_ends_the_delay",
      1,
      { { 5, LOST, 0, NEVER, 0, NONE },
        { 6, A, 250, 256, 0, NONE },
        { 7, LOST, 0, NEVER, 0, NONE },
        { 8, A, 10, 18, 0, NONE },
        { 18, 0, 0, 18, NEVER, BACK } } },
    { "a_change_waits_for_the_interval",
      100,
      { { 5, LOST, 0, NEVER, 0, NONE },
        { 6, A, 0, 6, NEVER, BACK },
        { 7, B, 0, 106, NEVER, NONE },
        { 105, 0, 0, 106, NEVER, NONE },
        { 106, 0, 0, 106, NEVER, PATH } } },
    { "the_interval_begins_when_the_change_is_taken",
      100,
      { { 5, LOST, 0, NEVER, 0, NONE },
        { 6, A, 0, 6, 0, NONE },
        { 50, 0, 0, 6, NEVER, BACK },
        { 60, B, 0, 150, 0, NONE } } },
    { "time_takes_what_is_not_due",
      100,
      { { 5, LOST, 0, NEVER, 0, NONE },
        { 6, A, 0, 6, NEVER, BACK },
        { 7, B, 0, 106, 20, NONE },
        { 20, 0, 0, 106, 20, TIME },
        { 200, 0, 0, NEVER, NEVER, NONE } } },
    { "time_begins_no_interval",
      100,
      { { 5, A, 0, NEVER, 6, NONE }, { 6, 0, 0, NEVER, 6, TIME }, { 7, B, 0, 7, NEVER, PATH } } },
    { "what_is_due_by_now_counts_though_the_time_is_over",
      1,
      { { 5, LOST, 0, NEVER, 0, NONE }, { 6, A, 20, 26, 0, NONE }, { 30, 0, 0, 26, 10, BACK } } },
    { "the_longest_times_do_not_overflow",
      NEVER,
      { { 5, LOST, 0, NEVER, 0, NONE },
        { 6, A, 0, 6, NEVER, BACK },
        { 7, B, 0, NEVER, NEVER - 1, NONE },
        { 8, LOST, 0, NEVER, 0, NONE },
        { 9, A, NEVER, NEVER, 10, NONE },
        { 10, 0, 0, NEVER, 10, TIME } } },
};

TEST_EACH(a_sleep_ends_when_it_is_worth_an_attempt, retries)
{
    SCNetworkReachabilityRetry retry;

    memset(&retry, 0xa5, sizeof retry);
    SCNetworkReachabilityRetryInit(&retry, row->min_interval);
    for (size_t i = 0; i < 6 && row->steps[i].now != 0; i++) {
        const SCNetworkReachabilityPath path = path_of(row->steps[i].path);
        const SCNetworkReachabilityRetry copied = retry;

        retry = copied;
        if (row->steps[i].path != NOTHING)
            SCNetworkReachabilityRetryObserve(&retry, &path, row->steps[i].now, row->steps[i].delay);
        if (SCNetworkReachabilityRetryGetDue(&retry) != row->steps[i].due)
            fail_msg("step %zu: due at %llu", i, (unsigned long long)SCNetworkReachabilityRetryGetDue(&retry));
        if (row->steps[i].end != 0)
            assert_int_equal(SCNetworkReachabilityRetryTake(&retry, row->steps[i].now, row->steps[i].end),
                             row->steps[i].wake);
    }
}

TEST(a_storm_of_flaps_ends_one_sleep_in_each_interval)
{
    const SCNetworkReachabilityPath there = path_of(A), gone = path_of(LOST);
    SCNetworkReachabilityRetry retry;
    int wakes = 0;

    SCNetworkReachabilityRetryInit(&retry, 1000);
    for (uint64_t now = 1; now <= 10000; now++) {
        SCNetworkReachabilityRetryObserve(&retry, &gone, now, 0);
        SCNetworkReachabilityRetryObserve(&retry, &there, now, 0);
        wakes += SCNetworkReachabilityRetryTake(&retry, now, NEVER) == BACK;
    }
    assert_int_equal(wakes, 10);
}

/* ---- Arguments -------------------------------------------------------------------------------------------------- */

/* Each call as a function of a path, and whether it must fail. */
static void expect_refusals(const SCNetworkReachabilityPath *bad, const char *detail)
{
    const SCNetworkReachabilityPath good = path_of(A), gone = path_of(LOST);
    SCNetworkReachabilityRetry retry, before;
    char text[9] = "as it is";

    assert_int_equal(SCNetworkReachabilityPathIsReachable(bad), 0);
    assert_int_equal(SCError(), kSCStatusInvalidArgument);
    assert_string_equal(SCErrorDetail(), detail);
    assert_int_equal(SCNetworkReachabilityPathIsViable(bad), 0);
    assert_int_equal(SCNetworkReachabilityPathDiffers(bad, &gone), 0);
    assert_int_equal(SCNetworkReachabilityPathDiffers(&gone, bad), 0);
    assert_int_equal(SCNetworkReachabilityPathGetString(bad, text, sizeof text), 0);
    assert_memory_equal(text, "as it is", sizeof text);
    SCNetworkReachabilityRetryInit(&retry, 0);
    SCNetworkReachabilityRetryObserve(&retry, &gone, 1, 0);
    before = retry;
    SCNetworkReachabilityRetryObserve(&retry, bad, 2, 0);
    assert_memory_equal(&retry, &before, sizeof retry);
    SCNetworkReachabilityRetryObserve(&retry, &good, 2, 0);
    assert_int_equal(SCError(), kSCStatusInvalidArgument);
    assert_string_equal(SCErrorDetail(), detail);
}

TEST(a_path_of_a_wrong_size_is_refused)
{
    static const char *const detail = "path->size: set it to sizeof the structure";
    SCNetworkReachabilityPath path = path_of(A);
    static const size_t sizes[] = { 0, sizeof path - 1, 4097, SIZE_MAX };

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        path.size = sizes[i];
        expect_refusals(&path, detail);
    }
    path.size = 4096;
    assert_int_equal(SCNetworkReachabilityPathIsReachable(&path), 1);
    expect_refusals(NULL, "path: NULL");
}

TEST(no_retry_is_refused)
{
    const SCNetworkReachabilityPath path = path_of(A);

    SCNetworkReachabilityRetryInit(NULL, 1);
    SCNetworkReachabilityRetryObserve(NULL, &path, 1, 0);
    assert_true(SCNetworkReachabilityRetryGetDue(NULL) == UINT64_MAX);
    assert_int_equal(SCNetworkReachabilityRetryTake(NULL, 2, 1), NONE);
    assert_int_equal(SCError(), kSCStatusInvalidArgument);
    assert_string_equal(SCErrorDetail(), "retry: NULL");
}

TEST(a_text_to_nowhere_is_refused)
{
    const SCNetworkReachabilityPath path = path_of(A);

    assert_int_equal(SCNetworkReachabilityPathGetString(&path, NULL, 1), 0);
    assert_int_equal(SCError(), kSCStatusInvalidArgument);
}
