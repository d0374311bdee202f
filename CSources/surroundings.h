/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SURROUNDINGS_H
#define REACHABILITY_SURROUNDINGS_H

/*
 * What the answers of name servers depend on, as seen from one run loop and namespace: the resolver's files, the ways
 * to its servers, the default path. And a clock, for those who ask again after a while.
 */

#include "monitor.h"

struct surroundings;

/* Somebody whose name is looked up there. */
struct resident {
    struct list          node;
    struct counted      *owner;
    struct surroundings *surroundings; /* NULL: lives nowhere */
    int64_t              deadline;     /* NEVER: none */
    /* On the driving thread, without a lock: something changed, or the deadline has passed (it is NEVER then). */
    void (*stirred)(struct resident *resident, bool changed);
};

/* From now on until surroundings_leave, from any thread. 0 or an errno. */
int  surroundings_join(SCRunLoopRef loop, struct netns *netns, struct resident *resident);
void surroundings_leave(SCRunLoopRef loop, struct resident *resident);

/* Whether what is known of the resolver's files holds: they are watched, and nothing was heard of them. */
bool surroundings_are_quiet(SCRunLoopRef loop, const struct resident *resident);

/* What is asked while a name is not resolved, as it was found last; with a reference. */
struct questions *surroundings_questions(SCRunLoopRef loop, const struct resident *resident);

void surroundings_set_deadline(SCRunLoopRef loop, struct resident *resident, int64_t deadline);

#endif
