/* SPDX-License-Identifier: MIT */
#ifndef REACHABILITY_LIFETIMES_H
#define REACHABILITY_LIFETIMES_H

/*
 * When the paths of one monitor are stale without a message. All paths over one IPv6 route share its lifetime. So the
 * evaluation of one answer, the representative, shows for all of them that the route still exists, and for how long.
 *
 * Under the loop's lock.
 */

#include "base/clock.h"
#include "base/heap.h"
#include "base/list.h"
#include "pure/path.h"

struct lifetimes {
    void       *by_route; /* a tree, see tsearch(3) */
    struct list shared;   /* of struct shared_lifetime */
    struct list unshared; /* members that depend on several lifetimes, or have no memory to share */
    struct heap ends;     /* of members */
    struct heap shared_ends;
};

/* The lifetime of one route. It has members. */
struct shared_lifetime {
    struct lifetime  lifetime;
    struct list      node, members;
    struct heap_node end; /* as of struct lifetime_member */
};

/* Part of an answer. */
struct lifetime_member {
    struct list             node;
    struct shared_lifetime *shared; /* NULL: none */
    struct heap_node        end;    /* when the path is stale, apart from `shared` */
};

void lifetimes_init(struct lifetimes *lifetimes);
void lifetimes_free(struct lifetimes *lifetimes); /* the members are not used again */
void lifetime_member_init(struct lifetime_member *member);

/* Whether the path has an end, or depends on a lifetime. */
static inline bool lifetime_member_has_any(const struct lifetime_member *member)
{
    return !list_is_empty(&member->node) || member->end.deadline != NEVER;
}

/* The path of a member was evaluated now. `is_first`: never before. */
void lifetimes_update(struct lifetimes *lifetimes, struct lifetime_member *member,
                      const struct dependencies *dependencies, bool is_first);

/* The member has no path any more. */
void lifetimes_leave(struct lifetimes *lifetimes, struct lifetime_member *member);

/* Whether the path now depends on another lifetime than the one that the member shares. */
bool lifetime_member_moves(const struct lifetime_member *member, const struct dependencies *dependencies);

/* When the first path is stale; NEVER. */
int64_t lifetimes_next_end(const struct lifetimes *lifetimes);

/* Return a member, or a shared lifetime, that has ended by `now`. It then has no end. NULL: there is none. */
struct lifetime_member *lifetimes_take_ended(struct lifetimes *lifetimes, int64_t now);
struct shared_lifetime *lifetimes_take_ended_shared(struct lifetimes *lifetimes, int64_t now);

/* Whether a lifetime may be shortened without a message, so that a path is stale before its end. */
bool lifetimes_can_shorten(const struct lifetimes *lifetimes);

#endif
