/* SPDX-License-Identifier: MIT */
/* The network paths of targets with notify_network, and SCNetworkReachabilityGetNetwork. */
#ifdef __linux__
#include "api/schedule.h"

#include <string.h>

#include "api/delivery.h"
#include "base/error.h"

/* ---- Watching --------------------------------------------------------------------------------------------------- */

/* Keeps the path, and makes a delivery due, unless another loop has reported the same. */
static void set_network_locked(struct schedule *schedule, struct network_path *network)
{
    struct SCNetworkReachability *target = schedule->target;
    struct target_network *last = state_parts(target->state)->network;

    if (last->told && network_path_equal(last->path, network))
        return;
    last->told = true;
    counted_retain(&network->counted);
    network_path_release(last->path);
    last->path = network;
    target->state->change_queued = false;
    delivery_set_owed_locked(target);
    delivery_queue_locked(schedule);
}

static void network_changed(struct network_watch *watch, struct network_path *network)
{
    struct schedule *schedule = container_of(watch, struct schedule_network, watch)->schedule;

    target_lock(schedule->target);
    if (schedule->watch.active)
        set_network_locked(schedule, network);
    target_unlock(schedule->target);
}

void network_schedule_init(struct schedule *schedule, struct schedule_network *network)
{
    network->schedule = schedule;
    network->watch = (struct network_watch){ .of.user.owner = &schedule->member.counted, .changed = network_changed };
}

int network_join_locked(struct schedule *schedule)
{
    const struct SCNetworkReachability *target = schedule->target;
    const struct target_state *state = target->state;
    struct target_network *last = state_parts(state)->network;
    struct network_path *first;
    const int error = network_service_join(schedule->loop, target->netns, &schedule_parts(schedule)->network->watch,
                                           &first);

    if (error != 0)
        return error;
    for (struct schedule *other = state->schedules; other != NULL; other = schedule_next(other))
        network_service_repeat(other->loop, &schedule_parts(other)->network->watch);
    if (state->schedules != NULL)
        network_service_repeat(schedule->loop, &schedule_parts(schedule)->network->watch);
    if (last->told) {
        network_path_release(first); /* perhaps not whole */
    } else {
        network_path_release(last->path);
        last->path = first;
    }
    return 0;
}

void network_leave_locked(struct schedule *schedule)
{
    if (schedule_parts(schedule)->network != NULL)
        network_service_leave(schedule->loop, &schedule_parts(schedule)->network->watch.of);
}

