/* SPDX-License-Identifier: MIT */
/*
 * The set of a monitor's watches and answers.
 *
 * What this file must never do: walk over all watches, or over all answers, unless all are stale.
 */
#include "route/watch_set.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"

void watch_set_init(struct watch_set *set)
{
    *set = (struct watch_set){ 0 };
    list_init(&set->answers);
    list_init(&set->stale);
    list_init(&set->round);
    list_init(&set->failed);
    list_init(&set->applying);
    list_init(&set->unfinished);
    route_index_init(&set->routes);
    link_index_init(&set->links);
    lifetimes_init(&set->lifetimes);
}

bool watch_set_is_empty(const struct watch_set *set)
{
    return set->count == 0;
}

void watch_set_free(struct watch_set *set)
{
    lifetimes_free(&set->lifetimes);
}

/* ---- Stale answers ---------------------------------------------------------------------------------------------- */

void watch_set_put_stale(struct answer *answer, struct list *list)
{
    if (list_is_empty(&answer->stale))
        list_append(list, &answer->stale);
}

static void mark_stale(void *info, struct answer *answer)
{
    struct watch_set *set = info;

    watch_set_put_stale(answer, &set->stale);
}

void watch_set_mark_all(struct watch_set *set, bool must_check)
{
    list_for_each(node, &set->answers) {
        struct answer        *answer = container_of(node, struct answer, node);
        struct shared_answer *shared = answer_shared(answer);

        if (shared != NULL && must_check)
            shared->must_check = true;
        mark_stale(set, answer);
    }
}

/* ---- Answers ---------------------------------------------------------------------------------------------------- */

static void index_routes(struct watch_set *set, struct answer *answer)
{
    const struct questions *questions = NULL;
    struct question_memory  memory;

    if (!answer->is_shared)
        questions = path_watch_questions(container_of(answer->watches.next, struct path_watch, node), &memory);
    route_index_set(&set->routes, &answer->routes, questions, &answer->outer, answer->any_route);
}

/* The answer is zeroed, apart from what struct sharing has set. */
void watch_set_add_answer(struct watch_set *set, struct answer *answer)
{
    list_init(&answer->stale);
    list_init(&answer->watches);
    list_init(&answer->unfinished);
    lifetime_member_init(&answer->lifetime);
    route_index_member_init(&answer->routes);
    link_index_member_init(&answer->links);
    link_index_set(&set->links, &answer->links, LINK_INDEX_ANY);
    list_append(&set->answers, &answer->node);
}

static struct answer *lifetime_answer(struct lifetime_member *member)
{
    return container_of(member, struct answer, lifetime);
}

static struct answer *lifetime_node_answer(struct list *node)
{
    return lifetime_answer(container_of(node, struct lifetime_member, node));
}

/* Another answer that shares the lifetime; NULL: there is none. */
static struct answer *find_other_member(const struct answer *answer)
{
    struct list *const next = answer->lifetime.node.next;

    if (answer->lifetime.shared == NULL)
        return NULL;
    return lifetime_node_answer(next != &answer->lifetime.shared->members ? next : next->next);
}

/* The representative is deleted before it was evaluated. */
static void replace_representative(struct watch_set *set, const struct answer *representative)
{
    struct answer *other = find_other_member(representative);

    if (other == NULL || other == representative)
        return;
    other->is_representative = true;
    mark_stale(set, other);
}

void watch_set_delete_answer(struct watch_set *set, struct answer *answer)
{
    if (answer->is_representative)
        replace_representative(set, answer);
    list_remove(&answer->node);
    list_remove(&answer->stale);
    list_remove(&answer->unfinished);
    set->pppd -= answer->pppd;
    lifetimes_leave(&set->lifetimes, &answer->lifetime);
    route_index_remove(&set->routes, &answer->routes);
    link_index_set(&set->links, &answer->links, LINK_INDEX_NONE);
    if (answer->is_shared)
        sharing_delete(&set->sharing, answer_shared(answer));
    else
        free(answer);
}

static bool answer_has_watches(struct answer *answer)
{
    return answer->is_shared ? answer_shared(answer)->count > 0 : !list_is_empty(&answer->watches);
}

void watch_set_delete_unused(struct watch_set *set, struct answer *answer)
{
    if (answer != set->current && !answer_has_watches(answer))
        watch_set_delete_answer(set, answer);
}

/* ---- Watches ---------------------------------------------------------------------------------------------------- */

