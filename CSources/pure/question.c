/* SPDX-License-Identifier: MIT */
/*
 * The questions of a target.
 */
#include "pure/question.h"

#include <stdlib.h>
#include <string.h>

#include "base/counted.h"

static void questions_free(struct counted *counted)
{
    free(container_of(counted, struct questions, counted));
}

struct questions *questions_create(const struct question *items, size_t count, SCNetworkReachabilityReason reason)
{
    struct questions *questions = malloc(sizeof *questions + count * sizeof *items);

    if (questions == NULL)
        return NULL;
    counted_init(&questions->counted, questions_free);
    questions->reason = reason;
    questions->count = count;
    if (count > 0)
        memcpy(questions->items, items, count * sizeof *items);
    return questions;
}

void questions_adjust_path(const struct questions *questions, struct path *path)
{
    if (questions->reason == kSCNetworkReachabilityReasonNone)
        return;
    path->flags &= ~(SCNetworkReachabilityFlags)(kSCNetworkReachabilityFlagsIsDirect |
                                                 kSCNetworkReachabilityFlagsIsLocalAddress);
    path->reason = questions->reason;
    path->destination = (struct address){ 0 };
}

void questions_release(struct questions *questions)
{
    if (questions != NULL)
        counted_release(&questions->counted);
}

/* The kernel treats other IPv4 addresses in a way of their own: loopback, link-local, multicast, broadcast. */
static bool is_plain_ipv4(const struct address *address)
{
    const uint8_t first = address->bytes[0];

    return first != 0 && first != 127 && first < 224 && !(first == 169 && address->bytes[1] == 254);
}

/* The kernel chooses the source of IPv6 packets by the scope and the label (RFC 6724) of the destination. */
static unsigned class_of_ipv6(const struct address *address)
{
    static const struct {
        struct address_prefix prefix;
        unsigned class; /* 0: few use these addresses, so they need no class */
    } classes[] = { { { { AF_INET6, { 0x20, 0x01 } }, 32 }, 0 },
                    { { { AF_INET6, { 0x20, 0x02 } }, 16 }, 0 },
                    { { { AF_INET6, { 0x3f, 0xfe } }, 16 }, 0 },
                    { { { AF_INET6, { 0x20 } }, 3 }, 2 },
                    { { { AF_INET6, { 0xfc } }, 7 }, 3 } };

    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (address_in_prefix(address, &classes[i].prefix.address, classes[i].prefix.length))
            return classes[i].class;
    return 0;
}

unsigned question_class(const struct question *question)
{
    const struct address *destination = &question->destination;

    if (question->local.family != AF_UNSPEC || question->scope != 0 || question->mark != 0 ||
        question->interface[0] != '\0')
        return 0;
    if (destination->family == AF_INET)
        return is_plain_ipv4(destination) ? 1 : 0;
    return destination->family == AF_INET6 ? class_of_ipv6(destination) : 0;
}

/* The kernel would choose the interface of a link-local address that names none. */
static bool has_link_local_address(const struct question *question)
{
    return address_is_link_local(&question->destination) || address_is_link_local(&question->local);
}

static bool excludes_interface(const struct question *question, uint32_t index)
{
    return (question->scope != 0 && question->scope != index) ||
           (question->local_scope != 0 && question->local_scope != index);
}

bool question_choose_interface(const struct question *question, uint32_t named, uint32_t *ret_oif, struct path *ret)
{
    if (question->interface[0] != '\0' && named == 0) {
        *ret = path_unreachable(kSCNetworkReachabilityReasonInterfaceMissing);
        return false;
    }
    *ret_oif = named != 0 ? named : question->scope != 0 ? question->scope : question->local_scope;
    if (excludes_interface(question, *ret_oif) || (*ret_oif == 0 && has_link_local_address(question))) {
        *ret = path_unreachable(kSCNetworkReachabilityReasonNoRoute);
        return false;
    }
    return true;
}

bool question_needs_interface(const struct question *question)
{
    return question->interface[0] != '\0' || question->scope != 0 || has_link_local_address(question);
}
