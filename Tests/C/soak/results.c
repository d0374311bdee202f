/* SPDX-License-Identifier: MIT */
#include "soak/results.h"

#include <arpa/inet.h>

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
    SCNetworkReachabilityRef fresh = spec_create_target(&watched->spec);
    struct results results = { .reported = watched_reported(watched),
                               .cached = flags_of(watched->target),
                               .fresh = flags_of(fresh),
                               .oracle = oracle_flags(&watched->spec),
                               .oracle_fresh = oracle_flags_without_peers(&watched->spec),
                               .last = kSCNetworkReachabilityPathInitializer,
                               .path = kSCNetworkReachabilityPathInitializer,
                               .options = watched->spec.options };

    if (!SCNetworkReachabilityGetLastPath(watched->target, &results.last) ||
        !SCNetworkReachabilityGetPath(fresh, &results.path))
        fail_msg("GetPath: %s", SCErrorString(SCError()));
    SCNetworkReachabilityRelease(fresh);
    if ((results.oracle & R) != 0)
        (void)oracle_source(&watched->spec, &results.source);
    return results;
}

bool results_addresses_agree(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    if (a->ss_family != b->ss_family)
        return false;
    if (a->ss_family == AF_INET)
        return ((const struct sockaddr_in *)a)->sin_addr.s_addr == ((const struct sockaddr_in *)b)->sin_addr.s_addr;
    return a->ss_family != AF_INET6 ||
           memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr, &((const struct sockaddr_in6 *)b)->sin6_addr, 16) == 0;
}

/* A callback comes for each of these only with NotifyPath. Without it, both paths are new. */
static bool details_agree(const struct results *results)
{
    const SCNetworkReachabilityPath *last = &results->last, *path = &results->path;

    return last->interfaceIndex == path->interfaceIndex && results_addresses_agree(&last->gateway, &path->gateway) &&
           results_addresses_agree(&last->source, &path->source) &&
           (results->source.ss_family == AF_UNSPEC || results_addresses_agree(&results->source, &path->source));
}

bool results_agree(const struct results *results)
{
    const SCNetworkReachabilityFlags flags = results->oracle;

    if (results->reported != flags || results->cached != flags || results->fresh != results->oracle_fresh ||
        results->last.flags != flags || results->path.flags != flags)
        return false;
    if (results->last.reason != results->path.reason)
        return false;
    return (flags & R) == 0 || details_agree(results);
}

const char *results_address_text(const struct sockaddr_storage *address, char text[INET6_ADDRSTRLEN])
{
    const void *bytes = address->ss_family == AF_INET ? (const void *)&((const struct sockaddr_in *)address)->sin_addr
                                                      : &((const struct sockaddr_in6 *)address)->sin6_addr;

    return address->ss_family == AF_UNSPEC ? "none" : inet_ntop(address->ss_family, bytes, text, INET6_ADDRSTRLEN);
}

static void print_flags(const char *name, SCNetworkReachabilityFlags flags)
{
    char text[256];

    SCNetworkReachabilityFlagsGetString(flags, text, sizeof text);
    print_message("  %s: %s", name, text);
}

static void print_path(const char *name, const SCNetworkReachabilityPath *path)
{
    char gateway[INET6_ADDRSTRLEN], source[INET6_ADDRSTRLEN];

    print_flags(name, path->flags);
    print_message(" (%s, interface %u, gateway %s, source %s, table %u)\n",
                  SCNetworkReachabilityReasonString(path->reason), path->interfaceIndex,
                  results_address_text(&path->gateway, gateway), results_address_text(&path->source, source),
                  path->table);
}

void results_print(const struct watched *watched, const struct results *results)
{
    static const char *const executors[EXECUTORS] = { "fetched",    "driven",         "loop",
                                                      "other loop", "library thread", "queue" };
    struct text spec = { .length = 0 };
    char source[INET6_ADDRSTRLEN];

    spec_describe(&watched->spec, &spec);
    print_message("%s, %s:\n", spec.bytes, executors[watched->executor]);
    print_flags("last callback", results->reported);
    print_flags("GetFlags", results->cached);
    print_flags("a new target", results->fresh);
    print_flags("the oracle", results->oracle);
    print_message(" (source %s)\n", results_address_text(&results->source, source));
    print_path("GetLastPath", &results->last);
    print_path("GetPath of a new target", &results->path);
}
