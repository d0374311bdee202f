/* SPDX-License-Identifier: MIT */
/* Text for people: flags, reasons, errors, paths, and a target's description. */
#ifdef __linux__
#include <inttypes.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/target.h"
#include "base/error.h"
#include "pure/escape.h"
#include "route/full_path.h"

/* Errors of the system are below it, statuses of the library above. */
#define ERRNO_END 1000

/* Text in a caller's buffer, as snprintf writes it: cut off at `capacity`. */
struct text_buffer {
    char *bytes;
    size_t capacity;
    size_t length; /* of the whole text */
};

__attribute__((format(printf, 2, 3))) static void append_text(struct text_buffer *text, const char *format, ...)
{
    const bool fits = text->length < text->capacity;
    va_list arguments;
    int added;

    va_start(arguments, format);
    added = vsnprintf(fits ? text->bytes + text->length : NULL, fits ? text->capacity - text->length : 0, format,
                      arguments);
    va_end(arguments);
    if (added > 0)
        text->length += (size_t)added;
}

/* Text that a program or another process has chosen: a name of a host or an interface. */
static void append_name(struct text_buffer *text, const char *name)
{
    char piece[ESCAPE_SIZE];

    while (reach_escape_next(&name, piece))
        append_text(text, "%s", piece);
}

/* Returns false and sets SCError() if the buffer is NULL but has a capacity. */
static bool begin_text(struct text_buffer *text, char *buffer, size_t capacity)
{
    if (buffer == NULL && capacity != 0) {
        reach_error_set(reach_error_invalid("buffer: NULL, and capacity is not 0"));
        return false;
    }
    *text = (struct text_buffer){ .bytes = buffer, .capacity = capacity };
    if (capacity != 0)
        buffer[0] = '\0';
    return true;
}

/* ---- Flags, reasons, errors ------------------------------------------------------------------------------------- */

static const struct {
    SCNetworkReachabilityFlags flag;
    const char *word;
} flag_words[] = {
    { kSCNetworkReachabilityFlagsReachable, "Reachable" },
    { kSCNetworkReachabilityFlagsTransientConnection, "Transient Connection" },
    { kSCNetworkReachabilityFlagsConnectionRequired, "Connection Required" },
    { kSCNetworkReachabilityFlagsConnectionOnTraffic, "Automatic Connection On Traffic" },
    { kSCNetworkReachabilityFlagsConnectionOnDemand, "Automatic Connection On Demand" },
    { kSCNetworkReachabilityFlagsInterventionRequired, "Intervention Required" },
    { kSCNetworkReachabilityFlagsIsLocalAddress, "Local Address" },
    { kSCNetworkReachabilityFlagsIsDirect, "Directly Reachable Address" },
    { kSCNetworkReachabilityFlagsIsWWAN, "WWAN" },
};

static void append_flags(struct text_buffer *text, SCNetworkReachabilityFlags flags)
{
    const char *separator = "";

    if (flags == 0)
        append_text(text, "Not Reachable");
    for (size_t i = 0; i < sizeof flag_words / sizeof flag_words[0]; i++) {
        if ((flags & flag_words[i].flag) == 0)
            continue;
        append_text(text, "%s%s", separator, flag_words[i].word);
        separator = ",";
        flags &= ~(SCNetworkReachabilityFlags)flag_words[i].flag;
    }
    if (flags != 0)
        append_text(text, "%s0x%08" PRIx32, separator, flags);
}

size_t SCNetworkReachabilityFlagsGetString(SCNetworkReachabilityFlags flags, char *buffer, size_t capacity)
{
    struct text_buffer text;

    if (!begin_text(&text, buffer, capacity))
        return 0;
    append_flags(&text, flags);
    return text.length;
}

const char *SCNetworkReachabilityReasonString(SCNetworkReachabilityReason reason)
{
    static const char *const words[] = {
        [kSCNetworkReachabilityReasonNone] = "none",
        [kSCNetworkReachabilityReasonNoRoute] = "no route",
        [kSCNetworkReachabilityReasonRouteUnreachable] = "route unreachable",
        [kSCNetworkReachabilityReasonRouteProhibited] = "route prohibited",
        [kSCNetworkReachabilityReasonRouteBlackhole] = "route blackhole",
        [kSCNetworkReachabilityReasonInterfaceDown] = "interface down",
        [kSCNetworkReachabilityReasonNoCarrier] = "no carrier",
        [kSCNetworkReachabilityReasonNoSourceAddress] = "no source address",
        [kSCNetworkReachabilityReasonLocalAddressNotAssigned] = "local address not assigned",
        [kSCNetworkReachabilityReasonNamePending] = "name pending",
        [kSCNetworkReachabilityReasonNameNotFound] = "name not found",
        [kSCNetworkReachabilityReasonNameServerFailure] = "name server failure",
        [kSCNetworkReachabilityReasonNameServerUnreachable] = "name server unreachable",
        [kSCNetworkReachabilityReasonInterfaceMissing] = "interface missing",
    };

    return reason < sizeof words / sizeof words[0] ? words[reason] : "unknown reason";
}

