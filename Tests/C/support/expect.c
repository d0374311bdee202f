/* SPDX-License-Identifier: MIT */
#include "support/expect.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#include "support/denial.h"

struct sockaddr_storage expect_sockaddr(const char *text)
{
    struct sockaddr_storage storage = { 0 };
    struct sockaddr_in *in = (struct sockaddr_in *)&storage;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&storage;
    const char *zone = strchr(text, '%');
    char digits[64];

    snprintf(digits, sizeof digits, "%.*s", zone == NULL ? (int)strlen(text) : (int)(zone - text), text);
    if (inet_pton(AF_INET, digits, &in->sin_addr) == 1) {
        in->sin_family = AF_INET;
        return storage;
    }
    memset(&storage, 0, sizeof storage);
    if (inet_pton(AF_INET6, digits, &in6->sin6_addr) != 1)
        fail_msg("%s is no address", text);
    in6->sin6_family = AF_INET6;
    if (zone != NULL && (in6->sin6_scope_id = if_nametoindex(zone + 1)) == 0)
        fail_msg("there is no %s", zone + 1);
    return storage;
}

static SCNetworkReachabilityRef made(SCNetworkReachabilityRef target)
{
    if (target == NULL)
        fail_msg("no target: %s", SCErrorString(SCError()));
    return target;
}

SCNetworkReachabilityRef expect_name(const char *name)
{
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(NULL, name);

    if (target == NULL)
        fail_msg("%s: %s", name, SCErrorString(SCError()));
    return target;
}

SCNetworkReachabilityRef expect_target(const char *address)
{
    const struct sockaddr_storage storage = expect_sockaddr(address);

    return made(SCNetworkReachabilityCreateWithAddress(NULL, (const struct sockaddr *)&storage));
}

SCNetworkReachabilityRef expect_pair(const char *local, const char *remote)
{
    const struct sockaddr_storage from = expect_sockaddr(local != NULL ? local : "0.0.0.0");
    const struct sockaddr_storage to = expect_sockaddr(remote != NULL ? remote : "0.0.0.0");

    return made(SCNetworkReachabilityCreateWithAddressPair(NULL, local != NULL ? (const struct sockaddr *)&from : NULL,
                                                           remote != NULL ? (const struct sockaddr *)&to : NULL));
}

SCNetworkReachabilityRef expect_bound_pair(const char *local, const char *remote, const char *interface)
{
    const struct sockaddr_storage from = expect_sockaddr(local), to = expect_sockaddr(remote);
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    options.localAddress = (const struct sockaddr *)&from;
    options.remoteAddress = (const struct sockaddr *)&to;
    options.interfaceName = interface;
    return made(SCNetworkReachabilityCreateWithOptions(NULL, &options));
}

SCNetworkReachabilityRef expect_bound(const char *address, const char *interface)
{
    const struct sockaddr_storage storage = expect_sockaddr(address);
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    options.remoteAddress = (const struct sockaddr *)&storage;
    options.interfaceName = interface;
    return made(SCNetworkReachabilityCreateWithOptions(NULL, &options));
}

SCNetworkReachabilityRef expect_option(const char *address, uint32_t option)
{
    const struct sockaddr_storage storage = expect_sockaddr(address);
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    options.remoteAddress = (const struct sockaddr *)&storage;
    options.options = option;
    return made(SCNetworkReachabilityCreateWithOptions(NULL, &options));
}

void expect_callback_set(SCNetworkReachabilityRef target, SCNetworkReachabilityCallBack callback, void *info)
{
    SCNetworkReachabilityContext context = { .info = info };

    if (!SCNetworkReachabilitySetCallback(target, callback, &context))
        fail_msg("no callback: %s", SCErrorString(SCError()));
}

SCNetworkReachabilityFlags expect_flags_of(SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityFlags flags = 0xdeadbeef;

    if (!SCNetworkReachabilityGetFlags(target, &flags))
        fail_msg("GetFlags: %s", SCErrorString(SCError()));
    return flags;
}

SCNetworkReachabilityPath expect_path_of(SCNetworkReachabilityRef target)
{
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;

    if (!SCNetworkReachabilityGetPath(target, &path))
        fail_msg("GetPath: %s", SCErrorString(SCError()));
    return path;
}

void expect_failure(SCNetworkReachabilityRef target, int status)
{
    SCNetworkReachabilityFlags flags = 0xdeadbeef;
    SCNetworkReachabilityPath path = kSCNetworkReachabilityPathInitializer;

    path.mtu = 17;
    assert_false(SCNetworkReachabilityGetFlags(target, &flags));
    assert_int_equal(SCError(), status);
    assert_int_equal(flags, 0xdeadbeef);
    assert_false(SCNetworkReachabilityGetPath(target, &path));
    assert_int_equal(SCError(), status);
    assert_int_equal(path.mtu, 17);
}

struct expect_counters expect_counters_of(SCNetworkReachabilityRef target)
{
    struct expect_counters counters = { 0 };
    char text[2048];

    (void)SCNetworkReachabilityGetDescription(target, text, sizeof text);
    const char *line = strstr(text, "counters: ");
    if (line == NULL || sscanf(line, "counters: %lu evaluations, %lu callbacks, %lu queries, %lu overruns",
                               &counters.evaluations, &counters.callbacks, &counters.queries, &counters.overruns) != 4)
        fail_msg("no counters in: %s", text);
    return counters;
}

/* ---- What a socket shows ---------------------------------------------------------------------------------------- */

SCNetworkReachabilityFlags expect_detectable(SCNetworkReachabilityFlags flags)
{
    return denial_uses_sockets() ? flags & (R | L) : flags;
}

