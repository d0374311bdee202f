/* SPDX-License-Identifier: MIT */
/* Asking a target, whether or not it is scheduled. */
#include <string.h>

#include "api/delivery.h"
#include "api/name.h"
#include "base/counted.h"
#include "base/error.h"
#include "route/wireguard_path.h"

/* What it asks now, with a reference. 0 or an errno. */
static int questions_of(struct SCNetworkReachability *target, struct questions **ret)
{
    int error = 0;

    pthread_mutex_lock(&target->lock);
    if (target->questions->reason == kSCNetworkReachabilityReasonNamePending)
        error = name_refresh_pending_locked(target);
    if (error == 0) {
        *ret = target->questions;
        counted_retain(&target->questions->counted);
    }
    pthread_mutex_unlock(&target->lock);
    return error;
}

int target_evaluate(struct SCNetworkReachability *target, unsigned extras, struct path *ret)
{
    struct questions *questions;
    int               error;

    if (!target->pending) /* the same questions for ever: no lock, and no reference */
        return netns_evaluate(target->netns, target->questions, extras, ret);
    error = questions_of(target, &questions);
    if (error != 0)
        return error;
    error = netns_evaluate(target->netns, questions, extras, ret);
    questions_release(questions);
    return error;
}

static SCBoolean fail(int status)
{
    error_set(status);
    return 0;
}

SCBoolean SCNetworkReachabilityGetFlags(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags *flags)
{
    struct SCNetworkReachability *self;
    struct path                   path;
    uint64_t                      state;
    int                           error;

    if (!target_check(target, &self))
        return 0;
    if (flags == NULL)
        return fail(kSCStatusInvalidArgument);
    state = atomic_load_explicit(&self->state, memory_order_acquire);
    if ((state & STATE_SCHEDULED) != 0) {
        *flags = (SCNetworkReachabilityFlags)state;
        if ((state & STATE_DUE) != 0)
            delivery_mark_owed(self, *flags);
        return 1;
    }
    error = target_evaluate(self, 0, &path);
    if (error != 0)
        return fail(error);
    *flags = path.flags;
    return 1;
}

/* Of a name that is not resolved, the questions are about something else. */
static bool has_address(const struct questions *questions, size_t i)
{
    return questions->reason == kSCNetworkReachabilityReasonNone && questions->items[i].destination.family != AF_UNSPEC;
}

static uint32_t count_addresses(const struct questions *questions)
{
    uint32_t count = 0;

    for (size_t i = 0; i < questions->count; i++)
        count += has_address(questions, i);
    return count;
}

/* A path as it is handed out, in as many bytes as the caller has. */
static void put_path(const struct path *found, uint32_t address_count, SCNetworkReachabilityPath *ret)
{
    const size_t size = ret->size;

    memset(ret, 0, size);
    ret->size = size;
    ret->flags = found->flags;
    ret->reason = found->reason;
    ret->interfaceIndex = found->index;
    ret->interfaceType = found->type;
    memcpy(ret->interfaceName, found->name, sizeof ret->interfaceName);
    ret->mtu = found->mtu;
    ret->table = found->table;
    ret->addressCount = address_count;
    ret->evidence = found->evidence;
    address_to_sockaddr(&found->destination, found->index, &ret->destination);
    address_to_sockaddr(&found->source, found->index, &ret->source);
    address_to_sockaddr(&found->gateway, found->index, &ret->gateway);
}

static bool is_sized(const SCNetworkReachabilityPath *path)
{
    return path != NULL && path->size >= sizeof *path && path->size <= SIZE_LIMIT;
}

/* Asks, and again once more is known of a link that the answer hangs on: one tunnel may lie behind another. Where
 * changes of links are not heard, nothing stays known. */
static int ask_known(struct netns *netns, const struct questions *questions, struct path *ret)
{
    struct link link = { 0 };
    int         error = netns_evaluate(netns, questions, QUERY_SOURCE, ret);

    while (error == 0 && (ret->dependencies.unknown_link != 0 || ret->type_unknown)) {
        const uint32_t wanted = ret->dependencies.unknown_link != 0 ? ret->dependencies.unknown_link : ret->index;

        if (wanted == link.index)
            break;
        error = netns_learn_link(netns, wanted, &link);
        if (error != 0 || link.index == 0)
            break;
        error = netns_evaluate(netns, questions, QUERY_SOURCE, ret);
    }
    if (error == 0 && ret->type_unknown && link.index == ret->index)
        ret->type = link.type;
    return error;
}

static int ask_whole(struct netns *netns, const struct questions *questions, struct path *ret)
{
    struct wireguard_peers peers = WIREGUARD_PEERS_EMPTY;
    int                    error = ask_known(netns, questions, ret);

    if (error == 0)
        error = wireguard_path_follow(netns, &peers, ret);
    wireguard_clear(&peers);
    return error;
}

SCBoolean SCNetworkReachabilityGetPath(SCNetworkReachabilityRef target, SCNetworkReachabilityPath *path)
{
    struct SCNetworkReachability *self;
    struct questions             *questions;
    struct path                   found;
    int                           error;

    if (!target_check(target, &self))
        return 0;
    if (!is_sized(path))
        return fail(kSCStatusInvalidArgument);
    error = questions_of(self, &questions);
    if (error != 0)
        return fail(error);
    error = ask_whole(self->netns, questions, &found);
    if (error == 0)
        put_path(&found, count_addresses(questions), path);
    questions_release(questions);
    return error == 0 ? 1 : fail(error);
}

SCBoolean SCNetworkReachabilityGetLastPath(SCNetworkReachabilityRef target, SCNetworkReachabilityPath *path)
{
    struct SCNetworkReachability *self;
    struct path                   last;
    struct link                   link;
    uint32_t                      address_count;
    bool                          watched;

    if (!target_check(target, &self))
        return 0;
    if (!is_sized(path))
        return fail(kSCStatusInvalidArgument);
    pthread_mutex_lock(&self->lock);
    watched = self->notify_path && !list_is_empty(&self->schedules);
    last = self->current;
    if (watched)
        delivery_mark_owed_locked(self, last.flags);
    address_count = last.reason == kSCNetworkReachabilityReasonNamePending ? 0 : count_addresses(self->questions);
    pthread_mutex_unlock(&self->lock);
    if (!watched)
        return SCNetworkReachabilityGetPath(target, path);
    if (last.type_unknown && netns_learn_link(self->netns, last.index, &link) == 0 && link.index != 0)
        last.type = link.type;
    put_path(&last, address_count, path);
    return 1;
}

/* The interface that a zone, by number or by name, stands for now. */
static uint32_t scope_of(const struct SCNetworkReachability *target, const struct question *question)
{
    return question->interface[0] != '\0' ? netns_link_index(target->netns, question->interface) : question->scope;
}

size_t SCNetworkReachabilityGetResolvedAddresses(SCNetworkReachabilityRef target, struct sockaddr_storage *addresses,
                                                 size_t capacity)
{
    struct SCNetworkReachability *self;
    struct questions             *questions;
    size_t                        count = 0;
    int                           error;

    if (!target_check(target, &self))
        return 0;
    if (addresses == NULL && capacity != 0)
        return (size_t)fail(kSCStatusInvalidArgument);
    error = questions_of(self, &questions);
    if (error != 0)
        return (size_t)fail(error);
    for (size_t i = 0; i < questions->count; i++) {
        const struct question *question = &questions->items[i];

        if (!has_address(questions, i))
            continue;
        if (count < capacity)
            address_to_sockaddr(&question->destination, scope_of(self, question), &addresses[count]);
        count++;
    }
    questions_release(questions);
    return count;
}
