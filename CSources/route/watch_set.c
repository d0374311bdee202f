/* SPDX-License-Identifier: MIT */
/*
 * The set of a monitor's watches.
 *
 * What this file must never do: walk over all watches, unless all are stale.
 */
#include "route/watch_set.h"

#include "base/clock.h"

void watch_set_init(struct watch_set *set)
{
    list_init(&set->watches);
    list_init(&set->stale);
    list_init(&set->round);
    list_init(&set->failed);
    list_init(&set->pppd);
    route_index_init(&set->routes);
    lifetimes_init(&set->lifetimes);
}

bool watch_set_is_empty(const struct watch_set *set)
{
    return list_is_empty(&set->watches);
}

void watch_set_free(struct watch_set *set)
{
    lifetimes_free(&set->lifetimes);
}

/* ---- Stale watches ---------------------------------------------------------------------------------------------- */

void watch_set_put_stale(struct path_watch *watch, struct list *list)
{
    if (list_is_empty(&watch->stale))
        list_append(list, &watch->stale);
}

static void mark_stale(struct watch_set *set, struct path_watch *watch)
{
    watch_set_put_stale(watch, &set->stale);
}

static void append_all(struct list *to, struct list *from)
{
    struct list *node;

    while ((node = list_pop(from)) != NULL)
        list_append(to, node);
}

void watch_set_begin_round(struct watch_set *set)
{
    list_move(&set->round, &set->stale);
}

bool watch_set_end_round(struct watch_set *set)
{
    const bool others = !list_is_empty(&set->stale);

    append_all(&set->stale, &set->round);
    append_all(&set->stale, &set->failed);
    return others;
}

struct path_watch *watch_set_take_stale(struct watch_set *set)
{
    struct list *node = list_pop(&set->round);

    return node == NULL ? NULL : container_of(node, struct path_watch, stale);
}

void watch_set_mark_all(struct watch_set *set)
{
    list_for_each(node, &set->watches)
        mark_stale(set, container_of(node, struct path_watch, node));
}

void watch_set_mark_pppd(struct watch_set *set)
{
    list_for_each(node, &set->pppd)
        mark_stale(set, container_of(node, struct path_watch, pppd));
}

static void mark_member_stale(void *info, struct route_index_member *member)
{
    mark_stale(info, container_of(member, struct path_watch, routes));
}

bool watch_set_mark_route(struct watch_set *set, const struct route *route)
{
    return route_index_visit(&set->routes, route, mark_member_stale, set) > 0;
}

/* ---- Lifetimes -------------------------------------------------------------------------------------------------- */

static struct path_watch *watch_of_lifetime(struct lifetime_member *member)
{
    return container_of(member, struct path_watch, lifetime);
}

static struct path_watch *watch_of_lifetime_node(struct list *node)
{
    return watch_of_lifetime(container_of(node, struct lifetime_member, node));
}

/* One of the watches is evaluated for all that share the lifetime. */
static void mark_representative_stale(struct watch_set *set, const struct shared_lifetime *shared)
{
    struct path_watch *representative = watch_of_lifetime_node(shared->members.next);

    representative->is_representative = true;
    mark_stale(set, representative);
}

/* The representative has another route now, or its evaluation has failed. So the others are evaluated in this round. */
static void mark_others_stale(struct watch_set *set, const struct path_watch *representative)
{
    list_for_each(node, &representative->lifetime.shared->members)
        if (watch_of_lifetime_node(node) != representative)
            watch_set_put_stale(watch_of_lifetime_node(node), &set->round);
}

void watch_set_note_failure(struct watch_set *set, struct path_watch *watch)
{
    if (watch->is_representative && watch->lifetime.shared != NULL)
        mark_others_stale(set, watch);
    watch->is_representative = false;
    watch_set_put_stale(watch, &set->failed);
}

void watch_set_mark_ended(struct watch_set *set, int64_t now)
{
    struct lifetime_member *member;
    struct shared_lifetime *shared;

    while ((member = lifetimes_take_ended(&set->lifetimes, now)) != NULL)
        mark_stale(set, watch_of_lifetime(member));
    while ((shared = lifetimes_take_ended_shared(&set->lifetimes, now)) != NULL)
        mark_representative_stale(set, shared);
}

