/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LINK_INDEX_H
#define REACHABILITY_LINK_INDEX_H

/* Finds which of many answers a change of a link affects, without a look at the others. It has no lock. */

#include <stdbool.h>
#include <stdint.h>

#include "base/hash_tree.h"
#include "base/list.h"

/* What a member depends on, if it is not one link. */
#define LINK_INDEX_NONE 0u
#define LINK_INDEX_ANY  UINT32_MAX

/* The members that depend on one link, or on any link. */
struct link_members {
    struct hash_node node; /* of the tree in struct link_index */
    uint32_t         link;
    struct list      members;
    struct list      changed; /* node of the list in struct link_index */
};

/* Part of an answer. container_of finds the answer. */
struct link_index_member {
    struct list          node;
    struct link_members *members; /* NULL: it depends on no link */
};

struct link_index {
    struct hash_node   *links;
    struct link_members any;
    struct list         changed; /* link_index_visit_changed has not visited their members yet */
};

void link_index_init(struct link_index *index);
void link_index_member_init(struct link_index_member *member);

/* Puts a member into the index, or changes what it depends on: one link, LINK_INDEX_NONE or LINK_INDEX_ANY. If there is
 * no memory, it depends on any link. */
void link_index_set(struct link_index *index, struct link_index_member *member, uint32_t link);

/* Notes that a link has changed. Returns whether that affects a member. */
bool link_index_note_change(struct link_index *index, uint32_t link);

/* Calls `visit` for each member that the changes noted since the last call affect. */
void link_index_visit_changed(struct link_index *index, void (*visit)(void *info, struct link_index_member *member),
                              void              *info);

/* Calls `visit` for each member that depends on any link. */
void link_index_visit_any(const struct link_index *index, void (*visit)(void *info, struct link_index_member *member),
                          void                    *info);

#endif
