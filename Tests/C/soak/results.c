/* SPDX-License-Identifier: MIT */
#include "soak/results.h"

#include "soak/oracle.h"
#include "support/expect.h"

static SCNetworkReachabilityFlags flags_of(SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityFlags flags = 0;

    if (!SCNetworkReachabilityGetFlags(target, &flags))
        fail_msg("GetFlags: %s", SCErrorString(SCError()));
    return flags;
}

struct results results_query(const struct watched *watched)
{
    SCNetworkReachabilityRef fresh = aim_create_target(&watched->aim);
    struct results           results = { .reported = watched_reported(watched),
                                         .cached = flags_of(watched->target),
                                         .fresh = flags_of(fresh),
                                         .oracle = oracle_flags(&watched->aim),
                                         .oracle_fresh = oracle_flags_without_peers(&watched->aim),
                                         .last = kSCNetworkReachabilityPathInitializer,
                                         .path = kSCNetworkReachabilityPathInitializer,
                                         .options = watched->aim.options };

    if (!SCNetworkReachabilityGetLastPath(watched->target, &results.last) ||
        !SCNetworkReachabilityGetPath(fresh, &results.path))
        fail_msg("GetPath: %s", SCErrorString(SCError()));
    SCNetworkReachabilityRelease(fresh);
    return results;
}

bool results_agree(const struct results *results)
{
    const SCNetworkReachabilityFlags flags = results->oracle;

    if (results->reported != flags || results->cached != flags || results->fresh != results->oracle_fresh ||
        results->last.flags != flags || results->path.flags != flags)
        return false;
    if (results->last.reason != results->path.reason)
        return false;
    return (flags & R) == 0 || results->last.interfaceIndex == results->path.interfaceIndex;
}

static void print_flags(const char *name, SCNetworkReachabilityFlags flags)
{
    char text[256];

    SCNetworkReachabilityFlagsGetString(flags, text, sizeof text);
    print_message("  %s: %s", name, text);
}

static void print_path(const char *name, const SCNetworkReachabilityPath *path)
{
    print_flags(name, path->flags);
    print_message(" (%s, interface %u, table %u)\n", SCNetworkReachabilityReasonString(path->reason),
                  path->interfaceIndex, path->table);
}

void results_print(const struct watched *watched, const struct results *results)
{
    static const char *const venues[VENUES] = { "fetched",    "driven",         "loop", "other loop",
                                                "both loops", "library thread", "queue" };
    struct text              aim = { .length = 0 };

    aim_describe(&watched->aim, &aim);
    print_message("%s, %s:\n", aim.bytes, venues[watched->venue]);
    print_flags("last callback", results->reported);
    print_flags("GetFlags", results->cached);
    print_flags("a new target", results->fresh);
    print_flags("the oracle", results->oracle);
    print_message("\n");
    print_path("GetLastPath", &results->last);
    print_path("GetPath of a new target", &results->path);
}
