/* SPDX-License-Identifier: MIT */
/* Reads a target, scheduled or not: SCNetworkReachabilityGetFlags and the other Get calls. */
#ifdef __linux__
#include "api/target.h"

#include <string.h>

#include "base/error.h"
#include "route/full_path.h"
#include "route/shared_socket.h"

int reach_getters_evaluate(struct SCNetworkReachability *target, unsigned extras, struct path *ret)
{
    struct questions *questions = reach_target_retain_questions(target);
    const int error = reach_shared_socket_evaluate(reach_netns_socket(target->netns), questions, extras, ret);

    reach_questions_release(questions);
    return error;
}

/* ---- Flags ------------------------------------------------------------------------------------------------------ */

static SCBoolean fail_get(int status)
{
    reach_error_set(status);
    return 0;
}

/* Apart from SCNetworkReachabilityGetFlags, so that its fast path needs no stack frame. */
static __attribute__((noinline)) SCBoolean get_flags_slowly(struct SCNetworkReachability *target,
                                                            SCNetworkReachabilityFlags *flags)
{
    struct path path;
    int error;

    if (flags == NULL)
        return fail_get(reach_error_invalid("flags: NULL"));
    if (delivery_read_flags(target, flags))
        return 1;
    /* No lock: a target that is not scheduled has the questions of the Create call. */
    error = reach_shared_socket_evaluate(reach_netns_socket(target->netns), target->initial, 0, &path);
    if (error != 0)
        return fail_get(error);
    *flags = path.flags;
    return 1;
}

SCBoolean SCNetworkReachabilityGetFlags(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags *flags)
{
    struct SCNetworkReachability *self;

    if (!target_check(target, &self))
        return 0;
    if (flags != NULL && delivery_read_reported_flags(self, flags))
        return 1;
    return get_flags_slowly(self, flags);
}

/* ---- Paths ------------------------------------------------------------------------------------------------------ */

/* The question of a pending name is about the default path. */
static bool is_target_address(const struct questions *questions, size_t i)
{
    return questions->reason == kSCNetworkReachabilityReasonNone && questions->items[i].destination.family != AF_UNSPEC;
}

static uint32_t count_addresses(const struct questions *questions)
{
    uint32_t count = 0;

    for (size_t i = 0; i < questions->count; i++)
        count += is_target_address(questions, i);
    return count;
}

void reach_getters_write_path(const SCNetworkReachabilityPath *path, SCNetworkReachabilityPath *ret)
{
    const size_t size = ret->size;

    memset(ret, 0, size);
    *ret = *path;
    ret->size = size;
}

bool reach_getters_read_path(const SCNetworkReachabilityPath *path, struct path *ret)
{
    uint32_t scope;

    if (!reach_getters_check_size(path))
        return false;
    *ret = (struct path){ .flags = path->flags,
                          .reason = path->reason,
                          .index = path->interfaceIndex,
                          .type = path->interfaceType,
                          .source = reach_address_from_sockaddr((const struct sockaddr *)&path->source, &scope),
                          .gateway = reach_address_from_sockaddr((const struct sockaddr *)&path->gateway, &scope),
                          .evidence = path->evidence,
                          .flow = path->flow,
                          .next_hop = path->nextHop };
    memcpy(ret->name, path->interfaceName, sizeof ret->name - 1);
    return true;
}

static void copy_path(const struct path *path, uint32_t address_count, SCNetworkReachabilityPath *ret)
{
    SCNetworkReachabilityPath whole = { .flags = path->flags,
                                        .reason = path->reason,
                                        .interfaceIndex = path->index,
                                        .interfaceType = path->type,
                                        .mtu = path->mtu,
                                        .table = path->table,
                                        .addressCount = address_count,
                                        .evidence = path->evidence,
                                        .flow = path->flow,
                                        .nextHop = path->next_hop };

    memcpy(whole.interfaceName, path->name, sizeof whole.interfaceName);
    reach_address_to_sockaddr(&path->destination, path->index, &whole.destination);
    reach_address_to_sockaddr(&path->source, path->index, &whole.source);
    reach_address_to_sockaddr(&path->gateway, path->index, &whole.gateway);
    reach_getters_write_path(&whole, ret);
}

