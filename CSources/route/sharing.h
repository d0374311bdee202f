/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_SHARING_H
#define REACHABILITY_SHARING_H

/* The shared answers of one monitor, and their watches. Finds those that a route affects, without a look at the others.
 * Under the loop's lock. */

#include "route/answer.h"

struct sharing {
    struct address_tree extents; /* of shared answers: their first addresses */
    struct address_tree watches;
    unsigned long       changes;         /* of watches; it only grows */
    unsigned long       lengths[2][129]; /* how many extents have a length, for IPv4 and IPv6 */
};

/* Returns the answer with this extent; NULL: there is none. */
struct shared_answer *sharing_find(const struct sharing *sharing, const struct extent *extent);

/* Creates an answer without watches. NULL: no memory. */
struct shared_answer *sharing_create(struct sharing *sharing, const struct extent *extent);
void                  sharing_delete(struct sharing *sharing, struct shared_answer *shared);

/* Adds a watch to the answer's list `pending` or `watches`. Removes it from the list that has it. */
void sharing_add(struct sharing *sharing, struct shared_answer *shared, struct path_watch *watch, bool pending);
void sharing_remove(struct sharing *sharing, struct path_watch *watch);

/* Calls `visit` for each shared answer that a route to the prefix affects as a whole. Returns their number. */
size_t sharing_visit(const struct sharing *sharing, const struct address_prefix *prefix,
                     void (*visit)(void *info, struct answer *answer), void     *info);

/* Moves to the list `ret` all watches in the prefix of a route whose extent is larger than the prefix. They are still
 * in the set. Returns their number. */
size_t sharing_collect_leaving(const struct sharing *sharing, const struct address_prefix *prefix, struct list *ret);

#endif
