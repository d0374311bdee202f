/* SPDX-License-Identifier: MIT */
/*
 * Random changes of the network under exact flows, address pairs and sockets. At each quiet point the last callback,
 * GetFlags, GetLastPath and GetPath must agree with what connect(2), RTM_GETROUTE with ports, and the neighbour table
 * say (flow_oracle.h). The kernel finishes some changes after it has acknowledged them, so a disagreement counts only
 * if it lasts.
 *
 * `make soak-flows SEED= STEPS= MINUTES=` runs it for longer. SOAK_SEED: the seed of the first episode (default: the
 * clock). SOAK_STEPS: changes. SOAK_MINUTES: ends after that time, if not 0. SOAK_VERBOSE: not 0 prints all changes.
 */
#include <linux/neighbour.h>

#include "flows/flow_changes.h"
#include "flows/flow_oracle.h"
#include "support/test.h"

#define STEPS      1500
#define EPISODE    300 /* changes in one namespace */
#define FLOWS      24
#define BURST      8   /* changes before a check, at most */
#define TIME_LIMIT 8.0 /* seconds for which a disagreement must last */

#define FAILED kSCNetworkReachabilityNextHopFailed

struct flow {
    struct flow_case what;
    SCNetworkReachabilityRef target;
    SCNetworkReachabilityPath reported; /* by the last callback; at first what Schedule has found */
    unsigned calls;
    SCNetworkReachabilityPath settled; /* at the last quiet point */
    unsigned settled_calls;
    bool is_settled; /* no gateway's state was about to change then */
};

struct tally {
    unsigned long changes, checks, comparisons, uncertain, sockets, settled, calls, failures;
};

static struct flow flows[FLOWS];
static struct tally tally;
static SCRunLoopRef loop;
static struct text wrong;

/* ---- Targets ---------------------------------------------------------------------------------------------------- */

static SCNetworkReachabilityPath last_path_of(SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;

    if (!SCNetworkReachabilityGetLastPath(target, &path))
        fail_msg("GetLastPath: %s", SCErrorString(SCError()));
    return path;
}

static void called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct flow *flow = info;

    flow->reported = last_path_of(target);
    if ((flow->what.options & kSCNetworkReachabilityOptionNotifyPath) != 0) /* otherwise they may be newer */
        unit_complain_if(flow->reported.flags != flags, "the callback's flags are not those of GetLastPath");
    flow->reported.flags = flags;
    flow->calls++;
    tally.calls++;
    tally.failures += flow->reported.nextHop == FAILED;
}

static void open_flow(struct flow *flow, uint64_t *random)
{
    do
        flow_case_draw(random, &flow->what);
    while ((flow->target = flow_case_create(&flow->what)) == NULL);
    tally.sockets += flow->what.kind == FLOW_SOCKET;
    flow->calls = 0;
    expect_callback_set(flow->target, called, flow);
    if (!SCNetworkReachabilityScheduleWithRunLoop(flow->target, loop, kSCRunLoopDefaultMode))
        fail_msg("not scheduled: %s", SCErrorString(SCError()));
    flow->reported = flow->settled = last_path_of(flow->target);
    flow->settled_calls = 0;
    flow->is_settled = false;
}

static void close_flow(struct flow *flow)
{
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(flow->target, loop, kSCRunLoopDefaultMode));
    SCNetworkReachabilityRelease(flow->target);
}

/* The library follows an IPv6 gateway that fails and responds again if a path has had it (docs/reliability.md).
 * So there is a path by each from the start. */
static SCNetworkReachabilityRef open_path(const char *interface)
{
    const struct sockaddr_storage remote = expect_sockaddr(flow_remotes[1][0]);
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    options.remoteAddress = (const struct sockaddr *)&remote;
    options.interfaceName = interface;
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithOptions(NULL, &options);
    assert_true(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kSCRunLoopDefaultMode));
    return target;
}

static void close_path(SCNetworkReachabilityRef target)
{
    assert_true(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kSCRunLoopDefaultMode));
    SCNetworkReachabilityRelease(target);
}

/* ---- Comparing -------------------------------------------------------------------------------------------------- */

static bool is_wrong(const char *what, uint64_t got, uint64_t wanted)
{
    if (got == wanted)
        return false;
    wrong = (struct text){ .length = 0 };
    text_add(&wrong, "%s: 0x%llx, wanted 0x%llx", what, (unsigned long long)got, (unsigned long long)wanted);
    return true;
}

