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