void watch_set_mark_lifetimes(struct watch_set *set, bool all)
{
    list_for_each(node, &set->lifetimes.shared) {
        const struct shared_lifetime *shared = container_of(node, struct shared_lifetime, node);

        if (all || shared->end.deadline != NEVER)
            mark_representative_stale(set, shared);
    }
    list_for_each(node, &set->lifetimes.unshared)
        mark_stale(set, watch_of_lifetime_node(node));
}

/* ---- Watches ---------------------------------------------------------------------------------------------------- */

static void index_routes(struct watch_set *set, struct path_watch *watch)
{
    route_index_set(&set->routes, &watch->routes, watch->questions, &watch->outer, watch->any_route);
}

void watch_set_add(struct watch_set *set, struct path_watch *watch)
{
    lifetime_member_init(&watch->lifetime);
    route_index_member_init(&watch->routes);
    list_init(&watch->pppd);
    watch->outer.family = AF_UNSPEC;
    watch->any_route = watch->is_representative = watch->evaluated = false;
    index_routes(set, watch);
    list_append(&set->watches, &watch->node);
    mark_stale(set, watch);
}

/* Another watch that shares the lifetime; NULL: there is none. */
static struct path_watch *find_other_member(const struct path_watch *watch)
{
    struct list *const next = watch->lifetime.node.next;

    if (watch->lifetime.shared == NULL)
        return NULL;
    return watch_of_lifetime_node(next != &watch->lifetime.shared->members ? next : next->next);
}

/* The representative goes before it was evaluated. */
static void replace_representative(struct watch_set *set, const struct path_watch *representative)
{
    struct path_watch *other = find_other_member(representative);

    if (other == NULL || other == representative)
        return;
    other->is_representative = true;
    mark_stale(set, other);
}

void watch_set_remove(struct watch_set *set, struct path_watch *watch)
{
    if (watch->is_representative)
        replace_representative(set, watch);
    list_remove(&watch->node);
    list_remove(&watch->stale);
    list_remove(&watch->pppd);
    lifetimes_leave(&set->lifetimes, &watch->lifetime);
    route_index_remove(&set->routes, &watch->routes);
}

void watch_set_replace_questions(struct watch_set *set, struct path_watch *watch)
{
    index_routes(set, watch);
    watch->evaluated = false;
    mark_stale(set, watch);
}

static bool route_may_expire(const struct path_watch *watch)
{
    for (size_t i = 0; i < watch->questions->count; i++)
        if (watch->questions->items[i].destination.family != AF_INET)
            return true;
    return false;
}

static void update_lifetime(struct watch_set *set, struct path_watch *watch, const struct dependencies *dependencies)
{
    if (!lifetime_member_has_any(&watch->lifetime) && !dependencies_have_lifetime(dependencies) &&
        (watch->evaluated || !route_may_expire(watch)))
        return; /* most paths */
    if (watch->is_representative && lifetime_member_moves(&watch->lifetime, dependencies))
        mark_others_stale(set, watch);
    watch->is_representative = false;
    lifetimes_update(&set->lifetimes, &watch->lifetime, dependencies, !watch->evaluated && route_may_expire(watch));
    watch->evaluated = true;
}

static void update_routes(struct watch_set *set, struct path_watch *watch, const struct dependencies *dependencies)
{
    if (address_equal(&watch->outer, &dependencies->outer) && watch->any_route == dependencies->any_route)
        return;
    watch->outer = dependencies->outer;
    watch->any_route = dependencies->any_route;
    index_routes(set, watch);
}

void watch_set_update(struct watch_set *set, struct path_watch *watch, const struct dependencies *dependencies)
{
    update_lifetime(set, watch, dependencies);
    update_routes(set, watch, dependencies);
    list_remove(&watch->pppd);
    if (dependencies->pppd)
        list_append(&set->pppd, &watch->pppd);
}