/* The text of a known error lasts for ever, unlike that of strerror(3). newlocale(3) does not allocate for "C".
 * strerrordesc_np(3) would need glibc 2.32. */
static const char *errno_text(int status)
{
    static const char unknown[] = "Unknown error";
    const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const char *text = c != (locale_t)0 && status > 0 && status < ERRNO_END ? strerror_l(status, c) : unknown;

    return strncmp(text, unknown, sizeof unknown - 1) == 0 ? unknown : text;
}

const char *SCErrorString(int status)
{
    switch (status) {
    case kSCStatusOK:
        return "Success";
    case kSCStatusFailed:
        return "Failed";
    case kSCStatusInvalidArgument:
        return "Invalid argument";
    case kSCStatusAccessError:
        return "Permission denied";
    case kSCStatusReachabilityUnknown:
        return "Reachability could not be determined";
    default:
        return errno_text(status);
    }
}

const char *SCNetworkReachabilityGetVersion(void)
{
    return REACHABILITY_VERSION;
}

/* ---- Paths ------------------------------------------------------------------------------------------------------ */

/* In the words of ip-route(8). */
static void append_way(struct text_buffer *text, const struct path *path)
{
    /* Not those of cables, nor those that work like cables. */
    static const char *const type_words[] = {
        [kSCNetworkReachabilityInterfaceTypeWiFi] = " type wifi",
        [kSCNetworkReachabilityInterfaceTypeCellular] = " type cellular",
        [kSCNetworkReachabilityInterfaceTypePointToPoint] = " type ppp",
        [kSCNetworkReachabilityInterfaceTypeTunnel] = " type tunnel",
    };
    char digits[46];

    if (path->index != 0) {
        append_text(text, " dev ");
        append_name(text, path->name[0] != '\0' ? path->name : "?");
        if (path->type < sizeof type_words / sizeof type_words[0] && type_words[path->type] != NULL)
            append_text(text, "%s", type_words[path->type]);
    }
    if (path->gateway.family != AF_UNSPEC) {
        reach_address_format(&path->gateway, digits);
        append_text(text, " via %s", digits);
    }
    if (path->source.family != AF_UNSPEC) {
        reach_address_format(&path->source, digits);
        append_text(text, " src %s", digits);
    }
}

static void append_status(struct text_buffer *text, const struct path *path)
{
    if (reach_path_is_reachable(path))
        append_text(text, "reachable%s",
                    (path->flags & kSCNetworkReachabilityFlagsIsLocalAddress) != 0 ? " local"
                    : (path->flags & kSCNetworkReachabilityFlagsIsDirect) != 0     ? " on-link"
                                                                                   : "");
    else if (reach_path_rank(path) == 1)
        append_text(text, "not reachable: connection required");
    else if (path->reason != kSCNetworkReachabilityReasonNone)
        append_text(text, "not reachable: %s", SCNetworkReachabilityReasonString(path->reason));
    else
        append_text(text, "not reachable");
}

size_t SCNetworkReachabilityPathGetString(const SCNetworkReachabilityPath *path, char *buffer, size_t capacity)
{
    struct text_buffer text;
    struct path own;

    if (!reach_getters_read_path(path, &own) || !begin_text(&text, buffer, capacity))
        return 0;
    if (own.reason == kSCNetworkReachabilityReasonNamePending) { /* the rest is about the default path */
        append_text(&text, "pending");
        return text.length;
    }
    append_status(&text, &own);
    append_way(&text, &own);
    if ((own.flow & kSCNetworkReachabilityFlowBetterPath) != 0)
        append_text(&text, ", better path");
    if ((own.flow & kSCNetworkReachabilityFlowSourceForeign) != 0)
        append_text(&text, ", foreign source");
    if ((own.flow & kSCNetworkReachabilityFlowIncomplete) != 0)
        append_text(&text, ", flow incomplete");
    if (own.next_hop == kSCNetworkReachabilityNextHopFailed)
        append_text(&text, ", next hop failed");
    if (own.evidence == kSCNetworkReachabilityEvidenceSocket)
        append_text(&text, ", from a UDP socket");
    return text.length;
}

/* ---- The description -------------------------------------------------------------------------------------------- */

