/* SPDX-License-Identifier: MIT */
/*
 * The questions of a target.
 */
#ifdef __linux__
#include "pure/question.h"

#include <stdlib.h>
#include <string.h>

#include "base/counted.h"

static void questions_free(struct counted *counted)
{
    free(container_of(counted, struct questions, counted));
}

/* The names of interfaces follow the questions. */
struct questions *reach_questions_create(const struct question *items, size_t count, SCNetworkReachabilityReason reason)
{
    struct questions *questions;
    size_t names = 0;
    char *name;

    for (size_t i = 0; i < count; i++)
        names += items[i].interface == NULL ? 0 : strlen(items[i].interface) + 1;
    questions = malloc(sizeof *questions + count * sizeof *items + names);
    if (questions == NULL)
        return NULL;
    counted_init(&questions->counted, questions_free);
    questions->reason = reason;
    questions->count = count;
    name = (char *)&questions->items[count];
    for (size_t i = 0; i < count; i++) {
        questions->items[i] = items[i];
        if (items[i].interface == NULL)
            continue;
        names = strlen(items[i].interface) + 1;
        questions->items[i].interface = memcpy(name, items[i].interface, names);
        name += names;
    }
    return questions;
}

void reach_questions_adjust_path(const struct questions *questions, struct path *path)
{
    if (questions->reason == kSCNetworkReachabilityReasonNone)
        return;
    path->flags &= ~(SCNetworkReachabilityFlags)(kSCNetworkReachabilityFlagsIsDirect |
                                                 kSCNetworkReachabilityFlagsIsLocalAddress);
    path->reason = questions->reason;
    path->destination = (struct address){ 0 };
}

bool reach_questions_are_incomplete(const struct questions *questions, const struct path *path,
                                    const unsigned selectors[2])
{
    const struct question *first = questions->items; /* the questions of a target differ in their destinations only */
    uint8_t family = path->destination.family;

    if (questions->count == 0)
        return false;
    if (family == AF_UNSPEC)
        family = question_default_family(first);
    return (family != AF_INET6 && reach_flow_is_incomplete(&first->flow, selectors[0])) ||
           (family != AF_INET && reach_flow_is_incomplete(&first->flow, selectors[1]));
}

void reach_questions_release(struct questions *questions)
{
    if (questions != NULL)
        counted_release(&questions->counted);
}

/* IPv4: the kernel treats other addresses in a way of their own: loopback, link-local, multicast, broadcast. IPv6:
 * global and unique local addresses. The kernel chooses the source of packets by the label of the destination, too, but
 * first by its scope (RFC 6724), which all of these share. So all have a usable source, or none has. */
static bool is_plain_address(const struct address *address)
{
    const uint8_t first = address->bytes[0];

    if (address->family == AF_INET)
        return first != 0 && first != 127 && first < 224 && !(first == 169 && address->bytes[1] == 254);
    return address->family == AF_INET6 && ((first & 0xe0) == 0x20 || (first & 0xfe) == 0xfc);
}

static bool has_constraint(const struct question *question)
{
    return question->local.family != AF_UNSPEC || question->scope != 0 || question->mark != 0 ||
           question->interface != NULL || !flow_is_empty(&question->flow);
}

bool reach_question_is_default_path(const struct question *question)
{
    return question->destination.family == AF_UNSPEC && !has_constraint(question);
}

bool reach_question_is_plain(const struct question *question)
{
    return !has_constraint(question) && is_plain_address(&question->destination);
}

/* A socket of a protocol that queries do not take has a flow of its own: it is always incomplete. */
bool reach_question_find_group(const struct question *question, struct question_group *ret)
{
    const struct flow *flow = &question->flow;

    *ret = (struct question_group){ .local = question->local,
                                    .traffic_class = flow->traffic_class,
                                    .is_socket = flow->is_socket };
    return is_plain_address(&question->local) && is_plain_address(&question->destination) &&
           question->local.family == question->destination.family && question->scope == 0 &&
           question->local_scope == 0 && question->interface == NULL && (!flow->is_socket || flow->protocol != 0);
}

bool reach_question_choose_interface(const struct question *question, uint32_t named, uint32_t *ret_oif,
                                     struct path *ret)
{
    if (question->interface != NULL && named == 0) {
        *ret = reach_path_unreachable(kSCNetworkReachabilityReasonInterfaceMissing);
        return false;
    }
    *ret_oif = named != 0 ? named : question->scope != 0 ? question->scope : question->local_scope;
    /* The kernel would choose the interface of a link-local address that names none. For multicast, sendto(2) does, but
     * connect(2) refuses. */
    if ((question->scope != 0 && question->scope != *ret_oif) ||
        (question->local_scope != 0 && question->local_scope != *ret_oif) ||
        (*ret_oif == 0 &&
         (reach_address_is_link_local(&question->destination) || reach_address_is_link_local(&question->local) ||
          (question->flow.protocol != 0 && reach_address_needs_scope(&question->destination))))) {
        *ret = reach_path_unreachable(kSCNetworkReachabilityReasonNoRoute);
        return false;
    }
    return true;
}
#endif
