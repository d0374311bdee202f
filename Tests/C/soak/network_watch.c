/* SPDX-License-Identifier: MIT */
#include "soak/network_watch.h"

#include <netinet/in.h>

#include "soak/network_oracle.h"
#include "soak/oracle.h"
#include "soak/results.h"
#include "support/expect.h"

/* ---- Comparison ------------------------------------------------------------------------------------------------- */

static bool paths_agree(const SCNetworkReachabilityDefaultPath *a, const SCNetworkReachabilityDefaultPath *b)
{
    return a->flags == b->flags && a->reason == b->reason && a->interfaceIndex == b->interfaceIndex &&
           a->metric == b->metric && results_addresses_agree(&a->source, &b->source) &&
           results_addresses_agree(&a->gateway, &b->gateway);
}

static bool uplinks_agree(const SCNetworkReachabilityUplink *a, const SCNetworkReachabilityUplink *b)
{
    const bool known = a->interfaceTypeIsKnown && b->interfaceTypeIsKnown;

    return a->interfaceIndex == b->interfaceIndex && strcmp(a->interfaceName, b->interfaceName) == 0 &&
           (!known || a->interfaceType == b->interfaceType) && paths_agree(&a->ipv4, &b->ipv4) &&
           paths_agree(&a->ipv6, &b->ipv6);
}

static void add_path(struct text *text, const SCNetworkReachabilityDefaultPath *path)
{
    char flags[256], gateway[INET6_ADDRSTRLEN], source[INET6_ADDRSTRLEN];

    SCNetworkReachabilityFlagsGetString(path->flags, flags, sizeof flags);
    text_add(text, "%s (%s, interface %u, metric %u, gateway %s, source %s)", flags,
             SCNetworkReachabilityReasonString(path->reason), path->interfaceIndex, path->metric,
             results_address_text(&path->gateway, gateway), results_address_text(&path->source, source));
}

/* Each of these writes how the two differ, if they do. */
static bool compare_paths(const char *name, const SCNetworkReachabilityDefaultPath *a,
                          const SCNetworkReachabilityDefaultPath *b, struct text *ret_difference)
{
    if (paths_agree(a, b))
        return true;
    text_add(ret_difference, "%s: ", name);
    add_path(ret_difference, a);
    text_add(ret_difference, ", ");
    add_path(ret_difference, b);
    return false;
}

static bool compare_numbers(const char *name, uint32_t a, uint32_t b, struct text *ret_difference)
{
    if (a != b)
        text_add(ret_difference, "%s: 0x%x, 0x%x", name, a, b);
    return a == b;
}

static void add_uplink(struct text *text, const SCNetworkReachabilityUplink *uplink)
{
    text_add(text, "interface %u \"%s\" type %d, IPv4: ", uplink->interfaceIndex, uplink->interfaceName,
             uplink->interfaceTypeIsKnown ? (int)uplink->interfaceType : -1);
    add_path(text, &uplink->ipv4);
    text_add(text, ", IPv6: ");
    add_path(text, &uplink->ipv6);
}

static bool compare_uplinks(const SCNetworkReachabilityUplink *a, const SCNetworkReachabilityUplink *b,
                            struct text *ret_difference)
{
    if (uplinks_agree(a, b))
        return true;
    text_add(ret_difference, "an uplink: ");
    add_uplink(ret_difference, a);
    text_add(ret_difference, "; ");
    add_uplink(ret_difference, b);
    return false;
}

static bool compare_servers(const struct sockaddr_storage *a, const struct sockaddr_storage *b,
                            struct text *ret_difference)
{
    char left[INET6_ADDRSTRLEN], right[INET6_ADDRSTRLEN];

    if (results_addresses_agree(a, b))
        return true;
    text_add(ret_difference, "a name server: %s, %s", results_address_text(a, left), results_address_text(b, right));
    return false;
}

static bool compare_views(const struct network_view *left, const struct network_view *right,
                          struct text *ret_difference)
{
    const SCNetworkReachabilityNetwork *a = &left->network, *b = &right->network;
    bool agree = compare_paths("the IPv4 path", &a->ipv4, &b->ipv4, ret_difference) &&
                 compare_paths("the IPv6 path", &a->ipv6, &b->ipv6, ret_difference) &&
                 compare_numbers("the flags of 127.0.0.1", a->ipv4LoopbackFlags, b->ipv4LoopbackFlags,
                                 ret_difference) &&
                 compare_numbers("the flags of ::1", a->ipv6LoopbackFlags, b->ipv6LoopbackFlags, ret_difference) &&
                 compare_numbers("the number of uplinks", a->uplinkCount, b->uplinkCount, ret_difference) &&
                 compare_numbers("whether the uplinks are complete", a->uplinksAreComplete, b->uplinksAreComplete,
                                 ret_difference) &&
                 compare_numbers("the number of name servers", a->nameServerCount, b->nameServerCount,
                                 ret_difference) &&
                 compare_numbers("whether a name server is reachable", a->nameServerIsReachable,
                                 b->nameServerIsReachable, ret_difference);