static SCNetworkReachabilityNextHop next_hop_of(uint16_t state)
{
    if ((state & (NUD_REACHABLE | NUD_PERMANENT | NUD_NOARP)) != 0)
        return kSCNetworkReachabilityNextHopConfirmed;
    if ((state & (NUD_STALE | NUD_DELAY | NUD_PROBE)) != 0)
        return kSCNetworkReachabilityNextHopUnconfirmed;
    return (state & NUD_FAILED) != 0 ? FAILED : kSCNetworkReachabilityNextHopUnknown;
}

/* Without a port of its own, the leg of a flow is not known. */
static bool has_known_way(const struct flow *flow, const struct flow_verdict *verdict)
{
    return !verdict->is_multipath || (flow->what.has_local && flow->what.local_port != 0);
}

/* What a query now says. */
static bool path_is_wrong(const struct flow *flow, const struct flow_verdict *verdict,
                          const SCNetworkReachabilityPath *path)
{
    if (has_known_way(flow, verdict) && is_wrong("GetPath: reachable", path->flags != 0, verdict->reachable))
        return true;
    if (!verdict->reachable || path->flags == 0 || !has_known_way(flow, verdict))
        return false;
    if (is_wrong("GetPath: interface", path->interfaceIndex, verdict->oif) ||
        is_wrong("GetPath: next hop", path->nextHop, next_hop_of(verdict->neighbour)))
        return true;
    return flow->what.has_local && !verdict->is_multipath &&
           is_wrong("GetPath: flow", path->flow & ~(unsigned)kSCNetworkReachabilityFlowIncomplete, verdict->flow);
}

static bool has_same_hop(const SCNetworkReachabilityPath *one, const SCNetworkReachabilityPath *other)
{
    return one->interfaceIndex == other->interfaceIndex &&
           memcmp(&one->gateway, &other->gateway, sizeof one->gateway) == 0;
}

/* What the last callback said is what the library knows, and that is what a query says. */
static bool report_is_wrong(const struct flow *flow, const SCNetworkReachabilityPath *path)
{
    const SCNetworkReachabilityPath last = last_path_of(flow->target);
    SCNetworkReachabilityFlags flags = ~0u;

    if (!SCNetworkReachabilityGetFlags(flow->target, &flags) || is_wrong("GetFlags", flags, path->flags) ||
        is_wrong("GetLastPath: flags", last.flags, path->flags) ||
        is_wrong("last callback: flags", flow->reported.flags, path->flags))
        return true;
    /* In the callback of a socket, GetLastPath queries the kernel, and may be newer than what the callback reports. So
     * only what has changed between two quiet points counts. */
    if (flow->what.kind == FLOW_SOCKET)
        return flow->is_settled && flow->calls == flow->settled_calls && !flow_world_is_asking(flow->what.family) &&
               is_wrong("no callback: flow", flow->settled.flow, path->flow);
    if (flow_case_reports_flow(&flow->what) && (is_wrong("GetLastPath: flow", last.flow, path->flow) ||
                                                is_wrong("last callback: flow", flow->reported.flow, path->flow)))
        return true;
    if (!flow_case_reports_next_hop(&flow->what))
        return false;
    /* A next hop that has failed counts as failed until it responds. */
    if (path->nextHop != kSCNetworkReachabilityNextHopUnknown &&
        is_wrong("GetLastPath: next hop", last.nextHop, path->nextHop))
        return true;
    /* That the path has another next hop is no change of it, nor that the kernel has forgotten it. */
    if (flow->reported.nextHop == FAILED &&
        (path->nextHop == kSCNetworkReachabilityNextHopUnknown || !has_same_hop(&flow->reported, &last)))
        return false;
    return is_wrong("last callback: failed", flow->reported.nextHop == FAILED, last.nextHop == FAILED);
}

static bool flow_is_wrong(const struct flow_world *world, const struct flow *flow)
{
    const struct flow_verdict verdict = flow_oracle_decide(&flow->what);
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;

    tally.comparisons++;
    if (!SCNetworkReachabilityGetPath(flow->target, &path))
        fail_msg("GetPath: %s", SCErrorString(SCError()));
    if (!verdict.is_certain)
        tally.uncertain++;
    else if (path_is_wrong(flow, &verdict, &path))
        return true;
    return is_wrong("GetPath: incomplete", (path.flow & kSCNetworkReachabilityFlowIncomplete) != 0,
                    flow_world_hides(world, &flow->what)) ||
           report_is_wrong(flow, &path);
}