static void append_address(struct text_buffer *text, const struct question *question, const struct address *address,
                           uint32_t scope)
{
    char digits[46];

    reach_address_format(address, digits);
    append_text(text, "%s", digits);
    if (question->interface != NULL && reach_address_needs_scope(address)) {
        append_text(text, "%%");
        append_name(text, question->interface);
    } else if (scope != 0 && reach_address_needs_scope(address)) {
        append_text(text, "%%%" PRIu32, scope);
    }
}

static void append_subject(struct text_buffer *text, const struct SCNetworkReachability *target)
{
    const struct question *question = &target->initial->items[0];

    if (target->kind == TARGET_NAME) {
        append_text(text, "name = ");
        append_name(text, target->name);
    } else if (target->kind == TARGET_DEFAULT) {
        append_text(text, "default path");
    } else {
        if (target->kind == TARGET_PAIR) {
            append_text(text, "local address = ");
            append_address(text, question, &question->local, question->local_scope);
            append_text(text, ", remote ");
        }
        append_text(text, "address = ");
        append_address(text, question, &question->destination, question->scope);
    }
}

static void append_path(struct text_buffer *text, const struct path *path)
{
    static const char *const next_hop_words[] = {
        [kSCNetworkReachabilityNextHopUnknown] = "",
        [kSCNetworkReachabilityNextHopConfirmed] = " next hop confirmed",
        [kSCNetworkReachabilityNextHopUnconfirmed] = " next hop unconfirmed",
        [kSCNetworkReachabilityNextHopFailed] = " next hop failed",
    };

    append_text(text, "\n  flags: ");
    append_flags(text, path->flags);
    append_text(text, "\n  reason: %s", SCNetworkReachabilityReasonString(path->reason));
    append_text(text, "\n  path:%s",
                path->evidence == kSCNetworkReachabilityEvidenceSocket ? " (from a UDP socket)" : "");
    append_way(text, path);
    if (path->index == 0 && path->source.family == AF_UNSPEC)
        append_text(text, " none");
    if (path->index != 0)
        append_text(text, " index %" PRIu32 " mtu %" PRIu32 " table %" PRIu32, path->index, path->mtu, path->table);
    append_text(text, "%s", next_hop_words[path->next_hop]);
}

static const char *lookup_words(bool running, SCNetworkReachabilityReason result)
{
    if (running)
        return result != kSCNetworkReachabilityReasonNamePending ? "looking up again" : "looking up";
    switch (result) {
    case kSCNetworkReachabilityReasonNamePending:
        return "not looked up";
    case kSCNetworkReachabilityReasonNameServerFailure:
    case kSCNetworkReachabilityReasonNameServerUnreachable:
        return "failed";
    default:
        return "looked up";
    }
}

size_t SCNetworkReachabilityGetDescription(SCNetworkReachabilityRef target, char *buffer, size_t capacity)
{
    struct SCNetworkReachability *self;
    struct monitor_counters counters = { 0 };
    const struct schedule *schedule;
    const char *lookup = "not needed";
    unsigned times = 0, evaluations, deliveries;
    bool scheduled, on_scheduler;
    struct outcome current;
    struct path path;
    struct text_buffer text;

    if (!target_check(target, &self) || !begin_text(&text, buffer, capacity))
        return 0;
    target_lock(self); /* copied under it, printed without it */
    schedule = self->schedule;
    scheduled = schedule != NULL;
    on_scheduler = scheduled && schedule->scheduler != NULL;
    if (scheduled) {
        times = schedule->times[MODE_DEFAULT] + schedule->times[MODE_COMMON];
        counters = reach_monitor_count(schedule->loop, &schedule->watch);
    }
    current = self->current;
    evaluations = self->evaluations;
    deliveries = self->deliveries;
    if (self->lookups != NULL)
        lookup = lookup_words(self->lookups->running, self->questions->reason);
    target_unlock(self);
    append_text(&text, "<SCNetworkReachability %p> {", (const void *)target);
    append_subject(&text, self);
    if (scheduled)
        append_text(&text, ", flags = 0x%08" PRIx32 ", if_index = %" PRIu32, current.flags, current.index);
    append_text(&text, "}\n  schedule: ");
    if (scheduled && !on_scheduler)
        append_text(&text, "on a run loop, %u times", times);
    else
        append_text(&text, "%s", on_scheduler ? "on a scheduler" : "none");
    if (reach_getters_evaluate(self, QUERY_SOURCE, &path) == 0 &&
        reach_full_path_find_next_hop(self->netns, &path) == 0)
        append_path(&text, &path);
    append_text(&text, "\n  resolver: %s\n  counters: %u evaluations, %u callbacks, %lu queries, %lu overruns", lookup,
                evaluations, deliveries, counters.queries, counters.overruns);
    return text.length;
}
#endif