    for (uint32_t i = 0; agree && i < a->uplinkCount && i < NETWORK_UPLINKS; i++)
        agree = compare_uplinks(&left->uplinks[i], &right->uplinks[i], ret_difference);
    for (uint32_t i = 0; agree && i < a->nameServerCount; i++)
        agree = compare_servers(&a->nameServers[i], &b->nameServers[i], ret_difference);
    return agree;
}

/* ---- Targets ---------------------------------------------------------------------------------------------------- */

static bool get_view(SCNetworkReachabilityRef target, struct network_view *ret)
{
    ret->network = (SCNetworkReachabilityNetwork)kSCNetworkReachabilityNetworkInitializer;
    return SCNetworkReachabilityGetNetwork(target, &ret->network, ret->uplinks, sizeof ret->uplinks[0],
                                           NETWORK_UPLINKS);
}

static void called(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct network_target *self = info;
    struct network_view view;

    (void)flags;
    unit_complain_if(!get_view(target, &view), "GetNetwork failed in a callback");
    pthread_mutex_lock(&self->lock);
    self->reported = view;
    pthread_mutex_unlock(&self->lock);
}

static SCNetworkReachabilityRef create_target(void)
{
    const struct sockaddr_in any = { .sin_family = AF_INET };
    SCNetworkReachabilityOptions options = kSCNetworkReachabilityOptionsInitializer;

    options.remoteAddress = (const struct sockaddr *)&any;
    options.options = kSCNetworkReachabilityOptionNotifyNetwork;
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithOptions(NULL, &options);
    unit_complain_if(target == NULL, "a target was not created");
    return target;
}

void network_targets_open(struct network_targets *ret, struct executors *executors)
{
    static const enum executor where[NETWORK_TARGETS] = { EXECUTOR_DRIVEN, EXECUTOR_OTHER_LOOP, EXECUTOR_QUEUE };

    for (size_t i = 0; i < NETWORK_TARGETS; i++) {
        struct network_target *item = &ret->items[i];
        SCNetworkReachabilityContext context = { .info = item };

        *item = (struct network_target){ .target = create_target(), .executor = where[i] };
        pthread_mutex_init(&item->lock, NULL);
        unit_complain_if(!SCNetworkReachabilitySetCallback(item->target, called, &context), "SetCallback failed");
        unit_complain_if(!executor_schedule(executors, item->executor, item->target), "a target was not scheduled");
    }
}

/* The last callback can run until the executors are closed. */
void network_targets_close(struct network_targets *targets, struct executors *executors)
{
    for (size_t i = 0; i < NETWORK_TARGETS; i++) {
        struct network_target *item = &targets->items[i];

        unit_complain_if(!executor_unschedule(executors, item->executor, item->target), "a target was not unscheduled");
        unit_complain_if(!SCNetworkReachabilitySetCallback(item->target, NULL, NULL), "SetCallback failed");
        SCNetworkReachabilityRelease(item->target);
    }
}

/* ---- The check -------------------------------------------------------------------------------------------------- */

static int compare_interfaces(const void *a, const void *b)
{
    const SCNetworkReachabilityUplink *left = a, *right = b;

    return (left->interfaceIndex > right->interfaceIndex) - (left->interfaceIndex < right->interfaceIndex);
}

/* The metric of an IPv6 path may be that of another route, and interfaces are in the order of their metrics. */
static void forget_metrics(struct network_view *view)
{
    view->network.ipv6.metric = 0;
    for (uint32_t i = 0; i < view->network.uplinkCount && i < NETWORK_UPLINKS; i++)
        view->uplinks[i].ipv6.metric = 0;
    qsort(view->uplinks, view->network.uplinkCount < NETWORK_UPLINKS ? view->network.uplinkCount : NETWORK_UPLINKS,
          sizeof view->uplinks[0], compare_interfaces);
}

static bool views_agree(struct network_view left, struct network_view right, struct text *ret_difference)
{
    if (oracle_ipv6_routes_share_a_nexthop()) {
        forget_metrics(&left);
        forget_metrics(&right);
    }
    return compare_views(&left, &right, ret_difference);
}

static bool target_agrees(struct network_target *item, const struct network_view *fresh, struct text *ret_wrong)
{
    struct network_view now, reported;

    unit_complain_if(!get_view(item->target, &now), "GetNetwork failed");
    text_add(ret_wrong, "GetNetwork of a scheduled target and of a new one: ");
    if (!views_agree(now, *fresh, ret_wrong))
        return false;
    pthread_mutex_lock(&item->lock);
    reported = item->reported;
    pthread_mutex_unlock(&item->lock);
    text_clear(ret_wrong);
    text_add(ret_wrong, "GetNetwork in the last callback and now: ");
    if (!views_agree(reported, now, ret_wrong))
        return false;
    text_clear(ret_wrong);
    return true;
}

bool network_targets_agree(struct network_targets *targets, struct text *ret_wrong)
{
    SCNetworkReachabilityRef target = create_target();
    struct network_view fresh;
    bool agree = get_view(target, &fresh);

    text_clear(ret_wrong);
    unit_complain_if(!agree, "GetNetwork failed");
    SCNetworkReachabilityRelease(target);
    for (size_t i = 0; i < NETWORK_TARGETS && agree; i++)
        agree = target_agrees(&targets->items[i], &fresh, ret_wrong);
    return agree && network_oracle_agrees(&fresh.network, fresh.uplinks, ret_wrong);
}
