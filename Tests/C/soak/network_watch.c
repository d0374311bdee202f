/* SPDX-License-Identifier: MIT */
#include "soak/network_watch.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

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

static bool ways_agree(const SCNetworkReachabilityWay *a, const SCNetworkReachabilityWay *b)
{
    const bool known = a->interfaceTypeIsKnown && b->interfaceTypeIsKnown;

    return a->interfaceIndex == b->interfaceIndex && strcmp(a->interfaceName, b->interfaceName) == 0 &&
           (!known || a->interfaceType == b->interfaceType) && paths_agree(&a->ipv4, &b->ipv4) &&
           paths_agree(&a->ipv6, &b->ipv6);
}

static const char *find_difference(const struct network_view *left, const struct network_view *right)
{
    const SCNetworkReachabilityNetwork *a = &left->network, *b = &right->network;

    if (!paths_agree(&a->ipv4, &b->ipv4))
        return "the IPv4 path";
    if (!paths_agree(&a->ipv6, &b->ipv6))
        return "the IPv6 path";
    if (a->ipv4LoopbackFlags != b->ipv4LoopbackFlags || a->ipv6LoopbackFlags != b->ipv6LoopbackFlags)
        return "the flags of the loopback addresses";
    if (a->wayCount != b->wayCount || a->waysAreComplete != b->waysAreComplete)
        return "the number of ways";
    for (uint32_t i = 0; i < a->wayCount && i < NETWORK_WAYS; i++)
        if (!ways_agree(&left->ways[i], &right->ways[i]))
            return "a way";
    if (a->nameServerCount != b->nameServerCount || a->nameServerIsReachable != b->nameServerIsReachable)
        return "the name servers";
    for (uint32_t i = 0; i < a->nameServerCount; i++)
        if (!results_addresses_agree(&a->nameServers[i], &b->nameServers[i]))
            return "a name server";
    return NULL;
}

/* ---- Targets ---------------------------------------------------------------------------------------------------- */

static bool get_view(SCNetworkReachabilityRef target, struct network_view *ret)
{
    ret->network = (SCNetworkReachabilityNetwork)kSCNetworkReachabilityNetworkInitializer;
    return SCNetworkReachabilityGetNetwork(target, &ret->network, ret->ways, sizeof ret->ways[0], NETWORK_WAYS);
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
    SCNetworkReachabilityRef target;

    options.remoteAddress = (const struct sockaddr *)&any;
    options.options = kSCNetworkReachabilityOptionNotifyNetwork;
    target = SCNetworkReachabilityCreateWithOptions(NULL, &options);
    unit_complain_if(target == NULL, "a target was not created");
    return target;
}

void network_targets_open(struct network_targets *ret, struct executors *executors)
{
    static const enum executor where[NETWORK_TARGETS] = { EXECUTOR_DRIVEN, EXECUTOR_BOTH_LOOPS, EXECUTOR_QUEUE };

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
    const SCNetworkReachabilityWay *left = a, *right = b;

    return (left->interfaceIndex > right->interfaceIndex) - (left->interfaceIndex < right->interfaceIndex);
}

/* The metric of an IPv6 path may be that of another route, and interfaces are in the order of their metrics. */
static void forget_metrics(struct network_view *view)
{
    view->network.ipv6.metric = 0;
    for (uint32_t i = 0; i < view->network.wayCount && i < NETWORK_WAYS; i++)
        view->ways[i].ipv6.metric = 0;
    qsort(view->ways, view->network.wayCount < NETWORK_WAYS ? view->network.wayCount : NETWORK_WAYS,
          sizeof view->ways[0], compare_interfaces);
}

static const char *find_promised_difference(struct network_view left, struct network_view right)
{
    if (oracle_ipv6_routes_share_a_nexthop()) {
        forget_metrics(&left);
        forget_metrics(&right);
    }
    return find_difference(&left, &right);
}

static bool target_agrees(struct network_target *item, const struct network_view *fresh, struct text *ret_wrong)
{
    struct network_view now, reported;
    const char *difference;

    unit_complain_if(!get_view(item->target, &now), "GetNetwork failed");
    difference = find_promised_difference(now, *fresh);
    if (difference != NULL) {
        text_add(ret_wrong, "GetNetwork: %s is not that of a new target; ", difference);
        return false;
    }
    pthread_mutex_lock(&item->lock);
    reported = item->reported;
    pthread_mutex_unlock(&item->lock);
    difference = find_promised_difference(reported, now);
    if (difference != NULL)
        text_add(ret_wrong, "GetNetwork: %s is not that of the last callback; ", difference);
    return difference == NULL;
}

bool network_targets_agree(struct network_targets *targets, struct text *ret_wrong)
{
    SCNetworkReachabilityRef target = create_target();
    struct network_view fresh;
    bool agree = get_view(target, &fresh);

    ret_wrong->length = 0;
    ret_wrong->bytes[0] = '\0';
    unit_complain_if(!agree, "GetNetwork failed");
    SCNetworkReachabilityRelease(target);
    for (size_t i = 0; i < NETWORK_TARGETS && agree; i++)
        agree = target_agrees(&targets->items[i], &fresh, ret_wrong);
    return agree && network_oracle_agrees(&fresh.network, fresh.ways, ret_wrong);
}
