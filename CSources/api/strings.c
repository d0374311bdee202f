/* SPDX-License-Identifier: MIT */
/* What is said in words: flags, reasons, errors, and a target's description. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/schedule.h"
#include "base/error.h"

/* Text that is written to a buffer as far as it fits, and counted whole. */
struct text {
    char  *buffer;
    size_t capacity, length;
};

__attribute__((format(printf, 2, 3))) static void text_add(struct text *text, const char *format, ...)
{
    const bool fits = text->length < text->capacity;
    va_list    arguments;
    int        added;

    va_start(arguments, format);
    added = vsnprintf(fits ? text->buffer + text->length : NULL, fits ? text->capacity - text->length : 0, format,
                      arguments);
    va_end(arguments);
    if (added > 0)
        text->length += (size_t)added;
}

/* False: a buffer is promised and not there. */
static bool text_begin(struct text *text, char *buffer, size_t capacity)
{
    if (buffer == NULL && capacity != 0) {
        error_set(kSCStatusInvalidArgument);
        return false;
    }
    *text = (struct text){ .buffer = buffer, .capacity = capacity };
    if (capacity != 0)
        buffer[0] = '\0';
    return true;
}

/* ---- Flags, reasons, errors ------------------------------------------------------------------------------------- */

static const struct {
    SCNetworkReachabilityFlags flag;
    const char                *word;
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

static void add_flags(struct text *text, SCNetworkReachabilityFlags flags)
{
    const char *separator = "";

    if (flags == 0)
        text_add(text, "Not Reachable");
    for (size_t i = 0; i < sizeof flag_words / sizeof flag_words[0]; i++) {
        if ((flags & flag_words[i].flag) == 0)
            continue;
        text_add(text, "%s%s", separator, flag_words[i].word);
        separator = ",";
        flags &= ~(SCNetworkReachabilityFlags)flag_words[i].flag;
    }
    if (flags != 0)
        text_add(text, "%s0x%08" PRIx32, separator, flags);
}

size_t SCNetworkReachabilityFlagsGetString(SCNetworkReachabilityFlags flags, char *buffer, size_t capacity)
{
    struct text text;

    if (!text_begin(&text, buffer, capacity))
        return 0;
    add_flags(&text, flags);
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

int SCError(void)
{
    return error_get();
}

const char *SCErrorString(int status)
{
    const char *text;

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
        /* glibc 2.32: strerror(3) is neither static nor safe in threads. */
        text = status > 0 && status < 1000 ? strerrordesc_np(status) : NULL;
        return text != NULL ? text : "Unknown error";
    }
}

const char *SCNetworkReachabilityGetVersion(void)
{
    return REACHABILITY_VERSION;
}

/* ---- Descriptions ----------------------------------------------------------------------------------------------- */

static void add_address(struct text *text, const struct question *question, const struct address *address)
{
    char digits[46];

    address_format(address, digits);
    text_add(text, "%s", digits);
    if (question->interface[0] != '\0' && address_needs_scope(address))
        text_add(text, "%%%s", question->interface);
    else if (question->scope != 0)
        text_add(text, "%%%" PRIu32, question->scope);
}

static void add_subject(struct text *text, const struct SCNetworkReachability *target)
{
    const struct question *question = &target->form;

    switch (target->kind) {
    case TARGET_NAME:
        text_add(text, "name = %s", target->name);
        return;
    case TARGET_DEFAULT:
        text_add(text, "default path");
        return;
    case TARGET_ADDRESS:
        text_add(text, "address = ");
        add_address(text, question, &question->destination);
        return;
    case TARGET_PAIR:
        text_add(text, "local address = ");
        add_address(text, question, &question->local);
        text_add(text, ", remote address = ");
        add_address(text, question, &question->destination);
        return;
    }
}

/* What ip-route(8) would say. */
static void add_path(struct text *text, const struct path *path)
{
    char digits[46];

    text_add(text, "\n  path:%s", path->evidence == kSCNetworkReachabilityEvidenceSocket ? " (asked a socket)" : "");
    if (path->gateway.family != AF_UNSPEC) {
        address_format(&path->gateway, digits);
        text_add(text, " via %s", digits);
    }
    if (path->index != 0)
        text_add(text, " dev %s (index %" PRIu32 ")", path->name[0] != '\0' ? path->name : "?", path->index);
    if (path->source.family != AF_UNSPEC) {
        address_format(&path->source, digits);
        text_add(text, " src %s", digits);
    }
    if (path->index == 0 && path->source.family == AF_UNSPEC)
        text_add(text, " none");
    if (path->index != 0)
        text_add(text, " mtu %" PRIu32 " table %" PRIu32, path->mtu, path->table);
}

static void add_answer(struct text *text, const struct path *path)
{
    text_add(text, "\n  flags: ");
    add_flags(text, path->flags);
    text_add(text, "\n  reason: %s", SCNetworkReachabilityReasonString(path->reason));
    add_path(text, path);
}

/* Taken under the target's lock, written without it. */
struct snapshot {
    struct path                 scheduled;
    bool                        looking;
    SCNetworkReachabilityReason answer; /* of a name's look-up; NamePending: there is none */
    unsigned long               evaluations, deliveries;
};

static struct snapshot take_snapshot(struct SCNetworkReachability *target)
{
    struct snapshot snapshot;

    pthread_mutex_lock(&target->lock);
    snapshot = (struct snapshot){ .scheduled = target->current,
                                  .looking = target->looking,
                                  .answer = target->questions->reason,
                                  .evaluations = target->evaluations,
                                  .deliveries = target->deliveries };
    pthread_mutex_unlock(&target->lock);
    return snapshot;
}

static const char *resolver_words(const struct snapshot *snapshot)
{
    const bool pending = snapshot->answer == kSCNetworkReachabilityReasonNamePending;

    if (snapshot->looking)
        return pending ? "asked, not answered yet" : "asked again";
    switch (snapshot->answer) {
    case kSCNetworkReachabilityReasonNamePending:
        return "not asked";
    case kSCNetworkReachabilityReasonNameServerFailure:
    case kSCNetworkReachabilityReasonNameServerUnreachable:
        return "failed";
    default:
        return "answered";
    }
}

size_t SCNetworkReachabilityGetDescription(SCNetworkReachabilityRef target, char *buffer, size_t capacity)
{
    struct SCNetworkReachability *self;
    struct schedule_summary       summary;
    struct snapshot               snapshot;
    struct path                   path;
    struct text                   text;

    if (!target_check(target, &self) || !text_begin(&text, buffer, capacity))
        return 0;
    summary = schedule_summarize(self);
    snapshot = take_snapshot(self);
    text_add(&text, "<SCNetworkReachability %p> {", (const void *)target);
    add_subject(&text, self);
    if (summary.loops != 0)
        text_add(&text, ", flags = 0x%08" PRIx32 ", if_index = %" PRIu32, snapshot.scheduled.flags,
                 snapshot.scheduled.index);
    text_add(&text, "}\n  schedule: ");
    if (summary.handed)
        text_add(&text, "on a scheduler");
    else
        text_add(&text, "%u times on %u run loops", summary.times, summary.loops);
    if (target_evaluate(self, QUERY_SOURCE, &path) == 0)
        add_answer(&text, &path);
    text_add(&text, "\n  resolver: %s", self->pending ? resolver_words(&snapshot) : "not needed");
    text_add(&text, "\n  counters: %lu evaluations, %lu callbacks, %lu queries, %lu overruns", snapshot.evaluations,
             snapshot.deliveries, summary.counters.queries, summary.counters.overruns);
    return text.length;
}
