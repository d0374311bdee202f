/* SPDX-License-Identifier: MIT */
#include "question.h"

#include <stdlib.h>
#include <string.h>

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

void questions_conclude(const struct questions *questions, struct path *path)
{
    if (questions->reason == kSCNetworkReachabilityReasonNone)
        return;
    path->reason = questions->reason;
    path->destination = (struct address){ 0 };
}

void questions_release(struct questions *questions)
{
    if (questions != NULL)
        counted_release(&questions->counted);
}