bool reach_getters_check_size(const SCNetworkReachabilityPath *path)
{
    if (path != NULL && path->size >= sizeof *path && path->size <= STRUCTURE_SIZE_LIMIT)
        return true;
    reach_error_set(reach_error_invalid(path == NULL ? "path: NULL" : "path->size: set it to sizeof the structure"));
    return false;
}

SCBoolean SCNetworkReachabilityGetPath(SCNetworkReachabilityRef target, SCNetworkReachabilityPath *path)
{
    struct SCNetworkReachability *self;
    struct questions *questions;
    struct path current;
    int error;

    if (!target_check(target, &self) || !reach_getters_check_size(path))
        return 0;
    questions = reach_target_retain_questions(self);
    error = reach_full_path_query(self->netns, questions, QUERY_FLOW | QUERY_NEXT_HOP, &current);
    if (error == 0) {
        reach_delivery_settle(self, QUERY_FLOW | QUERY_NEXT_HOP, &current);
        copy_path(&current, count_addresses(questions), path);
    }
    reach_questions_release(questions);
    return error == 0 ? 1 : fail_get(error);
}

SCBoolean SCNetworkReachabilityGetLastPath(SCNetworkReachabilityRef target, SCNetworkReachabilityPath *path)
{
    struct SCNetworkReachability *self;
    struct questions *questions;
    struct path last, now;
    struct link link;
    uint32_t address_count;
    bool watched, failed;
    int error = 0;

    if (!target_check(target, &self) || !reach_getters_check_size(path))
        return 0;
    if (self->details == NULL)
        return SCNetworkReachabilityGetPath(target, path);
    target_lock(self);
    watched = self->schedule != NULL;
    if (watched)
        reach_delivery_read_path_locked(self, &last);
    failed = self->hop.failed;
    address_count = self->current.reason == kSCNetworkReachabilityReasonNamePending ? 0
                                                                                    : count_addresses(self->questions);
    target_unlock(self);
    if (!watched)
        return SCNetworkReachabilityGetPath(target, path);
    if (last.type_unknown && reach_shared_socket_learn_link(reach_netns_socket(self->netns), last.index, &link) == 0 &&
        link.index != 0)
        last.type = link.type;
    if (last.flow_unsettled) { /* the first evaluation of a schedule reads neither rules nor the kinds of links */
        questions = reach_target_retain_questions(self);
        error = reach_full_path_query(self->netns, questions, QUERY_FLOW, &now);
        reach_questions_release(questions);
        if (error == 0) {
            reach_delivery_settle(self, QUERY_FLOW, &now);
            last.flow = now.flow;
        }
    }
    if (error == 0)
        error = reach_full_path_find_next_hop(self->netns, &last);
    if (error == 0 && failed) /* the last callback has said so, or the next one will; the kernel may be trying again */
        last.next_hop = kSCNetworkReachabilityNextHopFailed;
    if (error == 0)
        reach_delivery_settle(self, QUERY_NEXT_HOP, &last);
    if (error != 0)
        return fail_get(error);
    copy_path(&last, address_count, path);
    return 1;
}

/* ---- Addresses -------------------------------------------------------------------------------------------------- */

size_t SCNetworkReachabilityGetResolvedAddresses(SCNetworkReachabilityRef target, struct sockaddr_storage *addresses,
                                                 size_t capacity)
{
    struct SCNetworkReachability *self;
    struct questions *questions;
    size_t count = 0;

    if (!target_check(target, &self))
        return 0;
    if (addresses == NULL && capacity != 0)
        return (size_t)fail_get(reach_error_invalid("addresses: NULL, and capacity is not 0"));
    questions = reach_target_retain_questions(self);
    for (size_t i = 0; i < questions->count; i++) {
        const struct question *question = &questions->items[i];
        uint32_t scope = question->scope;

        if (!is_target_address(questions, i))
            continue;
        if (question->interface != NULL) /* the index of the interface that a zone names; 0: there is none */
            scope = reach_shared_socket_link_index(reach_netns_socket(self->netns), question->interface);
        if (count < capacity)
            reach_address_to_sockaddr(&question->destination, scope, &addresses[count]);
        count++;
    }
    reach_questions_release(questions);
    return count;
}
#endif