void network_forget_locked(struct SCNetworkReachability *target)
{
    struct target_network *last = state_parts(target->state)->network;

    if (last == NULL || target->state->schedules != NULL)
        return;
    network_path_release(last->path);
    *last = (struct target_network){ 0 };
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

/* The structures are large, so each is filled in place. `ret` is zeroed. */

static void fill_default_path(const struct path *path, SCNetworkReachabilityDefaultPath *ret)
{
    ret->flags = path->flags;
    ret->reason = path->reason;
    ret->interfaceIndex = path->index;
    ret->metric = path_rank(path) > 0 ? path->metric : 0;
    address_to_sockaddr(&path->source, path->index, &ret->source);
    address_to_sockaddr(&path->gateway, path->index, &ret->gateway);
}

/* Headers before 0.1.0 ended here. */
#define WAY_FIRST_SIZE       offsetof(SCNetworkReachabilityWay, interfaceTypeIsKnown)
#define WAY_HAS(field, size) STRUCTURE_HAS(SCNetworkReachabilityWay, field, size)

/* Writes the fields that are within `size`. */
static void fill_way(const struct network_way *way, size_t size, SCNetworkReachabilityWay *ret)
{
    const struct path *ipv4 = &way->paths[NETWORK_IPV4], *ipv6 = &way->paths[NETWORK_IPV6];
    const struct path *known = path_rank(ipv4) > 0 ? ipv4 : ipv6;

    ret->interfaceIndex = way->index;
    ret->interfaceType = known->type;
    memcpy(ret->interfaceName, known->name, sizeof ret->interfaceName);
    ret->ipv4CarrierTypes = ipv4->carriers & ~PATH_CARRIER_CABLE;
    ret->ipv6CarrierTypes = ipv6->carriers & ~PATH_CARRIER_CABLE;
    fill_default_path(ipv4, &ret->ipv4);
    fill_default_path(ipv6, &ret->ipv6);
    if (WAY_HAS(interfaceTypeIsKnown, size))
        ret->interfaceTypeIsKnown = !known->type_unknown;
    if (WAY_HAS(interfaceIsCable, size))
        ret->interfaceIsCable = known->cable;
    if (WAY_HAS(ipv4CarrierIsCable, size))
        ret->ipv4CarrierIsCable = (ipv4->carriers & PATH_CARRIER_CABLE) != 0;
    if (WAY_HAS(ipv6CarrierIsCable, size))
        ret->ipv6CarrierIsCable = (ipv6->carriers & PATH_CARRIER_CABLE) != 0;
}

static void fill_ways(const struct network_path *network, SCNetworkReachabilityWay *ret, size_t size, size_t capacity)
{
    unsigned char *at = (unsigned char *)ret;

    for (size_t i = 0; i < network->count && i < capacity; i++, at += size) {
        memset(at, 0, size);
        fill_way(&network->ways[i], size, (SCNetworkReachabilityWay *)(void *)at);
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
    ret->wayCount = (uint32_t)network->count;
    ret->waysAreComplete = network->whole;
    ret->nameServerCount = (uint32_t)network->server_count;
    ret->nameServerIsReachable = network->server_is_reachable;
    for (size_t i = 0; i < network->server_count; i++)
        address_to_sockaddr(&network->servers[i].address, network->servers[i].scope, &ret->nameServers[i]);
}

/* Returns the network path of a scheduled target, with a reference, or NULL. */
static struct network_path *retain_last_network(struct SCNetworkReachability *target)
{
    struct network_path *network;

    target_lock(target);
    network = state_parts(target->state)->network->path;
    if (network != NULL)
        counted_retain(&network->counted);
    target_unlock(target);
    return network;
}

static int query_network(struct netns *netns, struct network_path **ret)
{
    struct questions *questions;
    int error = network_service_questions(&questions);

    if (error != 0)
        return error;
    error = network_path_query(netns, questions, ret);
    questions_release(questions);
    return error;
}

/* Returns 0 or a status. */
static int check_arguments(const SCNetworkReachabilityNetwork *network, const SCNetworkReachabilityWay *ways,
                           size_t way_size, size_t capacity)
{
    if (network == NULL)
        return error_invalid("network: NULL");
    if (network->size < sizeof *network || network->size > STRUCTURE_SIZE_LIMIT)
        return error_invalid("network->size: set it to sizeof the structure");
    if (capacity == 0)
        return 0;
    if (ways == NULL)
        return error_invalid("ways: NULL, and capacity is not 0");
    if (way_size < WAY_FIRST_SIZE || way_size > STRUCTURE_SIZE_LIMIT ||
        way_size % _Alignof(SCNetworkReachabilityWay) != 0)
        return error_invalid("waySize: set it to sizeof the structure");
    return 0;
}

SCBoolean SCNetworkReachabilityGetNetwork(SCNetworkReachabilityRef target, SCNetworkReachabilityNetwork *network,
                                          SCNetworkReachabilityWay *ways, size_t waySize, size_t capacity)
{
    struct SCNetworkReachability *self;
    struct network_path *current;
    int error;

    if (!target_check(target, &self))
        return 0;
    error = check_arguments(network, ways, waySize, capacity);
    if (error == 0 && target_parts(self)->network == NULL)
        error = error_invalid("target: without kSCNetworkReachabilityOptionNotifyNetwork");
    if (error == 0 && (current = retain_last_network(self)) == NULL)
        error = query_network(self->netns, &current);
    if (error != 0) {
        error_set(error);
        return 0;
    }
    fill_network(current, network);
    if (capacity > 0)
        fill_ways(current, ways, waySize, capacity);
    network_path_release(current);
    return 1;
}
#endif
