/* SPDX-License-Identifier: MIT */
/* The network paths of targets with notify_network, and SCNetworkReachabilityGetNetwork. */
#ifdef __linux__
#include "api/target.h"

#include <string.h>

#include "base/error.h"

/* ---- Watching --------------------------------------------------------------------------------------------------- */

static void network_changed(struct network_user *user, struct network_path *network, bool changed)
{
    struct schedule *schedule = container_of(user, struct schedule, network_user);
    struct SCNetworkReachability *target = schedule->target;

    (void)changed;
    target_lock(target);
    if (target->schedule == schedule) {
        counted_retain(&network->counted);
        reach_network_path_release(target->network);
        target->network = network;
        target->change_queued = false;
        reach_delivery_set_owed_locked(target);
        reach_delivery_queue_locked(schedule);
    }
    target_unlock(target);
}

int reach_network_join_locked(struct schedule *schedule)
{
    struct SCNetworkReachability *target = schedule->target;
    struct network_path *first;
    int error;

    schedule->network_user.report = network_changed;
    error = reach_network_service_join(schedule->loop, target->netns, &schedule->network_user, false);
    if (error == 0)
        error = reach_network_service_first(schedule->loop, &schedule->network_user, &first);
    if (error == 0)
        target->network = first;
    return error;
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

/* The structures are large, so each is filled in place. `ret` is zeroed. */

static void fill_default_path(const struct path *path, SCNetworkReachabilityDefaultPath *ret)
{
    ret->flags = path->flags;
    ret->reason = path->reason;
    ret->interfaceIndex = path->index;
    ret->metric = reach_path_rank(path) > 0 ? path->metric : 0;
    reach_address_to_sockaddr(&path->source, path->index, &ret->source);
    reach_address_to_sockaddr(&path->gateway, path->index, &ret->gateway);
}

static void fill_uplink(const struct network_uplink *uplink, SCNetworkReachabilityUplink *ret)
{
    const struct path *ipv4 = &uplink->paths[NETWORK_IPV4], *ipv6 = &uplink->paths[NETWORK_IPV6];
    const struct path *known = reach_path_rank(ipv4) > 0 ? ipv4 : ipv6;

    ret->interfaceIndex = uplink->index;
    ret->interfaceType = known->type;
    memcpy(ret->interfaceName, known->name, sizeof ret->interfaceName);
    ret->ipv4UnderlayTypes = ipv4->underlay & ~PATH_UNDERLAY_LEADS_OUT;
    ret->ipv6UnderlayTypes = ipv6->underlay & ~PATH_UNDERLAY_LEADS_OUT;
    fill_default_path(ipv4, &ret->ipv4);
    fill_default_path(ipv6, &ret->ipv6);
    ret->interfaceTypeIsKnown = !known->type_unknown;
    ret->interfaceLeadsOut = known->leads_out;
    ret->ipv4UnderlayLeadsOut = (ipv4->underlay & PATH_UNDERLAY_LEADS_OUT) != 0;
    ret->ipv6UnderlayLeadsOut = (ipv6->underlay & PATH_UNDERLAY_LEADS_OUT) != 0;
}

static void fill_uplinks(const struct network_path *network, SCNetworkReachabilityUplink *ret, size_t size,
                         size_t capacity)
{
    unsigned char *at = (unsigned char *)ret;

    for (size_t i = 0; i < network->count && i < capacity; i++, at += size) {
        memset(at, 0, size);
        fill_uplink(&network->uplinks[i], (SCNetworkReachabilityUplink *)(void *)at);
    }
}

static void fill_network(const struct network_path *network, SCNetworkReachabilityNetwork *ret)
{
    const size_t size = ret->size;

    memset(ret, 0, size);
    ret->size = size;
    fill_default_path(&network->paths[NETWORK_IPV4], &ret->ipv4);
    fill_default_path(&network->paths[NETWORK_IPV6], &ret->ipv6);
    ret->ipv4LoopbackFlags = network->loopback[NETWORK_IPV4].flags;
    ret->ipv6LoopbackFlags = network->loopback[NETWORK_IPV6].flags;
    ret->evidence = network->loopback[NETWORK_IPV4].evidence;
    ret->uplinkCount = (uint32_t)network->count;
    ret->uplinksAreComplete = network->whole;
    ret->nameServerCount = (uint32_t)network->server_count;
    ret->nameServerIsReachable = network->server_is_reachable;
    for (size_t i = 0; i < network->server_count; i++)
        reach_address_to_sockaddr(&network->servers[i].address, network->servers[i].scope, &ret->nameServers[i]);
}

/* Gets the network path with a reference: the last one of a scheduled target, or queries it. Returns 0 or an errno. */
static int retain_network(struct SCNetworkReachability *target, struct network_path **ret)
{
    struct questions *questions;
    int error;

    target_lock(target);
    *ret = target->network;
    if (*ret != NULL)
        counted_retain(&(*ret)->counted);
    target_unlock(target);
    if (*ret != NULL)
        return 0;
    error = reach_network_service_questions(&questions);
    if (error == 0) {
        error = reach_network_path_query(target->netns, questions, ret);
        reach_questions_release(questions);
    }
    return error;
}

/* Returns 0 or a status. */
static int check_arguments(const SCNetworkReachabilityNetwork *network, const SCNetworkReachabilityUplink *uplinks,
                           size_t uplink_size, size_t capacity)
{
    if (network == NULL)
        return reach_error_invalid("network: NULL");
    if (network->size < sizeof *network || network->size > STRUCTURE_SIZE_LIMIT)
        return reach_error_invalid("network->size: set it to sizeof the structure");
    if (capacity == 0)
        return 0;
    if (uplinks == NULL)
        return reach_error_invalid("uplinks: NULL, and capacity is not 0");
    if (uplink_size < sizeof *uplinks || uplink_size > STRUCTURE_SIZE_LIMIT ||
        uplink_size % _Alignof(SCNetworkReachabilityUplink) != 0)
        return reach_error_invalid("uplinkSize: set it to sizeof the structure");
    return 0;
}

SCBoolean SCNetworkReachabilityGetNetwork(SCNetworkReachabilityRef target, SCNetworkReachabilityNetwork *network,
                                          SCNetworkReachabilityUplink *uplinks, size_t uplinkSize, size_t capacity)
{
    struct SCNetworkReachability *self;
    struct network_path *current;
    int error;

    if (!target_check(target, &self))
        return 0;
    error = check_arguments(network, uplinks, uplinkSize, capacity);
    if (error == 0 && !self->notify_network)
        error = reach_error_invalid("target: without kSCNetworkReachabilityOptionNotifyNetwork");
    if (error == 0)
        error = retain_network(self, &current);
    if (error != 0) {
        reach_error_set(error);
        return 0;
    }
    fill_network(current, network);
    if (capacity > 0)
        fill_uplinks(current, uplinks, uplinkSize, capacity);
    reach_network_path_release(current);
    return 1;
}
#endif