static SCNetworkReachabilityEvidence evidence(void)
{
    return denial_uses_sockets() ? kSCNetworkReachabilityEvidenceSocket : kSCNetworkReachabilityEvidenceKernel;
}

/* A socket shows other reasons for the same result. The kernel looks for an IPv6 source before a route. If an interface
 * is down, its routes are gone. */
static bool is_equivalent_reason(SCNetworkReachabilityReason wanted, SCNetworkReachabilityReason got)
{
    return wanted == kSCNetworkReachabilityReasonNoRoute &&
           (got == kSCNetworkReachabilityReasonNoSourceAddress || got == kSCNetworkReachabilityReasonInterfaceDown);
}

/* ---- Results ---------------------------------------------------------------------------------------------------- */

static void fail_at(SCNetworkReachabilityRef target, const char *call, const char *wanted, const char *got,
                    const char *file, int line)
{
    char description[1024];

    SCNetworkReachabilityGetDescription(target, description, sizeof description);
    print_error("%s: wanted %s, got %s\n%s\n", call, wanted, got, description);
    _fail(file, line);
}

static void compare_flags(SCNetworkReachabilityRef target, const char *call, SCNetworkReachabilityFlags wanted,
                          SCNetworkReachabilityFlags got, const char *file, int line)
{
    char wanted_text[256], got_text[256];

    if (got == wanted)
        return;
    SCNetworkReachabilityFlagsGetString(wanted, wanted_text, sizeof wanted_text);
    SCNetworkReachabilityFlagsGetString(got, got_text, sizeof got_text);
    fail_at(target, call, wanted_text, got_text, file, line);
}

static void compare_number(SCNetworkReachabilityRef target, const char *what, uint32_t wanted, uint32_t got,
                           const char *file, int line)
{
    char wanted_text[16], got_text[16];

    if (got == wanted)
        return;
    snprintf(wanted_text, sizeof wanted_text, "%u", wanted);
    snprintf(got_text, sizeof got_text, "%u", got);
    fail_at(target, what, wanted_text, got_text, file, line);
}

void expect_interface(SCNetworkReachabilityRef target, const char *name, const char *file, int line)
{
    const SCNetworkReachabilityPath path = expect_path_of(target);

    if (denial_uses_sockets() && path.interfaceIndex == 0)
        name = "";
    if (strcmp(path.interfaceName, name) != 0)
        fail_at(target, "interface", name, path.interfaceName, file, line);
    if (path.interfaceIndex != if_nametoindex(name))
        fail_at(target, "interface index", name, "another", file, line);
}

static void compare_address(SCNetworkReachabilityRef target, const char *what, const char *wanted,
                            const struct sockaddr_storage *got, const char *file, int line)
{
    char text[INET6_ADDRSTRLEN] = "none";

    if (got->ss_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)got)->sin_addr, text, sizeof text);
    if (got->ss_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)got)->sin6_addr, text, sizeof text);
    if (strcmp(text, wanted) != 0)
        fail_at(target, what, wanted, text, file, line);
}

void expect_gateway(SCNetworkReachabilityRef target, const char *address, const char *file, int line)
{
    const SCNetworkReachabilityPath path = expect_path_of(target);

    compare_address(target, "gateway", denial_uses_sockets() ? "none" : address, &path.gateway, file, line);
}

void expect_source(SCNetworkReachabilityRef target, const char *address, const char *file, int line)
{
    const SCNetworkReachabilityPath path = expect_path_of(target);

    compare_address(target, "source", address, &path.source, file, line);
}

void expect_type(SCNetworkReachabilityRef target, SCNetworkReachabilityInterfaceType type, const char *file, int line)
{
    compare_number(target, "type", denial_uses_sockets() ? kSCNetworkReachabilityInterfaceTypeOther : type,
                   expect_path_of(target).interfaceType, file, line);
}

void expect_table(SCNetworkReachabilityRef target, uint32_t table, const char *file, int line)
{
    compare_number(target, "table", denial_uses_sockets() ? 0 : table, expect_path_of(target).table, file, line);
}

void expect_result(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags,
                   SCNetworkReachabilityReason reason, const struct expect_path *wanted, const char *file, int line)
{
    const SCNetworkReachabilityPath path = expect_path_of(target);

    flags = expect_detectable(flags);
    compare_flags(target, "GetFlags", flags, expect_flags_of(target), file, line);
    compare_flags(target, "GetPath", flags, path.flags, file, line);
    if (path.reason != reason && !(denial_uses_sockets() && is_equivalent_reason(reason, path.reason)))
        fail_at(target, "reason", SCNetworkReachabilityReasonString(reason),
                SCNetworkReachabilityReasonString(path.reason), file, line);
    compare_number(target, "evidence", evidence(), path.evidence, file, line);
    if (wanted == NULL)
        return;
    if (wanted->interface != NULL)
        expect_interface(target, wanted->interface, file, line);
    if (wanted->gateway != NULL)
        expect_gateway(target, wanted->gateway, file, line);
    if (wanted->source != NULL)
        expect_source(target, wanted->source, file, line);
}

void expect_results(const SCNetworkReachabilityRef *targets, SCNetworkReachabilityFlags flags,
                    SCNetworkReachabilityReason reason, const char *file, int line)
{
    for (; *targets != NULL; targets++)
        expect_result(*targets, flags, reason, NULL, file, line);
}

void expect_results_of(const char *const *addresses, SCNetworkReachabilityFlags flags,
                       SCNetworkReachabilityReason reason, const char *file, int line)
{
    for (; *addresses != NULL; addresses++) {
        SCOPED_TARGET target = expect_target(*addresses);

        expect_result(target, flags, reason, NULL, file, line);
    }
}
