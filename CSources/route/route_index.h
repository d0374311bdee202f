/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_ROUTE_INDEX_H
#define REACHABILITY_ROUTE_INDEX_H

/* Finds which of many answers a route message affects, without a look at the others. It has no lock. */

#include "pure/address_tree.h"
#include "pure/question.h"
#include "pure/route.h"
#include "route/default_path.h"

struct route_index_member;

/* One address on which a member depends. */
struct route_index_key {
    struct address_entry       entry;
    struct route_index_member *member; /* NULL: all members that depend on the default path */
};

/* Part of an answer. container_of finds the answer. */
struct route_index_member {
    struct list            default_path, any_route; /* nodes of the lists in struct route_index */
    struct route_index_key only, *keys;             /* `keys` is `only`, or allocated if there are several */
    size_t                 count;
};

struct route_index {
    struct address_tree    addresses;
    struct list            default_path, any_route;       /* members that depend on these */
    struct route_index_key samples[DEFAULT_PATH_SAMPLES]; /* in the tree while `default_path` is not empty */
    unsigned long          changes, additions;            /* of keys; they only grow */
};

void route_index_init(struct route_index *index);
void route_index_member_init(struct route_index_member *member);

/* Puts a member into the index, or changes what it depends on: the routes that affect the questions (NULL: none), those
 * to `outer` (AF_UNSPEC: none), or any route. If there is no memory, it depends on any route. */
void route_index_set(struct route_index *index, struct route_index_member *member, const struct questions *questions,
                     const struct address *outer, bool any_route);

/* Takes a member out. Does nothing if it is not in the index. */
void route_index_remove(struct route_index *index, struct route_index_member *member);

/* Calls `visit` for each member that the route affects; for some more than once. Returns how often it was called. */
size_t route_index_visit(const struct route_index *index, const struct route                *route,
                         void (*visit)(void *info, struct route_index_member *member), void *info);

/* Finds prefixes such that a route which overlaps none of them affects no member, and leads to none of the addresses in
 * `others`. False: each route affects a member. */
bool route_index_cover(const struct route_index *index, const struct address_tree *others,
                       struct address_prefix ret[ADDRESS_TREE_PREFIXES], size_t *ret_count);

#endif