/* Gives a watch, which has no answer, one of its own. Returns 0 or ENOMEM. */
static int add_own_answer(struct watch_set *set, struct path_watch *watch, struct list *stale)
{
    struct answer *answer = calloc(1, sizeof *answer);

    if (answer == NULL)
        return ENOMEM;
    watch_set_add_answer(set, answer);
    watch->answer = answer;
    list_append(&answer->watches, &watch->node);
    index_routes(set, answer);
    watch_set_put_stale(answer, stale);
    return 0;
}

/* A shared answer without a leader may be wrong. The leader's route may have changed while those of the others did not,
 * and the filter may drop the messages about theirs. */
static void mark_if_leaderless(struct watch_set *set, struct answer *answer)
{
    struct shared_answer *shared = answer_shared(answer);

    if (shared == NULL || shared->leader != NULL || shared->mode == SHARE_LEAVE || !answer_has_watches(answer))
        return;
    shared->must_check = shared->must_check || shared->mode == SHARE_CHECK;
    mark_stale(set, answer);
}

int watch_set_add(struct watch_set *set, struct path_watch *watch)
{
    const int error = add_own_answer(set, watch, &set->stale);

    if (error == 0)
        set->count++;
    return error;
}

void watch_set_remove(struct watch_set *set, struct path_watch *watch)
{
    struct answer *answer = watch->answer;

    if (answer->is_shared)
        sharing_remove(&set->sharing, watch);
    else
        list_remove(&watch->node);
    watch->answer = NULL;
    set->count--;
    mark_if_leaderless(set, answer);
    watch_set_delete_unused(set, answer);
}

void watch_set_replace_questions(struct watch_set *set, struct path_watch *watch)
{
    index_routes(set, watch->answer);
    watch->answer->evaluated = false;
    mark_stale(set, watch->answer);
}

int watch_set_leave(struct watch_set *set, struct path_watch *watch, struct list *stale)
{
    struct shared_answer *shared = answer_shared(watch->answer);
    const unsigned long   additions = set->routes.additions;
    int                   error;

    sharing_remove(&set->sharing, watch);
    error = add_own_answer(set, watch, stale);
    set->routes.additions = additions; /* the filter passes the routes to this address already */
    if (error != 0)
        sharing_add(&set->sharing, shared, watch, false);
    mark_if_leaderless(set, &shared->answer);
    watch_set_delete_unused(set, &shared->answer);
    return error;
}

/* The watch leaves its shared answer. If there is no memory, all watches that share it are checked. Returns 0 or
 * ENOMEM. */
static int separate(struct watch_set *set, struct path_watch *watch)
{
    struct shared_answer *shared = answer_shared(watch->answer);
    const int             error = watch_set_leave(set, watch, &set->stale);

    if (error != 0) {
        shared->must_check = true;
        mark_stale(set, &shared->answer);
    }
    return error;
}

int watch_set_isolate(struct watch_set *set, struct path_watch *watch)
{
    watch->can_share = false;
    return watch->answer->is_shared ? separate(set, watch) : 0;
}

/* ---- Routes ----------------------------------------------------------------------------------------------------- */

static void mark_member_stale(void *info, struct route_index_member *member)
{
    mark_stale(info, container_of(member, struct answer, routes));
}