static const struct flow *find_wrong(const struct flow_world *world)
{
    for (size_t i = 0; i < FLOWS; i++)
        if (flow_is_wrong(world, &flows[i]))
            return &flows[i];
    return NULL;
}

/* A failure that the kernel has found meanwhile makes its callback before the flow is read again. */
static void settle(void)
{
    const bool asked[2] = { flow_world_is_asking(AF_INET), flow_world_is_asking(AF_INET6) };

    for (size_t i = 0; i < FLOWS; i++) {
        flows[i].settled = last_path_of(flows[i].target);
        flows[i].settled_calls = flows[i].calls;
    }
    while (SCRunLoopPerform(loop, 0) > 0)
        continue;
    for (size_t i = 0; i < FLOWS; i++) {
        const int family = flows[i].what.family;

        flows[i].is_settled = last_path_of(flows[i].target).flow == flows[i].settled.flow &&
                              !asked[family == AF_INET6] && !flow_world_is_asking(family);
        tally.settled += flows[i].is_settled && flows[i].what.kind == FLOW_SOCKET && family == AF_INET6;
    }
}

static void expect_right(const struct flow_world *world, unsigned long seed, unsigned long change)
{
    const double end = watcher_now() + time_limit_of(TIME_LIMIT);
    const struct flow *found;
    struct text text = { .length = 0 };
    char description[2048];

    tally.checks++;
    do
        while (SCRunLoopPerform(loop, 0.001) > 0)
            continue;
    while ((found = find_wrong(world)) != NULL && watcher_now() < end);
    if (found == NULL) {
        settle();
        return;
    }
    flow_case_describe(&found->what, &text);
    SCNetworkReachabilityGetDescription(found->target, description, sizeof description);
    fail_msg("SOAK_SEED=%lu, change %lu: %s: %s, after %u callbacks\n%s", seed, change, text.bytes, wrong.bytes,
             found->calls, description);
}

/* ---- The test --------------------------------------------------------------------------------------------------- */

static unsigned long from_environment(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);

    return text != NULL && *text != '\0' ? strtoul(text, NULL, 0) : otherwise;
}

static void play(unsigned long seed, unsigned long count)
{
    const bool verbose = from_environment("SOAK_VERBOSE", 0) != 0;
    SCNetworkReachabilityRef paths[2];
    uint64_t random = seed;
    struct flow_world world;
    struct text text;
    unsigned burst = 0;

    flow_world_open(&world, random_next(&random));
    flow_oracle_open();
    loop = SCRunLoopCreate();
    paths[0] = open_path("a");
    paths[1] = open_path("c");
    for (size_t i = 0; i < FLOWS; i++)
        open_flow(&flows[i], &random);
    (void)SCRunLoopPerform(loop, 0);
    for (unsigned long i = 0; i < count; i++) {
        flow_world_change(&world, random_next(&random), &text);
        tally.changes++;
        if (verbose)
            print_message("%s\n", text.bytes);
        if (++burst < BURST && random_next(&random) % 4 != 0)
            continue;
        burst = 0;
        expect_right(&world, seed, i);
    }
    for (size_t i = 0; i < FLOWS; i++)
        close_flow(&flows[i]);
    close_path(paths[0]);
    close_path(paths[1]);
    SCRunLoopRelease(loop);
    flow_oracle_close();
    flow_world_close(&world);
}

TEST(flows_sockets_and_next_hops_agree_with_the_kernel_after_random_changes)
{
    const unsigned long steps = from_environment("SOAK_STEPS", unit_is_under(NULL) ? STEPS / 10 : STEPS);
    const double limit = (double)from_environment("SOAK_MINUTES", 0) * 60, began = watcher_now();
    unsigned long seed = from_environment("SOAK_SEED", (unsigned long)time(NULL));

    print_message("SOAK_SEED=%lu SOAK_STEPS=%lu\n", seed, steps);
    for (; tally.changes < steps && (limit <= 0 || watcher_now() - began < limit); seed++)
        play(seed, steps - tally.changes < EPISODE ? steps - tally.changes : EPISODE);
    unit_expect_no_complaint();
    print_message(
        "%lu changes (%.0f a second), %lu checks, %lu comparisons (%lu uncertain), %lu sockets (%lu times an IPv6 "
        "flow), %lu callbacks, %lu with a failed next hop: 0 wrong\n",
        tally.changes, (double)tally.changes / (watcher_now() - began), tally.checks, tally.comparisons,
        tally.uncertain, tally.sockets, tally.settled, tally.calls, tally.failures);
}