bool watch_set_mark_route(struct watch_set *set, const struct route *route)
{
    const struct address_prefix prefix = route_prefix(route);
    size_t                      count = route_index_visit(&set->routes, route, mark_member_stale, set);
    struct list                 leaving, *node;

    list_init(&leaving);
    count += sharing_visit(&set->sharing, &prefix, mark_stale, set);
    count += sharing_collect_leaving(&set->sharing, &prefix, &leaving);
    while ((node = list_pop(&leaving)) != NULL)
        (void)separate(set, container_of(node, struct path_watch, node));
    return count > 0;
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

static struct answer *link_member_answer(struct link_index_member *member)
{
    return container_of(member, struct answer, links);
}

/* A route to a longer prefix than the extent can be hidden: its gateway does not respond, so the kernel prefers a
 * shorter prefix. A link that goes down, for example, forgets that. Then the route leads to some of the watches. */
static void check_hidden_routes(struct answer *answer, bool checks_ipv6)
{
    struct shared_answer *shared = answer_shared(answer);

    if (checks_ipv6 && shared != NULL && shared->first.address.family == AF_INET6)
        shared->must_check = true;
}

static void mark_link_member_stale(void *info, struct link_index_member *member)
{
    struct watch_set *set = info;
    struct answer    *answer = link_member_answer(member);

    check_hidden_routes(answer, set->checks_ipv6);
    mark_stale(set, answer);
    answer->is_second = false;
}

bool watch_set_note_link(struct watch_set *set, uint32_t link, bool checks_ipv6)
{
    const bool affects = link_index_note_change(&set->links, link);

    set->checks_ipv6 = set->checks_ipv6 || (checks_ipv6 && affects);
    return affects;
}

void watch_set_mark_changed_links(struct watch_set *set)
{
    link_index_visit_changed(&set->links, mark_link_member_stale, set);
    set->checks_ipv6_twice = set->checks_ipv6_twice || set->checks_ipv6;
    set->checks_ipv6 = false;
}

static void mark_if_pppd(void *info, struct link_index_member *member)
{
    if (link_member_answer(member)->pppd)
        mark_stale(info, link_member_answer(member));
}

/* These paths are among those that depend on any link. */
void watch_set_mark_pppd(struct watch_set *set)
{
    link_index_visit_any(&set->links, mark_if_pppd, set);
}

/* ---- Second evaluations ----------------------------------------------------------------------------------------- */

/* If the answer moves to a link, the messages about the link that were read before did not mark it. */
static void update_link(struct watch_set *set, struct answer *answer, const struct evaluation *evaluation)
{
    const bool moves = answer->links.members == NULL || answer->links.members->link != evaluation->link;
    const bool again = (moves && evaluation->link_unfinished) || (evaluation->unfinished && !answer->is_second);

    link_index_set(&set->links, &answer->links, evaluation->link);
    if (again && list_is_empty(&answer->unfinished))
        list_append(&set->unfinished, &answer->unfinished);
    answer->is_second = false;
}

void watch_set_mark_unfinished(struct watch_set *set)
{
    struct list *node;

    while ((node = list_pop(&set->unfinished)) != NULL) {
        struct answer *answer = container_of(node, struct answer, unfinished);

        check_hidden_routes(answer, set->checks_ipv6_twice);
        mark_stale(set, answer);
        answer->is_second = true;
    }
    set->checks_ipv6_twice = false;
}

/* ---- Lifetimes -------------------------------------------------------------------------------------------------- */

/* One of the answers is evaluated for all that share the lifetime. */
static void mark_representative_stale(struct watch_set *set, const struct shared_lifetime *shared)
{
    struct answer *representative = lifetime_node_answer(shared->members.next);

    representative->is_representative = true;
    mark_stale(set, representative);
}

/* The representative has another route now, or its evaluation has failed. So the others are evaluated in this round. */
void watch_set_mark_others(struct watch_set *set, const struct answer *representative)
{
    list_for_each(node, &representative->lifetime.shared->members)
        if (lifetime_node_answer(node) != representative)
            watch_set_put_stale(lifetime_node_answer(node), &set->round);
}

void watch_set_mark_ended(struct watch_set *set, int64_t now)
{
    struct lifetime_member *member;
    struct shared_lifetime *shared;

    while ((member = lifetimes_take_ended(&set->lifetimes, now)) != NULL)
        mark_stale(set, lifetime_answer(member));
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
        mark_stale(set, lifetime_node_answer(node));
}

static bool route_may_expire(struct answer *answer)
{
    const struct questions *questions;
    struct question_memory  memory;

    if (answer->is_shared)
        return answer_shared(answer)->first.address.family != AF_INET;
    questions = path_watch_questions(container_of(answer->watches.next, struct path_watch, node), &memory);
    for (size_t i = 0; i < questions->count; i++)
        if (questions->items[i].destination.family != AF_INET)
            return true;
    return false;
}

static void update_lifetime(struct watch_set *set, struct answer *answer, const struct dependencies *dependencies)
{
    const bool is_first = !answer->evaluated && route_may_expire(answer);

    if (!lifetime_member_has_any(&answer->lifetime) && !dependencies_have_lifetime(dependencies) && !is_first)
        return; /* most paths */
    if (answer->is_representative && lifetime_member_moves(&answer->lifetime, dependencies))
        watch_set_mark_others(set, answer);
    answer->is_representative = false;
    lifetimes_update(&set->lifetimes, &answer->lifetime, dependencies, is_first);
    answer->evaluated = true;
}

/* ---- Evaluations ------------------------------------------------------------------------------------------------ */

static void update_routes(struct watch_set *set, struct answer *answer, const struct dependencies *dependencies)
{
    if (address_equal(&answer->outer, &dependencies->outer) && answer->any_route == dependencies->any_route)
        return;
    answer->outer = dependencies->outer;
    answer->any_route = dependencies->any_route;
    index_routes(set, answer);
}

void watch_set_update(struct watch_set *set, struct answer *answer, const struct evaluation *evaluation)
{
    const struct dependencies *dependencies = evaluation->dependencies;

    update_lifetime(set, answer, dependencies);
    update_routes(set, answer, dependencies);
    update_link(set, answer, evaluation);
    set->pppd += (size_t)dependencies->pppd - answer->pppd;
    answer->pppd = dependencies->pppd;
}
